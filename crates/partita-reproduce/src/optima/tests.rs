//! A small version of the benchmark: no method's default is far behind the best of random starts.

use super::*;

#[test]
fn defaults_reach_what_random_starts_reach() {
    for reference in REFERENCES {
        let cases = (0..8).map(|number| drawn(number, 30));
        let gaps: Vec<Gap> = cases.filter_map(|case| compare(reference, &case, (12, 5e7)).unwrap()).collect();
        assert!(gaps.len() >= 6, "{}: {} ensembles", reference.method, gaps.len());
        let worst = gaps.iter().max_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
        assert!(worst.gap <= 0.03, "{}: {worst:?}", reference.method);
    }
}
