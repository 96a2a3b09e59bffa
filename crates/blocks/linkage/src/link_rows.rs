//! Trees over exact dissimilarities: the algorithm that suits the linkage.

use partita_core::{Dendrogram, Monitor};

use crate::generic::generic;
use crate::lazy_matrix::{LIMIT, LazyMatrix, at_least};
use crate::merges::in_order;
use crate::mst::minimum_spanning_tree;
use crate::nn_chain::Chain;
use crate::rows::Rows;
use crate::{Linkage, LinkageError};

/// The tree of weighted objects, each of which stands for as many identical ones as its weight says.
///
/// Of clusters at the same dissimilarity those merge first that hold the smallest object; so the tree does not
/// depend on how it is found, and for every linkage but centroid it is the tree of the objects that the weights
/// stand for, above their merges at height 0.
///
/// # Errors
/// [`LinkageError::Weights`] if there is not one weight an object, [`LinkageError::Interrupted`] if the monitor asks
/// to stop.
///
/// # Cost
/// O(n²) time and 2n rows; memory is [`bytes`]. Where 3 GiB do not hold the rows of all clusters, those of the smallest are made again
/// from the rows of their objects: as many more as clusters are small, and none in practice below 50,000 objects. Single link needs
/// O(n) memory and n rows. Centroid link has no bound below O(n³) but takes a few times as long as the others.
pub fn link_rows(
    rows: &dyn Rows,
    weights: &[u32],
    linkage: Linkage,
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    link_within(rows, weights, linkage, LIMIT, monitor)
}

/// [`link_rows`] with at most so many bytes of rows, or a few rows.
fn link_within(
    rows: &dyn Rows,
    weights: &[u32],
    linkage: Linkage,
    limit: u64,
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    let objects = rows.objects();
    if weights.len() != objects || weights.contains(&0) {
        return Err(LinkageError::Weights {
            found: weights.len(),
            objects,
        });
    }
    if objects < 2 {
        return Ok(Dendrogram::new(objects, Vec::new()));
    }
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    if total * total / 4.0 * rows.unit() as f64 > u64::MAX as f64 {
        return Err(LinkageError::Unit {
            unit: rows.unit(),
            weight: total,
        });
    }
    match linkage {
        Linkage::Single => minimum_spanning_tree(rows, weights, monitor),
        Linkage::Centroid => {
            let store = LazyMatrix::new(rows, weights, linkage, limit);
            generic(store, weights, monitor)
        }
        Linkage::Complete | Linkage::Average | Linkage::Ward => {
            let store = LazyMatrix::new(rows, weights, linkage, limit);
            nn_chain(store, weights, monitor)
        }
    }
}

/// The tree by a nearest-neighbour chain, with cells of 32 bits while they hold all sums.
fn nn_chain(
    mut store: LazyMatrix<'_, u32>,
    weights: &[u32],
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    let mut chain = Chain::new(weights.len());
    let heaviest = weights.iter().copied().max().map_or(0.0, f64::from);
    if !store.fits(heaviest) || !chain.follow(&mut store, monitor)? {
        chain.follow(&mut store.widened(), monitor)?;
    }
    Ok(in_order(chain.merged, weights))
}

/// Bytes that [`link_rows`] holds at once, at most, over objects of weight 1 whose dissimilarity 1 counts `unit`: of rows at most 3 GiB (or 64
/// rows), but under centroid link.
pub fn bytes(objects: usize, unit: u64, linkage: Linkage) -> u64 {
    let cells = crate::lazy_matrix::cells(objects) as u64;
    let most = at_least(LIMIT, objects);
    let rows = match linkage {
        Linkage::Single => 0,
        Linkage::Complete => cells.saturating_mul(4).min(most),
        Linkage::Centroid => cells.saturating_mul(8),
        Linkage::Average | Linkage::Ward => {
            let (narrow, wide) = crate::lazy_matrix::widths(objects, unit);
            (narrow as u64)
                .saturating_mul(4)
                .max((wide as u64).saturating_mul(8))
                .min(most)
        }
    };
    (objects as u64).saturating_mul(72).saturating_add(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Seed, Silent};
    use rand::RngExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Dissimilarities without any order, so that clusters begin everywhere, and how many rows were asked for.
    struct Mixed(usize, AtomicUsize);

    impl Rows for Mixed {
        fn objects(&self) -> usize {
            self.0
        }

        fn unit(&self) -> u64 {
            1 << 20
        }

        fn fill(&self, object: usize, row: &mut [u32]) {
            self.1.fetch_add(1, Ordering::Relaxed);
            let pair = |other: usize| (object.min(other) * self.0 + object.max(other)) as u64;
            let mixed = |other: usize| pair(other).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
            row.iter_mut()
                .enumerate()
                .for_each(|(other, row)| *row = mixed(other) as u32);
        }
    }

    #[test]
    fn rows_that_were_dropped_are_made_again_the_same() {
        let mut rng = Seed::new(8).rng();
        let rows = Mixed(1500, AtomicUsize::new(0));
        let weights: Vec<u32> = (0..1500).map(|_| rng.random_range(1..4)).collect();
        for linkage in [Linkage::Average, Linkage::Complete, Linkage::Ward] {
            let [few, all] = [0, u64::MAX].map(|limit| {
                rows.1.store(0, Ordering::Relaxed);
                link_within(&rows, &weights, linkage, limit, &Silent)
                    .map(|tree| (tree, rows.1.load(Ordering::Relaxed)))
                    .unwrap()
            });
            assert_eq!(few.0, all.0, "{linkage:?}");
            let made = few.1;
            let needed = all.1;
            assert!(
                (needed + 501..20 * needed).contains(&made),
                "{linkage:?}: {made} rows beside {needed}"
            );
        }
    }
}
