//! PEnCA as a method.

use std::num::Saturating;

use partita_coassoc::{CoAssociation, CoassocError, GivenPairs, SparseEvidence, copy_counts};
use partita_core::{
    Capabilities, Clusters, FitError, Flow, Method, MethodInfo, Monitor, Outcome, Problem,
    ProblemSize, ProgressCounter, SettingsError, SoftBases, Weights,
};
use partita_linkage::{Linkage, link_f32, link_weighted_f32};

use crate::aspects::Aspects;
use crate::choose_clusters::{choose, most};
use crate::counts::DyadCounts;
use crate::diagnostics::PencaDiagnostics;
use crate::error::AspectError;
use crate::penca::{PencaSettings, penca};
use crate::starts::{Guide, Start};

/// PEnCA, the dyadic aspect model.
///
/// A base clustering of weight w counts as w of them, and an object of weight w as w copies, each with 1/w of its probability in every
/// component: a pair of objects counts the product of their weights, and the w (w − 1) / 2 pairs among the copies count too (none where w
/// is below 1). Log-likelihood and model are those of the copies.
pub static PENCA: Penca = Penca;

/// The method of [`PENCA`].
#[derive(Debug)]
pub struct Penca;

/// What a tree to start from is called.
fn name_of(linkage: Linkage) -> &'static str {
    if linkage == Linkage::Single {
        "single-link"
    } else {
        "average-link"
    }
}

/// The most objects for which trees are grown unless one is asked for.
const TREE: usize = 5000;

/// What to do when all pairs are too many.
const REMEDY: &str = "take a sample of the pairs (pairs_per_object=100)";

static INFO: MethodInfo = MethodInfo {
    name: "penca",
    family: "aspect",
    summary: "a mixture of clusters that draw pairs of objects; soft, can choose the number of clusters",
    reference: "Lourenço, Fred and Figueiredo 2011, SIMBAD",
    time: "pairs · (M + K · iterations)",
    memory: "n² up to 10,000 objects, then n",
    remedy: REMEDY,
    capabilities: Capabilities {
        soft: true,
        auto_clusters: true,
        clusters_is_maximum: true,
        seeded: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        start: true,
        pairs: true,
        ..Capabilities::HARD_LABELS
    },
};

/// The child of the seed that draws pairs; starts have small numbers.
const PAIRS: u64 = u64::MAX;

/// Units of progress: pairs counted, and fits.
const EVIDENCE: u64 = 10_000;
const FITS: u64 = 190_000;

/// The pairs that are read: those given, a sample, or all.
fn pairs_of(
    problem: &Problem<'_>,
    settings: &PencaSettings,
    monitor: &dyn Monitor,
) -> Result<GivenPairs, CoassocError> {
    let source = problem.weighted();
    let budget = problem.budget;
    let objects = problem.ensemble.objects();
    if let Some(list) = problem.pairs {
        return GivenPairs::of(list, source, budget, monitor);
    }
    let Some(partners) = settings.sampled(objects) else {
        return CoAssociation::count(source, budget, monitor).map(GivenPairs::All);
    };
    let wanted = (objects as u64 * u64::from(partners)).div_ceil(2);
    let seed = problem.seed.child(PAIRS);
    SparseEvidence::sample(source, wanted, seed, budget, monitor).map(GivenPairs::Some)
}

fn solve(
    problem: &Problem<'_>,
    settings: &PencaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PencaDiagnostics>, AspectError> {
    let source = problem.weighted();
    let objects = problem.ensemble.objects();
    let progress = ProgressCounter::new(monitor, EVIDENCE + FITS);
    let evidence = progress.part(EVIDENCE);
    let mut trees = Vec::new();
    // What is given to start from comes in the place of trees.
    let linkages = match problem.start {
        Some(_) => &[],
        None => settings.start.linkages(),
    };
    let counts = match pairs_of(problem, settings, &evidence)? {
        GivenPairs::Some(pairs) => {
            if let &[only] = linkages {
                let start = name_of(only);
                return Err(AspectError::SampledTree { start, objects });
            }
            DyadCounts::sparse(&pairs)
        }
        GivenPairs::All(pairs) => {
            let grown = objects <= TREE || settings.start.needs_tree();
            for &linkage in linkages.iter().filter(|_| grown) {
                if progress.flow() == Flow::Stop {
                    return Err(AspectError::Interrupted);
                }
                let apart = pairs.dissimilarities_f32();
                let tree = match (linkage, source.multiplicities()) {
                    (Linkage::Average, Some(times)) => link_weighted_f32(apart, times)?,
                    _ => link_f32(apart, objects, linkage)?,
                };
                trees.push((name_of(linkage), tree));
            }
            DyadCounts::dense(&pairs)
        }
    };
    drop(evidence);
    let counts = match (source.multiplicities(), settings.diagonal) {
        (None, false) => counts,
        (Some(weights), diagonal) => counts.weighted(weights, &copy_counts(source)?, diagonal),
        (None, true) if problem.pairs.is_some_and(|list| list.counts().is_some()) => {
            let reason = "counts of pairs that are given have no diagonal";
            return Err(SettingsError::value("diagonal", "true", reason).into());
        }
        (None, true) => counts.weighted(&vec![1.0; objects], &copy_counts(source)?, true),
    };
    let guide = Guide {
        source,
        trees,
        start: settings.start,
        restarts: settings.restarts,
    };
    let fits = progress.part(FITS);
    if let Some(start) = problem.start {
        let start = Start::new("given", Aspects::of(start));
        return penca(&counts, vec![start], settings, &fits);
    }
    match problem.clusters {
        Clusters::Exactly(clusters) => {
            let starts = guide.starts(&counts, clusters, problem.seed, &fits);
            penca(&counts, starts, settings, &fits)
        }
        Clusters::Auto => choose(&counts, &guide, problem.seed, settings, &fits),
    }
}

impl Method for Penca {
    type Settings = PencaSettings;
    type Diagnostics = PencaDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    /// All pairs: triangles, their square and a tree. Some: the sample, and its copy without pairs that are never together.
    fn bytes(&self, size: &ProblemSize, settings: &PencaSettings) -> u64 {
        let size = size.at_most(most(size.objects));
        let [n, _, _, k] = size.saturating();
        let counts = if let Some(partners) = settings.sampled(size.objects) {
            let pairs = n * Saturating(u64::from(partners)) / Saturating(2);
            let sample = SparseEvidence::bytes(size.objects, size.base_clusterings, pairs.0, true);
            Saturating(sample) + pairs * Saturating(12)
        } else {
            let grown = size.objects <= TREE || settings.start.needs_tree();
            let tree = Saturating(if grown { 2 } else { 0 });
            let triangles = CoAssociation::bytes(size.objects, size.base_clusterings, true);
            let square = DyadCounts::bytes(size.objects, size.base_clusterings);
            Saturating(triangles) + Saturating(square) + n * n * tree
        };
        // Counts as numbers, where an object counts with itself.
        let reals = if settings.diagonal {
            counts * Saturating(4)
        } else {
            Saturating(0)
        };
        let starts = Saturating(u64::from(settings.restarts)) + Saturating(12);
        (counts + reals + starts * n * k * Saturating(16)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &PencaSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<PencaDiagnostics>, FitError> {
        Ok(solve(problem, settings, monitor)?)
    }
}
