//! Log probabilities of labels by cluster, and the score of a label row under them.

use partita_core::Entry;
use serde::{Deserialize, Serialize};

use crate::shared::layout::BaseLayout;

/// One line of K logarithms for every label value of every base clustering (ΣJ lines), and one for the prior.
///
/// A row's score is the prior's line plus the lines of its labels; a missing label adds nothing. The lines lie one
/// cluster beside the other, so that the inner loop runs over clusters without a gather.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogProbabilities {
    pub(crate) prior: Vec<f64>,
    pub(crate) lines: Vec<f64>,
}

impl LogProbabilities {
    pub(crate) fn clusters(&self) -> usize {
        self.prior.len()
    }

    /// The same in which the labels of a base clustering count as often as it has copies.
    pub(crate) fn weighted(mut self, layout: &BaseLayout) -> Self {
        layout.weigh(&mut self.lines, self.prior.len());
        self
    }

    /// Writes the unnormalised log probability of every cluster; a share counts as so much of a label.
    pub(crate) fn score(&self, entries: impl Iterator<Item = Entry>, scores: &mut [f64]) {
        let clusters = scores.len();
        scores.copy_from_slice(&self.prior);
        for Entry { cluster, share, .. } in entries {
            let line = &self.lines[cluster * clusters..][..clusters];
            scores
                .iter_mut()
                .zip(line)
                .for_each(|(score, log)| *score += share * log);
        }
    }

    /// Writes the probability of every cluster: that of the prior where no cluster is possible.
    pub(crate) fn memberships(&self, entries: impl Iterator<Item = Entry>, soft: &mut [f64]) {
        self.score(entries, soft);
        if normalise(soft) == f64::NEG_INFINITY {
            soft.copy_from_slice(&self.prior);
            normalise(soft);
        }
    }
}

/// Turns scores into probabilities and returns the logarithm of their sum. Where no cluster is possible (the sum
/// is 0), the scores are left as they are.
pub(crate) fn normalise(scores: &mut [f64]) -> f64 {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - top).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|p| *p /= sum);
    top + sum.ln()
}

/// The place of the largest value; the first of equals.
pub(crate) fn largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, k| if values[k] > values[best] { k } else { best })
}

/// The largest difference of two numbers at one place.
pub(crate) fn farthest(a: &[f64], b: &[f64]) -> f64 {
    // As many at once as a processor has in a register.
    const LANES: usize = 4;
    let (fours, others) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let further = |most: f64, (a, b): (&f64, &f64)| {
        let away = (a - b).abs();
        if away > most { away } else { most }
    };
    let mut most = [0.0; LANES];
    for (a, b) in fours.0.iter().zip(others.0) {
        for (most, pair) in most.iter_mut().zip(a.iter().zip(b)) {
            *most = further(*most, pair);
        }
    }
    let rest = fours.1.iter().zip(others.1).fold(0.0, further);
    most.into_iter().fold(rest, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_sums_its_lines_and_missing_labels_drop_out() {
        let logs = LogProbabilities {
            prior: vec![0.5, 0.25],
            lines: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        };
        let mut scores = [0.0; 2];
        let label = |cluster| Entry {
            base: 0,
            cluster,
            share: 1.0,
        };
        logs.score([0, 2].map(label).into_iter(), &mut scores);
        assert_eq!(scores, [6.5, 8.25]);
        logs.score(std::iter::empty(), &mut scores);
        assert_eq!(scores, [0.5, 0.25]);
    }

    #[test]
    fn normalising_survives_any_scale() {
        let mut scores = [-2000.0, -2000.0 + 3f64.ln()];
        assert!((normalise(&mut scores) - (-2000.0 + 4f64.ln())).abs() < 1e-9);
        assert!((scores[1] - 0.75).abs() < 1e-12);
        let mut none = [f64::NEG_INFINITY; 2];
        assert_eq!(normalise(&mut none), f64::NEG_INFINITY);
    }
}
