//! Many runs in common columns and colours: read, aligned, written.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use partita::extend::{EnsembleError, option};
use partita::files::{
    self, ListedObjects, LoggedFit, ReadOptions, RunMemberships, RunTables, Table, objects_beside,
    read_runs, write_as_one,
};
use partita::ndarray::Axis;
use partita::{Ensemble, EnsembleBuilder};
use partita_modes::{AlignedRun, Run, RunAlignment, RunMode, align_runs};
use partita_report::{MembershipRow, membership_rows};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::analysis::clusters_fit::ClustersFit;
use crate::analysis::modes::of_modes;
use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::input::input_notes::shown;
use crate::input::joined::{self, labels_file};
use crate::input::label_files::read_labels;
use crate::input::objects::Objects;
use crate::machine::default_budget;
use crate::observer::Observer;
use crate::text_files::{make_folder, write_json, write_text};
use crate::version::VERSION;

/// Runs to be aligned.
#[derive(Clone, Debug, Default)]
pub struct AlignInput {
    /// Their files: a run each, or several.
    pub files: Vec<PathBuf>,
    /// How they are read.
    pub read: ReadOptions,
    /// Runs of the same number of columns that are alike to this degree are of one mode; those that differ by noise alone if absent.
    pub similarity: Option<f64>,
    /// A file that says the population of every object, by which the picture is ordered.
    pub populations: Option<(PathBuf, ReadOptions)>,
}

/// Runs in common columns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AlignedRuns {
    /// The runs as they were read.
    pub runs: Vec<Run>,
    /// Their columns.
    pub alignment: RunAlignment,
    /// Names of the objects, where the first file has some.
    pub object_names: Option<Vec<String>>,
    /// The population of every object, where there is one.
    pub populations: Option<Vec<String>>,
    /// How well each number of clusters fits, where files say so.
    pub fits: Vec<ClustersFit>,
}

impl AlignInput {
    /// Reads the runs, brings their objects into one order and aligns them.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read, rows that are not shares, or runs of different objects.
    pub fn align(&self, observer: &dyn Observer) -> Result<AlignedRuns, AppError> {
        let options = self.read.clone().within(default_budget());
        let listed = self.listed()?;
        let files: Vec<PathBuf> = listed.iter().map(|(file, _)| file.clone()).collect();
        let mut runs: Vec<(String, Run)> = Vec::new();
        let mut logged: Vec<LoggedFit> = Vec::new();
        let (mut names, mut populations): (Option<Vec<String>>, Option<Vec<String>>) = (None, None);
        let monitor = observer.begin("reading runs");
        // As many files at once as there are threads, so that one that cannot be read ends it soon.
        let together = rayon::current_num_threads().max(1);
        for (at, part) in files.chunks(together).enumerate() {
            if monitor.tick((at * together) as u64, files.len() as u64)
                == partita::extend::Flow::Stop
            {
                return Err(AppError::nothing_finished());
            }
            let read: Vec<_> = part
                .par_iter()
                .map(|file| match labels_file(file, &options) {
                    Some(part) => Ok(RunTables::of_ensemble(&part.loaded.ensemble)),
                    None => read_runs(file, &options),
                })
                .collect();
            for (place, (file, tables)) in part.iter().zip(read).enumerate() {
                let tables = tables?;
                let order = match (&names, &tables.object_names) {
                    (Some(known), Some(own)) if known != own => {
                        Some(order(&files[0], known, file, own)?)
                    }
                    _ => None,
                };
                names = names.or(tables.object_names.clone());
                populations = populations.or(tables.populations.clone());
                logged.extend(tables.runs.iter().filter_map(fit_of_run));
                let own = of_file(tables, order.as_deref());
                if let Some(Some((map, clusters))) =
                    listed.get(at * together + place).map(|(_, said)| said)
                {
                    check_listed(map, *clusters, file, &own)?;
                }
                runs.extend(own.into_iter().map(|run| (joined::file_name(file), run)));
            }
        }
        let runs = distinct(runs);
        if let Some((file, read)) = &self.populations {
            populations = match files::listed_objects(file) {
                Some(listed) if listed.populations.is_some() => listed.populations,
                _ => {
                    let labels = read_labels(file, read, observer)?;
                    let word = |label: &Option<String>| label.clone().unwrap_or_default();
                    Some(labels.column.values.iter().map(word).collect())
                }
            };
        }
        let objects = runs.first().map_or(0, Run::objects);
        let beside = objects_beside(&files[0], objects).filter(|_| !all_labels(&runs));
        if let Some(ListedObjects {
            file,
            names: called,
            populations: told,
            ..
        }) = beside
        {
            let taken = [
                ("names", called.is_some() && names.is_none()),
                ("populations", told.is_some() && populations.is_none()),
            ];
            let taken: Vec<&str> = taken
                .iter()
                .filter(|(_, taken)| *taken)
                .map(|(what, _)| *what)
                .collect();
            if !taken.is_empty() {
                observer.note(&format!(
                    "{} of the objects are those of {}, which lies beside the runs ({} takes other populations)",
                    taken.join(" and "),
                    shown(&file),
                    option("populations")
                ));
            }
            (names, populations) = (names.or(called), populations.or(told));
        }
        logged.extend(files::logged_fits(&files[0]));
        let mut found = AlignedRuns::of(runs, self.similarity, (names, populations), observer)?;
        found.fits = ClustersFit::of(&logged);
        Ok(found)
    }

