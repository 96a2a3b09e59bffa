//! Confidence of labels that is comparable between methods: the evidence of the ensemble for an object's own cluster against the
//! best other cluster, as a probability.
//!
//! Every method has a certainty of its own, and these numbers do not compare: a mixture model says .998 where co-association says
//! .88 of the same labels. The confidence looks at labels and ensemble alone, so that equal labels have equal confidence whoever
//! found them.
//!
//! ```text
//! r_u(i, k) = objects of cluster k in the base cluster of i, among those of cluster k that base clustering u labels (i left out)
//! p_u(i, k) = r_u(i, k) / Σ_l r_u(i, l)                           the vote of base clustering u, K numbers with sum 1
//! margin(i) = Σ_u w_u (p_u(i, own) - p_u(i, best other)) / (1 + Σ_u w_u)                       over base clusterings that vote
//! confidence(i) = 1/K + (1 - 1/K) g(margin)    where margin ≥ 0,    (1 + margin) / K    below
//! ```
//!
//! - **Size.** r is a share of the cluster k, not of the base cluster: under labels by chance all r are equal on average and the vote
//!   is 1/K each, whether clusters are large or small.
//! - **Missing labels** are no evidence. The 1 in the denominator is one base clustering that says nothing, so that few votes count
//!   less than many; an object without any vote (nobody labels it, or it is always alone) has 1/K.
//! - **Weights of objects** are multiplicities: an object of weight w counts as w objects, of which one is left out.
//! - **Duplicates** of all base clusterings change nothing but the weight of that 1.
//! - **One cluster**: 1.
//!
//! `g` is monotone ([`calibrated_confidence`]) and was fitted on data sets with known classes: among objects with confidence .8 about
//! 80 % were in the class that matches their cluster. It does not reach 1 because clusters that all base clusterings agree on are
//! not always the classes that people have in mind. `docs/benchmarks/confidence.md` has the reliability diagram of data sets that were
//! not fitted.

mod calibration;
mod evidence;
mod soft;

use partita_core::ndarray::Array2;
use partita_core::{
    EnsembleRows, Partition, PassRunner, Row, RowBlock, RowMap, Silent, SoftPartition,
    WeightedEnsemble,
};

use crate::MetricsError;
pub use calibration::{CALIBRATION, calibrated_confidence};
pub use evidence::ClusterEvidence;
use evidence::calibrated_in_six_digits;

/// Confidence of every object's label, n numbers in 0..=1: the share of the ensemble's evidence for its cluster, calibrated as the
/// probability that the label is right. Comparable between methods. Numbers have six digits. An ensemble may come with weights of its
/// base clusterings and of its objects ([`WeightedEnsemble`]).
///
/// # Errors
/// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object.
///
/// # Cost
/// O(n M C) time if a base cluster has objects of C clusters on average, in parallel where the feature `rayon` of `partita-core` is
/// on; O(n + ΣJ C) memory.
///
/// ```
/// use partita_core::{EnsembleBuilder, Partition};
/// use partita_metrics::confidence;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(6);
/// builder.push("a", [0, 0, 0, 1, 1, 1].map(Some))?;
/// builder.push("b", [0, 0, 0, 1, 1, 1].map(Some))?;
/// builder.push("c", [0, 0, 1, 1, 1, 1].map(Some))?;
/// let partition = Partition::new(vec![0, 0, 0, 1, 1, 1], 2)?;
/// let confidence = confidence(&builder.finish()?, &partition)?;
/// assert!(confidence[2] < confidence[0]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "consensus_index")]
pub fn confidence<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    partition: &Partition,
) -> Result<Vec<f64>, MetricsError> {
    let live = partition.live_clusters();
    let margins = confidence_margins(of, partition)?.into_iter();
    Ok(margins
        .map(|margin| calibrated_in_six_digits(margin, live))
        .collect())
}

/// The margins that [`confidence`](confidence()) calibrates, n numbers in -1..=1.
///
/// # Errors
/// As [`confidence`](confidence()).
pub fn confidence_margins<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    partition: &Partition,
) -> Result<Vec<f64>, MetricsError> {
    numbers(of.into(), partition, Evidence::Margins)
}

