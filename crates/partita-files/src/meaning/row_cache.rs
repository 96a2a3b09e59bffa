//! A cache of label rows on disk: groups of rows that were decoded once, packed, for processes that pass over them again.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use flate2::Crc;
use partita_core::{BaseClustering, GroupRows, Label};

use super::held_rows::{Held, Holding, LabelBlock, Packing};
use super::manifest::hex;
use crate::atomic_write::write_unflushed;
use crate::error::{FileError, WRITE};

/// What files begin with. The last byte is the version of their form.
const MAGIC: &[u8; 8] = b"PTRows\x00\x01";

/// Labels that are read at once, about.
const PIECE: usize = 1 << 16;

/// Rows whose labels are compared at once: enough for vectors whatever M is.
const ROWS_COMPARED: usize = 16;

/// A folder with a file for every group of the rows of a manifest.
///
/// ```text
/// magic, version of the program, SHA-256 of the manifest, group, rows, M    all of it known to the reader
/// packed labels                                                              as `Packing` has them
/// CRC-32 of both                                                             4 bytes
/// ```
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
        Self { folder, manifest, packing, clusters, full: AtomicBool::new(false), warnings: Mutex::default() }
    }

    /// Hands out the rows × M labels of a group from the folder, or from `decode`, after which they are in the folder.
    ///
    /// # Errors
    /// Those of `decode`; what is wrong with the folder is a warning.
    pub(super) fn read(
        &self,
        group: usize,
        shape: (usize, usize),
        holding: &Holding,
        take: &mut dyn FnMut(GroupRows<'_>),
        decode: impl FnOnce() -> Result<LabelBlock, FileError>,
    ) -> Result<(), FileError> {
        let path = self.folder.join(format!("{}.{group}.rows", hex(&self.manifest[..8])));
        let header = self.header(group, shape);
        match self.load(&path, &header, shape, holding, take) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => self.warn(format!("{}: {error}; these rows are decoded again", path.display())),
        }
        let block = decode()?;
        take(GroupRows { labels: block.rows(), weights: None });
        if !self.full.load(Ordering::Relaxed) {
            self.keep(&path, &header, &Held::new(block, self.packing));
        }
        Ok(())
    }

    fn header(&self, group: usize, (rows, bases): (usize, usize)) -> Vec<u8> {
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
        header.extend_from_slice(&self.manifest);
        [group, rows, bases].iter().for_each(|&number| header.extend((number as u64).to_ne_bytes()));
        header
    }

    /// Hands out the labels of a file; whether there is one.
    fn load(
        &self,
        path: &Path,
        header: &[u8],
        shape: (usize, usize),
        holding: &Holding,
        take: &mut dyn FnMut(GroupRows<'_>),
    ) -> io::Result<bool> {
        // What cannot be opened is made again, and writing it says why it cannot be.
        let Ok(mut file) = File::open(path) else { return Ok(false) };
        let (length, mut own) = (self.packing.bytes(shape), vec![0; header.len()]);
        if file.metadata()?.len() != (header.len() + length + size_of::<u32>()) as u64 {
            return Err(io::Error::other("it is cut short, or holds other label rows"));
        }
        file.read_exact(&mut own)?;
        if own != header {
            return Err(io::Error::other("it holds other label rows, or another version of this program wrote it"));
        }
        // A piece of whole rows is read, checked and unpacked while it is in the processor's own cache.
        let (rows, width) = (PIECE.div_ceil(shape.1.max(1)).next_multiple_of(2), self.packing.width());
        let limits = self.clusters.repeat(ROWS_COMPARED);
        let mut packed = vec![0; self.packing.bytes((rows.min(shape.0), shape.1))];
        holding.lend(shape.0 * shape.1 * width, |labels| {
            let (mut sum, mut known) = (Crc::new(), true);
            sum.update(header);
            for piece in labels.chunks_mut(rows * shape.1.max(1) * width) {
                let packed = &mut packed[..self.packing.bytes((piece.len() / width, 1))];
                file.read_exact(packed)?;
                sum.update(packed);
                self.packing.unpack(packed, piece);
                known &= match self.packing {
                    Packing::Words => all_known(&bytemuck::pod_collect_to_vec::<u8, u16>(piece), &limits),
                    _ => all_known(piece, &limits),
                };
            }
            let mut own = [0; size_of::<u32>()];
            file.read_exact(&mut own)?;
            if own != sum.sum().to_ne_bytes() {
                return Err(io::Error::other("it is damaged: its checksum does not fit"));
            }
            if !known {
                return Err(io::Error::other("it holds labels that no base clustering has"));
            }
            self.packing.hand_out(shape, labels, take);
            Ok(true)
        })
    }

    /// Writes a file, whole or not at all.
    fn keep(&self, path: &Path, header: &[u8], rows: &Held) {
        let packed = rows.packed();
        let made = fs::create_dir_all(&self.folder).map_err(|source| FileError::io(&self.folder, WRITE, source));
        let written = made.and_then(|()| {
            write_unflushed(path, |out| {
                [header, packed, &checksum(header, packed)].iter().try_for_each(|bytes| out.write_all(bytes))
            })
        });
        let Err(error) = written else { return };
        if !self.full.swap(true, Ordering::Relaxed) {
            self.warn(format!("{error}; label rows that are not there yet are decoded in every pass"));
        }
    }

    fn warn(&self, text: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// What there is to say since this was asked before.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether the labels of whole rows are clusters of their base clusterings, or missing. `limits` are numbers of clusters, for some rows.
fn all_known<L: Label>(labels: &[L], limits: &[u16]) -> bool {
    let strange =
        |(label, &limit): (&L, &u16)| u8::from(label.index() >= usize::from(limit)) & u8::from(*label != L::MISSING);
    labels.chunks(limits.len().max(1)).all(|labels| labels.iter().zip(limits).map(strange).fold(0, |a, b| a | b) == 0)
}

fn checksum(header: &[u8], packed: &[u8]) -> [u8; 4] {
    let mut sum = Crc::new();
    sum.update(header);
    sum.update(packed);
    sum.sum().to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use partita_core::LabelRows;
    use partita_core::ndarray::Array2;

    use super::*;

    const ROWS: usize = 5;

    /// Label rows of three base clusterings with up to so many clusters, some missing.
    fn block(group: usize, clusters: usize) -> LabelBlock {
        let label = |(row, base): (usize, usize)| match group + row * 3 + base {
            place if place.is_multiple_of(4) => u16::MAX,
            place => (place * 7919 % [2, clusters, 1][base]) as u16,
        };
        let words = Array2::from_shape_fn((ROWS, 3), label);
        if clusters > 255 { LabelBlock::Words(words) } else { LabelBlock::Bytes(words.mapv(|label| label as u8)) }
    }

    fn cache(folder: &Path, manifest: u8, clusters: usize) -> RowCache {
        let base = |most: usize| BaseClustering::new("b", (0..most).map(|label| label.to_string()).collect());
        RowCache::new(folder, [manifest; 32], &[base(2), base(clusters), base(1)])
    }

    /// Reads a group; the rows, and whether they were decoded.
    fn read(cache: &RowCache, group: usize, clusters: usize) -> (LabelBlock, bool) {
        let (holding, mut found, mut decoded) = (Holding::default(), Vec::new(), false);
        let mut take = |rows: GroupRows<'_>| {
            found.push(match rows.labels {
                LabelRows::Bytes(labels) => LabelBlock::Bytes(labels.to_owned()),
                LabelRows::Words(labels) => LabelBlock::Words(labels.to_owned()),
            });
        };
        let decode = || {
            decoded = true;
            Ok(block(group, clusters))
        };
        cache.read(group, (ROWS, 3), &holding, &mut take, decode).unwrap();
        assert_eq!(found.len(), 1);
        (found.remove(0), decoded)
    }

    #[test]
    fn rows_are_decoded_once_and_the_same() {
        for (clusters, bytes) in [(15, 8), (16, 15), (255, 15), (300, 30)] {
            let folder = tempfile::tempdir().unwrap();
            for decoded in [true, false, false] {
                // Another process has another cache.
                let cache = cache(&folder.path().join("made/here"), 1, clusters);
                for group in 0..2 {
                    assert_eq!(read(&cache, group, clusters), (block(group, clusters), decoded), "{clusters}");
                }
                assert_eq!(cache.take_warnings(), [""; 0]);
            }
            let file = folder.path().join("made/here/0101010101010101.1.rows");
            let header = cache(folder.path(), 1, clusters).header(1, (ROWS, 3));
            assert_eq!(fs::metadata(file).unwrap().len() as usize, header.len() + bytes + 4);
        }
    }

    #[test]
    fn files_that_are_not_these_rows_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (cache(folder.path(), 1, 15), cache(folder.path(), 2, 15));
        let path = |manifest: u8, group: usize| folder.path().join(format!("{}.{group}.rows", hex(&[manifest; 8])));
        read(&own, 0, 15);
        read(&own, 1, 15);
        read(&other, 0, 15);
        let [whole, second, foreign] = [path(1, 0), path(1, 1), path(2, 0)].map(|path| fs::read(path).unwrap());
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let short = [0, 1, 40, whole.len() - 5, whole.len() - 1].map(|length| whole[..length].to_vec());
        let more = [flipped(0), flipped(10), flipped(whole.len() - 6), flipped(whole.len() - 1)];
        for bytes in short.into_iter().chain(more).chain([second, foreign, vec![0; whole.len()]]) {
            fs::write(path(1, 0), &bytes).unwrap();
            assert_eq!(read(&own, 0, 15), (block(0, 15), true));
            let warnings = own.take_warnings();
            assert!(warnings.len() == 1 && warnings[0].contains(".0.rows: it "), "{warnings:?}");
            assert!(warnings[0].ends_with("; these rows are decoded again"), "{warnings:?}");
            assert!(fs::read(path(1, 0)).unwrap() == whole);
            assert_eq!(read(&own, 0, 15), (block(0, 15), false));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn labels_that_no_base_clustering_has_are_not_believed() {
        for clusters in [14, 200, 300] {
            let folder = tempfile::tempdir().unwrap();
            let own = cache(folder.path(), 1, clusters);
            read(&own, 0, clusters);
            let path = folder.path().join("0101010101010101.0.rows");
            let (mut bytes, header) = (fs::read(&path).unwrap(), own.header(0, (ROWS, 3)));
            // The first label of the third base clustering, which has one cluster.
            bytes[header.len() + [1, 2, 4][[14, 200, 300].iter().position(|&all| all == clusters).unwrap()]] = 14;
            let end = bytes.len() - size_of::<u32>();
            let sum = checksum(&header, &bytes[header.len()..end]);
            bytes[end..].copy_from_slice(&sum);
            fs::write(&path, &bytes).unwrap();
            assert_eq!(read(&own, 0, clusters), (block(0, clusters), true));
            let warnings = own.take_warnings();
            assert!(warnings.len() == 1 && warnings[0].contains("no base clustering has"), "{warnings:?}");
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
        assert!(warnings.len() == 1 && warnings[0].contains("cannot write"), "{warnings:?}");
    }
}
