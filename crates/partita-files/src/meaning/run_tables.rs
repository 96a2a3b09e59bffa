//! Runs of clustering programs: hard labels, or a share of every object in every cluster.
//!
//! | file | runs |
//! |---|---|
//! | `.Q`, `.meanQ`, `.q` (ADMIXTURE, fastStructure): numbers between blanks, a row an object | one soft run |
//! | `.indivq`, `_f` (CLUMPP, STRUCTURE): lines with the shares behind a colon, the population before it | one soft run |
//! | a table with shares whose rows sum to 1 | one soft run; columns `a.p0,a.p1,…,b.p0,…` are a run each: `a`, `b` |
//! | labels, a column a run | a hard run a column |

use std::io::Read;
use std::path::Path;

use partita_core::ndarray::Array2;

use super::ensemble::load_ensemble;
use super::read_options::ReadOptions;
use super::table::read_table;
use crate::error::{Cell, FileError, READ, Row};
use crate::format::reader::Limit;
use crate::open_file::{Compression, lower_name, open};

/// Sums of shares that are off by no more than this are rounding.
const ROUNDED: f64 = 1e-3;

/// Memberships of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunMemberships {
    /// n × K shares.
    Soft(Array2<f64>),
    /// A label of every object, none where it is missing, and the number of clusters.
    Hard(Vec<Option<usize>>, usize),
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTable {
    /// The name of its columns, or of its file.
    pub name: String,
    /// Its memberships.
    pub memberships: RunMemberships,
}

/// The runs of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunTables {
    /// The runs in their order.
    pub runs: Vec<RunTable>,
    /// Names of the objects, where the file has some.
    pub object_names: Option<Vec<String>>,
    /// The population of every object, where the file says so.
    pub populations: Option<Vec<String>>,
}

/// Reads the runs of a file.
///
/// # Errors
/// [`FileError`]: what cannot be read, numbers that are neither labels nor shares.
pub fn read_runs(path: &Path, options: &ReadOptions) -> Result<RunTables, FileError> {
    let name = lower_name(path);
    let plain = Compression::plain_name(&name);
    if [".q", ".meanq", ".indivq"].iter().any(|ending| plain.ends_with(ending)) || plain.ends_with("_f") {
        return read_ancestry(path, options);
    }
    let loose = ReadOptions { clusterable: false, ..options.clone() };
    if let Ok(table) = read_table(path, &loose) {
        let shares = table.values.iter().all(|share| (0.0..=1.0 + ROUNDED).contains(share));
        if shares && table.values.iter().any(|share| share.fract() != 0.0) {
            let runs = soft_runs(path, &table.columns, &table.values)?;
            return Ok(RunTables { runs, object_names: table.object_names, populations: None });
        }
    }
    let (loaded, _) = load_ensemble(path, options)?;
    let run = |base: usize| {
        let clustering = &loaded.ensemble.bases()[base];
        let labels = loaded.ensemble.column(base).collect();
        let memberships = RunMemberships::Hard(labels, clustering.clusters());
        RunTable { name: clustering.name().to_owned(), memberships }
    };
    let runs = (0..loaded.ensemble.bases().len()).map(run).collect();
    Ok(RunTables { runs, object_names: loaded.ensemble.object_names().map(<[String]>::to_vec), populations: None })
}

/// The runs whose columns are called `name.p0`, `name.p1`, …; the columns of others are one run.
fn soft_runs(path: &Path, columns: &[String], values: &Array2<f64>) -> Result<Vec<RunTable>, FileError> {
    let prefix = |column: &str| {
        let (name, share) = column.rsplit_once(".p")?;
        (!share.is_empty() && share.bytes().all(|byte| byte.is_ascii_digit())).then(|| name.to_owned())
    };
    let of_column = |column: &String| prefix(column).unwrap_or_else(|| stem(path));
    let mut runs: Vec<(String, Vec<usize>)> = Vec::new();
    for (at, name) in columns.iter().map(of_column).enumerate() {
        match runs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(at),
            None => runs.push((name, vec![at])),
        }
    }
    let run = |(name, members): (String, Vec<usize>)| {
        let shares = values.select(partita_core::ndarray::Axis(1), &members);
        for (row, sum) in shares.rows().into_iter().map(|row| row.sum()).enumerate() {
            if sum != 0.0 && (sum - 1.0).abs() > ROUNDED {
                let reason = format!(
                    "row {}: the shares of '{name}' sum to {sum:.4}, not to 1; divide rows by their sums, or give labels",
                    row + 1
                );
                return Err(FileError::damaged(path, reason));
            }
        }
        Ok(RunTable { name, memberships: RunMemberships::Soft(shares) })
    };
    runs.into_iter().map(run).collect()
}

/// The name of a file without the ending.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = Compression::plain_name(&name).to_owned();
    plain.rsplit_once('.').map_or(plain.clone(), |(stem, _)| stem.to_owned())
}

