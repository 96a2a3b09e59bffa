//! What a user may rely on beside the numbers: memory, signals, terminals, private data, sets of files, paths of any bytes.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ended, Workplace, shipped, three_groups};

const ENSEMBLE: &str = "object,a,b,c\no1,0,0,1\no2,0,0,1\no3,1,1,0\no4,1,1,0\no5,1,0,0\n";

fn place() -> Workplace {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    place
}

/// Sends a signal to a process.
fn send(signal: &str, process: u32) {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(sent.expect("a shell command").success());
}

#[test]
fn signals_that_the_parent_ignores_stay_ignored() {
    let place = Workplace::new();
    let digits = shipped("digits.csv");
    let work = |ignored: &str, output: &str| {
        let line = format!(
            "trap '' {ignored}; exec {} generate {digits} --truth label --base kmeans:300 -o {output}",
            crate::common::binary().display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &line]).current_dir(place.path(""));
        let child = shell.stderr(Stdio::piped()).spawn().expect("a shell");
        place.wait_for(&format!("{output}.part"), 1);
        child
    };
    let child = work("HUP INT", "e.npz");
    send("-HUP", child.id());
    send("-INT", child.id());
    Ended::of(child.wait_with_output().expect("a child")).fine();
    // What is not ignored is heard.
    let child = work("HUP", "f.npz");
    send("-HUP", child.id());
    send("-TERM", child.id());
    let ended = Ended::of(child.wait_with_output().expect("a child"));
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
}

#[test]
fn paths_of_any_bytes_work() {
    let place = Workplace::new();
    let name = |text: &[u8]| OsStr::from_bytes(text).to_owned();
    let (table, out) = (name(b"t\xff.csv"), name(b"out\xfe"));
    fs::write(place.path("").join(&table), three_groups(60)).expect("a file");
    let partita = |arguments: &[&OsStr]| {
        let mut command = place.command(&[]);
        Ended::of(command.args(arguments).output().expect("the built binary"))
    };
    let word = OsStr::new;
    partita(&[
        word("run"),
        &table,
        word("--truth"),
        word("kind"),
        word("-k"),
        word("3"),
        word("-o"),
        &out,
    ])
    .fine();
    let record = place.path("").join(&out).join("record.json");
    partita(&[word("inspect"), record.as_os_str(), word("--json")]).json();
    let again = [
        word("run"),
        word("--from"),
        record.as_os_str(),
        word("-o"),
        word("again"),
    ];
    partita(&again).fine();
    let labels = fs::read(place.path("").join(&out).join("labels.csv")).expect("labels");
    assert!(labels == place.read("again/labels.csv"));
    let (ensemble, own) = (name(b"e\xff.csv"), name(b"l\xff.csv"));
    fs::write(place.path("").join(&ensemble), ENSEMBLE).expect("a file");
    partita(&[
        word("consensus"),
        &ensemble,
        word("-k"),
        word("2"),
        word("-o"),
        &own,
    ])
    .fine();
    partita(&[
        word("choose-k"),
        &table,
        word("--truth"),
        word("kind"),
        word("-k"),
        word("2..3"),
    ])
    .fine();
    partita(&[word("inspect"), &ensemble, word("--json")]).json();
}

#[test]
fn text_of_files_does_not_act_on_a_terminal() {
    let place = Workplace::new();
    let nasty = "\u{1b}]0;own\u{7}\u{202e}x\u{9b}31m";
    let acts = |text: &str| text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}']);
    place.file("e.csv", ENSEMBLE.replace(",a,", &format!(",a{nasty},")));
    let commands = [
        "inspect e.csv".to_owned(),
        "inspect e.csv --json".to_owned(),
        "modes e.csv".to_owned(),
        format!("inspect gone{nasty}.csv"),
        format!("consensus e.csv -k 2 --skip no{nasty}"),
        format!("consensus e.csv -k 2 --truth a{nasty} -o {nasty}.csv --json"),
    ];
    for command in commands {
        let ended = place.run(&command);
        assert!(
            !acts(&ended.stdout) && !acts(&ended.stderr),
            "{command}: {ended:?}"
        );
        assert!(
            ended.stdout.contains("\\u") || ended.stderr.contains("\\u"),
            "{command}: {ended:?}"
        );
    }
    place.run("inspect e.csv --json").json();
}

