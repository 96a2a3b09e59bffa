//! Indices from information theory, in nats.

use std::collections::BTreeMap;

use partita_core::ndarray::ArrayView2;
#[cfg(feature = "passes")]
use serde::{Deserialize, Serialize};

use crate::Contingency;
use crate::contingency::WeightedCells;

/// What mutual information is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "passes", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "passes", serde(rename_all = "kebab-case"))]
pub enum Normalisation {
    /// The larger of the two entropies.
    Max,
    /// Their arithmetic mean.
    Arithmetic,
    /// Their geometric mean (Strehl and Ghosh 2002).
    Geometric,
    /// The smaller of the two entropies.
    Min,
}

impl Normalisation {
    fn mean(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Max => a.max(b),
            Self::Arithmetic => 0.5 * (a + b),
            Self::Geometric => (a * b).sqrt(),
            Self::Min => a.min(b),
        }
    }
}

impl Contingency {
    /// Mutual information of the two clusterings, nats.
    pub fn mutual_information(&self) -> f64 {
        let n = self.objects() as f64;
        let term = |(row, column, count): (usize, usize, u64)| {
            shared_term(
                count as f64,
                n,
                self.row_sizes()[row] as f64,
                self.column_sizes()[column] as f64,
            )
        };
        self.cells().map(term).sum::<f64>().max(0.0)
    }

    /// Mutual information over a mean of the two entropies, in 0..=1.
    ///
    /// As in scikit-learn: 1 if both clusterings are a single cluster, else 0 if they share no information.
    pub fn nmi(&self, normalisation: Normalisation) -> f64 {
        if self.identical() {
            return 1.0;
        }
        let (single_row, single_column) = self.single();
        let shared = self.mutual_information();
        if single_row || single_column || shared <= f64::EPSILON {
            return 0.0;
        }
        let mean = normalisation.mean(entropy(self.row_sizes()), entropy(self.column_sizes()));
        (shared / mean).min(1.0)
    }

    /// Mutual information adjusted for chance (Vinh, Epps, Bailey 2010), arithmetic normalisation, expectation
    /// exact under the permutation model: 1 = the same clustering, about 0 = unrelated, may be negative.
    ///
    /// As in scikit-learn: 1 if both clusterings are a single cluster, or both are singletons; 0 if one of them is
    /// a single cluster.
    ///
    /// # Cost
    /// O(S_K S_L √n) time, S being the numbers of distinct cluster sizes (at most √2n each).
    pub fn ami(&self) -> f64 {
        if self.identical() {
            return 1.0;
        }
        let (single_row, single_column) = self.single();
        if single_row || single_column {
            return 0.0;
        }
        let expected = self.expected_mutual_information();
        let mean =
            Normalisation::Arithmetic.mean(entropy(self.row_sizes()), entropy(self.column_sizes()));
        let (above, range) = (self.mutual_information() - expected, mean - expected);
        // The mean exceeds the expectation unless the clusterings are identical; equality here is rounding.
        if range > 0.0 { above / range } else { 0.0 }
    }

    /// Variation of information, nats: H(a) + H(b) − 2 I(a, b) (Meilă 2007). 0 = the same clustering.
    pub fn vi(&self) -> f64 {
        let n = self.objects() as f64;
        let term = |(row, column, count): (usize, usize, u64)| {
            let (x, a, b) = (
                count as f64,
                self.row_sizes()[row] as f64,
                self.column_sizes()[column] as f64,
            );
            x / n * (a.ln() + b.ln() - 2.0 * x.ln())
        };
        self.cells().map(term).sum::<f64>().max(0.0)
    }

    /// Mutual information expected of clusterings with these cluster sizes that know nothing of each other.
    fn expected_mutual_information(&self) -> f64 {
        let (rows, columns) = (
            multiplicities(self.row_sizes()),
            multiplicities(self.column_sizes()),
        );
        let mut sum = 0.0;
        for &(a, rows) in &rows {
            for &(b, columns) in &columns {
                sum += (rows * columns) as f64 * expected_term(a, b, self.objects());
            }
        }
        sum
    }

    /// Whether the clusterings differ in names only.
    fn identical(&self) -> bool {
        let live = |sizes: &[u64]| sizes.iter().filter(|&&size| size > 0).count();
        let cells = self.cells().len();
        cells == live(self.row_sizes()) && cells == live(self.column_sizes())
    }

    /// Whether each side is a single cluster.
    fn single(&self) -> (bool, bool) {
        let live = |sizes: &[u64]| sizes.iter().filter(|&&size| size > 0).count();
        (live(self.row_sizes()) == 1, live(self.column_sizes()) == 1)
    }
}

/// What a cell of x among n objects adds to the mutual information, if its row has a and its column b objects.
fn shared_term(x: f64, n: f64, a: f64, b: f64) -> f64 {
    x / n * (x.ln() + n.ln() - a.ln() - b.ln())
}

/// What a cluster of x among n objects adds to the entropy.
fn entropy_term(x: f64, n: f64) -> f64 {
    x / n * (n.ln() - x.ln())
}

/// Entropy of cluster sizes, nats.
fn entropy(sizes: &[u64]) -> f64 {
    let n = sizes.iter().sum::<u64>() as f64;
    sizes
        .iter()
        .map(|&size| {
            if size > 0 {
                entropy_term(size as f64, n)
            } else {
                0.0
            }
        })
        .sum()
}

