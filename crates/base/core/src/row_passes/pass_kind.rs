//! Passes by their names, for workers who have them as bytes.

use std::ops::Range;

use super::RowBlocks;
use super::engine::{decode, encode};
use super::foreign::guarded;
use super::pass::{PassError, RowPass};
use super::runner::PassRunner;
use crate::Monitor;

/// A kind of pass by its name: what a worker needs to run it from its bytes.
#[derive(Clone, Copy, Debug)]
pub struct PassKind {
    name: &'static str,
    sum: SumPart,
}

/// Sums some groups by the pass with this state.
type SumPart = fn(&[u8], &PassRunner<'_>, Range<usize>) -> Result<Vec<u8>, PassError>;

impl PassKind {
    /// The kind of a pass.
    pub const fn of<P: RowPass>() -> Self {
        Self {
            name: P::KIND,
            sum: sum_part::<P>,
        }
    }

    /// What it is called.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The sum over some groups of rows, as bytes for [`PassEngine::sums`](super::PassEngine::sums).
    ///
    /// # Errors
    /// [`PassError::Parts`] for a state that is not one of this kind, [`PassError::Source`] when rows cannot be read.
    pub fn sum(
        &self,
        state: &[u8],
        rows: &dyn RowBlocks,
        groups: Range<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<u8>, PassError> {
        guarded(
            |error| error,
            || (self.sum)(state, &PassRunner::new(rows, monitor), groups),
        )
    }
}

fn sum_part<P: RowPass>(
    state: &[u8],
    rows: &PassRunner<'_>,
    groups: Range<usize>,
) -> Result<Vec<u8>, PassError> {
    let pass: P = decode(state, P::KIND)?;
    if !pass.fits(rows.source().bases()) {
        return Err(PassError::Parts(format!(
            "the pass '{}' is over other base clusterings",
            P::KIND
        )));
    }
    encode(&rows.part(&pass, groups)?)
}
