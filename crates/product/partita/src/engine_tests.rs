//! Passes that others run from their bytes: the bits of a fit in one process, and errors for sums that are not those of all rows.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use partita_conformance::planted;
use partita_core::rand::RngExt;

use super::*;
use crate::extend::*;

/// Rows of an ensemble cut at any places.
struct Cut<'a> {
    memory: EnsembleRows<'a>,
    ends: Vec<u64>,
    ensemble: &'a Ensemble,
}

impl RowBlocks for Cut<'_> {
    fn bases(&self) -> &[BaseClustering] {
        self.memory.bases()
    }
    fn groups(&self) -> usize {
        self.ends.len()
    }
    fn rows_of(&self, group: usize) -> Range<u64> {
        group.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[group]
    }
    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let rows = self.rows_of(group);
        let slice = ndarray::Slice::from(rows.start as usize..rows.end as usize);
        let labels = match self.ensemble.rows() {
            LabelRows::Bytes(all) => LabelRows::Bytes(all.slice_axis_move(ndarray::Axis(0), slice)),
            LabelRows::Words(all) => LabelRows::Words(all.slice_axis_move(ndarray::Axis(0), slice)),
        };
        take(GroupRows::from(labels));
        Ok(())
    }
}

impl<'a> Cut<'a> {
    fn new(ensemble: &'a Ensemble, groups: usize, seed: u64) -> Self {
        let (mut rng, rows) = (Seed::new(seed).rng(), ensemble.objects() as u64);
        let mut ends: Vec<u64> = (1..groups)
            .map(|_| rng.random_range(1..=rows))
            .chain([rows])
            .collect();
        ends.sort_unstable();
        ends.dedup();
        Self {
            memory: EnsembleRows::new(ensemble),
            ends,
            ensemble,
        }
    }
}

/// What goes wrong with the sums on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Lost,
    Twice,
    Swapped,
    Truncated,
    Longer,
    /// The sum of the pass before.
    Stale,
}

/// Workers in this process who see nothing but bytes: every part is a run of groups.
struct Bytes<'a> {
    rows: &'a Cut<'a>,
    parts: usize,
    fault: Fault,
    kinds: Mutex<Vec<&'static str>>,
    /// The sums of the last pass.
    last: Mutex<Vec<Vec<u8>>>,
}

impl<'a> Bytes<'a> {
    fn new(rows: &'a Cut<'a>, parts: usize, fault: Fault) -> Self {
        Self {
            rows,
            parts,
            fault,
            kinds: Mutex::default(),
            last: Mutex::default(),
        }
    }
}

impl PassEngine for Bytes<'_> {
    fn sums(&self, job: &PassJob<'_>, take: &mut TakePart<'_>) -> Result<(), PassError> {
        let kind = pass_kind(job.kind).unwrap_or_else(|| panic!("{} is not listed", job.kind));
        self.kinds.lock().expect("one thread").push(job.kind);
        let (groups, parts) = (self.rows.groups(), self.parts.min(self.rows.groups()));
        let part = |at: usize| groups * at / parts..groups * (at + 1) / parts;
        let sums = (0..parts).map(|at| kind.sum(job.state, self.rows, part(at), &Silent));
        let mut sums: Vec<Vec<u8>> = sums.collect::<Result<_, _>>()?;
        let fresh = sums.clone();
        let middle = parts / 2;
        match self.fault {
            Fault::None => {}
            Fault::Lost => _ = sums.remove(middle),
            Fault::Twice => sums.insert(middle, sums[middle].clone()),
            Fault::Swapped => sums.swap(0, middle),
            Fault::Truncated => _ = sums[middle].pop(),
            Fault::Longer => sums[middle].push(0),
            Fault::Stale => {
                let last = self.last.lock().expect("one thread");
                last.get(middle)
                    .into_iter()
                    .for_each(|stale| sums[middle].clone_from(stale));
            }
        }
        *self.last.lock().expect("one thread") = fresh;
        sums.iter().try_for_each(|sum| take(sum))
    }
}

/// Labels and probabilities of a fit, and the contingency that its engine counts.
fn fitted(
    method: &dyn Consensus,
    rows: &dyn RowBlocks,
    engine: Option<&dyn PassEngine>,
    by_blocks: bool,
) -> Result<(Assigned, LabelCounts), ConsensusError> {
    let mut problem = RowProblem::new(rows, Clusters::Exactly(3)).seed(5);
    problem.engine = engine;
    problem.by_blocks = by_blocks;
    let (fit, _) = fit_rows(method, &problem, &Silent)?;
    let of_pass = |error| ConsensusError::of_pass(method.info().name, error);
    let counts = fit.count_labels(&problem.passes()).map_err(of_pass)?;
    let job = fit.label_job().map_err(of_pass)?;
    let labeller = labeller_kind(job.kind).unwrap_or_else(|| panic!("{} is not listed", job.kind));
    let labeller = labeller.open(&job.state).map_err(of_pass)?;
    let mut all = Assigned::default();
    let runner = PassRunner::new(rows, &Silent);
    for groups in [0..rows.groups() / 2, rows.groups() / 2..rows.groups()] {
        let take = &mut |first: u64, block: Assigned| {
            assert_eq!(first as usize, all.labels.len());
            all.append(block);
            Ok(())
        };
        labeller
            .each(&runner, groups, &AsTheyAre, take)
            .map_err(of_pass)?;
    }
    Ok((all, counts))
}

