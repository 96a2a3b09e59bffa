//! Aligned labels: base clusterings under common names, which the classifiers learn.

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, BaseWeights, Ensemble, Memberships, Partition, SettingsError};
use partita_linkage::{Linkage, cut, link};
use partita_metrics::{
    Alignment, Contingency, Surplus, align_to, align_to_partition, best_reference,
};

use crate::SsceError;

/// A label that is not there.
pub(crate) const MISSING: u16 = u16::MAX;

/// Labels of all base clusterings in 0..K, n × M, and whose labels they are.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    pub(crate) codes: Array2<u16>,
    /// Shares under these names where base clusterings are soft, n × M K; zeros where nothing is known.
    pub(crate) soft: Option<Array2<f64>>,
    pub(crate) reference: String,
}

impl Targets {
    /// Aligns all base clusterings to the one that is named, or else to the one into K clusters that overlaps most with all.
    /// Where none has K clusters, the clusters of all of them are themselves clustered into K by average linkage on
    /// their Jaccard distances. Soft base clusterings are aligned by the labels of their largest shares.
    pub(crate) fn new(
        ensemble: &Ensemble,
        weights: Option<&BaseWeights>,
        clusters: usize,
        named: Option<&str>,
    ) -> Result<Self, SsceError> {
        let bases = ensemble.bases();
        let reference = match named {
            Some(name) => Some(find(ensemble, name, clusters)?),
            None => best_reference(ensemble, weights, |u| bases[u].clusters() == clusters),
        };
        let (names, reference) = match reference {
            Some(reference) => {
                let alignment =
                    align_to(ensemble, reference, Surplus::Nearest).expect("the reference exists");
                (names_of(&alignment, bases), bases[reference].name())
            }
            None => (groups(ensemble, clusters), "clusters of clusters"),
        };
        Ok(Self::of(ensemble, &names, clusters, reference))
    }

    /// Under these names of the clusters of every base clustering.
    fn of(ensemble: &Ensemble, names: &[Vec<u32>], clusters: usize, reference: &str) -> Self {
        let shape = (ensemble.objects(), names.len());
        let codes = Array2::from_shape_fn(shape, |(i, u)| {
            ensemble.label(i, u).map_or(MISSING, |j| names[u][j] as u16)
        });
        let shares = ensemble.memberships();
        Self {
            codes,
            soft: shares.map(|shares| renamed(ensemble, shares, names, clusters)),
            reference: reference.to_owned(),
        }
    }

    /// The same under the names that a partition of the objects gives.
    pub(crate) fn named_by(&self, ensemble: &Ensemble, partition: &Partition) -> Self {
        let alignment = align_to_partition(ensemble, partition, Surplus::Nearest)
            .expect("a partition of these objects");
        let names = names_of(&alignment, ensemble.bases());
        Self::of(ensemble, &names, partition.clusters(), &self.reference)
    }

    /// How many base clusterings have other labels there.
    pub(crate) fn changed(&self, other: &Self) -> usize {
        let columns = self.codes.columns().into_iter().zip(other.codes.columns());
        columns.filter(|(one, other)| one != other).count()
    }
}

fn names_of(alignment: &Alignment, bases: &[BaseClustering]) -> Vec<Vec<u32>> {
    let bases = 0..bases.len();
    bases.map(|u| alignment.codes(u).to_vec()).collect()
}

/// The shares of all objects under the names of their clusters, n × M K.
fn renamed(
    ensemble: &Ensemble,
    shares: &Memberships,
    names: &[Vec<u32>],
    clusters: usize,
) -> Array2<f64> {
    let mut places = Vec::new();
    for (u, (names, ends)) in names.iter().zip(ensemble.offsets().windows(2)).enumerate() {
        let own = names[..ends[1] - ends[0]].iter();
        places.extend(own.map(|&name| u * clusters + name as usize));
    }
    let mut table = Array2::zeros((ensemble.objects(), names.len() * clusters));
    for (object, mut line) in table.outer_iter_mut().enumerate() {
        let (own, values) = shares.row(object);
        for (&c, share) in own.iter().zip(values) {
            line[places[c as usize]] += share;
        }
    }
    table
}

