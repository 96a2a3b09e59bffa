//! Counts of base clusters in the clusters of a partition while label rows move between them.

use std::hint::black_box;
use std::iter::repeat_n;

use partita_core::Label;

use super::loss::{Loss, Sums, Terms};
use super::sample_rows::SampleRows;

/// A row that is in no cluster.
pub(super) const NOWHERE: u32 = u32::MAX;

/// What a search looks at: rows, weights of base clusterings, and the loss.
pub(super) struct Target<'a, L> {
    pub(super) rows: &'a SampleRows<'a, L>,
    pub(super) base_weights: &'a [f64],
    pub(super) loss: Loss,
    pub(super) terms: &'a Terms,
    /// Whether no row lacks a label.
    pub(super) complete: bool,
    /// Size of every base cluster.
    sizes: Vec<u32>,
    /// Objects that every base clustering labels.
    labelled: Vec<f64>,
    /// What the sums of each base clustering count, for linear losses: of the partition, and of the common cells.
    factors: Option<Vec<(f64, f64)>>,
    /// Sum of the first factors.
    factor_of_all: f64,
}

impl<'a, L: Label> Target<'a, L> {
    pub(super) fn new(
        rows: &'a SampleRows<'a, L>,
        base_weights: &'a [f64],
        loss: Loss,
        terms: &'a Terms,
    ) -> Self {
        let mut sizes = vec![0; rows.base_clusters()];
        let mut labelled = vec![0.0; rows.bases()];
        let mut objects = 0.0;
        for row in 0..rows.len() {
            let weight = rows.weights[row];
            objects += f64::from(weight);
            for (u, place) in rows.places(row) {
                sizes[place] += weight;
                labelled[u] += f64::from(weight);
            }
        }
        let complete = labelled.iter().all(|&count| count == objects);
        let all: f64 = base_weights.iter().sum();
        // Times the number of objects, so that what one object changes does not shrink with it.
        let factor = |(u, &count): (usize, &f64)| {
            let weight = base_weights[u] / all * objects;
            let (of_b, of_j) = if count > 0.0 {
                loss.factors(count)?
            } else {
                (0.0, 0.0)
            };
            Some((weight * of_b, weight * of_j))
        };
        let factors: Option<Vec<(f64, f64)>> = labelled.iter().enumerate().map(factor).collect();
        let factor_of_all = factors.iter().flatten().map(|factor| factor.0).sum();
        Self {
            rows,
            base_weights,
            loss,
            terms,
            complete,
            sizes,
            labelled,
            factors,
            factor_of_all,
        }
    }

    /// The mean of losses against all base clusterings.
    pub(super) fn mean(&self, losses: &[f64]) -> f64 {
        let sum: f64 = losses
            .iter()
            .zip(self.base_weights)
            .map(|(loss, weight)| loss * weight)
            .sum();
        sum / self.base_weights.iter().sum::<f64>()
    }

    /// Number of rows that are searched over.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A number made of the weight and of labels at both ends of a row: to read them.
    fn look(&self, at: usize) -> u32 {
        let labels = self.rows.row(at);
        let ends = [labels.first(), labels.last()].into_iter().flatten();
        ends.filter_map(|label| label.cluster())
            .fold(self.weight(at), |seen, label| seen ^ label as u32)
    }

    /// Objects of a row.
    fn weight(&self, at: usize) -> u32 {
        self.rows.weights[at]
    }

    /// The labels of a row that are there, as base clustering and place among all ΣJ clusters.
    pub(super) fn places(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows.places(at)
    }
}

/// Rows in clusters, and how many objects of every base cluster are in each.
#[derive(Clone)]
pub(super) struct Clustering<'t, L> {
    pub(super) target: &'t Target<'t, L>,
    /// The cluster of every row of the target, or [`NOWHERE`].
    pub(super) labels: Vec<u32>,
    width: usize,
    /// ΣJ lines of `width` counts.
    cells: Vec<u32>,
    /// What one object more in each cell costs, and in each count of `seen`, for linear losses.
    cell_costs: Vec<f64>,
    seen_costs: Vec<f64>,
    /// Objects of a cluster that each base clustering labels: M lines of `width` counts, or one where no label is missing.
    seen: Vec<u32>,
    /// Objects of every cluster.
    sizes: Vec<u32>,
    /// Clusters that have objects.
    live: usize,
    /// Sums of every base clustering, for losses that are not linear.
    sums: Vec<Sums>,
}

