//! Running a target many times on mutated inputs: what panics, hangs or breaks a guarantee is kept once a place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Once;
use std::time::{Duration, Instant};

use partita::Seed;
use rand::{Rng, RngExt};

use crate::mutation::mutated;
use crate::{PATIENCE, Target};

/// Executions of a target.
#[derive(Clone, Debug)]
pub struct Campaign {
    target: &'static Target,
    seed: u64,
    executions: Option<u64>,
    time: Option<Duration>,
    last: Option<PathBuf>,
}

/// What a campaign found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Executions that were made.
    pub executions: u64,
    /// The longest of them.
    pub longest: Duration,
    /// One input for every place that failed.
    pub failures: Vec<Failure>,
}

/// An input that breaks a guarantee.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// The message of the panic and its place, or that it took too long.
    pub what: String,
    /// The input.
    pub input: Vec<u8>,
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}; on {} bytes: {}",
            self.what,
            self.input.len(),
            self.input.escape_ascii()
        )
    }
}

impl Campaign {
    /// A campaign of the seeds alone, in an order of mutations that `seed` fixes.
    pub fn new(target: &'static Target, seed: u64) -> Self {
        Self {
            target,
            seed,
            executions: None,
            time: None,
            last: None,
        }
    }

    /// The same with at least so many executions.
    #[must_use]
    pub fn executions(mut self, executions: u64) -> Self {
        self.executions = Some(executions);
        self
    }

    /// The same for so long.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Every input is written here before it is run, so that one that ends the process can be found.
    #[must_use]
    pub fn keep_last(mut self, path: PathBuf) -> Self {
        self.last = Some(path);
        self
    }

    /// Runs seeds, findings and mutations on one thread.
    pub fn run(&self) -> Report {
        hear_panics();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a pool of one thread");
        pool.install(|| self.run_here())
    }

    fn run_here(&self) -> Report {
        let begun = Instant::now();
        let mut pool = (self.target.seeds)();
        pool.extend(self.target.found());
        let (mut report, mut failures) = (Report::default(), BTreeMap::new());
        let mut rng = Seed::new(self.seed).rng();
        let first = pool.len() as u64;
        loop {
            let more = self.executions.is_some_and(|most| report.executions < most)
                || self.time.is_some_and(|time| begun.elapsed() < time);
            if report.executions >= first && !more {
                break;
            }
            let input = match pool.get(report.executions as usize) {
                Some(input) if report.executions < first => input.clone(),
                _ => Self::next(&mut pool, first as usize, &mut rng),
            };
            let (took, failed) = self.execute(&input);
            report.longest = report.longest.max(took);
            report.executions += 1;
            if let Some(what) = failed {
                failures
                    .entry(kind(&what))
                    .or_insert(Failure { what, input });
            }
        }
        report.failures = failures.into_values().collect();
        report
    }

    /// A mutation. Some replace inputs that were mutated before, so that changes add up.
    fn next(pool: &mut Vec<Vec<u8>>, first: usize, rng: &mut impl Rng) -> Vec<u8> {
        const MOST: usize = 256;
        let [one, other] = [(); 2].map(|()| rng.random_range(0..pool.len()));
        let input = mutated(&pool[one], &pool[other], rng);
        if rng.random_bool(0.05) {
            if pool.len() < first + MOST {
                pool.push(input.clone());
            } else {
                let at = first + rng.random_range(0..MOST);
                pool[at].clone_from(&input);
            }
        }
        input
    }

    fn execute(&self, input: &[u8]) -> (Duration, Option<String>) {
        if let Some(path) = &self.last {
            std::fs::write(path, input).expect("room for the last input");
        }
        let run = || {
            let begun = Instant::now();
            let ended = panic::catch_unwind(AssertUnwindSafe(|| (self.target.run)(input)));
            (ended, begun.elapsed())
        };
        let (mut ended, mut took) = run();
        // What other work on the machine slowed down is quicker another time.
        for _ in 0..4 {
            if ended.is_ok() && took > PATIENCE {
                let (again, shorter) = run();
                (ended, took) = (again, took.min(shorter));
            }
        }
        let heard = LAST_PANIC.take();
        let slow = || (took > PATIENCE).then(|| format!("took longer than {PATIENCE:?}"));
        (
            took,
            ended
                .err()
                .map(|_| heard.unwrap_or_else(|| "a panic".into()))
                .or_else(slow),
        )
    }
}

thread_local! {
    /// The place and the message of the last panic of this thread.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps messages of panics; those of threads that have a name, as tests have, are printed too.
fn hear_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let printed = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().name().is_some() {
                printed(info);
            }
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let words = info.payload_as_str().unwrap_or("a panic");
            LAST_PANIC.set(Some(format!("{place}: {words}")));
        }));
    });
}

/// What two failures of the same kind have in common: no numbers, and not the end of a long message.
fn kind(what: &str) -> String {
    what.chars()
        .filter(|c| !c.is_ascii_digit())
        .take(120)
        .collect()
}
