//! The built binary, a folder to work in, and what it said.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder that goes away with the test.
pub(crate) struct Workplace(tempfile::TempDir);

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file in a temporary folder");
        path
    }

    /// What is in a file.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    /// Runs `partita` in this folder.
    pub(crate) fn partita(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().expect("the built binary"))
    }

    /// Runs `partita` with the words of this line.
    pub(crate) fn run(&self, line: &str) -> Ended {
        self.partita(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(self.0.path())
            .args(arguments)
            .env_remove("PARTITA_LOG");
        command
    }

    /// Starts `partita` with the words of this line; what it says on stderr is kept.
    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(&line.split_whitespace().collect::<Vec<_>>());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the built binary")
    }

    /// Runs a line of a shell in this folder, in which `partita` is the built binary.
    pub(crate) fn shell(&self, line: &str) -> Ended {
        let search = std::env::var("PATH").unwrap_or_default();
        let folder = binary();
        let folder = folder.parent().expect("a folder").display();
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).current_dir(self.0.path());
        shell.env("PATH", format!("{folder}:{search}"));
        Ended::of(shell.output().expect("a shell"))
    }

    /// Waits until a file has at least so many bytes.
    pub(crate) fn wait_for(&self, name: &str, bytes: u64) {
        let begun = Instant::now();
        let length = || std::fs::metadata(self.path(name)).map_or(0, |file| file.len());
        while length() < bytes && begun.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Names of all files below this folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.0.path(), self.0.path(), &mut names);
        names.sort();
        names
    }
}

pub(crate) fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("partita").to_owned()
}

fn list(folder: &Path, root: &Path, names: &mut Vec<String>) {
    for entry in folder.read_dir().expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, root, names);
        } else {
            names.push(
                path.strip_prefix(root)
                    .expect("below the root")
                    .display()
                    .to_string(),
            );
        }
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// How a command ends that has these bytes on standard input.
    pub(crate) fn fed(mut command: Command, bytes: &[u8]) -> Self {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the built binary");
        // A command that is refused does not read what is fed to it.
        let _ = child.stdin.take().expect("a pipe").write_all(bytes);
        Self::of(child.wait_with_output().expect("its end"))
    }

    /// It went well; returns stdout.
    #[track_caller]
    pub(crate) fn fine(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    /// It went well; returns the JSON object on stdout.
    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.fine()).expect("one JSON object on stdout")
    }

    /// It was refused: [one error](Self::one_error) with exit code 2.
    #[track_caller]
    pub(crate) fn refused(self, words: &[&str]) {
        self.one_error(2, words)
            .unwrap_or_else(|why| panic!("{why}: {}", self.stderr));
    }

    /// Something failed while it worked: [one error](Self::one_error) with exit code 1.
    #[track_caller]
    pub(crate) fn failed(self, words: &[&str]) {
        self.one_error(1, words)
            .unwrap_or_else(|why| panic!("{why}: {}", self.stderr));
    }

    /// It said that it went wrong: this exit code, nothing on stdout, all of these words on stderr.
    pub(crate) fn error(&self, code: i32, words: &[&str]) -> Result<(), String> {
        if (self.code, self.stdout.as_str()) != (Some(code), "") {
            return Err(format!("exit code {code} and nothing on stdout"));
        }
        let lacking = words.iter().find(|word| !self.stderr.contains(**word));
        lacking.map_or(Ok(()), |word| Err(format!("'{word}' is not on stderr")))
    }

    /// The same in one line. Notes and warnings before it do not count, nor does progress, which a slow machine sees.
    pub(crate) fn one_error(&self, code: i32, words: &[&str]) -> Result<(), String> {
        self.error(code, words)?;
        let lines = self.stderr.trim_end().lines();
        match lines
            .filter(|line| !is_progress(line) && !is_note(line))
            .count()
        {
            1 => Ok(()),
            lines => Err(format!("one line, not {lines}")),
        }
    }
}

/// Whether this line of stderr says how far the work is, as in `base clusterings: 90 % after 2 s`.
pub(crate) fn is_progress(line: &str) -> bool {
    line.ends_with(" s") && line.contains(" % after ")
}

/// Whether this line of stderr says something beside the matter.
fn is_note(line: &str) -> bool {
    line.starts_with("note: ") || line.starts_with("warning: ")
}

/// A file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../..")
        .join(name)
}

/// A data set that is shipped with the project.
pub(crate) fn shipped(name: &str) -> String {
    let path = repository("datasets").join(name).canonicalize();
    path.expect("a shipped data set").display().to_string()
}

/// A table of three groups in the plane, with their names.
pub(crate) fn three_groups(objects: usize) -> String {
    let mut text = "x,y,kind\n".to_owned();
    for i in 0..objects {
        let (group, wobble) = (i % 3, (i * 7919 % 101) as f64 / 101.0);
        text += &format!(
            "{},{},{}\n",
            group as f64 * 5.0 + wobble,
            group as f64 * 2.0 + wobble * wobble,
            ["a", "b", "c"][group]
        );
    }
    text
}

/// The text of the cells of a table of a report, sorted; their values may differ in the last bit.
pub(crate) fn cells(page: &str, id: &str) -> Vec<String> {
    let from = page
        .find(&format!("<table id=\"{id}\""))
        .unwrap_or_else(|| panic!("no {id}"));
    let table = &page[from..][..page[from..].find("</table>").expect("its end")];
    let cells = table
        .split('<')
        .filter(|part| part.starts_with("td") || part.starts_with("th "));
    let mut texts: Vec<String> = cells
        .filter_map(|cell| Some(cell.split_once('>')?.1.to_owned()))
        .collect();
    texts.sort();
    texts
}
