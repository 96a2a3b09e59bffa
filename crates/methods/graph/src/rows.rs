//! Different label rows of an ensemble, as the base clusters they are in.

use partita_core::AnyBlock;
use partita_core::{
    BaseWeights, Ensemble, EnsembleRows, Fragments, Row, RowBlock, WeightedEnsemble,
};

/// Label rows that differ, with what they weigh.
pub(crate) struct Rows {
    fragments: Fragments,
    offsets: Vec<usize>,
    weights: Vec<f64>,
}

impl Rows {
    pub(crate) fn new(source: WeightedEnsemble<'_>) -> Self {
        let fragments = source.ensemble.fragments();
        Self {
            weights: fragments.masses(source.multiplicities()),
            offsets: source.ensemble.offsets(),
            fragments,
        }
    }

    /// The ensemble of the rows.
    pub(crate) fn ensemble(&self) -> &Ensemble {
        self.fragments.ensemble()
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Where the clusters of each base clustering start.
    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Weight of the objects of every row.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Values of rows as values of objects.
    pub(crate) fn expand<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.fragments.expand(values)
    }

    /// Calls `take(row, base clusters)` for every row; base clusters are numbered through.
    pub(crate) fn for_each(&self, take: impl FnMut(usize, &[u32])) {
        EnsembleRows::new(self.ensemble()).with_all(|block| match block {
            AnyBlock::Bytes(block) => each(&block, &self.offsets, take),
            AnyBlock::Words(block) => each(&block, &self.offsets, take),
            AnyBlock::Shares(block) => each(&block, &self.offsets, take),
        });
    }
}

fn each<'a, R: Row<'a>>(
    block: &RowBlock<'a, R>,
    offsets: &[usize],
    mut take: impl FnMut(usize, &[u32]),
) {
    let mut clusters = Vec::with_capacity(block.bases);
    for (at, (row, _)) in block.rows().enumerate() {
        clusters.clear();
        clusters.extend(row.entries(offsets).map(|entry| entry.cluster as u32));
        take(at, &clusters);
    }
}

/// For every base cluster the weight of its base clustering; the mean over base clusterings is 1.
pub(crate) fn by_base(offsets: &[usize], weights: Option<&BaseWeights>) -> Vec<f64> {
    each_cluster(offsets, weights.map(BaseWeights::as_slice))
}

/// For every base cluster how often it is there: the copies that its base clustering stands for.
pub(crate) fn copies_by_base(offsets: &[usize], weights: Option<&BaseWeights>) -> Vec<f64> {
    each_cluster(offsets, weights.map(BaseWeights::copies))
}

fn each_cluster(offsets: &[usize], weights: Option<&[f64]>) -> Vec<f64> {
    let weight = |u: usize| weights.map_or(1.0, |weights| weights[u]);
    let ends = offsets.windows(2).enumerate();
    ends.flat_map(|(u, ends)| (ends[0]..ends[1]).map(move |_| weight(u)))
        .collect()
}
