//! Many clusterings of the same objects.

use std::fmt::Display;

use ndarray::{Array2, ArrayView2};

/// The most clusters one base clustering may have.
pub const MAX_BASE_CLUSTERS: usize = 65_534;

/// The most clusters that leave one value of a byte for "missing".
const MAX_BYTE_CLUSTERS: usize = 255;

/// One stored label: a byte or two, with the largest value reserved for "missing".
pub trait Label: Copy + Eq + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// The value that stands for a missing label.
    const MISSING: Self;

    /// The cluster, or none where the label is missing.
    fn cluster(self) -> Option<usize>;

    /// The stored value as an index; the missing label is the largest one.
    fn index(self) -> usize;

    /// The label of a cluster.
    fn of(cluster: usize) -> Self;
}

macro_rules! label {
    ($type:ty) => {
        impl Label for $type {
            const MISSING: Self = Self::MAX;
            fn cluster(self) -> Option<usize> {
                (self != Self::MISSING).then_some(self as usize)
            }
            fn index(self) -> usize {
                self as usize
            }
            fn of(cluster: usize) -> Self {
                cluster as $type
            }
        }
    };
}
label!(u8);
label!(u16);

/// The label rows of an ensemble, n × M, one row an object. Match once and call a kernel that is generic
/// over [`Label`].
#[derive(Clone, Copy, Debug)]
pub enum LabelRows<'a> {
    /// Every base clustering has at most 255 clusters.
    Bytes(ArrayView2<'a, u8>),
    /// Some base clustering has more.
    Words(ArrayView2<'a, u16>),
}

#[derive(Clone, Debug, PartialEq)]
enum Rows {
    Bytes(Array2<u8>),
    Words(Array2<u16>),
}

/// What is known of one base clustering besides its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseClustering {
    name: String,
    values: Vec<String>,
}

impl BaseClustering {
    /// A base clustering with this name whose cluster `j` was called `values[j]`.
    pub fn new(name: impl Into<String>, values: Vec<String>) -> Self {
        Self { name: name.into(), values }
    }

    /// Its name: a column of a file, or how it was made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of clusters, J.
    pub fn clusters(&self) -> usize {
        self.values.len()
    }

    /// The label that cluster `j` had where it came from.
    pub fn values(&self) -> &[String] {
        &self.values
    }
}

/// n objects × M base clusterings, with labels that may be missing.
///
/// Labels are stored object by object, one byte each while every base clustering has at most 255 clusters
/// and two bytes otherwise. Clusters of a base clustering are numbered from 0 in the order of their
/// original labels, which are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    rows: Rows,
    bases: Vec<BaseClustering>,
    object_names: Option<Vec<String>>,
    recipe: Option<String>,
}

/// Label sets that are no ensemble.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// There is nothing to cluster.
    #[error("an ensemble needs at least one object and one base clustering, got {objects} × {bases}")]
    Empty {
        /// Objects given.
        objects: usize,
        /// Base clusterings given.
        bases: usize,
    },
    /// A base clustering labels another number of objects.
    #[error("base clustering '{name}' labels {found} objects, the others {expected}")]
    Length {
        /// Name of the base clustering.
        name: String,
        /// Labels given.
        found: usize,
        /// Labels expected.
        expected: usize,
    },
    /// A base clustering labels nothing.
    #[error("base clustering '{name}' has no label at all; leave it out")]
    AllMissing {
        /// Name of the base clustering.
        name: String,
    },
    /// A base clustering has too many clusters for two bytes a label.
    #[error("base clustering '{name}' has {clusters} clusters; at most {MAX_BASE_CLUSTERS} can be held")]
    TooManyClusters {
        /// Name of the base clustering.
        name: String,
        /// Clusters given.
        clusters: usize,
    },
    /// A label points at no cluster.
    #[error("object {object} has label {label} in base clustering '{name}', which has {clusters} clusters")]
    OutOfRange {
        /// Index of the object.
        object: usize,
        /// Name of the base clustering.
        name: String,
        /// The stored label.
        label: usize,
        /// Clusters of the base clustering.
        clusters: usize,
    },
    /// As many names are needed as there are objects.
    #[error("{found} object names for {expected} objects")]
    Names {
        /// Names given.
        found: usize,
        /// Objects.
        expected: usize,
    },
}

