//! The E-step of a mixture over soft base clusterings: a share counts as so much of a label, in the score of an object (its expected
//! log likelihood under the shares) and in the sums.

use std::ops::Range;

use partita_core::ndarray::Array2;
use partita_core::{Memberships, chunks, map_parallel};
use rayon::prelude::*;

use crate::shared::log_probabilities::{LogProbabilities, largest, normalise};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

impl LogProbabilities {
    /// [`score`](Self::score) of an object with these shares.
    fn score_shares(&self, shares: &Memberships, object: usize, scores: &mut [f64]) {
        let clusters = scores.len();
        scores.copy_from_slice(&self.prior);
        let (lines, own) = shares.row(object);
        for (&line, share) in lines.iter().zip(own) {
            let line = &self.lines[line as usize * clusters..][..clusters];
            scores
                .iter_mut()
                .zip(line)
                .for_each(|(score, log)| *score += share * log);
        }
    }
}

impl SufficientStatistics {
    /// [`add`](Self::add) of an object with these shares.
    pub(crate) fn add_shares(&mut self, shares: &Memberships, object: usize, soft: &[f64]) {
        let clusters = soft.len();
        self.sizes
            .iter_mut()
            .zip(soft)
            .for_each(|(sum, p)| *sum += p);
        let (lines, own) = shares.row(object);
        for (&line, share) in lines.iter().zip(own) {
            let line = &mut self.labels[line as usize * clusters..][..clusters];
            line.iter_mut()
                .zip(soft)
                .for_each(|(sum, p)| *sum += share * p);
        }
    }
}

impl WeightedRows<'_> {
    /// [`expect`](Self::expect) of soft base clusterings.
    pub(crate) fn expect_shares(
        &self,
        shares: &Memberships,
        logs: &LogProbabilities,
    ) -> SufficientStatistics {
        let part = |range: Range<usize>| {
            let mut part = SufficientStatistics::zero(self.label_values(), logs.clusters());
            let mut soft = vec![0.0; logs.clusters()];
            for object in range {
                logs.score_shares(shares, object, &mut soft);
                let (log, weight) = (normalise(&mut soft), self.weights()[object]);
                part.log_sum += weight * log;
                if log > f64::NEG_INFINITY {
                    soft.iter_mut().for_each(|p| *p *= weight);
                    part.add_shares(shares, object, &soft);
                }
            }
            part
        };
        self.sum(part, SufficientStatistics::merged)
    }

    /// [`memberships`](Self::memberships) of soft base clusterings.
    pub(crate) fn memberships_of_shares(
        shares: &Memberships,
        logs: &LogProbabilities,
    ) -> Array2<f64> {
        let clusters = logs.clusters();
        let mut soft = vec![0.0; shares.objects() * clusters];
        soft.par_chunks_mut(clusters)
            .enumerate()
            .for_each(|(object, soft)| {
                logs.score_shares(shares, object, soft);
                if normalise(soft) == f64::NEG_INFINITY {
                    soft.copy_from_slice(&logs.prior);
                    normalise(soft);
                }
            });
        Array2::from_shape_vec((shares.objects(), clusters), soft).expect("K values an object")
    }

    /// [`nearest`](Self::nearest) of soft base clusterings.
    pub(crate) fn nearest_of_shares(
        &self,
        shares: &Memberships,
        logs: &LogProbabilities,
    ) -> Vec<u32> {
        let part = |range: Range<usize>| {
            let mut scores = vec![0.0; logs.clusters()];
            let best = |object| {
                logs.score_shares(shares, object, &mut scores);
                largest(&scores) as u32
            };
            range.map(best).collect::<Vec<u32>>()
        };
        map_parallel(chunks(shares.objects(), self.part_size()), part).concat()
    }

    /// [`given`](Self::given) of soft base clusterings.
    pub(crate) fn given_shares(
        &self,
        shares: &Memberships,
        clusters: usize,
        member: impl Fn(usize, &mut [f64]) + Sync,
    ) -> SufficientStatistics {
        self.given_by(clusters, member, |sums, object, soft| {
            sums.add_shares(shares, object, soft);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture;

    /// Shares of 1 take the other path here, which must say the same.
    #[test]
    fn shares_of_one_count_as_labels() {
        for seed in 0..20 {
            let ensemble = fixture::drawn(seed);
            let rows = WeightedRows::unfolded(&ensemble);
            let shares = ensemble.shares();
            let member = |i: usize, line: &mut [f64]| line[i % 3] = 1.0;
            let given = rows.given(3, member);
            assert_eq!(rows.given_shares(&shares, 3, member), given);
            let model = crate::shared::initialization::model(&rows, &given);
            assert_eq!(
                rows.nearest_of_shares(&shares, model.logs()),
                rows.nearest(model.logs())
            );
            assert_eq!(
                WeightedRows::memberships_of_shares(&shares, model.logs()),
                rows.memberships(model.logs())
            );
            assert_eq!(
                rows.expect_shares(&shares, model.logs()),
                rows.expect(model.logs())
            );
        }
    }
}
