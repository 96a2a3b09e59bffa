//! What a method that reads label rows block by block is held to.

use std::ops::Range;

use partita_core::ndarray::{Axis, Slice};
use partita_core::{
    Assigned, BaseClustering, Clusters, Consensus, ConsensusError, Ensemble, EnsembleRows,
    GroupRows, LabelRows, MissingLabels, Problem, RowBlocks, RowProblem, Seed, SettingMap, Silent,
    SourceError, consense, consense_rows,
};
use rand::RngExt;

use crate::draw::{Drawn, ensemble, many_clusters, planted};

/// Rows of an ensemble in groups that end anywhere.
struct Cut<'a> {
    ensemble: &'a Ensemble,
    ends: Vec<u64>,
}

impl<'a> Cut<'a> {
    fn new(ensemble: &'a Ensemble, seed: Seed) -> Self {
        let mut rng = seed.rng();
        let rows = ensemble.objects() as u64;
        let mut ends: Vec<u64> = (0..5)
            .map(|_| rng.random_range(1..=rows))
            .chain([rows])
            .collect();
        ends.sort_unstable();
        ends.dedup();
        Self { ensemble, ends }
    }
}

impl RowBlocks for Cut<'_> {
    fn bases(&self) -> &[BaseClustering] {
        self.ensemble.bases()
    }

    fn groups(&self) -> usize {
        self.ends.len()
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        group.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[group]
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let rows = self.rows_of(group);
        let part = Slice::from(rows.start as usize..rows.end as usize);
        let labels = match self.ensemble.rows() {
            LabelRows::Bytes(all) => LabelRows::Bytes(all.slice_axis_move(Axis(0), part)),
            LabelRows::Words(all) => LabelRows::Words(all.slice_axis_move(Axis(0), part)),
        };
        take(GroupRows::from(labels));
        Ok(())
    }
}

/// The same method over rows, in memory or cut.
pub(crate) struct ByRows<'a> {
    pub(crate) method: &'a dyn Consensus,
    pub(crate) settings: &'a SettingMap,
    pub(crate) pools: &'a [rayon::ThreadPool; 2],
}

impl ByRows<'_> {
    /// Holds the method to its guarantees and returns how many were checked.
    pub(crate) fn check(&self) -> usize {
        let drawn = planted(300, 4, 2, Seed::new(9));
        let answer = self.run(&EnsembleRows::new(&drawn.ensemble), 2, Seed::new(1), true);
        if matches!(answer, Err(ConsensusError::Settings { .. })) {
            // Settings of a way that holds all rows are refused.
            return 1;
        }
        let seed = Seed::new(1);
        let complete = planted(5000, 6, 3, Seed::new(1));
        let drawn = [
            with_missing(&complete, seed),
            complete,
            many_clusters(Seed::new(80)),
        ];
        drawn
            .iter()
            .map(|drawn| self.bits(drawn, seed))
            .sum::<usize>()
            + self.one_cluster()
            + self.unlabelled()
    }

    fn run(
        &self,
        rows: &dyn RowBlocks,
        clusters: usize,
        seed: Seed,
        by_blocks: bool,
    ) -> Result<Assigned, ConsensusError> {
        let mut problem = RowProblem::new(rows, Clusters::Exactly(clusters));
        problem.seed = seed;
        problem.settings = self.settings.clone();
        problem.by_blocks = by_blocks;
        let mut all = Assigned::default();
        let found = consense_rows(self.method, &problem, &Silent, &mut |first, block| {
            assert_eq!(first as usize, all.labels.len(), "blocks come in order");
            all.append(block);
            Ok(())
        })?;
        let name = self.method.info().name;
        assert_eq!(
            found.sizes.iter().sum::<u64>() as usize,
            all.labels.len(),
            "{name}: every object is in a cluster"
        );
        let probability = all.probability.as_ref();
        assert!(
            probability.is_none_or(|of| of.iter().all(|p| (0.0..=1.0).contains(p))),
            "{name}: probabilities are within 0 and 1"
        );
        assert_eq!(
            all.soft.is_some(),
            self.method.info().capabilities.soft,
            "{name}: soft as the info says"
        );
        Ok(all)
    }

    /// However rows are cut, and by how many threads they are read, the bits are the same; where they are held, those of the ensemble.
    fn bits(&self, drawn: &Drawn, seed: Seed) -> usize {
        let name = self.method.info().name;
        let memory = EnsembleRows::new(&drawn.ensemble);
        let fit = |rows: &dyn RowBlocks, by_blocks| {
            self.run(rows, drawn.clusters, seed, by_blocks)
                .unwrap_or_else(|error| panic!("{name} over rows: {error}"))
        };
        for by_blocks in [false, true] {
            let one = self.pools[0].install(|| fit(&memory, by_blocks));
            let two = self.pools[1].install(|| fit(&Cut::new(&drawn.ensemble, seed), by_blocks));
            assert!(
                one == two,
                "{name}: rows that are cut, on two threads, give other bits"
            );
            if !by_blocks {
                assert!(
                    one == self.in_memory(drawn, seed),
                    "{name}: rows that are held give other bits"
                );
            }
        }
        1
    }

    fn in_memory(&self, drawn: &Drawn, seed: Seed) -> Assigned {
        let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
        problem.seed = seed;
        problem.settings = self.settings.clone();
        let outcome = consense(self.method, &problem, &Silent).expect("a consensus");
        Assigned {
            labels: outcome.partition.labels().to_vec(),
            probability: outcome.probability(),
            soft: outcome
                .soft
                .map(|soft| soft.into_rows().into_iter().collect()),
        }
    }

    /// K = 1 puts everything together.
    fn one_cluster(&self) -> usize {
        let drawn = planted(300, 4, 2, Seed::new(7));
        let all = self
            .run(&EnsembleRows::new(&drawn.ensemble), 1, Seed::new(1), true)
            .expect("one cluster");
        assert!(
            all.labels.iter().all(|&label| label == 0),
            "{}: K = 1 is everything together",
            self.method.info().name
        );
        1
    }

    /// An object without any label is refused or labelled by the prior.
    fn unlabelled(&self) -> usize {
        let drawn = planted(300, 4, 2, Seed::new(8));
        let hidden = ensemble((0..4).map(|u| {
            let label = |(i, j): (usize, Option<usize>)| j.filter(|_| i != 200).map(|j| j as u32);
            (
                format!("u{u}"),
                drawn.ensemble.column(u).enumerate().map(label).collect(),
            )
        }));
        let answer = self.run(&EnsembleRows::new(&hidden), 2, Seed::new(1), true);
        let labelled = self.method.info().capabilities.missing == MissingLabels::HandledByPrior;
        assert_eq!(
            answer.is_ok(),
            labelled,
            "{}: an object without a label: {answer:?}",
            self.method.info().name
        );
        1
    }
}

/// The same with a tenth of the labels missing, none of the first base clustering.
fn with_missing(drawn: &Drawn, seed: Seed) -> Drawn {
    let mut rng = seed.child(1).rng();
    let mut column = |u: usize| {
        let hide = |j: Option<usize>| {
            j.filter(|_| u == 0 || !rng.random_bool(0.1))
                .map(|j| j as u32)
        };
        drawn.ensemble.column(u).map(hide).collect()
    };
    Drawn {
        ensemble: ensemble((0..6).map(|u| (format!("u{u}"), column(u)))),
        ..drawn.clone()
    }
}
