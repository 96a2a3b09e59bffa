//! Files in memory under the names that a program gives them, with what `std::fs` calls the same. There are no folders: a path is a name.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Bytes that several readers have.
#[derive(Clone, Debug)]
struct Content(Arc<Vec<u8>>);

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

static FILES: Mutex<BTreeMap<PathBuf, Content>> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, BTreeMap<PathBuf, Content>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn found(path: &Path) -> io::Result<Content> {
    let found = files().get(path).cloned();
    found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// A file that is read.
#[derive(Debug)]
pub struct File(Cursor<Content>);

impl File {
    /// As [`std::fs::File::open`].
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self(Cursor::new(found(path.as_ref())?)))
    }

    /// As [`std::fs::File::metadata`], which can fail.
    #[expect(clippy::unnecessary_wraps, reason = "that of the system can fail")]
    pub fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata(self.0.get_ref().0.len()))
    }

    /// Bytes from this place on; how many there were.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> usize {
        let content = self.0.get_ref().as_ref();
        let rest = usize::try_from(at).ok().and_then(|at| content.get(at..));
        let rest = rest.unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        read
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// What is known of a file: its length.
#[derive(Clone, Copy, Debug)]
pub struct Metadata(usize);

#[expect(
    clippy::unused_self,
    reason = "that of the system tells kinds and times apart"
)]
impl Metadata {
    /// Bytes.
    pub fn len(self) -> u64 {
        self.0 as u64
    }

    /// Always.
    pub fn is_file(self) -> bool {
        true
    }

    /// Never.
    pub fn is_dir(self) -> bool {
        false
    }

    /// Not known.
    pub fn modified(self) -> io::Result<SystemTime> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// As [`std::fs::metadata`].
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    found(path.as_ref()).map(|content| Metadata(content.0.len()))
}

/// As [`std::fs::read`].
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    found(path.as_ref()).map(|content| content.0.to_vec())
}

/// As [`std::fs::write`]. Bytes that are handed over are not copied.
#[expect(clippy::unnecessary_wraps, reason = "that of the system can fail")]
pub fn write(path: impl AsRef<Path>, content: impl Into<Vec<u8>>) -> io::Result<()> {
    let content = Content(Arc::new(content.into()));
    files().insert(path.as_ref().into(), content);
    Ok(())
}

/// As [`std::fs::remove_file`].
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let removed = files().remove(path.as_ref());
    removed
        .map(|_| ())
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Nothing: every folder is there.
#[expect(clippy::unnecessary_wraps, reason = "that of the system can fail")]
pub fn create_dir_all(_: impl AsRef<Path>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_was_written_until_it_is_removed() {
        let path = Path::new("held/a.csv");
        let none = |found: io::Result<()>| found.unwrap_err().kind() == io::ErrorKind::NotFound;
        assert!(none(File::open(path).map(|_| ())) && none(remove_file(path)));
        create_dir_all("held").unwrap();
        write(path, *b"a,b\n1,2\n").unwrap();
        let mut file = File::open(path).unwrap();
        let (mut text, mut part) = (String::new(), [0; 8]);
        file.seek(SeekFrom::Start(4)).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), file.read_at(&mut part, 6)), ("1,2\n", 2));
        assert_eq!((&part[..2], file.read_at(&mut [0], 9)), (&b"2\n"[..], 0));
        let known = file.metadata().unwrap();
        assert!(known.is_file() && !known.is_dir() && known.modified().is_err());
        assert_eq!(known.len(), metadata(path).unwrap().len());
        assert_eq!(read(path).unwrap(), b"a,b\n1,2\n");
        remove_file(path).unwrap();
        assert!(none(metadata(path).map(|_| ())));
    }
}
