//! The dyadic aspect model: component shares and distributions over objects, and one iteration of EM.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{ClustersError, SoftPartition, chunks};
use partita_kernels::{LANES, Partners, log_likelihood, responsibilities};
use rayon::prelude::*;
use statrs::function::gamma::{digamma, ln_gamma};

use crate::counts::{Copies, DyadCounts, Values};
use crate::error::AspectError;

/// Probabilities at or below this become 0: they would only grow smaller, and numbers near 1e-308 are slow.
const SNAP: f64 = 1e-100;

/// Objects whose sums are folded together, whatever the number of threads.
const CHUNK: usize = 64;

/// Draws of objects below which a component of a posterior is dead.
const DEAD: f64 = 1e-3;

/// What a posterior is besides exp E ln of its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Posterior {
    /// Components that there may be.
    pub(crate) most: usize,
    /// Its divergence from the prior, nats.
    pub(crate) cost: f64,
}

/// The dyadic aspect model: `P(y, z) = Σ_r p_r B_ry B_rz`.
#[derive(Clone, Debug, PartialEq)]
pub struct Aspects {
    pub(crate) shares: Vec<f64>,
    /// Component by component, `stride` objects each, the padding 0.
    columns: Vec<f64>,
    objects: usize,
    stride: usize,
    /// Where the model is a posterior in place of the most likely one.
    pub(crate) posterior: Option<Posterior>,
}

impl Aspects {
    /// A model from the shares `p` of L components and, for each, a distribution over the objects (`B`, L × n).
    ///
    /// # Errors
    /// [`AspectError::Distribution`] if `p` or a row of `B` has a negative entry or a sum off by more than 1e-6. A row of
    /// a component with share 0 may be all 0.
    pub fn new(shares: &[f64], members: ArrayView2<'_, f64>) -> Result<Self, AspectError> {
        check("the shares of model", 0, shares.iter().copied())?;
        for (r, row) in members.outer_iter().enumerate() {
            if shares.get(r).is_none_or(|&share| share > 0.0) {
                check("component", r, row.iter().copied())?;
            }
        }
        let clusters = shares.len();
        let objects = members.nrows();
        if objects != clusters {
            return Err(ClustersError { clusters, objects }.into());
        }
        let mut aspects = Self::zeros(members.ncols(), shares.len());
        aspects.shares.copy_from_slice(shares);
        aspects.fill(members.t());
        Ok(aspects)
    }

    /// The model in which a soft partition's clusters are the components: `p_r` is the share of cluster r, `B_ry` the
    /// part that object y has in it.
    pub fn of(soft: &SoftPartition) -> Self {
        let mut aspects = Self::zeros(soft.objects(), soft.clusters());
        aspects.fill(soft.rows());
        aspects.normalise();
        aspects
    }

    /// Columns from rows, n × L.
    fn fill(&mut self, rows: ArrayView2<'_, f64>) {
        for ((y, r), &value) in rows.indexed_iter() {
            self.columns[r * self.stride + y] = value;
        }
    }

    fn zeros(objects: usize, clusters: usize) -> Self {
        let stride = objects.next_multiple_of(LANES);
        Self {
            shares: vec![0.0; clusters],
            columns: vec![0.0; clusters * stride],
            objects,
            stride,
            posterior: None,
        }
    }

