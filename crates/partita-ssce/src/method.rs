//! SSCE and SSCE-P as [`Consensus`].

use partita_core::{
    Clusters, Consensus, ConsensusError, MethodCard, MissingLabels, Monitor, Outcome, Problem, ProblemSize, Reads,
    SettingHelp,
};
use serde_json::Value;

use crate::{SsceSettings, ssce, ssce_p};

/// SSCE, self-supervised consensus on a table.
pub static SSCE: Ssce = Ssce;

/// The method of [`SSCE`].
#[derive(Clone, Copy, Debug)]
pub struct Ssce;

/// SSCE-P, self-supervised consensus on labels alone.
pub static SSCE_P: SsceP = SsceP;

/// The method of [`SSCE_P`].
#[derive(Clone, Copy, Debug)]
pub struct SsceP;

impl Consensus for Ssce {
    fn card(&self) -> &'static MethodCard {
        &SSCE_CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(SsceSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let (settings, clusters) = door(problem, SSCE_CARD.name)?;
        let Some(features) = &problem.features else {
            return Err(ConsensusError::Features { method: SSCE_CARD.name, reason: "there is none".into() });
        };
        ssce(problem.ensemble, features, problem.weights, clusters, problem.seed, &settings, monitor)
            .map_err(|error| error.of(SSCE_CARD.name))
    }
}

impl Consensus for SsceP {
    fn card(&self) -> &'static MethodCard {
        &SSCE_P_CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(SsceSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let (settings, clusters) = door(problem, SSCE_P_CARD.name)?;
        ssce_p(problem.ensemble, problem.weights, clusters, problem.seed, &settings, monitor)
            .map_err(|error| error.of(SSCE_P_CARD.name))
    }
}

fn door(problem: &Problem<'_>, method: &'static str) -> Result<(SsceSettings, usize), ConsensusError> {
    let settings = problem.settings.apply().map_err(|error| error.of(method))?;
    match problem.clusters {
        Clusters::Exactly(clusters) => Ok((settings, clusters)),
        Clusters::Auto => Err(ConsensusError::Auto { method }),
    }
}

static SSCE_CARD: MethodCard = CARD;

const CARD: MethodCard = MethodCard {
    name: "ssce",
    family: "ssce",
    summary: "classifiers learn the base clusterings from the table and agree on one: labels new objects",
    reference: "Du, Shen, Shen, Wang, Xu, A self-supervised framework for clustering ensemble, WAIM 2013",
    reads: Reads::LabelsAndFeatures,
    missing: MissingLabels::Handled,
    soft: true,
    chooses_clusters: false,
    clusters_is_maximum: false,
    weighted: true,
    seeded: true,
    certainty: "probability that the consensus classifier gives the label",
    time: "rounds · n d M K for d columns",
    memory: "10 n M + 64 n K bytes besides the table",
    bytes: table_bytes,
    remedy: "ask for fewer clusters",
    settings: SETTINGS,
};

static SSCE_P_CARD: MethodCard = MethodCard {
    name: "ssce-p",
    summary: "classifiers learn each base clustering from all others and agree on one",
    reads: Reads::Labels,
    time: "rounds · n M² K",
    memory: "10 n M + 64 n K + 320 ΣJ M K bytes",
    bytes: label_bytes,
    remedy: "ask for fewer clusters, or take fewer base clusterings",
    ..CARD
};

const SETTINGS: &[SettingHelp] = &[
    SettingHelp { name: "gamma", help: "how strongly classifiers are tied (above 0, or null to choose it)" },
    SettingHelp {
        name: "reference",
        help: "base clustering whose names the others take (null: the one nearest to all)",
    },
    SettingHelp { name: "intercept", help: "whether classifiers have an intercept (true or false)" },
    SettingHelp { name: "intercept_scaling", help: "the larger, the less intercepts are held back (above 0)" },
    SettingHelp { name: "exact", help: "exact centre and covariance; false takes the paper's formulas" },
    SettingHelp { name: "shrink", help: "weight of the squared centre (0 or more)" },
    SettingHelp { name: "rounds", help: "the most rounds (whole number from 1)" },
    SettingHelp { name: "tolerance", help: "stop when a round gains at most this share (0 or more)" },
];

fn table_bytes(size: &ProblemSize) -> u64 {
    let (n, m, k) = (size.objects as u64, size.base_clusterings as u64, size.clusters as u64);
    n * (10 * m + 64 * k + 64) + 8 * 1024 * m * k
}

fn label_bytes(size: &ProblemSize) -> u64 {
    let (m, k, j) = (size.base_clusterings as u64, size.clusters as u64, size.base_clusters as u64);
    table_bytes(size) + 320 * j * m * k + 8 * j.min(400) * j.min(400)
}
