//! Matrix-normal prior of the classifiers: a shared mean and a covariance between base clusterings.

use partita_core::ndarray::{Array2, ArrayView1, Axis, Zip, s};
use partita_spectral::symmetric_eigen;

use crate::SsceError;

/// Usually added to the diagonal of Ω, times 1/Σω: the plain Ω is singular because W − μ1ᵀ has a null vector. Of 0 the inverse is a
/// pseudo-inverse.
pub(crate) const RIDGE: f64 = 1e-3;

/// The quadratic part of the objective, `Σ_uv A_uv √(ω_u ω_v) ⟨w_u − μ, w_v − μ⟩ + ρ ‖μ‖²` with
/// `A = γ₁ I + γ₂ (Ω + (1e-3/Σω) I)⁻¹`. With the weights ω inside, a base clustering of weight 2 is one that is there
/// twice: the singular values of (W − μ1ᵀ) diag(√ω), all that Ω leaves of it, are the same.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    pub(crate) gamma: (f64, f64),
    /// A, M × M.
    pub(crate) a: Array2<f64>,
    /// Eigenvalues and eigenvectors of A.
    pub(crate) eigen: (Vec<f64>, Array2<f64>),
    /// √ω, M values, and Σ ω: base clusterings with their copies.
    roots: Vec<f64>,
    bases: f64,
}

/// The quadratic part where μ is the best one for every W: `A − A r rᵀ A / (rᵀ A r + ρ)` in place of A, with r = √ω.
pub(crate) struct Profile {
    /// Its eigenvalues and eigenvectors.
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Array2<f64>,
    /// A r, and rᵀ A r + ρ.
    pub(crate) pulls: Vec<f64>,
    pub(crate) total: f64,
}

impl Prior {
    /// The prior with this Ω.
    fn new(
        gamma: (f64, f64),
        roots: Vec<f64>,
        bases: f64,
        omega: &Array2<f64>,
        ridge: f64,
    ) -> Result<Self, SsceError> {
        let pairs = symmetric_eigen(omega.view())?;
        let values = pairs.values.iter();
        let tie = |&value: &f64| match ridge {
            // Below that an eigenvalue is rounding.
            0.0 if value <= 1e-10 * pairs.values[0] => gamma.0,
            _ => gamma.0 + gamma.1 / (value.max(0.0) + ridge / bases),
        };
        let values: Vec<f64> = values.map(tie).collect();
        let a = rebuilt(&pairs.vectors, &values);
        let eigen = (values, pairs.vectors);
        Ok(Self {
            gamma,
            a,
            eigen,
            roots,
            bases,
        })
    }

    /// Ω = I/Σω, for base clusterings of weights ω = `base_weights`.
    pub(crate) fn start(
        gamma: (f64, f64),
        base_weights: &[f64],
        ridge: f64,
    ) -> Result<Self, SsceError> {
        let roots = base_weights.iter().map(|weight| weight.sqrt()).collect();
        let bases = base_weights.iter().sum();
        let omega = Array2::eye(base_weights.len()) / bases;
        Self::new(gamma, roots, bases, &omega, ridge)
    }

    /// W diag(√ω), in which copies of a base clustering go down as one does.
    pub(crate) fn scaled(&self, w: Array2<f64>) -> Array2<f64> {
        self.times(w, |root| root)
    }

    /// W from [`scaled`](Self::scaled).
    pub(crate) fn unscaled(&self, w: Array2<f64>) -> Array2<f64> {
        self.times(w, f64::recip)
    }

    fn times(&self, mut w: Array2<f64>, factor: impl Fn(f64) -> f64) -> Array2<f64> {
        let k = w.ncols() / self.roots.len();
        for (mut block, &root) in w.axis_chunks_iter_mut(Axis(1), k.max(1)).zip(&self.roots) {
            if root != 1.0 {
                block *= factor(root);
            }
        }
        w
    }

    /// Value and gradient for W at this μ, without the term of μ alone.
    pub(crate) fn evaluate(&self, w: &Array2<f64>, centre: &Array2<f64>) -> (f64, Array2<f64>) {
        let apart = self.apart(w, centre);
        let mixed = self.a.dot(&apart);
        let value = (&apart * &mixed).sum();
        (value, self.joined(&(mixed * 2.0), w.nrows(), w.ncols()))
    }

