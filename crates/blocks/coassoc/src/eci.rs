//! Ensemble-driven cluster index: overlaps of base clusters, and how far the ensemble agrees with each of them.

use std::ops::Range;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Ensemble, EnsembleRows, Label, LabelRows, PassRunner, Silent, WeightedEnsemble,
};
use rayon::prelude::*;

use crate::Overlap;

/// Numbers in a table that is counted into at once: about what a second-level cache holds.
const TABLE: usize = 1 << 17;

/// The ensemble-driven cluster index (Huang, Wang and Lai 2018) of every base cluster: ΣJ values in (0, 1], in the order
/// of [`Ensemble::offsets`], 1 where every base clustering keeps the cluster whole.
///
/// ```text
/// H(C)   = Σ_u H(labels of base clustering u inside C), in bits
/// ECI(C) = exp(−H(C) / (θ M))
/// ```
/// Missing labels count for nothing; M is the number of base clusterings that label something of C. A cluster without
/// objects has 1.
///
/// # Cost
/// O(n M²/2) time; O(n + (ΣJ)² / M) numbers at most.
pub fn cluster_weights<'a>(source: impl Into<WeightedEnsemble<'a>>, theta: f64) -> Vec<f64> {
    trusted_cluster_weights(source, theta, 0)
}

/// [`cluster_weights`] in which a base clustering that the others break up has less of a say about them:
///
/// ```text
/// t_u    = mean of ECI over the objects that u labels
/// H(C)   = M Σ_u t_u H(labels of base clustering u inside C) / Σ_u t_u
/// ECI(C) = exp(−H(C) / (θ M))
/// ```
/// starting from t = 1, so often; with 0 rounds it is [`cluster_weights`]. Three are close to the fixed point. Where base clusterings
/// have weights, t_u counts w_u times; where objects have weights, shares of labels are by weight.
///
/// # Cost
/// That of [`cluster_weights`] times one more than the rounds.
pub fn trusted_cluster_weights<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    theta: f64,
    rounds: u32,
) -> Vec<f64> {
    let source = source.into();
    let (ensemble, sizes) = (source.ensemble, sizes(source.ensemble));
    if rounds > 0 && source.object_weights.is_none() && counted_once(&sizes, ensemble.objects()) {
        let rows = EnsembleRows::new(ensemble);
        let overlap =
            Overlap::count(&PassRunner::new(&rows, &Silent)).expect("rows in memory can be read");
        return overlap.cluster_weights(theta, rounds, source.base_weights);
    }
    let objects = match ensemble.rows() {
        LabelRows::Bytes(rows) => all_own_weights(rows, &sizes, source.multiplicities()),
        LabelRows::Words(rows) => all_own_weights(rows, &sizes, source.multiplicities()),
    };
    let mut trust = vec![1.0; sizes.len()];
    let mut weights = weights_under(source, &sizes, theta, &trust);
    for _ in 0..rounds {
        renew_trust(&mut trust, &objects, &weights);
        weights = weights_under(source, &sizes, theta, &trust);
    }
    weights
}

/// Whether one table of all pairs of base clusters is quicker than a table for every two base clusterings: it is counted
/// once, however many rounds there are, but it is large where base clusters are many.
fn counted_once(sizes: &[usize], objects: usize) -> bool {
    let side: usize = sizes.iter().sum();
    side <= MOST_COUNTED_ONCE && side * side <= (objects * sizes.len()).max(TABLE)
}

/// The largest table that is counted at once in memory: 32 MB.
const MOST_COUNTED_ONCE: usize = 2048;

/// The index of every base cluster when base clusterings are trusted so much.
fn weights_under(
    source: WeightedEnsemble<'_>,
    sizes: &[usize],
    theta: f64,
    trust: &[f64],
) -> Vec<f64> {
    let (weights, trust) = (
        source.multiplicities(),
        &weighed(trust, source.shares())[..],
    );
    let tallies = match source.ensemble.rows() {
        LabelRows::Bytes(rows) => tallies(
            &Counted {
                rows,
                sizes,
                weights,
            },
            trust,
        ),
        LabelRows::Words(rows) => tallies(
            &Counted {
                rows,
                sizes,
                weights,
            },
            trust,
        ),
    };
    tallies.iter().map(|tally| tally.index(theta)).collect()
}

/// Trust times the weights of the base clusterings, where they have some.
pub(crate) fn weighed(trust: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
    match weights {
        None => trust.to_vec(),
        Some(weights) => trust
            .iter()
            .zip(weights)
            .map(|(trust, weight)| trust * weight)
            .collect(),
    }
}

