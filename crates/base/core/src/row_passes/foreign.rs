//! Work on bytes that other processes made. They carry a checksum against damage; bytes that somebody forged may have any shape, and what
//! breaks on them is an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::PassError;

/// What `work` gives; the error that `broken` gives where it panics.
pub(crate) fn guarded<T, E>(
    broken: impl FnOnce(PassError) -> E,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let reason =
            "what other processes made does not fit these rows or this method; make it again";
        Err(broken(PassError::Parts(reason.into())))
    })
}
