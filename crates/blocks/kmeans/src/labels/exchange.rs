//! Hartigan and Wong's exchanges: single rows move wherever that lowers the loss of k-means, or the normalised cut.

use partita_core::{Entry, Row};

use super::assignment::{Assignment, Utility, within_and_volume};
use super::counts::Counts;
use super::sample::{Run, Sample};

/// A move has to lower the loss by this share of the labels that move.
const GAIN: f64 = 1e-9;

/// Counts whose terms are tabulated, where they are whole and not squares.
const TABULATED: f64 = (1u32 << 16) as f64;

/// What a cluster is worth by its counts of the labels of a base clustering: a sum of one term a count, and the number of objects.
#[derive(Clone, Copy)]
enum Worth {
    /// Σ n² / N.
    Squares,
    /// Σ n ln n − N ln N.
    Entropy,
    /// (Σ nᵖ)^(1/p).
    Norm(f64),
}

impl Worth {
    fn term(self, count: f64) -> f64 {
        match self {
            Self::Squares | Self::Norm(2.0) => count * count,
            Self::Entropy if count > 0.0 => count * count.ln(),
            Self::Entropy => 0.0,
            Self::Norm(p) => count.max(0.0).powf(p),
        }
    }
}

/// Moves single rows wherever that lowers the loss, in so many passes over the rows at most; whether any moved.
pub(super) fn exchange<'r, R: Row<'r>>(
    sample: &Sample<'_, 'r, R>,
    run: &mut Run,
    passes: u32,
) -> bool {
    let plan = sample.plan;
    let weights = plan.base_weights;
    match plan.assignment {
        Assignment::NormalisedCut(sizes) => {
            let cuts = Cuts::of(&run.counts, sample.offsets, weights, sizes);
            exchange_by(sample, run, passes, cuts)
        }
        Assignment::Utility(utility) => {
            let worths = Worths::of(sample, &run.counts, Some(utility));
            exchange_by(sample, run, passes, worths)
        }
        Assignment::Nearest | Assignment::Likeliest => {
            let worths = Worths::of(sample, &run.counts, None);
            exchange_by(sample, run, passes, worths)
        }
    }
}

fn exchange_by<'r, R: Row<'r>>(
    sample: &Sample<'_, 'r, R>,
    run: &mut Run,
    passes: u32,
    mut worths: impl Exchange,
) -> bool {
    let mut gains = vec![0.0; sample.plan.clusters];
    let mut rows_in = vec![0usize; sample.plan.clusters];
    for &label in &run.labels {
        rows_in[label as usize] += 1;
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut any = false;
    for _ in 0..passes {
        let mut moved = false;
        for row in 0..run.labels.len() {
            let from = run.labels[row];
            // A cluster that joins another lowers nothing.
            if rows_in[from as usize] < 2 {
                continue;
            }
            entries.clear();
            entries.extend(sample.entries(row));
            let weight = sample.rows.weight(row);
            let leaving = Leaving {
                entries: &entries,
                from,
                weight,
            };
            let Some(to) = worths.best_move(&run.counts, leaving, &mut gains) else {
                continue;
            };
            worths.moved(&run.counts, leaving, to);
            run.counts.add(entries.iter().copied(), from, -weight);
            run.counts.add(entries.iter().copied(), to, weight);
            run.labels[row] = to;
            rows_in[from as usize] -= 1;
            rows_in[to as usize] += 1;
            moved = true;
        }
        any |= moved;
        if !moved {
            break;
        }
    }
    any
}

/// A row that may leave its cluster.
#[derive(Clone, Copy)]
struct Leaving<'a> {
    entries: &'a [Entry],
    from: u32,
    weight: f64,
}

