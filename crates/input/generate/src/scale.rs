//! Scaling of columns: z-scores or the unit interval.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use partita_core::ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use serde::{Deserialize, Serialize};

use crate::GenerateError;
use crate::error::Result;

/// How columns are brought to a common scale before anything is clustered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// As they are.
    #[default]
    None,
    /// Mean 0 and standard deviation 1 (divided by n).
    ZScore,
    /// Smallest value 0, largest 1.
    MinMax,
    /// Numbers beside categories: every feature gets a variance, 1 a number, 1/2 a column of two values or all columns of a category together,
    /// times the root of how much it agrees with the other features (the mean RV coefficient, divided by the largest). A category of many
    /// words would outweigh numbers otherwise, and one that has nothing to do with the rest would split clear groups.
    ///
    /// # References
    /// H. Abdi, L. Williams, D. Valentin, M. Bennani-Dosse: STATIS and DISTATIS, WIREs Computational Statistics 4, 2012.
    Mixed,
    /// [`Mixed`](Self::Mixed) where there are categories; else z-scores where a column's standard deviation is more than 3 times that of the
    /// median column (mixed where there are columns of two values beside them), else as they are. Tables that are sparse or larger than memory
    /// stay as they are.
    Auto,
}

impl FromStr for Scale {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "none" => Ok(Self::None),
            "zscore" => Ok(Self::ZScore),
            "minmax" => Ok(Self::MinMax),
            "mixed" => Ok(Self::Mixed),
            "auto" => Ok(Self::Auto),
            other => Err(GenerateError::Scale(other.into())),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::ZScore => "zscore",
            Self::MinMax => "minmax",
            Self::Mixed => "mixed",
            Self::Auto => "auto",
        })
    }
}

/// A column whose standard deviation is so many times that of the median column (the lower of two) is on another scale. Chosen on
/// the tuned half of the families of `partita-synth`. The median, not the smallest: pixels that hardly vary are no other unit.
const APART: f64 = 3.0;

/// Fewer columns than this are not taken for the scores of a decomposition: two uncorrelated columns are no rarity.
const SCORES: usize = 3;

/// The largest correlation between scores of a decomposition of all rows: they are uncorrelated but for rounding in a file.
const UNCORRELATED: f64 = 0.01;

/// What [`Scale::Auto`] comes to for a table; others as they are. Constant columns do not count. Scores of a decomposition (principal
/// components: three columns or more, uncorrelated, each of at most the variance of the one before) are left as they are, for their variances
/// say what each is worth.
///
/// # Cost
/// O(n·d) time; O(n·d²) where variances fall from column to column.
pub fn scale_by_evidence(values: ArrayView2<'_, f64>, scale: Scale) -> Scale {
    if scale != Scale::Auto {
        return scale;
    }
    let n = values.nrows().max(1) as f64;
    let deviation = |column: ArrayView1<'_, f64>| {
        let mean = column.iter().map(|x| x / n).sum::<f64>();
        column
            .iter()
            .map(|x| (x - mean) / n * (x - mean))
            .sum::<f64>()
            .sqrt()
    };
    let mut deviations: Vec<f64> = values
        .columns()
        .into_iter()
        .map(deviation)
        .filter(|&sd| sd > 0.0)
        .collect();
    let falling = deviations.len() >= SCORES && deviations.is_sorted_by(|a, b| a >= b);
    if falling && largest_correlation(values) <= UNCORRELATED {
        return Scale::None;
    }
    if features(values).iter().any(|feature| feature.len() > 1) {
        return Scale::Mixed;
    }
    deviations.sort_unstable_by(f64::total_cmp);
    let median = deviations.get(deviations.len().saturating_sub(1) / 2);
    let apart = deviations
        .last()
        .zip(median)
        .is_some_and(|(most, median)| *most > APART * median);
    match apart {
        false => Scale::None,
        true if values.columns().into_iter().any(has_two_values) => Scale::Mixed,
        true => Scale::ZScore,
    }
}

/// The variance of a category and of a column of two values under [`Scale::Mixed`], where that of a number is 1. In planted tables of numbers and
/// words those of numbers alone that are far apart get the better the smaller it is (mean ARI .90 at 1, .95 at 1/2, .96 at 1/4), those of many
/// words the better the larger.
const CATEGORY: f64 = 0.5;

/// Rows by which [`Scale::Mixed`] sees how much features agree.
const ROWS: usize = 500;

/// What the shares of a category may sum to beside 1: rounding.
const ROUNDING: f64 = 1e-9;

