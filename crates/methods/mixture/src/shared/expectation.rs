//! The E-step of a mixture as a pass: sums of expected memberships over rows.

use partita_core::{PassError, PassRunner, Row, RowBlock, RowPass};
use serde::{Deserialize, Serialize};

use crate::shared::log_probabilities::{LogProbabilities, normalise};
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The E-step under a table of log probabilities: expected sizes, label counts, and the log likelihood.
#[derive(Serialize, Deserialize)]
pub(crate) struct Expectation {
    offsets: Vec<usize>,
    logs: LogProbabilities,
}

impl RowPass for Expectation {
    type Sum = SufficientStatistics;
    const KIND: &'static str = "mixture/expectation";

    fn zero(&self) -> SufficientStatistics {
        SufficientStatistics::zero(self.offsets[self.offsets.len() - 1], self.logs.clusters())
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut SufficientStatistics) {
        let mut soft = vec![0.0; self.logs.clusters()];
        for (row, weight) in block.rows() {
            self.logs.score(row.entries(&self.offsets), &mut soft);
            let log = normalise(&mut soft);
            sum.log_sum += weight * log;
            if log > f64::NEG_INFINITY {
                soft.iter_mut().for_each(|p| *p *= weight);
                sum.add(row.entries(&self.offsets), &soft);
            }
        }
    }
}

/// One E-step over all rows.
///
/// # Cost
/// O(n M K) time.
pub(crate) fn expect(
    rows: &PassRunner<'_>,
    offsets: &[usize],
    logs: LogProbabilities,
) -> Result<SufficientStatistics, PassError> {
    rows.run(&Expectation {
        offsets: offsets.to_vec(),
        logs,
    })
}
