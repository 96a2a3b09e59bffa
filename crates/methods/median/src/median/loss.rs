//! Losses between partitions: Binder, variation of information, and their normalised and adjusted relatives.

use partita_core::SettingChoice;
use serde::{Deserialize, Serialize};

/// Losses made of entropies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InformationLoss {
    /// Variation of information, bits.
    #[default]
    Vi,
    /// Normalised variation of information, VI / joint entropy.
    Nvi,
    /// Information distance, the larger entropy less the mutual information, bits.
    Id,
    /// Normalised information distance, 1 − mutual information / the larger entropy.
    Nid,
}

/// Losses that count pairs of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PairLoss {
    /// Binder loss, 2 · pairs that one partition joins and the other separates / n².
    #[default]
    Binder,
    /// 1 − adjusted Rand index.
    Ari,
}

/// What a partition loses against a base clustering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Information(InformationLoss),
    Pairs(PairLoss),
}

/// Sums over the clusters of a partition (`b`), of a base clustering (`v`), and over their common cells (`j`), of the
/// convex term of a loss: x log₂ x, or x². All over the `n` objects that the base clustering labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    pub(crate) n: f64,
    pub(crate) b: f64,
    pub(crate) v: f64,
    pub(crate) j: f64,
}

/// A loss with its asymmetry `a` in 0..=2: how much of it is for what the base clustering joins and the partition
/// separates; 2 − a is for the other way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loss {
    pub(crate) kind: Kind,
    pub(crate) asymmetry: f64,
    /// What one object counts: other losses than the adjusted Rand index do not depend on it.
    pub(crate) one: f64,
}

impl Loss {
    /// The convex term of a number of objects.
    pub(crate) fn term(self, x: f64) -> f64 {
        match self.kind {
            Kind::Pairs(_) => x * x,
            Kind::Information(_) if x > 0.0 => x * x.log2(),
            Kind::Information(_) => 0.0,
        }
    }

    /// `term(x + 1) − term(x)`, without the rounding of the difference.
    pub(crate) fn step(self, x: f64) -> f64 {
        match self.kind {
            Kind::Pairs(_) => 2.0 * x + 1.0,
            Kind::Information(_) if x > 0.0 => {
                (x + 1.0).log2() + x * (1.0 / x).ln_1p() / std::f64::consts::LN_2
            }
            Kind::Information(_) => 0.0,
        }
    }

    /// What `b` and `j` count where the loss is linear in them: the loss is `of_b · b + of_j · j` and a constant.
    pub(crate) fn factors(self, n: f64) -> Option<(f64, f64)> {
        let scale = match self.kind {
            Kind::Information(InformationLoss::Vi) => 1.0 / n,
            Kind::Pairs(PairLoss::Binder) => 1.0 / (n * n),
            _ => return None,
        };
        Some(((2.0 - self.asymmetry) * scale, -2.0 * scale))
    }

    /// The loss; 0 where it is rounding.
    pub(crate) fn value(self, sums: Sums) -> f64 {
        let Sums { n, b, v, j } = sums;
        let a = self.asymmetry;
        let ratio = |above: f64, below: f64| {
            if below > 1e-12 * n {
                above / below
            } else {
                0.0
            }
        };
        let loss = match self.kind {
            Kind::Information(loss) => {
                let (whole, least) = (self.term(n), b.min(v));
                match loss {
                    InformationLoss::Vi => (a * v + (2.0 - a) * b - 2.0 * j) / n,
                    InformationLoss::Nvi => ratio(b + v - 2.0 * j, whole - j),
                    InformationLoss::Id => (b + v - j - least) / n,
                    InformationLoss::Nid => ratio(b + v - j - least, whole - least),
                }
            }
            Kind::Pairs(PairLoss::Binder) => (a * v + (2.0 - a) * b - 2.0 * j) / (n * n),
            Kind::Pairs(PairLoss::Ari) => {
                let alone = n * self.one;
                let (b, v, j, all) = (b - alone, v - alone, j - alone, n * n - alone);
                let expected = if all > 0.0 { b * v / all } else { 0.0 };
                // Both partitions into one cluster, or both into single objects, are equal.
                ratio(0.5 * (b + v) - j, 0.5 * (b + v) - expected)
            }
        };
        if loss.abs() < 1e-14 { 0.0 } else { loss }
    }

    /// What the number is.
    pub(crate) fn name(self) -> &'static str {
        match self.kind {
            Kind::Information(InformationLoss::Vi) => "mean variation of information, bits",
            Kind::Information(InformationLoss::Nvi) => "mean normalised variation of information",
            Kind::Information(InformationLoss::Id) => "mean information distance, bits",
            Kind::Information(InformationLoss::Nid) => "mean normalised information distance",
            Kind::Pairs(PairLoss::Binder) => "mean Binder loss",
            Kind::Pairs(PairLoss::Ari) => "mean of 1 − adjusted Rand index",
        }
    }
}

/// The terms of whole numbers of objects, and their steps.
#[derive(Debug)]
pub(crate) struct Terms {
    loss: Loss,
    values: Vec<f64>,
    steps: Vec<f64>,
}

/// Numbers of objects whose terms are tabulated.
pub(super) const TABULATED: usize = 1 << 20;

impl Terms {
    /// The terms of up to so many objects.
    pub(crate) fn new(loss: Loss, objects: usize) -> Self {
        let numbers = 0..=objects.min(TABULATED) as u32;
        let values = numbers.clone().map(|x| loss.term(f64::from(x))).collect();
        let steps = numbers.map(|x| loss.step(f64::from(x))).collect();
        Self {
            loss,
            values,
            steps,
        }
    }

    /// The term of a number of objects.
    pub(crate) fn of(&self, x: u32) -> f64 {
        self.values
            .get(x as usize)
            .copied()
            .unwrap_or_else(|| self.loss.term(f64::from(x)))
    }

    /// By how much the term grows with so many more objects.
    pub(crate) fn growth(&self, x: u32, more: u32) -> f64 {
        if more == 1 {
            self.steps
                .get(x as usize)
                .copied()
                .unwrap_or_else(|| self.loss.step(f64::from(x)))
        } else {
            self.of(x + more) - self.of(x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_differences_of_terms() {
        for kind in [
            Kind::Information(InformationLoss::Vi),
            Kind::Pairs(PairLoss::Binder),
        ] {
            let loss = Loss {
                kind,
                asymmetry: 1.0,
                one: 1.0,
            };
            let terms = Terms::new(loss, 50);
            for x in 0..100u32 {
                let plain = loss.term(f64::from(x + 1)) - loss.term(f64::from(x));
                assert!((terms.growth(x, 1) - plain).abs() < 1e-10);
                let three = loss.term(f64::from(x + 3)) - loss.term(f64::from(x));
                assert!((terms.growth(x, 3) - three).abs() < 1e-10);
            }
        }
    }
}