impl<'t, L: Label> Clustering<'t, L> {
    /// All rows in no cluster, of which there may be `width`.
    pub(super) fn new(target: &'t Target<'t, L>, width: usize) -> Self {
        let lines = if target.complete {
            1
        } else {
            target.rows.bases()
        };
        let mut made = Self {
            target,
            labels: vec![NOWHERE; target.len()],
            width,
            cells: vec![0; target.rows.base_clusters() * width],
            cell_costs: Vec::new(),
            seen_costs: Vec::new(),
            seen: vec![0; lines * width],
            sizes: vec![0; width],
            live: 0,
            sums: Vec::new(),
        };
        made.recount_sums();
        made.recount_costs();
        made
    }

    /// What one object more costs beside all counts as they are, for linear losses.
    fn recount_costs(&mut self) {
        let (target, offsets, width) = (self.target, self.target.rows.offsets, self.width);
        let Some(factors) = &target.factors else {
            return;
        };
        let each_cell = factors.iter().zip(offsets.windows(2));
        let of_cells =
            each_cell.flat_map(|(&(_, of_j), ends)| repeat_n(of_j, (ends[1] - ends[0]) * width));
        let cost = |(factor, &count): (f64, &u32)| factor * target.terms.growth(count, 1);
        self.cell_costs = of_cells.zip(&self.cells).map(cost).collect();
        let of_seen = |line: usize| {
            if target.complete {
                target.factor_of_all
            } else {
                factors[line].0
            }
        };
        self.seen_costs = self
            .seen
            .iter()
            .enumerate()
            .map(|(at, n)| cost((of_seen(at / width), n)))
            .collect();
    }

    /// The rows in these clusters.
    pub(super) fn of(target: &'t Target<'t, L>, width: usize, labels: &[u32]) -> Self {
        let mut made = Self::new(target, width);
        made.put_all(labels);
        made
    }

    /// Puts every row into the cluster that `labels` names.
    pub(super) fn put_all(&mut self, labels: &[u32]) {
        self.cells.fill(0);
        self.seen.fill(0);
        self.sizes.fill(0);
        self.live = 0;
        self.labels.fill(NOWHERE);
        // What is kept besides counts is counted once, when all rows are there.
        self.cell_costs.clear();
        self.seen_costs.clear();
        let tracked = std::mem::take(&mut self.sums);
        for (at, &k) in labels.iter().enumerate().filter(|(_, k)| **k != NOWHERE) {
            self.put(at, k);
        }
        self.sums = tracked;
        self.recount_sums();
        self.recount_costs();
    }

    pub(super) fn live(&self) -> usize {
        self.live
    }

    pub(super) fn size(&self, k: usize) -> u32 {
        self.sizes[k]
    }

    fn line(&self, u: usize) -> usize {
        if self.target.complete {
            0
        } else {
            u * self.width
        }
    }

    /// Looks at some rows, wherever they are in memory, so that the processor waits for all of them at once and not for one after the other.
    pub(super) fn fetch(&self, some: &[u32]) {
        let look = |at: usize| self.labels[at] ^ self.target.look(at);
        black_box(some.iter().fold(0, |seen, &at| seen ^ look(at as usize)));
    }

    /// Puts a row that is nowhere into a cluster.
    pub(super) fn put(&mut self, at: usize, k: u32) {
        self.change(at, k as usize, true);
        self.labels[at] = k;
    }

    /// Takes a row out of its cluster and says which that was.
    pub(super) fn take(&mut self, at: usize) -> u32 {
        let k = std::mem::replace(&mut self.labels[at], NOWHERE);
        if k != NOWHERE {
            self.change(at, k as usize, false);
        }
        k
    }

