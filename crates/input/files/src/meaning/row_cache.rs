//! A cache of label rows on disk: groups of rows that were decoded once, packed, for processes that pass over them again.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use flate2::Crc;
use partita_core::ndarray::{Axis, Slice};
use partita_core::{BaseClustering, GroupRows, Label, LabelRows, PIECE_ROWS};

use super::held_rows::{Holding, LabelBlock, Packing};
use super::manifest::hex;
use crate::atomic_write::write_unflushed;
use crate::error::{FileError, WRITE};

/// What files begin with. The last byte is the version of their form.
const MAGIC: &[u8; 8] = b"PTRows\x00\x02";

/// Rows whose labels are compared at once: enough for vectors whatever M is.
const ROWS_COMPARED: usize = 16;

/// A folder with a file for every group of the rows of a manifest.
///
/// ```text
/// magic, version of the program, SHA-256 of the manifest, group, rows, M    all of it known to the reader
/// packed labels of a piece, as `Packing` has them; CRC-32 of its number and these, 4 bytes        once for each piece
/// ```
/// Pieces end where the row numbers of the manifest are multiples of [`PIECE_ROWS`], and are handed out one by one: a piece is read, checked,
/// unpacked and passed over while it is in the processor's own cache.
///
/// The manifest's SHA-256 stands for its files, whose own are in it, for their labels and for how they are read; that they were not
/// changed since is checked where they are opened. Numbers lie as in this machine's memory: on a machine with the other order of bytes the
/// header is another one. A CRC sees what disks do to files, at some 10 GB/s; SHA-256 would take longer than reading and unpacking.
pub(super) struct RowCache {
    folder: PathBuf,
    manifest: [u8; 32],
    packing: Packing,
    /// Clusters of every base clustering.
    clusters: Vec<u16>,
    /// Set when a file could not be written: no other is tried.
    full: AtomicBool,
    warnings: Mutex<Vec<String>>,
}

impl RowCache {
    /// The cache in a folder for the rows of the manifest with this SHA-256.
    pub(super) fn new(folder: &Path, manifest: [u8; 32], bases: &[BaseClustering]) -> Self {
        let (folder, packing) = (folder.to_path_buf(), Packing::of(bases));
        let clusters = bases.iter().map(|base| base.clusters() as u16).collect();
        Self {
            folder,
            manifest,
            packing,
            clusters,
            full: AtomicBool::new(false),
            warnings: Mutex::default(),
        }
    }

    /// Hands out the M labels of each of these rows, a group, from the folder, or from `decode`, after which they are in the folder.
    ///
    /// # Errors
    /// Those of `decode`; what is wrong with the folder is a warning.
    pub(super) fn read(
        &self,
        group: usize,
        rows: &Range<u64>,
        holding: &Holding,
        take: &mut dyn FnMut(GroupRows<'_>),
        decode: impl FnOnce() -> Result<LabelBlock, FileError>,
    ) -> Result<(), FileError> {
        let path = self
            .folder
            .join(format!("{}.{group}.rows", hex(&self.manifest[..8])));
        let header = self.header(group, rows);
        let mut done = 0;
        match self.load(&path, &header, rows, holding, &mut |rows| {
            done += rows.len();
            take(rows);
        }) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => self.warn(format!(
                "{}: {error}; these rows are decoded again",
                path.display()
            )),
        }
        let block = decode()?;
        let rest = Slice::from(done..);
        let labels = match block.rows() {
            LabelRows::Bytes(labels) => LabelRows::Bytes(labels.slice_axis_move(Axis(0), rest)),
            LabelRows::Words(labels) => LabelRows::Words(labels.slice_axis_move(Axis(0), rest)),
        };
        take(labels.into());
        if !self.full.load(Ordering::Relaxed) {
            self.keep(&path, &header, rows, &block);
        }
        Ok(())
    }

    fn header(&self, group: usize, rows: &Range<u64>) -> Vec<u8> {
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
        header.extend_from_slice(&self.manifest);
        [
            group as u64,
            rows.start,
            rows.end,
            self.clusters.len() as u64,
        ]
        .iter()
        .for_each(|number| header.extend(number.to_ne_bytes()));
        header
    }

