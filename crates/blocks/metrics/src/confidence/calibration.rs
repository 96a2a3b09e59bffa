//! From margins to probabilities: one monotone map, fitted on data sets with known classes.

/// How far from chance (0) to certainty (1) labels were right on average at the margins 0, 1/4, 1/2, 3/4 and 1; linear in between.
/// `cargo xtask bench confidence` fits and prints these numbers; it fits on one half of the data sets and looks at the other.
pub const CALIBRATION: [f64; 5] = [0.0, 0.412, 0.477, 0.526, 0.795];

/// The probability that a label with this `margin` is right among so many `clusters` that have objects: 1/K at margin 0, less below
/// it, and by [`CALIBRATION`] above. 1 where there is one cluster. It increases with the margin.
#[doc(alias = "isotonic")]
#[doc(alias = "platt")]
pub fn calibrated_confidence(margin: f64, clusters: usize) -> f64 {
    if clusters <= 1 {
        return 1.0;
    }
    let chance = 1.0 / clusters as f64;
    if margin < 0.0 {
        return chance * (1.0 + margin.max(-1.0));
    }
    let last = CALIBRATION.len() - 1;
    let place = margin.min(1.0) * last as f64;
    let at = (place as usize).min(last - 1);
    let excess = CALIBRATION[at] + (place - at as f64) * (CALIBRATION[at + 1] - CALIBRATION[at]);
    chance + (1.0 - chance) * excess
}
