//! The terminal: progress bars, notes on stderr, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use partita::Monitor;
use partita::extend::Flow;
use partita_app::Observer;

use crate::failure::Failure;

/// Nothing is shown of what takes less.
const PATIENCE: Duration = Duration::from_secs(2);
/// Where stderr is not a terminal, a line is written this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether some work was begun that asks whether it shall stop. Before that files are read, and nothing is lost.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the computation to stop and hand back what it has; a second one ends the process. What the parent has this
/// process ignore, as `nohup` does, stays ignored. Called before any thread starts.
pub(crate) fn listen_for_ctrl_c() -> Result<(), Failure> {
    let listening = if block_ignored() {
        ctrlc::set_handler(stop)
    } else {
        ctrlc::try_set_handler(stop)
    };
    match listening {
        // Something is ignored, and which of the signals cannot be found out here: all stay as they are.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(Failure::input(format!(
            "Ctrl-C cannot be listened for: {error}"
        ))),
    }
}

fn stop() {
    let again = STOP.swap(true, Ordering::Relaxed);
    let begun = BEGUN.load(Ordering::Relaxed);
    if again || !begun {
        if !begun {
            crate::output::say_always("interrupted: nothing was finished");
        }
        partita::files::remove_unfinished();
        std::process::exit(130);
    }
    crate::output::say_always("stopping; once more to leave at once");
}

/// Keeps signals that were ignored when the process began from this thread and those that it starts; whether it could find them out.
#[cfg(unix)]
fn block_ignored() -> bool {
    use nix::sys::signal::{SigSet, Signal};
    // Linux lists them as bits, from signal 1 on.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let bits = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let Some(bits) = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()) else {
        return false;
    };
    let mut ignored = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        if bits >> (signal as u32 - 1) & 1 == 1 {
            ignored.add(signal);
        }
    }
    ignored.thread_block().is_ok()
}

#[cfg(not(unix))]
fn block_ignored() -> bool {
    true
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// After a command's work: says so when Ctrl-C cut it short.
pub(crate) fn unless_interrupted(kept: impl FnOnce() -> String) -> Result<(), Failure> {
    if interrupted() {
        Err(Failure::interrupted(kept()))
    } else {
        Ok(())
    }
}

/// Shows the progress of an experiment, and stops it after Ctrl-C.
pub(crate) struct Terminal;

impl Observer for Terminal {
    fn begin(&self, what: &str) -> Box<dyn Monitor + '_> {
        Box::new(Progress::new(what))
    }

    fn note(&self, text: &str) {
        crate::output::say(&format!("note: {text}"));
    }

    fn warn(&self, text: &str) {
        crate::output::warn(text);
    }

    fn stop_asked(&self) -> bool {
        interrupted()
    }
}

/// A bar for one piece of work. It appears after two seconds.
pub(crate) struct Progress {
    what: String,
    bar: ProgressBar,
    begun: Instant,
    /// When to show it next, and the largest share so far: threads may tell theirs in another order.
    next: Mutex<(Instant, u64)>,
}

/// Parts of a bar.
const PARTS: u64 = 1_000_000;

impl Progress {
    /// A bar that says `what` is being done.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        BEGUN.store(true, Ordering::Relaxed);
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let (what, begun) = (what.into(), Instant::now());
        let bar =
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style);
        Self {
            bar: bar.with_message(what.clone()),
            what,
            begun,
            next: Mutex::new((begun + PATIENCE, 0)),
        }
    }

    /// Shows how far it is, at most ten times a second.
    fn show(&self, done: u64, total: u64) {
        if crate::output::quiet() {
            return;
        }
        let Ok(mut next) = self.next.try_lock() else {
            return;
        };
        let now = Instant::now();
        if now < next.0 {
            return;
        }
        let share = (PARTS as f64 * done.min(total) as f64 / total.max(1) as f64) as u64;
        next.1 = next.1.max(share);
        if std::io::stderr().is_terminal() {
            next.0 = now + Duration::from_millis(100);
            if self.bar.is_hidden() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                self.bar.reset_eta();
            }
            self.bar.set_length(PARTS);
            self.bar.set_position(next.1);
        } else {
            next.0 = now + LINE_EVERY;
            let percent = 100 * next.1 / PARTS;
            crate::output::say(&format!(
                "{}: {percent} % after {} s",
                self.what,
                self.begun.elapsed().as_secs()
            ));
        }
    }
}

impl Monitor for Progress {
    fn tick(&self, done: u64, total: u64) -> Flow {
        self.show(done, total);
        self.flow()
    }

    fn flow(&self) -> Flow {
        if interrupted() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
