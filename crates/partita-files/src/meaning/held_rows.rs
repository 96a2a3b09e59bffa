//! Label rows of a group, and those that stay in memory between passes over files.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{GroupRows, LabelRows};

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
    pub(super) fn rows(&self) -> LabelRows<'_> {
        match self {
            Self::Bytes(labels) => LabelRows::Bytes(labels.view()),
            Self::Words(labels) => LabelRows::Words(labels.view()),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(labels) => labels.len() as u64,
            Self::Words(labels) => 2 * labels.len() as u64,
        }
    }
}

/// The most clusters that leave one value of four bits for "missing".
pub(super) const MOST_NIBBLE_CLUSTERS: usize = 15;

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
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(bytes)).is_ok()
    }

    fn buffers(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Label rows that are held: two labels a byte where every base clustering has so few clusters, which halves what is held.
pub(super) enum Held {
    Whole(LabelBlock),
    Nibbles { shape: (usize, usize), labels: Vec<u8> },
}

impl Held {
    /// `few`: no base clustering has more than [`MOST_NIBBLE_CLUSTERS`].
    pub(super) fn new(block: LabelBlock, few: bool) -> Self {
        match block {
            LabelBlock::Bytes(labels) if few => {
                let (shape, (labels, _)) = (labels.dim(), labels.into_raw_vec_and_offset());
                let low = |label: u8| label.min(MOST_NIBBLE_CLUSTERS as u8);
                let pair = |two: &[u8]| low(two[0]) | (low(*two.get(1).unwrap_or(&0)) << 4);
                Self::Nibbles { shape, labels: labels.chunks(2).map(pair).collect() }
            }
            other => Self::Whole(other),
        }
    }

    /// Bytes of a block that is held.
    pub(super) fn bytes(block: &LabelBlock, few: bool) -> u64 {
        match block {
            LabelBlock::Bytes(labels) if few => labels.len().div_ceil(2) as u64,
            other => other.bytes(),
        }
    }

    /// Hands out the label rows.
    pub(super) fn read(&self, holding: &Holding, take: &mut dyn FnMut(GroupRows<'_>)) {
        match self {
            Self::Whole(block) => take(GroupRows { labels: block.rows(), weights: None }),
            Self::Nibbles { shape, labels } => {
                // 15 becomes 255, all others stay.
                let byte = |label: u8| label | (((label + 1) & 16) * 15);
                let mut bytes = holding.buffers().pop().unwrap_or_default();
                bytes.resize(2 * labels.len(), 0);
                for (out, two) in bytes.chunks_exact_mut(2).zip(labels) {
                    out.copy_from_slice(&[byte(two & 15), byte(two >> 4)]);
                }
                if let Ok(labels) = ArrayView2::from_shape(*shape, &bytes[..shape.0 * shape.1]) {
                    take(GroupRows { labels: LabelRows::Bytes(labels), weights: None });
                }
                holding.buffers().push(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_in_half_the_bytes_is_read_as_it_was() {
        let holding = Holding::default();
        // Each is unpacked into the buffer of the one before.
        for (rows, most, few) in [(5, 15, true), (4, 3, true), (9, 2, true), (5, 16, false), (0, 2, true)] {
            let label = |(row, base): (usize, usize)| match (row * 3 + base) % 17 {
                16 => u8::MAX,
                label => label.min(most - 1) as u8,
            };
            let labels = Array2::from_shape_fn((rows, 3), label);
            let block = LabelBlock::Bytes(labels.clone());
            assert_eq!(Held::bytes(&block, few), if few { (rows * 3).div_ceil(2) } else { rows * 3 } as u64);
            let held = Held::new(block, few);
            assert_eq!(matches!(&held, Held::Nibbles { labels, .. } if labels.len() == (rows * 3).div_ceil(2)), few);
            let mut read = 0;
            held.read(&holding, &mut |found| {
                assert!(matches!(found.labels, LabelRows::Bytes(found) if found == labels));
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
        assert_eq!([8, 8, 2].map(|bytes| holding.has_room(bytes)), [true, false, true]);
    }
}
