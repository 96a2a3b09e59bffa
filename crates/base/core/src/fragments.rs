//! Objects whose label rows are identical.

use std::cmp::Ordering;

use ndarray::ArrayView2;

use crate::row_hash::{RowHash, sorted_by_hash};
use crate::{Ensemble, LEAF_WEIGHTS, Label, LabelRows, whole_multiplicities};

/// The distinct label rows of an ensemble, with how often each occurs.
///
/// No method that reads only labels can tell the objects of one fragment apart. Working on fragments with
/// their weights is exact and, on some ensembles, much smaller.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragments {
    ensemble: Ensemble,
    weights: Vec<u32>,
    of_object: Vec<u32>,
}

impl Fragments {
    /// One object a fragment, in the order in which the fragments first occur.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Objects in each fragment.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// What every fragment counts in a tree of whole numbers: its objects, or the sum of their weights by [`whole_multiplicities`], of
    /// which products of two are still fine enough.
    pub fn leaf_weights(&self, multiplicities: Option<&[f64]>) -> Vec<u32> {
        match multiplicities {
            None => self.weights.clone(),
            Some(_) => whole_multiplicities(&self.masses(multiplicities), LEAF_WEIGHTS),
        }
    }

    /// What every fragment counts: its objects, or the sum of their weights.
    pub fn masses(&self, multiplicities: Option<&[f64]>) -> Vec<f64> {
        let Some(weights) = multiplicities else {
            return self.weights.iter().copied().map(f64::from).collect();
        };
        let mut sums = vec![0.0; self.weights.len()];
        self.of_object
            .iter()
            .zip(weights)
            .for_each(|(&leaf, weight)| sums[leaf as usize] += weight);
        sums
    }

    /// The fragment of every object, n values.
    pub fn of_object(&self) -> &[u32] {
        &self.of_object
    }

    /// A value for every object from a value for every fragment.
    pub fn expand<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.of_object
            .iter()
            .map(|&f| values[f as usize].clone())
            .collect()
    }
}

impl Ensemble {
    /// Collapses identical label rows (a missing label equals a missing label), or rows of equal shares.
    ///
    /// # Cost
    /// O(n M + n log n) time, 20 n bytes besides the fragments.
    pub fn fragments(&self) -> Fragments {
        let first = match (self.memberships(), self.rows()) {
            (Some(soft), _) => {
                first_equal(self.objects(), |i| soft.hash(i), |a, b| soft.compare(a, b))
            }
            (None, LabelRows::Bytes(rows)) => first_equal_row(rows),
            (None, LabelRows::Words(rows)) => first_equal_row(rows),
        };
        self.collapse(&first)
    }

    /// Fragments from the first object with the same row, for every object.
    fn collapse(&self, first: &[u32]) -> Fragments {
        let (mut kept, mut weights, mut of_object) =
            (Vec::new(), Vec::new(), vec![0u32; first.len()]);
        for (object, &first) in first.iter().enumerate() {
            let fragment = if first as usize == object {
                kept.push(first);
                weights.push(0);
                kept.len() as u32 - 1
            } else {
                of_object[first as usize]
            };
            weights[fragment as usize] += 1;
            of_object[object] = fragment;
        }
        let bases: Vec<u32> = (0..self.bases().len() as u32).collect();
        Fragments {
            ensemble: self.select(&kept, &bases),
            weights,
            of_object,
        }
    }
}

/// The first row that equals each.
fn first_equal_row<L: Label>(rows: ArrayView2<'_, L>) -> Vec<u32> {
    let rows = rows.as_standard_layout();
    let row = |i: usize| {
        rows.row(i)
            .to_slice()
            .expect("standard layout is contiguous")
    };
    first_equal(
        rows.nrows(),
        |i| RowHash(0).of(row(i)),
        |a, b| row(a).cmp(row(b)),
    )
}

/// The first thing that equals each.
fn first_equal(
    count: usize,
    hash: impl Fn(usize) -> u64,
    compare: impl Fn(usize, usize) -> Ordering,
) -> Vec<u32> {
    let hashes: Vec<u64> = (0..count).map(hash).collect();
    let order = sorted_by_hash(&hashes, &compare);
    let equal = |a: usize, b: usize| hashes[a] == hashes[b] && compare(a, b) == Ordering::Equal;
    let mut first: Vec<u32> = (0..count as u32).collect();
    for pair in order
        .windows(2)
        .map(|pair| [pair[0] as usize, pair[1] as usize])
    {
        if equal(pair[0], pair[1]) {
            first[pair[1]] = first[pair[0]];
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use crate::EnsembleBuilder;

    #[test]
    fn fragments_are_the_distinct_rows_in_order_of_appearance() {
        let mut builder = EnsembleBuilder::new(5);
        builder
            .push("a", [Some(1), Some(0), Some(1), None, None])
            .unwrap();
        builder
            .push("b", [Some(0), Some(0), Some(0), Some(1), Some(1)])
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let fragments = ensemble.fragments();
        assert_eq!(fragments.weights(), [2, 1, 2]);
        assert_eq!(fragments.of_object(), [0, 1, 0, 2, 2]);
        for object in 0..5 {
            let fragment = fragments.of_object()[object] as usize;
            for u in 0..2 {
                assert_eq!(
                    ensemble.label(object, u),
                    fragments.ensemble().label(fragment, u)
                );
            }
        }
        assert_eq!(
            fragments.expand(&["x", "y", "z"]),
            ["x", "y", "x", "z", "z"]
        );
    }
}
