//! Soft base clusterings and weights of objects: what the conformance tests ask of the methods that take them as fractions.

use partita_conformance::{check_soft, check_with};
use partita_core::Consensus;
use partita_median::{ACV, IPVC, KC, NMFC, PLURALITY, QMI, RCV, URCV};

const METHODS: [&dyn Consensus; 8] = [&KC, &QMI, &IPVC, &PLURALITY, &NMFC, &RCV, &URCV, &ACV];

#[test]
fn soft_base_clusterings_are_part_of_what_is_optimised() {
    for method in METHODS {
        assert!(check_soft(method, &[]) > 1, "{}", method.info().name);
    }
}

#[test]
fn weights_of_objects_are_copies() {
    for method in METHODS {
        assert!(check_with(method, &[], 1) > 50, "{}", method.info().name);
    }
}
