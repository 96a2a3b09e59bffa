//! Weights of base clusterings and of objects: what every method owes them, and what those owe that take them.

use partita_core::ndarray::Axis;
use partita_core::{
    BaseWeights, ConsensusError, MissingLabels, ObjectWeights, Outcome, Partition, Reads, Seed,
    Silent, Weights,
};

use crate::checks::{Bench, columns};
use crate::draw::{Drawn, draw, duplicated};
use crate::shape::same_bits;

/// Draws on which two ways of saying the same are compared where initializations differ.
const TRIED: u64 = 8;

/// The same for weights of objects.
const OBJECT_DRAWS: u64 = 4;

/// The mean share of pairs of objects on which they agree.
pub(crate) const ALIKE: f64 = 0.8;

/// Draws on which the same bits are asked for.
const EXACT: u64 = 2;

/// Weights that are given.
#[derive(Clone, Default)]
struct Given {
    bases: Option<BaseWeights>,
    objects: Option<ObjectWeights>,
}

impl Given {
    fn bases(weights: Vec<f64>) -> Self {
        Self {
            bases: Some(BaseWeights::new(weights).expect("weights")),
            ..Self::default()
        }
    }

    fn objects(weights: Vec<f64>) -> Self {
        Self {
            objects: Some(ObjectWeights::new(weights).expect("weights")),
            ..Self::default()
        }
    }
}

