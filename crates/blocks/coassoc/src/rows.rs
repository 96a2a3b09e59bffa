//! Co-association a row at a time: counts of one object with all others, made when asked for, of labels or of shares.

use partita_core::WeightedEnsemble;
use partita_kernels::BLOCK;
use rayon::prelude::*;

use crate::soft_pairs::SoftPairs;
use crate::tiles::Tiles;
use crate::whole_weights::MOST;
use crate::{CoassocError, whole_weights};

/// Labels that are compared for a piece of a row, at least: less is not worth another thread.
const PIECE: usize = 1 << 21;

/// The co-association a row at a time, from the labels: nothing of size n² is held.
#[derive(Clone, Debug)]
pub struct EvidenceRows {
    tiles: Tiles,
    weights: Option<Weights>,
    /// The memberships, where base clusterings are soft.
    soft: Option<SoftPairs>,
}

/// What every base clustering counts.
#[derive(Clone, Debug)]
struct Weights {
    whole: Vec<u32>,
    sum: u32,
    /// Which labels are there, where some are missing.
    present: Option<Tiles>,
}

impl EvidenceRows {
    /// Rows of an ensemble's co-association.
    ///
    /// # Errors
    /// [`CoassocError::TooManyBaseClusterings`] beyond 65,535, [`CoassocError::Weights`] if there is not one weight a base clustering.
    ///
    /// # Cost
    /// O(n M) time, and as much memory as the labels.
    pub fn new<'a>(source: impl Into<WeightedEnsemble<'a>>) -> Result<Self, CoassocError> {
        let source = source.into();
        CoassocError::check_bases(source.ensemble.bases().len())?;
        let tiles = Tiles::new(source.ensemble);
        let weights = whole_weights(source)?.map(|whole| {
            let present = tiles.missing().then(|| tiles.present());
            Weights {
                sum: whole.iter().sum(),
                whole,
                present,
            }
        });
        Ok(Self {
            tiles,
            weights,
            soft: SoftPairs::new(source)?,
        })
    }

    /// Rows of the co-association of soft base clusterings, in which being together in base cluster c counts `worth(c)`, 0 to 1.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn by_cluster<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        worth: impl Fn(usize) -> f64,
    ) -> Result<Self, CoassocError> {
        let source = source.into();
        Ok(Self {
            soft: SoftPairs::by_cluster(source, worth)?,
            ..Self::new(source)?
        })
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.tiles.objects()
    }

    /// Number of base clusterings, M.
    pub fn base_clusterings(&self) -> usize {
        self.tiles.bases()
    }

    /// N of a pair that all base clusterings label: M, or the sum of the weights in whole numbers.
    pub fn unit(&self) -> u32 {
        match (&self.soft, &self.weights) {
            (Some(_), _) => MOST,
            (None, Some(weights)) => weights.sum,
            (None, None) => self.base_clusterings() as u32,
        }
    }

    /// Whether counts are in parts of [`unit`](Self::unit): base clusterings count differently, or are soft.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some() || self.soft.is_some()
    }

    /// Whether some label is missing; if not, N is the same for every pair.
    pub fn missing(&self) -> bool {
        self.soft
            .as_ref()
            .map_or_else(|| self.tiles.missing(), SoftPairs::missing)
    }

    /// Calls `take(j, c, N)` with the counts of `object` and every object j in ascending order, itself included
    /// (for which c = N = the number of its labels, or their weight).
    ///
    /// # Cost
    /// O(n M) byte comparisons.
    ///
    /// # Panics
    /// If the object is out of range.
    pub fn for_each(&self, object: usize, take: impl FnMut(usize, u32, u32)) {
        self.for_each_from(object, 0, take);
    }

    /// The same from the objects of block `first` on.
    pub(crate) fn for_each_from(
        &self,
        object: usize,
        first: usize,
        mut take: impl FnMut(usize, u32, u32),
    ) {
        assert!(
            object < self.objects(),
            "object {object} of {}",
            self.objects()
        );
        if let Some(soft) = &self.soft {
            return soft.row(object, first * BLOCK, take);
        }
        if let Some(weights) = &self.weights {
            return self.weighted_from(object, first, weights, take);
        }
        let (mut c, mut seen) = ([[0; BLOCK]], [[self.base_clusterings() as u16; BLOCK]]);
        for block in first..self.tiles.blocks() {
            self.tiles.count(object, block, &mut c, &mut seen);
            let start = block * BLOCK;
            for lane in 0..BLOCK.min(self.objects() - start) {
                take(
                    start + lane,
                    u32::from(c[0][lane]),
                    u32::from(seen[0][lane]),
                );
            }
        }
    }

    fn weighted_from(
        &self,
        object: usize,
        first: usize,
        weights: &Weights,
        mut take: impl FnMut(usize, u32, u32),
    ) {
        let (mut c, mut seen) = ([0; BLOCK], [weights.sum; BLOCK]);
        let own = self.tiles.weighed(object, &weights.whole);
        let present = weights
            .present
            .as_ref()
            .map(|present| (present, present.weighed(object, &weights.whole)));
        for block in first..self.tiles.blocks() {
            self.tiles.weigh(&own, block, &mut c);
            if let Some((present, own)) = &present {
                present.weigh(own, block, &mut seen);
            }
            let start = block * BLOCK;
            for lane in 0..BLOCK.min(self.objects() - start) {
                take(start + lane, c[lane], seen[lane]);
            }
        }
    }

    /// Fills a row by `write(s, N, places)`, which is given some objects at a time: the weights of what `object` shares with each, summed,
    /// and N. `weights` has for every base clustering the weight of the cluster that the object is in (any number where its label is
    /// missing). Their sum must be below 2³². Long rows are written by several threads.
    ///
    /// # Cost
    /// O(n M).
    ///
    /// # Panics
    /// If the object is out of range, or `row` has not one place an object.
    pub fn fill_weighted(
        &self,
        object: usize,
        weights: &[u32],
        row: &mut [u32],
        write: impl Fn(&[u32], &[u32], &mut [u32]) + Sync,
    ) {
        assert!(
            object < self.objects(),
            "object {object} of {}",
            self.objects()
        );
        assert_eq!(row.len(), self.objects(), "places");
        let own = self.tiles.weighed(object, weights);
        let present = match &self.weights {
            Some(Weights {
                whole,
                present: Some(present),
                ..
            }) => Some((present, present.weighed(object, whole))),
            _ => None,
        };
        let counted = self.weights.is_none() && self.missing();
        let blocks = (PIECE / BLOCK).div_ceil(self.base_clusterings().max(1));
        let piece = |(at, piece): (usize, &mut [u32])| {
            let (mut c, mut seen) = ([[0; BLOCK]], [[self.base_clusterings() as u16; BLOCK]]);
            let (mut sum, mut both) = ([0; BLOCK], [self.unit(); BLOCK]);
            for (block, row) in piece.chunks_mut(BLOCK).enumerate() {
                let block = at * blocks + block;
                self.tiles.weigh(&own, block, &mut sum);
                if let Some((present, own)) = &present {
                    present.weigh(own, block, &mut both);
                } else if counted {
                    self.tiles.count(object, block, &mut c, &mut seen);
                    both = seen[0].map(u32::from);
                }
                write(&sum[..row.len()], &both[..row.len()], row);
            }
        };
        row.par_chunks_mut(blocks * BLOCK)
            .enumerate()
            .for_each(piece);
    }
}
