//! Which ensembles methods read by blocks, and one in memory that is.

use std::num::Saturating;

use serde_json::{Map, Value};

use crate::fit_in_memory::labelled;
use crate::{
    Consensus, ConsensusError, EnsembleRows, MethodInfo, Monitor, Outcome, PassError, Problem,
    ProblemSize, RowFit, SettingMap, SettingsError,
};

/// Labels of an ensemble, objects times base clusterings, beyond which methods that can read rows by blocks do so, whether
/// the rows are in memory or not. The path depends on the size of the ensemble alone, so that the same command gives the
/// same labels on every machine.
pub const LABELS_BY_BLOCKS: u64 = 1 << 25;

/// The objects up to which label rows are held however many base clusterings there are: blocks of few rows save little, and the
/// tables of pairs of base clusters that passes sum grow with the square of the base clusterings.
const OBJECTS_HELD: u64 = 1 << 16;

/// Whether methods that can read the label rows of so many objects and base clusterings by blocks do so.
pub fn are_read_by_blocks(objects: u64, base_clusterings: u64) -> bool {
    objects > OBJECTS_HELD && objects.saturating_mul(base_clusterings) > LABELS_BY_BLOCKS
}

/// A fit of label rows with diagnostics as JSON, and all settings that it ran with.
pub type FitAndSettings = (RowFit<Map<String, Value>>, Map<String, Value>);

/// Whether the method reads an ensemble of this size by blocks.
pub(crate) fn by_blocks(info: &MethodInfo, size: &ProblemSize) -> bool {
    let large = are_read_by_blocks(size.objects as u64, size.base_clusterings as u64);
    info.capabilities.streams && large && size.soft_shares == 0 && (size.auto || size.clusters != 1)
}

/// Bytes that [`consense`](crate::consense) holds at once beside the ensemble, at most.
///
/// # Errors
/// [`SettingsError`] for settings that the method does not take.
pub fn consensus_bytes(
    method: &dyn Consensus,
    settings: &SettingMap,
    size: &ProblemSize,
) -> Result<u64, SettingsError> {
    let info = method.info();
    if by_blocks(info, size) {
        return Ok(method
            .row_bytes(settings, size)?
            .saturating_add(held(info, size)));
    }
    method.bytes(settings, size)
}

/// The consensus of an ensemble in memory by blocks, of a problem that was checked.
pub(crate) fn over_blocks(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    let rows = EnsembleRows::new(problem.ensemble);
    let problem = problem.over(&rows);
    let fit = method.fit_rows(&problem, monitor)?;
    labelled(&problem.passes(), fit).map_err(|error| error.of(method.info().name))
}

/// Bytes of the labels and probabilities of all objects.
fn held(info: &MethodInfo, size: &ProblemSize) -> u64 {
    let [n, _, _, k] = size.saturating();
    let soft = if info.capabilities.soft {
        k * Saturating(8)
    } else {
        Saturating(0)
    };
    (n * (soft + Saturating(12))).0
}

impl ConsensusError {
    /// The error of a method whose rows were not passed over to the end.
    pub fn of_pass(method: &'static str, error: PassError) -> Self {
        match error {
            PassError::Interrupted => Self::Interrupted,
            other => Self::Method {
                method,
                source: Box::new(other),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::are_read_by_blocks;

    #[test]
    fn few_objects_are_held_whatever_the_base_clusterings() {
        assert!(!are_read_by_blocks(1797, 20_000) && !are_read_by_blocks(1 << 16, u64::MAX));
        assert!(!are_read_by_blocks(1 << 20, 32) && are_read_by_blocks(1 << 20, 33));
        assert!(are_read_by_blocks(u64::MAX, 2) && are_read_by_blocks((1 << 16) + 1, 512));
    }
}