/// The share of the ensemble's evidence for every cluster, by object: n × K numbers, rows with sum 1. The votes of the formula above
/// over all that vote, where the one base clustering that says nothing votes 1/K for each cluster that has objects:
///
/// ```text
/// share(i, k) = (1/K + Σ_u w_u p_u(i, k)) / (1 + Σ_u w_u)
/// ```
///
/// They describe how the base clusterings of an object spread over the clusters of any method; they are not probabilities that a label
/// is right, which [`confidence`](confidence()) is. A row is largest at the object's own cluster exactly where its confidence is not
/// below 1/K.
///
/// # Errors
/// As [`confidence`](confidence()).
///
/// # Cost
/// As [`confidence`](confidence()), and n K numbers.
#[doc(alias = "item_consensus")]
pub fn evidence_shares<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    partition: &Partition,
) -> Result<SoftPartition, MetricsError> {
    let numbers = numbers(of.into(), partition, Evidence::Shares)?;
    let shape = (partition.objects(), partition.clusters());
    let rows = Array2::from_shape_vec(shape, numbers).expect("K numbers an object");
    Ok(SoftPartition::new(rows)
        .expect("votes are not negative, and every row is divided by its sum"))
}

/// What is asked about every object.
#[derive(Clone, Copy)]
enum Evidence {
    /// One number an object.
    Margins,
    /// K numbers an object.
    Shares,
}

/// The numbers of all objects, one after the other.
fn numbers(
    of: WeightedEnsemble<'_>,
    partition: &Partition,
    asked: Evidence,
) -> Result<Vec<f64>, MetricsError> {
    let ensemble = of.ensemble;
    let labels = partition.labels();
    let mut all = Vec::with_capacity(ensemble.objects());
    if let Some(shares) = ensemble.memberships() {
        let sums = soft::Sums::of(shares, of, partition)?;
        let live: Vec<bool> = partition.sizes().iter().map(|&size| size > 0).collect();
        for (object, &own) in labels.iter().enumerate() {
            match asked {
                Evidence::Margins => all.push(sums.margin(object, own as usize)),
                Evidence::Shares => all.extend(sums.evidence(object, own as usize, &live)),
            }
        }
        return Ok(all);
    }
    let evidence = ClusterEvidence::of(of, partition)?;
    let map = Labelled {
        evidence,
        labels,
        of: asked,
    };
    let rows = match of.object_weights {
        None => EnsembleRows::new(ensemble),
        Some(weights) => EnsembleRows::weighted(ensemble, weights.as_slice()),
    };
    let read = PassRunner::new(&rows, &Silent).each(&map, &mut |_, some: Vec<f64>| {
        all.extend(some);
        Ok(())
    });
    read.expect("rows in memory are read, and nobody stops");
    Ok(all)
}

/// Rows whose labels are known.
struct Labelled<'a> {
    evidence: ClusterEvidence,
    labels: &'a [u32],
    of: Evidence,
}

