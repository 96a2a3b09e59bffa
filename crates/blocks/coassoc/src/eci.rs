//! Ensemble-driven cluster index: how far the ensemble agrees with each base cluster.

use std::collections::HashMap;
use std::convert::Infallible;

use partita_core::{
    BLOCK_ROWS, BaseClustering, BaseWeights, EnsembleRows, Monitor, PassError, PassRunner,
    ProblemSize, RowSample, Seed, Silent, WeightedEnsemble, sums_under_way,
};
use rayon::prelude::*;

use crate::Overlap;
use crate::overlap::CountLines;

/// Numbers in a part of the overlap table that is counted at once: 32 MB.
const STRIP: usize = 1 << 22;

/// Entropies that are held, ΣJ M of them: 1 GiB.
const MOST_TALLIES: usize = 1 << 26;

/// Rows up to which base clusters of the same rows are told: few objects in many base clusterings have few that differ.
const FEW_ROWS: usize = 64;

/// The entropy of every base clustering inside every base cluster, of which the ensemble-driven cluster index is made.
#[derive(Clone, Debug)]
pub struct Entropies {
    offsets: Vec<usize>,
    /// Weight of every base cluster.
    sizes: Vec<f64>,
    /// A line of M for every base cluster that differs; none where they are too many to be held.
    within: Vec<Tally>,
    /// The line of every base cluster.
    line: Vec<u32>,
    first_unlabelled: Option<u64>,
}

/// Bits of disorder inside one cluster, and the base clusterings that label something of it; both times trust.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    bits: f64,
    seen: f64,
}

/// The ensemble-driven cluster index of every base cluster of an ensemble in memory, as
/// [`Entropies::cluster_weights`]. A soft base clustering is not sure of its own copy, so that its weight has no part in entropies.
///
/// # Cost
/// O(n M²) time, and [`Entropies::bytes`].
pub fn trusted_cluster_weights<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    theta: f64,
    iterations: u32,
) -> Vec<f64> {
    let index = trusted_weights_until(source, theta, iterations, &Silent);
    index.expect("rows in memory can be read")
}

/// As [`trusted_cluster_weights`], until the monitor asks to stop.
///
/// # Errors
/// [`PassError::Interrupted`].
pub fn trusted_weights_until<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    theta: f64,
    iterations: u32,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, PassError> {
    let source = source.into();
    let rows = EnsembleRows::from(source);
    let rows = PassRunner::new(&rows, monitor);
    let soft = source.ensemble.memberships().is_some();
    let weights = source.base_weights.filter(|_| !soft);
    Entropies::count(&rows)?.cluster_weights(&rows, theta, iterations, weights)
}

impl Overlap {
    /// The entropies of base clusterings inside base clusters.
    pub fn entropies(&self) -> Entropies {
        let table = self.table();
        let cells = table.as_slice().expect("a table of lines");
        Entropies::of_table(self.offsets(), cells, self.first_unlabelled())
    }

    /// [`Entropies::cluster_weights`] of these rows.
    ///
    /// # Panics
    /// If there is not one weight a base clustering.
    pub fn cluster_weights(
        &self,
        theta: f64,
        iterations: u32,
        weights: Option<&BaseWeights>,
    ) -> Vec<f64> {
        let entropies = self.entropies();
        let index = entropies.index_by(iterations, weights, |say| {
            Ok::<_, Infallible>(entropies.index(theta, say))
        });
        match index {
            Ok(index) => index,
            Err(never) => match never {},
        }
    }
}

impl Entropies {
    /// The entropies of rows, where the overlap table may be too large to be held: it is counted strip by strip then.
    ///
    /// # Cost
    /// O(n M²) time while ΣJ ≤ 2048; beyond, a pass for every 4 million numbers of the table.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read or the monitor asks to stop.
    pub fn count(rows: &PassRunner<'_>) -> Result<Self, PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        let side = offsets[offsets.len() - 1];
        if side * side <= STRIP {
            return Ok(Overlap::count(rows)?.entropies());
        }
        let mut all = Self::none(offsets.clone());
        all.line = lines_of(rows, &offsets);
        let different = all.different();
        let tallies = side.saturating_mul(offsets.len() - 1);
        let held = tallies <= MOST_TALLIES;
        if held {
            // As it grows it would be held twice.
            all.within
                .reserve_exact(different.len() * (offsets.len() - 1));
        }
        for_strips(
            rows,
            &offsets,
            &different,
            |own, cells, first_unlabelled| {
                all.first_unlabelled = first_unlabelled;
                if held {
                    all.add_lines(own, cells);
                } else {
                    let lines = own.iter().zip(cells.chunks(side));
                    all.sizes.extend(lines.map(|(&own, line)| line[own]));
                }
            },
        )?;
        all.sizes = all.of_each(&all.sizes);
        Ok(all)
    }

