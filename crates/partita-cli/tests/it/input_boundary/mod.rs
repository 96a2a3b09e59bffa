//! The input boundary, tried with the built binary as people use it: what a file means is understood and said, or refused with
//! the flag that settles it.

mod evaluation;
mod layout;
mod missing;
mod names;
mod tables;
mod truth;

use crate::common::{Ended, Workplace};

/// The group of an object.
fn group(object: usize) -> usize {
    object % 3
}

/// A CSV of so many objects under this header, three groups in turn.
fn csv(header: &str, objects: usize, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..objects).map(|object| row(object) + "\n").collect();
    format!("{header}\n{rows}")
}

/// Runs `partita consensus FILE -k 3` with these flags.
fn consensus(place: &Workplace, file: &str, flags: &[&str]) -> Ended {
    place.partita(&[&["consensus", file, "-k", "3"], flags].concat())
}

/// The names and labels that were printed.
fn printed(stdout: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        (fields.next().unwrap_or_default(), fields.next().unwrap_or_default())
    };
    stdout.lines().skip(1).map(row).collect()
}

/// It went well, every object is with its own group, and stderr has all of these words; returns the names.
#[track_caller]
fn three_groups(ended: Ended, objects: usize, words: &[&str]) -> Vec<String> {
    said(&ended, words);
    let rows = printed(&ended.fine());
    assert_eq!(rows.len(), objects);
    for (object, (name, label)) in rows.iter().enumerate() {
        assert_eq!(*label, rows[group(object)].1, "object {object}, '{name}'");
    }
    assert!(rows[0].1 != rows[1].1 && rows[1].1 != rows[2].1 && rows[0].1 != rows[2].1);
    rows.into_iter().map(|(name, _)| name).collect()
}

/// Stderr has all of these words.
#[track_caller]
fn said(ended: &Ended, words: &[&str]) {
    for word in words {
        assert!(ended.stderr.contains(word), "'{word}' is not in: {}", ended.stderr);
    }
}
