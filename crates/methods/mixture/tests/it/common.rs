//! What the tests share: problems, consensuses in memory and by blocks, and rows that are cut anywhere.

use std::ops::Range;

use partita_core::ndarray::s;
use partita_core::{
    Assigned, BaseClustering, Clusters, Consensus, Ensemble, EnsembleBuilder, GroupRows, LabelRows,
    Outcome, Problem, RowBlocks, RowOutcome, RowProblem, Seed, SettingMap, Silent, SourceError,
    consense_rows,
};
use rand::RngExt;

/// The problem of an ensemble into K clusters, with these settings.
pub(crate) fn problem<'a>(ensemble: &'a Ensemble, k: usize, settings: &[&str]) -> Problem<'a> {
    Problem::new(ensemble, Clusters::Exactly(k))
        .settings(SettingMap::parse(settings).unwrap())
        .seed(1)
}

/// The consensus without canonical order.
pub(crate) fn found_as_given(method: &dyn Consensus, problem: &Problem<'_>) -> Outcome {
    method.fit_canonical(problem, &Silent).unwrap()
}

/// The consensus by blocks, and what all rows are assigned.
pub(crate) fn found_by_rows(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
) -> (RowOutcome, Assigned) {
    let mut problem = problem.clone();
    problem.by_blocks = true;
    let mut all = Assigned::default();
    let found = consense_rows(method, &problem, &Silent, &mut |first, block| {
        assert_eq!(first as usize, all.labels.len());
        all.labels.extend(block.labels);
        if let Some(soft) = block.soft {
            all.soft.get_or_insert_default().extend(soft);
        }
        Ok(())
    });
    (found.unwrap(), all)
}

/// An ensemble in groups of so many objects; reading the group `broken` fails.
pub(crate) struct Cut<'a> {
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) size: usize,
    pub(crate) broken: Option<usize>,
}

impl RowBlocks for Cut<'_> {
    fn bases(&self) -> &[BaseClustering] {
        self.ensemble.bases()
    }

    fn groups(&self) -> usize {
        self.ensemble.objects().div_ceil(self.size)
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        let first = group * self.size;
        first as u64..(first + self.size).min(self.ensemble.objects()) as u64
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let rows = self.rows_of(group);
        if self.broken == Some(group) {
            return Err(SourceError {
                first: rows.start,
                reason: "the page is damaged".into(),
            });
        }
        let rows = rows.start as usize..rows.end as usize;
        let LabelRows::Bytes(labels) = self.ensemble.rows() else {
            panic!("few clusters")
        };
        take(GroupRows::from(LabelRows::Bytes(
            labels.slice(s![rows, ..]),
        )));
        Ok(())
    }
}

/// Noisy copies of four groups, where `share` eighths of the labels are any, and an eighth is missing: with 4, more than 33,000 of 60,000
/// rows differ. The last base clustering labels one object only.
pub(crate) fn noisy(objects: usize, share: u32) -> Ensemble {
    let mut rng = Seed::new(3).rng();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..8u32 {
        let mut label = |i: usize| match rng.random_range(0..8) {
            0 => None,
            any if any <= share => Some(rng.random_range(0..4)),
            _ => Some((i as u32 + u) % 4),
        };
        let labels: Vec<Option<u32>> = (0..objects).map(&mut label).collect();
        builder.push_clusters(format!("u{u}"), labels, 4).unwrap();
    }
    let last = (0..objects).map(|i| (i + 2 == objects).then_some(0));
    builder.push_clusters("last", last, 1).unwrap();
    builder.finish().unwrap()
}

/// Weights of base clusterings that are not whole.
pub(crate) fn uneven(count: usize) -> partita_core::BaseWeights {
    let weight = |u| 1.0 + (u % 3) as f64 / 3.0;
    partita_core::BaseWeights::new((0..count).map(weight).collect()).unwrap()
}
