//! The test of one pair once more, in plain loops: factors by Cholesky's formula, eigenvectors by rotations, all triples of windows,
//! tails term by term. It shares nothing with the crate but the halves and the coins.

use partita_core::ndarray::Array2;
use partita_core::{MemoryBudget, Seed, Silent};
use rand::RngExt;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::rows::Rows;
use crate::{GapTestSettings, gap_test};

type Row = Vec<f64>;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Row {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

fn mean(rows: &[Row]) -> Row {
    let sum = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64;
    (0..rows[0].len()).map(sum).collect()
}

/// Σ (x − about)(x − about)ᵀ.
fn products(rows: &[Row], about: &[f64]) -> Vec<Row> {
    let d = about.len();
    let mut sums = vec![vec![0.0; d]; d];
    for row in rows {
        for i in 0..d {
            for j in 0..d {
                sums[i][j] += (row[i] - about[i]) * (row[j] - about[j]);
            }
        }
    }
    sums
}

fn cholesky(w: &[Row]) -> Vec<Row> {
    let d = w.len();
    let mut l = vec![vec![0.0; d]; d];
    for i in 0..d {
        for j in 0..=i {
            let rest = w[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    l
}

/// L⁻¹ x.
fn solve(l: &[Row], x: &[f64]) -> Row {
    let mut z: Row = Vec::new();
    for i in 0..x.len() {
        z.push((x[i] - dot(&l[i][..i], &z)) / l[i][i]);
    }
    z
}

/// The eigenvector of the largest eigenvalue and the values, by Jacobi's rotations.
fn leading(mut a: Vec<Row>) -> (Row, Vec<f64>) {
    let d = a.len();
    let mut v: Vec<Row> = (0..d)
        .map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..100 {
        for p in 0..d {
            for q in p + 1..d {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (sin, cos) = angle.sin_cos();
                for k in 0..d {
                    let (x, y) = (a[k][p], a[k][q]);
                    a[k][p] = cos * x - sin * y;
                    a[k][q] = sin * x + cos * y;
                    let (x, y) = (v[k][p], v[k][q]);
                    v[k][p] = cos * x - sin * y;
                    v[k][q] = sin * x + cos * y;
                }
                for k in 0..d {
                    let (x, y) = (a[p][k], a[q][k]);
                    a[p][k] = cos * x - sin * y;
                    a[q][k] = sin * x + cos * y;
                }
            }
        }
    }
    let values: Vec<f64> = (0..d).map(|i| a[i][i]).collect();
    let top = (0..d)
        .max_by(|&i, &j| values[i].total_cmp(&values[j]))
        .unwrap();
    ((0..d).map(|i| v[i][top]).collect(), values)
}

fn quantile(values: impl IntoIterator<Item = f64>, share: f64) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let at = share * (sorted.len() - 1) as f64;
    let at = if (at - at.round()).abs() < 1e-9 {
        at.round()
    } else {
        at
    };
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

#[derive(Clone)]
struct Point {
    row: u32,
    cluster: Option<u32>,
    s: f64,
    r2: f64,
    /// What is not along the line, in the table's own metric.
    o: Row,
    bin: Option<usize>,
}

type Window = (usize, usize);

fn inside(window: Window, bin: Option<usize>) -> bool {
    bin.is_some_and(|bin| window.0 <= bin && bin < window.0 + window.1)
}

fn count(points: &[Point], window: Window, pair: bool) -> f64 {
    let counted = points.iter().filter(|point| {
        inside(window, point.bin) && (!pair || point.cluster.is_some_and(|c| c < 2))
    });
    counted.count() as f64
}

/// The best of all triples of windows.
fn search(points: &[Point], step: f64) -> Option<[Window; 3]> {
    let smooth = |pair: bool| -> Vec<f64> {
        let counts: Vec<f64> = (0..48).map(|bin| count(points, (bin, 1), pair)).collect();
        let at = |bin: usize| {
            let weight = |other: usize| (-0.5 * ((bin as f64 - other as f64) * step).powi(2)).exp();
            let sum: f64 = (0..48).map(weight).sum();
            (0..48)
                .map(|other| weight(other) * counts[other])
                .sum::<f64>()
                / sum
        };
        (0..48).map(at).collect()
    };
    let (pair, all) = (smooth(true), smooth(false));
    let mut windows: Vec<Window> = Vec::new();
    for width in [3, 4, 6, 8, 11, 15, 20] {
        windows.extend((0..=48 - width).map(|first| (first, width)));
    }
    let sum =
        |bins: &[f64], window: Window| bins[window.0..window.0 + window.1].iter().sum::<f64>();
    let z = |end: Window, valley: Window| {
        let (a, v) = (sum(&pair, end), sum(&all, valley));
        let (wa, wv) = (end.1 as f64, valley.1 as f64);
        (a * wv - v * wa) / ((a + v + 1.0) * wa * wv).sqrt()
    };
    let mut best = (0.0, None);
    for &valley in &windows {
        let left = windows.iter().filter(|end| end.0 + end.1 <= valley.0);
        let right = windows.iter().filter(|end| valley.0 + valley.1 <= end.0);
        let top = |ends: Vec<Window>| {
            let scored = ends.into_iter().map(|end| (z(end, valley), end));
            scored.reduce(|one, other| if other.0 > one.0 { other } else { one })
        };
        let Some((left, right)) = top(left.copied().collect()).zip(top(right.copied().collect()))
        else {
            continue;
        };
        if left.0.min(right.0) > best.0 {
            best = (left.0.min(right.0), Some([left.1, valley, right.1]));
        }
    }
    best.1
}

/// ln of the valley's density over that of the emptier end, and its variance.
fn emptiness(points: &[Point], [a, v, b]: [Window; 3]) -> (f64, f64) {
    let valley = count(points, v, false) + 0.5;
    let (one, other) = (count(points, a, true) + 0.5, count(points, b, true) + 0.5);
    let first = one / a.1 as f64 <= other / b.1 as f64;
    let (end, width) = if first { (one, a.1) } else { (other, b.1) };
    (
        (valley / v.1 as f64 / (end / width as f64)).ln(),
        1.0 / valley + 1.0 / end,
    )
}

/// P(Bin(n, q) ≤ k), term by term.
fn tail(n: f64, k: f64, q: f64) -> f64 {
    let mut term = (1.0 - q).powf(n);
    let mut sum = term;
    for i in 0..k as u32 {
        term *= (n - f64::from(i)) / f64::from(i + 1) * q / (1.0 - q);
        sum += term;
    }
    sum.min(1.0)
}

/// The rows of one half by the line that is learned on another.
struct Learned {
    l: Vec<Row>,
    u: Row,
    origin: Row,
    rows: [f64; 2],
}

impl Learned {
    fn of(a: &[Row], b: &[Row]) -> Self {
        let (ma, mb) = (mean(a), mean(b));
        let (d, n) = (ma.len(), (a.len() + b.len()) as f64);
        let (sa, sb) = (products(a, &ma), products(b, &mb));
        let mut w: Vec<Row> = (0..d)
            .map(|i| (0..d).map(|j| (sa[i][j] + sb[i][j]) / (n - 2.0)).collect())
            .collect();
        let trace: f64 = (0..d).map(|i| w[i][i]).sum();
        let lambda = d as f64 / (d as f64 + n);
        for i in 0..d {
            for j in 0..d {
                w[i][j] *= 1.0 - lambda;
            }
            w[i][i] += lambda * trace / d as f64;
        }
        let l = cholesky(&w);
        let u = solve(&l, &minus(&mb, &ma));
        let length = dot(&u, &u).sqrt();
        Self {
            l,
            u: u.into_iter().map(|x| x / length).collect(),
            origin: ma,
            rows: [a.len() as f64, b.len() as f64],
        }
    }

    fn point(&self, table: &Array2<f64>, row: u32, cluster: Option<u32>) -> Point {
        let y = minus(table.row(row as usize).to_slice().unwrap(), &self.origin);
        let z = solve(&self.l, &y);
        let s = dot(&z, &self.u);
        let rest: Row = z.iter().zip(&self.u).map(|(z, u)| z - s * u).collect();
        Point {
            row,
            cluster,
            s,
            r2: dot(&rest, &rest),
            o: self.l.iter().map(|l| dot(l, &rest)).collect(),
            bin: None,
        }
    }
}

/// The half of the corridor that is less empty, as a direction and where it begins.
fn crossing(points: &[Point], windows: [Window; 3], seed: Seed) -> Option<(Row, f64)> {
    let middle = windows[1].0 as f64 + windows[1].1 as f64 / 2.0;
    let apart = |point: &Point| (point.bin.unwrap() as f64 + 0.5 - middle).abs();
    let reach = quantile(points.iter().map(apart), 0.25).max(windows[1].1 as f64 / 2.0);
    let coin = |point: &&Point| seed.child(point.row.into()).number() & 1 == 0;
    let (e, f): (Vec<&Point>, Vec<&Point>) = points.iter().partition(coin);
    let of = |near: bool| -> Vec<Row> {
        let chosen = e.iter().filter(|point| (apart(point) <= reach) == near);
        chosen.map(|point| point.o.clone()).collect()
    };
    let (near, rest) = (of(true), of(false));
    let usual = mean(&rest);
    let (spread, common) = (products(&near, &usual), products(&rest, &usual));
    let d = usual.len();
    let difference: Vec<Row> = (0..d)
        .map(|i| {
            (0..d)
                .map(|j| spread[i][j] / near.len() as f64 - common[i][j] / rest.len() as f64)
                .collect()
        })
        .collect();
    let mut candidates = vec![(minus(&mean(&near), &usual), false)];
    let (axis, values) = leading(difference);
    let top = values.iter().copied().fold(f64::MIN, f64::max);
    if top > 1e-6 * values.iter().fold(0.0, |most, x| x.abs().max(most)) {
        candidates.push((axis.clone(), true));
        candidates.push((axis.into_iter().map(|x| -x).collect(), true));
    }
    let judging: Vec<Point> = f.into_iter().cloned().collect();
    let whole = emptiness(&judging, windows);
    let mut best = (1.25, None);
    for (v, beyond) in candidates {
        let near = judging.iter().filter(|point| {
            apart(point) <= reach && (!beyond || dot(&v, &point.o) >= dot(&v, &usual))
        });
        let near: Vec<f64> = near.map(|point| dot(&v, &point.o)).collect();
        if near.is_empty() {
            continue;
        }
        let from = quantile(near, 0.1);
        let part = judging.iter().filter(|point| dot(&v, &point.o) >= from);
        let part = emptiness(&part.cloned().collect::<Vec<_>>(), windows);
        let gain = (part.0 - whole.0) / (part.1 + whole.1).sqrt();
        if gain > best.0 {
            best = (gain, Some((v, from)));
        }
    }
    best.1
}

/// The p-value of one half, and whether the corridor was cut.
fn half_p(
    table: &Array2<f64>,
    rows: &Rows<'_>,
    halving: u32,
    learn: u32,
    least_rows: usize,
    seed: Seed,
) -> (f64, bool) {
    let of = |half: u32, cluster: u32| -> Vec<Row> {
        let all = rows.members[cluster as usize].iter();
        let chosen = all.filter(|&&row| rows.half(row, halving) == half);
        chosen
            .map(|&row| table.row(row as usize).to_vec())
            .collect()
    };
    let learned = Learned::of(&of(learn, 0), &of(learn, 1));
    let points = |half: u32| -> Vec<Point> {
        let all = rows.complete.iter();
        let chosen = all.filter(|&&row| rows.half(row, halving) == half);
        let cluster = |row: u32| Some(rows.cluster[row as usize]).filter(|&cluster| cluster < 9);
        chosen
            .map(|&row| learned.point(table, row, cluster(row)))
            .collect()
    };
    // Rows are nearer to the line than to the mean of a third cluster.
    let third = (rows.members[2].len() >= least_rows).then(|| {
        let mean = Array2::from_shape_vec((1, table.ncols()), mean(&of(learn, 2))).unwrap();
        learned.point(&mean, 0, None).o
    });
    let beside = |point: &Point| {
        let squared = |o: &[f64]| solve(&learned.l, o).iter().map(|x| x * x).sum::<f64>();
        let nearer = |third: &Row| squared(&point.o) <= squared(&minus(&point.o, third));
        third.as_ref().is_none_or(nearer)
    };
    let mut seen = points(learn);
    let fell = seen.len();
    seen.retain(beside);
    let cut = seen.len() < fell;
    let wide = |cluster| {
        let of_cluster = seen.iter().filter(|point| point.cluster == Some(cluster));
        quantile(of_cluster.map(|point| point.r2), 0.9)
    };
    let reach = wide(0).max(wide(1));
    seen.retain(|point| point.r2 <= reach);
    let at = |cluster, share| {
        let of_cluster = seen.iter().filter(|point| point.cluster == Some(cluster));
        quantile(of_cluster.map(|point| point.s), share)
    };
    let low = (at(0, 0.02) - 0.25 * (at(0, 0.5) - at(0, 0.02))).min(at(1, 0.02));
    let high = (at(1, 0.98) + 0.25 * (at(1, 0.98) - at(1, 0.5))).max(at(0, 0.98));
    let binned = |mut points: Vec<Point>| -> Vec<Point> {
        points.retain(|point| point.s >= low && point.s <= high && point.r2 <= reach);
        for point in &mut points {
            point.bin = Some((((point.s - low) / (high - low) * 48.0) as usize).min(47));
        }
        points
    };
    let mut seen = binned(seen);
    let mut held = binned(points(1 - learn));
    held.retain(beside);
    let width = 0.9 * learned.rows[0].min(learned.rows[1]).powf(-0.2);
    let step = (high - low) / 48.0 / width;
    let Some(mut windows) = search(&seen, step) else {
        return (1.0, cut);
    };
    let own = |point: &&Point| point.cluster.is_some_and(|cluster| cluster < 2);
    let own: Vec<Point> = seen.iter().filter(own).cloned().collect();
    let unit = u64::from(halving) * 2 + u64::from(learn);
    let half = crossing(&own, windows, seed.child(u64::MAX).child(unit));
    if let Some((v, from)) = &half {
        seen.retain(|point| dot(v, &point.o) >= *from);
        held.retain(|point| dot(v, &point.o) >= *from);
        match search(&seen, step) {
            Some(better) => windows = better,
            None => return (1.0, true),
        }
    }
    let size = (rows.members[0].len() + rows.members[1].len()) as f64;
    let rho = 1.0 - (0.5 * (table.ncols() as f64 / size).sqrt()).min(0.5);
    let [a, v, b] = windows;
    let valley = count(&held, v, false);
    let p = |end: Window| {
        let weight = rho * v.1 as f64;
        let there = count(&held, end, true);
        tail(there + valley, valley, weight / (weight + end.1 as f64))
    };
    (p(a).max(p(b)), cut || half.is_some())
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Two clusters some standard deviations apart.
    Two,
    /// The same, and a third that lies beside their middle.
    Third,
    /// A bent one cut in two.
    Bent,
}

/// Every ninth row is of a third cluster or none.
fn draw(
    n: usize,
    d: usize,
    apart: f64,
    shape: Shape,
    seed: u64,
) -> (Array2<f64>, Vec<Option<u32>>) {
    let bent = shape == Shape::Bent;
    let mut rng = Seed::new(seed).rng();
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let mut table = Array2::from_shape_simple_fn((n, d), &mut normal);
    for (i, mut row) in table.outer_iter_mut().enumerate() {
        let side = f64::from(u8::from(i % 2 == 1));
        if shape == Shape::Third && i % 9 == 5 && i > 20 {
            row[0] += apart / 2.0;
            row[1] += 5.0 + apart / 4.0;
        } else if bent {
            let angle = std::f64::consts::PI * ((i * 7919 % n) as f64 / n as f64);
            row[0] = 0.3 * row[0] + 4.0 * angle.cos();
            row[1] = 0.3 * row[1] + 4.0 * angle.sin();
        } else {
            row[0] = row[0] * (1.0 + side) + apart * side;
            row[1] += 0.5 * row[0];
        }
    }
    let label = |i: usize| match (i % 9, bent) {
        (5, _) if i > 20 => Some(7),
        (7, _) if i > 20 => None,
        (_, true) => Some(u32::from(table[[i, 0]] > 0.0)),
        (_, false) => Some(i as u32 % 2),
    };
    let labels = (0..n).map(label).collect();
    (table, labels)
}

#[test]
fn the_p_value_of_a_pair_is_that_of_plain_loops() {
    let mut cut = 0;
    let mut small = 0;
    for (seed, (n, d, apart, shape)) in [
        (160, 2, 7.0, Shape::Two),
        (240, 3, 9.0, Shape::Two),
        (300, 6, 7.0, Shape::Two),
        (300, 2, 0.0, Shape::Bent),
        (400, 4, 0.0, Shape::Bent),
        (200, 2, 2.5, Shape::Two),
        (400, 2, 7.0, Shape::Third),
        (600, 8, 8.0, Shape::Third),
        // More columns than rows.
        (120, 125, 30.0, Shape::Two),
    ]
    .into_iter()
    .enumerate()
    {
        let (table, labels) = draw(n, d, apart, shape, seed as u64);
        // The third cluster is listed and not tested, or tested.
        let least_rows = if shape == Shape::Third { 1 } else { n / 6 };
        let settings = GapTestSettings {
            least_rows,
            ..GapTestSettings::default()
        };
        let seed = Seed::new(40 + seed as u64);
        let budget = MemoryBudget::default();
        let found = gap_test(table.view(), &labels, seed, &settings, budget, &Silent).unwrap();
        let of_pair = |split: &&crate::Split| (split.first, split.second) == (0, 1);
        let tests = found.splits.iter().filter(of_pair).map(|split| &split.test);
        let tests: Vec<_> = tests
            .chain(found.nodes.iter().map(|node| &node.test))
            .collect();
        let rows = Rows::new(table.view(), &labels, 4, seed).unwrap();
        let normal = Normal::standard();
        let mut p: Vec<f64> = Vec::new();
        for halving in 0..4 {
            let mut sum = 0.0;
            for learn in [0, 1] {
                let (half, was_cut) = half_p(&table, &rows, halving, learn, least_rows, seed);
                cut += usize::from(was_cut);
                sum += (-normal.inverse_cdf(half)).max(-3.0);
            }
            p.push(normal.sf(sum / 2f64.sqrt()));
        }
        let expected = quantile(p, 0.5);
        assert!(shape != Shape::Third || found.splits.len() == 3);
        small += usize::from(expected < 0.05);
        assert!(
            (tests[0].p - expected).abs() < 1e-8 * expected,
            "n {n}, d {d}: {} {expected}",
            tests[0].p
        );
    }
    assert!(
        cut >= 4 && small >= 2,
        "corridors that were cut: {cut}, gaps: {small}"
    );
}
