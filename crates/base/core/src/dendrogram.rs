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
        assert_eq!(
            merges.len(),
            objects.saturating_sub(1),
            "a tree over n leaves has n - 1 merges"
        );
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

    /// The tree over objects, where this one is over groups of identical ones: the objects of a group merge at height 0 before anything
    /// else does. `group` is the leaf of every object.
    ///
    /// # Panics
    /// If a leaf has no object, or an object no leaf.
    #[must_use]
    pub fn unfolded(&self, group: &[u32]) -> Self {
        let (groups, n) = (self.objects, group.len());
        let mut node: Vec<u32> = vec![u32::MAX; groups];
        let mut sizes = vec![0u32; groups];
        let mut merges = Vec::with_capacity(n.saturating_sub(1));
        for (object, &group) in group.iter().enumerate() {
            let (node, size) = (&mut node[group as usize], &mut sizes[group as usize]);
            *size += 1;
            if *node == u32::MAX {
                *node = object as u32;
            } else {
                let (left, right) = ((*node).min(object as u32), (*node).max(object as u32));
                merges.push(Merge {
                    left,
                    right,
                    height: 0.0,
                    size: *size,
                });
                *node = (n + merges.len() - 1) as u32;
            }
        }
        assert!(!node.contains(&u32::MAX), "every leaf stands for an object");
        for merge in &self.merges {
            let (left, right) = (merge.left as usize, merge.right as usize);
            let (a, b, size) = (node[left], node[right], sizes[left] + sizes[right]);
            merges.push(Merge {
                left: a.min(b),
                right: a.max(b),
                height: merge.height,
                size,
            });
            node.push((n + merges.len() - 1) as u32);
            sizes.push(size);
        }
        Self::new(n, merges)
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
