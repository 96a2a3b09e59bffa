//! Design matrix of the classifiers: a dense table, or label rows that stand for one-hot vectors.

use std::ops::Range;
use std::sync::Arc;

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, Zip, s};
use partita_core::{Ensemble, Features, Memberships};

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
#[derive(Clone, Debug, PartialEq)]
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
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let mean = |column: ArrayView1<'_, f64>| match weights {
            None => column.sum() / n,
            Some(weights) => {
                column
                    .iter()
                    .zip(weights)
                    .map(|(x, weight)| x * weight)
                    .sum::<f64>()
                    / n
            }
        };
        let means: Vec<f64> = values.axis_iter(Axis(1)).map(mean).collect();
        let spread = |(column, mean): (ArrayView1<'_, f64>, &f64)| {
            let square = |(i, x): (usize, &f64)| weight(i) * (x - mean).powi(2);
            let variance = column.iter().enumerate().map(square).sum::<f64>() / n;
            if variance.sqrt() > 1e-12 * mean.abs() {
                variance.sqrt()
            } else {
                1.0
            }
        };
        let spreads: Vec<f64> = values.axis_iter(Axis(1)).zip(&means).map(spread).collect();
        let columns = features.columns().to_vec();
        match means
            .iter()
            .zip(&spreads)
            .position(|(mean, spread)| !(mean.is_finite() && spread.is_finite()))
        {
            Some(at) => Err(SsceError::Scale {
                column: columns[at].clone(),
            }),
            None => Ok(Self {
                columns,
                means,
                spreads,
            }),
        }
    }

    /// The table with every column centred and scaled, and a column of one number where asked for.
    pub(crate) fn apply(&self, values: ArrayView2<'_, f64>, intercept: Option<f64>) -> Array2<f64> {
        let (n, d) = values.dim();
        let mut scaled = Array2::from_elem(
            (n, d + usize::from(intercept.is_some())),
            intercept.unwrap_or_default(),
        );
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
        let values: Vec<f64> = (0..bases)
            .map(|u| copies.map_or(1.0, |copies| copies[u].sqrt()))
            .collect();
        if let Some(shares) = ensemble.memberships() {
            let rows = (0..ensemble.objects() as u32).collect();
            let ends = offsets.windows(2).zip(&values);
            let factors: Vec<f64> = ends
                .flat_map(|(ends, value)| vec![*value; ends[1] - ends[0]])
                .collect();
            return Self::Shares(ShareRows {
                shares: Arc::new(shares.clone().scaled(&factors)),
                rows,
                width: offsets[bases],
                intercept,
            });
        }
        let place = |(i, u): (usize, usize)| {
            ensemble
                .label(i, u)
                .map_or(NOWHERE, |j| (offsets[u] + j) as u32)
        };
        let places = Array2::from_shape_fn((ensemble.objects(), bases), place);
        Self::Hot {
            places,
            values,
            width: offsets[bases],
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
                let known = places
                    .row(i)
                    .into_iter()
                    .zip(values)
                    .filter(|(place, _)| **place != NOWHERE);
                entries.extend(known.map(|(&place, &value)| (place as usize, value)));
                intercept.map(|value| (*width, value))
            }
            Self::Shares(shares) => {
                let (clusters, values) = shares.shares.row(shares.rows[i] as usize);
                entries.extend(
                    clusters
                        .iter()
                        .zip(values)
                        .map(|(&c, &share)| (c as usize, share)),
                );
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
            partita_core::ndarray::linalg::general_mat_mul(
                1.0,
                &x.slice(s![range, ..]).t(),
                &r,
                1.0,
                sum,
            );
            return;
        }
        let mut of_place: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.width()];
        let mut entries = Vec::new();
        for (at, i) in range.enumerate() {
            entries.clear();
            self.append_entries(i, &mut entries);
            entries
                .iter()
                .for_each(|&(place, value)| of_place[place].push((at, value)));
        }
        of_place
            .iter()
            .zip(sum.outer_iter_mut())
            .for_each(|(rows, sum)| add_rows(rows, r, sum));
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
            if let Self::Dense(x) = self {
                sum.iter_mut()
                    .zip(x.row(i))
                    .for_each(|(sum, x)| *sum += d * x * x);
            }
            entries.clear();
            self.append_entries(i, &mut entries);
            entries
                .iter()
                .for_each(|&(place, x)| sum[place] += d * x * x);
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
    others
        .iter()
        .for_each(|&(place, value)| sum.scaled_add(value, &matrix.row(place)));
}
