//! Initializations of EM: cuts of trees, base clusterings, Dirichlet draws.

use partita_core::ndarray::Array2;
use partita_core::{Dendrogram, Flow, LabelStart, Monitor, Seed, SettingChoice, WeightedEnsemble};
use partita_kmeans::labels::quick_partition;
use partita_linkage::{Linkage, cut};
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use crate::aspects::Aspects;
use crate::counts::DyadCounts;

/// What EM starts from besides `restarts` random draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StartFrom {
    /// The cuts of both trees; where none is grown, k-means on label rows and base clusterings.
    #[default]
    Trees,
    /// The cut by single link, which finds clusters of any shape.
    SingleLink,
    /// The cut by average link, which holds on where single link leaves the objects in a chain.
    AverageLink,
    /// Draws from Dirichlet(1) alone, one at least.
    Random,
}

impl StartFrom {
    /// The trees that are cut.
    pub(crate) fn linkages(self) -> &'static [Linkage] {
        match self {
            Self::Trees => &[Linkage::Single, Linkage::Average],
            Self::SingleLink => &[Linkage::Single],
            Self::AverageLink => &[Linkage::Average],
            Self::Random => &[],
        }
    }

    /// Whether there is nothing else to start from than a tree.
    pub(crate) fn needs_tree(self) -> bool {
        matches!(self, Self::SingleLink | Self::AverageLink)
    }
}

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
        let aspects = Aspects::new(&shares, members.view());
        Self::new(name, aspects.expect("rows were divided by their sums"))
    }

    /// Labels made soft: see [`LabelStart::soft`].
    ///
    /// # Panics
    /// If a label is not below `clusters`.
    pub fn softened(name: impl Into<String>, labels: &[Option<u32>], clusters: usize) -> Self {
        LabelStart::new(name, labels.iter().copied(), clusters).into()
    }
}

impl From<LabelStart> for Start {
    fn from(labels: LabelStart) -> Self {
        let aspects = Aspects::of(&labels.soft());
        Self::new(labels.name, aspects)
    }
}

/// What starts are made from besides chance.
#[derive(Clone, Debug)]
pub(crate) struct Guide<'a> {
    pub(crate) source: WeightedEnsemble<'a>,
    /// Trees of 1 − c/N by the name of their linkage, where they were grown.
    pub(crate) trees: Vec<(&'static str, Dendrogram)>,
    pub(crate) start: StartFrom,
    /// Random starts besides.
    pub(crate) restarts: u32,
}

impl Guide<'_> {
    /// A cut of every tree, or base clusterings where there is none, and the random starts; fewer of these once the monitor asks to stop.
    pub(crate) fn starts(
        &self,
        counts: &DyadCounts,
        clusters: usize,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Vec<Start> {
        let times = counts.copies.as_ref().map(|copies| &copies.times[..]);
        let mut starts = Vec::new();
        for (name, tree) in &self.trees {
            starts.push(weighed(of_tree(name, tree, clusters, times), times));
        }
        let random = self.start == StartFrom::Random;
        if starts.is_empty() && !random {
            starts = self.bases(counts, clusters, seed);
        }
        let restarts = self.restarts.max(u32::from(random));
        let objects = counts.objects();
        for restart in 1..=u64::from(restarts) {
            if monitor.flow() == Flow::Stop && !starts.is_empty() {
                break;
            }
            let name = format!("dirichlet {restart}");
            starts.push(Start::random(name, objects, clusters, seed.child(restart)));
        }
        starts
    }

    /// The two most likely of k-means on label rows and of the base clusterings with the numbers of clusters nearest to K.
    fn bases(&self, counts: &DyadCounts, clusters: usize, seed: Seed) -> Vec<Start> {
        let kmeans = quick_partition(self.source, clusters, seed.child(LABEL_KMEANS));
        let kmeans = kmeans.labels().iter().map(|&label| Some(label));
        let kmeans = LabelStart::new("k-means on labels", kmeans, clusters);
        let times = counts.copies.as_ref().map(|copies| &copies.times[..]);
        let bases = LabelStart::of_bases(self.source.ensemble, clusters);
        let mut valued = Vec::new();
        for labels in bases.chain([kmeans]) {
            let start = weighed(labels, times);
            valued.push((start.aspects.log_likelihood(counts), start));
        }
        valued.sort_by(|a, b| b.0.total_cmp(&a.0));
        valued.into_iter().take(2).map(|(_, start)| start).collect()
    }
}

/// The start of objects that stand for so many.
fn weighed(start: LabelStart, times: Option<&[f64]>) -> Start {
    let mut start = Start::from(start);
    if let Some(times) = times {
        start.aspects = start.aspects.of_copies(times);
    }
    start
}

/// The child of the seed that starts k-means on labels; random starts have small numbers.
const LABEL_KMEANS: u64 = u64::MAX - 1;

/// The first cut of a tree into K clusters of two objects or more, since a cluster of one draws no pair; objects left over have
/// an equal part in all. Where no cut has K of them, the cut into K clusters. An object counts as often as `times` says.
fn of_tree(name: &str, tree: &Dendrogram, clusters: usize, times: Option<&[f64]>) -> LabelStart {
    let objects = tree.objects();
    let times = |object: usize| times.map_or(1.0, |times| times[object]);
    let whole = |node: u32| usize::from(node as usize >= objects || times(node as usize) >= 2.0);
    // Clusters of two or more objects, from one cluster on as merges are undone.
    let mut count = tree.merges().len().min(1);
    let mut at = (count == clusters).then_some(1);
    for (undone, merge) in tree.merges().iter().rev().enumerate() {
        if at.is_some() {
            break;
        }
        count = count + whole(merge.left) + whole(merge.right) - 1;
        at = (count == clusters).then_some(undone + 2);
    }
    let least = if at.is_some() { 2.0 } else { 0.0 };
    let partition = cut(tree, at.unwrap_or(clusters));
    let mut sizes = vec![0.0; partition.clusters()];
    for (i, &label) in partition.labels().iter().enumerate() {
        sizes[label as usize] += times(i);
    }
    let mut next = 0..;
    let names = sizes
        .iter()
        .map(|&size| if size < least { None } else { next.next() });
    let names: Vec<Option<u32>> = names.collect();
    let labels = partition
        .labels()
        .iter()
        .map(|&label| names[label as usize]);
    LabelStart::new(name, labels, clusters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_linkage::{Linkage, link};

    #[test]
    fn a_cut_has_clusters_that_draw_pairs() {
        // Points 0 and 1, 2 and 3 merge; the last is far from all.
        let points = [0.0f64, 0.1, 1.0, 1.2, 9.0];
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j)));
        let apart = pairs.map(|(i, j)| (points[i] - points[j]).abs()).collect();
        let tree = link(apart, 5, Linkage::Single).unwrap();
        let own = |clusters| -> Vec<bool> {
            let start = Start::from(of_tree("", &tree, clusters, None));
            let probability = start.aspects.soft().largest();
            probability.iter().map(|&most| most > 0.6).collect()
        };
        assert_eq!(own(2), [true, true, true, true, false]);
        assert_eq!(own(5), [true; 5], "no cut has five clusters of two objects");
    }
}