    /// Those of a whole table.
    pub(crate) fn of_table(
        offsets: &[usize],
        cells: &[f64],
        first_unlabelled: Option<u64>,
    ) -> Self {
        let mut all = Self::none(offsets.to_vec());
        all.first_unlabelled = first_unlabelled;
        let side = offsets[offsets.len() - 1];
        all.line = (0..side as u32).collect();
        all.add_lines(&all.different(), cells);
        all
    }

    fn none(offsets: Vec<usize>) -> Self {
        Self {
            offsets,
            sizes: Vec::new(),
            within: Vec::new(),
            line: Vec::new(),
            first_unlabelled: None,
        }
    }

    /// The first base cluster of every line.
    fn different(&self) -> Vec<usize> {
        let mut next = 0;
        let is_new = |&c: &usize| {
            let new = self.line[c] == next;
            next += u32::from(new);
            new
        };
        (0..self.line.len()).filter(is_new).collect()
    }

    /// For every base cluster the value of its line.
    fn of_each(&self, lines: &[f64]) -> Vec<f64> {
        self.line.iter().map(|&line| lines[line as usize]).collect()
    }

    /// Adds the lines of these base clusters.
    fn add_lines(&mut self, own: &[usize], cells: &[f64]) {
        let offsets = &self.offsets;
        let lines = cells.par_chunks(offsets[offsets.len() - 1]).zip(own);
        let found: Vec<(f64, Vec<Tally>)> = lines
            .map(|(line, &own)| {
                let within = offsets
                    .windows(2)
                    .map(|ends| Tally::of(&line[ends[0]..ends[1]]));
                (line[own], within.collect())
            })
            .collect();
        for (size, within) in found {
            self.sizes.push(size);
            self.within.extend(within);
        }
    }

    /// Bytes that [`Entropies::count`] holds at once, at most, whoever holds the rows.
    pub fn bytes(size: &ProblemSize) -> u64 {
        let side = size.base_clusters as u64;
        let cells = side.saturating_mul(side).min((STRIP as u64).max(side));
        let tallies = side.saturating_mul(size.base_clusterings as u64);
        let held = if tallies > MOST_TALLIES as u64 {
            0
        } else {
            tallies
        };
        // One group of rows has the sum of all.
        let sums = if size.objects as u64 <= BLOCK_ROWS {
            1
        } else {
            sums_under_way(size.objects) + 1
        };
        cells
            .saturating_mul(8 * sums)
            .saturating_add(held * 32 + side.saturating_mul(32))
    }

    /// Where the clusters of each base clustering start: M + 1 values.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The weight of every base cluster.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Number of the first row without any label.
    pub fn first_unlabelled(&self) -> Option<u64> {
        self.first_unlabelled
    }

    /// The ensemble-driven cluster index (Huang, Wang and Lai 2018) of every base cluster: ΣJ values in (0, 1], 1 where every base
    /// clustering keeps the cluster whole. In each of the `iterations` a base clustering that the others break up has less of a say:
    ///
    /// ```text
    /// t_u    = mean of ECI over the objects that u labels
    /// H(C)   = M Σ_u t_u H(labels of base clustering u inside C) / Σ_u t_u,   H in bits
    /// ECI(C) = exp(−H(C) / (θ M))
    /// ```
    /// starting from t = 1, which is the index of the paper. Three iterations are close to the fixed point. Missing labels count for nothing;
    /// M is the number of base clusterings that label something of C. A cluster without objects has 1. Where base clusterings have
    /// weights, t_u counts w_u times; where objects have weights, shares of labels are by weight.
    ///
    /// # Cost
    /// O(ΣJ M · iterations) time. Beyond 67 million entropies these are not held, and every iteration counts the rows again.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read or the monitor asks to stop.
    ///
    /// # Panics
    /// If there is not one weight a base clustering.
    pub fn cluster_weights(
        &self,
        rows: &PassRunner<'_>,
        theta: f64,
        iterations: u32,
        weights: Option<&BaseWeights>,
    ) -> Result<Vec<f64>, PassError> {
        self.index_by(iterations, weights, |say| {
            if self.within.is_empty() {
                self.index_anew(rows, theta, say)
            } else {
                Ok(self.index(theta, say))
            }
        })
    }

