//! Allocations of a command fail, one in a run: the process ends with exit code 1 and a message, and leaves nothing. This program is the
//! command line with an allocator that counts and refuses, and runs itself.
#![cfg(unix)]
#![expect(
    unsafe_code,
    reason = "a global allocator that refuses is unsafe by its trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Refuses one allocation.
struct Refusing;

static ASKED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(u64::MAX);

fn is_refused() -> bool {
    ASKED.fetch_add(1, Relaxed) == REFUSED.load(Relaxed)
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
        let refused = std::env::var(REFUSE)
            .ok()
            .and_then(|text| text.parse().ok());
        let arguments: Vec<_> = std::env::args_os().collect();
        ASKED.store(0, Relaxed);
        REFUSED.store(refused.unwrap_or(u64::MAX), Relaxed);
        let code = partita_cli::run(arguments);
        let asked = ASKED.load(Relaxed);
        fs::write(count, asked.to_string()).expect("a file beside the work");
        return ExitCode::from(code);
    }
    for line in COMMANDS {
        every_allocation_fails(line);
    }
    ExitCode::SUCCESS
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

fn run(place: &Path, line: &str, refused: Option<u64>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(line.split(' ')).current_dir(place);
    command.env(COUNT, place.join("count"));
    command.env("TMPDIR", place).env_remove(REFUSE);
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
    let count = fs::read_to_string(whole.path().join("count"));
    let count: u64 = count.expect("a count").parse().expect("a number");
    let refusals = std::env::var(REFUSALS).ok();
    let refusals: u64 = refusals.and_then(|text| text.parse().ok()).unwrap_or(24);
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
