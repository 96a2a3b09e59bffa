//! The engine: measures the units that are missing, keeps them, writes the pages, checks a sample again.

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partita::Monitor;
use partita::extend::Flow;
use rayon::ThreadPoolBuilder;

use crate::lab::{catalogue_name, thread_seconds};
use crate::raw::Raw;
use crate::unit::SECONDS;
use crate::{Lab, ReproduceError, Results, Row, Scope, Study, Unit, summary};

/// The method of rows that hold what a whole unit took.
const WHOLE: &str = "whole unit";
/// The raw file is written again at most this often while units finish.
const WRITE_EVERY: Duration = Duration::from_secs(3);

/// The wish to stop: units that are being measured are dropped, those that are done stay.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// Nobody has asked to stop.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks to stop; says whether somebody had asked before.
    pub fn ask(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Monitor for Interrupt {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        if self.asked() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Report {
    /// Units measured now.
    pub measured: usize,
    /// Units that were there.
    pub there: usize,
    /// Data sets that are not on this machine, as in the catalogue.
    pub absent: Vec<String>,
    /// Units that failed, and why.
    pub failed: Vec<String>,
}

/// Where results lie below the root of the project.
fn folder(root: &Path, scope: Scope) -> PathBuf {
    if scope.quick {
        root.join("target/reproduce-quick")
    } else {
        root.join("docs/reproduction")
    }
}

/// Measures what is missing of a study, in `threads` threads with a unit each, and writes its page. `say` is told how far it is.
///
/// # Errors
/// [`ReproduceError::File`] for files that cannot be read or written, [`ReproduceError::Stopped`] after Ctrl-C: what
/// was done by then is kept. Units that fail are in the report.
pub fn run(
    study: &dyn Study,
    scope: Scope,
    root: &Path,
    threads: usize,
    interrupt: &Interrupt,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Report> {
    let raw_folder = folder(root, scope).join("raw");
    let lab = Lab::new(root, interrupt);
    let raw = Raw::read(&raw_folder, study.name())?;
    let units = study.units(scope);
    let here: BTreeMap<&str, bool> = units
        .iter()
        .map(|unit| (&*unit.data, lab.has(&unit.data)))
        .collect();
    let absent: BTreeSet<&str> = here
        .iter()
        .filter(|(_, here)| !**here)
        .map(|(name, _)| catalogue_name(name))
        .collect();
    let absent = absent.into_iter().map(ToOwned::to_owned).collect();
    let possible: Vec<&Unit> = units.iter().filter(|unit| here[&*unit.data]).collect();
    let todo: Vec<Unit> = possible
        .iter()
        .filter_map(|unit| raw.missing(unit))
        .collect();
    let mut report = Report {
        there: possible.len() - todo.len(),
        absent,
        ..Report::default()
    };
    let desk = Desk {
        study,
        folder: &raw_folder,
        raw: Mutex::new((raw, Instant::now())),
        failed: Mutex::default(),
    };
    let done = AtomicUsize::new(0);
    let start = Instant::now();
    for_each(&todo, threads, interrupt, |unit| {
        desk.measure(unit, &lab, interrupt)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let seconds = start.elapsed().as_secs();
        say(&format!(
            "{} {done} of {}, {seconds} s: {}",
            study.name(),
            todo.len(),
            unit.name()
        ));
        Ok(())
    })?;
    report.measured = done.into_inner() - desk.failed.lock().map_or(0, |failed| failed.len());
    report.failed = desk.failed.into_inner().unwrap_or_default();
    let (raw, _) = desk.raw.into_inner().expect("no worker panicked");
    raw.write(&raw_folder, study.name())?;
    write_page(study, raw, scope, &folder(root, scope))?;
    if interrupt.asked() {
        Err(ReproduceError::Stopped.into())
    } else {
        Ok(report)
    }
}

/// Works on units, as many at once as there are threads, until all are done or somebody asks to stop.
fn for_each(
    units: &[Unit],
    threads: usize,
    interrupt: &Interrupt,
    work: impl Fn(&Unit) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut rest = std::iter::from_fn(|| units.get(next.fetch_add(1, Ordering::Relaxed)));
        rest.by_ref()
            .take_while(|_| !interrupt.asked())
            .try_for_each(&work)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}

/// Where workers put what they measured.
struct Desk<'a> {
    study: &'a dyn Study,
    folder: &'a Path,
    raw: Mutex<(Raw, Instant)>,
    failed: Mutex<Vec<String>>,
}

impl Desk<'_> {
    /// Measures a unit and keeps it, unless it was cut short.
    fn measure(&self, unit: &Unit, lab: &Lab<'_>, interrupt: &Interrupt) -> Result<()> {
        let rows = measure_alone(self.study, unit, lab)?;
        if interrupt.asked() {
            return Ok(());
        }
        match rows {
            Ok(mut rows) => {
                let mut guard = self.raw.lock().expect("no worker panicked");
                let (raw, written) = &mut *guard;
                // A unit that is measured in several goes takes the sum of them.
                let before =
                    raw.seconds
                        .value(&unit.data, &unit.setting, WHOLE, unit.seed, SECONDS);
                rows.iter_mut()
                    .filter(|row| row.method == WHOLE)
                    .for_each(|row| row.value += before.unwrap_or(0.0));
                raw.insert(rows);
                if written.elapsed() > WRITE_EVERY {
                    raw.write(self.folder, self.study.name())?;
                    *written = Instant::now();
                }
            }
            Err(error) => self
                .failed
                .lock()
                .expect("no worker panicked")
                .push(format!("{}: {error}", unit.name())),
        }
        Ok(())
    }
}

/// Measures a unit in one thread of its own, so that its CPU seconds can be told.
fn measure_alone(study: &dyn Study, unit: &Unit, lab: &Lab<'_>) -> Result<Result<Vec<Row>>> {
    let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
    Ok(pool.install(|| {
        let start = thread_seconds();
        let mut rows = study.measure(unit, lab)?;
        rows.push(unit.row(WHOLE, SECONDS, thread_seconds() - start));
        Ok(rows)
    }))
}

fn results(raw: Raw) -> Results {
    let mut results = raw.values;
    results.cost = raw
        .seconds
        .rows()
        .filter(|row| row.method == WHOLE)
        .map(|row| row.value)
        .sum();
    raw.seconds.rows().for_each(|row| results.insert(row));
    results
}

fn write_page(study: &dyn Study, raw: Raw, scope: Scope, folder: &Path) -> Result<()> {
    let results = results(raw);
    for (name, svg) in study.pictures(&results) {
        write(&folder.join(name), &svg)?;
    }
    write(
        &folder.join(format!("{}.md", study.name())),
        &page(study, scope, &results),
    )
}

/// The whole page.
fn page(study: &dyn Study, scope: Scope, results: &Results) -> String {
    let name = study.name();
    let head = format!(
        "# {}\n\nWritten by `cargo xtask reproduce {name}` from [raw/{name}.csv.gz](raw/{name}.csv.gz).\n\n",
        study.title()
    );
    let text = format!(
        "{head}{}{}",
        unmeasured(study, scope, results),
        study.page(results)
    );
    format!("{}\n", text.trim_end())
}

/// Says which data sets have no value.
fn unmeasured(study: &dyn Study, scope: Scope, results: &Results) -> String {
    let [there, ..] = results.names();
    let names: BTreeSet<String> = study
        .units(Scope { seeds: 1, ..scope })
        .into_iter()
        .map(|unit| unit.data)
        .collect();
    let missing = names
        .iter()
        .filter(|name| !there.contains(name))
        .map(|name| catalogue_name(name));
    let names: Vec<&str> = missing.collect::<BTreeSet<_>>().into_iter().collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "**Without {}**, which was not there or is yet to be measured; `cargo xtask datasets fetch NAME` gets a data set or says how.\n\n",
        names.join(", ")
    )
}

