//! State of a collapsed Gibbs chain: assignments, counts, one sweep, slice sampling of the hyperparameters.

use partita_core::Label;
use partita_core::ndarray::{Array2, ArrayView2, CowArray, Ix2};
use rand::{Rng, RngExt};

use super::slice_sampling::slice;
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::{NbcePrior, log_labels, log_rise};
use crate::nbce::scaled_product::{RENORMALISE_AFTER, ScaledProduct};
use crate::shared::layout::BaseLayout;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The assignment of every object, and the counts that its conditionals read.
#[derive(Clone, Debug)]
pub(crate) struct GibbsState<'a, L> {
    pub(crate) rows: CowArray<'a, L, Ix2>,
    pub(crate) layout: &'a BaseLayout,
    /// How many objects one stands for, where they differ: multiples of a unit in which sums are exact.
    object_weights: Option<&'a [f64]>,
    pub(crate) prior: NbcePrior,
    pub(crate) hyperparameters: Hyperparameters,
    pub(crate) z: Vec<u32>,
    /// Whole numbers, or sums of weights of objects.
    pub(crate) counts: SufficientStatistics,
    /// β + N, ΣJ lines of K values; with weights ω of base clusterings ω ln(β + N). Not kept where objects have weights.
    labels: Vec<f64>,
    /// Labels that are there, M lines of K values.
    totals: Vec<f64>,
    /// 1 / (J_u β + N), M lines of K values; with weights −ω ln(J_u β + N). Not kept where objects have weights.
    inverse: Vec<f64>,
    /// J_u β.
    pub(super) pseudo_totals: Vec<f64>,
    product: ScaledProduct,
    weights: Vec<f64>,
}

impl<'a, L: Label> GibbsState<'a, L> {
    pub(crate) fn new(
        rows: ArrayView2<'a, L>,
        layout: &'a BaseLayout,
        object_weights: Option<&'a [f64]>,
        z: Vec<u32>,
        clusters: usize,
        prior: NbcePrior,
        hyperparameters: Hyperparameters,
    ) -> Self {
        let counts = SufficientStatistics::zero(layout.label_values(), clusters);
        let (product, weights) = (ScaledProduct::new(clusters), vec![0.0; clusters]);
        let totals = layout.totals(&counts.labels, clusters);
        let (labels, inverse) = (counts.labels.clone(), totals.clone());
        let mut state = Self {
            rows: rows.into(),
            layout,
            object_weights,
            prior,
            hyperparameters,
            z,
            counts,
            labels,
            totals,
            inverse,
            pseudo_totals: Vec::new(),
            product,
            weights,
        };
        state.recount();
        state
    }

    /// How many objects one stands for.
    pub(crate) fn weight(&self, object: usize) -> f64 {
        self.object_weights.map_or(1.0, |weights| weights[object])
    }

    /// Takes other labels of all objects, which stay in their clusters.
    pub(crate) fn observe(&mut self, labels: &Array2<L>) {
        self.rows = labels.clone().into();
        self.recount();
    }

    fn recount(&mut self) {
        let clusters = self.weights.len();
        let mut counts = SufficientStatistics::zero(self.layout.label_values(), clusters);
        for (i, (row, &k)) in self.rows.outer_iter().zip(&self.z).enumerate() {
            counts.sizes[k as usize] += self.weight(i);
            for (label, offset) in row.iter().zip(&self.layout.offsets) {
                if let Some(j) = label.cluster() {
                    counts.labels[(offset + j) * clusters + k as usize] += self.weight(i);
                }
            }
        }
        self.counts = counts;
        self.totals = self.layout.totals(&self.counts.labels, clusters);
        self.set(self.hyperparameters);
    }

    /// Takes other values of α0 and β.
    pub(crate) fn set(&mut self, hyperparameters: Hyperparameters) {
        self.hyperparameters = hyperparameters;
        let clusters = self.weights.len();
        let labels = self.layout.bases().map(|(_, labels)| labels.len() as f64);
        self.pseudo_totals = labels.map(|labels| labels * hyperparameters.beta).collect();
        if self.object_weights.is_some() {
            return;
        }
        let layout = self.layout;
        for (u, labels) in layout.bases() {
            for at in labels.start * clusters..labels.end * clusters {
                self.labels[at] = self.of_label(u, self.counts.labels[at]);
            }
        }
        for at in 0..self.inverse.len() {
            self.inverse[at] = self.of_total(at / clusters, self.totals[at]);
        }
    }

    /// What a label of base clustering `u` that occurs so often makes of the probability of one more.
    fn of_label(&self, u: usize, count: f64) -> f64 {
        let beta = self.hyperparameters.beta;
        match &self.layout.copies {
            None => beta + count,
            Some(copies) => copies[u] * (beta + count).ln(),
        }
    }

