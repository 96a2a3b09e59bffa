//! Gram matrix of squared differences: second derivatives of all objects come from one small matrix.
//!
//! For `Σ_j N (x − y·Y_j)²` with the same N everywhere, the Hessian of one object is `2N (YᵀY − y yᵀ)` and its gradient
//! `H y − 2 Σ_j c_j Y_j`: one pass over the counts in place of one over all products of columns. Where the N differ a
//! little, the same matrix with their mean still gives a good direction; gradient and step stay exact.

use partita_kernels::dispatch;

use crate::bregman::Bregman;
use crate::evidence::{Evenness, Evidence};
use crate::kernels::Weighted;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

/// `YᵀY` over all objects, K × K.
#[derive(Clone, Debug)]
pub(crate) struct Gram {
    values: Vec<f64>,
    clusters: usize,
    evenness: Evenness,
}

/// What one object sees of a [`Gram`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct GramOfObject<'a> {
    gram: &'a Gram,
    /// N of the object's pairs, or their mean.
    n: f64,
    /// Whether all N are the same.
    pub(crate) exact: bool,
}

impl Gram {
    /// The matrix of a table, where divergence and evidence allow it to be used.
    pub(crate) fn of<D: Bregman>(
        bregman: &D,
        evidence: &Evidence,
        table: &Memberships,
    ) -> Option<Self> {
        let evenness = evidence.evenness();
        if !bregman.squared() || evenness == Evenness::Uneven || table.layout != Layout::Columns {
            return None;
        }
        let clusters = table.clusters;
        let mut values = vec![0.0; clusters * clusters];
        for (k, row) in values.chunks_mut(clusters).enumerate() {
            dispatch(Weighted {
                others: table,
                w: table.column(k),
                g: row,
            });
        }
        Some(Self {
            values,
            clusters,
            evenness,
        })
    }

    /// One object moved from `old` to `new`.
    pub(crate) fn moved(&mut self, old: &[f64], new: &[f64]) {
        for (k, row) in self.values.chunks_mut(self.clusters).enumerate() {
            for (l, value) in row.iter_mut().enumerate() {
                *value += new[k] * new[l] - old[k] * old[l];
            }
        }
    }

    pub(crate) fn seen(&self, evidence: &Evidence, i: usize) -> GramOfObject<'_> {
        let others = evidence.objects().max(2) - 1;
        let mean = evidence.weight(i) / others as f64;
        let (n, exact) = match self.evenness {
            Evenness::Even(n) => (n, true),
            Evenness::Nearly | Evenness::Uneven => (mean, false),
        };
        GramOfObject {
            gram: self,
            n,
            exact,
        }
    }
}

impl GramOfObject<'_> {
    fn second(&self, y: &[f64], k: usize, l: usize) -> f64 {
        2.0 * self.n * (self.gram.values[k * self.gram.clusters + l] - y[k] * y[l])
    }

    /// The gradient of the object with probabilities `y`, where all N are the same.
    pub(crate) fn gradient(
        &self,
        others: &Memberships,
        counts: &PairCounts,
        y: &[f64],
        g: &mut [f64],
    ) {
        dispatch(Weighted {
            others,
            w: &counts.c,
            g,
        });
        for (k, g) in g.iter_mut().enumerate() {
            let seen = (0..y.len()).filter(|&l| y[l] > 0.0);
            let bent: f64 = seen.map(|l| self.second(y, k, l) * y[l]).sum();
            *g = bent - 2.0 * *g;
        }
    }

    /// Second derivatives between the chosen clusters into `h`.
    pub(crate) fn hessian(&self, y: &[f64], chosen: &[usize], h: &mut Vec<f64>) {
        h.clear();
        for &k in chosen {
            h.extend(chosen.iter().map(|&l| self.second(y, k, l)));
        }
    }
}
