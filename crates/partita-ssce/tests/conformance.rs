//! Both methods are held to their cards.

use partita_conformance::check_with;

#[test]
fn ssce() {
    assert!(check_with(&partita_ssce::SSCE, &["gamma=1"], 30) > 250);
    assert!(check_with(&partita_ssce::SSCE, &[], 2) > 30);
}

#[test]
fn ssce_p() {
    assert!(check_with(&partita_ssce::SSCE_P, &["gamma=1"], 30) > 250);
    assert!(check_with(&partita_ssce::SSCE_P, &[], 2) > 30);
}
