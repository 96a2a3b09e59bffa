//! Progress bars and Ctrl-C. The only place that knows of either.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use partita::{Flow, Monitor};

use crate::failure::Failure;

/// Nothing is shown of what takes less.
const PATIENCE: Duration = Duration::from_secs(2);
/// Where stderr is no terminal, a line is written this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the computation to stop and hand back what it has; a second one ends the process.
pub(crate) fn listen_for_ctrl_c() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        crate::output::say("stopping; once more to leave at once");
    })?;
    Ok(())
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// A bar for one piece of work. It appears after two seconds.
pub(crate) struct Progress {
    what: String,
    bar: ProgressBar,
    begun: Instant,
    next: Mutex<Instant>,
}

impl Progress {
    /// A bar that says `what` is being done.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {per_sec} {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let (what, begun) = (what.into(), Instant::now());
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style);
        Self { bar: bar.with_message(what.clone()), what, begun, next: Mutex::new(begun + PATIENCE) }
    }

    /// Shows how far it is, at most ten times a second.
    fn show(&self, done: u64, total: u64) {
        let Ok(mut next) = self.next.try_lock() else { return };
        let now = Instant::now();
        if now < *next {
            return;
        }
        if std::io::stderr().is_terminal() {
            *next = now + Duration::from_millis(100);
            if self.bar.is_hidden() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                self.bar.reset_eta();
            }
            self.bar.set_length(total);
            self.bar.set_position(done);
        } else {
            *next = now + LINE_EVERY;
            let percent = 100 * done / total.max(1);
            crate::output::say(&format!("{}: {percent} % after {} s", self.what, self.begun.elapsed().as_secs()));
        }
    }
}

impl Monitor for Progress {
    fn tick(&self, done: u64, total: u64) -> Flow {
        self.show(done, total);
        if interrupted() { Flow::Stop } else { Flow::Continue }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
