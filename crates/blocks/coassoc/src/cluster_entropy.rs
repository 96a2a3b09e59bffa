//! How the disorder of a base cluster is measured: in bits, or for what its base clustering makes of it.

use partita_core::SettingChoice;
use serde::{Deserialize, Serialize};

/// How the entropy H(C) of a base cluster enters its weight exp(−H(C) / (θ M)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[doc(alias = "ECI")]
#[doc(alias = "NECI")]
pub enum ClusterEntropy {
    /// In bits (ECI; Huang, Wang and Lai 2018).
    #[default]
    Bits,
    /// Divided by log₂ of the number of clusters of its base clustering (NECI; Zhang, Jia, Song and Wang 2025): those of base clusterings
    /// with many clusters lose less weight.
    Normalised,
}

impl ClusterEntropy {
    /// Turns the weights of base clusters under [`Bits`](Self::Bits) into those under this; `offsets` says where the clusters of each
    /// base clustering start. Where there are one or two clusters the weights are the same.
    ///
    /// # Panics
    /// If the offsets go beyond the weights.
    pub fn apply(self, weights: &mut [f64], offsets: &[usize]) {
        if self == Self::Bits {
            return;
        }
        for ends in offsets.windows(2).filter(|ends| ends[1] - ends[0] > 2) {
            let bits = ((ends[1] - ends[0]) as f64).log2();
            weights[ends[0]..ends[1]]
                .iter_mut()
                .for_each(|weight| *weight = weight.powf(1.0 / bits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trusted_cluster_weights;
    use partita_core::EnsembleBuilder;

    #[test]
    fn weights_are_those_of_the_worked_example() {
        let mut builder = EnsembleBuilder::new(6);
        builder.push("a", [1, 1, 1, 2, 2, 2].map(Some)).unwrap();
        builder.push("b", [1, 1, 2, 2, 2, 2].map(Some)).unwrap();
        builder.push("c", [1, 1, 1, 2, 3, 3].map(Some)).unwrap();
        let ensemble = builder.finish().unwrap();
        let close = |weights: &[f64], expected: [f64; 7]| {
            assert!(
                weights
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| (a - b).abs() < 1e-6),
                "{weights:?}"
            );
        };
        let mut weights = trusted_cluster_weights(&ensemble, 0.4, 0);
        close(
            &weights,
            [0.465_219, 0.465_219, 1.0, 0.145_720, 0.465_219, 1.0, 1.0],
        );
        ClusterEntropy::Bits.apply(&mut weights, &ensemble.offsets());
        close(
            &weights,
            [0.465_219, 0.465_219, 1.0, 0.145_720, 0.465_219, 1.0, 1.0],
        );
        ClusterEntropy::Normalised.apply(&mut weights, &ensemble.offsets());
        close(
            &weights,
            [0.465_219, 0.465_219, 1.0, 0.145_720, 0.617_043, 1.0, 1.0],
        );
    }
}
