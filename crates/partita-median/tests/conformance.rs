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

#[test]
fn plurality() {
    assert!(check(&partita_median::PLURALITY) > 500);
}

#[test]
fn rcv() {
    assert!(check(&partita_median::RCV) > 500);
}

#[test]
fn urcv() {
    assert!(check(&partita_median::URCV) > 500);
}

#[test]
fn acv() {
    assert!(check(&partita_median::ACV) > 500);
}

#[test]
fn nmfc() {
    assert!(check(&partita_median::NMFC) > 500);
}
