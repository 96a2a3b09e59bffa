//! The dyadic aspect model: component shares and distributions over objects, and one round of EM.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{ClustersError, SoftPartition, chunks};
use partita_kernels::{LANES, Partners, log_likelihood, responsibilities};
use rayon::prelude::*;

use crate::counts::{Copies, DyadCounts, Rare, Store};
use crate::error::AspectError;

/// Probabilities at or below this become 0: they would only grow smaller, and numbers near 1e-308 are slow.
const SNAP: f64 = 1e-100;

/// Objects whose sums are folded together, whatever the number of threads.
const CHUNK: usize = 64;

/// The dyadic aspect model: `P(y, z) = Σ_r p_r B_ry B_rz`.
#[derive(Clone, Debug, PartialEq)]
pub struct Aspects {
    pub(crate) shares: Vec<f64>,
    /// Component by component, `stride` objects each, the padding 0.
    columns: Vec<f64>,
    objects: usize,
    stride: usize,
}

impl Aspects {
    /// A model from the shares `p` of L components and, for each, a distribution over the objects (`B`, L × n).
    ///
    /// # Errors
    /// [`AspectError::Distribution`] if `p` or a row of `B` has a negative entry or a sum off by more than 1e-6. A row of
    /// a component with share 0 may be all 0.
    pub fn new(shares: &[f64], members: ArrayView2<'_, f64>) -> Result<Self, AspectError> {
        let check = |what, index, values: &mut dyn Iterator<Item = f64>| {
            let (sum, least) =
                values.fold((0.0, 0.0f64), |(sum, least), x| (sum + x, least.min(x)));
            if (sum - 1.0).abs() <= 1e-6 && least >= 0.0 {
                return Ok(());
            }
            Err(AspectError::Distribution { what, index, sum })
        };
        check("the shares of model", 0, &mut shares.iter().copied())?;
        for (r, row) in members.outer_iter().enumerate() {
            if shares.get(r).is_none_or(|&share| share > 0.0) {
                check("component", r, &mut row.iter().copied())?;
            }
        }
        if members.nrows() != shares.len() {
            return Err(ClustersError {
                clusters: shares.len(),
                objects: members.nrows(),
            }
            .into());
        }
        let objects = members.ncols();
        let stride = objects.next_multiple_of(LANES);
        let mut columns = vec![0.0; shares.len() * stride];
        for ((r, y), &value) in members.indexed_iter() {
            columns[r * stride + y] = value;
        }
        Ok(Self {
            shares: shares.to_vec(),
            columns,
            objects,
            stride,
        })
    }

    /// The model in which a soft partition's clusters are the components: `p_r` is the share of cluster r, `B_ry` the
    /// part that object y has in it.
    pub fn of(soft: &SoftPartition) -> Self {
        let (objects, clusters) = (soft.objects(), soft.clusters());
        let mut aspects = Self::zeros(objects, clusters);
        for ((y, r), &value) in soft.rows().indexed_iter() {
            aspects.columns[r * aspects.stride + y] = value;
        }
        aspects.normalise();
        aspects
    }

    fn zeros(objects: usize, clusters: usize) -> Self {
        let stride = objects.next_multiple_of(LANES);
        Self {
            shares: vec![0.0; clusters],
            columns: vec![0.0; clusters * stride],
            objects,
            stride,
        }
    }

