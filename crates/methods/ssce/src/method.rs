//! SSCE and SSCE-P as methods.

use std::num::Saturating;

use partita_core::{
    Capabilities, ConsensusError, FitError, Method, MethodInfo, Monitor, Outcome, Problem,
    ProblemSize, Reads, SoftBases, Weights,
};

use crate::compact;
use crate::{Solver, SsceDiagnostics, SsceError, SsceSettings, ssce, ssce_p};

/// [`ssce`] as a method.
#[derive(Debug)]
pub struct Ssce;

/// Self-supervised consensus on a table, [`ssce`].
pub static SSCE: Ssce = Ssce;

/// [`ssce_p`] as a method.
#[derive(Debug)]
pub struct SsceP;

/// Self-supervised consensus on labels alone, [`ssce_p`].
pub static SSCE_P: SsceP = SsceP;

const SSCE_INFO: MethodInfo = MethodInfo {
    name: "ssce",
    family: "ssce",
    summary: "classifiers learn the base clusterings from the table and agree on one: labels new objects",
    reference: "Du, Shen, Shen, Wang, Xu, A self-supervised framework for clustering ensemble, WAIM 2013",
    time: "iterations · n d M K for d columns",
    memory: "10 n M + 64 n K + 4 (ΣJ)² bytes besides the table",
    remedy: "ask for fewer clusters",
    capabilities: Capabilities {
        reads: Reads::LabelsAndFeatures,
        soft: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Copies,
        object_weights: Weights::Native,
        seeded: true,
        predicts: true,
        ..Capabilities::HARD_LABELS
    },
};

static SSCE_P_INFO: MethodInfo = MethodInfo {
    name: "ssce-p",
    summary: "classifiers learn each base clustering from all others and agree on one",
    time: "iterations · n M² K",
    memory: "10 n M + 64 n K + 320 ΣJ M K + 4 (ΣJ)² bytes",
    remedy: "ask for fewer clusters, or take fewer base clusterings",
    capabilities: Capabilities {
        reads: Reads::Labels,
        predicts: false,
        ..SSCE_INFO.capabilities
    },
    ..SSCE_INFO
};

/// Codes and tables of the classifiers, their covariance with its inverse and eigenvectors, and the distances of base clusters where they are clustered themselves.
fn table_bytes(size: &ProblemSize, settings: &SsceSettings) -> Saturating<u64> {
    let [n, m, side, k] = size.saturating();
    // Labels under other names, and the fit to them.
    let labels = Saturating(1 + u64::from(settings.joint_names));
    n * (m * labels * Saturating(10) + k * Saturating(64) + Saturating(64))
        + m * k * labels * Saturating(8 * 1024)
        + side * side * Saturating(4)
        + m * m * Saturating(48)
        + Saturating(u64::from(size.soft_shares > 0)) * n * m * k * labels * Saturating(16)
        + Saturating(size.soft_shares as u64) * Saturating(12)
}

fn label_bytes(size: &ProblemSize, settings: &SsceSettings) -> Saturating<u64> {
    let [_, m, side, k] = size.saturating();
    let gram = side.min(Saturating(400));
    table_bytes(size, settings)
        + side * m * k * Saturating(320 + 16 * u64::from(settings.joint_names))
        + gram * gram * Saturating(8)
        + Saturating(compact::bytes(size))
}

/// Bytes a number of W that the joint solver holds beyond iterations in turn: more steps of descent, and changes of the gradient.
fn remembered(settings: &SsceSettings) -> Saturating<u64> {
    match settings.solver {
        Solver::Joint => Saturating(256),
        Solver::Alternating => Saturating(0),
    }
}

impl Method for Ssce {
    type Settings = SsceSettings;
    type Diagnostics = SsceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &SSCE_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &SsceSettings) -> u64 {
        let [_, m, _, k] = size.saturating();
        (table_bytes(size, settings) + remembered(settings) * m * k * Saturating(1024)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &SsceSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SsceDiagnostics>, FitError> {
        let method = SSCE_INFO.name;
        let clusters = problem.given_clusters(method)?;
        let unfit = |reason: String| ConsensusError::Features { method, reason };
        let features = problem.features.as_ref();
        let features = features.ok_or_else(|| unfit("there is none".into()))?;
        let source = problem.weighted();
        let found = ssce(source, features, clusters, problem.seed, settings, monitor);
        found.map_err(|error| match error {
            SsceError::Rows { .. } | SsceError::NoColumns | SsceError::Scale { .. } => {
                unfit(error.to_string()).into()
            }
            other => other.into(),
        })
    }
}

impl Method for SsceP {
    type Settings = SsceSettings;
    type Diagnostics = SsceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &SSCE_P_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &SsceSettings) -> u64 {
        let [_, m, side, k] = size.saturating();
        (label_bytes(size, settings) + remembered(settings) * side * m * k).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &SsceSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SsceDiagnostics>, FitError> {
        let clusters = problem.given_clusters(SSCE_P_INFO.name)?;
        let source = problem.weighted();
        Ok(ssce_p(source, clusters, problem.seed, settings, monitor)?)
    }
}