#[test]
fn standard_input_is_private() {
    let place = Workplace::new();
    fs::create_dir(place.path("tmp")).expect("a folder");
    let mut command = place.command(&["consensus", "-", "-k", "2"]);
    command
        .env("TMPDIR", place.path("tmp"))
        .stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&vec![b'a'; 1 << 17]).expect("it reads");
    let spooled = || {
        let folder = fs::read_dir(place.path("tmp"))
            .ok()?
            .flatten()
            .next()?
            .path();
        let mode = fs::metadata(&folder).ok()?.permissions().mode() & 0o777;
        let file = fs::read_dir(&folder).ok()?.flatten().next()?.path();
        Some((mode, file))
    };
    let begun = Instant::now();
    while spooled().is_none() && begun.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (mode, file) = spooled().expect("a folder for standard input");
    assert_eq!(mode, 0o700);
    // On Linux the folder holds a way to an open file of the process, which has no name.
    let own = fs::read_link(&file).map(|to| {
        let process = format!("/proc/{}", child.id());
        to.display().to_string().replace("/proc/self", &process)
    });
    let open = own.map_or(file.clone(), Into::into);
    let found = fs::metadata(&open).expect("what stands for standard input");
    assert!(found.is_file() && found.permissions().mode().trailing_zeros() >= 6);
    child.kill().expect("a child");
    child.wait().expect("a child");
    if cfg!(target_os = "linux") {
        assert!(file.is_symlink() && !open.exists(), "a kill leaves nothing");
    }
    let ended = place.shell("printf 'a,b\\n1,\"2\\n' | partita consensus - -k 2");
    ended.refused(&["error: -: "]);
}

#[test]
fn wrong_input_is_never_the_fault_of_the_machine() {
    let place = place();
    let zst = [b"\x28\xb5\x2f\xfd".as_slice(), &[0xff; 40]].concat();
    place.file("bad.csv.zst", zst);
    place
        .run("consensus bad.csv.zst -k 2")
        .refused(&["bad.csv.zst", "damaged"]);
    place.file("bad.json", b"{\"record_version\": \"\xff\"}");
    place.run("inspect bad.json").refused(&["bad.json", "JSON"]);
    place.file(
        "long.csv",
        [b"a,b\n\"".as_slice(), &vec![b'x'; 20 << 20]].concat(),
    );
    place
        .run("inspect long.csv --max-memory 64MiB")
        .refused(&["long.csv", "longer than"]);
}

/// Address space that is limited stands for memory: what takes more ends by an abort.
#[test]
fn readers_keep_to_the_memory_that_is_allowed() {
    let place = Workplace::new();
    let megabytes = 48;
    let whole = |pattern: &[u8]| pattern.repeat((megabytes << 20) / pattern.len());
    place.file(
        "newlines.csv",
        [b"a,b\n".as_slice(), &whole(b"\n"), b"1,2\n3,4\n"].concat(),
    );
    place.file("commas.csv", [&whole(b","), b"\n1\n".as_slice()].concat());
    place.file(
        "lists.json",
        [b"[".as_slice(), &whole(b"[],"), b"[]]"].concat(),
    );
    let limited = |arguments: &str| {
        place.shell(&format!(
            "ulimit -v 700000; exec partita {arguments} --threads 1 --max-memory 200MiB"
        ))
    };
    for command in ["inspect", "consensus -k 2"] {
        limited(&format!("{command} newlines.csv")).fine();
        limited(&format!("{command} commas.csv")).refused(&["commas.csv", "--max-memory"]);
    }
    limited("inspect lists.json").refused(&["needs", "--max-memory"]);
    let ended = place.shell(
        "ulimit -v 700000; partita inspect - --threads 1 --max-memory 200MiB --json < newlines.csv",
    );
    assert_eq!(ended.json()["objects"], 2);
}

