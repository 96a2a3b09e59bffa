//! What numbers say where labels are meant.

use std::path::Path;

use partita_core::{EnsembleError, MAX_BASE_CLUSTERS};

use crate::error::{FileError, Result};
use crate::typed_array::Scalar;

/// The code of a missing value where codes are places in lists.
pub(crate) const MISSING: u32 = u32::MAX;

/// What a number says where labels are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelNumber {
    Missing,
    Label(u64),
    NotALabel,
}

impl LabelNumber {
    /// What a text says, if it is a number.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        match text.parse::<i128>() {
            Ok(whole) => Some(Self::of(Scalar::Integer(whole))),
            Err(_) => text
                .parse::<f64>()
                .ok()
                .map(|value| Self::of(Scalar::Float(value))),
        }
    }

    /// A whole number is a label, or −1 for missing; a floating-point number too where it is whole, and NaN is missing.
    pub(crate) fn of(number: Scalar) -> Self {
        match number {
            Scalar::Integer(-1) => Self::Missing,
            Scalar::Integer(whole) => u64::try_from(whole).map_or(Self::NotALabel, Self::Label),
            Scalar::Float(value) if value.is_nan() => Self::Missing,
            Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 1e18 => {
                Self::of(Scalar::Integer(value as i128))
            }
            Scalar::Float(_) => Self::NotALabel,
        }
    }

    pub(crate) fn label(&self) -> Option<u64> {
        if let Self::Label(label) = self {
            Some(*label)
        } else {
            None
        }
    }
}

/// Refuses more clusters than can be held.
pub(crate) fn check_clusters(path: &Path, name: &str, clusters: usize) -> Result<()> {
    if clusters <= MAX_BASE_CLUSTERS {
        return Ok(());
    }
    Err(FileError::ensemble(path)(EnsembleError::TooManyClusters {
        name: name.into(),
        clusters,
    }))
}
