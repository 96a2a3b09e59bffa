//! Co-occurrence counts of pairs of objects, as the model reads them.

use partita_coassoc::{CoAssociation, Counts, SparseEvidence, square};
use rayon::prelude::*;

use partita_kernels::LANES;

/// Where fewer than one pair in so many was ever together, only those are kept.
const RARE: usize = 8;

#[derive(Clone, Debug)]
pub(crate) enum Store {
    /// Object by object, `stride` counts each.
    Bytes(Vec<u8>),
    /// The same in two bytes a count.
    Words(Vec<u16>),
    /// The same in four.
    Wide(Vec<u32>),
    /// The same as numbers, times the weights of both objects.
    Reals(Vec<f64>),
    /// The pairs that were ever together: partners ascending, from `starts[i]` to `starts[i + 1]`.
    Some { starts: Vec<usize>, partners: Vec<u32>, counts: Rare },
}

/// Counts of pairs that were ever together.
#[derive(Clone, Debug)]
pub(crate) enum Rare {
    Words(Vec<u16>),
    Wide(Vec<u32>),
    Reals(Vec<f64>),
}

/// How often every pair of different objects is together, c: symmetric, each pair stored in both directions.
///
/// Pairs that were never together do not enter the likelihood; where they are the rule, only the others are stored.
#[derive(Clone, Debug)]
pub struct DyadCounts {
    pub(crate) objects: usize,
    pub(crate) stride: usize,
    pub(crate) store: Store,
    /// `Σ_j c_ij` of every object.
    pub(crate) degrees: Vec<f64>,
    /// What a part of a stored count is worth: 1 unless base clusterings have weights.
    pub(crate) scale: f64,
}

impl DyadCounts {
    /// The counts of all pairs.
    pub fn dense(pairs: &CoAssociation) -> Self {
        let objects = pairs.objects();
        let stride = objects.next_multiple_of(LANES);
        let store = match pairs.together() {
            Counts::Bytes(triangle) if !rare(triangle) => Store::Bytes(square(triangle, objects, stride)),
            Counts::Words(triangle) if !rare(triangle) => Store::Words(square(triangle, objects, stride)),
            Counts::Wide(triangle) if !rare(triangle) => Store::Wide(square(triangle, objects, stride)),
            _ => rows(objects, pairs.unit(), |i, take| {
                let both = |j: usize| pairs.pair(i, j).0;
                (0..objects).filter(|&j| j != i).for_each(|j| take(j as u32, both(j)));
            }),
        };
        Self::of(objects, stride, store, pairs.scale())
    }

    /// The counts of some pairs; the others count as never together.
    pub fn sparse(pairs: &SparseEvidence) -> Self {
        let objects = pairs.objects();
        let store = rows(objects, pairs.unit(), |i, take| pairs.row(i).for_each(|(j, c, _)| take(j, c)));
        Self::of(objects, objects.next_multiple_of(LANES), store, pairs.scale())
    }

    fn of(objects: usize, stride: usize, store: Store, scale: f64) -> Self {
        fn sum<T: Copy + Into<f64>>(counts: &[T]) -> f64 {
            counts.iter().map(|&c| c.into()).sum()
        }
        let sum = |i: usize| {
            let row = i * stride..(i + 1) * stride;
            scale
                * match &store {
                    Store::Bytes(counts) => sum(&counts[row]),
                    Store::Words(counts) => sum(&counts[row]),
                    Store::Wide(counts) => sum(&counts[row]),
                    Store::Reals(counts) => sum(&counts[row]),
                    Store::Some { starts, counts: Rare::Words(counts), .. } => sum(&counts[starts[i]..starts[i + 1]]),
                    Store::Some { starts, counts: Rare::Wide(counts), .. } => sum(&counts[starts[i]..starts[i + 1]]),
                    Store::Some { starts, counts: Rare::Reals(counts), .. } => sum(&counts[starts[i]..starts[i + 1]]),
                }
        };
        let degrees = (0..objects).into_par_iter().map(sum).collect();
        Self { objects, stride, store, degrees, scale }
    }

    /// The same where objects stand for so many: a count times the weights of both objects. Pairs among those that one object stands
    /// for are left out, as is a pair of an object with itself.
    ///
    /// # Panics
    /// If there is not one weight an object.
    #[must_use]
    pub fn weighted(self, weights: &[f64]) -> Self {
        fn numbers<T: Copy + Into<f64>>(counts: &[T]) -> Vec<f64> {
            counts.iter().map(|&count| count.into()).collect()
        }
        assert_eq!(weights.len(), self.objects, "one weight an object");
        let (objects, stride) = (self.objects, self.stride);
        let all = |mut counts: Vec<f64>| {
            for (row, own) in counts.chunks_exact_mut(stride.max(1)).zip(weights) {
                row.iter_mut().zip(weights).for_each(|(count, other)| *count *= own * other);
            }
            Store::Reals(counts)
        };
        let store = match self.store {
            Store::Bytes(counts) => all(numbers(&counts)),
            Store::Words(counts) => all(numbers(&counts)),
            Store::Wide(counts) => all(numbers(&counts)),
            Store::Reals(counts) => all(counts),
            Store::Some { starts, partners, counts } => {
                let mut counts = match counts {
                    Rare::Words(counts) => numbers(&counts),
                    Rare::Wide(counts) => numbers(&counts),
                    Rare::Reals(counts) => counts,
                };
                for (ends, own) in starts.windows(2).zip(weights) {
                    let row = counts[ends[0]..ends[1]].iter_mut().zip(&partners[ends[0]..ends[1]]);
                    row.for_each(|(count, &other)| *count *= own * weights[other as usize]);
                }
                Store::Some { starts, partners, counts: Rare::Reals(counts) }
            }
        };
        Self::of(objects, stride, store, self.scale)
    }

    /// Bytes held at once while the counts of all pairs are laid out, besides the triangles they are read from.
    pub const fn bytes(objects: usize, base_clusterings: usize) -> u64 {
        let n = objects as u64;
        n * (n + LANES as u64) * if base_clusterings <= 255 { 1 } else { 2 }
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// How often objects are together, all unordered pairs counted: the sample size of the likelihood.
    pub fn total(&self) -> f64 {
        self.degrees.iter().sum::<f64>() / 2.0
    }

    /// Objects that are never together with another.
    pub fn alone(&self) -> usize {
        self.degrees.iter().filter(|&&degree| degree == 0.0).count()
    }
}

fn rare<T: Copy + Default + PartialEq>(triangle: &[T]) -> bool {
    triangle.iter().filter(|&&count| count != T::default()).count() < triangle.len() / RARE
}

/// The pairs of every object with a positive count of at most `unit`.
fn rows(objects: usize, unit: u32, each: impl Fn(usize, &mut dyn FnMut(u32, u32))) -> Store {
    let wide = unit > u32::from(u16::MAX);
    let (mut starts, mut partners, mut narrow, mut counts) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for i in 0..objects {
        each(i, &mut |j, c| {
            if c > 0 {
                partners.push(j);
                if wide { counts.push(c) } else { narrow.push(c as u16) }
            }
        });
        starts.push(partners.len());
    }
    Store::Some { starts, partners, counts: if wide { Rare::Wide(counts) } else { Rare::Words(narrow) } }
}
