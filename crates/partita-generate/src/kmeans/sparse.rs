//! k-means on sparse rows: texts, one-hot labels, anything that is mostly zeros.

use partita_core::ndarray::ArrayView2;
use partita_core::{Monitor, Seed, Stopped};
use partita_kernels::PANEL;
use rayon::prelude::*;
use sprs::CsMatView;

use super::lloyd::{Fit, NONE};
use super::rows::Members;
use super::start::{Points, choose};
use super::{Distance, Job, KMeans, KMeansSettings, check_centres, check_clusters};
use crate::GenerateError;
use crate::found::compact;
use crate::progress::Progress;

/// Centres whose scores are summed side by side in registers.
const TILE: usize = 32;

/// Rows between two questions to the monitor, and in one partial sum.
const CHUNK: usize = 1024;

/// [`kmeans`](crate::kmeans) of a sparse table (n × d), of which only the entries are read.
///
/// The rounds, starts, repairs and numbers are those of the dense table; by cosine the labels too, up to rows that
/// are equally near to two centres in single precision. By Euclidean distance columns are not centred first, which
/// would fill them: with columns far from 0 the dense table is more exact.
///
/// # Errors
/// As [`kmeans`](crate::kmeans).
///
/// # Cost
/// O(entries · k) time a round; 8 bytes an entry besides the table, and 20·k·d bytes for the centres.
pub fn kmeans_sparse(
    values: CsMatView<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    seed: Seed,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, GenerateError> {
    let rows = SparseRows::checked(values, weights, settings)?;
    check_clusters(clusters, rows.n)?;
    let members = Members::all(rows.n);
    run(&rows, &Job { clusters, start: settings.start, seed, members, given: None }, settings, monitor)
}

/// As [`kmeans_sparse`], from the given centres (k × d).
///
/// # Errors
/// As [`kmeans_from`](crate::kmeans_from).
pub fn kmeans_sparse_from(
    values: CsMatView<'_, f64>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, f64>,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, GenerateError> {
    let rows = SparseRows::checked(values, weights, settings)?;
    let clusters = centres.nrows();
    check_clusters(clusters, rows.n)?;
    check_centres(centres, rows.d)?;
    let (members, given) = (Members::all(rows.n), Some(rows.scaled(centres)));
    run(&rows, &Job { clusters, start: settings.start, seed: Seed::default(), members, given }, settings, monitor)
}

fn run(
    rows: &SparseRows,
    job: &Job,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, GenerateError> {
    let progress = Progress::new(1, monitor);
    let fit = sparse(rows, job, settings, &progress).ok_or(GenerateError::NothingFinished { asked: 1 })?;
    let factor = if rows.cosine { 1.0 } else { rows.factor };
    let centres = fit.centres.iter().map(|c| c / factor).collect();
    Ok(KMeans {
        labels: fit.labels.iter().map(|&label| u32::from(label)).collect(),
        centres: partita_core::ndarray::Array2::from_shape_vec((fit.clusters, rows.d), centres)
            .expect("one centre of d numbers a cluster"),
        inertia: fit.inertia,
        rounds: fit.rounds,
        stopped: fit.stopped,
    })
}

/// Sparse rows in single precision, multiplied by a power of two as the dense ones are, or of length 1.
pub(crate) struct SparseRows {
    pub(super) n: usize,
    d: usize,
    ends: Vec<usize>,
    entries: Vec<(u32, f32)>,
    /// ‖x‖² of every row.
    squares: Vec<f64>,
    weights: Option<Vec<f64>>,
    factor: f64,
    /// Mean variance of the columns, in scaled units.
    variance: f64,
    cosine: bool,
}

impl SparseRows {
    /// The rows of a table that has some and only finite numbers.
    pub(crate) fn checked(
        values: CsMatView<'_, f64>,
        weights: Option<&[f64]>,
        settings: &KMeansSettings,
    ) -> Result<Self, GenerateError> {
        let (rows, columns) = values.shape();
        if rows == 0 || columns == 0 {
            return Err(GenerateError::TooSmall { rows, columns });
        }
        if let Some((&value, (row, column))) = values.iter().find(|(value, _)| !value.is_finite()) {
            return Err(GenerateError::NotFinite { row, column, value });
        }
        if weights.is_some_and(|w| w.len() != rows || w.iter().any(|w| !(*w > 0.0 && w.is_finite()))) {
            let found = weights.map_or(0, <[f64]>::len);
            return Err(GenerateError::Shape(format!(
                "{found} weights for {rows} rows; there must be one positive number a row"
            )));
        }
        let cosine = settings.distance == Distance::Cosine;
        Ok(if values.is_csr() {
            Self::new(values, weights, cosine)
        } else {
            Self::new(values.to_csr().view(), weights, cosine)
        })
    }

    fn new(values: CsMatView<'_, f64>, weights: Option<&[f64]>, cosine: bool) -> Self {
        let (n, d) = values.shape();
        let largest = values.data().iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let factor = if largest > 0.0 { 2f64.powi(-(largest.log2().floor() as i32)) } else { 1.0 };
        let (mut ends, mut entries) = (vec![0], Vec::with_capacity(values.nnz()));
        let (mut squares, mut sums) = (Vec::with_capacity(n), vec![0.0f64; d]);
        for row in values.outer_iterator() {
            let length = if cosine { row.data().iter().map(|x| (x * factor).powi(2)).sum::<f64>().sqrt() } else { 1.0 };
            let scale = if length > 0.0 { factor / length } else { 0.0 };
            let kept = row.iter().map(|(column, &x)| (column as u32, (x * scale) as f32)).filter(|(_, x)| *x != 0.0);
            let mut square = 0.0;
            for (column, x) in kept {
                entries.push((column, x));
                square += f64::from(x).powi(2);
                sums[column as usize] += f64::from(x);
            }
            ends.push(entries.len());
            squares.push(square);
        }
        let means: f64 = sums.iter().map(|sum| (sum / n as f64).powi(2)).sum();
        let variance = ((squares.iter().sum::<f64>() / n as f64 - means) / d as f64).max(0.0);
        Self { n, d, ends, entries, squares, weights: weights.map(<[f64]>::to_vec), factor, variance, cosine }
    }

    fn row(&self, i: usize) -> &[(u32, f32)] {
        &self.entries[self.ends[i]..self.ends[i + 1]]
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Points of the table's units in ours.
    pub(crate) fn scaled(&self, points: ArrayView2<'_, f64>) -> Vec<f64> {
        let scaled = points.outer_iter().flat_map(|point| {
            let largest = point.iter().fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
            let length = || point.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            let factor = if self.cosine { 1.0 / length() } else { self.factor * largest };
            point.iter().map(|x| x / largest * factor).collect::<Vec<f64>>()
        });
        scaled.collect()
    }
}

impl Points for SparseRows {
    /// A row with its zeros, and its ‖x‖².
    type Point = (Vec<f32>, f64);

    fn objects(&self) -> usize {
        self.n
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn point(&self, row: usize) -> Self::Point {
        let mut all = vec![0.0; self.d];
        self.row(row).iter().for_each(|&(column, x)| all[column as usize] = x);
        (all, self.squares[row])
    }

    fn distances(&self, panel: usize, (point, square): &Self::Point) -> [f32; PANEL] {
        std::array::from_fn(|lane| {
            let row = panel * PANEL + lane;
            if row >= self.n {
                return 0.0;
            }
            let products = self.row(row).iter().map(|&(column, x)| f64::from(x) * f64::from(point[column as usize]));
            (self.squares[row] + square - 2.0 * products.sum::<f64>()).max(0.0) as f32
        })
    }
}

/// The centres of one run.
struct Centres {
    d: usize,
    /// k × d.
    at: Vec<f64>,
    /// The same in single precision: tiles of 32 centres, in each column by column.
    tiles: Vec<f32>,
    /// ‖c‖² of the centres in single precision.
    squares: Vec<f64>,
}

impl Centres {
    fn new(rows: &SparseRows, job: &Job) -> Self {
        let (k, d) = (job.clusters, rows.d);
        let at = job.given.clone().unwrap_or_else(|| {
            let mut at = vec![0.0; k * d];
            for (centre, row) in at.chunks_exact_mut(d).zip(choose(rows, job)) {
                rows.row(row).iter().for_each(|&(column, x)| centre[column as usize] = f64::from(x));
            }
            at
        });
        let mut centres = Self { d, at, tiles: vec![0.0; k.div_ceil(TILE) * TILE * d], squares: vec![0.0; k] };
        centres.round();
        centres
    }

    /// Prepares the centres for scoring.
    fn round(&mut self) {
        for (j, centre) in self.at.chunks_exact(self.d).enumerate() {
            let tile = &mut self.tiles[j / TILE * TILE * self.d..];
            self.squares[j] = 0.0;
            for (p, &c) in centre.iter().enumerate() {
                let single = c as f32;
                tile[p * TILE + j % TILE] = single;
                self.squares[j] += f64::from(single).powi(2);
            }
        }
    }

    /// The nearest centre of a row; ties go to the smaller.
    fn nearest(&self, row: &[(u32, f32)], half: &[f32]) -> u16 {
        let (mut best, mut centre) = (f32::NEG_INFINITY, 0);
        for (t, tile) in self.tiles.chunks_exact(TILE * self.d).enumerate() {
            let half = &half[t * TILE..];
            let mut scores: [f32; TILE] = std::array::from_fn(|lane| -half[lane]);
            score(row, tile, &mut scores);
            for (lane, &score) in scores.iter().enumerate() {
                if score > best {
                    (best, centre) = (score, (t * TILE + lane) as u16);
                }
            }
        }
        centre
    }

    /// Squared distance of a row from centre j.
    fn distance2(&self, rows: &SparseRows, i: usize, j: usize) -> f64 {
        let tile = &self.tiles[j / TILE * TILE * self.d..];
        let (mut gap, mut seen) = (0.0, 0.0);
        for &(column, x) in rows.row(i) {
            let c = tile[column as usize * TILE + j % TILE];
            gap += f64::from(x - c).powi(2);
            seen += f64::from(c).powi(2);
        }
        // Where the row has zeros only the centre counts.
        gap + (self.squares[j] - seen).max(0.0)
    }
}

/// Adds the products of a row with the centres of a tile to their scores.
fn score(row: &[(u32, f32)], tile: &[f32], scores: &mut [f32; TILE]) {
    let mut sums = *scores;
    for &(column, x) in row {
        let centres = &tile[column as usize * TILE..][..TILE];
        for (sum, &c) in sums.iter_mut().zip(centres) {
            *sum += x * c;
        }
    }
    *scores = sums;
}

/// One run; none if the monitor says stop.
pub(crate) fn sparse(rows: &SparseRows, job: &Job, settings: &KMeansSettings, progress: &Progress<'_>) -> Option<Fit> {
    let mut centres = Centres::new(rows, job);
    let mut labels = vec![NONE; rows.n];
    let (mut rounds, mut last) = (0, None);
    let stopped = loop {
        let changed = assign(rows, job, &centres, &mut labels, progress)?;
        if let Some(stopped) = last {
            break stopped;
        }
        rounds += 1;
        if changed == 0 {
            break Stopped::Converged;
        }
        let mut lists = lists(&labels, job.clusters);
        if lists.iter().any(Vec::is_empty) {
            repair(rows, &centres, &mut lists, &mut labels);
        }
        let moved = update(rows, &mut centres, &lists);
        if moved <= settings.tolerance * rows.variance {
            last = Some(Stopped::Converged);
        } else if rounds >= settings.rounds.get() as usize {
            last = Some(Stopped::RoundLimit);
        }
    };
    Some(finish(rows, &centres, labels, rounds, stopped))
}

/// Labels every member by its nearest centre; gives how many labels changed.
fn assign(
    rows: &SparseRows,
    job: &Job,
    centres: &Centres,
    labels: &mut [u16],
    progress: &Progress<'_>,
) -> Option<usize> {
    let mut half = vec![f32::INFINITY; centres.squares.len().next_multiple_of(TILE)];
    for (half, square) in half.iter_mut().zip(&centres.squares) {
        *half = if rows.cosine { 0.0 } else { (0.5 * square) as f32 };
    }
    let chunk = |(chunk, labels): (usize, &mut [u16])| {
        if progress.stopped() {
            return None;
        }
        let mut changed = 0;
        for (place, label) in labels.iter_mut().enumerate() {
            let row = chunk * CHUNK + place;
            if job.members.word(row / PANEL) >> (row % PANEL) & 1 == 1 {
                let nearest = centres.nearest(rows.row(row), &half);
                changed += usize::from(nearest != *label);
                *label = nearest;
            }
        }
        Some(changed)
    };
    let changed: Vec<Option<usize>> = labels.par_chunks_mut(CHUNK).enumerate().map(chunk).collect();
    changed.into_iter().sum()
}

/// The rows of every cluster, rising.
fn lists(labels: &[u16], clusters: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); clusters];
    let labelled = labels.iter().enumerate().filter(|(_, label)| **label != NONE);
    labelled.for_each(|(row, &label)| lists[usize::from(label)].push(row as u32));
    lists
}

/// Gives every empty cluster the row that is farthest from its centre.
fn repair(rows: &SparseRows, centres: &Centres, lists: &mut [Vec<u32>], labels: &mut [u16]) {
    let labelled = labels.iter().enumerate().filter(|(_, label)| **label != NONE);
    let distance = |(row, &label): (usize, &u16)| (centres.distance2(rows, row, usize::from(label)), row);
    // Rounding leaves a trace of distance between a row and a centre that is its copy.
    let apart = |&(distance, row): &(f64, usize)| distance > 1e-12 * rows.squares[row].max(f64::MIN_POSITIVE);
    let mut far: Vec<(f64, usize)> = labelled.map(distance).filter(apart).collect();
    far.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut empty = (0..lists.len()).filter(|&j| lists[j].is_empty()).collect::<Vec<usize>>().into_iter();
    for (_, row) in far {
        let old = usize::from(labels[row]);
        // A cluster that has only this row keeps it.
        if lists[old].len() < 2 {
            continue;
        }
        let Some(new) = empty.next() else { break };
        lists[old].retain(|&member| member as usize != row);
        lists[new].push(row as u32);
        labels[row] = new as u16;
    }
}

/// Moves each centre to the mean of its rows; gives the sum of the squared moves.
fn update(rows: &SparseRows, centres: &mut Centres, lists: &[Vec<u32>]) -> f64 {
    let d = centres.d;
    let cluster = |(centre, list): (&mut [f64], &Vec<u32>)| {
        let (mut sums, mut mass) = (vec![0.0; d], 0.0);
        for &row in list {
            let weight = rows.weight(row as usize);
            mass += weight;
            rows.row(row as usize).iter().for_each(|&(column, x)| sums[column as usize] += weight * f64::from(x));
        }
        let length = if rows.cosine { sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt() } else { mass };
        if length <= 0.0 {
            return 0.0;
        }
        let mut moved = 0.0;
        for (c, sum) in centre.iter_mut().zip(sums) {
            let new = sum / length;
            moved += (new - *c).powi(2);
            *c = new;
        }
        moved
    };
    let moved: Vec<f64> = centres.at.par_chunks_exact_mut(d).zip(lists).map(cluster).collect();
    centres.round();
    moved.iter().sum()
}

/// Numbers the clusters that have rows and measures the result.
fn finish(rows: &SparseRows, centres: &Centres, mut labels: Vec<u16>, rounds: usize, stopped: Stopped) -> Fit {
    let chunk = |(chunk, labels): (usize, &[u16])| {
        let labelled = labels.iter().enumerate().filter(|(_, label)| **label != NONE);
        labelled.fold(0.0, |sum, (place, &label)| {
            let row = chunk * CHUNK + place;
            sum + rows.weight(row) * centres.distance2(rows, row, usize::from(label))
        })
    };
    let sums: Vec<f64> = labels.par_chunks(CHUNK).enumerate().map(chunk).collect();
    let inertia = sums.iter().sum::<f64>() * if rows.cosine { 0.5 } else { rows.factor.powi(-2) };
    let mut used = vec![false; centres.squares.len()];
    labels.iter().filter(|&&label| label != NONE).for_each(|&label| used[usize::from(label)] = true);
    let kept = (0..used.len()).filter(|&j| used[j]);
    let at = kept.flat_map(|j| centres.at[j * centres.d..][..centres.d].iter().copied()).collect();
    let clusters = compact(&mut labels);
    Fit { labels, centres: at, clusters, inertia, rounds, stopped }
}

#[cfg(test)]
mod tests {
    use super::super::{Rows, Start, many};
    use super::*;
    use partita_core::Silent;
    use partita_core::ndarray::Array2;
    use rand::RngExt;
    use sprs::CsMat;

    #[test]
    fn subsamples_are_those_of_the_dense_table() {
        for unit in 0..20u64 {
            let mut rng = Seed::new(unit).rng();
            let table = Array2::from_shape_fn((150, 40), |(i, p)| {
                let high = rng.random::<f64>() < if p % 5 == i % 5 { 0.6 } else { 0.05 };
                if high { 1.0 + rng.random::<f64>() } else { 0.0 }
            });
            let members = Members::draw(150, 100, &mut rng);
            let job = || Job {
                clusters: 5,
                start: [Start::PlusPlus, Start::Greedy, Start::Random][unit as usize % 3],
                seed: Seed::new(unit),
                members: members.clone(),
                given: None,
            };
            let (settings, progress) = (KMeansSettings::default(), Progress::new(1, &Silent));
            let (mut dense, rows) = (None, Rows::new(table.view(), None, true));
            many(&rows, &[job()], &settings, &progress, &mut |_, fit| dense = Some(fit));
            let held = CsMat::csr_from_dense(table.view(), 0.0);
            let rows = SparseRows::new(held.view(), None, true);
            let (dense, fit) = (dense.unwrap(), sparse(&rows, &job(), &settings, &progress).unwrap());
            assert_eq!((&fit.labels, fit.rounds, fit.stopped), (&dense.labels, dense.rounds, dense.stopped), "{unit}");
            assert!((fit.inertia / dense.inertia - 1.0).abs() < 1e-6);
            assert_eq!(fit.labels.iter().filter(|&&label| label == NONE).count(), 50);
        }
    }
}
