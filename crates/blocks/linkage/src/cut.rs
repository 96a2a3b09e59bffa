//! Partitions from trees.

use partita_core::{Dendrogram, Partition};

/// The partition into `clusters` clusters, which undoes the last `clusters − 1` merges; numbered in the order
/// in which they first appear. More clusters than objects give one cluster an object, 0 counts as 1.
pub fn cut(tree: &Dendrogram, clusters: usize) -> Partition {
    let keep = tree.merges().len().saturating_sub(clusters.max(1) - 1);
    after(tree, |at| at < keep)
}

/// The partition after all merges at or below `height`.
pub fn cut_at_height(tree: &Dendrogram, height: f64) -> Partition {
    after(tree, |at| tree.merges()[at].height <= height)
}

/// The partition that lives over the longest range of heights (Fred and Jain 2005).
///
/// See [`longest_lifetime`] for what competes.
pub fn cut_longest_lifetime(tree: &Dendrogram) -> Partition {
    cut(tree, longest_lifetime(tree))
}

/// The number of clusters that lives over the longest range of heights: the partition into k clusters lives
/// from the merge that makes it to the merge that ends it. One cluster competes only if all merges are at
/// height 0; ties go to fewer clusters. Heights are sums of fractions: lifetimes that differ by less than 1e-11 of the
/// tree's height are equal but for rounding, and count as ties.
pub fn longest_lifetime(tree: &Dendrogram) -> usize {
    const ROUNDING: f64 = 1e-11;
    let merges = tree.merges();
    let same = ROUNDING * merges.last().map_or(0.0, |merge| merge.height);
    let mut best = 1;
    let mut longest = 0.0;
    for clusters in 2..=tree.objects() {
        let ends = merges.len() + 1 - clusters;
        let begins = ends.checked_sub(1).map_or(0.0, |at| merges[at].height);
        let lifetime = merges[ends].height - begins;
        if lifetime > longest + same {
            best = clusters;
            longest = lifetime;
        }
    }
    best
}

/// The objects in the order of the tree's leaves, left before right: every cluster stands together. Good for pictures.
pub fn leaf_order(tree: &Dendrogram) -> Vec<u32> {
    let n = tree.objects();
    let mut order = Vec::with_capacity(n);
    let nodes = n + tree.merges().len();
    let mut open: Vec<u32> = nodes
        .checked_sub(1)
        .map(|root| root as u32)
        .into_iter()
        .collect();
    while let Some(node) = open.pop() {
        match (node as usize).checked_sub(n) {
            None => order.push(node),
            Some(merge) => open.extend([tree.merges()[merge].right, tree.merges()[merge].left]),
        }
    }
    order
}

/// The groups that the chosen merges make, numbered in the order in which they first appear.
fn after(tree: &Dendrogram, chosen: impl Fn(usize) -> bool) -> Partition {
    let n = tree.objects();
    let mut parent: Vec<u32> = (0..(n + tree.merges().len()) as u32).collect();
    for (at, merge) in tree.merges().iter().enumerate() {
        if chosen(at) {
            parent[merge.left as usize] = (n + at) as u32;
            parent[merge.right as usize] = (n + at) as u32;
        }
    }
    for node in (0..parent.len()).rev() {
        parent[node] = parent[parent[node] as usize];
    }
    Partition::from_values(&parent[..n]).by_appearance()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Linkage, link};

    /// Points 0, 1, 5, 7 on a line.
    fn tree() -> Dendrogram {
        link(vec![1.0, 5.0, 7.0, 4.0, 6.0, 2.0], 4, Linkage::Average).unwrap()
    }

    #[test]
    fn cuts_by_number_height_and_lifetime() {
        let tree = tree();
        assert_eq!(cut(&tree, 1).labels(), [0, 0, 0, 0]);
        assert_eq!(cut(&tree, 2).labels(), [0, 0, 1, 1]);
        assert_eq!(cut(&tree, 3).labels(), [0, 0, 1, 2]);
        assert_eq!(cut(&tree, 9).clusters(), 4);
        assert_eq!(cut_at_height(&tree, 0.5).clusters(), 4);
        assert_eq!(cut_at_height(&tree, 2.0).clusters(), 2);
        assert_eq!(cut_longest_lifetime(&tree).clusters(), 2);
    }

    /// 0.3 − 0.2 is less than 0.2 − 0.1 by rounding, and 1/10 as well.
    #[test]
    fn equal_lifetimes_are_ties_whatever_rounding_says() {
        let tree = link(vec![0.1, 0.9, 0.9, 0.2, 0.9, 0.3], 4, Linkage::Single).unwrap();
        let heights: Vec<f64> = tree.merges().iter().map(|merge| merge.height).collect();
        assert_eq!(heights, [0.1, 0.2, 0.3]);
        assert!(heights[2] - heights[1] < heights[1] - heights[0]);
        assert_eq!(longest_lifetime(&tree), 2);
    }

    #[test]
    fn leaves_of_a_cluster_stand_together() {
        // Points 5, 0, 7, 1 on a line.
        let tree = link(vec![5.0, 2.0, 4.0, 7.0, 1.0, 6.0], 4, Linkage::Average).unwrap();
        assert_eq!(leaf_order(&tree), [1, 3, 0, 2]);
        assert_eq!(leaf_order(&link(vec![], 1, Linkage::Single).unwrap()), [0]);
    }

    #[test]
    fn what_is_all_the_same_is_one_cluster() {
        let same = link(vec![0.0; 3], 3, Linkage::Single).unwrap();
        assert_eq!(longest_lifetime(&same), 1);
        let one = link(vec![], 1, Linkage::Single).unwrap();
        assert_eq!(longest_lifetime(&one), 1);
    }
}
