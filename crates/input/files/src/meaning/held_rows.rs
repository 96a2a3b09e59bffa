//! Label rows of a group, and those that stay in memory between passes over files.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, GroupRows, LabelRows};

use super::label_rows::MOST_BYTE_CLUSTERS;

/// Label rows of a group, rows × M: clusters, or the largest code where a label is missing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LabelBlock {
    /// Every base clustering has at most 255 clusters.
    Bytes(Array2<u8>),
    /// Some base clustering has more.
    Words(Array2<u16>),
}

impl LabelBlock {
    /// Hands out the label rows.
    pub(super) fn hand_out(&self, take: &mut dyn FnMut(GroupRows<'_>)) {
        let labels = match self {
            Self::Bytes(labels) => LabelRows::Bytes(labels.view()),
            Self::Words(labels) => LabelRows::Words(labels.view()),
        };
        take(GroupRows::from(labels));
    }
}

/// The most clusters that leave one value of four bits for "missing".
const MOST_NIBBLE_CLUSTERS: usize = 15;

fn most_clusters(bases: &[BaseClustering]) -> usize {
    bases
        .iter()
        .map(BaseClustering::clusters)
        .max()
        .unwrap_or(0)
}

/// Whether the labels of these base clusterings take a byte each.
pub(super) fn fit_bytes(bases: &[BaseClustering]) -> bool {
    most_clusters(bases) <= MOST_BYTE_CLUSTERS
}

/// What the files of a manifest share.
#[derive(Debug, Default)]
pub(super) struct Holding {
    /// Bytes that are left for rows.
    room: AtomicU64,
    /// Buffers to unpack rows into, one for each thread that has read at the same time as others: memory that is new every time costs more
    /// than the unpacking.
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Holding {
    /// Rows may be held up to so many bytes.
    pub(super) fn allow(&self, bytes: u64) {
        self.room.store(bytes, Ordering::Relaxed);
    }

    /// Whether there is room for so many bytes, which are taken then.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                room.checked_sub(bytes)
            })
            .is_ok()
    }

    fn buffers(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Label rows that are held: two labels a byte, the first in the low bits, where every base clustering has so few clusters, which halves
/// what is held.
pub(super) enum Held {
    Whole(LabelBlock),
    Nibbles {
        shape: (usize, usize),
        packed: Vec<u8>,
    },
}

impl Held {
    /// Bytes that so many rows take.
    pub(super) fn bytes(bases: &[BaseClustering], rows: usize) -> u64 {
        let labels = (rows * bases.len()) as u64;
        match most_clusters(bases) {
            most if most <= MOST_NIBBLE_CLUSTERS => labels.div_ceil(2),
            most if most <= MOST_BYTE_CLUSTERS => labels,
            _ => 2 * labels,
        }
    }

    pub(super) fn new(block: LabelBlock, bases: &[BaseClustering]) -> Self {
        let labels = match block {
            LabelBlock::Bytes(labels) if most_clusters(bases) <= MOST_NIBBLE_CLUSTERS => labels,
            other => return Self::Whole(other),
        };
        let low = |label: u8| label.min(MOST_NIBBLE_CLUSTERS as u8);
        let pairs = labels.as_slice().unwrap_or_default().chunks(2);
        let packed = pairs
            .map(|pair| low(pair[0]) | (low(*pair.get(1).unwrap_or(&0)) << 4))
            .collect();
        Self::Nibbles {
            shape: labels.dim(),
            packed,
        }
    }

    /// Hands out the label rows.
    pub(super) fn read(&self, holding: &Holding, take: &mut dyn FnMut(GroupRows<'_>)) {
        let (shape, packed) = match self {
            Self::Whole(block) => return block.hand_out(take),
            Self::Nibbles { shape, packed } => (*shape, packed),
        };
        let mut labels = holding.buffers().pop().unwrap_or_default();
        labels.resize(shape.0 * shape.1, 0);
        // 15 becomes 255, all others stay.
        let byte = |label: u8| label | (((label + 1) & 16) * 15);
        for (pair, two) in labels.chunks_mut(2).zip(packed) {
            pair[0] = byte(two & 15);
            if let Some(second) = pair.get_mut(1) {
                *second = byte(two >> 4);
            }
        }
        if let Ok(labels) = ArrayView2::from_shape(shape, &labels) {
            take(GroupRows::from(LabelRows::Bytes(labels)));
        }
        holding.buffers().push(labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_in_half_the_bytes_is_read_as_it_was() {
        let holding = Holding::default();
        // Each is unpacked into the buffer of the one before.
        for (rows, most) in [(5, 15), (4, 3), (9, 2), (5, 16), (0, 2)] {
            let base = |most: usize| {
                BaseClustering::new("b", (0..most).map(|label| label.to_string()).collect())
            };
            let bases = [base(2), base(most), base(1)];
            let few = most <= 15;
            let label = |(row, base): (usize, usize)| match (row * 3 + base) % 17 {
                16 => u8::MAX,
                label => label.min(most - 1) as u8,
            };
            let labels = Array2::from_shape_fn((rows, 3), label);
            let block = LabelBlock::Bytes(labels.clone());
            let bytes = if few {
                (rows * 3).div_ceil(2)
            } else {
                rows * 3
            };
            assert_eq!(Held::bytes(&bases, rows), bytes as u64);
            let held = Held::new(block, &bases);
            assert_eq!(
                matches!(&held, Held::Nibbles { packed, .. } if packed.len() == bytes),
                few
            );
            let mut read = 0;
            held.read(&holding, &mut |found| {
                assert!(matches!(found.labels(), Some(LabelRows::Bytes(found)) if found == labels));
                read += 1;
            });
            assert_eq!(read, 1, "{rows} rows of {most} clusters");
        }
        assert_eq!(holding.buffers().len(), 1);
    }

    #[test]
    fn room_is_given_out_once() {
        let holding = Holding::default();
        assert!(!holding.has_room(1));
        holding.allow(10);
        assert_eq!(
            [8, 8, 2].map(|bytes| holding.has_room(bytes)),
            [true, false, true]
        );
    }
}