    /// The index after so many iterations, each of which asks for the index where base clusterings have so much of a say.
    fn index_by<E>(
        &self,
        iterations: u32,
        weights: Option<&BaseWeights>,
        index_of: impl Fn(&[f64]) -> Result<Vec<f64>, E>,
    ) -> Result<Vec<f64>, E> {
        let bases = self.offsets.len() - 1;
        let given = weights.map_or_else(|| vec![1.0; bases], |given| given.as_slice().to_vec());
        assert_eq!(given.len(), bases, "one weight a base clustering");
        let mut index = index_of(&given)?;
        for _ in 0..iterations {
            let trust = self.trust(&index);
            let say: Vec<f64> = trust.iter().zip(&given).map(|(t, w)| t * w).collect();
            index = index_of(&say)?;
        }
        Ok(index)
    }

    /// As [`index`](Self::index), where entropies are not held.
    fn index_anew(
        &self,
        rows: &PassRunner<'_>,
        theta: f64,
        say: &[f64],
    ) -> Result<Vec<f64>, PassError> {
        let side = self.sizes.len();
        let mut index = Vec::new();
        for_strips(rows, &self.offsets, &self.different(), |_, cells, _| {
            let of_line = |line: &[f64]| {
                let within = self.offsets.windows(2);
                Tally::sum(within.map(|ends| Tally::of(&line[ends[0]..ends[1]])), say).index(theta)
            };
            index.par_extend(cells.par_chunks(side).map(of_line));
        })?;
        Ok(self.of_each(&index))
    }

    /// The index of every base cluster where base clusterings have so much of a say.
    fn index(&self, theta: f64, say: &[f64]) -> Vec<f64> {
        let index = |within: &[Tally]| Tally::sum(within.iter().copied(), say).index(theta);
        let lines: Vec<f64> = self.within.chunks(say.len()).map(index).collect();
        self.of_each(&lines)
    }

    /// How far base clusterings are trusted by the index of their clusters, as shares of the most trusted one.
    fn trust(&self, index: &[f64]) -> Vec<f64> {
        let mean = |ends: &[usize]| {
            let sizes = &self.sizes[ends[0]..ends[1]];
            let all: f64 = sizes.iter().sum();
            let index = &index[ends[0]..ends[1]];
            let sum: f64 = sizes.iter().zip(index).map(|(size, x)| size * x).sum();
            if all > 0.0 { sum / all } else { 0.0 }
        };
        let means: Vec<f64> = self.offsets.windows(2).map(mean).collect();
        let most = means.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            let share = |mean: &f64| (mean / most).max(LEAST_TRUST);
            means.iter().map(share).collect()
        } else {
            vec![1.0; means.len()]
        }
    }
}

/// Hands out lines of the overlap table strip by strip: the base clusters of each strip, its numbers, and the first row without any label.
fn for_strips(
    rows: &PassRunner<'_>,
    offsets: &[usize],
    different: &[usize],
    mut take: impl FnMut(&[usize], &[f64], Option<u64>),
) -> Result<(), PassError> {
    let side = offsets[offsets.len() - 1];
    for own in different.chunks((STRIP / side).max(1)) {
        let counted = rows.run(&CountLines::new(offsets.to_vec(), own.to_vec()))?;
        take(own, &counted.cells, counted.first_unlabelled);
    }
    Ok(())
}

/// A line for every base cluster, numbered as they appear: base clusters of the same rows have one where rows are few and labels.
fn lines_of(rows: &PassRunner<'_>, offsets: &[usize]) -> Vec<u32> {
    let side = offsets[offsets.len() - 1];
    let source = rows.source();
    if source.rows() > FEW_ROWS as u64 || source.are_shares() {
        return (0..side as u32).collect();
    }
    // A base clustering without labels has no sample.
    let Ok(sample) = RowSample::draw(rows, FEW_ROWS, Seed::new(0)) else {
        return (0..side as u32).collect();
    };
    let mut members = vec![0u64; side];
    for (u, offset) in offsets.iter().enumerate().take(offsets.len() - 1) {
        for (row, label) in sample.ensemble.column(u).enumerate() {
            if let Some(label) = label {
                members[offset + label] |= 1 << row;
            }
        }
    }
    let mut known: HashMap<u64, u32> = HashMap::new();
    let line = |of: u64| {
        let next = known.len() as u32;
        *known.entry(of).or_insert(next)
    };
    members.into_iter().map(line).collect()
}

