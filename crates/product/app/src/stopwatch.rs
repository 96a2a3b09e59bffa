//! Wall seconds, CPU seconds and peak memory of this process.

use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant, SystemTime};

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

/// Seconds since 1970 by the clock of a door into a system that has none of its own.
static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();

/// From now on the time is what this says, in seconds since 1970.
pub fn set_clock(clock: fn() -> f64) {
    // One process has one door.
    let _ = CLOCK.set(clock);
}

/// The time of day.
pub(crate) fn time_of_day() -> SystemTime {
    CLOCK.get().map_or_else(SystemTime::now, |clock| {
        SystemTime::UNIX_EPOCH + Duration::from_secs_f64(clock())
    })
}

/// Seconds since some moment.
fn seconds() -> f64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    let own = || FIRST.elapsed().as_secs_f64();
    CLOCK.get().map_or_else(own, |clock| clock())
}

/// Started before a piece of work, read after it.
#[derive(Debug)]
pub struct Stopwatch {
    begun: f64,
    cpu: f64,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self {
            begun: seconds(),
            cpu: usage().map_or(0.0, |(cpu, _)| cpu),
        }
    }

    /// What was spent since the start.
    pub fn read(&self) -> Spent {
        let (cpu, peak_bytes) = usage().unwrap_or((self.cpu, 0));
        Spent {
            seconds: (seconds() - self.begun).max(0.0),
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