fn write(path: &Path, text: &str) -> Result<()> {
    Ok(partita::files::write_whole(path, |file| {
        std::io::Write::write_all(file, text.as_bytes())
    })?)
}

/// Everything below `docs/reproduction` that is written from the raw values: pages, pictures and the summary, by name.
///
/// # Errors
/// [`ReproduceError::File`] for a raw file that cannot be read.
pub fn pages(
    studies: &[&'static dyn Study],
    root: &Path,
    scope: Scope,
) -> Result<Vec<(String, String)>> {
    let raw_folder = folder(root, scope).join("raw");
    let mut files = Vec::new();
    let mut measured: Vec<(&dyn Study, Results)> = Vec::new();
    for study in studies {
        let results = results(Raw::read(&raw_folder, study.name())?);
        if results.is_empty() {
            continue;
        }
        files.push((
            format!("{}.md", study.name()),
            page(*study, scope, &results),
        ));
        files.extend(study.pictures(&results));
        measured.push((*study, results));
    }
    files.push(("README.md".into(), summary(&measured)));
    files.push(("items.md".into(), crate::items::page()));
    Ok(files)
}

/// Writes what [`pages`] says.
///
/// # Errors
/// [`ReproduceError::File`].
pub fn write_pages(studies: &[&'static dyn Study], root: &Path, scope: Scope) -> Result<()> {
    let folder = folder(root, scope);
    pages(studies, root, scope)?
        .iter()
        .try_for_each(|(name, text)| write(&folder.join(name), text))
}

/// Measures a sample of what `docs/reproduction/raw` holds once more: evenly spread units until `seconds` are used up, of
/// those that took more than `seconds` / 8 as many of their methods as fit, quick ones first. Where nothing fits, the
/// quickest unit whole. Says how many values were compared and which differ.
///
/// # Errors
/// [`ReproduceError::File`]; [`ReproduceError::Stopped`] after Ctrl-C; whatever a unit says that fails now.
pub fn check(
    study: &dyn Study,
    root: &Path,
    seconds: f64,
    threads: usize,
    interrupt: &Interrupt,
) -> Result<(usize, Vec<String>)> {
    let scope = Scope {
        seeds: 0,
        quick: false,
    };
    let (raw, lab) = (
        Raw::read(&folder(root, scope).join("raw"), study.name())?,
        Lab::new(root, interrupt),
    );
    let units: Vec<Unit> = sample(study, &raw, seconds)
        .into_iter()
        .filter(|unit| lab.has(&unit.data))
        .collect();
    let found = Mutex::new((0, Vec::new()));
    for_each(&units, threads, interrupt, |unit| {
        let mut fresh = Raw::default();
        fresh.insert(measure_alone(study, unit, &lab)??);
        let mut found = found.lock().expect("no worker panicked");
        for row in fresh.values.rows() {
            let was =
                raw.values
                    .value(&row.data, &row.setting, &row.method, row.seed, &row.measure);
            found.0 += 1;
            if was != Some(row.value) {
                let (name, was) = (
                    unit.name(),
                    was.map_or_else(|| "nothing".into(), |was| was.to_string()),
                );
                found.1.push(format!(
                    "{name}, {}, {}: {was} is on record, now {}",
                    row.method, row.measure, row.value
                ));
            }
        }
        Ok(())
    })?;
    if interrupt.asked() {
        return Err(ReproduceError::Stopped.into());
    }
    let (compared, mut differ) = found.into_inner().expect("no worker panicked");
    differ.sort();
    Ok((compared, differ))
}

/// Units to measure again: spread evenly over those that are cheap, or have methods that are.
fn sample(study: &dyn Study, raw: &Raw, seconds: f64) -> Vec<Unit> {
    // As many seeds as were measured.
    let seeds = raw.values.rows().map(|row| row.seed + 1).max().unwrap_or(0);
    let recorded = |unit: Unit| {
        let there = |method: &String| raw.values.has(&unit.data, &unit.setting, method, unit.seed);
        let methods: Vec<String> = unit
            .methods
            .iter()
            .filter(|method| there(method))
            .cloned()
            .collect();
        Unit { methods, ..unit }
    };
    let units: Vec<Unit> = study
        .units(Scope {
            seeds,
            quick: false,
        })
        .into_iter()
        .map(recorded)
        .collect();
    let within = |most| {
        units
            .iter()
            .filter_map(|unit| affordable(unit.clone(), raw, most))
            .collect::<Vec<_>>()
    };
    let mut cheap = within(seconds / 8.0);
    if cheap.is_empty() {
        cheap = within(f64::INFINITY);
        cheap.sort_by(|a, b| a.1.total_cmp(&b.1));
        cheap.truncate(1);
    }
    let total: f64 = cheap.iter().map(|(_, cost)| cost).sum();
    let step = (total / seconds).max(1.0);
    let mut next = 0.0;
    let mut chosen = Vec::new();
    for (place, (unit, _)) in cheap.into_iter().enumerate() {
        if place as f64 >= next {
            chosen.push(unit);
            next += step;
        }
    }
    chosen
}

/// The unit with as many of its methods as took at most `most` seconds together with what all of them share, and what that
/// was. Methods whose seconds are not on record count as shared.
fn affordable(mut unit: Unit, raw: &Raw, most: f64) -> Option<(Unit, f64)> {
    let on_record = |method: &str| {
        raw.seconds
            .value(&unit.data, &unit.setting, method, unit.seed, SECONDS)
    };
    let whole = on_record(WHOLE)?;
    let mut by_cost: Vec<(f64, usize)> = unit
        .methods
        .iter()
        .enumerate()
        .map(|(at, method)| (on_record(method).unwrap_or(0.0), at))
        .collect();
    by_cost.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shared = (whole - by_cost.iter().map(|(cost, _)| cost).sum::<f64>()).max(0.0);
    let mut cost = shared;
    let mut kept = vec![false; unit.methods.len()];
    for (own, at) in by_cost {
        if cost + own > most {
            break;
        }
        cost += own;
        kept[at] = true;
    }
    let mut keep = kept.iter();
    unit.methods.retain(|_| keep.next() == Some(&true));
    (!unit.methods.is_empty()).then_some((unit, cost))
}
