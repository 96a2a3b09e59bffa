//! The list of methods, and a method by its name.

use partita_core::Consensus;

/// The method where none is named.
pub const DEFAULT_METHOD: &str = "lwgp";

/// Every method with the feature that brings it.
macro_rules! methods {
    ($($name:literal, $feature:literal => $method:path,)*) => {
        /// Every consensus method that the features brought, one line each. The command line, the table of methods and the
        /// conformance tests are read from this list.
        pub static METHODS: &[&dyn Consensus] = &[$(#[cfg(feature = $feature)] &$method,)*];

        /// Names of all methods, and the features that bring them.
        const FEATURES: &[(&str, &str)] = &[$(($name, $feature),)*];
    };
}

methods! {
    "eac-average", "eac" => partita_eac::EAC_AVERAGE,
    "eac-single", "eac" => partita_eac::EAC_SINGLE,
    "eac-complete", "eac" => partita_eac::EAC_COMPLETE,
    "eac-ward", "eac" => partita_eac::EAC_WARD,
    "eac-centroid", "eac" => partita_eac::EAC_CENTROID,
    "eac-sparse", "eac" => partita_eac::EAC_SPARSE,
    "eac-fuzzy", "eac" => partita_eac::EAC_FUZZY,
    "lwea", "eac" => partita_eac::LWEA,
    "pcc-kl", "pcc" => partita_pcc::PCC_KL,
    "pcc-l2", "pcc" => partita_pcc::PCC_L2,
    "pcc", "pcc" => partita_pcc::PCC,
    "peace", "pcc" => partita_pcc::PEACE,
    "baum-eagon", "pcc" => partita_pcc::BAUM_EAGON,
    "penca", "aspect" => partita_aspect::PENCA,
    "mm", "mixture" => partita_mixture::MM,
    "bce", "mixture" => partita_mixture::BCE,
    "nbce-gibbs", "mixture" => partita_mixture::NBCE_GIBBS,
    "nbce-vb", "mixture" => partita_mixture::NBCE_VB,
    "nbce-cvb", "mixture" => partita_mixture::NBCE_CVB,
    "lwgp", "graph" => partita_graph::LWGP,
    "hbgf", "graph" => partita_graph::HBGF,
    "cspa", "metis" => partita_graph::CSPA,
    "mcla", "metis" => partita_graph::MCLA,
    "hgpa", "graph" => partita_graph::HGPA,
    "lce", "graph" => partita_graph::LCE,
    "gp-mgla", "graph" => partita_graph::GP_MGLA,
    "ecpcs-mc", "graph" => partita_graph::ECPCS_MC,
    "ecpcs-hc", "graph" => partita_graph::ECPCS_HC,
    "cts", "graph" => partita_graph::CTS,
    "ssce", "ssce" => partita_ssce::SSCE,
    "ssce-p", "ssce" => partita_ssce::SSCE_P,
    "median-vi", "median" => partita_median::MEDIAN_VI,
    "median-binder", "median" => partita_median::MEDIAN_BINDER,
    "kc", "median" => partita_median::KC,
    "kcc", "median" => partita_median::KCC,
    "sec", "median" => partita_median::SEC,
    "qmi", "median" => partita_median::QMI,
    "ipvc", "median" => partita_median::IPVC,
    "nmfc", "median" => partita_median::NMFC,
    "plurality", "median" => partita_median::PLURALITY,
    "soft-mean", "median" => partita_median::SOFT_MEAN,
    "urcv", "median" => partita_median::URCV,
    "rcv", "median" => partita_median::RCV,
    "acv", "median" => partita_median::ACV,
}

/// The method of this name.
///
/// # Errors
/// [`MethodError`] says which feature brings it, or which name is near.
pub fn method(name: &str) -> Result<&'static dyn Consensus, MethodError> {
    let found = METHODS.iter().find(|method| method.info().name == name);
    found.copied().ok_or_else(|| {
        let feature = FEATURES.iter().find(|(known, _)| *known == name);
        let names = METHODS.iter().map(|method| method.info().name);
        feature.map_or_else(
            || MethodError::unknown(name, names),
            |(_, feature)| MethodError::Feature {
                name: name.into(),
                feature,
            },
        )
    })
}

impl MethodError {
    /// There is no method of this name; it may be meant for one of these.
    pub fn unknown(name: &str, names: impl Iterator<Item = &'static str>) -> Self {
        Self::Unknown {
            name: name.into(),
            nearest: nearest(name, names),
        }
    }
}

fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    names.max_by(|a, b| strsim::jaro(name, a).total_cmp(&strsim::jaro(name, b)))
}

/// There is no method of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// No method is called so.
    #[error("there is no method '{name}'{}", .nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The name that is nearest to it.
        nearest: Option<&'static str>,
    },
    /// The method is one of ours, and was left out of this program.
    #[error(
        "the method {name} was left out of this program; it comes with the feature `{feature}` of the crate partita"
    )]
    Feature {
        /// The method.
        name: String,
        /// The feature that brings it.
        feature: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_listed_once_under_its_name() {
        let listed = FEATURES.iter().map(|(name, _)| *name);
        let listed: std::collections::BTreeSet<&str> = listed.collect();
        assert_eq!(listed.len(), FEATURES.len());
        for method in METHODS {
            let name = method.info().name;
            assert!(
                listed.contains(name) && super::method(name).is_ok(),
                "{name}"
            );
        }
        let error = super::method("no such method").err();
        assert!(matches!(error, Some(MethodError::Unknown { .. })));
    }
}
