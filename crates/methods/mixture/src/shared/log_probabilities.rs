//! Log probabilities of labels by cluster, and the score of a label row under them.

use partita_core::{Label, Row};
use serde::{Deserialize, Serialize};

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

    /// The same in which a label of base clustering u counts `weights[u]` times, where there are weights.
    pub(crate) fn weighted(&self, weights: Option<&[f64]>, offsets: &[usize]) -> Self {
        let mut logs = self.clone();
        weigh_by_base(&mut logs.lines, weights, offsets, self.clusters());
        logs
    }

    /// Writes the unnormalised log probability of every cluster.
    pub(crate) fn score(&self, lines: impl Iterator<Item = usize>, scores: &mut [f64]) {
        let clusters = scores.len();
        scores.copy_from_slice(&self.prior);
        for line in lines {
            let line = &self.lines[line * clusters..][..clusters];
            scores
                .iter_mut()
                .zip(line)
                .for_each(|(score, log)| *score += log);
        }
    }
}

/// The lines of a row's labels.
pub(crate) fn lines<'a, L: Label>(
    row: impl IntoIterator<Item = &'a L>,
    offsets: &'a [usize],
) -> impl Iterator<Item = usize> {
    row.into_iter()
        .zip(offsets)
        .filter_map(|(label, offset)| label.cluster().map(|j| offset + j))
}

/// The lines of a row's labels.
pub(crate) fn lines_of<'a, R: Row<'a>>(row: R, offsets: &[usize]) -> impl Iterator<Item = usize> {
    row.entries(offsets).map(|entry| entry.cluster)
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

/// Multiplies the lines of every base clustering by its weight, where there are weights.
pub(crate) fn weigh_by_base(
    lines: &mut [f64],
    weights: Option<&[f64]>,
    offsets: &[usize],
    clusters: usize,
) {
    for (ends, weight) in offsets.windows(2).zip(weights.unwrap_or_default()) {
        lines[ends[0] * clusters..ends[1] * clusters]
            .iter_mut()
            .for_each(|value| *value *= weight);
    }
}

/// The totals of every base clustering's lines: M lines of K values.
pub(crate) fn totals_by_base(lines: &[f64], offsets: &[usize], clusters: usize) -> Vec<f64> {
    let mut sums = vec![0.0; (offsets.len() - 1) * clusters];
    for (ends, sums) in offsets.windows(2).zip(sums.chunks_exact_mut(clusters)) {
        for line in lines[ends[0] * clusters..ends[1] * clusters].chunks_exact(clusters) {
            sums.iter_mut()
                .zip(line)
                .for_each(|(sum, count)| *sum += count);
        }
    }
    sums
}

/// Turns counts of labels by cluster into shares within every base clustering; without counts they become even.
pub(crate) fn normalise_by_base(lines: &mut [f64], offsets: &[usize], clusters: usize) {
    let sums = totals_by_base(lines, offsets, clusters);
    for (ends, sums) in offsets.windows(2).zip(sums.chunks_exact(clusters)) {
        let even = 1.0 / (ends[1] - ends[0]) as f64;
        let share =
            |(count, sum): (&mut f64, &f64)| *count = if *sum > 0.0 { *count / sum } else { even };
        for line in lines[ends[0] * clusters..ends[1] * clusters].chunks_exact_mut(clusters) {
            line.iter_mut().zip(sums).for_each(share);
        }
    }
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
        logs.score([0, 2].into_iter(), &mut scores);
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
