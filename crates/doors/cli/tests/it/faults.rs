//! Faults: commands that are killed at any moment, disks that fill up, files that change or vanish, clocks that are wrong, and two processes
//! with one output. `cargo xtask faults` kills each command a hundred times and writes what it saw to docs/reliability.md.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use partita::files::write_ensemble;
use partita::ndarray::Array2;
use partita::{BaseClustering, Ensemble};

use crate::common::{Ended, Workplace, shipped, three_groups};

/// How often each command is killed, unless the variable `PARTITA_KILLS` says so.
const KILLS: u32 = 6;

/// A command that is killed, and what it leaves when it is not.
struct Work<'a> {
    name: &'a str,
    command: Vec<&'a str>,
    /// What is added where it is done again.
    again: &'a [&'a str],
    /// Files whose bytes are the same whenever it is done.
    results: &'a [&'a str],
}

fn kills() -> u32 {
    std::env::var("PARTITA_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS)
}

/// Says a row of the table that `cargo xtask faults` makes.
#[expect(clippy::print_stdout, reason = "the command reads it")]
fn told(row: &str) {
    println!("fault: {row}");
}

/// Whether a kill may leave a file of this name: a write that was under way, or a checkpoint.
fn is_temporary(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let part = last.strip_suffix(".part").unwrap_or_default();
    part.starts_with(".partita-") || part.strip_suffix(".npz").is_some()
}

impl Work<'_> {
    fn read(&self, place: &Workplace) -> Vec<Option<Vec<u8>>> {
        self.results
            .iter()
            .map(|name| fs::read(place.path(name)).ok())
            .collect()
    }

    /// Puts the folder back as it was: `inputs` stay.
    fn clear(place: &Workplace, inputs: &[String]) {
        for file in place.files().iter().filter(|file| !inputs.contains(file)) {
            fs::remove_file(place.path(file)).expect("a file that is there");
        }
        for entry in fs::read_dir(place.path(""))
            .expect("a folder")
            .flatten()
            .filter(|entry| entry.path().is_dir())
        {
            // Folders with inputs are not empty.
            let _ = fs::remove_dir(entry.path());
        }
    }

    /// Kills it at moments that are spread by the golden ratio from before its start to after its end, and does it again.
    fn survives(&self, place: &Workplace) {
        let (inputs, begun) = (place.files(), Instant::now());
        place.partita(&self.command).fine();
        let mut whole = begun.elapsed();
        let (expected, files) = (self.read(place), place.files());
        assert!(
            expected.iter().all(Option::is_some),
            "{}: {files:?}",
            self.name
        );
        let (mut inside, mut left) = (0, 0);
        for kill in 0..kills() {
            Self::clear(place, &inputs);
            let share = (f64::from(kill) * 0.618_034).fract() * 1.05;
            let mut child = self.start(place);
            sleep(whole.mul_f64(share));
            let ended = child.try_wait().expect("a child").is_some();
            child.kill().expect("a child that may be killed");
            child.wait().expect("a child");
            // As other work comes and goes, what was too late or too early corrects the time.
            whole = whole.mul_f64(if ended { 0.9 } else { 1.03 });
            inside += u32::from(!ended);
            left += self.looked_at(place, &files, &expected);
            let again = [&self.command[..], self.again].concat();
            place.partita(&again).fine();
            assert!(
                self.read(place) == expected,
                "{}: other bytes after kill {kill} at {share:.2}",
                self.name
            );
            let stray: Vec<String> = place
                .files()
                .into_iter()
                .filter(|file| !files.contains(file))
                .collect();
            assert!(
                stray.iter().all(|file| is_temporary(file)),
                "{}: {stray:?}",
                self.name
            );
        }
        told(&format!(
            "{} | {} kills, {inside} before the end | same bytes | {left} temporary files",
            self.name,
            kills()
        ));
    }

    fn start(&self, place: &Workplace) -> std::process::Child {
        place
            .command(&self.command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary")
    }

    /// What a kill left: whole files of the right bytes, and temporary files, which are counted.
    fn looked_at(
        &self,
        place: &Workplace,
        files: &[String],
        expected: &[Option<Vec<u8>>],
    ) -> usize {
        for (found, expected) in self.read(place).iter().zip(expected) {
            assert!(
                found.is_none() || found == expected,
                "{}: a file that is not whole",
                self.name
            );
        }
        let strange: Vec<String> = place
            .files()
            .into_iter()
            .filter(|file| !files.contains(file))
            .collect();
        assert!(
            strange.iter().all(|file| is_temporary(file)),
            "{}: {strange:?}",
            self.name
        );
        strange.len()
    }
}

/// Noisy copies of four groups as a table in columns.
fn write_labels(path: &Path, objects: usize) {
    let cell = |(i, u): (usize, usize)| {
        if (i * 31 + u * 17).is_multiple_of(7) {
            (i / 7 % 4) as u8
        } else {
            (i % 4) as u8
        }
    };
    let rows = Array2::from_shape_fn((objects, 12), cell);
    let base = |u| {
        BaseClustering::new(
            format!("u{u}"),
            (0..4).map(|j: u32| j.to_string()).collect(),
        )
    };
    let ensemble = Ensemble::from_bytes(rows, (0..12).map(base).collect()).expect("labels below 4");
    write_ensemble(path, &ensemble, None).expect("room on the disk");
}

#[test]
fn generate_may_be_killed() {
    let (place, table) = (Workplace::new(), shipped("digits.csv"));
    let command = vec![
        "generate",
        &table,
        "--truth",
        "label",
        "--base",
        "kmeans:20",
        "-o",
        "e.npz",
    ];
    Work {
        name: "generate",
        command,
        again: &["--resume"],
        results: &["e.npz"],
    }
    .survives(&place);
}

#[test]
fn run_may_be_killed() {
    let (place, table) = (Workplace::new(), shipped("wine.csv"));
    let command = vec![
        "run",
        &table,
        "--truth",
        "label",
        "-k",
        "3",
        "--base",
        "kmeans:20",
        "-o",
        "out",
    ];
    let results = &["out/labels.csv", "out/ensemble.npz"];
    Work {
        name: "run",
        command,
        again: &["--resume"],
        results,
    }
    .survives(&place);
}

#[test]
fn a_consensus_by_blocks_may_be_killed() {
    let place = Workplace::new();
    write_labels(&place.path("e.parquet"), 60_000);
    let method = [
        "-m",
        "lwgp",
        "-k",
        "4",
        "--set",
        "restarts=2",
        "--stream",
        "--max-memory",
        "300MiB",
    ];
    let command = [&["consensus", "e.parquet", "-o", "l.csv"][..], &method].concat();
    Work {
        name: "consensus --stream",
        command,
        again: &["--force"],
        results: &["l.csv"],
    }
    .survives(&place);
}

#[test]
fn a_consensus_of_several_files_may_be_killed() {
    let place = Workplace::new();
    let column = |name: &str, step: usize| {
        let rows: String = (0..3000)
            .map(|i: usize| format!("o{i},{}\n", (i + usize::from(i.is_multiple_of(step))) % 3))
            .collect();
        format!("object,{name}\n{rows}")
    };
    for (file, step) in [("a", 7), ("b", 11), ("c", 13)] {
        place.file(&format!("{file}.csv"), column(file, step));
    }
    let command = vec![
        "consensus",
        "a.csv",
        "b.csv",
        "c.csv",
        "-m",
        "lwgp",
        "-k",
        "3",
        "-o",
        "l.csv",
    ];
    Work {
        name: "consensus FILE MORE…",
        command,
        again: &["--force"],
        results: &["l.csv"],
    }
    .survives(&place);
}

#[test]
fn merge_may_be_killed() {
    let (place, table) = (Workplace::new(), shipped("digits.csv"));
    for (part, file) in [("1/2", "one"), ("2/2", "two")] {
        place
            .partita(&[
                "generate",
                &table,
                "--truth",
                "label",
                "--base",
                "kmeans:20",
                "--part",
                part,
                "-o",
                file,
            ])
            .fine();
    }
    let command = vec!["merge", "one", "two", "-o", "e.npz"];
    Work {
        name: "merge",
        command,
        again: &["--force"],
        results: &["e.npz"],
    }
    .survives(&place);
}

#[test]
fn align_may_be_killed() {
    let place = Workplace::new();
    for (file, turn) in [("a.3.Q", 0), ("b.3.Q", 1), ("c.3.Q", 2)] {
        let share = |i: usize, k: usize| {
            if (i + k + turn).is_multiple_of(3) {
                0.8
            } else {
                0.1
            }
        };
        let rows: String = (0..2000)
            .map(|i| format!("{} {} {}\n", share(i, 0), share(i, 1), share(i, 2)))
            .collect();
        place.file(file, rows);
    }
    let command = vec![
        "align",
        "a.3.Q",
        "b.3.Q",
        "c.3.Q",
        "-o",
        "out",
        "--ensemble",
        "e.npz",
    ];
    Work {
        name: "align",
        command,
        again: &["--force"],
        results: &["e.npz"],
    }
    .survives(&place);
}

#[test]
fn update_may_be_killed() {
    let place = Workplace::new();
    write_labels(&place.path("e.npz"), 20_000);
    write_labels(&place.path("more.npz"), 5_000);
    let command = vec![
        "update",
        "e.npz",
        "--add",
        "more.npz",
        "-o",
        "new.npz",
        "--overlap",
        "overlap.npz",
    ];
    Work {
        name: "update",
        command,
        again: &["--force"],
        results: &["new.npz", "overlap.npz"],
    }
    .survives(&place);
}

#[test]
fn folds_and_passes_may_be_killed() {
    let place = Workplace::new();
    write_labels(&place.path("e.parquet"), 9000);
    place
        .partita(&["manifest", "e.parquet", "-o", "m.json"])
        .fine();
    let command = vec!["fold", "m.json", "-m", "acv", "-k", "4", "-o", "fit"];
    Work {
        name: "fold",
        command,
        again: &[],
        results: &["fit/round1.model"],
    }
    .survives(&place);
    let command = vec![
        "pass",
        "m.json",
        "--model",
        "fit/round1.model",
        "--part",
        "0",
    ];
    Work {
        name: "pass",
        command,
        again: &[],
        results: &["fit/round1.0.sum"],
    }
    .survives(&place);
    let command = vec![
        "pass",
        "m.json",
        "--model",
        "fit/round1.model",
        "--part",
        "0",
        "-o",
        "0.sum",
        "--cache",
        "rows",
    ];
    Work {
        name: "pass --cache",
        command,
        again: &[],
        results: &["0.sum"],
    }
    .survives(&place);
}

/// Files may have at most so many kilobytes: every write meets the end of the disk somewhere.
fn limited(place: &Workplace, kilobytes: u32, arguments: &str) -> Ended {
    let partita = assert_cmd::cargo::cargo_bin!("partita")
        .display()
        .to_string();
    let line = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec '{partita}' {arguments}");
    Ended::of(
        Command::new("bash")
            .args(["-c", &line])
            .current_dir(place.path(""))
            .output()
            .expect("a shell"),
    )
}

#[test]
fn a_disk_that_fills_up_leaves_the_old_files_and_no_other() {
    let place = Workplace::new();
    write_labels(&place.path("e.npz"), 9000);
    write_labels(&place.path("e.parquet"), 9000);
    place.file("t.csv", three_groups(3000));
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-m",
            "mm",
            "-k",
            "4",
            "--model",
            "old.json",
            "-o",
            "old.csv",
        ])
        .fine();
    let before = place.files();
    let (mut refused, mut wrote) = (0, 0);
    for arguments in [
        "consensus e.npz -m lwgp -k 4 -o l.csv",
        "consensus e.npz -m lwgp -k 4 -o l.parquet",
        "consensus e.parquet -m lwgp -k 4 -o l.npy --stream",
        "consensus e.npz -m mm -k 4 -o l.csv --model m.json --soft s.csv",
        "update e.npz --add e.npz -o new.npz --force",
        "predict old.json e.npz -o p.csv",
        "generate t.csv --truth kind --base kmeans:9 -o g.npz",
        "manifest e.parquet -o m.json",
        "run t.csv --truth kind -k 3 --base kmeans:9 -o out",
    ] {
        for kilobytes in [0, 1, 2, 4, 8, 16, 64] {
            let ended = limited(&place, kilobytes, arguments);
            let whole = ended.code == Some(0);
            assert!(
                whole || matches!(ended.code, Some(1 | 2)),
                "{arguments}: {:?} {}",
                ended.code,
                ended.stderr
            );
            let errors = ended
                .stderr
                .lines()
                .filter(|line| line.starts_with("error: "))
                .count();
            assert_eq!(
                errors,
                usize::from(!whole),
                "{arguments} in {kilobytes} kB: {}",
                ended.stderr
            );
            let temporary = |file: &String| {
                file.rsplit('/')
                    .next()
                    .is_some_and(|name| name.starts_with(".partita-"))
            };
            assert!(
                !place.files().iter().any(temporary),
                "{arguments} in {kilobytes} kB: {:?}",
                place.files()
            );
            (refused, wrote) = (refused + u32::from(!whole), wrote + u32::from(whole));
            Work::clear(&place, &before);
        }
    }
    assert!(
        refused > 20,
        "{refused} of {} met the end of the disk",
        refused + wrote
    );
    told(&format!(
        "disk full (9 commands × 7 sizes) | {refused} failed, {wrote} fitted | one line, exit code 1 or 2 | 0 temporary files"
    ));
}

