//! Many clusterings of the same objects.

use ndarray::{Array2, ArrayView2};

use crate::Memberships;

/// The most clusters one base clustering may have.
pub const MAX_BASE_CLUSTERS: usize = 65_534;

/// The most clusters that leave one value of a byte for "missing".
pub(crate) const MAX_BYTE_CLUSTERS: usize = 255;

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

    /// Such labels as labels of either width.
    fn stored(labels: &[Self]) -> StoredLabels<'_>;
}

macro_rules! label {
    ($type:ty, $stored:path) => {
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
            fn stored(labels: &[Self]) -> StoredLabels<'_> {
                $stored(labels)
            }
        }
    };
}
label!(u8, StoredLabels::Bytes);
label!(u16, StoredLabels::Words);

/// Stored labels of either width.
#[derive(Clone, Copy, Debug)]
pub enum StoredLabels<'a> {
    /// A byte each.
    Bytes(&'a [u8]),
    /// Two bytes each.
    Words(&'a [u16]),
}

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
pub(crate) enum Rows {
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
        Self {
            name: name.into(),
            values,
        }
    }

    /// Its name: a column of a file, or how it was made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of clusters, J.
    pub fn clusters(&self) -> usize {
        self.values.len()
    }

    /// Where each base clustering's clusters start when those of all are numbered through: M + 1 values, the last of which is ΣJ.
    pub fn offsets(bases: &[Self]) -> Vec<usize> {
        let ends = bases.iter().scan(0, |sum, base| {
            *sum += base.clusters();
            Some(*sum)
        });
        std::iter::once(0).chain(ends).collect()
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
///
/// Base clusterings may be soft: then [`memberships`](Self::memberships) has the shares of all objects in all base clusters, and
/// the label of an object is the cluster of its largest share. Where every share is 1 an ensemble is hard.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    pub(crate) rows: Rows,
    pub(crate) memberships: Option<Memberships>,
    bases: Vec<BaseClustering>,
    pub(crate) object_names: Option<Vec<String>>,
    recipe: Option<String>,
}

/// Label sets that are not an ensemble.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// There is nothing to cluster.
    #[error(
        "an ensemble needs at least one object and one base clustering, got {objects} × {bases}"
    )]
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
    /// Not one description a column of labels.
    #[error(
        "{columns} columns of labels, but {bases} base clusterings are named; name each column once"
    )]
    BaseNames {
        /// Columns given.
        columns: usize,
        /// Base clusterings described.
        bases: usize,
    },
    /// A base clustering labels nothing.
    #[error("base clustering '{name}' has no label at all; leave it out")]
    AllMissing {
        /// Name of the base clustering.
        name: String,
    },
    /// A base clustering has too many clusters for two bytes a label.
    #[error(
        "base clustering '{name}' has {clusters} clusters; at most {MAX_BASE_CLUSTERS} can be held"
    )]
    TooManyClusters {
        /// Name of the base clustering.
        name: String,
        /// Clusters given.
        clusters: usize,
    },
    /// A label points at no cluster.
    #[error(
        "object {object} has label {label} in base clustering '{name}', which has {clusters} clusters"
    )]
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
    /// Objects cannot be added that have labels of other base clusterings.
    #[error("{}", other_bases(.missing, .unknown))]
    OtherBases {
        /// Base clusterings that the new objects lack.
        missing: Vec<String>,
        /// Base clusterings that the ensemble does not have.
        unknown: Vec<String>,
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

fn other_bases(missing: &[String], unknown: &[String]) -> String {
    let list = |names: &[String]| {
        names
            .iter()
            .map(|name| format!("'{name}'"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (missing.is_empty(), unknown.is_empty()) {
        (true, true) => {
            "base clusterings of one name cannot be matched; give each its own name".into()
        }
        (true, false) => format!(
            "the ensemble has no base clustering {}; leave it out",
            list(unknown)
        ),
        (false, true) => format!("new objects have no label column {}; add it", list(missing)),
        (false, false) => format!(
            "new objects have columns {} and lack {}",
            list(unknown),
            list(missing)
        ),
    }
}

impl Ensemble {
    /// An ensemble from stored label rows (n × M, one byte a label, 255 = missing).
    ///
    /// # Errors
    /// [`EnsembleError`] if a label points at no cluster, or a base clustering is empty or too large.
    pub fn from_bytes(rows: Array2<u8>, bases: Vec<BaseClustering>) -> Result<Self, EnsembleError> {
        check_rows(rows.view(), &bases)?;
        Ok(Self::from_rows(Rows::Bytes(rows), bases))
    }

    /// An ensemble from stored label rows of two bytes (65,535 = missing). Rows are kept in one byte a label
    /// when every base clustering fits.
    ///
    /// # Errors
    /// As [`Ensemble::from_bytes`].
    pub fn from_words(
        rows: Array2<u16>,
        bases: Vec<BaseClustering>,
    ) -> Result<Self, EnsembleError> {
        check_rows(rows.view(), &bases)?;
        Ok(Self::from_known(rows, bases))
    }

    /// [`from_words`](Self::from_words) of labels that are known to be of these clusters.
    pub(crate) fn from_known(rows: Array2<u16>, bases: Vec<BaseClustering>) -> Self {
        let narrow = bases
            .iter()
            .all(|base| base.clusters() <= MAX_BYTE_CLUSTERS);
        let rows = if narrow {
            Rows::Bytes(rows.mapv(|label| label.cluster().map_or(u8::MISSING, u8::of)))
        } else {
            Rows::Words(rows)
        };
        Self::from_rows(rows, bases)
    }

    /// Rows that were checked on the way.
    pub(crate) fn from_rows(rows: Rows, bases: Vec<BaseClustering>) -> Self {
        Self {
            rows,
            memberships: None,
            bases,
            object_names: None,
            recipe: None,
        }
    }

    /// The same ensemble with a name for every object.
    ///
    /// # Errors
    /// [`EnsembleError::Names`] if there is not one name an object.
    pub fn with_object_names(mut self, names: Vec<String>) -> Result<Self, EnsembleError> {
        if names.len() != self.objects() {
            return Err(EnsembleError::Names {
                found: names.len(),
                expected: self.objects(),
            });
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
        BaseClustering::offsets(&self.bases)
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
        match self.rows() {
            LabelRows::Bytes(rows) => unlabelled(&rows).next(),
            LabelRows::Words(rows) => unlabelled(&rows).next(),
        }
    }

    /// The objects that no base clustering labels, in rising order.
    pub fn unlabelled(&self) -> Vec<u32> {
        fn all<L: Label>(rows: &ArrayView2<'_, L>) -> Vec<u32> {
            unlabelled(rows).map(|object| object as u32).collect()
        }
        match self.rows() {
            LabelRows::Bytes(rows) => all(&rows),
            LabelRows::Words(rows) => all(&rows),
        }
    }

    /// The first object that some base clustering does not label, and that base clustering.
    pub fn first_missing(&self) -> Option<(usize, usize)> {
        fn find<L: Label>(rows: ArrayView2<'_, L>) -> Option<(usize, usize)> {
            rows.indexed_iter()
                .find(|(_, label)| **label == L::MISSING)
                .map(|(place, _)| place)
        }
        match self.rows() {
            LabelRows::Bytes(rows) => find(rows),
            LabelRows::Words(rows) => find(rows),
        }
    }

    /// What to call an object in a message: its name, or its index.
    pub fn object_name(&self, object: usize) -> String {
        self.object_names
            .as_ref()
            .map_or_else(|| object.to_string(), |names| names[object].clone())
    }

    /// The ensemble of the chosen objects and base clusterings, in the order given. Base clusterings keep
    /// their clusters, also those that no chosen object is in.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn select(&self, objects: &[u32], bases: &[u32]) -> Self {
        fn pick<L: Label>(rows: ArrayView2<'_, L>, objects: &[u32], bases: &[u32]) -> Array2<L> {
            let mut cells = Vec::with_capacity(objects.len() * bases.len());
            for &object in objects {
                let row = rows.row(object as usize);
                match row.as_slice() {
                    Some(row) => cells.extend(bases.iter().map(|&u| row[u as usize])),
                    None => cells.extend(bases.iter().map(|&u| row[u as usize])),
                }
            }
            Array2::from_shape_vec((objects.len(), bases.len()), cells)
                .expect("as many cells as places")
        }
        Self {
            rows: match self.rows() {
                LabelRows::Bytes(rows) => Rows::Bytes(pick(rows, objects, bases)),
                LabelRows::Words(rows) => Rows::Words(pick(rows, objects, bases)),
            },
            memberships: (self.memberships.as_ref())
                .map(|soft| soft.select(objects, bases, &self.offsets()))
                .filter(|soft| !soft.is_hard()),
            bases: bases
                .iter()
                .map(|&u| self.bases[u as usize].clone())
                .collect(),
            object_names: self
                .object_names
                .as_ref()
                .map(|names| objects.iter().map(|&i| names[i as usize].clone()).collect()),
            recipe: None,
        }
    }

    /// The same labels without clusters that no object is in. A soft ensemble keeps all: shares are not labels.
    #[cfg(feature = "methods")]
    pub(crate) fn compacted(self) -> Self {
        if self.memberships.is_some() {
            return self;
        }
        let codes_of = |u: usize| {
            let mut used = vec![false; self.bases[u].clusters()];
            self.column(u)
                .flatten()
                .for_each(|cluster| used[cluster] = true);
            let mut order: Vec<usize> = (0..used.len()).collect();
            order.sort_by_key(|&cluster| !used[cluster]);
            let mut codes = vec![0u16; used.len()];
            order
                .iter()
                .enumerate()
                .for_each(|(code, &cluster)| codes[cluster] = code as u16);
            (codes, used.iter().filter(|used| **used).count())
        };
        let (codes, live): (Vec<Vec<u16>>, Vec<usize>) =
            (0..self.bases.len()).map(codes_of).unzip();
        let mut compact = self.recoded(&codes);
        compact
            .bases
            .iter_mut()
            .zip(live)
            .for_each(|(base, live)| base.values.truncate(live));
        compact
    }

    /// The same labels when cluster `j` of base clustering `u` is numbered `codes[u][j]`.
    #[cfg(feature = "methods")]
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
        if let Some(soft) = &self.memberships {
            let numbered = self.offsets().into_iter().zip(codes);
            let all = numbered.flat_map(|(start, codes)| {
                codes
                    .iter()
                    .map(move |&code| start as u32 + u32::from(code))
            });
            self.memberships = Some(soft.recoded(&all.collect::<Vec<_>>()));
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

/// Checks stored rows at the entry.
pub(crate) fn check_rows<L: Label>(
    rows: ArrayView2<'_, L>,
    bases: &[BaseClustering],
) -> Result<(), EnsembleError> {
    if rows.is_empty() || bases.is_empty() {
        return Err(EnsembleError::Empty {
            objects: rows.nrows(),
            bases: bases.len(),
        });
    }
    if rows.ncols() != bases.len() {
        return Err(EnsembleError::BaseNames {
            columns: rows.ncols(),
            bases: bases.len(),
        });
    }
    let mut labelled = vec![false; bases.len()];
    for (object, row) in rows.outer_iter().enumerate() {
        for (u, label) in row.iter().enumerate() {
            let Some(cluster) = label.cluster() else {
                continue;
            };
            labelled[u] = true;
            if cluster >= bases[u].clusters() {
                let (name, clusters) = (bases[u].name.clone(), bases[u].clusters());
                return Err(EnsembleError::OutOfRange {
                    object,
                    name,
                    label: cluster,
                    clusters,
                });
            }
        }
    }
    for (base, labelled) in bases.iter().zip(labelled) {
        check_base(base, labelled)?;
    }
    Ok(())
}

pub(crate) fn check_base(base: &BaseClustering, labelled: bool) -> Result<(), EnsembleError> {
    if base.clusters() > MAX_BASE_CLUSTERS {
        return Err(EnsembleError::TooManyClusters {
            name: base.name.clone(),
            clusters: base.clusters(),
        });
    }
    if labelled {
        Ok(())
    } else {
        Err(EnsembleError::AllMissing {
            name: base.name.clone(),
        })
    }
}

/// Rows without any label.
fn unlabelled<L: Label>(rows: &ArrayView2<'_, L>) -> impl Iterator<Item = usize> {
    rows.outer_iter()
        .enumerate()
        .filter(|(_, row)| row.iter().all(|&label| label == L::MISSING))
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_of_names_is_told_as_such() {
        let bases = vec!["a", "b", "c"]
            .into_iter()
            .map(|name| BaseClustering::new(name, vec!["x".into()]))
            .collect();
        let error = Ensemble::from_bytes(Array2::zeros((5, 4)), bases).unwrap_err();
        assert_eq!(
            error,
            EnsembleError::BaseNames {
                columns: 4,
                bases: 3
            }
        );
        assert!(
            error
                .to_string()
                .starts_with("4 columns of labels, but 3 base clusterings are named"),
            "{error}"
        );
    }
}
