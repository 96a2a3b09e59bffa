//! No bytes make a reader panic or take memory that the file cannot fill.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::{assert_says, file, stored};
use std::fs;
use std::io::Write;
use std::path::Path;

use partita_core::{MemoryBudget, Seed};
use partita_files::{
    FileError, LabelBlock, LabelGroups, ReadOptions, Roles, column_facts, load_labels,
    read_ensemble, read_labels, read_runs, read_soft, read_table, write_ensemble, write_table,
};
use rand::RngExt;

/// The beginning of an NPY file.
fn npy(descr: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat()
}

/// Label rows, group by group.
fn read_groups(path: &Path) -> Result<(), FileError> {
    let Some(groups) = LabelGroups::open(path, &ReadOptions::default())? else {
        return Ok(());
    };
    for group in 0..groups.groups() {
        let dim = match groups.block(group)? {
            LabelBlock::Bytes(rows) => rows.dim(),
            LabelBlock::Words(rows) => rows.dim(),
            other => panic!("{other:?}"),
        };
        assert_eq!(dim, (groups.rows(group), groups.bases().len()));
    }
    Ok(())
}

/// Every reader on one file: an answer or an error on one line.
fn read_all(path: &Path) {
    let errors = [
        read_table(path, &ReadOptions::default()).err(),
        read_ensemble(path, &ReadOptions::default()).err(),
        read_labels(path, &ReadOptions::default()).err(),
        read_soft(path).err(),
        read_groups(path).err(),
    ];
    for error in errors.into_iter().flatten() {
        let message = error.to_string();
        assert!(
            !message.contains('\n') && message.len() < 600,
            "{message:?}"
        );
    }
}

/// The file cut off, and with bytes replaced.
fn damage(name: &str, bytes: &[u8], flips: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut rng = Seed::new(bytes.len() as u64).rng();
    for _ in 0..flips / 4 {
        fs::write(&path, &bytes[..rng.random_range(0..bytes.len())]).unwrap();
        read_all(&path);
    }
    for flip in 0..flips {
        let mut damaged = bytes.to_vec();
        for _ in 0..=flip % 3 {
            let at = rng.random_range(0..damaged.len());
            damaged[at] = match flip % 4 {
                0 => damaged[at] ^ (1 << rng.random_range(0..8)),
                1 => 0xff,
                2 => 0,
                _ => rng.random(),
            };
        }
        fs::write(&path, &damaged).unwrap();
        read_all(&path);
    }
}

#[test]
fn damaged_files_are_answered_or_refused() {
    let mut names: Vec<_> = fs::read_dir(stored(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending != "py"));
    names.sort();
    assert!(names.len() >= 19);
    for path in names {
        let name = path.file_name().unwrap().to_str().unwrap();
        damage(
            name,
            &fs::read(&path).unwrap(),
            if name.ends_with(".parquet") { 160 } else { 48 },
        );
    }
}

#[test]
fn damaged_files_of_ours_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = read_ensemble(&stored("ensemble.parquet"), &ReadOptions::default()).unwrap();
    let table = read_table(&stored("table.npz"), &ReadOptions::default()).unwrap();
    for name in ["a.csv", "a.csv.gz", "a.npz", "a.parquet"] {
        let path = folder.path().join(name);
        write_ensemble(&path, &loaded.ensemble, loaded.truth.as_ref()).unwrap();
        damage(name, &fs::read(&path).unwrap(), 60);
        write_table(&path, &table).unwrap();
        damage(name, &fs::read(&path).unwrap(), 60);
    }
}

#[test]
fn claims_beyond_the_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        read_ensemble(&path, &ReadOptions::default())
            .unwrap_err()
            .to_string()
    };
    // A terabyte of doubles in a kilobyte, three times.
    let mut array = npy("<f8", "(1000000000, 137)");
    array.resize(1000, 0);
    let claim = "claims 1000000000 × 137 values of 8 bytes but only 920 bytes follow";
    assert_says(message("a.npy", &array), &[claim]);

    // A MATLAB matrix of doubles, 1048576 × 32768 by its header, with two of them.
    let words = [14u32, 72, 6, 8, 6, 0, 5, 8, 1 << 20, 1 << 15, 1, 7];
    let words = words.map(u32::to_le_bytes).concat();
    let title = format!("{:<124}", "MATLAB 5.0 MAT-file");
    let doubles = [9u32, 16, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
    let mat = [
        title.as_bytes(),
        b"\x00\x01IM",
        &words,
        b"members\0",
        &doubles,
    ]
    .concat();
    assert!(message("a.mat", &mat).contains("claims 1048576 × 32768 values of 8 bytes but only"));

    let parquet = fs::read(stored("gap.parquet")).unwrap();
    let footer = u32::from_le_bytes(
        parquet[parquet.len() - 8..parquet.len() - 4]
            .try_into()
            .unwrap(),
    );
    let mut long = parquet.clone();
    let end = long.len();
    long[end - 8..end - 4].copy_from_slice(&(footer + 1_000_000).to_le_bytes());
    assert!(message("a.parquet", &long).contains("this is not a whole Parquet file"));
}

