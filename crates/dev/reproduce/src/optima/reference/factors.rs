//! Multiplicative updates for non-negative factors of the co-association (NMFC).

use partita::extend::rand::RngExt;
use partita::extend::rand::rngs::StdRng;
use partita::ndarray::Array2;

use super::LabelTable;

const TINY: f64 = 1e-300;
const ROUNDS: usize = 200;

/// ‖M − QSQᵀ‖² − ‖M‖², the lowest of the rounds; S is updated until it hardly moves, so that Q and S fit each other.
pub(super) fn nmfc(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let half = half(table);
    let mut q =
        Array2::from_shape_simple_fn((table.rows.len(), clusters), || rng.random::<f64>() + 0.01);
    let lengths = (&q * &q)
        .sum_axis(partita::ndarray::Axis(0))
        .mapv(f64::sqrt);
    q /= &lengths;
    let mut s = Array2::eye(clusters) + 0.1;
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS {
        // M Q = H (Hᵀ Q).
        let p = half.dot(&half.t().dot(&q));
        let g = q.t().dot(&q);
        let r = q.t().dot(&p);
        for _ in 0..8 {
            let below = g.dot(&s).dot(&g);
            s.zip_mut_with(&(&r / &(below + TINY)), |s, quotient| *s *= quotient.sqrt());
        }
        let sg = s.dot(&g);
        let value = (&sg * &sg.t()).sum() - 2.0 * (&s * &r.t()).sum();
        if round > 20 && value > best - 1e-7 * best.abs() {
            return best.min(value);
        }
        best = best.min(value);
        let quotient = p.dot(&s) / (q.dot(&r.dot(&s)) + TINY);
        q.zip_mut_with(&quotient, |q, quotient| *q *= quotient.sqrt());
    }
    best
}

/// H with M = H Hᵀ: labels, or shares, over the root of the weight of all base clusterings that know the object, times the roots of both
/// weights.
fn half(table: &LabelTable) -> Array2<f64> {
    let starts: Vec<usize> = table
        .sizes
        .iter()
        .scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size)))
        .collect();
    let mut half = Array2::zeros((table.rows.len(), table.sizes.iter().sum()));
    for i in 0..table.rows.len() {
        let known: f64 = table.bases(i).map(|(_, weight)| weight).sum();
        let scale = (table.weights.1[i] / known).sqrt();
        table.labels(i).for_each(|(u, j, label)| {
            half[[i, starts[u] + j]] = scale * label / table.weights.0[u].sqrt();
        });
    }
    half
}
