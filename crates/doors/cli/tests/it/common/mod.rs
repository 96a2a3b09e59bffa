//! The built binary, a folder to work in, and what it said.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

    /// Runs `partita` in this folder.
    pub(crate) fn partita(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().expect("the built binary"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("partita"));
        command
            .current_dir(self.0.path())
            .args(arguments)
            .env_remove("PARTITA_LOG");
        command
    }

    /// Names of all files below this folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.0.path(), self.0.path(), &mut names);
        names.sort();
        names
    }
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

    /// It was refused: exit code 2, nothing on stdout, one line on stderr with all of these words. Notes and warnings
    /// before it do not count, nor does progress, which a slow machine sees.
    #[track_caller]
    pub(crate) fn refused(self, words: &[&str]) {
        self.ended_badly(2, words);
    }

    /// The command line was refused before anything ran: exit code 2, nothing on stdout, all of these words on stderr.
    #[track_caller]
    pub(crate) fn refused_by_parser(self, words: &[&str]) {
        assert_eq!(
            (self.code, self.stdout.as_str()),
            (Some(2), ""),
            "{}",
            self.stderr
        );
        assert!(
            words.iter().all(|word| self.stderr.contains(word)),
            "{}",
            self.stderr
        );
    }

    /// Something failed while it worked: exit code 1, and the same else as [`refused`](Self::refused).
    #[track_caller]
    pub(crate) fn failed(self, words: &[&str]) {
        self.ended_badly(1, words);
    }

    #[track_caller]
    fn ended_badly(self, code: i32, words: &[&str]) {
        assert_eq!(
            (self.code, self.stdout.as_str()),
            (Some(code), ""),
            "{}",
            self.stderr
        );
        for word in words {
            assert!(
                self.stderr.contains(word),
                "'{word}' is not in: {}",
                self.stderr
            );
        }
        let lines = self
            .stderr
            .trim_end()
            .lines()
            .filter(|line| !is_progress(line) && !is_note(line))
            .count();
        assert_eq!(lines, 1, "one line, not: {}", self.stderr);
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

/// A data set that is shipped with the project.
pub(crate) fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../datasets")
        .join(name);
    path.canonicalize()
        .expect("a shipped data set")
        .display()
        .to_string()
}

/// A table of three groups in the plane, with their names.
pub(crate) fn three_groups(objects: usize) -> String {
    let mut text = "x,y,kind\n".to_owned();
    for i in 0..objects {
        let (group, wobble) = (i % 3, (i * 7919 % 101) as f64 / 101.0);
        text += &format!(
            "{},{},{}\n",
            group as f64 * 5.0 + wobble,
            wobble * wobble,
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
