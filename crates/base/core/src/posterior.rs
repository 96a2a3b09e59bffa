//! Posterior draws of a consensus, as data: partitions, how many clusters, similarity of objects, credible ball, memberships.

use std::collections::BTreeMap;

use ndarray::Array2;
use serde::Serialize;

use crate::{Partition, SoftPartition};

/// Partitions drawn from a posterior, and what they say about the partition that stands for them.
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "MCMC samples")]
pub struct Posterior {
    draws: Vec<Partition>,
    memberships: SoftPartition,
    ball: CredibleBall,
}

/// The smallest ball around a partition, in variation of information, that holds so much of the posterior, and its bounds.
///
/// # References
/// Wade, Ghahramani, *Bayesian cluster analysis: point estimation and credible balls*, Bayesian Analysis 13, 2018.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[doc(alias = "credible interval")]
pub struct CredibleBall {
    /// The share of the draws that it holds, at least.
    pub level: f64,
    /// Its radius, nats.
    pub radius: f64,
    /// Of the draws in the ball the farthest from the centre.
    pub horizontal: Bound,
    /// Of those with the fewest clusters the farthest.
    pub upper: Bound,
    /// Of those with the most clusters the farthest.
    pub lower: Bound,
}

/// A draw on the edge of a credible ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// Which draw, from 0.
    pub draw: usize,
    /// Its clusters.
    pub clusters: usize,
    /// Its distance from the centre, nats.
    pub distance: f64,
}

impl CredibleBall {
    /// The ball around a partition from which the draws are so far away and have so many clusters; of equals the first.
    ///
    /// # Panics
    /// If there is no draw, or not one number of clusters a distance.
    pub fn of(level: f64, distances: &[f64], clusters: &[usize]) -> Self {
        assert!(
            !distances.is_empty() && distances.len() == clusters.len(),
            "a distance and a number of clusters a draw"
        );
        let mut sorted = distances.to_vec();
        sorted.sort_by(f64::total_cmp);
        let held = ((level * distances.len() as f64).ceil() as usize).clamp(1, distances.len());
        let radius = sorted[held - 1];
        let inside: Vec<usize> = (0..distances.len())
            .filter(|&s| distances[s] <= radius)
            .collect();
        let counts = || inside.iter().map(|&s| clusters[s]);
        let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let farthest = |among: &dyn Fn(usize) -> bool| {
            let mut best: Option<usize> = None;
            for &s in inside.iter().filter(|&&s| among(clusters[s])) {
                if best.is_none_or(|best| distances[s] > distances[best]) {
                    best = Some(s);
                }
            }
            let draw = best.unwrap_or(inside[0]);
            Bound {
                draw,
                clusters: clusters[draw],
                distance: distances[draw],
            }
        };
        Self {
            level,
            radius,
            horizontal: farthest(&|_| true),
            upper: farthest(&|count| count == fewest),
            lower: farthest(&|count| count == most),
        }
    }
}

impl Posterior {
    /// Draws, with memberships in the clusters of the partition that stands for them, and the ball around it.
    ///
    /// # Panics
    /// If draws and memberships are not of the same objects.
    pub fn new(draws: Vec<Partition>, memberships: SoftPartition, ball: CredibleBall) -> Self {
        assert!(
            draws
                .iter()
                .all(|draw| draw.objects() == memberships.objects()),
            "draws are of the same objects"
        );
        Self {
            draws,
            memberships,
            ball,
        }
    }

    /// The draws, chain after chain.
    pub fn draws(&self) -> &[Partition] {
        &self.draws
    }

    /// For every object the mean share of draws that put it together with the members of each cluster, divided by its sum: n × K.
    pub fn memberships(&self) -> &SoftPartition {
        &self.memberships
    }

    /// The credible ball around the partition that stands for the draws.
    pub fn ball(&self) -> &CredibleBall {
        &self.ball
    }

    /// For every number of clusters that was drawn the share of the draws that have it.
    pub fn clusters(&self) -> BTreeMap<usize, f64> {
        shares_of_clusters(self.draws.iter().map(Partition::live_clusters))
    }