    /// (W − μ1ᵀ) diag(√ω) with one row a base clustering, M × p K.
    fn apart(&self, w: &Array2<f64>, centre: &Array2<f64>) -> Array2<f64> {
        let (p, k) = centre.dim();
        let mut apart = Array2::zeros((self.roots.len(), p * k));
        let blocks = w.axis_chunks_iter(Axis(1), k.max(1)).zip(&self.roots);
        for (row, (block, root)) in apart.outer_iter_mut().zip(blocks) {
            let row = row.into_shape_with_order((p, k)).expect("p K numbers");
            let places = Zip::from(row).and(block).and(centre);
            places.for_each(|apart, w, centre| *apart = root * (w - centre));
        }
        apart
    }

    /// The way back from M × p K to p × M K, times diag(√ω).
    fn joined(&self, rows: &Array2<f64>, p: usize, width: usize) -> Array2<f64> {
        let k = width / self.roots.len();
        let mut joined = Array2::zeros((p, width));
        let blocks = joined
            .axis_chunks_iter_mut(Axis(1), k.max(1))
            .zip(&self.roots);
        for (row, (block, root)) in rows.outer_iter().zip(blocks) {
            let row = row.into_shape_with_order((p, k)).expect("p K numbers");
            Zip::from(block)
                .and(row)
                .for_each(|joined, row| *joined = root * row);
        }
        joined
    }

    /// The μ that minimises the objective for this W: `W v / (1ᵀv + ρ)` with v = diag(√ω) A √ω; the mean, by ω, where
    /// `exact` is false.
    pub(crate) fn centre(&self, w: &Array2<f64>, shrink: f64, exact: bool) -> Array2<f64> {
        let bases = self.a.nrows();
        let roots = ArrayView1::from(&self.roots);
        let pulls = exact.then(|| self.a.dot(&roots));
        let weights = &pulls.as_ref().map_or(roots, |pulls| pulls.view()) * &roots;
        let total = weights.sum() + if exact { shrink } else { 0.0 };
        let k = w.ncols() / bases;
        let mut centre = Array2::zeros((w.nrows(), k));
        for (u, weight) in weights.iter().enumerate() {
            let block = w.slice(s![.., u * k..(u + 1) * k]);
            centre.scaled_add(weight / total, &block);
        }
        centre
    }

    /// What is left of A where μ is the best one for every W.
    pub(crate) fn without_centre(&self, shrink: f64) -> Profile {
        let roots = ArrayView1::from(&self.roots);
        let pulls = self.a.dot(&roots);
        let total = pulls.dot(&roots) + shrink;
        let column = pulls.view().insert_axis(Axis(1));
        let left = &self.a - &(column.dot(&column.t()) / total);
        // Where rounding leaves no eigenvectors those of A scale the descent.
        let (values, vectors) = match symmetric_eigen(((&left + &left.t()) * 0.5).view()) {
            Ok(pairs) => (pairs.values.to_vec(), pairs.vectors),
            Err(_) => self.eigen.clone(),
        };
        let least = 1e-12 * values.iter().fold(0.0f64, |most, &value| most.max(value));
        let values = values.iter().map(|value| value.max(least)).collect();
        let pulls = pulls.to_vec();
        Profile {
            values,
            vectors,
            pulls,
            total,
        }
    }

    /// The prior with the Ω of [`Prior::covariance`]; this one where the classifiers do not differ.
    pub(crate) fn adapted(
        &self,
        w: &Array2<f64>,
        centre: &Array2<f64>,
        ridge: f64,
        exact: bool,
    ) -> Result<Self, SsceError> {
        match self.covariance(w, centre, ridge, exact)? {
            Some(omega) => Self::new(self.gamma, self.roots.clone(), self.bases, &omega, ridge),
            None => Ok(self.clone()),
        }
    }

