//! Evidence about pairs of objects: counts of all pairs or of some, as they are seen by the solvers.

mod dense;
mod sparse;
mod widen;

use partita_coassoc::{CoAssociation, SparseEvidence, pair_unit};
use partita_core::{MemoryBudget, Monitor, Seed, WeightedEnsemble};
use partita_kernels::LANES;

use crate::copy_pairs::CopyPairs;
use crate::error::PccError;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::{LocalPairs, PairCounts, share};
use dense::Dense;
use sparse::Sparse;

/// What to do when all pairs are too many.
pub(crate) const REMEDY: &str = "take a sample of the pairs (pairs_per_object=30)";

/// How often pairs of objects are together (c) and labelled (N): all pairs, or some, of which the others are not known and cost nothing.
#[derive(Clone, Debug)]
pub struct Evidence {
    pairs: Pairs,
    normalised: bool,
    copies: Option<Copies>,
    /// `Σ_j N_ij` of every object, with the pairs among its copies.
    sums: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Pairs {
    All(Dense),
    Some(Sparse),
}

/// Objects that stand for several.
#[derive(Clone, Debug)]
struct Copies {
    weights: Vec<f64>,
    among: Vec<CopyPairs>,
}

/// How much the N of different pairs of all objects differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Evenness {
    /// They are all this.
    Even(f64),
    /// The smallest is at least a quarter of the largest.
    Nearly,
    /// More, or not all pairs are known.
    Uneven,
}

impl Evidence {
    /// Counts all pairs of an ensemble.
    ///
    /// # Errors
    /// [`PccError::Evidence`] if they do not fit the budget, there are more than 65,535 base clusterings, or the
    /// monitor asks to stop.
    ///
    /// # Cost
    /// O(n² M) byte comparisons; [`Evidence::bytes`] of memory.
    pub fn count<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, PccError> {
        let source = source.into();
        let objects = source.ensemble.objects();
        let unit = pair_unit(source)?;
        let needed = if unit as usize == source.ensemble.bases().len() {
            Self::bytes(objects, unit as usize)
        } else {
            CoAssociation::bytes_of_unit(objects, unit, true)
                + Dense::bytes(objects, CoAssociation::bytes_of_unit(2, unit, false))
        };
        budget.check("the evidence of all pairs", needed, REMEDY)?;
        let pairs = CoAssociation::count(source, budget, monitor)?;
        Ok(Self::of_all(&pairs))
    }

    /// Counts so many pairs, drawn uniformly without replacement; all, where there are fewer.
    ///
    /// # Errors
    /// [`PccError::Evidence`] if they do not fit the budget or the monitor asks to stop.
    ///
    /// # Cost
    /// O(pairs · (M + log pairs)) time.
    pub fn sample<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        pairs: u64,
        seed: Seed,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, PccError> {
        let source = source.into();
        let objects = source.ensemble.objects() as u64;
        let all = objects * objects.saturating_sub(1) / 2;
        let sample = SparseEvidence::sample(source, pairs.min(all), seed, budget, monitor)?;
        Ok(Self::of_some(sample))
    }

    /// Counts of all pairs, laid out for the solvers.
    pub fn of_all(pairs: &CoAssociation) -> Self {
        Self::new(Pairs::All(Dense::new(pairs)))
    }

    /// Counts of some pairs.
    pub fn of_some(pairs: SparseEvidence) -> Self {
        Self::new(Pairs::Some(Sparse { pairs }))
    }

    fn new(pairs: Pairs) -> Self {
        let sums = match &pairs {
            Pairs::All(all) => all.sums.clone(),
            Pairs::Some(some) => some.sums(),
        };
        Self {
            pairs,
            normalised: false,
            copies: None,
            sums,
        }
    }

    /// c/N in place of c and 1 in place of N: how often a pair was seen no longer matters. Before [`weighted`](Self::weighted).
    #[must_use]
    pub fn normalised(mut self) -> Self {
        self.normalised = true;
        self.sums = self.sums_of_n();
        self
    }

