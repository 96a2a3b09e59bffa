//! Method info that all methods of this crate have in common.

use partita_core::{Capabilities, MethodInfo, MissingLabels, SoftBases, Weights};

/// What all methods of this crate have in common.
pub(crate) const MIXTURE: MethodInfo = MethodInfo {
    name: "",
    family: "mixture",
    summary: "",
    reference: "",
    time: "restarts · iterations · n M K",
    memory: "n (M + 24 K) + 512 · restarts · ΣJ K bytes",
    remedy: "ask for fewer clusters, or set restarts lower",
    capabilities: Capabilities {
        missing: MissingLabels::HandledByPrior,
        soft: true,
        seeded: true,
        predicts: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Copies,
        object_weights: Weights::Native,
        ..Capabilities::HARD_LABELS
    },
};
