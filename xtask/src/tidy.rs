//! What the compiler does not check. Every complaint is one line: where, what, and the remedy.

mod circles;
mod layers;
mod layout;
mod licences;
mod links;
mod manifests;
mod marks;
mod paths;
mod source;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use anyhow::{Result, bail};

use crate::shell;
use crate::workspace::Workspace;
use source::Source;

/// One complaint.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// Path from the root, with `/`.
    file: String,
    /// Counted from 1.
    line: usize,
    /// What is wrong; the remedy.
    what: String,
}

impl Violation {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Prints every complaint; fails if there is one.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let violations = check(workspace)?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => println!("tidy"),
        1 => bail!("1 thing is not tidy"),
        many => bail!("{many} things are not tidy"),
    }
    Ok(())
}

/// All complaints about a workspace, by file and line.
fn check(workspace: &Workspace) -> Result<Vec<Violation>> {
    let files = files(workspace)?;
    let metadata = workspace.metadata()?;
    let mut violations = Vec::new();
    violations.extend(layout::top_level(&files));
    violations.extend(layers::edges(workspace, &metadata.packages)?);
    violations.extend(manifests::check(workspace, &metadata.packages)?);
    violations.extend(links::map(workspace, &metadata.packages));
    violations.extend(licences::check(workspace)?);
    let mut sources = Vec::new();
    for file in &files {
        // A file that is no text has nothing to say to the checks below.
        let Ok(text) = std::fs::read_to_string(workspace.path(file)) else {
            continue;
        };
        if file != "Cargo.lock" {
            violations.extend(paths::check(workspace, file, &text));
        }
        match file.rsplit('.').next() {
            Some("rs") => match Source::new(file, &text) {
                Ok(source) => sources.push(source),
                Err(violation) => violations.push(violation),
            },
            Some("md") => violations.extend(links::check(workspace, file, &text)),
            _ => {}
        }
    }
    for source in &sources {
        violations.extend(words::check(source));
        violations.extend(marks::check(source));
        violations.extend(layout::size(source));
    }
    violations.extend(circles::check(&sources));
    violations.sort();
    violations.dedup();
    Ok(violations)
}

/// The files that are ours: what git follows, and what it would if asked to.
pub(crate) fn files(workspace: &Workspace) -> Result<Vec<String>> {
    // A checkout that belongs to somebody else is still only read.
    let words = "git -c safe.directory=* ls-files -z --cached --others --exclude-standard";
    let list = shell::output(&mut workspace.command(words))?;
    let mut files: Vec<String> = list.split_terminator('\0').map(str::to_owned).collect();
    files.retain(|file| workspace.path(file).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}
