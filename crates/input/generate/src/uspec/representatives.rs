//! Representatives of a table, and the nearest of them for every row, approximately: by groups of representatives.

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView1, Axis};
use partita_core::{Seed, Silent};
use partita_kmeans::{Initialization, KMeans, KMeansSettings, kmeans};

use crate::error::Result;

/// Representatives that every row is joined to, q.
pub(crate) const NEAREST: usize = 5;

/// Neighbours of the first representative that are looked at, itself included.
const CANDIDATES: usize = 10 * NEAREST + 1;

/// Iterations of the k-means that finds the representatives, and of the one that groups them.
const ITERATIONS: u32 = 10;
const GROUP_ROUNDS: u32 = 20;

/// The nearest representatives of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Joined {
    /// Their numbers, the nearest first.
    pub(crate) to: [u16; NEAREST],
    /// Squared distances, then affinities; infinite, then 0 beyond the number of representatives and where a row is not seen.
    pub(crate) by: [f32; NEAREST],
}

impl Joined {
    /// Joined to nothing.
    pub(crate) const NONE: Self = Self {
        to: [0; NEAREST],
        by: [f32::INFINITY; NEAREST],
    };

    fn insert(&mut self, distance: f32, representative: u16) {
        let mut place = NEAREST - 1;
        while place > 0 && distance < self.by[place - 1] {
            (self.by[place], self.to[place]) = (self.by[place - 1], self.to[place - 1]);
            place -= 1;
        }
        (self.by[place], self.to[place]) = (distance, representative);
    }
}

/// Representatives in single precision, group after group.
pub(crate) struct Representatives {
    /// What is subtracted from each column after all numbers are multiplied by `factor`: neither huge nor tiny units leave the
    /// range of single precision.
    shift: Vec<f64>,
    factor: f64,
    /// p × d.
    points: Vec<f32>,
    /// Centres of the groups, groups × d.
    centres: Vec<f32>,
    /// Where each group starts among the points, and the end.
    starts: Vec<usize>,
    /// For every representative the nearest others and itself, p × `width`, rising.
    candidates: Vec<u16>,
    width: usize,
}

impl Representatives {
    /// The centres of so many clusters of a sample of rows, at most.
    ///
    /// # Cost
    /// O(rows·p·d) time an iteration and O(p²·d).
    pub(crate) fn of_sample(sample: &Array2<f64>, count: usize, seed: Seed) -> Result<Self> {
        let found = clusters(sample, count, ITERATIONS, seed.child(0))?;
        let p = found.centres.nrows();
        let groups = clusters(&found.centres, p.isqrt(), GROUP_ROUNDS, seed.child(1))?;
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by_key(|&point| groups.labels[point]);
        let starts = (0..=groups.centres.nrows() as u32)
            .map(|group| order.partition_point(|&point| groups.labels[point] < group))
            .collect();
        let largest = sample
            .iter()
            .fold(0.0f64, |largest, x| largest.max(x.abs()));
        let factor = if largest > 0.0 {
            2f64.powi(-(largest.log2().floor() as i32))
        } else {
            1.0
        };
        let shift = sample
            .columns()
            .into_iter()
            .map(|column| column.iter().map(|x| x * factor).sum::<f64>());
        let shift = shift.map(|sum| sum / sample.nrows() as f64).collect();
        let mut made = Self {
            shift,
            factor,
            points: Vec::new(),
            centres: Vec::new(),
            starts,
            candidates: Vec::new(),
            width: CANDIDATES.min(p),
        };
        made.points = made.single(&found.centres.select(Axis(0), &order));
        made.centres = made.single(&groups.centres);
        made.candidates = (0..p).flat_map(|point| made.neighbours(point)).collect();
        Ok(made)
    }

    /// How many there are, p.
    pub(crate) fn len(&self) -> usize {
        self.points.len() / self.shift.len()
    }

    /// A row of the table as [`nearest`](Self::nearest) takes it.
    pub(crate) fn write(&self, row: ArrayView1<'_, f64>, to: &mut [f32]) {
        for ((to, x), shift) in to.iter_mut().zip(row).zip(&self.shift) {
            *to = (x * self.factor - shift) as f32;
        }
    }

    /// The nearest representatives of a row among the neighbours of the nearest one of the nearest group.
    pub(crate) fn nearest(&self, row: &[f32]) -> Joined {
        let group = closest(row, &self.centres);
        let members = self.starts[group]..self.starts[group + 1];
        let d = row.len();
        let first = members.start + closest(row, &self.points[members.start * d..members.end * d]);
        let mut joined = Joined::NONE;
        for &candidate in &self.candidates[first * self.width..][..self.width] {
            let distance =
                distance2(row, &self.points[usize::from(candidate) * d..][..d]).min(f32::MAX);
            if distance < joined.by[NEAREST - 1] {
                joined.insert(distance, candidate);
            }
        }
        joined
    }

