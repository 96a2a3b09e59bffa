//! The number of clusters of a table: stability at every K, compared with tables without clusters.

use std::ops::RangeInclusive;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Clusters, Consensus, Ensemble, MemoryBudget, Monitor, Problem, ProgressCounter, Seed, consense,
};
use partita_generate::{BaseK, BaseSpec, Recipe, Scale, TableView, generate, scale};
use rayon::prelude::*;
use serde_json::json;
use tracing::info_span;

use crate::choice::{Choice, ChoiceRow, Criterion, Spread};
use crate::decision::{Draw, Measured, compare, decide, log};
use crate::null_model::Scores;
use crate::pair_histogram::{PairHistogram, draw};
use crate::{ChooseSettings, SelectError};

/// Chooses the number of clusters of a table (n objects × d finite numbers, dense, sparse or in groups of rows) by how
/// stable its clusterings are, compared with tables that have no clusters.
///
/// For every K of the range many base clusterings with K clusters are made, each of a share of the objects. Where K is a
/// number of clusters that the table has, they agree. How far they agree by chance alone depends on K and on the shape of
/// the table; therefore the same is done on tables without clusters ([`Null`](crate::Null)):
/// ```text
/// disagreement(K) = mean over pairs of 2 c (N − c) / (N (N − 1))
/// rcsi(K)         = log10 of the references' disagreement(K) over the table's, the least over the kinds of reference
/// p(K)            = chance of a disagreement, or a variance left inside clusters, as low as the table's (Student's t over
///                   the references' logarithms; twice the smaller of the two, the larger over the kinds of reference)
/// ```
/// There are clusters if the smallest p, times the numbers of clusters looked at, is at most `significance`. Then the K
/// with the highest rcsi is chosen, or the smallest that is not below it by more than the standard
/// error of the two disagreements, and a tenth.
///
/// When the monitor asks to stop, what is finished is handed back: without references the lowest PAC is chosen, and
/// [`Choice::interrupted`] says so.
///
/// # Errors
/// [`SelectError`] for a range that holds no number from 2 to the objects of a subsample, settings out of range, a table
/// with equal rows only or numbers that are not finite, a budget that is too small, or a stop before any K was finished.
///
/// # Cost
/// `runs` + `draws` · `draw_runs` · kinds of reference k-means runs for every K, on at most `objects` objects and the
/// principal components that hold `variance`; a consensus for every K. Memory: 16·n·d bytes, n²/2 at most 2·`pairs`, and
/// what the consensus method needs.
///
/// # Differences from the papers
/// M3C (John and others 2020) compares PAC with Gaussian references. Here disagreement takes its place, which can be
/// compared between different numbers of runs; and a box along the principal axes is a second reference, because
/// rectangles with even density are cut in stable ways (a square into four). The p value covers all K, and also looks at
/// the variance inside clusters (as the gap statistic of Tibshirani and others 2001 does): two long clusters in a row
/// can be as stable under a cut as one.
///
/// # References
/// S. Monti and others: Consensus clustering, Machine Learning 52, 2003. Y. Șenbabaoğlu and others: Critical limitations
/// of consensus clustering in class discovery, Scientific Reports 4, 2014. C. John and others: M3C, Monte Carlo
/// reference-based consensus clustering, Scientific Reports 10, 2020. A. Ben-Hur and others: A stability based method for
/// discovering structure in clustered data, PSB 2002.
pub fn choose_clusters<'a>(
    table: impl Into<TableView<'a>>,
    range: RangeInclusive<usize>,
    seed: Seed,
    settings: &ChooseSettings,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Choice, SelectError> {
    settings.refuse()?;
    let (table, objects) = looked_at(&table.into(), settings, seed.child(0))?;
    let (range, warnings) = numbers(&range, table.nrows(), settings.subsample)?;
    let scores = Scores::of(table.view(), settings.variance)?;
    let look = Look::new(&scores, range, seed, settings, budget, monitor)?;
    let mut rows = look.rows()?;
    let draws = if look.progress.stopped() {
        Vec::new()
    } else {
        look.draws()?
    };
    compare(&mut rows, &draws);
    let decision = decide(&rows, settings.significance);
    Ok(Choice {
        clusters: decision.clusters,
        reason: decision.reason,
        criterion: Criterion::Rcsi,
        rows,
        objects,
        interrupted: look.progress.stopped(),
        warnings: warnings.into_iter().chain(decision.warnings).collect(),
        settings: json!(settings),
        seed: seed.number(),
    })
}

