//! The list of methods, what each is, and what can be refused before a method runs.

use partita::extend::{
    BaseClustering, Consensus, ConsensusError, KNOWN_AS, KnownAs, MethodError, MethodInfo,
    ProblemSize, SettingInfo, SettingMap, command, consensus_bytes,
};
use partita::{Clusters, MemoryBudget};
use serde_json::{Value, json};

use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;

/// The method where none is named.
pub const DEFAULT: &str = "lwgp";

/// The method where none is named and the number of clusters is left to it.
pub const DEFAULT_OF_OWN_CLUSTERS: &str = "eac-average";

/// The method of so many clusters where none is named.
pub fn usual(clusters: ClustersAsked) -> &'static str {
    if clusters == ClustersAsked::Method {
        DEFAULT_OF_OWN_CLUSTERS
    } else {
        DEFAULT
    }
}

/// Every consensus method, and the choice among them.
pub fn all() -> impl Iterator<Item = &'static dyn Consensus> {
    partita::METHODS
        .iter()
        .copied()
        .chain([&partita_select::BEST as &dyn Consensus])
}

/// The method of this name.
///
/// # Errors
/// [`AppError::Request`] with the nearest name.
pub fn find(name: &str) -> Result<&'static dyn Consensus, AppError> {
    if let Some(method) = all().find(|method| name_of(*method) == name) {
        return Ok(method);
    }
    partita::method(name).map_err(|reason| {
        if matches!(reason, MethodError::Feature { .. }) {
            return AppError::request(reason.to_string());
        }
        let reason = MethodError::unknown(name, all().map(name_of));
        let list = command("methods");
        AppError::request(format!("{reason} {list} lists them all"))
    })
}

/// Name of a method.
pub fn name_of(method: &dyn Consensus) -> &'static str {
    method.info().name
}

/// What a method is and which settings it has, as one JSON object.
pub fn describe(method: &dyn Consensus) -> Value {
    let (info, defaults) = (method.info(), method.default_settings());
    let setting = |setting: SettingInfo| {
        json!({
            "name": setting.name,
            "default": defaults[setting.name],
            "help": setting.help,
            "values": setting.values.to_string(),
            "aliases": setting.aliases,
        })
    };
    let (settings, can): (Vec<Value>, _) = (
        method.settings().into_iter().map(setting).collect(),
        info.capabilities,
    );
    json!({
        "name": info.name,
        "family": info.family,
        "summary": info.summary,
        "reference": info.reference,
        "reads": can.reads,
        "missing": can.missing,
        "soft": can.soft,
        "chooses_clusters": can.auto_clusters,
        "clusters_is_maximum": can.clusters_is_maximum,
        "weighted": can.base_weights.are_taken(),
        "soft_bases": can.soft_bases,
        "base_weights": can.base_weights,
        "object_weights": can.object_weights,
        "seeded": can.seeded,
        "tree": can.tree,
        "posterior": can.posterior,
        "predicts": can.predicts,
        "streams": can.streams,
        "start": can.start,
        "pairs": can.pairs,
        "time": info.time,
        "memory": info.memory,
        "settings": settings,
    })
}

/// Names from the literature and names of methods that have this text in their name, summary or reference.
pub fn search(text: &str) -> (Vec<&'static KnownAs>, Vec<&'static MethodInfo>) {
    let has = |words: &str| words.to_lowercase().contains(&text.to_lowercase());
    let told = |info: &&MethodInfo| has(info.name) || has(info.summary) || has(info.reference);
    let known = KNOWN_AS
        .iter()
        .filter(|known| known.matches(text))
        .collect();
    (known, all().map(Consensus::info).filter(told).collect())
}

/// The methods that give probabilities.
pub(crate) fn soft_names() -> String {
    let soft = all().filter(|method| is_soft(*method));
    soft.map(|method| method.info().name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a method gives probabilities.
pub(crate) fn is_soft(method: &dyn Consensus) -> bool {
    method.info().capabilities.soft
}

/// Refuses a problem that the method cannot solve, before anything is computed: settings it does not take, a number of
/// clusters it cannot give, more memory than there may be.
pub(crate) fn check(
    method: &dyn Consensus,
    settings: &SettingMap,
    (size, bases): (&ProblemSize, &[BaseClustering]),
    budget: MemoryBudget,
) -> Result<(), ConsensusError> {
    let fixed = method.fixed_clusters(settings, bases);
    let size = &fixed.map_or(*size, |clusters| ProblemSize {
        clusters,
        auto: false,
        ..*size
    });
    let (info, clusters) = (
        method.info(),
        if size.auto {
            Clusters::Auto
        } else {
            Clusters::Exactly(size.clusters)
        },
    );
    let bytes =
        consensus_bytes(method, settings, size).map_err(|source| ConsensusError::Settings {
            method: info.name,
            source,
        })?;
    if fixed.is_none() {
        info.check_clusters(clusters, size.objects)?;
    }
    Ok(budget.check(info.name, bytes, info.remedy)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest() {
        let error = find("pcc-lk")
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains("'pcc-lk'; did you mean pcc-kl?"), "{error}");
        assert!(find("best").is_ok());
    }

    #[test]
    fn what_cannot_be_solved_is_refused_before_it_is_tried() {
        let clusters = Clusters::Exactly(3);
        let mut size = ProblemSize::of_bases(100, &[], clusters);
        let refusal = |set: &str, size: &ProblemSize, budget: u64| {
            let settings = SettingMap::parse(&[set]).unwrap();
            let checked = check(
                find("ssce").unwrap(),
                &settings,
                (size, &[]),
                MemoryBudget::new(budget),
            );
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(refusal("gamma=1", &size, u64::MAX), Ok(()));
        assert!(
            refusal("gamma=-1", &size, u64::MAX)
                .unwrap_err()
                .contains("'gamma' is -1")
        );
        assert!(
            refusal("gama=1", &size, u64::MAX)
                .unwrap_err()
                .contains("'gama'")
        );
        assert!(
            refusal("gamma=1", &size, 10)
                .unwrap_err()
                .contains("memory budget")
        );
        size.clusters = 101;
        assert!(
            refusal("gamma=1", &size, u64::MAX)
                .unwrap_err()
                .contains("101 clusters")
        );
    }
}
