//! One way to make base clusterings of a table that is looked at, and what its consensus says of some numbers of clusters.

use partita::graph::{LWGP, LwgpSettings, lwgp_each};
use partita_core::ndarray::ArrayView2;
use partita_core::{
    Clusters, Ensemble, MemoryBudget, Method, Monitor, Partition, ProblemSize, ProgressCounter,
    Seed,
};
use partita_generate::{BaseK, BaseKind, BaseSpec, Recipe, Scale, TableView, generate};
use partita_significance::{GapTestSettings, SignificanceError, gap_test};

use super::{AutoCandidate, Criteria, LAST, Look};
use crate::SelectError;
use crate::split_half::{Stability, halves_at_once, split_half};

/// Random splits of an ensemble into halves.
const SPLITS: u32 = 3;

/// Numbers of clusters up to this one are tested for gaps: what is apart shows in few clusters.
const TESTED: usize = 8;

/// Units of progress of a phase.
const PHASE: u64 = 1000;

/// What is added to both sides of the ratio of two gaps: a cut this small passes for none.
const CUT: f64 = 1e-3;

/// Objects beyond which k-means learns from batches, and has fewer clusters.
const MANY_OBJECTS: usize = 100_000;

/// Base clusterings that are compared.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    KMeans,
    Genie,
}

impl Kind {
    fn recipe(self, objects: usize, clusters: usize, scale: Scale) -> Recipe {
        match self {
            Self::KMeans => kmeans(objects, scale),
            Self::Genie => genie(objects, clusters, scale),
        }
    }
}

/// The usual recipe; fewer clusters and batches where there are many objects.
fn kmeans(objects: usize, scale: Scale) -> Recipe {
    let mut recipe = Recipe::default();
    recipe.scale = scale;
    if objects > MANY_OBJECTS {
        recipe.base = vec![BaseSpec::new(BaseKind::KMeansBatch, 30)];
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
    recipe.base = vec![BaseSpec::new(BaseKind::Genie, 40)];
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

/// One way to make base clusterings for some numbers of clusters.
pub(super) struct Trial<'a> {
    pub(super) look: &'a Look<'a>,
    pub(super) kind: Kind,
    pub(super) clusters: &'a [usize],
    /// Whether the number of clusters is open.
    pub(super) open: bool,
    pub(super) seed: Seed,
}

impl Trial<'_> {
    /// The largest number of clusters.
    fn most(&self) -> usize {
        self.clusters.last().copied().unwrap_or(1)
    }

    /// Settings of the cut, of which one start is enough.
    fn cut() -> LwgpSettings {
        let mut settings = LwgpSettings::default();
        settings.restarts = 1;
        settings
    }

    pub(super) fn ensemble(&self, monitor: &dyn Monitor) -> Result<Ensemble, SelectError> {
        let look = self.look;
        let table = match look.gaps {
            [] => look.values.view().into(),
            gaps => TableView::Gaps(look.values.view(), gaps),
        };
        let recipe = self
            .kind
            .recipe(look.values.nrows(), self.most(), Scale::None);
        let made = generate(table, &recipe, self.seed.child(0), look.budget, monitor)?;
        if made.finished < made.asked {
            return Err(SelectError::Interrupted);
        }
        Ok(made.ensemble)
    }

    /// What the cuts hold: that of all base clusterings, or those of halves, which are cut side by side.
    pub(super) fn bytes(&self, ensemble: &Ensemble) -> u64 {
        let size = ProblemSize::of(ensemble, Clusters::Exactly(self.most() + 1));
        let whole = Method::bytes(&LWGP, &size, &Self::cut());
        let Some(&clusters) = self.stability_of().last() else {
            return whole;
        };
        let half = ProblemSize {
            base_clusterings: size.base_clusterings.div_ceil(2),
            base_clusters: size.base_clusters.div_ceil(2),
            clusters,
            ..size
        };
        let half = Method::bytes(&LWGP, &half, &LwgpSettings::default());
        whole.max(half.saturating_mul(halves_at_once(SPLITS)))
    }

    pub(super) fn run(
        &self,
        ensemble: &Ensemble,
        criteria: &Criteria<'_>,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<AutoCandidate, SelectError> {
        let (look, clusters, most) = (self.look, self.clusters, self.most());
        let progress = ProgressCounter::new(monitor, 3 * PHASE);
        let stability = split_half(
            ensemble,
            self.stability_of(),
            SPLITS,
            self.seed.child(1),
            budget,
            &progress.part(PHASE),
        )?;
        // One eigenvalue more than clusters tells the last cut.
        let asked: Vec<usize> = clusters.iter().copied().chain([most + 1]).collect();
        let cuts = lwgp_each(
            ensemble,
            &asked,
            self.seed.child(2),
            &Self::cut(),
            budget,
            &progress.part(PHASE),
        )?;
        let eigenvalues = cuts.last().map_or(&[][..], |cut| &cut.details.eigenvalues);
        let mut rows = Vec::with_capacity(clusters.len());
        for (at, &clusters) in clusters.iter().enumerate() {
            let mut row = criteria.row(clusters, &cuts[at].partition)?;
            row.cut = next_cut(eigenvalues, clusters);
            row.stability = stability.get(at).map(Stability::of_clusters);
            if self.open && clusters <= TESTED {
                let spread = criteria.spread.view();
                let part = progress.part(PHASE / TESTED as u64);
                row.p = self.p_value(spread, &cuts[at].partition, &part)?;
            }
            rows.push(row);
        }
        Ok(AutoCandidate {
            recipe: self.kind.recipe(look.of, most, look.how),
            rows,
        })
    }

    /// The numbers whose stability counts: a given one, and few clusters of k-means.
    fn stability_of(&self) -> &[usize] {
        match (self.open, self.kind) {
            (false, _) => self.clusters,
            (true, Kind::KMeans) => {
                &self.clusters[..self
                    .clusters
                    .partition_point(|&clusters| clusters <= LAST[0])]
            }
            (true, Kind::Genie) => &[],
        }
    }

    /// The smallest p-value of neighbours that the gap test leaves apart, else that of its last merge; none where clusters are too small.
    fn p_value(
        &self,
        values: ArrayView2<'_, f64>,
        partition: &Partition,
        monitor: &dyn Monitor,
    ) -> Result<Option<f64>, SelectError> {
        let labels: Vec<Option<u32>> = partition.labels().iter().copied().map(Some).collect();
        let settings = GapTestSettings::default();
        let found = match gap_test(
            values,
            &labels,
            self.seed.child(3),
            &settings,
            self.look.budget,
            monitor,
        ) {
            Ok(found) => found,
            Err(SignificanceError::Interrupted) => return Err(SelectError::Interrupted),
            Err(_) => return Ok(None),
        };
        let splits = found.splits.iter().map(|split| split.test.p);
        Ok(splits
            .reduce(f64::min)
            .or_else(|| found.nodes.last().map(|node| node.p)))
    }
}

/// Logarithm of the ratio of the next eigenvalue's distance to 1 to that of eigenvalue K; 0 where there is no next.
fn next_cut(eigenvalues: &[f64], clusters: usize) -> f64 {
    match eigenvalues.get(clusters - 1..=clusters) {
        Some(pair) => {
            let last = (1.0 - pair[0]).max(0.0) + CUT;
            let next = (1.0 - pair[1]).max(0.0) + CUT;
            (next / last).ln()
        }
        None => 0.0,
    }
}
