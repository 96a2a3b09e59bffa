//! The methods as [`Consensus`].

use partita_core::{
    Clusters, Consensus, ConsensusError, MethodCard, MissingLabels, Monitor, Outcome, Problem, ProblemSize, Reads,
    SettingHelp,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::GraphError;
use crate::cspa::{CspaSettings, bytes as cspa_bytes, cspa};
use crate::hbgf::{HbgfCut, HbgfSettings, balanced_bytes, hbgf};
use crate::hgpa::{HgpaSettings, bytes as hgpa_bytes, hgpa};
use crate::mcla::{MclaSettings, bytes as mcla_bytes, mcla};
use crate::spectral::{LwgpSettings, bytes, lwgp};

/// [`lwgp`] as a method.
#[derive(Debug)]
pub struct Lwgp;

/// Locally weighted graph partitioning.
pub static LWGP: Lwgp = Lwgp;

/// [`hbgf`] as a method.
#[derive(Debug)]
pub struct Hbgf;

/// Hybrid bipartite graph formulation.
pub static HBGF: Hbgf = Hbgf;

/// [`mcla`] as a method.
#[derive(Debug)]
pub struct Mcla;

/// Meta-clustering.
pub static MCLA: Mcla = Mcla;

/// [`cspa`] as a method.
#[derive(Debug)]
pub struct Cspa;

/// Cluster-based similarity partitioning.
pub static CSPA: Cspa = Cspa;

/// [`hgpa`] as a method.
#[derive(Debug)]
pub struct Hgpa;

/// Hypergraph partitioning.
pub static HGPA: Hgpa = Hgpa;

const RESTARTS: SettingHelp = SettingHelp { name: "restarts", help: "starts of k-means; the lowest loss is kept" };
const ROUNDS: SettingHelp = SettingHelp { name: "rounds", help: "rounds of k-means, at most" };
const TOLERANCE: SettingHelp =
    SettingHelp { name: "tolerance", help: "stop k-means when its loss falls by less than this share" };

const IMBALANCE: SettingHelp = SettingHelp {
    name: "imbalance",
    help: "how much heavier than its share a cluster may be: 0.05 is 5 %; from 0 to 1000",
};

const SPECTRAL: MethodCard = MethodCard {
    name: "",
    family: "graph",
    summary: "",
    reference: "",
    reads: Reads::Labels,
    missing: MissingLabels::Handled,
    soft: false,
    chooses_clusters: false,
    clusters_is_maximum: false,
    weighted: true,
    seeded: true,
    certainty: "1 − distance to the own centroid / distance to the next, among the eigenvectors",
    time: "nM² + nK²",
    memory: "n(M + K)",
    bytes: spectral_bytes,
    remedy: "take fewer base clusterings or clusters",
    settings: &[],
};

static LWGP_CARD: MethodCard = MethodCard {
    name: "lwgp",
    summary: "normalised cut of objects and base clusters, of which those the others break up count less; the default",
    reference: "Huang, Wang and Lai 2018, IEEE Trans. Cybernetics 48(5)",
    settings: &[
        SettingHelp {
            name: "theta",
            help: "how much disagreement costs a base cluster its weight: less costs more; above 0",
        },
        SettingHelp {
            name: "trust_rounds",
            help: "how often base clusterings are trusted anew, by how whole the others leave their clusters; 0 is the paper",
        },
        RESTARTS,
        ROUNDS,
        TOLERANCE,
    ],
    ..SPECTRAL
};

static HBGF_CARD: MethodCard = MethodCard {
    name: "hbgf",
    summary: "normalised cut of objects and base clusters, all of which count alike",
    reference: "Fern and Brodley 2004, ICML",
    settings: &[
        SettingHelp { name: "cut", help: "spectral, or metis for clusters of about the same size" },
        IMBALANCE,
        RESTARTS,
        ROUNDS,
        TOLERANCE,
    ],
    ..SPECTRAL
};

static MCLA_CARD: MethodCard = MethodCard {
    name: "mcla",
    summary: "groups base clusters into K of about the same weight, then votes; poor where clusters differ much in size",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    soft: true,
    certainty: "share of the object's labels that vote for its cluster",
    time: "nM² + (ΣJ)²",
    memory: "n(M + K) + (ΣJ)²",
    bytes: |size| mcla_bytes(size.objects, size.base_clusterings, size.base_clusters, size.clusters),
    settings: &[SettingHelp {
        name: "imbalance",
        help: "how much heavier than its share a meta-cluster may be: 0.05 is 5 %; from 0 to 1000",
    }],
    ..SPECTRAL
};

static CSPA_CARD: MethodCard = MethodCard {
    name: "cspa",
    summary: "cuts the graph of how often objects are together into parts of about the same size",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    weighted: false,
    certainty: "mean evidence for the object's cluster over the sum of that and the best other cluster's",
    time: "n²M",
    memory: "n², or nq beyond 8000 objects or the budget",
    bytes: |size| cspa_bytes(size.objects, size.base_clusterings),
    remedy: "take lwgp or hbgf, which hold no pairs",
    settings: &[
        IMBALANCE,
        SettingHelp { name: "exact_objects", help: "up to so many objects all pairs are looked at, if memory allows" },
        SettingHelp { name: "neighbours", help: "beyond that: the strongest neighbours of every object; at least 1" },
    ],
    ..SPECTRAL
};

static HGPA_CARD: MethodCard = MethodCard {
    name: "hgpa",
    summary: "cuts the objects into parts of about the same size so that few base clusters are cut",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    certainty: "mean share of the object's base clusters in its cluster over the sum of that and the best other cluster's",
    time: "nMK a pass",
    memory: "nM",
    bytes: |size| hgpa_bytes(size.objects, size.base_clusterings, size.base_clusters, size.clusters),
    settings: &[
        SettingHelp {
            name: "objective",
            help: "what a base cluster that is cut costs: cut (once) or soed (its parts)",
        },
        IMBALANCE,
        SettingHelp { name: "restarts", help: "partitions from scratch; the cheapest is kept" },
    ],
    ..SPECTRAL
};

fn spectral_bytes(size: &ProblemSize) -> u64 {
    bytes(size.objects, size.base_clusterings, size.base_clusters, size.clusters)
}

impl Consensus for Lwgp {
    fn card(&self) -> &'static MethodCard {
        &LWGP_CARD
    }

    fn default_settings(&self) -> Value {
        json(&LwgpSettings::default())
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        run(self.card(), problem, |clusters, settings| {
            lwgp(problem.ensemble, problem.weights, clusters, problem.seed, settings, monitor)
        })
    }
}

