//! Lloyd's algorithm on dense rows, for many runs over the same rows at once.

use std::ops::Range;

use partita_core::{ProgressCounter, Stopped, chunks};
use partita_kernels::{Nearest, PANEL, nearest};
use rayon::prelude::*;

use crate::dense_rows::DenseRows;
use crate::initialization::choose;
use crate::members::bits;
use crate::run::{Fit, RunSpec, UNLABELLED, compact};
use crate::settings::KMeansSettings;

/// Most chunks that the rows are cut into, and the fewest rows in one.
const MOST_CHUNKS: usize = 64;
const LEAST_CHUNK: usize = 2048;

/// Bytes of rows that a block holds: it stays in the second-level cache while all runs pass over it.
const BLOCK_BYTES: usize = 128 << 10;

enum Phase {
    Going,
    /// One more assignment, to the last centres, and no update.
    Last(Stopped),
    Done(Stopped),
}

struct Run<'a> {
    spec: &'a RunSpec,
    centres: Vec<f64>,
    /// The centres in single precision and their ½‖c‖², as the kernel reads them.
    single: Vec<f32>,
    half: Vec<f32>,
    /// Weighted sums and weights of the rows of each cluster.
    sums: Vec<f64>,
    mass: Vec<f64>,
    rounds: usize,
    phase: Phase,
}

/// What one run knows of the rows of one chunk.
struct Part {
    labels: Vec<u16>,
    /// What changed in the sums and masses of the clusters.
    sums: Vec<f64>,
    mass: Vec<f64>,
    changed: usize,
}

/// Runs all specs together, over the same rows, and tells `done` of each as it is finished. A spec that is not
/// finished when the monitor says stop gives nothing.
pub fn lloyd(
    rows: &DenseRows,
    specs: &[RunSpec],
    settings: &KMeansSettings,
    progress: &ProgressCounter<'_>,
    done: &mut dyn FnMut(usize, Fit),
) {
    let size = LEAST_CHUNK.max(rows.n.div_ceil(MOST_CHUNKS).next_multiple_of(PANEL));
    let ranges: Vec<Range<usize>> = chunks(rows.n, size).collect();
    let mut runs: Vec<Run<'_>> = Vec::with_capacity(specs.len());
    for spec in specs {
        if progress.stopped() {
            return;
        }
        runs.push(Run::new(rows, spec));
    }
    let mut parts: Vec<Vec<Part>> =
        ranges.iter().map(|range| runs.iter().map(|run| Part::new(range.len(), run)).collect()).collect();
    while runs.iter().any(Run::active) {
        let ranged = parts.par_iter_mut().zip(&ranges);
        ranged.for_each(|(parts, range)| assign(rows, &runs, range.clone(), parts, progress));
        if progress.stopped() {
            return;
        }
        for (u, run) in runs.iter_mut().enumerate().filter(|(_, run)| run.active()) {
            let mut own: Vec<&mut Part> = parts.iter_mut().map(|parts| &mut parts[u]).collect();
            run.advance(rows, &mut own, size, settings);
            if let Phase::Done(stopped) = run.phase {
                done(u, run.finish(rows, own.into_iter().map(|part| &*part), stopped));
            }
        }
    }
}

