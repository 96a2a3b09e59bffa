//! Which columns of the table tell a cluster from all other objects: effect sizes and rank tests.

use partita_core::ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;
use serde::Serialize;
use statrs::function::erf::erfc;

use crate::Report;
use crate::clusters::{Clusters, sample};
use crate::text::number;

/// Values looked at, about: of more, a sample of the objects is.
const VALUES: usize = 20_000_000;

/// Objects looked at: at least and at most.
const OBJECTS: (usize, usize) = (1_000, 50_000);

/// Corrected p-values from which on a column is not said to differ.
const LEVEL: f64 = 0.05;

/// A column in which the objects of a cluster differ from all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Marker {
    /// Place of the cluster among those shown.
    pub(crate) cluster: usize,
    pub(crate) column: usize,
    /// What is typical of the cluster, and of all other objects.
    pub(crate) typical: [f64; 2],
    /// Which number that is.
    pub(crate) kind: Typical,
    /// Cohen's d: the difference of the means over the pooled standard deviation; 0 where that is 0.
    pub(crate) d: f64,
    /// How often an object of the cluster has a larger value than another one; ties count half.
    pub(crate) auc: f64,
    /// p-value of the Mann–Whitney test by its normal approximation, corrected by Benjamini and Hochberg over all clusters and columns.
    pub(crate) p: f64,
}

/// A number that is typical of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Typical {
    /// The share of ones in a column of zeros and ones.
    Share,
    Median,
    /// Of columns whose medians are the same.
    Mean,
}

impl Marker {
    /// How far the cluster and the rest are apart in this column, from 0 to 0.5.
    fn strength(&self) -> f64 {
        (self.auc - 0.5).abs()
    }
}

/// The columns that tell clusters apart, and from how many objects that was computed.
#[derive(Serialize)]
pub(crate) struct Markers {
    /// Those of a cluster side by side, the clearest first.
    pub(crate) found: Vec<Marker>,
    /// Objects looked at.
    pub(crate) objects: usize,
    /// Clusters and columns compared.
    pub(crate) tests: usize,
}

/// At most `each` columns for every cluster shown; none where there is one cluster.
///
/// # Cost
/// O(d n log n + d K) for n objects looked at.
pub(crate) fn markers(
    report: &Report<'_>,
    values: ArrayView2<'_, f64>,
    clusters: &Clusters,
    each: usize,
) -> Option<Markers> {
    let columns = values.ncols();
    if clusters.shown.len() < 2 || columns == 0 {
        return None;
    }
    let objects = sample(clusters, (VALUES / columns).clamp(OBJECTS.0, OBJECTS.1));
    let mut place = vec![usize::MAX; report.partition.clusters()];
    for (at, cluster) in clusters.shown.iter().enumerate() {
        place[cluster.label] = at;
    }
    let group = |&i: &u32| place[report.partition.labels()[i as usize] as usize];
    let groups: Vec<usize> = objects.iter().map(group).collect();
    let of_column = |column: usize| {
        let known = Known::of(values.column(column), &objects, &groups);
        compared(column, &known, clusters.shown.len())
    };
    let all = (0..columns).into_par_iter();
    let mut found: Vec<Marker> = all.flat_map_iter(of_column).collect();
    let tests = found.len();
    corrected(&mut found);
    found.retain(|marker| marker.p < LEVEL);
    found.sort_unstable_by(|a, b| {
        let by_strength = b.strength().total_cmp(&a.strength());
        let by_d = b.d.abs().total_cmp(&a.d.abs());
        let by = a.cluster.cmp(&b.cluster).then(by_strength);
        by.then(by_d).then(a.column.cmp(&b.column))
    });
    let mut taken = vec![0; clusters.shown.len()];
    found.retain(|marker| {
        taken[marker.cluster] += 1;
        taken[marker.cluster] <= each
    });
    for marker in &mut found {
        let known = Known::of(values.column(marker.column), &objects, &groups);
        (marker.kind, marker.typical) = known.typical(marker.cluster, marker.typical);
    }
    Some(Markers {
        found,
        objects: objects.len(),
        tests,
    })
}

