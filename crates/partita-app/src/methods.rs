//! The list of methods, and what can be refused before a method runs.

use partita::ndarray::array;
use partita::{
    Clusters, Consensus, ConsensusError, EnsembleBuilder, Features, MemoryBudget, Problem, ProblemSize, SettingsError,
    Silent,
};

use crate::{AppError, MethodChoice};

/// Every consensus method, and the choice among them.
pub fn all() -> impl Iterator<Item = &'static dyn Consensus> {
    partita::METHODS.iter().copied().chain([&partita_select::BEST as &dyn Consensus])
}

/// The method of this name.
///
/// # Errors
/// [`AppError::Request`] with the nearest name.
pub fn find(name: &str) -> Result<&'static dyn Consensus, AppError> {
    all().find(|method| name_of(*method) == name).ok_or_else(|| {
        let nearest = all().map(name_of).max_by(|a, b| strsim::jaro(name, a).total_cmp(&strsim::jaro(name, b)));
        let nearest = nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
        AppError::request(format!("there is no method '{name}'{nearest} `partita methods` lists them all"))
    })
}

/// Name of a method.
pub fn name_of(method: &dyn Consensus) -> &'static str {
    method.card().name
}

/// Whether a method gives probabilities.
pub(crate) fn is_soft(method: &dyn Consensus) -> bool {
    method.card().soft
}

/// Refuses settings that the method does not take, whatever the ensemble is: the method is asked for the consensus of
/// four objects with them. What else it says of so few is ignored.
pub(crate) fn check_settings(method: &dyn Consensus, choice: &MethodChoice) -> Result<(), AppError> {
    let mut builder = EnsembleBuilder::new(4);
    for name in ["a", "b"] {
        builder.push(name, [0, 0, 1, 1].map(Some))?;
    }
    let ensemble = builder.finish()?;
    let (columns, values) = (["x".to_owned()], array![[0.0], [1.0], [8.0], [9.0]]);
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(2));
    (problem.features, problem.settings) = (Features::new(&columns, values.view()).ok(), choice.pairs()?);
    match partita::consense(method, &problem, &Silent) {
        Err(ConsensusError::Settings { source: SettingsError::Unfit { .. }, .. }) => Ok(()),
        Err(error @ ConsensusError::Settings { .. }) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Refuses a number of clusters that the method cannot give of so many objects.
pub(crate) fn check_clusters(method: &dyn Consensus, clusters: Clusters, objects: usize) -> Result<(), ConsensusError> {
    method.card().check_clusters(clusters, objects)
}

/// Refuses a problem of which the method would hold more than the budget.
pub(crate) fn check_budget(method: &dyn Consensus, size: &ProblemSize, budget: MemoryBudget) -> Result<(), AppError> {
    let card = method.card();
    Ok(budget.check(card.name, (card.bytes)(size), card.remedy)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest() {
        let error = find("pcc-lk").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("'pcc-lk'; did you mean pcc-kl?"), "{error}");
        assert!(find("best").is_ok());
    }

    #[test]
    fn settings_are_refused_before_anything_is_read() {
        let mut choice = MethodChoice::new("ssce");
        choice.set("gamma=-1").unwrap();
        let refusal = |choice: &MethodChoice| {
            let method = find(&choice.name).unwrap();
            check_settings(method, choice).map_err(|error| error.to_string())
        };
        assert!(refusal(&choice).unwrap_err().contains("'gamma' is -1"));
        choice.set("gamma=1").unwrap();
        assert_eq!(refusal(&choice), Ok(()));
    }
}
