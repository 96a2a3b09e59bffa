//! The engine of folds: sums of passes that lie in files, checked one by one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use partita::BaseWeights;
use partita::extend::{PassEngine, PassError, PassJob, RowBlocks, TakePart};
use partita::files::ManifestRows;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::job::{Content, Job, PartResult, Purpose, Round, Task, parts, sum_beside};
use crate::sealed::{Hash, Seal, read, seal, write};
use partita_app::AppError;

/// A round that waits for its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What is to be done, for people.
    pub round: String,
    /// What workers follow.
    pub job: PathBuf,
    /// Number of parts.
    pub parts: usize,
    /// The parts that are not there yet.
    pub missing: Vec<usize>,
}

/// How far a computation by tasks has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage<T> {
    /// Workers have to make parts.
    Waiting(Waiting),
    /// All parts were there.
    Done(T),
}

/// Answers passes from the files of a folder.
pub(crate) struct FilesEngine<'a> {
    pub(crate) rows: &'a ManifestRows,
    purpose: Purpose,
    pub(crate) folder: &'a Path,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Passes so far.
    rounds: u32,
    /// Steps between passes so far that may be kept.
    steps: u32,
    /// What base clusterings count, once that is known.
    weights: Option<BaseWeights>,
    /// Sums that were named, for the first round that is not folded yet.
    given: Vec<PathBuf>,
    waiting: Option<Waiting>,
    error: Option<AppError>,
}

/// What a step between passes gave.
#[derive(Serialize, Deserialize)]
struct Step {
    of: StepOf,
    made: Vec<u8>,
}

/// Which step of which fit.
#[derive(PartialEq, Serialize, Deserialize)]
struct StepOf {
    /// JSON of the plan.
    plan: String,
    weights: Option<BaseWeights>,
    /// The pass before it.
    round: u32,
    name: String,
}

