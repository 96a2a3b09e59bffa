//! Genie: hierarchical clustering over a minimum spanning tree that keeps cluster sizes from becoming too unequal.

use std::collections::BTreeMap;

use partita_core::Dendrogram;

use crate::merges::{Merged, as_they_come};
use crate::mst::Slots;
use crate::spanning_tree::Edge;

/// The tree of merges under Genie (Gagolewski, Bartoszuk and Cena 2016), over the edges of a minimum spanning tree.
///
/// Single link merges along the shortest edge. Genie does so while cluster sizes are about equal; when their Gini index
/// ```text
/// G = Σ_{i<j} |c_i − c_j| / ((k − 1) Σ_i c_i)
/// ```
/// exceeds the threshold, the shortest edge that leaves a smallest cluster is taken instead. Threshold 1 is single link; a small
/// one gives clusters of about the same size. [`cut`](crate::cut) with K clusters undoes the last K − 1 merges. Heights are
/// lengths of edges and may fall.
///
/// | paper | here |
/// |---|---|
/// | g, threshold of the Gini index | `gini` |
/// | c_i, sizes of the clusters | objects under the merges so far |
///
/// `edges` are n − 1 edges of a tree over `objects` objects, the shortest first, as [`spanning_tree`](crate::spanning_tree) gives
/// them; missing edges leave the objects apart until the end, where they merge at an infinite height.
///
/// # Cost
/// O(n s) time for s different sizes of clusters (at most √(2n)), O(n) memory.
///
/// # References
/// M. Gagolewski, M. Bartoszuk, A. Cena: Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm, Information
/// Sciences 363, 2016.
pub fn genie(objects: usize, edges: &[Edge], gini: f64) -> Dendrogram {
    let mut state = Merging::new(objects);
    let mut open = OpenEdges::new(edges.len());
    let mut merged = Vec::with_capacity(objects.saturating_sub(1));
    for _ in 0..edges.len() {
        let smallest = state.smallest();
        let at = if state.gini() > gini {
            open.first(smallest, |at| {
                let (_, i, j) = edges[at];
                state.size(i) == smallest || state.size(j) == smallest
            })
        } else {
            open.head()
        };
        let Some(at) = at else { break };
        open.remove(at);
        let (length, i, j) = edges[at];
        if let Some((one, other)) = state.join(i, j) {
            merged.push(Merged::new(one, other, length));
        }
    }
    for object in 1..objects as u32 {
        if let Some((one, other)) = state.join(0, object) {
            merged.push(Merged::new(one, other, f64::INFINITY));
        }
    }
    as_they_come(&merged, &vec![1; objects])
}

/// Clusters with their sizes, and how many there are of every size.
struct Merging {
    slots: Slots,
    sizes: Vec<u64>,
    often: BTreeMap<u64, u64>,
    objects: u64,
    left: u64,
}

impl Merging {
    fn new(objects: usize) -> Self {
        let n = objects as u64;
        Self {
            slots: Slots::new(objects),
            sizes: vec![1; objects],
            often: BTreeMap::from([(1, n)]),
            objects: n,
            left: n,
        }
    }

    fn size(&mut self, object: u32) -> u64 {
        self.sizes[self.slots.find(object) as usize]
    }

    fn smallest(&self) -> u64 {
        self.often.keys().next().copied().unwrap_or(0)
    }

    /// The Gini index of the sizes: rising sizes c_(1) ≤ … weigh 2i − k − 1 in the sum of their differences.
    fn gini(&self) -> f64 {
        if self.left < 2 {
            return 0.0;
        }
        let mut before = 0.0;
        let mut sum = 0.0;
        for (&size, &often) in &self.often {
            let size = size as f64;
            let often = often as f64;
            // Σ over the places i of equal sizes of 2i − k − 1.
            sum += size * often * (2.0 * before + often - self.left as f64);
            before += often;
        }
        sum / ((self.left - 1) as f64 * self.objects as f64)
    }

    fn join(&mut self, i: u32, j: u32) -> Option<(u32, u32)> {
        let (one, other) = self.slots.join(i, j)?;
        let low = one.min(other) as usize;
        let high = one.max(other) as usize;
        let a = self.sizes[low];
        let b = self.sizes[high];
        for size in [a, b] {
            if let Some(often) = self.often.get_mut(&size) {
                *often -= 1;
                if *often == 0 {
                    self.often.remove(&size);
                }
            }
        }
        *self.often.entry(a + b).or_insert(0) += 1;
        self.sizes[low] = a + b;
        self.left -= 1;
        Some((one, other))
    }
}

/// Edges that are not taken yet, in their order.
struct OpenEdges {
    next: Vec<usize>,
    before: Vec<usize>,
    /// Where the search for a smallest cluster stopped, and for which size: edges before it do not qualify.
    sought: (u64, usize),
}

impl OpenEdges {
    /// Places are counted from 1; 0 is the head and the end.
    fn new(edges: usize) -> Self {
        let places = edges + 1;
        Self {
            next: (0..places).map(|at| (at + 1) % places).collect(),
            before: (0..places).map(|at| (at + edges) % places).collect(),
            sought: (0, 0),
        }
    }