/// The columns of every feature: those of a category, else one. The columns of a category lie side by side, are from 0 to 1, sum to 1 in every
/// row, and hold a 1 in most rows (shares in a mixture hold none).
fn features(values: ArrayView2<'_, f64>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < values.ncols() {
        let end = end_of_category(values.slice(s![.., start..]));
        found.push(start..start + end.unwrap_or(1));
        start += end.unwrap_or(1);
    }
    found
}

/// Columns of the category that the first column belongs to, if there is one.
fn end_of_category(values: ArrayView2<'_, f64>) -> Option<usize> {
    let mut end = 1;
    for row in values.outer_iter() {
        let mut sum = 0.0;
        for (column, &value) in row.iter().enumerate() {
            if column >= end && sum >= 1.0 - ROUNDING {
                break;
            }
            if !(0.0..=1.0).contains(&value) {
                return None;
            }
            sum += value;
            end = end.max(column + 1);
        }
        if (sum - 1.0).abs() > ROUNDING {
            return None;
        }
    }
    let columns = values.slice(s![.., ..end]);
    let rows = || columns.outer_iter();
    let whole = rows().all(|row| (row.sum() - 1.0).abs() <= ROUNDING);
    let words = rows().filter(|row| row.iter().any(|&value| value == 1.0));
    (end > 1 && whole && 2 * words.count() > values.nrows()).then_some(end)
}

/// How much every feature of columns with mean 0 agrees with the others: its mean RV coefficient with them, which is the squared correlation of
/// two numbers, on [`ROWS`] rows that lie evenly in the table.
fn agreements(values: ArrayView2<'_, f64>, features: &[Range<usize>]) -> Vec<f64> {
    let (n, count) = (values.nrows(), values.nrows().min(ROWS));
    let rows: Vec<usize> = (0..count).map(|at| at * n / count).collect();
    let mut sample = values.select(Axis(0), &rows);
    for mut column in sample.columns_mut() {
        let mean = column.sum() / count as f64;
        column -= mean;
    }
    // Products of rows, of every feature divided by the norm of its own.
    let mut products = Array2::<f64>::zeros((count, count));
    let norms: Vec<f64> = features
        .iter()
        .map(|feature| norm_of(sample.slice(s![.., feature.clone()])))
        .collect();
    let each = || features.iter().zip(&norms).filter(|(_, norm)| **norm > 0.0);
    for (feature, norm) in each() {
        for column in sample.slice(s![.., feature.clone()]).columns() {
            let column = column.to_owned();
            for (mut row, &own) in products.outer_iter_mut().zip(&column) {
                row.scaled_add(own / norm, &column);
            }
        }
    }
    let others = each().count().saturating_sub(1).max(1) as f64;
    let of_feature = |(feature, norm): (&Range<usize>, &f64)| {
        let columns = sample.slice(s![.., feature.clone()]);
        let own = columns.columns().into_iter().map(|column| {
            let sums = products
                .outer_iter()
                .map(|row| sum_of_products(row, column));
            sum_of_products(Array1::from_iter(sums).view(), column)
        });
        if *norm > 0.0 {
            ((own.sum::<f64>() / norm - 1.0) / others).max(0.0)
        } else {
            0.0
        }
    };
    features.iter().zip(&norms).map(of_feature).collect()
}

/// The Frobenius norm of the products of the columns.
fn norm_of(columns: ArrayView2<'_, f64>) -> f64 {
    let own = columns.columns();
    let squares = own.into_iter().flat_map(|one| {
        let others = columns.columns().into_iter();
        others.map(move |other| sum_of_products(one, other).powi(2))
    });
    squares.sum::<f64>().sqrt()
}

/// In one order on every machine.
fn sum_of_products(one: ArrayView1<'_, f64>, other: ArrayView1<'_, f64>) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Gives every feature of columns that have been brought to variance 1 its own variance under [`Scale::Mixed`].
fn weigh_features(values: ArrayView2<'_, f64>, scaled: &mut Array2<f64>) {
    let features = features(values);
    for feature in &features {
        let mut columns = scaled.slice_mut(s![.., feature.clone()]);
        if feature.len() > 1 {
            columns.assign(&values.slice(s![.., feature.clone()]));
            let n = columns.nrows() as f64;
            let mut variance = 0.0;
            for mut column in columns.columns_mut() {
                let mean = column.sum() / n;
                column -= mean;
                variance += sum_of_products(column.view(), column.view()) / n;
            }
            columns *= if variance > 0.0 {
                (CATEGORY / variance).sqrt()
            } else {
                0.0
            };
        } else if has_two_values(values.column(feature.start)) {
            columns *= CATEGORY.sqrt();
        }
    }
    let agreements = agreements(scaled.view(), &features);
    let most = agreements.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        for (feature, agreement) in features.into_iter().zip(agreements) {
            let mut columns = scaled.slice_mut(s![.., feature]);
            columns *= (agreement / most).sqrt().sqrt();
        }
    }
}

