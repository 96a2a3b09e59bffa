//! Sealed files: a magic word, the version of the program, a value as bytes, and the SHA-256 of all that.

use std::fs;
use std::path::Path;

use partita::files::write_whole;
use partita_app::{AppError, VERSION};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// SHA-256.
pub(crate) type Hash = [u8; 32];

/// A kind of sealed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// A pass or labels to be made.
    Job,
    /// What a part adds up to.
    Sum,
    /// What a step between passes gave.
    Step,
}

impl Seal {
    const fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Job => b"PTModel\x03",
            Self::Sum => b"PTSum\x00\x00\x03",
            Self::Step => b"PTStep\x00\x01",
        }
    }

    const fn what(self) -> &'static str {
        match self {
            Self::Job => "a job that `partita distributed merge`, `evaluate` or `predict` wrote",
            Self::Sum => "a sum that `partita distributed run` wrote",
            Self::Step => "a step that `partita distributed merge` wrote",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Self::Job => "run the command again that wrote it",
            Self::Sum => "run `partita distributed run` for this part again",
            Self::Step => "remove this file and run `partita distributed merge` again",
        }
    }
}

/// A value sealed, and its hash.
pub(crate) fn seal(kind: Seal, value: &impl Serialize) -> Result<(Vec<u8>, Hash), AppError> {
    let mut bytes = kind.magic().to_vec();
    bytes.push(VERSION.len() as u8);
    bytes.extend(VERSION.as_bytes());
    let failed = |error: postcard::Error| {
        AppError::request(format!("{} cannot be written: {error}", kind.what()))
    };
    bytes = postcard::to_extend(value, bytes).map_err(failed)?;
    let hash: Hash = Sha256::digest(&bytes).into();
    bytes.extend(hash);
    Ok((bytes, hash))
}

/// Writes a sealed value, whole or not at all; its hash.
pub(crate) fn write(kind: Seal, path: &Path, value: &impl Serialize) -> Result<Hash, AppError> {
    let (bytes, hash) = seal(kind, value)?;
    write_whole(path, |out| out.write_all(&bytes))?;
    Ok(hash)
}

/// Reads what [`write`] wrote, and its hash.
pub(crate) fn read<T: DeserializeOwned>(kind: Seal, path: &Path) -> Result<(T, Hash), AppError> {
    let bytes = fs::read(path).map_err(|error| AppError::io(path, "be read", error))?;
    let wrong = |reason: &str| AppError::content(path, format!("{reason}; {}", kind.remedy()));
    if !bytes.starts_with(kind.magic()) {
        return Err(wrong(&format!("this is not {}", kind.what())));
    }
    let sealed = bytes
        .split_last_chunk::<32>()
        .filter(|(own, hash)| Sha256::digest(own)[..] == hash[..]);
    let Some((own, hash)) = sealed else {
        return Err(wrong(
            "it is cut short or damaged: its checksum does not fit",
        ));
    };
    let rest = &own[kind.magic().len()..];
    let length = rest.first().map_or(0, |&length| usize::from(length));
    let (Some(version), Some(value)) = (rest.get(1..=length), rest.get(1 + length..)) else {
        return Err(wrong("it is damaged"));
    };
    if version != VERSION.as_bytes() {
        let version = String::from_utf8_lossy(version);
        return Err(wrong(&format!(
            "it is of version {version} and this program of {VERSION}, take one for all"
        )));
    }
    let value =
        postcard::from_bytes(value).map_err(|_| wrong("another build of this version wrote it"))?;
    Ok((value, *hash))
}

/// A hash as people see it.
pub(crate) fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
