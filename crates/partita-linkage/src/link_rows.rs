//! Trees over exact dissimilarities: the algorithm that suits the linkage.

use partita_core::{Dendrogram, Monitor};

use crate::generic::generic;
use crate::lazy_matrix::LazyMatrix;
use crate::mst::minimum_spanning_tree;
use crate::nn_chain::nn_chain;
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
/// O(n²) time and 2n rows; memory is [`bytes`]. Single link needs O(n) memory and n rows. Centroid link has no
/// bound below O(n³) but takes a few times as long as the others.
pub fn link_rows(
    rows: &dyn Rows,
    weights: &[u32],
    linkage: Linkage,
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    let objects = rows.objects();
    if weights.len() != objects || weights.contains(&0) {
        return Err(LinkageError::Weights { found: weights.len(), objects });
    }
    if objects < 2 {
        return Ok(Dendrogram::new(objects, Vec::new()));
    }
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    if total * total / 4.0 * rows.unit() as f64 > u64::MAX as f64 {
        return Err(LinkageError::Unit { unit: rows.unit(), weight: total });
    }
    match linkage {
        Linkage::Single => minimum_spanning_tree(rows, weights, monitor),
        Linkage::Centroid => generic(LazyMatrix::new(rows, weights, linkage), weights, monitor),
        Linkage::Complete | Linkage::Average | Linkage::Ward => {
            nn_chain(LazyMatrix::new(rows, weights, linkage), weights, monitor)
        }
    }
}

/// Bytes that [`link_rows`] holds at once, at most, over objects of weight 1 whose dissimilarity 1 counts `unit`.
pub fn bytes(objects: usize, unit: u64, linkage: Linkage) -> u64 {
    let cells = crate::lazy_matrix::cells(objects) as u64;
    let rows = match linkage {
        Linkage::Single => 0,
        Linkage::Complete => cells.saturating_mul(4),
        Linkage::Centroid => cells.saturating_mul(8),
        Linkage::Average | Linkage::Ward => {
            let (narrow, wide) = crate::lazy_matrix::widths(objects, unit);
            (narrow as u64).saturating_mul(4).max((wide as u64).saturating_mul(8))
        }
    };
    (objects as u64).saturating_mul(64).saturating_add(rows)
}
