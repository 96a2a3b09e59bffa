//! p of a label row under BCE by annealed importance sampling: every label has a cluster of its own, drawn by memberships that are summed.
//!
//! ```text
//! p(y) = Σ_z DirMult(z | α) Π_u θ_{z_u u y_u}        f_t(z) = DirMult(z | α) (Π_u θ)^τ_t
//! ```

use partita_core::Seed;
use rand::{Rng, RngExt};

use crate::shared::log_mean::{LogMean, RUNS, power};

/// ln p of a row whose labels have these lines θ (K values each), by runs of so many sweeps.
pub(super) fn annealed(alpha: &[f64], lines: &[&[f64]], steps: u32, seed: Seed) -> LogMean {
    let run = |number: u32| {
        run(
            alpha,
            lines,
            steps,
            &mut seed.child(u64::from(number)).rng(),
        )
    };
    LogMean::of(&(0..RUNS).map(run).collect::<Vec<f64>>())
}

fn run(alpha: &[f64], lines: &[&[f64]], steps: u32, rng: &mut impl Rng) -> f64 {
    let mut z: Vec<usize> = Vec::with_capacity(lines.len());
    let mut shares = alpha.to_vec();
    for _ in lines {
        let k = drawn(shares.iter().copied(), rng);
        shares[k] += 1.0;
        z.push(k);
    }
    let mut log = 0.0;
    for step in 0..steps {
        let (now, next) = (power(step, steps), power(step + 1, steps));
        // The first is from the prior as it is.
        for (k, line) in z.iter_mut().zip(lines).filter(|_| step > 0) {
            shares[*k] -= 1.0;
            *k = drawn(
                shares
                    .iter()
                    .zip(*line)
                    .map(|(share, theta)| share * theta.powf(now)),
                rng,
            );
            shares[*k] += 1.0;
        }
        let likelihood = z.iter().zip(lines).map(|(&k, line)| line[k].ln());
        log += (next - now) * likelihood.sum::<f64>();
    }
    log
}

/// A place in proportion to its weight.
fn drawn(weights: impl ExactSizeIterator<Item = f64> + Clone, rng: &mut impl Rng) -> usize {
    let last = weights.len() - 1;
    let mut left = rng.random::<f64>() * weights.clone().sum::<f64>();
    let found = weights.into_iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    found.unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::function::gamma::ln_gamma;

    /// Within three standard errors of the sum over all clusters of up to 8 labels.
    #[test]
    fn a_row_has_the_probability_of_enumeration() {
        for seed in 0..12 {
            let mut rng = Seed::new(seed).rng();
            let (clusters, labels) = (2 + seed as usize % 2, 3 + seed as u32 % 6);
            let alpha: Vec<f64> = (0..clusters).map(|_| rng.random_range(0.1..2.0)).collect();
            let theta: Vec<Vec<f64>> = (0..labels)
                .map(|_| (0..clusters).map(|_| rng.random_range(0.01..1.0)).collect())
                .collect();
            let lines: Vec<&[f64]> = theta.iter().map(|line| &line[..]).collect();
            let total: f64 = alpha.iter().sum();
            let joint = |code: usize| {
                let place = |u: u32| code / clusters.pow(u) % clusters;
                let mut sizes = vec![0.0; clusters];
                (0..labels).for_each(|u| sizes[place(u)] += 1.0);
                let rises = sizes
                    .iter()
                    .zip(&alpha)
                    .map(|(size, a)| ln_gamma(a + size) - ln_gamma(*a));
                let fall = ln_gamma(total) - ln_gamma(total + f64::from(labels));
                let likely = (0..labels).map(|u| lines[u as usize][place(u)].ln());
                (rises.sum::<f64>() + fall + likely.sum::<f64>()).exp()
            };
            let exact = (0..clusters.pow(labels)).map(joint).sum::<f64>().ln();
            let found = annealed(&alpha, &lines, 100, Seed::new(seed));
            assert!(
                (found.value - exact).abs() <= 3.0 * found.standard_error
                    && found.standard_error < 0.1,
                "seed {seed}: {found:?} and {exact}"
            );
        }
    }
}
