//! NBCE by collapsed Gibbs sampling.

use std::num::NonZeroU32;
use std::sync::Arc;

use partita_core::{
    Consensus, ConsensusError, Ensemble, LabelRows, MethodCard, MissingLabels, Monitor, Objective, Outcome, Partition,
    Problem, ProblemSize, Reads, Seed, Sense, SettingHelp, Stopped,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::posterior::{check_pairs, level, level_values};
use crate::prior::NbcePrior;
use crate::restarts::Rounds;
use crate::table::normalise_columns;
use crate::walk::{Kept, Walk, walk};
use crate::{MixtureError, PartitionLoss, PartitionSamples, RowModel, Rows, effective_samples, nbce, r_hat};

/// The R-hat above which chains are said to disagree, and the effective draws below which there are too few.
const DISAGREE: f64 = 1.1;
const FEW_DRAWS: f64 = 100.0;

/// Steps that the greedy search may cost.
const SEARCH_EFFORT: usize = 2_000_000_000;

/// Which partition stands for the posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Summary {
    /// The sample with the highest joint density.
    Map,
    /// The one with the least expected share of wrong pairs.
    Binder,
    /// The one with the least expected variation of information.
    #[default]
    Vi,
    /// The cut of the co-assignment's average-link tree with the least expected variation of information.
    AverageLink,
}

/// Settings of [`nbce_gibbs`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceGibbsSettings {
    /// How the Dirichlet process is made finite.
    pub prior: NbcePrior,
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    pub beta: f64,
    /// Draw α0 and β too, both under Gamma(1, 1); the values above are where they start.
    pub learn: bool,
    /// Independent chains; they start with K, K/2, K, K/2, … clusters: single moves join clusters more easily than they
    /// part them.
    pub chains: NonZeroU32,
    /// Sweeps of each chain before anything is kept.
    pub burn_in: u32,
    /// Sweeps of each chain after that.
    pub sweeps: NonZeroU32,
    /// Split–merge moves after each sweep: they part or join whole clusters, which single moves seldom do.
    pub moves: u32,
    /// Partitions kept of each chain, evenly spaced.
    pub keep: NonZeroU32,
    /// Which partition stands for the posterior.
    pub summary: Summary,
    /// Improve a Binder or VI summary by greedy moves of single objects.
    pub search: bool,
}

impl Default for NbceGibbsSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            prior: NbcePrior::Symmetric,
            alpha0: 1.0,
            beta: 1.0,
            learn: false,
            chains: count(4),
            burn_in: 200,
            sweeps: count(400),
            moves: 2,
            keep: count(50),
            summary: Summary::Vi,
            search: true,
        }
    }
}

/// What the chains saw.
#[derive(Clone, Debug)]
pub struct NbceDraws {
    /// The kept partitions of all chains, chain after chain.
    pub samples: PartitionSamples,
    /// ln p(z, labels), of every chain by sweep, burn-in included.
    pub log_joint: Vec<Vec<f64>>,
    /// Clusters in use, of every chain by sweep, burn-in included.
    pub clusters: Vec<Vec<u32>>,
    /// α0 and β at each kept partition.
    pub hyper: Vec<(f64, f64)>,
    /// Split–merge moves that were taken, of all chains.
    pub moved: u64,
    /// Why the chains ended.
    pub stopped: Stopped,
}

