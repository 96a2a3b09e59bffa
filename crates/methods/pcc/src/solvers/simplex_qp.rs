//! Quadratic programming on a simplex, for a few variables.

/// Minimises `q·d + ½ dᵀHd` over directions that keep `z + d ≥ 0` and the sum of `z`, by moving weight between two
/// entries at a time (the pair that gains most against the steepest entry). On return `z` is the minimiser and `q`
/// the gradient there, up to a violation of `tolerance` or `limit` moves.
pub(crate) fn quadratic(h: &[f64], q: &mut [f64], z: &mut [f64], tolerance: f64, limit: usize) {
    let size = q.len();
    for _ in 0..limit {
        let up = (0..size).fold(0, |best, p| if q[p] < q[best] { p } else { best });
        let mut down = up;
        let mut moved = 0.0;
        let mut most = 0.0;
        let mut violation = 0.0f64;
        for p in (0..size).filter(|&p| z[p] > 0.0 && q[p] > q[up]) {
            let slope = q[p] - q[up];
            violation = violation.max(slope);
            let bend = h[p * size + p] + h[up * size + up] - 2.0 * h[p * size + up];
            let step = if bend * z[p] <= slope {
                z[p]
            } else {
                slope / bend
            };
            let gain = (slope - 0.5 * bend * step) * step;
            if gain > most {
                down = p;
                moved = step;
                most = gain;
            }
        }
        if violation <= tolerance || down == up {
            return;
        }
        z[up] += moved;
        z[down] -= moved;
        (0..size).for_each(|p| q[p] += moved * (h[p * size + up] - h[p * size + down]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use rand::RngExt;

    #[test]
    fn the_minimiser_meets_its_conditions() {
        for seed in 0..200 {
            let mut rng = Seed::new(seed).rng();
            let size = rng.random_range(1..7);
            let root: Vec<f64> = (0..size * 4).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut h = vec![0.0; size * size];
            for (at, h) in h.iter_mut().enumerate() {
                *h = (0..4)
                    .map(|r| root[at / size * 4 + r] * root[at % size * 4 + r])
                    .sum();
            }
            let start: Vec<f64> = (0..size).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut q = start.clone();
            let mut z = vec![1.0 / size as f64; size];
            quadratic(&h, &mut q, &mut z, 1e-10, 100_000);
            assert!((z.iter().sum::<f64>() - 1.0).abs() < 1e-12 && z.iter().all(|&z| z >= 0.0));
            let lowest = q.iter().copied().fold(f64::INFINITY, f64::min);
            let met = (0..size).all(|p| z[p] == 0.0 || q[p] - lowest < 1e-9);
            assert!(met, "seed {seed}: {q:?} {z:?}");
            for p in 0..size {
                let moved = (0..size).map(|r| h[p * size + r] * (z[r] - 1.0 / size as f64));
                let moved: f64 = moved.sum();
                assert!((start[p] + moved - q[p]).abs() < 1e-9);
            }
        }
    }
}
