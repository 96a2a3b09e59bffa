//! Any target of partita-fuzz under libFuzzer, by the variable `PARTITA_FUZZ_TARGET`; `list` names them. `cargo xtask fuzz` builds and runs
//! it; with cargo-fuzz, from `crates/dev/fuzz`: `PARTITA_FUZZ_TARGET=csv cargo fuzz run any`.
#![no_main]

use std::env;
use std::path::Path;
use std::sync::OnceLock;

use partita_fuzz::{TARGETS, Target};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

/// Chooses the target and writes what it begins with to the folder that `PARTITA_FUZZ_INPUTS` names.
fn begin() {
    // A panic that Partita catches itself, as where other processes made the sums, is an error like any other: the hook that ends the
    // process at every panic is taken away. One that leaves a target ends it all the same.
    drop(std::panic::take_hook());
    let asked = env::var("PARTITA_FUZZ_TARGET").unwrap_or_default();
    let Some(target) = TARGETS.iter().find(|target| target.name == asked) else {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        std::process::exit(i32::from(asked != "list"));
    };
    if let Ok(folder) = env::var("PARTITA_FUZZ_INPUTS") {
        target.write_inputs(Path::new(&folder)).expect("room on the disk");
    }
    CHOSEN.set(target).expect("it is chosen once");
}

libfuzzer_sys::fuzz_target!(init: begin(), |data: &[u8]| {
    (CHOSEN.get().expect("it was chosen").run)(data);
});
