//! Multi-start selection: which of several runs from different initializations go on, and which is kept.

use std::cmp::Ordering;

use crate::objective::Sense;

/// How runs from several initializations are selected by their objectives. Ties go to the earlier run; an objective that is not a
/// number is worse than any.
///
/// ```
/// use partita_core::{MultiStart, Sense};
///
/// let rough = [5.0, 3.0, 3.02, 9.0];
/// let select = MultiStart::new(Sense::Minimise);
/// assert_eq!(select.finalists(&rough, 2, 0.01), [1, 2]); // of the best two, those within 1 % of the best
/// assert_eq!(select.best(&rough), Some(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiStart {
    sense: Sense,
}

impl MultiStart {
    /// Runs that seek a small or a large objective.
    pub const fn new(sense: Sense) -> Self {
        Self { sense }
    }

    /// The first of the runs with the best objective; none if there is no run.
    pub fn best(self, objectives: &[f64]) -> Option<usize> {
        self.best_among(objectives, 0..objectives.len())
    }

    /// [`best`](Self::best) of some of the runs.
    ///
    /// # Panics
    /// If there is no such run.
    pub fn best_among(
        self,
        objectives: &[f64],
        among: impl IntoIterator<Item = usize>,
    ) -> Option<usize> {
        among
            .into_iter()
            .min_by(|&a, &b| self.order(objectives, a, b))
    }

    /// The runs that go on, best first: at most `most`, and none whose objective is worse than the best by more than the share
    /// `within` of it.
    pub fn finalists(self, objectives: &[f64], most: usize, within: f64) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..objectives.len()).collect();
        ranked.sort_by(|&a, &b| self.order(objectives, a, b));
        ranked.truncate(most);
        let Some(&first) = ranked.first() else {
            return ranked;
        };
        let best = objectives[first];
        let share = within.copysign(best);
        ranked.retain(|&at| {
            let close = match self.sense {
                Sense::Minimise => objectives[at] <= best * (1.0 + share),
                Sense::Maximise => objectives[at] >= best * (1.0 - share),
            };
            at == first || close || within == f64::INFINITY
        });
        ranked
    }

    /// Best first.
    fn order(self, objectives: &[f64], a: usize, b: usize) -> Ordering {
        let (x, y) = (objectives[a], objectives[b]);
        let by_value = match self.sense {
            Sense::Minimise => x.partial_cmp(&y),
            Sense::Maximise => y.partial_cmp(&x),
        };
        by_value
            .unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
            .then(a.cmp(&b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_earlier_run_and_nan_is_worst() {
        let values = [f64::NAN, 2.0, -1.0, -1.0, 2.0];
        let (low, high) = (
            MultiStart::new(Sense::Minimise),
            MultiStart::new(Sense::Maximise),
        );
        assert_eq!((low.best(&values), high.best(&values)), (Some(2), Some(1)));
        assert_eq!(low.finalists(&values, 9, f64::INFINITY), [2, 3, 1, 4, 0]);
        assert_eq!(high.finalists(&values, 3, 0.0), [1, 4]);
        assert_eq!(low.finalists(&values, 9, 0.5), [2, 3]);
        assert_eq!(low.best_among(&values, [4, 1]), Some(1));
        assert_eq!((low.best(&[]), high.best(&[f64::NAN])), (None, Some(0)));
        assert_eq!(low.finalists(&[], 2, 0.1), [0; 0]);
    }
}
