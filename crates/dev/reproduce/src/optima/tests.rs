//! A small version of the benchmark: no method's default is far behind the best of random starts.

use super::*;

/// The worst gap of a method on these ensembles.
fn worst(reference: &Reference, cases: impl Iterator<Item = Case>) -> Gap {
    let gaps: Vec<Gap> = cases
        .filter_map(|case| compare(reference, &case, (12, 5e7)).unwrap())
        .collect();
    assert!(
        gaps.len() >= 6,
        "{}: {} ensembles",
        reference.method,
        gaps.len()
    );
    gaps.into_iter()
        .max_by(|a, b| a.gap.total_cmp(&b.gap))
        .unwrap()
}

#[test]
fn defaults_reach_what_random_starts_reach() {
    for reference in REFERENCES.iter().filter(|reference| reference.held) {
        let worst = worst(reference, (0..8).map(|number| drawn(number, 30)));
        assert!(worst.gap <= 0.03, "{}: {worst:?}", reference.method);
    }
}

#[test]
fn so_they_do_with_soft_base_clusterings_and_weights() {
    for reference in REFERENCES.iter().filter(|reference| reference.doubt) {
        let worst = worst(reference, (0..8).map(|number| drawn_with_doubt(number, 30)));
        assert!(worst.gap <= 0.03, "{}: {worst:?}", reference.method);
    }
}
