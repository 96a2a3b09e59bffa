//! Anderson acceleration of the iterations of the block solver.
//!
//! Iterations approach their end along a few slow directions, by about the same factor every time. The last iterations tell where
//! these lead: the combination of them whose moves cancel best is where the next iteration starts, if the objective is lower
//! there. Moves are weighed by 1/y, the metric of probabilities, in which a small probability on its way to 0 counts.

use super::iterate::Iterate;
use crate::bregman::Bregman;

/// Iterations that are remembered.
const DEPTH: usize = 5;
/// No probability shrinks below this share of itself by extrapolation.
const KEEP: f64 = 0.1;
/// Probabilities below this weigh no more than it does.
const FLOOR: f64 = 1e-9;

/// An iteration, or the change from one to the next.
#[derive(Clone, Debug)]
struct Step {
    moved: Vec<f64>,
    after: Vec<f64>,
}

impl Step {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            moved: difference(&self.moved, &earlier.moved),
            after: difference(&self.after, &earlier.after),
        }
    }
}

fn difference(now: &[f64], then: &[f64]) -> Vec<f64> {
    now.iter().zip(then).map(|(now, then)| now - then).collect()
}

/// The iterations that are remembered.
#[derive(Debug, Default)]
pub(crate) struct Anderson {
    before: Vec<f64>,
    last: Option<Step>,
    changes: Vec<Step>,
}

impl Anderson {
    /// Before an iteration.
    pub(crate) fn start(&mut self, values: &[f64]) {
        self.before.clear();
        self.before.extend_from_slice(values);
    }

    /// After an iteration, when `iterate.objective` is up to date: the table moves if the objective is lower there.
    pub(crate) fn extrapolate<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>) {
        let after = iterate.table.values.clone();
        let moved = difference(&after, &self.before);
        let step = Step { moved, after };
        if let Some(last) = self.last.take() {
            self.changes.push(step.since(&last));
            if self.changes.len() > DEPTH {
                self.changes.remove(0);
            }
        }
        let lower = !self.changes.is_empty() && self.jump(iterate, &step);
        if lower || self.changes.is_empty() {
            self.last = Some(step);
        } else {
            iterate.table.values = step.after;
            self.changes.clear();
        }
    }

    /// Goes where the moves of the remembered iterations cancel, and looks whether the objective is lower there.
    fn jump<D: Bregman>(&self, iterate: &mut Iterate<'_, D>, step: &Step) -> bool {
        let Some(shares) = self.shares(step) else {
            return false;
        };
        let values = &mut iterate.table.values;
        for (share, change) in shares.iter().zip(&self.changes) {
            for (value, change) in values.iter_mut().zip(&change.after) {
                *value -= share * change;
            }
        }
        for (value, &old) in values.iter_mut().zip(&step.after) {
            *value = if old == 0.0 {
                0.0
            } else {
                value.max(KEEP * old)
            };
        }
        let mut row = vec![0.0; iterate.table.clusters];
        for i in 0..iterate.table.objects {
            iterate.table.read(i, &mut row);
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|y| *y /= sum);
            iterate.table.write(i, &row);
        }
        iterate.costs.all_moved();
        let objective = iterate.costs.objective(iterate.model, &iterate.table);
        iterate.costs.all_moved();
        let lower = objective < iterate.objective;
        if lower {
            iterate.objective = objective;
        }
        lower
    }

    /// How much of every change to take back so that least is left of the last move.
    fn shares(&self, step: &Step) -> Option<Vec<f64>> {
        let weights = step.after.iter();
        let weights = weights.map(|y| if *y > 0.0 { 1.0 / (y + FLOOR) } else { 0.0 });
        let weights: Vec<f64> = weights.collect();
        let mut system = Vec::with_capacity(self.changes.len());
        for (p, change) in self.changes.iter().enumerate() {
            let mut row = Vec::with_capacity(self.changes.len() + 1);
            for other in self.changes.iter().chain([step]) {
                let pairs = change.moved.iter().zip(&other.moved).zip(&weights);
                row.push(pairs.map(|((a, b), w)| a * b * w).sum::<f64>());
            }
            // Changes that repeat each other leave a solution of bounded size.
            row[p] *= 1.0 + 1e-10;
            system.push(row);
        }
        solve(system)
    }
}

/// Solves a small linear system, its right side the last column; none where it is singular.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for p in 0..size {
        let mut pivot = p;
        for r in p..size {
            if rows[r][p].abs() > rows[pivot][p].abs() {
                pivot = r;
            }
        }
        rows.swap(p, pivot);
        let own = rows[p].clone();
        if own[p] == 0.0 {
            return None;
        }
        for r in (0..size).filter(|&r| r != p) {
            let factor = rows[r][p] / own[p];
            for (value, own) in rows[r].iter_mut().zip(&own) {
                *value -= factor * own;
            }
        }
    }
    let solution: Vec<f64> = (0..size).map(|p| rows[p][size] / rows[p][p]).collect();
    let finite = solution.iter().all(|value| value.is_finite());
    finite.then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_systems_are_solved() {
        let found = solve(vec![vec![0.0, 2.0, 4.0], vec![3.0, 1.0, 5.0]]).unwrap();
        assert_eq!(found, [1.0, 2.0]);
        assert_eq!(solve(vec![vec![0.0, 1.0]]), None);
        assert_eq!(solve(vec![vec![1.0, 1.0, 1.0], vec![1.0, 1.0, 1.0]]), None);
    }
}
