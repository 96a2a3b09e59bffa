//! Fuzz targets: whatever bytes a target is given, it must not panic, hang, or give a result that is not one.
//!
//! For tests only. The tests of this crate run every target on its seeds, on inputs that once failed, which both lie in `corpus/`, and on
//! some hundreds of mutations of these. `cargo xtask fuzz` runs the targets under libFuzzer, from the folder `fuzz/`.

#![forbid(unsafe_code)]

mod choices;
mod consensus;
mod readers;
mod saved_files;
mod seeds;
mod settings;
mod sums;

use std::fs;
use std::path::Path;

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
    /// Valid inputs of formats that are not settled, made anew.
    seeds: fn() -> Vec<Vec<u8>>,
}

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

/// All targets: files of every format by every reader that takes them; files that Partita wrote; settings as text and JSON; sums of
/// row passes that other processes made; and whole consensuses of small ensembles by any method with any settings.
pub static TARGETS: &[Target] = &[
    target("csv", readers::csv, Vec::new),
    target("packed", readers::packed, Vec::new),
    target("npy", readers::npy, || seeds::stored("npy")),
    target("npz", readers::npz, || seeds::stored("npz")),
    target("arrays", readers::arrays, Vec::new),
    target("parquet", readers::parquet, || seeds::stored("parquet")),
    target("arrow", readers::arrow, Vec::new),
    target("mat", readers::mat, || seeds::stored("mat")),
    target("ancestry", readers::ancestry, Vec::new),
    target("recipe", saved_files::recipe, seeds::recipe),
    target("record", saved_files::record, seeds::record),
    target("model", saved_files::model, seeds::model),
    target("manifest", saved_files::manifest, seeds::manifest),
    target("parts", saved_files::parts, seeds::parts),
    target("settings", settings::settings, seeds::settings),
    target("sums", sums::sums, seeds::choices),
    target("consensus", consensus::consensus, seeds::choices),
];

impl Target {
    /// Inputs to begin with: those of the corpus by their names, then those that are made.
    pub fn inputs(&self) -> Vec<Vec<u8>> {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let mut inputs = seeds::files(&corpus.join(self.name));
        inputs.extend((self.seeds)());
        inputs
    }

    /// Writes the inputs to a folder.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_inputs(&self, folder: &Path) -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let inputs = self.inputs();
        let mut all = inputs.iter().enumerate();
        all.try_for_each(|(at, input)| fs::write(folder.join(format!("{at:03}")), input))
    }
}
