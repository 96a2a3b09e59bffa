//! Helpers of the tests of this crate.

use std::path::PathBuf;

/// A file of this content, which is there as long as its folder is.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// A file that is stored with the tests; `data/make.py` made it.
pub(crate) fn stored(name: &str) -> PathBuf {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    data.join(name)
}

/// Fails unless the message has all these parts.
#[track_caller]
pub(crate) fn assert_says(message: impl std::fmt::Display, parts: &[&str]) {
    let message = message.to_string();
    for part in parts {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
}
