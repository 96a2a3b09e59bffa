//! Exact dissimilarities, a row at a time, and progress of the searches over them.

use partita_core::{Flow, Monitor};

use crate::LinkageError;

/// Dissimilarities as whole multiples of a unit, a row at a time: nothing of size n² needs to exist.
///
/// Sums of whole numbers are exact in any order, so that ties are ties however a tree is reached.
pub trait Rows: Sync {
    /// Number of objects, n.
    fn objects(&self) -> usize;

    /// What the dissimilarity 1 counts. No dissimilarity may count more than `u32::MAX`.
    fn unit(&self) -> u64;

    /// The dissimilarities of one object to all, n values; what stands at the object itself is not read.
    /// For Ward and centroid link: squared.
    fn fill(&self, object: usize, row: &mut [u32]);
}

/// Reports progress to a monitor now and then.
///
/// # Errors
/// [`LinkageError::Interrupted`] if it asks to stop.
pub(crate) fn report(monitor: &dyn Monitor, done: usize, total: usize) -> Result<(), LinkageError> {
    if done.is_multiple_of(64) && monitor.tick(done as u64, total as u64) == Flow::Stop {
        return Err(LinkageError::Interrupted);
    }
    Ok(())
}
