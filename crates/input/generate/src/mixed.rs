//! Numbers beside categories on one scale ([`Scale::Mixed`](crate::Scale::Mixed)): which columns are one feature, and a variance for every feature,
//! weighed by how much it agrees with the others.

use std::ops::Range;

use partita_core::ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};

/// The variance of a category and of a column of two values, where that of a number is 1. In planted tables those of numbers that are far apart
/// get the better the smaller it is, those of many words the better the larger (docs/decisions/0017).
const CATEGORY: f64 = 0.5;

/// Rows by which it is seen how much features agree.
const ROWS: usize = 500;

/// What the shares of a category may sum to beside 1: rounding.
const ROUNDING: f64 = 1e-9;

/// Whether some feature is a category.
pub(crate) fn has_categories(values: ArrayView2<'_, f64>) -> bool {
    features(values).iter().any(|feature| feature.len() > 1)
}

pub(crate) fn has_two_values(column: ArrayView1<'_, f64>) -> bool {
    let first = column.first().copied().unwrap_or(0.0);
    let other = column.iter().copied().find(|&x| x != first);
    other.is_some_and(|other| column.iter().all(|&x| x == first || x == other))
}

/// Gives every feature of columns that have been brought to variance 1 (`scaled`, of `values`) its own variance.
///
/// # Cost
/// O(n d + 500² d) time.
pub(crate) fn weigh_features(values: ArrayView2<'_, f64>, scaled: &mut Array2<f64>) {
    let features = features(values);
    for feature in &features {
        let mut columns = scaled.slice_mut(s![.., feature.clone()]);
        if feature.len() > 1 {
            columns.assign(&values.slice(s![.., feature.clone()]));
            centre(columns.view_mut());
            let squares = columns.iter().map(|x| x * x).sum::<f64>();
            let variance = squares / columns.nrows() as f64;
            // Of one word in all rows nothing is left.
            columns *= (CATEGORY / variance.max(f64::MIN_POSITIVE)).sqrt();
        } else if has_two_values(values.column(feature.start)) {
            columns *= CATEGORY.sqrt();
        }
    }
    let agreements = agreements(scaled.view(), &features);
    let most = agreements.iter().copied().fold(0.0, f64::max);
    for (feature, agreement) in features.into_iter().zip(agreements) {
        let mut columns = scaled.slice_mut(s![.., feature]);
        columns *= (agreement / most).sqrt().sqrt();
    }
}

/// The columns of every feature of a table (n × d): those of a category, else one. The columns of a category lie side by side, are from 0 to 1,
/// sum to 1 in every row, and hold a 1 in most rows (shares in a mixture hold none).
///
/// # Cost
/// O(n d), mostly far less: a column that belongs to no category mostly shows in its first rows.
pub fn features(values: ArrayView2<'_, f64>) -> Vec<Range<usize>> {
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
/// two numbers, on [`ROWS`] rows that lie evenly in the table, and not less than two numbers that have nothing to do with each other.
fn agreements(values: ArrayView2<'_, f64>, features: &[Range<usize>]) -> Vec<f64> {
    let (n, count) = (values.nrows(), values.nrows().min(ROWS));
    let rows: Vec<usize> = (0..count).map(|at| at * n / count).collect();
    let mut sample = values.select(Axis(0), &rows);
    centre(sample.view_mut());
    let columns = sample.t().as_standard_layout().into_owned();
    let of = |feature: &Range<usize>| columns.slice(s![feature.clone(), ..]);
    let norms: Vec<f64> = features
        .iter()
        .map(|feature| norm_of(of(feature)))
        .collect();
    // Products of rows, of every feature divided by the norm of its own. Sums run over rows, in one order on every machine.
    let mut products = Array2::<f64>::zeros((count, count));
    let each = || features.iter().zip(&norms).filter(|(_, norm)| **norm > 0.0);
    for (feature, norm) in each() {
        for column in of(feature).rows() {
            for (mut row, own) in products.outer_iter_mut().zip(column) {
                row.scaled_add(own / norm, &column);
            }
        }
    }
    let others = each().count().saturating_sub(1).max(1) as f64;
    let chance = 1.0 / count.max(1) as f64;
    let of_feature = |(feature, norm): (&Range<usize>, &f64)| {
        let columns = of(feature);
        let own = columns.rows().into_iter().map(|column| {
            let mut sums = Array1::<f64>::zeros(count);
            for (row, &own) in products.outer_iter().zip(column) {
                sums.scaled_add(own, &row);
            }
            sum_of_products(sums.view(), column)
        });
        // NaN, of a feature that does not vary on these rows, is not the larger one.
        ((own.sum::<f64>() / norm - 1.0) / others).max(chance)
    };
    features.iter().zip(&norms).map(of_feature).collect()
}

/// Takes the mean of every column away.
fn centre(mut columns: ArrayViewMut2<'_, f64>) {
    let n = columns.nrows() as f64;
    for mut column in columns.columns_mut() {
        let mean = column.sum() / n;
        column -= mean;
    }
}

/// The Frobenius norm of the products of columns, which are rows here.
fn norm_of(columns: ArrayView2<'_, f64>) -> f64 {
    let squares = columns.rows().into_iter().flat_map(|one| {
        let others = columns.rows().into_iter();
        others.map(move |other| sum_of_products(one, other).powi(2))
    });
    squares.sum::<f64>().sqrt()
}

/// In one order on every machine.
fn sum_of_products(one: ArrayView1<'_, f64>, other: ArrayView1<'_, f64>) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scale, scale, scale_by_evidence};
    use partita_core::ndarray::array;

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
            (each.sum::<f64>() / (features.len() - 1) as f64).max(1.0 / 6.0)
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
    fn no_feature_is_lost() {
        // Two numbers that agree, one that is orthogonal to both, and an answer that one of 2000 gave, in none of the rows that are compared.
        let sign = |i: usize, bit: usize| [1.0, -1.0][i >> bit & 1];
        let table = Array2::from_shape_fn((2000, 4), |(i, j)| match j {
            0 | 1 => 100.0 * sign(i, 2) + (i % 2) as f64,
            2 => sign(i, 3),
            _ => (i == 1997) as u8 as f64,
        });
        let scaled = scale(table.view(), Scale::Mixed);
        assert!(
            scaled
                .columns()
                .into_iter()
                .all(|column| column.iter().any(|x| x.abs() > 0.1))
        );
        assert!(scaled.iter().all(|x| x.is_finite()));
        let one_word = array![[1.0, 0.0, 3.0], [1.0, 0.0, 5.0], [1.0, 0.0, 9.0]];
        let scaled = scale(one_word.view(), Scale::Mixed);
        assert!(scaled.slice(s![.., ..2]).iter().all(|&x| x == 0.0) && scaled[[0, 2]] < -0.1);
        // Nothing to compare with.
        let alone = scale(table.slice(s![.., ..1]), Scale::Mixed);
        assert_eq!(alone, scale(table.slice(s![.., ..1]), Scale::ZScore));
    }
}
