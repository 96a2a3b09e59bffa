//! Soft base clusterings in meta-clustering.

use partita_conformance::check_soft;
use partita_graph::MCLA;

#[test]
fn shares_vote_for_meta_clusters() {
    assert!(check_soft(&MCLA, &[]) > 1);
}
