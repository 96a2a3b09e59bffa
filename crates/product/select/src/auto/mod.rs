//! The choice of everything for a table of which nothing is known: base clusterings, scaling, and the number of clusters.

use std::ops::RangeInclusive;

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2};
use partita_core::{Ensemble, MemoryBudget, Monitor, Partition, ProgressCounter, Seed, option};
use partita_generate::{HotDeck, Recipe, Scale, TableView, scale, scale_by_evidence};
use partita_metrics::DensityValidity;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gaussian::{ClassificationLikelihood, step};
use crate::pair_histogram::draw;
use crate::table::numbers;
use crate::words::Words;
use crate::{Choice, Criterion, SelectError};
use trial::{Kind, Trial};
use verdict::verdict;

mod trial;
mod verdict;

/// Objects looked at: of more, so many are drawn.
const OBJECTS: usize = 1000;

/// Numbers of clusters that are looked at where no last one is named: up to the first whatever the table, up to the second as long as a cluster
/// has so many objects, and twice as many while the best lies in the upper quarter.
const LAST: [usize; 2] = [12, 40];
const OBJECTS_PER_CLUSTER: usize = 12;

/// No more clusters than this leaves each so many objects are looked at unless they are asked for: pairs and single objects explain anything.
const FEWEST: usize = 4;

/// What the memory is for that a look at the table takes.
const WHAT: &str = "looking for the number of clusters and for base clusterings";

fn remedy() -> String {
    format!(
        "raise {}, or give base clusterings and the number of clusters",
        option("max-memory")
    )
}

/// Units of progress of a way to make base clusterings.
const CANDIDATE: u64 = 1000;

/// Neighbours that make the core of an object ([`DensityValidity`]).
const NEIGHBOURS: usize = 5;

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
    /// All numbers of clusters, where the number was open.
    #[serde(skip)]
    pub choice: Option<Choice>,
}

/// One way to make base clusterings, and what it says of the numbers of clusters that it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoCandidate {
    /// How base clusterings are made.
    pub recipe: Recipe,
    /// One a number of clusters, rising; none in records of before.
    #[serde(default)]
    pub rows: Vec<AutoRow>,
}

/// What is known of the consensus of an ensemble with so many clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoRow {
    /// The number of clusters, K.
    pub clusters: usize,
    /// Objects of the smallest cluster.
    pub smallest: usize,
    /// Logarithm of how much more the next cut costs: `ln((1 − λ_{K+1} + c) / (1 − λ_K + c))` of the normalised graph of objects and base
    /// clusters.
    pub cut: f64,
    /// Density-based validity ([`DensityValidity`]).
    pub validity: f64,
    /// By how many nats an object one Gaussian a cluster, with its own shares of words, explains the table better than one in all (integrated
    /// classification likelihood).
    pub likelihood: f64,
    /// Mean silhouette, distances taken to the means of clusters.
    pub silhouette: f64,
    /// The smallest p-value that neighbouring clusters are apart, of those that [`gap_test`](partita_significance::gap_test) leaves, where it
    /// was asked for.
    pub p: Option<f64>,
    /// Adjusted Rand index of the clusters that two halves of the base clusterings lead to, where it was asked for.
    pub stability: Option<f64>,
    /// The consensus.
    #[serde(skip)]
    pub partition: Option<Partition>,
}