/// The least that a base clustering is trusted, in shares of the most trusted one: none is left without a say, so
/// that there is always a mean.
const LEAST_TRUST: f64 = 1e-12;

impl Tally {
    fn of(counts: &[f64]) -> Self {
        let all: f64 = counts.iter().sum();
        if all == 0.0 {
            return Self::default();
        }
        let term = |count: &f64| -(count / all) * (count / all).log2();
        Self {
            bits: counts.iter().filter(|&&count| count > 0.0).map(term).sum(),
            seen: 1.0,
        }
    }

    /// Those of all base clusterings, each by its say.
    fn sum(all: impl Iterator<Item = Self>, say: &[f64]) -> Self {
        let mut sum = Self::default();
        for (tally, say) in all.zip(say) {
            sum.bits += tally.bits * say;
            sum.seen += tally.seen * say;
        }
        sum
    }

    fn index(self, theta: f64) -> f64 {
        if self.seen > 0.0 {
            (-self.bits / (theta * self.seen)).exp()
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Ensemble, EnsembleBuilder, Seed};
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
        let weights = trusted_cluster_weights(&builder.finish().unwrap(), 0.5, 0);
        assert_eq!(weights, [(-1.0f64).exp(), 1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn weights_agree_with_their_definition() {
        for (seed, clusters, missing) in
            (0..200).map(|s| (s, 1 + s as usize % 12, 0.1 * (s % 4) as f64))
        {
            let ensemble = drawn(seed, 30, clusters, missing);
            let places = || (0..5).flat_map(|u| (0..clusters).map(move |j| (u, j)));
            let mut trust = vec![1.0; 5];
            for iterations in 0..3 {
                let naive: Vec<f64> = places()
                    .map(|(u, j)| naive_index(&ensemble, u, j, 0.4, &trust))
                    .collect();
                let index = trusted_cluster_weights(&ensemble, 0.4, iterations);
                assert!(
                    index.iter().zip(&naive).all(|(a, b)| (a - b).abs() < 1e-12),
                    "seed {seed}, {iterations} iterations"
                );
                trust = naive_trust(&ensemble, &naive);
            }
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
    fn few_objects_in_many_base_clusterings_have_few_lines() {
        let mut rng = Seed::new(3).rng();
        let mut builder = EnsembleBuilder::new(4);
        for u in 0..1500 {
            let labels: [u32; 4] = std::array::from_fn(|i| (i as u32 + rng.random_range(0..2)) % 2);
            let labels = labels.map(|label| (u % 7 != 0 || label > 0).then_some(label));
            if labels.iter().any(Option::is_some) {
                builder.push_clusters(format!("u{u}"), labels, 2).unwrap();
            }
        }
        let ensemble = builder.finish().unwrap();
        let rows = EnsembleRows::from(WeightedEnsemble::from(&ensemble));
        let entropies = Entropies::count(&PassRunner::new(&rows, &Silent)).unwrap();
        assert!(entropies.sizes().len() * entropies.sizes().len() > STRIP);
        assert!(entropies.different().len() <= 16, "all subsets of 4 rows");
        let bases = ensemble.bases().len();
        let index = trusted_cluster_weights(&ensemble, 0.4, 0);
        for (u, cluster) in [(0, 1), (1, 0), (1000, 1), (bases - 1, 0)] {
            let expected = naive_index(&ensemble, u, cluster, 0.4, &vec![1.0; bases]);
            let found = index[ensemble.offsets()[u] + cluster];
            assert!((found - expected).abs() < 1e-12, "{u} {cluster}");
        }
    }

    #[test]
    fn a_table_of_many_tiny_clusters_is_counted_in_strips() {
        let ensemble = drawn(1, 450, 430, 0.2);
        let offsets = ensemble.offsets();
        assert!(offsets[5] * offsets[5] > STRIP);
        let index = trusted_cluster_weights(&ensemble, 0.4, 1);
        let trust = naive_trust(&ensemble, &trusted_cluster_weights(&ensemble, 0.4, 0));
        for (u, cluster) in [(0, 0), (1, 7), (4, 389), (2, 100)] {
            let expected = naive_index(&ensemble, u, cluster, 0.4, &trust);
            assert!((index[offsets[u] + cluster] - expected).abs() < 1e-12);
        }
    }
}
