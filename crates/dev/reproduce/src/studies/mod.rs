//! One file a study.

mod beyond;
mod critical;
mod digit;
mod kdd;
mod nbce;
mod pcc;
mod peace;
mod penca;
mod soft;
mod ssce;
mod tables;
mod text;

use crate::Study;

/// All studies, in the order of the summary.
pub static STUDIES: &[&dyn Study] = &[
    &pcc::PCC,
    &kdd::KDD,
    &peace::PEACE,
    &penca::PENCA,
    &nbce::NBCE,
    &ssce::SSCE,
    &text::TEXT,
    &soft::SOFT,
    &beyond::BEYOND,
];
