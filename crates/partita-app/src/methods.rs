//! The list of methods, and what can be refused before a method runs.

use partita::{Clusters, Consensus, ConsensusError, MemoryBudget, ProblemSize, SettingMap};

use crate::AppError;

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
    method.info().name
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
    size: &ProblemSize,
    budget: MemoryBudget,
) -> Result<(), ConsensusError> {
    let (info, clusters) = (method.info(), if size.auto { Clusters::Auto } else { Clusters::Exactly(size.clusters) });
    let bytes =
        method.bytes(settings, size).map_err(|source| ConsensusError::Settings { method: info.name, source })?;
    info.check_clusters(clusters, size.objects)?;
    Ok(budget.check(info.name, bytes, info.remedy)?)
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
    fn what_cannot_be_solved_is_refused_before_it_is_tried() {
        let clusters = Clusters::Exactly(3);
        let mut size = ProblemSize::of_bases(100, &[], clusters);
        let refusal = |set: &str, size: &ProblemSize, budget: u64| {
            let settings = SettingMap::parse(&[set]).unwrap();
            let checked = check(find("ssce").unwrap(), &settings, size, MemoryBudget::new(budget));
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(refusal("gamma=1", &size, u64::MAX), Ok(()));
        assert!(refusal("gamma=-1", &size, u64::MAX).unwrap_err().contains("'gamma' is -1"));
        assert!(refusal("gama=1", &size, u64::MAX).unwrap_err().contains("'gama'"));
        assert!(refusal("gamma=1", &size, 10).unwrap_err().contains("memory budget"));
        size.clusters = 101;
        assert!(refusal("gamma=1", &size, u64::MAX).unwrap_err().contains("101 clusters"));
    }
}
