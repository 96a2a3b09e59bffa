//! The methods of evidence accumulation, as `partita` lists them.

use partita_coassoc::CoassocError;
use partita_core::{Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize, Settings};
use partita_linkage::{Linkage, LinkageError};
use serde::{Deserialize, Serialize};

use crate::EacError;
use crate::eac::{REMEDY, TreeDiagnostics, bytes, eac};
use crate::lwea::{LweaDiagnostics, LweaSettings, lwea, lwea_bytes};
use crate::sparse::{EacSparseSettings, SparseDiagnostics, eac_strongest, sparse_bytes};

/// Settings of [`eac`]: there are none besides the linkage, which is in the method's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EacSettings {}

/// A method of this crate that differs from the others in its linkage.
#[derive(Debug)]
pub struct Eac {
    linkage: Linkage,
    info: &'static MethodInfo,
}

/// Average link on the evidence.
pub static EAC_AVERAGE: Eac = Eac {
    linkage: Linkage::Average,
    info: &info(
        "eac-average",
        "average link on how often objects are together; finds K by the longest lifetime, the default of -k auto",
    ),
};

/// Single link on the evidence.
pub static EAC_SINGLE: Eac = Eac {
    linkage: Linkage::Single,
    info: &MethodInfo {
        memory: "nM",
        ..info("eac-single", "single link on how often objects are together; follows long shapes, and bridges too")
    },
};

/// Complete link on the evidence.
pub static EAC_COMPLETE: Eac = Eac {
    linkage: Linkage::Complete,
    info: &info(
        "eac-complete",
        "complete link on how often objects are together; compact clusters, each pair of which was together",
    ),
};

/// Ward's link on the evidence, taken for distances.
pub static EAC_WARD: Eac = Eac {
    linkage: Linkage::Ward,
    info: &info("eac-ward", "Ward's link on how often objects are together; clusters of similar size"),
};

/// Centroid link on the evidence, taken for distances.
pub static EAC_CENTROID: Eac = Eac {
    linkage: Linkage::Centroid,
    info: &info("eac-centroid", "centroid link on how often objects are together; heights may fall"),
};

/// [`lwea`] as a method.
#[derive(Debug)]
pub struct Lwea;

/// Locally weighted evidence accumulation.
pub static LWEA: Lwea = Lwea;

/// [`eac_strongest`] as a method.
#[derive(Debug)]
pub struct EacSparse;

/// Single link on the evidence of every object's strongest neighbours.
pub static EAC_SPARSE: EacSparse = EacSparse;

static SPARSE_INFO: MethodInfo = MethodInfo {
    time: "n²M to 30,000 objects, then nM + n log n",
    memory: "nM",
    remedy: "take fewer neighbours",
    capabilities: Capabilities { seeded: true, ..TREE },
    ..info("eac-sparse", "single link on every object's strongest neighbours; for many objects")
};

static LWEA_INFO: MethodInfo = MethodInfo {
    reference: "Huang, Wang and Lai 2018, IEEE Trans. Cybernetics 48(5)",
    time: "n²M + nM²",
    ..info("lwea", "average link where base clusters that the others break up count less; good all round")
};

const TREE: Capabilities = Capabilities { auto_clusters: true, tree: true, ..Capabilities::HARD_LABELS };

const fn info(name: &'static str, summary: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        family: "eac",
        summary,
        reference: "Fred and Jain 2005, IEEE TPAMI 27(6)",
        certainty: "mean evidence for the object's cluster over the sum of that and the best other cluster's",
        time: "n²M",
        memory: "n²",
        remedy: REMEDY,
        capabilities: TREE,
    }
}

impl Method for Eac {
    type Settings = EacSettings;
    type Diagnostics = TreeDiagnostics;
    type Error = EacError;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    /// Bytes when no label row occurs twice and no label is missing; the method checks again when it knows.
    fn bytes(&self, size: &ProblemSize, _settings: &EacSettings) -> u64 {
        bytes(size.objects, size.base_clusterings, false, self.linkage)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        _settings: &EacSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<TreeDiagnostics>, EacError> {
        eac(problem.ensemble, problem.clusters, self.linkage, problem.budget, monitor)
    }
}

impl Method for Lwea {
    type Settings = LweaSettings;
    type Diagnostics = LweaDiagnostics;
    type Error = EacError;

    fn info(&self) -> &'static MethodInfo {
        &LWEA_INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &LweaSettings) -> u64 {
        lwea_bytes(size.objects, size.base_clusterings)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &LweaSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<LweaDiagnostics>, EacError> {
        lwea(problem.ensemble, problem.clusters, settings, problem.budget, monitor)
    }
}

impl Method for EacSparse {
    type Settings = EacSparseSettings;
    type Diagnostics = SparseDiagnostics;
    type Error = EacError;

    fn info(&self) -> &'static MethodInfo {
        &SPARSE_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &EacSparseSettings) -> u64 {
        sparse_bytes(size.objects, size.base_clusterings, settings.neighbours)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &EacSparseSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SparseDiagnostics>, EacError> {
        eac_strongest(problem.ensemble, problem.clusters, problem.seed, settings, problem.budget, monitor)
    }
}

impl From<EacError> for FitError {
    fn from(error: EacError) -> Self {
        match error {
            EacError::Budget(error) | EacError::Evidence(CoassocError::Budget(error)) => error.into(),
            EacError::Evidence(CoassocError::Interrupted) | EacError::Tree(LinkageError::Interrupted) => {
                Self::Interrupted
            }
            EacError::Settings(error) => error.into(),
            other => Self::other(other),
        }
    }
}
