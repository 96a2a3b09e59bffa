//! Columns that outweigh all others: what distances between rows of a table see when nothing is scaled.

use partita::extend::option;
use partita::ndarray::ArrayView2;

/// This share of the variance is all of it.
const ALL: f64 = 0.95;

/// So many times wider than the next column must the wide ones be: columns of one scale differ by less.
const WIDER: f64 = 10.0;

/// The most columns that a warning names.
const MOST_NAMED: usize = 3;

/// The warning about few columns that have nearly all of the variance, where there are such.
///
/// A quarter of the columns at most (or one of several) is few, and they must be ten times wider than the next: columns of one
/// scale, and columns of zeros and ones, stay below that. Where the others are constant, scaling changes nothing.
///
/// # Cost
/// One pass, O(n d).
pub(crate) fn outweighing_columns(
    columns: &[String],
    values: ArrayView2<'_, f64>,
) -> Option<String> {
    let variances = variances(values);
    let total: f64 = variances.iter().sum();
    // What is constant cannot be outweighed.
    let mut order: Vec<usize> = (0..variances.len())
        .filter(|&column| variances[column] > 0.0)
        .collect();
    order.sort_by(|&a, &b| variances[b].total_cmp(&variances[a]));
    let mut sum = 0.0;
    let few = order.iter().take_while(|&&column| {
        let goes_on = sum <= ALL * total;
        sum += if goes_on { variances[column] } else { 0.0 };
        goes_on
    });
    let few = few.count();
    let next = order.get(few).map(|&column| variances[column].sqrt())?;
    let narrowest = variances[order[few.checked_sub(1)?]].sqrt();
    if few > (order.len() / 4).max(1) || !total.is_finite() || narrowest < WIDER * next {
        return None;
    }
    let names: Vec<String> = order[..few]
        .iter()
        .take(MOST_NAMED)
        .map(|&at| format!("'{}'", columns[at]))
        .collect();
    let more = if few > MOST_NAMED {
        format!(" and {} more", few - MOST_NAMED)
    } else {
        String::new()
    };
    let (word, has) = if few == 1 {
        ("column", "has")
    } else {
        ("columns", "have")
    };
    let (names, share) = (names.join(", "), (1000.0 * sum / total).floor() / 10.0);
    Some(format!(
        "{word} {names}{more} {has} {share} % of the variance, so the others hardly count; if that is not meant \
         give {}",
        option("scale").to("zscore")
    ))
}

/// The variance of every column, of numbers shifted by the first row.
fn variances(values: ArrayView2<'_, f64>) -> Vec<f64> {
    let n = values.nrows() as f64;
    let Some(first) = values.outer_iter().next() else {
        return Vec::new();
    };
    let mut sums = vec![(0.0, 0.0); values.ncols()];
    for row in values.outer_iter() {
        for ((sum, value), origin) in sums.iter_mut().zip(row).zip(first) {
            let shifted = value - origin;
            sum.0 += shifted;
            sum.1 += shifted * shifted;
        }
    }
    sums.into_iter()
        .map(|(sum, squares)| ((squares - sum * sum / n) / n).max(0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::ndarray::Array2;

    fn warning(widths: &[f64]) -> Option<String> {
        let names: Vec<String> = (0..widths.len())
            .map(|column| format!("x{column}"))
            .collect();
        let wobble = |row: usize, column: usize| ((row * 37 + column * 11) % 101) as f64 / 101.0;
        let values =
            Array2::from_shape_fn((200, widths.len()), |(i, j)| 5.0 + widths[j] * wobble(i, j));
        outweighing_columns(&names, values.view())
    }

    #[test]
    fn a_wide_column_is_named_with_its_share() {
        let found = warning(&[1.0, 20_000.0, 1.0]).unwrap();
        assert!(
            found.starts_with("column 'x1' has 99.9 % of the variance")
                && found.contains("--scale zscore"),
            "{found}"
        );
        assert!(
            warning(&[1e4, 1e4, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
                .unwrap()
                .starts_with("columns 'x0', 'x1' have")
        );
    }

    #[test]
    fn columns_of_one_scale_and_single_columns_are_fine() {
        for widths in [
            &[1.0][..],
            &[1.0, 1.0],
            &[1.0, 4.0],
            &[3.0, 1.0, 2.0, 0.5],
            &[1.0, 0.0],
            &[0.0, 0.0],
            &[1e4, 1e4, 1.0],
        ] {
            assert_eq!(warning(widths), None, "{widths:?}");
        }
    }
}
