//! Squared differences with few partners: gradient and Hessian of one object from the second moments of its partners' rows.

use partita_kernels::LANES;

use crate::kernels::Entries;
use crate::memberships::Memberships;
use crate::pair_counts::PairCounts;
use crate::row_moments::NearRows;

/// What was computed of an object's partners: rows of `G = Σ_j n_j Y_j Y_jᵀ`.
#[derive(Clone, Debug, Default)]
pub(super) struct RowsSeen {
    near: NearRows,
    /// `G_k` of the clusters `known`, in this order.
    moments: Vec<[f64; LANES]>,
    known: Vec<usize>,
    /// Clusters whose `G_k` are missing.
    missing: Vec<usize>,
}

impl RowsSeen {
    /// Reads the rows of some partners.
    pub(super) fn read(&mut self, table: &Memberships, partners: &[u32]) {
        self.near.copy(&table.values, table.clusters, partners);
    }

    /// `g ← 2 (G y − Σ_j c_j Y_j)`, for which rows of G where y has entries are enough. O(partners · K · entries).
    pub(super) fn gradient(&mut self, counts: &PairCounts, y: &Entries, g: &mut [f64]) {
        let Self {
            near,
            moments,
            known,
            ..
        } = self;
        known.clear();
        known.extend(y.iter().map(|entry| entry.0));
        moments.clear();
        near.moments(counts, known, true, moments);
        let rows = moments.as_flattened().chunks_exact(near.stride());
        let together = rows.clone().next_back().unwrap_or_default();
        g.iter_mut().zip(together).for_each(|(g, c)| *g = -2.0 * c);
        for (row, (_, y)) in rows.zip(y) {
            for (g, value) in g.iter_mut().zip(row) {
                *g += 2.0 * y * value;
            }
        }
        moments.truncate(known.len() * near.stride() / LANES);
    }

    /// `h ← 2 G` between the chosen clusters, which rise and have those of [`gradient`](Self::gradient) among them.
    /// O(partners · K) for each that is new.
    pub(super) fn hessian(&mut self, counts: &PairCounts, chosen: &[usize], h: &mut Vec<f64>) {
        let Self {
            near,
            moments,
            known,
            missing,
        } = self;
        missing.clear();
        missing.extend(chosen.iter().filter(|k| known.binary_search(k).is_err()));
        near.moments(counts, missing, false, moments);
        let rows = moments.as_flattened();
        h.clear();
        for k in chosen {
            let place = known
                .binary_search(k)
                .or_else(|_| missing.binary_search(k).map(|at| known.len() + at));
            let row = &rows[place.expect("chosen clusters are known or missing") * near.stride()..];
            h.extend(chosen.iter().map(|&l| 2.0 * row[l]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bregman::{Bregman, L2};
    use crate::memberships::Layout;
    use partita_core::ndarray::Array2;

    /// Against sums over pairs of what [`L2`] says, and with clusters that the gradient had no use for.
    #[test]
    fn gradient_and_hessian_are_sums_over_pairs() {
        let mut seen = RowsSeen::default();
        for partners in [&[3u32, 5, 8, 13, 21][..], &[], &[1, 2]] {
            let soft =
                Array2::from_shape_fn((30, 10), |(i, k)| 0.1 + 0.09 * ((i * 10 + k) as f64).sin());
            let table = Memberships::of(soft.view(), Layout::Rows);
            let places = 0..partners.len();
            let c = places.clone().map(|at| (at + 1) as f64).collect();
            let n = places.map(|at| (3 * at + 1) as f64).collect();
            let counts = PairCounts { c, n };
            let y = [(1, 0.25), (4, 0.5), (9, 0.25)];
            let chosen = [0, 1, 3, 4, 9];
            let mut g = vec![7.0; 10];
            let mut h = Vec::new();
            seen.read(&table, partners);
            seen.gradient(&counts, &y, &mut g);
            seen.hessian(&counts, &chosen, &mut h);
            let mut exact_g = [0.0; 10];
            let mut exact_h = [0.0; 25];
            for (at, &j) in partners.iter().enumerate() {
                let row = soft.row(j as usize);
                let p = y.iter().map(|&(k, y)| y * row[k]).sum();
                let (first, second) = L2.slopes(counts.c[at], counts.n[at], p);
                for (k, g) in exact_g.iter_mut().enumerate() {
                    *g += first * row[k];
                }
                for (at, h) in exact_h.iter_mut().enumerate() {
                    *h += second * row[chosen[at / 5]] * row[chosen[at % 5]];
                }
            }
            for (found, exact) in g.iter().zip(exact_g).chain(h.iter().zip(exact_h)) {
                assert!((found - exact).abs() < 1e-12, "{found} {exact}");
            }
        }
    }
}
