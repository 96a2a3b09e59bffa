//! The co-association of different label rows, locally weighted, and which pairs of it are certain.

use std::ops::Range;

use partita_coassoc::cluster_weights;
use partita_core::ndarray::parallel::prelude::*;
use partita_core::ndarray::{Array2, Axis};
use partita_core::{Ensemble, Flow, Fragments, Monitor, WeightedEnsemble};

use crate::GraphError;

/// Dense evidence of all pairs of f different label rows. Rows of one component of certain pairs come one after the other.
pub(super) struct Evidence {
    /// The label row in every place.
    pub(super) order: Vec<usize>,
    /// Connected components of the certain pairs, as ranges of places.
    pub(super) components: Vec<Range<usize>>,
    /// How many objects have the row of every place, or the sum of their weights.
    pub(super) masses: Vec<f64>,
    /// Share of base clusterings that put two rows together where it is at least α, else 0; diagonal 0. Two objects of the same row
    /// are always a certain pair.
    pub(super) certain: Array2<f64>,
    /// f × (f + 1): the same, weighted by how far the others agree with the base cluster, diagonal 1; negative for certain pairs. The
    /// last column is of two objects that have the same row.
    pub(super) weighted: Array2<f64>,
}

impl Evidence {
    /// Evidence of the different rows of an ensemble; base clusters weigh what `theta` makes of their entropy.
    ///
    /// # Cost
    /// O(f² M) time, 16 f² bytes and 8 f² more for a while.
    ///
    /// # Errors
    /// [`GraphError::Interrupted`] if the monitor asks to stop, which it is asked by row.
    pub(super) fn new(
        source: WeightedEnsemble<'_>,
        fragments: &Fragments,
        theta: f64,
        alpha: f64,
        monitor: &dyn Monitor,
    ) -> Result<Self, GraphError> {
        let labels = Labels::new(fragments.ensemble(), source, theta);
        let f = fragments.weights().len();
        let plain = labels.matrix(|_| 1.0, monitor)?;
        let certain =
            |i: usize, j: usize| i != j && plain[[i, j]] > 0.0 && plain[[i, j]] >= alpha - 1e-6;
        let component = components(f, certain);
        let mut order: Vec<usize> = (0..f).collect();
        order.sort_by_key(|&i| component[i]);
        let count = component.iter().max().map_or(0, |last| last + 1);
        let start = |part: usize| order.partition_point(|&i| component[i] < part);
        let components = (0..count)
            .map(|part| start(part)..start(part + 1))
            .collect();
        let kept = |(i, j): (usize, usize)| {
            if certain(order[i], order[j]) {
                plain[[order[i], order[j]]]
            } else {
                0.0
            }
        };
        let certain = Array2::from_shape_fn((f, f), kept);
        drop(plain);
        let weighted = labels.matrix(|c| labels.worth[c], monitor)?;
        let signed = |(i, j): (usize, usize)| match (i == j, j == f || certain[[i, j]] > 0.0) {
            (true, _) => 1.0,
            (_, true) => -weighted[[order[i], order[if j == f { i } else { j }]]],
            _ => weighted[[order[i], order[j]]],
        };
        let weighted = Array2::from_shape_fn((f, f + 1), signed);
        let masses = fragments.masses(source.multiplicities());
        Ok(Self {
            masses: order.iter().map(|&i| masses[i]).collect(),
            order,
            components,
            certain,
            weighted,
        })
    }
}

/// Labels by row, and what they count.
struct Labels {
    bases: usize,
    /// f × M base clusters, [`NONE`] where there is no label.
    clusters: Vec<u32>,
    /// What each base clustering counts.
    weights: Vec<f64>,
    /// What each base cluster counts besides.
    worth: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl Labels {
    fn new(ensemble: &Ensemble, source: WeightedEnsemble<'_>, theta: f64) -> Self {
        let (offsets, bases) = (ensemble.offsets(), ensemble.bases().len());
        let place = |i: usize, u: usize| {
            ensemble
                .label(i, u)
                .map_or(NONE, |label| (offsets[u] + label) as u32)
        };
        let clusters = (0..ensemble.objects())
            .flat_map(|i| (0..bases).map(move |u| place(i, u)))
            .collect();
        let weights = source
            .shares()
            .map_or_else(|| vec![1.0; bases], <[f64]>::to_vec);
        Self {
            bases,
            clusters,
            weights,
            worth: cluster_weights(source, theta),
        }
    }

    /// The mean of what shared base clusters count, over the base clusterings that label both rows.
    fn matrix(
        &self,
        worth: impl Fn(usize) -> f64 + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Array2<f64>, GraphError> {
        let n = self.clusters.len() / self.bases.max(1);
        let mut matrix = Array2::zeros((n, n));
        let rows = matrix.axis_iter_mut(Axis(0)).into_par_iter().enumerate();
        rows.try_for_each(|(i, mut row)| {
            if monitor.flow() == Flow::Stop {
                return Err(GraphError::Interrupted);
            }
            let own = &self.clusters[i * self.bases..][..self.bases];
            for (to, other) in row.iter_mut().zip(self.clusters.chunks_exact(self.bases)) {
                let (mut together, mut seen) = (0.0, 0.0);
                for ((&a, &b), weight) in own.iter().zip(other).zip(&self.weights) {
                    if a != NONE && b != NONE {
                        seen += weight;
                        together += if a == b {
                            weight * worth(a as usize)
                        } else {
                            0.0
                        };
                    }
                }
                *to = if seen > 0.0 { together / seen } else { 0.0 };
            }
            Ok(())
        })?;
        Ok(matrix)
    }
}

/// The number of every row's component, in the order of their first rows.
fn components(n: usize, joined: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let (mut component, mut count, mut open) = (vec![usize::MAX; n], 0, Vec::new());
    for first in 0..n {
        if component[first] != usize::MAX {
            continue;
        }
        component[first] = count;
        open.push(first);
        while let Some(i) = open.pop() {
            for j in (0..n).filter(|&j| joined(i, j)) {
                if component[j] == usize::MAX {
                    component[j] = count;
                    open.push(j);
                }
            }
        }
        count += 1;
    }
    component
}
