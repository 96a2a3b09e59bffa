//! Eigenpairs: what an eigensolver gives back.

use partita_core::ndarray::{Array1, Array2, Axis};

/// Which solver found the eigenpairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Solver {
    /// The whole matrix was reduced to tridiagonal form.
    Dense,
    /// Block Lanczos.
    Lanczos,
    /// Subspace iteration with a Chebyshev filter.
    Chebyshev,
}

/// Eigenpairs of a symmetric matrix of side s, largest eigenvalue first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Eigenpairs {
    /// The eigenvalues, k of them, falling.
    pub values: Array1<f64>,
    /// The eigenvectors, s × k: column j belongs to value j. Length 1, the largest component positive.
    pub vectors: Array2<f64>,
    /// Largest `‖A v − λ v‖` over the pairs, relative to the largest |eigenvalue| seen.
    pub residual: f64,
    /// The next eigenvalue, where there is one: exact by the dense solver, else a lower bound. The gap between it and the last
    /// of `values` says how well the space of the vectors is told apart from the rest.
    pub next: Option<f64>,
    /// Who found them.
    pub solver: Solver,
}

/// Turns every column so that its largest component, the first of equals, is positive.
pub(crate) fn orient(vectors: &mut Array2<f64>) {
    for mut column in vectors.axis_iter_mut(Axis(1)) {
        let mut largest = 0.0_f64;
        for &x in &column {
            largest = if x.abs() > largest.abs() { x } else { largest };
        }
        if largest < 0.0 {
            column.mapv_inplace(|x| -x);
        }
    }
}
