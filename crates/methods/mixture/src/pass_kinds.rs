//! Passes and labellers of this crate by their names, for workers who have them as bytes.

use partita_core::{LabellerKind, PassKind};

use crate::bce::RowInference;
use crate::mm::{NamedLabels, SumVotes};
use crate::nbce_cvb::{Collapsed, Update};
use crate::shared::expectation::Expectation;
use crate::shared::row_passes::{MostProbable, Usage};

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    PassKind::of::<Expectation>(),
    PassKind::of::<Usage>(),
    PassKind::of::<RowInference>(),
    PassKind::of::<Update>(),
    PassKind::of::<SumVotes>(),
];

/// What labels rows after a fit of this crate.
pub const LABELLERS: &[LabellerKind] = &[
    LabellerKind::of::<MostProbable>(),
    LabellerKind::of::<RowInference>(),
    LabellerKind::of::<Collapsed>(),
    LabellerKind::of::<NamedLabels>(),
];