impl Consensus for Hbgf {
    fn card(&self) -> &'static MethodCard {
        &HBGF_CARD
    }

    fn default_settings(&self) -> Value {
        json(&HbgfSettings::default())
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        run(self.card(), problem, |clusters, settings: &HbgfSettings| {
            let size = problem.size();
            if settings.cut == HbgfCut::Metis {
                let needed = balanced_bytes(size.objects, size.base_clusterings, size.base_clusters);
                problem.budget.check("hbgf with METIS", needed, "take the spectral cut")?;
            }
            hbgf(problem.ensemble, problem.weights, clusters, problem.seed, settings, monitor)
        })
    }
}

impl Consensus for Mcla {
    fn card(&self) -> &'static MethodCard {
        &MCLA_CARD
    }

    fn default_settings(&self) -> Value {
        json(&MclaSettings::default())
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        run(self.card(), problem, |clusters, settings| {
            mcla(problem.ensemble, problem.weights, clusters, problem.seed, settings, monitor)
        })
    }
}

impl Consensus for Cspa {
    fn card(&self) -> &'static MethodCard {
        &CSPA_CARD
    }

    fn default_settings(&self) -> Value {
        json(&CspaSettings::default())
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        run(self.card(), problem, |clusters, settings| {
            cspa(problem.ensemble, clusters, problem.seed, settings, problem.budget, monitor)
        })
    }
}

impl Consensus for Hgpa {
    fn card(&self) -> &'static MethodCard {
        &HGPA_CARD
    }

    fn default_settings(&self) -> Value {
        json(&HgpaSettings::default())
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        run(self.card(), problem, |clusters, settings| {
            hgpa(problem.ensemble, problem.weights, clusters, problem.seed, settings, monitor)
        })
    }
}

/// Reads the settings, runs the method, and puts the settings into the outcome.
fn run<S: Serialize + DeserializeOwned + Default>(
    card: &'static MethodCard,
    problem: &Problem<'_>,
    method: impl FnOnce(usize, &S) -> Result<Outcome, GraphError>,
) -> Result<Outcome, ConsensusError> {
    let Clusters::Exactly(clusters) = problem.clusters else {
        return Err(ConsensusError::Auto { method: card.name });
    };
    let settings: S = problem.settings.apply().map_err(|error| error.of(card.name))?;
    let mut outcome = method(clusters, &settings).map_err(|error| error.of(card.name))?;
    outcome.settings = json(&settings);
    Ok(outcome)
}

fn json<S: Serialize>(settings: &S) -> Value {
    serde_json::to_value(settings).expect("settings are plain data")
}
