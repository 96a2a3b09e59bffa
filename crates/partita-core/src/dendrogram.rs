//! A tree of merges, as data. Building and cutting it is the work of `partita-linkage`.

/// One merge of two clusters, in the layout of SciPy's linkage matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The smaller of the two cluster numbers: an object if below n, else the merge `left − n`.
    pub left: u32,
    /// The larger of the two cluster numbers.
    pub right: u32,
    /// Dissimilarity at which the two merge.
    pub height: f64,
    /// Objects in the merged cluster.
    pub size: u32,
}

/// A full binary tree over n objects: n − 1 merges, in order of height.
#[derive(Clone, Debug, PartialEq)]
pub struct Dendrogram {
    objects: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    /// A tree over `objects` leaves.
    ///
    /// # Panics
    /// If `merges` does not hold exactly `objects − 1` merges (none for no objects).
    pub fn new(objects: usize, merges: Vec<Merge>) -> Self {
        assert_eq!(merges.len(), objects.saturating_sub(1), "a tree over n leaves has n - 1 merges");
        Self { objects, merges }
    }

    /// Number of leaves, n.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// The n − 1 merges, lowest first.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The same tree when leaf `i` is called `names[i]`.
    #[cfg(feature = "methods")]
    pub(crate) fn relabelled(mut self, names: &[u32]) -> Self {
        let n = self.objects as u32;
        let rename = |node: u32| if node < n { names[node as usize] } else { node };
        for merge in &mut self.merges {
            let (a, b) = (rename(merge.left), rename(merge.right));
            (merge.left, merge.right) = (a.min(b), a.max(b));
        }
        self
    }
}