#[test]
fn a_record_without_its_inputs_is_refused() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(60));
    place
        .run("run t.csv --truth kind -k 3 --base kmeans:5 --no-report -o out")
        .fine();
    let mut record: serde_json::Value =
        serde_json::from_str(&place.text("out/record.json")).expect("a record");
    record["inputs"] = serde_json::json!([]);
    place.file("bare.json", record.to_string());
    place
        .run("run --from bare.json -o again")
        .refused(&["t.csv", "SHA-256"]);
    place
        .run("run --from bare.json -o again --allow-changed-input")
        .fine();
}

#[test]
fn files_that_are_replaced_keep_their_permissions() {
    let place = place();
    for mode in [0o600, 0o664] {
        place.file("l.csv", "old");
        fs::set_permissions(place.path("l.csv"), PermissionsExt::from_mode(mode)).expect("ours");
        place.run("consensus e.csv -k 2 -o l.csv --force").fine();
        let found = fs::metadata(place.path("l.csv"))
            .expect("labels")
            .permissions();
        assert_eq!(found.mode() & 0o777, mode);
    }
}

#[test]
fn outputs_that_meet_through_links_to_nothing_are_refused() {
    let place = place();
    symlink("l.csv", place.path("link.csv")).expect("a link");
    symlink("link.csv", place.path("second.csv")).expect("a link");
    let command = "consensus e.csv -k 2 -m mm -o l.csv --soft second.csv";
    place.run(command).refused(&["two outputs"]);
    place.run("consensus e.csv -k 2 -o second.csv").fine();
    assert!(place.path("l.csv").is_file() && place.path("second.csv").is_symlink());
}

/// The labels of a set whose record does not fit on the disk are not written either.
#[test]
fn a_set_that_fails_leaves_nothing() {
    let place = place();
    place.run("consensus e.csv -k 2 -o whole/").fine();
    let (labels, record) = (
        place.read("whole/labels.csv"),
        place.read("whole/record.json"),
    );
    assert!(labels.len() < 1024 && record.len() > 1024);
    let limited = "trap '' XFSZ; ulimit -f 1; partita consensus e.csv -k 2 --no-report -o out/";
    place.shell(limited).failed(&["record.json"]);
    let left: Vec<String> = place
        .files()
        .into_iter()
        .filter(|file| file.starts_with("out"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Two runs into one new folder: what is there is all of one of them, and who was late hears of it.
#[test]
fn runs_into_one_folder_do_not_mix() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(90));
    let run = |clusters: usize, folder: &str| {
        format!("run t.csv --truth kind -k {clusters} --base kmeans:9 --no-report -o {folder}")
    };
    let expected: Vec<Vec<u8>> = [2, 3]
        .map(|clusters| {
            let folder = format!("whole{clusters}");
            place.run(&run(clusters, &folder)).fine();
            place.read(&format!("{folder}/labels.csv"))
        })
        .to_vec();
    let mut refused = 0;
    for race in 0..12 {
        let folder = format!("race{race}");
        let both = [2, 3].map(|clusters| {
            std::thread::sleep(Duration::from_millis(5 * (race % 4)));
            place.start(&run(clusters, &folder))
        });
        let ended = both.map(|child| Ended::of(child.wait_with_output().expect("a child")));
        assert!(ended.iter().any(|ended| ended.code == Some(0)), "{ended:?}");
        refused += ended.iter().filter(|ended| ended.code == Some(2)).count();
        let record: serde_json::Value =
            serde_json::from_str(&place.text(&format!("{folder}/record.json"))).expect("a record");
        let clusters = record["clusters"].as_u64().expect("a number") as usize;
        assert!(
            place.read(&format!("{folder}/labels.csv")) == expected[clusters - 2],
            "race {race}"
        );
        let strange = place
            .files()
            .into_iter()
            .find(|file| file.contains(".part"));
        assert_eq!(strange, None, "race {race}");
    }
    assert!(refused > 0, "{refused} of 12 races");
}
