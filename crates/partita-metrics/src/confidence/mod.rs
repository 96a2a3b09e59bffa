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

use partita_core::{BaseWeights, Ensemble, EnsembleRows, Label, Partition, PassRunner, RowBlock, RowMap, Silent};

use crate::MetricsError;
pub use calibration::{CALIBRATION, calibrated_confidence};
pub use evidence::ClusterEvidence;
use evidence::calibrated_in_six_digits;

/// Confidence of every object's label, n numbers in 0..=1: the share of the ensemble's evidence for its cluster, calibrated as the
/// probability that the label is right. Comparable between methods. Numbers have six digits.
///
/// # Errors
/// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering.
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
/// let confidence = confidence(&builder.finish()?, &partition, None)?;
/// assert!(confidence[2] < confidence[0]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "consensus_index")]
#[doc(alias = "item_consensus")]
pub fn confidence(
    ensemble: &Ensemble,
    partition: &Partition,
    weights: Option<&BaseWeights>,
) -> Result<Vec<f64>, MetricsError> {
    let live = partition.live_clusters();
    let margins = confidence_margins(ensemble, partition, weights)?;
    Ok(margins.into_iter().map(|margin| calibrated_in_six_digits(margin, live)).collect())
}

/// The margins that [`confidence`](confidence()) calibrates, n numbers in -1..=1.
///
/// # Errors
/// As [`confidence`](confidence()).
pub fn confidence_margins(
    ensemble: &Ensemble,
    partition: &Partition,
    weights: Option<&BaseWeights>,
) -> Result<Vec<f64>, MetricsError> {
    match ensemble.memberships() {
        Some(shares) => soft::margins(shares, ensemble, partition, weights),
        None => Ok(margins(&ClusterEvidence::of(ensemble, partition, weights)?, ensemble, partition)),
    }
}

fn margins(evidence: &ClusterEvidence, ensemble: &Ensemble, partition: &Partition) -> Vec<f64> {
    let mut all = Vec::with_capacity(ensemble.objects());
    let map = Labelled { evidence, labels: partition.labels() };
    let rows = EnsembleRows::new(ensemble);
    let read = PassRunner::new(&rows, &Silent).each(&map, &mut |_, some: Vec<f64>| {
        all.extend(some);
        Ok(())
    });
    read.expect("rows in memory are read, and nobody stops");
    all
}

/// Rows whose labels are known.
struct Labelled<'a> {
    evidence: &'a ClusterEvidence,
    labels: &'a [u32],
}

impl RowMap for Labelled<'_> {
    type Out = Vec<f64>;

    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Vec<f64> {
        let first = block.first as usize;
        self.evidence.margins(block, &self.labels[first..first + block.len()])
    }
}

#[cfg(test)]
mod tests;
