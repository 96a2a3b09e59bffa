//! Information criteria for the number of components: BIC and minimum message length.

use partita_core::SettingChoice;
use serde::{Deserialize, Serialize};

/// What a component must be worth.
///
/// With S the number of times that two objects are together (unordered pairs), n objects, and L live components:
///
/// ```text
/// bic   −2 loglik + (L n − 1) ln S
/// mdl   −loglik + (n−1)/2 Σ_r ln(S p_r / 12) + L/2 ln(S / 12) + L n / 2
/// ```
///
/// `mdl` is the message length of Figueiredo and Jain (2002): a component's n − 1 parameters are told with the
/// precision that its own S p_r observations allow. Both take the pairs as independent, which pairs of the same base
/// clustering are not: on ensembles of many small clusters both choose more components than there are classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Criterion {
    /// The Bayesian information criterion.
    #[default]
    Bic,
    /// The message length of a mixture.
    Mdl,
}
