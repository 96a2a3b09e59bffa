//! The objective, its gradient and the optimality certificate, computed the same way for every solver.

use partita_core::SoftPartition;
use partita_core::ndarray::Array2;
use partita_kernels::dispatch;
use rayon::prelude::*;

use super::newton_step::{Scratch, support, violation};
use crate::bregman::Bregman;
use crate::error::PccError;
use crate::evidence::{Evidence, LocalPairs};
use crate::kernels::{Cost, Gradient};
use crate::memberships::{Layout, Memberships};

/// Objects whose sums are folded together, whatever the number of threads.
const CHUNK: usize = 64;

/// Workspace of one thread.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) near: LocalPairs,
    pub(crate) scratch: Scratch,
    pub(crate) y: Vec<f64>,
}

impl Worker {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            near: LocalPairs::new(clusters),
            scratch: Scratch::new(clusters),
            y: vec![0.0; clusters],
        }
    }
}

/// Where a soft partition stands with some evidence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measure {
    /// `Σ N_ij d(c_ij/N_ij, y_i·y_j)` over unordered pairs, those among the copies of a weighted object included.
    pub objective: f64,
    /// Its gradient, n × K.
    pub gradient: Array2<f64>,
    /// The largest violation of the first-order conditions: over objects, the highest gradient where there is
    /// probability less the lowest of all. 0 exactly at a stationary point.
    pub gap: f64,
    /// The same over the mean of `Σ_i N_ij`, which makes it comparable between problems.
    pub relative_gap: f64,
}

/// Measures a soft partition against evidence.
///
/// # Errors
/// [`PccError::Start`] if it has other objects than the evidence.
///
/// # Cost
/// O(K) for every pair.
pub fn measure<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    soft: &SoftPartition,
) -> Result<Measure, PccError> {
    if soft.objects() != evidence.count() {
        return Err(PccError::Start {
            found: soft.objects(),
            expected: evidence.count(),
        });
    }
    let table = Memberships::of(soft.rows(), evidence.layout());
    let (gradient, gap) = gradient(bregman, evidence, &table);
    let objective = objective(bregman, evidence, &table);
    Ok(Measure {
        objective,
        gradient,
        gap,
        relative_gap: gap / scale(evidence),
    })
}

/// Mean over objects of `Σ_i N_ij`; 1 where no pair was seen.
pub(crate) fn scale(evidence: &dyn Evidence) -> f64 {
    let sum: f64 = (0..evidence.count()).map(|i| evidence.weight(i)).sum();
    if sum > 0.0 {
        sum / evidence.count() as f64
    } else {
        1.0
    }
}

pub(crate) fn objective<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    table: &Memberships,
) -> f64 {
    Costs::new(evidence.count()).objective(bregman, evidence, table)
}

/// What every object's pairs with later objects, and among its copies, cost, kept where nothing moved since.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    kept: Vec<f64>,
    stale: Vec<bool>,
}

impl Costs {
    pub(crate) fn new(objects: usize) -> Self {
        Self {
            kept: vec![0.0; objects],
            stale: vec![true; objects],
        }
    }

    /// Objects of a group moved: (object, by how much).
    pub(crate) fn moved(&mut self, evidence: &dyn Evidence, group: &[(usize, f64)]) {
        let pairs: usize = group.iter().map(|&(i, _)| evidence.degree(i)).sum();
        if pairs > self.stale.len() {
            return self.all_moved();
        }
        for &(i, _) in group {
            self.stale[i] = true;
            match evidence.partners(i) {
                Some(partners) => partners.iter().for_each(|&j| self.stale[j as usize] = true),
                None => self.stale.fill(true),
            }
        }
    }

    /// All objects may have moved.
    pub(crate) fn all_moved(&mut self) {
        self.stale.fill(true);
    }

    pub(crate) fn objective<D: Bregman>(
        &mut self,
        bregman: &D,
        evidence: &dyn Evidence,
        table: &Memberships,
    ) -> f64 {
        let cost = |worker: &mut Worker, i: usize| {
            if i + 1 < evidence.count() {
                evidence.prefetch_partners(i + 1, table);
            }
            table.read(i, &mut worker.y);
            support(&worker.y, &mut worker.scratch.entries);
            let (others, counts, from) = evidence.pairs_after(i, table, &mut worker.near);
            let others = dispatch(Cost {
                bregman,
                others,
                counts,
                y: &worker.scratch.entries,
                from,
            });
            others + evidence.copy_pairs(i).cost(bregman, &worker.y)
        };
        let chunk =
            |worker: &mut Worker, (at, (kept, stale)): (usize, (&mut [f64], &mut [bool]))| -> f64 {
                for (i, (kept, stale)) in kept
                    .iter_mut()
                    .zip(stale)
                    .enumerate()
                    .filter(|(_, (_, stale))| **stale)
                {
                    (*kept, *stale) = (cost(worker, at * CHUNK + i), false);
                }
                kept.iter().sum()
            };
        let chunks = self
            .kept
            .par_chunks_mut(CHUNK)
            .zip(self.stale.par_chunks_mut(CHUNK))
            .enumerate();
        let sums: Vec<f64> = chunks
            .map_init(|| Worker::new(table.clusters), chunk)
            .collect();
        sums.iter().sum()
    }
}

