//! Labels of rows by k-means on labels: the cluster that a row chose, and the mean share of its labels there.

use partita_core::{Assigned, Row, RowBlock, RowLabeller, RowMap};
use partita_kmeans::labels::{Counts, LabelChoice};
use serde::{Deserialize, Serialize};

/// The cluster that a row chose, and the mean share of its labels there.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct MeanLabels {
    pub(crate) choice: LabelChoice,
    pub(crate) counts: Counts,
    pub(crate) base_weights: Vec<f64>,
}

impl RowLabeller for MeanLabels {
    const KIND: &'static str = "median/mean-labels";
}

impl RowMap for MeanLabels {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut assigned = Assigned::default();
        self.choice.for_each(block, |row, k, _| {
            assigned.labels.push(k);
            assigned.certainty.push(self.counts.mean_share(
                self.choice.places(row),
                k,
                &self.base_weights,
            ));
        });
        assigned
    }
}
