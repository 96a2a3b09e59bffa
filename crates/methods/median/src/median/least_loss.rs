//! Labels of rows by what they cost: the cluster that a row chose, and how much more the next best costs.

use partita_core::{Assigned, Row, RowBlock, RowLabeller, RowMap};
use partita_kmeans::labels::LabelChoice;
use serde::{Deserialize, Serialize};

use super::search::Choice;
use super::tally::{Move, Tally};

/// The cluster of a row, by the counts of the pass before; its certainty, by the counts that came of that.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LeastLoss {
    choice: LabelChoice,
    /// What the clusters of the choice are called.
    becomes: Vec<u32>,
    clusters: usize,
    /// Clusters that a row might go to: one more where an empty one may be opened.
    open: usize,
    /// What an object with each label costs in every open cluster, and in its own of K.
    costs: Vec<f64>,
    own_costs: Vec<f64>,
    /// What is added to the costs of an object that each base clustering labels.
    constants: Vec<f64>,
}

impl LeastLoss {
    /// Labels by a choice whose clusters become those of the counts, of which there may be `most`.
    pub(super) fn new(
        choice: LabelChoice,
        becomes: Vec<u32>,
        tally: &Tally<'_>,
        most: usize,
    ) -> Self {
        let clusters = tally.counts.clusters();
        let open = clusters + usize::from(clusters < most);
        let (costs, own_costs) = (
            tally.costs(open, Move::In),
            tally.costs(clusters, Move::Out),
        );
        Self {
            choice,
            becomes,
            clusters,
            open,
            costs,
            own_costs,
            constants: tally.constants(),
        }
    }

    /// How much more the next best cluster costs a row than its own, which the row is taken out of before.
    fn certainty<'a, R: Row<'a>>(&self, row: R, own: u32, costs: &mut [f64]) -> f64 {
        let (mut cost, mut constant) = (0.0, 0.0);
        costs.fill(0.0);
        for entry in self.choice.entries(row) {
            let place = entry.cluster;
            constant += self.constants[entry.base];
            cost += self.own_costs[place * self.clusters + own as usize];
            costs
                .iter_mut()
                .zip(&self.costs[place * self.open..])
                .for_each(|(sum, cost)| *sum += cost);
        }
        costs[own as usize] = f64::INFINITY;
        let second = constant + costs.iter().copied().fold(f64::INFINITY, f64::min);
        Choice {
            best: own,
            cost: constant + cost,
            second,
        }
        .certainty()
    }
}

impl RowLabeller for LeastLoss {
    const KIND: &'static str = "median/least-loss";
}

impl RowMap for LeastLoss {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let (mut assigned, mut costs) = (Assigned::default(), vec![0.0; self.open]);
        self.choice.for_each(block, |row, k, _| {
            let own = self.becomes[k as usize];
            assigned.labels.push(own);
            assigned
                .certainty
                .push(self.certainty(row, own, &mut costs));
        });
        assigned
    }
}
