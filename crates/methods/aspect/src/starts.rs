//! Initializations of EM: cuts of trees, base clusterings, Dirichlet draws.

use partita_core::ndarray::Array2;
use partita_core::{Dendrogram, Flow, Monitor, Seed, SoftPartition, WeightedEnsemble};
use partita_kmeans::labels::quick_partition;
use partita_linkage::cut;
use rand_distr::{Distribution, Exp1};

use crate::aspects::Aspects;
use crate::counts::DyadCounts;

/// Base clusterings that are tried as starts.
const CANDIDATES: usize = 12;

/// Probability that a soft start gives an object's own cluster.
const OWN: f64 = 0.9;

/// A start and what to call it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Start {
    /// How it was made.
    pub name: String,
    /// Where it is.
    pub aspects: Aspects,
}

impl Start {
    /// A start with a name of its own.
    pub fn new(name: impl Into<String>, aspects: Aspects) -> Self {
        Self {
            name: name.into(),
            aspects,
        }
    }

    /// Distributions over the objects drawn from Dirichlet(1), and equal shares.
    pub fn random(name: impl Into<String>, objects: usize, clusters: usize, seed: Seed) -> Self {
        let mut rng = seed.rng();
        let mut members =
            Array2::from_shape_simple_fn((clusters, objects), || -> f64 { Exp1.sample(&mut rng) });
        for mut row in members.outer_iter_mut() {
            let sum = row.sum();
            row.mapv_inplace(|b| b / sum);
        }
        let shares = vec![1.0 / clusters as f64; clusters];
        Self::new(
            name,
            Aspects::new(&shares, members.view()).expect("rows were divided by their sums"),
        )
    }

    /// A partition made soft: 0.9 on every object's cluster, the rest shared by the others; objects without a cluster
    /// have an equal part in all.
    ///
    /// # Panics
    /// If a label is not below `clusters`.
    pub fn softened(name: impl Into<String>, labels: &[Option<u32>], clusters: usize) -> Self {
        let rest = (1.0 - OWN) / (clusters.max(2) - 1) as f64;
        let mut rows = Array2::from_elem((labels.len(), clusters), rest);
        for (mut row, label) in rows.outer_iter_mut().zip(labels) {
            match label {
                Some(label) if clusters > 1 => row[*label as usize] = OWN,
                _ => row.fill(1.0 / clusters as f64),
            }
        }
        Self::new(
            name,
            Aspects::of(&SoftPartition::new(rows).expect("0.9 and the rest make 1")),
        )
    }
}

/// What starts are made from besides chance.
#[derive(Clone, Debug)]
pub(crate) struct Guide<'a> {
    pub(crate) source: WeightedEnsemble<'a>,
    /// Trees of 1 − c/N by the name of their linkage, where they were grown.
    pub(crate) trees: Vec<(&'static str, Dendrogram)>,
}

impl Guide<'_> {
    /// A cut of every tree, or base clusterings where there is none, and `restarts` random starts; fewer of these once the monitor asks to
    /// stop.
    pub(crate) fn starts(
        &self,
        counts: &DyadCounts,
        clusters: usize,
        restarts: u32,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Vec<Start> {
        let times = counts.copies.as_ref().map(|copies| &copies.times[..]);
        let of_tree = |(name, tree): &(&str, Dendrogram)| {
            weighed(of_tree(name, tree, clusters, times), times)
        };
        let mut starts: Vec<Start> = self.trees.iter().map(of_tree).collect();
        if starts.is_empty() {
            starts = self.bases(counts, clusters, seed);
        }
        let going = |_: &u64| monitor.flow() == Flow::Continue;
        for restart in (1..=u64::from(restarts)).take_while(going) {
            let name = format!("dirichlet {restart}");
            starts.push(Start::random(
                name,
                self.source.ensemble.objects(),
                clusters,
                seed.child(restart),
            ));
        }
        starts
    }

    /// The two most likely of k-means on label rows and of the base clusterings with the numbers of clusters nearest to K. Where one has
    /// more than K clusters the largest are kept.
    fn bases(&self, counts: &DyadCounts, clusters: usize, seed: Seed) -> Vec<Start> {
        let bases = self.source.ensemble.bases();
        let mut order: Vec<usize> = (0..bases.len()).collect();
        order.sort_by_key(|&u| (bases[u].clusters().abs_diff(clusters), u));
        let times = counts.copies.as_ref().map(|copies| &copies.times[..]);
        let value = |start: Start| {
            let start = weighed(start, times);
            (start.aspects.log_likelihood(counts), start)
        };
        let candidates = order.into_iter().take(CANDIDATES);
        let starts = candidates
            .map(|u| self.base(u, clusters))
            .chain([label_kmeans(self.source, clusters, seed)]);
        let mut valued: Vec<(f64, Start)> = starts.map(value).collect();
        valued.sort_by(|a, b| b.0.total_cmp(&a.0));
        valued.into_iter().take(2).map(|(_, start)| start).collect()
    }

    fn base(&self, u: usize, clusters: usize) -> Start {
        let base = &self.source.ensemble.bases()[u];
        let mut sizes = vec![0usize; base.clusters()];
        self.source
            .ensemble
            .column(u)
            .flatten()
            .for_each(|j| sizes[j] += 1);
        let mut largest: Vec<usize> = (0..sizes.len()).collect();
        largest.sort_by_key(|&j| (std::cmp::Reverse(sizes[j]), j));
        let mut rank = vec![0; sizes.len()];
        largest.iter().enumerate().for_each(|(at, &j)| rank[j] = at);
        let kept = |j: usize| Some(rank[j] as u32).filter(|&k| (k as usize) < clusters);
        let labels: Vec<Option<u32>> = self
            .source
            .ensemble
            .column(u)
            .map(|j| j.and_then(kept))
            .collect();
        Start::softened(format!("base {}", base.name()), &labels, clusters)
    }
}