fn has_two_values(column: ArrayView1<'_, f64>) -> bool {
    let first = column.first().copied().unwrap_or(0.0);
    let other = column.iter().copied().find(|&x| x != first);
    other.is_some_and(|other| column.iter().all(|&x| x == first || x == other))
}

/// The largest correlation of two columns, without its sign; columns that do not vary have none.
fn largest_correlation(values: ArrayView2<'_, f64>) -> f64 {
    let standard = scale(values, Scale::ZScore);
    let products = standard.t().dot(&standard);
    let largest = products
        .indexed_iter()
        .filter(|((i, j), _)| i != j)
        .fold(0.0f64, |largest, (_, product)| largest.max(product.abs()));
    largest / values.nrows().max(1) as f64
}

/// The table (n × d) with every column scaled on its own, or every feature ([`Scale::Mixed`]). A constant column becomes 0 unless columns stay as
/// they are.
///
/// # Cost
/// O(n·d) time, one copy of the table; of mixed ones O(500² d) more.
pub fn scale(values: ArrayView2<'_, f64>, scale: Scale) -> Array2<f64> {
    let scale = scale_by_evidence(values, scale);
    let mut scaled = values.to_owned();
    if scale == Scale::None || scaled.is_empty() {
        return scaled;
    }
    for mut column in scaled.axis_iter_mut(Axis(1)) {
        let mut low = f64::INFINITY;
        let mut high = f64::NEG_INFINITY;
        for &x in &column {
            (low, high) = (low.min(x), high.max(x));
        }
        // Halves keep the width of a column finite however far apart its ends are.
        let half = high * 0.5 - low * 0.5;
        if half == 0.0 {
            column.fill(0.0);
            continue;
        }
        column.mapv_inplace(|x| (x * 0.5 - low * 0.5) / half);
        if scale != Scale::MinMax {
            let n = column.len() as f64;
            let mean = column.sum() / n;
            let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
            column.mapv_inplace(|x| (x - mean) / deviation);
        }
    }
    if scale == Scale::Mixed {
        weigh_features(values, &mut scaled);
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    #[test]
    fn columns_get_a_common_scale_and_constant_ones_become_zero() {
        let table = array![[1.0, 5.0, 1e300], [2.0, 5.0, -1e300], [3.0, 5.0, 0.0]];
        assert_eq!(scale(table.view(), Scale::None), table);
        let unit = scale(table.view(), Scale::MinMax);
        assert_eq!(
            unit,
            array![[0.0, 0.0, 1.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.5]]
        );
        let standard = scale(table.view(), Scale::ZScore);
        let deviation = 1.5f64.sqrt();
        let expected = array![
            [-deviation, 0.0, deviation],
            [0.0, 0.0, -deviation],
            [deviation, 0.0, 0.0]
        ];
        assert_eq!(standard.dim(), expected.dim());
        for (found, expected) in standard.iter().zip(&expected) {
            approx::assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
        }
    }

    #[test]
    fn scales_that_differ_are_evidence() {
        let near = array![[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [3.0, 5.0, 0.0]];
        assert_eq!(scale_by_evidence(near.view(), Scale::Auto), Scale::None);
        assert_eq!(scale(near.view(), Scale::Auto), near);
        let far = array![[1.0, 10.0], [2.0, 50.0], [3.0, 90.0]];
        assert_eq!(scale_by_evidence(far.view(), Scale::Auto), Scale::ZScore);
        assert_eq!(
            scale(far.view(), Scale::Auto),
            scale(far.view(), Scale::ZScore)
        );
        assert_eq!(scale_by_evidence(far.view(), Scale::MinMax), Scale::MinMax);
    }

    /// Six rows: a number, a category of three words with a gap, a number of the unit interval, shares of a mixture.
    fn mixed() -> Array2<f64> {
        array![
            [10.0, 1.0, 0.0, 0.0, 0.5, 0.2, 0.8],
            [500.0, 0.0, 1.0, 0.0, 0.25, 0.4, 0.6],
            [20.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.5],
            [510.0, 0.0, 1.0, 0.0, 0.0, 0.9, 0.1],
            [15.0, 0.5, 0.25, 0.25, 0.75, 0.3, 0.7],
            [495.0, 0.0, 0.0, 1.0, 0.1, 0.6, 0.4]
        ]
    }

    #[test]
    fn columns_of_a_category_are_one_feature() {
        assert_eq!(features(mixed().view()), [0..1, 1..4, 4..5, 5..6, 6..7]);
        assert_eq!(scale_by_evidence(mixed().view(), Scale::Auto), Scale::Mixed);
        let words = array![
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0, 1.0],
            [0.0, 1.0, 1.0, 0.0]
        ];
        assert_eq!(features(words.view()), [0..2, 2..4]);
        assert_eq!(features(words.slice(s![.., 1..]).view()), [0..1, 1..3]);
        // Two answers that nobody gave both, and one that all gave.
        let answers = array![[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]];
        assert_eq!(features(answers.view()), [0..1, 1..2, 2..3]);
    }

    #[test]
    fn variances_of_mixed_features_say_how_much_they_agree() {
        let table = mixed();
        let scaled = scale(table.view(), Scale::Mixed);
        let standard = scale(table.view(), Scale::ZScore);
        let features = features(table.view());
        let centred = |feature: &Range<usize>| {
            let columns = table.slice(s![.., feature.clone()]).to_owned();
            if feature.len() == 1 {
                standard.slice(s![.., feature.clone()]).to_owned()
            } else {
                &columns - &columns.mean_axis(Axis(0)).unwrap()
            }
        };
        // The RV coefficient by its definition, of products of columns.
        let product =
            |one: &Array2<f64>, other: &Array2<f64>| one.t().dot(other).mapv(|x| x * x).sum();
        let agreement = |feature: &Range<usize>| {
            let own = centred(feature);
            let others = features.iter().filter(|other| *other != feature);
            let each = others.map(|other| {
                let other = centred(other);
                product(&own, &other) / (product(&own, &own) * product(&other, &other)).sqrt()
            });
            each.sum::<f64>()
        };
        let most = features.iter().map(agreement).fold(0.0, f64::max);
        for feature in &features {
            let columns = scaled.slice(s![.., feature.clone()]);
            let variance = columns.mapv(|x| x * x).sum() / 6.0;
            let own = if feature.len() > 1 { CATEGORY } else { 1.0 };
            let expected = own * (agreement(feature) / most).sqrt();
            approx::assert_abs_diff_eq!(variance, expected, epsilon = 1e-9);
        }
    }

    #[test]
    fn a_feature_that_agrees_with_no_other_counts_less() {
        // A number and a category tell two groups, the other category tells others.
        let table = Array2::from_shape_fn((40, 5), |(i, j)| {
            let group = [i % 2, i / 2 % 2][(j > 2) as usize];
            match j {
                0 => 100.0 * group as f64 + (i % 7) as f64,
                _ => (group == j % 2) as u8 as f64,
            }
        });
        let scaled = scale(table.view(), Scale::Auto);
        let variance =
            |columns: Range<usize>| scaled.slice(s![.., columns]).mapv(|x| x * x).sum() / 40.0;
        assert!((variance(0..1) - 1.0).abs() < 0.1 && (variance(1..3) - CATEGORY).abs() < 0.1);
        assert!(variance(3..5) < 0.25 * CATEGORY, "{}", variance(3..5));
    }

    #[test]
    fn scores_of_a_decomposition_stay_as_they_are() {
        // Columns of a Hadamard matrix are uncorrelated.
        let sign = |i: usize, j: usize| [1.0, -1.0][(i & (j + 1)).count_ones() as usize % 2];
        let scores = Array2::from_shape_fn((8, 3), |(i, j)| [90.0, 9.0, 1.0][j] * sign(i, j));
        assert_eq!(scale_by_evidence(scores.view(), Scale::Auto), Scale::None);
        let mut correlated = scores.clone();
        correlated[[0, 2]] += 3.0;
        assert_eq!(
            scale_by_evidence(correlated.view(), Scale::Auto),
            Scale::Mixed
        );
        let mut rising = scores;
        rising.invert_axis(Axis(1));
        assert_eq!(scale_by_evidence(rising.view(), Scale::Auto), Scale::Mixed);
    }

    #[test]
    fn names_read_back() {
        for scale in [
            Scale::None,
            Scale::ZScore,
            Scale::MinMax,
            Scale::Mixed,
            Scale::Auto,
        ] {
            assert_eq!(scale.to_string().parse(), Ok(scale));
        }
        let message = "z".parse::<Scale>().unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no scaling 'z'; choose from none, zscore, minmax, mixed, auto"
        );
    }
}
