//! Weighted label rows: stored labels, runs of equal rows taken once, never a one-hot matrix.

use partita_core::{BaseClustering, BaseWeights, Ensemble, Label, ndarray::ArrayView2};

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
        Self {
            cells,
            bases,
            offsets: ensemble.offsets(),
            firsts,
            weights,
        }
    }

    /// The same rows, each of which stands for so many objects: for the nearest whole number of at least 1.
    ///
    /// # Panics
    /// If there is not one weight a row.
    pub fn weighted(ensemble: &Ensemble, cells: &'a [L], weights: &[f64]) -> Self {
        assert_eq!(weights.len(), ensemble.objects(), "one weight a row");
        let firsts = (0..weights.len() as u32).collect();
        // The conversion saturates.
        let weights = weights
            .iter()
            .map(|weight| (weight.round() as u32).max(1))
            .collect();
        Self {
            cells,
            bases: ensemble.bases().len(),
            offsets: ensemble.offsets(),
            firsts,
            weights,
        }
    }

    /// Distinct neighbouring rows.
    #[expect(
        clippy::len_without_is_empty,
        reason = "an ensemble has at least one object"
    )]
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
        places(self.row(at), &self.offsets)
    }

    /// One value for every object from one for every row.
    pub fn expand<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let ends = self
            .firsts
            .iter()
            .skip(1)
            .copied()
            .chain([self.objects() as u32]);
        let each = values.iter().zip(self.firsts.iter().zip(ends));
        each.flat_map(|(value, (first, end))| {
            std::iter::repeat_n(value.clone(), (end - first) as usize)
        })
        .collect()
    }
}

/// Labels of a row that are there, as base clustering and place among all ΣJ clusters.
pub fn places<L: Label>(row: &[L], offsets: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    row.iter()
        .zip(offsets)
        .enumerate()
        .filter_map(|(u, (label, offset))| Some((u, offset + label.cluster()?)))
}

/// Calls `work` with the rows of an ensemble in the width in which they are stored.
pub fn with_rows<W: RowVisitor>(ensemble: &Ensemble, work: W) -> W::Out {
    call(ensemble, None, work)
}

/// [`with_rows`] in which each row stands for so many objects ([`WeightedLabelRows::weighted`]).
///
/// # Panics
/// If there is not one weight a row.
pub fn with_weighted_rows<W: RowVisitor>(ensemble: &Ensemble, weights: &[f64], work: W) -> W::Out {
    call(ensemble, Some(weights), work)
}

fn call<W: RowVisitor>(ensemble: &Ensemble, weights: Option<&[f64]>, work: W) -> W::Out {
    fn with<L: Label, W: RowVisitor>(
        ensemble: &Ensemble,
        rows: ArrayView2<'_, L>,
        weights: Option<&[f64]>,
        work: W,
    ) -> W::Out {
        let standard = rows.as_standard_layout();
        let cells = standard.as_slice().expect("standard layout is contiguous");
        match weights {
            None => work.run(&WeightedLabelRows::new(ensemble, cells)),
            Some(weights) => work.run(&WeightedLabelRows::weighted(ensemble, cells, weights)),
        }
    }
    match ensemble.rows() {
        partita_core::LabelRows::Bytes(rows) => with(ensemble, rows, weights, work),
        partita_core::LabelRows::Words(rows) => with(ensemble, rows, weights, work),
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
pub fn base_weights(bases: &[BaseClustering], weights: Option<&BaseWeights>) -> Vec<f64> {
    weights.map_or_else(
        || vec![1.0; bases.len()],
        |weights| weights.as_slice().to_vec(),
    )
}