/// What moves of single rows would lower, kept up to date while rows move.
trait Exchange {
    /// The cluster into which a row moves with the largest gain; none if no move lowers the loss. `gains` are K numbers to work with.
    fn best_move(&self, counts: &Counts, row: Leaving<'_>, gains: &mut [f64]) -> Option<u32>;

    /// What a row that is about to move does to its cluster and the one it moves to.
    fn moved(&mut self, counts: &Counts, row: Leaving<'_>, to: u32);
}

/// The cluster that a row moves to, by what all gain by it and its own by its leaving; none where that is not above `least`.
fn largest(gains: &mut [f64], own: u32, least: f64) -> Option<u32> {
    let leave = std::mem::replace(&mut gains[own as usize], f64::NEG_INFINITY);
    let best = (0..gains.len()).fold(0, |best, k| if gains[k] > gains[best] { k } else { best });
    (gains[best] + leave > least).then_some(best as u32)
}

/// The sum of terms of every base clustering and cluster, M × K, which change with every move.
struct Worths<'a> {
    worth: Worth,
    terms: Vec<f64>,
    sums: Vec<f64>,
    clusters: usize,
    base_weights: &'a [f64],
    /// Less than any row weighs: what a sum of weights is when it is nothing but rounding.
    nothing: f64,
}

impl<'a> Worths<'a> {
    /// Those of a utility, or the sum of squares.
    fn of<'r, R: Row<'r>>(
        sample: &Sample<'a, 'r, R>,
        counts: &Counts,
        utility: Option<Utility>,
    ) -> Self {
        let worth = match utility {
            None => Worth::Squares,
            Some(Utility::Entropy { .. }) => Worth::Entropy,
            Some(Utility::Norm(p)) => Worth::Norm(p),
        };
        let clusters = counts.clusters();
        let mut sums = vec![0.0; sample.plan.base_weights.len() * clusters];
        for (ends, sums) in sample
            .offsets
            .windows(2)
            .zip(sums.chunks_exact_mut(clusters))
        {
            for place in ends[0]..ends[1] {
                for (sum, &count) in sums.iter_mut().zip(counts.of(place)) {
                    *sum += worth.term(count);
                }
            }
        }
        let squares = matches!(worth, Worth::Squares | Worth::Norm(2.0));
        let tabulated = if squares || !sample.runner.source().are_whole() {
            0.0
        } else {
            let objects: f64 = (0..clusters as u32).map(|k| counts.objects(k)).sum();
            objects.min(TABULATED)
        };
        let least = (0..sample.rows.len())
            .map(|row| sample.rows.weight(row))
            .fold(f64::INFINITY, f64::min);
        Self {
            worth,
            terms: (0..tabulated as u32)
                .map(|count| worth.term(f64::from(count)))
                .collect(),
            sums,
            clusters,
            base_weights: sample.plan.base_weights,
            nothing: GAIN * least,
        }
    }

    fn term(&self, count: f64) -> f64 {
        self.terms
            .get(count as usize)
            .copied()
            .unwrap_or_else(|| self.worth.term(count))
    }

    /// The worth by the sum of the terms; that of no objects is 0.
    fn worth(&self, sum: f64, objects: f64) -> f64 {
        match self.worth {
            _ if objects <= self.nothing => 0.0,
            Worth::Squares => sum / objects,
            Worth::Entropy => sum - self.term(objects),
            Worth::Norm(2.0) => sum.max(0.0).sqrt(),
            Worth::Norm(p) => sum.max(0.0).powf(p.recip()),
        }
    }

