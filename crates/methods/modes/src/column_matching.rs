//! The matching of the columns of two runs.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_metrics::matching;

/// How the columns of a run go to those of another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnMatching {
    /// The column of the other run, for every column of this one.
    pub columns: Vec<usize>,
    /// ‖P − QΠ‖²_F / (2n) after columns that go to the same one are added: 0 alike, 1 opposite.
    pub cost: f64,
    /// G′ = 1 − √cost (Jakobsson and Rosenberg 2007).
    pub similarity: f64,
}

/// Matches every column of Q (n × K) to one of P (n × L, L ≤ K), every column of P to one or more of Q, so that
/// Σ ‖q_a − p_b‖² / n over matched columns is least. With K = L that is the matching of least cost.
///
/// Columns of Q beyond those that P needs go where they are nearest: an assignment problem with K − L places more, each of
/// which costs a column its least distance; solved exactly.
///
/// # Panics
/// If P has more columns than Q, no column, or other objects.
///
/// # Cost
/// O(n K L + K³) time.
///
/// # References
/// M. Jakobsson, N. A. Rosenberg, *CLUMPP*, Bioinformatics 23 (2007); X. Liu, N. M. Kopelman, N. A. Rosenberg, *Clumppling*,
/// Bioinformatics 40 (2024).
pub fn match_columns(q: ArrayView2<'_, f64>, p: ArrayView2<'_, f64>) -> ColumnMatching {
    assert!(
        q.ncols() >= p.ncols() && p.ncols() > 0 && q.nrows() == p.nrows(),
        "runs of the same objects, more columns first"
    );
    let distances = distances(&squares(q), &squares(p), q.t().dot(&p).view(), q.nrows());
    let columns = places(distances.view());
    let cost = cost(q, p, &columns);
    let similarity = 1.0 - cost.sqrt();
    ColumnMatching {
        columns,
        cost,
        similarity,
    }
}

/// Σ_i q_ia² of every column, by one pass over the rows.
pub(crate) fn squares(table: ArrayView2<'_, f64>) -> Vec<f64> {
    let mut sums = vec![0.0; table.ncols()];
    for row in table.rows() {
        for (share, sum) in row.iter().zip(&mut sums) {
            *sum += share * share;
        }
    }
    sums
}

/// ‖q_a − p_b‖² / n of every two columns, from their squares and products.
pub(crate) fn distances(
    of_q: &[f64],
    of_p: &[f64],
    products: ArrayView2<'_, f64>,
    rows: usize,
) -> Array2<f64> {
    let n = rows.max(1) as f64;
    Array2::from_shape_fn(products.dim(), |(a, b)| {
        (of_q[a] + of_p[b] - 2.0 * products[[a, b]]) / n
    })
}

/// The column of P for every column of Q by their distances, K × L with L ≤ K.
pub(crate) fn places(distances: ArrayView2<'_, f64>) -> Vec<usize> {
    let (from, to) = distances.dim();
    let mut nearest = vec![0; from];
    for (row, nearest) in distances.outer_iter().zip(&mut nearest) {
        *nearest = (1..to).fold(0, |best, b| if row[b] < row[best] { b } else { best });
    }
    // The matching maximises: less distance is more.
    let gain = Array2::from_shape_fn((from, from), |(a, place)| {
        -distances[[a, if place < to { place } else { nearest[a] }]]
    });
    let found = matching(gain.view()).expect("shares are finite").columns;
    let places = found.into_iter().zip(nearest);
    places
        .map(|(place, nearest)| place.filter(|&place| place < to).unwrap_or(nearest))
        .collect()
}

/// ‖P − QΠ‖²_F / (2n).
pub(crate) fn cost(q: ArrayView2<'_, f64>, p: ArrayView2<'_, f64>, columns: &[usize]) -> f64 {
    let mut merged = vec![0.0; p.ncols()];
    let mut sum = 0.0;
    for (q, p) in q.outer_iter().zip(p.outer_iter()) {
        merged.fill(0.0);
        for (share, &column) in q.iter().zip(columns) {
            merged[column] += share;
        }
        let squares = p.iter().zip(&merged).map(|(p, q)| (p - q) * (p - q));
        sum += squares.sum::<f64>();
    }
    sum / (2.0 * p.nrows().max(1) as f64)
}
