//! The machine that a run works on: memory, cores, threads.

use std::sync::atomic::{AtomicU64, Ordering};

use partita::MemoryBudget;
use serde::{Deserialize, Serialize};

/// What a record says of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Operating system and processor, such as `linux x86_64`.
    pub system: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Threads that computed.
    pub threads: usize,
    /// Bytes that might be held at once.
    pub max_memory: u64,
}

impl Host {
    /// This machine, as the current thread pool sees it.
    pub fn here(budget: MemoryBudget) -> Self {
        Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            threads: rayon::current_num_threads(),
            max_memory: budget.bytes(),
        }
    }
}

/// The bytes that this process may hold, where its user said so.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// From now on [`default_budget`] is no more than this: what reads a file beside the work at hand keeps to it too.
pub fn limit_memory(budget: MemoryBudget) {
    LIMIT.store(budget.bytes(), Ordering::Relaxed);
}

/// Three quarters of the machine's memory, or 4 GiB where that is not known; what [`limit_memory`] said if that is less.
pub fn default_budget() -> MemoryBudget {
    let total = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
    let whole = total.map_or(4 << 30, |kib| kib * 1024 / 4 * 3);
    MemoryBudget::new(whole.min(LIMIT.load(Ordering::Relaxed)))
}
