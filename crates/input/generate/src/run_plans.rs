//! Runs of the base clusterers: plans that share work together, the others one by one.

use partita_core::MemoryBudget;
use partita_core::ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use sprs::CsMatView;

use crate::base_run::BaseRun;
use crate::error::Result;
use crate::genie::genies;
use crate::leiden::{self, leidens};
use crate::pam::pam;
use crate::plan::{Plan, TableSample, check_drawn, drawn};
use crate::run_context::{RunContext, Sink};
use crate::spectral::{is_spectral, spectral};
use crate::splits::splits;
use crate::tree::{linkage, trees};
use crate::uspec::uspec;
use crate::{
    BaseKind, BaseSpec, GenerateError, HotDeck, Recipe, Scale, TableView, scale, scale_by_evidence,
};
use partita_kmeans::{
    DenseRows, Fit, Initialization, KMeansSettings, Members, RunSpec, SparseRows, UNLABELLED,
    lloyd, lloyd_sparse, minibatch, move_single_rows,
};

/// Makes the base clusterings of these plans; none for those that were not finished when the monitor said stop.
pub(crate) fn run_plans(
    table: TableView<'_>,
    recipe: &Recipe,
    plans: &[Plan],
    budget: MemoryBudget,
    sink: Sink<'_>,
) -> Result<Vec<Option<BaseRun>>> {
    let n = table.dim().0;
    let _span = tracing::info_span!("generate", runs = plans.len(), rows = n).entered();
    plans
        .iter()
        .try_for_each(|plan| check_drawn(recipe, n, plan))?;
    let mut found: Numbered = Vec::new();
    let mut dense: Vec<&Plan> = plans.iter().collect();
    if let TableView::Sparse(values) = table
        && plain(recipe)
    {
        let sparse;
        (sparse, dense) = plans.iter().partition(|plan| start(plan.kind).is_some());
        found = sparsely(values, recipe, &sparse, sink)?;
    }
    if let TableView::Graph(graph) = table {
        let one = |plan: &Plan| Ok((plan.run, leiden::run(graph, recipe, plan, sink)?));
        found = plans.par_iter().map(one).collect::<Result<_>>()?;
    } else if let TableView::Groups(_) = table {
        let (by_blocks, shares) = of_uspec(&dense);
        found = in_shares(&table, recipe, &shares, budget, sink)?;
        found.extend(uspec(&table, recipe, &by_blocks, sink)?);
    } else if !dense.is_empty() {
        let values = table.dense()?;
        let distances = matches!(table, TableView::Distances(_));
        let how = if distances {
            Scale::None
        } else {
            scale_by_evidence(values.view(), recipe.scale)
        };
        let mut seen_as = |values: ArrayView2<'_, f64>, plans: &[&Plan]| -> Result<()> {
            let scaled = (how != Scale::None).then(|| scale(values, how));
            let values = scaled.as_ref().map_or(values, |scaled| scaled.view());
            let sight = &TableSample {
                values,
                recipe,
                distances,
            };
            found.extend(densely(&RunContext { sight, sink }, plans)?);
            Ok(())
        };
        if let TableView::Gaps(values, gaps) = table {
            let deck = HotDeck::new(values, gaps);
            dense.sort_by_key(|plan| plan.gaps.number());
            for plans in dense.chunk_by(|one, other| one.gaps == other.gaps) {
                seen_as(deck.draw(plans[0].gaps).view(), plans)?;
            }
        } else {
            seen_as(values.view(), &dense)?;
        }
    }
    found.sort_unstable_by_key(|(run, _)| *run);
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// Plans of the base clusterer that reads every table by blocks, and the others.
fn of_uspec<'a>(plans: &[&'a Plan]) -> (Vec<&'a Plan>, Vec<&'a Plan>) {
    plans
        .iter()
        .copied()
        .partition(|plan| plan.kind == BaseKind::Uspec)
}

/// Base clusterings by number.
type Numbered = Vec<(usize, Option<BaseRun>)>;

/// Whether base clusterings see the columns as they are, and every object once.
fn plain(recipe: &Recipe) -> bool {
    matches!(recipe.scale, Scale::None | Scale::Auto)
        && !recipe.alters_columns()
        && !recipe.replacement
}