    /// Shares and distributions from unnormalised columns. Where nothing is left all shares are equal.
    fn normalise(&mut self) {
        let sums: Vec<f64> = self.columns.chunks(self.stride).map(sum).collect();
        let total: f64 = sums.iter().sum();
        let columns = self.columns.chunks_mut(self.stride);
        for ((column, &sum), share) in columns.zip(&sums).zip(&mut self.shares) {
            let equal = 1.0 / sums.len() as f64;
            *share = if total > 0.0 { sum / total } else { equal };
            if sum > 0.0 {
                for x in column {
                    *x = if *x / sum > SNAP { *x / sum } else { 0.0 };
                }
            }
        }
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// Share of every component, L values; 0 where it died.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// For every component its distribution over the objects, L × n.
    pub fn members(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.shares.len(), self.objects), |(r, y)| {
            self.columns[r * self.stride + y]
        })
    }

    /// Components that are not dead.
    pub fn live(&self) -> usize {
        self.shares.iter().filter(|&&share| share > 0.0).count()
    }

    /// P(component | object), n × L, by Bayes: `V_yr ∝ B_ry p_r`. Objects that are never together with another have the
    /// shares.
    pub fn soft(&self) -> SoftPartition {
        let clusters = self.shares.len();
        let mut rows = Array2::zeros((self.objects, clusters));
        for (y, mut row) in rows.outer_iter_mut().enumerate() {
            (0..clusters).for_each(|r| row[r] = self.shares[r] * self.columns[r * self.stride + y]);
            let sum = row.sum();
            if sum > 0.0 {
                row.mapv_inplace(|v| v / sum);
            } else {
                (0..clusters).for_each(|r| row[r] = self.shares[r]);
            }
        }
        SoftPartition::new(rows).expect("rows were divided by their sums")
    }

    /// `Σ c_yz ln P(y, z)` over unordered pairs, in nats. Twice that is the papers' sum over ordered pairs. Of weighted objects
    /// ([`DyadCounts::weighted`]) it is that of their copies, which share the probability of the object.
    ///
    /// # Cost
    /// O(pairs · L), and a logarithm a pair.
    ///
    /// # Panics
    /// If the counts have other objects.
    pub fn log_likelihood(&self, counts: &DyadCounts) -> f64 {
        let value = self.log_likelihood_unless(counts, || false);
        value.expect("nobody wants to stop")
    }

    /// [`log_likelihood`](Self::log_likelihood), or nothing once somebody wants to stop, which is asked object by object.
    pub(crate) fn log_likelihood_unless(
        &self,
        counts: &DyadCounts,
        stop: impl Fn() -> bool + Sync,
    ) -> Option<f64> {
        assert_eq!(self.objects, counts.objects, "a model of these objects");
        let copies = counts.copies.as_ref();
        let ranges: Vec<_> = chunks(self.objects, CHUNK).collect();
        let sums = ranges.into_par_iter().map_init(
            || Workspace::new(self.shares.len()),
            |workspace, range| {
                let values = range.map(|y| {
                    if stop() {
                        return 0.0;
                    }
                    workspace.weigh(self, y);
                    let mut others = LogLikelihood(0.0);
                    self.look(counts, y, workspace, &mut others);
                    let q = &workspace.q;
                    others.0 + copies.map_or(0.0, |copies| self.among_copies(y, copies, q))
                });
                values.sum::<f64>()
            },
        );
        let sums: Vec<f64> = sums.collect();
        let cost = self.posterior.map_or(0.0, |posterior| posterior.cost);
        let constant = copies.map_or(0.0, |copies| copies.constant) - cost;
        (!stop()).then(|| counts.scale * sums.iter().sum::<f64>() + constant)
    }

    /// What the pairs among the copies of object `y` add to the log-likelihood, in stored parts; `q` is `p_r B_ry`.
    fn among_copies(&self, y: usize, copies: &Copies, q: &[f64]) -> f64 {
        if copies.among[y] == 0.0 {
            return 0.0;
        }
        let pairs = q.iter().enumerate();
        let together: f64 = pairs
            .map(|(r, q)| q * self.columns[r * self.stride + y])
            .sum();
        0.5 * copies.among[y] * together.max(f64::MIN_POSITIVE).ln()
    }

    /// The model of objects that stand for so many: each has the probability of all its copies.
    pub(crate) fn of_copies(mut self, times: &[f64]) -> Self {
        for (column, share) in self.columns.chunks_mut(self.stride).zip(&self.shares) {
            for (value, times) in column.iter_mut().zip(times) {
                *value *= share * times;
            }
        }
        self.normalise();
        self
    }

    /// One iteration of EM: the likelihood of what comes out is not below that of `self`.
    ///
    /// # Cost
    /// O(pairs · L).
    ///
    /// # Panics
    /// If the counts have other objects.
    #[must_use]
    pub fn improved(&self, counts: &DyadCounts) -> Self {
        let next = self.improved_unless(counts, || false);
        next.expect("nobody wants to stop")
    }

    /// [`improved`](Self::improved), or nothing once somebody wants to stop, which is asked object by object.
    pub(crate) fn improved_unless(
        &self,
        counts: &DyadCounts,
        stop: impl Fn() -> bool + Sync,
    ) -> Option<Self> {
        assert_eq!(self.objects, counts.objects, "a model of these objects");
        let clusters = self.shares.len();
        let mut sums = vec![0.0; self.objects * clusters];
        let rows = sums.par_chunks_mut(clusters).enumerate();
        rows.for_each_init(
            || Workspace::new(clusters),
            |workspace, (y, out)| {
                if stop() {
                    return;
                }
                workspace.weigh(self, y);
                self.look(counts, y, workspace, &mut Expected(out));
                out.iter_mut().zip(&workspace.q).for_each(|(g, q)| *g *= q);
            },
        );
        if stop() {
            return None;
        }
        let mut next = Self::zeros(self.objects, clusters);
        let sums = ArrayView2::from_shape((self.objects, clusters), &sums);
        next.fill(sums.expect("L sums an object"));
        match self.posterior {
            None => next.normalise(),
            Some(posterior) => next.infer(posterior.most, counts),
        }
        Some(next)
    }

    /// From unnormalised columns the posterior under Dirichlet priors ([`Criterion::DirichletProcess`](crate::Criterion)), as exp E ln of shares and
    /// distributions, and how far it is from the prior.
    fn infer(&mut self, most: usize, counts: &DyadCounts) {
        let times = counts.copies.as_ref().map(|copies| &copies.times[..]);
        let times: Vec<f64> = times.map_or_else(|| vec![1.0; self.objects], <[f64]>::to_vec);
        let objects: f64 = times.iter().sum();
        let all = 1.0 + counts.total();
        let prior = 1.0 / most as f64;
        let mut cost = ln_gamma(all);
        let columns = self.columns.chunks_mut(self.stride);
        for (column, share) in columns.zip(&mut self.shares) {
            // Both objects of a pair are draws.
            let draws = counts.scale * sum(column);
            if draws < DEAD {
                column.fill(0.0);
                continue;
            }
            let log = digamma(prior + 0.5 * draws) - digamma(all);
            cost += 0.5 * draws * log + ln_gamma(prior) - ln_gamma(prior + 0.5 * draws);
            *share = log.exp();
            let total = digamma(objects + draws);
            cost += ln_gamma(objects + draws) - ln_gamma(objects);
            for (value, times) in column.iter_mut().zip(&times) {
                let own = counts.scale * *value / times;
                let log = digamma(1.0 + own) - total;
                cost += times * (own * log - ln_gamma(1.0 + own));
                *value = times * log.exp();
            }
        }
        self.posterior = Some(Posterior { most, cost });
    }

    /// The model that a posterior is nearest to: shares and distributions that sum to 1.
    pub(crate) fn summed_to_one(&self) -> Self {
        let mut model = self.clone();
        if model.posterior.take().is_none() {
            return model;
        }
        for (column, share) in model.columns.chunks_mut(self.stride).zip(&self.shares) {
            let factor = share / sum(column).max(f64::MIN_POSITIVE);
            column.iter_mut().for_each(|value| *value *= factor);
        }
        model.normalise();
        model
    }

    /// Hands the partners of object `y` and their counts to `work`.
    fn look(&self, counts: &DyadCounts, y: usize, workspace: &mut Workspace, work: &mut impl Work) {
        match &counts.values {
            Values::Bytes(all) => self.look_at(counts, all, y, workspace, work),
            Values::Words(all) => self.look_at(counts, all, y, workspace, work),
            Values::Wide(all) => self.look_at(counts, all, y, workspace, work),
            Values::Reals(all) => self.look_at(counts, all, y, workspace, work),
        }
    }

    fn look_at<T: Copy + Into<f64>>(
        &self,
        counts: &DyadCounts,
        values: &[T],
        y: usize,
        workspace: &mut Workspace,
        work: &mut impl Work,
    ) {
        let values = &values[counts.range(y)];
        let Some(partners) = counts.partners(y) else {
            let all = Partners {
                columns: &self.columns,
                stride: self.stride,
                counts: values,
            };
            return work.take(all, &workspace.q, y + 1);
        };
        workspace.gather(self, partners, values);
        let some = Partners {
            columns: &workspace.columns,
            stride: workspace.counts.len(),
            counts: &workspace.counts,
        };
        let after = partners.partition_point(|&z| z as usize <= y);
        work.take(some, &workspace.q, after);
    }
}

