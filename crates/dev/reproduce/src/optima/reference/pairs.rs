//! Probabilistic consensus of pair counts (PCC, PEACE): EM for KL, projected gradients row by row for ℓ2.

use partita::extend::rand::rngs::StdRng;
use partita::ndarray::{Array1, Array2, ArrayView1, Axis};

use super::{LabelTable, random_soft};

const ROUNDS: usize = 1000;
/// Gain of a round at which a run ends.
const TOLERANCE: f64 = 1e-7;
const LEAST: f64 = 1e-12;

/// How often pairs of objects are together, and how often both are seen; on the diagonal those of an object's copies.
struct Pairs {
    together: Array2<f64>,
    seen: Array2<f64>,
}

impl Pairs {
    fn of(table: &LabelTable) -> Self {
        let n = table.rows.len();
        let mut together = Array2::zeros((n, n));
        let mut seen = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n {
                [together[[i, j]], seen[[i, j]]] = if i == j {
                    table.copies(i)
                } else {
                    table.pair(i, j)
                };
            }
        }
        Self { together, seen }
    }
}

fn start(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> Array2<f64> {
    let soft = random_soft(table.rows.len(), clusters, rng);
    Array2::from_shape_fn((soft.len(), clusters), |(i, k)| soft[i][k])
}

/// Σ over pairs of N · KL(c/N, y_i·y_j), by EM for the mixture that KL is the likelihood of.
pub(super) fn kl(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let pairs = Pairs::of(table);
    let mut y = start(table, clusters, rng);
    let plogp = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        let p = y.dot(&y.t()).mapv(|p| p.clamp(LEAST, 1.0 - LEAST));
        let mut value = 0.0;
        let mut alike = Array2::zeros(p.dim());
        let mut apart = alike.clone();
        for (((at, &p), &c), &n) in p.indexed_iter().zip(&pairs.together).zip(&pairs.seen) {
            if n > 0.0 {
                let x = c / n;
                value += 0.5 * n * (plogp(x, p) + plogp(1.0 - x, 1.0 - p));
                (alike[at], apart[at]) = (c / p, (n - c) / (1.0 - p));
            }
        }
        if last - value <= TOLERANCE * value.abs() {
            return value.min(last);
        }
        last = value;
        let rest = apart.dot(&y.mapv(|y| 1.0 - y));
        let factors = alike.dot(&y) + rest;
        for (mut row, factors) in y.outer_iter_mut().zip(factors.outer_iter()) {
            let sum = row.dot(&factors);
            if sum > 0.0 {
                row.zip_mut_with(&factors, |y, factor| *y *= factor / sum);
            }
        }
    }
    last
}

/// Σ over pairs of N (c/N − y_i·y_j)², row after row by projected gradients.
pub(super) fn l2(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let pairs = Pairs::of(table);
    let mut y = start(table, clusters, rng);
    let constant: f64 = pairs
        .together
        .iter()
        .zip(&pairs.seen)
        .map(|(c, n)| if *n > 0.0 { c * c / n } else { 0.0 })
        .sum();
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS / 4 {
        for i in 0..y.nrows() {
            for _ in 0..5 {
                let linear = y.t().dot(&pairs.together.row(i));
                let square = y.t().dot(&(&y * &pairs.seen.row(i).insert_axis(Axis(1))));
                // Of an object's copies both sides of a pair move: |y|² y has a slope of at most 3.
                let bound = (square.diag().sum() + 2.0 * pairs.seen[[i, i]]).max(1e-300);
                let row = y.row(i).to_owned();
                y.row_mut(i).assign(&projected(
                    (&row + &((&linear - &square.dot(&row)) / bound)).view(),
                ));
            }
        }
        let p = y.dot(&y.t());
        let fit: f64 = p
            .iter()
            .zip(&pairs.together)
            .zip(&pairs.seen)
            .map(|((p, c), n)| n * p * p - 2.0 * c * p)
            .sum();
        let value = 0.5 * (constant + fit);
        if last - value <= TOLERANCE * value.abs() {
            return value.min(last);
        }
        last = value;
    }
    last
}

/// Σ over pairs that were seen of (c/N − y_i·y_j)², by the growth transform of Baum and Eagon.
pub(super) fn growth(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let mut pairs = Pairs::of(table);
    let mut y = start(table, clusters, rng);
    pairs
        .together
        .zip_mut_with(&pairs.seen, |c, n| *c /= n.max(f64::MIN_POSITIVE));
    pairs.seen.mapv_inplace(|n| f64::from(u8::from(n > 0.0)));
    let partners = pairs.seen.sum_axis(Axis(1));
    let mut last = f64::INFINITY;
    for _ in 0..=ROUNDS {
        let off = (y.dot(&y.t()) - &pairs.together) * &pairs.seen;
        let value = 0.5 * off.iter().map(|x| x * x).sum::<f64>();
        if last - value <= 1e-3 * TOLERANCE * value {
            return value.min(last);
        }
        last = value;
        let mut factors = -off.dot(&y);
        factors
            .outer_iter_mut()
            .zip(&partners)
            .for_each(|(mut row, &all)| row += all);
        y *= &factors;
        for mut row in y.outer_iter_mut() {
            let sum = row.sum();
            row.mapv_inplace(|y| if sum > 0.0 { y / sum } else { y });
        }
    }
    last
}

/// The nearest point of the simplex.
fn projected(point: ArrayView1<'_, f64>) -> Array1<f64> {
    let mut sorted = point.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let mut level = 0.0;
    for (at, value) in sorted.iter().enumerate() {
        sum += value;
        let next = (sum - 1.0) / (at + 1) as f64;
        if value - next <= 0.0 {
            break;
        }
        level = next;
    }
    point.mapv(|x| (x - level).max(0.0))
}
