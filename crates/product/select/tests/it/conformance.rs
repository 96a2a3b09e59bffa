//! The choice among methods keeps the guarantees of a method.

use partita_conformance::check_with;
use partita_select::BEST;

#[test]
fn best_keeps_its_guarantees() {
    let checks = check_with(&BEST, &["among=eac-average,hbgf,mcla,qmi"], 20);
    assert!(checks > 200, "{checks}");
}
