//! k-means on weighted rows of an embedding, in double precision: greedy k-means++ and multi-start on a sample, Lloyd's algorithm
//! on everything, and how sure each row is of its group.

use std::ops::Range;

use partita_core::ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Slice};
use partita_core::{Flow, Monitor, MultiStart, Seed, Sense, Stopped, chunks};
use rand::{Rng, RngExt, seq::index};
use rayon::prelude::*;

use crate::plus_plus::{Field, Points, plus_plus};

/// Rows that one thread assigns at a time.
const CHUNK: usize = 2048;

/// Restarts run on a sample of at most so many rows, and of so many a cluster.
const SAMPLE: usize = 8192;
const SAMPLE_PER_CLUSTER: usize = 64;

/// Squared distance to a centroid that is not there yet: the first row is drawn by weight alone.
const FAR: f64 = 1e9;

/// Squared distance of rows of length 1 that is nothing but rounding.
const ROUNDING: f64 = 1e-13;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Groups, at least 1.
    pub clusters: usize,
    /// Initializations; the best is kept.
    #[doc(alias = "n_init")]
    pub restarts: u32,
    /// Most iterations of one run.
    #[doc(alias = "max_iter")]
    pub iterations: u32,
    /// Stop when an iteration gains at most this share of the loss.
    #[doc(alias = "tol")]
    pub tolerance: f64,
}

/// Rows in groups.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// The group of every row.
    pub labels: Vec<u32>,
    /// 1 − distance to the own centroid over distance to the next, for every row.
    pub margins: Vec<f64>,
    /// Weighted sum of squared distances by iteration.
    pub trace: Vec<f64>,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// Groups rows (n × d, about of length 1) by k-means with a weight each. Fewer groups than asked for are used when there are
/// fewer distinct rows.
///
/// # Panics
/// If there are other weights than rows.
///
/// # Cost
/// O(n·d·k) an iteration, in parallel; O(min(n, max(8192, 64 k)) · d · k) an iteration and restart besides.
pub fn kmeans(
    rows: ArrayView2<'_, f64>,
    weights: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Grouping {
    assert_eq!(weights.len(), rows.nrows(), "one weight a row");
    let room = sample_rows(search.clusters);
    let mut centroids = if rows.nrows() <= room {
        best_start(rows, weights, search, seed, monitor)
    } else {
        let mut chosen =
            index::sample(&mut seed.child(u64::MAX).rng(), rows.nrows(), room).into_vec();
        chosen.sort_unstable();
        let of_sample: Vec<f64> = chosen.iter().map(|&i| weights[i]).collect();
        best_start(
            rows.select(Axis(0), &chosen).view(),
            &of_sample,
            search,
            seed,
            monitor,
        )
    };
    lloyd(rows, weights, &mut centroids, search, monitor)
}

/// Rows that are enough to start from: where there are more, initializations compete on a sample of so many.
pub fn sample_rows(clusters: usize) -> usize {
    SAMPLE.max(SAMPLE_PER_CLUSTER.saturating_mul(clusters))
}

/// The centroids with the smallest loss over all restarts, up to K × d; the earlier of equals. The monitor is asked whether to go on and
/// told nothing; the best so far is kept when it says no.
///
/// # Cost
/// That of [`kmeans`] on these rows times the restarts.
pub fn best_start(
    rows: ArrayView2<'_, f64>,
    weights: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Array2<f64> {
    let run = |restart: u32| {
        let mut centroids = initial(
            rows,
            weights,
            search.clusters,
            seed.child(u64::from(restart)),
        );
        let grouping = lloyd(rows, weights, &mut centroids, search, &Asked(monitor));
        (grouping.trace.last().copied().unwrap_or(0.0), centroids)
    };
    let wanted = |&restart: &u32| restart == 0 || monitor.flow() == Flow::Continue;
    let mut runs: Vec<(f64, Array2<f64>)> = (0..search.restarts.max(1))
        .into_par_iter()
        .filter(wanted)
        .map(run)
        .collect();
    let losses: Vec<f64> = runs.iter().map(|(loss, _)| *loss).collect();
    let best = MultiStart::new(Sense::Minimise)
        .best(&losses)
        .expect("at least one restart");
    runs.swap_remove(best).1
}

/// Asks somebody whether to go on, without telling how far it is.
struct Asked<'a>(&'a dyn Monitor);

impl Monitor for Asked<'_> {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        self.0.flow()
    }

    fn flow(&self) -> Flow {
        self.0.flow()
    }
}

/// Weighted rows and their squared Euclidean distances, which a product of matrices gives for all candidates at once.
struct Embedded<'a> {
    rows: ArrayView2<'a, f64>,
    weights: &'a [f64],
    squares: Vec<f64>,
}

