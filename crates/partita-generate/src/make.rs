//! Base clusterings made: those that share work together, the others one by one.

use partita_core::ndarray::ArrayView2;
use rayon::prelude::*;

use crate::found::Found;
use crate::kmeans::{Job, KMeansSettings, Rows, Start, in_groups, many, minibatch};
use crate::plan::{Plan, Sight};
use crate::progress::Progress;
use crate::spectral::spectral;
use crate::splits::splits;
use crate::tree::{linkage, trees};
use crate::{BaseKind, GenerateError, Recipe, Scale, scale};

/// What every base clusterer is given.
pub(crate) struct Maker<'a> {
    pub(crate) sight: &'a Sight<'a>,
    pub(crate) progress: &'a Progress<'a>,
    /// Is told of each base clustering when it is finished.
    keep: &'a (dyn Fn(&Plan, &Found) + Sync),
}

/// Makes the base clusterings of these plans; none for those that were not finished when the watch said stop.
pub(crate) fn make(
    values: ArrayView2<'_, f64>,
    recipe: &Recipe,
    plans: &[Plan],
    progress: &Progress<'_>,
    keep: &(dyn Fn(&Plan, &Found) + Sync),
) -> Result<Vec<Option<Found>>, GenerateError> {
    let _span = tracing::info_span!("generate", runs = plans.len(), rows = values.nrows()).entered();
    let scaled = (recipe.scale != Scale::None).then(|| scale(values, recipe.scale));
    let values = scaled.as_ref().map_or(values, |scaled| scaled.view());
    let sight = Sight { values, recipe };
    plans.iter().try_for_each(|plan| sight.check(plan))?;
    let maker = Maker { sight: &sight, progress, keep };
    // The second member says which plans read one shared table of single precision.
    let alone = recipe.alters_columns() || recipe.replacement;
    let shared = |plan: &Plan| if alone { None } else { start(plan.kind).map(|(_, cosine)| cosine) };
    let mut found: Vec<(usize, Option<Found>)> = Vec::with_capacity(plans.len());
    for cosine in [false, true] {
        let chosen: Vec<&Plan> = plans.iter().filter(|plan| shared(plan) == Some(cosine)).collect();
        if !chosen.is_empty() && !progress.stopped() {
            let rows = Rows::new(values, None, cosine);
            found.extend(chosen.iter().map(|plan| plan.run).zip(maker.together(&rows, &chosen)));
        }
    }
    let rest: Vec<Plan> = plans.iter().filter(|plan| shared(plan).is_none()).copied().collect();
    let groups: Vec<&[Plan]> = rest.chunk_by(|a, b| (a.kind, a.sample) == (b.kind, b.sample)).collect();
    let alone: Vec<Vec<Option<Found>>> =
        groups.par_iter().map(|plans| maker.alone(plans)).collect::<Result<_, GenerateError>>()?;
    found.extend(rest.iter().map(|plan| plan.run).zip(alone.into_iter().flatten()));
    found.sort_unstable_by_key(|(run, _)| *run);
    let mut found = found.into_iter().peekable();
    Ok(plans.iter().map(|plan| found.next_if(|(run, _)| *run == plan.run).and_then(|(_, found)| found)).collect())
}

/// Where a k-means base clusterer starts, and whether it looks at angles.
fn start(kind: BaseKind) -> Option<(Start, bool)> {
    match kind {
        BaseKind::KMeans => Some((Start::PlusPlus, false)),
        BaseKind::KMeansGreedy => Some((Start::Greedy, false)),
        BaseKind::KMeansRandom => Some((Start::Random, false)),
        BaseKind::KMeansCosine => Some((Start::PlusPlus, true)),
        _ => None,
    }
}

impl Maker<'_> {
    /// A base clustering is finished.
    pub(crate) fn kept(&self, plan: &Plan, found: Found) -> Found {
        (self.keep)(plan, &found);
        self.progress.finished();
        found
    }

    /// Many k-means runs over the same columns.
    fn together(&self, rows: &Rows, plans: &[&Plan]) -> Vec<Option<Found>> {
        let settings = KMeansSettings::default();
        let group = |plans: &[&Plan]| -> Vec<Option<Found>> {
            let mut found: Vec<Option<Found>> = plans.iter().map(|_| None).collect();
            if !self.progress.stopped() {
                let jobs: Vec<Job> = plans.iter().map(|plan| self.job(plan)).collect();
                many(rows, &jobs, &settings, self.progress, &mut |u, fit| {
                    found[u] = Some(self.kept(plans[u], fit.into()));
                });
            }
            found
        };
        in_groups(rows, plans, group)
    }

    fn job(&self, plan: &Plan) -> Job {
        let start = start(plan.kind).map_or(Start::PlusPlus, |(start, _)| start);
        Job { clusters: plan.k, start, seed: plan.seed, members: self.sight.members(plan), given: None }
    }

    /// The base clusterings of plans of one kind that see the same.
    fn alone(&self, plans: &[Plan]) -> Result<Vec<Option<Found>>, GenerateError> {
        if self.progress.stopped() {
            return Ok(plans.iter().map(|_| None).collect());
        }
        if let Some(linkage) = linkage(plans[0].kind) {
            return trees(plans, linkage, self);
        }
        if plans[0].kind == BaseKind::Spectral {
            return spectral(plans, self);
        }
        Ok(plans.iter().map(|plan| self.one(plan)).collect())
    }

    fn one(&self, plan: &Plan) -> Option<Found> {
        let often = self.sight.drawn(plan).1;
        let rows = |cosine: bool| Rows::new(self.sight.columns(plan).view(), often.as_deref(), cosine);
        let found = match plan.kind {
            BaseKind::Splits => splits(plan, self.sight, self.progress)?,
            BaseKind::KMeansBatch => {
                minibatch(&Rows::new(self.sight.columns(plan).view(), None, false), &self.job(plan), self.progress)?
                    .into()
            }
            kind => {
                let cosine = start(kind).is_some_and(|(_, cosine)| cosine);
                return self.together(&rows(cosine), &[plan]).into_iter().next().flatten();
            }
        };
        Some(self.kept(plan, found))
    }
}
