//! The spectral cut over label rows that are not held: the cluster graph by one pass, k-means on embedded rows by passes
//! that embed every row anew.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Assigned, BLOCK_ROWS, Ensemble, Flow, Label, LabelRows, Mergeable, Monitor, Objective, PassRunner, ProblemSize,
    RowBlock, RowFit, RowMap, RowPass, RowSample, Seed, Sense, Stopped, sums_under_way,
};
use partita_kmeans::embedded::{Search, best_start, sample_rows};
use partita_spectral::{LanczosSettings, lanczos};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::bipartite::{UNREACHED, inverse_roots, multiply};
use crate::spectral::{SPECTRAL_LOSS, SpectralDiagnostics};

/// The normalised cut of the graph of objects and base clusters whose edges weigh as `strengths` says, over rows of which
/// `sizes` of each base cluster are known. The same as the cut of rows in memory but for the order of additions, and that
/// k-means starts from a sample of the rows.
pub(crate) fn cut(
    rows: &PassRunner<'_>,
    strengths: &[f64],
    sizes: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    let inverse_root = inverse_roots(sizes, strengths);
    let mut graph = Overlap::shared(rows, strengths)?.into_table();
    let scale: Vec<f64> = strengths.iter().zip(&inverse_root).map(|(s, r)| s * r).collect();
    graph.indexed_iter_mut().for_each(|((a, b), x)| *x *= scale[a] * scale[b]);
    let (side, count) = (strengths.len(), search.clusters.min(strengths.len()));
    let settings = LanczosSettings::default();
    let pairs = lanczos(side, count, |x, y| multiply(graph.view(), x, y), seed.child(0), &settings)?;
    drop(graph);
    let total = (rows.source().rows() as f64).sqrt();
    let mut table = pairs.vectors.as_standard_layout().into_owned();
    for ((mut line, root), strength) in table.outer_iter_mut().zip(&inverse_root).zip(strengths) {
        line.mapv_inplace(|x| x * root * strength * total);
    }
    let embedding = Embedding::new(rows, table, strengths.to_vec());
    let seed = seed.child(1);
    let sample = RowSample::draw(rows, sample_rows(search.clusters), seed.child(u64::MAX))?;
    let centroids = best_start(embedding.of(&sample.ensemble).view(), &sample.weights, search, seed);
    drop(sample);
    let fit = lloyd(rows, embedding, centroids, search, monitor)?;
    let eigenvalues = pairs.values.to_vec();
    Ok(fit.map_details(|()| SpectralDiagnostics { eigenvalues, distinct_rows: None }))
}

/// Bytes that a cut of rows that are not held holds at once, at most: tables of all pairs of base clusters of the groups
/// that are under way and of the levels of their sum, the Krylov space, and rows drawn for initializations.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let [n, _, side, k] = size.saturating();
    let levels = Saturating(u64::from((n.0 / (16 * BLOCK_ROWS) + 1).ilog2()));
    let width = k.min(side) + Saturating(8);
    let tables = side * side * Saturating(8) * (levels + Saturating(2 * sums_under_way() + 2));
    let most = sample_rows(k.0 as usize) as u64;
    let start = Saturating(most) * width * Saturating(8 * (2 + u64::from(restarts.min(64))));
    (tables + side * width * Saturating(8 * 40) + start + Saturating(RowSample::bytes(size, most))).0
}

fn objective(trace: Vec<f64>) -> Objective {
    let value = trace.last().copied().unwrap_or(0.0);
    Objective { name: SPECTRAL_LOSS, sense: Sense::Minimise, value, trace }
}

/// Lines of the eigenvectors by base cluster: a row's place is the mean of its clusters' lines, at length 1.
#[derive(Clone, Serialize, Deserialize)]
struct Embedding {
    offsets: Vec<usize>,
    width: usize,
    /// ΣJ lines of `width` numbers.
    table: Vec<f64>,
    strengths: Vec<f64>,
}