    /// The same of all labels of base clustering `u` that are there.
    fn of_total(&self, u: usize, total: f64) -> f64 {
        let pseudo_total = self.pseudo_totals[u];
        match &self.layout.copies {
            None => 1.0 / (pseudo_total + total),
            Some(copies) => -copies[u] * (pseudo_total + total).ln(),
        }
    }

    /// Draws the cluster of every object once, given all others.
    pub(crate) fn sweep(&mut self, rng: &mut impl Rng) {
        for i in 0..self.z.len() {
            self.count(i, self.z[i] as usize, -1.0);
            let sum = self.conditional(i);
            let k = index_at(&self.weights, rng.random::<f64>() * sum);
            self.z[i] = k as u32;
            self.count(i, k, 1.0);
        }
    }

    /// Writes the conditional of an object that is in no cluster into `weights`, and returns its sum.
    fn conditional(&mut self, object: usize) -> f64 {
        if self.object_weights.is_some() {
            return self.conditional_of_weight(object);
        }
        let row = self.rows.row(object);
        let clusters = self.weights.len();
        let others = (self.z.len() - 1) as f64;
        self.prior.shares(
            self.counts.sizes.iter().copied(),
            others,
            self.hyperparameters.alpha0,
            &mut self.product,
        );
        if self.layout.copies.is_some() {
            return self.weighted_conditional(object);
        }
        let mut pending = 1;
        for (u, label) in row.iter().enumerate() {
            let Some(j) = label.cluster() else { continue };
            let label = &self.labels[(self.layout.offsets[u] + j) * clusters..][..clusters];
            let inverse = &self.inverse[u * clusters..][..clusters];
            for ((m, label), inverse) in self.product.mantissas.iter_mut().zip(label).zip(inverse) {
                *m *= label * inverse;
            }
            pending += 1;
            if pending == RENORMALISE_AFTER {
                self.product.renormalise();
                pending = 0;
            }
        }
        self.product.renormalise();
        self.product.weights(&mut self.weights)
    }

    /// The rest of [`conditional`](Self::conditional) where labels count differently: factors of any size, so that logarithms are added.
    fn weighted_conditional(&mut self, object: usize) -> f64 {
        let clusters = self.weights.len();
        let mut logs = vec![0.0; clusters];
        for (u, label) in self.rows.row(object).iter().enumerate() {
            let Some(j) = label.cluster() else { continue };
            let label = &self.labels[(self.layout.offsets[u] + j) * clusters..][..clusters];
            let inverse = &self.inverse[u * clusters..][..clusters];
            logs.iter_mut()
                .zip(label)
                .zip(inverse)
                .for_each(|((log, label), inverse)| *log += label + inverse);
        }
        self.product.raise(&logs);
        self.product.weights(&mut self.weights)
    }

    /// [`conditional`](Self::conditional) of an object that stands for w: the odds of w objects that go to the same cluster.
    fn conditional_of_weight(&mut self, object: usize) -> f64 {
        let (clusters, w, beta) = (
            self.weights.len(),
            self.weight(object),
            self.hyperparameters.beta,
        );
        let mut logs = self
            .prior
            .log_shares(&self.counts.sizes, w, self.hyperparameters.alpha0);
        for (u, label) in self.rows.row(object).iter().enumerate() {
            let Some(j) = label.cluster() else { continue };
            let (counts, totals) = (
                &self.counts.labels[(self.layout.offsets[u] + j) * clusters..],
                &self.totals[u * clusters..],
            );
            let weight = self.layout.copies_of(u);
            for (k, log) in logs.iter_mut().enumerate() {
                *log += weight
                    * (log_rise(beta + counts[k], w)
                        - log_rise(self.pseudo_totals[u] + totals[k], w));
            }
        }
        self.product.mantissas.fill(1.0);
        self.product.exponents.fill(0);
        self.product.raise(&logs);
        self.product.weights(&mut self.weights)
    }

    /// Puts object `i` into cluster `k`, or takes it out where `sign` is −1.
    pub(crate) fn count(&mut self, i: usize, k: usize, sign: f64) {
        let (clusters, one) = (self.weights.len(), sign * self.weight(i));
        let (plain, cached) = (self.layout.copies.is_none(), self.object_weights.is_none());
        self.counts.sizes[k] += one;
        for u in 0..self.rows.ncols() {
            let Some(j) = self.rows[[i, u]].cluster() else {
                continue;
            };
            let (at, of_base) = (
                (self.layout.offsets[u] + j) * clusters + k,
                u * clusters + k,
            );
            self.counts.labels[at] += one;
            self.totals[of_base] += one;
            if cached && plain {
                self.labels[at] = self.hyperparameters.beta + self.counts.labels[at];
                self.inverse[of_base] = 1.0 / (self.pseudo_totals[u] + self.totals[of_base]);
            } else if cached {
                self.labels[at] = self.of_label(u, self.counts.labels[at]);
                self.inverse[of_base] = self.of_total(u, self.totals[of_base]);
            }
        }
    }