impl Points for Embedded<'_> {
    fn count(&self) -> usize {
        self.rows.nrows()
    }

    fn weight(&self, point: usize) -> f64 {
        self.weights[point]
    }

    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
        let products = self.rows.dot(&self.rows.select(Axis(0), centres).t());
        let from = |(products, &centre): (ArrayView1<'_, f64>, &usize)| {
            let distance = |(square, product): (&f64, &f64)| {
                let distance = square + self.squares[centre] - 2.0 * product;
                // What rounding leaves between equal rows is not a distance.
                if distance < ROUNDING { 0.0 } else { distance }
            };
            self.squares.iter().zip(products).map(distance).collect()
        };
        products.axis_iter(Axis(1)).zip(centres).map(from).collect()
    }

    fn first_distance(&self) -> f64 {
        FAR
    }

    fn mark(&self, total: f64, rng: &mut impl Rng) -> f64 {
        rng.random_range(0.0..total)
    }
}

/// Centroids by greedy k-means++; fewer where there are fewer distinct rows.
fn initial(rows: ArrayView2<'_, f64>, weights: &[f64], clusters: usize, seed: Seed) -> Array2<f64> {
    let points = Embedded {
        rows,
        weights,
        squares: rows.outer_iter().map(|row| row.dot(&row)).collect(),
    };
    let candidates = 2 + clusters.ilog2() as usize;
    rows.select(
        Axis(0),
        &plus_plus(
            &mut Field::new(&points),
            clusters,
            candidates,
            &mut seed.rng(),
        ),
    )
}

fn distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// What one chunk of rows says about the centroids.
struct Part {
    sums: Array2<f64>,
    mass: Vec<f64>,
    loss: f64,
    farthest: (f64, usize),
    changed: bool,
}

fn lloyd(
    rows: ArrayView2<'_, f64>,
    weights: &[f64],
    centroids: &mut Array2<f64>,
    search: &Search,
    monitor: &dyn Monitor,
) -> Grouping {
    let squares: Vec<f64> = rows.outer_iter().map(|row| row.dot(&row)).collect();
    let mut labels = vec![u32::MAX; rows.nrows()];
    let mut trace: Vec<f64> = Vec::new();
    let mut stopped = Stopped::IterationLimit;
    for iteration in 0..search.iterations.max(1) {
        let parts = assign(rows, &squares, weights, centroids, &mut labels);
        let loss: f64 = parts.iter().map(|part| part.loss).sum();
        let changed = parts.iter().any(|part| part.changed);
        let gained = trace.last().map_or(f64::INFINITY, |last| last - loss);
        trace.push(loss);
        if !changed || gained.abs() <= search.tolerance * loss {
            stopped = Stopped::Converged;
            break;
        }
        update(rows, centroids, &parts);
        if monitor.tick(u64::from(iteration) + 1, u64::from(search.iterations)) == Flow::Stop {
            stopped = Stopped::Interrupted;
            break;
        }
    }
    // Labels and margins against the same centroids, whatever ended the iterations.
    let margins = finish(rows, weights, squares, centroids, &mut labels);
    Grouping {
        labels,
        margins,
        trace,
        stopped,
    }
}

/// `|c|² − 2 x·c` for a chunk of rows (lines) and all centroids: squared distances less what the rows share.
fn scores(
    rows: ArrayView2<'_, f64>,
    centroids: &Array2<f64>,
    lengths: &Array1<f64>,
) -> Array2<f64> {
    let mut scores = rows.dot(&centroids.t());
    scores.zip_mut_with(lengths, |score, length| *score = length - 2.0 * *score);
    scores
}

fn lengths(centroids: &Array2<f64>) -> Array1<f64> {
    centroids.outer_iter().map(|c| c.dot(&c)).collect()
}

fn assign(
    rows: ArrayView2<'_, f64>,
    squares: &[f64],
    weights: &[f64],
    centroids: &Array2<f64>,
    labels: &mut [u32],
) -> Vec<Part> {
    let lengths = lengths(centroids);
    let ranges: Vec<_> = chunks(rows.nrows(), CHUNK).collect();
    let part = |(labels, range): (&mut [u32], Range<usize>)| {
        let block = rows.slice_axis(Axis(0), Slice::from(range.clone()));
        let scores = scores(block, centroids, &lengths);
        let mut part = Part {
            sums: Array2::zeros(centroids.dim()),
            mass: vec![0.0; centroids.nrows()],
            loss: 0.0,
            farthest: (-1.0, 0),
            changed: false,
        };
        for (((i, row), scores), label) in range
            .zip(block.outer_iter())
            .zip(scores.outer_iter())
            .zip(labels)
        {
            let (best, score) =
                smallest(scores.as_slice().expect("a product is in standard layout"));
            let gap = (squares[i] + score).max(0.0);
            part.changed |= *label != best as u32;
            *label = best as u32;
            part.loss += weights[i] * gap;
            part.mass[best] += weights[i];
            part.sums.row_mut(best).scaled_add(weights[i], &row);
            if weights[i] * gap > part.farthest.0 {
                part.farthest = (weights[i] * gap, i);
            }
        }
        part
    };
    labels.par_chunks_mut(CHUNK).zip(ranges).map(part).collect()
}

fn smallest(scores: &[f64]) -> (usize, f64) {
    let first = (0, scores.first().copied().unwrap_or(0.0));
    scores.iter().enumerate().fold(
        first,
        |best, (k, &score)| if score < best.1 { (k, score) } else { best },
    )
}

