//! The choice of everything for a table of which nothing is known: base clusterings, scaling, and the number of clusters.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use partita::graph::{LwgpSettings, lwgp_each};
use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{MemoryBudget, Monitor, Partition, ProgressCounter, Seed};
use partita_generate::{
    BaseK, BaseSpec, HotDeck, Recipe, Scale, TableView, generate, scale, scale_by_evidence,
};
use partita_metrics::DensityValidity;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::conductance::NearestNeighbours;
use crate::gaussian::classification_likelihood;
use crate::null_model::Scores;
use crate::pair_histogram::draw;
use crate::split_half::{Stability, split_half};
use crate::table::numbers;
use crate::{Choice, ChooseSettings, Criterion, SelectError, choose_clusters};
use verdict::verdict;

mod verdict;

/// Objects looked at: of more, so many are drawn.
const OBJECTS: usize = 1000;

/// Random splits of an ensemble into halves.
const SPLITS: u32 = 3;

/// Base clusterings at each number of clusters of the table, and of tables without clusters.
const RUNS: NonZeroU32 = NonZeroU32::new(50).expect("50 is not 0");
const DRAW_RUNS: NonZeroU32 = NonZeroU32::new(12).expect("12 is not 0");

/// Numbers of clusters up to this one are looked at where no last one is named, and twice as many while the best lies in the upper quarter, as
/// long as a cluster has this many objects.
const LAST: usize = 12;
const OBJECTS_PER_CLUSTER: usize = 12;

/// Units of progress: the comparison with tables without clusters, a way to make base clusterings, and a phase of that.
const COMPARED: u64 = 8000;
const CANDIDATE: u64 = 1000;
const PHASE: u64 = 1000;

/// What is added to both sides of the ratio of two gaps: a cut this small passes for none.
const CUT: f64 = 1e-3;

/// Neighbours that make the core of an object ([`DensityValidity`]).
const NEIGHBOURS: usize = 5;

/// Components that hold this share of the variance are explained.
const VARIANCE: f64 = 0.9;

/// Objects beyond which k-means learns from batches, and has fewer clusters.
const MANY_OBJECTS: usize = 100_000;

/// What was chosen for a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoChoice {
    /// How base clusterings are made.
    pub recipe: Recipe,
    /// The number of clusters; 1 says that there are none.
    pub clusters: usize,
    /// Why, in a sentence or two.
    pub reason: String,
    /// What was looked at.
    pub candidates: Vec<AutoCandidate>,
    /// The comparison with tables without clusters, where the number of clusters was open.
    #[serde(skip)]
    pub choice: Option<Choice>,
}

/// One way to make base clusterings, and what it says of every number of clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoCandidate {
    /// How base clusterings are made.
    pub recipe: Recipe,
    /// Split-half stability of the consensus.
    pub stability: Vec<Stability>,
    /// Logarithm of how much more the next cut costs: `ln((1 − λ_{K+1}) / (1 − λ_K))` of the normalised graph of objects and base
    /// clusters; empty where the number of clusters is given.
    pub gaps: Vec<f64>,
    /// Density-based validity of the consensus ([`DensityValidity`]); empty in records of before.
    #[serde(default)]
    pub validity: Vec<f64>,
    /// By how many nats an object one Gaussian a cluster explains the table better than one Gaussian in all (integrated classification
    /// likelihood); empty where the number of clusters is given, and in records of before.
    #[serde(default)]
    pub likelihood: Vec<f64>,
    /// The largest conductance of a cluster of the consensus in the graph of 5 nearest neighbours: what share of the links of its objects lead
    /// out of it; empty where the number of clusters is given, where all objects lie on a line, and in records of before.
    #[serde(default)]
    pub conductance: Vec<f64>,
}

