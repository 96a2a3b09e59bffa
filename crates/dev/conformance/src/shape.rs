//! What every outcome looks like.

use partita_core::{Consensus, Ensemble, Outcome};

/// Checks the shape of an outcome with at most so many clusters, and returns how many guarantees were checked.
///
/// # Panics
/// With the method's name and the broken guarantee.
pub fn shape(
    method: &dyn Consensus,
    outcome: &Outcome,
    ensemble: &Ensemble,
    clusters: usize,
) -> usize {
    let info = method.info();
    let n = ensemble.objects();
    let can = info.capabilities;
    let live = outcome.partition.live_clusters();
    let keys =
        |map: &serde_json::Map<String, serde_json::Value>| map.keys().cloned().collect::<Vec<_>>();
    let exact = can.clusters_is_maximum || outcome.partition.clusters() == clusters;
    let hard = outcome
        .soft
        .as_ref()
        .is_none_or(|soft| soft.hard() == outcome.partition);
    let finite = outcome
        .objective
        .as_ref()
        .is_none_or(|objective| objective.value.is_finite());
    let guarantees = [
        (outcome.partition.objects() == n, "one label an object"),
        (live >= 1 && live <= clusters, "at most K clusters"),
        (exact, "K clusters, unless K is a maximum"),
        (
            outcome.soft.is_some() == can.soft,
            "a soft result, as the info says",
        ),
        (hard, "the labels are the most probable clusters"),
        (
            outcome.dendrogram.is_some() || !can.tree,
            "a dendrogram, as the info says",
        ),
        (
            keys(&outcome.settings) == keys(&method.default_settings()),
            "the outcome carries all its settings",
        ),
        (finite, "the objective is a number"),
    ];
    for (guarantee, what) in guarantees {
        assert!(guarantee, "{}: {what}", info.name);
    }
    guarantees.len()
}

/// Whether two outcomes have the same labels and probabilities, bit by bit.
pub fn same_bits(a: &Outcome, b: &Outcome) -> bool {
    a.partition == b.partition && a.soft == b.soft
}
