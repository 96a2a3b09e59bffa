//! Second moments of few rows: what squared differences need of an object's partners, read as the rows lie in the table.
//!
//! With squared differences the gradient of an object is `2 (G y − r)` and its Hessian `2 G`, where `G = Σ_j n_j Y_j Y_jᵀ` and
//! `r = Σ_j c_j Y_j`. Sums run over partners in order, number by number: they have the same bits with vectors of any width.

#![expect(
    clippy::inline_always,
    reason = "loops are compiled into functions with wider vectors only by inlining"
)]

use partita_kernels::{Kernel, LANES, Simd, dispatch};

use crate::pair_counts::PairCounts;

/// Rows of an object's partners, each padded with zeros to a multiple of [`LANES`].
#[derive(Clone, Debug, Default)]
pub(crate) struct NearRows {
    lanes: Vec<[f64; LANES]>,
    /// Lanes of a row.
    wide: usize,
    objects: usize,
}

impl NearRows {
    /// Copies the rows of `partners` out of a table of `clusters` columns. O(partners · K).
    pub(crate) fn copy(&mut self, table: &[f64], clusters: usize, partners: &[u32]) {
        self.wide = clusters.div_ceil(LANES);
        self.objects = partners.len();
        // Padding is never written: K is the same for the whole run.
        self.lanes.resize(self.wide * partners.len(), [0.0; LANES]);
        match clusters {
            2 => self.copy_of::<2>(table, partners),
            3 => self.copy_of::<3>(table, partners),
            4 => self.copy_of::<4>(table, partners),
            5 => self.copy_of::<5>(table, partners),
            6 => self.copy_of::<6>(table, partners),
            8 => self.copy_of::<8>(table, partners),
            10 => self.copy_of::<10>(table, partners),
            _ => {
                for (to, &j) in self.lanes.chunks_exact_mut(self.wide).zip(partners) {
                    let row = &table[j as usize * clusters..][..clusters];
                    to.as_flattened_mut()[..clusters].copy_from_slice(row);
                }
            }
        }
    }

    /// With the length of rows known when this is compiled.
    fn copy_of<const K: usize>(&mut self, table: &[f64], partners: &[u32]) {
        let (table, _) = table.as_chunks::<K>();
        for (to, &j) in self.lanes.chunks_exact_mut(K.div_ceil(LANES)).zip(partners) {
            to.as_flattened_mut()[..K].copy_from_slice(&table[j as usize]);
        }
    }

    /// `r ← Σ_j c_j Y_j` behind the rows `G_k` of the chosen clusters, all of `wide` lanes. O(partners · K · chosen).
    pub(crate) fn moments(
        &self,
        counts: &PairCounts,
        chosen: &[usize],
        with_c: bool,
        out: &mut Vec<[f64; LANES]>,
    ) {
        let start = out.len();
        let rows = chosen.len() + usize::from(with_c);
        out.resize(start + rows * self.wide, [0.0; LANES]);
        dispatch(Moments {
            rows: self,
            counts,
            chosen,
            out: &mut out[start..],
        });
    }

    /// Numbers of a row with its padding.
    pub(crate) fn stride(&self) -> usize {
        self.wide * LANES
    }
}

/// `out_s ← Σ_j n_j Y_jk Y_j` for the chosen clusters k, and behind these `Σ_j c_j Y_j` where `out` has a row more.
struct Moments<'a> {
    rows: &'a NearRows,
    counts: &'a PairCounts,
    chosen: &'a [usize],
    out: &'a mut [[f64; LANES]],
}

impl Kernel for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) {
        let mut at = 0;
        let wanted = self.out.len() / self.rows.wide.max(1);
        while at < wanted {
            at += match wanted - at {
                4.. => self.some::<4>(at),
                2.. => self.some::<2>(at),
                _ => self.some::<1>(at),
            };
        }
    }
}

impl Moments<'_> {
    /// So many rows of the result from the one at `first` on.
    #[inline(always)]
    fn some<const B: usize>(&mut self, first: usize) -> usize {
        let wide = self.rows.wide;
        let mut lane = 0;
        while lane < wide {
            lane += if lane + 2 <= wide {
                self.block::<B, 2>(first, lane)
            } else {
                self.block::<B, 1>(first, lane)
            };
        }
        B
    }

    /// So many lanes of these rows.
    #[inline(always)]
    fn block<const B: usize, const L: usize>(&mut self, first: usize, lane: usize) -> usize {
        let rows = self.rows;
        let wide = rows.wide;
        let c = &self.counts.c[..rows.objects];
        let n = &self.counts.n[..rows.objects];
        let place: [Option<usize>; B] =
            std::array::from_fn(|b| self.chosen.get(first + b).copied());
        let mut sums = [[[0.0; LANES]; L]; B];
        for (row, (&c, &n)) in rows.lanes.chunks_exact(wide).zip(c.iter().zip(n)) {
            let values = row.as_flattened();
            let part = &row[lane..lane + L];
            for b in 0..B {
                let weight = place[b].map_or(c, |k| n * values[k]);
                for l in 0..L {
                    for at in 0..LANES {
                        sums[b][l][at] += weight * part[l][at];
                    }
                }
            }
        }
        for (b, sums) in sums.iter().enumerate() {
            self.out[(first + b) * wide + lane..][..L].copy_from_slice(sums);
        }
        L
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_kernels::Level;

    #[test]
    fn every_level_gives_the_same_bits_and_the_sums_are_right() {
        for (clusters, partners) in [(1, 3), (3, 0), (8, 1), (10, 31), (18, 30), (37, 9)] {
            let table: Vec<f64> = (0..50 * clusters).map(|at| (at as f64).sin()).collect();
            let partners: Vec<u32> = (0..partners).map(|at| (at * 7) % 50).collect();
            let c: Vec<f64> = (0..partners.len()).map(|at| (at % 5) as f64).collect();
            let n = c.iter().map(|c| c + 0.5).collect();
            let counts = PairCounts { c, n };
            let mut rows = NearRows::default();
            rows.copy(&table, clusters, &partners);
            for chosen in [
                vec![],
                vec![clusters - 1],
                (0..clusters).collect::<Vec<usize>>(),
            ] {
                let mut found = Vec::new();
                rows.moments(&counts, &chosen, true, &mut found);
                for level in Level::all() {
                    let mut out = vec![[0.0; LANES]; (chosen.len() + 1) * rows.wide];
                    level.run(Moments {
                        rows: &rows,
                        counts: &counts,
                        chosen: &chosen,
                        out: &mut out,
                    });
                    assert_eq!(out, found, "{level:?} {clusters}");
                }
                for (s, row) in found.as_flattened().chunks(rows.stride()).enumerate() {
                    for (l, &value) in row.iter().enumerate().take(clusters) {
                        let mut exact = 0.0;
                        for (at, &j) in partners.iter().enumerate() {
                            let row = &table[j as usize * clusters..];
                            let weight = chosen
                                .get(s)
                                .map_or(counts.c[at], |&k| counts.n[at] * row[k]);
                            exact += weight * row[l];
                        }
                        let near = (value - exact).abs() < 1e-12;
                        assert!(near, "{clusters} {s} {l}: {value} {exact}");
                    }
                }
            }
        }
    }
}