    fn single(&self, points: &Array2<f64>) -> Vec<f32> {
        let mut single = vec![0.0; points.len()];
        for (row, to) in points
            .outer_iter()
            .zip(single.chunks_exact_mut(self.shift.len()))
        {
            self.write(row, to);
        }
        single
    }

    /// The representatives nearest to one of them, rising.
    fn neighbours(&self, point: usize) -> Vec<u16> {
        let d = self.shift.len();
        let own = &self.points[point * d..][..d];
        let mut all: Vec<(f32, u16)> = self
            .points
            .chunks_exact(d)
            .enumerate()
            .map(|(at, other): (usize, &[f32])| (distance2(own, other), at as u16))
            .collect();
        all.select_nth_unstable_by(self.width - 1, |a, b| {
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let mut near: Vec<u16> = all[..self.width].iter().map(|&(_, at)| at).collect();
        near.sort_unstable();
        near
    }
}

/// k-means from rows drawn evenly; clusters that lose their rows are left out.
fn clusters(rows: &Array2<f64>, count: usize, iterations: u32, seed: Seed) -> Result<KMeans> {
    let mut settings = KMeansSettings::default();
    settings.initialization = Initialization::Random;
    settings.iterations = NonZeroU32::new(iterations).unwrap_or(settings.iterations);
    Ok(kmeans(rows.view(), None, count, seed, &settings, &Silent)?)
}

/// The nearest of some points, the first of equals.
fn closest(row: &[f32], points: &[f32]) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (at, point) in points.chunks_exact(row.len()).enumerate() {
        let distance = distance2(row, point);
        if distance < best.0 {
            best = (distance, at);
        }
    }
    best.1
}

/// Squared Euclidean distance, summed in eight strands where there are so many columns.
fn distance2(a: &[f32], b: &[f32]) -> f32 {
    let square = |(a, b): (&f32, &f32)| (a - b) * (a - b);
    if a.len() < 8 {
        return a.iter().zip(b).map(square).sum();
    }
    let mut sums = [0.0f32; 8];
    let (head, tail) = a.split_at(a.len() & !7);
    for (a, b) in head.chunks_exact(8).zip(b.chunks_exact(8)) {
        for (sum, pair) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += square(pair);
        }
    }
    sums.iter().sum::<f32>() + tail.iter().zip(&b[head.len()..]).map(square).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// The nearest of all representatives.
    fn exact(found: &Representatives, row: &[f32]) -> Joined {
        let mut joined = Joined::NONE;
        for (at, point) in found.points.chunks_exact(row.len()).enumerate() {
            let distance = distance2(row, point);
            if distance < joined.by[NEAREST - 1] {
                joined.insert(distance, at as u16);
            }
        }
        joined
    }

    /// Shares of rows whose nearest representatives are all found.
    fn found_exactly(n: usize, d: usize, count: usize) -> f64 {
        let mut rng = Seed::new(n as u64).rng();
        let table = Array2::from_shape_fn((n, d), |(i, p)| {
            ((i * p) % 7) as f64 + 2.0 * rng.random::<f64>()
        });
        let found = Representatives::of_sample(&table, count, Seed::new(1)).unwrap();
        assert!(found.len() <= count);
        let mut single = vec![0.0; d];
        let same = table.outer_iter().filter(|row| {
            found.write(*row, &mut single);
            let near = found.nearest(&single);
            let all = exact(&found, &single);
            assert!(near.by.is_sorted() && near.by.iter().zip(all.by).all(|(a, b)| *a >= b));
            near == all
        });
        same.count() as f64 / n as f64
    }

    #[test]
    fn few_representatives_are_searched_exactly_and_many_nearly() {
        for (n, d, count) in [(30, 1, 3), (200, 2, 51), (300, 9, 40), (60, 3, 60)] {
            assert_eq!(found_exactly(n, d, count), 1.0, "{n} × {d}");
        }
        for d in [2, 8, 17] {
            let share = found_exactly(3000, d, 400);
            assert!(share > 0.9, "{d} columns: {share}");
        }
    }

    #[test]
    fn copies_of_rows_leave_fewer_representatives_than_asked_for() {
        let table = Array2::from_shape_fn((40, 2), |(i, _)| (i % 3) as f64 * 1e200);
        let found = Representatives::of_sample(&table, 20, Seed::new(2)).unwrap();
        assert_eq!(found.len(), 3);
        let mut single = vec![0.0; 2];
        found.write(table.row(1), &mut single);
        let joined = found.nearest(&single);
        assert!(
            joined.by[0] < 1e-10 && joined.by[1] < f32::INFINITY && joined.by[3] == f32::INFINITY
        );
    }
}
