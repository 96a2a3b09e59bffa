//! Similarities of objects that have shares in base clusters: the mean over what both have shares of.

use std::num::Saturating;

use partita_core::ndarray::Array2;
use partita_core::{Memberships, Partition, ProblemSize};
use partita_linkage::Rows as Dissimilarities;

use crate::cluster_similarity::bases_of;
use crate::similar_rows::{Objects, Similar, surety};

/// Parts of a similarity of 1 that are told apart, so that the order of additions does not decide which of two pairs is nearer.
const PARTS: f64 = (1u32 << 24) as f64;

/// Similarities of different rows of shares:
///
/// ```text
/// sim(i, j) = Σ_u ω_u Σ_cd z_ic S_cd z_jd / Σ_u ω_u      c, d clusters of u, over the base clusterings that know both; S_cc = 1
/// ```
pub(crate) struct SimilarShares {
    shares: Memberships,
    offsets: Vec<usize>,
    base_of: Vec<usize>,
    /// S within base clusterings, 1 on the diagonal.
    similarity: Array2<f64>,
    /// ω_u, of which the sum is 1.
    weights: Vec<f64>,
    /// Which rows every base clustering knows, f × M; none where all know all.
    known: Option<Vec<bool>>,
    unit: u64,
}

impl SimilarShares {
    /// `weights` are those of the base clusters.
    pub(crate) fn new(objects: Objects<'_>, similarity: &Array2<f64>, weights: &[f64]) -> Self {
        let ensemble = objects.fragments.ensemble();
        let (offsets, rows, bases) = (
            ensemble.offsets(),
            ensemble.objects(),
            ensemble.bases().len(),
        );
        let weights: Vec<f64> = (0..bases).map(|u| weights[offsets[u]]).collect();
        let sum: f64 = weights.iter().sum();
        let known = |i: usize| (0..bases).map(move |u| ensemble.label(i, u).is_some());
        let mut similarity = similarity.clone();
        similarity.diag_mut().fill(1.0);
        Self {
            shares: ensemble.shares().into_owned(),
            base_of: bases_of(&offsets),
            offsets,
            similarity,
            weights: weights.into_iter().map(|weight| weight / sum).collect(),
            known: (ensemble.missing() > 0).then(|| (0..rows).flat_map(known).collect()),
            unit: objects.unit(),
        }
    }

    /// Base clustering, base cluster and share of every entry of a row.
    fn entries(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let (clusters, shares) = self.shares.row(row);
        clusters
            .iter()
            .zip(shares)
            .map(|(&c, &share)| (self.base_of[c as usize], c as usize, share))
    }

    /// Σ_c ω_u z_ic S_cd for every base cluster d.
    fn spread(&self, row: usize) -> Vec<f64> {
        let mut spread = vec![0.0; self.base_of.len()];
        for (u, c, share) in self.entries(row) {
            for d in self.offsets[u]..self.offsets[u + 1] {
                spread[d] += self.weights[u] * share * self.similarity[[c, d]];
            }
        }
        spread
    }

    fn knows(&self, row: usize, base: usize) -> bool {
        self.known
            .as_ref()
            .is_none_or(|known| known[row * self.weights.len() + base])
    }

    /// Σ ω over the base clusterings that know both rows.
    fn seen(&self, one: usize, other: usize) -> f64 {
        let both = (0..self.weights.len()).filter(|&u| self.knows(one, u) && self.knows(other, u));
        if self.known.is_some() {
            both.map(|u| self.weights[u]).sum()
        } else {
            1.0
        }
    }

    fn certainty_of(
        &self,
        (row, own, weight): (usize, usize, f64),
        (held, known): (&Array2<f64>, &Array2<f64>),
        sizes: &[f64],
    ) -> f64 {
        let (spread, clusters) = (self.spread(row), sizes.len());
        let (mut alike, mut seen) = (vec![0.0; clusters], vec![0.0; clusters]);
        for k in 0..clusters {
            alike[k] = spread
                .iter()
                .zip(held.column(k))
                .map(|(spread, held)| spread * held)
                .sum();
            seen[k] = (0..self.weights.len())
                .filter(|&u| self.knows(row, u))
                .map(|u| self.weights[u] * known[[u, k]])
                .sum();
        }
        let once = weight.min(1.0);
        let alone = sizes[own] <= once;
        let itself: f64 = self
            .entries(row)
            .map(|(_, d, share)| share * spread[d])
            .sum();
        // An object is wholly like itself for the sum of what could be, and as far as its shares say for the sum of what is.
        alike[own] += once * (self.seen(row, row) - itself);
        // Sums of parts of 1 here: in the units in which less than half a unit is nothing.
        let scale = 1e9;
        alike
            .iter_mut()
            .chain(&mut seen)
            .for_each(|sum| *sum *= scale);
        surety(
            &mut alike,
            &mut seen,
            own,
            once * self.seen(row, row) * scale,
            alone,
        )
    }
}

impl Dissimilarities for SimilarShares {
    fn objects(&self) -> usize {
        self.shares.objects()
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        let spread = self.spread(object);
        for (other, to) in row.iter_mut().enumerate() {
            let alike: f64 = self
                .entries(other)
                .map(|(_, d, share)| share * spread[d])
                .sum();
            let seen = self.seen(object, other);
            let similar = if seen > 0.0 {
                (alike / seen).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let apart = 1.0 - (similar * PARTS).round() / PARTS;
            *to = (apart * self.unit as f64).round() as u32;
        }
    }
}

impl Similar for SimilarShares {
    fn certainty(&self, partition: &Partition, objects: Objects<'_>) -> Vec<f64> {
        let mut held = Array2::<f64>::zeros((self.base_of.len(), partition.clusters()));
        let mut known = Array2::<f64>::zeros((self.weights.len(), partition.clusters()));
        for ((&row, &k), weight) in objects
            .fragments
            .of_object()
            .iter()
            .zip(partition.labels())
            .zip(objects.multiplicities)
        {
            let (row, k) = (row as usize, k as usize);
            self.entries(row)
                .for_each(|(_, c, share)| held[[c, k]] += weight * share);
            (0..self.weights.len())
                .filter(|&u| self.knows(row, u))
                .for_each(|u| known[[u, k]] += weight);
        }
        let sizes = objects.sizes(partition);
        objects.each(partition, |row, own, weight| {
            self.certainty_of((row, own, weight), (&held, &known), &sizes)
        })
    }
}

/// Bytes that similarities of rows of shares hold at once, at most, beside what those of labels do.
pub(crate) fn soft_tree_bytes(size: &ProblemSize) -> u64 {
    if size.soft_shares == 0 {
        return 0;
    }
    let [n, m, side, k] = size.saturating();
    (Saturating(size.soft_shares as u64) * Saturating(24) + n * m + side * (k + m) * Saturating(8))
        .0
}
