//! Runs with an open number of clusters on tables without clusters, and on one with three.

use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

use partita::generate::Recipe;
use partita_app::{ClustersAsked, Experiment, MethodChoice, NoObserver, RunRecord, TableInput};

/// Even numbers in 0..1 (SplitMix64).
struct Noise(u64);

impl Noise {
    fn even(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.even()).ln()).sqrt() * (TAU * self.even()).cos()
    }
}

/// A table of so many rows as CSV.
fn table(path: &Path, rows: usize, mut row: impl FnMut(usize) -> Vec<f64>) {
    let mut text = String::new();
    for at in 0..rows {
        let row = row(at);
        if at == 0 {
            let names: Vec<String> = (0..row.len()).map(|column| format!("x{column}")).collect();
            writeln!(text, "{}", names.join(",")).expect("text");
        }
        writeln!(
            text,
            "{}",
            row.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
        )
        .expect("text");
    }
    std::fs::write(path, text).expect("a file");
}

/// One of three kinds of table without clusters, in four columns.
fn noise(path: &Path, kind: usize, seed: u64) {
    let mut noise = Noise(seed * 3 + kind as u64);
    let mixing: Vec<f64> = (0..16).map(|_| noise.normal()).collect();
    table(path, 80, |_| {
        let own: Vec<f64> = (0..4)
            .map(|_| {
                if kind == 1 {
                    noise.even()
                } else {
                    noise.normal()
                }
            })
            .collect();
        match kind {
            2 => mixing
                .chunks(4)
                .map(|weights| weights.iter().zip(&own).map(|(w, x)| w * x).sum())
                .collect(),
            _ => own,
        }
    });
}

fn run(path: &Path, folder: Option<&Path>, clusters: &str) -> RunRecord {
    let mut recipe = Recipe::default();
    (recipe.base[0].runs, recipe.base_k) = (3, "2".parse().expect("a number"));
    let clusters: ClustersAsked = clusters.parse().expect("a number of clusters");
    let mut experiment = Experiment::of_table(
        TableInput::new(path),
        recipe,
        clusters,
        MethodChoice::new("kc"),
    );
    (experiment.outputs.folder, experiment.outputs.report) =
        (folder.map(Into::into), folder.is_some());
    experiment.run(&NoObserver).expect("a run")
}

#[test]
fn noise_has_no_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise.csv");
    for kind in 0..3 {
        let mut wrong = Vec::new();
        for seed in 0..50 {
            noise(&path, kind, seed);
            let record = run(&path, None, "2..6");
            let choice = record.choice.unwrap();
            match choice.clusters {
                1 => assert_eq!(record.methods[0].clusters, 1),
                _ => wrong.push((seed, choice.reason)),
            }
        }
        // 95 % of 50.
        assert!(wrong.len() <= 2, "kind {kind}: {wrong:#?}");
    }
}

/// As above where base clusterings are chosen too: 51 tables of three kinds.
#[test]
fn noise_has_no_clusters_whatever_base_clusterings_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise.csv");
    let mut wrong = Vec::new();
    for seed in 0..51 {
        noise(&path, seed as usize % 3, 1000 + seed);
        let mut experiment = Experiment::of_table(
            TableInput::new(&path),
            Recipe::default(),
            ClustersAsked::Chosen {
                first: 2,
                last: Some(6),
            },
            MethodChoice::new("kc"),
        );
        experiment.auto = true;
        let record = experiment.run(&NoObserver).expect("a run");
        let auto = record.auto.unwrap();
        match auto.clusters {
            1 => assert_eq!(
                (record.methods[0].clusters, record.choice.unwrap().clusters),
                (1, 1)
            ),
            _ => wrong.push((seed, auto.reason)),
        }
    }
    assert!(wrong.len() <= 2, "{wrong:#?}");
}

#[test]
fn a_run_keeps_its_choice() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("t.csv"), folder.path().join("out"));
    let mut noise = Noise(7);
    table(&path, 90, |at| {
        vec![(at % 3 * 9) as f64 + noise.normal(), noise.normal()]
    });
    let record = run(&path, Some(&out), "auto");
    let choice = record.choice.as_ref().unwrap();
    assert_eq!(
        (
            choice.clusters,
            choice.rows.len(),
            record.methods[0].clusters
        ),
        (3, 11, 3),
        "{}",
        choice.reason
    );
    assert!(
        choice
            .rows
            .iter()
            .all(|row| row.partition.is_none() && row.score.is_some())
    );
    assert!(
        record.summary().contains("<- chosen"),
        "{}",
        record.summary()
    );
    let saved = partita_app::SavedChoice::open(&out.join("choice.json")).unwrap();
    assert!(
        saved
            .choice
            .rows
            .iter()
            .all(|row| row.partition.is_some() && row.score.is_some())
    );
    let opened = RunRecord::open(&out.join("record.json"))
        .unwrap()
        .choice
        .unwrap();
    assert_eq!(
        (opened.reason, opened.rows.len()),
        (choice.reason.clone(), 11)
    );
    assert!(
        std::fs::read_to_string(out.join("report.html"))
            .unwrap()
            .contains("they have the highest score")
    );
}