impl Embedding {
    fn new(rows: &PassRunner<'_>, table: Array2<f64>, strengths: Vec<f64>) -> Self {
        let width = table.ncols();
        let ends = rows.source().bases().iter().scan(0, |sum, base| {
            *sum += base.clusters();
            Some(*sum)
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        Self { offsets, width, table: table.into_raw_vec_and_offset().0, strengths }
    }

    /// Writes a row's place. A row that the eigenvectors do not reach stays 0.
    fn place<L: Label>(&self, row: &[L], place: &mut [f64]) {
        place.fill(0.0);
        let mut degree = 0.0;
        for (label, offset) in row.iter().zip(&self.offsets) {
            let Some(cluster) = label.cluster() else { continue };
            let line = &self.table[(offset + cluster) * self.width..][..self.width];
            place.iter_mut().zip(line).for_each(|(x, y)| *x += y);
            degree += self.strengths[offset + cluster];
        }
        let length = place.iter().map(|x| x * x).sum::<f64>().sqrt();
        let factor = if length > UNREACHED * degree { 1.0 / length } else { 0.0 };
        place.iter_mut().for_each(|x| *x *= factor);
    }

    /// The places of all rows of an ensemble.
    fn of(&self, ensemble: &Ensemble) -> Array2<f64> {
        fn places<L: Label>(embedding: &Embedding, rows: ArrayView2<'_, L>) -> Array2<f64> {
            let mut places = Array2::zeros((rows.nrows(), embedding.width));
            for (row, mut place) in rows.outer_iter().zip(places.outer_iter_mut()) {
                let (row, place) = (row.to_vec(), place.as_slice_mut().expect("lines of a new array"));
                embedding.place(&row, place);
            }
            places
        }
        match ensemble.rows() {
            LabelRows::Bytes(rows) => places(self, rows),
            LabelRows::Words(rows) => places(self, rows),
        }
    }
}

/// A round of k-means: every row goes to its nearest centroid.
#[derive(Serialize, Deserialize)]
struct Assignment {
    embedding: Embedding,
    centroids: Centroids,
}

/// K lines of `width` numbers, and the squares of their lengths.
#[derive(Clone, Serialize, Deserialize)]
struct Centroids {
    lines: Vec<f64>,
    squares: Vec<f64>,
}

impl Centroids {
    fn new(lines: Vec<f64>, width: usize) -> Self {
        let squares = lines.chunks_exact(width).map(|line| line.iter().map(|x| x * x).sum()).collect();
        Self { lines, squares }
    }

    /// `|c|² − 2 x·c` for every centroid.
    fn scores(&self, place: &[f64], scores: &mut [f64]) {
        let lines = self.lines.chunks_exact(place.len());
        for ((score, line), square) in scores.iter_mut().zip(lines).zip(&self.squares) {
            *score = square - 2.0 * line.iter().zip(place).map(|(c, x)| c * x).sum::<f64>();
        }
    }
}

/// What a round adds up to.
struct Means {
    sums: Vec<f64>,
    mass: Vec<f64>,
    loss: f64,
    /// The row that costs most: how much, and its place.
    farthest: (f64, Vec<f64>),
}

impl Mergeable for Means {
    fn merge(&mut self, other: Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
        self.mass.iter_mut().zip(&other.mass).for_each(|(a, b)| *a += b);
        self.loss += other.loss;
        if other.farthest.0 > self.farthest.0 {
            self.farthest = other.farthest;
        }
    }
}

impl RowPass for Assignment {
    type Sum = Means;

    fn zero(&self) -> Means {
        let (cells, clusters) = (self.centroids.lines.len(), self.centroids.squares.len());
        Means { sums: vec![0.0; cells], mass: vec![0.0; clusters], loss: 0.0, farthest: (0.0, Vec::new()) }
    }

    fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut Means) {
        let width = self.embedding.width;
        let (mut place, mut scores) = (vec![0.0; width], vec![0.0; self.centroids.squares.len()]);
        for (row, weight) in block.rows() {
            self.embedding.place(row, &mut place);
            self.centroids.scores(&place, &mut scores);
            let best = smallest(&scores);
            let gap = weight * (place.iter().map(|x| x * x).sum::<f64>() + scores[best]).max(0.0);
            sum.mass[best] += weight;
            sum.sums[best * width..][..width].iter_mut().zip(&place).for_each(|(sum, x)| *sum += weight * x);
            sum.loss += gap;
            if gap > sum.farthest.0 {
                sum.farthest = (gap, place.clone());
            }
        }
    }
}

/// The smallest of some numbers; the first of equals.
fn smallest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, k| if scores[k] < scores[best] { k } else { best })
}

