//! Consensus clustering: every method once, and the types to call them.
//!
//! Pick this crate if you want everything; pick a single component (`partita-metrics`, `partita-eac`, …) if
//! you want little. It holds no logic: a list of methods, and re-exports.
//!
#![doc = include_str!("../../../README.md")]
#![forbid(unsafe_code)]

use std::sync::Arc;

pub use partita_core::{
    BaseClustering, BaseWeights, BudgetError, Capabilities, Clusters, ClustersError, Consensus, ConsensusError,
    Dendrogram, Ensemble, EnsembleBuilder, EnsembleError, EnsembleRows, Features, FitError, Flow, Fragments,
    LABELS_BY_BLOCKS, Label, LabelRows, MemoryBudget, Merge, Method, MethodInfo, MissingLabels, Model, ModelError,
    ModelInput, ModelReads, Monitor, Objective, Outcome, Partition, PartitionError, PassRunner, Problem, ProblemSize,
    Reads, RowBlocks, RowOutcome, RowProblem, Seed, Sense, SettingChoice, SettingInfo, SettingMap, SettingRange,
    SettingType, SettingValues, Settings, SettingsError, Silent, SoftPartition, Stopped, Weights, WeightsError,
    consense, consense_rows, ndarray,
};
pub use {
    partita_aspect as aspect, partita_coassoc as coassoc, partita_eac as eac, partita_files as files,
    partita_generate as generate, partita_graph as graph, partita_kmeans as kmeans, partita_linkage as linkage,
    partita_median as median, partita_metrics as metrics, partita_mixture as mixture, partita_pcc as pcc,
    partita_ssce as ssce, partita_text as text,
};

/// Every consensus method, one line each. The command line, the table of methods and the conformance tests are read
/// from this list.
pub static METHODS: &[&dyn Consensus] = &[
    &partita_eac::EAC_AVERAGE,
    &partita_eac::EAC_SINGLE,
    &partita_eac::EAC_COMPLETE,
    &partita_eac::EAC_WARD,
    &partita_eac::EAC_CENTROID,
    &partita_eac::EAC_SPARSE,
    &partita_eac::LWEA,
    &partita_pcc::PCC_KL,
    &partita_pcc::PCC_L2,
    &partita_pcc::PCC,
    &partita_pcc::PEACE,
    &partita_pcc::BAUM_EAGON,
    &partita_aspect::PENCA,
    &partita_mixture::MM,
    &partita_mixture::BCE,
    &partita_mixture::NBCE_GIBBS,
    &partita_mixture::NBCE_VB,
    &partita_mixture::NBCE_CVB,
    &partita_graph::LWGP,
    &partita_graph::HBGF,
    &partita_graph::CSPA,
    &partita_graph::MCLA,
    &partita_graph::HGPA,
    &partita_ssce::SSCE,
    &partita_ssce::SSCE_P,
    &partita_median::KC,
    &partita_median::QMI,
    &partita_median::IPVC,
    &partita_median::NMFC,
    &partita_median::PLURALITY,
    &partita_median::URCV,
    &partita_median::RCV,
    &partita_median::ACV,
];

/// The method of this name.
pub fn method(name: &str) -> Option<&'static dyn Consensus> {
    METHODS.iter().find(|method| method.info().name == name).copied()
}

/// Reads back a model that [`Model::to_json`] wrote; its field `format` says which kind it is.
///
/// # Errors
/// [`ModelError::Damaged`] if it is of no known format, or not as its format says.
pub fn load_model(saved: &serde_json::Value) -> Result<Arc<dyn Model>, ModelError> {
    match saved["format"].as_str() {
        Some(mixture::RowModel::FORMAT) => Ok(Arc::new(mixture::RowModel::from_json(saved)?)),
        Some(mixture::BceModel::FORMAT) => Ok(Arc::new(mixture::BceModel::from_json(saved)?)),
        Some(format) if ssce::FORMATS.contains(&format) => ssce::read_model(saved),
        Some(other) => Err(ModelError::Damaged(format!("its format '{other}' is unknown"))),
        None => Err(ModelError::Damaged("it has no field 'format'".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_method_is_listed_once() {
        let names: BTreeSet<&str> = METHODS.iter().map(|method| method.info().name).collect();
        assert_eq!(names.len(), METHODS.len());
        assert!(names.iter().all(|name| method(name).is_some()));
        assert!(method("no such method").is_none());
    }
}
