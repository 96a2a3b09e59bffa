//! What k-means on labels makes small and how rows choose by it: sum of squares, entropy, norms of label distributions, normalised cut.

use super::counts::Counts;

/// How a row chooses its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Assignment<'a> {
    /// The nearest mean of one-hot rows: largest Σ_u weight_u (2 p_kuℓ − Σ_j p_kuj²).
    Nearest,
    /// The cluster in which its labels are most probable: largest Σ_u weight_u p_kuℓ.
    Likeliest,
    /// The cluster whose label distributions gain most by it ([`Utility`]).
    Utility(Utility),
    /// The nearest mean of rows over their degrees, weighted with these (spectral ensemble clustering): smallest
    /// degree · ‖mean‖² − 2 Σ_u mean of its label. The degree of a row is the sum of the sizes of its base clusters, given here.
    NormalisedCut(&'a [f64]),
}

/// What the label distribution m of a cluster is worth; k-means makes the mean worth over clusters and base clusterings large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Utility {
    /// `Σ m ln m`: mutual information with the base clustering.
    Entropy {
        /// Objects that are added to every cluster, distributed as all objects are, when rows choose: no label is impossible.
        smoothing: f64,
    },
    /// `(Σ mᵖ)^(1/p)`, p above 1; the length of m for p = 2.
    Norm(f64),
}

impl Utility {
    /// What a label adds to the worth of a cluster of so many objects with this distribution, where all objects have that of `all`: one
    /// number a label.
    pub fn gains(self, shares: impl Iterator<Item = f64>, all: &[f64], size: f64) -> Vec<f64> {
        let shares: Vec<f64> = shares.collect();
        match self {
            Self::Entropy { smoothing } => {
                let smoothed = |(share, all): (&f64, &f64)| {
                    // A label that nobody has is looked at by nobody.
                    (share * size + smoothing * all).max(f64::MIN_POSITIVE).ln()
                        - (size + smoothing).ln()
                };
                shares.iter().zip(all).map(smoothed).collect()
            }
            Self::Norm(p) => {
                let norm = norm(shares.iter().copied(), p);
                shares
                    .iter()
                    .map(|share| {
                        if norm > 0.0 {
                            (share / norm).powf(p - 1.0)
                        } else {
                            0.0
                        }
                    })
                    .collect()
            }
        }
    }

    /// The worth of a distribution.
    pub fn worth(self, shares: impl Iterator<Item = f64> + Clone) -> f64 {
        match self {
            Self::Entropy { .. } => shares
                .filter(|share| *share > 0.0)
                .map(|share| share * share.ln())
                .sum(),
            Self::Norm(p) => norm(shares, p),
        }
    }

    /// The most that a distribution can be worth.
    pub fn most(self) -> f64 {
        match self {
            Self::Entropy { .. } => 0.0,
            Self::Norm(_) => 1.0,
        }
    }
}

fn norm(shares: impl Iterator<Item = f64> + Clone, p: f64) -> f64 {
    let most = shares.clone().fold(0.0, f64::max);
    if most > 0.0 {
        most * shares
            .map(|share| (share / most).powf(p))
            .sum::<f64>()
            .powf(1.0 / p)
    } else {
        0.0
    }
}

impl Assignment<'_> {
    /// Iterations before the loss must fall: while smoothing goes down it may rise.
    pub(super) fn first_iterations(self) -> u64 {
        if matches!(self, Self::Utility(Utility::Entropy { .. })) {
            3
        } else {
            0
        }
    }

    /// The assignment of an iteration, counted from 0: smoothing falls to a tenth, then to next to nothing.
    pub(super) fn in_iteration(self, iteration: u64) -> Self {
        match self {
            Self::Utility(Utility::Entropy { smoothing }) => {
                let smoothing = match iteration {
                    0 => smoothing,
                    1 => smoothing * 0.1,
                    _ => smoothing * 1e-9,
                };
                Self::Utility(Utility::Entropy { smoothing })
            }
            other => other,
        }
    }

    /// What k-means makes small: the sum of squares, what distributions lack to the most they could be worth, or the normalised cut.
    pub(super) fn loss(self, counts: &Counts, offsets: &[usize], base_weights: &[f64]) -> f64 {
        match self {
            Self::Nearest | Self::Likeliest => counts.sum_of_squares(offsets, base_weights),
            Self::Utility(utility) => {
                let lacking = |(u, weight): (usize, &f64)| {
                    let of_cluster = |k: usize| {
                        let shares =
                            (offsets[u]..offsets[u + 1]).map(|place| counts.share(u, place, k));
                        counts.labelled(u, k) * (utility.most() - utility.worth(shares))
                    };
                    weight
                        * (0..counts.clusters())
                            .filter(|&k| counts.labelled(u, k) > 0.0)
                            .map(of_cluster)
                            .sum::<f64>()
                };
                base_weights
                    .iter()
                    .enumerate()
                    .map(lacking)
                    .sum::<f64>()
                    .max(0.0)
            }
            Self::NormalisedCut(sizes) => {
                let (within, volume) = within_and_volume(offsets, counts, base_weights, sizes);
                let outside = |(within, volume): (&f64, &f64)| {
                    if *volume > 0.0 {
                        1.0 - within / volume
                    } else {
                        1.0
                    }
                };
                within.iter().zip(&volume).map(outside).sum()
            }
        }
    }
}

/// Weight of the pairs within every cluster, and of all pairs of its objects with any.
pub(super) fn within_and_volume(
    offsets: &[usize],
    counts: &Counts,
    base_weights: &[f64],
    sizes: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let mut within = vec![0.0; counts.clusters()];
    let mut volume = within.clone();
    for (u, weight) in base_weights.iter().enumerate() {
        for place in offsets[u]..offsets[u + 1] {
            for (k, &count) in counts.of(place).iter().enumerate() {
                within[k] += weight * (count * count);
                volume[k] += weight * count * sizes[place];
            }
        }
    }
    (within, volume)
}

/// What every label adds to the score of every cluster, for [`Assignment::NormalisedCut`].
pub(super) fn normalised_cut(
    offsets: &[usize],
    counts: &Counts,
    base_weights: &[f64],
    sizes: &[f64],
    lines: &mut [f64],
) {
    let clusters = counts.clusters();
    let (within, volume) = within_and_volume(offsets, counts, base_weights, sizes);
    for (u, weight) in base_weights.iter().enumerate() {
        for place in offsets[u]..offsets[u + 1] {
            for (k, &count) in counts.of(place).iter().enumerate() {
                let volume = volume[k].max(f64::MIN_POSITIVE);
                let own = sizes[place] * (within[k] / volume / volume);
                lines[place * clusters + k] = weight * (2.0 * count / volume - own);
            }
        }
    }
}
