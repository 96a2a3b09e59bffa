//! Faults: commands that are killed or stopped at any moment, disks that fill up, files that change or vanish, clocks that are wrong,
//! and two processes with one output. `cargo xtask faults` kills each command a hundred times and writes what it saw to docs/reliability.md.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::common::{Ended, Workplace, is_progress, shipped, three_groups};
use crate::data::write_labels;

/// How often each command is killed, unless the variable `PARTITA_KILLS` says so.
const KILLS: u32 = 6;

/// A command that is killed, and what it leaves when it is not.
struct Work {
    name: &'static str,
    command: String,
    /// What is added where it is done again.
    again: &'static str,
    /// Files whose bytes are the same whenever it is done.
    results: &'static [&'static str],
}

fn kills() -> u32 {
    let asked = std::env::var("PARTITA_KILLS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(KILLS)
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

/// The files that are there and not among these.
fn others(place: &Workplace, files: &[String]) -> Vec<String> {
    let mut others = place.files();
    others.retain(|file| !files.contains(file));
    others
}

/// Puts the folder back as it was: `inputs` stay.
fn clear(place: &Workplace, inputs: &[String]) {
    for file in others(place, inputs) {
        fs::remove_file(place.path(&file)).expect("a file that is there");
    }
    for entry in fs::read_dir(place.path("")).expect("a folder").flatten() {
        // Folders with inputs are not empty, and files are no folders.
        let _ = fs::remove_dir(entry.path());
    }
}

impl Work {
    fn read(&self, place: &Workplace) -> Vec<Option<Vec<u8>>> {
        let results = self.results.iter();
        results
            .map(|name| fs::read(place.path(name)).ok())
            .collect()
    }

    /// Kills it at moments that are spread by the golden ratio from before its start to after its end, and does it again.
    fn survives(&self, place: &Workplace) {
        let inputs = place.files();
        let begun = Instant::now();
        place.run(&self.command).fine();
        let mut whole = begun.elapsed();
        let expected = self.read(place);
        let files = place.files();
        assert!(
            expected.iter().all(Option::is_some),
            "{}: {files:?}",
            self.name
        );
        let mut inside = 0;
        let mut left = 0;
        for kill in 0..kills() {
            clear(place, &inputs);
            let share = (f64::from(kill) * 0.618_034).fract() * 1.05;
            let mut child = place.start(&self.command);
            sleep(whole.mul_f64(share));
            let ended = child.try_wait().expect("a child").is_some();
            child.kill().expect("a child that may be killed");
            child.wait().expect("a child");
            // As other work comes and goes, what was too late or too early corrects the time.
            whole = whole.mul_f64(if ended { 0.9 } else { 1.03 });
            inside += u32::from(!ended);
            // A kill leaves whole files of the right bytes, and temporary files.
            let found = self.read(place);
            let mut pairs = found.iter().zip(&expected);
            assert!(
                pairs.all(|(found, whole)| found.is_none() || found == whole),
                "{}: a file that is not whole",
                self.name
            );
            let strange = others(place, &files);
            assert!(
                strange.iter().all(|file| is_temporary(file)),
                "{}: {strange:?}",
                self.name
            );
            left += strange.len();
            place
                .run(&format!("{} {}", self.command, self.again))
                .fine();
            assert!(
                self.read(place) == expected,
                "{}: other bytes after kill {kill} at {share:.2}",
                self.name
            );
            let strange = others(place, &files);
            assert!(
                strange.iter().all(|file| is_temporary(file)),
                "{}: {strange:?}",
                self.name
            );
        }
        told(&format!(
            "{} | {} kills, {inside} before the end | same bytes | {left} temporary files",
            self.name,
            kills()
        ));
    }
}

fn survives(
    place: &Workplace,
    name: &'static str,
    command: &str,
    again: &'static str,
    results: &'static [&'static str],
) {
    let command = command.to_owned();
    Work {
        name,
        command,
        again,
        results,
    }
    .survives(place);
}

#[test]
fn commands_that_make_ensembles_may_be_killed() {
    let digits = shipped("digits.csv");
    let generate = format!("generate {digits} --truth label --base kmeans:20");
    survives(
        &Workplace::new(),
        "generate",
        &format!("{generate} -o e.npz"),
        "--resume",
        &["e.npz"],
    );
    let run = format!(
        "run {} --truth label -k 3 --base kmeans:20 -o out",
        shipped("wine.csv")
    );
    survives(
        &Workplace::new(),
        "run",
        &run,
        "--resume",
        &["out/labels.csv", "out/ensemble.npz"],
    );
    let place = Workplace::new();
    place.run(&format!("{generate} --part 1/2 -o one")).fine();
    place.run(&format!("{generate} --part 2/2 -o two")).fine();
    survives(
        &place,
        "merge",
        "merge one two -o e.npz",
        "--force",
        &["e.npz"],
    );
    let place = Workplace::new();
    write_labels(&place, "e.npz", 20_000);
    write_labels(&place, "more.npz", 5_000);
    let update = "update e.npz --add more.npz -o new.npz --overlap overlap.npz";
    survives(
        &place,
        "update",
        update,
        "--force",
        &["new.npz", "overlap.npz"],
    );
}

#[test]
fn commands_that_read_ensembles_may_be_killed() {
    let place = Workplace::new();
    write_labels(&place, "e.parquet", 60_000);
    let stream =
        "consensus e.parquet -o l.csv -m lwgp -k 4 --set restarts=2 --stream --max-memory 300MiB";
    survives(&place, "consensus --stream", stream, "--force", &["l.csv"]);
    let place = Workplace::new();
    for (file, step) in [("a", 7), ("b", 11), ("c", 13)] {
        let row = |i: usize| format!("o{i},{}\n", (i + usize::from(i.is_multiple_of(step))) % 3);
        let rows: String = (0..3000).map(row).collect();
        place.file(&format!("{file}.csv"), format!("object,{file}\n{rows}"));
    }
    let several = "consensus a.csv b.csv c.csv -m lwgp -k 3 -o l.csv";
    survives(
        &place,
        "consensus FILE MORE…",
        several,
        "--force",
        &["l.csv"],
    );
    let place = Workplace::new();
    for (turn, file) in ["a.3.Q", "b.3.Q", "c.3.Q"].into_iter().enumerate() {
        let rows = ["0.8 0.1 0.1\n", "0.1 0.1 0.8\n", "0.1 0.8 0.1\n"];
        place.file(
            file,
            (0..2000).map(|i| rows[(i + turn) % 3]).collect::<String>(),
        );
    }
    let align = "align a.3.Q b.3.Q c.3.Q -o out --ensemble e.npz";
    survives(&place, "align", align, "--force", &["e.npz"]);
    let place = Workplace::new();
    write_labels(&place, "e.parquet", 9000);
    place.run("manifest e.parquet -o m.json").fine();
    survives(
        &place,
        "fold",
        "fold m.json -m acv -k 4 -o fit",
        "",
        &["fit/round1.job"],
    );
    let pass = "pass m.json --job fit/round1.job --part 0";
    survives(&place, "pass", pass, "", &["fit/round1.0.sum"]);
}

/// What `generate` had finished before a kill is not made again.
#[test]
fn finished_base_clusterings_outlive_twenty_kills() {
    let place = Workplace::new();
    let command = format!(
        "generate {} --label label --base kmeans:15,average:2,splits:60 --seed 7 -o",
        shipped("digits.csv")
    );
    let begun = Instant::now();
    place.run(&format!("{command} whole.npz")).fine();
    let mut whole = begun.elapsed();
    let mut interrupted = 0;
    for kill in 0..20 {
        let delay = whole.mul_f64((f64::from(kill) * 0.618_034).fract() * 1.05);
        let mut child = place.start(&format!("{command} killed.npz"));
        sleep(delay);
        child.kill().expect("a child");
        child.wait().expect("a child");
        let finished = records(&place);
        let was_whole = place.path("killed.npz").exists();
        let resumed = place.run(&format!("{command} killed.npz --resume --json"));
        if was_whole {
            assert!(
                resumed.stderr.contains("nothing left to do"),
                "{}",
                resumed.stderr
            );
            whole = whole.mul_f64(0.8);
        } else {
            let resumed = resumed.json()["resumed"].as_u64().expect("a number");
            assert_eq!(
                resumed, finished,
                "what was finished before kill {kill} is not made again"
            );
            interrupted += u64::from(resumed > 0);
            whole = whole.mul_f64(if resumed == 0 { 1.25 } else { 1.0 });
        }
        assert!(
            place.read("killed.npz") == place.read("whole.npz"),
            "kill {kill} after {delay:?}"
        );
        assert!(!place.path("killed.npz.part").exists());
        fs::remove_file(place.path("killed.npz")).expect("an ensemble");
    }
    assert!(
        interrupted >= 5,
        "{interrupted} of 20 kills fell into the work"
    );
}

/// Whole records of the part file: each says its length, and a check of 8 bytes follows.
fn records(place: &Workplace) -> u64 {
    let bytes = fs::read(place.path("killed.npz.part")).unwrap_or_default();
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
fn a_killed_run_goes_on() {
    let place = Workplace::new();
    let run = format!(
        "run {} --truth label -k 10 --base kmeans:60 --no-report -o",
        shipped("digits.csv")
    );
    place.run(&format!("{run} whole")).fine();
    let mut child = place.start(&format!("{run} out"));
    place.wait_for("out/ensemble.npz.part", 10_000);
    child.kill().expect("a child");
    child.wait().expect("a child");
    place
        .run(&format!("{run} out"))
        .refused(&["holds something already"]);
    let other = format!("{run} out --resume --seed 5");
    place
        .run(&other)
        .refused(&["ensemble.npz.part", "other work"]);
    let resumed = place.run(&format!("{run} out --resume"));
    assert!(
        resumed.stderr.contains("base clusterings are from before"),
        "{}",
        resumed.stderr
    );
    for file in ["labels.csv", "ensemble.npz"] {
        assert!(
            place.read(&format!("out/{file}")) == place.read(&format!("whole/{file}")),
            "{file}"
        );
    }
    assert!(!place.path("out/ensemble.npz.part").exists());
    let again = place.run(&format!("{run} out --resume"));
    assert!(
        again.stderr.contains("nothing left to do"),
        "{}",
        again.stderr
    );
    place.run(&other).refused(&["record.json", "another run"]);
}

#[test]
fn ctrl_c_keeps_the_finished_base_clusterings() {
    let place = Workplace::new();
    let mut child = place.start(&format!(
        "run {} --label label -k 10 --base kmeans:15000 -o out",
        shipped("digits.csv")
    ));
    // However slow the machine, something is finished once there is a line of progress.
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"))
        .lines()
        .map(Result::unwrap);
    assert!(
        said.any(|line| is_progress(&line)),
        "it ended before any progress was shown"
    );
    let asked = Instant::now();
    // What Ctrl-C sends.
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("a shell command").success());
    while child.try_wait().expect("a child").is_none() && asked.elapsed() < Duration::from_mins(2) {
        sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let stderr: Vec<String> = said.collect();
    assert_eq!(
        child.wait().expect("a child").code(),
        Some(130),
        "{stderr:?}"
    );
    assert!(
        stderr.iter().any(|line| line.contains("base clusterings")),
        "{stderr:?}"
    );
    let facts = place.run("inspect out/ensemble.npz --json").json();
    let finished = facts["base_clusterings"].as_u64().expect("a number");
    assert!((1..15_000).contains(&finished), "{finished}");
    assert_eq!(facts["objects"], 1797);
    place
        .run("consensus out/ensemble.npz -k 10 -o l.csv")
        .fine();
    let known = "labels.csv soft.csv ensemble.npz ensemble.npz.part record.json report.html summary.txt l.csv";
    let is_known = |file: &String| known.split(' ').any(|name| file.ends_with(name));
    assert!(place.files().iter().all(is_known), "{:?}", place.files());
}

/// A limit on the size of files, in kilobytes, fails writes as a full disk does, and needs no rights.
fn limited(place: &Workplace, kilobytes: u32, arguments: &str) -> Ended {
    place.shell(&format!(
        "trap '' XFSZ; ulimit -f {kilobytes}; exec partita {arguments}"
    ))
}

#[test]
fn a_disk_that_fills_up_leaves_the_old_files_and_no_other() {
    let place = Workplace::new();
    write_labels(&place, "e.npz", 9000);
    write_labels(&place, "e.parquet", 9000);
    place.file("t.csv", three_groups(3000));
    place
        .run("consensus e.npz -m mm -k 4 --model old.json -o old.csv")
        .fine();
    let before = place.files();
    let mut refused = 0;
    let mut wrote = 0;
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
                .filter(|line| line.starts_with("error: "));
            assert_eq!(
                errors.count(),
                usize::from(!whole),
                "{arguments} in {kilobytes} kB: {}",
                ended.stderr
            );
            let left = place.files();
            assert!(
                !left.iter().any(|file| file.contains(".partita-")),
                "{arguments} in {kilobytes} kB: {left:?}"
            );
            refused += u32::from(!whole);
            wrote += u32::from(whole);
            clear(&place, &before);
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

/// A full disk is not the fault of the input: exit code 1, and finished base clusterings stay.
#[test]
fn a_full_disk_is_a_failure() {
    const MAY_NOT_MOUNT: i32 = 77;
    let place = Workplace::new();
    let digits = shipped("digits.csv");
    let run = format!("run {digits} --label label --base kmeans:30 -k 10");
    limited(&place, 8, &format!("{run} -o out")).failed(&["ensemble.npz"]);
    assert!(
        place
            .files()
            .iter()
            .all(|file| file == "out/ensemble.npz.part"),
        "{:?}",
        place.files()
    );
    // The file that finished base clusterings are kept in meets the full disk first.
    limited(
        &place,
        4,
        &format!("generate {digits} --label label --base kmeans:20 -o e.npz"),
    )
    .failed(&["e.npz.part"]);
    let full = File::options()
        .write(true)
        .open("/dev/full")
        .expect("a device of Linux");
    let output = place.command(&["methods"]).stdout(full).output();
    Ended::of(output.expect("the binary")).failed(&["stdout", "No space left"]);
    // A file system of 16 kB, where this user may mount one.
    let small = format!(
        "unshare --mount bash -c 'mkdir small && mount -t tmpfs -o size=16k tmpfs small || exit {MAY_NOT_MOUNT}; \
         partita {run} -o small/out; code=$?; find small -type f ! -name \"*.part\"; exit $code'"
    );
    let ended = place.shell(&small);
    if ended.code != Some(MAY_NOT_MOUNT) && !ended.stderr.contains("unshare") {
        ended.failed(&["ensemble.npz", "No space left"]);
    }
}

#[test]
fn inputs_that_are_cut_short_or_vanish_are_errors_of_one_line() {
    let place = Workplace::new();
    let mut refused = 0;
    for name in ["e.npz", "e.parquet"] {
        write_labels(&place, name, 500);
        let bytes = place.read(name);
        let cut = format!("cut-{name}");
        for part in 1..8 {
            place.file(&cut, &bytes[..bytes.len() * part / 8]);
            place
                .run(&format!("consensus {cut} -k 4 -m lwgp -o no.csv"))
                .refused(&[&cut]);
            refused += 1;
        }
    }
    // A pipe with a name is not waited for.
    let pipe = "mkfifo pipe.csv; exec timeout -s KILL 60 partita consensus pipe.csv -k 4 -m lwgp -o no.csv";
    place.shell(pipe).refused(&["pipe.csv", "standard input"]);
    // A file that shrinks or goes after its manifest was written.
    place.run("manifest e.parquet -o m.json").fine();
    let bytes = place.read("e.parquet");
    place.file("e.parquet", &bytes[..bytes.len() / 2]);
    place
        .run("consensus m.json -k 4 -m lwgp -o no.csv")
        .refused(&["e.parquet"]);
    fs::remove_file(place.path("e.parquet")).expect("a file");
    place
        .run("consensus m.json -k 4 -m lwgp -o no.csv")
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
    let child = place.start(&format!(
        "generate {} --truth label --base kmeans:60 -o there/e.npz",
        shipped("digits.csv")
    ));
    place.wait_for("there/e.npz.part", 1);
    fs::remove_dir_all(place.path("there")).expect("a folder with a checkpoint");
    let ended = Ended::of(child.wait_with_output().expect("a child"));
    assert!(
        matches!(ended.code, Some(1 | 2)),
        "{:?} {}",
        ended.code,
        ended.stderr
    );
    let errors = ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "));
    assert_eq!(errors.count(), 1, "{}", ended.stderr);
    told(
        "the folder of the output is removed while it works | 1 of 1 failed | one line, exit code 1 or 2 | 0 temporary files",
    );
}

/// Of two processes that make the same base clusterings one is refused; two that write the same labels both write them whole.
#[test]
fn two_processes_with_one_output_do_not_mix() {
    let place = Workplace::new();
    let command = format!(
        "generate {} --truth label --base kmeans:60 -o e.npz",
        shipped("digits.csv")
    );
    let first = place.start(&command);
    place.wait_for("e.npz.part", 1);
    let second = place.run(&format!("{command} --resume"));
    Ended::of(first.wait_with_output().expect("a child")).fine();
    // The other is refused, unless it began after the end of the first.
    if second.code != Some(0) {
        second.refused(&["e.npz", "another process"]);
    }
    let expected = place.read("e.npz");
    fs::remove_file(place.path("e.npz")).expect("an ensemble");
    place.run(&command).fine();
    assert!(place.read("e.npz") == expected);
    assert_eq!(place.files(), ["e.npz"]);
    let consensus = "consensus e.npz -m lwgp -k 10 -o l.csv --force";
    for mut child in [place.start(consensus), place.start(consensus)] {
        assert!(child.wait().expect("a child").success());
    }
    let found = place.read("l.csv");
    place.run(consensus).fine();
    assert!(place.read("l.csv") == found);
    assert_eq!(place.files(), ["e.npz", "l.csv"]);
    told(
        "two processes with one output | a checkpoint: the second is refused; labels: both write them whole | same bytes | 0 temporary files",
    );
}

/// Times of files before 1970 and far ahead, as clocks that jump leave them.
#[test]
fn times_of_files_may_be_anything() {
    let place = Workplace::new();
    write_labels(&place, "e.parquet", 300);
    place
        .run("consensus e.parquet -m mm -k 4 --model m.json -o l.csv")
        .fine();
    let day = Duration::from_hours(24);
    let mut labels = Vec::new();
    for time in [
        SystemTime::UNIX_EPOCH - 20_000 * day,
        SystemTime::UNIX_EPOCH,
        SystemTime::UNIX_EPOCH + 200_000 * day,
    ] {
        for file in ["e.parquet", "m.json", "l.csv"] {
            let opened = File::options()
                .write(true)
                .open(place.path(file))
                .expect("a file of ours");
            opened.set_modified(time).expect("a file system with times");
        }
        place
            .run("manifest e.parquet -o manifest.json --force")
            .fine();
        place
            .run("consensus manifest.json -m mm -k 4 -o again.csv --force")
            .fine();
        place.run("inspect m.json --json").json();
        place
            .run("predict m.json e.parquet -o p.csv --force")
            .fine();
        labels.push(place.read("again.csv"));
    }
    assert!(labels[0] == labels[1] && labels[0] == labels[2]);
    told(
        "times of files in 1915, 1970 and 2517 | 12 of 12 commands fine | same bytes | 0 temporary files",
    );
}
