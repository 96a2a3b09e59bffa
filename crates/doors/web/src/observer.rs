//! Progress and notes as messages.

use partita::Monitor;
use partita::extend::Flow;
use partita_app::Observer;
use serde::Serialize;

/// Something that the page is told while it waits.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Message<'a> {
    /// So much of a piece of work is done.
    Progress {
        /// What it is called.
        what: &'a str,
        /// Units that are finished.
        done: u64,
        /// Of so many; 0 where that is not known.
        total: u64,
    },
    /// Something worth knowing.
    Note {
        /// In one line.
        text: &'a str,
    },
    /// Something to look at before the result is trusted.
    Warning {
        /// In one line.
        text: &'a str,
    },
    /// A file of the results.
    File {
        /// What it is called.
        name: &'a str,
        /// Its content.
        #[serde(skip)]
        content: &'a [u8],
    },
}

/// Tells the page what goes on. Whoever stops it ends the whole worker.
pub(crate) struct Page<'a>(pub(crate) &'a (dyn Fn(Message<'_>) + Sync));

impl Observer for Page<'_> {
    fn begin(&self, what: &str) -> Box<dyn Monitor + '_> {
        let step = Step {
            what: what.to_owned(),
            page: self,
        };
        step.tick(0, 0);
        Box::new(step)
    }

    fn note(&self, text: &str) {
        (self.0)(Message::Note { text });
    }

    fn warn(&self, text: &str) {
        (self.0)(Message::Warning { text });
    }

    fn stop_asked(&self) -> bool {
        false
    }
}

/// One piece of work.
struct Step<'a> {
    what: String,
    page: &'a Page<'a>,
}

impl Monitor for Step<'_> {
    fn tick(&self, done: u64, total: u64) -> Flow {
        let what = &self.what;
        (self.page.0)(Message::Progress { what, done, total });
        Flow::Continue
    }
}
