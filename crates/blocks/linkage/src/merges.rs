//! From merges of slots to the layout of SciPy.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use partita_core::{Dendrogram, Merge};

/// Two clusters, known by their smallest objects, become one, known by the left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merged {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) height: f64,
    /// Of merges at the same height, those of an earlier stage come first.
    pub(crate) stage: u8,
}

impl Merged {
    pub(crate) fn new(a: u32, b: u32, height: f64) -> Self {
        Self {
            left: a.min(b),
            right: a.max(b),
            height,
            stage: 1,
        }
    }
}

/// The tree of merges that come in an order of their own.
pub(crate) fn as_they_come(merged: &[Merged], weights: &[u32]) -> Dendrogram {
    let n = weights.len();
    let mut node: Vec<u32> = (0..n as u32).collect();
    let mut sizes = weights.to_vec();
    let merge = |(at, merged): (usize, &Merged)| {
        let (left, right) = (merged.left as usize, merged.right as usize);
        let (a, b) = (node[left], node[right]);
        node[left] = (n + at) as u32;
        sizes[left] += sizes[right];
        Merge {
            left: a.min(b),
            right: a.max(b),
            height: merged.height,
            size: sizes[left],
        }
    };
    Dendrogram::new(n, merged.iter().enumerate().map(merge).collect())
}

/// A merge whose parts are there, in the order of height, stage, left and right.
struct Ready(Merged, usize);

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |merged: &Merged| (merged.stage, merged.left, merged.right);
        self.0
            .height
            .total_cmp(&other.0.height)
            .then(rank(&self.0).cmp(&rank(&other.0)))
    }
}

/// The tree of merges of which each comes after those of its parts, lowest first; ties in the order of the slots.
/// Where rounding would put a merge below one of its parts, it is raised to that.
pub(crate) fn in_order(mut merged: Vec<Merged>, weights: &[u32]) -> Dendrogram {
    let none = usize::MAX;
    let mut last = vec![none; weights.len()];
    let (mut parent, mut parts) = (vec![none; merged.len()], vec![0u8; merged.len()]);
    for at in 0..merged.len() {
        let (left, right) = (merged[at].left as usize, merged[at].right as usize);
        for part in [last[left], last[right]]
            .into_iter()
            .filter(|&part| part != none)
        {
            merged[at].height = merged[at].height.max(merged[part].height);
            (parent[part], parts[at]) = (at, parts[at] + 1);
        }
        last[left] = at;
    }
    let ready = |at: usize| Reverse(Ready(merged[at], at));
    let mut heap: BinaryHeap<_> = (0..merged.len())
        .filter(|&at| parts[at] == 0)
        .map(ready)
        .collect();
    let mut sorted = Vec::with_capacity(merged.len());
    while let Some(Reverse(Ready(_, at))) = heap.pop() {
        sorted.push(merged[at]);
        if parent[at] != none {
            parts[parent[at]] -= 1;
            if parts[parent[at]] == 0 {
                heap.push(ready(parent[at]));
            }
        }
    }
    as_they_come(&sorted, weights)
}

/// The tree over objects, from the tree over groups of identical ones: the objects of a group merge at height 0
/// before anything else does. `group` is the leaf of every object.
///
/// # Panics
/// If a leaf has no object, or an object no leaf.
pub fn unfold(tree: &Dendrogram, group: &[u32]) -> Dendrogram {
    tree.unfolded(group)
}

/// [`unfold`] when the objects of group `g` merge at `heights[g]`, which is not above the height at which the group
/// merges with another. Merges are in order of height; of equals those inside groups come first.
///
/// # Panics
/// As [`unfold`], and if there is not one height a leaf.
pub fn unfold_at(tree: &Dendrogram, group: &[u32], heights: &[f64]) -> Dendrogram {
    assert_eq!(heights.len(), tree.objects(), "one height a leaf");
    let mut slots = vec![u32::MAX; tree.objects()];
    let mut merged = Vec::with_capacity(group.len().saturating_sub(1));
    for (object, &group) in group.iter().enumerate() {
        let slot = &mut slots[group as usize];
        if *slot == u32::MAX {
            *slot = object as u32;
        } else {
            merged.push(Merged {
                stage: 0,
                ..Merged::new(*slot, object as u32, heights[group as usize])
            });
        }
    }
    assert!(
        !slots.contains(&u32::MAX),
        "every leaf stands for an object"
    );
    for merge in tree.merges() {
        let (a, b) = (slots[merge.left as usize], slots[merge.right as usize]);
        merged.push(Merged::new(a, b, merge.height));
        slots.push(a.min(b));
    }
    in_order(merged, &vec![1; group.len()])
}
