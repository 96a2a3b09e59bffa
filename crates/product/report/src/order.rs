//! An order of the objects for heat maps: clusters, and what is alike within them, stand together.

use partita_coassoc::vat_order;
use partita_core::{Ensemble, Silent};
use partita_linkage::{Linkage, leaf_order, link};

use crate::Report;
use crate::clusters::{Clusters, Profiles};

/// Objects up to which the order within clusters is that of VAT, which looks at all pairs.
const ALL_PAIRS: usize = 3_000;

/// Objects × base clusterings × clusters up to which the second nearest cluster takes part in the order.
const LOOKUPS: usize = 400_000_000;

/// Objects of the clusters shown, cluster by cluster.
pub(crate) struct Order {
    pub(crate) objects: Vec<u32>,
    /// For every cluster in this order, its index among those shown and where it ends.
    pub(crate) runs: Vec<(usize, usize)>,
    /// Whether this is the order of the tree's leaves.
    pub(crate) of_tree: bool,
}

impl Order {
    pub(crate) fn of(report: &Report<'_>, ensemble: &Ensemble, clusters: &Clusters) -> Self {
        if let Some(order) = of_tree(report, clusters) {
            return order;
        }
        let sequence = sequence(clusters);
        let all_pairs = report.n() <= ALL_PAIRS;
        let place = all_pairs.then(|| by_vat(ensemble)).flatten();
        let place = place.unwrap_or_else(|| by_affinity(ensemble, clusters, &sequence));
        let (mut objects, mut runs) = (Vec::with_capacity(report.n()), Vec::new());
        for at in sequence {
            let mut members = clusters.shown[at].members.clone();
            members.sort_by_key(|&i| (place[i as usize], i));
            objects.extend(members);
            runs.push((at, objects.len()));
        }
        Self {
            objects,
            runs,
            of_tree: false,
        }
    }
}

/// The order of the tree's leaves, where every cluster stands together in it.
fn of_tree(report: &Report<'_>, clusters: &Clusters) -> Option<Order> {
    let tree = report
        .dendrogram
        .filter(|_| clusters.shown.len() == clusters.live)?;
    let objects = leaf_order(tree);
    let label = |i: u32| report.partition.labels()[i as usize] as usize;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for run in objects.chunk_by(|&a, &b| label(a) == label(b)) {
        let at = clusters
            .shown
            .iter()
            .position(|cluster| cluster.label == label(run[0]))?;
        runs.push((at, runs.last().map_or(0, |last| last.1) + run.len()));
    }
    (runs.len() == clusters.live).then_some(Order {
        objects,
        runs,
        of_tree: true,
    })
}

/// The clusters shown, those that share much next to each other.
fn sequence(clusters: &Clusters) -> Vec<usize> {
    let shown = clusters.shown.len();
    let Some(evidence) = clusters.evidence.as_ref().filter(|_| shown > 2) else {
        return (0..shown).collect();
    };
    let apart = |a: usize, b: usize| match evidence[[a, b]] {
        together if together.is_finite() => 1.0 - together,
        _ => 1.0,
    };
    let pairs = (0..shown).flat_map(|a| (a + 1..shown).map(move |b| (a, b)));
    let condensed = pairs.map(|(a, b)| apart(a, b)).collect();
    match link(condensed, shown, Linkage::Average) {
        Ok(tree) => leaf_order(&tree)
            .into_iter()
            .map(|at| at as usize)
            .collect(),
        Err(_) => (0..shown).collect(),
    }
}

fn by_vat(ensemble: &Ensemble) -> Option<Vec<u64>> {
    let order = vat_order(ensemble, &Silent).ok()?;
    let mut place = vec![0; order.len()];
    for (at, &object) in order.iter().enumerate() {
        place[object as usize] = at as u64;
    }
    Some(place)
}

/// From the side that leans to the cluster before, over the core, to the side that leans to the cluster after.
fn by_affinity(ensemble: &Ensemble, clusters: &Clusters, sequence: &[usize]) -> Vec<u64> {
    let bases = ensemble.bases().len();
    let members = |&at: &usize| clusters.shown[at].members.as_slice();
    let groups: Vec<&[u32]> = sequence.iter().map(members).collect();
    let profiles = Profiles::of(ensemble, &groups);
    let neighbours = ensemble.objects().saturating_mul(bases).saturating_mul(3) <= LOOKUPS;
    let mut place = vec![0; ensemble.objects()];
    for (at, group) in groups.iter().enumerate() {
        for &i in *group {
            let with = |other: Option<usize>| {
                let other = other.filter(|&other| neighbours && other < groups.len());
                other.map_or(0.0, |other| profiles.with(i, other))
            };
            let (before, after) = (with(at.checked_sub(1)), with(Some(at + 1)));
            let own = profiles.with(i, at);
            // Largest leaning first: from the cluster before to the one after, the core between.
            let lean = if before > after {
                own - before
            } else {
                2.0 * bases as f64 - own + after
            };
            place[i as usize] = (lean.max(0.0) * 65_536.0) as u64;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Partition};
    use serde_json::Value;

    #[test]
    fn one_cluster_is_in_the_order_of_vat() {
        let mut builder = EnsembleBuilder::new(9);
        for u in 0..3 {
            let labels = (0..9).map(|i| Some((i * (u + 2) + u) % (u + 2)));
            builder.push(format!("u{u}"), labels).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let partition = Partition::new(vec![0; 9], 1).unwrap();
        let mut report = Report::new("", Value::Null, &partition, &[1.0; 9]);
        report.ensemble = Some(&ensemble);
        let order = Order::of(&report, &ensemble, &Clusters::of(&report));
        assert_eq!(order.objects, vat_order(&ensemble, &Silent).unwrap());
    }

    #[test]
    fn clusters_stand_together_and_nobody_is_lost() {
        for n in [12usize, 5_000] {
            let labels: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
            let mut builder = EnsembleBuilder::new(n);
            for u in 0..4 {
                let label = |i: usize| Some((labels[i] + u32::from(i % 7 == u)) % 3);
                builder.push("u", (0..n).map(label)).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let partition = Partition::new(labels.clone(), 3).unwrap();
            let agreement = vec![1.0; n];
            let mut report = Report::new("", Value::Null, &partition, &agreement);
            report.ensemble = Some(&ensemble);
            let order = Order::of(&report, &ensemble, &Clusters::of(&report));
            let mut seen = order.objects.clone();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..n as u32));
            assert_eq!(order.runs.last().unwrap().1, n);
            let runs = order
                .objects
                .chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]);
            assert_eq!(runs.count(), 3, "{n}");
        }
    }
}