/// The least that a base clustering is trusted, in shares of the most trusted one: none is left without a say, so
/// that there is always a mean.
const LEAST_TRUST: f64 = 1e-12;

/// The trust that follows from the weights of the base clusters and how many `objects` are in each.
pub(crate) fn renew_trust(trust: &mut [f64], objects: &[Vec<f64>], weights: &[f64]) {
    let mut start = 0;
    for (trust, objects) in trust.iter_mut().zip(objects) {
        let weights = &weights[start..start + objects.len()];
        let all: f64 = objects.iter().sum();
        let sum: f64 = objects
            .iter()
            .zip(weights)
            .map(|(count, weight)| count * weight)
            .sum();
        *trust = if all > 0.0 { sum / all } else { 0.0 };
        start += objects.len();
    }
    let most = trust.iter().copied().fold(0.0, f64::max);
    trust.iter_mut().for_each(|t| {
        *t = if most > 0.0 {
            (*t / most).max(LEAST_TRUST)
        } else {
            1.0
        }
    });
}

/// Weight of the objects that each pair of base clusters shares: ΣJ × ΣJ, symmetric, with the weight of each cluster on
/// the diagonal and 0 between clusters of one base clustering. `weights` has one number an object; without it
/// every object counts 1.
///
/// # Cost
/// O(n M²/2) time, (ΣJ)² numbers.
///
/// # Panics
/// If there is not one weight an object.
pub fn cluster_overlaps(ensemble: &Ensemble, weights: Option<&[f64]>) -> Array2<f64> {
    assert!(
        weights.is_none_or(|w| w.len() == ensemble.objects()),
        "one weight an object"
    );
    let (sizes, offsets) = (sizes(ensemble), ensemble.offsets());
    let side = offsets[sizes.len()];
    let of_base = |u: usize| match ensemble.rows() {
        LabelRows::Bytes(rows) => upper_lines(rows, &sizes, u, weights),
        LabelRows::Words(rows) => upper_lines(rows, &sizes, u, weights),
    };
    let blocks: Vec<(Vec<f64>, Vec<f64>)> = (0..sizes.len()).into_par_iter().map(of_base).collect();
    let mut overlaps = Array2::zeros((side, side));
    for (u, (own, lines)) in blocks.into_iter().enumerate() {
        for (j, &weight) in own.iter().enumerate() {
            overlaps[[offsets[u] + j, offsets[u] + j]] = weight;
        }
        let width = side - offsets[u + 1];
        for (at, weight) in lines
            .into_iter()
            .enumerate()
            .filter(|(_, weight)| *weight > 0.0)
        {
            let (a, b) = (offsets[u] + at / width, offsets[u + 1] + at % width);
            overlaps[[a, b]] = weight;
            overlaps[[b, a]] = weight;
        }
    }
    overlaps
}

/// Clusters of every base clustering.
fn sizes(ensemble: &Ensemble) -> Vec<usize> {
    ensemble
        .bases()
        .iter()
        .map(partita_core::BaseClustering::clusters)
        .collect()
}

/// Bits of disorder inside one cluster, and the base clusterings that label something of it; both times trust.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) bits: f64,
    pub(crate) seen: f64,
}

impl Tally {
    pub(crate) fn of(counts: impl Iterator<Item = f64> + Clone) -> Self {
        let all: f64 = counts.clone().sum();
        if all == 0.0 {
            return Self::default();
        }
        let term = |count: f64| -(count / all) * (count / all).log2();
        Self {
            bits: counts.filter(|&count| count > 0.0).map(term).sum(),
            seen: 1.0,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.bits += other.bits;
        self.seen += other.seen;
    }

    pub(crate) fn index(self, theta: f64) -> f64 {
        if self.seen > 0.0 {
            (-self.bits / (theta * self.seen)).exp()
        } else {
            1.0
        }
    }

    pub(crate) fn times(self, trust: f64) -> Self {
        Self {
            bits: self.bits * trust,
            seen: self.seen * trust,
        }
    }
}

/// Label rows that are counted: the clusters of every base clustering, and what every row counts.
struct Counted<'a, L> {
    rows: ArrayView2<'a, L>,
    sizes: &'a [usize],
    weights: Option<&'a [f64]>,
}

