//! What categories say of a partition: shares of their words in each cluster.

use partita_core::Partition;
use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use partita_generate::features;

/// A column of so many values is looked at by their shares: two shares are as many free numbers as a mean and a variance.
const VALUES: usize = 3;

/// The words of a table, apart from its numbers.
#[derive(Clone)]
pub(crate) struct Words {
    /// For every category, and every column of two or three values, those of the rows as numbers from 0; none where one is missing.
    features: Vec<Vec<Option<u32>>>,
    /// The other columns.
    pub(crate) numbers: Vec<usize>,
}

impl Words {
    /// Of a table (n × d) before it is scaled, and which values were there. A column alone is one of numbers: by shares no groups of it would be
    /// likelier than one.
    ///
    /// # Cost
    /// O(n d) time, 8 bytes for every row and feature of words.
    pub(crate) fn of(values: ArrayView2<'_, f64>, known: ArrayView2<'_, bool>) -> Self {
        let mut words = Self {
            features: Vec::new(),
            numbers: Vec::new(),
        };
        for feature in features(values) {
            let of_rows = if feature.len() > 1 {
                let category = values.slice(s![.., feature.clone()]);
                let of_row = |row: ArrayView1<'_, f64>| row.iter().position(|&share| share == 1.0);
                let each = category.outer_iter().zip(known.column(feature.start));
                Some(
                    each.map(|(row, known)| of_row(row).filter(|_| *known).map(|at| at as u32))
                        .collect(),
                )
            } else if values.ncols() > 1 {
                few_values(values.column(feature.start), known.column(feature.start))
            } else {
                None
            };
            match of_rows {
                Some(of_rows) => words.features.push(of_rows),
                None => words.numbers.extend(feature),
            }
        }
        words
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// What the words give to the integrated classification likelihood of a partition, in nats an object: every feature by its shares in each
    /// cluster, or by those in all rows where that gives more.
    ///
    /// # Cost
    /// O((n + K L) f) for f features of L words.
    pub(crate) fn likelihood(&self, partition: &Partition) -> f64 {
        let each = self.features.iter();
        each.map(|words| of_feature(words, partition)).sum()
    }
}

/// The values of a column as numbers from 0, if there are two or three.
fn few_values(
    column: ArrayView1<'_, f64>,
    known: ArrayView1<'_, bool>,
) -> Option<Vec<Option<u32>>> {
    let mut values: Vec<f64> = Vec::new();
    let mut of_rows = Vec::new();
    for (&value, &known) in column.iter().zip(known) {
        let at = values.iter().position(|&other| other == value);
        let at = at.unwrap_or(values.len());
        of_rows.push(known.then_some(at as u32));
        if known && at == values.len() {
            if at == VALUES {
                return None;
            }
            values.push(value);
        }
    }
    (values.len() > 1).then_some(of_rows)
}

fn of_feature(words: &[Option<u32>], partition: &Partition) -> f64 {
    let n = words.len() as f64;
    let different = words.iter().flatten().max().map_or(1, |last| last + 1) as usize;
    let mut counts = Array2::<f64>::zeros((partition.clusters(), different));
    for (word, &label) in words.iter().zip(partition.labels()) {
        if let Some(word) = word {
            counts[[label as usize, *word as usize]] += 1.0;
        }
    }
    let penalty = 0.5 * (different - 1) as f64 * n.ln() / n;
    let of_cluster = |counts: ArrayView1<'_, f64>| {
        let all = counts.sum();
        let seen = counts.iter().filter(|&&count| count > 0.0);
        let logs = seen.map(|count| count * (count / all).ln());
        if all > 0.0 {
            logs.sum::<f64>() / n - penalty
        } else {
            0.0
        }
    };
    let own: f64 = counts.outer_iter().map(of_cluster).sum();
    own.max(of_cluster(counts.sum_axis(Axis(0)).view()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    /// One category of two words, one of its words missing; a column of three values; a number.
    fn table() -> (Array2<f64>, Array2<bool>) {
        let values = array![
            [1.0, 0.0, 5.0, 0.1],
            [1.0, 0.0, 6.0, 0.2],
            [0.0, 1.0, 7.0, 0.3],
            [0.0, 1.0, 7.0, 0.4],
            [0.4, 0.6, 7.0, 0.5],
        ];
        let mut known = Array2::from_elem(values.dim(), true);
        known.slice_mut(s![4, ..2]).fill(false);
        (values, known)
    }

    #[test]
    fn values_by_hand() {
        let (values, known) = table();
        let words = Words::of(values.view(), known.view());
        assert_eq!(words.numbers, [3]);
        let codes = |codes: [i8; 5]| codes.map(|code| u32::try_from(code).ok()).to_vec();
        assert_eq!(
            words.features,
            [codes([0, 0, 1, 1, -1]), codes([0, 1, 2, 2, 2])]
        );
        let halves = Partition::new(vec![0, 0, 1, 1, 1], 2).unwrap();
        let penalty = |numbers: f64| 0.5 * numbers * 5f64.ln() / 5.0;
        // Each word is settled by the cluster; of the three values two are equal in the first cluster, which does not pay.
        let category = (-penalty(2.0)).max(4.0 * 0.5f64.ln() / 5.0 - penalty(1.0));
        let all = (2.0 * 0.2f64.ln() + 3.0 * 0.6f64.ln()) / 5.0 - penalty(2.0);
        let own = 2.0 * 0.5f64.ln() / 5.0 - penalty(4.0);
        let found = words.likelihood(&halves);
        assert!((found - category - own.max(all)).abs() < 1e-12, "{found}");
    }

    #[test]
    fn combinations_of_words_are_no_clusters() {
        // Two words that have nothing to do with each other: their four combinations gain no more than the entropy of four clusters.
        let rows: Vec<usize> = (0..400).collect();
        let values = Array2::from_shape_fn((400, 2), |(row, column)| (row >> column & 1) as f64);
        let known = Array2::from_elem(values.dim(), true);
        let words = Words::of(values.view(), known.view());
        assert!(words.numbers.is_empty() && !words.is_empty());
        let of = |label: &dyn Fn(usize) -> usize| {
            let labels: Vec<usize> = rows.iter().map(|&row| label(row)).collect();
            words.likelihood(&Partition::from_values(&labels))
        };
        let gain = of(&|row| row % 4) - of(&|_| 0);
        assert!(gain < 4f64.ln() && gain > 0.9 * 4f64.ln(), "{gain}");
        let alone = Words::of(values.slice(s![.., ..1]), known.slice(s![.., ..1]));
        assert!(alone.is_empty() && alone.numbers == [0]);
    }
}
