//! Scaling of columns: z-scores or the unit interval.

use std::fmt;
use std::str::FromStr;

use partita_core::ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use crate::GenerateError;

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
}

impl FromStr for Scale {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        match text.trim() {
            "none" => Ok(Self::None),
            "zscore" => Ok(Self::ZScore),
            "minmax" => Ok(Self::MinMax),
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
        })
    }
}

/// The table (n × d) with every column scaled on its own. A constant column becomes 0 under
/// [`Scale::ZScore`] and [`Scale::MinMax`].
///
/// # Cost
/// O(n·d) time, one copy of the table.
pub fn scale(values: ArrayView2<'_, f64>, scale: Scale) -> Array2<f64> {
    let mut scaled = values.to_owned();
    if scale == Scale::None || scaled.is_empty() {
        return scaled;
    }
    for mut column in scaled.axis_iter_mut(Axis(1)) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
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
        if scale == Scale::ZScore {
            let n = column.len() as f64;
            let mean = column.sum() / n;
            let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
            column.mapv_inplace(|x| (x - mean) / deviation);
        }
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
        assert_eq!(unit, array![[0.0, 0.0, 1.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.5]]);
        let standard = scale(table.view(), Scale::ZScore);
        let deviation = 1.5f64.sqrt();
        approx::assert_abs_diff_eq!(
            standard,
            array![[-deviation, 0.0, deviation], [0.0, 0.0, -deviation], [deviation, 0.0, 0.0]],
            epsilon = 1e-12
        );
    }

    #[test]
    fn names_read_back() {
        for scale in [Scale::None, Scale::ZScore, Scale::MinMax] {
            assert_eq!(scale.to_string().parse(), Ok(scale));
        }
        let message = "z".parse::<Scale>().unwrap_err().to_string();
        assert_eq!(message, "there is no scaling 'z'; choose from none, zscore, minmax");
    }
}
