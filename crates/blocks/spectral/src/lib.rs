//! Symmetric eigenproblems: all eigenpairs of a dense matrix, or the largest few of anything that can be multiplied
//! by a block of vectors.
//!
//! Pick this crate when you need eigenvectors of a symmetric matrix and want the same bits for the same seed,
//! a residual that was computed rather than assumed, and no LAPACK to install. Nothing here knows what a clustering is.
//!
//! | function | what it does | time | memory |
//! |---|---|---|---|
//! | [`symmetric_eigen`] | all eigenpairs of a dense matrix of side s | O(s³) | 4 s² numbers |
//! | [`lanczos`] | the k algebraically largest of an operator: block Lanczos, fully reorthogonalised | m/b products, O(s m²) | s m numbers, m ≈ 5 to 40 k |
//! | [`chebyshev`] | the k algebraically largest of a sparse normalised graph: filtered subspace iteration | O(60 to 500 products + 10 s k²) | 8 s k numbers |
//! | [`top_eigenpairs`] | the k algebraically largest of a dense matrix, by whichever of the two is quicker | O(s² m) | s² + s m numbers |
//!
//! Eigenpairs come largest first. Every eigenvector has length 1 and its largest component (the first of equals) is
//! positive. Where an eigenvalue is multiple, its vectors are one orthonormal basis of many.
//!
//! The feature `lapack` adds `symmetric_eigen_lapack`, which solves dense matrices by the `dsyev` of the system's OpenBLAS;
//! results agree to rounding. It changes no other function. faer, which all others call, is quicker, has nothing to install
//! and gives the same bits on every machine with the same instructions.
//!
//! ```
//! use partita_core::{Seed, ndarray::array};
//! use partita_spectral::{LanczosSettings, symmetric_eigen, top_eigenpairs};
//!
//! # fn main() -> Result<(), partita_spectral::SpectralError> {
//! let matrix = array![[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, -5.0]];
//! let all = symmetric_eigen(matrix.view())?;
//! assert!((all.values[0] - 3.0).abs() < 1e-12 && (all.values[2] + 5.0).abs() < 1e-12);
//!
//! let top = top_eigenpairs(matrix.view(), 1, Seed::new(1), &LanczosSettings::default())?;
//! assert!((top.vectors[[0, 0]] - 0.5f64.sqrt()).abs() < 1e-12 && top.residual < 1e-12);
//! # Ok(())
//! # }
//! ```

mod basis;
mod chebyshev;
mod components;
mod dense;
mod error;
mod faer;
mod lanczos;
#[cfg(feature = "lapack")]
mod lapack;
mod pairs;

pub use chebyshev::{ChebyshevSettings, chebyshev};
pub use components::principal_components;
pub use dense::symmetric_eigen;
#[cfg(feature = "lapack")]
pub use dense::symmetric_eigen_lapack;
pub use error::SpectralError;
pub use lanczos::{LanczosSettings, lanczos, top_eigenpairs};
pub use pairs::{Eigenpairs, Solver};
