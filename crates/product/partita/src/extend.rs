//! What methods, sources of rows and engines are written with: everything that [`consensus`](crate::consensus) stands on.
//!
//! [`Problem`] and [`consense`] are the call in full; [`Method`] is what a method implements; [`RowBlocks`] and [`PassEngine`] are rows
//! that are elsewhere and those who sum them.

pub use partita_core::*;

pub use crate::known_as::{KNOWN_AS, KnownAs};
pub use crate::methods::{DEFAULT_METHOD, MethodError};

/// The passes over label rows, by crate.
pub(crate) const PASS_LISTS: &[&[PassKind]] = &[
    partita_core::PASSES,
    partita_metrics::PASSES,
    #[cfg(feature = "coassoc")]
    partita_coassoc::PASSES,
    #[cfg(feature = "kmeans")]
    partita_kmeans::labels::PASSES,
    #[cfg(feature = "mixture")]
    partita_mixture::PASSES,
    #[cfg(feature = "graph")]
    partita_graph::PASSES,
    #[cfg(feature = "median")]
    partita_median::PASSES,
];

/// What labels rows after a fit, by crate.
pub(crate) const LABELLER_LISTS: &[&[LabellerKind]] = &[
    partita_core::LABELLERS,
    #[cfg(feature = "mixture")]
    partita_mixture::LABELLERS,
    #[cfg(feature = "graph")]
    partita_graph::LABELLERS,
    #[cfg(feature = "median")]
    partita_median::LABELLERS,
];

/// The pass of this name, for a worker who has it as bytes ([`PassJob`]).
pub fn pass_kind(name: &str) -> Option<PassKind> {
    let passes = PASS_LISTS.iter().copied().flatten().copied();
    passes
        .chain(
            LABELLER_LISTS
                .iter()
                .copied()
                .flatten()
                .map(LabellerKind::counts),
        )
        .find(|kind| kind.name() == name)
}

/// The labeller of this name, for a worker who has it as bytes ([`LabelJob`]).
pub fn labeller_kind(name: &str) -> Option<LabellerKind> {
    LABELLER_LISTS
        .iter()
        .copied()
        .flatten()
        .copied()
        .find(|kind| kind.name() == name)
}
