//! Fuzz targets: whatever bytes a target is given, it must not panic, hang, or give a result that is not one.
//!
//! For tests only. The tests of this crate run every target on its seeds, on inputs that once failed (`findings/`) and on some thousands of
//! mutations with fixed seeds, by the stable compiler. `cargo xtask fuzz` runs them for longer, and `cargo xtask fuzz --coverage` under
//! libFuzzer (`crates/dev/libfuzzer`).
//!
//! | target | what is read |
//! |---|---|
//! | `csv`, `packed`, `npy`, `npz`, `arrays`, `parquet`, `arrow`, `mat`, `ancestry` | a file of this format, by every reader that takes it |
//! | `recipe`, `record`, `model`, `manifest`, `parts` | a file that Partita wrote; models also predict, manifests also give their rows |
//! | `settings` | texts and JSON as settings of every method |
//! | `sums` | sums of row passes that other processes made, and their jobs |
//! | `consensus` | a small ensemble (hard, soft, weighted, with missing labels), any method, any settings |
//!
//! [`CommandLine`] is what `consensus` runs, for a program of any version: `fuzz_program` among the examples.
//! [`Campaign`] mutates seeds and runs a target for so many executions or so long.
//!
//! ```
//! use partita_fuzz::{Campaign, target};
//!
//! let settings = target("settings").expect("a target of this name");
//! let report = Campaign::new(settings, 1).executions(20).run();
//! assert!(report.failures.is_empty() && report.executions >= 20);
//! ```

#![forbid(unsafe_code)]

mod bytes;
mod campaign;
mod command_line;
mod consensus;
mod input_file;
mod mutation;
mod readers;
mod saved_files;
mod seeds;
mod settings;
mod sums;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use campaign::{Campaign, Failure, Report};
pub use command_line::CommandLine;
pub use mutation::mutated;

/// How long one execution may take.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Something that takes any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// Takes the bytes.
    ///
    /// # Panics
    /// Where a guarantee is broken.
    pub run: fn(&[u8]),
    /// Inputs to begin with: valid ones, made anew.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub static TARGETS: &[Target] = &[
    Target {
        name: "csv",
        run: readers::csv,
        seeds: seeds::csv,
    },
    Target {
        name: "packed",
        run: readers::packed,
        seeds: seeds::packed,
    },
    Target {
        name: "npy",
        run: readers::npy,
        seeds: seeds::npy,
    },
    Target {
        name: "npz",
        run: readers::npz,
        seeds: seeds::npz,
    },
    Target {
        name: "arrays",
        run: readers::arrays,
        seeds: seeds::arrays,
    },
    Target {
        name: "parquet",
        run: readers::parquet,
        seeds: seeds::parquet,
    },
    Target {
        name: "arrow",
        run: readers::arrow,
        seeds: seeds::arrow,
    },
    Target {
        name: "mat",
        run: readers::mat,
        seeds: seeds::mat,
    },
    Target {
        name: "ancestry",
        run: readers::ancestry,
        seeds: seeds::ancestry,
    },
    Target {
        name: "recipe",
        run: saved_files::recipe,
        seeds: seeds::recipe,
    },
    Target {
        name: "record",
        run: saved_files::record,
        seeds: seeds::record,
    },
    Target {
        name: "model",
        run: saved_files::model,
        seeds: seeds::model,
    },
    Target {
        name: "manifest",
        run: saved_files::manifest,
        seeds: seeds::manifest,
    },
    Target {
        name: "parts",
        run: saved_files::parts,
        seeds: seeds::parts,
    },
    Target {
        name: "settings",
        run: settings::settings,
        seeds: seeds::settings,
    },
    Target {
        name: "sums",
        run: sums::sums,
        seeds: seeds::choices,
    },
    Target {
        name: "consensus",
        run: consensus::consensus,
        seeds: seeds::choices,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// The folder of inputs that once failed and must not again.
    pub fn findings(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("findings")
            .join(self.name)
    }

    /// Inputs that once failed, in the order of their names.
    pub fn found(&self) -> Vec<Vec<u8>> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.findings())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
            .iter()
            .filter_map(|file| std::fs::read(file).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executions of a target in the tests: about a second each.
    const EXECUTIONS: u64 = 1500;

    fn holds(name: &str) {
        let target = target(name).expect("a target of this name");
        let report = Campaign::new(target, 20_260_401)
            .executions(EXECUTIONS)
            .run();
        assert!(report.failures.is_empty(), "{name}: {:#?}", report.failures);
        assert!(report.executions >= EXECUTIONS);
    }

    macro_rules! held {
        ($($name:ident)*) => {
            $(#[test] fn $name() { holds(stringify!($name)); })*

            #[test]
            fn every_target_is_run() {
                let run = [$(stringify!($name)),*];
                assert!(TARGETS.iter().map(|target| target.name).eq(run));
            }
        };
    }
    held! { csv packed npy npz arrays parquet arrow mat ancestry recipe record model manifest parts settings sums consensus }

    #[test]
    fn seeds_are_valid_and_small() {
        for target in TARGETS {
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "{}", target.name);
            assert!(
                seeds.iter().all(|seed| seed.len() < 8192),
                "{}: some kB at most",
                target.name
            );
        }
    }
}
