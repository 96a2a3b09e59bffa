//! Runs of one number of clusters that are copies of one answer.
//!
//! ```text
//! c_ab = ‖P_b − P_aΠ‖² / (2n) = v_a + v_b + Δ²      v the noise of a run, Δ² between the answers they are copies of
//! ```
//! The tree of average link over c is read from its leaves: two branches are copies of one answer if each is, and
//!
//! 1. c̄ between them is below what a picture shows (a similarity of 0.97, the usual limit of pong), or
//! 2. Δ² is less than the noise of a run, v̄_A and v̄_B being half the mean costs within: c̄ ≤ 1½ (v̄_A + v̄_B). A run that stands alone
//!    has no v̄; it may have [`LONE_NOISE`] times the noise of the others: c̄ ≤ (1 + 5) v̄. Where both stand alone, v̄ is that of the two runs
//!    that are most alike, or that of the median object: noise is alike on all objects, another answer is not; and
//! 3. they have more signal than noise: c̄ is at most half of what it would be if the objects of one were in random order.
//!
//! No noise is taken to be less than what a picture shows.

use partita_core::ndarray::{Array2, ArrayView2, Axis, Slice, concatenate};
use partita_linkage::{Linkage, link};
use rayon::prelude::*;

use crate::Run;
use crate::column_matching::{distances, match_columns, places, squares};

/// Rows that runs are compared on to find which are alike; more are thinned evenly.
const ROWS: usize = 2000;

/// Runs of this similarity are alike, whatever their noise.
const UNSEEN: f64 = 0.97;

/// The noise of runs of that similarity: half their cost.
const UNSEEN_NOISE: f64 = 0.5 * (1.0 - UNSEEN) * (1.0 - UNSEEN);

/// How much more noise than the others a run may have that stands alone.
const LONE_NOISE: f64 = 5.0;

/// At most [`ROWS`] rows of a run, evenly spread.
pub(crate) fn thinned(run: &Run) -> Array2<f64> {
    let rows = run.objects();
    let most = rows.min(ROWS);
    let kept: Vec<usize> = (0..most).map(|at| at * rows / most).collect();
    run.rows().select(Axis(0), &kept)
}

/// What two runs differ by after their columns are matched.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    cost: f64,
    /// The cost expected of objects in random order.
    chance: f64,
}

/// Runs that may be one mode.
#[derive(Clone, Debug)]
struct Branch {
    runs: Vec<usize>,
    /// The sum of the costs of all pairs.
    within: f64,
    one_answer: bool,
}

impl Branch {
    /// The mean noise of a run; none where it stands alone.
    fn noise(&self) -> Option<f64> {
        let r = self.runs.len() as f64;
        (r > 1.0).then(|| (self.within / (r * (r - 1.0))).max(UNSEEN_NOISE))
    }
}

/// Groups of runs with the same number of columns, the largest first, members of each with the representative first, which is most like
/// the others. Runs are alike at `similarity` on average, or without one if they differ by noise alone.
pub(crate) fn groups(runs: &[&Array2<f64>], similarity: Option<f64>) -> Vec<Vec<usize>> {
    let pairs = pairs(runs);
    let costs: Vec<f64> = pairs.iter().map(|pair| pair.cost).collect();
    // Two runs alone are most alike of all, which says nothing.
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let least = if runs.len() > 2 { 0.5 * least } else { 0.0 };
    let least = least.max(UNSEEN_NOISE);
    let tree = link(costs, runs.len(), Linkage::Average).expect("costs are finite");
    let mut branches: Vec<Option<Branch>> = (0..runs.len()).map(|run| Some(leaf(run))).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for merge in tree.merges() {
        let [left, right] = [merge.left, merge.right].map(|node| branches[node as usize].take());
        let Some((left, right)) = left.zip(right) else {
            continue;
        };
        let sums = between(&pairs, runs.len(), &left.runs, &right.runs);
        let noise = match (&left.runs[..], &right.runs[..]) {
            (&[q], &[p]) => least.max(0.5 * even_cost(runs[q], runs[p])),
            _ => least,
        };
        let one_answer =
            left.one_answer && right.one_answer && alike(&left, &right, sums, noise, similarity);
        if !one_answer {
            let whole = [&left, &right]
                .into_iter()
                .filter(|branch| branch.one_answer);
            groups.extend(whole.map(|branch| branch.runs.clone()));
        }
        branches.push(Some(Branch {
            runs: [left.runs, right.runs].concat(),
            within: left.within + right.within + sums.cost,
            one_answer,
        }));
    }
    let root = branches.pop().flatten().filter(|root| root.one_answer);
    groups.extend(root.map(|root| root.runs));
    for group in &mut groups {
        representative_first(group, &pairs, runs.len());
    }
    groups.sort_by_key(|group| (std::cmp::Reverse(group.len()), group.iter().copied().min()));
    groups
}

fn leaf(run: usize) -> Branch {
    Branch {
        runs: vec![run],
        within: 0.0,
        one_answer: true,
    }
}

