//! Every method is held to its card.

use partita_conformance::check;

#[test]
fn kc() {
    assert!(check(&partita_median::KC) > 500);
}

#[test]
fn qmi() {
    assert!(check(&partita_median::QMI) > 500);
}

#[test]
fn ipvc() {
    assert!(check(&partita_median::IPVC) > 500);
}
