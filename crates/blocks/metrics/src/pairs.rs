//! Indices that count clusters and pairs of objects.

use crate::Contingency;

/// How unordered pairs of objects are treated by two clusterings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PairCounts {
    /// Together in both.
    pub both: u64,
    /// Together in the first only.
    pub first: u64,
    /// Together in the second only.
    pub second: u64,
    /// Apart in both.
    pub neither: u64,
}

/// F1 in the four readings that the literature mixes up. See [`Contingency::f1_best_class`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct F1 {
    /// [`Contingency::f1_best_class`].
    pub best_class: f64,
    /// [`Contingency::f1_best_cluster`].
    pub best_cluster: f64,
    /// [`Contingency::f1_both`].
    #[cfg_attr(feature = "passes", serde(default))]
    pub both: f64,
    /// [`Contingency::f1_pairwise`].
    pub pairwise: f64,
}

impl Contingency {
    /// Share of the objects whose cluster is matched to their class, under the best one-to-one matching, the
    /// side with fewer clusters being padded with empty ones. The papers call it H or CI.
    pub fn accuracy(&self) -> f64 {
        self.matched_objects() as f64 / self.objects() as f64
    }

    /// Share of the objects that belong to the largest class of their cluster (rows = found, columns = true).
    pub fn purity(&self) -> f64 {
        let largest =
            |run: &[crate::contingency::Cell]| run.iter().map(|cell| cell.count).max().unwrap_or(0);
        let sum: u64 = self
            .entries()
            .chunk_by(|a, b| a.row == b.row)
            .map(largest)
            .sum();
        sum as f64 / self.objects() as f64
    }

    /// Pairs of objects by how the two clusterings treat them.
    pub fn pairs(&self) -> PairCounts {
        let pairs = |size: u64| size * size.saturating_sub(1) / 2;
        let both = self.cells().map(|cell| pairs(cell.2)).sum();
        let rows: u64 = self.row_sizes().iter().copied().map(pairs).sum();
        let columns: u64 = self.column_sizes().iter().copied().map(pairs).sum();
        let (first, second) = (rows - both, columns - both);
        PairCounts {
            both,
            first,
            second,
            neither: pairs(self.objects()) - both - first - second,
        }
    }

    /// Rand index adjusted for chance (Hubert and Arabie 1985): 1 = the same clustering, 0 = as expected of
    /// unrelated ones, may be negative. As in scikit-learn, two clusterings that agree on every pair get 1,
    /// also two single clusters or two sets of singletons.
    pub fn ari(&self) -> f64 {
        let PairCounts {
            both,
            first,
            second,
            neither,
        } = self.pairs();
        if first == 0 && second == 0 {
            return 1.0;
        }
        // Integers of 128 bits hold every product of two pair counts: no cancellation at any n.
        let [both, first, second, neither] = [both, first, second, neither].map(i128::from);
        let above = 2 * (both * neither - first * second);
        let range = (both + first) * (first + neither) + (both + second) * (second + neither);
        above as f64 / range as f64
    }

    /// Geometric mean of pair precision and pair recall (Fowlkes and Mallows 1983). As in scikit-learn, 0 if
    /// no pair is together in both, also when no pair is together in either.
    pub fn fowlkes_mallows(&self) -> f64 {
        let PairCounts {
            both,
            first,
            second,
            ..
        } = self.pairs();
        if both == 0 {
            return 0.0;
        }
        let both = both as f64;
        (both / (both + first as f64)).sqrt() * (both / (both + second as f64)).sqrt()
    }

    /// Harmonic mean of pair precision and pair recall. 1 if no pair is together in either clustering.
    pub fn f1_pairwise(&self) -> f64 {
        let PairCounts {
            both,
            first,
            second,
            ..
        } = self.pairs();
        if both + first + second == 0 {
            return 1.0;
        }
        2.0 * both as f64 / (2 * both + first + second) as f64
    }

    /// F1 when every found cluster picks its best class.
    ///
    /// The NBCE paper (2010) defines, for clusters A₁…A_h and B₁…B_k,
    /// ```text
    /// P = 1/h Σ_i max_j |A_i ∩ B_j| / |A_i|      R = 1/h Σ_i max_j |A_i ∩ B_j| / |B_j|      F1 = 2PR / (P + R)
    /// ```
    /// but prints the upper limit of both sums as k. Here A = found, so the means run over the found clusters.
    /// P and R may pick different classes. One single cluster scores high: R is then 1.
    pub fn f1_best_class(&self) -> f64 {
        best_f1(self)
    }

    /// F1 when every class picks its best found cluster: the formula of [`Contingency::f1_best_class`] with A =
    /// true, so the means run over the classes.
    pub fn f1_best_cluster(&self) -> f64 {
        best_f1(&self.transposed())
    }

    /// F1 of the precision of the found clusters (the mean share of each that its best class has) and the recall of the classes (the mean
    /// share of each that its best found cluster has): what is left of the NBCE paper's formula when each mean has its own number. Clusters
    /// of one object are pure, so that many small clusters have a high precision.
    pub fn f1_both(&self) -> f64 {
        harmonic(best_share(self), best_share(&self.transposed()))
    }

    /// All four readings of F1.
    pub fn f1(&self) -> F1 {
        F1 {
            best_class: self.f1_best_class(),
            best_cluster: self.f1_best_cluster(),
            both: self.f1_both(),
            pairwise: self.f1_pairwise(),
        }
    }
}

fn best_f1(table: &Contingency) -> f64 {
    let (mut recall, mut live) = (0.0, 0.0);
    for run in table.entries().chunk_by(|a, b| a.row == b.row) {
        let share = |cell: &crate::contingency::Cell| {
            cell.count as f64 / table.column_sizes()[cell.column as usize] as f64
        };
        recall += run.iter().map(share).fold(0.0, f64::max);
        live += 1.0;
    }
    harmonic(best_share(table), recall / live)
}

/// The mean over the rows of the share of each that its largest cell has.
fn best_share(table: &Contingency) -> f64 {
    let (mut sum, mut live) = (0.0, 0.0);
    for run in table.entries().chunk_by(|a, b| a.row == b.row) {
        let size = table.row_sizes()[run[0].row as usize] as f64;
        sum += run.iter().map(|cell| cell.count).max().unwrap_or(0) as f64 / size;
        live += 1.0;
    }
    sum / live
}

pub(crate) fn harmonic(precision: f64, recall: f64) -> f64 {
    2.0 * precision * recall / (precision + recall)
}
