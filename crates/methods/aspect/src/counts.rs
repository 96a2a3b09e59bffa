//! Co-occurrence counts of pairs of objects, as the model reads them.

use std::ops::Range;

use partita_coassoc::{CoAssociation, Counts, SparseEvidence, square};
use partita_kernels::LANES;
use rayon::prelude::*;

/// Where fewer than one pair in so many was ever together, only those are kept.
const RARE: usize = 8;

/// Counts in as many bytes as they need, or as numbers where objects have weights.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Wide(Vec<u32>),
    /// Times the weights of both objects.
    Reals(Vec<f64>),
}

impl Values {
    fn into_reals(self) -> Vec<f64> {
        match self {
            Self::Bytes(counts) => counts.into_iter().map(f64::from).collect(),
            Self::Words(counts) => counts.into_iter().map(f64::from).collect(),
            Self::Wide(counts) => counts.into_iter().map(f64::from).collect(),
            Self::Reals(counts) => counts,
        }
    }

    fn sum(&self, range: Range<usize>) -> f64 {
        fn sum<T: Copy + Into<f64>>(counts: &[T]) -> f64 {
            counts.iter().map(|&count| count.into()).sum()
        }
        match self {
            Self::Bytes(counts) => sum(&counts[range]),
            Self::Words(counts) => sum(&counts[range]),
            Self::Wide(counts) => sum(&counts[range]),
            Self::Reals(counts) => sum(&counts[range]),
        }
    }
}

/// The pairs that were ever together: partners ascending, those of object `i` from `starts[i]` to `starts[i + 1]`.
#[derive(Clone, Debug)]
pub(crate) struct SomePairs {
    starts: Vec<usize>,
    partners: Vec<u32>,
}

/// How often every pair of different objects is together, c: symmetric, each pair stored in both directions. An object with itself
/// counts only where [`weighted`](Self::weighted) says so.
///
/// Pairs that were never together do not enter the likelihood; where they are the rule, only the others are stored.
#[derive(Clone, Debug)]
pub struct DyadCounts {
    pub(crate) objects: usize,
    /// Object by object: `stride` counts each, or those of `some`.
    pub(crate) values: Values,
    stride: usize,
    some: Option<SomePairs>,
    /// `Σ_j c_ij` of every object.
    degrees: Vec<f64>,
    /// What a part of a stored count is worth: 1 unless base clusterings have weights.
    pub(crate) scale: f64,
    /// What objects stand for, where some stand for several.
    pub(crate) copies: Option<Copies>,
}

/// Objects that stand for several.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    /// How many every object stands for.
    pub(crate) times: Vec<f64>,
    /// How often the copies of every object are together, ordered pairs, in stored parts: `w (w − 1) c_ii`, none for w below 1; with the
    /// diagonal `w² c_ii`.
    pub(crate) among: Vec<f64>,
    /// What the log-likelihood of the copies has besides: `−Σ_i degree_i ln w_i`, each having 1 / w of the object's probability.
    pub(crate) constant: f64,
}

impl DyadCounts {
    /// The counts of all pairs.
    pub fn dense(pairs: &CoAssociation) -> Self {
        let objects = pairs.objects();
        let stride = objects.next_multiple_of(LANES);
        let values = match pairs.together() {
            Counts::Bytes(c) if !rare(c) => Values::Bytes(square(c, objects, stride)),
            Counts::Words(c) if !rare(c) => Values::Words(square(c, objects, stride)),
            Counts::Wide(c) if !rare(c) => Values::Wide(square(c, objects, stride)),
            _ => {
                let (some, values) = together(objects, pairs.unit(), |i| {
                    let others = (0..objects as u32).filter(move |&j| j as usize != i);
                    others.map(move |j| (j, pairs.pair(i, j as usize).0))
                });
                return Self::of(objects, values, Some(some), pairs.scale());
            }
        };
        Self::of(objects, values, None, pairs.scale())
    }

    /// The counts of some pairs; the others count as never together.
    pub fn sparse(pairs: &SparseEvidence) -> Self {
        let objects = pairs.objects();
        let (some, values) = together(objects, pairs.unit(), |i| {
            pairs.row(i).map(|(j, c, _)| (j, c))
        });
        Self::of(objects, values, Some(some), pairs.scale())
    }

    fn of(objects: usize, values: Values, some: Option<SomePairs>, scale: f64) -> Self {
        let mut counts = Self {
            objects,
            values,
            stride: objects.next_multiple_of(LANES),
            some,
            degrees: Vec::new(),
            scale,
            copies: None,
        };
        let sums = (0..objects)
            .into_par_iter()
            .map(|i| counts.values.sum(counts.range(i)));
        counts.degrees = sums.map(|sum| scale * sum).collect();
        counts
    }