/// Chooses how base clusterings of a table (n objects × d numbers) are made, and the number of clusters of the range if it holds
/// several. A range without a last number goes to 12, and is doubled while the number chosen lies in its upper quarter and clusters would have
/// 12 of the objects looked at each.
///
/// Two ensembles are compared: k-means, which sees round clusters, and Genie, which sees long and nested ones. The one is taken whose
/// consensus by `lwgp` has the larger sum of [stability under split halves](crate::split_half) and [validity](DensityValidity). The number
/// of clusters has the highest
/// ```text
/// score(K) = stability(K) gap(K) of k-means + 4 max(validity(K) of both + 0.1, 0) − worse(likelihood − likelihood(K))
/// worse(x) = 0.75 min(x / 0.1, 1) + max(x − 0.5, 0)
/// gap(K)   = ln((1 − λ_{K+1} + c) / (1 − λ_K + c))
/// ```
/// with λ the eigenvalues of the normalised graph of objects and base clusters, and the likelihood that of one Gaussian a cluster, of the
/// better ensemble, beside the highest of all K (integrated classification likelihood, nats an object). Where the last or last but one K
/// has the highest, clusters are no Gaussians, and it does not count. Whether there are clusters at all is asked first: [`choose_clusters`],
/// whose "1" stands unless one of these holds, with c the largest stability · gap of k-means:
/// - the clusters of some K have a validity above -0.1 (not where all objects lie on a line), or explain the table by 0.45 nats an object
///   better than one Gaussian;
/// - c is above 1.5, or above 1.1 where clusters explain the table by 0.05 nats an object better;
/// - they do, c is at least 0.55 and the p value is at most 0.3;
/// - clusters of Genie with a stability of 0.9 have a conductance of at most 0.015 among the 5 nearest neighbours, and its largest
///   stability · gap is above 1.2 (not on a line either).
///
/// "1" is the answer too where none of them holds and c is below 0.55, or below 0.8 (on a line: whatever c) where one Gaussian is better by
/// 0.05 nats.
///
/// # Errors
/// [`SelectError`] for a range without a number that fits, a table that cannot be clustered, or a stop.
///
/// # Cost
/// That of [`choose_clusters`] where the number is open, and of 14 consensus clusterings, on at most 1000 objects.
///
/// # References
/// U. von Luxburg: A tutorial on spectral clustering, Statistics and Computing 17, 2007 (the gap heuristic). D. Moulavi et al.:
/// Density-based clustering validation, SDM 2014. C. Biernacki, G. Celeux, G. Govaert: Assessing a mixture model for clustering with the
/// integrated completed likelihood, IEEE TPAMI 22, 2000. R. Kannan, S. Vempala, A. Vetta: On clusterings: good, bad and spectral, JACM 51, 2004
/// (conductance).
pub fn choose_recipe<'a>(
    table: impl Into<TableView<'a>>,
    range: (usize, Option<usize>),
    how: Scale,
    seed: Seed,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<AutoChoice, SelectError> {
    let table = table.into();
    let n = table.dim().0;
    let objects: Vec<usize> = if n > OBJECTS {
        let drawn = draw(n, OBJECTS, seed.child(0));
        drawn.into_iter().map(|object| object as usize).collect()
    } else {
        (0..n).collect()
    };
    let (mut values, gaps) = (table.select(&objects)?, table.gaps_of(&objects));
    let how = scale_by_evidence(values.view(), how);
    if !gaps.is_empty() {
        values = HotDeck::new(values.view(), &gaps).draw(seed.child(6));
    }
    let look = Look {
        values: &scale(values.view(), how),
        gaps: &gaps,
        how,
        of: n,
        seed,
        budget,
        monitor,
    };
    let (first, mut last) = (range.0, range.1.unwrap_or(LAST.max(range.0)));
    loop {
        let mut chosen = look.at(first..=last)?;
        let near_the_end = 4 * chosen.clusters > 3 * last;
        if range.1.is_none() && near_the_end && 2 * last * OBJECTS_PER_CLUSTER <= objects.len() {
            last *= 2;
            continue;
        }
        if let Some(choice) = &mut chosen.choice {
            look.of_all(choice, &objects);
            choice.settings["criterion"] = json!(Criterion::Score);
            choice.settings["scale"] = json!(how.to_string());
            if chosen.clusters == last {
                choice.warnings.push(format!(
                    "{last} is the largest number looked at; look further"
                ));
            }
        }
        return Ok(chosen);
    }
}

