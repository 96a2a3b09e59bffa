//! Mixture models of label rows: MM, BCE and nonparametric NBCE.
//!
//! Each object's row of labels is a draw from one of K (or a mixture of K) products of label distributions. Pick this
//! crate when labels are missing, when the number of clusters is to be found, when an answer needs probabilities, or
//! when a consensus must label objects that come later: models here read label rows only, and cost n · M · K.
//!
//! | method | what it is | time | memory |
//! |---|---|---|---|
//! | [`mm`] | finite mixture, EM | restarts · rounds · d M K | n K + 64 ΣJ K |
//! | [`mm_named`] | the same where labels name classes (Dawid–Skene) | rounds · d M K | n K + M K² |
//! | [`bce`] | mixed memberships, variational EM | restarts · rounds · 20 d M K | restarts · d K |
//! | [`nbce_vb`] | Dirichlet-process mixture, variational | restarts · rounds · d M K | n K + 64 ΣJ K |
//! | [`nbce_cvb`] | the same, collapsed, first order | restarts · rounds · d M K | restarts · d K |
//! | [`nbce_gibbs`] | the same, sampled | chains · sweeps · n M K | kept · n |
//!
//! n objects, d distinct label rows, M base clusterings, ΣJ label values, K clusters (for NBCE: at most). [`RowModel`]
//! makes the outcome of any method, of this crate or not, label new label rows. [`PartitionSamples`] turns draws into
//! one partition, [`r_hat`] and [`effective_samples`] say whether there are enough. [`held_out`] is the perplexity of rows
//! that a saved model has not seen.
//!
//! ```
//! use partita_core::{EnsembleBuilder, ModelInput, Model, Seed, Silent, SoftPartition};
//! use partita_mixture::{NbceVbSettings, RowModel, WeightedRows, nbce_vb};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", ["x", "x", "x", "y", "y", "y"].map(Some))?;
//! builder.push("b", [Some(1), Some(1), None, Some(2), Some(2), Some(2)])?;
//! builder.push("c", [Some(7), Some(7), Some(7), Some(8), Some(8), None])?;
//! let ensemble = builder.finish()?;
//!
//! let outcome = nbce_vb(&WeightedRows::of(&ensemble), 4, Seed::new(1), &NbceVbSettings::default(), &Silent)?;
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

pub use bce::{BCE, BceDiagnostics, BceModel, BceSettings, bce, bce_rows};
pub use error::MixtureError;
pub use held_out::{HeldOut, held_out};
pub use mm::{MM, MmDiagnostics, MmSettings, mm, mm_from, mm_named, mm_rows};
pub use nbce::likelihood::{NbceDiagnostics, RowLikelihood};
pub use nbce::prior::NbcePrior;
pub use nbce_cvb::{NBCE_CVB, NbceCvbSettings, nbce_cvb, nbce_cvb_rows};
pub use nbce_gibbs::{
    Mode, NBCE_GIBBS, NbceDraws, NbceGibbsDiagnostics, NbceGibbsSettings, PartitionLoss,
    PartitionSamples, Summary, effective_samples, nbce_draws, nbce_gibbs, r_hat,
};
pub use nbce_vb::{NBCE_VB, NbceVbSettings, nbce_vb, nbce_vb_rows};
pub use pass_kinds::{LABELLERS, PASSES};
pub use shared::row_model::RowModel;
pub use shared::weighted_rows::WeightedRows;
