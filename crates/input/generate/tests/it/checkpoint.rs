//! Part files: killed, resumed, shared, damaged.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;

use partita_core::ndarray::Array2;
use partita_core::{MemoryBudget, Seed, Silent};
use partita_generate::{Durable, GenerateError, Generated, Recipe, generate_durable, merge_parts};
use rand::RngExt;

use crate::common;

fn table() -> Array2<f64> {
    let mut rng = Seed::new(1).rng();
    Array2::from_shape_fn((120, 3), |(i, _)| {
        (i % 4) as f64 * 2.0 + rng.random::<f64>()
    })
}

fn recipe() -> Recipe {
    common::recipe("kmeans:6,average:4,splits:3", "3,5", 0.9)
}

fn run(table: &Array2<f64>, durable: &Durable) -> Result<Generated, GenerateError> {
    generate_durable(
        table.view(),
        &recipe(),
        Seed::new(5),
        durable,
        MemoryBudget::UNLIMITED,
        &Silent,
    )
}

fn folder(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

#[test]
fn a_file_cut_anywhere_is_completed_to_the_same_ensemble() {
    let (table, (_folder, path)) = (table(), folder("a.part"));
    let plain = common::make(&table, &recipe(), 5).unwrap();
    let whole = run(&table, &Durable::new(&path)).unwrap();
    assert_eq!(
        (&whole.ensemble, &whole.facts),
        (&plain.ensemble, &plain.facts)
    );
    let bytes = std::fs::read(&path).unwrap();
    let record = 4 + 21 + 120 + 8;
    let header = bytes.len() - 13 * record;
    let mut resumed = Durable::new(&path);
    resumed.resume = true;
    for cut in
        (0..=bytes.len())
            .step_by(37)
            .chain([header - 1, header, header + record, bytes.len()])
    {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let again = run(&table, &resumed).unwrap();
        assert_eq!(
            (&again.ensemble, &again.facts),
            (&plain.ensemble, &plain.facts),
            "cut at {cut}"
        );
        assert_eq!(
            again.resumed,
            cut.saturating_sub(header) / record,
            "nothing is made again"
        );
        assert_eq!(std::fs::read(&path).unwrap().len(), bytes.len());
    }
}

#[test]
fn parts_join_to_the_whole() {
    let (table, (folder, path)) = (table(), folder("whole.part"));
    let whole = run(&table, &Durable::new(&path)).unwrap();
    let parts: Vec<PathBuf> = (0..4)
        .map(|i| folder.path().join(format!("{i}.part")))
        .collect();
    for (i, part) in parts.iter().enumerate() {
        let mut durable = Durable::new(part);
        durable.part = (i as u32, 4);
        let made = run(&table, &durable).unwrap();
        assert_eq!(made.asked, if i == 0 { 4 } else { 3 });
    }
    let (merged, note) = merge_parts(&parts).unwrap();
    assert_eq!(note, "");
    assert_eq!(
        (&merged.ensemble, &merged.facts),
        (&whole.ensemble, &whole.facts)
    );
    assert_eq!(merge_parts(&parts[..2]).unwrap().0.finished, 7);
    assert_eq!(
        merge_parts::<PathBuf>(&[]),
        Err(GenerateError::NothingFinished { asked: 0 })
    );
}

#[test]
fn what_can_not_be_continued_is_refused() {
    let (table, (_folder, path)) = (table(), folder("b.part"));
    let (fresh, mut resumed) = (Durable::new(&path), Durable::new(&path));
    resumed.resume = true;
    assert!(
        matches!(run(&table, &resumed), Err(GenerateError::PartFile { .. })),
        "there is no file yet"
    );
    run(&table, &fresh).unwrap();
    assert!(
        matches!(run(&table, &fresh), Err(GenerateError::PartFile { .. })),
        "it exists"
    );

    let mut other = table.clone();
    other[[7, 1]] += 1e-9;
    assert!(matches!(
        run(&other, &resumed),
        Err(GenerateError::OtherWork { .. })
    ));
    let mut part = resumed.clone();
    part.part = (1, 2);
    assert!(matches!(
        run(&table, &part),
        Err(GenerateError::OtherWork { .. })
    ));
    part.part = (2, 2);
    assert_eq!(
        run(&table, &part),
        Err(GenerateError::Part { index: 2, of: 2 })
    );

    let bytes = std::fs::read(&path).unwrap();
    for place in (bytes.len() - 13 * 153..bytes.len()).step_by(11) {
        let mut altered = bytes.clone();
        altered[place] ^= 1;
        std::fs::write(&path, altered).unwrap();
        let refused = run(&table, &resumed);
        assert!(
            matches!(refused, Err(GenerateError::Damaged { .. })),
            "byte {place}: {refused:?}"
        );
    }
    std::fs::write(&path, "hello").unwrap();
    let message = run(&table, &resumed).unwrap_err().to_string();
    assert!(message.ends_with("delete it and start again"), "{message}");
}
