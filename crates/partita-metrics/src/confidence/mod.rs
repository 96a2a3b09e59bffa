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
    EnsembleRows, Label, Partition, PassRunner, RowBlock, RowMap, Silent, SoftPartition, WeightedEnsemble,
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
pub fn confidence<'a>(of: impl Into<WeightedEnsemble<'a>>, partition: &Partition) -> Result<Vec<f64>, MetricsError> {
    let live = partition.live_clusters();
    let margins = confidence_margins(of, partition)?;
    Ok(margins.into_iter().map(|margin| calibrated_in_six_digits(margin, live)).collect())
}

/// The margins that [`confidence`](confidence()) calibrates, n numbers in -1..=1.
///
/// # Errors
/// As [`confidence`](confidence()).
pub fn confidence_margins<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    partition: &Partition,
) -> Result<Vec<f64>, MetricsError> {
    let (of, labels): (WeightedEnsemble<'_>, _) = (of.into(), partition.labels());
    if let Some(shares) = of.ensemble.memberships() {
        let sums = soft::Sums::of(shares, of, partition)?;
        return Ok(labels.iter().enumerate().map(|(object, &own)| sums.margin(object, own as usize)).collect());
    }
    let evidence = ClusterEvidence::of(of, partition)?;
    Ok(Labelled { evidence, labels, of: Evidence::Margins }.numbers(of))
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
    let of: WeightedEnsemble<'_> = of.into();
    let (labels, clusters) = (partition.labels(), partition.clusters());
    let numbers = if let Some(shares) = of.ensemble.memberships() {
        let sums = soft::Sums::of(shares, of, partition)?;
        let live: Vec<bool> = partition.sizes().iter().map(|&size| size > 0).collect();
        labels.iter().enumerate().flat_map(|(object, &own)| sums.evidence(object, own as usize, &live)).collect()
    } else {
        let evidence = ClusterEvidence::of(of, partition)?;
        Labelled { evidence, labels, of: Evidence::Shares }.numbers(of)
    };
    let rows = Array2::from_shape_vec((labels.len(), clusters), numbers).expect("K numbers an object");
    Ok(SoftPartition::new(rows).expect("votes are not negative, and every row is divided by its sum"))
}

/// What is asked about every object.
#[derive(Clone, Copy)]
enum Evidence {
    /// One number an object.
    Margins,
    /// K numbers an object.
    Shares,
}

/// Rows whose labels are known.
struct Labelled<'a> {
    evidence: ClusterEvidence,
    labels: &'a [u32],
    of: Evidence,
}

impl Labelled<'_> {
    /// The numbers of all rows of the ensemble.
    fn numbers(&self, WeightedEnsemble { ensemble, object_weights, .. }: WeightedEnsemble<'_>) -> Vec<f64> {
        let mut all = Vec::with_capacity(ensemble.objects());
        let rows = object_weights.map_or_else(
            || EnsembleRows::new(ensemble),
            |weights| EnsembleRows::weighted(ensemble, weights.as_slice()),
        );
        let read = PassRunner::new(&rows, &Silent).each(self, &mut |_, some: Vec<f64>| {
            all.extend(some);
            Ok(())
        });
        read.expect("rows in memory are read, and nobody stops");
        all
    }
}

impl RowMap for Labelled<'_> {
    type Out = Vec<f64>;

    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Vec<f64> {
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
mod tests;
