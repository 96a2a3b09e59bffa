//! Single link: a minimum spanning tree that is grown from one object, without a matrix.

use partita_core::{Dendrogram, Watch};

use crate::merges::{Merged, in_order};
use crate::rows::tell;
use crate::{LinkageError, Rows};

/// The tree under single link. Of objects at the same distance the smallest is reached first.
pub(crate) fn spanning(rows: &dyn Rows, weights: &[u32], watch: &dyn Watch) -> Result<Dendrogram, LinkageError> {
    let n = rows.objects();
    let (mut row, mut from) = (vec![0u32; n], vec![0u32; n]);
    let (reached_already, unknown) = (u64::MAX, u64::MAX - 1);
    let mut distance = vec![unknown; n];
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
        at = (0..n).min_by_key(|&object| distance[object]).expect("there are objects");
        edges.push((distance[at], from[at].min(at as u32), from[at].max(at as u32)));
        tell(watch, reached, n - 1)?;
    }
    Ok(from_edges(edges, n, rows.unit() as f64, weights))
}

/// The tree of a spanning tree's edges: length in units, and two objects.
pub(crate) fn from_edges(mut edges: Vec<(u64, u32, u32)>, n: usize, unit: f64, weights: &[u32]) -> Dendrogram {
    edges.sort_unstable();
    let mut slot: Vec<u32> = (0..n as u32).collect();
    let find = |slot: &mut [u32], mut object: u32| {
        while slot[object as usize] != object {
            slot[object as usize] = slot[slot[object as usize] as usize];
            object = slot[object as usize];
        }
        object
    };
    let merge = |(length, one, other): (u64, u32, u32)| {
        let (one, other) = (find(&mut slot, one), find(&mut slot, other));
        slot[one.max(other) as usize] = one.min(other);
        Merged::new(one, other, length as f64 / unit)
    };
    in_order(edges.into_iter().map(merge).collect(), weights)
}