/// Chooses how base clusterings of a table (n objects × d numbers) are made, and the number of clusters of the range if it holds
/// several. A range without a last number goes to a twelfth of the objects looked at (12 at least, 40 at most), and is doubled while the number
/// chosen lies in its upper quarter and clusters would have 12 objects each.
///
/// Two ensembles are compared: k-means, which sees round clusters, and Genie, which sees long and nested ones. Where the number of
/// clusters is given, the one is taken whose consensus by `lwgp` has the larger sum of [stability under split halves](crate::split_half) and
/// [validity](DensityValidity). Where it is open, that and the number of clusters have the highest
/// ```text
/// score(K) = cut(K) + 2 validity(K) − 2 min((best likelihood − likelihood(K)) / 0.1, 1) − 3 silhouette(K)
/// cut(K)   = ln((1 − λ_{K+1} + 0.001) / (1 − λ_K + 0.001))
/// ```
/// with λ the eigenvalues of the normalised graph of objects and base clusters, and the likelihood that of one Gaussian a cluster, with shares of
/// its own for words (integrated classification likelihood, nats an object). Likelihood and silhouette both grow when clusters that are no
/// Gaussians are cut into pieces; the silhouette counts against, so that what is left is what Gaussians explain beyond compactness.
///
/// Where values repeat (answers, counts, yes and no), covariances are larger by what recording takes away, and the gap test sees values that are
/// spread over half of what each stands for, so that equal rows are no clusters of their own.
///
/// There are several clusters if, for some K up to 8, [neighbouring clusters have a gap between them](partita_significance::gap_test) at the
/// level .05; or if, with no cluster of less than 5 % of the objects, clusters lie further from each other than they are torn (validity above −0.1), or k-means has a
/// stable deep cut (stability · cut above 1.5; on a line both). Else the answer is 1. Between words are places where no object can be, which
/// looks like a gap: where there are words (categories, columns of two or three values), some number of clusters must also explain the table
/// better than one does (likelihood above 0), and where there is nothing else, that decides.
///
/// # Errors
/// [`SelectError`] for a range without a number that fits, a table that cannot be clustered, or a stop.
///
/// # Cost
/// That of some ten consensus clusterings and 14 gap tests, on at most 1000 objects.
///
/// # References
/// U. von Luxburg: A tutorial on spectral clustering, Statistics and Computing 17, 2007 (the cut). D. Moulavi et al.: Density-based clustering
/// validation, SDM 2014. C. Biernacki, G. Celeux, G. Govaert: Assessing a mixture model for clustering with the integrated completed likelihood,
/// IEEE TPAMI 22, 2000. P. Rousseeuw: Silhouettes, J. Comput. Appl. Math. 20, 1987. The score is ours.
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
    let mut known = Array2::from_elem(values.dim(), true);
    for &(row, column) in &gaps {
        known[[row as usize, column as usize]] = false;
    }
    let look = Look {
        words: Words::of(values.view(), known.view()),
        known,
        values: &scale(values.view(), how),
        gaps: &gaps,
        how,
        of: n,
        seed,
        budget,
        monitor,
    };
    let usual = (objects.len() / OBJECTS_PER_CLUSTER).clamp(look.few(), LAST[1]);
    let (first, mut last) = (range.0, range.1.unwrap_or(usual.max(range.0)));
    loop {
        let mut chosen = look.at(first..=last)?;
        let near_the_end = 4 * chosen.clusters > 3 * last;
        if range.1.is_none() && near_the_end && 2 * last * OBJECTS_PER_CLUSTER <= objects.len() {
            last *= 2;
            continue;
        }
        if let Some(choice) = &mut chosen.choice {
            choice.objects =
                (objects.len() < n).then(|| objects.iter().map(|&object| object as u32).collect());
            choice.seed = seed.number();
            choice.settings = json!({ "criterion": Criterion::Score, "scale": how.to_string() });
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
    /// Which values are no gaps.
    known: Array2<bool>,
    words: Words,
    /// How they were scaled.
    how: Scale,
    /// The objects of the whole table.
    of: usize,
    seed: Seed,
    budget: MemoryBudget,
    monitor: &'a dyn Monitor,
}

impl Look<'_> {
    /// The numbers of clusters up to this one are looked at whatever is asked for.
    fn few(&self) -> usize {
        LAST[0].min((self.values.nrows() / FEWEST).max(2))
    }

    /// The choice among these numbers of clusters.
    fn at(&self, range: RangeInclusive<usize>) -> Result<AutoChoice, SelectError> {
        let objects = self.values.nrows();
        let given = (range.start() == range.end()).then(|| *range.end());
        let (allowed, clusters) = if let Some(clusters) = given {
            (vec![clusters], vec![clusters])
        } else {
            // What one number is worth shows beside the others: the answer of a range is that of all numbers where it holds that.
            let subsample = Recipe::default().subsample;
            let all = 2..=self.few().max(*range.end());
            let allowed = numbers(&range, objects, subsample)?.0;
            (allowed, numbers(&all, objects, subsample)?.0)
        };
        // Genie for few clusters and for many: trees in 60 pieces blur three.
        let (few, many) =
            clusters.split_at(clusters.partition_point(|&clusters| clusters <= LAST[0]));
        let kinds = [
            (Kind::KMeans, &clusters[..]),
            (Kind::Genie, few),
            (Kind::Genie, many),
        ];
        let kinds = kinds
            .into_iter()
            .filter(|(_, clusters)| !clusters.is_empty());
        let trial = |(at, (kind, clusters))| Trial {
            look: self,
            kind,
            clusters,
            open: given.is_none(),
            seed: self.seed.child(5).child(at as u64),
        };
        let trials: Vec<Trial<'_>> = kinds.enumerate().map(trial).collect();
        let progress = ProgressCounter::new(self.monitor, trials.len() as u64 * CANDIDATE);
        let made = trials
            .par_iter()
            .map(|trial| trial.ensemble(&progress.part(CANDIDATE / 4)));
        let ensembles = made.collect::<Result<Vec<_>, SelectError>>()?;
        let budgets = self.budgets(&trials, &ensembles)?;
        let criteria = Criteria::new(self)?;
        let each = trials.par_iter().zip(&ensembles).zip(budgets);
        let each = each.map(|((trial, ensemble), budget)| {
            let part = progress.part(CANDIDATE / 4 * 3);
            trial.run(ensemble, &criteria, budget, &part)
        });
        let candidates = each.collect::<Result<Vec<_>, SelectError>>()?;
        Ok(verdict(
            candidates,
            &allowed,
            given.is_none(),
            criteria.likelihood.columns(),
        ))
    }

    /// What each of the trials, which run side by side, may hold of what the criteria leave.
    fn budgets(
        &self,
        trials: &[Trial<'_>],
        ensembles: &[Ensemble],
    ) -> Result<Vec<MemoryBudget>, SelectError> {
        let pairs = trials.iter().zip(ensembles);
        let needs: Vec<u64> = pairs
            .map(|(trial, ensemble)| trial.bytes(ensemble))
            .collect();
        let together: u64 = if rayon::current_num_threads() == 1 {
            needs.iter().copied().max().unwrap_or(0)
        } else {
            needs.iter().fold(0, |all, &need| all.saturating_add(need))
        };
        let (n, d) = self.values.dim();
        let all = together.saturating_add(8 * (n * (n + 4 * d)) as u64);
        self.budget.check(WHAT, all, &remedy())?;
        let spare = self.budget.bytes() - all;
        Ok(needs
            .iter()
            .map(|need| MemoryBudget::new(spare.saturating_add(*need)))
            .collect())
    }
}

/// What rates partitions of the table.
struct Criteria<'a> {
    values: ArrayView2<'a, f64>,
    /// The values over half of what each stands for, for the gap test.
    spread: Array2<f64>,
    validity: DensityValidity,
    likelihood: ClassificationLikelihood,
}

