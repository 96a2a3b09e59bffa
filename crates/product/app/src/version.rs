//! Which program this is, and what time it is.

use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::stopwatch::time_of_day;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that this program was built from.
pub const COMMIT: &str = match option_env!("PARTITA_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// The time: UTC, RFC 3339.
pub(crate) fn now() -> String {
    utc(time_of_day().into())
}

fn utc(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// When a file was written: UTC, RFC 3339; none where the system does not say.
pub fn written_at(path: &Path) -> Option<String> {
    let time = std::fs::metadata(path)
        .and_then(|file| file.modified())
        .ok()?;
    Some(utc(time.into()))
}
