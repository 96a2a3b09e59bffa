//! What gives label rows their clusters after a fit: a function of each row alone, which travels to whoever holds the rows.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::assigned::{Assigned, LabelledMap};
use super::engine::{decode, encode};
use super::foreign::guarded;
use super::pass::{PassError, RowMap, RowPass};
use super::pass_kind::PassKind;
use super::runner::PassRunner;
use super::{AnyBlock, Mergeable, Row, RowBlock};
use crate::BaseClustering;

/// Labels each row by its state and the row alone.
pub trait RowLabeller:
    RowMap<Out = Assigned> + Clone + Serialize + DeserializeOwned + Send + 'static
{
    /// What it is called where it is a job for somebody else ([`LabellerKind`]): crate and topic.
    const KIND: &'static str;
}

/// A [`RowLabeller`] of any kind.
pub struct Labeller {
    rule: Box<dyn Rule>,
    soft: bool,
    /// Whether its state came as bytes.
    foreign: bool,
}

/// A labeller as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelJob {
    /// What it is called ([`RowLabeller::KIND`]).
    pub kind: &'static str,
    /// Its state.
    pub state: Vec<u8>,
}

/// A kind of labeller by its name: what a worker needs to label rows by its bytes, and to count their labels.
#[derive(Clone, Copy, Debug)]
pub struct LabellerKind {
    name: &'static str,
    open: fn(&[u8]) -> Result<Labeller, PassError>,
    counts: PassKind,
}

impl LabellerKind {
    /// The kind of a labeller.
    pub const fn of<A: RowLabeller>() -> Self {
        Self {
            name: A::KIND,
            open: open::<A>,
            counts: PassKind::of::<CountLabels<A>>(),
        }
    }

    /// What it is called.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The labeller with this state.
    ///
    /// # Errors
    /// [`PassError::Parts`] for a state that is not one of this kind.
    pub fn open(&self, state: &[u8]) -> Result<Labeller, PassError> {
        (self.open)(state)
    }

    /// The pass of [`RowFit::count_labels`](super::RowFit::count_labels), which has the same name.
    pub const fn counts(&self) -> PassKind {
        self.counts
    }
}

fn open<A: RowLabeller>(state: &[u8]) -> Result<Labeller, PassError> {
    let labeller = Labeller::new(decode::<A>(state, A::KIND)?);
    Ok(Labeller {
        foreign: true,
        ..labeller
    })
}

impl Labeller {
    pub(super) fn new(rule: impl RowLabeller) -> Self {
        Self {
            rule: Box::new(rule),
            soft: true,
            foreign: false,
        }
    }

    /// The same that tells labels and their probabilities alone.
    #[must_use]
    pub fn without_soft(self) -> Self {
        Self {
            soft: false,
            ..self
        }
    }

    /// Hands what `map` makes of the rows of some groups and their labels to `take`, block by block in their order, with the number
    /// of the first row.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read, the monitor asks to stop, or `take` fails.
    pub fn each<M: LabelledMap>(
        &self,
        rows: &PassRunner<'_>,
        groups: Range<usize>,
        map: &M,
        take: &mut dyn FnMut(u64, M::Out) -> Result<(), String>,
    ) -> Result<(), PassError> {
        let labelled = |block: AnyBlock<'_>| {
            let assigned = self.rule.assign(block);
            let soft = assigned.soft.filter(|_| self.soft);
            let assigned = Assigned { soft, ..assigned };
            match block {
                AnyBlock::Bytes(block) => map.map(&block, assigned),
                AnyBlock::Words(block) => map.map(&block, assigned),
                AnyBlock::Shares(block) => map.map(&block, assigned),
            }
        };
        let run = || rows.each_of(groups, &labelled, take);
        if self.foreign {
            guarded(|error| error, run)
        } else {
            run()
        }
    }

    pub(super) fn count(
        &self,
        rows: &PassRunner<'_>,
        clusters: usize,
    ) -> Result<LabelCounts, PassError> {
        self.rule.count(rows, clusters)
    }

    pub(super) fn job(&self) -> Result<LabelJob, PassError> {
        self.rule.job()
    }
}

/// A [`RowLabeller`], whatever the rows.
trait Rule: Sync + Send {
    fn assign(&self, block: AnyBlock<'_>) -> Assigned;
    fn count(&self, rows: &PassRunner<'_>, clusters: usize) -> Result<LabelCounts, PassError>;
    fn job(&self) -> Result<LabelJob, PassError>;
}

impl<A: RowLabeller> Rule for A {
    fn assign(&self, block: AnyBlock<'_>) -> Assigned {
        match block {
            AnyBlock::Bytes(block) => self.map(&block),
            AnyBlock::Words(block) => self.map(&block),
            AnyBlock::Shares(block) => self.map(&block),
        }
    }

    fn count(&self, rows: &PassRunner<'_>, clusters: usize) -> Result<LabelCounts, PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        rows.run(&CountLabels {
            labeller: self.clone(),
            clusters,
            offsets,
        })
    }

    fn job(&self) -> Result<LabelJob, PassError> {
        Ok(LabelJob {
            kind: A::KIND,
            state: encode(self)?,
        })
    }
}

/// Objects of every cluster, and those of every cluster in every base cluster.
#[doc(alias = "contingency")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCounts {
    /// K numbers.
    pub sizes: Vec<u64>,
    /// K × ΣJ numbers.
    pub of_base_clusters: Vec<u64>,
}

impl Mergeable for LabelCounts {
    fn merge(&mut self, other: Self) {
        self.sizes
            .iter_mut()
            .zip(other.sizes)
            .for_each(|(sum, count)| *sum += count);
        self.of_base_clusters
            .iter_mut()
            .zip(other.of_base_clusters)
            .for_each(|(sum, count)| *sum += count);
    }
}

/// Every row gets its label, and its own labels are counted.
#[derive(Serialize, Deserialize)]
struct CountLabels<A> {
    labeller: A,
    clusters: usize,
    /// Where the base clusters of every base clustering start, M + 1 values.
    offsets: Vec<usize>,
}

impl<A: RowLabeller> RowPass for CountLabels<A> {
    type Sum = LabelCounts;
    const KIND: &'static str = A::KIND;
    const EXACT: bool = true;

    fn zero(&self) -> LabelCounts {
        let width = self.offsets[self.offsets.len() - 1];
        LabelCounts {
            sizes: vec![0; self.clusters],
            of_base_clusters: vec![0; self.clusters * width],
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut LabelCounts) {
        let width = self.offsets[self.offsets.len() - 1];
        // Block by block of the grid, as labels are made: a group may be large.
        for piece in block.pieces() {
            let labels = self.labeller.map(&piece).labels;
            for ((row, _), &label) in piece.rows().zip(&labels) {
                sum.sizes[label as usize] += 1;
                let of = &mut sum.of_base_clusters[label as usize * width..][..width];
                for entry in row.entries(&self.offsets) {
                    of[entry.cluster] += 1;
                }
            }
        }
    }
}