impl Bench<'_> {
    /// Weights are refused with the reason, or do what copies do; and weights of 0, and weights that are all the same, are heeded for
    /// every method.
    pub(crate) fn weights(&mut self) {
        self.weights_of_bases();
        self.weights_of_objects();
        for seed in (300..300 + EXACT).map(Seed::new) {
            self.nothing_to_weigh(seed);
            self.wrong_number(seed);
            self.missing_labels(seed);
            self.extreme_weights(seed);
        }
    }

    fn weighted(
        &self,
        drawn: &Drawn,
        seed: Seed,
        given: &Given,
    ) -> Result<Outcome, ConsensusError> {
        self.run_with(drawn, &columns(), &Silent, |mut problem| {
            problem.seed = seed;
            (problem.weights, problem.object_weights) =
                (given.bases.as_ref(), given.objects.as_ref());
            problem
        })
    }

    fn found(&self, answer: Result<Outcome, ConsensusError>) -> Outcome {
        answer.unwrap_or_else(|error| panic!("{} with weights: {error}", self.name()))
    }

    fn refused(
        &mut self,
        answer: &Result<Outcome, ConsensusError>,
        weights: Weights,
        what: &str,
    ) -> bool {
        let Weights::Refused(why) = weights else {
            return false;
        };
        let said =
            matches!(answer, Err(ConsensusError::Weights { reason, .. }) if reason.contains(why));
        self.holds(
            said,
            &format!("weights of {what} are refused with the reason"),
        );
        true
    }

    /// Only proportions count, unless weights are numbers of copies, and a weight of 2 does what a copy does where the planted clusters are
    /// clear (to the bit it need not: initializations of the two ensembles differ); next to no weight does what leaving out does.
    fn weights_of_bases(&mut self) {
        let mut alike = 0.0;
        let mut near = 0.0;
        for seed in (200..200 + TRIED).map(Seed::new) {
            let drawn = draw(seed, 0.0);
            let given = |first: f64, others: f64| {
                let mut weights = vec![others; drawn.ensemble.bases().len()];
                weights[0] = first;
                self.weighted(&drawn, seed, &Given::bases(weights))
            };
            let (once, scaled, tiny) = (given(2.0, 1.0), given(8.0, 4.0), given(1e-9, 1.0));
            if self.refused(&once, self.can().base_weights, "base clusterings") {
                return;
            }
            let (once, scaled, tiny) = (self.found(once), self.found(scaled), self.found(tiny));
            let copies = self.can().base_weights == Weights::Copies;
            self.holds(
                copies || same_bits(&once, &scaled),
                "only proportions of weights count",
            );
            let copied = Drawn {
                ensemble: duplicated(&drawn.ensemble, 0),
                ..drawn.clone()
            };
            let copied = self.planted(&copied, seed);
            alike += agreement(&copied.partition, &once.partition) / TRIED as f64;
            let without = without(&drawn, &[], &[0]);
            let without = self.planted(&without, seed);
            near += agreement(&without.partition, &tiny.partition) / TRIED as f64;
        }
        self.holds(
            alike > ALIKE,
            &format!("a weight of 2 does what a copy does for {alike} of the pairs"),
        );
        self.holds(
            near > ALIKE,
            &format!("a weight of 1e-9 does what leaving out does for {near} of the pairs"),
        );
    }

    /// An object of weight 2 is two objects: to the bit where both say so by weights, else where the planted clusters are clear.
    fn weights_of_objects(&mut self) {
        let mut alike = 0.0;
        for seed in (400..400 + OBJECT_DRAWS).map(Seed::new) {
            let drawn = draw(seed, 0.0);
            let n = drawn.ensemble.objects();
            let mut weights = vec![1.0; n];
            weights[..3].fill(2.0);
            let once = self.weighted(&drawn, seed, &Given::objects(weights.clone()));
            if self.refused(&once, self.can().object_weights, "objects") {
                return;
            }
            let once = self.found(once);
            let order: Vec<u32> = (0..n as u32).chain(0..3).collect();
            let copied = chosen(&drawn, &order);
            let unweighted = self.planted(&copied, seed);
            alike += agreement(&first(&unweighted, n), &once.partition) / OBJECT_DRAWS as f64;
            if self.can().reads == Reads::Labels {
                // Two of weight 1 beside others of 1 are even, and so the others have more.
                let heavier: Vec<f64> = weights
                    .iter()
                    .map(|w| if *w == 2.0 { 2.0 } else { 3.0 })
                    .collect();
                let halves: Vec<f64> = order
                    .iter()
                    .map(|&i| if i < 3 { 1.0 } else { 3.0 })
                    .collect();
                let one = self.found(self.weighted(&drawn, seed, &Given::objects(heavier)));
                let two = self.found(self.weighted(&copied, seed, &Given::objects(halves)));
                let bits = first(&two, n) == one.partition.by_appearance()
                    && two.probability().map(|of| of[..n].to_vec()) == one.probability()
                    && two.objective.as_ref().map(|o| o.value)
                        == one.objective.as_ref().map(|o| o.value);
                self.holds(
                    bits,
                    "an object of weight 2 and two of weight 1 are the same",
                );
            }
        }
        self.holds(
            alike > ALIKE,
            &format!("an object of weight 2 is two objects for {alike} of the pairs"),
        );
    }

    /// Weights that are all the same are none, and what has weight 0 is not there, whatever the method takes.
    fn nothing_to_weigh(&mut self, seed: Seed) {
        let drawn = draw(seed, 0.0);
        let n = drawn.ensemble.objects();
        let bases = drawn.ensemble.bases().len();
        let plain = self.planted(&drawn, seed);
        let even = Given {
            objects: Given::objects(vec![1.0; n]).objects,
            ..Given::bases(vec![0.3; bases])
        };
        let even = self.found(self.weighted(&drawn, seed, &even));
        self.holds(same_bits(&plain, &even), "even weights are none");

        let ones = |count: usize, zero: &[usize]| {
            let weight = |at: usize| if zero.contains(&at) { 0.0 } else { 1.0 };
            (0..count).map(weight).collect::<Vec<f64>>()
        };
        let left = self.found(self.weighted(&drawn, seed, &Given::bases(ones(bases, &[1]))));
        let removed = self.planted(&without(&drawn, &[], &[1]), seed);
        self.holds(
            same_bits(&left, &removed),
            "a base clustering of weight 0 is not there",
        );

        let absent = [2usize, 5];
        let left = self.found(self.weighted(&drawn, seed, &Given::objects(ones(n, &absent))));
        let removed = self.planted(&without(&drawn, &absent, &[]), seed);
        let kept: Vec<u32> = (0..n)
            .filter(|i| !absent.contains(i))
            .map(|i| left.partition.labels()[i])
            .collect();
        let others =
            Partition::from_values(&kept).by_appearance() == removed.partition.by_appearance();
        self.holds(
            others && left.partition.objects() == n,
            "objects of weight 0 have no part in the fit",
        );
        let told = left
            .warnings
            .iter()
            .any(|warning| warning.contains("2 objects of weight 0"));
        self.holds(told, "objects of weight 0 are told of");
    }

    fn wrong_number(&mut self, seed: Seed) {
        let drawn = draw(seed, 0.0);
        let (few, many) = (
            Given::bases(vec![1.0, 2.0]),
            Given::objects(vec![2.0; drawn.ensemble.objects() + 1]),
        );
        for given in [few, many] {
            let answer = self.weighted(&drawn, seed, &given);
            self.holds(
                matches!(answer, Err(ConsensusError::Weights { .. })),
                "another number of weights is refused",
            );
        }
    }

    /// Weights of any size give a consensus, or are refused with the remedy.
    fn extreme_weights(&mut self, seed: Seed) {
        let drawn = draw(seed, 0.0);
        let bases = drawn.ensemble.bases().len();
        let given = |first: f64, others: f64| {
            Given::bases(
                (0..bases)
                    .map(|u| if u == 0 { first } else { others })
                    .collect(),
            )
        };
        let large = given(1e90, 1.0);
        let small = given(1e-300, 1e-300);
        for given in [
            large,
            small,
            given(1e12, 1.0),
            given(1e-12, 1.0),
            given(1e12, 1e12),
            given(1e-12, 2e-12),
        ] {
            let held = match self.weighted(&drawn, seed, &given) {
                Ok(found) => found.partition.objects() == drawn.ensemble.objects(),
                Err(ConsensusError::Weights { reason, .. }) => {
                    reason.contains("0 leaves") || reason.contains("takes none")
                }
                Err(_) => false,
            };
            self.holds(
                held,
                &format!(
                    "weights such as {:?}",
                    given.bases.as_ref().map(|weights| &weights.copies()[..2])
                ),
            );
        }
    }

    /// Weights and missing labels together.
    fn missing_labels(&mut self, seed: Seed) {
        let can = self.can();
        if can.missing == MissingLabels::Refused {
            return;
        }
        let drawn = draw(seed, 0.3);
        let uneven = |count: usize| {
            (0..count)
                .map(|at| 0.25 + (at as f64).sqrt())
                .collect::<Vec<f64>>()
        };
        let given = Given {
            bases: Given::bases(uneven(drawn.ensemble.bases().len()))
                .bases
                .filter(|_| can.base_weights.are_taken()),
            objects: Given::objects(uneven(drawn.ensemble.objects()))
                .objects
                .filter(|_| can.object_weights.are_taken()),
        };
        let outcome = self.found(self.weighted(&drawn, seed, &given));
        let whole = outcome.partition.objects() == drawn.ensemble.objects();
        self.holds(whole, "weights and missing labels");
    }
}

