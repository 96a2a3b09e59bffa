//! A full disk and Ctrl-C: what was finished stays, and no file is cut short.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Ended, Workplace, is_progress, shipped};

#[test]
fn ctrl_c_keeps_the_finished_base_clusterings() {
    let place = Workplace::new();
    let digits = shipped("digits.csv");
    let arguments = [
        "run",
        &digits,
        "--label",
        "label",
        "-k",
        "10",
        "--base",
        "kmeans:15000",
        "-o",
        "out",
    ];
    let mut child = place
        .command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // However slow the machine, something is finished once there is a line of progress.
    let mut said = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(
        said.any(|line| is_progress(&line)),
        "it ended before any progress was shown"
    );
    let asked = Instant::now();
    signal(child.id());
    while child.try_wait().unwrap().is_none() && asked.elapsed() < Duration::from_mins(2) {
        sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let stderr: Vec<String> = said.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr:?}");
    assert!(
        stderr.iter().any(|line| line.contains("base clusterings")),
        "{stderr:?}"
    );

    let facts = place
        .partita(&["inspect", "out/ensemble.npz", "--json"])
        .json();
    let finished = facts["base_clusterings"].as_u64().unwrap();
    assert!((1..15_000).contains(&finished), "{finished}");
    assert_eq!(facts["objects"], 1797);
    place
        .partita(&["consensus", "out/ensemble.npz", "-k", "10", "-o", "l.csv"])
        .fine();
    let known = [
        "labels.csv",
        "soft.csv",
        "ensemble.npz",
        "ensemble.npz.part",
        "record.json",
        "report.html",
        "summary.txt",
        "l.csv",
    ];
    assert!(
        place
            .files()
            .iter()
            .all(|file| known.iter().any(|name| file.ends_with(name))),
        "{:?}",
        place.files()
    );
}

/// What Ctrl-C sends.
fn signal(process: u32) {
    let sent = Command::new("kill")
        .args(["-INT", &process.to_string()])
        .status()
        .expect("a shell command");
    assert!(sent.success());
}

/// A limit on the size of files fails writes as a full disk does, and needs no rights.
#[test]
fn a_write_that_fails_leaves_nothing_half_written() {
    let place = Workplace::new();
    let limited = format!("trap '' XFSZ; ulimit -f 8; exec {} -o out", run_digits());
    let output = Command::new("bash")
        .args(["-c", &limited])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    Ended::of(output).failed(&["ensemble.npz"]);
    assert!(
        place
            .files()
            .iter()
            .all(|file| file == "out/ensemble.npz.part"),
        "{:?}",
        place.files()
    );
}

/// The file that finished base clusterings are kept in meets the full disk first.
#[test]
fn a_checkpoint_that_cannot_be_written_is_not_the_fault_of_the_input() {
    let place = Workplace::new();
    let partita = assert_cmd::cargo::cargo_bin!("partita")
        .display()
        .to_string();
    let generate = format!(
        "{partita} generate {} --label label --base kmeans:20 -o e.npz",
        shipped("digits.csv")
    );
    let limited = format!("trap '' XFSZ; ulimit -f 4; exec {generate}");
    let output = Command::new("bash")
        .args(["-c", &limited])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    Ended::of(output).failed(&["e.npz.part"]);
    place
        .partita(&[
            "generate",
            &shipped("digits.csv"),
            "--label",
            "label",
            "-o",
            "no/e.npz",
        ])
        .refused(&["no/e.npz"]);
}

/// A file system of 16 kB, where this user may mount one.
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    const MAY_NOT_MOUNT: i32 = 77;
    let place = Workplace::new();
    let script = format!(
        "mkdir small && mount -t tmpfs -o size=16k tmpfs small || exit {MAY_NOT_MOUNT}; \
         {} -o small/out; code=$?; find small -type f ! -name '*.part'; exit $code",
        run_digits()
    );
    let unshared = Command::new("unshare")
        .args(["--mount", "bash", "-c", &script])
        .current_dir(place.path(""))
        .output();
    let Ok(ended) = unshared.map(Ended::of) else {
        return;
    };
    if ended.code != Some(MAY_NOT_MOUNT) && !ended.stderr.contains("unshare") {
        ended.failed(&["ensemble.npz", "No space left"]);
    }
}

/// A full device behind stdout is not the fault of the input either; a place that may not be written to is.
#[test]
#[cfg(target_os = "linux")]
fn exit_codes_tell_a_full_disk_from_a_wrong_place() {
    let place = Workplace::new();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let child = place
        .command(&["methods"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Ended::of(child.wait_with_output().unwrap()).failed(&["stdout", "No space left"]);
    let iris = shipped("iris.csv");
    place
        .partita(&[
            "generate", &iris, "--label", "label", "--base", "kmeans:3", "-o", "e.csv",
        ])
        .fine();
    place
        .partita(&[
            "consensus",
            "e.csv",
            "-k",
            "3",
            "--label",
            "label",
            "-o",
            "/dev/full",
            "--force",
        ])
        .failed(&["/dev/full"]);
    place
        .partita(&["consensus", "e.csv", "-k", "3", "-o", "no/l.csv"])
        .refused(&["no/l.csv"]);
}

/// A command that writes more than a few kilobytes.
fn run_digits() -> String {
    let partita = assert_cmd::cargo::cargo_bin!("partita")
        .display()
        .to_string();
    format!(
        "'{partita}' run '{}' --label label --base kmeans:30 -k 10",
        shipped("digits.csv")
    )
}