    /// Counts times the weights of both objects: the pairs of all that they stand for. An object of weight w is w copies, which have
    /// w (w − 1) ordered pairs among themselves; none where w is below 1. `with_copy` is c and N of every object with a copy of itself (see
    /// [`copy_counts`](partita_coassoc::copy_counts)) in base clusterings.
    ///
    /// # Panics
    /// If there is not one weight an object, and the counts with a copy.
    #[must_use]
    pub fn weighted(mut self, weights: &[f64], with_copy: &[(f64, f64)]) -> Self {
        let given = [weights.len(), with_copy.len()];
        assert_eq!(given, [self.objects(); 2], "a weight and counts an object");
        let mut among = Vec::with_capacity(weights.len());
        for (&weight, &(c, n)) in weights.iter().zip(with_copy) {
            let (c, n) = if self.normalised { share(c, n) } else { (c, n) };
            let pairs = (weight * (weight - 1.0)).max(0.0);
            among.push(CopyPairs {
                c: pairs * c,
                n: pairs * n,
            });
        }
        let weights = weights.to_vec();
        self.copies = Some(Copies { weights, among });
        self.sums = self.sums_of_n();
        self
    }

    fn sums_of_n(&self) -> Vec<f64> {
        let table = Memberships::zeros(self.objects(), 1, self.layout());
        let mut near = LocalPairs::new(1);
        let mut sums = Vec::with_capacity(self.objects());
        for i in 0..self.objects() {
            let (_, counts) = self.pairs_of(i, &table, &mut near);
            sums.push(counts.n.iter().sum::<f64>() + self.copy_pairs(i).n);
        }
        sums
    }

    /// Bytes held at once while all pairs of so many objects and base clusterings are counted (labels may be missing).
    pub const fn bytes(objects: usize, base_clusterings: usize) -> u64 {
        let width = if base_clusterings <= 255 { 1 } else { 2 };
        CoAssociation::bytes(objects, base_clusterings, true) + Dense::bytes(objects, width)
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        match &self.pairs {
            Pairs::All(all) => all.objects,
            Pairs::Some(some) => some.pairs.objects(),
        }
    }

    /// The layout in which memberships are read.
    pub(crate) fn layout(&self) -> Layout {
        match self.pairs {
            Pairs::All(_) => Layout::Columns,
            Pairs::Some(_) => Layout::Rows,
        }
    }

