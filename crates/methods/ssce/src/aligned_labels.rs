//! Aligned labels: base clusterings under common names, which the classifiers learn.

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, BaseWeights, Ensemble, Memberships, SettingsError};
use partita_linkage::{Linkage, cut, link};
use partita_metrics::{Contingency, Surplus, align_to, best_reference};

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
        let exact = |u: usize| ensemble.bases()[u].clusters() == clusters;
        let reference = match named {
            Some(name) => Some(find(ensemble, name, clusters)?),
            None => best_reference(ensemble, weights, exact),
        };
        let (names, reference) = match reference {
            Some(reference) => {
                let alignment =
                    align_to(ensemble, reference, Surplus::Nearest).expect("the reference exists");
                let names = (0..ensemble.bases().len())
                    .map(|u| alignment.codes(u).to_vec())
                    .collect();
                (names, ensemble.bases()[reference].name().to_owned())
            }
            None => (
                groups(ensemble, clusters),
                "clusters of clusters".to_owned(),
            ),
        };
        let code =
            |(i, u): (usize, usize)| ensemble.label(i, u).map_or(MISSING, |j| names[u][j] as u16);
        let codes = Array2::from_shape_fn((ensemble.objects(), ensemble.bases().len()), code);
        Ok(Self {
            codes,
            soft: ensemble
                .memberships()
                .map(|shares| renamed(ensemble, shares, &names, clusters)),
            reference,
        })
    }
}

/// The shares of all objects under the names of their clusters, n × M K.
fn renamed(
    ensemble: &Ensemble,
    shares: &Memberships,
    names: &[Vec<u32>],
    clusters: usize,
) -> Array2<f64> {
    let (offsets, bases) = (ensemble.offsets(), names.len());
    let place = |u: usize, name: u32| u * clusters + name as usize;
    let places: Vec<usize> = (0..bases)
        .flat_map(|u| {
            names[u][..offsets[u + 1] - offsets[u]]
                .iter()
                .map(move |&name| place(u, name))
        })
        .collect();
    let mut table = Array2::zeros((ensemble.objects(), bases * clusters));
    for (object, mut line) in table.outer_iter_mut().enumerate() {
        let (own, values) = shares.row(object);
        own.iter()
            .zip(values)
            .for_each(|(&c, share)| line[places[c as usize]] += share);
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
    let found = found.map_or_else(
        || "there is none".into(),
        |found| format!("it has {}", bases[found].clusters()),
    );
    let remedy = match bases.iter().find(fits) {
        Some(base) => format!(
            "name a base clustering of at most {clusters} clusters, such as '{}'",
            base.name()
        ),
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
                let (i, j) = (offsets[a] + row, offsets[b] + column);
                condensed[side * i - i * (i + 1) / 2 + j - i - 1] =
                    1.0 - count as f64 / union as f64;
            }
        }
    }
    let tree = link(condensed, side, Linkage::Average)
        .expect("distances are finite and of the right number");
    let groups = cut(&tree, clusters);
    offsets
        .windows(2)
        .map(|ends| groups.labels()[ends[0]..ends[1]].to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn without_a_reference_clusters_are_clustered() {
        let mut builder = EnsembleBuilder::new(8);
        builder.push("halves", (0..8).map(|i| Some(i / 4))).unwrap();
        builder
            .push("quarters", (0..8).map(|i| Some(3 - i / 2)))
            .unwrap();
        builder
            .push("more", (0..8).map(|i| Some([0, 0, 0, 1, 1, 2, 2, 3][i])))
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let targets = Targets::new(&ensemble, None, 3, None).unwrap();
        assert_eq!(targets.reference, "clusters of clusters");
        assert!(targets.codes.iter().all(|&code| code < 3));
        assert_eq!(
            Targets::new(&ensemble, None, 2, None).unwrap().reference,
            "halves"
        );
    }

    #[test]
    fn a_named_reference_lends_its_names() {
        let mut builder = EnsembleBuilder::new(6);
        builder.push("a", [0, 0, 0, 1, 1, 1].map(Some)).unwrap();
        builder.push("b", [1, 1, 0, 0, 0, 0].map(Some)).unwrap();
        builder.push("c", [0, 1, 1, 1, 2, 2].map(Some)).unwrap();
        let ensemble = builder.finish().unwrap();
        for (u, name) in ["a", "b"].into_iter().enumerate() {
            let targets = Targets::new(&ensemble, None, 2, Some(name)).unwrap();
            let own: Vec<u16> = ensemble
                .column(u)
                .map(|label| label.unwrap() as u16)
                .collect();
            assert_eq!(
                (targets.codes.column(u).to_vec(), targets.reference.as_str()),
                (own, name)
            );
        }
        let refused = |name| {
            Targets::new(&ensemble, None, 2, Some(name))
                .unwrap_err()
                .to_string()
        };
        assert!(
            refused("d").contains("'d'")
                && refused("d").contains("none")
                && refused("d").contains("'a'")
        );
        assert!(refused("c").contains("it has 3;"));
        let none = Targets::new(&ensemble, None, 1, Some("a"))
            .unwrap_err()
            .to_string();
        assert!(none.contains("leave the reference out"), "{none}");
    }
}
