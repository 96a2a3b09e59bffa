//! Allocations of a command fail, one in a run: the process ends with exit code 1 and a message, and leaves nothing. This program is the
//! command line with an allocator that counts and refuses, and runs itself; `schedules` have it end at an allocation too.
#![cfg(unix)]
#![expect(
    unsafe_code,
    reason = "a global allocator that refuses is unsafe by its trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

mod schedules;

/// Refuses one allocation.
struct Refusing;

static ASKED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(u64::MAX);
static LAST: AtomicU64 = AtomicU64::new(u64::MAX);

unsafe extern "C" {
    /// Ends the process at once, as a kill does.
    safe fn _exit(code: i32) -> !;
}

fn is_refused() -> bool {
    let asked = ASKED.fetch_add(1, Relaxed);
    if asked == LAST.load(Relaxed) {
        _exit(137);
    }
    asked == REFUSED.load(Relaxed)
}

// SAFETY: what is not refused is handed on to the system's allocator.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused() {
            return null_mut();
        }
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_refused() {
            return null_mut();
        }
        // SAFETY: as the caller promised.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Which allocation of the command is refused, from 0 on.
const REFUSE: &str = "PARTITA_TEST_REFUSE";

/// At which allocation the process ends.
const END: &str = "PARTITA_TEST_END";

/// Exit codes of commands that are refused or fail.
const REFUSED_CODES: [i32; 2] = [1, 2];

/// Where the number of allocations is written.
const COUNT: &str = "PARTITA_TEST_COUNT";

/// Allocations of a command that fail, unless this variable says how many: `PARTITA_REFUSALS=100000` are all of them.
const REFUSALS: &str = "PARTITA_REFUSALS";

/// Commands, which write nothing but what is named after `-o`.
const COMMANDS: [&str; 7] = [
    "run t.csv --truth kind -k 2 --base kmeans:4 --threads 1 -o out",
    "consensus e.csv -k 2 --threads 1 -o labels.csv",
    "consensus e.csv -k 2 --method mm --threads 1 -o labels.npy",
    "choose-k t.csv --truth kind -k 2..3 --set criterion=rcsi --set runs=4 --set draws=0 --threads 1",
    "evaluate e.csv:a --ensemble e.csv",
    "inspect t.csv --threads 1 --json",
    "generate t.csv --truth kind --base kmeans:4 --threads 1 -o e.npz",
];

fn main() -> ExitCode {
    if let Some(count) = std::env::var_os(COUNT) {
        let (refused, last) = (number(REFUSE), number(END));
        let arguments: Vec<_> = std::env::args_os().collect();
        ASKED.store(0, Relaxed);
        REFUSED.store(refused.unwrap_or(u64::MAX), Relaxed);
        LAST.store(last.unwrap_or(u64::MAX), Relaxed);
        let code = partita_cli::run(arguments);
        let asked = ASKED.load(Relaxed);
        // Where files are limited there is no room.
        let _ = fs::write(count, asked.to_string());
        return ExitCode::from(code);
    }
    for line in COMMANDS {
        every_allocation_fails(line);
    }
    schedules::run_all();
    ExitCode::SUCCESS
}

/// The number in a variable of the environment.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// A folder with the inputs of all commands.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a temporary folder");
    let row = |i: usize| format!("{},{},{}\n", i % 2 * 9 + i % 3, i % 2 * 8 + i % 5, i % 2);
    let table: String = (0..40).map(row).collect();
    fs::write(place.path().join("t.csv"), format!("x,y,kind\n{table}")).expect("a file");
    let row = |i: usize| format!("o{i},{},{},{}\n", i % 2, usize::from(i > 5), i % 3);
    let labels: String = (0..12).map(row).collect();
    fs::write(
        place.path().join("e.csv"),
        format!("object,a,b,c\n{labels}"),
    )
    .expect("a file");
    place
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// This program as the command line, which says in `count` how often it allocated.
fn command(place: &Path, line: &str) -> Command {
    let mut command = Command::new(this_program());
    command.args(line.split(' '));
    inside(command, place)
}

/// A line of the shell in which `$0` is this program.
fn shell(place: &Path, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(this_program());
    inside(command, place)
}

fn inside(mut command: Command, place: &Path) -> Command {
    command.current_dir(place).env(COUNT, place.join("count"));
    command.env("TMPDIR", place).env_remove(REFUSE);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// How often the last command allocated.
fn count_of(place: &Path) -> u64 {
    let count = fs::read_to_string(place.join("count"));
    count.expect("a count").parse().expect("a number")
}

fn run(place: &Path, line: &str, refused: Option<u64>) -> Output {
    let mut command = command(place, line);
    if let Some(refused) = refused {
        command.env(REFUSE, refused.to_string());
    }
    command.output().expect("this program")
}

/// Names and bytes of all files below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.insert(path.display().to_string(), bytes);
        }
    }
    found
}

#[expect(clippy::print_stderr, reason = "the figures of docs/reliability.md")]
fn every_allocation_fails(line: &str) {
    let whole = place();
    let begun = run(whole.path(), line, None);
    assert!(begun.status.success(), "{line}: {begun:?}");
    let count = count_of(whole.path());
    let refusals = number(REFUSALS).unwrap_or(24);
    let mut codes: BTreeMap<i32, u64> = BTreeMap::new();
    let mut broken = Vec::new();
    for at in 0..refusals.min(count) {
        let refused = if refusals >= count {
            at
        } else {
            at * count / refusals
        };
        let place = place();
        let inputs = files(place.path());
        let ended = run(place.path(), line, Some(refused));
        let code = ended.status.code().unwrap_or(-1);
        *codes.entry(code).or_default() += 1;
        let said = String::from_utf8_lossy(&ended.stderr);
        let left: Vec<String> = files(place.path())
            .into_keys()
            .filter(|name| !inputs.contains_key(name) && !name.ends_with("/count"))
            // A checkpoint, with which `--resume` goes on.
            .filter(|name| !name.ends_with(".npz.part"))
            .collect();
        let clean = code == 1 && said.contains("error: ") && left.is_empty();
        // What can do without goes on, to the end.
        let fine = code == 0 && !said.contains("failed");
        if !(clean || fine) {
            broken.push(format!("{refused}: {code} {said} {left:?}"));
        }
    }
    eprintln!(
        "{line}: {count} allocations, {refusals} refused, exit codes {codes:?}, broken {}",
        broken.len()
    );
    assert!(broken.is_empty(), "{line}: {broken:#?}");
}