/// The tally of every base cluster.
fn tallies<L: Label>(counted: &Counted<'_, L>, trust: &[f64]) -> Vec<Tally> {
    let &Counted {
        rows,
        sizes,
        weights,
    } = counted;
    let of_base = |u: usize| {
        let own = own_weights(rows, sizes, u, weights);
        let seen = |weight: &f64| Tally {
            bits: 0.0,
            seen: if *weight > 0.0 { trust[u] } else { 0.0 },
        };
        let mut own: Vec<Tally> = own.iter().map(seen).collect();
        let mut others = Vec::new();
        for group in groups(rows.nrows(), sizes, u) {
            compare(counted, u, group, trust, &mut own, &mut others);
        }
        (own, others)
    };
    let parts: Vec<(Vec<Tally>, Vec<Tally>)> =
        (0..sizes.len()).into_par_iter().map(of_base).collect();
    let mut all = vec![Tally::default(); sizes.iter().sum()];
    let mut start = 0;
    for (own, others) in parts {
        all[start..]
            .iter_mut()
            .zip(own.iter().chain(&others))
            .for_each(|(sum, part)| sum.add(*part));
        start += own.len();
    }
    all
}

/// Base clusterings after `u`, cut so that the tables of one group stay small.
fn groups(objects: usize, sizes: &[usize], u: usize) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut held = 0;
    for v in u + 1..sizes.len() {
        let cells = sizes[u] * (sizes[v] + 1);
        match groups.last_mut() {
            Some(last) if held + cells <= TABLE.max(objects) => {
                (last.end, held) = (v + 1, held + cells);
            }
            _ => {
                groups.push(v..v + 1);
                held = cells;
            }
        }
    }
    groups
}

/// Tallies of the clusters of `u` within the base clusterings `group`, added, and the other way round, appended.
fn compare<L: Label>(
    counted: &Counted<'_, L>,
    u: usize,
    group: Range<usize>,
    trust: &[f64],
    own: &mut [Tally],
    others: &mut Vec<Tally>,
) {
    let &Counted {
        rows,
        sizes,
        weights,
    } = counted;
    // A table much larger than the objects is mostly zeros: two base clusterings of many tiny clusters.
    if group.len() == 1 && sizes[u] * (sizes[group.start] + 1) > TABLE.max(16 * rows.nrows()) {
        return compare_sparse(counted, (u, group.start), trust, own, others);
    }
    let table = tally(rows, sizes, u, group.clone(), weights);
    let width = table.len() / sizes[u].max(1);
    let mut start = 0;
    for v in group {
        let cell = |a: usize, b: usize| table[a * width + start + b];
        for (a, tally) in own.iter_mut().enumerate() {
            tally.add(Tally::of((0..sizes[v]).map(|b| cell(a, b))).times(trust[v]));
        }
        others.extend(
            (0..sizes[v]).map(|b| Tally::of((0..sizes[u]).map(|a| cell(a, b))).times(trust[u])),
        );
        start += sizes[v] + 1;
    }
}

/// As [`compare`] for two base clusterings, by sorting instead of counting into a table.
fn compare_sparse<L: Label>(
    counted: &Counted<'_, L>,
    (u, v): (usize, usize),
    trust: &[f64],
    own: &mut [Tally],
    others: &mut Vec<Tally>,
) {
    let labels = |(i, row): (usize, partita_core::ndarray::ArrayView1<'_, L>)| {
        Some((row[u].cluster()? as u32, row[v].cluster()? as u32, i as u32))
    };
    let mut pairs: Vec<(u32, u32, u32)> = counted
        .rows
        .outer_iter()
        .enumerate()
        .filter_map(labels)
        .collect();
    let weight = |run: &[(u32, u32, u32)]| match counted.weights {
        None => run.len() as f64,
        Some(weights) => run.iter().map(|&(.., i)| weights[i as usize]).sum(),
    };
    let mut runs = |tallies: &mut [Tally], trust: f64| {
        pairs.sort_unstable();
        for cluster in pairs.chunk_by(|a, b| a.0 == b.0) {
            let counts = cluster.chunk_by(|a, b| a.1 == b.1).map(weight);
            tallies[cluster[0].0 as usize].add(Tally::of(counts).times(trust));
        }
        pairs
            .iter_mut()
            .for_each(|pair| *pair = (pair.1, pair.0, pair.2));
    };
    runs(own, trust[v]);
    let first = others.len();
    others.resize(first + counted.sizes[v], Tally::default());
    runs(&mut others[first..], trust[u]);
}

