//! Atomic writes: files appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::WRITE;
use crate::error::{FileError, Result};
use crate::open_file::{Compression, lower_name};

/// Writes a file whole: into a temporary file beside the target, which is flushed to disk and then renamed. On any
/// error the temporary file is removed and the target is as it was. What is not a regular file (`/dev/stdout`, a
/// pipe) is written straight into; a link is followed.
///
/// # Errors
/// [`FileError::Directory`] if the target is a folder, [`FileError::Io`] for what the system refuses.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), FileError> {
    let failed = |source| FileError::io(path, WRITE, source);
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(FileError::Directory(path.into())),
        Ok(found) if !found.is_file() => File::options()
            .write(true)
            .open(&target)
            .and_then(|file| fill(&file, write))
            .map_err(failed),
        _ => replace(&target, write).map_err(failed),
    }
}

fn replace(
    target: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partita-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let part = builder.tempfile_in(&folder)?;
    fill(part.as_file(), write)?;
    part.as_file().sync_all()?;
    part.persist(target).map_err(|error| error.error)?;
    // The rename is durable once the folder is; a file system that cannot say so has done what it can.
    if let Ok(folder) = File::open(&folder) {
        let _ = folder.sync_all();
    }
    Ok(())
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
