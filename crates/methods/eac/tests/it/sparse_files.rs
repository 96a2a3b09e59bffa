//! Sparse evidence on disk, in SciPy's layout.

use partita_coassoc::{Counts, SparseEvidence};
use partita_core::{MemoryBudget, Seed, Silent};
use partita_files::{SparseCounts, read_sparse_npz, write_sparse_npz};

fn words(counts: Counts<'_>) -> &[u16] {
    match counts {
        Counts::Words(counts) => counts,
        _ => unreachable!("base clusterings count alike"),
    }
}

/// The matrix of c, with M and, where labels are missing, N beside it.
fn counts(evidence: &SparseEvidence) -> SparseCounts<'_> {
    let bases = vec![evidence.base_clusterings() as u16];
    let mut beside = vec![("base_clusterings".to_owned(), bases.into())];
    let seen = evidence
        .all_seen()
        .map(words)
        .filter(|seen| !seen.is_empty());
    beside.extend(seen.map(|seen| ("seen".to_owned(), seen.into())));
    SparseCounts {
        shape: (evidence.objects(), evidence.objects()),
        starts: evidence.starts().into(),
        columns: evidence.all_neighbours().into(),
        values: words(evidence.all_together()).into(),
        beside,
    }
}

fn evidence(counts: SparseCounts<'_>) -> SparseEvidence {
    let [bases, seen] = ["base_clusterings", "seen"].map(|name| {
        let found = counts.beside.iter().find(|(found, _)| found == name);
        found.map(|(_, values)| values.to_vec())
    });
    let bases = usize::from(bases.expect("M")[0]);
    let starts = counts.starts.into_owned();
    let columns = counts.columns.into_owned();
    let values = counts.values.into_owned();
    SparseEvidence::from_parts(bases, starts, columns, values, seen).expect("evidence")
}

#[test]
fn evidence_reads_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("evidence.npz");
    for seed in 0..200 {
        let missing = if seed % 2 == 0 { 0.0 } else { 0.3 };
        let ensemble = partita_conformance::draw(Seed::new(seed), missing).ensemble;
        let pairs = 5 + seed % 50;
        let budget = MemoryBudget::UNLIMITED;
        let sampled = SparseEvidence::sample(&ensemble, pairs, Seed::new(seed), budget, &Silent);
        let sampled = sampled.expect("evidence");
        write_sparse_npz(&file, &counts(&sampled)).expect("a file");
        let again = read_sparse_npz(&file, budget).expect("a matrix");
        assert_eq!(evidence(again), sampled, "seed {seed}");
    }
}
