//! Evidence of pairs that a user gives: counted in the base clusterings, or with counts of their own.

use partita_core::{MemoryBudget, Monitor, PairList, WeightedEnsemble};

use crate::{CoAssociation, CoassocError, SparseEvidence};

/// Counts of all pairs, or of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenPairs {
    /// Of all.
    All(CoAssociation),
    /// Of some.
    Some(SparseEvidence),
}

impl GivenPairs {
    /// The evidence of a list of pairs: its own counts where it has some, else those of the base clusterings.
    ///
    /// # Errors
    /// As [`CoAssociation::count`] and [`SparseEvidence::of_pairs`].
    ///
    /// # Cost
    /// That of counting; without it O(m log m) for m pairs.
    pub fn of(
        list: &PairList,
        source: WeightedEnsemble<'_>,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let (n, pairs) = (list.objects(), list.pairs());
        let bytes = SparseEvidence::bytes(n, 1, pairs.len() as u64, true);
        budget.check("the counts of the pairs", bytes, "give fewer pairs")?;
        Ok(match (list.counts(), list.is_all()) {
            (None, true) => Self::All(CoAssociation::count(source, budget, monitor)?),
            (None, false) => Self::Some(SparseEvidence::of_pairs(source, pairs, budget, monitor)?),
            (Some(counts), true) => Self::All(CoAssociation::of_counts(n, counts)),
            (Some(counts), false) => Self::Some(SparseEvidence::of_counts(n, pairs, counts)),
        })
    }
}
