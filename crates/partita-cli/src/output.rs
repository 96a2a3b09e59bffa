//! Where results go: stdout, stderr, files that are never half-written.

use std::io::{ErrorKind, Write};
use std::path::Path;

use partita::files;
use partita::{Outcome, Partition, SoftPartition};

use crate::failure::Failure;

/// Talk goes to stderr. A stderr that is gone is no reason to fail.
pub(crate) fn say(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{message}");
}

/// Data goes to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(Failure::input(format!("stdout: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Prints a value as one JSON object.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Refuses to write over something, unless told to.
pub(crate) fn may_write(path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!("{}: is a folder; name a file in it", path.display())));
    }
    if path.exists() && !force {
        return Err(Failure::input(format!("{}: exists already; give --force to replace it", path.display())));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Failure::input(format!("{}: there is no folder {}; make it first", path.display(), folder.display())))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON object, beside the target and renamed.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    write_text(path, &format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Writes text, beside the target and renamed.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(files::write_whole(path, |out| out.write_all(text.as_bytes()))?)
}

/// Where labels and probabilities go.
pub(crate) struct Targets<'a> {
    pub(crate) labels: Option<&'a Path>,
    pub(crate) soft: Option<&'a Path>,
}

/// Writes labels and, where asked for, probabilities.
pub(crate) fn write_result(
    targets: &Targets<'_>,
    names: Option<&[String]>,
    partition: &Partition,
    certainty: &[f64],
    soft: Option<&SoftPartition>,
) -> Result<(), Failure> {
    if let Some(path) = targets.labels {
        files::write_labels(path, names, partition, certainty)?;
    }
    if let (Some(path), Some(soft)) = (targets.soft, soft) {
        files::write_soft(path, names, soft)?;
    }
    Ok(())
}

/// Prints labels as CSV on stdout.
pub(crate) fn print_labels(names: Option<&[String]>, partition: &Partition, certainty: &[f64]) -> Result<(), Failure> {
    let mut text = Vec::new();
    files::labels_csv(&mut text, names, partition, certainty)?;
    print(&String::from_utf8_lossy(&text))
}

/// Tells the user what the method wants known.
pub(crate) fn say_warnings(method: &str, outcome: &Outcome) {
    for warning in &outcome.warnings {
        say(&format!("{method}: {warning}"));
    }
}