    /// Shares and distributions from unnormalised columns. Where nothing is left all shares are equal.
    fn normalise(&mut self) {
        let sums: Vec<f64> = self.columns.chunks(self.stride).map(sum).collect();
        let total: f64 = sums.iter().sum();
        for ((column, &sum), share) in self
            .columns
            .chunks_mut(self.stride)
            .zip(&sums)
            .zip(&mut self.shares)
        {
            *share = if total > 0.0 {
                sum / total
            } else {
                1.0 / sums.len() as f64
            };
            if sum > 0.0 {
                column
                    .iter_mut()
                    .for_each(|x| *x = if *x / sum > SNAP { *x / sum } else { 0.0 });
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
        self.log_likelihood_unless(counts, || false)
            .expect("nobody wants to stop")
    }

    /// [`log_likelihood`](Self::log_likelihood), or nothing once somebody wants to stop, which is asked object by object.
    pub(crate) fn log_likelihood_unless(
        &self,
        counts: &DyadCounts,
        stop: impl Fn() -> bool + Sync,
    ) -> Option<f64> {
        assert_eq!(self.objects, counts.objects, "a model of these objects");
        let one = |workspace: &mut Workspace, y: usize| {
            if stop() {
                return 0.0;
            }
            workspace.weigh(self, y);
            let mut told = Told(0.0);
            self.look(counts, y, workspace, &mut told);
            told.0
                + counts
                    .copies
                    .as_ref()
                    .map_or(0.0, |copies| self.among_copies(y, copies, &workspace.q))
        };
        let ranges: Vec<_> = chunks(self.objects, CHUNK).collect();
        let sums: Vec<f64> = (ranges.into_par_iter())
            .map_init(
                || Workspace::new(self.shares.len()),
                |workspace, range| range.map(|y| one(workspace, y)).sum(),
            )
            .collect();
        let constant = counts.copies.as_ref().map_or(0.0, |copies| copies.constant);
        (!stop()).then(|| counts.scale * sums.iter().sum::<f64>() + constant)
    }

    /// What the pairs among the copies of object `y` add to the log-likelihood, in stored parts; `q` is `p_r B_ry`.
    fn among_copies(&self, y: usize, copies: &Copies, q: &[f64]) -> f64 {
        if copies.among[y] == 0.0 {
            return 0.0;
        }
        let together: f64 = q
            .iter()
            .enumerate()
            .map(|(r, q)| q * self.columns[r * self.stride + y])
            .sum();
        0.5 * copies.among[y] * together.max(f64::MIN_POSITIVE).ln()
    }

    /// The model of objects that stand for so many: each has the probability of all its copies.
    pub(crate) fn of_copies(mut self, times: &[f64]) -> Self {
        for (column, share) in self.columns.chunks_mut(self.stride).zip(&self.shares) {
            column
                .iter_mut()
                .zip(times)
                .for_each(|(value, times)| *value *= share * times);
        }
        self.normalise();
        self
    }

    /// One round of EM: the likelihood of what comes out is not below that of `self`.
    ///
    /// # Cost
    /// O(pairs · L).
    ///
    /// # Panics
    /// If the counts have other objects.
    #[must_use]
    pub fn improved(&self, counts: &DyadCounts) -> Self {
        self.improved_unless(counts, || false)
            .expect("nobody wants to stop")
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
        let one = |workspace: &mut Workspace, (y, out): (usize, &mut [f64])| {
            if stop() {
                return;
            }
            workspace.weigh(self, y);
            self.look(counts, y, workspace, &mut Expected(out));
            out.iter_mut().zip(&workspace.q).for_each(|(g, q)| *g *= q);
        };
        (sums.par_chunks_mut(clusters).enumerate()).for_each_init(|| Workspace::new(clusters), one);
        if stop() {
            return None;
        }
        let mut next = Self::zeros(self.objects, clusters);
        for (y, row) in sums.chunks(clusters).enumerate() {
            row.iter()
                .enumerate()
                .for_each(|(r, &value)| next.columns[r * next.stride + y] = value);
        }
        next.normalise();
        Some(next)
    }

    /// Hands the partners of object `y` and their counts to `work`.
    fn look(&self, counts: &DyadCounts, y: usize, workspace: &mut Workspace, work: &mut impl Work) {
        let row = y * counts.stride..(y + 1) * counts.stride;
        let (columns, stride) = (&self.columns[..], self.stride);
        match &counts.store {
            Store::Bytes(all) => work.take(
                Partners {
                    columns,
                    stride,
                    counts: &all[row],
                },
                &workspace.q,
                y + 1,
            ),
            Store::Words(all) => work.take(
                Partners {
                    columns,
                    stride,
                    counts: &all[row],
                },
                &workspace.q,
                y + 1,
            ),
            Store::Wide(all) => work.take(
                Partners {
                    columns,
                    stride,
                    counts: &all[row],
                },
                &workspace.q,
                y + 1,
            ),
            Store::Reals(all) => work.take(
                Partners {
                    columns,
                    stride,
                    counts: &all[row],
                },
                &workspace.q,
                y + 1,
            ),
            Store::Some {
                starts,
                partners,
                counts,
            } => {
                let range = starts[y]..starts[y + 1];
                let after = workspace.gather(self, &partners[range.clone()], y);
                let Workspace {
                    q,
                    columns,
                    words,
                    wide,
                    reals,
                } = workspace;
                match counts {
                    Rare::Words(counts) => {
                        work.take(padded(columns, &counts[range], words), q, after);
                    }
                    Rare::Wide(counts) => {
                        work.take(padded(columns, &counts[range], wide), q, after);
                    }
                    Rare::Reals(counts) => {
                        work.take(padded(columns, &counts[range], reals), q, after);
                    }
                }
            }
        }
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

struct Told(f64);

impl Work for Told {
    fn take<T: Copy + Into<f64>>(&mut self, partners: Partners<'_, T>, q: &[f64], after: usize) {
        self.0 = log_likelihood(partners, q, after);
    }
}

/// Counts in the order of the columns, filled up with zeros.
fn padded<'a, T: Copy + Default>(
    columns: &'a [f64],
    counts: &[T],
    held: &'a mut Vec<T>,
) -> Partners<'a, T> {
    held.clear();
    held.extend_from_slice(counts);
    held.resize(counts.len().next_multiple_of(LANES), T::default());
    Partners {
        columns,
        stride: held.len(),
        counts: held,
    }
}

/// Workspace of one thread.
struct Workspace {
    /// `p_r B_ry` of the object in work.
    q: Vec<f64>,
    columns: Vec<f64>,
    words: Vec<u16>,
    wide: Vec<u32>,
    reals: Vec<f64>,
}

impl Workspace {
    fn new(clusters: usize) -> Self {
        Self {
            q: vec![0.0; clusters],
            columns: Vec::new(),
            words: Vec::new(),
            wide: Vec::new(),
            reals: Vec::new(),
        }
    }

    fn weigh(&mut self, aspects: &Aspects, y: usize) {
        for (r, (q, share)) in self.q.iter_mut().zip(&aspects.shares).enumerate() {
            *q = share * aspects.columns[r * aspects.stride + y];
        }
    }

    /// Brings the columns of some partners together. Returns where those after `y` begin.
    fn gather(&mut self, aspects: &Aspects, partners: &[u32], y: usize) -> usize {
        let stride = partners.len().next_multiple_of(LANES);
        self.columns.clear();
        self.columns.resize(stride * aspects.shares.len(), 0.0);
        for (local, column) in self
            .columns
            .chunks_mut(stride.max(1))
            .zip(aspects.columns.chunks(aspects.stride))
        {
            local
                .iter_mut()
                .zip(partners)
                .for_each(|(to, &z)| *to = column[z as usize]);
        }
        partners.partition_point(|&z| z as usize <= y)
    }
}

/// A sum in fixed chunks.
fn sum(values: &[f64]) -> f64 {
    chunks(values.len(), CHUNK)
        .map(|range| values[range].iter().sum::<f64>())
        .sum()
}
