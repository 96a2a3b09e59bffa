//! `generate` that is killed, goes on, and is shared out.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use crate::common::{Workplace, shipped};

/// Enough work for a kill to fall into it: many k-means, trees and splits.
const WORK: [&str; 6] = [
    "--label",
    "label",
    "--base",
    "kmeans:15,average:2,splits:60",
    "--seed",
    "7",
];

#[test]
fn twenty_kills_change_nothing() {
    let place = Workplace::new();
    let table = shipped("digits.csv");
    let mut command = vec!["generate", &table];
    command.extend(WORK);
    let begun = Instant::now();
    place
        .partita(&[&command[..], &["-o", "whole.npz"]].concat())
        .fine();
    let mut whole = begun.elapsed();
    let expected = fs::read(place.path("whole.npz")).unwrap();
    // Fractions of the undisturbed time, spread by the golden ratio from before the start to after the end. As other
    // work on the machine comes and goes, a kill that came too late or too early corrects what that time is.
    let mut interrupted = 0;
    for kill in 0..20 {
        let delay = whole.mul_f64((f64::from(kill) * 0.618_034).fract() * 1.05);
        let arguments = [&command[..], &["-o", "killed.npz"]].concat();
        let mut child = place
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(delay);
        child.kill().unwrap();
        child.wait().unwrap();
        let finished = records(&place);
        let was_whole = place.path("killed.npz").exists();
        let said = place.partita(&[&arguments[..], &["--resume", "--json"]].concat());
        if was_whole {
            assert!(
                said.stderr.contains("nothing left to do"),
                "{}",
                said.stderr
            );
            whole = whole.mul_f64(0.8);
        } else {
            let resumed = said.json()["resumed"].as_u64().unwrap();
            assert_eq!(
                resumed, finished,
                "what was finished before kill {kill} is not made again"
            );
            interrupted += u64::from(resumed > 0);
            whole = whole.mul_f64(if resumed == 0 { 1.25 } else { 1.0 });
        }
        assert!(
            fs::read(place.path("killed.npz")).unwrap() == expected,
            "kill {kill} after {delay:?}"
        );
        assert!(!place.path("killed.npz.part").exists());
        fs::remove_file(place.path("killed.npz")).unwrap();
    }
    assert!(
        interrupted >= 5,
        "{interrupted} of 20 kills fell into the work"
    );
}

