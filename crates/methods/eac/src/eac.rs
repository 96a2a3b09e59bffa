//! Evidence accumulation: a tree over the co-association.

use partita_coassoc::{EvidenceRows, most_that_fit};
use partita_core::{
    BudgetError, Capabilities, Clusters, Dendrogram, FitError, MemoryBudget, Method, MethodInfo,
    Monitor, Outcome, Partition, Problem, ProblemSize, Settings, SoftBases, Stopped,
    WeightedEnsemble, Weights,
};
use partita_linkage::{Linkage, cut, link_rows, longest_lifetime, unfold};
use serde::{Deserialize, Serialize};

use crate::EacError;
use crate::evidence::{Dissimilarities, unit};

/// Evidence accumulation (Fred and Jain 2005): the share of base clusterings that put two objects together is
/// their similarity, and a tree over 1 − c/N is cut.
///
/// | paper | here |
/// |---|---|
/// | co-association C(i, j) = n_ij / N | c_ij / N_ij, over the base clusterings that label both |
/// | lifetime criterion | [`Clusters::Auto`] |
///
/// With weights of base clusterings c and N are sums of weights. An object of weight w is w objects in one place.
///
/// Objects with the same label row merge first, at height 0; the tree is then built over fragments that weigh as
/// many objects as they stand for. All sums are of whole numbers, so that rounding decides no tie.
///
/// # Ties
/// Of pairs of clusters that are equally near those merge first that hold the earliest object, and of these those whose other cluster does
/// ([`link_rows`]). A method gets its objects in an order of their label rows, so that what ties is decided alike however a table is sorted.
/// SciPy's `linkage` takes ties in the order of its chain of neighbours, which depends on the order of the objects: another tree, as
/// right as this one. Under complete link a tie decides which pairs above it are nearest at all: one tied height can move many objects.
///
/// # Errors
/// [`EacError`] when the tree does not fit the budget, or the monitor asks to stop before it is there.
///
/// # Cost
/// O(f² M) byte comparisons and an O(f²) linkage for f distinct label rows; [`bytes`] of memory.
///
/// # Differences from the paper
/// Missing labels count for neither c nor N; a pair never seen together has dissimilarity 1. One cluster competes
/// for the longest lifetime only when all objects are always together.
///
/// # References
/// A. Fred, A. Jain: Combining multiple clusterings using evidence accumulation, IEEE TPAMI 27(6), 2005.
pub fn eac<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: Clusters,
    linkage: Linkage,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Outcome<TreeDiagnostics>, EacError> {
    let source = source.into();
    let ensemble = source.ensemble;
    let fragments = ensemble.fragments();
    let distinct = fragments.ensemble().objects();
    let bases = ensemble.bases().len();
    let missing = ensemble.missing() > 0;
    check_budget(budget, distinct, |distinct| {
        bytes(distinct, bases, missing, linkage)
    })?;
    let folded = WeightedEnsemble {
        base_weights: source.base_weights,
        ..fragments.ensemble().into()
    };
    let weights = fragments.leaf_weights(source.multiplicities());
    let total = weights.iter().map(|&weight| weight as usize).sum();
    let rows = Dissimilarities::new(EvidenceRows::new(folded)?, total, linkage);
    let tree = link_rows(&rows, &weights, linkage, monitor)?;
    let tree = unfold(&tree, fragments.of_object());
    let partition = cut(&tree, number(&tree, clusters));
    let diagnostics = TreeDiagnostics {
        distinct_rows: distinct,
    };
    Ok(outcome(partition, tree).with(diagnostics))
}

/// Facts about a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TreeDiagnostics {
    /// Label rows that differ: the leaves before equal rows are unfolded.
    pub distinct_rows: usize,
}

/// What to do when the budget is too small.
pub(crate) const REMEDY: &str =
    "take eac-sparse or eac-single, which do not hold all pairs, or fewer objects";

/// Refuses a tree over so many distinct rows that does not fit, and says how many would.
pub(crate) fn check_budget(
    budget: MemoryBudget,
    distinct: usize,
    bytes: impl Fn(usize) -> u64,
) -> Result<(), BudgetError> {
    let fit = most_that_fit(budget, distinct as u64, |distinct| bytes(distinct as usize));
    let remedy = format!("{fit} distinct label rows would fit; {REMEDY}");
    let what = format!("the tree over {distinct} distinct label rows");
    budget.check(&what, bytes(distinct), &remedy)
}

