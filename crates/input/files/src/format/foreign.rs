//! Bytes that somebody else wrote in the hands of somebody else's decoders: what breaks on them is an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught here, and nothing is to be printed about it.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives; none where it panics, which the decoders of Parquet and Arrow do on some damaged files.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                usual(info);
            }
        }));
    });
    let outer = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    CAUGHT.set(outer);
    done
}
