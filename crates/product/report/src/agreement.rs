//! Agreement of base clusterings with each other and with the result (NMI), on a sample of them.

use minijinja::{Value, context};
use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble};
use partita_metrics::{Contingency, Normalisation};
use rayon::prelude::*;

use crate::Report;

/// Places visited to compare base clusterings with each other.
const VISITS: usize = 40_000_000;

/// Base clusterings compared with each other at most.
const DRAWN: usize = 200;

/// Two indices of the same two clusterings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Alike {
    /// Normalised mutual information, geometric.
    pub(crate) nmi: f64,
    /// Adjusted Rand index.
    pub(crate) ari: f64,
}

impl Alike {
    fn of(table: &Contingency) -> Self {
        Self {
            nmi: table.nmi(Normalisation::Geometric),
            ari: table.ari(),
        }
    }

    /// Clusterings that share no object agree on nothing.
    const NOTHING: Self = Self {
        nmi: f64::NAN,
        ari: f64::NAN,
    };
}

/// Agreement of the base clusterings.
pub(crate) struct Agreement {
    /// With the result, M values.
    pub(crate) with_result: Vec<Alike>,
    /// The base clusterings compared with each other, those that agree most with the result first.
    pub(crate) drawn: Vec<u32>,
    /// Agreement of two of them.
    pub(crate) between: Array2<Alike>,
    /// Objects that this was measured on.
    pub(crate) objects_between: usize,
}

impl Agreement {
    pub(crate) fn of(report: &Report<'_>, ensemble: &Ensemble) -> Self {
        let (partition, bases) = (report.partition, ensemble.bases());
        let offsets = ensemble.offsets();
        let with = |u: usize| {
            let table = match &report.counted {
                Some(all) => {
                    let count = |k: usize, j: usize| all.in_base_clusters(k)[offsets[u] + j];
                    Contingency::of_counts(partition.clusters(), bases[u].clusters(), count)
                }
                None => Contingency::with_base(partition, ensemble, u),
            };
            table.map_or(Alike::NOTHING, |table| Alike::of(&table))
        };
        let with_result: Vec<Alike> = (0..bases.len()).into_par_iter().map(with).collect();
        let drawn = drawn(&with_result, bases);
        let pairs = (drawn.len() * drawn.len() / 2).max(1);
        let step = ensemble.objects().div_ceil((VISITS / pairs).max(1_000));
        let some: Vec<u32> = (0..ensemble.objects() as u32).step_by(step).collect();
        Self {
            objects_between: some.len(),
            between: between(&ensemble.select(&some, &drawn)),
            with_result,
            drawn,
        }
    }

    /// Mean NMI of a base clustering drawn with the others drawn.
    pub(crate) fn with_others(&self, at: usize) -> f64 {
        let row = self.between.row(at);
        let others = (0..row.len()).filter(|&other| other != at);
        mean(others.map(|other| row[other].nmi))
    }

    /// Diversity: 1 minus the mean NMI of two base clusterings drawn. None for a single one.
    pub(crate) fn diversity(&self) -> Option<f64> {
        let drawn = 0..self.drawn.len();
        let sum: f64 = drawn.map(|at| self.with_others(at)).sum();
        let mean = sum / self.drawn.len() as f64;
        mean.is_finite().then_some(1.0 - mean)
    }

    /// What the texts of its figures say.
    pub(crate) fn facts(&self, ensemble: &Ensemble) -> Value {
        context! {
            drawn => self.drawn.len(), bases => ensemble.bases().len(), objects => self.objects_between,
            of => ensemble.objects(), diversity => self.diversity(),
        }
    }

    /// Mean NMI with the result.
    pub(crate) fn mean(&self) -> f64 {
        mean(self.with_result.iter().map(|alike| alike.nmi))
    }
}

/// Mean of the finite numbers.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let known: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

/// The base clusterings to compare with each other: evenly over the range of agreement, as many as time allows.
fn drawn(with_result: &[Alike], bases: &[BaseClustering]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..bases.len() as u32).collect();
    let nmi = |u: u32| match with_result[u as usize].nmi {
        nmi if nmi.is_finite() => nmi,
        _ => -1.0,
    };
    order.sort_by(|&a, &b| nmi(b).total_cmp(&nmi(a)).then(a.cmp(&b)));
    let clusters = bases.iter().map(BaseClustering::clusters).sum::<usize>() / bases.len();
    let most = (4 * VISITS / (clusters * clusters / 4 + 2_000)).isqrt();
    let most = most.clamp(10, DRAWN).min(order.len());
    let step = |at: usize| at * (order.len() - 1) / (most - 1).max(1);
    (0..most).map(|at| order[step(at)]).collect()
}

fn between(ensemble: &Ensemble) -> Array2<Alike> {
    let bases = ensemble.bases().len();
    let row = |a: usize| -> Vec<Alike> {
        let pair = |b| {
            Contingency::of_bases(ensemble, a, b).map_or(Alike::NOTHING, |table| Alike::of(&table))
        };
        (0..a).map(pair).collect()
    };
    let rows: Vec<Vec<Alike>> = (0..bases).into_par_iter().map(row).collect();
    Array2::from_shape_fn((bases, bases), |(a, b)| match a.cmp(&b) {
        std::cmp::Ordering::Equal => Alike { nmi: 1.0, ari: 1.0 },
        _ => rows[a.max(b)][a.min(b)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Partition};
    use serde_json::Value;

    #[test]
    fn the_one_that_disagrees_comes_last() {
        let mut builder = EnsembleBuilder::new(4);
        for (name, labels) in [
            ("odd", [0, 1, 0, 1]),
            ("same", [0, 0, 1, 1]),
            ("finer", [0, 0, 1, 2]),
        ] {
            builder.push(name, labels.map(Some)).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let partition = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
        let report = Report::new("", Value::Null, &partition, &[1.0; 4]);
        let agreement = Agreement::of(&report, &ensemble);
        assert_eq!(agreement.drawn, [1, 2, 0]);
        let with_result = [1, 0].map(|u| agreement.with_result[u].nmi);
        assert_eq!(with_result, [1.0, 0.0]);
        let anmi = partita_metrics::anmi(&partition, &ensemble).unwrap();
        assert!((agreement.mean() - anmi).abs() < 1e-15);
        assert!(agreement.diversity().unwrap() > 0.4);
        assert_eq!(agreement.between[[0, 1]], agreement.between[[1, 0]]);
    }
}
