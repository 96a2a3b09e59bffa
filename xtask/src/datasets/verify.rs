//! Are the data sets what the catalogue says?

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::Set;
use super::catalogue::checksum;
use crate::workspace::Workspace;

/// Compares every set that lies in one of the folders; fails if one differs, or if none is there at all.
pub(super) fn run(workspace: &Workspace, sets: &[Set], folders: &[PathBuf]) -> Result<()> {
    let (mut good, mut bad) = (0, 0);
    for folder in folders {
        for set in sets {
            let path = set.find_in(folder);
            let shipped = set.is_shipped() && *folder == workspace.path("datasets");
            let verdict = match &path {
                Some(path) => match checksum(path) {
                    Ok(sum) if sum == set.sha256 => None,
                    Ok(sum) => Some(format!(
                        "has the checksum {sum}, the catalogue says {}; fetch it again",
                        set.sha256
                    )),
                    Err(error) => Some(format!("{error:#}; fetch it again")),
                },
                None if shipped => Some("is shipped but not here; check it out again".into()),
                None => continue,
            };
            let path = path.unwrap_or_else(|| folder.join(&set.file));
            match verdict {
                None => good += 1,
                Some(what) => {
                    println!("{}: {what}", workspace.show(&path));
                    bad += 1;
                }
            }
        }
    }
    if bad > 0 {
        bail!(
            "{bad} of {} data sets are not what the catalogue says",
            good + bad
        );
    }
    if good == 0 {
        let folders: Vec<String> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        bail!(
            "no data set of the catalogue lies in {}; `cargo xtask datasets fetch` gets them",
            folders.join(" or ")
        );
    }
    println!("{good} data sets are what the catalogue says");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_changed_set_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        let sets = [Set {
            name: "a".into(),
            file: "a.csv".into(),
            sha256: sum,
            ..Set::default()
        }];
        let verify = || {
            run(&workspace, &sets, &[folder.path().to_owned()]).map_err(|error| error.to_string())
        };
        assert!(
            verify()
                .unwrap_err()
                .starts_with("no data set of the catalogue lies in ")
        );
        fs::write(folder.path().join("a.csv"), "abc").unwrap();
        assert_eq!(verify(), Ok(()));
        fs::write(folder.path().join("a.csv"), "abd").unwrap();
        assert_eq!(
            verify().unwrap_err(),
            "1 of 1 data sets are not what the catalogue says"
        );
    }
}
