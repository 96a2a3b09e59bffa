//! Ensembles that are made in memory and written as files.

use std::fs;

use partita::Ensemble;
use partita::extend::BaseClustering;
use partita::files::write_ensemble;
use partita::ndarray::{Array2, ArrayView2, s};

use crate::common::Workplace;

/// Writes labels from 0 to 3; 255 is missing.
pub(crate) fn write_rows(place: &Workplace, name: &str, rows: ArrayView2<'_, u8>) {
    let names: Vec<String> = (0..4).map(|label| label.to_string()).collect();
    let base = |at: usize| BaseClustering::new(format!("u{at}"), names.clone());
    let bases = (0..rows.ncols()).map(base).collect();
    let ensemble = Ensemble::from_bytes(rows.to_owned(), bases).expect("labels below 4");
    write_ensemble(&place.path(name), &ensemble, None).expect("room on the disk");
}

/// Noisy copies of four groups, some labels missing.
pub(crate) fn noisy(objects: usize, bases: usize, seed: u64) -> Array2<u8> {
    let mut state = 88_172_645_463_325_252_u64 + seed;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    Array2::from_shape_fn((objects, bases), |(i, u)| match random() % 16 {
        0 if i > 0 && i % bases != u => u8::MAX,
        1..=4 => (random() % 4) as u8,
        _ => ((i + u) % 4) as u8,
    })
}

/// Noisy copies of four groups in a file.
pub(crate) fn write_labels(place: &Workplace, name: &str, objects: usize) {
    write_rows(place, name, noisy(objects, 12, 0).view());
}

/// Rows of five files that end anywhere, so that parts cut blocks.
pub(crate) const CUTS: [usize; 6] = [0, 1, 2050, 4100, 7777, 9000];

/// Files with a manifest of three parts, `m.json`.
pub(crate) fn write_parts(place: &Workplace, seed: u64) {
    let rows = noisy(CUTS[5], 6, seed);
    fs::create_dir_all(place.path("labels")).expect("a folder");
    for (file, cut) in CUTS.windows(2).enumerate() {
        write_rows(
            place,
            &format!("labels/{file}.parquet"),
            rows.slice(s![cut[0]..cut[1], ..]),
        );
    }
    place
        .run("manifest labels -o m.json --rows-a-part 4100")
        .fine();
}
