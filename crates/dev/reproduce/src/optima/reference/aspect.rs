//! EM for the dyadic aspect model (PEnCA).

use partita::extend::rand::rngs::StdRng;
use partita::ndarray::{Array1, Array2, Axis};

use super::{LabelTable, ascend, simplex};

/// Σ over pairs c_yz ln Σ_r p_r B_ry B_rz: half the sum over ordered ones, where a copy of an object of weight w has B / w.
pub(super) fn penca(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let n = table.rows.len();
    let together = |i: usize, j: usize| {
        if i == j {
            table.copies(i)[0]
        } else {
            table.pair(i, j)[0]
        }
    };
    let counts = Array2::from_shape_fn((n, n), |(i, j)| together(i, j));
    let times = &table.weights.1;
    let mut shares = Array1::from_elem(clusters, 1.0 / clusters as f64);
    let rows: Vec<Vec<f64>> = (0..clusters).map(|_| simplex(n, rng)).collect();
    let mut members = Array2::from_shape_fn((clusters, n), |(r, y)| rows[r][y]);
    ascend(|| {
        let weighted = &members * &shares.view().insert_axis(Axis(1));
        let p = members.t().dot(&weighted);
        let mut value = 0.0;
        let mut quotient = Array2::zeros((n, n));
        for ((at, &p), &c) in p.indexed_iter().zip(&counts) {
            if c > 0.0 {
                value += 0.5 * c * (p / (times[at.0] * times[at.1])).max(1e-300).ln();
                quotient[at] = c / p.max(1e-300);
            }
        }
        // Σ_z c_yz R_ryz = p_r B_ry Σ_z (c/P)_yz B_rz.
        let expected = &weighted * &members.dot(&quotient);
        let sums = expected.sum_axis(Axis(1));
        shares = &sums / sums.sum();
        members = expected / &sums.mapv(|sum| sum.max(1e-300)).insert_axis(Axis(1));
        value
    })
}