/// Lloyd's rounds until the loss stands still.
fn lloyd(
    rows: &PassRunner<'_>,
    embedding: Embedding,
    start: Array2<f64>,
    search: &Search,
    monitor: &dyn Monitor,
) -> Result<RowFit<()>, GraphError> {
    let width = embedding.width;
    let mut round = Assignment { embedding, centroids: Centroids::new(start.into_raw_vec_and_offset().0, width) };
    let (mut trace, mut stopped): (Vec<f64>, Stopped) = (Vec::new(), Stopped::RoundLimit);
    let mut live = vec![true; round.centroids.squares.len()];
    for number in 0..search.rounds.max(1) {
        let means = rows.run(&round)?;
        live = means.mass.iter().map(|&mass| mass > 0.0).collect();
        let gained = trace.last().map_or(f64::INFINITY, |last| last - means.loss);
        trace.push(means.loss);
        if gained.abs() <= search.tolerance * means.loss {
            stopped = Stopped::Converged;
            break;
        }
        round.centroids = moved(&round.centroids, means, width);
        if monitor.tick(u64::from(number) + 2, u64::from(search.rounds) + 1) == Flow::Stop {
            stopped = Stopped::Interrupted;
            break;
        }
    }
    let rounds = trace.len() as u64;
    let Assignment { embedding, centroids } = round;
    let mut fit = RowFit::new(search.clusters, stopped, Nearest { embedding, centroids, live }, ());
    (fit.rounds, fit.objective) = (rounds, Some(objective(trace)));
    Ok(fit)
}

/// Centroids as means; the first empty one goes to the row that costs most.
fn moved(centroids: &Centroids, means: Means, width: usize) -> Centroids {
    let mut lines = centroids.lines.clone();
    let mut farthest = (means.farthest.0 > 0.0).then_some(means.farthest.1);
    for ((line, sums), &mass) in lines.chunks_exact_mut(width).zip(means.sums.chunks_exact(width)).zip(&means.mass) {
        if mass > 0.0 {
            line.iter_mut().zip(sums).for_each(|(c, sum)| *c = sum / mass);
        } else if let Some(place) = farthest.take() {
            line.copy_from_slice(&place);
        }
    }
    Centroids::new(lines, width)
}

/// The nearest centroid of every row, and by how much it is nearer than the next that has rows.
struct Nearest {
    embedding: Embedding,
    centroids: Centroids,
    live: Vec<bool>,
}

impl RowMap for Nearest {
    type Out = Assigned;

    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Assigned {
        let (mut place, mut scores) = (vec![0.0; self.embedding.width], vec![0.0; self.live.len()]);
        let mut assigned = Assigned::default();
        for (row, _) in block.rows() {
            self.embedding.place(row, &mut place);
            self.centroids.scores(&place, &mut scores);
            let best = smallest(&scores);
            assigned.labels.push(best as u32);
            assigned.certainty.push(self.margin(&place, &scores, best));
        }
        assigned
    }
}

