//! A table of numbers for pairs of base clusters (their overlaps) in NPZ: an array `table`, and `cluster_table.json` beside it.

use std::path::Path;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, MemoryBudget};
use serde::{Deserialize, Serialize};

use super::description::{OpenOptions, Writes};
use super::reader::{Column, Form, Limit, first_of};
use super::writer::{Array, Contents};
use crate::error::FileError;

const META: &str = "cluster_table.json";
const FORMAT: &str = "partita cluster table 1";
const TABLE: &str = "table";

/// A symmetric table of the clusters of all base clusterings, ΣJ × ΣJ.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterTable {
    /// Objects that it was counted over.
    pub objects: u64,
    /// The base clusterings, whose clusters are numbered through.
    pub bases: Vec<BaseClustering>,
    /// One line and one column a cluster.
    pub table: Array2<f64>,
}

#[derive(Serialize, Deserialize)]
struct Meta {
    format: String,
    objects: u64,
    bases: Vec<(String, Vec<String>)>,
}

impl ClusterTable {
    /// Writes the table as NPZ.
    ///
    /// # Errors
    /// [`FileError::Extension`] for a name that does not end in .npz, [`FileError`] for what the system refuses.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let format = super::of_target(path, |writes| writes == Writes::Arrays)?;
        let bases = self
            .bases
            .iter()
            .map(|base| (base.name().to_owned(), base.values().to_vec()))
            .collect();
        let meta = Meta {
            format: FORMAT.into(),
            objects: self.objects,
            bases,
        };
        let meta = serde_json::to_vec(&meta).expect("texts are JSON");
        let (rows, columns) = self.table.dim();
        let table = Array::floats([rows, columns], self.table.iter().copied());
        (format.write)(
            path,
            Contents::Arrays(vec![(TABLE, table), (META, Array::bytes(meta))]),
        )
    }

    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// [`FileError::Content`] for a file that is not such a table.
    pub fn read(path: &Path, budget: MemoryBudget) -> Result<Self, FileError> {
        let unfit =
            |reason: &str| FileError::damaged(path, format!("{reason}; count the table again"));
        let reader = super::open_reader(super::FORMATS, path, &OpenOptions::default())?;
        let meta = reader
            .note(META)?
            .ok_or_else(|| unfit("this is not a table of base clusters"))?;
        let meta: Meta = serde_json::from_slice(&meta)
            .map_err(|error| unfit(&format!("{META} is damaged ({error})")))?;
        if meta.format != FORMAT {
            return Err(unfit(&format!(
                "the format is '{}', not '{FORMAT}'",
                meta.format
            )));
        }
        let bases: Vec<_> = meta
            .bases
            .into_iter()
            .map(|(name, values)| BaseClustering::new(name, values))
            .collect();
        let side: usize = bases.iter().map(BaseClustering::clusters).sum();
        let item = first_of(&*reader, &[TABLE]).ok_or_else(|| unfit("it has no array 'table'"))?;
        let limit = Limit::new(budget, "the table", "raise the limit");
        limit.check(
            path,
            (side as u64).saturating_mul(side as u64).saturating_mul(16),
        )?;
        let array = match reader.read_whole(item, Form::NUMBERS, &limit)? {
            Column::Array(array) if array.rows == side && array.columns == side => array,
            _ => {
                return Err(unfit(
                    "its table has another size than its base clusterings",
                ));
            }
        };
        let number = |at: (usize, usize)| {
            array
                .scalar(at.0, at.1)
                .map(crate::typed_array::Scalar::float)
        };
        let table = Array2::from_shape_fn((side, side), |at| number(at).unwrap_or(f64::NAN));
        Ok(Self {
            objects: meta.objects,
            bases,
            table,
        })
    }

    /// The table for these base clusterings, in their order of clusters; none where they are others.
    pub fn for_bases(&self, bases: &[BaseClustering]) -> Option<Array2<f64>> {
        if bases.len() != self.bases.len() {
            return None;
        }
        let mut places = Vec::with_capacity(self.table.nrows());
        let mut start = 0;
        for (own, base) in self.bases.iter().zip(bases) {
            if own.name() != base.name() || own.clusters() != base.clusters() {
                return None;
            }
            let place: std::collections::BTreeMap<&String, usize> =
                own.values().iter().zip(start..).collect();
            for value in base.values() {
                places.push(*place.get(value)?);
            }
            start += own.clusters();
        }
        let view: ArrayView2<'_, f64> = self.table.view();
        Some(Array2::from_shape_fn((start, start), |(a, b)| {
            view[[places[a], places[b]]]
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_reads_back_and_follows_the_order_of_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overlap.npz");
        let base = |name: &str, values: &[&str]| {
            BaseClustering::new(name, values.iter().map(ToString::to_string).collect())
        };
        let table = Array2::from_shape_fn((3, 3), |(a, b)| (a * b) as f64 + 0.5);
        let written = ClusterTable {
            objects: 7,
            bases: vec![base("a", &["y", "x"]), base("b", &["1"])],
            table,
        };
        written.write(&path).unwrap();
        let read = ClusterTable::read(&path, MemoryBudget::default()).unwrap();
        assert_eq!(read, written);
        let sorted = read
            .for_bases(&[base("a", &["x", "y"]), base("b", &["1"])])
            .unwrap();
        assert_eq!(
            (sorted[[0, 0]], sorted[[0, 2]], sorted[[1, 1]]),
            (1.5, 2.5, 0.5)
        );
        assert!(
            read.for_bases(&[base("a", &["x", "z"]), base("b", &["1"])])
                .is_none()
        );
        std::fs::write(&path, "no").unwrap();
        assert!(ClusterTable::read(&path, MemoryBudget::default()).is_err());
    }
}