impl RowMap for Labelled<'_> {
    type Out = Vec<f64>;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Vec<f64> {
        let first = block.first as usize;
        let labels = &self.labels[first..first + block.len()];
        match self.of {
            Evidence::Margins => self.evidence.margins(block, labels),
            Evidence::Shares => {
                let mut shares = Vec::new();
                self.evidence.shares(block, labels, &mut shares);
                shares
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::arr1;
    use partita_core::{BaseWeights, Ensemble, ObjectWeights, Seed, rand::RngExt};

    use super::*;

    /// An ensemble of columns in which a negative label is missing.
    fn ensemble(columns: &[Vec<i32>]) -> Ensemble {
        partita_conformance::ensemble(columns.iter().enumerate().map(|(base, column)| {
            let labels = column.iter().map(|&label| u32::try_from(label).ok());
            (format!("u{base}"), labels.collect())
        }))
    }

    /// Copies of `truth` in which a share of the labels is drawn anew.
    fn noisy(truth: &[i32], clusters: i32, bases: usize, noise: f64, seed: u64) -> Vec<Vec<i32>> {
        let mut rng = Seed::new(seed).rng();
        let mut columns = vec![truth.to_vec(); bases];
        for label in columns.iter_mut().flatten() {
            if rng.random::<f64>() < noise {
                *label = rng.random_range(0..clusters);
            }
        }
        columns
    }

    /// Sizes in the ratio 8 to 1 to 1.
    fn unequal(objects: i32) -> Vec<i32> {
        (0..objects).map(|i| (i % 10 - 7).max(0)).collect()
    }

    fn partition(labels: &[i32], clusters: usize) -> Partition {
        Partition::new(labels.iter().map(|&label| label as u32).collect(), clusters).unwrap()
    }

    /// Weights of base clusterings beside their ensemble.
    fn with<'a>(ensemble: &'a Ensemble, weights: &'a BaseWeights) -> WeightedEnsemble<'a> {
        let mut of = WeightedEnsemble::from(ensemble);
        of.base_weights = Some(weights);
        of
    }

    /// Weights of objects beside their ensemble.
    fn weighed<'a>(ensemble: &'a Ensemble, weights: &'a ObjectWeights) -> WeightedEnsemble<'a> {
        let mut of = WeightedEnsemble::from(ensemble);
        of.object_weights = Some(weights);
        of
    }

    fn near<'a>(
        a: impl IntoIterator<Item = &'a f64>,
        b: impl IntoIterator<Item = &'a f64>,
    ) -> bool {
        a.into_iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The votes for every cluster and the weight of all that vote, by the definition, word by word.
    fn naive_votes(
        columns: &[Vec<i32>],
        labels: &[i32],
        weights: &[f64],
        i: usize,
    ) -> (Vec<f64>, f64) {
        let clusters = labels.iter().max().unwrap() + 1;
        let mut sums = vec![0.0; clusters as usize];
        let mut weight = 1.0;
        for (column, w) in columns.iter().zip(weights) {
            let others = |k: i32| {
                (0..labels.len()).filter(move |&o| o != i && labels[o] == k && column[o] >= 0)
            };
            let rate = |k: i32| match others(k).count() {
                0 => 0.0,
                all => others(k).filter(|&o| column[o] == column[i]).count() as f64 / all as f64,
            };
            let rates: Vec<f64> = (0..clusters).map(rate).collect();
            let total: f64 = rates.iter().sum();
            if column[i] >= 0 && total > 0.0 {
                for (sum, rate) in sums.iter_mut().zip(rates) {
                    *sum += w * rate / total;
                }
                weight += w;
            }
        }
        (sums, weight)
    }

    fn naive_margin(columns: &[Vec<i32>], labels: &[i32], weights: &[f64], i: usize) -> f64 {
        let (sums, weight) = naive_votes(columns, labels, weights, i);
        let own = labels[i] as usize;
        let others = (0..sums.len()).filter(|&k| k != own);
        let best = others.map(|k| sums[k]).fold(0.0, f64::max);
        (sums[own] - best) / weight
    }

    #[test]
    fn shares_of_the_evidence_are_those_of_the_definition_and_of_shares_of_one() {
        let truth = unequal(60);
        let mut columns = noisy(&truth, 5, 7, 0.4, 3);
        (0..60).step_by(4).for_each(|i| columns[i % 7][i] = -1);
        columns.iter_mut().for_each(|column| column[5] = -1);
        let given = BaseWeights::new(vec![1.0, 2.0, 0.0, 1.0, 1.0, 3.0, 1.0]).unwrap();
        let of = ensemble(&columns);
        // A cluster without objects gets no share.
        let partition = partition(&truth, 4);
        let found = evidence_shares(with(&of, &given), &partition).unwrap();
        for (i, row) in found.rows().outer_iter().enumerate() {
            let (votes, weight) = naive_votes(&columns, &truth, given.as_slice(), i);
            let expected = votes.iter().map(|vote| (vote + 1.0 / 3.0) / weight);
            let expected: Vec<f64> = expected.chain([0.0]).collect();
            assert!(near(row, &expected), "object {i}: {row}, {expected:?}");
        }
        // Nobody labels object 5.
        assert!(near(found.rows().row(5).iter().take(3), &[1.0 / 3.0; 3]));
        let labels_as_shares = of.shares();
        let sums = soft::Sums::of(&labels_as_shares, with(&of, &given), &partition).unwrap();
        for (i, row) in found.rows().outer_iter().enumerate() {
            let soft = sums.evidence(i, truth[i] as usize, &[true, true, true, false]);
            assert!(near(row, &soft), "object {i}: {row}, {soft:?}");
        }
    }

    #[test]
    fn margins_are_those_of_the_definition() {
        let truth = unequal(60);
        let mut columns = noisy(&truth, 5, 7, 0.4, 3);
        (0..60).step_by(4).for_each(|i| columns[i % 7][i] = -1);
        let mut labels = truth;
        labels.iter_mut().step_by(7).for_each(|label| *label = 3);
        let ensemble = ensemble(&columns);
        let partition = partition(&labels, 6);
        let weights = BaseWeights::new((1..=7).map(f64::from).collect()).unwrap();
        let margins = confidence_margins(with(&ensemble, &weights), &partition).unwrap();
        for (i, margin) in margins.iter().enumerate() {
            let naive = naive_margin(&columns, &labels, weights.as_slice(), i);
            let near = (margin - naive).abs() < 1e-12;
            assert!(near, "object {i}: {margin} is not {naive}");
        }
    }

    /// Objects of weight 1 that are equal to others are these with the sums of the weights, hard and soft; so are all objects with all
    /// their copies, and an object without weight says nothing of others.
    #[test]
    fn copies_of_objects_are_their_weights() {
        let truth = unequal(40);
        let mut columns = noisy(&truth, 5, 7, 0.4, 3);
        (0..40).step_by(3).for_each(|i| columns[i % 7][i] = -1);
        let hard = ensemble(&columns);
        let order: Vec<u32> = (0..40).chain(0..15).collect();
        let bases = [0, 1, 2, 3, 4, 5, 6];
        let mut tables = bases.map(|u| hard.base_shares(u as usize).rows().to_owned());
        for (u, i, shares) in [
            (2, 1, [0.2, 0.5, 0.0, 0.3, 0.0]),
            (4, 9, [0.0, 0.25, 0.75, 0.0, 0.0]),
        ] {
            tables[u].row_mut(i).assign(&arr1(&shares));
        }
        let named = tables.iter().enumerate();
        let named = named.map(|(u, table)| (format!("u{u}"), table));
        let truth_of = partition(&truth, 4);
        for once in [hard, partita_conformance::ensemble_of_shares(named)] {
            let twice = once.select(&order, &bases);
            let labels: Vec<i32> = order.iter().map(|&i| truth[i as usize]).collect();
            let labels = partition(&labels, 4);
            let weights = |first: f64, then: f64, objects: &[u32]| {
                let weights = objects.iter().map(|&i| if i < 15 { first } else { then });
                ObjectWeights::new(weights.collect()).unwrap()
            };
            let two = weights(2.0, 3.0, &order[..40]);
            let two = weighed(&once, &two);
            let three = weights(1.0, 3.0, &order);
            let three = weighed(&twice, &three);
            let margins = confidence_margins(two, &truth_of).unwrap();
            let expected = confidence_margins(three, &labels).unwrap();
            assert!(near(&margins, &expected), "{margins:?} {expected:?}");
            let shares = evidence_shares(two, &truth_of).unwrap();
            let expected = evidence_shares(three, &labels).unwrap();
            assert!(near(shares.rows(), expected.rows()));

            let even = weights(1.0, 1.0, &order[..40]);
            let plain = confidence_margins(&once, &truth_of).unwrap();
            assert_eq!(
                confidence_margins(weighed(&once, &even), &truth_of).unwrap(),
                plain
            );
            let without = weights(1.0, 0.0, &order[..40]);
            let fewer = once.select(&order[..15], &bases);
            let some = confidence_margins(&fewer, &partition(&truth[..15], 4)).unwrap();
            let all = confidence_margins(weighed(&once, &without), &truth_of).unwrap();
            assert!(near(&some, &all));
            // What weighs nothing has a confidence too.
            assert!(all[15..].iter().any(|margin| *margin > 0.3), "{all:?}");
        }
        let short = ObjectWeights::new(vec![1.0; 3]).unwrap();
        let refused = confidence(weighed(&ensemble(&columns), &short), &truth_of);
        assert_eq!(refused, Err(MetricsError::Sizes { left: 3, right: 40 }));
    }

    struct Confident<'a>(&'a ClusterEvidence, &'a [u32]);
    impl RowMap for Confident<'_> {
        type Out = Vec<f64>;
        fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Vec<f64> {
            self.0.confidence(block, self.1)
        }
    }

    #[test]
    fn counts_of_blocks_give_the_bits_of_labels_in_memory() {
        let truth = unequal(50);
        let ensemble = ensemble(&noisy(&truth, 4, 5, 0.3, 1));
        let partition = partition(&truth, 3);
        let offsets = ensemble.offsets();
        let mut counts = vec![0u64; 3 * offsets[5]];
        for (i, &k) in partition.labels().iter().enumerate() {
            for base in 0..5 {
                let cluster = offsets[base] + ensemble.label(i, base).unwrap();
                counts[k as usize * offsets[5] + cluster] += 1;
            }
        }
        let sizes: Vec<u64> = partition.sizes().iter().map(|&size| size as u64).collect();
        let evidence = ClusterEvidence::of_counts(ensemble.bases(), &sizes, &counts, None).unwrap();
        let expected = confidence(&ensemble, &partition).unwrap();
        let same = &mut |_, some: Vec<f64>| {
            assert_eq!(some, expected);
            Ok(())
        };
        let map = Confident(&evidence, partition.labels());
        let rows = EnsembleRows::new(&ensemble);
        PassRunner::new(&rows, &Silent).each(&map, same).unwrap();
        assert!(ClusterEvidence::of_counts(ensemble.bases(), &sizes, &counts[1..], None).is_err());
    }

    #[test]
    fn agreement_is_confident_and_chance_is_not() {
        let truth = unequal(600);
        let partition = partition(&truth, 3);
        let means = [0.0, 0.3, 0.6, 0.9, 1.0].map(|noise| {
            let ensemble = ensemble(&noisy(&truth, 3, 30, noise, 5));
            mean(&confidence(&ensemble, &partition).unwrap())
        });
        assert!(means.is_sorted_by(|a, b| a > b), "{means:?}");
        assert!(means[0] > 0.8 && means[4] < 0.4, "{means:?}");
        // Base clusterings of one cluster are no information at all.
        let one = confidence(&ensemble(&vec![vec![0; 600]; 30]), &partition).unwrap();
        let chance = one.iter().all(|&c| (c - 1.0 / 3.0).abs() < 0.01);
        assert!(chance, "{:?}", &one[..3]);
    }

    #[test]
    fn large_clusters_are_not_favoured_by_chance() {
        let truth = unequal(1000);
        let chance = ensemble(&noisy(&truth, 4, 40, 1.0, 9));
        let confidence = confidence(&chance, &partition(&truth, 3)).unwrap();
        let [large, small] = [0, 1].map(|k| {
            let members = confidence
                .iter()
                .zip(&truth)
                .filter(|(_, label)| **label == k);
            mean(&members.map(|(c, _)| *c).collect::<Vec<_>>())
        });
        let even = (large - small).abs() < 0.03 && (large - 1.0 / 3.0).abs() < 0.1;
        assert!(even, "{large} {small}");
    }

    #[test]
    fn what_nobody_saw_is_at_chance_and_few_votes_count_less() {
        let truth = unequal(40);
        let mut columns = noisy(&truth, 3, 20, 0.0, 0);
        columns.iter_mut().for_each(|column| column[5] = -1);
        columns.iter_mut().skip(1).for_each(|column| column[6] = -1);
        let confidence = confidence(&ensemble(&columns), &partition(&truth, 3)).unwrap();
        assert_eq!(confidence[5], 0.333333);
        let [none, one, all] = [5, 6, 7].map(|i| confidence[i]);
        assert!(none < one && one < all - 0.1, "{none} {one} {all}");
        // Alone in its cluster and its base clusters: nobody speaks for it, and nobody else.
        let alone = ensemble(&vec![vec![0, 0, 1]; 9]);
        let alone = super::confidence(&alone, &partition(&[0, 0, 1], 2)).unwrap();
        assert_eq!(alone[2], 0.5);
    }

    #[test]
    fn duplicates_of_all_base_clusterings_change_little() {
        let truth = unequal(200);
        let once = noisy(&truth, 4, 30, 0.4, 2);
        let twice = [once.clone(), once.clone()].concat();
        let partition = partition(&truth, 3);
        let [once, twice] =
            [once, twice].map(|columns| confidence(&ensemble(&columns), &partition).unwrap());
        assert!(once.iter().zip(&twice).all(|(a, b)| (a - b).abs() < 0.03));
    }

    #[test]
    fn one_cluster_is_certain_and_the_map_is_monotone() {
        let columns = noisy(&unequal(20), 3, 4, 0.5, 0);
        let ensemble = ensemble(&columns);
        for one in [partition(&[0; 20], 1), partition(&[2; 20], 4)] {
            assert_eq!(confidence(&ensemble, &one), Ok(vec![1.0; 20]));
        }
        for clusters in [2, 3, 26] {
            let margins = (-10..=10).map(|at| f64::from(at) / 10.0);
            let values = margins.map(|margin| calibrated_confidence(margin, clusters));
            let values: Vec<f64> = values.collect();
            assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
            assert_eq!((values[0], values[10]), (0.0, 1.0 / clusters as f64));
            assert!(values[20] <= 1.0);
        }
        let short = BaseWeights::new(vec![1.0]).unwrap();
        let refused = confidence(with(&ensemble, &short), &partition(&[0; 20], 1));
        assert_eq!(refused, Err(MetricsError::Sizes { left: 1, right: 4 }));
    }
}