    /// Calls `take` with every pair of objects i < j that at least such a share of the draws puts together, and the share; rows rise.
    ///
    /// # Errors
    /// The first of `take`.
    ///
    /// # Cost
    /// O(draws · n²/K) time, n numbers and 4 n bytes a draw.
    pub fn similar<E>(
        &self,
        share: f64,
        mut take: impl FnMut(usize, usize, f64) -> Result<(), E>,
    ) -> Result<(), E> {
        let members: Vec<Vec<Vec<u32>>> = self.draws.iter().map(members).collect();
        let objects = self.memberships.objects();
        let mut together = vec![0u32; objects];
        for i in 0..objects {
            for (draw, members) in self.draws.iter().zip(&members) {
                let own = &members[draw.labels()[i] as usize];
                own[own.partition_point(|&j| j as usize <= i)..]
                    .iter()
                    .for_each(|&j| together[j as usize] += 1);
            }
            for (j, count) in together
                .iter_mut()
                .enumerate()
                .skip(i + 1)
                .filter(|(_, count)| **count > 0)
            {
                let found = f64::from(std::mem::take(count)) / self.draws.len() as f64;
                if found >= share {
                    take(i, j, found)?;
                }
            }
        }
        Ok(())
    }

    /// The same with the value of object `order[i]` at place i.
    pub(crate) fn reordered(&self, restore: impl Fn(&[u32]) -> Vec<u32>) -> Self {
        let draw = |draw: &Partition| {
            Partition::new(restore(draw.labels()), draw.clusters())
                .expect("the labels are the same")
        };
        let places: Vec<u32> = (0..self.memberships.objects() as u32).collect();
        let order: Vec<usize> = restore(&places).into_iter().map(|at| at as usize).collect();
        let rows: Array2<f64> = self.memberships.rows().select(ndarray::Axis(0), &order);
        let memberships = SoftPartition::new(rows).expect("the rows are the same");
        Self {
            draws: self.draws.iter().map(draw).collect(),
            memberships,
            ball: self.ball,
        }
    }
}

/// The share of each number.
pub fn shares_of_clusters(clusters: impl ExactSizeIterator<Item = usize>) -> BTreeMap<usize, f64> {
    let all = clusters.len().max(1) as f64;
    let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
    clusters.for_each(|clusters| *counts.entry(clusters).or_default() += 1.0);
    counts.values_mut().for_each(|count| *count /= all);
    counts
}

/// Members of every cluster, rising.
fn members(partition: &Partition) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); partition.clusters()];
    partition
        .labels()
        .iter()
        .zip(0..)
        .for_each(|(&label, i)| members[label as usize].push(i));
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_holds_its_share_and_names_its_bounds() {
        let (distances, clusters) = ([0.1, 0.4, 0.2, 0.4, 0.9], [3, 2, 4, 2, 9]);
        let ball = CredibleBall::of(0.8, &distances, &clusters);
        assert_eq!(ball.radius, 0.4);
        assert_eq!(
            (ball.horizontal.draw, ball.upper.draw, ball.lower.draw),
            (1, 1, 2)
        );
        assert_eq!((ball.upper.clusters, ball.lower.distance), (2, 0.2));
        assert_eq!(
            CredibleBall::of(0.95, &distances, &clusters).lower.clusters,
            9
        );
    }

    #[test]
    fn pairs_are_those_that_draws_put_together() {
        let draw = |labels: &[u32]| Partition::new(labels.to_vec(), 3).unwrap();
        let draws = vec![
            draw(&[0, 0, 1, 1]),
            draw(&[0, 0, 0, 1]),
            draw(&[2, 1, 0, 0]),
            draw(&[1, 1, 0, 0]),
        ];
        let memberships = SoftPartition::of(&draw(&[0, 0, 1, 1]));
        let posterior = Posterior::new(
            draws.clone(),
            memberships,
            CredibleBall::of(0.95, &[0.0; 4], &[2, 2, 3, 2]),
        );
        let mut found = Vec::new();
        let Ok(()) = posterior.similar(0.5, |i, j, share| {
            found.push((i, j, share));
            Ok::<_, std::convert::Infallible>(())
        });
        assert_eq!(found, [(0, 1, 0.75), (2, 3, 0.75)]);
        assert_eq!(
            posterior.clusters().into_iter().collect::<Vec<_>>(),
            [(2, 0.75), (3, 0.25)]
        );
        let turned = posterior.reordered(|values| values.iter().rev().copied().collect());
        assert_eq!(turned.draws()[1].labels(), [1, 0, 0, 0]);
        assert_eq!(turned.memberships().hard().labels(), [1, 1, 0, 0]);
    }
}
