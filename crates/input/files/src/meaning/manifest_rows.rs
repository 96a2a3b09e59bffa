//! The label rows of a manifest, whose files are opened and checked when their rows are first wanted.

use std::fmt;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use partita_core::{BaseClustering, GroupRows, MemoryBudget, RowBlocks, SourceError};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::groups::LabelGroups;
use super::held_rows::Holding;
use super::manifest::{MANIFEST_VERSION, Manifest, ManifestFile, open, same_columns};
use crate::atomic_write::write_whole;
use crate::error::{FileError, Result};
use crate::open_file;

/// A [`Manifest`] that is open: label rows that are read group by group. Who reads some groups opens their files alone.
pub struct ManifestRows {
    manifest: Manifest,
    /// SHA-256 of the manifest's own bytes.
    hash: [u8; 32],
    folder: PathBuf,
    bases: Vec<BaseClustering>,
    /// File, group within it and first row of every group, and where the last ends.
    groups: Vec<(usize, usize, u64)>,
    files: Vec<OnceLock<LabelGroups>>,
    budget: MemoryBudget,
    holding: Arc<Holding>,
}

impl Manifest {
    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// [`FileError`] for what cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        write_whole(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }
}

impl ManifestRows {
    /// Whether a file is a manifest, by its name and its first bytes.
    pub fn is_manifest(path: &Path) -> bool {
        let named = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let mut start = Vec::new();
        let mut read = || {
            open_file::open(path)
                .is_ok_and(|(file, _)| file.take(200).read_to_end(&mut start).is_ok())
        };
        named && read() && String::from_utf8_lossy(&start).contains("\"manifest_version\"")
    }

    /// Opens a manifest, and none of its files yet.
    ///
    /// # Errors
    /// [`FileError`] for what is not a manifest of this version.
    pub fn open(path: &Path, budget: MemoryBudget) -> Result<Self, FileError> {
        let text = fs::read(path).map_err(FileError::reading(path))?;
        let wrong = |reason: String| {
            FileError::damaged(
                path,
                format!("{reason}; make it again with `partita manifest`"),
            )
        };
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("this is not a manifest ({error})")))?;
        if manifest.manifest_version != MANIFEST_VERSION {
            let found = manifest.manifest_version;
            return Err(wrong(format!(
                "this manifest is of version {found}, this program reads {MANIFEST_VERSION}"
            )));
        }
        manifest.flaw().map_or(Ok(()), |flaw| {
            Err(wrong(format!("this manifest is damaged: {flaw}")))
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Self::of(
            manifest,
            Sha256::digest(&text).into(),
            folder,
            budget,
        ))
    }

    fn of(manifest: Manifest, hash: [u8; 32], folder: PathBuf, budget: MemoryBudget) -> Self {
        let mut groups = Vec::new();
        let mut row = 0;
        for (at, file) in manifest.files.iter().enumerate() {
            for (group, rows) in file.groups.iter().enumerate() {
                groups.push((at, group, row));
                row += rows;
            }
        }
        let values = |labels: &[u64]| labels.iter().map(ToString::to_string).collect();
        let bases = manifest
            .bases
            .iter()
            .map(|base| BaseClustering::new(&base.name, values(&base.labels)))
            .collect();
        let files = manifest.files.iter().map(|_| OnceLock::new()).collect();
        Self {
            manifest,
            hash,
            folder,
            bases,
            groups,
            files,
            budget,
            holding: Arc::default(),
        }
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// SHA-256 of the manifest's bytes.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// Holds groups in memory once they were read, up to so many bytes ([`LabelGroups::hold`]).
    pub fn hold(&self, bytes: u64) {
        self.holding.allow(bytes);
    }

    /// Bytes that readers hold at once for what they are decoding, about.
    pub fn transient(&self) -> u64 {
        let largest = self
            .manifest
            .files
            .iter()
            .flat_map(|file| &file.groups)
            .max()
            .copied()
            .unwrap_or(0);
        largest.saturating_mul(8 * self.bases.len() as u64)
    }

    /// Whether these are the rows of the manifest that is at `path` now.
    pub fn is_still(&self, path: &Path) -> bool {
        let here = |text: Vec<u8>| self.hash == <[u8; 32]>::from(Sha256::digest(&text));
        self.folder == path.parent().unwrap_or(Path::new("")) && fs::read(path).is_ok_and(here)
    }

    /// Refuses files of some groups that were changed since the manifest was made, opened before or not.
    ///
    /// # Errors
    /// [`FileError`] for the first of them.
    pub fn check_files(&self, groups: Range<usize>) -> Result<(), FileError> {
        let mut files: Vec<usize> = self.groups[groups].iter().map(|&(file, ..)| file).collect();
        files.dedup();
        files
            .into_iter()
            .map(|at| &self.manifest.files[at])
            .try_for_each(|file| file.check(&self.folder.join(&file.path)))
    }

    /// Opens all files now, so that what was changed is said before anything is computed.
    ///
    /// # Errors
    /// [`FileError`] for a file that is not as the manifest says.
    pub fn open_files(&self) -> Result<(), FileError> {
        (0..self.files.len())
            .into_par_iter()
            .try_for_each(|at| self.file(at).map(|_| ()))
    }

    /// The rows of a file, which is opened and checked once.
    fn file(&self, at: usize) -> Result<&LabelGroups> {
        if let Some(open) = self.files[at].get() {
            return Ok(open);
        }
        let open = self.open_file(&self.manifest.files[at])?;
        Ok(self.files[at].get_or_init(|| open))
    }

    fn open_file(&self, file: &ManifestFile) -> Result<LabelGroups> {
        let path = self.folder.join(&file.path);
        file.check(&path)?;
        let options = self.manifest.read.clone().within(self.budget);
        let columns = open(&path, &options)?;
        same_columns(
            &path,
            &columns,
            &self.manifest.bases,
            Path::new("the manifest"),
        )?;
        if !columns
            .rows()
            .iter()
            .map(|&rows| rows as u64)
            .eq(file.groups.iter().copied())
        {
            return Err(FileError::damaged(
                &path,
                "its groups of rows are not those of the manifest; make the manifest again",
            ));
        }
        let labels = self
            .manifest
            .bases
            .iter()
            .map(|base| base.labels.clone())
            .collect();
        Ok(LabelGroups::of_labels(
            columns,
            labels,
            Arc::clone(&self.holding),
        ))
    }
}

impl RowBlocks for ManifestRows {
    fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    fn groups(&self) -> usize {
        self.groups.len()
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        let (file, inside, first) = self.groups[group];
        first..first + self.manifest.files[file].groups[inside]
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let (file, inside, first) = self.groups[group];
        let failed = |error: FileError| SourceError {
            first,
            reason: error.to_string(),
        };
        let file = self.file(file).map_err(failed)?;
        file.read(inside, take)
            .map_err(|error| SourceError { first, ..error })
    }
}

impl fmt::Debug for ManifestRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManifestRows")
            .field("folder", &self.folder)
            .field("rows", &self.manifest.rows)
            .finish_non_exhaustive()
    }
}