    /// The files, with those of a file map in its place, and the number of clusters that it says of each.
    fn listed(&self) -> Result<Vec<(PathBuf, Option<SaidOfRun>)>, AppError> {
        let mut files = Vec::new();
        for file in &self.files {
            match files::listed_runs(file)? {
                Some(listed) => {
                    let said = |(run, clusters)| (run, Some((file.clone(), clusters)));
                    files.extend(listed.into_iter().map(said));
                }
                None => files.push((file.clone(), None)),
            }
        }
        Ok(files)
    }
}

/// A file map, and the number of clusters that it says of a run.
type SaidOfRun = (PathBuf, usize);

/// Refuses a run with other clusters than the file map says.
fn check_listed(map: &Path, clusters: usize, file: &Path, runs: &[Run]) -> Result<(), AppError> {
    match runs {
        [run] if run.clusters() != clusters => {
            let reason = format!(
                "it says that {} has {clusters} clusters, and that has {}",
                file.display(),
                run.clusters()
            );
            Err(AppError::content(map, reason))
        }
        _ => Ok(()),
    }
}

/// Whether no run has shares: then they are not of ancestry.
fn all_labels(runs: &[Run]) -> bool {
    let hard = |run: &Run| run.rows().iter().all(|share| share.fract() == 0.0);
    runs.iter().all(hard)
}

/// What the file of a run says of its fit.
fn fit_of_run(run: &files::RunTable) -> Option<LoggedFit> {
    let clusters = match &run.memberships {
        RunMemberships::Soft(shares) => shares.rows().ncols(),
        RunMemberships::Hard(_, clusters) => *clusters,
    };
    Some(LoggedFit {
        clusters,
        log_likelihood: Some(run.log_likelihood?),
        cv_error: None,
    })
}

/// The runs of a file, their rows in this order; a run of a file of its own is called like the file.
fn of_file(tables: RunTables, order: Option<&[usize]>) -> Vec<Run> {
    let place = |row: usize| order.map_or(row, |order| order[row]);
    let run = |table: files::RunTable| {
        let name = table.name;
        match table.memberships {
            RunMemberships::Hard(labels, clusters) => Run::hard(
                name,
                (0..labels.len()).map(|row| labels[place(row)]),
                clusters,
            ),
            RunMemberships::Soft(shares) => {
                let rows: Vec<usize> = (0..shares.rows().nrows()).map(place).collect();
                Run::soft(
                    name,
                    if order.is_some() {
                        shares.select(&rows)
                    } else {
                        shares
                    },
                )
            }
        }
    };
    tables.runs.into_par_iter().map(run).collect()
}

/// Runs under their own names where no other has it, else beside that of the file.
fn distinct(runs: Vec<(String, Run)>) -> Vec<Run> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for (_, run) in &runs {
        *times.entry(run.name().to_owned()).or_default() += 1;
    }
    let name = |(file, run): (String, Run)| {
        let name = format!("{file}:{}", run.name());
        if times[run.name()] > 1 {
            run.called(name)
        } else {
            run
        }
    };
    runs.into_iter().map(name).collect()
}

/// The row of every known object in another file.
fn order(
    first: &Path,
    known: &[String],
    file: &Path,
    own: &[String],
) -> Result<Vec<usize>, AppError> {
    let here = Objects::new(first, known.len(), Some(known));
    let there = Objects::new(file, own.len(), Some(own));
    here.places()?;
    let rows = here
        .rows_in(&there)?
        .map_or_else(Vec::new, |found| found.rows);
    if here.count != there.count {
        let reason = format!(
            "{} objects where {} has {}",
            own.len(),
            first.display(),
            known.len()
        );
        return Err(AppError::content(file, reason));
    }
    let place = |(name, row): (&String, Option<usize>)| {
        row.ok_or_else(|| {
            let reason = format!(
                "object '{name}' of {} is not in it; runs are of the same objects",
                first.display()
            );
            AppError::content(file, reason)
        })
    };
    known.iter().zip(rows).map(place).collect()
}

