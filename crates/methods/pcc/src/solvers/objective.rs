//! The objective, its gradient and the optimality certificate, computed the same way for every solver.

use partita_core::SoftPartition;
use partita_core::ndarray::Array2;
use partita_kernels::dispatch;
use rayon::prelude::*;

use super::newton_step::{Scratch, support, violation};
use crate::bregman::Bregman;
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::kernels::Cost;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::LocalPairs;

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

    /// The probabilities of object `i` into `y` and `scratch.entries`.
    fn look_at(&mut self, evidence: &Evidence, table: &Memberships, i: usize) {
        if i + 1 < table.objects {
            evidence.prefetch_partners(i + 1, table);
        }
        table.read(i, &mut self.y);
        support(&self.y, &mut self.scratch.entries);
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
    evidence: &Evidence,
    soft: &SoftPartition,
) -> Result<Measure, PccError> {
    check_start(evidence, soft)?;
    let model = Model::new(bregman, evidence);
    let table = Memberships::of(soft.rows(), evidence.layout());
    let (gradient, gap) = model.gradient(&table);
    Ok(Measure {
        objective: model.objective(&table),
        gradient,
        gap,
        relative_gap: gap / scale(evidence),
    })
}

/// Refuses a start of other objects than those of the evidence.
pub(crate) fn check_start(evidence: &Evidence, start: &SoftPartition) -> Result<(), PccError> {
    let found = start.objects();
    let expected = evidence.objects();
    if found == expected {
        return Ok(());
    }
    Err(PccError::Start { found, expected })
}

/// Mean over objects of `Σ_i N_ij`; 1 where no pair was seen.
pub(crate) fn scale(evidence: &Evidence) -> f64 {
    let sum: f64 = (0..evidence.objects()).map(|i| evidence.weight(i)).sum();
    if sum > 0.0 {
        sum / evidence.objects() as f64
    } else {
        1.0
    }
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
    pub(crate) fn moved(&mut self, evidence: &Evidence, group: &[(usize, f64)]) {
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
        model: &Model<'_, D>,
        table: &Memberships,
    ) -> f64 {
        let stale = self.stale.par_chunks_mut(CHUNK);
        let chunks = self.kept.par_chunks_mut(CHUNK).zip(stale).enumerate();
        let sums = chunks.map_init(
            || Worker::new(table.clusters),
            |worker, (at, (kept, stale))| -> f64 {
                for (place, stale) in stale.iter_mut().enumerate().filter(|(_, s)| **s) {
                    kept[place] = model.cost(table, at * CHUNK + place, worker);
                    *stale = false;
                }
                kept.iter().sum()
            },
        );
        sums.collect::<Vec<f64>>().iter().sum()
    }
}

/// What is minimised over soft partitions: a divergence from evidence.
#[derive(Debug)]
pub(crate) struct Model<'a, D> {
    pub(crate) bregman: &'a D,
    pub(crate) evidence: &'a Evidence,
}

impl<'a, D: Bregman> Model<'a, D> {
    pub(crate) fn new(bregman: &'a D, evidence: &'a Evidence) -> Self {
        Self { bregman, evidence }
    }

    pub(crate) fn objective(&self, table: &Memberships) -> f64 {
        Costs::new(table.objects).objective(self, table)
    }

    /// What the pairs of object `i` with later objects, and among its copies, cost.
    fn cost(&self, table: &Memberships, i: usize, worker: &mut Worker) -> f64 {
        worker.look_at(self.evidence, table, i);
        let (others, counts, from) = self.evidence.pairs_after(i, table, &mut worker.near);
        let others = dispatch(Cost {
            bregman: self.bregman,
            others,
            counts,
            y: &worker.scratch.entries,
            from,
        });
        others + self.evidence.copy_pairs(i).cost(self.bregman, &worker.y)
    }

