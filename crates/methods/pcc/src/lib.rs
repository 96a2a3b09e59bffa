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
//! unlike all. K is the most clusters that may be used; some may stay empty. Where K is not given, the methods other than
//! [`BAUM_EAGON`] run with K above, drop empty clusters, and go down from there as long as either half of the base
//! clusterings predicts the other as well (details `held_out`). That finds the number of blocks on evidence in blocks; base
//! clusterings of many more clusters than there are classes make evidence in small blocks, of which it finds many.
//!
//! | method | d | time | memory |
//! |---|---|---|---|
//! | [`PCC_KL`], [`PEACE`] | Kullback–Leibler: maximum likelihood | pairs · (M + K · iterations) | 3 n² bytes |
//! | [`PCC_L2`] | squared difference | pairs · (M + K · iterations), fewer iterations | 3 n² bytes |
//! | [`BAUM_EAGON`] | squared difference, each pair once: the papers' baseline | pairs · (M + K · iterations), many iterations | 3 n² bytes |
//! | [`PCC`] | either, `beta:p` between them, or `exponential` | as the divergence | 3 n² bytes |
//!
//! Up to 10,000 objects all pairs are read, beyond a sample: 30 partners an object on average, about 1 kB an object.
//! Above 255 base clusterings counts take two bytes instead of one.
//!
//! ```
//! use partita_core::{Clusters, EnsembleBuilder, Problem, Silent, consense};
//! use partita_pcc::PCC_KL;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(5);
//! builder.push("a", [Some(0), Some(0), Some(0), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(1), Some(1), Some(1)])?;
//! builder.push("c", [Some(0), Some(0), None, Some(1), Some(1)])?;
//! let ensemble = builder.finish()?;
//! let outcome = consense(&PCC_KL, &Problem::new(&ensemble, Clusters::Exactly(2)), &Silent)?;
//! let probability = outcome.probability().expect("a soft method");
//! assert!(probability[0] > 0.99);
//! assert!(probability[2] < 0.6, "the object between the two is known for what it is");
//! # Ok(())
//! # }
//! ```
//!
//! The papers' symbols, and what they are called here:
//!
//! | papers | here |
//! |---|---|
//! | **Y** (K × n), **y**_i | [`SoftPartition`](partita_core::SoftPartition) (n × K), its rows |
//! | c_ij, N_ij, 𝒫 | [`Evidence`] |
//! | d_φ | [`Bregman`] |
//! | g_i, U_i, V_i, τ | `gradient` and `gap` of [`Measure`], [`PccSettings::tolerance`] |
//!
//! # Differences from the papers
//! - Algorithm 1 starts from uniform rows, which are exactly stationary (`start=uniform` shows it). [`starts`] makes starts that move.
//! - It stops after nK steps, far from converged; every solver here stops at a relative gap of 1e-5, or at the papers' own τ
//!   ([`PccSettings::absolute_tolerance`]).
//! - [`Solver::Block`] takes Newton steps on whole rows and is the default; [`Solver::Greedy`] is the papers' solver.
//!
//! # References
//! Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo: *Probabilistic evidence accumulation for clustering
//! ensembles*, ICPRAM 2013; *Probabilistic consensus clustering using evidence accumulation*, Machine Learning 98, 2015.

#![forbid(unsafe_code)]

mod auto;
mod baum_eagon;
mod bregman;
mod copy_pairs;
mod diagnostics;
mod divergence;
mod error;
mod evidence;
mod kernels;
mod memberships;
mod methods;
mod on_ensemble;
mod pair_counts;
mod pcc;
mod row_moments;
mod settings;
mod solvers;
mod split_empty_clusters;
mod starts;

pub use baum_eagon::{BAUM_EAGON, BaumEagonSettings};
pub use bregman::{Beta, Bregman, Exponential, Kl, L2, beta};
pub use diagnostics::{HeldOut, LiveAtMost, PccChoice, PccDiagnostics, PccRestart};
pub use divergence::{Divergence, DivergenceError};
pub use error::PccError;
pub use evidence::Evidence;
pub use methods::{AnyPccSettings, PCC, PCC_KL, PCC_L2, PEACE};
pub use pcc::{Sources, pcc, pcc_from};
pub use settings::{PccSettings, Solver, StartFrom};
pub use solvers::{Descent, Measure, descend, measure};
pub use starts::{Start, base_starts, starts};
