//! The methods as [`Consensus`].

use partita_coassoc::SparseEvidence;
use partita_core::{
    Clusters, Consensus, ConsensusError, Ensemble, MethodCard, MissingLabels, Monitor, Outcome, Problem, ProblemSize,
    Reads, SettingHelp, SettingsError,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::info_span;

use crate::auto::auto;
use crate::dense::{Dense, WAY_OUT};
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::pcc::{ISOLATED, isolated, pcc};
use crate::settings::PccSettings;
use crate::sparse::Sparse;
use crate::starts::TREE;

/// Settings of [`PCC`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AnyPccSettings {
    /// What a wrong co-occurrence probability costs: `kl`, `l2` or `beta:p` with 1 < p ≤ 2.
    pub divergence: Divergence,
    /// The rest, shared with the methods of one divergence.
    #[serde(flatten)]
    pub common: PccSettings,
}

/// A method of this crate that differs from the others in its divergence.
#[derive(Debug)]
pub struct Pcc {
    divergence: Option<Divergence>,
    card: &'static MethodCard,
}

/// Probabilistic consensus under the Kullback–Leibler divergence.
pub static PCC_KL: Pcc = Pcc {
    divergence: Some(Divergence::Kl),
    card: &card("pcc-kl", "probabilities that best explain how often objects are together; soft, sure of its doubts"),
};

/// Probabilistic consensus under the squared difference.
pub static PCC_L2: Pcc = Pcc {
    divergence: Some(Divergence::L2),
    card: &card("pcc-l2", "as pcc-kl with squared errors: fastest, and less moved by single contradictions"),
};

/// Probabilistic evidence accumulation: maximum likelihood of binomial pair counts, which is PCC under KL.
///
/// `f_KL = −½ loglik − Σ N_ij H(c_ij/N_ij)` with PEACE's likelihood over ordered pairs: the same problem, so the same
/// code. The paper's equation (9) and its ρ(ε) carry the wrong sign on the `N − c` term,
/// its gradient is that of the unordered sum, its `λ e_n` should be `λ e_K`, and V_i ranges over σ(y_i).
pub static PEACE: Pcc = Pcc {
    divergence: Some(Divergence::Kl),
    card: &MethodCard {
        reference: "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2013, ICPRAM",
        ..card("peace", "maximum likelihood of binomial pair counts; the same problem as pcc-kl")
    },
};

/// Probabilistic consensus under a divergence of the user's choice.
pub static PCC: Pcc = Pcc {
    divergence: None,
    card: &MethodCard {
        settings: &[DIVERGENCE, SOLVER, RESTARTS, TOLERANCE, ROUNDS, PARTNERS, MOST],
        ..card("pcc", "probabilistic consensus under the divergence you name, such as beta:1.5")
    },
};

const DIVERGENCE: SettingHelp =
    SettingHelp { name: "divergence", help: "kl, l2 or beta:p with 1 < p ≤ 2, between the two" };
const SOLVER: SettingHelp = SettingHelp {
    name: "solver",
    help: "block (fast, parallel), greedy (the papers'), em (KL only) and growth (L2 only), both slow near the end",
};
pub(crate) const RESTARTS: SettingHelp = SettingHelp {
    name: "restarts",
    help: "random starts besides those from the evidence; unset: 3 up to 10,000 objects, none beyond",
};
pub(crate) const TOLERANCE: SettingHelp =
    SettingHelp { name: "tolerance", help: "stop when the relative violation of the optimality conditions is below" };
pub(crate) const ROUNDS: SettingHelp = SettingHelp { name: "rounds", help: "the most rounds of one start" };

pub(crate) const PARTNERS: SettingHelp = SettingHelp {
    name: "partners",
    help: "mean partners of an object in a sample of the pairs; 0 for all pairs; unset: all up to 10,000 objects, then 30",
};

const MOST: SettingHelp =
    SettingHelp { name: "most", help: "the most clusters tried where K is not given; unset: √n, but at most 20" };

const fn card(name: &'static str, summary: &'static str) -> MethodCard {
    MethodCard {
        name,
        family: "pcc",
        summary,
        reference: "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2015, Machine Learning 98",
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
        settings: &[SOLVER, RESTARTS, TOLERANCE, ROUNDS, PARTNERS, MOST],
    }
}

