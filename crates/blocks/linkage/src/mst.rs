//! Minimum spanning tree, which is single link: grown from one object without a matrix, or of a sparse graph.

use partita_core::{Dendrogram, Monitor};

use crate::merges::{Merged, in_order};
use crate::rows::report;
use crate::{LinkageError, Rows};

/// The tree under single link. Of objects at the same distance the smallest is reached first.
pub(crate) fn minimum_spanning_tree(
    rows: &dyn Rows,
    weights: &[u32],
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    let n = rows.objects();
    let reached_already = u64::MAX;
    let mut row = vec![0u32; n];
    let mut from = vec![0u32; n];
    let mut distance = vec![u64::MAX - 1; n];
    let mut edges = Vec::with_capacity(n - 1);
    let mut at = 0;
    for reached in 1..n {
        distance[at] = reached_already;
        rows.fill(at, &mut row);
        for ((distance, from), &here) in distance.iter_mut().zip(&mut from).zip(&row) {
            if *distance != reached_already && u64::from(here) < *distance {
                (*distance, *from) = (u64::from(here), at as u32);
            }
        }
        at = (0..n)
            .min_by_key(|&object| distance[object])
            .expect("there are objects");
        let other = from[at].min(at as u32);
        edges.push((distance[at], other, from[at].max(at as u32)));
        report(monitor, reached, n - 1)?;
    }
    edges.sort_unstable();
    let unit = rows.unit() as f64;
    let edges = edges.into_iter().map(|(d, i, j)| (d as f64 / unit, i, j));
    Ok(in_order(merges_along(edges, n), weights))
}

/// The merges along edges: length, and two objects. Edges inside a cluster are skipped.
fn merges_along(edges: impl Iterator<Item = (f64, u32, u32)>, objects: usize) -> Vec<Merged> {
    let mut slots = Slots::new(objects);
    let mut merged = Vec::with_capacity(objects.saturating_sub(1));
    for (length, i, j) in edges {
        if let Some((one, other)) = slots.join(i, j) {
            merged.push(Merged::new(one, other, length));
        }
    }
    merged
}

/// The tree under single link of a sparse graph: `edges` are (dissimilarity, object, object), and what no path joins
/// merges at the height `apart`. Of edges of the same length those of the smallest objects come first.
///
/// # Errors
/// [`LinkageError::Edge`] for an edge that does not join two objects or whose length is not in 0..=`apart`.
///
/// # Cost
/// O(m log m) time for m edges, O(n) memory besides them.
pub fn link_edges(
    objects: usize,
    mut edges: Vec<(f64, u32, u32)>,
    apart: f64,
) -> Result<Dendrogram, LinkageError> {
    let wrong = |&&(length, i, j): &&(f64, u32, u32)| {
        i == j || i.max(j) as usize >= objects || !(0.0..=apart).contains(&length)
    };
    if let Some(&(length, left, right)) = edges.iter().find(wrong) {
        return Err(LinkageError::Edge {
            left,
            right,
            length,
            objects,
        });
    }
    edges
        .iter_mut()
        .for_each(|(_, i, j)| (*i, *j) = ((*i).min(*j), (*i).max(*j)));
    // Lengths are not negative, so that their bits are in their order. One number is compared quicker than three.
    let key = |&(length, i, j): &(f64, u32, u32)| {
        u128::from((length + 0.0).to_bits()) << 64 | u128::from(i) << 32 | u128::from(j)
    };
    edges.sort_unstable_by_key(key);
    let bridges = (1..objects as u32).map(|object| (apart, 0, object));
    let merged = merges_along(edges.into_iter().chain(bridges), objects);
    Ok(in_order(merged, &vec![1; objects]))
}

/// Clusters by their smallest objects.
pub(crate) struct Slots(Vec<u32>);

impl Slots {
    pub(crate) fn new(objects: usize) -> Self {
        Self((0..objects as u32).collect())
    }

    pub(crate) fn find(&mut self, mut object: u32) -> u32 {
        while self.0[object as usize] != object {
            self.0[object as usize] = self.0[self.0[object as usize] as usize];
            object = self.0[object as usize];
        }
        object
    }

    /// Joins the clusters of two objects and says which they were, unless they are the same.
    pub(crate) fn join(&mut self, i: u32, j: u32) -> Option<(u32, u32)> {
        let one = self.find(i);
        let other = self.find(j);
        self.0[one.max(other) as usize] = one.min(other);
        (one != other).then_some((one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Linkage, cut, link};

    #[test]
    fn a_full_graph_gives_the_single_link_tree_and_an_empty_one_stays_apart() {
        let lengths = vec![1.0, 5.0, 7.0, 4.0, 6.0, 2.0];
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let edges = lengths
            .iter()
            .zip(pairs)
            .map(|(&length, (i, j))| (length, j, i))
            .collect();
        assert_eq!(link_edges(4, edges, 9.0), link(lengths, 4, Linkage::Single));

        let forest = link_edges(4, vec![(0.5, 1, 3)], 1.0).unwrap();
        assert_eq!(cut(&forest, 3).labels(), [0, 1, 2, 1]);
        assert_eq!(forest.merges()[2].height, 1.0);
        assert!(link_edges(4, vec![(0.5, 1, 4)], 1.0).is_err());
        assert!(link_edges(4, vec![(f64::NAN, 1, 2)], 1.0).is_err());
    }
}
