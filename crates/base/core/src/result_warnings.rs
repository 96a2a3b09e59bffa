//! Warnings that hold for every method: an iteration limit that was reached, clusters that are missing, base clusterings that
//! say nothing.

use serde_json::{Map, Value};

use crate::{BaseClustering, Clusters, Ensemble, MethodInfo, Stopped};

/// What is looked at of a result.
pub(crate) struct Found<'a> {
    pub(crate) info: &'static MethodInfo,
    /// All settings that the method ran with.
    pub(crate) settings: &'a Map<String, Value>,
    /// Clusters that were asked for.
    pub(crate) asked: Clusters,
    /// Different rows of labels, where they are known: more clusters there cannot be.
    pub(crate) distinct: Option<usize>,
    /// Clusters that have objects.
    pub(crate) live: usize,
    pub(crate) stopped: Stopped,
    /// Iterations that it took.
    pub(crate) iterations: u64,
}

impl Found<'_> {
    /// What a user should know, besides what the method says itself.
    pub(crate) fn warnings(&self) -> Vec<String> {
        [self.iteration_limit(), self.fewer()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Methods without a setting `iterations`, such as samplers, always end at a limit.
    fn iteration_limit(&self) -> Option<String> {
        let set = self
            .settings
            .get("iterations")
            .filter(|_| self.stopped == Stopped::IterationLimit)?;
        let iterations = set.as_u64().unwrap_or(self.iterations);
        Some(format!(
            "it stopped at its limit of {iterations} iterations, before it converged; set iterations higher"
        ))
    }

    fn fewer(&self) -> Option<String> {
        let Clusters::Exactly(asked) = self.asked else {
            return None;
        };
        match self.live {
            live if live >= asked => None,
            live if self.distinct == Some(live) => Some(format!(
                "the objects have {live} distinct {} of labels, and objects with the same row are never apart: {live} {}; {asked} were asked for",
                plural(live, "row"),
                plural(live, "cluster")
            )),
            1 => Some(format!(
                "all objects are in one cluster; {asked} were asked for"
            )),
            _ if self.info.capabilities.clusters_is_maximum => None,
            live => Some(format!(
                "{live} clusters have objects; {asked} were asked for"
            )),
        }
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{what}{}", if count == 1 { "" } else { "s" })
}

/// Adds what has not been said: a method that runs others says what they say.
pub(crate) fn add(warnings: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for warning in more {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// Said of base clusterings of one cluster each: nothing tells objects apart.
pub(crate) fn no_information(bases: &[BaseClustering]) -> Option<String> {
    let constant = bases.iter().all(|base| base.clusters() <= 1);
    constant
        .then(|| "every base clustering has one cluster: nothing tells the objects apart, labels are arbitrary".into())
}

/// Objects and pairs of base clusterings that agreement is measured on.
const OBJECTS: usize = 4096;
const PAIRS: usize = 16;

/// Standard deviations beyond which agreement is more than chance.
const CLEAR: f64 = 2.0;

/// Said of base clusterings whose labels agree no more than if they were permuted.
///
/// ```text
/// z = Σ (X² − n / (n − 1) · f) / √(Σ 2 f)
/// ```
/// over pairs of base clusterings; X² is Pearson's statistic of their contingency table, f its degrees of freedom and
/// n / (n − 1) · f its mean when labels are permuted.
///
/// # Cost
/// O(n ln n) for at most 16 pairs of base clusterings and 4096 objects.
pub(crate) fn agreement_by_chance(ensemble: &Ensemble) -> Option<String> {
    let (bases, objects) = (ensemble.bases().len(), ensemble.objects());
    if bases < 2 {
        return None;
    }
    let sample: Vec<usize> = (0..objects).step_by(objects.div_ceil(OBJECTS)).collect();
    let pairs = if bases == 2 { 1 } else { bases.min(PAIRS) };
    let (mut excess, mut freedom) = (0.0, 0.0);
    for pair in 0..pairs {
        let first = pair * bases / pairs;
        let (above, f) = excess_of_pair(ensemble, &sample, first, (first + 1) % bases);
        (excess, freedom) = (excess + above, freedom + f);
    }
    let chance = freedom > 0.0 && excess < CLEAR * (2.0 * freedom).sqrt();
    chance
        .then(|| "base clusterings agree no more than by chance: the consensus means little".into())
}

/// By how much X² of two base clusterings exceeds its mean, and the degrees of freedom.
fn excess_of_pair(ensemble: &Ensemble, objects: &[usize], u: usize, v: usize) -> (f64, f64) {
    let label = |object: usize| Some((ensemble.label(object, u)?, ensemble.label(object, v)?));
    let mut both: Vec<(usize, usize)> =
        objects.iter().filter_map(|&object| label(object)).collect();
    let sizes = |clusters: usize, of: fn(&(usize, usize)) -> usize| {
        let mut sizes = vec![0.0; clusters];
        both.iter().for_each(|pair| sizes[of(pair)] += 1.0);
        sizes
    };
    let bases = ensemble.bases();
    let (rows, columns) = (
        sizes(bases[u].clusters(), |pair| pair.0),
        sizes(bases[v].clusters(), |pair| pair.1),
    );
    let live = |sizes: &[f64]| sizes.iter().filter(|size| **size > 0.0).count() as f64;
    let (n, freedom) = (
        both.len() as f64,
        (live(&rows) - 1.0) * (live(&columns) - 1.0),
    );
    if freedom <= 0.0 || n < 2.0 {
        return (0.0, 0.0);
    }
    both.sort_unstable();
    let cells = both
        .chunk_by(|a, b| a == b)
        .map(|cell| (cell.len() as f64).powi(2) / (rows[cell[0].0] * columns[cell[0].1]));
    let statistic = n * cells.sum::<f64>() - n;
    (statistic - n / (n - 1.0) * freedom, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnsembleBuilder, Seed};
    use rand::RngExt;

    /// Base clusterings of 4 clusters; each label is that of the object's group with this chance, else any.
    fn ensemble(objects: usize, bases: usize, right: f64, seed: u64) -> Ensemble {
        let (mut builder, mut rng) = (EnsembleBuilder::new(objects), Seed::new(seed).rng());
        for u in 0..bases {
            let mut label = |i: usize| {
                if rng.random::<f64>() < right {
                    i % 4
                } else {
                    rng.random_range(0..4)
                }
            };
            let labels: Vec<Option<usize>> = (0..objects).map(|i| Some(label(i))).collect();
            builder.push(u.to_string(), labels).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn chance_is_told_from_agreement() {
        let said = |objects, bases, right| {
            (0..100)
                .filter(|&seed| {
                    agreement_by_chance(&ensemble(objects, bases, right, seed)).is_some()
                })
                .count()
        };
        assert!(said(200, 10, 0.0) >= 95 && said(5000, 2, 0.0) >= 90 && said(20, 3, 0.0) >= 90);
        assert_eq!(
            (said(200, 10, 0.5), said(5000, 2, 0.3), said(20, 3, 0.9)),
            (0, 0, 0)
        );
    }

    #[test]
    fn single_objects_and_one_cluster_say_nothing() {
        let build = |label: fn(usize) -> usize| {
            let mut builder = EnsembleBuilder::new(50);
            (0..4).for_each(|u| {
                builder
                    .push(u.to_string(), (0..50).map(|i| Some(label(i))))
                    .unwrap();
            });
            builder.finish().unwrap()
        };
        assert!(agreement_by_chance(&build(|i| i)).is_some());
        let constant = build(|_| 0);
        assert!(
            agreement_by_chance(&constant).is_none() && no_information(constant.bases()).is_some()
        );
        let halves = build(|i| i / 25);
        assert!(agreement_by_chance(&halves).is_none() && no_information(halves.bases()).is_none());
    }
}
