//! What was counted over all objects, where those that a report shows one by one are a sample of them.

use partita_core::BaseClustering;
use serde::{Deserialize, Serialize};

use crate::ReportError;

/// Counts of all objects of which a report shows a sample: with them tables are of all objects, and pictures of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Objects of every cluster, K numbers.
    pub sizes: Vec<u64>,
    /// Objects of every cluster in every base cluster, K × ΣJ numbers: those of all base clusterings are numbered through.
    pub of_base_clusters: Vec<u64>,
    /// The agreement of the objects of every cluster, K of them.
    pub agreement: Vec<AgreementCounts>,
}

/// Steps of a agreement.
const STEPS: usize = 1_000;

/// How many objects have which agreement, in steps of 0.001.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgreementCounts {
    sum: f64,
    objects: u64,
    /// Objects whose agreement is at least so many thousandths and less than one more; the last have 1.
    steps: Vec<u64>,
}

impl Default for AgreementCounts {
    fn default() -> Self {
        Self {
            sum: 0.0,
            objects: 0,
            steps: vec![0; STEPS + 1],
        }
    }
}

impl AgreementCounts {
    /// Bytes that these take.
    pub const BYTES: u64 = 8 * (STEPS as u64 + 1);

    /// Counts one more object, with this agreement in 0..=1.
    pub fn push(&mut self, agreement: f64) {
        self.sum += agreement;
        self.objects += 1;
        // What is below 0 or no number counts as 0.
        self.steps[((agreement * STEPS as f64) as usize).min(STEPS)] += 1;
    }

    /// Counts the objects of another part of the rows too.
    pub fn add(&mut self, other: &Self) {
        self.sum += other.sum;
        self.objects += other.objects;
        for (sum, count) in self.steps.iter_mut().zip(&other.steps) {
            *sum += count;
        }
    }

    /// Mean agreement.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.objects.max(1) as f64
    }

    /// The agreement that this share of the objects does not exceed, rounded down to 0.001.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let last = self.objects.saturating_sub(1);
        let rank = (share * last as f64).round() as u64;
        let mut below = 0;
        let step = self.steps.iter().position(|count| {
            below += count;
            below > rank
        });
        step.unwrap_or(0) as f64 / STEPS as f64
    }
}

impl Counted {
    /// Refuses counts that are not those of so many clusters and these base clusterings.
    pub(crate) fn check(
        &self,
        clusters: usize,
        bases: &[BaseClustering],
    ) -> Result<(), ReportError> {
        let base_clusters: usize = bases.iter().map(BaseClustering::clusters).sum();
        let in_base_clusters = self.of_base_clusters.len();
        for (part, found, wanted) in [
            ("sizes of clusters", self.sizes.len(), clusters),
            ("agreements of clusters", self.agreement.len(), clusters),
            (
                "counts of clusters in base clusters",
                in_base_clusters,
                clusters * base_clusters,
            ),
        ] {
            if found != wanted {
                return Err(ReportError::Counts {
                    part,
                    wanted,
                    found,
                });
            }
        }
        Ok(())
    }

    /// Objects of a cluster in every base cluster, ΣJ numbers.
    pub(crate) fn in_base_clusters(&self, cluster: usize) -> &[u64] {
        let base_clusters = self.of_base_clusters.len() / self.sizes.len().max(1);
        &self.of_base_clusters[cluster * base_clusters..][..base_clusters]
    }

    /// Number of all objects.
    pub(crate) fn objects(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// Mean agreement of all objects.
    pub(crate) fn mean(&self) -> f64 {
        self.agreement.iter().map(|of| of.sum).sum::<f64>() / self.objects().max(1) as f64
    }

    /// Objects by agreement in so many equal bins, a divisor of 1,000; those of agreement 1 are in the last.
    pub(crate) fn bins<const N: usize>(&self) -> [u64; N] {
        let mut bins = [0; N];
        for of in &self.agreement {
            for (step, count) in of.steps.iter().enumerate() {
                bins[(step * N / STEPS).min(N - 1)] += count;
            }
        }
        bins
    }

    /// The share of the objects whose agreement is at least so many thousandths.
    pub(crate) fn share_from(&self, thousandths: usize) -> f64 {
        let of = self.agreement.iter();
        let steps = of.flat_map(|of| &of.steps[thousandths.min(STEPS)..]);
        steps.sum::<u64>() as f64 / self.objects().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_quantiles_are_those_of_the_agreements_to_a_thousandth() {
        let values: Vec<f64> = (0..997).map(|i| f64::from(i * 7 % 997) / 996.0).collect();
        let mut of = AgreementCounts::default();
        values.iter().for_each(|&value| of.push(value));
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let exact = sorted[(share * 996.0_f64).round() as usize];
            let apart = exact - of.quantile(share);
            assert!((0.0..0.001 + 1e-12).contains(&apart), "{share}: {exact}");
        }
        assert!((of.mean() - 0.5).abs() < 1e-12);
        let counted = Counted {
            sizes: vec![997],
            of_base_clusters: vec![997],
            agreement: vec![of],
        };
        let there = |from: f64| values.iter().filter(move |value| **value >= from);
        let at_least = |from: f64| there(from).count() as f64 / 997.0;
        assert_eq!(counted.share_from(500), at_least(0.5));
        assert_eq!(counted.share_from(750), at_least(0.75));
        assert_eq!(counted.bins::<20>().iter().sum::<u64>(), 997);
        assert_eq!(counted.bins::<2>()[1] as f64 / 997.0, at_least(0.5));
    }

    #[test]
    fn counts_of_other_clusters_are_refused() {
        let bases = [BaseClustering::new("a", vec!["0".into(), "1".into()])];
        let counted = Counted {
            sizes: vec![1, 1],
            of_base_clusters: vec![1; 3],
            agreement: vec![AgreementCounts::default(); 2],
        };
        let error = counted.check(2, &bases).unwrap_err().to_string();
        assert!(error.starts_with("3 counts of clusters in base clusters are given; "));
        assert!(error.ends_with("the labels ask for 4"));
    }
}
