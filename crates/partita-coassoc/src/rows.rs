//! Co-association a row at a time: counts of one object with all others, made when asked for.

use partita_core::Ensemble;
use partita_kernels::BLOCK;

use crate::CoassocError;
use crate::tiles::Tiles;

/// The co-association a row at a time, from the labels: nothing of size n² is held.
#[derive(Clone, Debug)]
pub struct EvidenceRows(Tiles);

impl EvidenceRows {
    /// Rows of an ensemble's co-association.
    ///
    /// # Errors
    /// [`CoassocError::TooManyBaseClusterings`] beyond 65,535.
    ///
    /// # Cost
    /// O(n M) time, and as much memory as the labels.
    pub fn new(ensemble: &Ensemble) -> Result<Self, CoassocError> {
        CoassocError::check_bases(ensemble.bases().len())?;
        Ok(Self(Tiles::new(ensemble)))
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.0.objects()
    }

    /// Number of base clusterings, M.
    pub fn base_clusterings(&self) -> usize {
        self.0.bases()
    }

    /// Whether some label is missing; if not, N is M for every pair.
    pub fn missing(&self) -> bool {
        self.0.missing()
    }

    /// Calls `take(j, c, N)` with the counts of `object` and every object j in ascending order, itself included
    /// (for which c = N = the number of its labels).
    ///
    /// # Cost
    /// O(n M) byte comparisons.
    ///
    /// # Panics
    /// If the object is out of range.
    pub fn for_each(&self, object: usize, mut take: impl FnMut(usize, u32, u32)) {
        assert!(object < self.objects(), "object {object} of {}", self.objects());
        let (mut c, mut seen) = ([[0; BLOCK]], [[self.base_clusterings() as u16; BLOCK]]);
        for block in 0..self.0.blocks() {
            self.0.count(object, block, &mut c, &mut seen);
            let start = block * BLOCK;
            for lane in 0..BLOCK.min(self.objects() - start) {
                take(start + lane, u32::from(c[0][lane]), u32::from(seen[0][lane]));
            }
        }
    }

    /// Calls `take(j, s, N)` with the weights of what `object` shares with every object j, summed, and N:
    /// `weights` has for every base clustering the weight of the cluster that the object is in (any number where its
    /// label is missing). Their sum must be below 2³².
    ///
    /// # Cost
    /// O(n M).
    ///
    /// # Panics
    /// If the object is out of range.
    pub fn for_each_weighted(&self, object: usize, weights: &[u32], mut take: impl FnMut(usize, u32, u32)) {
        assert!(object < self.objects(), "object {object} of {}", self.objects());
        let (mut c, mut seen) = ([[0; BLOCK]], [[self.base_clusterings() as u16; BLOCK]]);
        let mut sum = [0; BLOCK];
        for block in 0..self.0.blocks() {
            self.0.weigh(object, weights, block, &mut sum);
            if self.missing() {
                self.0.count(object, block, &mut c, &mut seen);
            }
            let start = block * BLOCK;
            for lane in 0..BLOCK.min(self.objects() - start) {
                take(start + lane, sum[lane], u32::from(seen[0][lane]));
            }
        }
    }
}