/// The part of the objective that some of the objects' pairs make, evenly taken: enough to compare starts. A start is given by
/// the probability that two objects are together, `together(i, j)`.
///
/// # Cost
/// O(pairs / 16).
pub(crate) fn sampled_objective<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    together: impl Fn(usize, usize) -> f64 + Sync,
) -> f64 {
    const ONE_OF: usize = 16;
    let nowhere = Memberships::zeros(evidence.count(), 1, evidence.layout());
    // The probabilities that an object is together with its partners, as one column.
    let worker = || {
        (
            LocalPairs::new(1),
            Memberships::zeros(0, 1, Layout::Columns),
        )
    };
    let cost = |(near, probabilities): &mut (LocalPairs, Memberships), at: usize| -> f64 {
        let i = at * ONE_OF;
        let (_, counts) = evidence.pairs_of(i, &nowhere, near);
        probabilities.values.clear();
        match evidence.partners(i) {
            Some(partners) => probabilities
                .values
                .extend(partners.iter().map(|&j| together(i, j as usize))),
            None => probabilities
                .values
                .extend((0..evidence.count()).map(|j| together(i, j))),
        }
        (probabilities.objects, probabilities.stride) =
            (probabilities.values.len(), counts.n.len());
        probabilities.values.resize(probabilities.stride, 0.0);
        let others = dispatch(Cost {
            bregman,
            others: probabilities,
            counts,
            y: &[(0, 1.0)],
            from: 0,
        });
        let copies = evidence.copy_pairs(i);
        others
            + if copies.none() {
                0.0
            } else {
                bregman.cost(copies.c, copies.n, together(i, i))
            }
    };
    let chosen = (0..evidence.count().div_ceil(ONE_OF)).into_par_iter();
    let costs: Vec<f64> = chosen.map_init(worker, cost).collect();
    costs.iter().sum()
}

/// The gradient of every object, n × K, and the largest violation.
pub(crate) fn gradient<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    table: &Memberships,
) -> (Array2<f64>, f64) {
    let clusters = table.clusters;
    let mut all = vec![0.0; evidence.count() * clusters];
    let worker = || Worker::new(clusters);
    let one = |worker: &mut Worker, (i, out): (usize, &mut [f64])| {
        let gap = gradient_of(bregman, evidence, table, i, worker);
        out.copy_from_slice(&worker.scratch.g);
        gap
    };
    let gap = (all.par_chunks_mut(clusters).enumerate())
        .map_init(worker, one)
        .reduce(|| 0.0, f64::max);
    let all =
        Array2::from_shape_vec((evidence.count(), clusters), all).expect("K values an object");
    (all, gap)
}

/// Looks at object `i`: its gradient into `scratch.g`, its probabilities with the others into `scratch.a`. Returns
/// its violation.
pub(crate) fn gradient_of<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    table: &Memberships,
    i: usize,
    worker: &mut Worker,
) -> f64 {
    let Worker { near, scratch, y } = worker;
    if i + 1 < evidence.count() {
        evidence.prefetch_partners(i + 1, table);
    }
    table.read(i, y);
    support(y, &mut scratch.entries);
    let (others, counts) = evidence.pairs_of(i, table, near);
    scratch.resize(others.stride);
    let (a, w2, g) = (&mut scratch.a, &mut scratch.w2, &mut scratch.g);
    dispatch(Gradient {
        bregman,
        others,
        counts,
        y: &scratch.entries,
        a,
        w2,
        g,
    });
    evidence
        .copy_pairs(i)
        .add_gradient(bregman, y, &mut scratch.g);
    violation(&scratch.g, &scratch.entries)
}

/// The largest violation of all objects.
pub(crate) fn gap<D: Bregman>(bregman: &D, evidence: &dyn Evidence, table: &Memberships) -> f64 {
    let worker = || Worker::new(table.clusters);
    let one = |worker: &mut Worker, i: usize| gradient_of(bregman, evidence, table, i, worker);
    (0..evidence.count())
        .into_par_iter()
        .map_init(worker, one)
        .reduce(|| 0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bregman::Kl;
    use crate::evidence::{Dense, Sparse};
    use partita_core::{EnsembleBuilder, MemoryBudget, Seed, Silent};
    use rand::RngExt;

    #[test]
    fn the_sampled_objective_is_that_of_every_sixteenth_object() {
        for objects in [1usize, 2, 37, 90] {
            let mut rng = Seed::new(objects as u64).rng();
            let mut builder = EnsembleBuilder::new(objects);
            for base in 0..5 {
                let labels = (0..objects)
                    .map(|i| (i == 0 || rng.random_bool(0.8)).then(|| rng.random_range(0..3)));
                builder
                    .push(format!("{base}"), labels.collect::<Vec<Option<usize>>>())
                    .expect("as many labels");
            }
            let ensemble = builder.finish().expect("an ensemble");
            let together = |i: usize, j: usize| 0.1 + 0.8 * ((i * 7 + j * 7) % 10) as f64 / 10.0;
            let sparse =
                Sparse::sample(&ensemble, 9, Seed::new(1), MemoryBudget::UNLIMITED, &Silent)
                    .expect("pairs");
            let dense = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).expect("pairs");
            let every: [&dyn Evidence; 2] = [&sparse, &dense];
            for evidence in every {
                let table = Memberships::zeros(objects, 1, evidence.layout());
                let mut near = LocalPairs::new(1);
                let mut plain = 0.0;
                for i in (0..objects).step_by(16) {
                    let (_, counts) = evidence.pairs_of(i, &table, &mut near);
                    for at in (0..counts.n.len()).filter(|&at| counts.n[at] > 0.0) {
                        let j = evidence
                            .partners(i)
                            .map_or(at, |partners| partners[at] as usize);
                        plain += Kl.cost(counts.c[at], counts.n[at], together(i, j));
                    }
                }
                let found = sampled_objective(&Kl, evidence, together);
                assert!(
                    (found - plain).abs() <= 1e-12 * plain.abs(),
                    "{objects}: {found} for {plain}"
                );
            }
        }
    }
}
