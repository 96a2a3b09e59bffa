//! In how many base clusterings an object lies with its consensus cluster.
//!
//! A base cluster lies with a consensus cluster if that has more than half of its objects. The agreement of an object is the share of
//! the base clusterings that label it whose base cluster of it lies with its own consensus cluster: a number that everybody can count
//! ("in 7 of 8"), and that compares between methods because it looks at labels and ensemble alone. Finer base clusterings agree, coarser
//! ones that join two clusters do not. Missing labels count neither way; base clusterings count by their weights, objects of weight w as w
//! objects, and of a soft base clustering the shares of the object.

use partita_core::{
    BaseClustering, BaseWeights, EnsembleRows, Entry, Partition, PassRunner, Row, RowBlock, RowMap,
    Silent, WeightedEnsemble,
};

use crate::MetricsError;
use crate::contingency::check_sizes;

/// The consensus cluster that each base cluster lies with: what the agreement of any object is read from. It is made from labels in
/// memory, or from counts of rows that are read block by block.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The cluster of every base cluster, ΣJ values; [`NONE`] where no cluster has more than half of it.
    clusters: Vec<u32>,
    /// Where the base clusters of every base clustering start, M + 1 values.
    offsets: Vec<usize>,
    /// One weight a base clustering.
    weights: Vec<f64>,
}

/// A base cluster of which no cluster has more than half.
const NONE: u32 = u32::MAX;

impl Agreement {
    /// From labels in memory.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object.
    ///
    /// # Cost
    /// O(n M + K ΣJ) time; a table of K numbers for each cluster of one base clustering at a time, of soft ones for all.
    pub fn of<'a>(
        of: impl Into<WeightedEnsemble<'a>>,
        partition: &Partition,
    ) -> Result<Self, MetricsError> {
        let of: WeightedEnsemble<'_> = of.into();
        check_sizes(partition.objects(), of.ensemble.objects())?;
        let times = of.multiplicities();
        check_sizes(
            times.map_or(partition.objects(), <[f64]>::len),
            partition.objects(),
        )?;
        let (offsets, k) = (of.ensemble.offsets(), partition.clusters());
        let weight = |object: usize| times.map_or(1.0, |times| times[object]);
        let own = || partition.labels().iter().enumerate();
        let bases = of.ensemble.bases();
        if let Some(shares) = of.ensemble.memberships() {
            let all = offsets[bases.len()];
            let mut held = vec![0.0; k * all];
            for (object, &own) in own() {
                let (clusters, shares) = shares.row(object);
                for (&cluster, &share) in clusters.iter().zip(shares) {
                    held[own as usize * all + cluster as usize] += weight(object) * share;
                }
            }
            return Self::new(bases, majorities(&held, all), of.base_weights);
        }
        // One base clustering at a time: all of them may have many clusters together.
        let mut clusters = Vec::with_capacity(offsets[bases.len()]);
        for (base, clustering) in bases.iter().enumerate() {
            let all = clustering.clusters();
            let mut held = vec![0.0; k * all];
            for (label, (object, &own)) in of.ensemble.column(base).zip(own()) {
                if let Some(label) = label {
                    held[own as usize * all + label] += weight(object);
                }
            }
            clusters.extend(majorities(&held, all));
        }
        Self::new(bases, clusters, of.base_weights)
    }

    /// From counts: the objects of every cluster in every base cluster, K × ΣJ numbers.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if there is not one weight a base clustering, or not K × ΣJ counts.
    pub fn of_counts(
        bases: &[BaseClustering],
        counts: &[u64],
        weights: Option<&BaseWeights>,
    ) -> Result<Self, MetricsError> {
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let all = bases.iter().map(BaseClustering::clusters).sum::<usize>();
        let clusters = counts.len().checked_div(all).unwrap_or(0);
        check_sizes(counts.len(), clusters * all)?;
        Self::new(bases, majorities(&counts, all), weights)
    }

    fn new(
        bases: &[BaseClustering],
        clusters: Vec<u32>,
        weights: Option<&BaseWeights>,
    ) -> Result<Self, MetricsError> {
        let weights = weights.map_or_else(
            || vec![1.0; bases.len()],
            |weights| weights.as_slice().to_vec(),
        );
        check_sizes(weights.len(), bases.len())?;
        Ok(Self {
            clusters,
            offsets: BaseClustering::offsets(bases),
            weights,
        })
    }

    /// The cluster that has more than half of a base cluster, base clusters numbered through; none where no cluster has.
    pub fn majority(&self, base_cluster: usize) -> Option<usize> {
        let cluster = self.clusters[base_cluster];
        (cluster != NONE).then_some(cluster as usize)
    }

    /// The agreement of some objects with these `labels`, one a row, in 0..=1; 0 where no base clustering labels an object.
    ///
    /// # Panics
    /// If there is not one label a row, or the rows are not of these base clusterings.
    pub fn of_rows<'a, R: Row<'a>>(&self, rows: &RowBlock<'a, R>, labels: &[u32]) -> Vec<f64> {
        assert_eq!(rows.len(), labels.len(), "one label a row");
        let of_row = |((row, _), &own): ((R, f64), &u32)| {
            let (mut agreeing, mut all) = (0.0, 0.0);
            for Entry {
                base,
                cluster,
                share,
            } in row.entries(&self.offsets)
            {
                let weight = self.weights[base] * share;
                all += weight;
                if self.clusters[cluster] == own {
                    agreeing += weight;
                }
            }
            // In six digits, so that the order of sums does not show.
            if all > 0.0 {
                (agreeing / all * 1e6).round() / 1e6
            } else {
                0.0
            }
        };
        rows.rows().zip(labels).map(of_row).collect()
    }
}

