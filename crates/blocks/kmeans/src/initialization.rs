//! Initialization on tables: k-means++ in single precision, panels of 64 rows at a time, or rows drawn evenly.

use partita_kernels::{Kernel, PANEL, Simd, dispatch};
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::members::Members;
use crate::plus_plus::{DistanceField, plus_plus};
use crate::run::RunSpec;
use crate::settings::Initialization;

/// Rows in one fixed chunk of a pass over the table.
const CHUNK: usize = 8192;

/// Rows among which centres are chosen, dense or sparse.
pub(crate) trait PanelRows: Sync {
    /// A row in a form that distances from it are quick from.
    type Point: Sync;

    fn objects(&self) -> usize;

    fn weights(&self) -> Option<&[f64]>;

    fn point(&self, row: usize) -> Self::Point;

    /// Squared distances of 64 rows from a point; beyond the last row anything.
    fn distances(&self, panel: usize, point: &Self::Point) -> [f32; PANEL];
}

/// The rows that become the first centres of a run: k of them, distinct as far as the table has distinct rows.
pub(crate) fn choose<P: PanelRows>(rows: &P, spec: &RunSpec) -> Vec<usize> {
    let candidates = match spec.initialization {
        Initialization::Random => return random(spec),
        Initialization::PlusPlus => 1,
        Initialization::Greedy => 2 + (spec.clusters as f64).ln() as usize,
    };
    let mut field = PanelField::new(rows, &spec.members);
    plus_plus(&mut field, spec.clusters, candidates, &mut spec.seed.rng())
}

/// k distinct members, each set equally likely, in the order of their draws.
fn random(spec: &RunSpec) -> Vec<usize> {
    let mut rng = spec.seed.rng();
    let mut seen = std::collections::BTreeSet::new();
    let mut chosen = Vec::with_capacity(spec.clusters);
    // The smaller of the set and its complement is drawn, so that few draws repeat.
    let count = spec.members.count();
    if spec.clusters > count / 2 {
        let mut all: Vec<usize> = spec.members.iter().collect();
        for place in 0..spec.clusters {
            all.swap(place, rng.random_range(place as u64..count as u64) as usize);
        }
        all.truncate(spec.clusters);
        return all;
    }
    while chosen.len() < spec.clusters {
        let rank = rng.random_range(0..count as u64) as usize;
        if seen.insert(rank) {
            chosen.push(spec.members.nth(rank));
        }
    }
    chosen
}

/// Squared distance of every member from the nearest centre so far; 0 for rows that are no members.
struct PanelField<'a, P> {
    rows: &'a P,
    members: &'a Members,
    near: Vec<f32>,
    fresh: bool,
    /// Weighted sum of `near` by chunk.
    totals: Vec<f64>,
}

impl<'a, P: PanelRows> PanelField<'a, P> {
    fn new(rows: &'a P, members: &'a Members) -> Self {
        let near = vec![0.0; rows.objects().next_multiple_of(PANEL)];
        Self {
            rows,
            members,
            near,
            fresh: true,
            totals: vec![0.0; rows.objects().div_ceil(CHUNK)],
        }
    }

    fn weight(&self, row: usize) -> f64 {
        self.rows.weights().map_or(1.0, |weights| weights[row])
    }