impl<'a> FilesEngine<'a> {
    pub(crate) fn new(
        rows: &'a ManifestRows,
        purpose: Purpose,
        folder: &'a Path,
        given: Vec<PathBuf>,
    ) -> Self {
        Self {
            rows,
            purpose,
            folder,
            state: Mutex::new(State {
                given,
                ..State::default()
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what base clusterings count.
    pub(crate) fn weigh(&self, weights: Option<&BaseWeights>) {
        self.state().weights = weights.cloned();
    }

    /// What was found, or why there is nothing yet.
    pub(crate) fn answer<T>(self, found: Result<Stage<T>, AppError>) -> Result<Stage<T>, AppError> {
        let State { waiting, error, .. } = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        found.or_else(|failed| match (error, waiting) {
            (Some(first), _) => Err(first),
            (None, Some(waiting)) => Ok(Stage::Waiting(waiting)),
            (None, None) => Err(failed),
        })
    }

    /// Makes the folder for this purpose alone: refuses one whose job of this round is another.
    pub(crate) fn claim(
        &self,
        round: Round,
        is_own: impl Fn(&Task) -> bool,
    ) -> Result<(), AppError> {
        fs::create_dir_all(self.folder)
            .map_err(|error| AppError::io(self.folder, "be made", error))?;
        let path = round.job_file(self.folder);
        if !path.exists() {
            return Ok(());
        }
        let found = read::<Job>(Seal::Job, &path).ok().map(|(job, _)| job);
        let own = |job: &Job| {
            job.manifest == self.rows.hash()
                && job.method == self.purpose.method
                && job.round == round
                && is_own(&job.task)
        };
        if found.as_ref().is_some_and(own) {
            return Ok(());
        }
        Err(AppError::content(
            &path,
            "this is a job for something else; take another folder",
        ))
    }

    /// The round of a task, its job written; the hash of the job.
    pub(crate) fn job(&self, round: Round, task: Task) -> Result<Hash, AppError> {
        let base_clusters = self
            .rows
            .bases()
            .iter()
            .map(|base| base.clusters() as u64)
            .sum();
        let (manifest, method, clusters) = (
            self.rows.hash(),
            self.purpose.method.clone(),
            self.purpose.clusters,
        );
        let job = Job {
            manifest,
            method,
            clusters,
            base_clusters,
            round,
            task,
        };
        let (bytes, hash) = seal(Seal::Job, &job)?;
        let path = round.job_file(self.folder);
        if fs::read(&path).ok().as_ref() != Some(&bytes) {
            partita::files::write_whole(&path, |out| out.write_all(&bytes))?;
        }
        Ok(hash)
    }

    /// The files of all parts of a round, or what it waits for.
    pub(crate) fn part_files(
        &self,
        round: Round,
        job: Hash,
    ) -> Result<Result<Vec<PathBuf>, Waiting>, AppError> {
        let (place, parts) = (round.job_file(self.folder), parts(self.rows));
        let given = std::mem::take(&mut self.state().given);
        let mut files: Vec<Option<PathBuf>> = vec![None; parts];
        for path in &given {
            let part = self.part_of(path, round, job)?;
            if let Some(other) = files[part].replace(path.clone()) {
                let reason = format!(
                    "this is the sum of part {part}, as is {}; name one",
                    other.display()
                );
                return Err(AppError::content(path, reason));
            }
        }
        for (part, file) in files
            .iter_mut()
            .enumerate()
            .filter(|(_, file)| file.is_none())
        {
            let beside = sum_beside(&place, part, parts);
            *file = beside.exists().then_some(beside);
        }
        let missing: Vec<usize> = (0..parts).filter(|&part| files[part].is_none()).collect();
        if missing.is_empty() {
            return Ok(Ok(files.into_iter().flatten().collect()));
        }
        let waiting = Waiting {
            round: round.to_string(),
            job: place,
            parts,
            missing,
        };
        if given.is_empty() {
            return Ok(Err(waiting));
        }
        Err(AppError::request(format!(
            "{} lacks {}",
            waiting.round,
            waiting.missing_text()
        )))
    }

    fn part_of(&self, path: &Path, round: Round, job: Hash) -> Result<usize, AppError> {
        let result = self.checked(path, round, job, None)?;
        Ok(result.part.unwrap_or_default() as usize)
    }

    /// Reads a sum of this round: of a part, or of this part.
    pub(crate) fn checked(
        &self,
        path: &Path,
        round: Round,
        job: Hash,
        wanted: Option<usize>,
    ) -> Result<PartResult, AppError> {
        let (result, _): (PartResult, Hash) = read(Seal::Sum, path)?;
        let part = result.part.unwrap_or(u64::MAX);
        let known = self.rows.manifest().parts.get(part as usize);
        let own = if part == u64::MAX {
            "all rows".to_owned()
        } else {
            format!("part {part}")
        };
        let told = |what: String| {
            Err(AppError::content(
                path,
                format!(
                    "this is the sum of {own} {what}; run `partita distributed run` for this part again"
                ),
            ))
        };
        let file = round.job_file(self.folder);
        if result.manifest != self.rows.hash() {
            return told("of another manifest".into());
        }
        if result.job != job {
            return told(format!(
                "in {} by another job than {}",
                result.round,
                file.display()
            ));
        }
        let (first, rows) = (result.first, result.rows);
        match known {
            Some(part) if (part.first, part.rows) != (first, rows) => told(format!(
                "with {rows} rows from {first} on, which are {} from {} on",
                part.rows, part.first
            )),
            None if part != u64::MAX => told(format!("of {} parts", parts(self.rows))),
            _ if wanted.is_some_and(|wanted| wanted as u64 != part) => told(format!(
                "where that of part {} is meant",
                wanted.unwrap_or_default()
            )),
            _ => Ok(result),
        }
    }

    fn sum_job(&self, round: Round, job: &PassJob<'_>) -> Result<Hash, AppError> {
        let (kind, state, columns) = (
            job.kind.to_owned(),
            job.state.to_vec(),
            self.purpose.columns.clone(),
        );
        self.job(
            round,
            Task::Sum {
                kind,
                state,
                columns,
            },
        )
    }

    fn try_sums(
        &self,
        job: &PassJob<'_>,
        take: &mut TakePart<'_>,
    ) -> Result<Result<(), PassError>, AppError> {
        let number = self.state().rounds + 1;
        self.state().rounds = number;
        let (round, hash) = (Round::Sums(number), self.sum_job(Round::Sums(number), job)?);
        let whole = round.whole(self.folder);
        if whole.exists() {
            let result = self.checked(&whole, round, hash, None).map_err(|error| {
                AppError::content(
                    &whole,
                    format!("{error}; or remove this file to fold {round} again"),
                )
            })?;
            return Ok(taken(&result.content, take));
        }
        let files = match self.part_files(round, hash)? {
            Ok(files) => files,
            Err(waiting) => {
                self.state().waiting = Some(waiting);
                return Ok(Err(PassError::Pending));
            }
        };
        for (part, path) in files.iter().enumerate() {
            let result = self.checked(path, round, hash, Some(part))?;
            if let Err(error) = taken(&result.content, take) {
                return Err(AppError::content(path, error.to_string()));
            }
        }
        Ok(Ok(()))
    }

    fn try_keep(&self, job: &PassJob<'_>, whole: &[u8]) -> Result<(), AppError> {
        let round = Round::Sums(self.state().rounds);
        let hash = self.sum_job(round, job)?;
        let (manifest, rows, content) = (
            self.rows.hash(),
            self.rows.rows(),
            Content::Sum(whole.to_vec()),
        );
        let result = PartResult {
            job: hash,
            manifest,
            round,
            part: None,
            first: 0,
            rows,
            content,
        };
        write(Seal::Sum, &round.whole(self.folder), &result)?;
        // The sums of the parts are in the whole.
        let (file, parts) = (round.job_file(self.folder), parts(self.rows));
        (0..parts).for_each(|part| _ = fs::remove_file(sum_beside(&file, part, parts)));
        Ok(())
    }

    /// The step that is done now, and its file.
    fn step(&self, name: &str) -> (StepOf, PathBuf) {
        let (plan, state) = (self.purpose.plan.clone(), self.state());
        let of = StepOf {
            plan,
            weights: state.weights.clone(),
            round: state.rounds,
            name: name.to_owned(),
        };
        (of, self.folder.join(format!("step{}.kept", state.steps)))
    }

    fn try_recall(&self, name: &str) -> Result<Option<Vec<u8>>, AppError> {
        self.state().steps += 1;
        let (of, path) = self.step(name);
        if !path.exists() {
            return Ok(None);
        }
        let (step, _): (Step, Hash) = read(Seal::Step, &path)?;
        if step.of != of {
            return Err(AppError::content(
                &path,
                "this is a step of another fit; remove this file and run `partita distributed merge` again",
            ));
        }
        Ok(Some(step.made))
    }

    fn try_remember(&self, name: &str, made: &[u8]) -> Result<(), AppError> {
        let (of, path) = self.step(name);
        write(
            Seal::Step,
            &path,
            &Step {
                of,
                made: made.to_vec(),
            },
        )
        .map(|_| ())
    }

    fn keep_error<T>(&self, answer: Result<T, AppError>) -> Result<T, PassError> {
        answer.map_err(|error| {
            let told = PassError::Parts(error.to_string());
            self.state().error = Some(error);
            told
        })
    }
}

fn taken(content: &Content, take: &mut TakePart<'_>) -> Result<(), PassError> {
    match content {
        Content::Sum(bytes) => take(bytes),
        _ => Err(PassError::Parts("these are labels, not a sum".into())),
    }
}

impl PassEngine for FilesEngine<'_> {
    fn sums(&self, job: &PassJob<'_>, take: &mut TakePart<'_>) -> Result<(), PassError> {
        self.keep_error(self.try_sums(job, take))?
    }

    fn keep(&self, job: &PassJob<'_>, whole: &[u8]) -> Result<(), PassError> {
        self.keep_error(self.try_keep(job, whole))
    }

    fn recall(&self, step: &str) -> Result<Option<Vec<u8>>, PassError> {
        self.keep_error(self.try_recall(step))
    }

    fn remember(&self, step: &str, made: &[u8]) -> Result<(), PassError> {
        self.keep_error(self.try_remember(step, made))
    }
}

impl Waiting {
    /// What comes next as a JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let Self {
            round,
            job,
            parts,
            missing,
        } = self;
        // A job was called a model before.
        json!({ "done": false, "round": round, "job": job, "parts": parts, "missing": missing, "model": job })
    }

    /// The parts that are not there, the first of them by number.
    pub fn missing_text(&self) -> String {
        const SHOWN: usize = 10;
        let some: Vec<String> = self
            .missing
            .iter()
            .take(SHOWN)
            .map(ToString::to_string)
            .collect();
        let more = self.missing.len().saturating_sub(SHOWN);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let parts = if self.missing.len() == 1 {
            "part"
        } else {
            "parts"
        };
        format!(
            "{parts} {}{more} of 0 to {}",
            some.join(", "),
            self.parts - 1
        )
    }
}

#[cfg(test)]
mod tests {
    use partita::MemoryBudget;
    use partita::extend::PassEngine;
    use partita::files::{Manifest, ReadOptions};

