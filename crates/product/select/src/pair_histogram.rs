//! Histogram of co-association: the consensus CDF, PAC and disagreement of the pairs of an ensemble.

use partita_coassoc::{EvidenceRows, pair_histogram};
use partita_core::{Ensemble, Flow, Monitor, Seed};
use rand::RngExt;
use rayon::prelude::*;

use crate::SelectError;

/// Base clusterings that are counted; of more, so many are drawn.
const MOST_BASES: usize = 1000;

/// Points of a curve: 0, 1/100, …, 1.
const POINTS: usize = 101;

/// How many pairs of objects were put together c times of N: at N (N + 1) / 2 + c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PairHistogram {
    bases: usize,
    counts: Vec<u64>,
}

impl PairHistogram {
    /// Counts all pairs if there are no more than `most`, else all pairs of some objects drawn evenly.
    pub(crate) fn of(
        ensemble: &Ensemble,
        most: u64,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Result<Self, SelectError> {
        let all = ensemble.bases().len();
        if all > MOST_BASES {
            let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
            let bases = draw(all, MOST_BASES, seed.child(1));
            return Self::of(&ensemble.select(&objects, &bases), most, seed, monitor);
        }
        let n = ensemble.objects() as u64;
        if n * n.saturating_sub(1) / 2 <= most {
            Ok(Self {
                bases: all,
                counts: pair_histogram(ensemble, monitor)?,
            })
        } else {
            let rows = (most / (n - 1)).clamp(1, n) as usize;
            Self::part(ensemble, &draw(n as usize, rows, seed), monitor)
        }
    }

    fn new(bases: usize) -> Self {
        Self {
            bases,
            counts: vec![0; (bases + 1) * (bases + 2) / 2],
        }
    }

    fn part(ensemble: &Ensemble, rows: &[u32], monitor: &dyn Monitor) -> Result<Self, SelectError> {
        let evidence = EvidenceRows::new(ensemble)?;
        let mut chosen = vec![false; ensemble.objects()];
        rows.iter().for_each(|&i| chosen[i as usize] = true);
        let new = || Self::new(ensemble.bases().len());
        let one = |mut histogram: Self, &i: &u32| {
            if monitor.tick(0, 1) == Flow::Stop {
                return Err(SelectError::Interrupted);
            }
            // A pair of two drawn objects counts once.
            let fresh = |j: usize| j > i as usize || (j < i as usize && !chosen[j]);
            evidence.for_each(i as usize, |j, c, n| {
                if fresh(j) {
                    histogram.add(c, n);
                }
            });
            Ok(histogram)
        };
        rows.par_iter()
            .try_fold(new, one)
            .try_reduce(new, |a, b| Ok(a.and(b)))
    }

    fn add(&mut self, c: u32, n: u32) {
        self.counts[(n * (n + 1) / 2 + c) as usize] += 1;
    }

    /// Whole numbers: the order of adding does not matter.
    fn and(mut self, other: Self) -> Self {
        self.counts
            .iter_mut()
            .zip(&other.counts)
            .for_each(|(a, b)| *a += b);
        self
    }

    /// (c, N, pairs) where N is not 0 and there are pairs.
    fn cells(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let of =
            move |n: u32| (0..=n).map(move |c| (c, n, self.counts[(n * (n + 1) / 2 + c) as usize]));
        (1..=self.bases as u32)
            .flat_map(of)
            .filter(|cell| cell.2 > 0)
    }

    /// Mean of a number over the pairs, each N weighted; NaN where there are none.
    fn mean(&self, value: impl Fn(u32, u32) -> Option<f64>) -> f64 {
        let (mut sum, mut all) = (0.0, 0u64);
        for (c, n, pairs) in self.cells() {
            if let Some(value) = value(c, n) {
                sum += value * pairs as f64;
                all += pairs;
            }
        }
        sum / all as f64
    }

    /// Share of the pairs whose c/N is at most 0, 1/100, …, 1.
    pub(crate) fn cdf(&self) -> Vec<f64> {
        let mut counts = [0u64; POINTS];
        for (c, n, pairs) in self.cells() {
            counts[(c * (POINTS as u32 - 1)).div_ceil(n) as usize] += pairs;
        }
        let all: u64 = counts.iter().sum();
        let sum = |sum: &mut u64, count: &u64| {
            *sum += count;
            Some(*sum as f64 / all as f64)
        };
        counts.iter().scan(0, sum).collect()
    }

    /// Share of the pairs with c/N in (0.1, 0.9].
    pub(crate) fn pac(&self) -> f64 {
        self.mean(|c, n| {
            Some(if 10 * c > n && 10 * c <= 9 * n {
                1.0
            } else {
                0.0
            })
        })
    }

    /// Area under the CDF.
    pub(crate) fn area(&self) -> f64 {
        1.0 - self.mean(|c, n| Some(f64::from(c) / f64::from(n)))
    }

    /// The chance that of two base clusterings that saw a pair one puts it together and the other does not.
    pub(crate) fn disagreement(&self) -> f64 {
        let value = |c: u32, n: u32| f64::from(2 * c * (n - c)) / f64::from(n * (n - 1));
        self.mean(|c, n| (n > 1).then(|| value(c, n)))
    }
}

/// Different numbers below `below`, rising.
pub(crate) fn draw(below: usize, count: usize, seed: Seed) -> Vec<u32> {
    let mut rng = seed.rng();
    let mut all: Vec<u32> = (0..below as u32).collect();
    for at in 0..count.min(below) {
        let other = rng.random_range(at as u64..below as u64) as usize;
        all.swap(at, other);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_coassoc::CoAssociation;
    use partita_conformance::draw as draw_ensemble;
    use partita_core::{EnsembleBuilder, MemoryBudget, Silent};
    use partita_metrics::ConsensusCdf;

    fn histogram(ensemble: &Ensemble, most: u64) -> PairHistogram {
        PairHistogram::of(ensemble, most, Seed::new(1), &Silent).unwrap()
    }

    #[test]
    fn a_histogram_can_be_checked_by_eye() {
        let mut builder = EnsembleBuilder::new(3);
        builder.push("a", [Some(0), Some(0), Some(1)]).unwrap();
        builder.push("b", [Some(0), Some(1), None]).unwrap();
        // 0-1: once of two. 0-2 and 1-2: never of one.
        let histogram = histogram(&builder.finish().unwrap(), 100);
        assert_eq!(
            (histogram.pac(), histogram.disagreement()),
            (1.0 / 3.0, 1.0)
        );
        assert!((histogram.area() - (1.0 - 0.5 / 3.0)).abs() < 1e-15);
        let cdf = histogram.cdf();
        assert_eq!(
            (cdf[0], cdf[49], cdf[50], cdf[100]),
            (2.0 / 3.0, 2.0 / 3.0, 1.0, 1.0)
        );
    }

    #[test]
    fn it_agrees_with_the_distribution_of_the_values() {
        for seed in (0..40).map(Seed::new) {
            let ensemble = draw_ensemble(seed, 0.2).ensemble;
            let histogram = histogram(&ensemble, u64::MAX);
            let pairs = CoAssociation::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
            let n = ensemble.objects();
            let values = (0..n * (n - 1) / 2).map(|pair| {
                f64::from(pairs.together().at(pair)) / f64::from(pairs.seen().at(pair))
            });
            let cdf = ConsensusCdf::of(values);
            assert!(
                (histogram.pac() - cdf.pac()).abs() < 1e-12
                    && (histogram.area() - cdf.area()).abs() < 1e-12
            );
            histogram.cdf().iter().enumerate().for_each(|(at, &value)| {
                assert!((value - cdf.at(at as f64 / 100.0)).abs() < 1e-12);
            });
        }
    }

    #[test]
    fn some_objects_speak_for_all_pairs() {
        let mut rng = Seed::new(2).rng();
        let mut builder = EnsembleBuilder::new(600);
        for u in 0..20 {
            let labels: Vec<Option<u32>> = (0..600u32)
                .map(|i| Some(if rng.random_bool(0.2) { 9 } else { i % 3 }))
                .collect();
            builder.push(u.to_string(), labels).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let (all, some) = (histogram(&ensemble, u64::MAX), histogram(&ensemble, 30_000));
        let pairs: u64 = some.counts.iter().sum();
        assert!((28_000..=30_000).contains(&pairs), "{pairs}: each once");
        assert!(
            (all.disagreement() - some.disagreement()).abs() < 0.01,
            "{all:?} {some:?}"
        );
        let whole = draw(600, 600, Seed::new(3));
        assert_eq!(
            PairHistogram::part(&ensemble, &whole, &Silent).unwrap(),
            all
        );
    }
}
