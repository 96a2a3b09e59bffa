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
    Some {
        starts: Vec<usize>,
        partners: Vec<u32>,
        counts: Rare,
    },
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
    /// What objects stand for, where some stand for several.
    pub(crate) copies: Option<Copies>,
}

/// Objects that stand for several.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    /// How many every object stands for.
    pub(crate) times: Vec<f64>,
    /// How often the copies of every object are together, ordered pairs, in stored parts: `w (w − 1) c_ii`, none for w below 1.
    pub(crate) among: Vec<f64>,
    /// What the log-likelihood of the copies has besides: `−Σ_i degree_i ln w_i`, each having 1 / w of the object's probability.
    pub(crate) constant: f64,
}

impl DyadCounts {
    /// The counts of all pairs.
    pub fn dense(pairs: &CoAssociation) -> Self {
        let objects = pairs.objects();
        let stride = objects.next_multiple_of(LANES);
        let store = match pairs.together() {
            Counts::Bytes(triangle) if !rare(triangle) => {
                Store::Bytes(square(triangle, objects, stride))
            }
            Counts::Words(triangle) if !rare(triangle) => {
                Store::Words(square(triangle, objects, stride))
            }
            Counts::Wide(triangle) if !rare(triangle) => {
                Store::Wide(square(triangle, objects, stride))
            }
            _ => rows(objects, pairs.unit(), |i, take| {
                let both = |j: usize| pairs.pair(i, j).0;
                (0..objects)
                    .filter(|&j| j != i)
                    .for_each(|j| take(j as u32, both(j)));
            }),
        };
        Self::of(objects, stride, store, pairs.scale())
    }

    /// The counts of some pairs; the others count as never together.
    pub fn sparse(pairs: &SparseEvidence) -> Self {
        let objects = pairs.objects();
        let store = rows(objects, pairs.unit(), |i, take| {
            pairs.row(i).for_each(|(j, c, _)| take(j, c));
        });
        Self::of(
            objects,
            objects.next_multiple_of(LANES),
            store,
            pairs.scale(),
        )
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
                    Store::Some {
                        starts,
                        counts: Rare::Words(counts),
                        ..
                    } => sum(&counts[starts[i]..starts[i + 1]]),
                    Store::Some {
                        starts,
                        counts: Rare::Wide(counts),
                        ..
                    } => sum(&counts[starts[i]..starts[i + 1]]),
                    Store::Some {
                        starts,
                        counts: Rare::Reals(counts),
                        ..
                    } => sum(&counts[starts[i]..starts[i + 1]]),
                }
        };
        let degrees = (0..objects).into_par_iter().map(sum).collect();
        Self {
            objects,
            stride,
            store,
            degrees,
            scale,
            copies: None,
        }
    }

    /// The same where an object of weight w is w copies: a count times the weights of both objects, and with itself w (w − 1) times what
    /// `with_copy` says (c and N of the object and a copy of it, see [`copy_counts`](partita_coassoc::copy_counts)), nothing where w is
    /// below 1.
    ///
    /// # Panics
    /// If there is not one weight an object, and its counts with a copy.
    #[must_use]
    pub fn weighted(self, weights: &[f64], with_copy: &[(u32, u32)]) -> Self {
        assert!(
            [weights.len(), with_copy.len()] == [self.objects; 2],
            "one weight an object, and its counts with a copy"
        );
        let among = |(&weight, &(c, _)): (&f64, &(u32, u32))| {
            (weight * (weight - 1.0)).max(0.0) * f64::from(c)
        };
        let among: Vec<f64> = weights.iter().zip(with_copy).map(among).collect();
        let store = weighted_store(self.store, self.stride, weights, &among);
        let mut made = Self::of(self.objects, self.stride, store, self.scale);
        let constant = |(degree, weight): (&f64, &f64)| {
            if *degree > 0.0 {
                -degree * weight.ln()
            } else {
                0.0
            }
        };
        let constant = made.degrees.iter().zip(weights).map(constant).sum();
        made.copies = Some(Copies {
            times: weights.to_vec(),
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

/// Counts times the weights of both objects, and what is counted among the copies of every object in its own place.
fn weighted_store(store: Store, stride: usize, weights: &[f64], among: &[f64]) -> Store {
    fn numbers<T: Copy + Into<f64>>(counts: &[T]) -> Vec<f64> {
        counts.iter().map(|&count| count.into()).collect()
    }
    let all = |mut counts: Vec<f64>| {
        for (i, row) in counts.chunks_exact_mut(stride.max(1)).enumerate() {
            row.iter_mut()
                .zip(weights)
                .for_each(|(count, other)| *count *= weights[i] * other);
            row[i] = among[i];
        }
        Store::Reals(counts)
    };
    match store {
        Store::Bytes(counts) => all(numbers(&counts)),
        Store::Words(counts) => all(numbers(&counts)),
        Store::Wide(counts) => all(numbers(&counts)),
        Store::Reals(counts) => all(counts),
        Store::Some {
            starts,
            partners,
            counts,
        } => {
            let counts = match counts {
                Rare::Words(counts) => numbers(&counts),
                Rare::Wide(counts) => numbers(&counts),
                Rare::Reals(counts) => counts,
            };
            weighted_rows((&starts, &partners, &counts), weights, among)
        }
    }
}

/// The same of rows of partners, to which an object with copies is added itself.
fn weighted_rows(rows: (&[usize], &[u32], &[f64]), weights: &[f64], among: &[f64]) -> Store {
    let (ends, others, given) = rows;
    let (mut starts, mut partners, mut counts) = (vec![0], Vec::new(), Vec::new());
    for (i, ends) in ends.windows(2).enumerate() {
        let row = (ends[0]..ends[1]).map(|at| {
            (
                others[at],
                given[at] * weights[i] * weights[others[at] as usize],
            )
        });
        let own = Some((i as u32, among[i])).filter(|_| among[i] > 0.0);
        let mut row: Vec<(u32, f64)> = row.chain(own).collect();
        row.sort_unstable_by_key(|(other, _)| *other);
        row.iter().for_each(|&(other, count)| {
            partners.push(other);
            counts.push(count);
        });
        starts.push(partners.len());
    }
    Store::Some {
        starts,
        partners,
        counts: Rare::Reals(counts),
    }
}

fn rare<T: Copy + Default + PartialEq>(triangle: &[T]) -> bool {
    triangle
        .iter()
        .filter(|&&count| count != T::default())
        .count()
        < triangle.len() / RARE
}

/// The pairs of every object with a positive count of at most `unit`.
fn rows(objects: usize, unit: u32, each: impl Fn(usize, &mut dyn FnMut(u32, u32))) -> Store {
    let wide = unit > u32::from(u16::MAX);
    let (mut starts, mut partners, mut narrow, mut counts) =
        (vec![0], Vec::new(), Vec::new(), Vec::new());
    for i in 0..objects {
        each(i, &mut |j, c| {
            if c > 0 {
                partners.push(j);
                if wide {
                    counts.push(c);
                } else {
                    narrow.push(c as u16);
                }
            }
        });
        starts.push(partners.len());
    }
    Store::Some {
        starts,
        partners,
        counts: if wide {
            Rare::Wide(counts)
        } else {
            Rare::Words(narrow)
        },
    }
}
