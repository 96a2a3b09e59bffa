//! Label columns of any NumPy type, read in place, to the label rows of an ensemble.

use numpy::{PyReadonlyArray1, ndarray::ArrayView1};
use partita::Ensemble;
use partita::extend::{BaseClustering, EnsembleError, Label};
use partita::ndarray::{Array2, ArrayViewMut2, Axis};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows that one thread writes at a time.
const ROWS: usize = 4096;

/// Labels below this are looked up in a table.
const SMALL: u64 = 1 << 16;

/// The most clusters that one byte holds.
const MOST_BYTE_CLUSTERS: usize = 255;

/// What a number says where labels are meant.
enum Said {
    Missing,
    Label(u64),
    NotALabel,
}

/// A number that may be a label.
trait Number: Copy + Send + Sync + std::fmt::Display {
    fn said(self) -> Said;
}

macro_rules! whole {
    ($($type:ty),*) => {
        $(impl Number for $type {
            #[expect(clippy::allow_attributes, reason = "some of these types are u64")]
            #[allow(irrefutable_let_patterns, unused_comparisons, clippy::useless_conversion, reason = "the same words for all types")]
            fn said(self) -> Said {
                match u64::try_from(self) {
                    Ok(label) => Said::Label(label),
                    Err(_) if i128::from(self) == -1 => Said::Missing,
                    Err(_) => Said::NotALabel,
                }
            }
        })*
    };
}
whole!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! real {
    ($($type:ty),*) => {
        $(impl Number for $type {
            fn said(self) -> Said {
                match f64::from(self) {
                    value if value.is_nan() || value == -1.0 => Said::Missing,
                    value if value >= 0.0 && value.fract() == 0.0 && value < 1e18 => Said::Label(value as u64),
                    _ => Said::NotALabel,
                }
            }
        })*
    };
}
real!(f32, f64);

macro_rules! columns {
    ($($name:ident: $type:ty),*) => {
        /// A column of labels as Python holds it.
        #[derive(FromPyObject)]
        pub(crate) enum Column<'py> {
            $($name(PyReadonlyArray1<'py, $type>),)*
        }

        /// The same, to be read on any thread.
        enum View<'a> {
            $($name(ArrayView1<'a, $type>),)*
        }

        impl Column<'_> {
            fn view(&self) -> View<'_> {
                match self {
                    $(Self::$name(array) => View::$name(array.as_array()),)*
                }
            }

            pub(crate) fn len(&self) -> usize {
                match self {
                    $(Self::$name(array) => array.as_array().len(),)*
                }
            }
        }

        impl View<'_> {
            fn coder(&self) -> Result<Coder, (usize, String)> {
                match self {
                    $(Self::$name(view) => Coder::of(view),)*
                }
            }

            fn write<L: Label>(&self, coder: &Coder, first: usize, rows: &mut ArrayViewMut2<'_, L>, column: usize) {
                match self {
                    $(Self::$name(view) => coder.write(view, first, rows, column),)*
                }
            }
        }
    };
}
columns!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, F32: f32, F64: f64);

/// The clusters of a column: its labels in order, and the way from one to its cluster.
struct Coder {
    labels: Vec<u64>,
    /// The cluster of every small label, where all are small.
    table: Vec<u16>,
}

impl Coder {
    /// The labels of a column, or the row and the spelling of the first number that is not a label.
    fn of<T: Number>(column: &ArrayView1<'_, T>) -> Result<Self, (usize, String)> {
        let (mut seen, mut large) = (Vec::new(), Vec::new());
        for (row, &number) in column.iter().enumerate() {
            match number.said() {
                Said::Missing => {}
                Said::Label(label) if label < SMALL => {
                    let label = label as usize;
                    if label >= seen.len() {
                        seen.resize(label + 1, false);
                    }
                    seen[label] = true;
                }
                Said::Label(label) => large.push(label),
                Said::NotALabel => return Err((row, number.to_string())),
            }
        }
        large.sort_unstable();
        large.dedup();
        let mut labels: Vec<u64> = (0..seen.len())
            .filter(|&label| seen[label])
            .map(|label| label as u64)
            .collect();
        labels.extend(&large);
        let mut table = Vec::new();
        if large.is_empty() {
            table.resize(seen.len(), 0);
            labels
                .iter()
                .enumerate()
                .for_each(|(cluster, &label)| table[label as usize] = cluster as u16);
        }
        Ok(Self { labels, table })
    }

