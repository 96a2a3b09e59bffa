//! Schedules of faults: a seed says what befalls each command of a chain that makes ensembles, joins them and finds their consensus: it ends at
//! an allocation, is refused one, meets a full disk, finds a damaged input, or runs twice at once. Results are
//! then not there or have the bytes of the plain chain, and the same command, given again, writes these.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use partita::Seed;

use super::{END, REFUSE, REFUSED_CODES, command, count_of, files, number, place};

/// Schedules, and the seed of the first: `PARTITA_SCHEDULES=1 PARTITA_SEED=17` repeats one.
const SCHEDULES: &str = "PARTITA_SCHEDULES";
const SEED: &str = "PARTITA_SEED";

/// A command, what is added where it is given again, the files that it reads, and those that it writes.
struct Step {
    line: &'static str,
    again: &'static str,
    inputs: &'static [&'static str],
    results: &'static [&'static str],
}

const fn step(
    line: &'static str,
    again: &'static str,
    inputs: &'static [&'static str],
    results: &'static [&'static str],
) -> Step {
    Step {
        line,
        again,
        inputs,
        results,
    }
}

const STEPS: [Step; 11] = [
    step(
        "generate t.csv --truth kind --base kmeans:4 --threads 1 -o e.npz",
        " --resume",
        &["t.csv"],
        &["e.npz"],
    ),
    step(
        "generate t.csv --truth kind --base kmeans:4 --threads 1 --part 1/2 -o one",
        " --resume",
        &["t.csv"],
        &["one"],
    ),
    step(
        "generate t.csv --truth kind --base kmeans:4 --threads 1 --part 2/2 -o two",
        " --resume",
        &["t.csv"],
        &["two"],
    ),
    step(
        "merge one two -o m.npz",
        " --force",
        &["one", "two"],
        &["m.npz"],
    ),
    step(
        "run t.csv --truth kind -k 2 --base kmeans:4 --threads 1 -o out",
        " --resume",
        &["t.csv"],
        &["out/ensemble.npz", "out/labels.csv"],
    ),
    step(
        "consensus e.csv -k 2 --threads 1 -o l.csv",
        " --force",
        &["e.csv"],
        &["l.csv"],
    ),
    step(
        "update m.npz --add e.npz --as rows -o new.npz",
        " --force",
        &["e.npz", "m.npz"],
        &["new.npz"],
    ),
    step(
        "merge e.csv -o e.parquet",
        " --force",
        &["e.csv"],
        &["e.parquet"],
    ),
    step(
        "distributed plan e.parquet -o plan.json",
        " --force",
        &["e.parquet"],
        // It holds the time of the file, and so do jobs and sums; the labels at the end are compared.
        &[],
    ),
    step(
        "distributed merge plan.json -m lwgp -k 2 -o fit",
        "",
        &["plan.json"],
        &[],
    ),
    step(
        "distributed run plan.json --part all --job fit/round1.job",
        "",
        &["plan.json", "fit/round1.job", "e.parquet"],
        &[],
    ),
];

/// Parts of an ensemble grow where they stand: each is its own checkpoint.
const PARTS: [&str; 2] = ["one", "two"];

/// What befalls a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    None,
    Ends,
    Refused,
    FullDisk,
    Damage,
    Twice,
}

/// Numbers that a seed makes, one after the other.
struct Draw(Seed, u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        self.0.child(self.1).number() % bound.max(1)
    }
}

/// What the plain chain writes, and the allocations of its commands.
struct Plain {
    results: BTreeMap<&'static str, Vec<u8>>,
    labels: Vec<u8>,
    allocations: Vec<u64>,
}

impl Plain {
    fn new() -> Self {
        let place = place();
        let mut results = BTreeMap::new();
        let mut allocations = Vec::new();
        for step in &STEPS {
            let done = command(place.path(), step.line).output();
            let done = done.expect("this program");
            assert!(done.status.success(), "{}: {done:?}", step.line);
            allocations.push(count_of(place.path()));
            for &name in step.results {
                let bytes = fs::read(place.path().join(name));
                results.insert(name, bytes.expect("a result"));
            }
        }
        Self {
            results,
            labels: labels(place.path()),
            allocations,
        }
    }
}

/// What all rounds of the distributed consensus end in.
fn labels(folder: &Path) -> Vec<u8> {
    let [.., merge, run] = &STEPS;
    for _ in 0..99 {
        let merged = command(folder, merge.line).output().expect("this program");
        assert!(merged.status.success(), "{merged:?}");
        let said = String::from_utf8_lossy(&merged.stdout).into_owned();
        let job = said.split_whitespace().find(|word| word.contains(".job"));
        let Some(job) = job else { break };
        let line = run.line.replace("fit/round1.job", job);
        let ran = command(folder, &line).output().expect("this program");
        assert!(ran.status.success(), "{ran:?}");
    }
    let ended = files(&folder.join("fit")).into_iter();
    let mut labels = ended.filter(|(name, _)| name.contains("/labels."));
    labels.next().expect("labels of the part").1
}

