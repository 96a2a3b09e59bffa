//! The choice as a [`Consensus`] of its own.

use partita_core::{
    Consensus, ConsensusError, MethodCard, MissingLabels, Monitor, Outcome, Problem, Reads, SettingHelp, SettingPairs,
    SettingsError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{SelectError, best};

/// Settings of [`BEST`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BestSettings {
    /// Names of the methods that are tried, with commas between them.
    pub among: String,
}

impl Default for BestSettings {
    fn default() -> Self {
        Self { among: "eac-average,lwea,pcc-l2,lwgp,hbgf,mcla,mm,qmi".into() }
    }
}

/// The method, of a list, that agrees most with the ensemble, as a method.
#[derive(Debug)]
pub struct BestOf;

/// The method, of a list, that agrees most with the ensemble. Details: `chosen`, and the `table` of all.
pub static BEST: BestOf = BestOf;

impl Consensus for BestOf {
    fn card(&self) -> &'static MethodCard {
        &MethodCard {
            name: "best",
            family: "select",
            summary: "runs several methods and keeps the one with the highest mean NMI to the base clusterings",
            reference: "Strehl and Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple \
                        partitions, JMLR 3, 2002",
            reads: Reads::Labels,
            missing: MissingLabels::Handled,
            soft: false,
            chooses_clusters: true,
            clusters_is_maximum: true,
            weighted: false,
            seeded: true,
            certainty: "that of the method chosen",
            time: "that of all methods tried",
            memory: "that of the method that needs most tried",
            // Each method tried says its own, and one that does not fit is left out.
            bytes: |size| (size.objects * size.base_clusterings) as u64,
            remedy: "sample the objects",
            settings: &[SettingHelp {
                name: "among",
                help: "names of the methods that are tried, with commas between them",
            }],
        }
    }

    fn default_settings(&self) -> Value {
        json!(BestSettings::default())
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        const NAME: &str = "best";
        let failed = |source: SelectError| match source {
            SelectError::Interrupted => ConsensusError::Interrupted,
            other => ConsensusError::Method { method: NAME, source: Box::new(other) },
        };
        let wrong = |error: SettingsError| error.of(NAME);
        let settings: BestSettings = problem.settings.apply().map_err(wrong)?;
        let names = settings.among.split(',').map(str::trim).filter(|name| !name.is_empty());
        let unknown = |name: &str| {
            let reason = format!("there is no method '{name}'");
            wrong(SettingsError::value("among", &settings.among, reason))
        };
        let known = |name: &str| partita::method(name).ok_or_else(|| unknown(name));
        let methods = names.map(known).collect::<Result<Vec<_>, _>>()?;
        let mut inner = problem.clone();
        inner.settings = SettingPairs::default();
        let chosen = best(&methods, &inner, monitor).map_err(failed)?;
        let name = chosen.method();
        let mut outcome = chosen.outcome;
        outcome.details.insert("chosen".into(), json!(name));
        outcome.details.insert("settings_of_chosen".into(), outcome.settings);
        outcome.details.insert("table".into(), json!(chosen.table));
        outcome.settings = json!(settings);
        // Another method may have been chosen with probabilities on one seed and without on the next.
        outcome.soft = None;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Clusters, EnsembleBuilder, Silent, consense};

    #[test]
    fn the_one_that_agrees_most_is_chosen_and_all_are_listed() {
        let mut builder = EnsembleBuilder::new(9);
        builder.push("a", [0, 0, 0, 1, 1, 1, 2, 2, 2].map(Some)).unwrap();
        builder.push("b", [0, 0, 0, 1, 1, 1, 2, 2, 1].map(Some)).unwrap();
        builder.push("c", [0, 0, 1, 1, 1, 1, 2, 2, 2].map(Some)).unwrap();
        let ensemble = builder.finish().unwrap();
        let mut problem = Problem::new(&ensemble, Clusters::Exactly(3));
        let outcome = consense(&BEST, &problem, &Silent).unwrap();
        assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(outcome.details["table"].as_array().unwrap().len(), 8);
        let refusal = |problem: &Problem<'_>| consense(&BEST, problem, &Silent).unwrap_err().to_string();
        problem.settings = SettingPairs::parse(&["among=mm,no-such"]).unwrap();
        assert!(refusal(&problem).contains("no-such"));
        problem.settings = SettingPairs::parse(&["among=,"]).unwrap();
        assert!(refusal(&problem).contains("no method"), "{}", refusal(&problem));
        problem.settings = SettingPairs::parse(&["among=ssce"]).unwrap();
        assert!(refusal(&problem).contains("table"), "{}", refusal(&problem));
    }

    #[test]
    fn it_keeps_what_its_card_promises() {
        assert!(partita_conformance::check(&BEST) > 500);
    }
}