    /// Where the counts of object `i` are.
    pub(crate) fn range(&self, i: usize) -> Range<usize> {
        match &self.some {
            Some(some) => some.starts[i]..some.starts[i + 1],
            None => i * self.stride..(i + 1) * self.stride,
        }
    }

    /// The objects that the counts of object `i` are of, where these are not all objects in order.
    pub(crate) fn partners(&self, i: usize) -> Option<&[u32]> {
        let some = self.some.as_ref()?;
        Some(&some.partners[self.range(i)])
    }

    /// The same where an object of weight w is w copies: a count times the weights of both objects, and with itself w (w − 1) times what
    /// `with_copy` says (c and N of the object and a copy of it, see [`copy_counts`](partita_coassoc::copy_counts)), nothing where w is
    /// below 1. With the `diagonal` every copy is a pair with itself too: w² times.
    ///
    /// # Panics
    /// If there is not one weight an object, and its counts with a copy.
    #[must_use]
    pub fn weighted(mut self, weights: &[f64], with_copy: &[(u32, u32)], diagonal: bool) -> Self {
        assert!(
            [weights.len(), with_copy.len()] == [self.objects; 2],
            "one weight an object, and its counts with a copy"
        );
        let copies = weights.iter().zip(with_copy);
        let among: Vec<f64> = copies
            .map(|(weight, &(c, _))| {
                let own = if diagonal {
                    weight * weight
                } else {
                    (weight * (weight - 1.0)).max(0.0)
                };
                own * f64::from(c)
            })
            .collect();
        let mut reals = self.values.into_reals();
        if let Some(some) = &mut self.some {
            reals = some.weighted(&reals, weights, &among);
        } else {
            for (i, row) in reals.chunks_exact_mut(self.stride.max(1)).enumerate() {
                for (count, other) in row.iter_mut().zip(weights) {
                    *count *= weights[i] * other;
                }
                row[i] = among[i];
            }
        }
        let mut made = Self::of(self.objects, Values::Reals(reals), self.some, self.scale);
        let degrees = made
            .degrees
            .iter()
            .zip(weights)
            .filter(|(degree, _)| **degree > 0.0);
        let constant = degrees.map(|(degree, weight)| -degree * weight.ln()).sum();
        let times = weights.to_vec();
        made.copies = Some(Copies {
            times,
            among,
            constant,
        });
        made
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

impl SomePairs {
    /// The counts times the weights of both objects; an object with copies becomes a partner of itself.
    fn weighted(&mut self, counts: &[f64], weights: &[f64], among: &[f64]) -> Vec<f64> {
        let mut made = Self {
            starts: vec![0],
            partners: Vec::new(),
        };
        let mut reals = Vec::new();
        for (i, ends) in self.starts.windows(2).enumerate() {
            let mut row = Vec::with_capacity(ends[1] - ends[0] + 1);
            for at in ends[0]..ends[1] {
                let j = self.partners[at];
                row.push((j, counts[at] * weights[i] * weights[j as usize]));
            }
            if among[i] > 0.0 {
                row.push((i as u32, among[i]));
                row.sort_unstable_by_key(|(other, _)| *other);
            }
            for (other, count) in row {
                made.partners.push(other);
                reals.push(count);
            }
            made.starts.push(made.partners.len());
        }
        *self = made;
        reals
    }
}

fn rare<T: Copy + Default + PartialEq>(triangle: &[T]) -> bool {
    let together = triangle.iter().filter(|&&count| count != T::default());
    together.count() < triangle.len() / RARE
}

/// The pairs of every object with a positive count of at most `unit`, and these counts.
fn together<R: Iterator<Item = (u32, u32)>>(
    objects: usize,
    unit: u32,
    row: impl Fn(usize) -> R,
) -> (SomePairs, Values) {
    let wide = unit > u32::from(u16::MAX);
    let mut starts = vec![0];
    let mut partners = Vec::new();
    let mut words = Vec::new();
    let mut counts = Vec::new();
    for i in 0..objects {
        for (j, c) in row(i).filter(|(_, c)| *c > 0) {
            partners.push(j);
            if wide {
                counts.push(c);
            } else {
                words.push(c as u16);
            }
        }
        starts.push(partners.len());
    }
    let values = if wide {
        Values::Wide(counts)
    } else {
        Values::Words(words)
    };
    (SomePairs { starts, partners }, values)
}
