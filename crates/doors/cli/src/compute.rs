//! Threads, memory, seed and Ctrl-C: set up once a process, from the flags of all computing commands.

use partita::{MemoryBudget, Seed};

use crate::args::{ComputeArgs, ThreadArgs};
use crate::failure::Failure;
use crate::terminal::listen_for_ctrl_c;

/// What a computing command computes with.
pub(crate) struct Compute {
    pub(crate) seed: Seed,
    pub(crate) budget: MemoryBudget,
}

impl Compute {
    /// Starts the thread pool and listens for Ctrl-C. Files are read on these threads: start before any is opened.
    pub(crate) fn start(args: &ComputeArgs) -> Result<Self, Failure> {
        start_threads(&args.machine.threads)?;
        let seed = args.seed.map_or(Seed::new(0), Seed::new);
        Ok(Self {
            seed,
            budget: args.machine.budget(),
        })
    }
}

/// More threads than any machine has cores.
const MOST_THREADS: usize = 1024;

/// Starts the thread pool and listens for Ctrl-C.
pub(crate) fn start_threads(args: &ThreadArgs) -> Result<(), Failure> {
    let threads = args.threads.unwrap_or(0);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    if threads > MOST_THREADS.max(cores) {
        let reason = format!(
            "--threads {threads}: this machine has {cores} cores; leave --threads out to use them all"
        );
        return Err(Failure::input(reason));
    }
    listen_for_ctrl_c()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global();
    pool.map_err(|error| Failure::input(format!("{threads} threads cannot be started: {error}")))
}
