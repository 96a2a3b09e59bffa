//! Passes and labellers of this crate by their names, for workers who have them as bytes.

use partita_core::{LabellerKind, PassKind};

use crate::chosen_labels::ChosenLabels;
use crate::cumulative::{MeanVotes, PairSums, Votes};
use crate::plurality;
use crate::soft_mean::{Matched, SumBase, SumMeans};

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    PassKind::of::<MeanVotes>(),
    PassKind::of::<PairSums>(),
    PassKind::of::<SumMeans>(),
    PassKind::of::<SumBase>(),
];

/// What labels rows after a fit of this crate.
pub const LABELLERS: &[LabellerKind] = &[
    LabellerKind::of::<ChosenLabels>(),
    LabellerKind::of::<plurality::Votes>(),
    LabellerKind::of::<Votes>(),
    LabellerKind::of::<Matched>(),
];
