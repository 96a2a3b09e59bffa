//! Weighted label rows: stored labels, runs of equal rows taken once, never a one-hot matrix.

use partita_core::{BaseWeights, Ensemble, Label, ndarray::ArrayView2};

/// Label rows of an ensemble, runs of equal rows taken once with their length as weight. Canonical ensembles keep
/// equal rows together, so there a run is a fragment; elsewhere a run is still exact.
#[derive(Clone, Debug)]
pub struct WeightedLabelRows<'a, L> {
    cells: &'a [L],
    bases: usize,
    offsets: Vec<usize>,
    firsts: Vec<u32>,
    weights: Vec<u32>,
}

impl<'a, L: Label> WeightedLabelRows<'a, L> {
    /// Rows of an ensemble whose stored labels, object by object, are `cells`.
    pub fn new(ensemble: &Ensemble, cells: &'a [L]) -> Self {
        let bases = ensemble.bases().len();
        let (mut firsts, mut weights): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut previous: &[L] = &[];
        for (i, row) in cells.chunks_exact(bases).enumerate() {
            match weights.last_mut() {
                Some(weight) if row == previous => *weight += 1,
                _ => {
                    firsts.push(i as u32);
                    weights.push(1);
                    previous = row;
                }
            }
        }
        Self { cells, bases, offsets: ensemble.offsets(), firsts, weights }
    }

    /// Distinct neighbouring rows.
    #[expect(clippy::len_without_is_empty, reason = "an ensemble has at least one object")]
    pub fn len(&self) -> usize {
        self.firsts.len()
    }

    /// Objects, n.
    pub fn objects(&self) -> usize {
        self.cells.len() / self.bases
    }

    /// Base clusterings, M.
    pub fn bases(&self) -> usize {
        self.bases
    }

    /// Clusters of base clustering `u` start here when all are numbered through.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Clusters of all base clusterings, ΣJ.
    pub fn base_clusters(&self) -> usize {
        self.offsets[self.bases]
    }

    /// The stored labels of a row.
    pub fn row(&self, at: usize) -> &'a [L] {
        let start = self.firsts[at] as usize * self.bases;
        &self.cells[start..start + self.bases]
    }

    /// The first object with this row.
    pub fn first(&self, at: usize) -> usize {
        self.firsts[at] as usize
    }

    /// Objects with this row.
    pub fn weight(&self, at: usize) -> u32 {
        self.weights[at]
    }

    /// Labels of a row that are there, as base clustering and place among all ΣJ clusters.
    pub fn places(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.row(at).iter().enumerate().filter_map(|(u, label)| Some((u, self.offsets[u] + label.cluster()?)))
    }

    /// Objects that each base clustering labels.
    pub fn labelled(&self) -> Vec<u64> {
        let mut labelled = vec![0; self.bases];
        for at in 0..self.len() {
            self.places(at).for_each(|(u, _)| labelled[u] += u64::from(self.weight(at)));
        }
        labelled
    }

    /// One value for every object from one for every row.
    pub fn expand<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let each = values.iter().zip(&self.weights);
        each.flat_map(|(value, &weight)| std::iter::repeat_n(value.clone(), weight as usize)).collect()
    }
}

/// Calls `work` with the rows of an ensemble in the width in which they are stored.
pub fn with_rows<W: RowVisitor>(ensemble: &Ensemble, work: W) -> W::Out {
    fn call<L: Label, W: RowVisitor>(ensemble: &Ensemble, rows: ArrayView2<'_, L>, work: W) -> W::Out {
        let standard = rows.as_standard_layout();
        work.run(&WeightedLabelRows::new(ensemble, standard.as_slice().expect("standard layout is contiguous")))
    }
    match ensemble.rows() {
        partita_core::LabelRows::Bytes(rows) => call(ensemble, rows, work),
        partita_core::LabelRows::Words(rows) => call(ensemble, rows, work),
    }
}

/// Something to do with rows of either width.
pub trait RowVisitor {
    /// What comes of it.
    type Out;

    /// Does it.
    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out;
}

/// One weight a base clustering, 1 where none are given.
pub fn base_weights(ensemble: &Ensemble, weights: Option<&BaseWeights>) -> Vec<f64> {
    weights.map_or_else(|| vec![1.0; ensemble.bases().len()], |weights| weights.as_slice().to_vec())
}