/// The rows looked at with scaled columns, and which they are where they are a sample.
fn looked_at(
    table: &TableView<'_>,
    settings: &ChooseSettings,
    seed: Seed,
) -> Result<(Array2<f64>, Option<Vec<u32>>), SelectError> {
    let (n, how): (usize, Scale) = (table.dim().0, settings.scale.parse()?);
    let objects = (n > settings.objects).then(|| draw(n, settings.objects, seed));
    let rows: Vec<usize> = objects.as_ref().map_or_else(
        || (0..n).collect(),
        |drawn| drawn.iter().map(|&object| object as usize).collect(),
    );
    let values = table.select(&rows)?;
    if let Some(((row, column), value)) =
        values.indexed_iter().find(|(_, value)| !value.is_finite())
    {
        return Err(SelectError::Table(format!(
            "object {} has {value} in column {column}",
            rows[row]
        )));
    }
    let in_memory = matches!(table, TableView::Dense(_));
    let stays = how == Scale::None || (how == Scale::Auto && !in_memory);
    let values = if stays {
        values
    } else {
        scale(values.view(), how)
    };
    Ok((values, objects))
}

/// The numbers of clusters of a range that a subsample has room for.
pub(crate) fn numbers(
    range: &RangeInclusive<usize>,
    objects: usize,
    subsample: f64,
) -> Result<(Vec<usize>, Option<String>), SelectError> {
    let most = ((subsample * objects as f64).round() as usize).saturating_sub(1);
    let (first, last) = (*range.start(), *range.end());
    let numbers: Vec<usize> = (first.max(2)..=last.min(most)).collect();
    if numbers.is_empty() {
        return Err(SelectError::Range {
            first,
            last,
            objects,
            most,
        });
    }
    let cut = (last > most)
        .then(|| format!("{objects} objects leave room for {most} clusters, not {last}"));
    Ok((numbers, cut))
}

/// Units of progress of a base clustering, and how many of those a consensus is worth.
const RUN: u64 = 100;
const CONSENSUS: usize = 20;

/// A table that is looked at.
struct Look<'a> {
    scores: &'a Scores,
    numbers: Vec<usize>,
    seed: Seed,
    settings: &'a ChooseSettings,
    budget: MemoryBudget,
    base: BaseSpec,
    draw_base: BaseSpec,
    consensus: &'static dyn Consensus,
    progress: ProgressCounter<'a>,
}

impl<'a> Look<'a> {
    fn new(
        scores: &'a Scores,
        numbers: Vec<usize>,
        seed: Seed,
        settings: &'a ChooseSettings,
        budget: MemoryBudget,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, SelectError> {
        let kind = settings.base.parse()?;
        let (runs, draw_runs) = (
            settings.runs.get() as usize,
            settings.draw_runs.get() as usize,
        );
        let all = runs + settings.nulls.len() * settings.draws as usize * draw_runs;
        let progress =
            ProgressCounter::new(monitor, (numbers.len() * (all + CONSENSUS)) as u64 * RUN);
        let (base, draw_base) = (BaseSpec::new(kind, runs), BaseSpec::new(kind, draw_runs));
        let consensus = partita::method(&settings.consensus)?;
        Ok(Self {
            scores,
            numbers,
            seed,
            settings,
            budget,
            base,
            draw_base,
            consensus,
            progress,
        })
    }

    /// A line for every K that is finished.
    fn rows(&self) -> Result<Vec<ChoiceRow>, SelectError> {
        let seed = self.seed.child(1);
        let one = |&clusters: &usize| match self.row(clusters, seed.child(clusters as u64)) {
            Ok(row) => Ok(Some(row)),
            Err(SelectError::Interrupted) => Ok(None),
            Err(error) => Err(error),
        };
        let rows: Vec<Option<ChoiceRow>> = info_span!("table")
            .in_scope(|| self.numbers.par_iter().map(one).collect::<Result<_, _>>())?;
        let mut rows: Vec<ChoiceRow> = rows.into_iter().flatten().collect();
        if rows.is_empty() {
            return Err(SelectError::Interrupted);
        }
        let mut before = None;
        for row in &mut rows {
            if let Some((before, area)) = before.zip(row.area) {
                row.delta_area = Some((area - before) / before);
            }
            before = row.area;
        }
        Ok(rows)
    }

    fn row(&self, clusters: usize, seed: Seed) -> Result<ChoiceRow, SelectError> {
        let values = self.scores.values.view();
        let (ensemble, dispersion) = self.ensemble(values, &self.base, clusters, seed.child(0))?;
        let histogram = self.histogram(&ensemble, seed.child(1))?;
        let mut row = ChoiceRow::of(clusters, &histogram);
        row.dispersion = dispersion;
        row.disagreement_error = self.error(&ensemble, seed.child(1))?;
        let mut problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
        problem.seed = seed.child(2);
        problem.budget = self.budget;
        let outcome = consense(
            self.consensus,
            &problem,
            &self.progress.part(CONSENSUS as u64 * RUN),
        )?;
        row.take(&ensemble, outcome.partition, None)?;
        Ok(row)
    }

    /// Base clusterings with this number of clusters, and the mean share of the variance left inside clusters.
    fn ensemble(
        &self,
        table: ArrayView2<'_, f64>,
        base: &BaseSpec,
        clusters: usize,
        seed: Seed,
    ) -> Result<(Ensemble, Option<f64>), SelectError> {
        let mut recipe = Recipe::default();
        recipe.base = vec![base.clone()];
        recipe.base_k = BaseK::Turns(vec![clusters]);
        recipe.subsample = self.settings.subsample;
        // The columns are scaled.
        recipe.scale = Scale::None;
        let part = self.progress.part(base.runs as u64 * RUN);
        let made = generate(table, &recipe, seed, self.budget, &part)?;
        if made.finished < made.asked {
            return Err(SelectError::Interrupted);
        }
        let squares: f64 = table.iter().map(|x| x * x).sum();
        let share = |inertia: f64, objects: usize| {
            inertia / squares * table.nrows() as f64 / objects as f64
        };
        let shares: Option<Vec<f64>> = made
            .facts
            .iter()
            .map(|fact| Some(share(fact.inertia?, fact.objects)))
            .collect();
        let mean = shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64);
        Ok((made.ensemble, mean))
    }