impl Ensemble {
    /// An ensemble from stored label rows (n × M, one byte a label, 255 = missing).
    ///
    /// # Errors
    /// [`EnsembleError`] if a label points at no cluster, or a base clustering is empty or too large.
    pub fn from_bytes(rows: Array2<u8>, bases: Vec<BaseClustering>) -> Result<Self, EnsembleError> {
        check_rows(rows.view(), &bases)?;
        Ok(Self { rows: Rows::Bytes(rows), bases, object_names: None, recipe: None })
    }

    /// An ensemble from stored label rows of two bytes (65,535 = missing). Rows are kept in one byte a label
    /// when every base clustering fits.
    ///
    /// # Errors
    /// As [`Ensemble::from_bytes`].
    pub fn from_words(rows: Array2<u16>, bases: Vec<BaseClustering>) -> Result<Self, EnsembleError> {
        check_rows(rows.view(), &bases)?;
        let narrow = bases.iter().all(|base| base.clusters() <= MAX_BYTE_CLUSTERS);
        let rows = if narrow {
            Rows::Bytes(rows.mapv(|label| label.cluster().map_or(u8::MISSING, u8::of)))
        } else {
            Rows::Words(rows)
        };
        Ok(Self { rows, bases, object_names: None, recipe: None })
    }

    /// The same ensemble with a name for every object.
    ///
    /// # Errors
    /// [`EnsembleError::Names`] if there is not one name an object.
    pub fn with_object_names(mut self, names: Vec<String>) -> Result<Self, EnsembleError> {
        if names.len() != self.objects() {
            return Err(EnsembleError::Names { found: names.len(), expected: self.objects() });
        }
        self.object_names = Some(names);
        Ok(self)
    }

    /// The same ensemble with a record of how it was made (text that its maker can read back).
    #[must_use]
    pub fn with_recipe(mut self, recipe: impl Into<String>) -> Self {
        self.recipe = Some(recipe.into());
        self
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        match &self.rows {
            Rows::Bytes(rows) => rows.nrows(),
            Rows::Words(rows) => rows.nrows(),
        }
    }

    /// The base clusterings, M of them.
    pub fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    /// Where each base clustering's clusters start when all are numbered through: M + 1 values, the last
    /// being ΣJ.
    pub fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        offsets.extend(self.bases.iter().scan(0, |sum, base| {
            *sum += base.clusters();
            Some(*sum)
        }));
        offsets
    }

    /// The label rows, n × M.
    pub fn rows(&self) -> LabelRows<'_> {
        match &self.rows {
            Rows::Bytes(rows) => LabelRows::Bytes(rows.view()),
            Rows::Words(rows) => LabelRows::Words(rows.view()),
        }
    }

    /// The cluster of `object` in `base`, or none where it is missing.
    ///
    /// # Panics
    /// If either index is out of range.
    pub fn label(&self, object: usize, base: usize) -> Option<usize> {
        match &self.rows {
            Rows::Bytes(rows) => rows[[object, base]].cluster(),
            Rows::Words(rows) => rows[[object, base]].cluster(),
        }
    }

    /// The labels of one base clustering, object by object.
    ///
    /// # Panics
    /// If `base` is out of range.
    pub fn column(&self, base: usize) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        (0..self.objects()).map(move |object| self.label(object, base))
    }

    /// Names of the objects, where they have some.
    pub fn object_names(&self) -> Option<&[String]> {
        self.object_names.as_deref()
    }

    /// How the ensemble was made, where that is known.
    pub fn recipe(&self) -> Option<&str> {
        self.recipe.as_deref()
    }

    /// Number of missing labels.
    pub fn missing(&self) -> usize {
        fn count<L: Label>(rows: ArrayView2<'_, L>) -> usize {
            rows.iter().filter(|&&label| label == L::MISSING).count()
        }
        match self.rows() {
            LabelRows::Bytes(rows) => count(rows),
            LabelRows::Words(rows) => count(rows),
        }
    }

    /// The first object that no base clustering labels.
    pub fn first_unlabelled(&self) -> Option<usize> {
        fn find<L: Label>(rows: ArrayView2<'_, L>) -> Option<usize> {
            rows.outer_iter().position(|row| row.iter().all(|&label| label == L::MISSING))
        }
        match self.rows() {
            LabelRows::Bytes(rows) => find(rows),
            LabelRows::Words(rows) => find(rows),
        }
    }

    /// The first object that some base clustering does not label, and that base clustering.
    pub fn first_missing(&self) -> Option<(usize, usize)> {
        fn find<L: Label>(rows: ArrayView2<'_, L>) -> Option<(usize, usize)> {
            rows.indexed_iter().find(|(_, label)| **label == L::MISSING).map(|(place, _)| place)
        }
        match self.rows() {
            LabelRows::Bytes(rows) => find(rows),
            LabelRows::Words(rows) => find(rows),
        }
    }

    /// What to call an object in a message: its name, or its index.
    pub fn object_name(&self, object: usize) -> String {
        self.object_names.as_ref().map_or_else(|| object.to_string(), |names| names[object].clone())
    }

    /// The ensemble of the chosen objects and base clusterings, in the order given. Base clusterings keep
    /// their clusters, also those that no chosen object is in.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn select(&self, objects: &[u32], bases: &[u32]) -> Self {
        fn pick<L: Label>(rows: ArrayView2<'_, L>, objects: &[u32], bases: &[u32]) -> Array2<L> {
            Array2::from_shape_fn((objects.len(), bases.len()), |(i, u)| rows[[objects[i] as usize, bases[u] as usize]])
        }
        Self {
            rows: match self.rows() {
                LabelRows::Bytes(rows) => Rows::Bytes(pick(rows, objects, bases)),
                LabelRows::Words(rows) => Rows::Words(pick(rows, objects, bases)),
            },
            bases: bases.iter().map(|&u| self.bases[u as usize].clone()).collect(),
            object_names: self
                .object_names
                .as_ref()
                .map(|names| objects.iter().map(|&i| names[i as usize].clone()).collect()),
            recipe: None,
        }
    }

    /// The same labels when cluster `j` of base clustering `u` is numbered `codes[u][j]`.
    pub(crate) fn recoded(mut self, codes: &[Vec<u16>]) -> Self {
        fn recode<L: Label>(rows: &mut Array2<L>, codes: &[Vec<u16>]) {
            for mut row in rows.outer_iter_mut() {
                for (label, codes) in row.iter_mut().zip(codes) {
                    if let Some(cluster) = label.cluster() {
                        *label = L::of(usize::from(codes[cluster]));
                    }
                }
            }
        }
        match &mut self.rows {
            Rows::Bytes(rows) => recode(rows, codes),
            Rows::Words(rows) => recode(rows, codes),
        }
        for (base, codes) in self.bases.iter_mut().zip(codes) {
            let mut values = vec![String::new(); base.clusters()];
            for (value, &code) in std::mem::take(&mut base.values).into_iter().zip(codes) {
                values[usize::from(code)] = value;
            }
            base.values = values;
        }
        self
    }
}