    fn cluster(&self, label: u64) -> usize {
        match self.table.get(label as usize) {
            Some(&cluster) => usize::from(cluster),
            None => self.labels.partition_point(|&other| other < label),
        }
    }

    /// Writes the clusters of the rows from `first` on into a column.
    fn write<T: Number, L: Label>(
        &self,
        view: &ArrayView1<'_, T>,
        first: usize,
        rows: &mut ArrayViewMut2<'_, L>,
        column: usize,
    ) {
        for (row, mut labels) in rows.outer_iter_mut().enumerate() {
            labels[column] = match view[first + row].said() {
                Said::Label(label) => L::of(self.cluster(label)),
                _ => L::MISSING,
            };
        }
    }
}

/// Why columns make no ensemble.
pub(crate) enum Refusal {
    /// A number that is not a label.
    NotALabel {
        base: String,
        row: usize,
        value: String,
    },
    /// Columns that do not fit together.
    Ensemble(EnsembleError),
}

/// Columns that can be read on any thread.
pub(crate) struct Columns<'a> {
    views: Vec<View<'a>>,
    objects: usize,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(columns: &'a [Column<'_>]) -> Self {
        Self {
            views: columns.iter().map(Column::view).collect(),
            objects: columns.first().map_or(0, Column::len),
        }
    }

    /// The ensemble of columns of one length. `values` are the names of the clusters 0, 1, … of columns of words, which their numbers
    /// stand for.
    ///
    /// # Cost
    /// O(n M) time; the label rows, and 64 KiB a column.
    pub(crate) fn ensemble(
        &self,
        names: Vec<String>,
        values: Vec<Option<Vec<String>>>,
    ) -> Result<Ensemble, Refusal> {
        let coders = self.views.par_iter().zip(&names).map(|(view, name)| {
            view.coder().map_err(|(row, value)| Refusal::NotALabel {
                base: name.clone(),
                row,
                value,
            })
        });
        let coders: Vec<Coder> = coders.collect::<Result<_, _>>()?;
        let bases: Vec<BaseClustering> = coders
            .iter()
            .zip(names)
            .zip(values)
            .map(|((coder, name), values)| base(coder, name, values))
            .collect();
        check(&bases, self.objects)?;
        let made = if bases
            .iter()
            .all(|base| base.clusters() <= MOST_BYTE_CLUSTERS)
        {
            Ensemble::from_bytes(self.rows(&coders), bases)
        } else {
            Ensemble::from_words(self.rows(&coders), bases)
        };
        made.map_err(Refusal::Ensemble)
    }

    fn rows<L: Label>(&self, coders: &[Coder]) -> Array2<L> {
        let mut rows = Array2::from_elem((self.objects, self.views.len()), L::MISSING);
        let blocks: Vec<_> = rows
            .axis_chunks_iter_mut(Axis(0), ROWS)
            .enumerate()
            .collect();
        blocks.into_par_iter().for_each(|(block, mut rows)| {
            for (column, (view, coder)) in self.views.iter().zip(coders).enumerate() {
                view.write(coder, block * ROWS, &mut rows, column);
            }
        });
        rows
    }
}

/// What a column is called, and its clusters.
fn base(coder: &Coder, name: String, values: Option<Vec<String>>) -> BaseClustering {
    let called = |&label: &u64| match &values {
        Some(values) => values
            .get(label as usize)
            .cloned()
            .unwrap_or_else(|| label.to_string()),
        None => label.to_string(),
    };
    BaseClustering::new(name, coder.labels.iter().map(called).collect())
}

/// Refuses what a file of the same columns would be refused for.
fn check(bases: &[BaseClustering], objects: usize) -> Result<(), Refusal> {
    let empty = EnsembleError::Empty {
        objects,
        bases: bases.len(),
    };
    if objects == 0 || bases.is_empty() {
        return Err(Refusal::Ensemble(empty));
    }
    match bases
        .iter()
        .find(|base| base.clusters() == 0 || base.clusters() > 65_534)
    {
        Some(base) if base.clusters() == 0 => Err(Refusal::Ensemble(EnsembleError::AllMissing {
            name: base.name().to_owned(),
        })),
        Some(base) => {
            let (name, clusters) = (base.name().to_owned(), base.clusters());
            Err(Refusal::Ensemble(EnsembleError::TooManyClusters {
                name,
                clusters,
            }))
        }
        None => Ok(()),
    }
}
