//! Atomic writes: files appear whole or not at all, and files that belong together appear together.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempPath;

use crate::disk;
use crate::error::WRITE;
use crate::error::{FileError, Result};
use crate::open_file::{Compression, lower_name};
use crate::unfinished::{create_unfinished, finished};

/// Writes a file whole: into a temporary file beside the target, which is flushed to disk and then renamed. On any
/// error the temporary file is removed and the target is as it was. A file that is replaced hands its permissions on. What is not a
/// regular file (`/dev/stdout`, a pipe) is written straight into; a link is followed.
///
/// # Errors
/// [`FileError::Directory`] if the target is a folder, [`FileError::Io`] for what the system refuses.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), FileError> {
    let failed = |source| FileError::io(path, WRITE, source);
    // Nothing interrupts a program that holds its files.
    if cfg!(target_family = "wasm") {
        let mut content = Vec::new();
        let written = write(&mut content);
        return written
            .and_then(|()| disk::write(path, content))
            .map_err(failed);
    }
    let target = without_links(path);
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(FileError::Directory(path.into())),
        Ok(found) if !found.is_file() => File::options()
            .write(true)
            .open(&target)
            .and_then(|file| fill(&file, write))
            .map_err(failed),
        found => {
            let part = written(&target, found.ok(), write).map_err(failed)?;
            put(Change::Replace(target, part))
        }
    }
}

/// Removes a file, where there is one.
///
/// # Errors
/// [`FileError::Io`] for what the system refuses.
pub fn remove_whole(path: &Path) -> Result<(), FileError> {
    put(Change::Remove(path.into()))
}

/// Does `work`, whose files appear as one set: those that it writes and removes in this thread are changed once all of them are written.
/// Where it fails, or `may` refuses at the last moment, all are as they were. Sets that other processes write into the same folders come
/// before or after, not between. A set inside of another is part of it.
///
/// # Errors
/// Those of `work` and of `may`; [`FileError::Io`] for what the system refuses.
pub fn write_as_one<T, E: From<FileError>>(
    may: impl FnOnce() -> Result<(), E>,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if SET.with_borrow(Option::is_some) {
        return work();
    }
    let _set = Set::begin();
    let done = work()?;
    Set::commit(may)?;
    Ok(done)
}

/// Where the content of a file is: at its place, or beside it as long as the set that it belongs to is written.
pub fn place_of_content(path: &Path) -> PathBuf {
    let target = without_links(path);
    let of = |change: &Change| match change {
        Change::Replace(place, part) if *place == target => Some(part.to_path_buf()),
        _ => None,
    };
    let part = SET.with_borrow(|set| set.iter().flatten().rev().find_map(of));
    part.unwrap_or(target)
}

/// A path without links and relative parts, as far as it exists. A link to nothing is the file that would be made.
pub fn without_links(path: &Path) -> PathBuf {
    /// So many links lead on to each other at most, as on Linux.
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(to) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(to);
    }
    let beside = || {
        Some(
            fs::canonicalize(folder_of(&path))
                .ok()?
                .join(path.file_name()?),
        )
    };
    fs::canonicalize(&path).ok().or_else(beside).unwrap_or(path)
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    folder
        .filter(|folder| folder.as_os_str() != OsStr::new(""))
        .unwrap_or(Path::new("."))
}

/// What is to become of a file.
enum Change {
    Replace(PathBuf, TempPath),
    Remove(PathBuf),
}

thread_local! {
    /// The changes that belong together, while there are some.
    static SET: RefCell<Option<Vec<Change>>> = const { RefCell::new(None) };
}

/// The set that this thread writes. However it ends, the next one is another.
struct Set;

impl Set {
    fn begin() -> Self {
        SET.set(Some(Vec::new()));
        Self
    }