/// Checks stored rows at the door.
fn check_rows<L: Label>(rows: ArrayView2<'_, L>, bases: &[BaseClustering]) -> Result<(), EnsembleError> {
    if rows.is_empty() || bases.is_empty() {
        return Err(EnsembleError::Empty { objects: rows.nrows(), bases: bases.len() });
    }
    if rows.ncols() != bases.len() {
        let name = bases.last().map_or_else(String::new, |base| base.name.clone());
        return Err(EnsembleError::Length { name, found: bases.len(), expected: rows.ncols() });
    }
    let mut labelled = vec![false; bases.len()];
    for (object, row) in rows.outer_iter().enumerate() {
        for (u, label) in row.iter().enumerate() {
            let Some(cluster) = label.cluster() else { continue };
            labelled[u] = true;
            if cluster >= bases[u].clusters() {
                let (name, clusters) = (bases[u].name.clone(), bases[u].clusters());
                return Err(EnsembleError::OutOfRange { object, name, label: cluster, clusters });
            }
        }
    }
    for (base, labelled) in bases.iter().zip(labelled) {
        check_base(base, labelled)?;
    }
    Ok(())
}

fn check_base(base: &BaseClustering, labelled: bool) -> Result<(), EnsembleError> {
    if base.clusters() > MAX_BASE_CLUSTERS {
        return Err(EnsembleError::TooManyClusters { name: base.name.clone(), clusters: base.clusters() });
    }
    if labelled { Ok(()) } else { Err(EnsembleError::AllMissing { name: base.name.clone() }) }
}

/// Builds an [`Ensemble`] one base clustering at a time.
#[derive(Clone, Debug)]
pub struct EnsembleBuilder {
    objects: usize,
    bases: Vec<BaseClustering>,
    columns: Vec<Vec<u16>>,
}

impl EnsembleBuilder {
    /// A builder for so many objects.
    pub fn new(objects: usize) -> Self {
        Self { objects, bases: Vec::new(), columns: Vec::new() }
    }

