//! A few iterations of k-means on rows that are embedded anew in each iteration, since embedded rows take far more memory than their affinities.

use partita_core::ndarray::Array2;
use partita_core::{ProgressCounter, Seed, Silent};
use partita_kernels::{Nearest, PANEL, nearest};
use partita_kmeans::embedded::{Search, best_start};
use partita_kmeans::{Members, UNLABELLED};
use rayon::prelude::*;

use super::representatives::Joined;
use super::transfer_cut::{Axes, chunk_rows};

/// Iterations, the last of which gives the labels.
pub(crate) const ITERATIONS: usize = 5;

/// Most chunks of rows.
const CHUNKS: usize = 64;

/// Rows a cluster that k-means++ starts from.
const SAMPLE_PER_CLUSTER: usize = 64;

/// The clusters of joined rows by k-means from a start by k-means++ on some of them; rows that are joined to nothing stay unlabelled. None if the
/// monitor says stop.
///
/// # Cost
/// O(n·k·axes) time an iteration, in parallel; 2·n bytes.
pub(crate) fn grouped(
    joined: &[Joined],
    members: &Members,
    axes: &Axes,
    clusters: usize,
    seed: Seed,
    progress: &ProgressCounter<'_>,
) -> Option<Vec<u16>> {
    let width = axes.count;
    let mut at = start(joined, members, axes, clusters, seed);
    let clusters = at.len() / width;
    let mut labels = vec![UNLABELLED; joined.len()];
    let chunk = chunk_rows(joined.len(), CHUNKS);
    for iteration in 1..=ITERATIONS {
        let centres = Centres::new(&at, width);
        let parts = joined.par_chunks(chunk).zip(labels.par_chunks_mut(chunk));
        let sums: Vec<Sums> = parts
            .map(|(joined, labels)| {
                let mut sums = Sums {
                    at: vec![0.0; at.len()],
                    rows: vec![0; clusters],
                };
                if !progress.stopped() {
                    centres.assign(
                        joined,
                        axes,
                        labels,
                        (iteration < ITERATIONS).then_some(&mut sums),
                    );
                }
                sums
            })
            .collect();
        if progress.was_stopped() {
            return None;
        }
        move_centres(&mut at, width, &sums);
    }
    Some(labels)
}

/// Starting centres, clusters × axes; fewer where fewer of the rows that are looked at differ.
fn start(
    joined: &[Joined],
    members: &Members,
    axes: &Axes,
    clusters: usize,
    seed: Seed,
) -> Vec<f32> {
    let sample = members.thin(SAMPLE_PER_CLUSTER * clusters, &mut seed.child(0).rng());
    let mut rows = Array2::zeros((sample.count(), axes.count));
    let mut single = vec![0.0; axes.count];
    for (row, mut to) in sample.iter().zip(rows.outer_iter_mut()) {
        axes.embed(&joined[row], &mut single);
        to.iter_mut()
            .zip(&single)
            .for_each(|(to, &x)| *to = f64::from(x));
    }
    let search = Search {
        clusters,
        restarts: 1,
        iterations: 1,
        tolerance: 0.0,
    };
    let centres = best_start(
        rows.view(),
        &vec![1.0; sample.count()],
        &search,
        seed.child(1),
        &Silent,
    );
    centres.iter().map(|&x| x as f32).collect()
}

/// Sums and numbers of the rows of every cluster.
struct Sums {
    at: Vec<f64>,
    rows: Vec<u64>,
}

/// Centres become the means of their rows; those without rows stay.
fn move_centres(at: &mut [f32], width: usize, parts: &[Sums]) {
    for (cluster, centre) in at.chunks_exact_mut(width).enumerate() {
        let rows: u64 = parts.iter().map(|part| part.rows[cluster]).sum();
        if rows == 0 {
            continue;
        }
        for (axis, c) in centre.iter_mut().enumerate() {
            let sum: f64 = parts
                .iter()
                .map(|part| part.at[cluster * width + axis])
                .sum();
            *c = (sum / rows as f64) as f32;
        }
    }
}

/// Centres as the kernel reads them, clusters × axes.
struct Centres<'a> {
    at: &'a [f32],
    half: Vec<f32>,
    width: usize,
}

impl<'a> Centres<'a> {
    fn new(at: &'a [f32], width: usize) -> Self {
        let half = |centre: &[f32]| {
            (0.5 * centre.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>()) as f32
        };
        Self {
            at,
            half: at.chunks_exact(width).map(half).collect(),
            width,
        }
    }

    /// The nearest centre of every row of a chunk, panel by panel, and what it adds to its cluster.
    fn assign(
        &self,
        joined: &[Joined],
        axes: &Axes,
        labels: &mut [u16],
        mut sums: Option<&mut Sums>,
    ) {
        let width = self.width;
        let mut rows = vec![0.0f32; PANEL * width];
        let mut panel = vec![0.0f32; PANEL * width];
        let mut out = Nearest::new();
        for (joined, labels) in joined.chunks(PANEL).zip(labels.chunks_mut(PANEL)) {
            let mut seen = [false; PANEL];
            for ((lane, row), to) in joined.iter().enumerate().zip(rows.chunks_exact_mut(width)) {
                seen[lane] = axes.embed(row, to);
                to.iter()
                    .enumerate()
                    .for_each(|(axis, &x)| panel[axis * PANEL + lane] = x);
            }
            nearest(&panel, self.at, &self.half, &mut out);
            for (lane, label) in labels
                .iter_mut()
                .enumerate()
                .filter(|(lane, _)| seen[*lane])
            {
                *label = out.centre[lane] as u16;
                if let Some(sums) = &mut sums {
                    let cluster = usize::from(*label);
                    sums.rows[cluster] += 1;
                    let to = &mut sums.at[cluster * width..][..width];
                    to.iter_mut()
                        .zip(&rows[lane * width..][..width])
                        .for_each(|(sum, &x)| *sum += f64::from(x));
                }
            }
        }
    }
}
