//! Mixture models of label rows: MM, BCE and nonparametric NBCE.
//!
//! Each object's row of labels is a draw from one of K (or a mixture of K) products of label distributions. Pick this
//! crate when labels are missing, when the number of clusters is to be found, when an answer needs probabilities, or
//! when a consensus must label objects that come later: models here read label rows only, and cost n · M · K.
//!
//! | method | what it is | time | memory |
//! |---|---|---|---|
//! | [`MM`] | finite mixture, EM | restarts · iterations · d M K | n K + restarts · ΣJ K |
//! | [`MM`] with `named` | the same where labels name classes (Dawid–Skene) | iterations · d M K | n K + M K² |
//! | [`BCE`] | mixed memberships, variational EM | restarts · iterations · 100 d M K | n K + restarts · ΣJ K |
//! | [`NBCE_VB`] | Dirichlet-process mixture, variational | restarts · iterations · d M K | n K + restarts · ΣJ K |
//! | [`NBCE_CVB`] | the same, collapsed, first or second order | restarts · iterations · 5 d M K | n K + restarts · ΣJ K |
//! | [`NBCE_GIBBS`] | the same, sampled | chains · sweeps · n M K | kept · n |
//!
//! All but [`NBCE_GIBBS`] are written over passes: rows of labels and of shares, in memory or not, are fitted by the same code.
//! n objects, d distinct label rows, M base clusterings, ΣJ label values, K clusters (for NBCE: at most). [`RowModel`]
//! makes the outcome of any method, of this crate or not, label new label rows. [`PartitionSamples`] turns draws into
//! one partition, [`r_hat`] and [`effective_samples`] say whether there are enough. [`held_out`] is the perplexity of rows
//! that a saved model has not seen.
//!
//! ```
//! use partita_core::{
//!     Clusters, EnsembleBuilder, Model, ModelInput, Problem, Silent, SoftPartition, consense,
//! };
//! use partita_mixture::{NBCE_VB, RowModel};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", ["x", "x", "x", "y", "y", "y"].map(Some))?;
//! builder.push("b", [Some(1), Some(1), None, Some(2), Some(2), Some(2)])?;
//! builder.push("c", [Some(7), Some(7), Some(7), Some(8), Some(8), None])?;
//! let ensemble = builder.finish()?;
//!
//! let outcome = consense(&NBCE_VB, &Problem::new(&ensemble, Clusters::Exactly(4)), &Silent)?;
//! assert_eq!(outcome.partition.live_clusters(), 2);
//!
//! let model = RowModel::of_consensus(&ensemble, &SoftPartition::of(&outcome.partition));
//! let mut later = EnsembleBuilder::new(1);
//! later.push("c", [Some(8)])?;
//! later.push("a", [Some("y")])?;
//! later.push("b", [Some(2)])?;
//! let labels = model.predict(&ModelInput::Labels(&later.finish()?))?.hard();
//! assert_eq!(labels.labels()[0], outcome.partition.labels()[3]);
//! # Ok(())
//! # }
//! ```

mod bce;
mod error;
mod held_out;
mod mm;
mod nbce;
mod nbce_cvb;
mod nbce_gibbs;
mod nbce_vb;
mod pass_kinds;
mod shared;

pub use bce::{BCE, Bce, BceDiagnostics, BceModel, BceSettings};
pub use error::MixtureError;
pub use held_out::{HeldOut, held_out};
pub use mm::{MM, Mm, MmDiagnostics, MmSettings, mm_from};
pub use nbce::hyperparameters::Learn;
pub use nbce::likelihood::{NbceDiagnostics, RowLikelihood};
pub use nbce::prior::NbcePrior;
pub use nbce_cvb::{CvbOrder, NBCE_CVB, NbceCvb, NbceCvbSettings};
pub use nbce_gibbs::{
    Mode, NBCE_GIBBS, NbceDraws, NbceGibbs, NbceGibbsDiagnostics, NbceGibbsSettings, PartitionLoss,
    PartitionSamples, Summary, effective_samples, nbce_draws, r_hat,
};
pub use nbce_vb::{NBCE_VB, NbceVb, NbceVbSettings};
pub use pass_kinds::{LABELLERS, PASSES};
pub use shared::log_mean::LogMean;
pub use shared::row_model::RowModel;
