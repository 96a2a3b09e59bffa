//! The passes of soft means: a search on a sample of the rows, then a pass for every iteration.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::Array2;
use partita_core::{
    Assigned, BLOCK_ROWS, BaseClustering, Monitor, ObjectWeights, PassRunner, ProblemSize,
    ProgressCounter, Row, RowBlock, RowFit, RowLabeller, RowMap, RowPass, RowProblem, RowSample,
    Stopped, WeightedEnsemble, sums_under_way,
};
use partita_kmeans::labels::{Counts, LabelChoice, START_ROWS, base_weights, bytes};
use serde::{Deserialize, Serialize};

use super::rows::WeightedShares;
use super::search::{Columns, Run, Search, best, objective};
use super::sums::{Gathered, MeanSums};
use super::{ConsensusRows, MatchingOrder, SoftMeanDiagnostics, SoftMeanSettings, search_bytes};
use crate::MedianError;
use crate::error::labelled;
use crate::label_means::centre;
use crate::row_sums::RowSums;

/// Units of progress: the search on a sample, and the iterations over all rows.
const SAMPLE: u64 = 1_000;
const ITERATIONS: u64 = 2_000;

/// What a search on a sample found.
#[derive(Serialize, Deserialize)]
struct Found {
    codes: Vec<u32>,
    trace: Vec<f64>,
    stopped: Stopped,
    details: SoftMeanDiagnostics,
}

/// The fit: the search on a sample, then the best run over all rows.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &SoftMeanSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<SoftMeanDiagnostics>, MedianError> {
    let rows = &problem.passes();
    let bases = problem.rows.bases();
    let _span = tracing::info_span!("soft-mean", rows = problem.rows.rows(), clusters).entered();
    labelled(Counts::together(rows)?.1)?;
    let offsets = BaseClustering::offsets(bases);
    let columns = columns(rows, &offsets, clusters, settings)?;
    let matched = Matched {
        base_weights: base_weights(bases, problem.weights),
        offsets,
        clusters,
        codes: Vec::new(),
    };
    let progress = ProgressCounter::new(monitor, SAMPLE + ITERATIONS);
    let hard = settings.rows == ConsensusRows::Hard;
    let sums = |codes: &[u32]| {
        rows.run(&SumMeans {
            matched: matched.with(codes),
            hard,
        })
    };
    let (run, details) = match settings.order {
        MatchingOrder::Stream => {
            let part = progress.part(SAMPLE + ITERATIONS);
            let codes = matched.stream(problem, &columns, &part)?;
            let sums = sums(&codes)?;
            let mut run = Run::new(codes, sums);
            run.stopped = Stopped::Exact;
            best(vec![run], &columns)
        }
        MatchingOrder::Search => {
            let seed = problem.seed.child(u64::from(u32::MAX));
            let sample = RowSample::draw(rows, START_ROWS, seed)?;
            let whole = sample.whole;
            let fits = |found: &Found| matched.with(&found.codes).fits(bases);
            let found = rows.once("median/soft-mean", fits, || {
                matched.searched(&sample, problem, settings, &progress.part(SAMPLE))
            })?;
            drop(sample);
            let of_start = sums(&found.codes)?;
            let mut run = Run::new(found.codes, of_start);
            if whole {
                run.trace = found.trace;
            }
            if whole || found.stopped == Stopped::Interrupted {
                run.stopped = found.stopped;
            }
            let part = progress.part(ITERATIONS);
            let most = settings.iterations.get();
            run.go_on(&columns, (most, settings.tolerance), &part, sums)?;
            (run, found.details)
        }
    };
    let labels = matched.with(&run.codes);
    let mut fit = RowFit::new(clusters, run.stopped, labels, details);
    fit.iterations = run.trace.len() as u64;
    fit.objective = Some(objective(run.trace));
    Ok(fit)
}

/// The columns that base clusters may go to, with the products of the shares within those that may share one.
fn columns(
    rows: &PassRunner<'_>,
    offsets: &[usize],
    clusters: usize,
    settings: &SoftMeanSettings,
) -> Result<Columns, MedianError> {
    let size = |u: usize| offsets[u + 1] - offsets[u];
    let merges = |u: usize| settings.matching.merges(size(u), clusters);
    let products = if rows.source().are_shares() && (0..offsets.len() - 1).any(merges) {
        Some(Overlap::products(rows)?)
    } else {
        None
    };
    let within = |u: usize| match &products {
        Some(products) => products.of_bases(u, u).to_owned(),
        // An object has one label in a base clustering: shares of different clusters have no products.
        None => Array2::zeros((size(u), size(u))),
    };
    Ok(Columns::new(offsets, clusters, settings.matching, within))
}

