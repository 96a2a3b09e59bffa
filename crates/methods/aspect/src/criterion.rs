//! Criteria for the number of components: BIC, minimum message length, and the evidence under a Dirichlet process.

use partita_core::SettingChoice;
use serde::{Deserialize, Serialize};

/// What a component must be worth.
///
/// With S the number of times that two objects are together (unordered pairs), n objects, and L live components:
///
/// ```text
/// bic   −2 loglik + (L n − 1) ln S
/// mdl   −loglik + (n−1)/2 Σ_r ln(S p_r / 12) + L/2 ln(S / 12) + L n / 2
/// dirichlet-process   −(E ln P(pairs, components) + H(components) − KL(posterior ‖ prior)),
///                     prior: p ~ Dirichlet(1/T, …, 1/T), B_r ~ Dirichlet(1, …, 1)
/// ```
///
/// `mdl` is the message length of Figueiredo and Jain (2002): a component's n − 1 parameters are told with the
/// precision that its own S p_r observations allow. `dirichlet-process` has no number to choose: of T possible components (√n, at most 30; the process
/// cut off there) those that the pairs need stay alive under the posterior, found by variational EM from the starts of every number; of these local
/// optima the highest lower bound of the evidence is kept. All take the pairs as independent, which pairs of the same base
/// clustering are not: on ensembles of many small clusters all choose more components than there are classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Criterion {
    /// The Bayesian information criterion.
    #[default]
    Bic,
    /// The message length of a mixture.
    Mdl,
    /// The posterior under a Dirichlet process.
    DirichletProcess,
}