struct AsTheyAre;

impl LabelledMap for AsTheyAre {
    type Out = Assigned;
    fn map<'a, R: Row<'a>>(&self, _: &RowBlock<'a, R>, assigned: Assigned) -> Assigned {
        assigned
    }
}

#[test]
fn workers_that_see_bytes_give_every_method_the_bits_of_one_process() {
    let drawn = planted(9000, 6, 3, Seed::new(4));
    let whole = Cut::new(&drawn.ensemble, 1, 0);
    let mut kinds = std::collections::BTreeSet::new();
    let streaming = METHODS
        .iter()
        .filter(|method| method.info().capabilities.streams);
    for (at, method) in streaming.enumerate() {
        let name = method.info().name;
        let of = |rows: &Cut<'_>, engine: Option<&dyn PassEngine>, by_blocks| {
            fitted(*method, rows, engine, by_blocks)
                .unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        for by_blocks in [true, false] {
            let expected = of(&whole, None, by_blocks);
            for parts in [1, 2 + at % 6] {
                let rows = Cut::new(&drawn.ensemble, 9, (at * 7 + parts) as u64);
                let engine = Bytes::new(&rows, parts, Fault::None);
                let found = of(&rows, Some(&engine), by_blocks);
                assert!(found == expected, "{name} of {parts} parts: other bits");
                kinds.extend(engine.kinds.into_inner().expect("one thread"));
            }
        }
    }
    assert!(kinds.len() >= 12, "{kinds:?}");
}

/// Labels and probabilities of an ensemble in memory.
fn in_memory(method: &dyn Consensus, problem: &Problem<'_>) -> Assigned {
    let outcome = consense(method, problem, &Silent)
        .unwrap_or_else(|error| panic!("{}: {error}", method.info().name));
    Assigned {
        labels: outcome.partition.labels().to_vec(),
        probability: outcome.probability(),
        soft: outcome
            .soft
            .map(|soft| soft.into_rows().into_iter().collect()),
    }
}

/// In memory, by blocks and by tasks, on any number of threads, as labels and as shares of 0 and 1, and with a weight of 2 in place of
/// a copy.
#[test]
fn every_way_to_the_same_rows_gives_the_same_bytes() {
    let drawn = planted(700, 6, 3, Seed::new(6));
    let ensemble = &drawn.ensemble;
    let rows = Cut::new(ensemble, 7, 3);
    let problem = |ensemble| Problem::new(ensemble, Clusters::Exactly(3)).seed(5);
    let mut shares = EnsembleBuilder::new(ensemble.objects());
    for (u, base) in ensemble.bases().iter().enumerate() {
        let label = |(i, label): (usize, Option<usize>)| (i, label.expect("none is missing"));
        let mut table = ndarray::Array2::<f64>::zeros((ensemble.objects(), base.clusters()));
        for (i, label) in ensemble.column(u).enumerate().map(label) {
            table[[i, label]] = 1.0;
        }
        let table = Shares::new(table).expect("shares");
        let values = (0..base.clusters()).map(|j| j.to_string()).collect();
        shares
            .push_soft(base.name(), values, &table, 4)
            .expect("a base clustering");
    }
    let shares = shares.finish().expect("an ensemble");
    let objects = ensemble.objects() as u32;
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
    let order: Vec<u32> = (0..objects).chain(0..100).collect();
    let copies = ensemble.select(&order, &bases);
    let twice = (0..objects).map(|i| if i < 100 { 2.0 } else { 1.0 });
    let twice = ObjectWeights::new(twice.collect()).expect("weights");
    let pools = [1, 2, 8].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads")
    });
    for method in METHODS
        .iter()
        .copied()
        .filter(|method| method.info().capabilities.streams)
    {
        let name = method.info().name;
        let expected = in_memory(method, &problem(ensemble));
        for pool in &pools {
            let by_blocks = pool
                .install(|| fitted(method, &rows, None, false))
                .unwrap()
                .0;
            assert!(by_blocks == expected, "{name} by blocks");
            assert!(
                pool.install(|| in_memory(method, &problem(ensemble))) == expected,
                "{name} on other threads"
            );
        }
        let tasks = Bytes::new(&rows, 3, Fault::None);
        assert!(
            fitted(method, &rows, Some(&tasks), false).unwrap().0 == expected,
            "{name} by tasks"
        );
        assert!(
            in_memory(method, &problem(&shares)) == expected,
            "{name} of shares"
        );
        let of_copies = in_memory(method, &problem(&copies));
        let of_weights = in_memory(method, &problem(ensemble).object_weights(&twice));
        let own = ensemble.objects();
        assert!(
            of_copies.labels[..own] == of_weights.labels[..],
            "{name}: weight 2"
        );
        assert!(
            of_copies.probability.map(|of| of[..own].to_vec()) == of_weights.probability,
            "{name}: probabilities of weight 2"
        );
    }
}

