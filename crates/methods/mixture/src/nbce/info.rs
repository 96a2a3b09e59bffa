//! Method info that the three NBCE methods have in common.

use partita_core::{Capabilities, MethodInfo};

use crate::shared::info::MIXTURE;

/// What the methods of this family have in common.
pub(crate) const NBCE: MethodInfo = MethodInfo {
    reference: "Wang, Domeniconi, Laskey, Nonparametric Bayesian clustering ensembles, ECML PKDD 2010",
    capabilities: Capabilities {
        auto_clusters: true,
        clusters_is_maximum: true,
        ..MIXTURE.capabilities
    },
    ..MIXTURE
};
