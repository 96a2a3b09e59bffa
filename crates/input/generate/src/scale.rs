//! Scaling of columns: z-scores, the unit interval, numbers beside categories; and which of these a table asks for.

use std::fmt;
use std::str::FromStr;

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use crate::GenerateError;
use crate::error::Result;
use crate::mixed::{has_categories, has_two_values, weigh_features};

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
    if has_categories(values) {
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
