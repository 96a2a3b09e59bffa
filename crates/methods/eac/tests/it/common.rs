//! Trees that several tests grow.

use partita_core::{Clusters, Dendrogram, MemoryBudget, Outcome, Silent, WeightedEnsemble};
use partita_eac::{LweaDiagnostics, LweaSettings, TreeDiagnostics, eac, lwea};
use partita_linkage::Linkage;

pub(crate) const LINKAGES: [Linkage; 5] = [
    Linkage::Average,
    Linkage::Single,
    Linkage::Complete,
    Linkage::Ward,
    Linkage::Centroid,
];

/// Evidence accumulation, cut at the longest lifetime.
pub(crate) fn tree<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    linkage: Linkage,
) -> Outcome<TreeDiagnostics> {
    let budget = MemoryBudget::UNLIMITED;
    eac(source, Clusters::Auto, linkage, budget, &Silent).expect("a tree")
}

/// Locally weighted evidence accumulation with default settings.
pub(crate) fn weighted_tree<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
) -> Outcome<LweaDiagnostics> {
    let settings = LweaSettings::default();
    let clusters = Clusters::Exactly(clusters);
    let budget = MemoryBudget::UNLIMITED;
    lwea(source, clusters, &settings, budget, &Silent).expect("a tree")
}

pub(crate) fn heights(tree: &Dendrogram) -> Vec<f64> {
    tree.merges().iter().map(|merge| merge.height).collect()
}

/// The largest difference of two trees' heights.
pub(crate) fn apart(one: &Dendrogram, other: &Dendrogram) -> f64 {
    assert_eq!(one.objects(), other.objects());
    let pairs = one.merges().iter().zip(other.merges());
    let apart = pairs.map(|(a, b)| (a.height - b.height).abs());
    apart.fold(0.0, f64::max)
}
