//! Evidence of pairs that a user gives: counted in the base clusterings, or with counts of their own.

use partita_core::{MemoryBudget, Monitor, PairList, WeightedEnsemble};

use crate::pairs::Numbers;
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
        Ok(match (list.counts(), list.is_all()) {
            (None, true) => Self::All(CoAssociation::count(source, budget, monitor)?),
            (None, false) => Self::Some(SparseEvidence::of_pairs(
                source,
                list.pairs(),
                budget,
                monitor,
            )?),
            (Some(counts), true) => {
                let bytes = CoAssociation::bytes(list.objects(), counts.len().min(256), true);
                budget.check(
                    "the counts of all pairs",
                    bytes,
                    "give counts of fewer pairs",
                )?;
                Self::All(CoAssociation::of_counts(list.objects(), counts))
            }
            (Some(counts), false) => {
                let pairs = list.pairs();
                let bytes = SparseEvidence::bytes(list.objects(), 1, pairs.len() as u64, true);
                budget.check(
                    "the counts of the pairs",
                    bytes,
                    "give counts of fewer pairs",
                )?;
                Self::Some(SparseEvidence::of_counts(list.objects(), pairs, counts))
            }
        })
    }
}

/// N where all are the same, and the largest.
pub(crate) fn seen(counts: &[(u32, u32)]) -> (bool, u32) {
    let first = counts.first().map_or(0, |&(_, n)| n);
    let most = counts.iter().map(|&(_, n)| n).max().unwrap_or(0);
    (counts.iter().all(|&(_, n)| n == first), most)
}

impl SparseEvidence {
    /// Evidence of ascending different pairs with these counts, N at most 65,535.
    fn of_counts(objects: usize, pairs: &[(u32, u32)], counts: &[(u32, u32)]) -> Self {
        let (even, most) = seen(counts);
        let words = |count: fn(&(u32, u32)) -> u32| -> Vec<u16> {
            counts.iter().map(|pair| count(pair) as u16).collect()
        };
        let together = Numbers::Words(words(|&(c, _)| c));
        let seen = (!even).then(|| Numbers::Words(words(|&(_, n)| n)));
        Self::laid_out(
            (objects, most as usize, most),
            pairs,
            &together,
            seen.as_ref(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Ensemble, EnsembleBuilder, Silent};

    fn ensemble(missing: bool) -> Ensemble {
        let mut builder = EnsembleBuilder::new(6);
        let labels =
            |u: usize| (0..6).map(move |i| (!missing || i != u).then_some((i * (u + 2) / 3) % 3));
        for u in 0..4 {
            builder.push(format!("u{u}"), labels(u)).unwrap();
        }
        builder.finish().unwrap()
    }

    /// What is counted, written down and given is what was counted.
    #[test]
    fn counts_that_are_given_are_those_that_were_counted() {
        let budget = MemoryBudget::UNLIMITED;
        for missing in [false, true] {
            let ensemble = ensemble(missing);
            let counted = CoAssociation::count(&ensemble, budget, &Silent).unwrap();
            let all = (0..6).flat_map(|i| (i + 1..6).map(move |j| (i, j)));
            let all: Vec<(u32, u32)> = all.collect();
            let counts = |pairs: &[(u32, u32)]| -> Vec<(u32, u32)> {
                let count = |&(i, j): &(u32, u32)| counted.pair(i as usize, j as usize);
                pairs.iter().map(count).collect()
            };
            let of = |list: &PairList| {
                GivenPairs::of(list, (&ensemble).into(), budget, &Silent).unwrap()
            };
            let list = PairList::new(6, &all, Some(&counts(&all))).unwrap();
            assert_eq!(of(&list), GivenPairs::All(counted.clone()));
            let list = PairList::new(6, &all, None).unwrap();
            assert_eq!(of(&list), GivenPairs::All(counted.clone()));
            let some: Vec<(u32, u32)> = all.iter().copied().step_by(2).collect();
            let [with, without] = [Some(&counts(&some)[..]), None]
                .map(|counts| of(&PairList::new(6, &some, counts).unwrap()));
            let (GivenPairs::Some(with), GivenPairs::Some(without)) = (with, without) else {
                panic!("some pairs are sparse");
            };
            let rows = |of: &SparseEvidence| of.each_pair().collect::<Vec<_>>();
            assert_eq!(rows(&with), rows(&without));
        }
    }
}