    fn commit<E: From<FileError>>(may: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let changes = SET.take().unwrap_or_default();
        let mut folders: Vec<PathBuf> = changes.iter().map(Change::folder).collect();
        folders.sort();
        folders.dedup();
        // All processes take folders in the same order. A file system without locks has done what it can.
        let folders: Vec<File> = folders
            .iter()
            .filter_map(|folder| File::open(folder).ok())
            .collect();
        for folder in &folders {
            lock(folder);
        }
        may()?;
        changes.into_iter().try_for_each(Change::make)?;
        // Renames are durable once their folders are.
        for folder in &folders {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Waits until no other process renames in this folder. Renames take no time: who holds a lock for longer is not waited for, since a
/// process that hangs must not stop all others.
fn lock(folder: &File) {
    const TURNS: u32 = 200;
    for _ in 0..TURNS {
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Ok(()) | Err(TryLockError::Error(_)) => return,
        }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        SET.take();
    }
}

/// Makes a change: at once, or with the set that it belongs to.
fn put(change: Change) -> Result<()> {
    let alone = SET.with_borrow_mut(|set| match set {
        Some(set) => {
            set.push(change);
            None
        }
        None => Some(change),
    });
    let Some(change) = alone else { return Ok(()) };
    let _set = Set::begin();
    put(change)?;
    Set::commit(|| Ok(()))
}

impl Change {
    /// The folder by its one name: a process that locks it by two waits for itself.
    fn folder(&self) -> PathBuf {
        let (Self::Replace(path, _) | Self::Remove(path)) = self;
        let folder = folder_of(path);
        fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf())
    }

    fn make(self) -> Result<()> {
        match self {
            Self::Replace(target, part) => {
                let place = part.to_path_buf();
                let renamed = part.persist(&target);
                finished(&place);
                renamed.map_err(|error| FileError::io(&target, WRITE, error.error))
            }
            Self::Remove(path) => match disk::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(FileError::io(&path, "be removed", error))
                }
                _ => Ok(()),
            },
        }
    }
}

/// A temporary file beside the target, with its content and on the disk.
fn written(
    target: &Path,
    replaced: Option<fs::Metadata>,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<TempPath> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partita-").suffix(".part");
    let part = builder.make_in(folder_of(target), create_unfinished)?;
    fill(part.as_file(), write)?;
    if let Some(replaced) = replaced {
        part.as_file().set_permissions(replaced.permissions())?;
    }
    part.as_file().sync_all()?;
    Ok(part.into_temp_path())
}

fn fill(
    file: &File,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(1 << 16, file);
    write(&mut buffer)?;
    buffer.flush()
}

/// As [`write_whole`], compressed where the name says so. The bytes repeat: no time and no name is stored.
pub(crate) fn write_text(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    match Compression::of(path) {
        Compression::None => write_whole(path, write),
        Compression::Gzip => write_whole(path, |out| {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut packed)?;
            packed.finish().map(|_| ())
        }),
        #[cfg(feature = "zstd")]
        Compression::Zstandard => write_whole(path, |out| {
            let mut packed =
                zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            write(&mut packed)?;
            packed.finish().map(|_| ())
        }),
    }
}

/// What separates fields in a file that is written: tabs where the name says TSV, commas otherwise.
pub(crate) fn text_delimiter(path: &Path) -> u8 {
    if lower_name(path).contains(".tsv") {
        b'\t'
    } else {
        b','
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_appears_as_one_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let write = |name: &str| write_whole(&place(name), |out| out.write_all(b"new"));
        write_whole(&place("old"), |out| out.write_all(b"old")).unwrap();
        let files = || fs::read_dir(folder.path()).unwrap().count();
        let set = |fails: bool| {
            write_as_one(
                || Ok(()),
                || {
                    write("a")?;
                    write("b")?;
                    // The same folder by another name.
                    remove_whole(&place("./old"))?;
                    assert!(place("old").exists() && !place("a").exists());
                    assert_eq!(fs::read(place_of_content(&place("a"))).unwrap(), b"new");
                    let failed = || FileError::empty(folder.path());
                    if fails { Err(failed()) } else { Ok(()) }
                },
            )
        };
        assert!(set(true).is_err());
        assert_eq!(files(), 1);
        assert!(write_as_one(|| Err(FileError::empty(folder.path())), || write("a")).is_err());
        assert_eq!(files(), 1);
        set(false).unwrap();
        assert!(place("a").exists() && place("b").exists() && !place("old").exists());
        assert_eq!(files(), 2);
    }

    #[test]
    fn an_error_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let message = failed.unwrap_err().to_string();
        assert!(
            message.ends_with(
                "cannot write: the disk is full; free some space or choose another disk"
            ),
            "{message}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &Path| {
            write_whole(path, |out| out.write_all(b"x"))
                .unwrap_err()
                .to_string()
        };
        assert!(write(folder.path()).contains("is a folder, not a file"));
        assert!(
            write(&folder.path().join("no/such.csv"))
                .ends_with("the folder does not exist; make it first")
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error() {
        let full = write_whole(Path::new("/dev/full"), |out| {
            out.write_all(&vec![0; 1 << 17])
        });
        assert!(full.unwrap_err().to_string().contains("the disk is full"));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