    /// What object `i` sees: the objects it has pairs with, by columns, and the counts of these pairs. An object is
    /// not a pair with itself: its own counts are 0.
    pub(crate) fn pairs_of<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts) {
        self.pairs_from(i, 0, table, near)
    }

    /// The same for the partners from the one at `first` on.
    fn pairs_from<'a>(
        &self,
        i: usize,
        first: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts) {
        let counts = &mut near.counts;
        let others = match &self.pairs {
            Pairs::All(all) => {
                all.fill(i, counts);
                table
            }
            Pairs::Some(some) => {
                some.gather(i, first, table, &mut near.table);
                some.counts_from(i, first, counts);
                &near.table
            }
        };
        self.adjust(i, first, counts);
        (others, counts)
    }

    /// As [`pairs_of`](Self::pairs_of), but the counts of objects up to `i` are 0, and the place from which on there are others.
    pub(crate) fn pairs_after<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a PairCounts, usize) {
        if let Pairs::Some(some) = &self.pairs {
            let (others, counts) = self.pairs_from(i, some.after(i), table, near);
            return (others, counts, 0);
        }
        let (others, counts) = self.pairs_from(i, 0, table, near);
        let from = (i + 1) / LANES * LANES;
        let end = (i + 1).min(counts.c.len());
        counts.c[from..end].fill(0.0);
        counts.n[from..end].fill(0.0);
        (others, counts, from)
    }

    /// The objects that `i` has pairs with, and the counts of these pairs into `counts`; none where these are all objects in order.
    pub(crate) fn partners_and_counts(&self, i: usize, counts: &mut PairCounts) -> Option<&[u32]> {
        let Pairs::Some(some) = &self.pairs else {
            return None;
        };
        some.counts_from(i, 0, counts);
        self.adjust(i, 0, counts);
        Some(some.pairs.neighbours(i))
    }

    /// Normalises and weighs the counts of the partners of object `i` from the one at `first` on.
    fn adjust(&self, i: usize, first: usize, counts: &mut PairCounts) {
        if self.normalised {
            for (c, n) in counts.c.iter_mut().zip(&mut counts.n) {
                (*c, *n) = share(*c, *n);
            }
        }
        let Some(Copies { weights, .. }) = &self.copies else {
            return;
        };
        let partners = self.partners(i).map(|partners| &partners[first..]);
        for place in 0..partners.map_or(weights.len(), <[u32]>::len) {
            let other = partners.map_or(place, |partners| partners[place] as usize);
            counts.c[place] *= weights[i] * weights[other];
            counts.n[place] *= weights[i] * weights[other];
        }
    }

    /// Has the processor fetch what [`pairs_of`](Self::pairs_of) reads of `table` for object `i`, which takes long where partners are
    /// anywhere in memory. It changes nothing but the time.
    pub(crate) fn prefetch_partners(&self, i: usize, table: &Memberships) {
        if let Pairs::Some(some) = &self.pairs {
            some.prefetch_partners(i, table);
        }
    }

    /// Number of objects that `i` has pairs with, about.
    pub(crate) fn degree(&self, i: usize) -> usize {
        match &self.pairs {
            Pairs::All(all) => all.stride,
            Pairs::Some(some) => some.pairs.neighbours(i).len(),
        }
    }

    /// The objects that `i` has pairs with; none where these are all objects in order.
    pub(crate) fn partners(&self, i: usize) -> Option<&[u32]> {
        match &self.pairs {
            Pairs::All(_) => None,
            Pairs::Some(some) => Some(some.pairs.neighbours(i)),
        }
    }

    /// Every pair among `objects`, which rise, once: `(at, other, c, n)` with the places of the two in `objects`, `at < other`.
    pub(crate) fn pairs_within(
        &self,
        objects: &[usize],
        visit: &mut dyn FnMut(usize, usize, f64, f64),
    ) {
        let mut adjusted = |at: usize, other: usize, c: f64, n: f64| {
            let (c, n) = if self.normalised { share(c, n) } else { (c, n) };
            let Some(Copies { weights, .. }) = &self.copies else {
                return visit(at, other, c, n);
            };
            let weight = weights[objects[at]] * weights[objects[other]];
            visit(at, other, c * weight, n * weight);
        };
        match &self.pairs {
            Pairs::Some(some) => some.pairs_within(objects, &mut adjusted),
            Pairs::All(all) => {
                for (at, &i) in objects.iter().enumerate() {
                    for (other, &j) in objects.iter().enumerate().skip(at + 1) {
                        let (c, n) = all.pair(i, j);
                        adjusted(at, other, c, n);
                    }
                }
            }
        }
    }

    /// `1 − c/N` of every pair as a condensed matrix, 1 where no base clustering saw both; none where there are not all
    /// pairs.
    pub(crate) fn condensed(&self) -> Option<Vec<f32>> {
        match &self.pairs {
            Pairs::All(all) => Some(all.condensed()),
            Pairs::Some(_) => None,
        }
    }

    /// How much the N of different pairs differ.
    pub(crate) fn evenness(&self) -> Evenness {
        match &self.pairs {
            Pairs::All(all) if self.copies.is_none() => match all.evenness {
                Evenness::Even(_) | Evenness::Nearly if self.normalised => Evenness::Even(1.0),
                evenness => evenness,
            },
            _ => Evenness::Uneven,
        }
    }

    /// The pairs among the copies that object `i` stands for, which [`pairs_of`](Self::pairs_of) leaves out.
    pub(crate) fn copy_pairs(&self, i: usize) -> CopyPairs {
        let copies = self.copies.as_ref();
        copies.map_or_else(CopyPairs::default, |copies| copies.among[i])
    }

    /// Whether object `i` is a copy of the one before it: always together with it, and seen with every other just as often. False where
    /// not all pairs are known.
    pub(crate) fn is_copy_of_previous(&self, i: usize) -> bool {
        match &self.pairs {
            Pairs::All(all) => all.is_copy_of_previous(i),
            Pairs::Some(_) => false,
        }
    }

    /// How many objects each stands for; none where each stands for itself alone.
    pub(crate) fn multiplicities(&self) -> Option<&[f64]> {
        self.copies.as_ref().map(|copies| &copies.weights[..])
    }

    /// How many objects object `i` stands for.
    pub(crate) fn times(&self, i: usize) -> f64 {
        self.multiplicities().map_or(1.0, |weights| weights[i])
    }

    /// `Σ_j N_ij` of object `i`, with the pairs among its copies.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.sums[i]
    }
}
