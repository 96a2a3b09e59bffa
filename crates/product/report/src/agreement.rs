//! Agreement of base clusterings with each other and with the result (NMI), on a sample of them.

use minijinja::{Value, context};
use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, Partition};
use partita_metrics::{Contingency, Normalisation};
use rayon::prelude::*;

use crate::clusters::{Clusters, sample};
use crate::{Counted, Report};

/// Labels read to compare base clusterings with the result; of more objects a sample is taken.
const LABELS: usize = 30_000_000;

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
    /// Objects that this was measured on.
    pub(crate) objects: u64,
    /// The base clusterings compared with each other, those that agree most with the result first.
    pub(crate) drawn: Vec<u32>,
    /// Agreement of two of them.
    pub(crate) between: Array2<Alike>,
    /// Objects that this was measured on.
    pub(crate) objects_between: usize,
}

impl Agreement {
    pub(crate) fn of(report: &Report<'_>, ensemble: &Ensemble, clusters: &Clusters) -> Self {
        let bases = ensemble.bases().len();
        let (partition, thin) = thinned(report.partition, ensemble, clusters, LABELS / bases);
        let ensemble = thin.as_ref().unwrap_or(ensemble);
        let partition = partition.as_ref().unwrap_or(report.partition);
        let offsets = ensemble.offsets();
        let counted = |counted: &Counted, u: usize| {
            let count = |k: usize, j: usize| counted.in_base_clusters(k)[offsets[u] + j];
            Contingency::of_counts(partition.clusters(), ensemble.bases()[u].clusters(), count)
        };
        let table = |u: usize| match &report.counted {
            Some(all) => counted(all, u),
            None => Contingency::with_base(partition, ensemble, u),
        };
        let with = |u: usize| table(u).map_or(Alike::NOTHING, |table| Alike::of(&table));
        let with_result: Vec<Alike> = (0..bases).into_par_iter().map(with).collect();
        let drawn = drawn(&with_result, ensemble.bases());
        let pairs = (drawn.len() * drawn.len() / 2).max(1);
        let limit = (VISITS / pairs).max(1_000);
        let step = ensemble.objects().div_ceil(limit);
        let some: Vec<u32> = (0..ensemble.objects() as u32).step_by(step).collect();
        let small = ensemble.select(&some, &drawn);
        let measured = report
            .counted
            .as_ref()
            .map_or(ensemble.objects() as u64, Counted::objects);
        Self {
            objects: measured,
            objects_between: some.len(),
            between: between(&small),
            with_result,
            drawn,
        }
    }

    /// Mean NMI of a base clustering drawn with the others drawn.
    pub(crate) fn with_others(&self, at: usize) -> f64 {
        let row = self.between.row(at);
        let others = row
            .iter()
            .enumerate()
            .filter(|&(other, alike)| other != at && alike.nmi.is_finite());
        let (sum, count) = others.fold((0.0, 0.0), |(sum, count), (_, alike)| {
            (sum + alike.nmi, count + 1.0)
        });
        sum / count
    }

    /// Diversity: 1 minus the mean NMI of two base clusterings drawn. None for a single one.
    pub(crate) fn diversity(&self) -> Option<f64> {
        let mean = (0..self.drawn.len())
            .map(|at| self.with_others(at))
            .sum::<f64>()
            / self.drawn.len() as f64;
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
        let known = self
            .with_result
            .iter()
            .map(|alike| alike.nmi)
            .filter(|nmi| nmi.is_finite());
        let (sum, count) = known.fold((0.0, 0.0), |(sum, count), nmi| (sum + nmi, count + 1.0));
        sum / count
    }
}

/// A sample of the objects where there are more than `limit`.
fn thinned(
    partition: &Partition,
    ensemble: &Ensemble,
    clusters: &Clusters,
    limit: usize,
) -> (Option<Partition>, Option<Ensemble>) {
    if ensemble.objects() <= limit.max(1_000) {
        return (None, None);
    }
    let objects = sample(clusters, limit.max(1_000));
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
    let labels = objects
        .iter()
        .map(|&i| partition.labels()[i as usize])
        .collect();
    let partition = Partition::new(labels, partition.clusters()).expect("the labels are the same");
    (Some(partition), Some(ensemble.select(&objects, &bases)))
}

/// The base clusterings to compare with each other: evenly over the range of agreement, as many as time allows.
fn drawn(with_result: &[Alike], bases: &[BaseClustering]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..bases.len() as u32).collect();
    let nmi = |u: u32| {
        if with_result[u as usize].nmi.is_finite() {
            with_result[u as usize].nmi
        } else {
            -1.0
        }
    };
    order.sort_by(|&a, &b| nmi(b).total_cmp(&nmi(a)).then(a.cmp(&b)));
    let clusters = bases.iter().map(BaseClustering::clusters).sum::<usize>() / bases.len();
    let table = clusters * clusters / 4 + 2_000;
    let most = (4 * VISITS / table)
        .isqrt()
        .clamp(10, DRAWN)
        .min(order.len());
    (0..most)
        .map(|at| order[at * (order.len() - 1) / (most - 1).max(1)])
        .collect()
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
    use partita_core::EnsembleBuilder;
    use serde_json::Value;

    #[test]
    fn the_one_that_disagrees_comes_last() {
        let mut builder = EnsembleBuilder::new(4);
        builder
            .push("odd", [Some(0), Some(1), Some(0), Some(1)])
            .unwrap();
        builder
            .push("same", [Some(0), Some(0), Some(1), Some(1)])
            .unwrap();
        builder
            .push("finer", [Some(0), Some(0), Some(1), Some(2)])
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let partition = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
        let report = Report::new("", Value::Null, &partition, &[1.0; 4]);
        let agreement = Agreement::of(&report, &ensemble, &Clusters::of(&report));
        assert_eq!(agreement.drawn, [1, 2, 0]);
        assert_eq!(
            (agreement.with_result[1].nmi, agreement.with_result[0].nmi),
            (1.0, 0.0)
        );
        assert!(
            (agreement.mean() - partita_metrics::anmi(&partition, &ensemble).unwrap()).abs()
                < 1e-15
        );
        assert!(agreement.diversity().unwrap() > 0.4);
        assert_eq!(agreement.between[[0, 1]], agreement.between[[1, 0]]);
    }
}
