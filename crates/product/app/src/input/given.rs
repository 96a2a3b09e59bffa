//! What a user gives a method besides base clusterings: probabilities to start from, and the pairs to read.

use std::collections::HashMap;
use std::path::Path;

use partita::extend::PairList;
use partita::files::{self, EdgeList, FileError, ReadOptions};
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
    let header = if list.counts().is_some() {
        COLUMNS.join(",")
    } else {
        COLUMNS[..2].join(",")
    };
    let lines = list.pairs().iter().enumerate().map(|(at, &(i, j))| {
        let mut line = vec![i, j]
            .into_iter()
            .map(|i| ensemble.object_name(i as usize))
            .collect::<Vec<_>>();
        if let Some((c, n)) = list.counts().map(|counts| counts[at]) {
            line.extend([c.to_string(), n.to_string()]);
        }
        line
    });
    csv_text(&header, lines)
}

/// Probabilities, matched with the objects by their names where both have some, else by place.
fn read_start(file: &Path, ensemble: &Ensemble) -> Result<SoftPartition, AppError> {
    let (names, soft) = files::read_soft(file)?;
    let here = Objects::new(file, ensemble.objects(), ensemble.object_names());
    let there = Objects::new(file, soft.objects(), names.as_deref());
    let Some(found) = here.rows_in(&there)? else {
        let (rows, objects) = (soft.objects(), ensemble.objects());
        let reason = format!(
            "{rows} rows of probabilities to start from for {objects} objects; give one row an object"
        );
        return Err(AppError::content(file, reason));
    };
    let row = |(object, row): (usize, Option<usize>)| {
        row.map(|row| row as u32).ok_or_else(|| {
            let name = ensemble.object_name(object);
            AppError::content(
                file,
                format!("no row for object '{name}'; add its probabilities"),
            )
        })
    };
    let rows: Result<Vec<u32>, AppError> = found.rows.into_iter().enumerate().map(row).collect();
    Ok(soft.selected(&rows?))
}

/// Pairs of objects by name, or by number from 0 where they have none; with counts where there are columns of them.
fn read_pairs(file: &Path, ensemble: &Ensemble) -> Result<PairList, AppError> {
    let together = match edges(file, Some(COLUMNS[2])) {
        Err(FileError::NoColumn { column, .. }) if column == COLUMNS[2] => None,
        read => Some(read?),
    };
    let seen = together
        .as_ref()
        .map(|_| edges(file, Some(COLUMNS[3])))
        .transpose()?;
    let list = match &together {
        Some(list) => list.clone(),
        None => edges(file, None)?,
    };
    let places: HashMap<String, u32> = (0..ensemble.objects())
        .map(|object| (ensemble.object_name(object), object as u32))
        .collect();
    let place = |row: usize, end: usize| {
        let name = &list.names[end];
        places.get(name).copied().ok_or_else(|| {
            let reason = format!(
                "row {}: there is no object '{name}' in the ensemble",
                row + 1
            );
            AppError::content(file, reason)
        })
    };
    let mut pairs = Vec::with_capacity(list.edges.len());
    for (row, &(first, second, _)) in list.edges.iter().enumerate() {
        pairs.push((place(row, first)?, place(row, second)?));
    }
    let counts = match (&together, &seen) {
        (Some(together), Some(seen)) => {
            let both = numbers(file, together, COLUMNS[2])?
                .into_iter()
                .zip(numbers(file, seen, COLUMNS[3])?);
            Some(both.collect::<Vec<_>>())
        }
        _ => None,
    };
    PairList::new(ensemble.objects(), &pairs, counts.as_deref()).map_err(|error| {
        AppError::content(file, format!("row {}: {}", error.row + 1, error.reason))
    })
}

fn edges(file: &Path, count: Option<&str>) -> Result<EdgeList, FileError> {
    let mut read = ReadOptions::default().within(default_budget());
    read.only = COLUMNS[..2]
        .iter()
        .copied()
        .chain(count)
        .map(str::to_owned)
        .collect();
    files::read_edges(file, &read)
}

fn numbers(file: &Path, list: &EdgeList, column: &str) -> Result<Vec<u32>, AppError> {
    let number = |(row, &(_, _, count)): (usize, &(usize, usize, f64))| {
        let whole = count.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&count);
        whole.then_some(count as u32).ok_or_else(|| {
            let reason = format!(
                "row {}: {column} is {count}; counts are whole numbers from 0 up",
                row + 1
            );
            AppError::content(file, reason)
        })
    };
    list.edges.iter().enumerate().map(number).collect()
}
