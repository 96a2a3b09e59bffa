//! Fits whose sums come from other processes: bytes of sums, of passes and of labellers that were altered give an error or a fit, no panic.

use std::sync::atomic::{AtomicUsize, Ordering};

use arbitrary::Unstructured;
use partita::extend::{
    Assigned, EnsembleRows, LabelledMap, PassEngine, PassError, PassJob, PassRunner, Row, RowBlock,
    RowBlocks, RowProblem, SettingMap, TakePart, fit_rows, labeller_kind, pass_kind,
};
use partita::{Clusters, METHODS, Silent};
use serde_json::{Map, Value, json};

use crate::choices::{below, byte};
use crate::readers::fine;
use crate::saved_files::small_ensemble;

/// Hands out true sums, and from some pass on altered ones.
struct Altering<'a> {
    rows: &'a dyn RowBlocks,
    /// Passes that are left as they are.
    honest: AtomicUsize,
    edits: &'a [u8],
    /// Whether the pass is altered, and not its sum.
    jobs: bool,
}

impl PassEngine for Altering<'_> {
    fn sums(&self, job: &PassJob<'_>, take: &mut TakePart<'_>) -> Result<(), PassError> {
        let kind = pass_kind(job.kind).ok_or_else(|| PassError::Parts("an unknown pass".into()))?;
        let less = |left: usize| left.checked_sub(1);
        let altered = self
            .honest
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_err();
        let mut state = job.state.to_vec();
        if altered && self.jobs {
            edit(&mut state, self.edits);
        }
        let mut sum = kind.sum(&state, self.rows, 0..self.rows.groups(), &Silent)?;
        if altered && !self.jobs {
            edit(&mut sum, self.edits);
        }
        take(&sum)
    }
}

/// Changes some bytes, as bytes say.
fn edit(bytes: &mut Vec<u8>, edits: &[u8]) {
    let mut from = Unstructured::new(edits);
    for _ in 0..=below(&mut from, 4) {
        if bytes.is_empty() {
            return;
        }
        let at = below(&mut from, bytes.len());
        match byte(&mut from) % 5 {
            0 => bytes[at] = byte(&mut from),
            1 => bytes.insert(at, byte(&mut from)),
            2 => drop(bytes.remove(at)),
            3 => bytes[at] = bytes[at].wrapping_add(1),
            _ => bytes[at] = 0xff,
        }
    }
}

/// The first three bytes say which method, what is altered (sums, passes, or the labeller) and when; the rest are edits.
pub(crate) fn sums(bytes: &[u8]) {
    let mut from = Unstructured::new(bytes);
    let mut streams = METHODS.to_vec();
    streams.retain(|method| method.info().capabilities.streams);
    let method = streams[below(&mut from, streams.len())];
    let ensemble = small_ensemble();
    let rows = EnsembleRows::new(&ensemble);
    let mode = byte(&mut from) % 3;
    let honest = AtomicUsize::new(below(&mut from, 6));
    let edits = from.take_rest();
    let engine = Altering {
        rows: &rows,
        honest,
        edits,
        jobs: mode == 1,
    };
    let mut problem = RowProblem::new(&rows, Clusters::Exactly(2));
    problem.settings = few_iterations(&method.default_settings());
    problem.by_blocks = true;
    if mode < 2 {
        problem.engine = Some(&engine);
    }
    let Some((fit, _)) = fine(fit_rows(method, &problem, &Silent)) else {
        return;
    };
    fine(fit.count_labels(&problem.passes()));
    let Some(mut job) = fine(fit.label_job()) else {
        return;
    };
    if mode == 2 {
        edit(&mut job.state, edits);
    }
    let kind = labeller_kind(job.kind);
    let Some(labeller) = kind.and_then(|kind| fine(kind.open(&job.state))) else {
        return;
    };
    let runner = PassRunner::new(&rows, &Silent);
    let mut take = |_, labels: usize| match labels {
        4 => Ok(()),
        _ => Err("a label an object".into()),
    };
    fine(labeller.each(&runner, 0..rows.groups(), &Count, &mut take));
}

struct Count;

impl LabelledMap for Count {
    type Out = usize;

    fn map<'a, R: Row<'a>>(&self, _: &RowBlock<'a, R>, assigned: Assigned) -> usize {
        assigned.labels.len()
    }
}

/// One start and few iterations, where a method has these settings.
fn few_iterations(defaults: &Map<String, Value>) -> SettingMap {
    let mut few = Map::new();
    for (name, value) in [("restarts", 1), ("iterations", 3), ("chains", 1)] {
        if defaults.contains_key(name) {
            few.insert(name.to_owned(), json!(value));
        }
    }
    SettingMap::from(few)
}