    /// ln p(z, labels | α0, β).
    pub(crate) fn log_joint(&self, hyperparameters: Hyperparameters) -> f64 {
        self.prior
            .log_partition(&self.counts.sizes, hyperparameters.alpha0)
            + log_labels(&self.counts, self.layout, hyperparameters.beta)
    }

    /// Draws α0 and β by slice sampling of their logarithms, under Gamma(1, 1).
    pub(crate) fn learn(&mut self, rng: &mut impl Rng) {
        // The density of ln x has the factor x.
        let density = |x: f64| x.ln() - x;
        let sizes = &self.counts.sizes;
        let alpha0 = slice(self.hyperparameters.alpha0, rng, |a| {
            self.prior.log_partition(sizes, a) + density(a)
        });
        let beta = slice(self.hyperparameters.beta, rng, |b| {
            log_labels(&self.counts, self.layout, b) + density(b)
        });
        self.set(Hyperparameters { alpha0, beta });
    }

    /// Clusters that are not empty.
    pub(crate) fn live(&self) -> u32 {
        self.counts.sizes.iter().filter(|size| **size > 0.0).count() as u32
    }
}

/// The first index whose cumulative weight exceeds `mark`.
pub(super) fn index_at(weights: &[f64], mark: f64) -> usize {
    let mut left = mark;
    let mut last = 0;
    for (k, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = k;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use crate::shared::log_probabilities::normalise;
    use partita_core::{LabelRows, Partition, Seed};
    use std::collections::BTreeMap;

    const HYPERPARAMETERS: Hyperparameters = Hyperparameters {
        alpha0: 0.8,
        beta: 0.3,
    };

    fn bytes(rows: LabelRows<'_>) -> ArrayView2<'_, u8> {
        match rows {
            LabelRows::Bytes(rows) => rows,
            LabelRows::Words(_) => unreachable!("few clusters"),
        }
    }

    #[test]
    fn conditionals_agree_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce"];
        let z: Vec<u32> = serde_json::from_value(told["z"].clone()).unwrap();
        let layout = BaseLayout::new(ensemble.bases(), None);
        for (prior, name) in [
            (NbcePrior::Symmetric, "fsd"),
            (NbcePrior::StickBreaking, "tsb"),
        ] {
            let rows = bytes(ensemble.rows());
            let mut state =
                GibbsState::new(rows, &layout, None, z.clone(), 6, prior, HYPERPARAMETERS);
            for i in [0, 9, 23] {
                state.count(i, z[i] as usize, -1.0);
                let sum = state.conditional(i);
                let found: Vec<f64> = state.weights.iter().map(|weight| weight / sum).collect();
                fixture::assert_close(
                    &found,
                    &fixture::vector(&told[format!("gibbs_conditional_{name}")][i.to_string()]),
                );
                state.count(i, z[i] as usize, 1.0);
            }
        }
    }

    /// The posterior of partitions, as labels in order of appearance.
    fn exact(held: &Held, clusters: usize, prior: NbcePrior) -> BTreeMap<Vec<u32>, f64> {
        let n = held.rows().len() as u32;
        let assignment = |code: usize| -> Vec<u32> {
            (0..n)
                .map(|i| (code / clusters.pow(i) % clusters) as u32)
                .collect()
        };
        let joint = |code: usize| {
            let sums = held.rows().given_hard(&assignment(code), clusters);
            prior.log_partition(&sums.sizes, HYPERPARAMETERS.alpha0)
                + log_labels(&sums, &held.layout, HYPERPARAMETERS.beta)
        };
        let mut joints: Vec<f64> = (0..clusters.pow(n)).map(joint).collect();
        normalise(&mut joints);
        let mut posterior = BTreeMap::new();
        for (code, p) in joints.into_iter().enumerate() {
            *posterior
                .entry(partition(assignment(code), clusters))
                .or_insert(0.0) += p;
        }
        posterior
    }

    fn partition(z: Vec<u32>, clusters: usize) -> Vec<u32> {
        Partition::new(z, clusters)
            .unwrap()
            .by_appearance()
            .labels()
            .to_vec()
    }

    /// 100,000 sweeps over 6 objects, with and without split–merge moves and weights of base clusterings and objects: total variation from
    /// the exact posterior of partitions below 0.02.
    #[test]
    fn partitions_are_drawn_from_the_posterior() {
        const SWEEPS: u32 = 100_000;
        let both = [NbcePrior::Symmetric, NbcePrior::StickBreaking];
        // Moves, weights of base clusterings, weights of objects.
        let cases = [
            (0, false, false),
            (2, false, false),
            (0, true, false),
            (2, true, false),
            (0, false, true),
            (2, true, true),
        ];
        let cases = cases
            .into_iter()
            .flat_map(|case| [(3, both[0], case), (4, both[1], case)]);
        for (seed, prior, (moves, weighted, objects_weighted)) in cases {
            let drawn = fixture::drawn(seed);
            let bases: Vec<u32> = (0..drawn.bases().len() as u32).collect();
            let ensemble = drawn.select(&[0, 1, 2, 3, 4, 5], &bases);
            let given = [2.3, 0.4, 1.0, 0.7, 1.5, 0.2, 1.9, 0.9, 1.1, 1.0];
            let copies = weighted.then(|| given[..bases.len()].to_vec());
            let object_weights = objects_weighted.then_some(&[1.0, 2.0, 0.5, 1.0, 3.0, 1.5][..]);
            let held = Held::each(&ensemble).with_copies(copies);
            let mut state = GibbsState::new(
                bytes(ensemble.rows()),
                &held.layout,
                object_weights,
                vec![0; 6],
                4,
                prior,
                HYPERPARAMETERS,
            );
            let mut rng = Seed::new(seed).rng();
            let mut seen: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
            for _ in 0..SWEEPS {
                state.sweep(&mut rng);
                (0..moves).for_each(|_| _ = state.split_or_merge(&mut rng));
                *seen.entry(partition(state.z.clone(), 4)).or_insert(0.0) +=
                    1.0 / f64::from(SWEEPS);
            }
            let exact = exact(&held.with_weights(object_weights), 4, prior);
            let distance =
                |(z, p): (&Vec<u32>, &f64)| (p - seen.get(z).copied().unwrap_or(0.0)).abs();
            let variation = 0.5 * exact.iter().map(distance).sum::<f64>();
            assert!(
                variation < 0.02,
                "{prior:?}, {moves} moves, weights {weighted} {objects_weighted}: {variation} over {} partitions",
                exact.len()
            );
        }
    }

    /// An object of weight 2 has the log joint, and the odds, of two objects that stay together.
    #[test]
    fn an_object_of_weight_two_is_two_objects() {
        let ensemble = fixture::drawn(7);
        let (layout, n) = (BaseLayout::new(ensemble.bases(), None), ensemble.objects());
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.push(0);
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let twice = ensemble.select(&order, &bases);
        let mut weights = vec![1.0; n];
        weights[0] = 2.0;
        for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
            let joint = |first: u32| {
                let mut z: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
                z[0] = first;
                let one = GibbsState::new(
                    bytes(ensemble.rows()),
                    &layout,
                    Some(&weights),
                    z.clone(),
                    5,
                    prior,
                    HYPERPARAMETERS,
                );
                z.push(first);
                let two = GibbsState::new(
                    bytes(twice.rows()),
                    &layout,
                    None,
                    z,
                    5,
                    prior,
                    HYPERPARAMETERS,
                );
                let (one_joint, two_joint) = (
                    one.log_joint(HYPERPARAMETERS),
                    two.log_joint(HYPERPARAMETERS),
                );
                assert!(
                    (one_joint - two_joint).abs() < 1e-12 * two_joint.abs(),
                    "{prior:?}: {one_joint} {two_joint}"
                );
                (one, one_joint)
            };
            let (mut state, joints) =
                (joint(0).0, (0..5).map(|k| joint(k).1).collect::<Vec<f64>>());
            state.count(0, 0, -1.0);
            let sum = state.conditional(0);
            let mut odds = joints;
            normalise(&mut odds);
            state
                .weights
                .iter()
                .zip(odds)
                .for_each(|(weight, p)| assert!((weight / sum - p).abs() < 1e-10, "{prior:?}"));
        }
    }

    #[test]
    fn counts_stay_those_of_the_assignment() {
        let ensemble = fixture::drawn(11);
        let (layout, mut rng) = (BaseLayout::new(ensemble.bases(), None), Seed::new(1).rng());
        let rows = bytes(ensemble.rows());
        let mut state = GibbsState::new(
            rows,
            &layout,
            None,
            vec![0; ensemble.objects()],
            5,
            NbcePrior::StickBreaking,
            HYPERPARAMETERS,
        );
        for _ in 0..50 {
            state.sweep(&mut rng);
            (0..5).for_each(|_| _ = state.split_or_merge(&mut rng));
            state.learn(&mut rng);
        }
        let fresh = GibbsState::new(
            rows,
            &layout,
            None,
            state.z.clone(),
            5,
            NbcePrior::StickBreaking,
            state.hyperparameters,
        );
        assert_eq!(fresh.counts, state.counts);
        assert_eq!(
            (&fresh.labels, &fresh.inverse),
            (&state.labels, &state.inverse)
        );
    }
}
