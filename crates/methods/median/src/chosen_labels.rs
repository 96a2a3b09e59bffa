//! Labels of rows by a choice among clusters.

use partita_core::{Assigned, Row, RowBlock, RowLabeller, RowMap};
use partita_kmeans::labels::LabelChoice;
use serde::{Deserialize, Serialize};

/// The cluster that a row chooses, by its name.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ChosenLabels {
    pub(crate) choice: LabelChoice,
    /// What the clusters of the choice are called.
    pub(crate) becomes: Vec<u32>,
}

impl RowLabeller for ChosenLabels {
    const KIND: &'static str = "median/chosen-labels";
}

impl RowMap for ChosenLabels {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut labels = Vec::with_capacity(block.len());
        self.choice
            .for_each(block, |_, k, _| labels.push(self.becomes[k as usize]));
        Assigned {
            labels,
            ..Assigned::default()
        }
    }
}
