//! t-SNE: places in the plane at which near neighbours stay near (van der Maaten and Hinton, 2008).
//!
//! ```text
//! p_j|i ∝ exp(−β_i d²_ij) among the nearest, β_i such that its perplexity is that asked for;  p_ij = (p_j|i + p_i|j) / 2n
//! q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i − y_j|²);  gradient of KL(p‖q) by y_i: 4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j)
//! ```
//!
//! Nothing is drawn by chance: it starts from places that are given. Sums are made row by row, so that threads change nothing.

use partita_core::ndarray::Array2;
use rayon::prelude::*;

/// Neighbours that an object has, about, and how many times as many take part.
const PERPLEXITY: f64 = 30.0;
const REACH: f64 = 3.0;

/// Fewer rows than this stay where they are.
pub(super) const FEWEST: usize = 12;

/// Steps, those of them in which neighbours pull so many times as strongly, and how strongly.
const STEPS: usize = 300;
const EARLY: usize = 100;
const PULL: f32 = 12.0;

/// Numbers that are added side by side.
const LANES: usize = 8;

type Place = [f32; 2];

/// Moves places (n × 2) until rows at these squared distances (n × n) have the same neighbours there.
///
/// # Cost
/// O(n²) time a step and O(n) memory besides the distances.
pub(super) fn tsne(squares: &Array2<f64>, start: &Array2<f64>) -> Array2<f64> {
    let n = squares.nrows();
    if n < FEWEST {
        return start.clone();
    }
    let near = neighbours(squares);
    let mut places = small(start);
    let mut speed = vec![[0.0; 2]; n];
    let mut gains = vec![[1.0f32; 2]; n];
    let rate = (n as f32 / PULL / 4.0).max(50.0);
    for step in 0..STEPS {
        let (pull, momentum) = if step < EARLY {
            (PULL, 0.5)
        } else {
            (1.0, 0.8)
        };
        let gradient = gradient(&places, &near, pull);
        for i in 0..n {
            for axis in 0..2 {
                let (slope, gain) = (gradient[i][axis], &mut gains[i][axis]);
                let same = (slope > 0.0) == (speed[i][axis] > 0.0);
                *gain = if same { *gain * 0.8 } else { *gain + 0.2 }.max(0.01);
                speed[i][axis] = momentum * speed[i][axis] - rate * *gain * slope;
                places[i][axis] += speed[i][axis];
            }
        }
    }
    Array2::from_shape_fn((n, 2), |(i, axis)| f64::from(places[i][axis]))
}

/// The start in a small disc, where places can still pass each other.
fn small(start: &Array2<f64>) -> Vec<Place> {
    let first = start.column(0);
    let mean = first.mean().unwrap_or(0.0);
    let squares = first.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let unit = 1e-4 / (squares / first.len() as f64).sqrt().max(1e-300);
    let rows = start.outer_iter();
    rows.map(|row| [0, 1].map(|axis| (row[axis] * unit) as f32))
        .collect()
}

/// The nearest rows of every row, and p_ij.
fn neighbours(squares: &Array2<f64>) -> Vec<Vec<(u32, f32)>> {
    let n = squares.nrows();
    let perplexity = PERPLEXITY.min((n - 1) as f64 / REACH);
    let count = ((REACH * perplexity) as usize).min(n - 1);
    let of_row = |i: usize| {
        let mut others: Vec<(f64, u32)> = (0..n)
            .filter(|&j| j != i)
            .map(|j| (squares[[i, j]].max(0.0), j as u32))
            .collect();
        others.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        others.truncate(count);
        shares(&others, perplexity.ln())
    };
    let directed: Vec<Vec<(u32, f64)>> = (0..n).into_par_iter().map(of_row).collect();
    let mut both: Vec<Vec<(u32, f64)>> = directed.clone();
    for (i, row) in directed.iter().enumerate() {
        row.iter()
            .for_each(|&(j, p)| both[j as usize].push((i as u32, p)));
    }
    let merged = |mut row: Vec<(u32, f64)>| {
        row.sort_by_key(|pair| pair.0);
        let of_one = row.chunk_by(|a, b| a.0 == b.0);
        let sum = |same: &[(u32, f64)]| same.iter().map(|pair| pair.1).sum::<f64>();
        of_one
            .map(|same| (same[0].0, (sum(same) / (2 * n) as f64) as f32))
            .collect()
    };
    both.into_par_iter().map(merged).collect()
}

