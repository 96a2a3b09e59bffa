//! Runs of clustering programs: hard labels, or a share of every object in every cluster.
//!
//! | file | runs |
//! |---|---|
//! | `.Q`, `.meanQ`, `.q` (ADMIXTURE, fastStructure): numbers between blanks, a row an object | one soft run |
//! | `.indivq`, `_f` (CLUMPP, STRUCTURE): lines with the shares behind a colon, the population before it | one soft run |
//! | a table with shares whose rows sum to 1 | one soft run; columns `a.p0,a.p1,…,b.p0,…` are a run each: `a`, `b` |
//! | labels, a column a run | a hard run a column |

use std::path::Path;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{ROUNDED_SHARES, Shares};
use rayon::prelude::*;

use super::ensemble::load_ensemble;
use super::read_options::ReadOptions;
use super::soft_columns::{SoftGroup, groups, shares};
use super::table::read_table;
use crate::error::{FileError, Result};
use crate::format::ancestry;

/// Memberships of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunMemberships {
    /// n × K shares.
    Soft(Shares),
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
    if ancestry::fits(path) {
        let name = ancestry::stem(path);
        let (values, populations) = ancestry::read(path, options.budget)?;
        let runs = vec![RunTable {
            memberships: RunMemberships::Soft(shares(path, &name, &[], values)?),
            name,
        }];
        return Ok(RunTables {
            runs,
            object_names: None,
            populations,
        });
    }
    let loose = ReadOptions {
        clusterable: false,
        ..options.clone()
    };
    if let Ok(table) = read_table(path, &loose) {
        let shares = table
            .values
            .iter()
            .all(|share| (0.0..=1.0 + ROUNDED_SHARES).contains(share));
        if shares && table.values.iter().any(|share| share.fract() != 0.0) {
            let runs = soft_runs(path, &table.columns, &table.values)?;
            return Ok(RunTables {
                runs,
                object_names: table.object_names,
                populations: None,
            });
        }
    }
    let (loaded, _) = load_ensemble(path, options)?;
    let run = |base: usize| {
        let clustering = &loaded.ensemble.bases()[base];
        let memberships = match loaded.ensemble.memberships() {
            Some(_) => RunMemberships::Soft(loaded.ensemble.base_shares(base)),
            None => RunMemberships::Hard(
                loaded.ensemble.column(base).collect(),
                clustering.clusters(),
            ),
        };
        RunTable {
            name: clustering.name().to_owned(),
            memberships,
        }
    };
    let runs = (0..loaded.ensemble.bases().len())
        .into_par_iter()
        .map(run)
        .collect();
    Ok(RunTables {
        runs,
        object_names: loaded.ensemble.object_names().map(<[String]>::to_vec),
        populations: None,
    })
}

/// The runs whose columns are called `name.p0`, `name.p1`, …; the columns of others are one run.
fn soft_runs(path: &Path, columns: &[String], values: &Array2<f64>) -> Result<Vec<RunTable>> {
    let all: Vec<usize> = (0..columns.len()).collect();
    let run = |group: SoftGroup| {
        let names: Vec<&str> = group
            .columns
            .iter()
            .map(|&at| columns[at].as_str())
            .collect();
        let shares = shares(
            path,
            &group.name,
            &names,
            values.select(Axis(1), &group.columns),
        )?;
        Ok(RunTable {
            name: group.name,
            memberships: RunMemberships::Soft(shares),
        })
    };
    groups(columns, &all, Some(&ancestry::stem(path)))
        .into_iter()
        .map(run)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_says, cases, file};
    use partita_core::ndarray::array;

    fn read(name: &str, text: &str) -> Result<RunTables, String> {
        let (_folder, path) = file(name, text);
        read_runs(&path, &ReadOptions::default()).map_err(|error| error.to_string())
    }

    fn shares(found: &RunTables) -> Array2<f64> {
        match &found.runs[0].memberships {
            RunMemberships::Soft(shares) => shares.rows().to_owned(),
            RunMemberships::Hard(..) => Array2::zeros((0, 0)),
        }
    }

    #[test]
    fn files_of_ancestry() {
        let found = read("run.3.Q", "0.5 0.25 0.25\n1e-5 0.99999 0\n\n").unwrap();
        assert_eq!(found.runs[0].name, "run.3");
        assert_eq!(
            shares(&found),
            array![[0.5, 0.25, 0.25], [1e-5, 0.99999, 0.0]]
        );
        let text = "Inferred clusters\nK: 2\n\n  1  NA1  (0)  7 :  0.2 0.8\n  2  NA2  (4)  9 :  0.9 0.1 (0.8,1.0)\n";
        let found = read("out_K2_f", text).unwrap();
        assert_eq!(shares(&found), array![[0.2, 0.8], [0.9, 0.1]]);
        assert_eq!(found.populations.unwrap(), ["7", "9"]);
    }

    #[test]
    fn tables_of_shares_and_of_labels() {
        let text = "object,a.p0,a.p1,b.p0,b.p1,b.p2\nx,0.5,0.5,1,0,0\ny,0.1,0.9,0,0.5,0.5\n";
        let found = read("t.csv", text).unwrap();
        let names: Vec<&str> = found.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(found.object_names.unwrap(), ["x", "y"]);
        let found = read("soft.csv", "p0,p1\n0.5,0.5\n0.1,0.9\n").unwrap();
        assert_eq!(found.runs[0].name, "soft");
        let found = read("l.csv", "a,b\n1,x\n1,y\n2,\n").unwrap();
        let hard = RunMemberships::Hard(vec![Some(0), Some(1), None], 2);
        assert_eq!(found.runs[1].memberships, hard);
    }

    #[test]
    fn what_is_not_a_run_is_refused() {
        for [name, text, expected] in cases(
            r"
            a.Q | 0.5 0.5\n0.5 | line 2: 1 shares where the first line has 2
            a.Q | 0.5 x | 'x' is not a number
            a.meanQ | \n | no line of shares
            t.csv | p0,p1\n0.5,0.5\n0.5,0.9 | row 2: the shares of 't' sum to 1.4000, not to 1",
        ) {
            assert_says(read(&name, &text).unwrap_err(), &[&expected]);
        }
    }
}
