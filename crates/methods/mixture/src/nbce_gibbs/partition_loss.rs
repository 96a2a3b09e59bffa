//! What a wrong partition costs: Binder's loss and the variation of information, by sizes of clusters and overlaps.

use partita_core::Partition;
use serde::{Deserialize, Serialize};

/// What a wrong partition costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PartitionLoss {
    /// The share of pairs of objects that one partition puts together and the other apart.
    Binder,
    /// Variation of information, nats.
    Vi,
}

/// g of a loss over objects that may have weights of sum W.
///
/// ```text
/// loss(a, b) = Σ_k g(a_k) + Σ_m g(b_m) − 2 Σ_km g(n_km)
/// Binder: g(x) = x² / (W (W − 1))        VI: g(x) = x ln x / W
/// ```
pub(crate) struct CostTerms<'a> {
    loss: PartitionLoss,
    weights: Option<&'a [f64]>,
    total: f64,
    /// g(0), …, g(n) where every object counts once.
    values: Vec<f64>,
}

impl<'a> CostTerms<'a> {
    pub(crate) fn new(loss: PartitionLoss, objects: usize, weights: Option<&'a [f64]>) -> Self {
        let total = weights.map_or(objects as f64, |weights| weights.iter().sum());
        let mut terms = Self {
            loss,
            weights,
            total,
            values: Vec::new(),
        };
        if weights.is_none() {
            terms.values = (0..=objects).map(|x| terms.formula(x as f64)).collect();
        }
        terms
    }

    fn formula(&self, x: f64) -> f64 {
        let n = self.total;
        match self.loss {
            PartitionLoss::Binder => x * x / (n * (n - 1.0)).max(1.0),
            PartitionLoss::Vi if x > 0.0 => x * x.ln() / n,
            PartitionLoss::Vi => 0.0,
        }
    }

    fn at(&self, x: f64) -> f64 {
        if self.weights.is_none() {
            self.values[x as usize]
        } else {
            self.formula(x)
        }
    }

    /// g(x + weight) − g(x).
    pub(crate) fn rise(&self, x: f64, weight: f64) -> f64 {
        self.at(x + weight) - self.at(x)
    }

    /// The loss of one partition against another.
    pub(crate) fn distance(&self, a: &Partition, b: &Partition) -> f64 {
        let width = b.clusters();
        let (mut cells, mut of_a, mut of_b) = (
            vec![0.0; a.clusters() * width],
            vec![0.0; a.clusters()],
            vec![0.0; width],
        );
        for (i, (&k, &m)) in a.labels().iter().zip(b.labels()).enumerate() {
            let one = self.weights.map_or(1.0, |weights| weights[i]);
            cells[k as usize * width + m as usize] += one;
            of_a[k as usize] += one;
            of_b[m as usize] += one;
        }
        let sum = |sizes: &[f64]| sizes.iter().map(|&size| self.at(size)).sum::<f64>();
        (sum(&of_a) + sum(&of_b) - 2.0 * sum(&cells)).max(0.0)
    }
}
