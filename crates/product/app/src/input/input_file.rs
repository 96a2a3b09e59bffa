//! Size and SHA-256 of inputs: how a repeated run knows that it reads the same data.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use partita::files::disk::{File, metadata};
use partita::files::{Roles, input_parts, place_of_content};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::AppError;
use crate::path_text;

/// An input file, or a folder of files that are read as one, as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its name, as the experiment gives it.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Its size, that of all files of a folder; absent for pipes.
    pub bytes: Option<u64>,
    /// SHA-256 of its bytes in hexadecimal digits, for a folder of the names and bytes of its files one after the other;
    /// absent for pipes, which can be read only once.
    pub sha256: Option<String>,
    /// What its columns were taken for and why, the features or base clusterings left out, where its columns have roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Roles>,
}

impl InputFile {
    /// What records say of data that no file holds: a name.
    pub fn nameless(name: &str) -> Self {
        Self {
            path: name.into(),
            bytes: None,
            sha256: None,
            roles: None,
        }
    }

    /// Reads a file through.
    ///
    /// # Errors
    /// [`AppError::Io`] for what the system refuses.
    ///
    /// # Cost
    /// O(size) time, 64 KiB.
    pub fn of(path: &Path) -> Result<Self, AppError> {
        let failed = |error| AppError::io(path, "be read", error);
        let mut found = Self::nameless("");
        found.path = path.into();
        let kind = metadata(path).map_err(failed)?;
        if !kind.is_file() && !kind.is_dir() {
            return Ok(found);
        }
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        for part in input_parts(path)? {
            if kind.is_dir() {
                hash.update(part.file_name().unwrap_or_default().as_encoded_bytes());
            }
            bytes += hash_bytes(&part, &mut hash)
                .map_err(|error| AppError::io(&part, "be read", error))?;
        }
        found.bytes = Some(bytes);
        found.sha256 = Some(
            hash.finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        );
        Ok(found)
    }

    /// A file that this run has written.
    pub(crate) fn written(path: &Path) -> Result<Self, AppError> {
        Ok(Self {
            path: path.into(),
            ..Self::of(&place_of_content(path))?
        })
    }

    /// Whether a file has the bytes that this one had. A pipe has no bytes to compare.
    ///
    /// # Errors
    /// [`AppError::ChangedInput`] if it has others, [`AppError::Io`] if it cannot be read.
    pub fn check(&self, path: &Path) -> Result<(), AppError> {
        match (&self.sha256, Self::of(path)?.sha256) {
            (Some(was), Some(now)) if *was != now => Err(AppError::ChangedInput {
                path: path.into(),
                was: was.clone(),
                now,
            }),
            (None, Some(_)) => {
                let reason = "the record has no SHA-256 of it; allow changed inputs";
                Err(AppError::content(path, reason))
            }
            _ => Ok(()),
        }
    }
}

/// Adds the bytes of a file; how many there are.
fn hash_bytes(path: &Path, hash: &mut Sha256) -> io::Result<u64> {
    let (mut file, mut bytes, mut buffer) = (File::open(path)?, 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(bytes);
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
}

/// Does `work` while the files are read through in another thread. What `work` says of a bad file comes first.
pub(crate) fn with_hashes<T: Send>(
    paths: &[&Path],
    work: impl FnOnce() -> Result<T, AppError>,
) -> Result<(T, Vec<InputFile>), AppError> {
    let hash = || {
        paths
            .iter()
            .map(|path| InputFile::of(path))
            .collect::<Result<Vec<_>, _>>()
    };
    std::thread::scope(|scope| {
        let beside = std::thread::Builder::new().spawn_scoped(scope, hash);
        let done = work()?;
        let hashes = match beside {
            Ok(beside) => beside
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // A system that starts no more threads, or has none.
            Err(_) => hash(),
        };
        Ok((done, hashes?))
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
        assert!(matches!(
            file.check(&path),
            Err(AppError::ChangedInput { .. })
        ));
    }
}
