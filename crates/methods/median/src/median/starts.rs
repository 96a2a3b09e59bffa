//! Where a search for the median starts: cuts of an average-link tree, the base clustering that loses least, and nothing.

use partita_coassoc::EvidenceRows;
use partita_core::{
    Dendrogram, Flow, LEAF_WEIGHTS, Label, Monitor, Seed, WeightedEnsemble, whole_multiplicities,
};
use partita_linkage::{Linkage, Rows, cut, link_rows};
use rand::seq::index;

use super::counts::{Clustering, NOWHERE, Target};

/// Rows that a tree is over, at most; the others join the cheapest of its clusters.
pub(super) const TREE_ROWS: usize = 3000;

/// The largest sum of weights of a tree that is not rounded.
const LARGEST_SUM: u64 = 1 << 27;

/// Cuts of the tree that are compared, at most.
const CUTS: usize = 100;

/// Starts of a search with at most `clusters` clusters, as labels of the target's rows; where they are not, rows are
/// [`NOWHERE`]. A start has at most `width` clusters. Once somebody wants to stop, those that are not made yet are left out.
pub(super) fn starts<L: Label>(
    source: WeightedEnsemble<'_>,
    target: &Target<'_, L>,
    clusters: usize,
    width: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Vec<Vec<u32>> {
    let mut starts = tree_cuts(source, target, clusters, width, seed, monitor);
    starts.extend(medoid(target, width, monitor));
    starts
}

/// The base clustering with the least loss, of those that were looked at; none where all have more clusters than may be.
fn medoid<L: Label>(
    target: &Target<'_, L>,
    width: usize,
    monitor: &dyn Monitor,
) -> Option<Vec<u32>> {
    let offsets = target.rows.offsets;
    let few = (0..target.rows.bases()).filter(|&u| offsets[u + 1] - offsets[u] <= width);
    let labels = |u: usize| {
        let mut labels = vec![NOWHERE; target.len()];
        for (at, label) in labels.iter_mut().enumerate() {
            let own = target.places(at).find(|(base, _)| *base == u);
            *label = own.map_or(NOWHERE, |(_, place)| (place - offsets[u]) as u32);
        }
        labels
    };
    let loss = |labels: &Vec<u32>| Clustering::of(target, width, labels).loss();
    let looked_at = few.take_while(|_| monitor.flow() == Flow::Continue);
    let all = looked_at.map(labels).map(|labels| (loss(&labels), labels));
    all.reduce(|best, next| if next.0 < best.0 { next } else { best })
        .map(|(_, labels)| labels)
}

/// The best cut of the average-link tree, that into `clusters`, and one into twice as many.
fn tree_cuts<L: Label>(
    source: WeightedEnsemble<'_>,
    target: &Target<'_, L>,
    clusters: usize,
    width: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Vec<Vec<u32>> {
    let chosen: Vec<usize> = if target.len() <= TREE_ROWS {
        (0..target.len()).collect()
    } else {
        let mut chosen = index::sample(&mut seed.rng(), target.len(), TREE_ROWS).into_vec();
        chosen.sort_unstable();
        chosen
    };
    let Some(tree) = tree(source, target, &chosen, monitor) else {
        return Vec::new();
    };
    let labels = |k: usize| {
        let (cut, mut labels) = (cut(&tree, k), vec![NOWHERE; target.len()]);
        chosen
            .iter()
            .zip(cut.labels())
            .for_each(|(&at, &k)| labels[at] = k);
        labels
    };
    let most = clusters.min(chosen.len());
    let looked_at = (1..=most.min(CUTS)).take_while(|_| monitor.flow() == Flow::Continue);
    let losses = looked_at.map(|k| (k, Clustering::of(target, width, &labels(k)).loss()));
    let best = losses
        .reduce(|best, next| if next.1 < best.1 { next } else { best })
        .map_or(most, |(k, _)| k);
    let mut wanted = vec![
        best,
        most.min(CUTS),
        (2 * best).min(width).min(chosen.len()),
    ];
    wanted.sort_unstable();
    wanted.dedup();
    wanted.into_iter().map(labels).collect()
}

/// The average-link tree over some rows of the target, unless somebody wants to stop.
fn tree<L: Label>(
    source: WeightedEnsemble<'_>,
    target: &Target<'_, L>,
    chosen: &[usize],
    monitor: &dyn Monitor,
) -> Option<Dendrogram> {
    let objects: Vec<u32> = chosen.iter().map(|&at| at as u32).collect();
    let bases: Vec<u32> = (0..source.ensemble.bases().len() as u32).collect();
    let mut weights: Vec<u32> = chosen.iter().map(|&at| target.rows.weights[at]).collect();
    let sum = |weights: &[u32]| weights.iter().map(|&weight| u64::from(weight)).sum::<u64>();
    if sum(&weights) > LARGEST_SUM {
        let given: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
        weights = whole_multiplicities(&given, LEAF_WEIGHTS);
    }
    let total = sum(&weights);
    let unit = (u64::MAX / 4 / (total.saturating_mul(total) / 4).max(1)).clamp(1, 1 << 20);
    let chosen = source.ensemble.select(&objects, &bases);
    let chosen = WeightedEnsemble {
        ensemble: &chosen,
        base_weights: source.base_weights,
        object_weights: None,
    };
    let rows = Apart {
        rows: EvidenceRows::new(chosen).ok()?,
        unit,
    };
    link_rows(&rows, &weights, Linkage::Average, monitor).ok()
}

/// 1 − the share of base clusterings that join two objects, of those that label both.
struct Apart {
    rows: EvidenceRows,
    unit: u64,
}

impl Rows for Apart {
    fn objects(&self) -> usize {
        self.rows.objects()
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        self.rows.for_each(object, |j, c, n| {
            let apart = u64::from(n - c) * self.unit;
            row[j] = apart.checked_div(u64::from(n)).unwrap_or(self.unit) as u32;
        });
    }
}
