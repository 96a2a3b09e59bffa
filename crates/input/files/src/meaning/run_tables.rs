//! Runs of clustering programs: hard labels, or a share of every object in every cluster.
//!
//! | file | runs |
//! |---|---|
//! | `.Q`, `.meanQ`, `.q` (ADMIXTURE, fastStructure): numbers between blanks or commas, a row an object, behind its name or not | one soft run |
//! | `.indivq`, `.outfile`, `_f` (CLUMPP, STRUCTURE): lines with the shares behind a colon, the population before it | one soft run |
//! | `.indfile` (CLUMPP): the same, run after run | a soft run each |
//! | `.zip` (CLUMPAK): any of these | those of its members |
//! | a table with shares whose rows sum to 1 | one soft run; columns `a.p0,a.p1,…,b.p0,…` are a run each: `a`, `b` |
//! | labels, a column a run | a hard run a column |

use std::path::Path;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{Ensemble, MemoryBudget, ROUNDED_SHARES, Shares};
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
    /// The logarithm of the probability of the data, where the file says so.
    pub log_likelihood: Option<f64>,
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
        return of_ancestry(path, options.budget);
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
    Ok(RunTables::of_ensemble(&loaded.ensemble))
}

impl RunTables {
    /// The base clusterings as runs.
    pub fn of_ensemble(ensemble: &Ensemble) -> Self {
        let run = |base: usize| {
            let clustering = &ensemble.bases()[base];
            let memberships = match ensemble.memberships() {
                Some(_) => RunMemberships::Soft(ensemble.base_shares(base)),
                None => {
                    RunMemberships::Hard(ensemble.column(base).collect(), clustering.clusters())
                }
            };
            RunTable {
                name: clustering.name().to_owned(),
                memberships,
                log_likelihood: None,
            }
        };
        let bases = 0..ensemble.bases().len();
        Self {
            runs: bases.into_par_iter().map(run).collect(),
            object_names: ensemble.object_names().map(<[String]>::to_vec),
            populations: None,
        }
    }
}

/// The runs of a file of ancestry, whose objects are the same.
fn of_ancestry(path: &Path, budget: MemoryBudget) -> Result<RunTables> {
    let mut found = RunTables {
        runs: Vec::new(),
        object_names: None,
        populations: None,
    };
    for run in ancestry::read(path, budget)? {
        let known = found.object_names.as_ref().zip(run.names.as_ref());
        if let Some((known, own)) = known.filter(|(known, own)| known != own) {
            let other = known.iter().zip(own).find(|(known, own)| known != own);
            let (known, own) = other.map_or(("", ""), |(known, own)| (known, own));
            let reason = format!(
                "run '{}' has object '{own}' where an earlier one has '{known}'; give runs of one order",
                run.name
            );
            return Err(FileError::damaged(path, reason));
        }
        found.object_names = found.object_names.or(run.names);
        found.populations = found.populations.or(run.populations);
        found.runs.push(RunTable {
            memberships: RunMemberships::Soft(shares(path, &run.name, &[], run.values)?),
            name: run.name,
            log_likelihood: run.log_likelihood,
        });
    }
    Ok(found)
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
            log_likelihood: None,
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
    fn names_headers_commas_and_several_runs() {
        // A file, its text, the runs in it, the first row of the last, names and populations.
        for [name, text, runs, row, names, populations] in cases(
            r#"
            a.Q | "V1" "V2"\n"s1" 0.25 0.75\n"s2" 1 0\n | 1 | [0.25, 0.75] | s1 s2 |
            a.Q | id,p1,p2\ns1,0.25,0.75\ns2,1,0\n | 1 | [0.25, 0.75] | s1 s2 |
            a.Q | pop s1 0.25 0.75\npop s2 1 0\n | 1 | [0.25, 0.75] | s1 s2 | pop pop
            a.Q | # made by hand\n0.25;0.75\n1;0\n | 1 | [0.25, 0.75] | |
            a.meanQ | 1 0.25 0.75\n2 1 0\n3 0 1\n | 1 | [0.25, 0.75] | |
            indfile | 1 1 (0) 4 : 0.5 0.5\n2 2 (0) 5 : 1 0\n\n1 1 (0) 4 : 0.25 0.75\n2 2 (0) 5 : 0 1\n | 2 | [0.25, 0.75] | | 4 5
            K2.outfile | 1  (0) : 0.25 0.75\n2 (0) : 1 0\n | 1 | [0.25, 0.75] | |
            x_f | 1 NA1 (0) 7 : 0.25 0.75\n2 NA2 (0) 7 : 1 0\n | 1 | [0.25, 0.75] | NA1 NA2 | 7 7"#,
        ) {
            let found = read(&name, &text).unwrap();
            assert_eq!(found.runs.len().to_string(), runs, "{text}");
            let RunMemberships::Soft(last) = &found.runs[found.runs.len() - 1].memberships else {
                panic!("{text}")
            };
            assert_eq!(format!("{:?}", last.rows().row(0).to_vec()), row, "{text}");
            let said = |words: Option<Vec<String>>| words.unwrap_or_default().join(" ");
            assert_eq!(said(found.object_names), names, "{text}");
            assert_eq!(said(found.populations), populations, "{text}");
        }
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