/// A pass needs its cache for speed alone.
#[test]
fn a_cache_that_fills_the_disk_is_a_warning() {
    let place = Workplace::new();
    write_labels(&place.path("e.parquet"), 60_000);
    place
        .partita(&["manifest", "e.parquet", "-o", "m.json"])
        .fine();
    place
        .partita(&["fold", "m.json", "-m", "acv", "-k", "4", "-o", "fit"])
        .fine();
    let pass = "pass m.json --model fit/round1.model --part 0";
    let ended = limited(&place, 64, &format!("{pass} --cache rows"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let words = [
        "warning: rows/",
        "cannot write",
        "label rows that are not there yet are decoded in every pass",
    ];
    words
        .iter()
        .for_each(|word| assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr));
    assert!(
        !place.files().iter().any(|name| name.starts_with("rows/")),
        "{:?}",
        place.files()
    );
    let sum = fs::read(place.path("fit/round1.0.sum")).expect("a sum");
    fs::remove_file(place.path("fit/round1.0.sum")).expect("a sum");
    place.partita(&pass.split(' ').collect::<Vec<_>>()).fine();
    assert!(fs::read(place.path("fit/round1.0.sum")).expect("a sum") == sum);
    told(
        "disk full under a cache of label rows | 1 of 1 fine | same bytes and a warning | 0 temporary files",
    );
}

#[test]
fn inputs_that_are_cut_short_or_vanish_are_errors_of_one_line() {
    let place = Workplace::new();
    write_labels(&place.path("e.npz"), 500);
    write_labels(&place.path("e.parquet"), 500);
    write_labels(&place.path("e.csv"), 500);
    place
        .partita(&["manifest", "e.parquet", "-o", "m.json"])
        .fine();
    let mut refused = 0;
    for name in ["e.npz", "e.parquet"] {
        let bytes = fs::read(place.path(name)).expect("a file");
        let cut = format!("cut-{name}");
        for part in 1..8 {
            place.file(&cut, &bytes[..bytes.len() * part / 8]);
            place
                .partita(&["consensus", &cut, "-k", "4", "-m", "lwgp", "-o", "no.csv"])
                .refused(&[&cut]);
            refused += 1;
        }
    }
    // A pipe with a name is not waited for.
    let partita = assert_cmd::cargo::cargo_bin!("partita")
        .display()
        .to_string();
    let line = format!(
        "mkfifo pipe.csv; exec timeout -s KILL 60 '{partita}' consensus pipe.csv -k 4 -m lwgp -o no.csv"
    );
    let shell = Command::new("bash")
        .args(["-c", &line])
        .current_dir(place.path(""))
        .output();
    Ended::of(shell.expect("a shell")).refused(&["pipe.csv", "standard input"]);
    // A file that shrinks or goes after its manifest was written.
    let bytes = fs::read(place.path("e.parquet")).expect("a file");
    place.file("e.parquet", &bytes[..bytes.len() / 2]);
    place
        .partita(&[
            "consensus",
            "m.json",
            "-k",
            "4",
            "-m",
            "lwgp",
            "-o",
            "no.csv",
        ])
        .refused(&["e.parquet"]);
    fs::remove_file(place.path("e.parquet")).expect("a file");
    place
        .partita(&[
            "consensus",
            "m.json",
            "-k",
            "4",
            "-m",
            "lwgp",
            "-o",
            "no.csv",
        ])
        .refused(&["e.parquet"]);
    assert!(!place.path("no.csv").exists());
    told(&format!(
        "inputs cut short, pipes, files gone | {} refused | one line, exit code 2 | 0 temporary files",
        refused + 3
    ));
}

#[test]
fn a_folder_that_vanishes_is_an_error() {
    let place = Workplace::new();
    fs::create_dir(place.path("there")).expect("a folder");
    let table = shipped("digits.csv");
    let command = [
        "generate",
        &table,
        "--truth",
        "label",
        "--base",
        "kmeans:60",
        "-o",
        "there/e.npz",
    ];
    let child = place
        .command(&command)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    let begun = Instant::now();
    while !place.path("there/e.npz.part").exists() && begun.elapsed() < Duration::from_mins(1) {
        sleep(Duration::from_millis(2));
    }
    fs::remove_dir_all(place.path("there")).expect("a folder with a checkpoint");
    let ended = Ended::of(child.wait_with_output().expect("a child"));
    assert!(
        matches!(ended.code, Some(1 | 2)),
        "{:?} {}",
        ended.code,
        ended.stderr
    );
    assert_eq!(
        ended
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count(),
        1,
        "{}",
        ended.stderr
    );
    told(
        "the folder of the output is removed while it works | 1 of 1 failed | one line, exit code 1 or 2 | 0 temporary files",
    );
}

/// Of two processes that make the same base clusterings one is refused; two that write the same labels both write them whole.
#[test]
fn two_processes_with_one_output_do_not_mix() {
    let place = Workplace::new();
    let table = shipped("digits.csv");
    let command = [
        "generate",
        &table,
        "--truth",
        "label",
        "--base",
        "kmeans:60",
        "-o",
        "e.npz",
    ];
    let begun = |more: &[&str]| {
        let mut command = place.command(&[&command[..], more].concat());
        command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary")
    };
    let first = begun(&[]);
    let since = Instant::now();
    while !place.path("e.npz.part").exists() && since.elapsed() < Duration::from_mins(1) {
        sleep(Duration::from_millis(2));
    }
    let second = Ended::of(begun(&["--resume"]).wait_with_output().expect("a child"));
    let first = Ended::of(first.wait_with_output().expect("a child"));
    first.fine();
    // The other is refused, unless it began after the end of the first.
    if second.code != Some(0) {
        second.refused(&["e.npz", "another process"]);
    }
    let expected = fs::read(place.path("e.npz")).expect("an ensemble");
    fs::remove_file(place.path("e.npz")).expect("an ensemble");
    place.partita(&command).fine();
    assert!(fs::read(place.path("e.npz")).expect("an ensemble") == expected);
    assert_eq!(place.files(), ["e.npz"]);

    let consensus = [
        "consensus",
        "e.npz",
        "-m",
        "lwgp",
        "-k",
        "10",
        "-o",
        "l.csv",
        "--force",
    ];
    let both: Vec<_> = (0..2)
        .map(|_| {
            place
                .command(&consensus)
                .stdout(Stdio::null())
                .spawn()
                .expect("the binary")
        })
        .collect();
    both.into_iter()
        .for_each(|mut child| assert!(child.wait().expect("a child").success()));
    let found = fs::read(place.path("l.csv")).expect("labels");
    place.partita(&consensus).fine();
    assert!(fs::read(place.path("l.csv")).expect("labels") == found);
    assert_eq!(place.files(), ["e.npz", "l.csv"]);
    told(
        "two processes with one output | a checkpoint: the second is refused; labels: both write them whole | same bytes | 0 temporary files",
    );
}

/// Times of files before 1970 and far ahead, as clocks that jump leave them.
#[test]
fn times_of_files_may_be_anything() {
    let place = Workplace::new();
    write_labels(&place.path("e.parquet"), 300);
    place
        .partita(&[
            "consensus",
            "e.parquet",
            "-m",
            "mm",
            "-k",
            "4",
            "--model",
            "m.json",
            "-o",
            "l.csv",
        ])
        .fine();
    let mut labels = None;
    let days = |days: u64| Duration::from_secs(days * 86_400);
    let times = [
        SystemTime::UNIX_EPOCH - days(20_000),
        SystemTime::UNIX_EPOCH,
        SystemTime::UNIX_EPOCH + days(200_000),
    ];
    for time in times {
        for file in ["e.parquet", "m.json", "l.csv"] {
            let opened = File::options()
                .write(true)
                .open(place.path(file))
                .expect("a file of ours");
            opened.set_modified(time).expect("a file system with times");
        }
        place
            .partita(&["manifest", "e.parquet", "-o", "manifest.json", "--force"])
            .fine();
        place
            .partita(&[
                "consensus",
                "manifest.json",
                "-m",
                "mm",
                "-k",
                "4",
                "-o",
                "again.csv",
                "--force",
            ])
            .fine();
        place.partita(&["inspect", "m.json", "--json"]).json();
        place
            .partita(&["predict", "m.json", "e.parquet", "-o", "p.csv", "--force"])
            .fine();
        let found = fs::read(place.path("again.csv")).expect("labels");
        assert!(*labels.get_or_insert_with(|| found.clone()) == found);
    }
    told(
        "times of files in 1915, 1970 and 2517 | 12 of 12 commands fine | same bytes | 0 temporary files",
    );
}
