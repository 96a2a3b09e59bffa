//! The co-association of an ensemble and the agreement of its base clusterings: as matrices, and as files.

use std::path::{Path, PathBuf};

use partita::coassoc::{CoAssociation, CoassocError};
use partita::files::sprs::CsMat;
use partita::files::{self, SparseTable, Table};
use partita::metrics::agreement_matrix;
use partita::ndarray::Array2;
use partita::{Ensemble, MemoryBudget};

use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::observer::Observer;
use crate::text_files::write_text;

/// Bytes of a pair while it is brought into compressed rows, where it stands twice.
const BYTES_A_PAIR: u64 = 48;

/// A file of the co-association of an ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct CoAssociationOutput {
    /// The file; its ending says the format.
    pub file: PathBuf,
    /// Pairs that a smaller share of the base clusterings puts together are left out; the whole matrix if absent.
    pub least: Option<f64>,
}

/// The share of the base clusterings that put two objects together, of those that label both, n × n; NaN where none labels both.
///
/// # Errors
/// [`AppError::Budget`] where it does not fit.
///
/// # Cost
/// O(n² M) time, 8 n² bytes and those of [`CoAssociation`].
pub fn co_association(
    ensemble: &Ensemble,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Array2<f64>, AppError> {
    let n = ensemble.objects();
    let needed = 8 * (n as u64) * (n as u64);
    budget.check(
        "the co-association",
        needed,
        "take fewer objects, or pairs alone by a least share",
    )?;
    let counts = counted(ensemble, budget, observer)?;
    let mut shares = Array2::from_elem((n, n), 1.0);
    each_pair(&counts, n, |i, j, share| {
        (shares[[i, j]], shares[[j, i]]) = (share, share);
    });
    Ok(shares)
}

/// The same with the pairs alone that at least such a share of the base clusterings puts together, in compressed rows with ones on the
/// diagonal.
///
/// # Errors
/// [`AppError::Request`] for a share that is none; as [`co_association`].
///
/// # Cost
/// O(n² M) time; the bytes of [`CoAssociation`], and 48 a pair.
pub fn strong_pairs(
    ensemble: &Ensemble,
    least: f64,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<CsMat<f64>, AppError> {
    let n = ensemble.objects();
    let counts = counted(ensemble, budget, observer)?;
    Ok(symmetric(n, &pairs_of(&counts, n, least, budget)?))
}

/// A pair of objects, the smaller first, and a share.
pub(crate) type Pair = (u32, u32, f64);

fn pairs_of(
    counts: &CoAssociation,
    n: usize,
    least: f64,
    budget: MemoryBudget,
) -> Result<Vec<Pair>, AppError> {
    if !(0.0..=1.0).contains(&least) {
        let reason =
            format!("{least} is not a least share of the base clusterings; give one from 0 to 1");
        return Err(AppError::request(reason));
    }
    let mut found = 0u64;
    each_pair(counts, n, |_, _, share| found += u64::from(share >= least));
    budget.check(
        "the pairs of the co-association",
        BYTES_A_PAIR * found,
        "ask for a larger least share",
    )?;
    let mut pairs = Vec::with_capacity(found as usize);
    each_pair(counts, n, |i, j, share| {
        if share >= least {
            pairs.push((i as u32, j as u32, share));
        }
    });
    Ok(pairs)
}

fn counted(
    ensemble: &Ensemble,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<CoAssociation, AppError> {
    let counted = CoAssociation::count(ensemble, budget, &*observer.begin("co-association"));
    counted.map_err(|error| match error {
        CoassocError::Budget(budget) => AppError::Budget(budget),
        CoassocError::Interrupted => AppError::nothing_finished(),
        other => AppError::request(other.to_string()),
    })
}

/// Pairs i < j in ascending order, with their shares.
fn each_pair(counts: &CoAssociation, objects: usize, mut take: impl FnMut(usize, usize, f64)) {
    for i in 0..objects {
        for j in i + 1..objects {
            let (together, seen) = counts.pair(i, j);
            take(
                i,
                j,
                if seen == 0 {
                    f64::NAN
                } else {
                    f64::from(together) / f64::from(seen)
                },
            );
        }
    }
}

/// A symmetric matrix in compressed rows of pairs in ascending order, with ones on the diagonal.
pub(crate) fn symmetric(objects: usize, pairs: &[Pair]) -> CsMat<f64> {
    let mut starts = vec![0; objects + 1];
    for &(i, j, _) in pairs {
        starts[i as usize + 1] += 1;
        starts[j as usize + 1] += 1;
    }
    for row in 0..objects {
        starts[row + 1] += starts[row] + 1;
    }
    let (mut columns, mut shares) = (vec![0; starts[objects]], vec![1.0; starts[objects]]);
    let mut next = starts.clone();
    let mut put = |row: usize, column: usize, share: f64| {
        (columns[next[row]], shares[next[row]]) = (column, share);
        next[row] += 1;
    };
    let mut pairs = pairs.iter().peekable();
    for row in 0..objects {
        // All smaller ones stand in their row already.
        put(row, row, 1.0);
        while let Some(&(i, j, share)) = pairs.next_if(|pair| pair.0 as usize == row) {
            put(i as usize, j as usize, share);
            put(j as usize, i as usize, share);
        }
    }
    CsMat::new((objects, objects), starts, columns, shares)
}

impl CoAssociationOutput {
    /// Writes the co-association: all of it as a table (`.npy`, `.npz`, `.csv`, `.tsv`, `.parquet`), or the pairs of at least some share as
    /// a sparse matrix of SciPy (`.npz`) or as lines (`.csv`: `first,second,share,together,seen`).
    ///
    /// # Errors
    /// As [`co_association`]; [`AppError::File`] for what cannot be written, [`AppError::Request`] for pairs in another format.
    pub fn write(
        &self,
        ensemble: &Ensemble,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<(), AppError> {
        let names: Vec<String> = (0..ensemble.objects())
            .map(|object| ensemble.object_name(object))
            .collect();
        let object_names = ensemble.object_names().map(<[String]>::to_vec);
        let Some(least) = self.least else {
            let values = co_association(ensemble, budget, observer)?;
            return Ok(files::write_table(
                &self.file,
                &Table {
                    columns: names,
                    values,
                    object_names,
                    label: None,
                    gaps: Vec::new(),
                },
            )?);
        };
        match self.file.extension().and_then(|ending| ending.to_str()) {
            Some("npz") => {
                let values = strong_pairs(ensemble, least, budget, observer)?;
                let table = SparseTable {
                    columns: names,
                    values,
                    object_names,
                    label: None,
                    remarks: Vec::new(),
                };
                Ok(files::write_sparse_table(&self.file, &table)?)
            }
            Some("csv") => {
                let counts = counted(ensemble, budget, observer)?;
                let pairs = pairs_of(&counts, ensemble.objects(), least, budget)?;
                let lines = pairs.into_iter().map(|(i, j, share)| {
                    let (i, j) = (i as usize, j as usize);
                    let (c, n) = counts.pair(i, j);
                    let [share, c, n] = [share.to_string(), c.to_string(), n.to_string()];
                    [names[i].clone(), names[j].clone(), share, c, n]
                });
                write_text(
                    &self.file,
                    &csv_text("first,second,share,together,seen", lines),
                )
            }
            _ => {
                let reason =
                    "pairs of at least some share go to .npz (a sparse matrix of SciPy) or .csv";
                Err(AppError::request(format!(
                    "{}: {reason}",
                    self.file.display()
                )))
            }
        }
    }
}

/// Writes the NMI of every pair of base clusterings as a table with their names.
///
/// # Errors
/// [`AppError::File`] for what cannot be written.
///
/// # Cost
/// O(M² n) time.
pub fn write_agreement(path: &Path, ensemble: &Ensemble) -> Result<(), AppError> {
    let names: Vec<String> = ensemble
        .bases()
        .iter()
        .map(|base| base.name().to_owned())
        .collect();
    let values = agreement_matrix(ensemble);
    let table = Table {
        columns: names.clone(),
        values,
        object_names: Some(names),
        label: None,
        gaps: Vec::new(),
    };
    Ok(files::write_table(path, &table)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stand_on_both_sides_of_the_diagonal() {
        let found = symmetric(4, &[(0, 2, 0.5), (0, 3, 0.25), (2, 3, 0.75)]);
        let rows = [
            [1.0, 0.0, 0.5, 0.25],
            [0.0, 1.0, 0.0, 0.0],
            [0.5, 0.0, 1.0, 0.75],
            [0.25, 0.0, 0.75, 1.0],
        ];
        assert_eq!(found.to_dense(), Array2::from(rows.to_vec()));
    }
}
