//! Paths of one machine.

use std::env;

use super::Violation;
use crate::workspace::Workspace;

/// Where people's own files lie.
const HOMES: &[&str] = &["/home", "/root", "/Users", "C:\\Users"];

/// Complaints about absolute paths into somebody's home, the temporary folder, or this very checkout.
pub(super) fn check(workspace: &Workspace, file: &str, text: &str) -> Vec<Violation> {
    let folders = folders(workspace);
    let complaint = |(at, line): (usize, &str)| {
        let folder = folders.iter().find(|folder| names(line, folder))?;
        let what = format!(
            "a path of one machine ({folder}/…); write it relative, or read it from the environment"
        );
        Some(Violation::new(file, at + 1, what))
    };
    text.lines().enumerate().filter_map(complaint).collect()
}

fn folders(workspace: &Workspace) -> Vec<String> {
    let mut folders: Vec<String> = HOMES.iter().map(|&home| home.to_owned()).collect();
    let around = workspace
        .root()
        .ancestors()
        .filter(|folder| folder.parent().is_some());
    folders.extend(around.map(|folder| folder.display().to_string()));
    folders.push(
        env::temp_dir()
            .display()
            .to_string()
            .trim_end_matches('/')
            .to_owned(),
    );
    folders
}

/// Whether the line has a path that starts with the folder and goes on.
fn names(line: &str, folder: &str) -> bool {
    let starts = |at: usize| {
        !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/~}])>*$".contains(c))
    };
    let goes_on = |at: usize| line[at + folder.len()..].starts_with(['/', '\\']);
    line.match_indices(folder)
        .any(|(at, _)| starts(at) && goes_on(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_count() {
        let home = HOMES[0];
        assert!(names(&format!("cd {home}/me"), home));
        assert!(names(&format!("\"{home}/me\""), home));
        for fine in [
            format!("..{home}/me"),
            format!("see {home}"),
            format!("crates{home}/me"),
            format!("{{}}{home}/me"),
        ] {
            assert!(!names(&fine, home), "{fine}");
        }
    }
}
