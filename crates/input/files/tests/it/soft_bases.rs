//! Soft base clusterings in files: recognised by names and values, or refused with the row.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::assert_says;
use std::fs;
use std::path::Path;

use partita_core::{BaseClustering, Ensemble};
use partita_files::{ReadOptions, Role, Roles, load_ensemble, read_ensemble, write_ensemble};

fn load(
    folder: &Path,
    name: &str,
    text: &str,
    options: &ReadOptions,
) -> Result<(Ensemble, Roles), String> {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    load_ensemble(&path, options)
        .map(|(loaded, roles)| (loaded.ensemble, roles))
        .map_err(|error| {
            error
                .to_string()
                .replace(&folder.display().to_string(), "DIR")
        })
}

fn read(name: &str, text: &str) -> Result<(Ensemble, Roles), String> {
    load(
        tempfile::tempdir().unwrap().path(),
        name,
        text,
        &ReadOptions::default(),
    )
}

/// Names of the base clusterings.
fn names(ensemble: &Ensemble) -> Vec<&str> {
    ensemble.bases().iter().map(BaseClustering::name).collect()
}

fn with(change: impl FnOnce(&mut ReadOptions)) -> ReadOptions {
    let mut options = ReadOptions::default();
    change(&mut options);
    options
}

const WIDE: &str = "cell,tool,a.p0,a.p1,b.p0,b.p1,b.p2,label
x,T,0.25,0.75,1,0,0,u
y,B,,,0.2,0.3,0.5,u
z,T,1,0,0.3333,0.3333,0.3333,v
";

#[test]
fn columns_of_shares_stand_beside_columns_of_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (ensemble, roles) = load(folder.path(), "wide.csv", WIDE, &ReadOptions::default()).unwrap();
    assert_eq!(names(&ensemble), ["tool", "a", "b"]);
    assert_eq!(ensemble.offsets(), [0, 2, 4, 7]);
    let shares = ensemble.memberships().unwrap();
    assert_eq!(
        shares.row(0),
        (&[1, 2, 3, 4][..], &[1.0, 0.25, 0.75, 1.0][..])
    );
    assert_eq!(
        shares.row(1).0,
        [0, 4, 5, 6],
        "a row of gaps is an object that nobody knows"
    );
    assert_eq!(shares.row(2).1[2..], [1.0 / 3.0; 3]);
    let shares = roles
        .columns
        .iter()
        .filter(|column| column.role == Role::Share);
    assert_eq!(shares.count(), 5);
    let note = roles.note().unwrap();
    let said = "soft base clusterings 'a' (2 shares), 'b' (3 shares)";
    assert!(
        note.contains(said) && note.contains("names from 'cell'"),
        "{note}"
    );

    for name in ["again.npz", "again.csv", "again.parquet"] {
        let path = folder.path().join(name);
        write_ensemble(&path, &ensemble, None).unwrap();
        let again = read_ensemble(&path, &ReadOptions::default())
            .unwrap()
            .ensemble;
        let (bases, width) = (again.bases().len(), again.offsets()[3]);
        assert_eq!(
            (bases, width, again.object_names()),
            (3, 7, ensemble.object_names()),
            "{name}"
        );
        assert_eq!(again.memberships(), ensemble.memberships(), "{name}");
        assert!(
            name != "again.npz" || again == ensemble,
            "an archive keeps everything"
        );
    }
    let options = with(|options| options.harden = true);
    let hard = load(folder.path(), "wide.csv", WIDE, &options).unwrap().0;
    assert!(
        hard.memberships().is_none() && hard.label(0, 1) == Some(1) && hard.label(1, 1).is_none()
    );
    let options = with(|options| options.most_shares = 1);
    let (cut, roles) = load(folder.path(), "wide.csv", WIDE, &options).unwrap();
    assert!(cut.memberships().is_none(), "one share each is a label");
    let kept = "only the 1 largest shares are kept";
    assert_says(roles.warnings.join("; "), &[kept]);
}

