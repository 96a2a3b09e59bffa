//! Design matrix of the classifiers: a dense table, or label rows that stand for one-hot vectors.

use std::ops::Range;
use std::sync::Arc;

use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::{Array2, ArrayView2, ArrayViewMut1, Axis, Zip, s};
use partita_core::{Ensemble, Features, Memberships};

use serde::{Deserialize, Serialize};

use crate::SsceError;

/// Refuses a table of other rows than objects, or without columns.
pub(crate) fn check_table(features: &Features<'_>, objects: usize) -> Result<(), SsceError> {
    let (rows, columns) = features.values().dim();
    match (rows == objects, columns) {
        (false, _) => Err(SsceError::Rows { rows, objects }),
        (true, 0) => Err(SsceError::NoColumns),
        (true, _) => Ok(()),
    }
}

/// A place that stands for a missing label.
const NOWHERE: u32 = u32::MAX;

/// Inputs of the classifiers, n × p.
#[derive(Clone, Debug)]
pub(crate) enum Design {
    /// Numbers.
    Dense(Array2<f64>),
    /// Row i has `values[u]` at `places[i, u]` and zeros elsewhere; the one-hot matrix is never built.
    Hot {
        /// n × M places below `width`; missing labels have none.
        places: Array2<u32>,
        /// M, 1 where a base clustering is there once.
        values: Vec<f64>,
        /// p.
        width: usize,
        /// What the last column holds everywhere, where there are intercepts.
        intercept: Option<f64>,
    },
    /// Row i has the shares of object i in all base clusters.
    Shares(ShareRows),
}

/// Shares of some objects in all base clusters, whose rows are inputs.
#[derive(Clone, Debug)]
pub(crate) struct ShareRows {
    shares: Arc<Memberships>,
    /// The row of every object.
    rows: Vec<u32>,
    width: usize,
    intercept: Option<f64>,
}

/// Means and spreads of the columns of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scaling {
    pub(crate) columns: Vec<String>,
    pub(crate) means: Vec<f64>,
    pub(crate) spreads: Vec<f64>,
}

impl Scaling {
    /// Mean and standard deviation of every column; a constant column keeps its scale.
    pub(crate) fn of(features: &Features<'_>) -> Result<Self, SsceError> {
        Self::weighted(features, None)
    }

    /// The same where rows have weights.
    pub(crate) fn weighted(
        features: &Features<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, SsceError> {
        let values = features.values();
        let n = weights.map_or(values.nrows() as f64, |weights| weights.iter().sum());
        let columns = features.columns().to_vec();
        let mut means = Vec::with_capacity(columns.len());
        let mut spreads = Vec::with_capacity(columns.len());
        for (name, column) in columns.iter().zip(values.axis_iter(Axis(1))) {
            let sum = match weights {
                None => column.sum(),
                Some(weights) => column
                    .iter()
                    .zip(weights)
                    .map(|(x, weight)| x * weight)
                    .sum(),
            };
            let mean = sum / n;
            let squares = column
                .iter()
                .enumerate()
                .map(|(i, x)| weights.map_or(1.0, |weights| weights[i]) * (x - mean).powi(2));
            let spread = (squares.sum::<f64>() / n).sqrt();
            let spread = if spread > 1e-12 * mean.abs() {
                spread
            } else {
                1.0
            };
            if !(mean.is_finite() && spread.is_finite()) {
                return Err(SsceError::Scale {
                    column: name.clone(),
                });
            }
            means.push(mean);
            spreads.push(spread);
        }
        Ok(Self {
            columns,
            means,
            spreads,
        })
    }

    /// The table with every column centred and scaled, and a column of one number where asked for.
    pub(crate) fn apply(&self, values: ArrayView2<'_, f64>, intercept: Option<f64>) -> Array2<f64> {
        let (n, d) = values.dim();
        let width = d + usize::from(intercept.is_some());
        let mut scaled = Array2::from_elem((n, width), intercept.unwrap_or_default());
        for (j, column) in values.axis_iter(Axis(1)).enumerate() {
            let standard = column.mapv(|x| (x - self.means[j]) / self.spreads[j]);
            scaled.column_mut(j).assign(&standard);
        }
        scaled
    }
}

impl Design {
    /// One-hot label rows of an ensemble, in which a label of a base clustering that is there ω times is √ω.
    pub(crate) fn hot(ensemble: &Ensemble, copies: Option<&[f64]>, intercept: Option<f64>) -> Self {
        let offsets = ensemble.offsets();
        let bases = ensemble.bases().len();
        let width = offsets[bases];
        let values = match copies {
            Some(copies) => copies.iter().map(|copies| copies.sqrt()).collect(),
            None => vec![1.0; bases],
        };
        if let Some(shares) = ensemble.memberships() {
            let mut factors = Vec::with_capacity(width);
            for (ends, value) in offsets.windows(2).zip(&values) {
                factors.resize(ends[1], *value);
            }
            let shares = Arc::new(shares.clone().scaled(&factors));
            let rows = (0..ensemble.objects() as u32).collect();
            return Self::Shares(ShareRows {
                shares,
                rows,
                width,
                intercept,
            });
        }
        let places = Array2::from_shape_fn((ensemble.objects(), bases), |(i, u)| {
            let label = ensemble.label(i, u);
            label.map_or(NOWHERE, |j| (offsets[u] + j) as u32)
        });
        Self::Hot {
            places,
            values,
            width,
            intercept,
        }
    }