    fn change(&mut self, at: usize, k: usize, add: bool) {
        let (target, width) = (self.target, self.width);
        let weight = target.weight(at);
        let moved = |count: &mut u32| {
            let before = *count;
            *count = if add {
                before + weight
            } else {
                before - weight
            };
            before.min(*count)
        };
        let growth = |least: u32| if add { 1.0 } else { -1.0 } * target.terms.growth(least, weight);
        for (u, place) in target.places(at) {
            let cell = place * width + k;
            let least = moved(&mut self.cells[cell]);
            if let (Some(factors), Some(cost)) = (&target.factors, self.cell_costs.get_mut(cell)) {
                *cost = factors[u].1 * target.terms.growth(self.cells[cell], 1);
            }
            if let Some(sums) = self.sums.get_mut(u) {
                sums.j += growth(least);
            }
            if !target.complete {
                let seen = u * width + k;
                let least = moved(&mut self.seen[seen]);
                if let (Some(factors), Some(cost)) =
                    (&target.factors, self.seen_costs.get_mut(seen))
                {
                    *cost = factors[u].0 * target.terms.growth(self.seen[seen], 1);
                }
                if let Some(sums) = self.sums.get_mut(u) {
                    sums.b += growth(least);
                }
            }
        }
        let least = moved(&mut self.sizes[k]);
        if target.complete {
            self.seen[k] = self.sizes[k];
            if let Some(cost) = self.seen_costs.get_mut(k) {
                *cost = target.factor_of_all * target.terms.growth(self.seen[k], 1);
            }
            self.sums
                .iter_mut()
                .for_each(|sums| sums.b += growth(least));
        }
        if least == 0 {
            self.live = if add { self.live + 1 } else { self.live - 1 };
        }
    }

    /// The sums that are kept for losses that are not linear, without the rounding that moves have left.
    pub(super) fn recount_sums(&mut self) {
        if self.target.factors.is_none() {
            self.sums = (0..self.target.rows.bases())
                .map(|u| self.sums_of(u))
                .collect();
        }
    }

    fn sums_of(&self, u: usize) -> Sums {
        let target = self.target;
        let terms = |counts: &[u32]| {
            counts
                .iter()
                .map(|&count| target.terms.of(count))
                .sum::<f64>()
        };
        let (start, end) = (target.rows.offsets[u], target.rows.offsets[u + 1]);
        Sums {
            n: target.labelled[u],
            b: terms(&self.seen[self.line(u)..][..self.width]),
            v: terms(&target.sizes[start..end]),
            j: terms(&self.cells[start * self.width..end * self.width]),
        }
    }

    /// The loss against every base clustering.
    fn losses(&self) -> Vec<f64> {
        let loss = |u: usize| {
            let sums = self.sums_of(u);
            if sums.n > 0.0 {
                self.target.loss.value(sums)
            } else {
                0.0
            }
        };
        (0..self.target.rows.bases()).map(loss).collect()
    }

    /// The mean loss.
    pub(super) fn loss(&self) -> f64 {
        self.target.mean(&self.losses())
    }

    /// Whether the costs of a row can be told while it is where it is: it has a cluster with other rows, and the loss is linear.
    pub(super) fn is_among_others(&self, at: usize) -> bool {
        let own = self.labels[at];
        self.target.factors.is_some()
            && own != NOWHERE
            && self.sizes[own as usize] > self.target.weight(at)
    }

    /// What it costs to put a row, as if it were nowhere, into each of the first clusters, `costs.len()` of them; up to a constant,
    /// times the number of objects. A row that has a cluster must be [among others](Self::is_among_others).
    pub(super) fn costs(&self, at: usize, costs: &mut [f64]) {
        let weight = self.target.weight(at);
        let Some(factors) = &self.target.factors else {
            return self.costs_of_ratios(at, costs);
        };
        if weight == 1 {
            self.costs_of_one(at, costs);
        } else {
            let of_cluster =
                |(k, cost): (usize, &mut f64)| *cost = self.cost_without(at, k, 0, factors);
            costs.iter_mut().enumerate().for_each(of_cluster);
        }
        let own = self.labels[at];
        if own != NOWHERE {
            costs[own as usize] = self.cost_without(at, own as usize, weight, factors);
        }
    }

    /// [`costs`](Self::costs) of a row of one object, from those that are kept.
    fn costs_of_one(&self, at: usize, costs: &mut [f64]) {
        let (target, width) = (self.target, self.width);
        if target.complete {
            costs.copy_from_slice(&self.seen_costs[..costs.len()]);
            for (_, place) in target.places(at) {
                costs
                    .iter_mut()
                    .zip(&self.cell_costs[place * width..])
                    .for_each(|(cost, cell)| *cost += cell);
            }
        } else {
            costs.fill(0.0);
            for (u, place) in target.places(at) {
                let each = costs
                    .iter_mut()
                    .zip(&self.cell_costs[place * width..])
                    .zip(&self.seen_costs[u * width..]);
                each.for_each(|((cost, cell), seen)| *cost += seen + cell);
            }
        }
    }

