//! Standard output and standard error, and the check that nothing is overwritten unasked.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use partita::Partition;
use partita::extend::{on_one_line, visible};
use partita::files::{self, LabelNumbers};
use partita_app::json_text;

use crate::args::StreamFormat;
use crate::failure::Failure;

/// How much is left unsaid: 0 nothing, 1 notes and progress (`-q`), 2 warnings too (`-qq`).
static QUIET: AtomicU8 = AtomicU8::new(0);

/// Says less from now on.
pub(crate) fn be_quiet(level: u8) {
    QUIET.store(level, Ordering::Relaxed);
}

/// Whether notes and progress are left out.
pub(crate) fn quiet() -> bool {
    QUIET.load(Ordering::Relaxed) > 0
}

/// What is done and where it went: to stderr, unless `-q` was given.
pub(crate) fn say(message: &str) {
    if !quiet() {
        say_always(message);
    }
}

/// What to look at before a result is trusted: to stderr, unless `-qq` was given.
pub(crate) fn warn(message: &str) {
    if QUIET.load(Ordering::Relaxed) < 2 {
        say_always(&format!("warning: {message}"));
    }
}

/// The file that stands for standard input, where there is one: people know it as `-`.
static STREAM: OnceLock<String> = OnceLock::new();

/// From now on this file is called `-`.
pub(crate) fn call_stream(path: &Path) {
    let _ = STREAM.set(path.display().to_string());
}

/// What people read: nothing in it acts on a terminal, and standard input has its name.
fn shown(text: &str) -> String {
    let text = visible(text);
    match STREAM.get() {
        Some(path) => text.replace(path, "-"),
        None => text,
    }
}

/// Errors and answers to Ctrl-C: a line on stderr. A stderr that is gone is not a reason to fail.
pub(crate) fn say_always(message: &str) {
    let line = shown(&on_one_line(message));
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// What was found goes to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_out(shown(text).as_bytes())
}

/// Data goes to stdout, byte by byte unless somebody looks at it.
pub(crate) fn print_data(data: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        print(&String::from_utf8_lossy(data))
    } else {
        write_out(data)
    }
}

fn write_out(data: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(data)
        .and_then(|()| out.flush())
        .map_err(failed)
}

/// What stdout refused.
pub(crate) fn failed(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::io(Path::new("stdout"), "be written", error),
    }
}

/// Prints a value as one JSON object.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&json_text(value)?)
}

/// Prints what was found, as one JSON object or as text.
pub(crate) fn answer(
    as_json: bool,
    found: &impl serde::Serialize,
    text: &str,
) -> Result<(), Failure> {
    if as_json {
        print_json(found)
    } else {
        print(text)
    }
}

/// Refuses to write over something, unless told to.
pub(crate) fn may_write(path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!(
            "{}: is a folder; name a file in it",
            path.display()
        )));
    }
    if path.exists() && !force {
        return Err(Failure::input(format!(
            "{}: exists already; give --force to replace it",
            path.display()
        )));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Failure::input(format!(
                "{}: there is no folder {}; make it first",
                path.display(),
                folder.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses outputs that exist already unless they may be replaced, two outputs of one file, and an output that is an input.
pub(crate) fn check_outputs<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    force: bool,
) -> Result<(), Failure> {
    let outputs: Vec<&PathBuf> = outputs.into_iter().collect();
    check_places(&outputs, inputs)?;
    let mut outputs = outputs.into_iter();
    outputs.try_for_each(|path| may_write(path, force))
}

/// As [`check_outputs`], where a folder gets files of these names too. It is made if it is not there, and then may hold the outputs.
pub(crate) fn check_outputs_beside<'a>(
    folder: &Path,
    names: &[&str],
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    force: bool,
) -> Result<(), Failure> {
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    let mut outputs: Vec<&PathBuf> = outputs.into_iter().collect();
    check_places(files.iter().chain(outputs.iter().copied()), inputs)?;
    outputs.retain(|path| folder.exists() || path.parent() != Some(folder));
    let mut outputs = outputs.into_iter();
    outputs.try_for_each(|path| may_write(path, force))
}

/// Refuses two outputs of one file, and an output that is an input.
fn check_places(
    outputs: impl IntoIterator<Item = impl AsRef<Path>>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), Failure> {
    let inputs: Vec<PathBuf> = inputs
        .into_iter()
        .map(|path| files::without_links(path.as_ref()))
        .collect();
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in outputs {
        let here = path.as_ref().display();
        let found = files::without_links(path.as_ref());
        if inputs.contains(&found) {
            return Err(Failure::input(format!(
                "{here}: is an input; write to another file"
            )));
        }
        if seen.contains(&found) {
            return Err(Failure::input(format!(
                "{here}: two outputs cannot be one file; name another for one of them"
            )));
        }
        seen.push(found);
    }
    Ok(())
}

/// Whether a path means a folder: there is one, or it ends in a slash.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir()
        || path
            .as_os_str()
            .as_encoded_bytes()
            .last()
            .is_some_and(|&last| std::path::is_separator(last.into()))
}

/// Refuses to write into a folder that holds something, unless told to.
pub(crate) fn may_fill(folder: &Path, force: bool) -> Result<(), Failure> {
    let here = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::input(format!("{here}: is a file; name a folder")));
    }
    let holds_something = folder
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    if holds_something && !force {
        return Err(Failure::input(format!(
            "{here}: holds something already; give --force to write into it"
        )));
    }
    Ok(())
}

/// A file that goes to stdout once it is whole: formats other than CSV are written back and forth.
pub(crate) struct WholeOutput {
    folder: tempfile::TempDir,
    name: String,
}

impl WholeOutput {
    pub(crate) fn new(format: StreamFormat) -> Result<Self, Failure> {
        Ok(Self {
            folder: private_folder().map_err(failed)?,
            name: format!("labels{}", format.ending()),
        })
    }

    /// Where it is written.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    pub(crate) fn print(&self) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let mut file = std::fs::File::open(self.path()).map_err(failed)?;
        io::copy(&mut file, &mut out)
            .and_then(|_| out.flush())
            .map_err(failed)
    }
}

/// Prints labels on stdout, as CSV unless another format was asked for.
pub(crate) fn print_labels(
    names: Option<&[String]>,
    (partition, classes): (&Partition, Option<&[&str]>),
    numbers: &[LabelNumbers<'_>],
    format: Option<StreamFormat>,
) -> Result<(), Failure> {
    if let Some(format) = format.filter(|format| format.is_output()) {
        let whole = WholeOutput::new(format)?;
        files::write_named_labels(&whole.path(), names, partition.labels(), classes, numbers)?;
        return whole.print();
    }
    let mut text = Vec::new();
    files::labels_csv(&mut text, names, partition.labels(), classes, numbers).map_err(failed)?;
    print_data(&text)
}

/// A folder that nobody else may look into, and that goes away however the process ends, but for a kill.
pub(crate) fn private_folder() -> io::Result<tempfile::TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix("partita-");
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = folder.tempdir()?;
    files::unfinished(folder.path())?;
    Ok(folder)
}