/// Weight of every cluster of base clustering `u`.
fn own_weights<L: Label>(
    rows: ArrayView2<'_, L>,
    sizes: &[usize],
    u: usize,
    weights: Option<&[f64]>,
) -> Vec<f64> {
    let mut own = vec![0.0; sizes[u]];
    for (i, label) in rows.column(u).iter().enumerate() {
        if let Some(cluster) = label.cluster() {
            own[cluster] += weights.map_or(1.0, |w| w[i]);
        }
    }
    own
}

/// [`own_weights`] of all base clusterings.
fn all_own_weights<L: Label>(
    rows: ArrayView2<'_, L>,
    sizes: &[usize],
    weights: Option<&[f64]>,
) -> Vec<Vec<f64>> {
    (0..sizes.len())
        .into_par_iter()
        .map(|u| own_weights(rows, sizes, u, weights))
        .collect()
}

/// The overlaps of the clusters of `u` with themselves and with those of all later base clusterings.
fn upper_lines<L: Label>(
    rows: ArrayView2<'_, L>,
    sizes: &[usize],
    u: usize,
    weights: Option<&[f64]>,
) -> (Vec<f64>, Vec<f64>) {
    let total: usize = sizes[u + 1..].iter().sum();
    let mut lines = vec![0.0; sizes[u] * total];
    let mut place = 0;
    for group in groups(rows.nrows(), sizes, u) {
        let table = tally(rows, sizes, u, group.clone(), weights);
        let width = table.len() / sizes[u].max(1);
        for a in 0..sizes[u] {
            let (mut from, mut to) = (a * width, a * total + place);
            for &size in &sizes[group.clone()] {
                lines[to..to + size].copy_from_slice(&table[from..from + size]);
                from += size + 1;
                to += size;
            }
        }
        place += sizes[group].iter().sum::<usize>();
    }
    (own_weights(rows, sizes, u, weights), lines)
}