/// Draws partitions from the posterior of a Dirichlet-process mixture of label rows, all objects one by one.
///
/// ```text
/// p(z_i = k | …) ∝ p(z_i = k | z_¬i) Π_u (β + N^{¬i}_{kuℓ(i,u)}) / (J_u β + N^{¬i}_{ku})
/// ```
///
/// The product runs over the labels that are there. After each sweep a few split–merge moves (Dahl's) part or join whole
/// clusters. Chains run in parallel; each has its own stream of chance.
///
/// # Cost
/// O(n · M · K) time a sweep and chain; (ΣJ + 2 M) K numbers a chain and 4 n bytes a kept partition.
///
/// # Differences from the paper
/// Eq. 5 lacks the δ: only the observed label's count is in the product. Stick-breaking is truncated at v_K = 1, and
/// its density has the factor α0^{K−1}, without which α0 cannot be learned.
///
/// # Errors
/// [`MixtureError::Settings`] for α0 or β out of range; [`MixtureError::NoClusters`] for K = 0.
pub fn nbce_draws(
    ensemble: &Ensemble,
    clusters: usize,
    seed: Seed,
    settings: &NbceGibbsSettings,
    monitor: &dyn Monitor,
) -> Result<NbceDraws, MixtureError> {
    let _span = tracing::info_span!("nbce-gibbs", objects = ensemble.objects(), clusters).entered();
    nbce::check(clusters, 0.0, settings.alpha0, settings.beta)?;
    let length = u64::from(settings.burn_in) + u64::from(settings.sweeps.get());
    let rounds = Rounds::new(monitor, length * u64::from(settings.chains.get()));
    let rows = Rows::unfolded(ensemble);
    let chain = |chain: u32| match ensemble.rows() {
        LabelRows::Bytes(labels) => walk(&rows, labels, (chain, clusters), seed, settings, &rounds),
        LabelRows::Words(labels) => walk(&rows, labels, (chain, clusters), seed, settings, &rounds),
    };
    let walks: Vec<Walk> = (0..settings.chains.get()).into_par_iter().map(chain).collect();
    let interrupted = walks.iter().any(|walk| walk.interrupted);
    let moved = walks.iter().map(|walk| walk.moved).sum();
    let kept: Vec<&Kept> = walks.iter().flat_map(|walk| &walk.kept).collect();
    Ok(NbceDraws {
        samples: PartitionSamples::new(
            kept.iter().map(|kept| kept.partition.clone()).collect(),
            kept.iter().map(|kept| kept.log_joint).collect(),
        ),
        hyper: kept.iter().map(|kept| (kept.hyper.alpha0, kept.hyper.beta)).collect(),
        log_joint: walks.iter().map(|walk| walk.log_joint.clone()).collect(),
        moved,
        clusters: walks.into_iter().map(|walk| walk.clusters).collect(),
        stopped: if interrupted { Stopped::Interrupted } else { Stopped::RoundLimit },
    })
}

