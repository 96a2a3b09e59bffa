//! VAT: an order of the objects that puts clusters next to each other, and a small heat map of the evidence.

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, Flow, Monitor, chunks};

use crate::{CoassocError, EvidenceRows};

/// What the dissimilarity 1 counts.
const UNIT: u64 = 1 << 31;

/// The order of VAT (Bezdek and Hathaway 2002): starts at an object of the least similar pair, and always goes on with
/// the object nearest to those already placed. Clusters appear as dark blocks on the diagonal of a heat map in this
/// order.
///
/// # Errors
/// [`CoassocError::TooManyBaseClusterings`], [`CoassocError::Interrupted`].
///
/// # Cost
/// O(n² M) byte comparisons twice, and no memory of size n².
pub fn vat_order(ensemble: &Ensemble, monitor: &dyn Monitor) -> Result<Vec<u32>, CoassocError> {
    let rows = EvidenceRows::new(ensemble)?;
    let n = rows.objects();
    let tell = |done: usize| match monitor.tick(done as u64, 2 * n as u64) {
        Flow::Stop => Err(CoassocError::Interrupted),
        Flow::Continue => Ok(()),
    };
    let (mut farthest, mut at) = (0, 0);
    for i in 0..n {
        rows.for_each(i, |j, c, all| {
            if i != j && apart(c, all) > farthest {
                (farthest, at) = (apart(c, all), i);
            }
        });
        tell(i)?;
    }
    let placed = u64::MAX;
    let mut distance = vec![placed - 1; n];
    let mut order = Vec::with_capacity(n);
    while order.len() < n {
        distance[at] = placed;
        order.push(at as u32);
        rows.for_each(at, |j, c, all| {
            if distance[j] != placed {
                distance[j] = distance[j].min(apart(c, all));
            }
        });
        at = (0..n).min_by_key(|&i| distance[i]).unwrap_or(0);
        tell(n + order.len())?;
    }
    Ok(order)
}

/// 1 − c/N in whole units.
fn apart(c: u32, n: u32) -> u64 {
    let (apart, all) = (u64::from(n - c), u64::from(n));
    (apart * UNIT + all / 2).checked_div(all).unwrap_or(UNIT)
}

/// The evidence in an order of the objects, down-sampled to at most `side` × `side` cells: each is Σc / ΣN over the
/// pairs of two runs of consecutive objects (an object with itself left out; 0 where no pair was seen).
///
/// # Cost
/// O(n M + side² ΣJ) time, O(side ΣJ) memory: no pair of objects is looked at.
///
/// # Panics
/// If `order` names an object that is not there.
pub fn heat_map(ensemble: &Ensemble, order: &[u32], side: usize) -> Array2<f32> {
    let size = order.len().div_ceil(side.max(1)).max(1);
    let (offsets, bases) = (ensemble.offsets(), ensemble.bases().len());
    let runs: Vec<Run> = chunks(order.len(), size)
        .map(|run| Run::new(ensemble, &offsets, &order[run]))
        .collect();
    Array2::from_shape_fn((runs.len(), runs.len()), |(a, b)| {
        let inner = |x: &[u32], y: &[u32]| -> u64 {
            x.iter()
                .zip(y)
                .map(|(&x, &y)| u64::from(x) * u64::from(y))
                .sum()
        };
        let (mut c, mut n) = (
            inner(&runs[a].clusters, &runs[b].clusters),
            inner(&runs[a].labelled, &runs[b].labelled),
        );
        if a == b {
            let themselves: u64 = runs[a].labelled[..bases]
                .iter()
                .map(|&count| u64::from(count))
                .sum();
            (c, n) = (c - themselves, n - themselves);
        }
        if n == 0 {
            0.0
        } else {
            (c as f64 / n as f64) as f32
        }
    })
}

/// How many objects of a run are in each base cluster, and labelled by each base clustering.
struct Run {
    clusters: Vec<u32>,
    labelled: Vec<u32>,
}

impl Run {
    fn new(ensemble: &Ensemble, offsets: &[usize], objects: &[u32]) -> Self {
        let bases = ensemble.bases().len();
        let mut run = Self {
            clusters: vec![0; offsets[bases]],
            labelled: vec![0; bases],
        };
        for &i in objects {
            for u in 0..bases {
                if let Some(cluster) = ensemble.label(i as usize, u) {
                    run.clusters[offsets[u] + cluster] += 1;
                    run.labelled[u] += 1;
                }
            }
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Silent};

    fn blocks() -> Ensemble {
        let mut builder = EnsembleBuilder::new(6);
        builder
            .push("a", [Some(0), Some(1), Some(0), Some(1), Some(0), Some(1)])
            .unwrap();
        builder
            .push("b", [Some(0), Some(1), Some(0), Some(1), None, Some(1)])
            .unwrap();
        builder
            .push("c", [Some(0), Some(1), Some(2), Some(1), Some(0), Some(1)])
            .unwrap();
        builder.finish().unwrap()
    }

    #[test]
    fn clusters_stand_together() {
        assert_eq!(vat_order(&blocks(), &Silent).unwrap(), [0, 4, 2, 1, 3, 5]);
    }

    #[test]
    fn cells_can_be_checked_by_eye() {
        let map = heat_map(&blocks(), &[0, 4, 2, 1, 3, 5], 2);
        // Pairs (0,4): 2 of 2, (0,2): 2 of 3, (4,2): 1 of 2; the other block is always together.
        assert_eq!(
            map,
            partita_core::ndarray::array![[5.0 / 7.0, 0.0], [0.0, 1.0]]
        );
        assert_eq!(heat_map(&blocks(), &[0, 1], 9).dim(), (2, 2));
    }
}
