//! Label rows of a group, and those that stay in memory between passes over files.

use std::borrow::Cow;
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
    /// The bytes of the labels, row after row.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(labels) => labels.as_slice().unwrap_or_default(),
            Self::Words(labels) => bytemuck::cast_slice(labels.as_slice().unwrap_or_default()),
        }
    }

    pub(super) fn rows(&self) -> LabelRows<'_> {
        match self {
            Self::Bytes(labels) => LabelRows::Bytes(labels.view()),
            Self::Words(labels) => LabelRows::Words(labels.view()),
        }
    }
}

/// The most clusters that leave one value of four bits for "missing".
const MOST_NIBBLE_CLUSTERS: usize = 15;

/// In how many bytes labels are packed: the fewest that the clusters of all base clusterings fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Two labels a byte, the first in the low bits.
    Nibbles,
    Bytes,
    Words,
}

impl Packing {
    pub(super) fn of(bases: &[BaseClustering]) -> Self {
        match bases
            .iter()
            .map(BaseClustering::clusters)
            .max()
            .unwrap_or(0)
        {
            most if most <= MOST_NIBBLE_CLUSTERS => Self::Nibbles,
            most if most <= MOST_BYTE_CLUSTERS => Self::Bytes,
            _ => Self::Words,
        }
    }

    /// Bytes of rows × M labels.
    pub(super) fn bytes(self, (rows, bases): (usize, usize)) -> usize {
        match self {
            Self::Nibbles => (rows * bases).div_ceil(2),
            Self::Bytes => rows * bases,
            Self::Words => 2 * rows * bases,
        }
    }

    /// Bytes of a label that is not packed.
    pub(super) fn width(self) -> usize {
        if self == Self::Words { 2 } else { 1 }
    }

    /// Packs labels that are not.
    pub(super) fn pack(self, labels: &[u8]) -> Cow<'_, [u8]> {
        if self != Self::Nibbles {
            return Cow::Borrowed(labels);
        }
        let low = |label: u8| label.min(MOST_NIBBLE_CLUSTERS as u8);
        let pairs = labels.chunks_exact(2);
        let last = pairs.remainder();
        let mut packed: Vec<u8> = pairs.map(|two| low(two[0]) | (low(two[1]) << 4)).collect();
        packed.extend(last.iter().map(|&label| low(label)));
        Cow::Owned(packed)
    }

    /// Unpacks labels into [`width`](Self::width) bytes each; of an odd number of them the last byte packs one.
    pub(super) fn unpack(self, packed: &[u8], labels: &mut [u8]) {
        if self != Self::Nibbles {
            labels.copy_from_slice(packed);
            return;
        }
        // 15 becomes 255, all others stay.
        let byte = |label: u8| label | (((label + 1) & 16) * 15);
        let mut pairs = labels.chunks_exact_mut(2);
        for (out, two) in pairs.by_ref().zip(packed) {
            out.copy_from_slice(&[byte(two & 15), byte(two >> 4)]);
        }
        pairs
            .into_remainder()
            .iter_mut()
            .zip(packed.last())
            .for_each(|(out, one)| *out = byte(one & 15));
    }

    /// Hands out rows × M labels that are not packed.
    pub(super) fn hand_out(
        self,
        shape: (usize, usize),
        labels: &[u8],
        take: &mut dyn FnMut(GroupRows<'_>),
    ) {
        if self == Self::Words {
            let words: Vec<u16> = bytemuck::pod_collect_to_vec(labels);
            if let Ok(labels) = ArrayView2::from_shape(shape, &words) {
                take(GroupRows::from(LabelRows::Words(labels)));
            }
        } else if let Ok(labels) = ArrayView2::from_shape(shape, labels) {
            take(GroupRows::from(LabelRows::Bytes(labels)));
        }
    }
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

    /// Lends a buffer of so many bytes, whatever they are.
    pub(super) fn lend<T>(&self, bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let mut buffer = self.buffers().pop().unwrap_or_default();
        buffer.resize(bytes, 0);
        let made = work(&mut buffer);
        self.buffers().push(buffer);
        made
    }

    fn buffers(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Label rows that are held: two labels a byte where every base clustering has so few clusters, which halves what is held.
pub(super) enum Held {
    Whole(LabelBlock),
    Nibbles {
        shape: (usize, usize),
        labels: Vec<u8>,
    },
}

impl Held {
    pub(super) fn new(block: LabelBlock, packing: Packing) -> Self {
        match block {
            LabelBlock::Bytes(labels) if packing == Packing::Nibbles => {
                let packed = packing
                    .pack(labels.as_slice().unwrap_or_default())
                    .into_owned();
                Self::Nibbles {
                    shape: labels.dim(),
                    labels: packed,
                }
            }
            other => Self::Whole(other),
        }
    }

    /// Hands out the label rows.
    pub(super) fn read(&self, holding: &Holding, take: &mut dyn FnMut(GroupRows<'_>)) {
        match self {
            Self::Whole(block) => take(GroupRows::from(block.rows())),
            Self::Nibbles {
                shape,
                labels: packed,
            } => holding.lend(shape.0 * shape.1, |labels| {
                Packing::Nibbles.unpack(packed, labels);
                Packing::Nibbles.hand_out(*shape, labels, take);
            }),
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
        for (rows, most) in [(5, 15), (4, 3), (9, 2), (5, 16), (0, 2)] {
            let base = |most: usize| {
                BaseClustering::new("b", (0..most).map(|label| label.to_string()).collect())
            };
            let (packing, few) = (Packing::of(&[base(2), base(most), base(1)]), most <= 15);
            let label = |(row, base): (usize, usize)| match (row * 3 + base) % 17 {
                16 => u8::MAX,
                label => label.min(most - 1) as u8,
            };
            let labels = Array2::from_shape_fn((rows, 3), label);
            let block = LabelBlock::Bytes(labels.clone());
            assert_eq!(
                packing.bytes((rows, 3)),
                if few {
                    (rows * 3).div_ceil(2)
                } else {
                    rows * 3
                }
            );
            assert_eq!(packing.pack(block.bytes()).len(), packing.bytes((rows, 3)));
            let held = Held::new(block, packing);
            assert_eq!(
                matches!(&held, Held::Nibbles { labels, .. } if labels.len() == (rows * 3).div_ceil(2)),
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
