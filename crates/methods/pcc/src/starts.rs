//! Initializations: cuts of a tree, k-means++ on rows of evidence, base clusterings, Dirichlet draws.

use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    Ensemble, Flow, LabelStart, Monitor, Partition, Seed, SoftPartition, WeightedEnsemble,
};
use partita_kernels::{Kernel, Simd, dispatch, dots};
use partita_kmeans::labels::quick_partition;
use partita_kmeans::plus_plus::{DistanceField, Field, Points, pick, plus_plus};
use partita_linkage::{Linkage, cut, link_f32, link_weighted_f32};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use crate::error::PccError;
use crate::evidence::Evidence;
use crate::memberships::Memberships;
use crate::pair_counts::LocalPairs;
use crate::settings::{PccSettings, Solver};

/// The most objects for which a tree is grown to start from.
pub(crate) const TREE: usize = 5000;

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

    /// A hard partition made soft, since hard starts are infinitely bad for KL: see [`LabelStart::soft`].
    ///
    /// # Panics
    /// If a label is not below `clusters`.
    pub fn softened(name: impl Into<String>, partition: &Partition, clusters: usize) -> Self {
        let labels = partition.labels().iter().map(|&label| Some(label));
        LabelStart::new(name, labels, clusters).into()
    }

    /// Probabilities drawn from Dirichlet(1): no object prefers any cluster, on average.
    pub fn random(name: impl Into<String>, objects: usize, clusters: usize, seed: Seed) -> Self {
        let mut rng = seed.rng();
        let mut rows = Array2::zeros((objects, clusters));
        for mut row in rows.outer_iter_mut() {
            row.mapv_inplace(|_| -> f64 { Exp1.sample(&mut rng) });
            let sum = row.sum();
            row.mapv_inplace(|y| y / sum);
        }
        let soft = SoftPartition::new(rows).expect("rows were divided by their sums");
        Self::new(name, soft)
    }
}

impl From<LabelStart> for Start {
    fn from(labels: LabelStart) -> Self {
        let soft = labels.soft();
        Self::new(labels.name, soft)
    }
}

/// The starts that evidence offers (a cut of the average-link tree up to 5000 objects, k-means++ on its rows), and
/// random ones: [`PccSettings::restarts`]; unset 12 up to 64 objects and 3 beyond. With [`Solver::Growth`] copies of an object begin with the
/// same probabilities.
///
/// # Errors
/// [`PccError::Tree`] if the evidence makes no tree; [`PccError::Interrupted`] if the monitor asks to stop.
pub fn starts(
    evidence: &Evidence,
    clusters: usize,
    seed: Seed,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<Start>, PccError> {
    let objects = evidence.objects();
    let mut starts = Vec::new();
    if let Some(condensed) = (objects <= TREE).then(|| evidence.condensed()).flatten() {
        go_on(monitor)?;
        let tree = match evidence.multiplicities() {
            None => link_f32(condensed, objects, Linkage::Average)?,
            Some(times) => link_weighted_f32(condensed, times)?,
        };
        go_on(monitor)?;
        let tree = cut(&tree, clusters);
        starts.push(Start::softened("average-link", &tree, clusters));
        let nearest = nearest_of_plus_plus(evidence, clusters, seed.child(0), monitor);
        go_on(monitor)?;
        starts.push(Start::softened("k-means++ rows", &nearest, clusters));
    }
    // The growth transform takes iterations without end to bring copies of an object together: with it they begin together.
    let growth = settings.solver == Solver::Growth;
    let mut drawn: Vec<usize> = Vec::with_capacity(objects);
    for i in 0..objects {
        let copy = growth && evidence.is_copy_of_previous(i);
        let last = drawn.last().copied();
        drawn.push(last.map_or(0, |last| if copy { last } else { last + 1 }));
    }
    for restart in 1..=u64::from(settings.random(objects, false)) {
        go_on(monitor)?;
        let name = format!("dirichlet {restart}");
        let different = drawn.last().map_or(0, |last| last + 1);
        let mut start = Start::random(name, different, clusters, seed.child(restart));
        if different < objects {
            let rows = start.soft.rows().select(Axis(0), &drawn);
            start.soft = SoftPartition::new(rows).expect("rows of a soft partition");
        }
        starts.push(start);
    }
    starts.iter_mut().for_each(|start| level(evidence, start));
    Ok(starts)
}

fn go_on(monitor: &dyn Monitor) -> Result<(), PccError> {
    match monitor.flow() {
        Flow::Stop => Err(PccError::Interrupted),
        Flow::Continue => Ok(()),
    }
}

/// Objects without partners learn nothing: they keep the uniform row.
pub(crate) fn level(evidence: &Evidence, start: &mut Start) {
    let alone: Vec<usize> = (0..evidence.objects())
        .filter(|&i| evidence.weight(i) == 0.0)
        .collect();
    if !alone.is_empty() {
        let mut rows = start.soft.rows().to_owned();
        let uniform = 1.0 / rows.ncols() as f64;
        alone.iter().for_each(|&i| rows.row_mut(i).fill(uniform));
        start.soft = SoftPartition::new(rows).expect("uniform rows are on the simplex");
    }
}

/// Soft versions of the base clusterings: see [`LabelStart::of_bases`].
pub fn base_starts(ensemble: &Ensemble, clusters: usize) -> impl Iterator<Item = Start> + '_ {
    LabelStart::of_bases(ensemble, clusters).map(Start::from)
}