/// [`Contingency::nmi`] of a table of sums of weights, all 0 or above; 1 where no object is counted.
pub fn nmi_of_counts(counts: ArrayView2<'_, f64>, normalisation: Normalisation) -> f64 {
    let cells = counts.indexed_iter().filter(|(_, weight)| **weight > 0.0);
    nmi_of_cells(
        &cells.map(|(place, &weight)| (place, weight)).collect(),
        normalisation,
    )
}

/// [`Contingency::nmi`] of a table of weights.
pub(crate) fn nmi_of_cells(cells: &WeightedCells, normalisation: Normalisation) -> f64 {
    let (mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new());
    for (&(row, column), weight) in cells {
        *rows.entry(row).or_insert(0.0) += weight;
        *columns.entry(column).or_insert(0.0) += weight;
    }
    if cells.len() == rows.len() && cells.len() == columns.len() {
        return 1.0;
    }
    let n: f64 = rows.values().sum();
    let term = |(&(row, column), &x): (&(usize, usize), &f64)| {
        shared_term(x, n, rows[&row], columns[&column])
    };
    let shared = cells.iter().map(term).sum::<f64>();
    if rows.len() == 1 || columns.len() == 1 || shared <= f64::EPSILON {
        return 0.0;
    }
    let entropy =
        |sizes: &BTreeMap<usize, f64>| sizes.values().map(|&size| entropy_term(size, n)).sum();
    (shared / normalisation.mean(entropy(&rows), entropy(&columns))).min(1.0)
}

/// Distinct sizes and how often each occurs, without 0.
fn multiplicities(sizes: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted: Vec<u64> = sizes.iter().copied().filter(|&size| size > 0).collect();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len() as u64))
        .collect()
}

/// Weights this much smaller than the largest change no bit of the sum.
const NEGLIGIBLE: f64 = 1e-40;

/// E[x/n · ln(n x / (a b))] where x is the hypergeometric overlap of clusters of a and b among n objects.
///
/// The weights follow from their ratio, outwards from the most probable overlap, and are normalised by their own
/// sum: no factorial is needed and nothing cancels.
fn expected_term(a: u64, b: u64, n: u64) -> f64 {
    let (least, most) = ((a + b).saturating_sub(n), a.min(b));
    let mode = (((a + 1) as u128 * (b + 1) as u128 / (n + 2) as u128) as u64).clamp(least, most);
    let [fa, fb, fn_] = [a, b, n].map(|x| x as f64);
    let value = |x: f64| {
        if x > 0.0 {
            x / fn_ * (x * fn_ / (fa * fb)).ln()
        } else {
            0.0
        }
    };
    let up = |x: f64| (fa - x) * (fb - x) / ((x + 1.0) * (fn_ - fa - fb + x + 1.0));
    let (mut sum, mut mass) = (value(mode as f64), 1.0);
    let mut weight = 1.0;
    for x in mode..most {
        weight *= up(x as f64);
        sum += weight * value((x + 1) as f64);
        mass += weight;
        if weight < NEGLIGIBLE {
            break;
        }
    }
    weight = 1.0;
    for x in (least..mode).rev() {
        weight /= up(x as f64);
        sum += weight * value(x as f64);
        mass += weight;
        if weight < NEGLIGIBLE {
            break;
        }
    }
    sum / mass
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use partita_core::Seed;
    use partita_core::ndarray::Array2;
    use rand::RngExt;
    use statrs::distribution::{Discrete, Hypergeometric};

    #[test]
    fn the_expectation_is_the_sum_over_the_hypergeometric_distribution() {
        for (a, b, n) in [
            (1, 1, 5),
            (3, 4, 5),
            (5, 5, 5),
            (2, 3, 50),
            (40, 30, 100),
            (500, 300, 1000),
            (7, 900, 1000),
        ] {
            let chance = Hypergeometric::new(n, a, b).unwrap();
            let term = |x: u64| {
                let (x, p) = (x as f64, chance.pmf(x));
                p * x / n as f64 * (x * n as f64 / (a * b) as f64).ln()
            };
            let slow: f64 = ((a + b).saturating_sub(n).max(1)..=a.min(b))
                .map(term)
                .sum();
            assert_relative_eq!(
                expected_term(a, b, n),
                slow,
                max_relative = 1e-9,
                epsilon = 1e-14
            );
        }
    }

    #[test]
    fn nmi_of_sums_of_weights_is_that_of_objects() {
        for seed in 0..60 {
            let mut rng = Seed::new(seed).rng();
            let sides = (rng.random_range(1..5), rng.random_range(1..5));
            let counts = Array2::from_shape_simple_fn(sides, || rng.random_range(0..4u32));
            let table = Contingency::of_counts(sides.0, sides.1, |i, j| u64::from(counts[[i, j]]));
            let Ok(table) = table else { continue };
            for by in [Normalisation::Max, Normalisation::Geometric] {
                assert_eq!(
                    nmi_of_counts(counts.mapv(f64::from).view(), by),
                    table.nmi(by),
                    "{counts}"
                );
                let parts = counts.mapv(|count| f64::from(count) * 0.3);
                assert_relative_eq!(
                    nmi_of_counts(parts.view(), by),
                    table.nmi(by),
                    epsilon = 1e-12
                );
            }
        }
    }
}