/// The share of the pairs of objects that both join or both separate.
pub(crate) fn agreement(one: &Partition, other: &Partition) -> f64 {
    let n = one.objects();
    let joins =
        |partition: &Partition, i: usize, j: usize| partition.labels()[i] == partition.labels()[j];
    let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let same = pairs()
        .filter(|&(i, j)| joins(one, i, j) == joins(other, i, j))
        .count();
    same as f64 / pairs().count() as f64
}

/// The clusters of the first objects.
fn first(outcome: &Outcome, objects: usize) -> Partition {
    Partition::from_values(&outcome.partition.labels()[..objects]).by_appearance()
}

/// These objects, also twice.
fn chosen(drawn: &Drawn, objects: &[u32]) -> Drawn {
    let bases: Vec<u32> = (0..drawn.ensemble.bases().len() as u32).collect();
    let places: Vec<usize> = objects.iter().map(|&i| i as usize).collect();
    Drawn {
        ensemble: drawn.ensemble.select(objects, &bases),
        truth: places.iter().map(|&i| drawn.truth[i]).collect(),
        features: drawn.features.select(Axis(0), &places),
        clusters: drawn.clusters,
    }
}

/// The ensemble without some objects and base clusterings.
fn without(drawn: &Drawn, objects: &[usize], bases: &[u32]) -> Drawn {
    let kept: Vec<u32> = (0..drawn.ensemble.objects())
        .filter(|i| !objects.contains(i))
        .map(|i| i as u32)
        .collect();
    let left = chosen(drawn, &kept);
    let all: Vec<u32> = (0..kept.len() as u32).collect();
    let bases: Vec<u32> = (0..drawn.ensemble.bases().len() as u32)
        .filter(|u| !bases.contains(u))
        .collect();
    Drawn {
        ensemble: left.ensemble.select(&all, &bases),
        ..left
    }
}