/// k-means on label rows: a consensus that is cheap at any size.
pub(crate) fn label_kmeans(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
) -> LabelStart {
    let partition = quick_partition(source, clusters, seed.child(LABEL_KMEANS));
    let labels = partition.labels().iter().map(|&label| Some(label));
    LabelStart::new("k-means on labels", labels, clusters)
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
struct EvidenceRows<'a> {
    evidence: &'a Evidence,
    monitor: &'a dyn Monitor,
}

impl EvidenceRows<'_> {
    fn shares(&self, i: usize, table: &Memberships, near: &mut LocalPairs) -> Vec<f64> {
        let (_, counts) = self.evidence.pairs_of(i, table, near);
        let mut row = counts.shares();
        row[i] = 1.0;
        row
    }

    fn distances_from(&self, centre: usize) -> Vec<f64> {
        let evidence = self.evidence;
        let table = Memberships::zeros(evidence.objects(), 1, evidence.layout());
        let mut near = LocalPairs::new(1);
        let middle = self.shares(centre, &table, &mut near);
        let mut distances = vec![0.0; evidence.objects()];
        for (i, distance) in distances.iter_mut().enumerate() {
            if self.monitor.flow() == Flow::Stop {
                continue;
            }
            let row = self.shares(i, &table, &mut near);
            let away: Vec<f64> = row.iter().zip(&middle).map(|(a, b)| a - b).collect();
            *distance = match evidence.multiplicities() {
                None => dispatch(Dot(&away, &away)),
                Some(times) => {
                    let times = times.iter().chain(std::iter::repeat(&1.0));
                    let counted: Vec<f64> = away.iter().zip(times).map(|(a, w)| a * w).collect();
                    dispatch(Dot(&away, &counted))
                }
            };
        }
        distances
    }
}

impl Points for EvidenceRows<'_> {
    fn count(&self) -> usize {
        self.evidence.objects()
    }

    fn weight(&self, point: usize) -> f64 {
        self.evidence.times(point)
    }

    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
        let distances = centres.iter().map(|&centre| self.distances_from(centre));
        distances.collect()
    }

    fn first(&self, rng: &mut impl Rng) -> Option<usize> {
        match self.evidence.multiplicities() {
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
    evidence: &Evidence,
    clusters: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Partition {
    let points = EvidenceRows { evidence, monitor };
    let mut field = Field::new(&points);
    let chosen = plus_plus(&mut field, clusters, 1, &mut seed.rng());
    if let Some(&last) = chosen.last() {
        field.add(last);
    }
    Partition::new(field.into_nearest(), clusters).expect("labels count the clusters")
}
