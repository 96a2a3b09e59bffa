//! Any target of partita-fuzz under libFuzzer, by the variable `PARTITA_FUZZ_TARGET`. `cargo xtask fuzz --coverage` builds and runs it; with
//! cargo-fuzz: `PARTITA_FUZZ_TARGET=csv cargo fuzz run --fuzz-dir crates/dev/libfuzzer any`.
#![no_main]

use std::sync::LazyLock;

use partita_fuzz::{TARGETS, Target, target};

static CHOSEN: LazyLock<&Target> = LazyLock::new(|| {
    let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let asked = std::env::var("PARTITA_FUZZ_TARGET")
        .ok()
        .and_then(|name| target(&name));
    asked.unwrap_or_else(|| panic!("set PARTITA_FUZZ_TARGET to one of {}", known.join(", ")))
});

// A panic that Partita catches itself, as where other processes made the sums, is an error like any other: the hook that ends the process
// at every panic is taken away. One that leaves a target ends it all the same.
libfuzzer_sys::fuzz_target!(init: drop(std::panic::take_hook()), |data: &[u8]| (CHOSEN.run)(data));
