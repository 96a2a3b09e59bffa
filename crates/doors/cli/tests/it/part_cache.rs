//! `partita pass --cache`: the bytes of a pass without it, whatever became of the files of the cache.

use std::fs;
use std::process::Stdio;

use crate::common::{Ended, Workplace};
use crate::parts::write_files;

fn ends_in(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, own)| own == ending)
}

/// The files of a cache, without what a kill may leave.
fn cached(place: &Workplace, folder: &str) -> Vec<String> {
    place
        .files()
        .into_iter()
        .filter(|name| name.starts_with(folder) && ends_in(name, "rows"))
        .collect()
}

/// Does all passes of a round; what they said.
fn pass(place: &Workplace, model: &str, more: &[&str]) -> String {
    let ended =
        place.partita(&[&["pass", "m.json", "--model", model, "--part", "all"], more].concat());
    assert_eq!(
        (ended.code, &*ended.stdout),
        (Some(0), ""),
        "{}",
        ended.stderr
    );
    ended.stderr
}

/// Lets rounds begin anew: no sum of a round is there.
fn forget_sums(place: &Workplace) {
    let sums = place
        .files()
        .into_iter()
        .filter(|name| ends_in(name, "sum"));
    sums.for_each(|name| fs::remove_file(place.path(&name)).expect("a sum"));
}

/// The sums of the parts of a round.
fn sums(place: &Workplace, model: &str) -> Vec<Vec<u8>> {
    let stem = model.trim_end_matches("model");
    (0..3)
        .map(|part| fs::read(place.path(&format!("{stem}{part}.sum"))).expect("a sum"))
        .collect()
}

#[test]
fn rounds_with_a_cache_write_the_bytes_of_one_process() {
    let place = Workplace::new();
    write_files(&place, 7);
    for (method, ending) in [
        ("lwgp", "csv"),
        ("mm", "csv"),
        ("nbce-vb", "npy"),
        ("kc", "parquet"),
        ("acv", "csv"),
    ] {
        let asked = ["-m", method, "-k", "4", "--labels", ending];
        let fitted = |fit: &str, more: &[&str]| {
            let mut warm = Vec::new();
            loop {
                let model = place
                    .partita(&[&["fold", "m.json", "-o", fit], &asked[..]].concat())
                    .fine();
                if model.is_empty() {
                    break;
                }
                let said = pass(&place, model.trim(), more);
                assert!(!said.contains("warning: "), "{said}");
                warm.push(fs::read(place.path(model.trim())).expect("a model"));
            }
            let own = |name: &String| {
                name.starts_with(&format!("{fit}/labels.")) && name.ends_with(ending)
            };
            let files = place.files().into_iter().filter(own);
            (
                warm,
                files
                    .map(|name| fs::read(place.path(&name)).expect("labels"))
                    .collect::<Vec<_>>(),
            )
        };
        let plain = fitted(&format!("{method}/plain"), &[]);
        assert_eq!(plain.1.len(), 3);
        // The first method finds no cache, those after it all of it.
        assert!(
            fitted(&format!("{method}/kept"), &["--cache", "here/rows"]) == plain,
            "{method}"
        );
        assert_eq!(cached(&place, "here/rows/").len(), 5);
    }
    let size = |name: &String| fs::metadata(place.path(name)).expect("a file").len();
    let bytes: u64 = cached(&place, "here/rows/").iter().map(size).sum();
    assert!(
        (9000 * 6 / 2..9000 * 6 / 2 + 5 * 100).contains(&bytes),
        "{bytes}"
    );
}

