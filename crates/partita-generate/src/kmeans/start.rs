//! Where the centres start.

use partita_kernels::{Nearest, PANEL, nearest};
use rand::RngExt;
use rayon::prelude::*;

use super::rows::{Members, Rows};
use super::{Job, Start};

/// Rows in one fixed chunk of a pass over the table.
const CHUNK: usize = 8192;

/// Rows among which centres are chosen, dense or sparse.
pub(super) trait Points: Sync {
    /// A row in a form that distances from it are quick from.
    type Point: Sync;

    fn objects(&self) -> usize;

    fn weights(&self) -> Option<&[f64]>;

    fn point(&self, row: usize) -> Self::Point;

    /// Squared distances of 64 rows from a point; beyond the last row anything.
    fn distances(&self, panel: usize, point: &Self::Point) -> [f32; PANEL];
}

impl Points for Rows {
    type Point = usize;

    fn objects(&self) -> usize {
        self.n
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn point(&self, row: usize) -> usize {
        row
    }

    fn distances(&self, panel: usize, &centre: &usize) -> [f32; PANEL] {
        let mut out = Nearest::new();
        let square = self.squares[centre];
        nearest(self.panel(panel), self.row(centre), &[0.5 * square], &mut out);
        std::array::from_fn(|lane| (self.squares[panel * PANEL + lane] - 2.0 * out.best[lane]).max(0.0))
    }
}

/// The rows that become the first centres of a job: k of them, distinct as far as the table has distinct rows.
pub(super) fn choose<P: Points>(rows: &P, job: &Job) -> Vec<usize> {
    let candidates = match job.start {
        Start::Random => return random(job),
        Start::PlusPlus => 1,
        Start::Greedy => 2 + (job.clusters as f64).ln() as usize,
    };
    let mut rng = job.seed.rng();
    let mut field = Field::new(rows, &job.members);
    let mut chosen = vec![field.draw_any(&mut rng)];
    while chosen.len() < job.clusters {
        field.add(chosen[chosen.len() - 1]);
        let drawn: Vec<usize> = (0..candidates).map(|_| field.draw(&mut rng)).collect();
        chosen.push(if candidates == 1 { drawn[0] } else { field.best(&drawn) });
    }
    chosen
}

/// k distinct members, each set equally likely, in the order of their draws.
fn random(job: &Job) -> Vec<usize> {
    let mut rng = job.seed.rng();
    let mut seen = std::collections::BTreeSet::new();
    let mut chosen = Vec::with_capacity(job.clusters);
    // The smaller of the set and its complement is drawn, so that few draws repeat.
    let count = job.members.count();
    if job.clusters > count / 2 {
        let mut all: Vec<usize> = job.members.iter().collect();
        for place in 0..job.clusters {
            all.swap(place, rng.random_range(place as u64..count as u64) as usize);
        }
        all.truncate(job.clusters);
        return all;
    }
    while chosen.len() < job.clusters {
        let rank = rng.random_range(0..count as u64) as usize;
        if seen.insert(rank) {
            chosen.push(job.members.nth(rank));
        }
    }
    chosen
}

/// Squared distance of every member from the nearest centre so far; 0 for rows that are no members.
struct Field<'a, P> {
    rows: &'a P,
    members: &'a Members,
    near: Vec<f32>,
    fresh: bool,
    /// Weighted sum of `near` by chunk.
    totals: Vec<f64>,
}

impl<'a, P: Points> Field<'a, P> {
    fn new(rows: &'a P, members: &'a Members) -> Self {
        let near = vec![0.0; rows.objects().next_multiple_of(PANEL)];
        Self { rows, members, near, fresh: true, totals: vec![0.0; rows.objects().div_ceil(CHUNK)] }
    }