/// p_j|i of the nearest rows: β is halved and doubled, then looked for in between, until their entropy is that asked for.
fn shares(others: &[(f64, u32)], entropy: f64) -> Vec<(u32, f64)> {
    let least = others
        .iter()
        .map(|other| other.0)
        .fold(f64::INFINITY, f64::min);
    let mean = others.iter().map(|other| other.0 - least).sum::<f64>() / others.len() as f64;
    let mut beta = 1.0 / mean.max(1e-12);
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut shares = Vec::new();
    for _ in 0..60 {
        shares = others
            .iter()
            .map(|other| (-beta * (other.0 - least)).exp())
            .collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let found: f64 = shares.iter().map(|&p| -p * p.max(1e-300).ln()).sum();
        if (found - entropy).abs() < 1e-5 {
            break;
        }
        if found > entropy {
            low = beta;
        } else {
            high = beta;
        }
        beta = if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * beta
        };
    }
    others.iter().map(|other| other.1).zip(shares).collect()
}

fn gradient(places: &[Place], near: &[Vec<(u32, f32)>], pull: f32) -> Vec<Place> {
    let [x, y] = [0, 1].map(|axis| places.iter().map(|place| place[axis]).collect::<Vec<f32>>());
    let apart = places.par_iter().map(|&place| repulsion(place, &x, &y));
    let apart: Vec<[f32; 3]> = apart.collect();
    // Every place repels itself with a weight of 1.
    let all: f64 = apart.iter().map(|of| f64::from(of[2])).sum::<f64>() - places.len() as f64;
    let z = 1.0 / all.max(1e-12) as f32;
    let slope = |i: usize| {
        let mut slope = [-apart[i][0] * z, -apart[i][1] * z];
        for &(j, p) in &near[i] {
            let ([x, y], [of_x, of_y]) = (places[i], places[j as usize]);
            let (dx, dy) = (x - of_x, y - of_y);
            let w = pull * p / (1.0 + dx * dx + dy * dy);
            slope[0] += w * dx;
            slope[1] += w * dy;
        }
        slope.map(|x| 4.0 * x)
    };
    (0..places.len()).into_par_iter().map(slope).collect()
}

/// Σ w² (y_i − y_j), and Σ w.
fn repulsion([px, py]: Place, x: &[f32], y: &[f32]) -> [f32; 3] {
    let (mut along_x, mut along_y, mut weights) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let ((xs, last_x), (ys, last_y)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (xs, ys) in xs.iter().zip(ys) {
        for lane in 0..LANES {
            let (dx, dy) = (px - xs[lane], py - ys[lane]);
            let w = 1.0 / (1.0 + dx * dx + dy * dy);
            along_x[lane] += w * w * dx;
            along_y[lane] += w * w * dy;
            weights[lane] += w;
        }
    }
    for (&x, &y) in last_x.iter().zip(last_y) {
        let (dx, dy) = (px - x, py - y);
        let w = 1.0 / (1.0 + dx * dx + dy * dy);
        along_x[0] += w * w * dx;
        along_y[0] += w * w * dy;
        weights[0] += w;
    }
    [along_x, along_y, weights].map(|lanes| lanes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;

    /// 200 rows around five corners that no plane shows, and their squared distances.
    fn corners() -> (Array2<f64>, Array2<f64>) {
        let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1000) as f64 / 2500.0;
        let corner = |i: usize, j: usize| if i % 5 == j { 1.0 } else { 0.0 };
        let rows = Array2::from_shape_fn((200, 5), |(i, j)| corner(i, j) + noise(i, j));
        let square = |(i, j): (usize, usize)| (&rows.row(i) - &rows.row(j)).mapv(|x| x * x).sum();
        let squares = Array2::from_shape_fn((200, 200), square);
        (rows, squares)
    }

    /// How many of the five nearest places are of the same corner.
    fn of_the_same(places: &Array2<f64>) -> usize {
        let square = |i: usize, j: usize| {
            let apart = |axis: usize| (places[[i, axis]] - places[[j, axis]]).powi(2);
            apart(0) + apart(1)
        };
        let nearest = |i: usize| {
            let mut others: Vec<usize> = (0..200).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| square(i, a).total_cmp(&square(i, b)));
            others
                .into_iter()
                .take(5)
                .filter(|j| j % 5 == i % 5)
                .count()
        };
        (0..200).map(nearest).sum()
    }

    #[test]
    fn neighbours_stay_neighbours_on_any_threads() {
        let (rows, squares) = corners();
        let start = rows.slice(partita_core::ndarray::s![.., ..2]).to_owned();
        let on = |threads: usize| {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| tsne(&squares, &start))
        };
        let (one, three) = (on(1), on(3));
        assert_eq!(one, three);
        assert!(of_the_same(&start) < 800, "{}", of_the_same(&start));
        assert!(of_the_same(&one) > 980, "{}", of_the_same(&one));
    }

    #[test]
    fn rows_that_are_all_alike_have_places() {
        let start = Array2::from_shape_fn((20, 2), |(i, axis)| (i * (axis + 1) % 7) as f64);
        let places = tsne(&Array2::zeros((20, 20)), &start);
        assert!(places.iter().all(|x| x.is_finite()));
    }
}
