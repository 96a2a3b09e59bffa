//! Checkpoints: generation that survives being killed, and that several processes may share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partita_core::{MemoryBudget, Monitor, Seed};

use crate::base_run::BaseRun;
use crate::checkpoint_file::{self, Header, PartFile, read};
use crate::error::Result;
use crate::generate::{Generated, assemble, checked_plans};
use crate::plan::{Plan, plan};
use crate::run_context::Sink;
use crate::run_plans::run_plans;
use crate::{GenerateError, Recipe, TableView};
use partita_core::ProgressCounter;

/// Where finished base clusterings are kept. Start from [`Durable::new`] and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Durable {
    /// The part file that finished base clusterings are appended to.
    pub path: PathBuf,
    /// Go on where the part file ends; without, the file must not exist.
    pub resume: bool,
    /// Make only every `of`-th base clustering, starting with the `index`-th (from 0), so that several processes
    /// share the work: (index, of).
    pub part: (u32, u32),
    /// Words of the caller's that go into the file and come back from [`merge_parts`], such as what the objects are
    /// called. Parts of the same work carry the same words.
    pub note: String,
}

impl Durable {
    /// A new part file for the whole work.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            resume: false,
            part: (0, 1),
            note: String::new(),
        }
    }
}

/// As [`generate`](crate::generate), with every finished base clustering appended to a part file at once. After a
/// kill at any moment, `resume` completes the file and gives the same ensemble as an undisturbed run; what the file
/// holds is not made again, and is counted in [`Generated::resumed`].
///
/// # Errors
/// As [`generate`](crate::generate); [`GenerateError::PartFile`] if the file cannot be made (it exists), read or
/// written, [`GenerateError::OtherWork`] if it belongs to another recipe, seed, table or part, and
/// [`GenerateError::Damaged`] if it was altered.
pub fn generate_durable<'a>(
    values: impl Into<TableView<'a>>,
    recipe: &Recipe,
    seed: Seed,
    durable: &Durable,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Generated, GenerateError> {
    let values = values.into();
    let (index, of) = durable.part;
    if index >= of {
        return Err(GenerateError::Part { index, of });
    }
    let mut plans = checked_plans(&values, recipe, seed, budget)?;
    let n = values.dim().0;
    plans.retain(|plan| plan.run as u64 % u64::from(of) == u64::from(index));
    let table = values.fingerprint()?;
    let header = Header {
        recipe: recipe.to_json(seed),
        objects: n,
        table,
        part: durable.part,
        note: durable.note.clone(),
    };
    let (file, kept) = if durable.resume {
        PartFile::resume(&durable.path, &header)?
    } else {
        (PartFile::create(&durable.path, &header)?, Vec::new())
    };
    let mut kept: BTreeMap<usize, BaseRun> = kept.into_iter().collect();
    let missing: Vec<Plan> = plans
        .iter()
        .filter(|plan| !kept.contains_key(&plan.run))
        .copied()
        .collect();
    let progress = ProgressCounter::new(monitor, plans.len() as u64);
    kept.keys().for_each(|_| progress.add(1));
    let resumed = kept.len();
    let sink = Sink {
        progress: &progress,
        keep: &|plan, found| file.append(plan.run, found),
    };
    let made = run_plans(values, recipe, &missing, budget, sink)?;
    file.close()?;
    for (plan, found) in missing.iter().zip(made) {
        kept.extend(found.map(|found| (plan.run, found)));
    }
    let generated = of_kept(&plans, kept, n, header.recipe)?;
    Ok(Generated {
        resumed,
        ..generated
    })
}

fn of_kept(
    plans: &[Plan],
    mut kept: BTreeMap<usize, BaseRun>,
    n: usize,
    recipe: String,
) -> Result<Generated> {
    let resumed = kept.len();
    let found = plans.iter().map(|plan| kept.remove(&plan.run)).collect();
    let generated = assemble(plans, found, n, recipe)?;
    Ok(Generated {
        resumed,
        ..generated
    })
}

/// Whether a file is a part file, by how it begins.
pub fn is_part_file(path: &Path) -> bool {
    checkpoint_file::is_part_file(path)
}

/// The ensemble of all base clusterings in these part files, which must belong to the same work, and the note that
/// they carry. With every part complete it is the ensemble that one undisturbed run gives.
///
/// # Errors
/// [`GenerateError::OtherWork`] for a file of other work than the first, [`GenerateError::Damaged`],
/// [`GenerateError::PartFile`], or [`GenerateError::NothingFinished`].
pub fn merge_parts<P: AsRef<Path>>(paths: &[P]) -> Result<(Generated, String), GenerateError> {
    let mut work: Option<Header> = None;
    let mut kept: BTreeMap<usize, BaseRun> = BTreeMap::new();
    for path in paths {
        let (header, records) = read(path.as_ref())?;
        let first = work.get_or_insert_with(|| header.clone());
        if (Header {
            part: first.part,
            ..header
        }) != *first
        {
            return Err(GenerateError::OtherWork {
                path: path.as_ref().display().to_string(),
            });
        }
        kept.extend(records);
    }
    let work = work.ok_or(GenerateError::NothingFinished { asked: 0 })?;
    let (recipe, seed) = Recipe::from_json(&work.recipe)?;
    recipe.check(work.objects)?;
    let plans = plan(&recipe, work.objects, seed);
    let generated = of_kept(&plans, kept, work.objects, work.recipe)?;
    Ok((generated, work.note))
}
