//! A file with the bytes of an input, for readers that take a path.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    /// A folder a thread; files in it are written anew for every execution.
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// The folder of this thread, in memory where the system has such a place.
pub(crate) fn folder() -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        let memory = Path::new("/dev/shm");
        let made = || {
            if memory.is_dir() {
                TempDir::new_in(memory)
            } else {
                TempDir::new()
            }
        };
        let folder = folder.get_or_insert_with(|| {
            made()
                .or_else(|_| TempDir::new())
                .expect("a temporary folder")
        });
        folder.path().to_owned()
    })
}

/// A file of this name with these bytes.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, bytes).expect("room in the temporary folder");
    path
}