/// The start of objects that stand for so many.
fn weighed(start: Start, times: Option<&[f64]>) -> Start {
    let Some(times) = times else { return start };
    Start {
        aspects: start.aspects.of_copies(times),
        ..start
    }
}

/// K-means on label rows, a consensus that is cheap at any size.
fn label_kmeans(source: WeightedEnsemble<'_>, clusters: usize, seed: Seed) -> Start {
    let partition = quick_partition(source, clusters, seed.child(LABEL_KMEANS));
    let labels: Vec<Option<u32>> = partition.labels().iter().copied().map(Some).collect();
    Start::softened("k-means on labels", &labels, clusters)
}

/// The child of the seed that starts k-means on labels; random starts have small numbers.
const LABEL_KMEANS: u64 = u64::MAX - 1;

/// The first cut of a tree into K clusters of two objects or more, since a cluster of one draws no pair; objects left over have
/// an equal part in all. Where no cut has K of them, the cut into K clusters. An object counts as often as `times` says.
fn of_tree(name: &str, tree: &Dendrogram, clusters: usize, times: Option<&[f64]>) -> Start {
    let times = |object: usize| times.map_or(1.0, |times| times[object]);
    let whole =
        |node: u32| usize::from(node as usize >= tree.objects() || times(node as usize) >= 2.0);
    let root = tree.merges().len().min(1);
    let undone = tree.merges().iter().rev().scan(root, |count, merge| {
        *count = *count + whole(merge.left) + whole(merge.right) - 1;
        Some(*count)
    });
    let at = std::iter::once(root)
        .chain(undone)
        .position(|count| count == clusters);
    let (partition, least) =
        at.map_or_else(|| (cut(tree, clusters), 0.0), |at| (cut(tree, at + 1), 2.0));
    let mut sizes = vec![0.0; partition.clusters()];
    partition
        .labels()
        .iter()
        .enumerate()
        .for_each(|(i, &label)| sizes[label as usize] += times(i));
    let mut next = 0..;
    let names: Vec<Option<u32>> = sizes
        .iter()
        .map(|&size| if size < least { None } else { next.next() })
        .collect();
    let labels: Vec<Option<u32>> = partition
        .labels()
        .iter()
        .map(|&label| names[label as usize])
        .collect();
    Start::softened(name, &labels, clusters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Merge;

    #[test]
    fn a_cut_has_clusters_that_draw_pairs() {
        // Objects 0 and 1, 2 and 3 merge; object 4 is far from all.
        let merge = |left, right, height, size| Merge {
            left,
            right,
            height,
            size,
        };
        let merges = vec![
            merge(0, 1, 0.0, 2),
            merge(2, 3, 0.1, 2),
            merge(5, 6, 0.5, 4),
            merge(4, 7, 1.0, 5),
        ];
        let tree = Dendrogram::new(5, merges);
        let own = |clusters| -> Vec<bool> {
            of_tree("", &tree, clusters, None)
                .aspects
                .soft()
                .certainty()
                .iter()
                .map(|&most| most > 0.6)
                .collect()
        };
        assert_eq!(own(2), [true, true, true, true, false]);
        assert_eq!(own(5), [true; 5], "no cut has five clusters of two objects");
    }
}