/// Bytes that a fit holds at once.
pub(super) fn row_bytes(size: &ProblemSize, settings: &SoftMeanSettings) -> u64 {
    let sample = ProblemSize {
        objects: size.objects.min(START_ROWS + size.base_clusterings),
        ..*size
    };
    let [n, m, side, k] = size.saturating();
    let levels = Saturating(
        u64::from((n.0 / (BLOCKS * BLOCK_ROWS) + 1).ilog2()) + 2 * sums_under_way(size.objects) + 4,
    );
    let sums = ((side + Saturating(4)) * k + side + m) * Saturating(8) * levels;
    let drawn = Saturating(RowSample::bytes(size, START_ROWS as u64));
    let overlap = if size.soft_shares > 0 {
        Overlap::bytes(size)
    } else {
        0
    };
    (sums + Saturating(bytes(size) + overlap) + drawn + search_bytes(&sample, settings)).0
}

/// Blocks that a sum is over: it is large beside the work of a block.
const BLOCKS: u64 = 4;

/// Base clusters and the columns that they go to: the mean of the columns of a row is its consensus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Matched {
    offsets: Vec<usize>,
    base_weights: Vec<f64>,
    clusters: usize,
    codes: Vec<u32>,
}

impl Matched {
    fn with(&self, codes: &[u32]) -> Self {
        Self {
            codes: codes.to_vec(),
            ..self.clone()
        }
    }

    fn entries<'a, R: Row<'a>>(&self, row: R) -> impl Iterator<Item = (usize, usize, f64)> {
        let entries = row.entries(&self.offsets);
        entries.map(|entry| (entry.base, entry.cluster, entry.share))
    }

    fn gather<'a, R: Row<'a>>(&self, row: R, gathered: &mut Gathered) {
        gathered.gather(self.entries(row), &self.codes, &self.base_weights);
    }

    /// Whether it is about these base clusterings.
    fn fits(&self, bases: &[BaseClustering]) -> bool {
        let columns = bases
            .iter()
            .map(BaseClustering::clusters)
            .fold(self.clusters, usize::max);
        let [base_clusters, places] = [self.codes.len(), self.offsets.last().copied().unwrap_or(0)];
        self.offsets == BaseClustering::offsets(bases)
            && self.base_weights.len() == bases.len()
            && base_clusters == places
            && (1..=u16::MAX.into()).contains(&self.clusters)
            && self.codes.iter().all(|&code| (code as usize) < columns)
    }

    /// The best run on a sample of the rows, and what there is to say of all.
    fn searched(
        &self,
        sample: &RowSample,
        problem: &RowProblem<'_>,
        settings: &SoftMeanSettings,
        monitor: &dyn Monitor,
    ) -> Found {
        let shares = sample.ensemble.shares();
        let sampled = WeightedShares::new(
            &shares,
            self.offsets.clone(),
            self.base_weights.clone(),
            Some(&sample.weights),
            self.clusters,
        );
        let search = Search::new(&sampled, settings, monitor);
        let objects =
            ObjectWeights::new(sample.weights.clone()).expect("what rows stand for is positive");
        let source = WeightedEnsemble {
            ensemble: &sample.ensemble,
            base_weights: problem.weights,
            object_weights: Some(&objects),
        };
        let (run, details) = best(search.multi_start(source, problem.seed), &search.columns);
        Found {
            codes: run.codes,
            trace: run.trace,
            stopped: run.stopped,
            details,
        }
    }