    /// A member drawn in proportion to its weight.
    fn draw_any(&self, rng: &mut impl Rng) -> usize {
        if self.rows.weights().is_none() {
            return self
                .members
                .nth(rng.random_range(0..self.members.count() as u64) as usize);
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

impl<P: PanelRows> DistanceField for PanelField<'_, P> {
    fn first(&mut self, rng: &mut impl Rng) -> Option<usize> {
        Some(self.draw_any(rng))
    }

    fn add(&mut self, centre: usize) {
        let (rows, members, fresh) = (self.rows, self.members, self.fresh);
        let point = rows.point(centre);
        self.near
            .par_chunks_mut(CHUNK)
            .zip(&mut self.totals)
            .enumerate()
            .for_each(|(chunk, (near, total))| {
                let mut sum = 0.0;
                for (place, near) in near.chunks_exact_mut(PANEL).enumerate() {
                    let panel = chunk * (CHUNK / PANEL) + place;
                    let distances = &rows.distances(panel, &point);
                    let near: &mut [f32; PANEL] = near.try_into().expect("a panel");
                    dispatch(Nearer {
                        distances,
                        members: members.word(panel),
                        fresh,
                        near: &mut *near,
                    });
                    sum += mass(rows, panel, near);
                }
                *total = sum;
            });
        // Rounding may leave a trace of distance between a row and itself.
        self.near[centre] = 0.0;
        self.fresh = false;
    }

    fn best(&mut self, candidates: &[usize]) -> usize {
        let potential = |&candidate: &usize| -> f64 {
            let point = self.rows.point(candidate);
            let chunk_sum = |(chunk, near): (usize, &[f32])| {
                let panels = near.chunks_exact(PANEL).enumerate();
                panels.fold(0.0, |sum, (place, near)| {
                    let panel = chunk * (CHUNK / PANEL) + place;
                    let mut distances = self.rows.distances(panel, &point);
                    distances
                        .iter_mut()
                        .zip(near)
                        .for_each(|(distance, &near)| *distance = distance.min(near));
                    sum + mass(self.rows, panel, &distances)
                })
            };
            let sums: Vec<f64> = self
                .near
                .par_chunks(CHUNK)
                .enumerate()
                .map(chunk_sum)
                .collect();
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

    /// Any member when all distances are 0.
    fn draw(&self, rng: &mut impl Rng) -> Option<usize> {
        let total: f64 = self.totals.iter().sum();
        if total <= 0.0 {
            return Some(self.draw_any(rng));
        }
        let mut left = rng.random::<f64>() * total;
        let chunk = self.totals.iter().position(|&sum| {
            let here = left < sum;
            left -= if here { 0.0 } else { sum };
            here
        });
        let first = chunk.unwrap_or(self.totals.len() - 1) * CHUNK;
        let here = first..(first + CHUNK).min(self.rows.objects());
        let mass = |row: &usize| f64::from(self.near[*row]) * self.weight(*row);
        let passed = here.clone().find(|row| {
            let mass = mass(row);
            let here = left < mass;
            left -= mass;
            here
        });
        // Rounding may leave the sum below.
        passed
            .or_else(|| here.rev().find(|row| mass(row) > 0.0))
            .or_else(|| Some(self.draw_any(rng)))
    }
}

/// Distances from the nearest centre once there is one more: 0 for rows that are no members.
struct Nearer<'a> {
    distances: &'a [f32; PANEL],
    /// A bit a row.
    members: u64,
    /// Whether it is the first centre.
    fresh: bool,
    near: &'a mut [f32; PANEL],
}

impl Kernel for Nearer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        const HALF: usize = PANEL / 2;
        if self.fresh {
            *self.near = *self.distances;
        } else {
            self.near
                .iter_mut()
                .zip(self.distances)
                .for_each(|(near, &distance)| *near = distance.min(*near));
        }
        for (near, members) in self
            .near
            .chunks_exact_mut(HALF)
            .zip([self.members as u32, (self.members >> HALF) as u32])
        {
            for (lane, near) in near.iter_mut().enumerate() {
                let kept = 0u32.wrapping_sub(members >> lane & 1);
                *near = f32::from_bits(near.to_bits() & kept);
            }
        }
    }
}

/// The sum over a panel, in eight parts.
struct Sum<'a>(&'a [f32]);

impl Kernel for Sum<'_> {
    type Output = f64;

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0f64; 8];
        for near in self.0.chunks_exact(8) {
            sums.iter_mut()
                .zip(near)
                .for_each(|(sum, &near)| *sum += f64::from(near));
        }
        sums.iter().sum()
    }
}

/// Weighted sum over a panel.
fn mass<P: PanelRows>(rows: &P, panel: usize, near: &[f32]) -> f64 {
    let Some(weights) = rows.weights() else {
        return dispatch(Sum(near));
    };
    let weights = &weights[panel * PANEL..rows.objects().min((panel + 1) * PANEL)];
    weights
        .iter()
        .zip(near)
        .map(|(weight, &near)| weight * f64::from(near))
        .sum()
}