    /// The part of the objective that some of the objects' pairs make, evenly taken: enough to compare starts. A start is given by
    /// the probability that two objects are together, `together(i, j)`.
    ///
    /// # Cost
    /// O(pairs / 16).
    pub(crate) fn sampled_objective(&self, together: impl Fn(usize, usize) -> f64 + Sync) -> f64 {
        const ONE_OF: usize = 16;
        let Self { bregman, evidence } = self;
        let nowhere = Memberships::zeros(evidence.objects(), 1, evidence.layout());
        let chosen = (0..evidence.objects().div_ceil(ONE_OF)).into_par_iter();
        let costs = chosen.map_init(
            || LocalPairs::new(1),
            |near, at| {
                let i = at * ONE_OF;
                let (_, counts) = evidence.pairs_of(i, &nowhere, near);
                // The probabilities that the object is together with its partners, as one column.
                let mut values: Vec<f64> = match evidence.partners(i) {
                    Some(partners) => partners.iter().map(|&j| together(i, j as usize)).collect(),
                    None => (0..evidence.objects()).map(|j| together(i, j)).collect(),
                };
                let objects = values.len();
                values.resize(counts.n.len(), 0.0);
                let probabilities = Memberships {
                    stride: values.len(),
                    values,
                    objects,
                    clusters: 1,
                    layout: Layout::Columns,
                };
                let others = dispatch(Cost {
                    bregman: *bregman,
                    others: &probabilities,
                    counts,
                    y: &[(0, 1.0)],
                    from: 0,
                });
                let copies = evidence.copy_pairs(i);
                if copies.none() {
                    return others;
                }
                others + bregman.cost(copies.c, copies.n, together(i, i))
            },
        );
        costs.collect::<Vec<f64>>().iter().sum()
    }

    /// The gradient of every object, n × K, and the largest violation.
    pub(crate) fn gradient(&self, table: &Memberships) -> (Array2<f64>, f64) {
        let mut all = Array2::zeros((table.objects, table.clusters));
        let rows = all.as_slice_mut().expect("rows lie one after the other");
        let gaps = rows.par_chunks_mut(table.clusters).enumerate().map_init(
            || Worker::new(table.clusters),
            |worker, (i, out)| {
                let gap = self.gradient_of(table, i, worker);
                out.copy_from_slice(&worker.scratch.g);
                gap
            },
        );
        let gap = gaps.reduce(|| 0.0, f64::max);
        (all, gap)
    }

    /// Looks at object `i`: its gradient into `scratch.g`, its probabilities with the others into `scratch.a`. Returns
    /// its violation.
    pub(crate) fn gradient_of(&self, table: &Memberships, i: usize, worker: &mut Worker) -> f64 {
        worker.look_at(self.evidence, table, i);
        let Worker { near, scratch, y } = worker;
        let (others, counts) = self.evidence.pairs_of(i, table, near);
        scratch.gradient(self.bregman, others, counts);
        let copies = self.evidence.copy_pairs(i);
        copies.add_gradient(self.bregman, y, &mut scratch.g);
        violation(&scratch.g, &scratch.entries)
    }

    /// The largest violation of all objects.
    pub(crate) fn gap(&self, table: &Memberships) -> f64 {
        let gaps = (0..table.objects).into_par_iter().map_init(
            || Worker::new(table.clusters),
            |worker, i| self.gradient_of(table, i, worker),
        );
        gaps.reduce(|| 0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bregman::Kl;
    use partita_core::{MemoryBudget, Seed, Silent};
    use rand::RngExt;

    #[test]
    fn the_sampled_objective_is_that_of_every_sixteenth_object() {
        for objects in [1usize, 2, 37, 90] {
            let mut rng = Seed::new(objects as u64).rng();
            let ensemble = partita_conformance::ensemble((0..5).map(|base| {
                let labels = (0..objects)
                    .map(|i| (i == 0 || rng.random_bool(0.8)).then(|| rng.random_range(0..3)));
                (format!("{base}"), labels.collect())
            }));
            let together = |i: usize, j: usize| 0.1 + 0.8 * ((i * 7 + j * 7) % 10) as f64 / 10.0;
            let budget = MemoryBudget::UNLIMITED;
            let sparse =
                Evidence::sample(&ensemble, 5 * objects as u64, Seed::new(1), budget, &Silent);
            let dense = Evidence::count(&ensemble, budget, &Silent);
            for evidence in [&sparse.expect("pairs"), &dense.expect("pairs")] {
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
                let found = Model::new(&Kl, evidence).sampled_objective(together);
                let near = 1e-12 * plain.abs();
                assert!(
                    (found - plain).abs() <= near,
                    "{objects}: {found} for {plain}"
                );
            }
        }
    }
}
