//! The matching of the columns of two runs.

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2};
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
    let distances = distances((&squares(q), &squares(p)), q.t().dot(&p).view(), q.nrows());
    let columns = places(distances.view());
    let cost = cost(q, p, &columns);
    ColumnMatching {
        similarity: 1.0 - cost.sqrt(),
        columns,
        cost,
    }
}

/// Σ_i q_ia² of every column, by one pass over the rows.
pub(crate) fn squares(table: ArrayView2<'_, f64>) -> Vec<f64> {
    let mut sums = vec![0.0; table.ncols()];
    for row in table.rows() {
        row.iter()
            .zip(&mut sums)
            .for_each(|(share, sum)| *sum += share * share);
    }
    sums
}

/// ‖q_a − p_b‖² / n of every two columns, from their squares and products.
pub(crate) fn distances(
    (of_q, of_p): (&[f64], &[f64]),
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
    let nearest: Vec<usize> = (0..from)
        .map(|a| {
            (1..to).fold(0, |best, b| {
                if distances[[a, b]] < distances[[a, best]] {
                    b
                } else {
                    best
                }
            })
        })
        .collect();
    // The matching maximises: less distance is more.
    let gain = Array2::from_shape_fn((from, from), |(a, place)| {
        -distances[[a, if place < to { place } else { nearest[a] }]]
    });
    let found = matching(gain.view()).expect("shares are finite").columns;
    let place = |(a, place): (usize, Option<usize>)| {
        place.filter(|&place| place < to).unwrap_or(nearest[a])
    };
    found.into_iter().enumerate().map(place).collect()
}

/// ‖P − QΠ‖²_F / (2n).
pub(crate) fn cost(q: ArrayView2<'_, f64>, p: ArrayView2<'_, f64>, columns: &[usize]) -> f64 {
    let mut merged = vec![0.0; p.ncols()];
    let of_row = |(q, p): (ArrayView1<'_, f64>, ArrayView1<'_, f64>)| {
        merged.fill(0.0);
        q.iter()
            .zip(columns)
            .for_each(|(share, &column)| merged[column] += share);
        p.iter()
            .zip(&merged)
            .map(|(p, q)| (p - q) * (p - q))
            .sum::<f64>()
    };
    let sum: f64 = q.rows().into_iter().zip(p.rows()).map(of_row).sum();
    sum / (2.0 * p.nrows().max(1) as f64)
}
