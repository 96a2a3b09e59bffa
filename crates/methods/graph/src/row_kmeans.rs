//! k-means on label rows at the places that an embedding gives them: Lloyd's iterations as passes that embed every row anew.

#![expect(
    clippy::inline_always,
    reason = "loops are compiled for wide vectors only where they are inlined"
)]

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Assigned, Ensemble, EnsembleRows, Flow, Mergeable, Monitor, Objective, PassRunner, Row,
    RowBlock, RowFit, RowLabeller, RowMap, RowPass, Sense, Silent, Stopped,
};
use partita_kernels::{Kernel, LANES, Simd, dispatch};
use partita_kmeans::embedded::Search;
use serde::{Deserialize, Serialize};

use crate::GraphError;

/// What k-means minimises.
pub(crate) const SPECTRAL_LOSS: &str = "squared distance to the centroids of the embedding";

/// A row whose mean over its clusters' lines is not longer than this is not reached by the eigenvectors.
const UNREACHED: f64 = 1e-6;

/// Lines of the eigenvectors by base cluster: a row's place is the mean of its clusters' lines, at length 1.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Embedding {
    offsets: Vec<usize>,
    width: usize,
    /// Numbers a line with its padding, a multiple of [`LANES`].
    stride: usize,
    /// ΣJ lines: `width` numbers, the strength of the base cluster, zeros.
    lines: Vec<f64>,
}

impl Embedding {
    /// The embedding by the lines of a table, ΣJ × width, with one strength a line.
    pub(crate) fn new(offsets: Vec<usize>, table: ArrayView2<'_, f64>, strengths: &[f64]) -> Self {
        let width = table.ncols();
        let stride = (width + 1).next_multiple_of(LANES);
        let mut lines = vec![0.0; table.nrows() * stride];
        for ((line, numbers), &strength) in lines
            .chunks_exact_mut(stride)
            .zip(table.outer_iter())
            .zip(strengths)
        {
            line.iter_mut()
                .zip(numbers)
                .for_each(|(to, &number)| *to = number);
            line[width] = strength;
        }
        Self {
            offsets,
            width,
            stride,
            lines,
        }
    }

    /// Writes a row's place, `stride` numbers that end in zeros: the sum of its clusters' lines, each times its share, at length 1. A row
    /// that the eigenvectors do not reach stays 0. `lines` is room for where the lines of the row begin, and its shares.
    #[inline(always)]
    fn place<'a, R: Row<'a>>(&self, row: R, lines: &mut Vec<(usize, f64)>, place: &mut [f64]) {
        lines.clear();
        let entries = row.entries(&self.offsets);
        lines.extend(entries.map(|entry| (entry.cluster * self.stride, entry.share)));
        for (chunk, place) in place.as_chunks_mut().0.iter_mut().enumerate() {
            let mut sum = [0.0; LANES];
            for &(start, share) in &*lines {
                add_scaled(&mut sum, share, lanes(&self.lines[start + chunk * LANES..]));
            }
            *place = sum;
        }
        let degree = std::mem::take(&mut place[self.width]);
        let length = dot(place, place).sqrt();
        let factor = if length > UNREACHED * degree {
            1.0 / length
        } else {
            0.0
        };
        place.iter_mut().for_each(|x| *x *= factor);
    }

    /// The places of all rows of an ensemble, n × width.
    pub(crate) fn of(&self, ensemble: &Ensemble) -> Array2<f64> {
        let rows = EnsembleRows::new(ensemble).with_shares();
        let mut places = Vec::with_capacity(ensemble.objects() * self.width);
        let mut take = |_, more: Vec<f64>| {
            places.extend(more);
            Ok(())
        };
        let passed = PassRunner::new(&rows, &Silent).each(&Places(self), &mut take);
        passed.expect("rows in memory can be read");
        Array2::from_shape_vec((ensemble.objects(), self.width), places).expect("a place a row")
    }
}

/// The places of rows.
struct Places<'a>(&'a Embedding);

impl RowMap for Places<'_> {
    type Out = Vec<f64>;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Vec<f64> {
        let (mut lines, mut place) = (Vec::new(), vec![0.0; self.0.stride]);
        let mut places = Vec::with_capacity(block.len() * self.0.width);
        for (row, _) in block.rows() {
            self.0.place(row, &mut lines, &mut place);
            places.extend_from_slice(&place[..self.0.width]);
        }
        places
    }
}

/// Numbers that are computed with at once.
type Lanes = [f64; LANES];

/// The first numbers of a slice.
#[inline(always)]
fn lanes(numbers: &[f64]) -> &Lanes {
    numbers.first_chunk().expect("lines are padded")
}

/// Adds `factor` times `x` to `sum`.
#[inline(always)]
fn add_scaled(sum: &mut Lanes, factor: f64, x: &Lanes) {
    for lane in 0..LANES {
        sum[lane] += factor * x[lane];
    }
}

