//! Helpers of the tests of this crate, those in `tests/it` included.

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

/// A table of cases: a line each, and fields between bars. Line breaks in a field are written `\\n`.
pub(crate) fn cases<const N: usize>(table: &str) -> Vec<[String; N]> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let case = |line: &str| {
        let fields = line
            .split('|')
            .map(|field| field.trim().replace("\\n", "\n"));
        fields.collect::<Vec<_>>().try_into().unwrap()
    };
    lines.map(case).collect()
}
