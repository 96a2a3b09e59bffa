//! Flags that several commands share: outputs, threads, memory, seed.

use clap::Args;
use partita::MemoryBudget;

use super::values::parse_memory;

/// What every command takes that writes files and can answer in JSON.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Replace outputs that exist, or write into a folder that holds something already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what was found or done as one JSON object on stdout, in place of all else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadArgs {
    /// Threads to use; all cores if not given or 0. The result does not depend on it.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that may be held at once, such as 500MiB or 4GiB; three quarters of the machine's if not given.
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub(crate) max_memory: Option<MemoryBudget>,
}

/// What every computing command takes.
#[derive(Debug, Args)]
pub(crate) struct ComputeArgs {
    /// Where all random numbers start: the same seed gives the same bytes. [default: 0, or that of an ensemble given as --recipe]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}