/// What is done with the partners of an object; `after` is where those begin that come after it.
trait Work {
    fn take<T: Copy + Into<f64>>(&mut self, partners: Partners<'_, T>, q: &[f64], after: usize);
}

struct Expected<'a>(&'a mut [f64]);

impl Work for Expected<'_> {
    fn take<T: Copy + Into<f64>>(&mut self, partners: Partners<'_, T>, q: &[f64], _after: usize) {
        responsibilities(partners, q, self.0);
    }
}

struct LogLikelihood(f64);

impl Work for LogLikelihood {
    fn take<T: Copy + Into<f64>>(&mut self, partners: Partners<'_, T>, q: &[f64], after: usize) {
        self.0 = log_likelihood(partners, q, after);
    }
}

/// Workspace of one thread.
struct Workspace {
    /// `p_r B_ry` of the object in work.
    q: Vec<f64>,
    /// Columns and counts of its partners, where these are not all objects; filled up with zeros.
    columns: Vec<f64>,
    counts: Vec<f64>,
}

impl Workspace {
    fn new(clusters: usize) -> Self {
        Self {
            q: vec![0.0; clusters],
            columns: Vec::new(),
            counts: Vec::new(),
        }
    }

    fn weigh(&mut self, aspects: &Aspects, y: usize) {
        for (r, (q, share)) in self.q.iter_mut().zip(&aspects.shares).enumerate() {
            *q = share * aspects.columns[r * aspects.stride + y];
        }
    }

