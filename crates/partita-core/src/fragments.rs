//! Objects whose label rows are identical.

use std::cmp::Ordering;

use ndarray::ArrayView2;

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
        let Some(weights) = multiplicities else { return self.weights.iter().copied().map(f64::from).collect() };
        let mut sums = vec![0.0; self.weights.len()];
        self.of_object.iter().zip(weights).for_each(|(&leaf, weight)| sums[leaf as usize] += weight);
        sums
    }

    /// The fragment of every object, n values.
    pub fn of_object(&self) -> &[u32] {
        &self.of_object
    }

    /// A value for every object from a value for every fragment.
    pub fn expand<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.of_object.iter().map(|&f| values[f as usize].clone()).collect()
    }
}

impl Ensemble {
    /// Collapses identical label rows (a missing label equals a missing label), or rows of equal shares.
    ///
    /// # Cost
    /// O(n M log n) time, 8 n bytes besides the fragments.
    pub fn fragments(&self) -> Fragments {
        fn sort<L: Label>(rows: ArrayView2<'_, L>, order: &mut [u32]) -> Vec<bool> {
            let row = |i: u32| rows.row(i as usize);
            let compare = |a: &u32, b: &u32| row(*a).iter().cmp(row(*b).iter()).then(a.cmp(b));
            order.sort_unstable_by(compare);
            let same = |a: u32, b: u32| row(a).iter().cmp(row(b).iter()) == Ordering::Equal;
            (0..order.len()).map(|at| at > 0 && same(order[at - 1], order[at])).collect()
        }
        let mut order: Vec<u32> = (0..self.objects() as u32).collect();
        let repeats = match (self.memberships(), self.rows()) {
            (Some(soft), _) => {
                order.sort_unstable_by(|&a, &b| soft.compare(a as usize, b as usize).then(a.cmp(&b)));
                let same = |at: usize| soft.compare(order[at - 1] as usize, order[at] as usize) == Ordering::Equal;
                (0..order.len()).map(|at| at > 0 && same(at)).collect()
            }
            (None, LabelRows::Bytes(rows)) => sort(rows, &mut order),
            (None, LabelRows::Words(rows)) => sort(rows, &mut order),
        };
        let mut first = vec![0u32; order.len()];
        for (at, &object) in order.iter().enumerate() {
            first[object as usize] = if repeats[at] { first[order[at - 1] as usize] } else { object };
        }
        self.collapse(&first)
    }

    /// Fragments from the first object with the same row, for every object.
    fn collapse(&self, first: &[u32]) -> Fragments {
        let (mut kept, mut weights, mut of_object) = (Vec::new(), Vec::new(), vec![0u32; first.len()]);
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
        Fragments { ensemble: self.select(&kept, &bases), weights, of_object }
    }
}

#[cfg(test)]
mod tests {
    use crate::EnsembleBuilder;

    #[test]
    fn fragments_are_the_distinct_rows_in_order_of_appearance() {
        let mut builder = EnsembleBuilder::new(5);
        builder.push("a", [Some(1), Some(0), Some(1), None, None]).unwrap();
        builder.push("b", [Some(0), Some(0), Some(0), Some(1), Some(1)]).unwrap();
        let ensemble = builder.finish().unwrap();
        let fragments = ensemble.fragments();
        assert_eq!(fragments.weights(), [2, 1, 2]);
        assert_eq!(fragments.of_object(), [0, 1, 0, 2, 2]);
        for object in 0..5 {
            let fragment = fragments.of_object()[object] as usize;
            for u in 0..2 {
                assert_eq!(ensemble.label(object, u), fragments.ensemble().label(fragment, u));
            }
        }
        assert_eq!(fragments.expand(&["x", "y", "z"]), ["x", "y", "x", "z", "z"]);
    }
}
