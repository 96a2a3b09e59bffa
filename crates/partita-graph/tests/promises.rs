//! Every method keeps the promises on its card.

use partita_conformance::check;
use partita_graph::{CSPA, HBGF, HGPA, LWGP, MCLA};

#[test]
fn lwgp_keeps_its_promises() {
    assert!(check(&LWGP) > 500);
}

#[test]
fn hbgf_keeps_its_promises() {
    assert!(check(&HBGF) > 500);
}

#[test]
fn mcla_keeps_its_promises() {
    assert!(check(&MCLA) > 500);
}

#[test]
fn cspa_keeps_its_promises() {
    assert!(check(&CSPA) > 500);
}

#[test]
fn hgpa_keeps_its_promises() {
    assert!(check(&HGPA) > 500);
}