#[test]
fn files_of_a_cache_that_are_not_these_rows_are_made_again() {
    let place = Workplace::new();
    write_files(&place, 8);
    let model = place
        .partita(&["fold", "m.json", "-m", "lwgp", "-k", "4", "-o", "fit"])
        .fine();
    let model = model.trim();
    pass(&place, model, &[]);
    let expected = sums(&place, model);
    let again = || {
        forget_sums(&place);
        let said = pass(&place, model, &["--cache", "rows", "--threads", "2"]);
        assert!(sums(&place, model) == expected, "{said}");
        said.lines()
            .filter(|line| line.starts_with("warning: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(again().is_empty() && again().is_empty());
    let files = cached(&place, "rows/");
    let whole: Vec<Vec<u8>> = files
        .iter()
        .map(|name| fs::read(place.path(name)).expect("rows"))
        .collect();
    let mut flipped = whole[2].clone();
    flipped[whole[2].len() / 2] ^= 8;
    for (bytes, what) in [
        (&whole[2][..whole[2].len() / 2], "it is cut short"),
        (b"", "it is cut short"),
        (&flipped, "it is damaged: its checksum does not fit"),
        (&whole[1], "holds other label rows"),
        (b"no rows", "it is cut short, or holds other label rows"),
    ] {
        fs::write(place.path(&files[2]), bytes).expect("room on the disk");
        let warnings = again();
        assert!(
            warnings.len() == 1 && warnings[0].contains(&files[2]) && warnings[0].contains(what),
            "{warnings:?}"
        );
        assert!(fs::read(place.path(&files[2])).expect("rows") == whole[2] && again().is_empty());
    }
    // Rows of the same name by another manifest are other files.
    place
        .partita(&[
            "manifest",
            "labels",
            "-o",
            "n.json",
            "--rows-a-part",
            "5000",
        ])
        .fine();
    let other = place
        .partita(&["fold", "n.json", "-o", "other", "-k", "4", "-m", "lwgp"])
        .fine();
    place
        .partita(&[
            "pass",
            "n.json",
            "--model",
            other.trim(),
            "--part",
            "all",
            "--cache",
            "rows",
        ])
        .fine();
    assert_eq!(cached(&place, "rows/").len(), 10);
    assert!(again().is_empty());

    // Files of the manifest are checked as ever.
    write_files(&place, 9);
    let pass = |part: &str| {
        let output = format!("{part}.new");
        let words = [
            "pass",
            "n.json",
            "--model",
            other.trim(),
            "--part",
            part,
            "-o",
            &output,
            "--cache",
            "rows",
        ];
        place.partita(&words)
    };
    pass("1").refused(&["it was changed since the manifest was made"]);
    fs::remove_file(place.path("labels/3.parquet")).expect("a file");
    pass("1").refused(&["labels/3.parquet: no such file"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_a_warning() {
    let place = Workplace::new();
    write_files(&place, 8);
    let model = place
        .partita(&["fold", "m.json", "-m", "lwgp", "-k", "4", "-o", "fit"])
        .fine();
    let model = model.trim();
    pass(&place, model, &[]);
    let expected = sums(&place, model);
    place.file("text", "no folder");
    forget_sums(&place);
    let said = pass(&place, model, &["--cache", "text"]);
    assert!(sums(&place, model) == expected);
    assert!(
        said.contains("warning: ") && said.contains("text"),
        "{said}"
    );
    assert!(
        said.contains("label rows that are not there yet are decoded in every pass"),
        "{said}"
    );
    assert_eq!(fs::read(place.path("text")).expect("a file"), b"no folder");
}

/// Tasks of one machine that begin at the same time all write the cache, and what one of them leaves is whole.
#[test]
fn processes_share_a_cache() {
    let place = Workplace::new();
    write_files(&place, 8);
    let model = place
        .partita(&["fold", "m.json", "-m", "lwgp", "-k", "4", "-o", "fit"])
        .fine();
    let model = model.trim();
    pass(&place, model, &[]);
    let expected = sums(&place, model);
    for round in 0..3 {
        let begun: Vec<_> = (0..4)
            .map(|task| {
                let output = format!("{round}.{task}.sum");
                let words = [
                    "pass", "m.json", "--model", model, "--part", "1", "-o", &output, "--cache",
                    "rows",
                ];
                let child = place
                    .command(&words)
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn();
                (child.expect("the binary"), output)
            })
            .collect();
        for (child, output) in begun {
            let ended = Ended::of(child.wait_with_output().expect("a child"));
            assert!(!ended.stderr.contains("warning: "), "{}", ended.stderr);
            ended.fine();
            assert!(fs::read(place.path(&output)).expect("a sum") == expected[1]);
        }
    }
    assert!(
        cached(&place, "rows/").len()
            == place
                .files()
                .iter()
                .filter(|name| name.starts_with("rows/"))
                .count()
    );
}
