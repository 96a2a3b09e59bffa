//! Similarities of different rows, of labels or of shares: the mean over what both have in base clusterings.

use partita_core::ndarray::Array2;
use partita_core::{Fragments, Memberships};
use partita_linkage::Rows as Dissimilarities;

use crate::cluster_similarity::bases_of;

/// Parts of a similarity of 1 that are told apart, so that the order of additions does not decide which of two pairs is nearer.
const PARTS: f64 = (1u32 << 24) as f64;

/// Similarities of different rows:
///
/// ```text
/// sim(i, j) = Σ_u ω_u Σ_cd z_ic S_cd z_jd / Σ_u ω_u      c, d clusters of u, over the base clusterings that know both; S_cc = 1
/// ```
/// Weights and similarities are in whole units: sums over labels are exact.
pub(crate) struct SimilarRows {
    shares: Memberships,
    offsets: Vec<usize>,
    base_of: Vec<usize>,
    /// ω_u S_cd within base clusterings.
    lines: Array2<f64>,
    /// ω_u of every base cluster.
    weights: Vec<f64>,
    unit: u64,
}

/// What is summed of a row, or of a row and another: what they have in common, and what that could be.
#[derive(Clone, Default)]
struct Likeness {
    alike: f64,
    seen: f64,
}

impl Likeness {
    fn mean(&self) -> f64 {
        // In whole units, in which less than half a unit is nothing.
        if self.seen > 0.5 {
            (self.alike / self.seen).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

impl SimilarRows {
    /// The rows of fragments, of which `leaves` says what each counts in a tree; `weights` are those of the base clusters.
    pub(crate) fn new(
        fragments: &Fragments,
        leaves: &[u32],
        similarity: &Array2<f64>,
        weights: &[f64],
    ) -> Self {
        let ensemble = fragments.ensemble();
        let (offsets, bases) = (ensemble.offsets(), ensemble.bases().len());
        // Sums over base clusterings fit 32 bits.
        let most = weights.iter().copied().fold(0.0, f64::max);
        let one = f64::from(u32::MAX / 2) / bases as f64 / most;
        let lines = Array2::from_shape_fn(similarity.dim(), |(c, d)| {
            let alike = if c == d { 1.0 } else { similarity[[c, d]] };
            (alike * weights[c] * one).round()
        });
        // What a similarity of 1 counts, so that sums over all pairs fit 64 bits.
        let objects: u64 = leaves.iter().map(|&leaf| u64::from(leaf)).sum();
        let pairs = objects.saturating_mul(objects) / 4;
        Self {
            shares: ensemble.shares().into_owned(),
            base_of: bases_of(&offsets),
            offsets,
            lines,
            weights: weights
                .iter()
                .map(|weight| (weight * one).round())
                .collect(),
            unit: (u64::MAX / 4 / pairs.max(1)).clamp(1, 1 << 31),
        }
    }

    /// The base clusters of a row, and its share in each.
    fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (clusters, shares) = self.shares.row(row);
        clusters
            .iter()
            .zip(shares)
            .map(|(&c, &share)| (c as usize, share))
    }

    /// What a row has in common with an object that is wholly in a base cluster, for each of these.
    fn with_each_cluster(&self, row: usize) -> Vec<Likeness> {
        let mut all = vec![Likeness::default(); self.weights.len()];
        for (c, share) in self.entries(row) {
            let base = self.base_of[c];
            for d in self.offsets[base]..self.offsets[base + 1] {
                all[d].alike += share * self.lines[[c, d]];
                all[d].seen += share * self.weights[c];
            }
        }
        all
    }

    fn likeness(&self, of_each: &[Likeness], other: usize) -> Likeness {
        let mut sum = Likeness::default();
        for (d, share) in self.entries(other) {
            sum.alike += share * of_each[d].alike;
            sum.seen += share * of_each[d].seen;
        }
        sum
    }
}

impl Dissimilarities for SimilarRows {
    fn objects(&self) -> usize {
        self.shares.objects()
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        let of_each = self.with_each_cluster(object);
        for (other, to) in row.iter_mut().enumerate() {
            let similar = self.likeness(&of_each, other).mean();
            let apart = 1.0 - (similar * PARTS).round() / PARTS;
            *to = (apart * self.unit as f64).round() as u32;
        }
    }
}
