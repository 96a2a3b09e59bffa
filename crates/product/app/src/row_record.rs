//! The record of a consensus of label rows that were read block by block.

use partita::{RowBlocks, RowOutcome};
use serde_json::{Value, json};

use crate::phases;
use crate::record::VERSION;
use crate::stopwatch::Spent;

/// A consensus of label rows, for its record.
pub struct RowRun<'a> {
    /// Name of the method.
    pub method: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// What was found.
    pub found: &'a RowOutcome,
    /// Mean confidence.
    pub confidence: f64,
    /// The rows.
    pub rows: &'a dyn RowBlocks,
    /// What it took.
    pub spent: Spent,
}

impl RowRun<'_> {
    /// The record as one JSON object.
    pub fn record(&self) -> Value {
        let (found, spent, rows) = (self.found, self.spent, self.rows);
        json!({
            "method": self.method,
            "settings": found.settings,
            "seed": self.seed,
            "objective": found.objective.as_ref().map(|objective| objective.value),
            "objective_name": found.objective.as_ref().map(|objective| objective.name),
            "rounds": found.rounds,
            "stopped": found.stopped,
            "clusters": found.sizes.iter().filter(|size| **size > 0).count(),
            "sizes": found.sizes,
            "confidence": self.confidence,
            "seconds": spent.seconds,
            "cpu_seconds": spent.cpu_seconds,
            "peak_bytes": spent.peak_bytes,
            // Summed over threads: reading, encoding, writing and parts of the method.
            "phases": phases::taken(),
            "n": rows.rows(),
            "base_clusterings": rows.bases().len(),
            "row_groups": rows.groups(),
            "warnings": found.warnings,
            "version": VERSION,
            "details": found.details,
        })
    }
}
