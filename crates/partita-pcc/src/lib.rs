//! Probabilistic consensus from pairwise evidence: PEACE and PCC.
//!
//! Every object i gets probabilities `y_i` of K clusters such that the chance of two objects being together,
//! `y_i·y_j`, matches how often they are together in the ensemble:
//!
//! ```text
//! f(Y) = Σ_{pairs i<j} N_ij d(c_ij/N_ij, y_i·y_j)      c together, N base clusterings that saw both
//! ```
//!
//! Pick this crate for soft labels that mean something: an object between two clusters is told from one that is
//! unlike all. K is the most clusters that may be used; some may stay empty.
//!
//! XX
//!
//! The papers' symbols, and what they are called here:
//!
//! | papers | here |
//! |---|---|
//! | **Y** (K × n), **y**_i | [`SoftPartition`](partita_core::SoftPartition) (n × K), its rows |
//! | c_ij, N_ij, 𝒫 | [`Dense`], [`Sparse`] |
//! | d_φ | [`Bregman`] |
//! | g_i, U_i, V_i, τ | `gradient` and `gap` of [`Measure`], [`PccSettings::tolerance`] |
//!
//! # Differences from the papers
//! - Algorithm 1 starts from uniform rows, which are exactly stationary. [`starts`] makes starts that move.
//! - It stops after nK steps, far from converged; every solver here stops at a relative gap of 1e-5.
//! - [`Solver::Block`] takes Newton steps on whole rows and is the default; [`Solver::Greedy`] is the papers' solver.
//!
//! # References
//! Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo: *Probabilistic evidence accumulation for clustering
//! ensembles*, ICPRAM 2013; *Probabilistic consensus clustering using evidence accumulation*, Machine Learning 98, 2015.

mod block;
mod dense;
mod descent;
mod divergence;
mod em;
mod error;
mod evidence;
mod greedy;
mod kernel;
mod laws;
mod machine;
mod methods;
mod pcc;
mod row;
mod settings;
mod simplex;
mod sparse;
mod starts;
mod survey;
mod table;
mod tournament;

pub use dense::Dense;
pub use descent::{Descent, descend};
pub use divergence::{Divergence, DivergenceError};
pub use error::PccError;
pub use evidence::Evidence;
pub use laws::{Beta, Bregman, Kl, L2, beta};
pub use methods::{AnyPccSettings, PCC, PCC_KL, PCC_L2, PEACE, Pcc};
pub use pcc::{pcc, pcc_from};
pub use settings::{PccSettings, Solver};
pub use sparse::Sparse;
pub use starts::{Start, base_starts, starts};
pub use survey::{Measure, measure};
