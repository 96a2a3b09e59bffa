//! Putting an ensemble together.

use std::fmt::Display;

use ndarray::Array2;

use crate::ensemble::{MAX_BYTE_CLUSTERS, Rows, check_base};
use crate::memberships::{Memberships, largest};
use crate::{BaseClustering, Ensemble, EnsembleError, Label, Shares};

/// Builds an [`Ensemble`] one base clustering at a time.
#[derive(Clone, Debug)]
pub struct EnsembleBuilder {
    objects: usize,
    bases: Vec<BaseClustering>,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
enum Column {
    Hard(Vec<u16>),
    /// For every object where its shares start, and the clusters and shares.
    Soft(Vec<usize>, Vec<(u16, f64)>),
}

impl Column {
    fn objects(&self) -> usize {
        match self {
            Self::Hard(labels) => labels.len(),
            Self::Soft(starts, _) => starts.len() - 1,
        }
    }
}

/// What was left out of a soft base clustering, because at most so many shares of an object are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SharesLeftOut {
    /// Objects with more shares than are kept.
    pub objects: usize,
    /// The largest share of an object that was left out.
    pub most: f64,
    /// The sum of what was left out, over all objects.
    pub sum: f64,
}

impl EnsembleBuilder {
    /// A builder for so many objects.
    pub fn new(objects: usize) -> Self {
        Self {
            objects,
            bases: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Adds a base clustering by its labels, whatever they are; `None` is a missing label. Clusters are
    /// numbered in the order of their labels.
    ///
    /// # Errors
    /// [`EnsembleError`] if the number of labels differs from that of objects, if all are missing, or if there
    /// are more than [`MAX_BASE_CLUSTERS`](crate::MAX_BASE_CLUSTERS) clusters.
    pub fn push<T: Ord + Clone + Display>(
        &mut self,
        name: impl Into<String>,
        labels: impl IntoIterator<Item = Option<T>>,
    ) -> Result<(), EnsembleError> {
        let labels: Vec<Option<T>> = labels.into_iter().collect();
        let mut values: Vec<&T> = labels.iter().flatten().collect();
        values.sort_unstable();
        values.dedup();
        let base = BaseClustering::new(name, values.iter().map(ToString::to_string).collect());
        check_base(&base, !values.is_empty())?;
        let code = |label: &Option<T>| {
            label.as_ref().map_or(u16::MISSING, |l| {
                u16::of(values.partition_point(|v| *v < l))
            })
        };
        self.add(base, Column::Hard(labels.iter().map(code).collect()))
    }

    /// Adds a base clustering whose clusters are already numbered from 0; `None` is a missing label.
    ///
    /// # Errors
    /// As [`EnsembleBuilder::push`], and if a label is not below `clusters`.
    pub fn push_clusters(
        &mut self,
        name: impl Into<String>,
        labels: impl IntoIterator<Item = Option<u32>>,
        clusters: usize,
    ) -> Result<(), EnsembleError> {
        let base = BaseClustering::new(name, (0..clusters).map(|j| j.to_string()).collect());
        check_base(&base, true)?;
        let column: Vec<u16> = labels
            .into_iter()
            .map(|label| label.map_or(u16::MISSING, |j| u16::of(j.min(65_534) as usize)))
            .collect();
        check_base(&base, column.iter().any(|&label| label != u16::MISSING))?;
        if let Some(object) = column
            .iter()
            .position(|l| l.cluster().is_some_and(|j| j >= clusters))
        {
            let label = usize::from(column[object]);
            return Err(EnsembleError::OutOfRange {
                object,
                name: base.name().to_owned(),
                label,
                clusters,
            });
        }
        self.add(base, Column::Hard(column))
    }

    /// Adds a soft base clustering. Of every object the `most` largest shares are kept and divided by their sum; a row of zeros is
    /// an object that this base clustering does not know. `values` says what each of the J clusters is called.
    ///
    /// # Errors
    /// As [`EnsembleBuilder::push`].
    ///
    /// # Panics
    /// If there is not one value a column of shares, or `most` is 0.
    pub fn push_soft(
        &mut self,
        name: impl Into<String>,
        values: Vec<String>,
        shares: &Shares,
        most: usize,
    ) -> Result<SharesLeftOut, EnsembleError> {
        assert!(
            values.len() == shares.rows().ncols() && most > 0,
            "one value a cluster, and at least one share"
        );
        let base = BaseClustering::new(name, values);
        let (mut starts, mut kept, mut left) = (vec![0], Vec::new(), SharesLeftOut::default());
        for row in shares.rows().outer_iter() {
            let (row, lost) = largest(row, most);
            kept.extend(
                row.into_iter()
                    .map(|(cluster, share)| (u16::of(cluster), share)),
            );
            starts.push(kept.len());
            left.objects += usize::from(lost > 0.0);
            (left.most, left.sum) = (left.most.max(lost), left.sum + lost);
        }
        check_base(&base, !kept.is_empty())?;
        self.add(base, Column::Soft(starts, kept))?;
        Ok(left)
    }

    fn add(&mut self, base: BaseClustering, column: Column) -> Result<(), EnsembleError> {
        if column.objects() != self.objects {
            return Err(EnsembleError::Length {
                name: base.name().to_owned(),
                found: column.objects(),
                expected: self.objects,
            });
        }
        self.bases.push(base);
        self.columns.push(column);
        Ok(())
    }

    /// The ensemble of all base clusterings added so far.
    ///
    /// # Errors
    /// [`EnsembleError::Empty`] if there are none, or no objects.
    pub fn finish(self) -> Result<Ensemble, EnsembleError> {
        if self.objects == 0 || self.bases.is_empty() {
            return Err(EnsembleError::Empty {
                objects: self.objects,
                bases: self.bases.len(),
            });
        }
        let hard: Option<Vec<&Vec<u16>>> = (self.columns.iter())
            .map(|column| match column {
                Column::Hard(labels) => Some(labels),
                Column::Soft(..) => None,
            })
            .collect();
        let Some(columns) = hard else {
            return Ensemble::from_memberships(self.memberships(), self.bases);
        };
        let shape = (self.objects, self.bases.len());
        let narrow = self
            .bases
            .iter()
            .all(|base| base.clusters() <= MAX_BYTE_CLUSTERS);
        let rows = if narrow {
            let byte = |label: u16| label.cluster().map_or(u8::MISSING, u8::of);
            Rows::Bytes(Array2::from_shape_fn(shape, |(i, u)| byte(columns[u][i])))
        } else {
            Rows::Words(Array2::from_shape_fn(shape, |(i, u)| columns[u][i]))
        };
        Ok(Ensemble::from_rows(rows, self.bases))
    }

    /// The shares of all objects in all base clusters.
    fn memberships(&self) -> Memberships {
        let offsets = BaseClustering::offsets(&self.bases);
        let mut memberships = Memberships::new();
        let mut row: Vec<(u32, f64)> = Vec::new();
        for object in 0..self.objects {
            row.clear();
            for (column, &start) in self.columns.iter().zip(&offsets) {
                let numbered = |cluster: u16| (start + usize::from(cluster)) as u32;
                match column {
                    Column::Hard(labels) => {
                        row.extend(labels[object].cluster().map(|j| ((start + j) as u32, 1.0)));
                    }
                    Column::Soft(starts, kept) => {
                        let own = &kept[starts[object]..starts[object + 1]];
                        row.extend(
                            own.iter()
                                .map(|&(cluster, share)| (numbered(cluster), share)),
                        );
                    }
                }
            }
            memberships.push(row.iter().copied());
        }
        memberships
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LabelRows, MAX_BASE_CLUSTERS};

    fn small() -> Ensemble {
        let mut builder = EnsembleBuilder::new(3);
        builder.push("words", [Some("b"), None, Some("a")]).unwrap();
        builder
            .push("numbers", [Some(10), Some(9), Some(10)])
            .unwrap();
        builder.finish().unwrap()
    }

    #[test]
    fn clusters_are_numbered_in_the_order_of_their_labels() {
        let ensemble = small();
        assert_eq!(
            ensemble.column(0).collect::<Vec<_>>(),
            [Some(1), None, Some(0)]
        );
        assert_eq!(
            ensemble.column(1).collect::<Vec<_>>(),
            [Some(1), Some(0), Some(1)]
        );
        assert_eq!(ensemble.bases()[1].values(), ["9", "10"]);
        assert_eq!(ensemble.offsets(), [0, 2, 4]);
        assert_eq!(
            (
                ensemble.missing(),
                ensemble.first_missing(),
                ensemble.first_unlabelled()
            ),
            (1, Some((1, 0)), None)
        );
    }

    #[test]
    fn a_byte_holds_255_clusters_and_two_bytes_the_rest() {
        for (clusters, bytes) in [(255, true), (256, false), (MAX_BASE_CLUSTERS, false)] {
            let mut builder = EnsembleBuilder::new(clusters);
            builder.push("u", (0..clusters).map(Some)).unwrap();
            let ensemble = builder.finish().unwrap();
            assert_eq!(
                matches!(ensemble.rows(), LabelRows::Bytes(_)),
                bytes,
                "{clusters}"
            );
            assert_eq!(ensemble.label(clusters - 1, 0), Some(clusters - 1));
        }
        let too_many = EnsembleBuilder::new(65_535).push("u", (0..65_535).map(Some));
        assert_eq!(
            too_many,
            Err(EnsembleError::TooManyClusters {
                name: "u".into(),
                clusters: 65_535
            })
        );
    }

    #[test]
    fn what_is_no_ensemble_is_refused() {
        let mut builder = EnsembleBuilder::new(2);
        assert!(matches!(
            builder.push("u", [Some(1)]),
            Err(EnsembleError::Length {
                found: 1,
                expected: 2,
                ..
            })
        ));
        assert!(matches!(
            builder.push("u", [None::<u8>, None]),
            Err(EnsembleError::AllMissing { .. })
        ));
        assert!(matches!(
            builder.push_clusters("u", [Some(0), Some(2)], 2),
            Err(EnsembleError::OutOfRange { object: 1, .. })
        ));
        assert!(matches!(
            builder.finish(),
            Err(EnsembleError::Empty {
                objects: 2,
                bases: 0
            })
        ));
        let rows = ndarray::array![[0u8], [3]];
        let base = BaseClustering::new("u", vec!["0".into(), "1".into()]);
        assert!(matches!(
            Ensemble::from_bytes(rows, vec![base]),
            Err(EnsembleError::OutOfRange { label: 3, .. })
        ));
    }
}
