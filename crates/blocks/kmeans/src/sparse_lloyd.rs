//! Lloyd's algorithm on sparse rows: texts, one-hot labels, anything that is mostly zeros.

use partita_core::{ProgressCounter, Stopped};
use partita_kernels::PANEL;
use rayon::prelude::*;

use crate::initialization::choose;
use crate::run::{Fit, RunSpec, UNLABELLED, compact};
use crate::settings::KMeansSettings;
use crate::sparse_rows::SparseRows;

/// Centres whose scores are summed side by side in registers.
const TILE: usize = 32;

/// Rows between two questions to the monitor, and in one partial sum.
const CHUNK: usize = 1024;

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
    fn new(rows: &SparseRows, spec: &RunSpec) -> Self {
        let (k, d) = (spec.clusters, rows.d);
        let at = spec.given.clone().unwrap_or_else(|| {
            let mut at = vec![0.0; k * d];
            for (centre, row) in at.chunks_exact_mut(d).zip(choose(rows, spec)) {
                rows.row(row)
                    .iter()
                    .for_each(|&(column, x)| centre[column as usize] = f64::from(x));
            }
            at
        });
        let mut centres = Self {
            d,
            at,
            tiles: vec![0.0; k.div_ceil(TILE) * TILE * d],
            squares: vec![0.0; k],
        };
        centres.iteration();
        centres
    }

    /// Prepares the centres for scoring.
    fn iteration(&mut self) {
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
pub fn lloyd_sparse(
    rows: &SparseRows,
    spec: &RunSpec,
    settings: &KMeansSettings,
    progress: &ProgressCounter<'_>,
) -> Option<Fit> {
    let mut centres = Centres::new(rows, spec);
    let mut labels = vec![UNLABELLED; rows.n];
    let (mut iterations, mut last) = (0, None);
    let stopped = loop {
        let changed = assign(rows, spec, &centres, &mut labels, progress)?;
        if let Some(stopped) = last {
            break stopped;
        }
        iterations += 1;
        if changed == 0 {
            break Stopped::Converged;
        }
        let mut lists = lists(&labels, spec.clusters);
        if lists.iter().any(Vec::is_empty) {
            repair(rows, &centres, &mut lists, &mut labels);
        }
        let moved = update(rows, &mut centres, &lists);
        if moved <= settings.tolerance * rows.variance {
            last = Some(Stopped::Converged);
        } else if iterations >= settings.iterations.get() as usize {
            last = Some(Stopped::IterationLimit);
        }
    };
    Some(finish(rows, &centres, labels, iterations, stopped))
}

/// Labels every member by its nearest centre; gives how many labels changed.
fn assign(
    rows: &SparseRows,
    spec: &RunSpec,
    centres: &Centres,
    labels: &mut [u16],
    progress: &ProgressCounter<'_>,
) -> Option<usize> {
    let mut half = vec![f32::INFINITY; centres.squares.len().next_multiple_of(TILE)];
    for (half, square) in half.iter_mut().zip(&centres.squares) {
        *half = if rows.cosine {
            0.0
        } else {
            (0.5 * square) as f32
        };
    }
    let chunk = |(chunk, labels): (usize, &mut [u16])| {
        if progress.stopped() {
            return None;
        }
        let mut changed = 0;
        for (place, label) in labels.iter_mut().enumerate() {
            let row = chunk * CHUNK + place;
            if spec.members.word(row / PANEL) >> (row % PANEL) & 1 == 1 {
                let nearest = centres.nearest(rows.row(row), &half);
                changed += usize::from(nearest != *label);
                *label = nearest;
            }
        }
        Some(changed)
    };
    let changed: Vec<Option<usize>> = labels
        .par_chunks_mut(CHUNK)
        .enumerate()
        .map(chunk)
        .collect();
    changed.into_iter().sum()
}

/// The rows of every cluster, rising.
fn lists(labels: &[u16], clusters: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); clusters];
    let labelled = labels
        .iter()
        .enumerate()
        .filter(|(_, label)| **label != UNLABELLED);
    labelled.for_each(|(row, &label)| lists[usize::from(label)].push(row as u32));
    lists
}