    /// [`Exchange::best_move`] by these terms and this worth.
    fn best_by(
        &self,
        counts: &Counts,
        row: Leaving<'_>,
        gains: &mut [f64],
        term: impl Fn(f64) -> f64,
        worth: impl Fn(f64, f64) -> f64,
    ) -> Option<u32> {
        gains.fill(0.0);
        let own = row.from as usize;
        let mut all = 0.0;
        for of_base in row.entries.chunk_by(|a, b| a.base == b.base) {
            let base = of_base[0].base;
            all += self.base_weights[base] * row.weight;
            let sums = &self.sums[base * self.clusters..][..self.clusters];
            for (k, gain) in gains.iter_mut().enumerate() {
                let size = counts.labelled(base, k);
                // What the row adds to its own cluster, and would add to another: negative signs for the latter.
                let change = if k == own { -row.weight } else { row.weight };
                let mut sum = sums[k];
                for entry in of_base {
                    let count = counts.of(entry.cluster)[k];
                    sum += term(count + change * entry.share) - term(count);
                }
                *gain +=
                    self.base_weights[base] * (worth(sum, size + change) - worth(sums[k], size));
            }
        }
        // Leaving lowers by weight − (…), joining raises by as much: the weights cancel.
        largest(gains, row.from, GAIN * all)
    }
}

impl Exchange for Worths<'_> {
    fn best_move(&self, counts: &Counts, row: Leaving<'_>, gains: &mut [f64]) -> Option<u32> {
        // The usual worth has a loop of its own, without a table or a branch in it.
        if matches!(self.worth, Worth::Squares) {
            let nothing = self.nothing;
            let worth = |sum: f64, objects: f64| {
                if objects <= nothing {
                    0.0
                } else {
                    sum / objects
                }
            };
            return self.best_by(counts, row, gains, |count| count * count, worth);
        }
        let term = |count| self.term(count);
        let worth = |sum, objects| self.worth(sum, objects);
        self.best_by(counts, row, gains, term, worth)
    }

    fn moved(&mut self, counts: &Counts, row: Leaving<'_>, to: u32) {
        for entry in row.entries {
            for (k, weight) in [(row.from, -row.weight), (to, row.weight)] {
                let count = counts.of(entry.cluster)[k as usize];
                let more = self.term(count + weight * entry.share) - self.term(count);
                self.sums[entry.base * self.clusters + k as usize] += more;
            }
        }
    }
}

/// Weight of the pairs within every cluster, and of all pairs of its objects with any: the cut is small where the former are a large share
/// of the latter.
struct Cuts<'a> {
    within: Vec<f64>,
    volume: Vec<f64>,
    sizes: &'a [f64],
    base_weights: &'a [f64],
}

impl<'a> Cuts<'a> {
    fn of(counts: &Counts, offsets: &[usize], base_weights: &'a [f64], sizes: &'a [f64]) -> Self {
        let (within, volume) = within_and_volume(offsets, counts, base_weights, sizes);
        Self {
            within,
            volume,
            sizes,
            base_weights,
        }
    }

    /// By how much a row changes the weight of pairs within a cluster that it joins, or leaves where its weight is negative.
    fn more_within(&self, counts: &Counts, entries: &[Entry], k: usize, weight: f64) -> f64 {
        let mut sum = 0.0;
        for entry in entries {
            let share = weight * entry.share;
            let count = counts.of(entry.cluster)[k];
            sum += self.base_weights[entry.base] * share * (2.0 * count + share);
        }
        sum
    }

    fn degree(&self, entries: &[Entry]) -> f64 {
        let size =
            |entry: &Entry| self.base_weights[entry.base] * entry.share * self.sizes[entry.cluster];
        entries.iter().map(size).sum()
    }
}