/// A table that is looked at.
struct Look<'a> {
    /// The objects looked at, scaled, with one draw of values for gaps.
    values: &'a Array2<f64>,
    gaps: &'a [(u32, u32)],
    /// How they were scaled.
    how: Scale,
    /// The objects of the whole table.
    of: usize,
    seed: Seed,
    budget: MemoryBudget,
    monitor: &'a dyn Monitor,
}

impl Look<'_> {
    /// The choice among these numbers of clusters.
    fn at(&self, range: RangeInclusive<usize>) -> Result<AutoChoice, SelectError> {
        let objects = self.values.nrows();
        let given = (range.start() == range.end()).then(|| *range.end());
        let (allowed, clusters) = if let Some(clusters) = given {
            (vec![clusters], vec![clusters])
        } else {
            // What one number is worth shows beside the others: the answer of a range is that of all numbers where it holds that.
            let (all, subsample) = (2..=LAST.max(*range.end()), Recipe::default().subsample);
            let allowed = numbers(&range, objects, subsample)?.0;
            (allowed, numbers(&all, objects, subsample)?.0)
        };
        let most = clusters.last().copied().unwrap_or(1);
        let compared_units = if given.is_none() { COMPARED } else { 0 };
        let progress = ProgressCounter::new(self.monitor, compared_units + 2 * CANDIDATE);
        let mut choice = None;
        if given.is_none() {
            let part = progress.part(COMPARED);
            choice = Some(compared(
                self.values,
                &range,
                self.seed,
                self.budget,
                &part,
            )?);
        }
        let criteria = Criteria::new(self.values.view(), given.is_none())?;
        let recipes = [
            kmeans(objects, Scale::None),
            genie(objects, most, Scale::None),
        ];
        let table = match self.gaps {
            [] => self.values.view().into(),
            gaps => TableView::Gaps(self.values.view(), gaps),
        };
        let each = recipes.par_iter().enumerate().map(|(at, recipe)| {
            candidate(
                table,
                &criteria,
                recipe,
                &clusters,
                self.seed.child(5).child(at as u64),
                self.budget,
                &progress.part(CANDIDATE),
            )
        });
        let mut candidates = each.collect::<Result<Vec<_>, SelectError>>()?;
        candidates[0].recipe = kmeans(self.of, self.how);
        candidates[1].recipe = genie(self.of, most, self.how);
        Ok(verdict(candidates, &allowed, choice, criteria.on_a_line()))
    }

    /// Names the objects looked at by their places among all.
    fn of_all(&self, choice: &mut Choice, objects: &[usize]) {
        if objects.len() == self.of {
            return;
        }
        let drawn = |place: usize| objects[place] as u32;
        choice.objects = Some(match &choice.objects {
            Some(places) => places.iter().map(|&place| drawn(place as usize)).collect(),
            None => (0..objects.len()).map(drawn).collect(),
        });
    }
}