#[test]
fn a_killed_run_goes_on() {
    let place = Workplace::new();
    let table = shipped("digits.csv");
    let run = |output: &'static str| {
        [
            "run",
            &table,
            "--truth",
            "label",
            "-k",
            "10",
            "--base",
            "kmeans:60",
            "--no-report",
            "-o",
            output,
        ]
    };
    place.partita(&run("whole")).fine();
    let mut child = place
        .command(&run("out"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let part = place.path("out/ensemble.npz.part");
    let begun = Instant::now();
    while fs::metadata(&part).map_or(0, |file| file.len()) < 10_000
        && begun.elapsed().as_secs() < 60
    {
        sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place
        .partita(&run("out"))
        .refused(&["holds something already"]);
    let other = [&run("out")[..], &["--resume", "--seed", "5"]].concat();
    place
        .partita(&other)
        .refused(&["ensemble.npz.part", "other work"]);
    let resumed = place.partita(&[&run("out")[..], &["--resume"]].concat());
    assert!(
        resumed.stderr.contains("base clusterings are from before"),
        "{}",
        resumed.stderr
    );
    for file in ["labels.csv", "ensemble.npz"] {
        let [out, whole] =
            ["out", "whole"].map(|folder| fs::read(place.path(folder).join(file)).unwrap());
        assert!(out == whole, "{file}");
    }
    assert!(!part.exists());
    let again = place.partita(&[&run("out")[..], &["--resume"]].concat());
    assert!(
        again.stderr.contains("nothing left to do"),
        "{}",
        again.stderr
    );
    place
        .partita(&other)
        .refused(&["record.json", "another run"]);
}

/// Whole records of the part file: each says its length, and a check of 8 bytes follows.
fn records(place: &Workplace) -> u64 {
    let Ok(bytes) = fs::read(place.path("killed.npz.part")) else {
        return 0;
    };
    let mut ends = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1);
    let Some(mut at) = ends.nth(1) else { return 0 };
    let mut records = 0;
    while let Some(length) = bytes.get(at..at + 4) {
        at += 12 + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        records += u64::from(at <= bytes.len());
    }
    records
}

#[test]
fn parts_are_made_apart_and_merged() {
    let place = Workplace::new();
    let table = shipped("iris.csv");
    let generate = |more: &[&str]| {
        let arguments = [
            &[
                "generate",
                &table,
                "--label",
                "label",
                "--base",
                "kmeans:9,ward:4",
                "--base-k",
                "2..6",
            ],
            more,
        ];
        place.partita(&arguments.concat())
    };
    generate(&["-o", "whole.npz"]).fine();
    for part in ["1/3", "2/3", "3/3"] {
        generate(&["--part", part, "-o", &part.replace('/', "of")]).fine();
    }
    let merged = place
        .partita(&[
            "merge",
            "3of3",
            "1of3",
            "2of3",
            "-o",
            "merged.npz",
            "--json",
        ])
        .json();
    assert_eq!(
        (&merged["base_clusterings"], &merged["asked"]),
        (&13.into(), &13.into())
    );
    assert!(
        fs::read(place.path("whole.npz")).unwrap() == fs::read(place.path("merged.npz")).unwrap()
    );
    assert_eq!(
        generate(&["--part", "1/3", "--resume", "-o", "1of3", "--json"]).json()["resumed"],
        5
    );
    place.partita(&["merge", "1of3", "-o", "some.npz"]).fine();
    assert_eq!(
        place.partita(&["inspect", "some.npz", "--json"]).json()["base_clusterings"],
        5
    );

    generate(&["--part", "2/3", "-o", "1of3"]).refused(&["1of3", "exists"]);
    generate(&["--part", "2/3", "--resume", "-o", "1of3"]).refused(&["1of3", "other work"]);
    generate(&["--seed", "1", "--part", "2/3", "-o", "other"]).fine();
    place
        .partita(&["merge", "1of3", "other", "-o", "m.npz"])
        .refused(&["other", "other work"]);
    place
        .partita(&["merge", "1of3", "whole.npz", "-o", "m.npz"])
        .refused(&["whole.npz", "merge the parts first"]);
    place.file("cut", "PARTITA-");
    place.partita(&["merge", "cut", "-o", "m.npz"]).refused(&[
        "cut",
        ".npz",
        "part file",
        "make it again",
    ]);
    assert_eq!(generate(&["--part", "4/3", "-o", "x"]).code, Some(2));
}

#[test]
fn a_part_file_in_the_way_or_altered_is_refused() {
    let place = Workplace::new();
    let table = shipped("iris.csv");
    let generate = |more: &[&str]| {
        place.partita(
            &[
                &[
                    "generate", &table, "--label", "label", "--base", "kmeans:4", "-o", "e.npz",
                ],
                more,
            ]
            .concat(),
        )
    };
    generate(&["--part", "1/1", "-o", "e.npz.part"]);
    let part = Workplace::new();
    part.partita(&[
        "generate", &table, "--label", "label", "--base", "kmeans:4", "--part", "1/1", "-o", "p",
    ])
    .fine();
    let bytes = fs::read(part.path("p")).unwrap();
    fs::write(place.path("e.npz.part"), &bytes[..bytes.len() - 50]).unwrap();
    generate(&[]).refused(&["e.npz.part", "--resume", "--force"]);
    assert_eq!(generate(&["--resume", "--json"]).json()["resumed"], 3);

    fs::remove_file(place.path("e.npz")).unwrap();
    let mut altered = bytes;
    let place_of_a_label = altered.len() - 60;
    altered[place_of_a_label] ^= 1;
    fs::write(place.path("e.npz.part"), &altered).unwrap();
    generate(&["--resume"]).refused(&["e.npz.part", "damaged", "delete it"]);
    assert!(
        place.path("e.npz.part").exists(),
        "what is damaged is not lost"
    );
    generate(&["--force"]).fine();
    generate(&["--resume"]).fine();
    generate(&["--resume", "--seed", "3"]).refused(&["e.npz", "another recipe or seed"]);
}

#[test]
fn an_ensemble_says_how_to_make_it_again() {
    let place = Workplace::new();
    let table = shipped("wine.csv");
    let first = [
        "generate", &table, "--label", "label", "--preset", "nbce", "-k", "3", "--scale", "zscore",
        "--seed", "5",
    ];
    place
        .partita(&[&first[..], &["-o", "first.npz"]].concat())
        .fine();
    let again = [
        "generate",
        &table,
        "--label",
        "label",
        "--recipe",
        "first.npz",
        "-o",
        "again.npz",
    ];
    place.partita(&again).fine();
    assert!(
        fs::read(place.path("first.npz")).unwrap() == fs::read(place.path("again.npz")).unwrap()
    );
    let facts = place.partita(&["inspect", "again.npz", "--json"]).json();
    assert_eq!(
        (&facts["recipe"]["seed"], &facts["recipe"]["scale"]),
        (&5.into(), &"zscore".into())
    );

    place.file(
        "recipe.toml",
        "base = [\"kmeans:6\", \"spectral:2\"]\nbase_k = \"3..5\"\nsubsample = 0.8\n",
    );
    let toml = [
        "generate",
        &table,
        "--label",
        "label",
        "--recipe",
        "recipe.toml",
        "-o",
        "toml.npz",
        "--json",
    ];
    assert_eq!(place.partita(&toml).json()["base_clusterings"], 8);
    place.file("wrong.toml", "base_k = \"3..5\"\nsubsmaple = 0.8\n");
    let wrong = ["generate", &table, "--recipe", "wrong.toml", "-o", "w.npz"];
    place
        .partita(&wrong)
        .refused(&["wrong.toml, line 2", "subsmaple"]);
    place
        .partita(&["generate", &table, "--recipe", &table, "-o", "w.npz"])
        .refused(&["wine.csv"]);
}
