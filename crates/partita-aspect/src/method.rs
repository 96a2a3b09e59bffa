//! PEnCA as a [`Consensus`].

use partita_coassoc::{CoAssociation, SparseEvidence};
use partita_core::{
    Clusters, Consensus, ConsensusError, MethodCard, MissingLabels, Monitor, Outcome, Problem, ProblemSize, Reads,
    Seed, SettingHelp,
};
use partita_linkage::{Linkage, link_f32};
use serde_json::Value;

use crate::choose::choose;
use crate::counts::DyadCounts;
use crate::error::AspectError;
use crate::penca::{PencaSettings, penca};
use crate::starts::Guide;

/// PEnCA, the dyadic aspect model.
pub static PENCA: Penca = Penca;

/// The method of [`PENCA`].
#[derive(Clone, Copy, Debug)]
pub struct Penca;

/// Trees to start from, those of evidence accumulation: single link finds clusters of any shape, average link holds on where
/// single link leaves the objects in a chain.
const LINKAGES: [(&str, Linkage); 2] = [("single-link", Linkage::Single), ("average-link", Linkage::Average)];

/// The most objects for which trees are grown to start from.
const TREE: usize = 5000;

/// What to do when all pairs are too many.
const WAY_OUT: &str = "take a sample of the pairs (partners=100)";

static CARD: MethodCard = MethodCard {
    name: "penca",
    family: "aspect",
    summary: "a mixture of clusters that draw pairs of objects; soft, can choose the number of clusters",
    reference: "Lourenço, Fred and Figueiredo 2011, SIMBAD",
    reads: Reads::Labels,
    missing: MissingLabels::Handled,
    soft: true,
    chooses_clusters: true,
    clusters_is_maximum: true,
    weighted: false,
    seeded: true,
    certainty: "probability of the object's most probable cluster",
    time: "pairs · (M + K · rounds)",
    memory: "n² up to 10,000 objects, then n",
    bytes,
    remedy: WAY_OUT,
    settings: &[
        SettingHelp {
            name: "restarts",
            help: "random starts besides those from the evidence; the highest likelihood stays",
        },
        SettingHelp { name: "rounds", help: "the most rounds of one start" },
        SettingHelp {
            name: "tolerance",
            help: "stop when ten rounds gain no more than this, in nats a pair that is together",
        },
        SettingHelp {
            name: "criterion",
            help: "bic or mdl: what chooses the number of clusters where it is not given",
        },
        SettingHelp {
            name: "partners",
            help: "mean partners of an object in a sample of the pairs; 0 for all pairs; unset: all up to 10,000 \
                   objects, then 100",
        },
    ],
};

/// All pairs: triangles, their square and a tree. Some: the sample, and its copy without pairs that are never together.
fn bytes(size: &ProblemSize) -> u64 {
    let (n, settings) = (size.objects as u64, PencaSettings::default());
    let counts = if let Some(partners) = settings.sampled(size.objects) {
        let pairs = n * u64::from(partners) / 2;
        SparseEvidence::bytes(size.objects, size.base_clusterings, pairs, true) + pairs * 12
    } else {
        CoAssociation::bytes(size.objects, size.base_clusterings, true)
            + DyadCounts::bytes(size.objects, size.base_clusterings)
            + if size.objects <= TREE { 2 * n * n } else { 0 }
    };
    counts + (u64::from(settings.restarts) + 12) * n * size.clusters as u64 * 16
}

/// The child of the seed that draws pairs; starts have small numbers.
const PAIRS: u64 = u64::MAX;

fn solve(problem: &Problem<'_>, settings: &PencaSettings, monitor: &dyn Monitor) -> Result<Outcome, AspectError> {
    let (ensemble, budget) = (problem.ensemble, problem.budget);
    let objects = ensemble.objects();
    let (counts, trees) = if let Some(partners) = settings.sampled(objects) {
        let wanted = (objects as u64 * u64::from(partners)).div_ceil(2);
        let pairs = SparseEvidence::sample(ensemble, wanted, problem.seed.child(PAIRS), budget, monitor)?;
        (DyadCounts::sparse(&pairs), Vec::new())
    } else {
        let pairs = CoAssociation::count(ensemble, budget, monitor)?;
        let grow = |(name, linkage)| Ok((name, link_f32(pairs.dissimilarities_f32(), objects, linkage)?));
        let linkages = if objects <= TREE { &LINKAGES[..] } else { &[] };
        let trees = linkages.iter().copied().map(grow).collect::<Result<_, AspectError>>()?;
        (DyadCounts::dense(&pairs), trees)
    };
    let guide = Guide { ensemble, trees };
    let seed: Seed = problem.seed;
    match problem.clusters {
        Clusters::Exactly(clusters) => {
            penca(&counts, guide.starts(&counts, clusters, settings.restarts, seed), settings, monitor)
        }
        Clusters::Auto => choose(&counts, &guide, seed, settings, monitor),
    }
}

impl Consensus for Penca {
    fn card(&self) -> &'static MethodCard {
        &CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(PencaSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = CARD.name;
        let settings: PencaSettings = problem.settings.apply().map_err(|error| error.of(method))?;
        let mut outcome = solve(problem, &settings, monitor).map_err(|error| error.of(method))?;
        outcome.settings = serde_json::to_value(&settings).expect("settings are plain data");
        Ok(outcome)
    }
}