/// The sum of a function of each two numbers of two places.
#[inline(always)]
fn sum_of(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sum = [0.0; LANES];
    for (a, b) in a
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(b.as_chunks::<LANES>().0)
    {
        for lane in 0..LANES {
            sum[lane] += term(a[lane], b[lane]);
        }
    }
    sum.iter().sum()
}

/// The inner product of two places.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a, b, |a, b| a * b)
}

/// K centroids.
#[derive(Clone, Serialize, Deserialize)]
struct Centroids {
    clusters: usize,
    stride: usize,
    /// K lines of `stride` numbers.
    lines: Vec<f64>,
    /// The same with a line a dimension, as many numbers a line as there are clusters, padded.
    transposed: Vec<f64>,
    /// The squares of their lengths; infinite in the padding, which is nearest to nothing.
    squares: Vec<f64>,
}

impl Centroids {
    fn new(lines: Vec<f64>, stride: usize) -> Self {
        let clusters = lines.len() / stride;
        let padded = clusters.next_multiple_of(LANES);
        let (mut transposed, mut squares) =
            (vec![0.0; stride * padded], vec![f64::INFINITY; padded]);
        for (k, line) in lines.chunks_exact(stride).enumerate() {
            squares[k] = dot(line, line);
            line.iter()
                .enumerate()
                .for_each(|(d, &number)| transposed[d * padded + k] = number);
        }
        Self {
            clusters,
            stride,
            lines,
            transposed,
            squares,
        }
    }

    /// The centroids that these lines are, K × width.
    fn padded(lines: &Array2<f64>, stride: usize) -> Self {
        let mut all = vec![0.0; lines.nrows() * stride];
        for (to, line) in all.chunks_exact_mut(stride).zip(lines.outer_iter()) {
            to.iter_mut()
                .zip(line)
                .for_each(|(to, &number)| *to = number);
        }
        Self::new(all, stride)
    }

    /// `|c|² − 2 x·c` for every centroid, of a place that has `width` numbers.
    #[inline(always)]
    fn scores(&self, place: &[f64], width: usize, scores: &mut [f64]) {
        let padded = scores.len();
        for (chunk, scores) in scores.as_chunks_mut().0.iter_mut().enumerate() {
            let mut sum = *lanes(&self.squares[chunk * LANES..]);
            for (d, x) in place[..width].iter().enumerate() {
                add_scaled(
                    &mut sum,
                    -2.0 * x,
                    lanes(&self.transposed[d * padded + chunk * LANES..]),
                );
            }
            *scores = sum;
        }
    }
}

/// The smallest of some numbers, which are padded by infinite ones; the first of equals.
#[inline(always)]
fn smallest(scores: &[f64]) -> usize {
    let mut least = [f64::INFINITY; LANES];
    for scores in scores.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            least[lane] = least[lane].min(scores[lane]);
        }
    }
    let least = least.into_iter().fold(f64::INFINITY, f64::min);
    scores.iter().position(|&score| score == least).unwrap_or(0)
}

/// An iteration of k-means: every row goes to its nearest centroid.
#[derive(Serialize, Deserialize)]
pub(crate) struct Assignment {
    embedding: Embedding,
    centroids: Centroids,
}

/// What an iteration adds up to.
#[derive(Serialize, Deserialize)]
pub(crate) struct Means {
    sums: Vec<f64>,
    mass: Vec<f64>,
    loss: f64,
    /// The row that is farthest from its centroid: its squared distance, and its place.
    farthest: (f64, Vec<f64>),
}

impl Mergeable for Means {
    fn merge(&mut self, other: Self) {
        self.sums
            .iter_mut()
            .zip(&other.sums)
            .for_each(|(a, b)| *a += b);
        self.mass
            .iter_mut()
            .zip(&other.mass)
            .for_each(|(a, b)| *a += b);
        self.loss += other.loss;
        if other.farthest.0 > self.farthest.0 {
            self.farthest = other.farthest;
        }
    }
}

impl RowPass for Assignment {
    type Sum = Means;
    const KIND: &'static str = "graph/embedded-kmeans";

    fn zero(&self) -> Means {
        let (cells, clusters) = (self.centroids.lines.len(), self.centroids.clusters);
        Means {
            sums: vec![0.0; cells],
            mass: vec![0.0; clusters],
            loss: 0.0,
            farthest: (0.0, Vec::new()),
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Means) {
        dispatch(AddRows {
            iteration: self,
            block,
            sum,
        });
    }
}

/// [`Assignment`] of some rows.
struct AddRows<'a, 'b, R: Row<'b>> {
    iteration: &'a Assignment,
    block: &'a RowBlock<'b, R>,
    sum: &'a mut Means,
}