/// Whether a sparse table is never made dense.
pub(crate) fn stays_sparse(recipe: &Recipe) -> bool {
    plain(recipe) && recipe.base.iter().all(|spec| start(spec.kind).is_some())
}

/// k-means on the entries of a sparse table.
fn sparsely(
    values: CsMatView<'_, f64>,
    recipe: &Recipe,
    plans: &[&Plan],
    sink: Sink<'_>,
) -> Result<Numbered> {
    let mut found = Vec::with_capacity(plans.len());
    for cosine in [false, true] {
        let chosen: Vec<&Plan> = plans
            .iter()
            .copied()
            .filter(|plan| start(plan.kind).is_some_and(|(_, by)| by == cosine))
            .collect();
        if chosen.is_empty() {
            continue;
        }
        let settings = KMeansSettings::default();
        let rows = SparseRows::new(values, None, cosine)?;
        let one = |plan: &&Plan| {
            let members = drawn(recipe, values.rows(), plan).0;
            let fit = if sink.progress.stopped() {
                None
            } else {
                lloyd_sparse(&rows, &job(plan, members), &settings, sink.progress)
            };
            (plan.run, fit.map(|fit| sink.kept(plan, fit.into())))
        };
        found.par_extend(chosen.par_iter().map(one));
    }
    Ok(found)
}

/// Refuses a recipe that needs columns where there are distances.
fn check_columns(recipe: &Recipe) -> Result<()> {
    let needs = |what: &str| {
        let known = BaseKind::ALL
            .into_iter()
            .filter(|kind| kind.reads_distances());
        let known: Vec<&str> = known.map(BaseKind::name).collect();
        Err(GenerateError::NeedsColumns {
            what: what.to_owned(),
            known: known.join(", "),
        })
    };
    if let Some(spec) = recipe.base.iter().find(|spec| !spec.kind.reads_distances()) {
        return needs(spec.kind.name());
    }
    if recipe.alters_columns() {
        return needs("a projection or a share of the columns");
    }
    if !matches!(recipe.scale, Scale::None | Scale::Auto) {
        return needs("scaling");
    }
    Ok(())
}

/// Refuses a recipe that needs more than a graph.
fn check_graph(recipe: &Recipe) -> Result<()> {
    let other = recipe
        .base
        .iter()
        .find(|spec| spec.kind != BaseKind::Leiden);
    let what = match other {
        Some(spec) => spec.kind.name(),
        None if recipe.alters_columns() => "a projection or a share of the columns",
        None if !matches!(recipe.scale, Scale::None | Scale::Auto) => "scaling",
        None => return Ok(()),
    };
    Err(GenerateError::OfGraph { what: what.into() })
}

/// Refuses a recipe that needs all of a table that is read in groups, or columns where there are distances.
pub(crate) fn check_groups(table: &TableView<'_>, recipe: &Recipe) -> Result<()> {
    if let TableView::Distances(_) = table {
        return check_columns(recipe);
    }
    if let TableView::Graph(_) = table {
        return check_graph(recipe);
    }
    let TableView::Groups(_) = table else {
        return Ok(());
    };
    let by_rows = |kind: BaseKind| {
        start(kind).is_some() || matches!(kind, BaseKind::KMeansBatch | BaseKind::Uspec)
    };
    let whole = |spec: &&BaseSpec| !by_rows(spec.kind);
    match recipe.base.iter().find(whole) {
        Some(spec) => Err(GenerateError::NeedsWhole {
            kind: spec.kind.name(),
        }),
        None if !plain(recipe) => Err(GenerateError::NeedsWhole {
            kind: "this recipe",
        }),
        None => Ok(()),
    }
}