/// The cluster that has more than half of each of so many base clusters, of what clusters hold of them, a line a cluster.
fn majorities(held: &[f64], base_clusters: usize) -> Vec<u32> {
    let most = |cluster: usize| {
        let of = || held.iter().skip(cluster).step_by(base_clusters);
        let half = of().sum::<f64>() / 2.0;
        let found = of().position(|&inside| inside > half);
        found.map_or(NONE, |k| k as u32)
    };
    (0..base_clusters).map(most).collect()
}

/// The [agreement](Agreement) of every object, n numbers in 0..=1: the share of the base clusterings that label it whose base cluster
/// of it lies with its cluster of the partition, which has more than half of that base cluster. 0 for an object that no base clustering
/// labels. Numbers have six digits. An ensemble may come with weights of its base clusterings and of its objects
/// ([`WeightedEnsemble`]).
///
/// # Errors
/// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object.
///
/// # Cost
/// O(n M) time, in parallel where the feature `rayon` of `partita-core` is on; O(n + K ΣJ) memory.
///
/// ```
/// use partita_core::{EnsembleBuilder, Partition};
/// use partita_metrics::object_agreement;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(6);
/// builder.push("a", [0, 0, 0, 1, 1, 1].map(Some))?;
/// builder.push("b", [0, 0, 1, 1, 1, 1].map(Some))?;
/// let partition = Partition::new(vec![0, 0, 0, 1, 1, 1], 2)?;
/// let agreement = object_agreement(&builder.finish()?, &partition)?;
/// assert_eq!(agreement, [1.0, 1.0, 0.5, 1.0, 1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "consensus_index")]
#[doc(alias = "item_consensus")]
pub fn object_agreement<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    partition: &Partition,
) -> Result<Vec<f64>, MetricsError> {
    let of: WeightedEnsemble<'_> = of.into();
    let agreement = Agreement::of(of, partition)?;
    let mut all = Vec::with_capacity(partition.objects());
    let map = Labelled {
        agreement,
        labels: partition.labels(),
    };
    let rows = match of.object_weights {
        None => EnsembleRows::new(of.ensemble),
        Some(weights) => EnsembleRows::weighted(of.ensemble, weights.as_slice()),
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
    agreement: Agreement,
    labels: &'a [u32],
}

impl RowMap for Labelled<'_> {
    type Out = Vec<f64>;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Vec<f64> {
        let first = block.first as usize;
        self.agreement
            .of_rows(block, &self.labels[first..][..block.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Ensemble, EnsembleBuilder, ObjectWeights, Seed, rand::RngExt};

    fn drawn(seed: u64) -> (Ensemble, Partition) {
        let mut rng = Seed::new(seed).rng();
        let n = rng.random_range(1..60);
        let mut builder = EnsembleBuilder::new(n);
        for base in 0..rng.random_range(1..6) {
            let label = |i| (i == 0 || rng.random_bool(0.8)).then(|| rng.random_range(0..4_u32));
            let labels: Vec<Option<u32>> = (0..n).map(label).collect();
            builder.push(format!("{base}"), labels).expect("n labels");
        }
        let labels: Vec<u32> = (0..n).map(|_| rng.random_range(0..3)).collect();
        (
            builder.finish().expect("base clusterings"),
            Partition::new(labels, 3).expect("three clusters"),
        )
    }

    #[test]
    fn finer_base_clusterings_agree_and_missing_labels_do_not_count() {
        let mut builder = EnsembleBuilder::new(6);
        let finer = [0, 1, 1, 2, 2, 3].map(Some);
        let crossing = [Some(0), Some(0), Some(0), Some(0), None, Some(1)];
        builder.push("finer", finer).expect("six labels");
        builder.push("crossing", crossing).expect("six labels");
        let ensemble = builder.finish().expect("two base clusterings");
        let partition = Partition::from_values(&[0, 0, 0, 1, 1, 1]);
        let found = object_agreement(&ensemble, &partition).expect("the same objects");
        assert_eq!(found, [1.0, 1.0, 1.0, 0.5, 1.0, 1.0]);
        let other = Partition::from_values(&[0, 1]);
        assert!(object_agreement(&ensemble, &other).is_err());
    }

    #[test]
    fn it_is_what_its_definition_says() {
        for seed in 0..200 {
            let (ensemble, partition) = drawn(seed);
            let own = partition.labels();
            let found = object_agreement(&ensemble, &partition).expect("the same objects");
            for (i, found) in found.into_iter().enumerate() {
                let (mut agreeing, mut all) = (0, 0);
                for u in 0..ensemble.bases().len() {
                    let Some(label) = ensemble.label(i, u) else {
                        continue;
                    };
                    let with: Vec<usize> = (0..own.len())
                        .filter(|&j| ensemble.label(j, u) == Some(label))
                        .collect();
                    let inside = with.iter().filter(|&&j| own[j] == own[i]).count();
                    all += 1;
                    agreeing += u32::from(2 * inside > with.len());
                }
                let expected = f64::from(agreeing) / f64::from(all.max(1));
                assert!((found - expected).abs() < 1e-6, "object {i} of draw {seed}");
            }
        }
    }

    #[test]
    fn weights_are_copies() {
        let (ensemble, partition) = drawn(7);
        let n = partition.objects();
        let twice: Vec<u32> = (0..n as u32).chain(0..3).collect();
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let copied = ensemble.select(&twice, &bases);
        let labels = twice.iter().map(|&i| partition.labels()[i as usize]);
        let labels = Partition::new(labels.collect(), 3).expect("three clusters");
        let expected = object_agreement(&copied, &labels).expect("the same objects");
        let weights = (0..n).map(|i| if i < 3 { 2.0 } else { 1.0 }).collect();
        let weights = ObjectWeights::new(weights).expect("weights above 0");
        let weighted = WeightedEnsemble {
            ensemble: &ensemble,
            base_weights: None,
            object_weights: Some(&weights),
        };
        let found = object_agreement(weighted, &partition).expect("the same objects");
        assert_eq!(found, expected[..n]);
    }
}