/// Sums of one group of objects.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
    ranks: f64,
}

/// The values of a column that are known, and the group of each.
struct Known {
    values: Vec<f64>,
    groups: Vec<usize>,
}

impl Known {
    fn of(column: ArrayView1<'_, f64>, objects: &[u32], groups: &[usize]) -> Self {
        let pairs = objects.iter().zip(groups);
        let pairs = pairs.map(|(&object, &group)| (column[object as usize], group));
        let (values, groups) = pairs.filter(|(value, _)| !value.is_nan()).unzip();
        Self { values, groups }
    }

    /// What is typical of a group and of all others: shares of ones, medians, or these means where medians say nothing.
    fn typical(&self, group: usize, means: [f64; 2]) -> (Typical, [f64; 2]) {
        let sides = [true, false].map(|inside| -> Vec<f64> {
            let pairs = self.values.iter().zip(&self.groups);
            let side = pairs.filter(|&(_, &of)| (of == group) == inside);
            side.map(|(&value, _)| value).collect()
        });
        if self.values.iter().all(|&x| x == 0.0 || x == 1.0) {
            // The means are moved by rounding: all is not nearly all.
            let shares = sides.map(|side| side.iter().sum::<f64>() / side.len() as f64);
            return (Typical::Share, shares);
        }
        let medians = sides.map(median);
        if number(medians[0]) == number(medians[1]) {
            (Typical::Mean, means)
        } else {
            (Typical::Median, medians)
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = ((values.len() - 1) / 2, values.len() / 2);
    0.5 * (values[low] + values[high])
}

/// One column: every group against all other objects. p-values are not corrected; there is none where either side has fewer than two
/// objects or all values are equal.
fn compared(column: usize, known: &Known, count: usize) -> Vec<Marker> {
    let n = known.values.len() as f64;
    let centre = known.values.iter().sum::<f64>() / n;
    let value = |at: usize| known.values[at] - centre;
    let mut order: Vec<usize> = (0..known.values.len()).collect();
    order.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)));
    let mut sums = vec![Sums::default(); count];
    let mut below = 0.0;
    let mut ties = 0.0;
    for equal in order.chunk_by(|&a, &b| value(a) == value(b)) {
        let size = equal.len() as f64;
        for &at in equal {
            let (x, of) = (value(at), &mut sums[known.groups[at]]);
            of.count += 1.0;
            of.sum += x;
            of.squares += x * x;
            of.ranks += below + 0.5 * (size + 1.0);
        }
        below += size;
        ties += size * size * size - size;
    }
    let squares: f64 = sums.iter().map(|of| of.squares).sum();
    let mut found = Vec::new();
    for (cluster, of) in sums.iter().enumerate() {
        let (inside, outside) = (of.count, n - of.count);
        let variance = inside * outside / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
        if inside < 2.0 || outside < 2.0 || variance <= 0.0 {
            continue;
        }
        // Values are around their mean, so that the rest has the opposite sum.
        let (mean, rest) = (of.sum / inside, -of.sum / outside);
        let spread = squares - inside * mean * mean - outside * rest * rest;
        let deviation = (spread.max(0.0) / (n - 2.0)).sqrt();
        let d = (mean - rest) / deviation;
        let u = of.ranks - 0.5 * inside * (inside + 1.0);
        let z = ((u - 0.5 * inside * outside).abs() - 0.5).max(0.0) / variance.sqrt();
        // Sums of 0 and 1 around their mean leave 1e-16 in place of 0.
        let whole = (squares / n).sqrt() * 1e-12;
        let rounded = |x: f64| (x / whole).round() * whole;
        found.push(Marker {
            cluster,
            column,
            typical: [rounded(mean + centre), rounded(rest + centre)],
            kind: Typical::Mean,
            d: if deviation > 0.0 { d } else { 0.0 },
            auc: u / (inside * outside),
            p: erfc(z / std::f64::consts::SQRT_2),
        });
    }
    found
}