/// Bytes that [`eac`] holds at once, at most, over so many distinct label rows.
pub fn bytes(objects: usize, base_clusterings: usize, missing: bool, linkage: Linkage) -> u64 {
    let unit = unit(objects, base_clusterings, missing, linkage);
    let labels = (objects as u64).saturating_mul(base_clusterings as u64 * 5 / 2 + 16);
    partita_linkage::bytes(objects, unit, linkage).saturating_add(labels)
}

pub(crate) fn number(tree: &Dendrogram, clusters: Clusters) -> usize {
    match clusters {
        Clusters::Exactly(clusters) => clusters,
        Clusters::Auto => longest_lifetime(tree),
    }
}

pub(crate) fn outcome(partition: Partition, tree: Dendrogram) -> Outcome<()> {
    let mut outcome = Outcome::hard(partition, Stopped::Exact);
    outcome.dendrogram = Some(tree);
    outcome
}

/// Settings of [`eac`]: there are none besides the linkage, which is in the method's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EacSettings {}

/// A method of this crate that differs from the others in its linkage.
#[derive(Debug)]
pub struct Eac {
    linkage: Linkage,
    info: &'static MethodInfo,
}

/// Average link on the evidence.
#[doc(alias("AGGLOMERATIVE", "clustering aggregation", "WEAC"))]
pub static EAC_AVERAGE: Eac = Eac {
    linkage: Linkage::Average,
    info: &info(
        "eac-average",
        "average link on how often objects are together; finds K by the longest lifetime, the default of -k method",
    ),
};

/// Single link on the evidence.
pub static EAC_SINGLE: Eac = Eac {
    linkage: Linkage::Single,
    info: &MethodInfo {
        memory: "nM",
        ..info(
            "eac-single",
            "single link on how often objects are together; follows long shapes, and bridges too",
        )
    },
};

/// Complete link on the evidence.
#[doc(alias("SC3"))]
pub static EAC_COMPLETE: Eac = Eac {
    linkage: Linkage::Complete,
    info: &info(
        "eac-complete",
        "complete link on how often objects are together; compact clusters, each pair of which was together; ties by the label rows, not by the order of objects",
    ),
};

/// Ward's link on the evidence, taken for distances.
pub static EAC_WARD: Eac = Eac {
    linkage: Linkage::Ward,
    info: &info(
        "eac-ward",
        "Ward's link on how often objects are together; clusters of similar size",
    ),
};

/// Centroid link on the evidence, taken for distances.
pub static EAC_CENTROID: Eac = Eac {
    linkage: Linkage::Centroid,
    info: &MethodInfo {
        memory: "n²",
        ..info(
            "eac-centroid",
            "centroid link on how often objects are together; heights may fall",
        )
    },
};

pub(crate) const TREE: Capabilities = Capabilities {
    auto_clusters: true,
    tree: true,
    cuts_tree: true,
    base_weights: Weights::Native,
    soft_bases: SoftBases::Native,
    object_weights: Weights::Native,
    ..Capabilities::HARD_LABELS
};

/// What the methods of this crate have in common.
pub(crate) const fn info(name: &'static str, summary: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        family: "eac",
        summary,
        reference: "Fred and Jain 2005, IEEE TPAMI 27(6)",
        time: "n²M",
        memory: "n² up to 3 GiB, and nM",
        remedy: REMEDY,
        capabilities: TREE,
    }
}

impl Method for Eac {
    type Settings = EacSettings;
    type Diagnostics = TreeDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    /// Bytes when no label row occurs twice and no label is missing; the method checks again when it knows.
    fn bytes(&self, size: &ProblemSize, _settings: &EacSettings) -> u64 {
        bytes(size.objects, size.base_clusterings, false, self.linkage)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        _settings: &EacSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<TreeDiagnostics>, FitError> {
        let source = problem.weighted();
        let outcome = eac(
            source,
            problem.clusters,
            self.linkage,
            problem.budget,
            monitor,
        );
        outcome.map_err(FitError::from)
    }
}
