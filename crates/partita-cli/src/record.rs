//! What a run was: enough to judge it and to repeat it.

use std::collections::BTreeMap;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use partita::files::LabelColumn;
use partita::metrics::{Scores, anmi};
use partita::{Ensemble, Outcome, Partition, Sense, Stopped};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::phases;

/// The version that wrote a record.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One consensus, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    method: &'static str,
    settings: Map<String, Value>,
    seed: u64,
    objective: Option<f64>,
    objective_name: Option<&'static str>,
    objective_sense: Option<Sense>,
    rounds: u64,
    stopped: Stopped,
    kkt_gap: Option<f64>,
    clusters: usize,
    /// Mean NMI with the base clusterings, what Strehl and Ghosh compare consensus clusterings by.
    anmi: Option<f64>,
    seconds: f64,
    cpu_seconds: f64,
    peak_bytes: u64,
    /// Wall seconds of the parts that the method tells of.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    phases: BTreeMap<&'static str, f64>,
    n: usize,
    base_clusterings: usize,
    missing_labels: usize,
    version: &'static str,
    warnings: Vec<String>,
    details: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objective_trace: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scores: Option<Scores>,
}

impl Record {
    /// The record of an outcome that took as long as `spent` says.
    pub(crate) fn new(method: &'static str, seed: u64, ensemble: &Ensemble, outcome: &Outcome, spent: Spent) -> Self {
        let objective = outcome.objective.as_ref();
        Self {
            method,
            settings: outcome.settings.clone(),
            seed,
            objective: objective.map(|o| o.value),
            objective_name: objective.map(|o| o.name),
            objective_sense: objective.map(|o| o.sense),
            rounds: outcome.rounds,
            stopped: outcome.stopped,
            kkt_gap: outcome.kkt_gap,
            clusters: outcome.partition.live_clusters(),
            anmi: anmi(&outcome.partition, ensemble).ok(),
            seconds: spent.seconds,
            cpu_seconds: spent.cpu_seconds,
            peak_bytes: spent.peak_bytes,
            phases: phases::taken(),
            n: ensemble.objects(),
            base_clusterings: ensemble.bases().len(),
            missing_labels: ensemble.missing(),
            version: VERSION,
            warnings: outcome.warnings.clone(),
            details: outcome.details.clone(),
            objective_trace: objective.map(|o| o.trace.clone()).unwrap_or_default(),
            scores: None,
        }
    }

    /// Name of the method.
    pub(crate) fn name(&self) -> &'static str {
        self.method
    }

    /// Base clusterings of the ensemble.
    pub(crate) fn base_clusterings(&self) -> usize {
        self.base_clusterings
    }

    /// Method, clusters, ANMI, rounds, why it stopped, KKT gap and seconds, as cells of a table.
    pub(crate) fn cells(&self) -> [String; 7] {
        let gap = self.kkt_gap.map_or_else(|| "–".into(), |gap| format!("{gap:.1e}"));
        let anmi = self.anmi.map_or_else(|| "–".into(), |anmi| format!("{anmi:.4}"));
        let (rounds, seconds) = (self.rounds.to_string(), format!("{:.2}", self.seconds));
        [self.method.into(), self.clusters.to_string(), anmi, rounds, self.stopped.to_string(), gap, seconds]
    }
}

/// Time and memory that a piece of work took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_bytes: u64,
}

/// Started before a piece of work, read after it.
pub(crate) struct Stopwatch {
    begun: Instant,
    cpu: f64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { begun: Instant::now(), cpu: usage().0 }
    }

    pub(crate) fn read(&self) -> Spent {
        let (cpu, peak_bytes) = usage();
        Spent { seconds: self.begun.elapsed().as_secs_f64(), cpu_seconds: cpu - self.cpu, peak_bytes }
    }
}

/// CPU seconds of this process and the most bytes it has held.
fn usage() -> (f64, u64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (0.0, 0) };
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 * 1e-6;
    // Linux counts kibibytes, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    (seconds(usage.user_time()) + seconds(usage.system_time()), usage.max_rss().unsigned_abs() * unit)
}

/// Scores of labels against the truth; objects that lack either do not count.
pub(crate) fn score(found: impl Iterator<Item = Option<usize>>, truth: &LabelColumn) -> Option<Scores> {
    let both = found.zip(&truth.values).filter_map(|(found, truth)| Some((found?, truth.as_deref()?)));
    let (found, truth): (Vec<usize>, Vec<&str>) = both.unzip();
    Scores::of(&Partition::from_values(&found), &Partition::from_values(&truth)).ok()
}