#[test]
fn sums_that_are_not_those_of_all_rows_are_refused() {
    let drawn = planted(9000, 6, 3, Seed::new(4));
    let rows = Cut::new(&drawn.ensemble, 9, 1);
    for (fault, what) in [
        (Fault::Lost, "are in no part of the sum"),
        (Fault::Twice, "is in two parts of the sum"),
        (Fault::Swapped, "are in no part of the sum"),
        (Fault::Truncated, "are not of a pass"),
        (Fault::Longer, "are not of a pass"),
        (Fault::Stale, "are not of a pass"),
    ] {
        for method in ["lwgp", "mm", "kc"] {
            let engine = Bytes::new(&rows, 5, fault);
            let found = fitted(method_named(method), &rows, Some(&engine), true);
            let error = found.expect_err(&format!("{fault:?} in {method}"));
            let mut text = error.to_string();
            let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            assert!(text.contains(what), "{fault:?} in {method}: {text}");
        }
    }
}

fn method_named(name: &str) -> &'static dyn Consensus {
    method(name).expect("it is listed")
}

/// Keeps what steps between passes gave, in their order.
struct Keeping<'a> {
    passes: Bytes<'a>,
    kept: Mutex<Vec<Vec<u8>>>,
    next: AtomicUsize,
}

impl PassEngine for Keeping<'_> {
    fn sums(&self, job: &PassJob<'_>, take: &mut TakePart<'_>) -> Result<(), PassError> {
        self.passes.sums(job, take)
    }
    fn recall(&self, _: &str) -> Result<Option<Vec<u8>>, PassError> {
        Ok(self
            .kept
            .lock()
            .expect("one thread")
            .get(self.next.fetch_add(1, Relaxed))
            .cloned())
    }
    fn remember(&self, _: &str, made: &[u8]) -> Result<(), PassError> {
        self.kept.lock().expect("one thread").push(made.to_vec());
        Ok(())
    }
}

#[test]
fn a_fit_that_is_replayed_does_long_steps_once_and_refuses_those_of_others() {
    let drawn = planted(9000, 6, 3, Seed::new(4));
    let rows = Cut::new(&drawn.ensemble, 9, 1);
    let other = planted(9000, 7, 4, Seed::new(4));
    let others = Cut::new(&other.ensemble, 9, 1);
    let keeping = |rows| Keeping {
        passes: Bytes::new(rows, 3, Fault::None),
        kept: Mutex::default(),
        next: 0.into(),
    };
    for method in [
        "lwgp",
        "hbgf",
        "kc",
        "qmi",
        "ipvc",
        "median-vi",
        "soft-mean",
        "mm",
        "bce",
        "nbce-vb",
        "nbce-cvb",
    ]
    .map(method_named)
    {
        let name = method.info().name;
        let engine = keeping(&rows);
        let expected = fitted(method, &rows, Some(&engine), true).unwrap();
        let steps = engine.next.swap(0, Relaxed);
        assert!(
            steps > 0 && engine.kept.lock().unwrap().len() == steps,
            "{name}"
        );
        assert!(
            fitted(method, &rows, Some(&engine), true).unwrap() == expected,
            "{name}"
        );
        assert!(
            engine.kept.lock().unwrap().len() == steps,
            "{name} made a step again"
        );

        let refused = |kept: Vec<u8>, what: &str| {
            *engine.kept.lock().unwrap() = vec![kept; steps];
            engine.next.store(0, Relaxed);
            let error = fitted(method, &rows, Some(&engine), true).expect_err(name);
            let text = std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), ToString::to_string);
            assert!(text.contains(what), "{name}: {text}");
        };
        refused(vec![255; 40], "these bytes are not of a pass");
        // What these two keep looks the same for all rows.
        if !["lwgp", "hbgf"].contains(&name) {
            let elsewhere = keeping(&others);
            fitted(method, &others, Some(&elsewhere), true).unwrap();
            refused(
                elsewhere.kept.into_inner().unwrap().swap_remove(0),
                "is of other rows",
            );
        }
    }
}

#[test]
fn bytes_of_another_kind_are_refused() {
    let drawn = planted(100, 4, 2, Seed::new(1));
    let rows = EnsembleRows::new(&drawn.ensemble);
    assert!(pass_kind("no such pass").is_none() && labeller_kind("no such labeller").is_none());
    for kind in PASS_LISTS.iter().copied().flatten() {
        for state in [&[][..], &[255; 40], &[7; 3]] {
            let answer = kind.sum(state, &rows, 0..1, &Silent);
            assert!(
                !matches!(answer, Err(PassError::Pending)),
                "{}",
                kind.name()
            );
        }
    }
    for kind in LABELLER_LISTS.iter().copied().flatten() {
        assert!(
            matches!(kind.open(&[255; 40]), Err(PassError::Parts(_))),
            "{}",
            kind.name()
        );
    }
}
