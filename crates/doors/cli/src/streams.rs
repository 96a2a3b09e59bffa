//! Standard input and output where a file is meant: what `-` stands for.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use partita::files::ending_of_content;
use tempfile::TempDir;

use crate::args::{Command, FileArgs, StreamFormat};
use crate::failure::Failure;
use crate::output::{self, private_folder};

/// Whether a path means standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Standard input as a file of this user alone, since readers go back and forth. It goes away with this value.
#[derive(Debug, Default)]
pub(crate) struct StandardInput {
    _folder: Option<TempDir>,
    _file: Option<File>,
}

impl StandardInput {
    /// Where a command reads `-`: takes all of standard input into a file, which the command reads instead.
    ///
    /// # Errors
    /// If two inputs are `-`, the format is not one of data, or the system refuses to read or to write.
    pub(crate) fn take(command: &mut Command) -> Result<Self, Failure> {
        let format = command.reading().and_then(|read| read.format);
        let mut streams: Vec<&mut PathBuf> = command
            .inputs()
            .into_iter()
            .filter(|path| is_stream(path))
            .collect();
        match &mut streams[..] {
            [] => Ok(Self::default()),
            [path] => Self::spool(path, format),
            _ => Err(Failure::input(
                "- is standard input, which can be read once; name files for the other inputs",
            )),
        }
    }

    fn spool(path: &mut PathBuf, format: Option<StreamFormat>) -> Result<Self, Failure> {
        let failed = |error| Failure::io(Path::new("standard input"), "be read", error);
        let mut input = io::stdin().lock();
        let mut start = Vec::new();
        input
            .by_ref()
            .take(16)
            .read_to_end(&mut start)
            .map_err(failed)?;
        let ending = match format {
            Some(format) if format.is_input() => format.ending(),
            _ => ending_of_content(&start).to_owned(),
        };
        let folder = private_folder().map_err(failed)?;
        *path = folder.path().join(format!("stdin{ending}"));
        let mut file = private_file(path).map_err(failed)?;
        io::copy(&mut start.chain(input), &mut file).map_err(failed)?;
        output::call_stream(path);
        Ok(Self {
            _folder: Some(folder),
            _file: Some(file),
        })
    }
}

/// A file without a name, which a kill leaves nothing of; the path leads to it while this process runs.
#[cfg(target_os = "linux")]
fn private_file(path: &Path) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    let file = tempfile::tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    std::os::unix::fs::symlink(format!("/proc/self/fd/{}", file.as_raw_fd()), path)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn private_file(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

impl Command {
    /// The files that it reads rows from.
    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Self::Run(args) => args.table.iter_mut().collect(),
            Self::Generate(args) => vec![&mut args.table.table],
            Self::Consensus(args) => std::iter::once(&mut args.ensemble)
                .chain(&mut args.more)
                .chain(&mut args.features)
                .chain(&mut args.weights.base_weights)
                .collect(),
            Self::ChooseK(args) => vec![&mut args.table.table],
            Self::Evaluate(args) => args
                .labels
                .iter_mut()
                .chain(&mut args.ensemble)
                .chain(&mut args.held_out)
                .collect(),
            Self::Merge(args) => args.files.iter_mut().collect(),
            Self::Modes(args) => vec![&mut args.ensemble],
            Self::Update(args) => vec![&mut args.ensemble, &mut args.add],
            Self::Align(args) => args.runs.iter_mut().collect(),
            Self::Test(args) => std::iter::once(&mut args.labels)
                .chain(&mut args.table)
                .collect(),
            Self::Predict(args) => vec![&mut args.input],
            Self::Inspect(args) => vec![&mut args.file],
            _ => Vec::new(),
        }
    }

    /// How it reads them.
    fn reading(&self) -> Option<&FileArgs> {
        match self {
            Self::Run(args) => Some(&args.read.read.file),
            Self::Generate(args) => Some(&args.table.read.read.file),
            Self::Consensus(args) => Some(&args.read.read.file),
            Self::ChooseK(args) => Some(&args.table.read.read.file),
            Self::Evaluate(args) => Some(&args.read),
            Self::Merge(args) => Some(&args.read.read.file),
            Self::Modes(args) => Some(&args.read.read.file),
            Self::Update(args) => Some(&args.read.read.file),
            Self::Align(args) => Some(&args.read),
            Self::Test(args) => Some(&args.read.read.file),
            Self::Predict(args) => Some(&args.read.file),
            Self::Inspect(args) => Some(&args.read.file),
            _ => None,
        }
    }
}
