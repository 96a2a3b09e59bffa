//! How long it takes to read and write labels: `bench_read make FOLDER` writes files of 10,000,000 × 20 labels (or of as many
//! as the next two numbers say), `bench_read read FILE…` reads ensembles, `bench_read write FILE` writes a result.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, Partition};
use partita_files::{ReadOptions, read_ensemble, write_ensemble, write_labels};

type Failure = Box<dyn std::error::Error>;

fn label(object: usize, base: usize) -> u8 {
    let mixed = (object as u64 * 0x9e37_79b9_7f4a_7c15) ^ (base as u64 * 0xd1b5_4a32_d192_ed03);
    let own = (object / 1000 % 10) as u64;
    (if mixed.rotate_left(23) % 10 < 7 {
        own
    } else {
        mixed.rotate_left(41) % 12
    }) as u8
}

fn make(folder: &Path, objects: usize, bases: usize) -> Result<(), Failure> {
    for (descr, width) in [("<i8", 8), ("|i1", 1)] {
        let mut out = BufWriter::new(File::create(folder.join(format!("labels-{width}.npy")))?);
        let header = format!(
            "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({objects}, {bases}), }}"
        );
        let header = format!("{header:<117}\n");
        out.write_all(b"\x93NUMPY\x01\0")?;
        out.write_all(&(header.len() as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for object in 0..objects {
            for base in 0..bases {
                out.write_all(&u64::from(label(object, base)).to_le_bytes()[..width])?;
            }
        }
        out.flush()?;
    }
    let rows = Array2::from_shape_fn((objects, bases), |(object, base)| label(object, base));
    let values: Vec<String> = (0..12).map(|label| label.to_string()).collect();
    let bases = (0..bases)
        .map(|base| BaseClustering::new(format!("b{base}"), values.clone()))
        .collect();
    let ensemble = Ensemble::from_bytes(rows, bases)?;
    write_ensemble(&folder.join("labels.parquet"), &ensemble, None)?;
    if objects <= 1_000_000 {
        write_ensemble(&folder.join("labels.csv"), &ensemble, None)?;
        write_ensemble(&folder.join("labels.npz"), &ensemble, None)?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = arguments.split_first().ok_or("make, read or write")?;
    let number = |at: usize, default| {
        rest.get(at)
            .map_or(Ok(default), |text| text.parse::<usize>())
    };
    if command == "make" {
        return make(Path::new(&rest[0]), number(1, 10_000_000)?, number(2, 20)?);
    }
    for file in rest {
        let start = Instant::now();
        if command == "read" {
            let ensemble = read_ensemble(Path::new(file), &ReadOptions::default())?.ensemble;
            let (n, m) = (ensemble.objects(), ensemble.bases().len());
            writeln!(
                std::io::stdout(),
                "{file}: {n} × {m} read in {:.2} s",
                start.elapsed().as_secs_f64()
            )?;
        } else {
            let labels: Vec<u32> = (0..10_000_000)
                .map(|object| u32::from(label(object, 0)))
                .collect();
            let agreement: Vec<f64> = (0..labels.len())
                .map(|object| (object % 21) as f64 / 20.0)
                .collect();
            let (partition, start) = (Partition::new(labels, 12)?, Instant::now());
            write_labels(
                Path::new(file),
                None,
                partition.labels(),
                &[("agreement", &agreement)],
            )?;
            writeln!(
                std::io::stdout(),
                "{file}: written in {:.2} s",
                start.elapsed().as_secs_f64()
            )?;
        }
    }
    Ok(())
}