    /// The Ω that minimises the objective for this W and μ under trace ≤ 1, M × M; none if all w_u = μ.
    ///
    /// With σ_i² the eigenvalues of (W − μ1ᵀ)ᵀ(W − μ1ᵀ), both factors times diag(√ω), Ω has the same eigenvectors and the eigenvalues
    /// λ_i = max(0, c σ_i − ε), ε being the ridge and c such that they sum to 1. Where `exact` is false it is the
    /// paper's (eq. 12), λ_i = σ_i / Σ σ.
    pub(crate) fn covariance(
        &self,
        w: &Array2<f64>,
        centre: &Array2<f64>,
        ridge: f64,
        exact: bool,
    ) -> Result<Option<Array2<f64>>, SsceError> {
        let apart = self.apart(w, centre);
        let pairs = symmetric_eigen(apart.dot(&apart.t()).view())?;
        // Rounding leaves about 1e-16 of the largest where there is nothing; its root would be 1e-8.
        let least = 1e-13 * pairs.values[0];
        let values = pairs.values.iter();
        let sigma = values.map(|&value| if value > least { value.sqrt() } else { 0.0 });
        let sigma: Vec<f64> = sigma.collect();
        let level = if exact { ridge / self.bases } else { 0.0 };
        let some = sigma.iter().any(|&s| s > 0.0);
        Ok(some.then(|| rebuilt(&pairs.vectors, &water_filling(&sigma, level))))
    }
}

/// max(0, c σ − level) with c such that the sum is 1, for falling σ.
fn water_filling(sigma: &[f64], level: f64) -> Vec<f64> {
    let mut c = 0.0;
    let mut sum = 0.0;
    for (used, s) in sigma.iter().enumerate() {
        let next = (1.0 + (used + 1) as f64 * level) / (sum + s);
        if next * s < level {
            break;
        }
        sum += s;
        c = next;
    }
    sigma.iter().map(|s| (c * s - level).max(0.0)).collect()
}

