//! Size and SHA-256 of input files: how a repeated run knows that it reads the same data.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::AppError;

/// An input file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its name, as the experiment gives it.
    pub path: PathBuf,
    /// Its size; absent for pipes.
    pub bytes: Option<u64>,
    /// SHA-256 of its bytes in hexadecimal digits; absent for pipes, which can be read only once.
    pub sha256: Option<String>,
}

impl InputFile {
    /// Reads a file through.
    ///
    /// # Errors
    /// [`AppError::Io`] for what the system refuses.
    ///
    /// # Cost
    /// O(size) time, 64 KiB.
    pub fn of(path: &Path) -> Result<Self, AppError> {
        let failed = |error| AppError::io(path, "be read", error);
        let mut found = Self { path: path.into(), bytes: None, sha256: None };
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Ok(found);
        }
        let (mut file, mut hash, mut bytes) = (File::open(path).map_err(failed)?, Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            bytes += read as u64;
        }
        found.bytes = Some(bytes);
        found.sha256 = Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        Ok(found)
    }

    /// Whether a file has the bytes that this one had. A pipe has no bytes to compare.
    ///
    /// # Errors
    /// [`AppError::ChangedInput`] if it has others, [`AppError::Io`] if it cannot be read.
    pub fn check(&self, path: &Path) -> Result<(), AppError> {
        match (&self.sha256, Self::of(path)?.sha256) {
            (Some(was), Some(now)) if *was != now => {
                Err(AppError::ChangedInput { path: path.into(), was: was.clone(), now })
            }
            _ => Ok(()),
        }
    }
}

/// Does `work` while the files are read through in another thread. What `work` says of a bad file comes first.
pub(crate) fn with_hashes<T: Send>(
    paths: &[&Path],
    work: impl FnOnce() -> Result<T, AppError>,
) -> Result<(T, Vec<InputFile>), AppError> {
    std::thread::scope(|scope| {
        let hashes = scope.spawn(|| paths.iter().map(|path| InputFile::of(path)).collect::<Result<Vec<_>, _>>());
        let done = work()?;
        let hashes = hashes.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((done, hashes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "abc").unwrap();
        let file = InputFile::of(&path).unwrap();
        assert_eq!(file.bytes, Some(3));
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(file.sha256.as_deref(), Some(expected));
        assert!(file.check(&path).is_ok());
        std::fs::write(&path, "abd").unwrap();
        assert!(matches!(file.check(&path), Err(AppError::ChangedInput { .. })));
    }
}