    fn histogram(&self, ensemble: &Ensemble, seed: Seed) -> Result<PairHistogram, SelectError> {
        PairHistogram::of(ensemble, self.settings.pairs, seed, &self.progress)
    }

    /// Standard error of the log disagreement, from parts of the base clusterings.
    fn error(&self, ensemble: &Ensemble, seed: Seed) -> Result<f64, SelectError> {
        const PARTS: usize = 5;
        let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let parts = bases
            .chunks(bases.len().div_ceil(PARTS).max(2))
            .filter(|part| part.len() > 1);
        let log = |part: &[u32]| {
            Ok(log(self
                .histogram(&ensemble.select(&objects, part), seed)?
                .disagreement()))
        };
        let logs = parts.map(log).collect::<Result<Vec<f64>, SelectError>>()?;
        Ok(Spread::of(&logs).sd / (logs.len() as f64).sqrt())
    }

    /// What tables without clusters give: those that are finished at every K.
    fn draws(&self) -> Result<Vec<Draw>, SelectError> {
        let nulls = self.settings.nulls.iter().enumerate();
        let units: Vec<(usize, u64)> = nulls
            .flat_map(|(null, _)| (0..u64::from(self.settings.draws)).map(move |draw| (null, draw)))
            .collect();
        let one = |&(null, draw): &(usize, u64)| match self
            .draw(null, self.seed.child(2 + null as u64).child(draw))
        {
            Ok(draw) => Ok(Some(draw)),
            Err(SelectError::Interrupted) => Ok(None),
            Err(error) => Err(error),
        };
        let draws: Vec<Option<Draw>> = info_span!("references")
            .in_scope(|| units.par_iter().map(one).collect::<Result<_, _>>())?;
        Ok(draws.into_iter().flatten().collect())
    }

    fn draw(&self, null: usize, seed: Seed) -> Result<Draw, SelectError> {
        let null = self.settings.nulls[null];
        let table = self.scores.draw(null, seed.child(0));
        let seed = seed.child(1);
        let one = |&clusters: &usize| {
            let seed = seed.child(clusters as u64);
            let (ensemble, dispersion) =
                self.ensemble(table.view(), &self.draw_base, clusters, seed.child(0))?;
            let histogram = self.histogram(&ensemble, seed.child(1))?;
            Ok(Measured {
                clusters,
                pac: histogram.pac(),
                disagreement: histogram.disagreement(),
                dispersion,
            })
        };
        let measured = self
            .numbers
            .iter()
            .map(one)
            .collect::<Result<_, SelectError>>()?;
        Ok(Draw { null, measured })
    }
}