/// One pass over the rows of a chunk, for every active run, block by block.
fn assign(rows: &DenseRows, runs: &[Run<'_>], range: Range<usize>, parts: &mut [Part], progress: &ProgressCounter<'_>) {
    let panels = range.start / PANEL..range.end.div_ceil(PANEL);
    let block = (BLOCK_BYTES / (4 * PANEL * rows.d)).clamp(1, 64);
    let mut out = Nearest::new();
    for first in panels.clone().step_by(block) {
        for (run, part) in runs.iter().zip(&mut *parts).filter(|(run, _)| run.active()) {
            for panel in first..(first + block).min(panels.end) {
                let word = run.spec.members.word(panel);
                if word != 0 {
                    nearest(rows.panel(panel), &run.single, &run.half, &mut out);
                    part.take(rows, panel, (panel - panels.start) * PANEL, word, &out.centre);
                }
            }
            if progress.stopped() {
                return;
            }
        }
    }
}

impl Part {
    fn new(rows: usize, run: &Run<'_>) -> Self {
        let (sums, mass) = (vec![0.0; run.sums.len()], vec![0.0; run.mass.len()]);
        Self { labels: vec![UNLABELLED; rows], sums, mass, changed: 0 }
    }

    /// Takes the new labels of one panel, whose rows start at `first` of this chunk.
    fn take(&mut self, rows: &DenseRows, panel: usize, first: usize, word: u64, centre: &[u32; PANEL]) {
        let end = self.labels.len().min(first + PANEL);
        let mut moved = 0u64;
        for (lane, (&label, &centre)) in self.labels[first..end].iter().zip(centre).enumerate() {
            moved |= u64::from(u32::from(label) != centre) << lane;
        }
        for lane in bits(moved & word) {
            let (old, new) = (self.labels[first + lane], centre[lane] as u16);
            self.labels[first + lane] = new;
            self.shift(rows, panel * PANEL + lane, old, new);
        }
    }

    /// Moves a row from one cluster's sums to another's.
    fn shift(&mut self, rows: &DenseRows, row: usize, old: u16, new: u16) {
        self.changed += 1;
        let (d, weight) = (rows.d, rows.weight(row));
        for (label, weight) in [(old, -weight), (new, weight)] {
            if label != UNLABELLED {
                let label = usize::from(label);
                self.mass[label] += weight;
                let sums = &mut self.sums[label * d..][..d];
                sums.iter_mut().zip(rows.row(row)).for_each(|(sum, &x)| *sum += weight * f64::from(x));
            }
        }
    }
}

impl<'a> Run<'a> {
    fn new(rows: &DenseRows, spec: &'a RunSpec) -> Self {
        let (k, d) = (spec.clusters, rows.d);
        let centres = spec.given.clone().unwrap_or_else(|| {
            choose(rows, spec).into_iter().flat_map(|i| rows.row(i).iter().map(|&x| f64::from(x))).collect()
        });
        let (single, half) = (vec![0.0; k * d], vec![0.0; k]);
        let (sums, mass) = (vec![0.0; k * d], vec![0.0; k]);
        let mut run = Self { spec, centres, single, half, sums, mass, rounds: 0, phase: Phase::Going };
        run.round_centres(rows);
        run
    }

    fn active(&self) -> bool {
        !matches!(self.phase, Phase::Done(_))
    }

    /// Prepares the centres for the kernel.
    fn round_centres(&mut self, rows: &DenseRows) {
        self.single.iter_mut().zip(&self.centres).for_each(|(single, &c)| *single = c as f32);
        if !rows.cosine {
            for (half, centre) in self.half.iter_mut().zip(self.single.chunks_exact(rows.d)) {
                *half = (0.5 * centre.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>()) as f32;
            }
        }
    }

    /// Ends a round: gathers what the chunks changed and moves the centres.
    fn advance(&mut self, rows: &DenseRows, parts: &mut [&mut Part], size: usize, settings: &KMeansSettings) {
        let changed = self.gather(parts);
        if let Phase::Last(stopped) = self.phase {
            self.phase = Phase::Done(stopped);
            return;
        }
        self.rounds += 1;
        if changed == 0 {
            self.phase = Phase::Done(Stopped::Converged);
            return;
        }
        if self.mass.iter().any(|&mass| mass <= 0.0) {
            self.repair(rows, parts, size);
            self.gather(parts);
        }
        let moved = self.update(rows);
        self.round_centres(rows);
        if moved <= settings.tolerance * rows.variance {
            self.phase = Phase::Last(Stopped::Converged);
        } else if self.rounds >= settings.rounds.get() as usize {
            self.phase = Phase::Last(Stopped::RoundLimit);
        }
    }

    fn gather(&mut self, parts: &mut [&mut Part]) -> usize {
        let mut changed = 0;
        for part in parts.iter_mut().filter(|part| part.changed > 0) {
            self.sums.iter_mut().zip(&mut part.sums).for_each(|(sum, change)| *sum += std::mem::take(change));
            self.mass.iter_mut().zip(&mut part.mass).for_each(|(mass, change)| *mass += std::mem::take(change));
            changed += std::mem::take(&mut part.changed);
        }
        changed
    }

    /// Gives every empty cluster the row that is farthest from its centre.
    fn repair(&mut self, rows: &DenseRows, parts: &mut [&mut Part], size: usize) {
        let empty: Vec<usize> = (0..self.mass.len()).filter(|&j| self.mass[j] <= 0.0).collect();
        let (d, single) = (rows.d, &self.single);
        let mut far: Vec<(f64, usize)> = Vec::new();
        for row in self.spec.members.iter() {
            let label = usize::from(parts[row / size].labels[row % size]);
            let distance = rows.distance2(row, &single[label * d..][..d]);
            if distance > 0.0 {
                far.push((distance, row));
            }
        }
        far.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut left: Vec<f64> = self.mass.clone();
        let mut empty = empty.into_iter();
        for (_, row) in far {
            let (part, place) = (&mut parts[row / size], row % size);
            let (old, weight) = (part.labels[place], rows.weight(row));
            // A cluster that has only this row keeps it.
            if left[usize::from(old)] <= weight * (1.0 + 1e-9) {
                continue;
            }
            let Some(new) = empty.next() else { break };
            left[usize::from(old)] -= weight;
            part.labels[place] = new as u16;
            part.shift(rows, row, old, new as u16);
        }
    }

    /// Moves each centre to the mean of its rows; gives the sum of the squared moves.
    fn update(&mut self, rows: &DenseRows) -> f64 {
        let mut moved = 0.0;
        let clusters = self.centres.chunks_exact_mut(rows.d).zip(self.sums.chunks_exact(rows.d));
        for ((centre, sums), &mass) in clusters.zip(&self.mass) {
            let length = if rows.cosine { sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt() } else { mass };
            if mass <= 0.0 || length <= 0.0 {
                continue;
            }
            for (c, &sum) in centre.iter_mut().zip(sums) {
                let new = sum / length;
                moved += (new - *c).powi(2);
                *c = new;
            }
        }
        moved
    }

    /// Numbers the clusters that have rows and measures the result.
    fn finish<'p>(&self, rows: &DenseRows, parts: impl Iterator<Item = &'p Part>, stopped: Stopped) -> Fit {
        let mut labels: Vec<u16> = parts.flat_map(|part| part.labels.iter().copied()).collect();
        let inertia = self.inertia(rows, &labels);
        let mut used = vec![false; self.mass.len()];
        labels.iter().filter(|&&label| label != UNLABELLED).for_each(|&label| used[usize::from(label)] = true);
        let kept = (0..used.len()).filter(|&j| used[j]);
        let clusters = compact(&mut labels);
        let centres = kept.flat_map(|j| self.centres[j * rows.d..][..rows.d].iter().copied()).collect();
        Fit { labels, centres, clusters, inertia, rounds: self.rounds, stopped }
    }

    /// From the sums of the clusters, Σ w‖x‖² − 2 c·Σ w x + ‖c‖² Σ w, where that cancels little: squares are kept in
    /// single precision. Row by row otherwise.
    fn inertia(&self, rows: &DenseRows, labels: &[u16]) -> f64 {
        let whole = |row: usize| rows.weight(row) * f64::from(rows.squares[row]);
        let total: f64 = self.spec.members.iter().map(whole).sum();
        let single = self.single.chunks_exact(rows.d).zip(self.sums.chunks_exact(rows.d)).zip(&self.mass);
        let explained: f64 = single
            .map(|((centre, sums), mass)| {
                let products =
                    centre.iter().zip(sums).map(|(&c, sum)| f64::from(c) * (2.0 * sum - mass * f64::from(c)));
                products.sum::<f64>()
            })
            .sum();
        let unit = if rows.cosine { 0.5 } else { rows.factor.powi(-2) };
        if total - explained > 0.05 * total {
            (total - explained) * unit
        } else {
            self.exact_inertia(rows, labels) * unit
        }
    }

    fn exact_inertia(&self, rows: &DenseRows, labels: &[u16]) -> f64 {
        let chunk = |(chunk, labels): (usize, &[u16])| {
            let first = chunk * LEAST_CHUNK;
            let labelled = labels.iter().enumerate().filter(|(_, label)| **label != UNLABELLED);
            labelled.fold(0.0, |sum, (i, &label)| {
                let centre = &self.single[usize::from(label) * rows.d..][..rows.d];
                sum + rows.weight(first + i) * rows.distance2(first + i, centre)
            })
        };
        let sums: Vec<f64> = labels.par_chunks(LEAST_CHUNK).enumerate().map(chunk).collect();
        sums.iter().sum()
    }
}