/// Weight of the objects in every pair of a cluster of `u` and one of the `group`: J_u lines of Σ (J_v + 1) numbers.
/// The last number of a base clustering takes what it does not label, so that the loop has no branch.
fn tally<L: Label>(
    rows: ArrayView2<'_, L>,
    sizes: &[usize],
    u: usize,
    group: Range<usize>,
    weights: Option<&[f64]>,
) -> Vec<f64> {
    let mut width = 0;
    let place = |&size: &usize| {
        width += size + 1;
        (width - size - 1, size)
    };
    let places: Vec<(usize, usize)> = sizes[group.clone()].iter().map(place).collect();
    let mut table = vec![0.0; sizes[u] * width];
    let held = rows.as_standard_layout();
    let labels = held.as_slice().expect("standard layout is one slice");
    for (i, row) in labels.chunks_exact(rows.ncols()).enumerate() {
        let Some(own) = row[u].cluster() else {
            continue;
        };
        let line = &mut table[own * width..][..width];
        let weight = weights.map_or(1.0, |w| w[i]);
        for (label, &(start, missing)) in row[group.clone()].iter().zip(&places) {
            line[start + label.index().min(missing)] += weight;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Seed};
    use rand::RngExt;

    fn drawn(seed: u64, objects: usize, clusters: usize, missing: f64) -> Ensemble {
        let mut rng = Seed::new(seed).rng();
        let mut builder = EnsembleBuilder::new(objects);
        for u in 0..5 {
            let label =
                |_| (!rng.random_bool(missing)).then(|| rng.random_range(0..clusters as u32));
            let mut labels: Vec<Option<u32>> = (0..objects).map(label).collect();
            labels[u] = Some(0);
            builder
                .push_clusters(format!("u{u}"), labels, clusters)
                .unwrap();
        }
        builder.finish().unwrap()
    }

    fn naive_overlap(ensemble: &Ensemble, a: usize, b: usize, weights: &[f64]) -> f64 {
        let offsets = ensemble.offsets();
        let member = |i: usize, c: usize| {
            let u = offsets.partition_point(|&start| start <= c) - 1;
            ensemble.label(i, u) == Some(c - offsets[u])
        };
        (0..ensemble.objects())
            .filter(|&i| member(i, a) && member(i, b))
            .map(|i| weights[i])
            .sum()
    }

    fn naive_index(
        ensemble: &Ensemble,
        u: usize,
        cluster: usize,
        theta: f64,
        trust: &[f64],
    ) -> f64 {
        let members: Vec<usize> = (0..ensemble.objects())
            .filter(|&i| ensemble.label(i, u) == Some(cluster))
            .collect();
        let (mut bits, mut seen) = (0.0, 0.0);
        for (v, base) in ensemble.bases().iter().enumerate() {
            let labelled = members
                .iter()
                .filter(|&&i| ensemble.label(i, v).is_some())
                .count();
            seen += if labelled > 0 { trust[v] } else { 0.0 };
            for j in 0..base.clusters() {
                let count = members
                    .iter()
                    .filter(|&&i| ensemble.label(i, v) == Some(j))
                    .count();
                if count > 0 {
                    let share = count as f64 / labelled as f64;
                    bits -= trust[v] * share * share.log2();
                }
            }
        }
        if seen > 0.0 {
            (-bits / (theta * seen)).exp()
        } else {
            1.0
        }
    }

    /// Mean index over labelled objects.
    fn naive_trust(ensemble: &Ensemble, index: &[f64]) -> Vec<f64> {
        let offsets = ensemble.offsets();
        let of_base = |u: usize| {
            let labels: Vec<usize> = ensemble.column(u).flatten().collect();
            let sum: f64 = labels.iter().map(|&j| index[offsets[u] + j]).sum();
            sum / labels.len() as f64
        };
        (0..offsets.len() - 1).map(of_base).collect()
    }

    #[test]
    fn weights_can_be_checked_by_eye() {
        let mut builder = EnsembleBuilder::new(4);
        builder
            .push("a", [Some(0), Some(0), Some(1), Some(1)])
            .unwrap();
        builder
            .push("b", [Some(0), Some(1), Some(2), Some(2)])
            .unwrap();
        // Cluster 0 of a is split in halves by b: one bit. All others stay whole.
        let weights = cluster_weights(&builder.finish().unwrap(), 0.5);
        assert_eq!(weights, [(-1.0f64).exp(), 1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn overlaps_and_weights_agree_with_their_definitions() {
        for (seed, clusters, missing) in (0..12).map(|s| (s, 1 + s as usize, 0.1 * (s % 4) as f64))
        {
            let ensemble = drawn(seed, 30, clusters, missing);
            let weights: Vec<f64> = (0..30).map(|i| 0.5 + f64::from(i)).collect();
            let overlaps = cluster_overlaps(&ensemble, Some(&weights));
            for ((a, b), &overlap) in overlaps.indexed_iter() {
                assert!((overlap - naive_overlap(&ensemble, a, b, &weights)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn weights_agree_with_their_definition() {
        for (seed, clusters, missing) in
            (0..200).map(|s| (s, 1 + s as usize % 12, 0.1 * (s % 4) as f64))
        {
            let ensemble = drawn(seed, 30, clusters, missing);
            let places = || (0..5).flat_map(|u| (0..clusters).map(move |j| (u, j)));
            let mut trust = vec![1.0; 5];
            for rounds in 0..3 {
                let naive: Vec<f64> = places()
                    .map(|(u, j)| naive_index(&ensemble, u, j, 0.4, &trust))
                    .collect();
                let index = trusted_cluster_weights(&ensemble, 0.4, rounds);
                assert!(
                    index.iter().zip(&naive).all(|(a, b)| (a - b).abs() < 1e-12),
                    "seed {seed}, {rounds} rounds"
                );
                trust = naive_trust(&ensemble, &naive);
            }
            assert_eq!(
                cluster_weights(&ensemble, 0.4),
                trusted_cluster_weights(&ensemble, 0.4, 0)
            );
        }
    }

    #[test]
    fn weights_are_numbers_however_small_theta_is() {
        let ensemble = drawn(5, 60, 12, 0.3);
        for theta in [1e-300, 1e-9, 0.01, 1e300] {
            let index = trusted_cluster_weights(&ensemble, theta, 3);
            assert!(
                index.iter().all(|index| (0.0..=1.0).contains(index)),
                "{index:?}"
            );
        }
    }

    #[test]
    fn many_tiny_clusters_are_sorted_instead_of_tabulated() {
        let ensemble = drawn(1, 400, 390, 0.2);
        let (index, offsets) = (
            trusted_cluster_weights(&ensemble, 0.4, 1),
            ensemble.offsets(),
        );
        let trust = naive_trust(&ensemble, &cluster_weights(&ensemble, 0.4));
        for (u, cluster) in [(0, 0), (1, 7), (4, 389), (2, 100)] {
            assert!(
                (index[offsets[u] + cluster] - naive_index(&ensemble, u, cluster, 0.4, &trust))
                    .abs()
                    < 1e-12
            );
        }
    }
}