/// The base clustering of a name, which may have at most K clusters.
fn find(ensemble: &Ensemble, name: &str, clusters: usize) -> Result<usize, SettingsError> {
    let bases = ensemble.bases();
    let fits = |base: &&BaseClustering| base.clusters() <= clusters;
    let found = bases.iter().position(|base| base.name() == name);
    if let Some(found) = found.filter(|&found| fits(&&bases[found])) {
        return Ok(found);
    }
    let found = match found {
        Some(found) => format!("it has {}", bases[found].clusters()),
        None => "there is none".into(),
    };
    let few = format!("base clustering of at most {clusters} clusters");
    let remedy = match bases.iter().find(fits) {
        Some(base) => format!("name a {few}, such as '{}'", base.name()),
        None => {
            format!("no base clustering has at most {clusters} clusters: leave the reference out")
        }
    };
    Err(SettingsError::Unfit {
        name: "reference",
        value: name.to_owned(),
        reason: format!("{found}; {remedy}"),
    })
}

/// A group in 0..K for every cluster of every base clustering.
fn groups(ensemble: &Ensemble, clusters: usize) -> Vec<Vec<u32>> {
    let offsets = ensemble.offsets();
    let side = offsets[offsets.len() - 1];
    let mut condensed = vec![1.0; side * (side - 1) / 2];
    for a in 0..ensemble.bases().len() {
        for b in a + 1..ensemble.bases().len() {
            let Ok(table) = Contingency::of_bases(ensemble, a, b) else {
                continue;
            };
            for (row, column, count) in table.cells() {
                let union = table.row_sizes()[row] + table.column_sizes()[column] - count;
                let i = offsets[a] + row;
                let j = offsets[b] + column;
                let place = side * i - i * (i + 1) / 2 + j - i - 1;
                condensed[place] = 1.0 - count as f64 / union as f64;
            }
        }
    }
    let tree = link(condensed, side, Linkage::Average)
        .expect("distances are finite and of the right number");
    let groups = cut(&tree, clusters);
    let bases = offsets.windows(2);
    bases
        .map(|ends| groups.labels()[ends[0]..ends[1]].to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::ensemble;

    #[test]
    fn without_a_reference_clusters_are_clustered() {
        let ensemble = ensemble([
            ("halves".into(), [0, 0, 0, 0, 1, 1, 1, 1].map(Some).into()),
            ("quarters".into(), [3, 3, 2, 2, 1, 1, 0, 0].map(Some).into()),
            ("more".into(), [0, 0, 0, 1, 1, 2, 2, 3].map(Some).into()),
        ]);
        let targets = Targets::new(&ensemble, None, 3, None).unwrap();
        assert_eq!(targets.reference, "clusters of clusters");
        assert!(targets.codes.iter().all(|&code| code < 3));
        let targets = Targets::new(&ensemble, None, 2, None).unwrap();
        assert_eq!(targets.reference, "halves");
    }

    #[test]
    fn a_named_reference_lends_its_names() {
        let ensemble = ensemble([
            ("a".into(), [0, 0, 0, 1, 1, 1].map(Some).into()),
            ("b".into(), [1, 1, 0, 0, 0, 0].map(Some).into()),
            ("c".into(), [0, 1, 1, 1, 2, 2].map(Some).into()),
        ]);
        for (u, name) in ["a", "b"].into_iter().enumerate() {
            let targets = Targets::new(&ensemble, None, 2, Some(name)).unwrap();
            let own = ensemble.column(u).map(|label| label.unwrap() as u16);
            assert!(targets.codes.column(u).iter().copied().eq(own));
            assert_eq!(targets.reference, name);
        }
        for (name, clusters, parts) in [
            ("d", 2, &["'d'", "none", "'a'"][..]),
            ("c", 2, &["it has 3;"]),
            ("a", 1, &["leave the reference out"]),
        ] {
            let refused = Targets::new(&ensemble, None, clusters, Some(name)).unwrap_err();
            let message = refused.to_string();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}