/// Runs schedules, and says how many faults of each kind there were.
#[expect(clippy::print_stderr, reason = "the figures of docs/reliability.md")]
pub(super) fn run_all() {
    let plain = Plain::new();
    let first = number(SEED).unwrap_or(1);
    let schedules = number(SCHEDULES).unwrap_or(6);
    let mut faults: BTreeMap<Fault, u64> = BTreeMap::new();
    for seed in first..first + schedules {
        if let Err(wrong) = schedule(seed, &plain, &mut faults) {
            panic!("{SEED}={seed} {SCHEDULES}=1: {wrong}");
        }
    }
    eprintln!("{schedules} schedules from seed {first}: {faults:?}, all ended in the plain bytes");
}

fn schedule(seed: u64, plain: &Plain, faults: &mut BTreeMap<Fault, u64>) -> Result<(), String> {
    let place = place();
    let mut draw = Draw(Seed::new(seed), 0);
    for (step, &allocations) in STEPS.iter().zip(&plain.allocations) {
        let fault = match draw.below(10) {
            0 | 1 => Fault::Ends,
            2 => Fault::Refused,
            3 | 4 => Fault::FullDisk,
            5 | 6 => Fault::Damage,
            7 => Fault::Twice,
            _ => Fault::None,
        };
        *faults.entry(fault).or_default() += 1;
        let befallen = Befallen {
            folder: place.path(),
            step,
            plain,
        };
        let told = |wrong| format!("{fault:?}, {}: {wrong}", step.line);
        befallen.by(fault, allocations, &mut draw).map_err(told)?;
    }
    if labels(place.path()) == plain.labels {
        Ok(())
    } else {
        Err("the rounds end in other labels".into())
    }
}

/// Fails unless it ended well, or with one line that says why.
fn one_line(ended: &Output) -> Result<(), String> {
    let said = String::from_utf8_lossy(&ended.stderr);
    let errors = said.lines().filter(|line| line.starts_with("error: "));
    let fits = match ended.status.code() {
        Some(0) => true,
        Some(code) => REFUSED_CODES.contains(&code) && errors.count() == 1,
        None => false,
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{:?}: {said}", ended.status))
    }
}

/// A command that something befalls.
struct Befallen<'a> {
    folder: &'a Path,
    step: &'a Step,
    plain: &'a Plain,
}

impl Befallen<'_> {
    fn by(&self, fault: Fault, allocations: u64, draw: &mut Draw) -> Result<(), String> {
        let mut command = command(self.folder, self.step.line);
        match fault {
            Fault::None => {}
            Fault::Ends => {
                command.env(END, draw.below(allocations).to_string());
            }
            Fault::Refused => {
                command.env(REFUSE, draw.below(allocations).to_string());
            }
            Fault::FullDisk => {
                let line = format!(
                    "trap '' XFSZ; ulimit -f {}; exec \"$0\" {}",
                    draw.below(8),
                    self.step.line
                );
                command = super::shell(self.folder, &line);
            }
            Fault::Damage => return self.damaged(draw),
            Fault::Twice => {
                let other = super::command(self.folder, self.step.line).spawn();
                let ended = command.output();
                let other = other.and_then(std::process::Child::wait_with_output);
                one_line(&other.map_err(|error| error.to_string())?)?;
                one_line(&ended.map_err(|error| error.to_string())?)?;
                return self.done_again();
            }
        }
        let ended = command.output().map_err(|error| error.to_string())?;
        if fault != Fault::Ends {
            one_line(&ended)?;
        }
        self.done_again()
    }

    /// An input is cut short, loses a bit or is not there: the command is refused or takes it, and what it wrote is written again.
    fn damaged(&self, draw: &mut Draw) -> Result<(), String> {
        let inputs = self.step.inputs;
        let path = self
            .folder
            .join(inputs[draw.below(inputs.len() as u64) as usize]);
        let whole = fs::read(&path).map_err(|error| error.to_string())?;
        let mut bytes = whole.clone();
        let at = draw.below(bytes.len() as u64) as usize;
        match draw.below(3) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << draw.below(8),
            _ => bytes.clear(),
        }
        fs::write(&path, bytes).map_err(|error| error.to_string())?;
        let ended = command(self.folder, self.step.line).output();
        one_line(&ended.map_err(|error| error.to_string())?)?;
        fs::write(&path, whole).map_err(|error| error.to_string())?;
        // Labels of other inputs are right for those.
        for name in self.step.results {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let _ = fs::remove_dir_all(self.folder.join("out"));
        for name in self.step.results {
            let _ = fs::remove_file(self.folder.join(format!("{name}.part")));
        }
        self.done_again()
    }

    /// What is there is whole, and the command, given again, writes the plain bytes.
    fn done_again(&self) -> Result<(), String> {
        self.compare(false)?;
        let line = format!("{}{}", self.step.line, self.step.again);
        let again = command(self.folder, &line).output();
        let again = again.map_err(|error| error.to_string())?;
        if !again.status.success() {
            let said = String::from_utf8_lossy(&again.stderr);
            return Err(format!("again: {said}"));
        }
        self.compare(true)
    }

    fn compare(&self, all: bool) -> Result<(), String> {
        for (name, expected) in &self.plain.results {
            let own = self.step.results.contains(name);
            match fs::read(self.folder.join(name)) {
                Ok(_) if own && !all && PARTS.contains(name) => {}
                Ok(found) if found != *expected => {
                    return Err(format!("{name} has other bytes"));
                }
                Err(error) if own && all => return Err(format!("{name}: {error}")),
                _ => {}
            }
        }
        Ok(())
    }
}
