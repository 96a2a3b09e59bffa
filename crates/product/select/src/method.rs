//! The choice among methods as a method of its own.

use std::num::Saturating;

use partita_core::{
    Capabilities, Consensus, FitError, MemoryBudget, Method, MethodInfo, Monitor, Outcome, Problem,
    ProblemSize, SettingMap, Settings, SettingsError, Weights,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BestCriterion, Entry, SelectError, best};

/// Settings of [`BEST`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct BestSettings {
    /// Names of the methods that are tried, with commas between them.
    pub among: String,
    /// What they are measured by: agreement with what the other methods find, or with the base clusterings (ANMI).
    pub criterion: BestCriterion,
}

impl Default for BestSettings {
    fn default() -> Self {
        Self {
            // Those that this program has.
            among: "eac-average,lwea,pcc-l2,lwgp,hbgf,mcla,mm,qmi"
                .split(',')
                .filter(|name| partita::method(name).is_ok())
                .collect::<Vec<_>>()
                .join(","),
            criterion: BestCriterion::default(),
        }
    }
}

impl BestSettings {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.among
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
    }

    /// The methods that are named.
    fn methods(&self) -> Result<Vec<&'static dyn Consensus>, SettingsError> {
        let refused = |reason| SettingsError::value("among", &self.among, reason);
        let mut methods: Vec<&'static dyn Consensus> = Vec::new();
        for name in self.names() {
            let method = partita::method(name).map_err(|error| refused(error.to_string()))?;
            // A method that is there twice would agree with itself.
            if methods
                .iter()
                .any(|other| other.info().name == method.info().name)
            {
                return Err(refused(format!("'{name}' is named twice")));
            }
            methods.push(method);
        }
        Ok(methods)
    }

    fn check_together(&self, _size: &ProblemSize) -> Result<(), SettingsError> {
        self.methods().map(drop)
    }
}

/// Facts about a choice among methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BestDiagnostics {
    /// What the method chosen says of itself.
    #[serde(flatten)]
    pub details_of_chosen: Map<String, Value>,
    /// Name of the method chosen.
    pub chosen: &'static str,
    /// The settings it ran with.
    pub settings_of_chosen: Map<String, Value>,
    /// What became of every method tried.
    pub table: Vec<Entry>,
}

/// [`best`] as a method.
#[derive(Debug)]
pub struct BestOf;

/// The method, of a list, whose consensus agrees most with those of the others, [`best`].
pub static BEST: BestOf = BestOf;

static INFO: MethodInfo = MethodInfo {
    name: "best",
    family: "select",
    summary: "runs several methods and keeps the one whose consensus agrees most with those of the others",
    reference: "Strehl and Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR \
                3, 2002",
    time: "that of all methods tried",
    memory: "that of the hungriest method tried, and the results of all",
    remedy: "sample the objects",
    capabilities: Capabilities {
        auto_clusters: true,
        clusters_is_maximum: true,
        seeded: true,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        ..Capabilities::HARD_LABELS
    },
};

impl Method for BestOf {
    type Settings = BestSettings;
    type Diagnostics = BestDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    /// Each method tried says its own, and one that does not fit is left out.
    fn bytes(&self, size: &ProblemSize, settings: &BestSettings) -> u64 {
        let [n, m, _, k] = size.saturating();
        let results =
            Saturating(settings.names().count() as u64) * (k + Saturating(2)) * Saturating(8);
        (n * (m + results)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &BestSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<BestDiagnostics>, FitError> {
        let mut inner = problem.clone().settings(SettingMap::default());
        let own = Method::bytes(self, &problem.size(), settings);
        inner.budget = MemoryBudget::new(problem.budget.bytes().saturating_sub(own));
        let found =
            best(&settings.methods()?, &inner, settings.criterion, monitor).map_err(|error| {
                match error {
                    SelectError::Interrupted => FitError::Interrupted,
                    other => FitError::other(other),
                }
            })?;
        let (chosen, table, mut outcome) = (found.method(), found.table, found.outcome);
        // Another method may have been chosen with probabilities on one seed and without on the next.
        outcome.soft = None;
        let settings_of_chosen = std::mem::take(&mut outcome.settings);
        Ok(outcome.map_details(|details_of_chosen| BestDiagnostics {
            details_of_chosen,
            chosen,
            settings_of_chosen,
            table,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Clusters, EnsembleBuilder, Silent, consense};

    #[test]
    fn the_one_that_agrees_most_is_chosen_and_all_are_listed() {
        let mut builder = EnsembleBuilder::new(9);
        builder
            .push("a", [0, 0, 0, 1, 1, 1, 2, 2, 2].map(Some))
            .unwrap();
        builder
            .push("b", [0, 0, 0, 1, 1, 1, 2, 2, 1].map(Some))
            .unwrap();
        builder
            .push("c", [0, 0, 1, 1, 1, 1, 2, 2, 2].map(Some))
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let mut problem = Problem::new(&ensemble, Clusters::Exactly(3));
        let outcome = consense(&BEST, &problem, &Silent).unwrap();
        assert_eq!(
            outcome.partition.by_appearance().labels(),
            [0, 0, 0, 1, 1, 1, 2, 2, 2]
        );
        assert_eq!(outcome.details["table"].as_array().unwrap().len(), 8);
        let refusal =
            |problem: &Problem<'_>| consense(&BEST, problem, &Silent).unwrap_err().to_string();
        problem.settings = SettingMap::parse(&["among=mm,no-such"]).unwrap();
        assert!(refusal(&problem).contains("no-such"));
        problem.settings = SettingMap::parse(&["among=lwgp,lwgp,hbgf"]).unwrap();
        assert!(
            refusal(&problem).contains("'lwgp' is named twice"),
            "{}",
            refusal(&problem)
        );
        problem.settings = SettingMap::parse(&["among=,"]).unwrap();
        assert!(
            refusal(&problem).contains("no method"),
            "{}",
            refusal(&problem)
        );
        problem.settings = SettingMap::parse(&["among=ssce"]).unwrap();
        assert!(refusal(&problem).contains("table"), "{}", refusal(&problem));
    }
}
