//! Initializations: cuts of a tree, k-means++ on rows of evidence, base clusterings, Dirichlet draws.

use partita_core::ndarray::{Array1, Array2};
use partita_core::{Ensemble, Flow, Monitor, Partition, Seed, SoftPartition, WeightedEnsemble};
use partita_kernels::{Kernel, Simd, dispatch, dots};
use partita_kmeans::labels::quick_partition;
use partita_kmeans::plus_plus::{DistanceField, Field, Points, pick, plus_plus};
use partita_linkage::{Linkage, cut, link_f32, link_weighted_f32};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use crate::error::PccError;
use crate::evidence::{Evidence, LocalPairs};
use crate::memberships::Memberships;
use crate::settings::{PccSettings, Solver};

/// The most objects for which a tree is grown to start from.
pub(crate) const TREE: usize = 5000;

/// Base clusterings that are tried as starts.
const CANDIDATES: usize = 12;

/// Probability that a soft start gives an object's own cluster.
const OWN: f64 = 0.9;

/// A start and what to call it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Start {
    /// How it was made.
    pub name: String,
    /// Where it is.
    pub soft: SoftPartition,
}

impl Start {
    /// A start with a name of its own.
    pub fn new(name: impl Into<String>, soft: SoftPartition) -> Self {
        Self {
            name: name.into(),
            soft,
        }
    }

    /// A hard partition made soft: 0.9 on every object's cluster, the rest shared by the others of K. Hard starts are
    /// infinitely bad for KL.
    pub fn softened(name: impl Into<String>, partition: &Partition, clusters: usize) -> Self {
        let rest = (1.0 - OWN) / (clusters.max(2) - 1) as f64;
        let mut rows = Array2::from_elem((partition.objects(), clusters), rest);
        for (mut row, &label) in rows.outer_iter_mut().zip(partition.labels()) {
            row[label as usize % clusters] = if clusters == 1 { 1.0 } else { OWN };
        }
        Self::new(
            name,
            SoftPartition::new(rows).expect("0.9 and the rest make 1"),
        )
    }

    /// Probabilities drawn from Dirichlet(1): no object prefers any cluster, on average.
    pub fn random(name: impl Into<String>, objects: usize, clusters: usize, seed: Seed) -> Self {
        Self::random_but_for_copies(name, &vec![false; objects], clusters, seed)
    }

    /// The same, but for each object that is a copy of the one before it: nothing is drawn for it, it has the same probabilities.
    fn random_but_for_copies(
        name: impl Into<String>,
        copies: &[bool],
        clusters: usize,
        seed: Seed,
    ) -> Self {
        let mut rng = seed.rng();
        let mut row = Array1::zeros(clusters);
        let mut rows = Array2::zeros((copies.len(), clusters));
        for (mut to, &copy) in rows.outer_iter_mut().zip(copies) {
            if !copy {
                row.mapv_inplace(|_| -> f64 { Exp1.sample(&mut rng) });
                let sum = row.sum();
                row.mapv_inplace(|y| y / sum);
            }
            to.assign(&row);
        }
        Self::new(
            name,
            SoftPartition::new(rows).expect("rows were divided by their sums"),
        )
    }
}

