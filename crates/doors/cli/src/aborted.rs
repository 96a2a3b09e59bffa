//! A process that is aborted, as by Rust where the system refuses memory: it leaves nothing half-written, and exit code 1.

#![expect(
    unsafe_code,
    reason = "handlers of signals, and leaving the process inside of one"
)]

use std::io;

use nix::libc::{_exit, c_int};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// What is said after the line of Rust, which has the bytes that were refused.
const MESSAGE: &[u8] =
    b"error: aborted, nothing was finished; where memory ran out, give --max-memory or --threads less\n";

/// From now on an abort removes what is unfinished and ends the process with exit code 1.
pub(crate) fn leave_nothing() {
    // A second abort, inside of the handler, ends the process as it always did.
    let action = SigAction::new(
        SigHandler::Handler(leave),
        SaFlags::SA_RESETHAND,
        SigSet::empty(),
    );
    // SAFETY: an abort is raised by the thread that it ends, so that the handler interrupts no other work; it takes no lock that it would
    // wait for, and does not return.
    let _ = unsafe { sigaction(Signal::SIGABRT, &action) };
}

extern "C" fn leave(_signal: c_int) {
    partita::files::remove_unfinished();
    // The lock of standard error may be held.
    let _ = nix::unistd::write(io::stderr(), MESSAGE);
    // SAFETY: it runs nothing of this process any more.
    unsafe { _exit(1) }
}
