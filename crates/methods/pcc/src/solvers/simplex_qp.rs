//! Quadratic programming on a simplex, for a few variables.

/// Minimises `q·d + ½ dᵀHd` over directions that keep `z + d ≥ 0` and the sum of `z`, by moving weight between two
/// entries at a time (the pair that gains most against the steepest entry). On return `z` is the minimiser and `q`
/// the gradient there, up to a violation of `tolerance` or `limit` moves.
pub(crate) fn quadratic(h: &[f64], q: &mut [f64], z: &mut [f64], tolerance: f64, limit: usize) {
    let size = q.len();
    for _ in 0..limit {
        let up = (0..size).fold(0, |best, p| if q[p] < q[best] { p } else { best });
        let bend = |p: usize| h[p * size + p] + h[up * size + up] - 2.0 * h[p * size + up];
        let full = |p: usize| bend(p) * z[p] <= q[p] - q[up];
        let step = |p: usize| {
            if full(p) {
                z[p]
            } else {
                (q[p] - q[up]) / bend(p)
            }
        };
        let gain = |p: usize| (q[p] - q[up] - 0.5 * bend(p) * step(p)) * step(p);
        let mut down = up;
        let mut most = 0.0;
        let mut violation = 0.0f64;
        for p in (0..size).filter(|&p| z[p] > 0.0 && q[p] > q[up]) {
            violation = violation.max(q[p] - q[up]);
            let gain = gain(p);
            if gain > most {
                (down, most) = (p, gain);
            }
        }
        if violation <= tolerance || down == up {
            return;
        }
        let moved = step(down);
        let emptied = full(down);
        z[up] += moved;
        z[down] = if emptied { 0.0 } else { z[down] - moved };
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
            let h: Vec<f64> = (0..size * size)
                .map(|at| {
                    (0..4)
                        .map(|r| root[at / size * 4 + r] * root[at % size * 4 + r])
                        .sum()
                })
                .collect();
            let start: Vec<f64> = (0..size).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut q = start.clone();
            let mut z = vec![1.0 / size as f64; size];
            quadratic(&h, &mut q, &mut z, 1e-10, 100_000);
            assert!((z.iter().sum::<f64>() - 1.0).abs() < 1e-12 && z.iter().all(|&z| z >= 0.0));
            let lowest = q.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(
                (0..size).all(|p| z[p] == 0.0 || q[p] - lowest < 1e-9),
                "seed {seed}: {q:?} {z:?}"
            );
            for p in 0..size {
                let moved: f64 = (0..size)
                    .map(|r| h[p * size + r] * (z[r] - 1.0 / size as f64))
                    .sum();
                assert!((start[p] + moved - q[p]).abs() < 1e-9);
            }
        }
    }
}