    /// Brings the columns and counts of some partners together.
    fn gather<T: Copy + Into<f64>>(&mut self, aspects: &Aspects, partners: &[u32], counts: &[T]) {
        let stride = partners.len().next_multiple_of(LANES);
        self.counts.clear();
        self.counts.extend(counts.iter().map(|&count| count.into()));
        self.counts.resize(stride, 0.0);
        self.columns.clear();
        self.columns.resize(stride * aspects.shares.len(), 0.0);
        let gathered = self.columns.chunks_mut(stride.max(1));
        for (to, column) in gathered.zip(aspects.columns.chunks(aspects.stride)) {
            for (to, &z) in to.iter_mut().zip(partners) {
                *to = column[z as usize];
            }
        }
    }
}

/// Refuses numbers that are negative or do not sum to 1.
fn check(
    what: &'static str,
    index: usize,
    values: impl Iterator<Item = f64> + Clone,
) -> Result<(), AspectError> {
    let sum: f64 = values.clone().sum();
    if (sum - 1.0).abs() <= 1e-6 && values.min_by(f64::total_cmp) >= Some(0.0) {
        return Ok(());
    }
    Err(AspectError::Distribution { what, index, sum })
}

/// A sum in fixed chunks.
fn sum(values: &[f64]) -> f64 {
    let ranges = chunks(values.len(), CHUNK);
    ranges.map(|range| values[range].iter().sum::<f64>()).sum()
}