/// Centroids as means; the first empty one goes to the row that costs most.
fn update(rows: ArrayView2<'_, f64>, centroids: &mut Array2<f64>, parts: &[Part]) {
    let mut sums = Array2::<f64>::zeros(centroids.dim());
    let mut mass = vec![0.0; centroids.nrows()];
    for part in parts {
        sums += &part.sums;
        mass.iter_mut()
            .zip(&part.mass)
            .for_each(|(sum, part)| *sum += part);
    }
    let mut farthest = parts
        .iter()
        .map(|part| part.farthest)
        .fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    for (k, mut centroid) in centroids.outer_iter_mut().enumerate() {
        if mass[k] > 0.0 {
            centroid.assign(&(&sums.row(k) / mass[k]));
        } else if farthest.0 > 0.0 {
            centroid.assign(&rows.row(farthest.1));
            farthest.0 = 0.0;
        }
    }
}

/// Final labels, and how much nearer the own centroid is than the next that has rows: a number a row, in place of the squares.
fn finish(
    rows: ArrayView2<'_, f64>,
    weights: &[f64],
    squares: Vec<f64>,
    centroids: &Array2<f64>,
    labels: &mut [u32],
) -> Vec<f64> {
    assign(rows, &squares, weights, centroids, labels);
    let mut margins = squares;
    let mut has_rows = vec![false; centroids.nrows()];
    labels
        .iter()
        .for_each(|&label| has_rows[label as usize] = true);
    let live: Vec<usize> = (0..centroids.nrows()).filter(|&k| has_rows[k]).collect();
    if live.len() < 2 {
        margins.fill(1.0);
        return margins;
    }
    let lengths = lengths(centroids);
    let write = |(margins, range): (&mut [f64], Range<usize>)| {
        let block = rows.slice_axis(Axis(0), Slice::from(range.clone()));
        let scores = scores(block, centroids, &lengths);
        let margin = |((i, row), scores): ((usize, ArrayView1<'_, f64>), ArrayView1<'_, f64>)| {
            let own = labels[i] as usize;
            let others = live.iter().copied().filter(|&k| k != own);
            let next = others
                .reduce(|best, k| if scores[k] < scores[best] { k } else { best })
                .unwrap_or(own);
            let next = distance(row, centroids.row(next)).sqrt();
            if next > 0.0 {
                (1.0 - distance(row, centroids.row(own)).sqrt() / next).clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        let found = range
            .zip(block.outer_iter())
            .zip(scores.outer_iter())
            .map(margin);
        margins
            .iter_mut()
            .zip(found)
            .for_each(|(place, margin)| *place = margin);
    };
    let ranges: Vec<_> = chunks(rows.nrows(), CHUNK).collect();
    margins.par_chunks_mut(CHUNK).zip(ranges).for_each(write);
    margins
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Silent;
    use partita_core::ndarray::array;

    fn search(clusters: usize) -> Search {
        Search {
            clusters,
            restarts: 4,
            iterations: 50,
            tolerance: 0.0,
        }
    }

    #[test]
    fn groups_that_lie_apart_are_found_and_weights_count_as_copies() {
        let mut rng = Seed::new(3).rng();
        let rows = Array2::from_shape_fn((90, 2), |(i, d)| {
            f64::from((i % 3 == d) as u8) + rng.random_range(0.0..0.2)
        });
        let one = kmeans(rows.view(), &[1.0; 90], &search(3), Seed::new(1), &Silent);
        assert!((0..90).all(|i| one.labels[i] == one.labels[i % 3]));
        assert!(one.margins.iter().all(|m| (0.5..=1.0).contains(m)));
        assert!(one.trace.windows(2).all(|w| w[1] <= w[0]));

        let weights: Vec<f64> = (0..90).map(|i| f64::from(1 + i % 4)).collect();
        let copies: Vec<usize> = (0..90).flat_map(|i| vec![i; 1 + i % 4]).collect();
        let weighted = kmeans(rows.view(), &weights, &search(3), Seed::new(1), &Silent);
        let copied = kmeans(
            rows.select(Axis(0), &copies).view(),
            &vec![1.0; copies.len()],
            &search(3),
            Seed::new(2),
            &Silent,
        );
        assert!((weighted.trace.last().unwrap() - copied.trace.last().unwrap()).abs() < 1e-9);
    }

    #[test]
    fn fewer_distinct_rows_than_groups_leave_groups_empty() {
        let rows = array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let grouping = kmeans(rows.view(), &[1.0; 3], &search(3), Seed::new(1), &Silent);
        assert_eq!(grouping.labels[0], grouping.labels[1]);
        assert_ne!(grouping.labels[0], grouping.labels[2]);
        assert_eq!(grouping.margins, [1.0; 3]);
        let nothing = kmeans(
            Array2::zeros((4, 2)).view(),
            &[1.0; 4],
            &search(2),
            Seed::new(1),
            &Silent,
        );
        assert_eq!(
            (nothing.labels, nothing.margins),
            (vec![0; 4], vec![1.0; 4])
        );
    }
}