/// A Dirichlet-process mixture of label rows with at most `clusters` clusters, by collapsed Gibbs sampling
/// ([`nbce_draws`]) and one partition that stands for what was drawn ([`Summary`]).
///
/// Objects with equal label rows go where most of them are. Certainty is the mean co-assignment with the other
/// members of the cluster. R-hat and the effective number of draws of the log joint are in the details, and a warning
/// when they are bad; `modes` groups chains whose best partitions are near each other.
///
/// | paper | here |
/// |---|---|
/// | Z | kept partitions |
/// | `p_FSD`, `p_TSB` | `prior`: `symmetric`, `stick-breaking` |
/// | K, α0, β | `clusters`, `alpha0`, `beta` |
///
/// # Cost
/// As [`nbce_draws`], plus O(kept² n) for the summary.
///
/// # Errors
/// As [`nbce_draws`]; [`MixtureError::TooManyObjects`] for the average-link summary of more than 20,000 objects.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010.
pub fn nbce_gibbs(
    ensemble: &Ensemble,
    clusters: usize,
    seed: Seed,
    settings: &NbceGibbsSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome, MixtureError> {
    if settings.summary == Summary::AverageLink {
        check_pairs(ensemble.objects())?;
    }
    let draws = nbce_draws(ensemble, clusters, seed, settings, monitor)?;
    let fragments = ensemble.fragments();
    let chosen = summarise(&draws.samples, clusters, settings)?;
    let partition = level(&chosen, fragments.of_object(), fragments.weights().len());
    let (partition, model) = fit(ensemble, &partition, clusters, &draws, settings.prior);
    let mut outcome = Outcome::hard(partition, vec![0.0; ensemble.objects()], draws.stopped);
    let certainty = draws.samples.certainty(&outcome.partition);
    outcome.certainty = level_values(&certainty, &fragments);
    nbce::tell_fit(&mut outcome, &Rows::of(ensemble), &model);
    outcome.details.insert("clusters_at_most".into(), clusters.into());
    outcome.model = Some(Arc::new(model));
    outcome.settings = serde_json::to_value(settings).expect("settings are plain data");
    tell_draws(&mut outcome, &draws, settings);
    Ok(outcome)
}

fn summarise(
    samples: &PartitionSamples,
    clusters: usize,
    settings: &NbceGibbsSettings,
) -> Result<Partition, MixtureError> {
    let loss = match settings.summary {
        Summary::Map => return Ok(samples.samples()[samples.map()].clone()),
        Summary::AverageLink => return samples.average_link(PartitionLoss::Vi, clusters),
        Summary::Binder => PartitionLoss::Binder,
        Summary::Vi => PartitionLoss::Vi,
    };
    let best = &samples.samples()[samples.best(loss)];
    let effort = samples.samples().len() * best.objects() * clusters;
    Ok(if settings.search && effort <= SEARCH_EFFORT { samples.search(loss, best, clusters) } else { best.clone() })
}

/// The partition with its clusters by size, and the posterior mean model of it: expected shares, and label shares
/// with β added. Where K leaves clusters empty, they are a last one together.
fn fit(
    ensemble: &Ensemble,
    partition: &Partition,
    clusters: usize,
    draws: &NbceDraws,
    prior: NbcePrior,
) -> (Partition, RowModel) {
    let rows = Rows::unfolded(ensemble);
    let mut labels = partition.by_appearance().labels().to_vec();
    nbce::by_size(&rows, &mut labels, clusters);
    let mean = |pick: fn(&(f64, f64)) -> f64| draws.hyper.iter().map(pick).sum::<f64>() / draws.hyper.len() as f64;
    let (alpha0, beta) = (mean(|hyper| hyper.0), mean(|hyper| hyper.1));
    let sums = rows.given_hard(&labels, clusters);
    let mut theta: Vec<f64> = sums.labels.iter().map(|count| count + beta).collect();
    normalise_columns(&mut theta, rows.offsets(), clusters);
    let live = sums.sizes.iter().filter(|size| **size > 0.0).count();
    let order: Vec<usize> = (0..live).collect();
    let model = nbce::merged_model(ensemble.bases(), &prior.expected_shares(&sums.sizes, alpha0), &theta, &order);
    let partition = Partition::new(labels, model.clusters()).expect("labels are below the live clusters");
    (partition, model)
}

/// Traces, diagnostics and warnings.
fn tell_draws(outcome: &mut Outcome, draws: &NbceDraws, settings: &NbceGibbsSettings) {
    let after: Vec<Vec<f64>> =
        draws.log_joint.iter().map(|chain| chain.iter().skip(settings.burn_in as usize).copied().collect()).collect();
    let (r_hat, effective) = (r_hat(&after), effective_samples(&after));
    let loss = |partition: &Partition| draws.samples.expected_loss(PartitionLoss::Vi, partition);
    let mean = |pick: fn(&(f64, f64)) -> f64| draws.hyper.iter().map(pick).sum::<f64>() / draws.hyper.len() as f64;
    let facts = [
        ("r_hat", json!(r_hat)),
        ("effective_draws", json!(effective)),
        ("kept", json!(draws.samples.samples().len())),
        ("expected_vi", json!(loss(&outcome.partition))),
        ("expected_binder", json!(draws.samples.expected_loss(PartitionLoss::Binder, &outcome.partition))),
        ("alpha0", json!(mean(|hyper| hyper.0))),
        ("beta", json!(mean(|hyper| hyper.1))),
        ("moves_taken", json!(draws.moved)),
        ("clusters_by_sweep", json!(draws.clusters)),
        ("modes", modes(draws, &after)),
    ];
    outcome.details.extend(facts.map(|(name, value)| (name.to_owned(), value)));
    if r_hat > DISAGREE {
        outcome.warnings.push(format!(
            "the chains disagree (R-hat of the log joint {r_hat:.2}): see details.modes, or set burn_in and sweeps higher"
        ));
    }
    if effective < FEW_DRAWS {
        outcome.warnings.push(format!("only {effective:.0} effective draws of the log joint: set sweeps higher"));
    }
    let best = (0..after.len()).max_by(|&a, &b| top(&after[a]).total_cmp(&top(&after[b])).then(b.cmp(&a)));
    let trace = draws.log_joint[best.expect("at least one chain")].clone();
    outcome.rounds = trace.len() as u64;
    outcome.objective = Some(Objective {
        name: "log joint of partition and labels, highest kept draw, nats",
        sense: Sense::Maximise,
        value: draws.samples.log_joint()[draws.samples.map()],
        trace,
    });
}

fn top(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Chains grouped by how near their best kept partitions are: within 5 % of ln n of the first of the group.
fn modes(draws: &NbceDraws, after: &[Vec<f64>]) -> Value {
    let chains = after.len();
    let samples = draws.samples.samples();
    let each = samples.len() / chains;
    let best_of = |chain: usize| {
        let range = chain * each..(chain + 1) * each;
        let density = draws.samples.log_joint();
        range.clone().fold(range.start, |best, s| if density[s] > density[best] { s } else { best })
    };
    let near = 0.05 * (samples[0].objects().max(2) as f64).ln();
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for chain in 0..chains {
        let best = best_of(chain);
        let alone = |s: usize| PartitionSamples::new(vec![samples[s].clone()], vec![0.0]);
        let close =
            |group: &&mut (usize, Vec<usize>)| alone(group.0).expected_loss(PartitionLoss::Vi, &samples[best]) <= near;
        match groups.iter_mut().find(close) {
            Some(group) => group.1.push(chain),
            None => groups.push((best, vec![chain])),
        }
    }
    let mode = |(best, members): &(usize, Vec<usize>)| {
        let values: Vec<f64> = members.iter().flat_map(|&chain| after[chain].iter().copied()).collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        json!({
            "chains": members,
            "clusters": samples[*best].live_clusters(),
            "log_joint": draws.samples.log_joint()[*best],
            "mean_log_joint": mean,
        })
    };
    groups.iter().map(mode).collect()
}

/// NBCE by collapsed Gibbs sampling.
pub static NBCE_GIBBS: NbceGibbs = NbceGibbs;

/// The method of [`NBCE_GIBBS`]. `Clusters::Auto` allows twice as many clusters as the largest base clustering
/// has.
#[derive(Clone, Copy, Debug)]
pub struct NbceGibbs;

impl Consensus for NbceGibbs {
    fn card(&self) -> &'static MethodCard {
        &CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(NbceGibbsSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let settings = problem.settings.apply().map_err(|error| error.of(CARD.name))?;
        nbce_gibbs(problem.ensemble, nbce::truncation(problem), problem.seed, &settings, monitor)
            .map_err(|error| error.of(CARD.name))
    }
}

static CARD: MethodCard = MethodCard {
    name: "nbce-gibbs",
    family: "mixture",
    summary: "nonparametric mixture by Gibbs sampling: finds K itself and says how sure it is",
    reference: "Wang, Domeniconi, Laskey, Nonparametric Bayesian clustering ensembles, ECML PKDD 2010",
    reads: Reads::Labels,
    missing: MissingLabels::HandledByPrior,
    soft: false,
    chooses_clusters: true,
    clusters_is_maximum: true,
    weighted: false,
    seeded: true,
    certainty: "mean posterior co-assignment with the other members of the cluster",
    time: "chains · sweeps · n M K + kept² n",
    memory: "n M + 4 n · kept + 8 chains · (ΣJ + 2 M) K + 4 kept K² bytes",
    bytes,
    remedy: "allow fewer clusters, set keep lower, or take nbce-vb",
    settings: &[
        SettingHelp { name: "prior", help: "symmetric, or stick-breaking (fewer, larger clusters)" },
        SettingHelp { name: "alpha0", help: "concentration: more means more clusters (above 0)" },
        SettingHelp { name: "beta", help: "label pseudo-count: below 1 wants pure clusters and finds many (above 0)" },
        SettingHelp { name: "learn", help: "draw alpha0 and beta too, starting from these values (true or false)" },
        SettingHelp { name: "chains", help: "independent chains (whole number from 1)" },
        SettingHelp { name: "burn_in", help: "sweeps of each chain before anything is kept (whole number)" },
        SettingHelp { name: "sweeps", help: "sweeps of each chain after that (whole number from 1)" },
        SettingHelp { name: "moves", help: "split-merge moves after each sweep (whole number)" },
        SettingHelp { name: "keep", help: "partitions kept of each chain (whole number from 1)" },
        SettingHelp { name: "summary", help: "the partition that stands for all: map, binder, vi or average-link" },
        SettingHelp { name: "search", help: "improve a binder or vi summary by greedy moves (true or false)" },
    ],
};

fn bytes(size: &ProblemSize) -> u64 {
    let [n, bases, clusters, labels] =
        [size.objects, size.base_clusterings, size.clusters, size.base_clusters].map(|number| number as u64);
    let settings = NbceGibbsSettings::default();
    let chains = u64::from(settings.chains.get());
    let kept = chains * u64::from(settings.keep.get());
    n * (2 * bases + 8 * kept + 80) + chains * 24 * (labels + bases) * clusters + 4 * kept * clusters * clusters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use partita_core::{EnsembleBuilder, Flow, Silent};

    fn short() -> NbceGibbsSettings {
        let count = |number| NonZeroU32::new(number).unwrap();
        NbceGibbsSettings { burn_in: 50, sweeps: count(100), keep: count(20), ..NbceGibbsSettings::default() }
    }

    /// Four clear groups, 12 % of the labels wrong.
    fn groups() -> Ensemble {
        let mut builder = EnsembleBuilder::new(80);
        for u in 0..10 {
            let label = |i: u32| if (i * 7 + u * 13).is_multiple_of(8) { Some((i + u) % 4) } else { Some(i % 4) };
            builder.push(format!("u{u}"), (0..80).map(label)).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn every_summary_finds_clear_groups() {
        let (ensemble, truth) = (groups(), Partition::new((0..80).map(|i| i % 4).collect(), 4).unwrap());
        for summary in [Summary::Map, Summary::Binder, Summary::Vi, Summary::AverageLink] {
            for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
                let settings = NbceGibbsSettings { prior, summary, ..short() };
                let outcome = nbce_gibbs(&ensemble, 10, Seed::new(1), &settings, &Silent).unwrap();
                assert_eq!(outcome.partition.by_appearance(), truth, "{summary:?} {prior:?}");
                assert!(outcome.certainty.iter().sum::<f64>() > 72.0);
                assert_eq!(outcome.details["clusters_by_sweep"].as_array().unwrap().len(), 4);
            }
        }
    }

    /// Nothing is to be done.
    struct Nothing;

    impl Monitor for Nothing {
        fn tick(&self, done: u64, total: u64) -> Flow {
            panic!("{done} of {total} done")
        }
    }

    #[test]
    fn too_many_pairs_are_refused_before_anything_is_drawn() {
        let mut builder = EnsembleBuilder::new(20_001);
        builder.push("u", (0..20_001).map(|i| Some(i % 2))).unwrap();
        let settings = NbceGibbsSettings { summary: Summary::AverageLink, ..short() };
        let error = nbce_gibbs(&builder.finish().unwrap(), 2, Seed::new(1), &settings, &Nothing).unwrap_err();
        assert!(matches!(error, MixtureError::TooManyObjects { objects: 20_001, most: 20_000 }), "{error}");
        assert!(matches!(error.of("nbce-gibbs"), ConsensusError::Settings { .. }), "it is a setting that does not fit");
    }

    #[test]
    fn learned_values_are_drawn_and_told() {
        let settings = NbceGibbsSettings { learn: true, ..short() };
        let outcome = nbce_gibbs(&groups(), 10, Seed::new(2), &settings, &Silent).unwrap();
        let beta = outcome.details["beta"].as_f64().unwrap();
        assert!(beta > 0.0 && beta < 1.0, "labels are mostly right: beta is small, not {beta}");
    }

    #[test]
    fn short_chains_are_warned_of() {
        let count = |number| NonZeroU32::new(number).unwrap();
        let settings =
            NbceGibbsSettings { burn_in: 0, sweeps: count(8), keep: count(4), ..NbceGibbsSettings::default() };
        let outcome = nbce_gibbs(&fixture::drawn(5), 8, Seed::new(2), &settings, &Silent).unwrap();
        assert!(outcome.warnings.iter().any(|warning| warning.contains("effective draws")));
    }

    #[test]
    fn conformance() {
        let fast = ["burn_in=20", "sweeps=30", "keep=10", "chains=2"];
        assert!(partita_conformance::check_with(&NBCE_GIBBS, &fast, 20) > 150);
    }
}
