//! Temporary files and folders of work that is under way, for a process that has to end at once: nothing of them stays then.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static UNFINISHED: Places = Places(Mutex::new(Vec::new()));

/// From now on this is removed where the process ends before [`finished`] is called.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`].
pub fn unfinished(path: &Path) -> io::Result<()> {
    UNFINISHED.add(path)
}

/// It has its place now, or was removed.
pub fn finished(path: &Path) {
    UNFINISHED.forget(path);
}

/// Removes all that is unfinished, before the process is left at once. It waits for no other thread.
pub fn remove_unfinished() {
    UNFINISHED.remove();
}

/// A new file that is unfinished.
pub(crate) fn create_unfinished(path: &Path) -> io::Result<File> {
    unfinished(path)?;
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
}

/// Where unfinished work is. No place is added without room for it, so that the list can be read wherever memory ends.
struct Places(Mutex<Vec<PathBuf>>);

impl Places {
    fn add(&self, path: &Path) -> io::Result<()> {
        let path = path.to_path_buf();
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.try_reserve(1)?;
        paths.push(path);
        Ok(())
    }

    fn forget(&self, path: &Path) {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.retain(|other| other != path);
    }

    fn remove(&self) {
        let Ok(paths) = self.0.try_lock() else {
            return;
        };
        for path in &*paths {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unfinished_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let places = Places(Mutex::new(Vec::new()));
        for name in ["a", "b"] {
            fs::write(place(name), "").unwrap();
            places.add(&place(name)).unwrap();
        }
        fs::create_dir(place("c")).unwrap();
        fs::write(place("c/d"), "").unwrap();
        places.add(&place("c")).unwrap();
        places.forget(&place("b"));
        places.remove();
        assert!(place("b").exists() && !place("a").exists() && !place("c").exists());
    }
}