impl<'a> Criteria<'a> {
    fn new(look: &Look<'a>) -> Result<Self, SelectError> {
        let (values, known) = (look.values.view(), look.known.view());
        Ok(Self {
            values,
            spread: spread(values, known, look.seed.child(7)),
            validity: DensityValidity::new(values, NEIGHBOURS),
            likelihood: ClassificationLikelihood::new(values, known, look.words.clone())?,
        })
    }

    /// What is known of a partition without the ensemble.
    fn row(&self, clusters: usize, partition: &Partition) -> Result<AutoRow, SelectError> {
        Ok(AutoRow {
            clusters,
            smallest: partition.sizes().into_iter().min().unwrap_or(0),
            cut: 0.0,
            validity: self.validity.of(partition)?,
            likelihood: self.likelihood.of(partition),
            silhouette: silhouette(self.values, partition),
            p: None,
            stability: None,
            partition: Some(partition.clone()),
        })
    }
}

/// Every value moved at random by up to a quarter of the [`step`] of its column. A value that is one of few stands for all between it and the
/// next, so that places without any value are no gaps; over the whole step those between two answers would be closed too.
fn spread(values: ArrayView2<'_, f64>, known: ArrayView2<'_, bool>, seed: Seed) -> Array2<f64> {
    let mut rng = seed.rng();
    let mut spread = values.to_owned();
    for (mut column, known) in spread.columns_mut().into_iter().zip(known.columns()) {
        let step = step(column.view(), known);
        column.mapv_inplace(|value| value + 0.5 * step * (rng.random::<f64>() - 0.5));
    }
    spread
}

