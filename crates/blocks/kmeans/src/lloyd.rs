//! Lloyd's algorithm on dense rows, for many runs over the same rows at once.

use std::ops::Range;

use partita_core::{ProgressCounter, Stopped, chunks};
use partita_kernels::{Nearest, PANEL};
use rayon::prelude::*;

use crate::centres::Centres;
use crate::dense_rows::DenseRows;
use crate::initialization::choose;
use crate::part::Part;
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
    rounded: Centres,
    /// Weighted sums and weights of the rows of each cluster.
    sums: Vec<f64>,
    mass: Vec<f64>,
    iterations: usize,
    phase: Phase,
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
    let mut parts: Vec<Vec<Part>> = ranges
        .iter()
        .map(|range| runs.iter().map(|run| run.part(range.len())).collect())
        .collect();
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
                done(
                    u,
                    run.finish(rows, own.into_iter().map(|part| &*part), stopped),
                );
            }
        }
    }
}

/// One pass over the rows of a chunk, for every active run, block by block.
fn assign(
    rows: &DenseRows,
    runs: &[Run<'_>],
    range: Range<usize>,
    parts: &mut [Part],
    progress: &ProgressCounter<'_>,
) {
    let panels = range.start / PANEL..range.end.div_ceil(PANEL);
    let block = (BLOCK_BYTES / (4 * PANEL * rows.d)).clamp(1, 64);
    let mut found = Nearest::new();
    for first in panels.clone().step_by(block) {
        for (run, part) in runs.iter().zip(&mut *parts).filter(|(run, _)| run.active()) {
            for panel in first..(first + block).min(panels.end) {
                let members = run.spec.members.word(panel);
                if members != 0 {
                    part.compare(rows, &run.rounded, range.start, panel, members, &mut found);
                }
            }
            part.gather(rows, &run.rounded, range.start, &mut found);
            if progress.stopped() {
                return;
            }
        }
    }
}

impl<'a> Run<'a> {
    fn new(rows: &DenseRows, spec: &'a RunSpec) -> Self {
        let (k, d) = (spec.clusters, rows.d);
        let centres = spec.given.clone().unwrap_or_else(|| {
            choose(rows, spec)
                .into_iter()
                .flat_map(|i| rows.row(i).iter().map(|&x| f64::from(x)))
                .collect()
        });
        let (sums, mass) = (vec![0.0; k * d], vec![0.0; k]);
        let rounded = Centres::new(rows, &centres);
        Self {
            spec,
            centres,
            rounded,
            sums,
            mass,
            iterations: 0,
            phase: Phase::Going,
        }
    }

    fn active(&self) -> bool {
        !matches!(self.phase, Phase::Done(_))
    }

    /// What it will know of a chunk of so many rows.
    fn part(&self, rows: usize) -> Part {
        Part::new(rows, self.sums.len(), self.mass.len())
    }

    /// Ends an iteration: gathers what the chunks changed and moves the centres.
    fn advance(
        &mut self,
        rows: &DenseRows,
        parts: &mut [&mut Part],
        size: usize,
        settings: &KMeansSettings,
    ) {
        let changed = self.gather(parts);
        if let Phase::Last(stopped) = self.phase {
            self.phase = Phase::Done(stopped);
            return;
        }
        self.iterations += 1;
        if changed == 0 {
            self.phase = Phase::Done(Stopped::Converged);
            return;
        }
        if self.mass.iter().any(|&mass| mass <= 0.0) {
            self.repair(rows, parts, size);
            self.gather(parts);
        }
        let moved = self.update(rows);
        self.rounded.follow(rows, &self.centres);
        if moved <= settings.tolerance * rows.variance {
            self.phase = Phase::Last(Stopped::Converged);
        } else if self.iterations >= settings.iterations.get() as usize {
            self.phase = Phase::Last(Stopped::IterationLimit);
        }
    }

    fn gather(&mut self, parts: &mut [&mut Part]) -> usize {
        let mut changed = 0;
        for part in parts.iter_mut().filter(|part| part.changed > 0) {
            self.sums
                .iter_mut()
                .zip(&mut part.sums)
                .for_each(|(sum, change)| *sum += std::mem::take(change));
            self.mass
                .iter_mut()
                .zip(&mut part.mass)
                .for_each(|(mass, change)| *mass += std::mem::take(change));
            changed += std::mem::take(&mut part.changed);
        }
        changed
    }

    /// Gives every empty cluster the row that is farthest from its centre.
    fn repair(&mut self, rows: &DenseRows, parts: &mut [&mut Part], size: usize) {
        let empty: Vec<usize> = (0..self.mass.len())
            .filter(|&j| self.mass[j] <= 0.0)
            .collect();
        let (d, single) = (rows.d, &self.rounded.single);
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
            part.relabel(rows, row - place, place, new as u16);
        }
    }

    /// Moves each centre to the mean of its rows; gives the sum of the squared moves.
    fn update(&mut self, rows: &DenseRows) -> f64 {
        let mut moved = 0.0;
        let clusters = self
            .centres
            .chunks_exact_mut(rows.d)
            .zip(self.sums.chunks_exact(rows.d));
        for ((centre, sums), &mass) in clusters.zip(&self.mass) {
            let length = if rows.cosine {
                sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt()
            } else {
                mass
            };
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
    fn finish<'p>(
        &self,
        rows: &DenseRows,
        parts: impl Iterator<Item = &'p Part>,
        stopped: Stopped,
    ) -> Fit {
        let mut labels = Vec::with_capacity(rows.n.next_multiple_of(PANEL));
        parts.for_each(|part| labels.extend_from_slice(&part.labels));
        labels.truncate(rows.n);
        let inertia = self.inertia(rows, &labels);
        // A place for every label there can be, `UNLABELLED` too: a branch on it would be predicted wrongly half of the time.
        let mut used = vec![false; 1 << 16];
        labels
            .iter()
            .for_each(|&label| used[usize::from(label)] = true);
        used.truncate(self.mass.len());
        let kept = (0..used.len()).filter(|&j| used[j]);
        let clusters = if used.contains(&false) {
            compact(&mut labels)
        } else {
            used.len()
        };
        let centres = kept
            .flat_map(|j| self.centres[j * rows.d..][..rows.d].iter().copied())
            .collect();
        Fit {
            labels,
            centres,
            clusters,
            inertia,
            iterations: self.iterations,
            stopped,
        }
    }

    /// From the sums of the clusters, Σ w‖x‖² − 2 c·Σ w x + ‖c‖² Σ w, where that cancels little: squares are kept in
    /// single precision. Row by row otherwise.
    fn inertia(&self, rows: &DenseRows, labels: &[u16]) -> f64 {
        let whole = |row: usize| rows.weight(row) * f64::from(rows.squares[row]);
        let total: f64 = self.spec.members.iter().map(whole).sum();
        let single = self
            .rounded
            .single
            .chunks_exact(rows.d)
            .zip(self.sums.chunks_exact(rows.d))
            .zip(&self.mass);
        let explained: f64 = single
            .map(|((centre, sums), mass)| {
                let products = centre
                    .iter()
                    .zip(sums)
                    .map(|(&c, sum)| f64::from(c) * (2.0 * sum - mass * f64::from(c)));
                products.sum::<f64>()
            })
            .sum();
        let unit = if rows.cosine {
            0.5
        } else {
            rows.factor.powi(-2)
        };
        if total - explained > 0.05 * total {
            (total - explained) * unit
        } else {
            self.exact_inertia(rows, labels) * unit
        }
    }

    fn exact_inertia(&self, rows: &DenseRows, labels: &[u16]) -> f64 {
        let chunk = |(chunk, labels): (usize, &[u16])| {
            let first = chunk * LEAST_CHUNK;
            let labelled = labels
                .iter()
                .enumerate()
                .filter(|(_, label)| **label != UNLABELLED);
            labelled.fold(0.0, |sum, (i, &label)| {
                let centre = &self.rounded.single[usize::from(label) * rows.d..][..rows.d];
                sum + rows.weight(first + i) * rows.distance2(first + i, centre)
            })
        };
        let sums: Vec<f64> = labels
            .par_chunks(LEAST_CHUNK)
            .enumerate()
            .map(chunk)
            .collect();
        sums.iter().sum()
    }
}