impl AlignedRuns {
    /// Names of the files that [`write`](Self::write) writes into the folder itself.
    pub const FILES: [&str; 6] = [
        "alignment.json",
        "fit.csv",
        "runs.csv",
        "modes.csv",
        "columns.csv",
        "memberships.svg",
    ];

    /// Aligns runs whose objects are in one order: runs of the same number of columns that differ by noise alone, or are alike to a degree of
    /// `similarity`, are of one mode. The objects may have names and populations.
    ///
    /// # Errors
    /// [`AppError::Request`] for no runs, runs of different objects, or populations of other objects.
    pub fn of(
        runs: Vec<Run>,
        similarity: Option<f64>,
        (object_names, populations): (Option<Vec<String>>, Option<Vec<String>>),
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        let rescaled: usize = runs.iter().map(Run::rescaled).sum();
        if rescaled > 0 {
            observer.note(&format!(
                "{rescaled} rows whose shares did not quite sum to 1 were divided by their sums"
            ));
        }
        let alignment = align_runs(&runs, similarity).map_err(of_modes)?;
        let objects = runs.first().map_or(0, Run::objects);
        let named = [(&object_names, "names"), (&populations, "populations")];
        for (given, what) in named
            .into_iter()
            .filter_map(|(given, what)| Some((given.as_ref()?, what)))
        {
            if given.len() != objects {
                return Err(AppError::request(format!(
                    "{} {what} for {objects} objects",
                    given.len()
                )));
            }
        }
        Ok(Self {
            runs,
            alignment,
            object_names,
            populations,
            fits: Vec::new(),
        })
    }

    /// What was found, in one sentence.
    pub fn sentence(&self) -> String {
        let modes = &self.alignment.modes;
        let mut clusters: Vec<usize> = modes.iter().map(|mode| mode.clusters).collect();
        clusters.dedup();
        let of = |&clusters: &usize| {
            let members: Vec<usize> = modes
                .iter()
                .filter(|mode| mode.clusters == clusters)
                .map(|mode| mode.members.len())
                .collect();
            let mut sizes: Vec<String> = members.iter().take(5).map(ToString::to_string).collect();
            if members.len() > sizes.len() {
                sizes.push("…".into());
            }
            let one = if members.len() == 1 { "mode" } else { "modes" };
            let runs = if sizes == ["1"] { "run" } else { "runs" };
            format!(
                "K = {clusters}: {} {one} of {} {runs}",
                members.len(),
                sizes.join(", ")
            )
        };
        let of_runs: Vec<usize> = self.runs.iter().map(Run::clusters).collect();
        // Few clusters first, as everybody counts.
        let of_modes = clusters.iter().rev().map(of);
        of_modes
            .chain(ClustersFit::sentence(&self.fits, &of_runs))
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// The alignment as one JSON object.
    pub fn to_json(&self) -> Value {
        let name = |&run: &usize| self.runs[run].name();
        let run = |(run, aligned): (&Run, &AlignedRun)| {
            json!({
                "run": run.name(), "clusters": run.clusters(), "mode": aligned.mode, "colours": aligned.colours,
                "cost": aligned.cost, "similarity": aligned.similarity,
            })
        };
        let mode = |mode: &RunMode| {
            json!({
                "clusters": mode.clusters, "share": mode.share, "representative": name(&mode.members[0]),
                "members": mode.members.iter().map(name).collect::<Vec<_>>(),
                "parent": mode.parent, "parent_cost": mode.parent_cost,
            })
        };
        json!({
            "n": self.runs[0].objects(),
            "colours": self.alignment.colours,
            "fits": self.fits,
            "modes": self.alignment.modes.iter().map(mode).collect::<Vec<_>>(),
            "runs": self.runs.iter().zip(&self.alignment.runs).map(run).collect::<Vec<_>>(),
            "version": VERSION,
        })
    }

    /// Writes `alignment.json`, `runs.csv`, `modes.csv`, `columns.csv`, the aligned runs as `aligned/RUN.csv` with a column a
    /// colour, and the picture `memberships.svg`.
    ///
    /// # Errors
    /// [`AppError`] for what cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), AppError> {
        write_as_one(|| Ok(()), || self.write_files(folder))
    }