/// The mean silhouette of rows, distances taken to the means of clusters: (b − a) / max(a, b), a to the own mean, b to the nearest other one.
///
/// # Cost
/// O(n K d).
fn silhouette(rows: ArrayView2<'_, f64>, partition: &Partition) -> f64 {
    let mut means = Array2::<f64>::zeros((partition.clusters(), rows.ncols()));
    let sizes = partition.sizes();
    for (row, &label) in rows.outer_iter().zip(partition.labels()) {
        means
            .row_mut(label as usize)
            .scaled_add(1.0 / sizes[label as usize] as f64, &row);
    }
    let distance = |row: ArrayView1<'_, f64>, mean: ArrayView1<'_, f64>| {
        row.iter()
            .zip(&mean)
            .map(|(x, m)| (x - m) * (x - m))
            .sum::<f64>()
            .sqrt()
    };
    let each = rows
        .outer_iter()
        .zip(partition.labels())
        .map(|(row, &label)| {
            let (mut own, mut other) = (0.0, f64::INFINITY);
            for (k, mean) in means
                .outer_iter()
                .enumerate()
                .filter(|&(k, _)| sizes[k] > 0)
            {
                let far = distance(row, mean);
                if k == label as usize {
                    own = far;
                } else {
                    other = other.min(far);
                }
            }
            let most = own.max(other);
            if most > 0.0 && most.is_finite() {
                (other - own) / most
            } else {
                0.0
            }
        });
    each.sum::<f64>() / rows.nrows() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::Columns;
    use crate::split_half::split_half;
    use partita::graph::{LwgpSettings, lwgp_each};
    use partita_core::{Partition, Silent};
    use partita_generate::generate;
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
        // What overrules it, in turn.
        let overruled = |p: f64, validity: f64, cut: f64, line: bool| {
            let columns = if line {
                Columns::Line
            } else {
                Columns::Numbers
            };
            let mut candidates = noise.candidates.clone();
            let row = &mut candidates[0].rows[0];
            (row.stability, row.smallest, row.p) = (Some(1.0), 20, Some(p));
            (row.validity, row.cut) = (validity, cut);
            verdict::no_clusters(&candidates, columns).is_none()
        };
        assert!(!overruled(0.1, -0.1, 1.4, false) && !overruled(0.1, 0.1, 1.4, true));
        assert!(!overruled(0.1, -0.1, 1.6, true) && overruled(0.1, 0.1, 1.6, true));
        assert!(overruled(0.01, -0.1, 1.4, true), "a gap");
        assert!(overruled(0.1, 0.1, 1.4, false), "separated");
        assert!(overruled(0.1, -0.1, 1.6, false), "a deep stable cut");
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
        let found = split_half(
            &ensemble.ensemble,
            &[3, 7],
            2,
            Seed::new(1),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        assert!(
            found[0].ari > 0.99 && found[0].smallest > 40 && found[1].ari < 0.99,
            "{found:?}"
        );
        let outcome = lwgp_each(
            &ensemble.ensemble,
            &[3],
            Seed::new(1),
            &LwgpSettings::default(),
            MemoryBudget::UNLIMITED,
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
