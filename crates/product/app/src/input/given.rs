//! What a user gives a method besides base clusterings: probabilities to start from, and the pairs to read.

use std::collections::HashMap;
use std::path::Path;

use partita::extend::PairList;
use partita::files::{self, FileError, ReadOptions};
use partita::{Ensemble, SoftPartition};

use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::experiment::description::Experiment;
use crate::input::input_file::InputFile;
use crate::input::left_out::LeftOut;
use crate::input::objects::Objects;
use crate::machine::default_budget;
use crate::text_files::write_text;

/// The columns of a file of pairs: the two objects, and c and N.
const COLUMNS: [&str; 4] = ["first", "second", "together", "seen"];

/// What a user gives a method besides base clusterings, for the objects of the ensemble in their order.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Probabilities to start from, n × K.
    pub start: Option<SoftPartition>,
    /// The pairs to read, and their counts where base clusterings do not say them.
    pub pairs: Option<PairList>,
}

impl Given {
    /// What the files of an experiment say of the objects of an ensemble.
    pub(crate) fn read(experiment: &Experiment, ensemble: &Ensemble) -> Result<Self, AppError> {
        let start = experiment.start.as_deref();
        let pairs = experiment.pairs.as_deref();
        Ok(Self {
            start: start.map(|file| read_start(file, ensemble)).transpose()?,
            pairs: pairs.map(|file| read_pairs(file, ensemble)).transpose()?,
        })
    }

    /// The same of the objects that are left.
    pub(crate) fn of_left(&self, out: Option<&LeftOut>) -> Self {
        let Some(out) = out else { return self.clone() };
        let objects: Vec<u32> = out.places().into_iter().map(|place| place as u32).collect();
        Self {
            start: self.start.as_ref().map(|start| start.selected(&objects)),
            pairs: self.pairs.as_ref().map(|pairs| pairs.selected(&objects)),
        }
    }

    /// Writes what was given by a program, and not by files, into a folder from which the experiment reads it again.
    pub(crate) fn write(
        &self,
        folder: &Path,
        ensemble: &Ensemble,
        experiment: &mut Experiment,
    ) -> Result<Vec<InputFile>, AppError> {
        let mut written = Vec::new();
        if let (Some(start), None) = (&self.start, &experiment.start) {
            let file = folder.join("start.csv");
            files::write_soft(&file, ensemble.object_names(), start.rows())?;
            written.push(InputFile::written(&file)?);
            experiment.start = Some(file);
        }
        if let (Some(pairs), None) = (&self.pairs, &experiment.pairs) {
            let file = folder.join("pairs.csv");
            write_text(&file, &pairs_csv(pairs, ensemble))?;
            written.push(InputFile::written(&file)?);
            experiment.pairs = Some(file);
        }
        Ok(written)
    }
}

fn pairs_csv(list: &PairList, ensemble: &Ensemble) -> String {
    let columns = if list.counts().is_some() { 4 } else { 2 };
    let name = |object: u32| ensemble.object_name(object as usize);
    let lines = list.pairs().iter().enumerate().map(|(at, &(i, j))| {
        let (c, n) = list.counts().map_or((0, 0), |counts| counts[at]);
        let all = [name(i), name(j), c.to_string(), n.to_string()];
        all.into_iter().take(columns).collect::<Vec<_>>()
    });
    csv_text(&COLUMNS[..columns].join(","), lines)
}

/// Probabilities, matched with the objects by their names where both have some, else by place.
fn read_start(file: &Path, ensemble: &Ensemble) -> Result<SoftPartition, AppError> {
    let (names, soft) = files::read_soft(file)?;
    let here = Objects::new(file, ensemble.objects(), ensemble.object_names());
    let there = Objects::new(file, soft.objects(), names.as_deref());
    let found = here.rows_in(&there)?;
    if found.is_none() && soft.objects() != ensemble.objects() {
        let (rows, objects) = (soft.objects(), ensemble.objects());
        let reason =
            format!("it has {rows} rows for {objects} objects; give probabilities of every object");
        return Err(AppError::content(file, reason));
    }
    let rows = found.map_or_else(|| vec![None; ensemble.objects()], |found| found.rows);
    let row = |(object, row): (usize, Option<usize>)| {
        let name = ensemble.object_name(object);
        let reason = || format!("no row for object '{name}'; give probabilities of every object");
        row.map(|row| row as u32)
            .ok_or_else(|| AppError::content(file, reason()))
    };
    let rows: Result<Vec<u32>, AppError> = rows.into_iter().enumerate().map(row).collect();
    Ok(soft.selected(&rows?))
}

/// Pairs of objects by name, or by number from 0 where they have none; with counts where there are columns of them.
fn read_pairs(file: &Path, ensemble: &Ensemble) -> Result<PairList, AppError> {
    let wrong =
        |row: usize, reason: String| AppError::content(file, format!("row {}: {reason}", row + 1));
    let with = |count: &[&str]| {
        let mut read = ReadOptions::default().within(default_budget());
        read.only = COLUMNS[..2]
            .iter()
            .chain(count)
            .map(ToString::to_string)
            .collect();
        files::read_edges(file, &read)
    };
    let (list, counted) = match with(&COLUMNS[2..3]) {
        Err(FileError::NoColumn { column, .. }) if column == COLUMNS[2] => (with(&[])?, false),
        read => (read?, true),
    };
    let seen = if counted {
        with(&COLUMNS[3..])?.edges
    } else {
        Vec::new()
    };
    let places: HashMap<String, u32> = (0..ensemble.objects())
        .map(|object| (ensemble.object_name(object), object as u32))
        .collect();
    let number = |row: usize, column: &str, count: f64| {
        let whole = count.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&count);
        let reason = || format!("{column} is {count}; counts are whole numbers from 0 up");
        whole
            .then_some(count as u32)
            .ok_or_else(|| wrong(row, reason()))
    };
    let (mut pairs, mut counts) = (Vec::new(), Vec::new());
    for (row, &(first, second, together)) in list.edges.iter().enumerate() {
        let [first, second] = [first, second].map(|end| {
            let name = &list.names[end];
            let reason = || format!("there is no object '{name}' in the ensemble");
            places
                .get(name)
                .copied()
                .ok_or_else(|| wrong(row, reason()))
        });
        pairs.push((first?, second?));
        if let Some(&(_, _, seen)) = seen.get(row) {
            counts.push((
                number(row, COLUMNS[2], together)?,
                number(row, COLUMNS[3], seen)?,
            ));
        }
    }
    PairList::new(ensemble.objects(), &pairs, counted.then_some(&counts[..]))
        .map_err(|error| wrong(error.row, error.reason))
}
