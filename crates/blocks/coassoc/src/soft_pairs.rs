//! Pair counts of soft base clusterings: two objects are together to the degree of the products of their shares.
//!
//! ```text
//! c_ij = Σ_u w_u Σ_c q_ic q_jc        N_ij = Σ_u w_u over the base clusterings that know both
//! ```
//! Both are kept as whole numbers, in parts of 2³¹ of the sum of the weights, like counts with weights.

use partita_core::{Ensemble, Memberships, WeightedEnsemble, WeightsError};

use crate::CoassocError;
use crate::whole_weights::MOST;

/// The memberships of an ensemble by object and by base cluster.
#[derive(Clone, Debug)]
pub(crate) struct SoftPairs {
    shares: Memberships,
    /// The objects with a share in every base cluster, and their shares times the weight of the base clustering.
    starts: Vec<usize>,
    members: Vec<(u32, f64)>,
    /// What every base clustering counts, with the sum [`MOST`].
    weights: Vec<f64>,
    /// Which objects every base clustering knows, n × M; none where all know all.
    known: Option<Vec<bool>>,
    /// What being together in every base cluster counts.
    counts: Vec<f64>,
    bases: usize,
}

impl SoftPairs {
    /// The pairs of a soft ensemble; none if it is hard.
    ///
    /// # Errors
    /// [`CoassocError::Weights`] if there is not one weight a base clustering.
    pub(crate) fn new(source: WeightedEnsemble<'_>) -> Result<Option<Self>, CoassocError> {
        Self::by_cluster(source, |_| 1.0)
    }

    /// The same where being together in base cluster c counts `worth(c)`, 0 to 1.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn by_cluster(
        source: WeightedEnsemble<'_>,
        worth: impl Fn(usize) -> f64,
    ) -> Result<Option<Self>, CoassocError> {
        let ensemble = source.ensemble;
        WeightsError::check(source.base_weights, ensemble.bases().len())?;
        let Some(shares) = ensemble.memberships() else {
            return Ok(None);
        };
        let bases = ensemble.bases().len();
        let given = source
            .base_weights
            .map_or_else(|| vec![1.0; bases], |weights| weights.as_slice().to_vec());
        let sum: f64 = given.iter().sum();
        let weights: Vec<f64> = given
            .iter()
            .map(|weight| weight / sum * f64::from(MOST))
            .collect();
        let offsets = ensemble.offsets();
        let base = offsets.windows(2).zip(&weights);
        let counts = base.flat_map(|(ends, &weight)| (ends[0]..ends[1]).map(move |c| (c, weight)));
        let counts: Vec<f64> = counts.map(|(c, weight)| worth(c) * weight).collect();
        let (starts, members) = by_cluster(shares, &counts);
        let known = (ensemble.missing() > 0).then(|| known(ensemble));
        Ok(Some(Self {
            shares: shares.clone(),
            starts,
            members,
            weights,
            counts,
            known,
            bases,
        }))
    }

    /// Whether some base clustering does not know some object.
    pub(crate) fn missing(&self) -> bool {
        self.known.is_some()
    }

    /// c and N of an object and all from `first` on. With itself an object is always together.
    pub(crate) fn row(&self, object: usize, first: usize, mut take: impl FnMut(usize, u32, u32)) {
        let objects = self.shares.objects();
        let mut sums = vec![0.0; objects];
        let (clusters, own) = self.shares.row(object);
        for (&cluster, share) in clusters.iter().zip(own) {
            let members =
                &self.members[self.starts[cluster as usize]..self.starts[cluster as usize + 1]];
            members
                .iter()
                .for_each(|&(other, weighted)| sums[other as usize] += share * weighted);
        }
        for (other, sum) in sums.into_iter().enumerate().skip(first) {
            let seen = self.seen(object, other);
            take(
                other,
                if other == object {
                    seen
                } else {
                    (sum.round() as u32).min(seen)
                },
                seen,
            );
        }
    }

    /// c and N of one pair.
    pub(crate) fn pair(&self, one: usize, other: usize) -> (u32, u32) {
        let ((a, shares), (b, others)) = (self.shares.row(one), self.shares.row(other));
        let (mut at, mut sum) = (0, 0.0);
        for (cluster, share) in a.iter().zip(shares) {
            at += b[at..].partition_point(|c| c < cluster);
            if b.get(at) == Some(cluster) {
                sum += share * others[at] * self.counts[*cluster as usize];
            }
        }
        let seen = self.seen(one, other);
        ((sum.round() as u32).min(seen), seen)
    }

    fn seen(&self, one: usize, other: usize) -> u32 {
        let Some(known) = &self.known else {
            return MOST;
        };
        let row = |object: usize| &known[object * self.bases..(object + 1) * self.bases];
        let both = row(one)
            .iter()
            .zip(row(other))
            .zip(&self.weights)
            .filter(|((a, b), _)| **a && **b);
        both.map(|(_, weight)| weight).sum::<f64>().round() as u32
    }
}