impl Nearest {
    fn margin(&self, place: &[f64], scores: &[f64], own: usize) -> f64 {
        let others = (0..scores.len()).filter(|&k| k != own && self.live[k]);
        let Some(next) = others.reduce(|best, k| if scores[k] < scores[best] { k } else { best }) else { return 1.0 };
        let distance = |k: usize| {
            let line = &self.centroids.lines[k * place.len()..][..place.len()];
            line.iter().zip(place).map(|(c, x)| (c - x) * (c - x)).sum::<f64>().sqrt()
        };
        let next = distance(next);
        if next > 0.0 { (1.0 - distance(own) / next).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HbgfSettings, LwgpSettings, hbgf, hbgf_rows, lwgp, lwgp_rows};
    use partita_core::{EnsembleBuilder, EnsembleRows, Partition, Silent};
    use rand::RngExt;

    /// Noisy views of four clusters with missing labels: rows beyond several blocks.
    fn drawn(objects: usize) -> Ensemble {
        let mut rng = Seed::new(5).rng();
        let mut builder = EnsembleBuilder::new(objects);
        for u in 0..12 {
            let label = |i: usize| {
                let noisy = rng.random_bool(0.3);
                let label = if noisy { rng.random_range(0..5) } else { (i % 4) as u32 };
                (i % 12 == u || !rng.random_bool(0.1)).then_some(label)
            };
            builder.push(format!("u{u}"), (0..objects).map(label).collect::<Vec<_>>()).unwrap();
        }
        builder.finish().unwrap()
    }

    fn labels<D>(fit: &RowFit<D>, rows: &PassRunner<'_>) -> (Vec<u32>, Vec<f64>) {
        let (mut labels, mut certainty) = (Vec::new(), Vec::new());
        fit.label(rows, &mut |_, assigned| {
            labels.extend(assigned.labels);
            certainty.extend(assigned.certainty);
            Ok(())
        })
        .unwrap();
        (labels, certainty)
    }

    /// The same groups but for one object in a thousand: other starts end a little apart.
    fn alike(a: &[u32], b: &[u32]) -> bool {
        let shown = |labels: &[u32]| Partition::new(labels.to_vec(), 4).unwrap().by_appearance();
        let (a, b) = (shown(a), shown(b));
        a.labels().iter().zip(b.labels()).filter(|(a, b)| a != b).count() <= a.objects() / 1000
    }

    #[test]
    fn rows_by_blocks_and_rows_in_memory_have_the_same_cut() {
        let ensemble = drawn(30_000);
        let source = EnsembleRows::new(&ensemble);
        let rows = PassRunner::new(&source, &Silent);
        let settings = LwgpSettings::default();
        let memory = lwgp(&ensemble, None, 4, Seed::new(1), &settings, &Silent).unwrap();
        let blocks = lwgp_rows(&rows, None, 4, Seed::new(1), &settings, &Silent).unwrap();
        let (found, certainty) = labels(&blocks, &rows);
        assert!(alike(&found, memory.partition.labels()));
        let order: Vec<u32> = (0..30_000).rev().collect();
        let turned = ensemble.select(&order, &(0..12).collect::<Vec<u32>>());
        let source = EnsembleRows::new(&turned);
        let turned = PassRunner::new(&source, &Silent);
        let other = lwgp_rows(&turned, None, 4, Seed::new(1), &settings, &Silent).unwrap();
        let other: Vec<u32> = labels(&other, &turned).0.into_iter().rev().collect();
        assert!(found == other, "the order of rows changes labels");
        assert!(certainty.iter().zip(&memory.certainty).all(|(a, b)| (a - b).abs() < 1e-3));
        let loss = |objective: &Option<Objective>| objective.as_ref().unwrap().value;
        assert!((loss(&blocks.objective) / loss(&memory.objective) - 1.0).abs() < 1e-6);

        let memory = hbgf(&ensemble, None, 4, Seed::new(1), &HbgfSettings::default(), &Silent).unwrap();
        let blocks = hbgf_rows(&rows, None, 4, Seed::new(1), &HbgfSettings::default(), &Silent).unwrap();
        assert!(alike(&labels(&blocks, &rows).0, memory.partition.labels()));
    }
}