impl Exchange for Cuts<'_> {
    fn best_move(&self, counts: &Counts, row: Leaving<'_>, gains: &mut [f64]) -> Option<u32> {
        let degree = self.degree(row.entries);
        let share = |within: f64, volume: f64| {
            if volume > GAIN * degree {
                within / volume
            } else {
                0.0
            }
        };
        for (k, gain) in gains.iter_mut().enumerate() {
            let change = if k == row.from as usize {
                -row.weight
            } else {
                row.weight
            };
            let within = self.within[k];
            let volume = self.volume[k];
            let more = self.more_within(counts, row.entries, k, change);
            *gain = share(within + more, volume + change * degree) - share(within, volume);
        }
        largest(gains, row.from, GAIN)
    }

    fn moved(&mut self, counts: &Counts, row: Leaving<'_>, to: u32) {
        let degree = self.degree(row.entries);
        for (k, change) in [(row.from as usize, -row.weight), (to as usize, row.weight)] {
            self.within[k] += self.more_within(counts, row.entries, k, change);
            self.volume[k] += change * degree;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use partita_conformance::{draw, draw_shares, ensemble_of_shares};
    use partita_core::{AnyBlock, Ensemble, EnsembleRows, PassRunner, Row, RowBlock, Seed, Silent};

    use super::super::{Assignment, Counts, LabelFit, Plan, Utility, kmeans};

    /// The result of k-means is a local minimum: no move of one row lowers the loss, of labels and of shares, with weights of rows.
    #[test]
    fn no_single_move_lowers_the_result() {
        for seed in 0..30 {
            let drawn = draw_shares(Seed::new(seed));
            let named = drawn
                .tables
                .iter()
                .enumerate()
                .map(|(u, table)| (u.to_string(), table));
            check(&ensemble_of_shares(named), seed);
            check(&draw(Seed::new(seed), 0.2).ensemble, seed);
        }
    }

    fn check(ensemble: &Ensemble, seed: u64) {
        let fragments = ensemble.fragments();
        let distinct = fragments.ensemble();
        let weights: Vec<f64> = (0..distinct.objects())
            .map(|i| 0.5 * (1 + i % 3) as f64)
            .collect();
        let rows = EnsembleRows::weighted(distinct, &weights).with_shares();
        let runner = PassRunner::new(&rows, &Silent);
        let bases = ensemble.bases().len();
        let base_weights: Vec<f64> = (0..bases).map(|u| 1.0 + (u % 2) as f64).collect();
        let (all, _) = Counts::together(&runner).unwrap();
        let side = ensemble.offsets()[bases];
        let sizes: Vec<f64> = (0..side).map(|c| all.of(c)[0]).collect();
        let number = |number| NonZeroU32::new(number).unwrap();
        for assignment in [
            Assignment::Nearest,
            Assignment::Utility(Utility::Entropy { smoothing: 1.0 }),
            Assignment::Utility(Utility::Norm(2.0)),
            Assignment::Utility(Utility::Norm(5.0)),
            Assignment::NormalisedCut(&sizes),
        ] {
            let plan = Plan {
                clusters: 2 + seed as usize % 3,
                base_weights: &base_weights,
                assignment,
                restarts: number(3),
                swaps: 8,
                iterations: number(50),
                tolerance: 1e-9,
            };
            let fit = kmeans(&runner, &plan, Seed::new(seed), &Silent).unwrap();
            rows.with_all(|block| match block {
                AnyBlock::Bytes(block) => local_minimum(&block, ensemble, &plan, &fit),
                AnyBlock::Words(block) => local_minimum(&block, ensemble, &plan, &fit),
                AnyBlock::Shares(block) => local_minimum(&block, ensemble, &plan, &fit),
            });
        }
    }

    fn local_minimum<'a, R: Row<'a>>(
        block: &RowBlock<'a, R>,
        ensemble: &Ensemble,
        plan: &Plan<'_>,
        fit: &LabelFit,
    ) {
        let offsets = ensemble.offsets();
        let labels = fit.choice.labels(block);
        let loss = |labels: &[u32]| {
            let shares = ensemble.memberships().is_some();
            let mut counts = Counts::new(&offsets, plan.clusters, shares);
            for ((row, weight), &k) in block.rows().zip(labels) {
                counts.add(row.entries(&offsets), k, weight);
            }
            plan.assignment.loss(&counts, &offsets, plan.base_weights)
        };
        let least = loss(&labels);
        assert!((fit.trace.last().unwrap() - least).abs() <= 1e-9 * least.max(1.0));
        for row in 0..labels.len() {
            let alone = labels.iter().filter(|&&k| k == labels[row]).count() < 2;
            for k in 0..plan.clusters as u32 {
                let mut moved = labels.clone();
                moved[row] = k;
                let other = loss(&moved);
                assert!(
                    alone || other >= least - 1e-6,
                    "{:?}: row {row} to {k}: {other} for {least}",
                    plan.assignment
                );
            }
        }
    }
}
