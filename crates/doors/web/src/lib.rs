//! What the page in a browser calls.
//!
//! Pick the page (`cargo xtask web`), not this crate. The page hands over the bytes of files under their names; an
//! [`Experiment`](partita_app::Experiment) of `partita-app` reads them and writes its results beside them, as it does on a disk. Names,
//! defaults and ranges of settings come from the methods, so that a new method needs no line here.
//!
//! | module | what it is |
//! |---|---|
//! | `request` | what the page asks for, as an experiment, and the answer |
//! | `observer` | progress and notes as messages |
//! | `script` | the functions that the script of the page calls, and those that it has |

mod observer;
mod request;
#[cfg(target_family = "wasm")]
mod script;

pub use observer::Message;
pub use request::answer;