    /// Hands out the labels of a file, piece by piece; whether there is one. What was handed out before an error is right.
    fn load(
        &self,
        path: &Path,
        header: &[u8],
        rows: &Range<u64>,
        holding: &Holding,
        take: &mut dyn FnMut(GroupRows<'_>),
    ) -> io::Result<bool> {
        // What cannot be opened is made again, and writing it says why it cannot be.
        let Ok(mut file) = File::open(path) else {
            return Ok(false);
        };
        let (bases, mut own) = (self.clusters.len(), vec![0; header.len()]);
        let length: usize = pieces(rows)
            .map(|rows| self.packing.bytes((rows, bases)) + size_of::<u32>())
            .sum();
        if file.metadata()?.len() != (header.len() + length) as u64 {
            return Err(io::Error::other(
                "it is cut short, or holds other label rows",
            ));
        }
        file.read_exact(&mut own)?;
        if own != header {
            return Err(io::Error::other(
                "it holds other label rows, or another version of this program wrote it",
            ));
        }
        let (limits, mut packed) = (self.clusters.repeat(ROWS_COMPARED), Vec::new());
        for (piece, rows) in pieces(rows).enumerate() {
            let labels = self.packing.bytes((rows, bases));
            packed.resize(labels + size_of::<u32>(), 0);
            file.read_exact(&mut packed)?;
            let (packed, sum) = packed.split_at(labels);
            if sum != checksum(piece, packed) {
                return Err(io::Error::other("it is damaged: its checksum does not fit"));
            }
            holding.lend(rows * bases * self.packing.width(), |labels| {
                self.packing.unpack(packed, labels);
                let known = match self.packing {
                    Packing::Words => {
                        all_known(&bytemuck::pod_collect_to_vec::<u8, u16>(labels), &limits)
                    }
                    _ => all_known(labels, &limits),
                };
                if known {
                    self.packing.hand_out((rows, bases), labels, take);
                    return Ok(());
                }
                Err(io::Error::other(
                    "it holds labels that no base clustering has",
                ))
            })?;
        }
        Ok(true)
    }

    /// Writes a file, whole or not at all.
    fn keep(&self, path: &Path, header: &[u8], rows: &Range<u64>, block: &LabelBlock) {
        let made = fs::create_dir_all(&self.folder)
            .map_err(|source| FileError::io(&self.folder, WRITE, source));
        let written = made.and_then(|()| {
            write_unflushed(path, |out| {
                out.write_all(header)?;
                let (mut rest, width) = (block.bytes(), self.clusters.len() * self.packing.width());
                for (piece, rows) in pieces(rows).enumerate() {
                    let lie_otherwise =
                        || io::Error::other("rows that do not lie one after the other");
                    let (labels, after) = rest
                        .split_at_checked(rows * width)
                        .ok_or_else(lie_otherwise)?;
                    let packed = self.packing.pack(labels);
                    out.write_all(&packed)?;
                    out.write_all(&checksum(piece, &packed))?;
                    rest = after;
                }
                Ok(())
            })
        });
        let Err(error) = written else { return };
        if !self.full.swap(true, Ordering::Relaxed) {
            self.warn(format!(
                "{error}; label rows that are not there yet are decoded in every pass"
            ));
        }
    }

    fn warn(&self, text: String) {
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    /// What there is to say since this was asked before.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether the labels of whole rows are clusters of their base clusterings, or missing. `limits` are numbers of clusters, for some rows.
fn all_known<L: Label>(labels: &[L], limits: &[u16]) -> bool {
    let strange = |(label, &limit): (&L, &u16)| {
        u8::from(label.index() >= usize::from(limit)) & u8::from(*label != L::MISSING)
    };
    labels
        .chunks(limits.len().max(1))
        .all(|labels| labels.iter().zip(limits).map(strange).fold(0, |a, b| a | b) == 0)
}

/// The numbers of rows of the pieces of some rows.
fn pieces(rows: &Range<u64>) -> impl Iterator<Item = usize> {
    let (mut first, end) = (rows.start, rows.end);
    std::iter::from_fn(move || {
        let next = (first / PIECE_ROWS + 1).saturating_mul(PIECE_ROWS).min(end);
        let rows = next - first;
        first = next;
        (rows > 0).then_some(rows as usize)
    })
}

fn checksum(piece: usize, packed: &[u8]) -> [u8; 4] {
    let mut sum = Crc::new();
    sum.update(&(piece as u64).to_ne_bytes());
    sum.update(packed);
    sum.sum().to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use partita_core::LabelRows;
    use partita_core::ndarray::Array2;

    use super::*;

    /// Two pieces of two and three rows.
    const ROWS: Range<u64> = PIECE_ROWS - 2..PIECE_ROWS + 3;

    /// Label rows of three base clusterings with up to so many clusters, some missing.
    fn block(group: usize, clusters: usize) -> LabelBlock {
        let label = |(row, base): (usize, usize)| match group + row * 3 + base {
            place if place.is_multiple_of(4) => u16::MAX,
            place => (place * 7919 % [2, clusters, 1][base]) as u16,
        };
        let words = Array2::from_shape_fn((5, 3), label);
        if clusters > 255 {
            LabelBlock::Words(words)
        } else {
            LabelBlock::Bytes(words.mapv(|label| label as u8))
        }
    }

    fn cache(folder: &Path, manifest: u8, clusters: usize) -> RowCache {
        let base = |most: usize| {
            BaseClustering::new("b", (0..most).map(|label| label.to_string()).collect())
        };
        RowCache::new(folder, [manifest; 32], &[base(2), base(clusters), base(1)])
    }

    /// Reads a group; the rows, and whether they were decoded.
    fn read(cache: &RowCache, group: usize, clusters: usize) -> (LabelBlock, bool) {
        let (holding, mut decoded) = (Holding::default(), false);
        let (mut bytes, mut words) = (Array2::zeros((0, 3)), Array2::zeros((0, 3)));
        let mut take = |rows: GroupRows<'_>| match rows.labels().unwrap() {
            LabelRows::Bytes(labels) => bytes.append(Axis(0), labels).unwrap(),
            LabelRows::Words(labels) => words.append(Axis(0), labels).unwrap(),
        };
        let decode = || {
            decoded = true;
            Ok(block(group, clusters))
        };
        cache
            .read(group, &ROWS, &holding, &mut take, decode)
            .unwrap();
        let found = if words.is_empty() {
            LabelBlock::Bytes(bytes)
        } else {
            LabelBlock::Words(words)
        };
        (found, decoded)
    }

    #[test]
    fn rows_are_decoded_once_and_the_same() {
        for (clusters, bytes) in [(15, 8), (16, 15), (255, 15), (300, 30)] {
            let folder = tempfile::tempdir().unwrap();
            for decoded in [true, false, false] {
                // Another process has another cache.
                let cache = cache(&folder.path().join("made/here"), 1, clusters);
                for group in 0..2 {
                    assert_eq!(
                        read(&cache, group, clusters),
                        (block(group, clusters), decoded),
                        "{clusters}"
                    );
                }
                assert_eq!(cache.take_warnings(), [""; 0]);
            }
            let file = folder.path().join("made/here/0101010101010101.1.rows");
            let header = cache(folder.path(), 1, clusters).header(1, &ROWS);
            assert_eq!(
                fs::metadata(file).unwrap().len() as usize,
                header.len() + bytes + 8
            );
        }
    }

    #[test]
    fn files_that_are_not_these_rows_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (cache(folder.path(), 1, 15), cache(folder.path(), 2, 15));
        let path = |manifest: u8, group: usize| {
            folder
                .path()
                .join(format!("{}.{group}.rows", hex(&[manifest; 8])))
        };
        read(&own, 0, 15);
        read(&own, 1, 15);
        read(&other, 0, 15);
        let [whole, second, foreign] =
            [path(1, 0), path(1, 1), path(2, 0)].map(|path| fs::read(path).unwrap());
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let short =
            [0, 1, 40, whole.len() - 5, whole.len() - 1].map(|length| whole[..length].to_vec());
        let more = [
            flipped(0),
            flipped(10),
            flipped(whole.len() - 6),
            flipped(whole.len() - 1),
        ];
        for bytes in short
            .into_iter()
            .chain(more)
            .chain([second, foreign, vec![0; whole.len()]])
        {
            fs::write(path(1, 0), &bytes).unwrap();
            assert_eq!(read(&own, 0, 15), (block(0, 15), true));
            let warnings = own.take_warnings();
            assert!(
                warnings.len() == 1 && warnings[0].contains(".0.rows: it "),
                "{warnings:?}"
            );
            assert!(
                warnings[0].ends_with("; these rows are decoded again"),
                "{warnings:?}"
            );
            assert!(fs::read(path(1, 0)).unwrap() == whole);
            assert_eq!(read(&own, 0, 15), (block(0, 15), false));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn labels_that_no_base_clustering_has_are_not_believed() {
        for (at, clusters) in [14, 200, 300].into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let own = cache(folder.path(), 1, clusters);
            read(&own, 0, clusters);
            let path = folder.path().join("0101010101010101.0.rows");
            let (mut bytes, header) = (fs::read(&path).unwrap(), own.header(0, &ROWS));
            // The first label of the third base clustering, which has one cluster.
            bytes[header.len() + [1, 2, 4][at]] = 14;
            let end = header.len() + [3, 6, 12][at];
            let sum = checksum(0, &bytes[header.len()..end]);
            bytes[end..end + 4].copy_from_slice(&sum);
            fs::write(&path, &bytes).unwrap();
            assert_eq!(read(&own, 0, clusters), (block(0, clusters), true));
            let warnings = own.take_warnings();
            assert!(
                warnings.len() == 1 && warnings[0].contains("no base clustering has"),
                "{warnings:?}"
            );
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        let cache = cache(&file.join("rows"), 1, 15);
        for group in 0..3 {
            assert_eq!(read(&cache, group, 15), (block(group, 15), true));
        }
        let warnings = cache.take_warnings();
        assert!(
            warnings.len() == 1 && warnings[0].contains("cannot write"),
            "{warnings:?}"
        );
    }
}