impl<'b, R: Row<'b>> Kernel for AddRows<'_, 'b, R> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let (
            Assignment {
                embedding,
                centroids,
            },
            sum,
        ) = (self.iteration, self.sum);
        let (mut lines, mut place) = (Vec::new(), vec![0.0; embedding.stride]);
        let mut scores = vec![0.0; centroids.squares.len()];
        for (row, weight) in self.block.rows() {
            embedding.place(row, &mut lines, &mut place);
            centroids.scores(&place, embedding.width, &mut scores);
            let best = smallest(&scores);
            let gap = (dot(&place, &place) + scores[best]).max(0.0);
            sum.mass[best] += weight;
            let own = sum.sums[best * embedding.stride..][..embedding.stride]
                .as_chunks_mut()
                .0;
            own.iter_mut()
                .zip(place.as_chunks().0)
                .for_each(|(sum, x)| add_scaled(sum, weight, x));
            sum.loss += weight * gap;
            if gap > sum.farthest.0 {
                sum.farthest = (gap, place.clone());
            }
        }
    }
}

/// Rows in groups, and the weights of these.
pub(crate) struct Found {
    pub(crate) fit: RowFit<()>,
    pub(crate) masses: Vec<f64>,
}

/// Lloyd's iterations until the loss stands still.
pub(crate) fn lloyd(
    rows: &PassRunner<'_>,
    embedding: Embedding,
    start: &Array2<f64>,
    search: &Search,
    monitor: &dyn Monitor,
) -> Result<Found, GraphError> {
    let centroids = Centroids::padded(start, embedding.stride);
    let mut iteration = Assignment {
        embedding,
        centroids,
    };
    let mut trace: Vec<f64> = Vec::new();
    let iterations = search.iterations.max(1);
    let (stopped, masses) = loop {
        let means = rows.run(&iteration)?;
        let gained = trace.last().map_or(f64::INFINITY, |last| last - means.loss);
        trace.push(means.loss);
        let done = trace.len() as u64;
        if gained.abs() <= search.tolerance * means.loss {
            break (Stopped::Converged, means.mass);
        }
        if done == u64::from(iterations) {
            break (Stopped::IterationLimit, means.mass);
        }
        if monitor.tick(done, u64::from(iterations)) == Flow::Stop {
            break (Stopped::Interrupted, means.mass);
        }
        iteration.centroids = moved(&iteration.centroids, means);
    };
    let labels = Nearest {
        embedding: iteration.embedding,
        centroids: iteration.centroids,
    };
    let mut fit = RowFit::new(search.clusters, stopped, labels, ());
    fit.iterations = trace.len() as u64;
    fit.objective = Some(Objective {
        name: SPECTRAL_LOSS,
        sense: Sense::Minimise,
        value: trace.last().copied().unwrap_or(0.0),
        trace,
    });
    Ok(Found { fit, masses })
}

/// Centroids as means; the first empty one goes to the row that is farthest from its own.
fn moved(centroids: &Centroids, means: Means) -> Centroids {
    let (mut lines, stride) = (centroids.lines.clone(), centroids.stride);
    let mut farthest = (means.farthest.0 > 0.0).then_some(means.farthest.1);
    for ((line, sums), &mass) in lines
        .chunks_exact_mut(stride)
        .zip(means.sums.chunks_exact(stride))
        .zip(&means.mass)
    {
        if mass > 0.0 {
            line.iter_mut()
                .zip(sums)
                .for_each(|(c, sum)| *c = sum / mass);
        } else if let Some(place) = farthest.take() {
            line.copy_from_slice(&place);
        }
    }
    Centroids::new(lines, stride)
}

/// The nearest centroid of every row.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Nearest {
    embedding: Embedding,
    centroids: Centroids,
}

impl RowLabeller for Nearest {
    const KIND: &'static str = "graph/nearest-centroid";
}

impl RowMap for Nearest {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        dispatch(LabelRowsOf {
            nearest: self,
            block,
        })
    }
}

/// [`Nearest`] of some rows.
struct LabelRowsOf<'a, 'b, R: Row<'b>> {
    nearest: &'a Nearest,
    block: &'a RowBlock<'b, R>,
}

impl<'b, R: Row<'b>> Kernel for LabelRowsOf<'_, 'b, R> {
    type Output = Assigned;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Assigned {
        let Nearest {
            embedding,
            centroids,
            ..
        } = self.nearest;
        let (mut lines, mut place) = (Vec::new(), vec![0.0; embedding.stride]);
        let mut scores = vec![0.0; centroids.squares.len()];
        let mut labels = Vec::with_capacity(self.block.len());
        for (row, _) in self.block.rows() {
            embedding.place(row, &mut lines, &mut place);
            centroids.scores(&place, embedding.width, &mut scores);
            let best = smallest(&scores);
            labels.push(best as u32);
        }
        Assigned {
            labels,
            ..Assigned::default()
        }
    }
}
