//! The methods as [`Consensus`].

use partita_core::{
    Consensus, ConsensusError, MethodCard, MissingLabels, Monitor, Outcome, Problem, ProblemSize, Reads, SettingHelp,
};
use partita_linkage::Linkage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::eac::{WAY_OUT, bytes, eac};
use crate::lwea::{LweaSettings, lwea, lwea_bytes};
use crate::sparse::{EacSparseSettings, eac_strongest, sparse_bytes};

/// Settings of [`eac`]: there are none besides the linkage, which is in the method's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EacSettings {}

/// A method of this crate that differs from the others in its linkage.
#[derive(Debug)]
pub struct Eac {
    linkage: Linkage,
    card: &'static MethodCard,
}

/// Average link on the evidence.
pub static EAC_AVERAGE: Eac = Eac {
    linkage: Linkage::Average,
    card: &card(
        "eac-average",
        "average link on how often objects are together; finds K by the longest lifetime, the default of -k auto",
        |size| tree_bytes(size, Linkage::Average),
    ),
};

/// Single link on the evidence.
pub static EAC_SINGLE: Eac = Eac {
    linkage: Linkage::Single,
    card: &MethodCard {
        memory: "nM",
        ..card(
            "eac-single",
            "single link on how often objects are together; follows long shapes, and bridges too",
            |size| tree_bytes(size, Linkage::Single),
        )
    },
};

/// Complete link on the evidence.
pub static EAC_COMPLETE: Eac = Eac {
    linkage: Linkage::Complete,
    card: &card(
        "eac-complete",
        "complete link on how often objects are together; compact clusters, each pair of which was together",
        |size| tree_bytes(size, Linkage::Complete),
    ),
};

/// Ward's link on the evidence, taken for distances.
pub static EAC_WARD: Eac = Eac {
    linkage: Linkage::Ward,
    card: &card("eac-ward", "Ward's link on how often objects are together; clusters of similar size", |size| {
        tree_bytes(size, Linkage::Ward)
    }),
};

/// Centroid link on the evidence, taken for distances.
pub static EAC_CENTROID: Eac = Eac {
    linkage: Linkage::Centroid,
    card: &card("eac-centroid", "centroid link on how often objects are together; heights may fall", |size| {
        tree_bytes(size, Linkage::Centroid)
    }),
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

static SPARSE_CARD: MethodCard = MethodCard {
    seeded: true,
    time: "n²M to 30,000 objects, then nM + n log n",
    memory: "nM",
    remedy: "take fewer neighbours",
    settings: &[SettingHelp { name: "neighbours", help: "how many strongest neighbours of every object are kept" }],
    ..card("eac-sparse", "single link on every object's strongest neighbours; for many objects", |size| {
        sparse_bytes(size.objects, size.base_clusterings, 10)
    })
};

static LWEA_CARD: MethodCard = MethodCard {
    reference: "Huang, Wang and Lai 2018, IEEE Trans. Cybernetics 48(5)",
    time: "n²M + nM²",
    settings: &[
        SettingHelp { name: "theta", help: "how much disagreement costs a base cluster its weight: less costs more" },
        SettingHelp {
            name: "trust_rounds",
            help: "how often base clusterings are trusted anew by how whole the others leave their clusters; 0 as published",
        },
        SettingHelp {
            name: "move_rounds",
            help: "how often objects move from their cluster of the tree to one with more evidence; 0 as published",
        },
    ],
    ..card("lwea", "average link where base clusters that the others break up count less; good all round", |size| {
        lwea_bytes(size.objects, size.base_clusterings)
    })
};

const fn card(name: &'static str, summary: &'static str, bytes: fn(&ProblemSize) -> u64) -> MethodCard {
    MethodCard {
        name,
        family: "eac",
        summary,
        reference: "Fred and Jain 2005, IEEE TPAMI 27(6)",
        reads: Reads::Labels,
        missing: MissingLabels::Handled,
        soft: false,
        chooses_clusters: true,
        clusters_is_maximum: false,
        weighted: false,
        seeded: false,
        certainty: "mean evidence for the object's cluster over the sum of that and the best other cluster's",
        time: "n²M",
        memory: "n²",
        bytes,
        remedy: WAY_OUT,
        settings: &[],
    }
}

/// Bytes when no label row occurs twice and no label is missing; the method itself checks again when it knows.
fn tree_bytes(size: &ProblemSize, linkage: Linkage) -> u64 {
    bytes(size.objects, size.base_clusterings, false, linkage)
}

impl Consensus for Eac {
    fn card(&self) -> &'static MethodCard {
        self.card
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(EacSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = self.card.name;
        let settings: EacSettings = problem.settings.apply().map_err(|error| error.of(method))?;
        let mut outcome = eac(problem.ensemble, problem.clusters, self.linkage, problem.budget, monitor)
            .map_err(|error| error.of(method))?;
        outcome.settings = serde_json::to_value(settings).expect("settings are plain data");
        Ok(outcome)
    }
}

impl Consensus for Lwea {
    fn card(&self) -> &'static MethodCard {
        &LWEA_CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(LweaSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = LWEA_CARD.name;
        let settings: LweaSettings = problem.settings.apply().map_err(|error| error.of(method))?;
        let mut outcome = lwea(problem.ensemble, problem.clusters, &settings, problem.budget, monitor)
            .map_err(|error| error.of(method))?;
        outcome.settings = serde_json::to_value(settings).expect("settings are plain data");
        Ok(outcome)
    }
}

impl Consensus for EacSparse {
    fn card(&self) -> &'static MethodCard {
        &SPARSE_CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(EacSparseSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = SPARSE_CARD.name;
        let settings: EacSparseSettings = problem.settings.apply().map_err(|error| error.of(method))?;
        let (ensemble, clusters, seed) = (problem.ensemble, problem.clusters, problem.seed);
        let mut outcome = eac_strongest(ensemble, clusters, seed, &settings, problem.budget, monitor)
            .map_err(|error| error.of(method))?;
        outcome.settings = serde_json::to_value(settings).expect("settings are plain data");
        Ok(outcome)
    }
}