    /// Objects, n.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Hot { places, .. } => places.nrows(),
            Self::Shares(shares) => shares.rows.len(),
        }
    }

    /// Inputs of a classifier, p.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Hot {
                width, intercept, ..
            }
            | Self::Shares(ShareRows {
                width, intercept, ..
            }) => width + usize::from(intercept.is_some()),
        }
    }

    /// The inputs of some objects only.
    pub(crate) fn select(&self, objects: &[usize]) -> Self {
        match self {
            Self::Dense(x) => Self::Dense(x.select(Axis(0), objects)),
            Self::Hot {
                places,
                values,
                width,
                intercept,
            } => Self::Hot {
                places: places.select(Axis(0), objects),
                values: values.clone(),
                width: *width,
                intercept: *intercept,
            },
            Self::Shares(shares) => {
                let rows = objects.iter().map(|&object| shares.rows[object]).collect();
                Self::Shares(ShareRows {
                    rows,
                    ..shares.clone()
                })
            }
        }
    }

    /// Appends the places of row `i` that are not zero, and what they hold.
    fn append_entries(&self, i: usize, entries: &mut Vec<(usize, f64)>) {
        let last = match self {
            Self::Dense(_) => None,
            Self::Hot {
                places,
                values,
                width,
                intercept,
            } => {
                let pairs = places.row(i).into_iter().zip(values);
                let known = pairs.filter(|(place, _)| **place != NOWHERE);
                entries.extend(known.map(|(&place, &value)| (place as usize, value)));
                intercept.map(|value| (*width, value))
            }
            Self::Shares(shares) => {
                let (clusters, values) = shares.shares.row(shares.rows[i] as usize);
                let pairs = clusters.iter().zip(values);
                entries.extend(pairs.map(|(&c, &share)| (c as usize, share)));
                shares.intercept.map(|value| (shares.width, value))
            }
        };
        entries.extend(last);
    }

    /// X W for the rows in `range`.
    pub(crate) fn times(&self, range: Range<usize>, w: ArrayView2<'_, f64>) -> Array2<f64> {
        if let Self::Dense(x) = self {
            return x.slice(s![range, ..]).dot(&w);
        }
        let mut product = Array2::zeros((range.len(), w.ncols()));
        let mut entries = Vec::new();
        for (i, row) in range.zip(product.outer_iter_mut()) {
            entries.clear();
            self.append_entries(i, &mut entries);
            add_rows(&entries, w, row);
        }
        product
    }

    /// Adds Xᵀ R, where R has the rows in `range`.
    pub(crate) fn add_transposed(
        &self,
        range: Range<usize>,
        r: ArrayView2<'_, f64>,
        sum: &mut Array2<f64>,
    ) {
        if let Self::Dense(x) = self {
            return general_mat_mul(1.0, &x.slice(s![range, ..]).t(), &r, 1.0, sum);
        }
        let mut of_place: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.width()];
        let mut entries = Vec::new();
        for (at, i) in range.enumerate() {
            entries.clear();
            self.append_entries(i, &mut entries);
            for &(place, value) in &entries {
                of_place[place].push((at, value));
            }
        }
        for (rows, sum) in of_place.iter().zip(sum.outer_iter_mut()) {
            add_rows(rows, r, sum);
        }
    }

    /// Xᵀ diag(d) X, p × p.
    pub(crate) fn gram(&self, d: &[f64]) -> Array2<f64> {
        let p = self.width();
        if let Self::Dense(x) = self {
            let weighted = x * &ArrayView2::from_shape((d.len(), 1), d).expect("one weight a row");
            return x.t().dot(&weighted);
        }
        let mut gram = Array2::zeros((p, p));
        let mut entries = Vec::new();
        for (i, d) in d.iter().enumerate() {
            entries.clear();
            self.append_entries(i, &mut entries);
            for &(a, x) in &entries {
                entries.iter().for_each(|&(b, y)| gram[[a, b]] += d * x * y);
            }
        }
        gram
    }

    /// The diagonal of [`Design::gram`].
    pub(crate) fn squares(&self, d: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.width()];
        let mut entries = Vec::new();
        for (i, d) in d.iter().enumerate() {
            entries.clear();
            match self {
                Self::Dense(x) => entries.extend(x.row(i).iter().copied().enumerate()),
                _ => self.append_entries(i, &mut entries),
            }
            for &(place, x) in &entries {
                sum[place] += d * x * x;
            }
        }
        sum
    }
}

/// Adds rows of a matrix times values to a row. Four are added in one pass, in the order and with the rounding of one after another.
fn add_rows(
    entries: &[(usize, f64)],
    matrix: ArrayView2<'_, f64>,
    mut sum: ArrayViewMut1<'_, f64>,
) {
    let (fours, others) = entries.as_chunks();
    for &[(a, x), (b, y), (c, z), (d, t)] in fours {
        let four = Zip::from(&mut sum)
            .and(matrix.row(a))
            .and(matrix.row(b))
            .and(matrix.row(c))
            .and(matrix.row(d));
        four.for_each(|sum, a, b, c, d| *sum = *sum + x * a + y * b + z * c + t * d);
    }
    for &(place, value) in others {
        sum.scaled_add(value, &matrix.row(place));
    }
}