    /// What it costs to put a row into a cluster that has `less` objects less of every base cluster that the row is in.
    fn cost_without(&self, at: usize, k: usize, less: u32, factors: &[(f64, f64)]) -> f64 {
        let (target, weight, width) = (self.target, self.target.weight(at), self.width);
        let growth = |count: u32| target.terms.growth(count - less, weight);
        let whole = if target.complete {
            target.factor_of_all * growth(self.seen[k])
        } else {
            0.0
        };
        target.places(at).fold(whole, |cost, (u, place)| {
            let (of_b, of_j) = factors[u];
            let cell = of_j * growth(self.cells[place * width + k]);
            if target.complete {
                cost + cell
            } else {
                cost + (of_b * growth(self.seen[u * width + k]) + cell)
            }
        })
    }

    fn costs_of_ratios(&self, at: usize, costs: &mut [f64]) {
        let (target, weight) = (self.target, self.target.weight(at));
        costs.fill(0.0);
        let all: f64 = target.base_weights.iter().sum();
        let objects = target
            .labelled
            .iter()
            .fold(0.0, |most: f64, &n| most.max(n));
        for (u, place) in target.places(at) {
            let scale = target.base_weights[u] / all * objects;
            for (k, cost) in costs.iter_mut().enumerate() {
                let (seen, cell) = (
                    self.seen[self.line(u) + k],
                    self.cells[place * self.width + k],
                );
                let (b, j) = (
                    target.terms.growth(seen, weight),
                    target.terms.growth(cell, weight),
                );
                let sums = self.sums[u];
                *cost += scale
                    * target.loss.value(Sums {
                        b: sums.b + b,
                        j: sums.j + j,
                        ..sums
                    });
            }
        }
    }

    /// What it costs to join two clusters, times the number of objects.
    pub(super) fn joining(&self, a: usize, b: usize) -> f64 {
        let target = self.target;
        let (all, objects) = (target.base_weights.iter().sum::<f64>(), target.len() as f64);
        let gain = |x: u32, y: u32| {
            if x == 0 || y == 0 {
                0.0
            } else {
                target.terms.of(x + y) - target.terms.of(x) - target.terms.of(y)
            }
        };
        let of_base = |u: usize| {
            let line = self.line(u);
            let more_b = gain(self.seen[line + a], self.seen[line + b]);
            let cells = (target.rows.offsets[u]..target.rows.offsets[u + 1])
                .map(|place| place * self.width);
            let more_j: f64 = cells
                .map(|cell| gain(self.cells[cell + a], self.cells[cell + b]))
                .sum();
            if let Some(factors) = &target.factors {
                return factors[u].0 * more_b + factors[u].1 * more_j;
            }
            let sums = self.sums[u];
            let after = Sums {
                b: sums.b + more_b,
                j: sums.j + more_j,
                ..sums
            };
            target.base_weights[u] / all
                * objects
                * (target.loss.value(after) - target.loss.value(sums))
        };
        (0..target.rows.bases())
            .filter(|&u| target.labelled[u] > 0.0)
            .map(of_base)
            .sum()
    }

    /// Puts all rows of cluster `b` into cluster `a`.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        for at in 0..self.labels.len() {
            if self.labels[at] == b as u32 {
                self.take(at);
                self.put(at, a as u32);
            }
        }
    }

    /// Clusters up to the last that has objects, and one more where there may be one.
    pub(super) fn reach(&self) -> usize {
        let last = self
            .sizes
            .iter()
            .rposition(|&size| size > 0)
            .map_or(0, |last| last + 1);
        (last + 1).min(self.width)
    }

    /// The labels, with the clusters that have objects numbered by appearance.
    pub(super) fn numbered(mut self) -> Vec<u32> {
        let mut numbers = vec![NOWHERE; self.width];
        let mut next = 0;
        for k in &mut self.labels {
            let own = &mut numbers[*k as usize];
            if *own == NOWHERE {
                *own = next;
                next += 1;
            }
            *k = *own;
        }
        self.labels
    }
}
