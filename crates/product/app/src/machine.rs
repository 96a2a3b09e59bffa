//! The machine that a run works on: memory, cores, threads.

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

/// Three quarters of the machine's memory, or 4 GiB where that is not known.
pub fn default_budget() -> MemoryBudget {
    let total = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
    MemoryBudget::new(total.map_or(4 << 30, |kib| kib * 1024 / 4 * 3))
}