    fn head(&self) -> Option<usize> {
        self.next[0].checked_sub(1)
    }

    /// The first that qualifies. Sizes only grow: what did not qualify for a size never will.
    fn first(&mut self, size: u64, mut qualifies: impl FnMut(usize) -> bool) -> Option<usize> {
        let mut at = if self.sought.0 == size {
            self.sought.1
        } else {
            self.next[0]
        };
        while at != 0 && !qualifies(at - 1) {
            at = self.next[at];
        }
        self.sought = (size, at);
        at.checked_sub(1)
    }

    fn remove(&mut self, edge: usize) {
        let at = edge + 1;
        let before = self.before[at];
        let next = self.next[at];
        self.next[before] = next;
        self.before[next] = before;
        if self.sought.1 == at {
            self.sought.1 = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Linkage, cut, link, spanning_tree};
    use partita_core::ndarray::Array2;
    use partita_core::{Partition, Seed, Silent};
    use rand::RngExt;

    fn drawn(n: usize, d: usize, seed: u64) -> Array2<f64> {
        let mut rng = Seed::new(seed).rng();
        Array2::from_shape_fn((n, d), |_| rng.random::<f64>())
    }

    fn distance(rows: &Array2<f64>, i: usize, j: usize) -> f64 {
        let gap = &rows.row(i) - &rows.row(j);
        gap.dot(&gap).sqrt()
    }

    /// Genie by all pairs of clusters, as the paper writes it.
    fn naive(rows: &Array2<f64>, gini: f64, clusters: usize) -> Partition {
        let mut parts: Vec<Vec<usize>> = (0..rows.nrows()).map(|i| vec![i]).collect();
        while parts.len() > clusters {
            let pairs: Vec<(usize, usize)> = (0..parts.len())
                .flat_map(|a| (a + 1..parts.len()).map(move |b| (a, b)))
                .collect();
            let size = |a: usize| parts[a].len() as f64;
            let sum: f64 = pairs.iter().map(|&(a, b)| (size(a) - size(b)).abs()).sum();
            let most = ((parts.len() - 1) * rows.nrows()) as f64;
            let equal = sum / most <= gini;
            let smallest = parts.iter().map(Vec::len).min().unwrap();
            let mut nearest = (f64::INFINITY, 0, 0);
            for (a, b) in pairs {
                if !equal && parts[a].len().min(parts[b].len()) > smallest {
                    continue;
                }
                for (&i, &j) in parts[a]
                    .iter()
                    .flat_map(|i| parts[b].iter().map(move |j| (i, j)))
                {
                    let here = distance(rows, i, j);
                    if here < nearest.0 {
                        nearest = (here, a, b);
                    }
                }
            }
            let more = parts.remove(nearest.2);
            parts[nearest.1].extend(more);
        }
        let mut labels = vec![0; rows.nrows()];
        for (part, label) in parts.iter().zip(0..) {
            part.iter().for_each(|&i| labels[i] = label);
        }
        Partition::new(labels, clusters).unwrap().by_appearance()
    }

    #[test]
    fn a_tree_of_merges_is_what_all_pairs_give() {
        for seed in 0..12 {
            let rows = drawn(40 + seed as usize, 2 + seed as usize % 3, seed);
            let edges = spanning_tree(rows.view(), &Silent).unwrap();
            for gini in [0.0, 0.1, 0.3, 0.5, 0.7, 1.0] {
                let tree = genie(rows.nrows(), &edges, gini);
                for clusters in [2, 3, 7] {
                    let expected = naive(&rows, gini, clusters);
                    assert_eq!(cut(&tree, clusters), expected, "{seed} {gini} {clusters}");
                }
            }
        }
    }

    #[test]
    fn without_a_limit_it_is_single_link() {
        let rows = drawn(90, 3, 5);
        let pairs = (0..90).flat_map(|i| (i + 1..90).map(move |j| (i, j)));
        let distances = pairs.map(|(i, j)| distance(&rows, i, j)).collect();
        let single = link(distances, 90, Linkage::Single).unwrap();
        let tree = genie(90, &spanning_tree(rows.view(), &Silent).unwrap(), 1.0);
        for clusters in 1..=90 {
            assert_eq!(cut(&tree, clusters), cut(&single, clusters));
        }
    }

    #[test]
    fn copies_and_the_fewest_objects_have_an_answer() {
        let same = Array2::<f64>::zeros((9, 2));
        let edges = spanning_tree(same.view(), &Silent).unwrap();
        assert!(edges.iter().all(|edge| edge.0 == 0.0) && edges.len() == 8);
        assert_eq!(cut(&genie(9, &edges, 0.3), 3).clusters(), 3);
        let one = spanning_tree(Array2::zeros((1, 2)).view(), &Silent);
        assert_eq!(one, Ok(vec![]));
        assert_eq!(cut(&genie(1, &[], 0.3), 1).labels(), [0]);
        let two_edges = genie(4, &[(1.0, 0, 2)], 0.3);
        assert_eq!(cut(&two_edges, 3).labels(), [0, 1, 0, 2]);
    }
}
