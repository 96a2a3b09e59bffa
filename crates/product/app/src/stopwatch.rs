//! Wall seconds, CPU seconds and peak memory of this process.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Time and memory that a piece of work took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Wall seconds.
    pub seconds: f64,
    /// CPU seconds of all threads; 0 where the system does not tell.
    pub cpu_seconds: f64,
    /// The most bytes that the process has held so far; 0 where the system does not tell.
    pub peak_bytes: u64,
}

/// Started before a piece of work, read after it.
#[derive(Debug)]
pub struct Stopwatch {
    begun: Instant,
    cpu: f64,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self {
            begun: Instant::now(),
            cpu: usage().map_or(0.0, |(cpu, _)| cpu),
        }
    }

    /// What was spent since the start.
    pub fn read(&self) -> Spent {
        let (cpu, peak_bytes) = usage().unwrap_or((self.cpu, 0));
        Spent {
            seconds: self.begun.elapsed().as_secs_f64(),
            cpu_seconds: cpu - self.cpu,
            peak_bytes,
        }
    }
}

/// CPU seconds of this process and the most bytes it has held.
#[cfg(unix)]
fn usage() -> Option<(f64, u64)> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 * 1e-6;
    // Linux counts kibibytes, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some((
        seconds(usage.user_time()) + seconds(usage.system_time()),
        usage.max_rss().unsigned_abs() * unit,
    ))
}

#[cfg(not(unix))]
fn usage() -> Option<(f64, u64)> {
    None
}
