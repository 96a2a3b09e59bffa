//! Draws label rows into files, for measurements with many rows: noisy copies of K groups under permuted names.
//!
//! ```text
//! cargo run --release -p partita-files --example draw_label_rows -- 100000000 20 10 100 rows parquet
//! ```
//! Rows, base clusterings, K, files, folder, and `npy` (the default: one byte a label) or `parquet`. A file has the rows that follow
//! those of the file before; 5 % of the labels are missing.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, Seed};
use partita_files::write_ensemble;
use rand::RngExt;
use rayon::prelude::*;

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rows, bases, clusters, files, folder, ending @ ..] = &words[..] else {
        return Err("give rows, base clusterings, clusters, files and a folder".into());
    };
    let (rows, bases, clusters): (u64, usize, u8) =
        (rows.parse()?, bases.parse()?, clusters.parse()?);
    let files: u64 = files.parse()?;
    fs::create_dir_all(folder)?;
    (0..files).into_par_iter().try_for_each(|file| {
        let own = (rows * (file + 1) / files - rows * file / files) as usize;
        let labels = Drawn {
            objects: own,
            bases,
            clusters,
            seed: Seed::new(1).child(file),
        };
        match ending {
            [] => labels.npy(&Path::new(folder).join(format!("{file:03}.npy"))),
            [ending] => labels.columns(&Path::new(folder).join(format!("{file:03}.{ending}"))),
            _ => Err("one ending at most".into()),
        }
    })
}

/// Rows of one file, each a group's number that base clusterings give on with noise.
struct Drawn {
    objects: usize,
    bases: usize,
    clusters: u8,
    seed: Seed,
}

impl Drawn {
    /// Hands out row after row.
    fn each(&self, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        let (mut rng, mut row) = (self.seed.rng(), vec![0u8; self.bases]);
        (0..self.objects).try_for_each(|_| {
            let group = rng.random_range(0..self.clusters);
            for (base, label) in row.iter_mut().enumerate() {
                *label = match rng.random_range(0..20u8) {
                    0 if base > 0 => u8::MAX,
                    1..=6 => rng.random_range(0..self.clusters),
                    _ => (group + base as u8) % self.clusters,
                };
            }
            take(&row)
        })
    }

    fn npy(&self, path: &Path) -> Outcome {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let shape = format!(
            "{{'descr': '|i1', 'fortran_order': False, 'shape': ({}, {}), }}",
            self.objects, self.bases
        );
        // The header ends with a line feed at a multiple of 64 bytes.
        let length = (10 + shape.len() + 1).next_multiple_of(64) - 10;
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(length as u16).to_le_bytes())?;
        out.write_all(format!("{shape:<width$}\n", width = length - 1).as_bytes())?;
        self.each(|row| out.write_all(row))?;
        Ok(out.flush()?)
    }

    /// By the ending of the file.
    fn columns(&self, path: &Path) -> Outcome {
        let mut labels = Vec::with_capacity(self.objects * self.bases);
        self.each(|row| {
            labels.extend_from_slice(row);
            Ok(())
        })?;
        let values: Vec<String> = (0..self.clusters)
            .map(|cluster| cluster.to_string())
            .collect();
        let bases = (0..self.bases)
            .map(|base| BaseClustering::new(format!("base{base}"), values.clone()))
            .collect();
        let labels = Array2::from_shape_vec((self.objects, self.bases), labels)?;
        Ok(write_ensemble(
            path,
            &Ensemble::from_bytes(labels, bases)?,
            None,
        )?)
    }
}