#[test]
fn words_of_a_file_do_not_break_the_line_of_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for descr in [">f\n8", "<f\r\n8"] {
        let path = folder.path().join("a.npy");
        fs::write(&path, [npy(descr, "(3, 2)"), vec![0; 48]].concat()).unwrap();
        read_all(&path);
    }
    let path = folder.path().join("a.csv");
    fs::write(&path, b"\"a\nb\",c\n1,2\n\xff,3\n").unwrap();
    read_all(&path);
}

#[test]
fn packed_files_of_ancestry_are_unpacked_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.2.Q.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..400).for_each(|_| {
        packed
            .write_all("0.5 0.5\n".repeat(1000).as_bytes())
            .unwrap();
    });
    fs::write(&path, packed.finish().unwrap()).unwrap();
    let within = |bytes| {
        read_runs(
            &path,
            &ReadOptions::default().within(MemoryBudget::new(bytes)),
        )
    };
    assert!(within(64 << 20).is_ok());
    let message = within(1 << 20).unwrap_err().to_string();
    assert_says(&message, &["memory budget is 1.0 MiB"]);
}

/// The bytes that this process has held at most.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Labels that pack to a thousandth: the budget is asked before they are unpacked.
#[test]
#[cfg(target_os = "linux")]
fn what_unpacks_beyond_the_budget_is_refused_before_it_is_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let (rows, columns) = (10_000_000usize, 40);
    {
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        archive
            .start_file("labels.npy", zip::write::SimpleFileOptions::default())
            .unwrap();
        let header = npy("|i1", &format!("({rows}, {columns})"));
        archive.write_all(&header).unwrap();
        let zeros = vec![0; 1 << 20];
        let mut left = rows * columns;
        while left > 0 {
            left -= archive.write(&zeros[..left.min(zeros.len())]).unwrap();
        }
        archive.finish().unwrap();
    }
    assert!(fs::metadata(&path).unwrap().len() < 1 << 19);
    let before = peak();
    let budget = MemoryBudget::new(100 << 20);
    let mut options = ReadOptions::default();
    options.budget = budget;
    let message = read_ensemble(&path, &options).unwrap_err().to_string();
    assert_says(
        &message,
        &["the ensemble needs 1.1 GiB but the memory budget is 100.0 MiB"],
    );
    let mut options = ReadOptions::default();
    options.budget = budget;
    options.truth = Some("1").into();
    let message = read_table(&path, &options).unwrap_err().to_string();
    assert_says(&message, &["the table needs", "budget is 100.0 MiB"]);
    let message = load_labels(&path, &ReadOptions::default().within(budget))
        .unwrap_err()
        .to_string();
    assert_says(&message, &["one column of labels is needed"]);
    assert!(peak() - before < 32 << 20, "{} bytes more", peak() - before);
}

#[test]
fn columns_of_a_wide_text_are_compared_with_the_budget() {
    let row = |i: usize| (0..4000).map(move |at| format!("w{i}{at}"));
    let row = |i: usize| row(i).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..30).map(row).collect();
    let (_folder, path) = file("wide.csv", rows.join("\n"));
    let within = |bytes| {
        let options = ReadOptions::default().within(MemoryBudget::new(bytes));
        column_facts(&path, &options, &Roles::default())
    };
    assert_eq!(within(16 << 20).unwrap().len(), 4000, "130 bytes a value");
    let message = within(4 << 20).unwrap_err().to_string();
    assert_says(&message, &["the columns need", "budget is 4.0 MiB"]);
}

#[test]
fn files_of_another_kind_are_named_as_such() {
    for (name, word) in [
        ("a.npy", "is not a NumPy array"),
        ("a.npz", "not a whole NPZ archive"),
        ("a.parquet", "not a whole Parquet file"),
        (
            "a.mat",
            "not a MATLAB file of version 5 to 7; save it in MATLAB with the option -v7",
        ),
        ("a.csv.gz", "the file is damaged"),
    ] {
        let (_folder, path) = file(name, "x,y\n1,2\n".repeat(40));
        let message = read_table(&path, &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(message.contains(word), "{message}");
    }
    let (_folder, path) = file("b.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64");
    assert!(
        read_table(&path, &ReadOptions::default())
            .unwrap_err()
            .to_string()
            .contains("HDF5")
    );
}