/// Whether two branches are copies of one answer.
fn alike(left: &Branch, right: &Branch, sums: Pair, noise: f64, similarity: Option<f64>) -> bool {
    let pairs = (left.runs.len() * right.runs.len()) as f64;
    let (cost, chance) = (sums.cost / pairs, sums.chance / pairs);
    if let Some(similarity) = similarity {
        return 1.0 - cost.sqrt() >= similarity;
    }
    let most = match (left.noise(), right.noise()) {
        (Some(left), Some(right)) => 1.5 * (left + right),
        (Some(known), None) | (None, Some(known)) => (1.0 + LONE_NOISE) * known,
        (None, None) => (1.0 + LONE_NOISE) * noise,
    };
    1.0 - cost.sqrt() >= UNSEEN || (cost <= most && cost <= 0.5 * chance)
}

/// The mean cost of an object if all had the noise of the median one.
fn even_cost(q: &Array2<f64>, p: &Array2<f64>) -> f64 {
    let columns = match_columns(q.view(), p.view()).columns;
    let matched = p.select(Axis(1), &columns);
    let squares = (q - &matched).mapv(|apart| apart * apart);
    let mut costs: Vec<f64> = (0.5 * squares.sum_axis(Axis(1))).to_vec();
    let middle = costs.len() / 2;
    let median = *costs.select_nth_unstable_by(middle, f64::total_cmp).1;
    // The median of a chi-squared variable by its mean (Wilson and Hilferty): K shares that sum to 1 are K − 1 free numbers.
    let free = (q.ncols().max(2) - 1) as f64;
    median / (1.0 - 2.0 / (9.0 * free)).powi(3)
}

/// The place of a pair in the order of [`pairs`].
fn place(runs: usize, a: usize, b: usize) -> usize {
    let (a, b) = (a.min(b), a.max(b));
    a * runs - a * (a + 1) / 2 + b - a - 1
}

/// The sums over all pairs of a left and a right run.
fn between(pairs: &[Pair], runs: usize, left: &[usize], right: &[usize]) -> Pair {
    let mut sums = Pair::default();
    for &a in left {
        for &b in right {
            let pair = pairs[place(runs, a, b)];
            sums.cost += pair.cost;
            sums.chance += pair.chance;
        }
    }
    sums
}

/// Sorts a group, and brings the run with the least cost to the others to its front.
fn representative_first(group: &mut [usize], pairs: &[Pair], runs: usize) {
    group.sort_unstable();
    let sum = |&run: &usize| -> f64 {
        let others = group.iter().filter(|&&other| other != run);
        others
            .map(|&other| pairs[place(runs, run, other)].cost)
            .sum()
    };
    let sums: Vec<f64> = group.iter().map(sum).collect();
    let best = (1..group.len()).fold(0, |best, at| if sums[at] < sums[best] { at } else { best });
    group[..=best].rotate_right(1);
}

/// Runs whose products with others are taken at once.
const BLOCK: usize = 32;

/// All pairs of runs in SciPy's order: (0,1), (0,2), …, (1,2), ….
fn pairs(runs: &[&Array2<f64>]) -> Vec<Pair> {
    let own: Vec<Columns> = runs.par_iter().map(|run| Columns::of(run)).collect();
    let blocks: Vec<Array2<f64>> = runs.chunks(BLOCK).map(side_by_side).collect();
    let of_blocks = (0..blocks.len()).flat_map(|a| (a..blocks.len()).map(move |b| (a, b)));
    let of_blocks: Vec<(usize, usize)> = of_blocks.collect();
    let runs_of = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(runs.len());
    let found = of_blocks.into_par_iter().flat_map_iter(|(first, second)| {
        let products = blocks[first].t().dot(&blocks[second]);
        let mut found = Vec::new();
        for a in runs_of(first) {
            let width = runs[a].ncols();
            let part = |run: usize| Slice::from(run % BLOCK * width..(run % BLOCK + 1) * width);
            let lines = products.slice_axis(Axis(0), part(a));
            for b in runs_of(second).filter(|&b| b > a) {
                let products = lines.slice_axis(Axis(1), part(b));
                let pair = own[a].with(&own[b], products, runs[a].nrows());
                found.push((place(runs.len(), a, b), pair));
            }
        }
        found
    });
    let mut found: Vec<(usize, Pair)> = found.collect();
    found.sort_unstable_by_key(|&(place, _)| place);
    found.into_iter().map(|(_, pair)| pair).collect()
}

/// Sums of squares and means of the columns of a run.
struct Columns {
    squares: Vec<f64>,
    means: Vec<f64>,
}

impl Columns {
    fn of(run: &Array2<f64>) -> Self {
        let n = run.nrows().max(1) as f64;
        Self {
            squares: squares(run.view()),
            means: run.sum_axis(Axis(0)).iter().map(|sum| sum / n).collect(),
        }
    }

    /// What two runs with the same number of columns differ by, from these and their products.
    fn with(&self, other: &Self, products: ArrayView2<'_, f64>, rows: usize) -> Pair {
        let distances = distances(&self.squares, &other.squares, products, rows);
        let n = rows.max(1) as f64;
        let mut pair = Pair::default();
        for (a, b) in places(distances.view()).into_iter().enumerate() {
            pair.cost += 0.5 * distances[[a, b]];
            pair.chance +=
                0.5 * (self.squares[a] + other.squares[b]) / n - self.means[a] * other.means[b];
        }
        pair.cost = pair.cost.max(0.0);
        pair
    }
}

fn side_by_side(runs: &[&Array2<f64>]) -> Array2<f64> {
    let views: Vec<ArrayView2<'_, f64>> = runs.iter().map(|run| run.view()).collect();
    concatenate(Axis(1), &views).expect("runs of the same objects")
}