/// Corrects p-values for their number, by Benjamini and Hochberg.
fn corrected(found: &mut [Marker]) {
    let tests = found.len() as f64;
    found.sort_unstable_by(|a, b| {
        a.p.total_cmp(&b.p)
            .then((a.cluster, a.column).cmp(&(b.cluster, b.column)))
    });
    let mut least = 1.0f64;
    for (at, marker) in found.iter_mut().enumerate().rev() {
        least = least.min(marker.p * tests / (at + 1) as f64);
        marker.p = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::Array2;
    use partita_core::{Features, Partition};
    use serde_json::Value;

    #[test]
    fn numbers_are_those_of_scipy() {
        // scipy.stats.mannwhitneyu([1, 2, 4, 7], [3, 5, 6, 8, 9, 4], method="asymptotic"): U = 5.5, p = 0.19945761.
        let values =
            Array2::from_shape_vec((10, 1), vec![1., 2., 4., 7., 3., 5., 6., 8., 9., 4.]).unwrap();
        let objects: Vec<u32> = (0..10).collect();
        let groups = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        let known = Known::of(values.column(0), &objects, &groups);
        let found = compared(0, &known, 2);
        assert!(
            (found[0].auc - 5.5 / 24.0).abs() < 1e-12 && (found[1].auc - 18.5 / 24.0).abs() < 1e-12
        );
        assert!((found[0].p - 0.199_457_61).abs() < 1e-8, "{}", found[0].p);
        // (3.5 - 35/6) over the pooled deviation √((21 + 185/6) / 8).
        let d = (3.5 - 35.0 / 6.0) / ((21.0 + 161.0 / 6.0) / 8.0f64).sqrt();
        assert!((found[0].d - d).abs() < 1e-9, "{} {d}", found[0].d);
        assert!((found[0].typical[0] - 3.5).abs() < 1e-12);
    }

    #[test]
    fn benjamini_and_hochberg_correct_for_the_number_of_tests() {
        let marker = |column, p| Marker {
            cluster: 0,
            column,
            typical: [0.0; 2],
            kind: Typical::Mean,
            d: 0.0,
            auc: 0.5,
            p,
        };
        let mut found = [(0, 0.04), (1, 0.01), (2, 0.03), (3, 0.5)].map(|(at, p)| marker(at, p));
        corrected(&mut found);
        for (marker, p) in found.iter().zip([0.04, 0.16 / 3.0, 0.16 / 3.0, 0.5]) {
            assert!((marker.p - p).abs() < 1e-12, "{marker:?}");
        }
    }

    #[test]
    fn the_columns_that_differ_are_found_and_noise_is_not() {
        let n = 300;
        let labels: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let partition = Partition::new(labels, 3).unwrap();
        let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1000) as f64 / 1000.0;
        let shift = |i: usize, j: usize| if i % 3 == j { 3.0 } else { 0.0 };
        let values = Array2::from_shape_fn((n, 6), |(i, j)| noise(i, j) + shift(i, j));
        let columns: Vec<String> = (0..6).map(|j| format!("c{j}")).collect();
        let table = Features::new(&columns, values.view()).unwrap();
        let agreement = vec![1.0; n];
        let report = Report::new("", Value::Null, &partition, &agreement);
        let markers = markers(&report, table.values(), &Clusters::of(&report), 1).unwrap();
        let found: Vec<_> = markers
            .found
            .iter()
            .map(|m| (m.cluster, m.column))
            .collect();
        assert_eq!((found, markers.tests), (vec![(0, 0), (1, 1), (2, 2)], 18));
        let clear = |m: &Marker| m.auc > 0.99 && m.d > 3.0 && m.p < 1e-20;
        assert!(markers.found.iter().all(clear));
    }
}
