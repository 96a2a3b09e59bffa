//! Fits whose sums come from other processes: bytes of sums, of passes and of labellers that were altered give an error or a fit, no panic.

use std::sync::atomic::{AtomicUsize, Ordering};

use partita::{
    Clusters, EnsembleRows, METHODS, PassEngine, PassError, PassJob, PassRunner, RowBlocks,
    RowProblem, SettingMap, Silent, TakePart, fit_rows, labeller_kind, pass_kind,
};
use serde_json::{Map, json};

use crate::bytes::Bytes;
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
    let mut from = Bytes(edits);
    for _ in 0..=from.below(4) {
        let Some(last) = bytes.len().checked_sub(1) else {
            return;
        };
        let at = from.below(last + 1).min(last);
        match from.byte() % 5 {
            0 => bytes[at] = from.byte(),
            1 => bytes.insert(at, from.byte()),
            2 => drop(bytes.remove(at)),
            3 => bytes[at] = bytes[at].wrapping_add(1),
            _ => bytes[at] = 0xff,
        }
    }
}

pub(crate) fn sums(bytes: &[u8]) {
    let mut from = Bytes(bytes);
    let streams: Vec<_> = METHODS
        .iter()
        .filter(|method| method.info().capabilities.streams)
        .collect();
    let method = *streams[from.below(streams.len())];
    let ensemble = small_ensemble();
    let rows = EnsembleRows::new(&ensemble);
    let mode = from.byte() % 3;
    let honest = AtomicUsize::new(from.below(6));
    let edits = from.rest();
    let engine = Altering {
        rows: &rows,
        honest,
        edits: if mode == 2 { &[] } else { edits },
        jobs: mode == 1,
    };
    let mut problem = RowProblem::new(&rows, Clusters::Exactly(2));
    problem.settings = few_rounds(&method.default_settings());
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
    let Some(labeller) = labeller_kind(job.kind).and_then(|kind| fine(kind.open(&job.state)))
    else {
        return;
    };
    let runner = PassRunner::new(&rows, &Silent);
    fine(labeller.each(
        &runner,
        0..rows.groups(),
        &Alone,
        &mut |_, labels: usize| {
            (labels == 4)
                .then_some(())
                .ok_or_else(|| "a label an object".into())
        },
    ));
}

struct Alone;

impl partita::LabelledMap for Alone {
    type Out = usize;

    fn map<'a, R: partita::Row<'a>>(
        &self,
        _: &partita::RowBlock<'a, R>,
        assigned: partita::Assigned,
    ) -> usize {
        assigned.labels.len()
    }
}

/// One start and few rounds, where a method has these settings.
fn few_rounds(defaults: &Map<String, serde_json::Value>) -> SettingMap {
    let few = [
        ("restarts", json!(1)),
        ("rounds", json!(3)),
        ("chains", json!(1)),
    ];
    let known = few
        .into_iter()
        .filter(|(name, _)| defaults.contains_key(*name));
    SettingMap::from(
        known
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>(),
    )
}
