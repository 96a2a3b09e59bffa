//! Mini-batch k-means (Sculley 2010): centres learn from small random batches of rows.

use partita_core::{ProgressCounter, Seed, Stopped};
use partita_kernels::{Nearest, PANEL, nearest};
use rand::RngExt;

use crate::dense_rows::DenseRows;
use crate::initialization::choose;
use crate::run::{Fit, RunSpec, UNLABELLED, compact};
use crate::settings::Initialization;

/// Rows in a batch.
const BATCH: usize = 1024;

/// Batches without a better smoothed inertia before it stops.
const PATIENCE: usize = 10;

/// Passes over the rows, in batches, before it stops in any case.
const PASSES: usize = 100;

/// Moves each centre towards the mean of the rows of all batches so far that were nearest to it, then assigns
/// every row once. None if the monitor says stop.
///
/// # Cost
/// O(B·d·k) time a batch of B rows and one pass over the table.
pub fn minibatch(rows: &DenseRows, spec: &RunSpec, progress: &ProgressCounter<'_>) -> Option<Fit> {
    let members: Vec<u32> = spec.members.iter().map(|row| row as u32).collect();
    let mut rng = spec.seed.child(0).rng();
    let mut centres = Centres::new(rows, spec);
    let size = BATCH.min(members.len()).next_multiple_of(PANEL);
    let most = (PASSES * members.len()).div_ceil(size);
    let (mut smoothed, mut best, mut since, mut batches) = (0.0, f64::INFINITY, 0, 0);
    let weight = (2.0 * size as f64 / (members.len() as f64 + 1.0)).min(1.0);
    while batches < most && since < PATIENCE {
        if progress.stopped() {
            return None;
        }
        let batch: Vec<u32> = (0..size)
            .map(|_| members[rng.random_range(0..members.len() as u64) as usize])
            .collect();
        let inertia = centres.learn(rows, &batch);
        batches += 1;
        smoothed = if batches == 1 {
            inertia
        } else {
            smoothed + weight * (inertia - smoothed)
        };
        since = if smoothed < best { 0 } else { since + 1 };
        best = best.min(smoothed);
    }
    let stopped = if since < PATIENCE {
        Stopped::IterationLimit
    } else {
        Stopped::Converged
    };
    centres.assign(rows, spec, batches, stopped, progress)
}

struct Centres {
    /// k × d, in double precision and as the kernel reads them.
    at: Vec<f64>,
    /// Rows that each centre has learned from.
    seen: Vec<f64>,
    single: Vec<f32>,
    half: Vec<f32>,
    /// A batch, as the kernel reads it.
    panel: Vec<f32>,
}

impl Centres {
    fn new(rows: &DenseRows, spec: &RunSpec) -> Self {
        // k-means++ looks at a sample: three batches, and at least three rows a centre.
        let sample = (3 * BATCH).max(3 * spec.clusters);
        let members = spec.members.thin(sample, &mut spec.seed.child(1).rng());
        let seed: Seed = spec.seed.child(2);
        let first = RunSpec {
            clusters: spec.clusters,
            initialization: Initialization::PlusPlus,
            seed,
            members,
            given: None,
        };
        let chosen = choose(rows, &first);
        let at = chosen
            .into_iter()
            .flat_map(|i| rows.row(i).iter().map(|&x| f64::from(x)))
            .collect();
        let (k, d) = (spec.clusters, rows.d);
        let (single, half) = (vec![0.0; k * d], vec![0.0; k]);
        let mut centres = Self {
            at,
            seen: vec![0.0; k],
            single,
            half,
            panel: vec![0.0; PANEL * d],
        };
        centres.iteration(d);
        centres
    }

    fn iteration(&mut self, d: usize) {
        self.single
            .iter_mut()
            .zip(&self.at)
            .for_each(|(single, &c)| *single = c as f32);
        for (half, centre) in self.half.iter_mut().zip(self.single.chunks_exact(d)) {
            *half = (0.5 * centre.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>()) as f32;
        }
    }

    /// Learns from one batch; gives its mean squared distance before.
    fn learn(&mut self, rows: &DenseRows, batch: &[u32]) -> f64 {
        let (d, k) = (rows.d, self.half.len());
        let (mut sums, mut counts, mut inertia) = (vec![0.0; k * d], vec![0.0; k], 0.0);
        let mut out = Nearest::new();
        for part in batch.chunks_exact(PANEL) {
            for (lane, &row) in part.iter().enumerate() {
                rows.row(row as usize)
                    .iter()
                    .enumerate()
                    .for_each(|(p, &x)| self.panel[p * PANEL + lane] = x);
            }
            nearest(&self.panel, &self.single, &self.half, &mut out);
            for (lane, &row) in part.iter().enumerate() {
                let j = out.centre[lane] as usize;
                counts[j] += 1.0;
                inertia += (f64::from(rows.squares[row as usize])
                    - 2.0 * f64::from(out.best[lane]))
                .max(0.0);
                let sum = &mut sums[j * d..][..d];
                sum.iter_mut()
                    .zip(rows.row(row as usize))
                    .for_each(|(sum, &x)| *sum += f64::from(x));
            }
        }
        for j in (0..k).filter(|&j| counts[j] > 0.0) {
            let before = self.seen[j];
            self.seen[j] += counts[j];
            for (c, sum) in self.at[j * d..][..d].iter_mut().zip(&sums[j * d..][..d]) {
                *c = (*c * before + sum) / self.seen[j];
            }
        }
        self.iteration(d);
        inertia / batch.len() as f64
    }

    /// The nearest centre of every member.
    fn assign(
        &self,
        rows: &DenseRows,
        spec: &RunSpec,
        iterations: usize,
        stopped: Stopped,
        progress: &ProgressCounter<'_>,
    ) -> Option<Fit> {
        let mut labels = vec![UNLABELLED; rows.n];
        let (mut out, mut inertia) = (Nearest::new(), 0.0);
        for (panel, labels) in labels.chunks_mut(PANEL).enumerate() {
            if panel.is_multiple_of(256) && progress.stopped() {
                return None;
            }
            let word = spec.members.word(panel);
            nearest(rows.panel(panel), &self.single, &self.half, &mut out);
            for (lane, label) in labels
                .iter_mut()
                .enumerate()
                .filter(|(lane, _)| word >> lane & 1 == 1)
            {
                *label = out.centre[lane] as u16;
                let centre = &self.single[usize::from(*label) * rows.d..][..rows.d];
                inertia += rows.distance2(panel * PANEL + lane, centre);
            }
        }
        let clusters = compact(&mut labels);
        Some(Fit {
            labels,
            centres: Vec::new(),
            clusters,
            inertia: inertia * rows.factor.powi(-2),
            iterations,
            stopped,
        })
    }
}