    fn write_files(&self, folder: &Path) -> Result<(), AppError> {
        let aligned = folder.join("aligned");
        make_folder(&aligned)?;
        let runs = || self.runs.iter().zip(&self.alignment.runs);
        let of_run = |(run, found): (&Run, &AlignedRun)| {
            let (mode, cost) = (found.mode.to_string(), found.cost.to_string());
            [
                run.name().to_owned(),
                run.clusters().to_string(),
                mode,
                cost,
                found.similarity.to_string(),
            ]
        };
        write_text(
            &folder.join("runs.csv"),
            &csv_text("run,clusters,mode,cost,similarity", runs().map(of_run)),
        )?;
        let of_mode = |(at, mode): (usize, &RunMode)| {
            let parent = mode
                .parent
                .map_or_else(String::new, |parent| parent.to_string());
            let name = self.runs[mode.members[0]].name().to_owned();
            let (runs, share) = (mode.members.len().to_string(), mode.share.to_string());
            [
                at.to_string(),
                mode.clusters.to_string(),
                runs,
                share,
                name,
                parent,
                mode.parent_cost.to_string(),
            ]
        };
        let header = "mode,clusters,runs,share,representative,parent,parent_cost";
        let modes = self.alignment.modes.iter().enumerate().map(of_mode);
        write_text(&folder.join("modes.csv"), &csv_text(header, modes))?;
        let columns = runs().flat_map(|(run, found)| {
            let colours = found.colours.iter().enumerate();
            colours.map(|(column, colour)| {
                [
                    run.name().to_owned(),
                    column.to_string(),
                    colour.to_string(),
                ]
            })
        });
        write_text(
            &folder.join("columns.csv"),
            &csv_text("run,column,colour", columns),
        )?;
        self.runs
            .par_iter()
            .zip(&self.alignment.runs)
            .enumerate()
            .try_for_each(|(at, (run, found))| {
                files::write_table(
                    &aligned.join(file_name(run.name(), at)),
                    &self.table(run, found),
                )
            })?;
        if !self.fits.is_empty() {
            write_text(&folder.join("fit.csv"), &ClustersFit::csv(&self.fits))?;
        }
        write_text(&folder.join("memberships.svg"), &self.picture())?;
        write_json(&folder.join("alignment.json"), &self.to_json())
    }

    /// The runs as one ensemble, a base clustering a run with its columns as they were read.
    ///
    /// # Errors
    /// [`AppError::Request`] for a run that knows no object, or has too many columns.
    pub fn ensemble(&self) -> Result<Ensemble, AppError> {
        let request = |error: EnsembleError| AppError::request(error.to_string());
        let mut builder = EnsembleBuilder::new(self.runs[0].objects());
        for run in &self.runs {
            let values = (0..run.clusters())
                .map(|column| column.to_string())
                .collect();
            builder
                .push_soft(run.name(), values, run.shares(), run.clusters().max(1))
                .map_err(request)?;
        }
        let ensemble = builder.finish().map_err(request)?;
        match &self.object_names {
            Some(names) => ensemble.with_object_names(names.clone()).map_err(request),
            None => Ok(ensemble),
        }
    }

    /// A run with its columns in the order of their colours, called `c0`, `c1`, ….
    fn table(&self, run: &Run, found: &AlignedRun) -> Table {
        let columns = found
            .order
            .iter()
            .map(|&column| format!("c{}", found.colours[column]))
            .collect();
        let values = run.rows().select(Axis(1), &found.order);
        Table {
            columns,
            values,
            object_names: self.object_names.clone(),
            label: None,
            gaps: Vec::new(),
        }
    }

    /// The picture `memberships.svg`: one row of bars a mode, its representative's, few clusters first.
    pub fn picture(&self) -> String {
        let modes = &self.alignment.modes;
        let row = |mode: &RunMode| {
            let run = mode.members[0];
            let title = format!("K = {}, {} of the runs", mode.clusters, percent(mode.share));
            MembershipRow {
                title,
                shares: self.runs[run].rows(),
                colours: &self.alignment.runs[run].colours,
            }
        };
        // Few clusters first; within a number of clusters the largest mode.
        let mut rows: Vec<&RunMode> = modes.iter().collect();
        rows.sort_by_key(|mode| mode.clusters);
        membership_rows(
            &rows.into_iter().map(row).collect::<Vec<_>>(),
            self.populations.as_deref(),
        )
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A name that is a file's on any system, and another one's of no other run.
fn file_name(run: &str, at: usize) -> String {
    let plain = |letter: char| {
        if letter.is_alphanumeric() || "._-".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    format!(
        "{:03}-{}.csv",
        at + 1,
        run.chars().map(plain).collect::<String>()
    )
}