/// Whether there are clusters, against tables without.
fn compared(
    values: &Array2<f64>,
    range: &RangeInclusive<usize>,
    seed: Seed,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Choice, SelectError> {
    let settings = ChooseSettings {
        // The columns are scaled.
        scale: Scale::None.to_string(),
        // Whether, not how many: fewer runs tell.
        runs: RUNS,
        draw_runs: DRAW_RUNS,
        ..ChooseSettings::default()
    };
    choose_clusters(
        values.view(),
        range.clone(),
        seed,
        &settings,
        budget,
        monitor,
    )
}

/// The usual recipe; fewer clusters and batches where there are many objects.
fn kmeans(objects: usize, scale: Scale) -> Recipe {
    let mut recipe = Recipe::default();
    recipe.scale = scale;
    if objects > MANY_OBJECTS {
        recipe.base = vec![BaseSpec::new(partita_generate::BaseKind::KMeansBatch, 30)];
        recipe.base_k = BaseK::Range {
            first: 20,
            last: 50,
        };
        recipe.subsample = 1.0;
    } else if objects > 20_000 {
        recipe.base_k = BaseK::Range {
            first: 70,
            last: 140,
        };
    }
    recipe
}

/// Genie with 2 to 12 clusters, or half as many more as are asked for.
fn genie(objects: usize, clusters: usize, scale: Scale) -> Recipe {
    let mut recipe = Recipe::default();
    recipe.scale = scale;
    recipe.base = vec![BaseSpec::new(partita_generate::BaseKind::Genie, 40)];
    if objects > 20_000 {
        // One search for the nearest landmarks serves all runs.
        recipe.subsample = 1.0;
    }
    let last = (clusters + clusters / 2).max(12).min(recipe.rows(objects));
    recipe.base_k = BaseK::Range {
        first: 2.min(last),
        last,
    };
    recipe
}

/// What rates partitions of the table.
struct Criteria {
    validity: DensityValidity,
    /// Where the number of clusters is open.
    components: Option<Scores>,
    /// Where the number of clusters is open, unless all objects lie on a line.
    neighbours: Option<NearestNeighbours>,
}

impl Criteria {
    fn new(values: ArrayView2<'_, f64>, open: bool) -> Result<Self, SelectError> {
        let mut criteria = Self {
            validity: DensityValidity::new(values, NEIGHBOURS),
            components: None,
            neighbours: None,
        };
        if open {
            criteria.components = Some(Scores::of(values, VARIANCE)?);
            let line = criteria.on_a_line();
            criteria.neighbours = (!line).then(|| NearestNeighbours::new(values, NEIGHBOURS));
        }
        Ok(criteria)
    }

    /// Whether the number of clusters is open and all objects lie on a line: one column, or several that say the same.
    fn on_a_line(&self) -> bool {
        self.components
            .as_ref()
            .is_some_and(|components| components.values.ncols() == 1)
    }

    /// By how many nats an object Gaussians explain the table better under each partition than one does.
    fn likelihood(&self, partitions: &[&Partition]) -> Vec<f64> {
        let Some(components) = &self.components else {
            return Vec::new();
        };
        let values = components.values.view();
        let together = Partition::from_values(&vec![0_u32; values.nrows()]);
        let one = classification_likelihood(values, &together);
        partitions
            .iter()
            .map(|partition| classification_likelihood(values, partition) - one)
            .collect()
    }
}

fn candidate(
    table: TableView<'_>,
    criteria: &Criteria,
    recipe: &Recipe,
    clusters: &[usize],
    seed: Seed,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<AutoCandidate, SelectError> {
    let progress = ProgressCounter::new(monitor, 3 * PHASE);
    let made = generate(table, recipe, seed.child(0), budget, &progress.part(PHASE))?;
    if made.finished < made.asked {
        return Err(SelectError::Interrupted);
    }
    let stability = split_half(
        &made.ensemble,
        clusters,
        SPLITS,
        seed.child(1),
        &progress.part(PHASE),
    )?;
    let mut settings = LwgpSettings::default();
    settings.restarts = 1;
    let given = clusters.len() == 1;
    // One eigenvalue more than clusters tells the last gap.
    let beyond = (!given).then(|| clusters.iter().copied().max().unwrap_or(1) + 1);
    let asked: Vec<usize> = clusters.iter().copied().chain(beyond).collect();
    let cuts = lwgp_each(
        &made.ensemble,
        &asked,
        seed.child(2),
        &settings,
        &progress.part(PHASE),
    )?;
    let eigenvalues = cuts.last().map_or(&[][..], |cut| &cut.details.eigenvalues);
    let gaps = if given {
        Vec::new()
    } else {
        clusters
            .iter()
            .map(|&clusters| gap(eigenvalues, clusters))
            .collect()
    };
    let partitions: Vec<&Partition> = cuts[..clusters.len()]
        .iter()
        .map(|cut| &cut.partition)
        .collect();
    let validity = partitions
        .iter()
        .map(|partition| criteria.validity.of(partition))
        .collect::<Result<_, _>>()?;
    let conductance = criteria.neighbours.iter().flat_map(|graph| {
        let each = partitions.iter();
        each.map(|partition| graph.conductance(partition))
    });
    Ok(AutoCandidate {
        recipe: recipe.clone(),
        stability,
        gaps,
        validity,
        likelihood: criteria.likelihood(&partitions),
        conductance: conductance.collect(),
    })
}

/// Logarithm of the ratio of the next eigenvalue's distance to 1 to that of eigenvalue K; 0 where there is no next.
fn gap(eigenvalues: &[f64], clusters: usize) -> f64 {
    match eigenvalues.get(clusters - 1..=clusters) {
        Some(pair) => {
            let last = (1.0 - pair[0]).max(0.0) + CUT;
            let next = (1.0 - pair[1]).max(0.0) + CUT;
            (next / last).ln()
        }
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Partition, Silent};
    use partita_metrics::Contingency;
    use partita_synth::{SynthSettings, synthesise};

    fn chosen(name: &str, range: (usize, Option<usize>), seed: u64) -> AutoChoice {
        let made = synthesise(name, 240, Seed::new(seed), &SynthSettings::default()).unwrap();
        choose_recipe(
            made.values.view(),
            range,
            Scale::Auto,
            Seed::new(seed),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap()
    }

    #[test]
    fn long_shapes_take_trees_and_overlapping_ones_k_means() {
        let kind = |choice: &AutoChoice| choice.recipe.base[0].kind.name();
        let waves = chosen("helices-2", (2, None), 1);
        assert_eq!(
            (waves.clusters, kind(&waves)),
            (2, "genie"),
            "{}",
            waves.reason
        );
        let overlap = chosen("overlap-3", (3, Some(3)), 1);
        assert_eq!(
            (overlap.clusters, kind(&overlap), overlap.choice),
            (3, "kmeans", None),
            "{}",
            overlap.reason
        );
    }

    #[test]
    fn columns_on_different_scales_are_scaled_and_noise_has_no_clusters() {
        let unscaled = chosen("unscaled-3", (2, None), 2);
        assert_eq!(
            (unscaled.clusters, unscaled.recipe.scale),
            (3, Scale::ZScore),
            "{}",
            unscaled.reason
        );
        let noise = chosen("one-long", (2, None), 3);
        assert_eq!(noise.clusters, 1, "{}", noise.reason);
        assert!(noise.reason.starts_with("1 cluster: "), "{}", noise.reason);
        // What overrules it, in turn: a stable deep cut of k-means; closed clusters of Genie with a deep cut.
        let overruled = |which: usize, gap: f64, conductance: f64| {
            let mut candidates = noise.candidates.clone();
            let one = &mut candidates[which];
            (one.stability[1].ari, one.stability[1].smallest) = (1.0, 20);
            (one.gaps[1], one.conductance[1]) = (gap, conductance);
            verdict::no_clusters(&candidates, noise.choice.as_ref().unwrap(), false).is_none()
        };
        assert!(!overruled(0, 1.4, 0.5) && overruled(0, 1.6, 0.5), "deep");
        assert!(
            !overruled(1, 1.6, 0.02) && !overruled(1, 1.1, 0.01) && overruled(1, 1.3, 0.01),
            "closed"
        );
    }

    #[test]
    fn halves_of_an_ensemble_agree_on_clusters_that_are_there() {
        let made = synthesise("blobs-3", 150, Seed::new(1), &SynthSettings::default()).unwrap();
        let ensemble = generate(
            made.values.view(),
            &Recipe::default(),
            Seed::new(1),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let found = split_half(&ensemble.ensemble, &[3, 7], 2, Seed::new(1), &Silent).unwrap();
        assert!(
            found[0].ari > 0.99 && found[0].smallest > 40 && found[1].ari < 0.99,
            "{found:?}"
        );
        let outcome = lwgp_each(
            &ensemble.ensemble,
            &[3],
            Seed::new(1),
            &LwgpSettings::default(),
            &Silent,
        )
        .unwrap();
        let truth = Partition::from_values(&made.labels);
        assert_eq!(
            Contingency::new(&outcome[0].partition, &truth)
                .unwrap()
                .ari(),
            1.0
        );
    }
}