/// Gives every empty cluster the row that is farthest from its centre.
fn repair(rows: &SparseRows, centres: &Centres, lists: &mut [Vec<u32>], labels: &mut [u16]) {
    let labelled = labels
        .iter()
        .enumerate()
        .filter(|(_, label)| **label != UNLABELLED);
    let distance =
        |(row, &label): (usize, &u16)| (centres.distance2(rows, row, usize::from(label)), row);
    // Rounding leaves a trace of distance between a row and a centre that is its copy.
    let apart = |&(distance, row): &(f64, usize)| {
        distance > 1e-12 * rows.squares[row].max(f64::MIN_POSITIVE)
    };
    let mut far: Vec<(f64, usize)> = labelled.map(distance).filter(apart).collect();
    far.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut empty = (0..lists.len())
        .filter(|&j| lists[j].is_empty())
        .collect::<Vec<usize>>()
        .into_iter();
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
            rows.row(row as usize)
                .iter()
                .for_each(|&(column, x)| sums[column as usize] += weight * f64::from(x));
        }
        let length = if rows.cosine {
            sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt()
        } else {
            mass
        };
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
    let moved: Vec<f64> = centres
        .at
        .par_chunks_exact_mut(d)
        .zip(lists)
        .map(cluster)
        .collect();
    centres.iteration();
    moved.iter().sum()
}

/// Numbers the clusters that have rows and measures the result.
fn finish(
    rows: &SparseRows,
    centres: &Centres,
    mut labels: Vec<u16>,
    iterations: usize,
    stopped: Stopped,
) -> Fit {
    let chunk = |(chunk, labels): (usize, &[u16])| {
        let labelled = labels
            .iter()
            .enumerate()
            .filter(|(_, label)| **label != UNLABELLED);
        labelled.fold(0.0, |sum, (place, &label)| {
            let row = chunk * CHUNK + place;
            sum + rows.weight(row) * centres.distance2(rows, row, usize::from(label))
        })
    };
    let sums: Vec<f64> = labels.par_chunks(CHUNK).enumerate().map(chunk).collect();
    let inertia = sums.iter().sum::<f64>()
        * if rows.cosine {
            0.5
        } else {
            rows.factor.powi(-2)
        };
    let mut used = vec![false; centres.squares.len()];
    labels
        .iter()
        .filter(|&&label| label != UNLABELLED)
        .for_each(|&label| used[usize::from(label)] = true);
    let kept = (0..used.len()).filter(|&j| used[j]);
    let at = kept
        .flat_map(|j| centres.at[j * centres.d..][..centres.d].iter().copied())
        .collect();
    let clusters = compact(&mut labels);
    Fit {
        labels,
        centres: at,
        clusters,
        inertia,
        iterations,
        stopped,
    }
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::Array2;
    use partita_core::{Seed, Silent};
    use rand::RngExt;
    use sprs::CsMat;

    use super::*;
    use crate::dense_rows::DenseRows;
    use crate::lloyd::lloyd;
    use crate::members::Members;
    use crate::settings::Initialization;

    #[test]
    fn subsamples_are_those_of_the_dense_table() {
        for unit in 0..20u64 {
            let mut rng = Seed::new(unit).rng();
            let table = Array2::from_shape_fn((150, 40), |(i, p)| {
                let high = rng.random::<f64>() < if p % 5 == i % 5 { 0.6 } else { 0.05 };
                if high { 1.0 + rng.random::<f64>() } else { 0.0 }
            });
            let members = Members::draw(150, 100, &mut rng);
            let spec = || RunSpec {
                clusters: 5,
                initialization: [
                    Initialization::PlusPlus,
                    Initialization::Greedy,
                    Initialization::Random,
                ][unit as usize % 3],
                seed: Seed::new(unit),
                members: members.clone(),
                given: None,
            };
            let (settings, progress) =
                (KMeansSettings::default(), ProgressCounter::new(&Silent, 1));
            let (mut dense, rows) = (None, DenseRows::new(table.view(), None, true));
            lloyd(&rows, &[spec()], &settings, &progress, &mut |_, fit| {
                dense = Some(fit);
            });
            let held = CsMat::csr_from_dense(table.view(), 0.0);
            let rows = SparseRows::new(held.view(), None, true).unwrap();
            let (dense, fit) = (
                dense.unwrap(),
                lloyd_sparse(&rows, &spec(), &settings, &progress).unwrap(),
            );
            assert_eq!(
                (&fit.labels, fit.iterations, fit.stopped),
                (&dense.labels, dense.iterations, dense.stopped),
                "{unit}"
            );
            assert!((fit.inertia / dense.inertia - 1.0).abs() < 1e-6);
            assert_eq!(
                fit.labels
                    .iter()
                    .filter(|&&label| label == UNLABELLED)
                    .count(),
                50
            );
        }
    }
}
