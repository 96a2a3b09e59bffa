//! Every target on its inputs and on mutations of them: none panics, hangs, or gives what is not a result.
#![expect(clippy::print_stderr, reason = "an input that fails is said")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use partita::Seed;
use partita_fuzz::{TARGETS, Target};
use rand::{Rng, RngExt};

/// How long one execution may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Mutations of a target's inputs.
const MUTATIONS: u64 = 400;

/// Numbers at which lengths, counts and shifts go wrong.
const EDGES: [u64; 8] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX];

/// An input changed in one to four ways; `other` lends pieces.
fn mutated(input: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(1..=16)).min(bytes.len());
        let from = rng.random_range(0..=other.len());
        let piece = &other[from..(from + 64).min(other.len())];
        let edge = EDGES[rng.random_range(0..EDGES.len())];
        match rng.random_range(0..6) {
            0 => drop(bytes.splice(at..end, [rng.random()])),
            1 => bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= 1 << (edge % 8)),
            2 => drop(bytes.splice(at..end, piece.iter().copied())),
            3 => drop(bytes.splice(at..end, edge.to_string().into_bytes())),
            4 => drop(bytes.splice(at..end, edge.to_le_bytes())),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// Runs a target; what other work on the machine slowed down is quicker another time.
fn execute(target: &Target, input: &[u8]) {
    let name = target.name;
    for _ in 0..5 {
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        if let Err(panic) = ended {
            eprintln!("{name} failed on {}", input.escape_ascii());
            resume_unwind(panic);
        }
        if begun.elapsed() <= PATIENCE {
            return;
        }
    }
    panic!(
        "{name} takes longer than {PATIENCE:?} on {}",
        input.escape_ascii()
    );
}

fn holds(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("a target of this name");
    let inputs = target.inputs();
    assert!(!inputs.is_empty(), "{name} has no inputs to begin with");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one thread").install(|| {
        inputs.iter().for_each(|input| execute(target, input));
        for seed in 0..MUTATIONS {
            let mut rng = Seed::new(seed).rng();
            let [one, other] = [(); 2].map(|()| rng.random_range(0..inputs.len()));
            execute(target, &mutated(&inputs[one], &inputs[other], &mut rng));
        }
    });
}

/// A test for each target, so that they run beside each other and are named where they fail.
macro_rules! held {
    ($($name:ident)*) => {
        $(#[test] fn $name() { holds(stringify!($name)); })*

        #[test]
        fn every_target_is_run() {
            let run = [$(stringify!($name)),*];
            assert!(TARGETS.iter().map(|target| target.name).eq(run));
        }
    };
}
held! { csv packed npy npz arrays parquet arrow mat ancestry recipe record model manifest parts settings sums consensus }