/// k-means on shares of a table that does not fit: as many shares as do are gathered in one pass over its groups.
fn in_shares(
    table: &TableView<'_>,
    recipe: &Recipe,
    plans: &[&Plan],
    budget: MemoryBudget,
    sink: Sink<'_>,
) -> Result<Numbered> {
    let (n, d) = table.dim();
    let rows = recipe.rows(n);
    // A share in double and in single precision, once by rows and once in panels; a third is left for the rest.
    let fits = (budget.bytes() / 3 * 2) / (20 * rows * d).max(1) as u64;
    let mut found = Vec::with_capacity(plans.len());
    for plans in plans.chunks(fits.clamp(1, 64) as usize) {
        if sink.progress.stopped() {
            found.extend(plans.iter().map(|plan| (plan.run, None)));
            continue;
        }
        let members: Vec<Members> = plans.iter().map(|plan| drawn(recipe, n, plan).0).collect();
        let shares = table.gather(&members)?;
        let one = |((plan, members), share): ((&&Plan, &Members), Array2<f64>)| {
            let cosine = start(plan.kind).is_some_and(|(_, cosine)| cosine);
            let rows = DenseRows::new(share.view(), None, cosine);
            drop(share);
            let job = job(plan, Members::all(members.count()));
            let mut fit = None;
            if plan.kind == BaseKind::KMeansBatch {
                fit = minibatch(&rows, &job, sink.progress);
            } else {
                let jobs = [job];
                let settings = KMeansSettings::default();
                lloyd(&rows, &jobs, &settings, sink.progress, &mut |_, made| {
                    fit = Some(made);
                });
            }
            let made = fit.map(|fit| {
                let mut made = BaseRun::from(fit);
                let mut labels = vec![UNLABELLED; n];
                members
                    .iter()
                    .zip(&made.labels)
                    .for_each(|(object, &label)| labels[object] = label);
                made.labels = labels;
                sink.kept(plan, made)
            });
            (plan.run, made)
        };
        let together: Vec<_> = plans.iter().zip(&members).zip(shares).collect();
        found.par_extend(together.into_par_iter().map(one));
    }
    Ok(found)
}

/// Everything on a table in which every number is there.
fn densely(context: &RunContext<'_>, plans: &[&Plan]) -> Result<Numbered> {
    let recipe = context.sight.recipe;
    let alone = recipe.alters_columns() || recipe.replacement;
    let shared = |plan: &Plan| {
        if alone {
            None
        } else {
            start(plan.kind).map(|(_, cosine)| cosine)
        }
    };
    let mut found: Numbered = Vec::with_capacity(plans.len());
    for cosine in [false, true] {
        let chosen: Vec<&Plan> = plans
            .iter()
            .copied()
            .filter(|plan| shared(plan) == Some(cosine))
            .collect();
        if !chosen.is_empty() && !context.sink.progress.stopped() {
            let rows = DenseRows::new(context.sight.values, None, cosine);
            found.extend(
                chosen
                    .iter()
                    .map(|plan| plan.run)
                    .zip(context.together(&rows, &chosen)),
            );
        }
    }
    let (by_blocks, rest) = of_uspec(plans);
    if recipe.alters_columns() {
        for plan in by_blocks {
            let columns = context.sight.columns(plan);
            found.extend(uspec(
                &columns.view().into(),
                recipe,
                &[plan],
                context.sink,
            )?);
        }
    } else {
        let table = context.sight.values.into();
        found.extend(uspec(&table, recipe, &by_blocks, context.sink)?);
    }
    let rest: Vec<Plan> = rest
        .into_iter()
        .filter(|plan| shared(plan).is_none())
        .copied()
        .collect();
    let groups: Vec<&[Plan]> = rest
        .chunk_by(|a, b| {
            // Of the columns as they are one graph serves every sample.
            let one_graph = a.kind.by_resolution() && leiden::shares_graph(recipe);
            a.kind == b.kind && (one_graph || a.sample == b.sample)
        })
        .collect();
    let made: Vec<Vec<Option<BaseRun>>> = groups
        .par_iter()
        .map(|plans| context.alone(plans))
        .collect::<Result<_>>()?;
    found.extend(
        rest.iter()
            .map(|plan| plan.run)
            .zip(made.into_iter().flatten()),
    );
    Ok(found)
}

/// Where a k-means base clusterer starts, and whether it looks at angles.
fn start(kind: BaseKind) -> Option<(Initialization, bool)> {
    match kind {
        BaseKind::KMeans => Some((Initialization::PlusPlus, false)),
        BaseKind::KMeansGreedy => Some((Initialization::Greedy, false)),
        BaseKind::KMeansRandom => Some((Initialization::Random, false)),
        BaseKind::KMeansCosine => Some((Initialization::PlusPlus, true)),
        _ => None,
    }
}