/// The members of every base cluster with their shares times what it counts.
fn by_cluster(shares: &Memberships, counts: &[f64]) -> (Vec<usize>, Vec<(u32, f64)>) {
    let (_, clusters, values) = shares.parts();
    let mut starts = vec![0; counts.len() + 1];
    clusters
        .iter()
        .for_each(|&cluster| starts[cluster as usize + 1] += 1);
    (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
    let (mut free, mut members) = (starts.clone(), vec![(0, 0.0); values.len()]);
    for object in 0..shares.objects() {
        let (clusters, own) = shares.row(object);
        for (&cluster, share) in clusters.iter().zip(own) {
            members[free[cluster as usize]] = (object as u32, share * counts[cluster as usize]);
            free[cluster as usize] += 1;
        }
    }
    (starts, members)
}

fn known(ensemble: &Ensemble) -> Vec<bool> {
    let bases = ensemble.bases().len();
    (0..ensemble.objects())
        .flat_map(|i| (0..bases).map(move |u| ensemble.label(i, u).is_some()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EvidenceRows;
    use partita_core::ndarray::array;
    use partita_core::{BaseWeights, EnsembleBuilder, Shares};

    #[test]
    fn pairs_are_together_as_the_products_of_their_shares() {
        let mut builder = EnsembleBuilder::new(3);
        let values = |j: usize| (0..j).map(|j| j.to_string()).collect();
        let a = Shares::new(array![[0.25, 0.75], [0.5, 0.5], [0.0, 0.0]]).unwrap();
        builder.push_soft("a", values(2), &a, 8).unwrap();
        let b = Shares::new(array![[1.0, 0.0], [0.2, 0.8], [0.4, 0.6]]).unwrap();
        builder.push_soft("b", values(2), &b, 8).unwrap();
        let ensemble = builder.finish().unwrap();
        let weights = BaseWeights::new(vec![1.0, 3.0]).unwrap();
        let source = WeightedEnsemble {
            base_weights: Some(&weights),
            ..(&ensemble).into()
        };
        let rows = EvidenceRows::new(source).unwrap();
        let unit = f64::from(rows.unit());
        let expected = [
            [
                None,
                Some((0.25 * 0.5 + 0.75 * 0.2, 1.0)),
                Some((0.75 * 0.4, 0.75)),
            ],
            [
                Some((0.25 * 0.5 + 0.75 * 0.2, 1.0)),
                None,
                Some((0.75 * (0.08 + 0.48), 0.75)),
            ],
        ];
        let pairs = SoftPairs::new(source).unwrap().unwrap();
        for (i, expected) in expected.iter().enumerate() {
            rows.for_each(i, |j, c, n| {
                let Some((together, seen)) = expected[j] else {
                    return;
                };
                assert!(
                    (f64::from(c) / unit - together).abs() < 1e-9
                        && (f64::from(n) / unit - seen).abs() < 1e-9
                );
                assert_eq!(pairs.pair(i, j), (c, n));
                assert_eq!(pairs.pair(j, i), (c, n));
            });
        }
    }
}
