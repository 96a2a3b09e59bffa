//! Passes and labellers of this crate by their names, for workers who have them as bytes.

use partita_core::{LabellerKind, PassKind};

use crate::cluster_graph::Product;
use crate::cluster_similarity::Squares;
use crate::ecpcs_mc::Scores;
#[cfg(feature = "metis")]
use crate::mcla::Votes;
use crate::row_kmeans::{Assignment, Nearest};

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    PassKind::of::<Product>(),
    PassKind::of::<Squares>(),
    PassKind::of::<Assignment>(),
];

/// What labels rows after a fit of this crate.
pub const LABELLERS: &[LabellerKind] = &[
    LabellerKind::of::<Nearest>(),
    LabellerKind::of::<Scores>(),
    #[cfg(feature = "metis")]
    LabellerKind::of::<Votes>(),
];