    /// Adds a base clustering by its labels, whatever they are; `None` is a missing label. Clusters are
    /// numbered in the order of their labels.
    ///
    /// # Errors
    /// [`EnsembleError`] if the number of labels differs from that of objects, if all are missing, or if there
    /// are more than [`MAX_BASE_CLUSTERS`] clusters.
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
        let code =
            |label: &Option<T>| label.as_ref().map_or(u16::MISSING, |l| u16::of(values.partition_point(|v| *v < l)));
        let column: Vec<u16> = labels.iter().map(code).collect();
        self.add(base, column)
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
        let column: Vec<u16> =
            labels.into_iter().map(|label| label.map_or(u16::MISSING, |j| u16::of(j.min(65_534) as usize))).collect();
        check_base(&base, column.iter().any(|&label| label != u16::MISSING))?;
        if let Some(object) = column.iter().position(|l| l.cluster().is_some_and(|j| j >= clusters)) {
            let label = usize::from(column[object]);
            return Err(EnsembleError::OutOfRange { object, name: base.name, label, clusters });
        }
        self.add(base, column)
    }

    fn add(&mut self, base: BaseClustering, column: Vec<u16>) -> Result<(), EnsembleError> {
        if column.len() != self.objects {
            return Err(EnsembleError::Length { name: base.name, found: column.len(), expected: self.objects });
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
            return Err(EnsembleError::Empty { objects: self.objects, bases: self.bases.len() });
        }
        let shape = (self.objects, self.bases.len());
        let narrow = self.bases.iter().all(|base| base.clusters() <= MAX_BYTE_CLUSTERS);
        let rows = if narrow {
            let byte = |label: u16| label.cluster().map_or(u8::MISSING, u8::of);
            Rows::Bytes(Array2::from_shape_fn(shape, |(i, u)| byte(self.columns[u][i])))
        } else {
            Rows::Words(Array2::from_shape_fn(shape, |(i, u)| self.columns[u][i]))
        };
        Ok(Ensemble { rows, bases: self.bases, object_names: None, recipe: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Ensemble {
        let mut builder = EnsembleBuilder::new(3);
        builder.push("words", [Some("b"), None, Some("a")]).unwrap();
        builder.push("numbers", [Some(10), Some(9), Some(10)]).unwrap();
        builder.finish().unwrap()
    }

    #[test]
    fn clusters_are_numbered_in_the_order_of_their_labels() {
        let ensemble = small();
        assert_eq!(ensemble.column(0).collect::<Vec<_>>(), [Some(1), None, Some(0)]);
        assert_eq!(ensemble.column(1).collect::<Vec<_>>(), [Some(1), Some(0), Some(1)]);
        assert_eq!(ensemble.bases()[1].values(), ["9", "10"]);
        assert_eq!(ensemble.offsets(), [0, 2, 4]);
        assert_eq!(
            (ensemble.missing(), ensemble.first_missing(), ensemble.first_unlabelled()),
            (1, Some((1, 0)), None)
        );
    }

    #[test]
    fn a_byte_holds_255_clusters_and_two_bytes_the_rest() {
        for (clusters, bytes) in [(255, true), (256, false), (MAX_BASE_CLUSTERS, false)] {
            let mut builder = EnsembleBuilder::new(clusters);
            builder.push("u", (0..clusters).map(Some)).unwrap();
            let ensemble = builder.finish().unwrap();
            assert_eq!(matches!(ensemble.rows(), LabelRows::Bytes(_)), bytes, "{clusters}");
            assert_eq!(ensemble.label(clusters - 1, 0), Some(clusters - 1));
        }
        let too_many = EnsembleBuilder::new(65_535).push("u", (0..65_535).map(Some));
        assert_eq!(too_many, Err(EnsembleError::TooManyClusters { name: "u".into(), clusters: 65_535 }));
    }

    #[test]
    fn what_is_no_ensemble_is_refused() {
        let mut builder = EnsembleBuilder::new(2);
        assert!(matches!(builder.push("u", [Some(1)]), Err(EnsembleError::Length { found: 1, expected: 2, .. })));
        assert!(matches!(builder.push("u", [None::<u8>, None]), Err(EnsembleError::AllMissing { .. })));
        assert!(matches!(
            builder.push_clusters("u", [Some(0), Some(2)], 2),
            Err(EnsembleError::OutOfRange { object: 1, .. })
        ));
        assert!(matches!(builder.finish(), Err(EnsembleError::Empty { objects: 2, bases: 0 })));
        let rows = ndarray::array![[0u8], [3]];
        let base = BaseClustering::new("u", vec!["0".into(), "1".into()]);
        assert!(matches!(Ensemble::from_bytes(rows, vec![base]), Err(EnsembleError::OutOfRange { label: 3, .. })));
    }
}