    use super::*;

    /// Labels of four objects by two base clusterings, as NPY.
    fn labels(path: &Path) {
        let mut header = "{'descr': '<i8', 'fortran_order': False, 'shape': (4, 2), }".to_owned();
        while !(10 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        for label in [0i64, 0, 0, 1, 1, 1, 1, 0] {
            bytes.extend(label.to_le_bytes());
        }
        fs::write(path, bytes).expect("a file");
    }

    /// A step between passes is kept for the rounds after it; what is kept of another fit, or damaged, is refused.
    #[test]
    fn a_step_is_kept_and_one_of_another_fit_or_damaged_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("labels.npy");
        labels(&file);
        let options = ReadOptions::default();
        let (manifest, _) = Manifest::of(&[file], place.path(), &options, 10).expect("rows");
        let path = place.path().join("m.json");
        manifest.write(&path).expect("a manifest");
        let rows = ManifestRows::open(&path, MemoryBudget::UNLIMITED).expect("a manifest");
        let engine = |plan: &str| {
            let purpose = Purpose {
                method: "kc".into(),
                clusters: 2,
                plan: plan.into(),
                columns: None,
            };
            FilesEngine::new(&rows, purpose, place.path(), Vec::new())
        };
        let first = engine("one");
        assert!(first.recall("starts").expect("no step yet").is_none());
        first.remember("starts", &[1, 2, 3]).expect("a file");
        assert_eq!(
            engine("one").recall("starts").expect("a step"),
            Some(vec![1, 2, 3])
        );
        let kept = place.path().join("step1.kept");
        let whole = fs::read(&kept).expect("a file");
        let refused = |plan: &str, what: &str| {
            let error = engine(plan)
                .recall("starts")
                .expect_err("a step that is refused");
            let remedy = "remove this file and run `partita distributed merge` again";
            let error = error.to_string();
            assert!(error.contains(what) && error.contains(remedy), "{error}");
        };
        refused("two", "this is a step of another fit");
        fs::write(&kept, &whole[..whole.len() / 2]).expect("a file");
        refused("one", "it is cut short or damaged");
        fs::write(&kept, b"no step").expect("a file");
        refused("one", "this is not a step");
    }
}
