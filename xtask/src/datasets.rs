//! `datasets`: what the catalogue lists, whether it is here, and where to get it.

mod catalogue;
mod fetch;
mod verify;

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::workspace::Workspace;
use catalogue::Set;

/// Where data that is not shipped lies.
const FOLDER_VARIABLE: &str = "PARTITA_DATASETS";

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List all data sets, and where each lies.
    List,
    /// Compare the data sets that are here with their checksums.
    Verify {
        /// Look here only; without it, in datasets/ and in the folder that PARTITA_DATASETS names.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Get data sets that are not here, and check them.
    Fetch(fetch::Arguments),
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let sets = catalogue::read(&workspace.path("crates/input/files/catalogue.csv"))?;
    let folders = folders(workspace);
    match &arguments.command {
        Command::List => {
            print!("{}", list(workspace, &sets, &folders));
            Ok(())
        }
        Command::Verify {
            folder: Some(folder),
        } => verify::run(workspace, &sets, std::slice::from_ref(folder)),
        Command::Verify { folder: None } => verify::run(workspace, &sets, &folders),
        Command::Fetch(arguments) => fetch::run(workspace, &sets, arguments),
    }
}

/// Where data sets are looked for.
fn folders(workspace: &Workspace) -> Vec<PathBuf> {
    let mut folders = vec![workspace.path("datasets")];
    folders.extend(env::var_os(FOLDER_VARIABLE).map(PathBuf::from));
    folders
}

/// The catalogue as a table.
fn list(workspace: &Workspace, sets: &[Set], folders: &[PathBuf]) -> String {
    let line = |cells: [&str; 6]| {
        let [name, rows, features, classes, kind, place] = cells;
        format!("{name:<20} {rows:>7} {features:>8} {classes:>7}  {kind:<7}  {place}\n")
    };
    let row = |set: &Set| {
        let place = folders.iter().find_map(|folder| set.find_in(folder));
        let place = place.map_or_else(
            || "not here".to_owned(),
            |path| workspace.show(&path).to_string(),
        );
        let numbers = [set.rows, set.features, set.classes].map(|number| number.to_string());
        line([
            &set.name,
            &numbers[0],
            &numbers[1],
            &numbers[2],
            &set.kind,
            &place,
        ])
    };
    let head = line(["name", "rows", "features", "classes", "kind", "where"]);
    std::iter::once(head).chain(sets.iter().map(row)).collect()
}

impl Set {
    /// The set's file in a folder, compressed or not.
    fn find_in(&self, folder: &Path) -> Option<PathBuf> {
        let names = [self.file.as_str(), self.file.trim_end_matches(".gz")];
        names
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_list_says_what_is_here() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        fs::create_dir(folder.path().join("datasets")).unwrap();
        fs::write(folder.path().join("datasets/b.csv"), "x\n").unwrap();
        let set = |name: &str, file: &str| Set {
            name: name.into(),
            file: file.into(),
            rows: 3,
            ..Set::default()
        };
        let text = list(
            &workspace,
            &[set("a", "a.csv"), set("b", "b.csv.gz")],
            &[workspace.path("datasets")],
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].starts_with("a ") && lines[1].ends_with("not here"),
            "{text}"
        );
        assert!(
            lines[2].starts_with("b ") && lines[2].ends_with("datasets/b.csv"),
            "{text}"
        );
    }

    #[test]
    fn the_catalogue_of_this_checkout_is_read() {
        let workspace = Workspace::find().unwrap();
        let sets = catalogue::read(&workspace.path("crates/input/files/catalogue.csv")).unwrap();
        for set in sets.iter().filter(|set| set.is_shipped()) {
            let path = set.find_in(&workspace.path("datasets")).unwrap();
            assert_eq!(
                catalogue::checksum(&path).unwrap(),
                set.sha256,
                "{}",
                set.name
            );
        }
        assert!(
            sets.iter()
                .any(|set| set.name == "digits" && set.is_shipped())
        );
    }
}
