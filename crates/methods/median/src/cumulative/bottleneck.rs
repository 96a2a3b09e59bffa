//! Information bottleneck: columns of a soft partition are merged with the least loss of information (Jensen–Shannon divergence).

use std::convert::Infallible;

use partita_core::ndarray::{Array2, ArrayView2, Axis};

/// Merges columns of a soft partition, whose rows count `weights` times, until `clusters` are left: always the two
/// whose merger loses the least information about the rows.
///
/// The loss of merging a and b is (p_a + p_b) JS(P(i|a), P(i|b)), the generalised Jensen–Shannon divergence with
/// their shares as weights. With f(x) = x ln x it is Σ_i w_i [f(y_ia) + f(y_ib) − f(y_ia + y_ib)] − [f(s_a) + f(s_b)
/// − f(s_a + s_b)] for column sums s, up to the factor n.
///
/// O(n c²) time for c columns.
pub(crate) fn compress(soft: ArrayView2<'_, f64>, weights: &[f64], clusters: usize) -> Array2<f64> {
    let mut columns: Vec<Vec<f64>> = soft
        .axis_iter(Axis(1))
        .map(|column| column.to_vec())
        .collect();
    let mut loss: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    for (a, column) in columns.iter().enumerate() {
        loss.push(
            columns[..a]
                .iter()
                .map(|other| merger(column, other, weights))
                .collect(),
        );
    }
    let Ok(()) = merge_cheapest(loss, clusters, |a, b| -> Result<Vec<f64>, Infallible> {
        let gone = columns.remove(a);
        columns[b].iter_mut().zip(gone).for_each(|(x, y)| *x += y);
        let loss = |other: usize| {
            if other == b {
                0.0
            } else {
                merger(&columns[b], &columns[other], weights)
            }
        };
        Ok((0..columns.len()).map(loss).collect())
    });
    Array2::from_shape_fn((soft.nrows(), columns.len()), |(i, k)| columns[k][i])
}

/// Merges columns until `clusters` are left, always the two of least `loss` (line a has the losses of a with those before it).
/// `join(a, b)` takes column a away, adds it to column b, and gives the losses of b with all columns that are left.
pub(crate) fn merge_cheapest<E>(
    mut loss: Vec<Vec<f64>>,
    clusters: usize,
    mut join: impl FnMut(usize, usize) -> Result<Vec<f64>, E>,
) -> Result<(), E> {
    while loss.len() > clusters {
        let (a, b) = cheapest(&loss);
        loss.remove(a);
        loss[a..].iter_mut().for_each(|line| {
            line.remove(a);
        });
        for (other, value) in join(a, b)?
            .into_iter()
            .enumerate()
            .filter(|(other, _)| *other != b)
        {
            loss[b.max(other)][b.min(other)] = value;
        }
    }
    Ok(())
}

/// The pair (larger, smaller) with the least loss; ties go to the smaller numbers.
fn cheapest(loss: &[Vec<f64>]) -> (usize, usize) {
    let mut best = (1, 0);
    for (a, line) in loss.iter().enumerate() {
        for (b, value) in line.iter().enumerate() {
            if *value < loss[best.0][best.1] {
                best = (a, b);
            }
        }
    }
    best
}

fn merger(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    let (mut sum, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for ((x, y), w) in a.iter().zip(b).zip(weights) {
        of_a += w * x;
        of_b += w * y;
        if *x > 0.0 && *y > 0.0 {
            sum += w * joint(*x, *y);
        }
    }
    sum - joint(of_a, of_b)
}

/// f(x) + f(y) − f(x + y) for f(x) = x ln x.
pub(crate) fn joint(x: f64, y: f64) -> f64 {
    let f = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
    f(x) + f(y) - f(x + y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use partita_core::ndarray::array;

    #[test]
    fn the_loss_is_the_weighted_jensen_shannon_divergence() {
        let (a, b, w) = (
            [0.5, 0.2, 0.0, 0.3],
            [0.1, 0.2, 0.6, 0.0],
            [1.0, 2.0, 1.0, 3.0],
        );
        let share = |x: &[f64; 4]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let (pa, pb) = (share(&a), share(&b));
        let mut expected = 0.0;
        for i in 0..4 {
            let (x, y) = (a[i] / pa, b[i] / pb);
            let mean = (pa * x + pb * y) / (pa + pb);
            let term = |p: f64, x: f64| {
                if x > 0.0 {
                    p * x * (x / mean).ln()
                } else {
                    0.0
                }
            };
            expected += w[i] * (term(pa, x) + term(pb, y));
        }
        assert_relative_eq!(merger(&a, &b, &w), expected, max_relative = 1e-12);
    }

    #[test]
    fn columns_that_say_the_same_merge_first() {
        let soft = array![
            [0.6, 0.1, 0.3],
            [0.6, 0.1, 0.3],
            [0.0, 1.0, 0.0],
            [0.2, 0.7, 0.1]
        ];
        let merged = compress(soft.view(), &[1.0; 4], 2);
        assert_eq!(merged.column(1), soft.column(1));
        assert_relative_eq!(merged[[0, 0]], 0.9);
    }
}
