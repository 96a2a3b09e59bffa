//! Draws label rows into NPY files of one byte a label, for measurements with many rows: noisy copies of K groups under permuted names.
//!
//! ```text
//! cargo run --release -p partita-files --example draw_label_rows -- 10000000 20 10 8 rows
//! ```
//! Rows, base clusterings, K, files, folder. A file has the rows that follow those of the file before; 5 % of the labels are missing.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use partita_core::Seed;
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rows, bases, clusters, files, folder] = &words[..] else {
        return Err("give rows, base clusterings, clusters, files and a folder".into());
    };
    let (rows, bases, clusters): (u64, usize, u8) = (rows.parse()?, bases.parse()?, clusters.parse()?);
    let files: u64 = files.parse()?;
    fs::create_dir_all(folder)?;
    for file in 0..files {
        let own = rows * file / files..rows * (file + 1) / files;
        let path = Path::new(folder).join(format!("{file:03}.npy"));
        draw(&path, own.end - own.start, bases, clusters, Seed::new(1).child(file))?;
    }
    Ok(())
}

/// A file of rows, each a group's number that base clusterings give on with noise.
fn draw(path: &Path, rows: u64, bases: usize, clusters: u8, seed: Seed) -> Result<(), Box<dyn Error>> {
    let mut rng = seed.rng();
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let shape = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({rows}, {bases}), }}");
    // The header ends with a line feed at a multiple of 64 bytes.
    let length = (10 + shape.len() + 1).next_multiple_of(64) - 10;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    out.write_all(format!("{shape:<width$}\n", width = length - 1).as_bytes())?;
    let mut row = vec![0u8; bases];
    for _ in 0..rows {
        let group = rng.random_range(0..clusters);
        for (base, label) in row.iter_mut().enumerate() {
            *label = match rng.random_range(0..20u8) {
                0 if base > 0 => u8::MAX,
                1..=6 => rng.random_range(0..clusters),
                _ => (group + base as u8) % clusters,
            };
        }
        out.write_all(&row)?;
    }
    out.flush()?;
    Ok(())
}