    /// The columns of base clusterings that are matched one after the other, those with K clusters first, each to the mean of those before.
    fn stream(
        &self,
        problem: &RowProblem<'_>,
        columns: &Columns,
        monitor: &dyn Monitor,
    ) -> Result<Vec<u32>, MedianError> {
        let rows = problem.passes();
        let (order, exact) = columns.stream_order();
        let none = self.base_weights.iter().map(|_| 0.0).collect();
        let mut matched = Self {
            base_weights: none,
            codes: vec![0; self.offsets[order.len()]],
            ..self.clone()
        };
        let mut before = None;
        for (place, &u) in order.iter().enumerate() {
            let own = self.offsets[u]..self.offsets[u + 1];
            let products = if place == 0 && exact {
                Array2::eye(self.clusters)
            } else if place == 0 {
                let found = centre(problem, self.clusters, monitor)?;
                before = Some(found.choice);
                let count = |(j, k)| found.counts.of(own.start + j)[k];
                Array2::from_shape_fn((own.len(), self.clusters), count)
            } else {
                let pass = SumBase {
                    matched,
                    before,
                    base: u,
                };
                let sums = rows.run(&pass)?;
                SumBase {
                    matched,
                    before,
                    ..
                } = pass;
                Array2::from_shape_vec((own.len(), self.clusters), sums.0)
                    .expect("K numbers a base cluster")
            };
            let codes = columns.matched_base(u, products.view(), None);
            matched.codes[own].copy_from_slice(&codes);
            matched.base_weights[u] = self.base_weights[u];
            monitor.tick(place as u64 + 1, order.len() as u64);
        }
        Ok(matched.codes)
    }
}

impl RowLabeller for Matched {
    const KIND: &'static str = "median/soft-mean-columns";
}

impl RowMap for Matched {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut gathered = Gathered::new(&self.codes, self.clusters);
        let mut soft = vec![0.0; block.len() * self.clusters];
        for ((row, _), soft) in block.rows().zip(soft.chunks_exact_mut(self.clusters)) {
            self.gather(row, &mut gathered);
            gathered.closest(soft, false);
        }
        Assigned::of_soft(soft, self.clusters)
    }
}

/// What the rows cost that are closest to the matched columns, and their products with base clusters.
#[derive(Serialize, Deserialize)]
pub(crate) struct SumMeans {
    matched: Matched,
    hard: bool,
}

impl RowPass for SumMeans {
    type Sum = MeanSums;
    const KIND: &'static str = "median/soft-mean";
    const BLOCKS_A_SUM: u64 = BLOCKS;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.matched.fits(bases)
    }

    fn zero(&self) -> MeanSums {
        MeanSums::new(self.matched.codes.len(), self.matched.clusters)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut MeanSums) {
        let mut gathered = Gathered::new(&self.matched.codes, self.matched.clusters);
        for (row, weight) in block.rows() {
            self.matched.gather(row, &mut gathered);
            sum.add(&mut gathered, self.matched.entries(row), weight, self.hard);
        }
    }
}

/// The products of the clusters of one base clustering with the mean of those that count.
#[derive(Serialize, Deserialize)]
pub(crate) struct SumBase {
    matched: Matched,
    /// The cluster of a row that none of them knows; its row is even if there is none.
    before: Option<LabelChoice>,
    base: usize,
}

impl RowPass for SumBase {
    type Sum = RowSums;
    const KIND: &'static str = "median/soft-mean-stream";

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.base < bases.len() && self.matched.fits(bases)
    }

    fn zero(&self) -> RowSums {
        let own = &self.matched.offsets[self.base..];
        RowSums(vec![0.0; (own[1] - own[0]) * self.matched.clusters])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut RowSums) {
        let clusters = self.matched.clusters;
        let mut gathered = Gathered::new(&self.matched.codes, clusters);
        let mut mean = vec![0.0; clusters];
        let mut add = |row: R, chosen: Option<u32>, weight: f64| {
            let mut own = row
                .entries(&self.matched.offsets)
                .filter(|entry| entry.base == self.base)
                .peekable();
            if own.peek().is_none() {
                return;
            }
            self.matched.gather(row, &mut gathered);
            match chosen {
                _ if !gathered.unknown() => gathered.closest(&mut mean, false),
                Some(chosen) => {
                    (0..clusters).for_each(|k| mean[k] = f64::from(k == chosen as usize));
                }
                None => mean.fill(1.0 / clusters as f64),
            }
            for entry in own {
                let place = entry.cluster - self.matched.offsets[self.base];
                let sums = &mut sum.0[place * clusters..][..clusters];
                for (sum, y) in sums.iter_mut().zip(&mean) {
                    *sum += weight * entry.share * y;
                }
            }
        };
        match &self.before {
            Some(choice) => choice.for_each(block, |row, k, weight| add(row, Some(k), weight)),
            None => block
                .rows()
                .for_each(|(row, weight)| add(row, None, weight)),
        }
    }
}
