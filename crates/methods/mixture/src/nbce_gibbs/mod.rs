//! NBCE-Gibbs: a Dirichlet-process mixture of label rows by collapsed Gibbs sampling with split–merge moves.

mod annealed;
mod chain_diagnostics;
mod convergence;
mod equal_rows;
mod gibbs_run;
mod gibbs_state;
mod method;
mod overlaps;
mod partition_loss;
mod partition_samples;
mod sampler;
mod settings;
mod slice_sampling;
mod split_merge;

pub use chain_diagnostics::{Mode, NbceDraws, NbceGibbsDiagnostics};
pub use convergence::{effective_samples, r_hat};
pub use method::{NBCE_GIBBS, NbceGibbs};
pub use partition_loss::PartitionLoss;
pub use partition_samples::PartitionSamples;
pub use sampler::nbce_draws;
pub use settings::{NbceGibbsSettings, Summary};