/// Shares between blanks, a line an object; where lines have a colon, only those behind it count and what stands before is
/// number, name, share of missing data and population.
fn read_ancestry(path: &Path, options: &ReadOptions) -> Result<RunTables, FileError> {
    let failed = |source| FileError::io(path, READ, source);
    let (file, length) = open(path)?;
    let limit = Limit { budget: options.budget, what: "the run", remedy: "raise the limit", bytes_per_row: 0 };
    limit.check(path, 4 * length)?;
    let mut text = String::new();
    Compression::of(path).unpack(file).map_err(failed)?.read_to_string(&mut text).map_err(failed)?;
    let with_colon = text.lines().filter_map(behind_colon).count() > 0;
    let (mut values, mut width, mut populations) = (Vec::new(), 0, Vec::new());
    for (at, line) in text.lines().enumerate() {
        let (before, shares) = match (with_colon, behind_colon(line)) {
            (true, Some(parts)) => parts,
            (true, None) => continue,
            (false, _) => ("", line),
        };
        let mut fields = 0;
        // STRUCTURE puts the bounds of an interval behind the shares.
        for field in shares.split_whitespace().take_while(|field| !field.starts_with('(')) {
            let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
            let cell = || Cell::new(path, Row::Line(at as u64 + 1), &(fields + 1).to_string(), field);
            values.push(value.ok_or_else(|| FileError::not_a_number(cell()))?);
            fields += 1;
        }
        if fields == 0 {
            continue;
        }
        if width > 0 && fields != width {
            let reason = format!("line {}: {fields} shares where the first line has {width}", at + 1);
            return Err(FileError::damaged(path, reason));
        }
        width = fields;
        populations.extend(before.split_whitespace().last().map(str::to_owned));
    }
    let objects = values.len() / width.max(1);
    let shares = Array2::from_shape_vec((objects, width), values).expect("every line has as many");
    if objects == 0 {
        return Err(FileError::damaged(path, "it has no line of shares"));
    }
    let known = |label: &String| !label.starts_with('(');
    let populations = (populations.len() == objects && populations.iter().all(known)).then_some(populations);
    let runs = vec![RunTable { name: stem(path), memberships: RunMemberships::Soft(shares) }];
    Ok(RunTables { runs, object_names: None, populations })
}

/// What stands before and behind the colon of a line of STRUCTURE or CLUMPP: an index before it, shares behind it.
fn behind_colon(line: &str) -> Option<(&str, &str)> {
    let (before, shares) = line.split_once(" : ").or_else(|| line.split_once(":  "))?;
    let index = before.split_whitespace().next()?.parse::<u64>().is_ok();
    let share = shares.split_whitespace().next()?.parse::<f64>().is_ok();
    (index && share).then_some((before, shares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    fn read(name: &str, text: &str) -> Result<RunTables, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read_runs(&path, &ReadOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn files_of_ancestry() {
        let found = read("run.3.Q", "0.5 0.25 0.25\n1e-5 0.99999 0\n\n").unwrap();
        assert_eq!(found.runs[0].name, "run.3");
        let RunMemberships::Soft(shares) = &found.runs[0].memberships else { unreachable!() };
        assert_eq!(shares, array![[0.5, 0.25, 0.25], [1e-5, 0.99999, 0.0]]);
        let text = "Inferred clusters\nK: 2\n\n  1  NA1  (0)  7 :  0.2 0.8\n  2  NA2  (4)  9 :  0.9 0.1 (0.8,1.0)\n";
        let found = read("out_K2_f", text).unwrap();
        assert_eq!(found.populations.unwrap(), ["7", "9"]);
        let RunMemberships::Soft(shares) = &found.runs[0].memberships else { unreachable!() };
        assert_eq!(shares, array![[0.2, 0.8], [0.9, 0.1]]);
        assert!(read("a.Q", "0.5 0.5\n0.5\n").unwrap_err().contains("line 2: 1 shares where the first line has 2"));
        assert!(read("a.Q", "0.5 x\n").unwrap_err().contains("'x' is not a number"));
        assert!(read("a.meanQ", "\n").unwrap_err().contains("no line of shares"));
    }

    #[test]
    fn tables_of_shares_and_of_labels() {
        let found = read("t.csv", "object,a.p0,a.p1,b.p0,b.p1,b.p2\nx,0.5,0.5,1,0,0\ny,0.1,0.9,0,0.5,0.5\n").unwrap();
        let names: Vec<&str> = found.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!((names, found.object_names.unwrap()), (vec!["a", "b"], vec!["x".to_owned(), "y".to_owned()]));
        assert_eq!(read("soft.csv", "p0,p1\n0.5,0.5\n0.1,0.9\n").unwrap().runs[0].name, "soft");
        let found = read("l.csv", "a,b\n1,x\n1,y\n2,\n").unwrap();
        assert_eq!(found.runs[1].memberships, RunMemberships::Hard(vec![Some(0), Some(1), None], 2));
        let message = read("t.csv", "p0,p1\n0.5,0.5\n0.5,0.9\n").unwrap_err();
        assert!(message.contains("row 2: the shares of 't' sum to 1.4000, not to 1"), "{message}");
    }
}