fn job(plan: &Plan, members: Members) -> RunSpec {
    let initialization = start(plan.kind).map(|(initialization, _)| initialization);
    let usual = if plan.kind == BaseKind::KMeansMoves {
        Initialization::Random
    } else {
        Initialization::PlusPlus
    };
    RunSpec {
        clusters: plan.k,
        initialization: initialization.unwrap_or(usual),
        seed: plan.seed,
        members,
        given: None,
    }
}

impl RunContext<'_> {
    /// Many k-means runs over the same columns.
    fn together(&self, rows: &DenseRows, plans: &[&Plan]) -> Vec<Option<BaseRun>> {
        let settings = KMeansSettings::default();
        let group = |plans: &[&Plan]| -> Vec<Option<BaseRun>> {
            let mut found: Vec<Option<BaseRun>> = plans.iter().map(|_| None).collect();
            if !self.sink.progress.stopped() {
                let jobs: Vec<RunSpec> = plans.iter().map(|plan| self.job(plan)).collect();
                lloyd(rows, &jobs, &settings, self.sink.progress, &mut |u, fit| {
                    found[u] = Some(self.sink.kept(plans[u], fit.into()));
                });
            }
            found
        };
        rows.in_groups(plans, group)
    }

    fn job(&self, plan: &Plan) -> RunSpec {
        job(plan, self.sight.members(plan))
    }

    /// The base clusterings of plans of one kind that see the same.
    fn alone(&self, plans: &[Plan]) -> Result<Vec<Option<BaseRun>>> {
        if self.sink.progress.stopped() {
            return Ok(vec![None; plans.len()]);
        }
        if let Some(linkage) = linkage(plans[0].kind) {
            return trees(plans, linkage, self);
        }
        if plans[0].kind == BaseKind::Pam {
            return Ok(pam(plans, self));
        }
        if plans[0].kind.by_resolution() {
            return leidens(plans, self);
        }
        if plans[0].kind == BaseKind::Genie {
            return genies(plans, self);
        }
        if is_spectral(plans[0].kind) {
            return spectral(plans, self);
        }
        Ok(plans.iter().map(|plan| self.one(plan)).collect())
    }

    /// k-means that is ended by moves of single rows.
    fn moved(&self, plan: &Plan, often: Option<&[f64]>) -> Option<BaseRun> {
        let columns = self.sight.columns(plan);
        let rows = DenseRows::new(columns.view(), often, false);
        let (jobs, settings) = ([self.job(plan)], KMeansSettings::default());
        let mut fit = None;
        let progress = self.sink.progress;
        lloyd(&rows, &jobs, &settings, progress, &mut |_, made| {
            fit = Some(made);
        });
        let mut fit = fit?;
        let Fit {
            labels, clusters, ..
        } = &mut fit;
        let (inertia, passes) =
            move_single_rows(columns.view(), often, labels, *clusters, progress)?;
        fit.inertia = inertia;
        fit.iterations += passes;
        Some(fit.into())
    }

    fn one(&self, plan: &Plan) -> Option<BaseRun> {
        let often = drawn(self.sight.recipe, self.sight.values.nrows(), plan).1;
        let rows = |cosine: bool| {
            DenseRows::new(self.sight.columns(plan).view(), often.as_deref(), cosine)
        };
        let found = match plan.kind {
            BaseKind::Splits => splits(plan, self.sight, self.sink.progress)?,
            BaseKind::KMeansBatch => minibatch(
                &DenseRows::new(self.sight.columns(plan).view(), None, false),
                &self.job(plan),
                self.sink.progress,
            )?
            .into(),
            BaseKind::KMeansMoves => self.moved(plan, often.as_deref())?,
            kind => {
                let cosine = start(kind).is_some_and(|(_, cosine)| cosine);
                return self
                    .together(&rows(cosine), &[plan])
                    .into_iter()
                    .next()
                    .flatten();
            }
        };
        Some(self.sink.kept(plan, found))
    }
}