#[test]
fn labels_under_such_names_stay_labels() {
    let (ensemble, _) = read("l.csv", "run.p1,run.p2\n1,2\n2,2\n1,1\n").unwrap();
    assert!(ensemble.memberships().is_none() && ensemble.bases().len() == 2);
    let (ensemble, _) = read("w.csv", "run.p1,run.p2\na,b\nb,b\na,a\n").unwrap();
    assert_eq!(ensemble.bases()[1].values(), ["a", "b"]);
    // One-hot rows are shares of 1: one base clustering, and hard.
    let (ensemble, _) = read("o.csv", "run.p1,run.p2\n1,0\n0,1\n1,0\n").unwrap();
    assert_eq!(
        (
            ensemble.bases().len(),
            ensemble.label(1, 0),
            ensemble.memberships()
        ),
        (1, Some(1), None)
    );
}

#[test]
fn what_is_not_shares_is_refused_with_its_row() {
    let sum = read("t.csv", "a.p0,a.p1\n0.5,0.5\n0.5,0.9\n").unwrap_err();
    assert_says(&sum, &["row 2: the shares of 'a' sum to 1.4000, not to 1"]);
    let insist = with(|options| options.soft_bases = true);
    let folder = tempfile::tempdir().unwrap();
    let negative = load(folder.path(), "q.csv", "x,y\n0.5,0.5\n1.5,-0.5\n", &insist).unwrap_err();
    assert_says(
        &negative,
        &["row 2, column 'x': '1.5' is not a share between 0 and 1"],
    );
    let word = load(folder.path(), "q.csv", "x,y\n0.5,0.5\nz,1\n", &insist).unwrap_err();
    assert_says(&word, &["'z'"]);
    let (one, _) = load(folder.path(), "q.csv", "x,y\n0.5,0.5\n0.9,0.1\n", &insist).unwrap();
    assert_eq!(
        (one.bases()[0].name(), one.bases()[0].values().to_vec()),
        ("q", vec!["x".to_owned(), "y".into()])
    );
    let plain = read("q.csv", "x,y\n0.5,0.5\n0.9,0.1\n").unwrap_err();
    assert_says(&plain, &["--soft-bases"]);
}

#[test]
fn a_folder_of_ancestry_files_is_one_ensemble() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("run1.2.Q", "0.5 0.5\n1 0\n");
    put("run2.3.Q", "0.2 0.3 0.5\n0 1 0\n");
    put("log.txt", "nothing");
    let (loaded, roles) = load_ensemble(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(names(&loaded.ensemble), ["run1.2", "run2.3"]);
    assert_eq!(loaded.ensemble.offsets(), [0, 2, 5]);
    assert_says(
        roles.note().unwrap(),
        &["'run1.2' (2 shares), 'run2.3' (3 shares)"],
    );
    assert_eq!(partita_files::input_parts(folder.path()).unwrap().len(), 2);
    let one = read_ensemble(&folder.path().join("run1.2.Q"), &ReadOptions::default())
        .unwrap()
        .ensemble;
    assert_eq!(one.bases().len(), 1);
    put("run3.2.Q", "0.5 0.5\n");
    let error = load_ensemble(folder.path(), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert_says(
        &error,
        &["base clustering 'run3.2' labels 1 objects, the others 2"],
    );
}

#[test]
fn damaged_archives_of_shares_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (ensemble, _) = load(folder.path(), "wide.csv", WIDE, &ReadOptions::default()).unwrap();
    let path = folder.path().join("e.npz");
    write_ensemble(&path, &ensemble, None).unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        fs::write(&path, damaged).unwrap();
        match read_ensemble(&path, &ReadOptions::default()) {
            Ok(loaded) => assert_eq!(loaded.ensemble.objects(), 3),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 20, "{refused}");
}
