//! Progress, notes and the wish to stop: what an experiment tells whoever started it.

use partita::{Monitor, Silent};

/// Somebody who looks on while an experiment runs: a terminal, a notebook, nobody.
pub trait Observer: Sync {
    /// A piece of work called `what` begins; its progress goes to the monitor, which may ask it to stop.
    fn begin(&self, what: &str) -> Box<dyn Monitor + '_>;

    /// Something worth knowing, in one line.
    fn note(&self, text: &str);

    /// Something to look at before the result is trusted, in one line.
    fn warn(&self, text: &str);

    /// Whether somebody asked to stop.
    fn stop_asked(&self) -> bool;
}

/// An [`Observer`] that neither shows nor stops anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self, _what: &str) -> Box<dyn Monitor + '_> {
        Box::new(Silent)
    }

    fn note(&self, _text: &str) {}

    fn warn(&self, _text: &str) {}

    fn stop_asked(&self) -> bool {
        false
    }
}