/// Dense: counts, laid out twice for a moment, and a tree where one is grown. Sparse: the sampled pairs. Tables of every
/// start besides.
pub(crate) fn bytes(size: &ProblemSize) -> u64 {
    let (n, settings) = (size.objects as u64, PccSettings::default());
    let evidence = if let Some(partners) = settings.sampled(size.objects) {
        SparseEvidence::bytes(size.objects, size.base_clusterings, n * u64::from(partners) / 2, true)
    } else {
        let counts = Dense::bytes(size.objects, size.base_clusterings);
        counts.max(counts / 3 * 2 + if size.objects <= TREE { 2 * n * n } else { 0 })
    };
    let starts = u64::from(settings.random(size.objects, true)) + 2;
    evidence + starts * n * (size.clusters as u64 * 32 + 64)
}

/// Counts the pairs of the ensemble, all or a sample, and hands them to `dense` or `sparse` with the ensemble where its base
/// clusterings shall be started from, because no tree is grown.
pub(crate) fn counted<T>(
    problem: &Problem<'_>,
    settings: &PccSettings,
    monitor: &dyn Monitor,
    dense: impl FnOnce(Dense, Option<&Ensemble>) -> Result<T, PccError>,
    sparse: impl FnOnce(Sparse, Option<&Ensemble>) -> Result<T, PccError>,
) -> Result<T, PccError> {
    let (ensemble, budget) = (problem.ensemble, problem.budget);
    let objects = ensemble.objects();
    if let Some(partners) = settings.sampled(objects) {
        let sample = || Sparse::sample(ensemble, partners, problem.seed.child(PAIRS), budget, monitor);
        let evidence = info_span!("evidence").in_scope(sample)?;
        return info_span!("solve").in_scope(|| sparse(evidence, Some(ensemble)));
    }
    let bases = (objects > TREE).then_some(ensemble);
    let evidence = info_span!("evidence").in_scope(|| Dense::count(ensemble, budget, monitor))?;
    info_span!("solve").in_scope(|| dense(evidence, bases))
}

/// The ensemble as evidence, and the consensus.
pub(crate) fn solve(
    problem: &Problem<'_>,
    clusters: usize,
    settings: &AnyPccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome, PccError> {
    let AnyPccSettings { divergence, common } = settings;
    let (divergence, seed) = (*divergence, problem.seed);
    let outcome = counted(
        problem,
        common,
        monitor,
        |dense, bases| pcc(&dense, bases, divergence, clusters, seed, common, monitor),
        |sparse, bases| pcc(&sparse, bases, divergence, clusters, seed, common, monitor),
    )?;
    Ok(named(outcome, problem.ensemble))
}

/// Objects without partners by name. Without names only their number is told: places in the canonical order mean
/// nothing to a user.
pub(crate) fn named(mut outcome: Outcome, ensemble: &Ensemble) -> Outcome {
    let Some(Value::Array(places)) = outcome.details.remove(ISOLATED) else { return outcome };
    let names: Vec<String> = match ensemble.object_names() {
        Some(names) => places.iter().filter_map(Value::as_u64).map(|i| names[i as usize].clone()).collect(),
        None => Vec::new(),
    };
    outcome.warnings.pop();
    outcome.warnings.push(isolated(places.len(), names.iter().cloned()));
    if !names.is_empty() {
        outcome.details.insert(ISOLATED.into(), names.into());
    }
    outcome
}

/// The child of the seed that draws pairs; starts have small numbers.
const PAIRS: u64 = u64::MAX;

impl Pcc {
    /// The settings of a problem, and all of them as this method shows them.
    fn settings(&self, problem: &Problem<'_>) -> Result<(AnyPccSettings, Value), SettingsError> {
        let plain = "settings are plain data";
        Ok(if let Some(divergence) = self.divergence {
            let common: PccSettings = problem.settings.apply()?;
            let json = serde_json::to_value(&common).expect(plain);
            (AnyPccSettings { divergence, common }, json)
        } else {
            let settings: AnyPccSettings = problem.settings.apply()?;
            let json = serde_json::to_value(&settings).expect(plain);
            (settings, json)
        })
    }
}

impl Consensus for Pcc {
    fn card(&self) -> &'static MethodCard {
        self.card
    }

    fn default_settings(&self) -> Value {
        let json = match self.divergence {
            Some(_) => serde_json::to_value(PccSettings::default()),
            None => serde_json::to_value(AnyPccSettings::default()),
        };
        json.expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = self.card.name;
        let (settings, json) = self.settings(problem).map_err(|error| error.of(method))?;
        let found = match problem.clusters {
            Clusters::Exactly(clusters) => solve(problem, clusters, &settings, monitor),
            Clusters::Auto => auto(problem, &settings, monitor),
        };
        let mut outcome = found.map_err(|error| error.of(method))?;
        outcome.settings = json;
        Ok(outcome)
    }
}