    /// Takes a new centre into account.
    fn add(&mut self, centre: usize) {
        let (rows, members, fresh) = (self.rows, self.members, self.fresh);
        let point = rows.point(centre);
        self.near.par_chunks_mut(CHUNK).zip(&mut self.totals).enumerate().for_each(|(chunk, (near, total))| {
            let mut sum = 0.0;
            for (place, near) in near.chunks_exact_mut(PANEL).enumerate() {
                let panel = chunk * (CHUNK / PANEL) + place;
                let distances = rows.distances(panel, &point);
                let word = members.word(panel);
                for lane in 0..PANEL {
                    let distance = if fresh { distances[lane] } else { distances[lane].min(near[lane]) };
                    near[lane] = if word >> lane & 1 == 1 { distance } else { 0.0 };
                }
                sum += mass(rows, panel, near);
            }
            *total = sum;
        });
        // Rounding may leave a trace of distance between a row and itself.
        self.near[centre] = 0.0;
        self.fresh = false;
    }

    /// The candidate after which the distances sum to least.
    fn best(&self, candidates: &[usize]) -> usize {
        let potential = |&candidate: &usize| -> f64 {
            let point = self.rows.point(candidate);
            let chunk_sum = |(chunk, near): (usize, &[f32])| {
                let panels = near.chunks_exact(PANEL).enumerate();
                panels.fold(0.0, |sum, (place, near)| {
                    let panel = chunk * (CHUNK / PANEL) + place;
                    let mut distances = self.rows.distances(panel, &point);
                    distances.iter_mut().zip(near).for_each(|(distance, &near)| *distance = distance.min(near));
                    sum + mass(self.rows, panel, &distances)
                })
            };
            let sums: Vec<f64> = self.near.par_chunks(CHUNK).enumerate().map(chunk_sum).collect();
            sums.iter().sum()
        };
        let mut best = (f64::INFINITY, candidates[0]);
        for candidate in candidates {
            let sum = potential(candidate);
            if sum < best.0 {
                best = (sum, *candidate);
            }
        }
        best.1
    }

    /// A member drawn in proportion to weight × squared distance; any member when all distances are 0.
    fn draw(&self, rng: &mut impl rand::Rng) -> usize {
        let total: f64 = self.totals.iter().sum();
        if total <= 0.0 {
            return self.draw_any(rng);
        }
        let mut left = rng.random::<f64>() * total;
        let chunk = self.totals.iter().position(|&sum| {
            let here = left < sum;
            left -= if here { 0.0 } else { sum };
            here
        });
        let first = chunk.unwrap_or(self.totals.len() - 1) * CHUNK;
        let mut last = None;
        for row in first..(first + CHUNK).min(self.rows.objects()) {
            let mass = f64::from(self.near[row]) * self.weight(row);
            if mass > 0.0 {
                last = Some(row);
                if left < mass {
                    break;
                }
                left -= mass;
            }
        }
        last.unwrap_or_else(|| self.draw_any(rng))
    }

    fn weight(&self, row: usize) -> f64 {
        self.rows.weights().map_or(1.0, |weights| weights[row])
    }

    /// A member drawn in proportion to its weight.
    fn draw_any(&self, rng: &mut impl rand::Rng) -> usize {
        if self.rows.weights().is_none() {
            return self.members.nth(rng.random_range(0..self.members.count() as u64) as usize);
        }
        let total: f64 = self.members.iter().map(|row| self.weight(row)).sum();
        let mut left = rng.random::<f64>() * total;
        let mut last = 0;
        for row in self.members.iter() {
            last = row;
            left -= self.weight(row);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

/// Weighted sum over a panel.
fn mass<P: Points>(rows: &P, panel: usize, near: &[f32]) -> f64 {
    if let Some(weights) = rows.weights() {
        let weights = &weights[panel * PANEL..rows.objects().min((panel + 1) * PANEL)];
        return weights.iter().zip(near).map(|(weight, &near)| weight * f64::from(near)).sum();
    }
    let mut sums = [0.0f64; 8];
    for near in near.chunks_exact(8) {
        sums.iter_mut().zip(near).for_each(|(sum, &near)| *sum += f64::from(near));
    }
    sums.iter().sum()
}