/// V diag(values) Vᵀ, symmetric to the bit.
fn rebuilt(vectors: &Array2<f64>, values: &[f64]) -> Array2<f64> {
    let scaled = vectors * &ArrayView1::from(values);
    let product = scaled.dot(&vectors.t());
    (&product + &product.t()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned_labels::{MISSING, Targets};
    use crate::design::Design;
    use crate::loss::Loss;
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use partita_core::{Ensemble, Seed};
    use rand::RngExt;
    use serde_json::Value;

    fn numbers<T: serde::de::DeserializeOwned>(value: &Value) -> T {
        serde_json::from_value(value.clone()).unwrap()
    }

    /// The stored W, M × p × K, as p × M K.
    fn wide(value: &Value) -> Array2<f64> {
        let w: Vec<Vec<Vec<f64>>> = numbers(value);
        let k = w[0][0].len();
        let shape = (w[0].len(), w.len() * k);
        Array2::from_shape_fn(shape, |(i, column)| w[column / k][i][column % k])
    }

    fn ensemble(value: &Value) -> Ensemble {
        let rows: Vec<Vec<i64>> = numbers(value);
        partita_conformance::ensemble(rows.iter().enumerate().map(|(u, row)| {
            let labels = row.iter().map(|&label| u32::try_from(label).ok());
            (format!("u{u}"), labels.collect())
        }))
    }

    #[test]
    fn objective_gradient_and_covariance_equal_those_of_the_independent_implementation() {
        let all = partita_conformance::fixtures();
        let expected = &all["ssce"];
        let x: Vec<Vec<f64>> = numbers(&all["X"]);
        let design = Design::Dense(Array2::from_shape_fn((24, 2), |(i, j)| x[i][j]));
        let targets = Targets::new(&ensemble(&all["labels"]), None, 3, None).unwrap();
        let aligned: Vec<Vec<i64>> = numbers(&expected["aligned"]);
        for ((i, u), &code) in targets.codes.indexed_iter() {
            assert_eq!(u16::try_from(aligned[u][i]).unwrap_or(MISSING), code);
        }
        let loss = Loss::new(&design, &targets.codes, 3, &[1.0; 12]);
        let mu: Vec<Vec<f64>> = numbers(&expected["mu"]);
        let w = wide(&expected["W"]);
        let centre = Array2::from_shape_fn((2, 3), |(i, k)| mu[i][k]);
        let gamma = (numbers(&expected["gamma1"]), numbers(&expected["gamma2"]));
        let prior = Prior::start(gamma, &[1.0; 12], 0.0).unwrap();

        let (likelihood, gradient) = loss.evaluate(&w);
        let (tied, pull) = prior.evaluate(&w, &centre);
        let value: f64 = numbers(&expected["objective_Omega_I_over_m"]);
        assert_relative_eq!(likelihood + tied, value, max_relative = 1e-10);
        let slopes = wide(&expected["gradient"]);
        let found = gradient + pull;
        assert_eq!(found.dim(), slopes.dim());
        for (found, expected) in found.iter().zip(&slopes) {
            assert_relative_eq!(found, expected, max_relative = 1e-8);
        }

        let omega: Vec<Vec<f64>> = numbers(&expected["Omega_update"]);
        // Six of the twelve eigenvalues are zero; the stored matrix holds the roots of their rounding, up to 2e-9.
        let found = prior.covariance(&w, &centre, 0.0, false).unwrap().unwrap();
        for ((u, v), found) in found.indexed_iter() {
            assert_abs_diff_eq!(*found, omega[u][v], epsilon = 1e-8);
        }
        let found = prior.centre(&w, 0.0, false);
        assert_eq!(found.dim(), centre.dim());
        for (found, expected) in found.iter().zip(&centre) {
            assert_relative_eq!(found, expected, max_relative = 1e-10);
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let all = partita_conformance::fixtures();
        let ensemble = ensemble(&all["labels"]);
        let mut rng = Seed::new(4).rng();
        for intercept in [Some(3.0), None] {
            let design = Design::hot(&ensemble, None, intercept);
            let targets = Targets::new(&ensemble, None, 2, None).unwrap();
            let base_weights: Vec<f64> = (0..12).map(|u| 0.5 + f64::from(u % 3)).collect();
            let loss = Loss::new(&design, &targets.codes, 2, &base_weights);
            let mut draw =
                |shape| Array2::from_shape_simple_fn(shape, || rng.random::<f64>() - 0.5);
            let w = draw((design.width(), 24));
            let centre = draw((design.width(), 2));
            let prior = Prior::start((0.3, 0.7), &base_weights, RIDGE).unwrap();
            let prior = prior.adapted(&w, &centre, RIDGE, true).unwrap();
            let value = |w: &Array2<f64>| loss.evaluate(w).0 + prior.evaluate(w, &centre).0;
            let gradient = loss.evaluate(&w).1 + prior.evaluate(&w, &centre).1;
            for at in (0..w.len()).step_by(7) {
                let place = [at / 24, at % 24];
                let [up, down] = [1e-5, -1e-5].map(|by| {
                    let mut moved = w.clone();
                    moved[place] += by;
                    value(&moved)
                });
                let slope = (up - down) / 2e-5;
                assert_relative_eq!(slope, gradient[place], max_relative = 1e-5, epsilon = 1e-6);
            }
        }
    }

    #[test]
    fn centre_and_covariance_minimise_the_objective() {
        let mut rng = Seed::new(5).rng();
        let mut draw = |shape| Array2::from_shape_simple_fn(shape, || rng.random::<f64>() - 0.5);
        let w = draw((4, 15));
        let shrink = 0.2;
        let prior = Prior::start((0.5, 2.0), &[1.0, 2.0, 0.5, 1.0, 0.5], RIDGE).unwrap();
        let prior = prior.adapted(&w, &draw((4, 3)), RIDGE, true).unwrap();
        let value = |prior: &Prior, centre: &Array2<f64>| {
            prior.evaluate(&w, centre).0 + shrink * (centre * centre).sum()
        };
        let centre = prior.centre(&w, shrink, true);
        let best = value(&prior, &centre);
        for _ in 0..20 {
            assert!(value(&prior, &(&centre + &(draw((4, 3)) * 0.01))) > best);
        }
        let adapted = prior.adapted(&w, &centre, RIDGE, true).unwrap();
        let paper = prior.adapted(&w, &centre, RIDGE, false).unwrap();
        assert!(value(&adapted, &centre) <= value(&paper, &centre).min(best));
    }

    #[test]
    fn filled_values_sum_to_one_and_beat_their_neighbours() {
        for (sigma, level) in [
            (vec![3.0, 2.0, 0.5, 0.0], 0.1),
            (vec![1.0, 1e-6, 0.0], 0.3),
            (vec![2.0, 1.0], 0.0),
        ] {
            let values = water_filling(&sigma, level);
            assert_relative_eq!(values.iter().sum::<f64>(), 1.0, max_relative = 1e-12);
            let cost = |values: &[f64]| -> f64 {
                let pairs = sigma.iter().zip(values).filter(|(s, _)| **s > 0.0);
                pairs.map(|(s, v)| s * s / (v + level)).sum()
            };
            let best = cost(&values);
            for (a, b) in [(0, 1), (1, 0), (0, sigma.len() - 1)] {
                let mut other = values.clone();
                let step = 1e-3f64.min(other[a]);
                other[a] -= step;
                other[b] += step;
                assert!(cost(&other) >= best - 1e-12);
            }
        }
    }
}