/// The starts that evidence offers (a cut of the average-link tree up to 5000 objects, k-means++ on its rows), and
/// random ones: [`PccSettings::restarts`]; unset 12 up to 64 objects and 3 beyond. With [`Solver::Growth`] copies of an object begin with the
/// same probabilities.
///
/// # Errors
/// [`PccError::Tree`] if the evidence makes no tree; [`PccError::Interrupted`] if the monitor asks to stop.
pub fn starts(
    evidence: &dyn Evidence,
    clusters: usize,
    seed: Seed,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<Start>, PccError> {
    let go_on = || {
        if monitor.flow() == Flow::Stop {
            Err(PccError::Interrupted)
        } else {
            Ok(())
        }
    };
    let objects = evidence.count();
    let mut starts = Vec::new();
    if let Some(condensed) = (objects <= TREE).then(|| evidence.condensed()).flatten() {
        go_on()?;
        let tree = match evidence.multiplicities() {
            None => link_f32(condensed, objects, Linkage::Average)?,
            Some(times) => link_weighted_f32(condensed, times)?,
        };
        go_on()?;
        starts.push(Start::softened(
            "average-link",
            &cut(&tree, clusters),
            clusters,
        ));
        let partition = nearest_of_plus_plus(evidence, clusters, seed.child(0), monitor);
        go_on()?;
        starts.push(Start::softened("k-means++ rows", &partition, clusters));
    }
    // The growth transform takes rounds without end to bring copies of an object together: with it they begin together.
    let growth = settings.solver == Solver::Growth;
    let copies: Vec<bool> = (0..objects)
        .map(|i| growth && evidence.is_copy_of_previous(i))
        .collect();
    for restart in 1..=u64::from(settings.random(objects, false)) {
        go_on()?;
        let (name, seed) = (format!("dirichlet {restart}"), seed.child(restart));
        starts.push(Start::random_but_for_copies(name, &copies, clusters, seed));
    }
    starts.iter_mut().for_each(|start| level(evidence, start));
    Ok(starts)
}

/// Objects without partners learn nothing: they keep the uniform row.
pub(crate) fn level(evidence: &dyn Evidence, start: &mut Start) {
    let alone: Vec<usize> = (0..evidence.count())
        .filter(|&i| evidence.weight(i) == 0.0)
        .collect();
    if !alone.is_empty() {
        let mut rows = start.soft.rows().to_owned();
        let uniform = 1.0 / rows.ncols() as f64;
        alone.iter().for_each(|&i| rows.row_mut(i).fill(uniform));
        start.soft = SoftPartition::new(rows).expect("uniform rows are on the simplex");
    }
}

/// Soft versions of the base clusterings with the numbers of clusters nearest to K, a few of them. Where a base
/// clustering has more than K clusters the largest are kept; objects without a label in it have uniform rows.
pub fn base_starts(ensemble: &Ensemble, clusters: usize) -> impl Iterator<Item = Start> + '_ {
    base_labels(ensemble, clusters).map(|labels| labels.start())
}

/// A start as labels below K, or none where the row is uniform: a sixteenth of the memory.
#[derive(Clone, Debug)]
pub(crate) struct LabelStart {
    name: String,
    labels: Vec<Option<u32>>,
    clusters: usize,
}

impl LabelStart {
    pub(crate) fn start(&self) -> Start {
        let hard: Vec<u32> = self.labels.iter().map(|label| label.unwrap_or(0)).collect();
        let partition = Partition::new(hard, self.clusters).expect("labels are below K");
        let mut rows = Start::softened("", &partition, self.clusters)
            .soft
            .rows()
            .to_owned();
        for (i, _) in self
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| label.is_none())
        {
            rows.row_mut(i).fill(1.0 / self.clusters as f64);
        }
        Start::new(
            &self.name,
            SoftPartition::new(rows).expect("rows are soft or uniform"),
        )
    }

    /// The probability that objects `i` and `j` are together.
    pub(crate) fn together(&self) -> impl Fn(usize, usize) -> f64 + Sync + '_ {
        let others = (self.clusters.max(2) - 1) as f64;
        let rest = (1.0 - OWN) / others;
        let (one, two) = (
            OWN * OWN + others * rest * rest,
            2.0 * OWN * rest + (others - 1.0) * rest * rest,
        );
        let uniform = 1.0 / self.clusters as f64;
        move |i, j| match (self.labels[i], self.labels[j]) {
            _ if self.clusters == 1 => 1.0,
            (Some(i), Some(j)) => {
                if i == j {
                    one
                } else {
                    two
                }
            }
            _ => uniform,
        }
    }
}

/// The labels of [`base_starts`].
pub(crate) fn base_labels(
    ensemble: &Ensemble,
    clusters: usize,
) -> impl Iterator<Item = LabelStart> + '_ {
    let mut order: Vec<usize> = (0..ensemble.bases().len()).collect();
    order.sort_by_key(|&u| (ensemble.bases()[u].clusters().abs_diff(clusters), u));
    order.into_iter().take(CANDIDATES).map(move |u| {
        let base = &ensemble.bases()[u];
        let mut sizes = vec![0usize; base.clusters()];
        ensemble.column(u).flatten().for_each(|j| sizes[j] += 1);
        let mut largest: Vec<usize> = (0..sizes.len()).collect();
        largest.sort_by_key(|&j| (std::cmp::Reverse(sizes[j]), j));
        let mut rank = vec![0; sizes.len()];
        largest.iter().enumerate().for_each(|(at, &j)| rank[j] = at);
        let label = |j: Option<usize>| {
            j.map(|j| rank[j] as u32)
                .filter(|&k| (k as usize) < clusters)
        };
        LabelStart {
            name: format!("base {}", base.name()),
            labels: ensemble.column(u).map(label).collect(),
            clusters,
        }
    })
}

/// k-means on label rows: a consensus that is cheap at any size.
pub(crate) fn label_kmeans(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
) -> LabelStart {
    let partition = quick_partition(source, clusters, seed.child(LABEL_KMEANS));
    let labels = partition
        .labels()
        .iter()
        .map(|&label| Some(label))
        .collect();
    LabelStart {
        name: "k-means on labels".to_owned(),
        labels,
        clusters,
    }
}

/// The child of the seed that starts k-means on labels; random starts have small numbers.
const LABEL_KMEANS: u64 = u64::MAX - 1;

struct Dot<'a>(&'a [f64], &'a [f64]);

impl Kernel for Dot<'_> {
    type Output = f64;

    #[expect(
        clippy::inline_always,
        reason = "compiled for wider vectors only by inlining"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        dots(simd, self.0, [self.1])[0]
    }
}

/// Rows of evidence `c_i·/N_i·`, 1 on the diagonal, and their squared distances. An object of weight w is w rows and
/// w places of every row. Once the monitor asks to stop, all distances are 0.
struct EvidenceRows<'a>(&'a dyn Evidence, &'a dyn Monitor);

impl EvidenceRows<'_> {
    fn shares(&self, i: usize, table: &Memberships, near: &mut LocalPairs) -> Vec<f64> {
        let (_, counts) = self.0.pairs_of(i, table, near);
        let share = |(c, n): (&f64, &f64)| if *n > 0.0 { c / n } else { 0.0 };
        let mut row: Vec<f64> = counts.c.iter().zip(&counts.n).map(share).collect();
        row[i] = 1.0;
        row
    }
}

impl Points for EvidenceRows<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn weight(&self, point: usize) -> f64 {
        self.0.multiplicities().map_or(1.0, |times| times[point])
    }

    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
        let (table, mut near) = (
            Memberships::zeros(self.count(), 1, self.0.layout()),
            LocalPairs::new(1),
        );
        let mut from = |&centre: &usize| {
            let middle = self.shares(centre, &table, &mut near);
            let distance = |i: usize| {
                if self.1.flow() == Flow::Stop {
                    return 0.0;
                }
                let row = self.shares(i, &table, &mut near);
                let away: Vec<f64> = row.iter().zip(&middle).map(|(a, b)| a - b).collect();
                let Some(times) = self.0.multiplicities() else {
                    return dispatch(Dot(&away, &away));
                };
                let counted = away
                    .iter()
                    .enumerate()
                    .map(|(j, away)| away * times.get(j).unwrap_or(&1.0));
                let counted: Vec<f64> = counted.collect();
                dispatch(Dot(&away, &counted))
            };
            (0..self.count()).map(distance).collect()
        };
        centres.iter().map(&mut from).collect()
    }

    fn first(&self, rng: &mut impl Rng) -> Option<usize> {
        match self.0.multiplicities() {
            None => Some(rng.random_range(0..self.count())),
            Some(times) => pick(times, rng.random::<f64>() * times.iter().sum::<f64>()),
        }
    }

    fn when_covered(&self, rng: &mut impl Rng) -> Option<usize> {
        // The number that would have chosen by distance is drawn in any case.
        let _: f64 = rng.random();
        Some(rng.random_range(0..self.count()))
    }
}

/// Objects chosen by k-means++ on rows of evidence, and every object with its nearest.
fn nearest_of_plus_plus(
    evidence: &dyn Evidence,
    clusters: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Partition {
    let points = EvidenceRows(evidence, monitor);
    let mut field = Field::new(&points);
    let chosen = plus_plus(&mut field, clusters, 1, &mut seed.rng());
    chosen.last().iter().for_each(|&&last| field.add(last));
    Partition::new(field.into_nearest(), clusters).expect("labels count the clusters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_how_probable_it_is_to_be_together() {
        for clusters in 1..5u32 {
            let labels = (0..9)
                .map(|i| (i % 4 > 0).then_some(i % clusters))
                .collect();
            let labels = LabelStart {
                name: String::new(),
                labels,
                clusters: clusters as usize,
            };
            let (start, together) = (labels.start(), labels.together());
            let rows = start.soft.rows();
            for (i, j) in (0..9).flat_map(|i| (0..9).map(move |j| (i, j))) {
                assert!(
                    (together(i, j) - rows.row(i).dot(&rows.row(j))).abs() < 1e-12,
                    "{clusters}: {i} {j}"
                );
            }
        }
    }
}
