//! Real tables: what the paper's protocol reaches, and models that go through a file.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::PathBuf;

use partita_core::ndarray::{Array2, ArrayView2, Axis};
use partita_core::{
    BaseWeights, Ensemble, Features, ModelInput, Partition, Seed, Silent, WeightedEnsemble,
};
use partita_metrics::Contingency;
use partita_ssce::{SsceSettings, learn, read_model, ssce, ssce_p};
use rand::{RngExt, seq::SliceRandom};

use crate::k_means::k_means;

struct Table {
    columns: Vec<String>,
    values: Array2<f64>,
    truth: Partition,
}

/// A table whose last column is the label; none where the folder of data sets is not known.
fn table(name: &str) -> Option<Table> {
    let Some(folder) = std::env::var_os("PARTITA_DATASETS") else {
        let ci = std::env::var_os("CI");
        assert!(ci.is_none(), "PARTITA_DATASETS is not set");
        return None;
    };
    let path = PathBuf::from(folder).join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let d = header.len() - 1;
    Some(Table {
        columns: header[..d].iter().map(|name| (*name).to_owned()).collect(),
        values: Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][j].parse().unwrap()),
        truth: Partition::from_values(&rows.iter().map(|row| row[d]).collect::<Vec<_>>()),
    })
}

fn ensemble(x: ArrayView2<'_, f64>, k: usize, seed: Seed) -> Ensemble {
    partita_conformance::ensemble((0..20).map(|u| {
        let labels = k_means(x, k, seed.child(u));
        (format!("u{u}"), labels.into_iter().map(Some).collect())
    }))
}

fn accuracy(found: &Partition, truth: &Partition) -> f64 {
    Contingency::new(found, truth).unwrap().accuracy()
}

/// Mean accuracy of SSCE and SSCE-P, as the paper has them, over ensembles of 20 runs of k-means on the raw table.
fn reached(name: &str, gamma: f64, runs: u64) -> Option<(f64, f64)> {
    let Table {
        columns,
        values,
        truth,
    } = table(name)?;
    let features = Features::new(&columns, values.view()).unwrap();
    let mut on_table = 0.0;
    let mut on_labels = 0.0;
    let k = truth.clusters();
    let mut settings = SsceSettings::paper();
    settings.gamma = Some(gamma);
    for run in (0..runs).map(Seed::new) {
        let ensemble = ensemble(values.view(), k, run);
        let outcome = ssce(&ensemble, &features, k, run, &settings, &Silent).unwrap();
        on_table += accuracy(&outcome.partition, &truth);
        let outcome = ssce_p(&ensemble, k, run, &settings, &Silent).unwrap();
        on_labels += accuracy(&outcome.partition, &truth);
    }
    Some((on_table / runs as f64, on_labels / runs as f64))
}

/// The values of γ are those that do best by the true labels, as in the paper. Means of a hundred ensembles are .79,
/// .92, .82, .76, .81 and .55 on the table; the floors leave room for the noise of four.
#[test]
fn the_papers_protocol_reaches_the_papers_accuracy() {
    for (name, gamma, table, labels) in [
        ("wine", 1.0, 0.76, 0.69),
        ("wdbc", 100.0, 0.90, 0.84),
        ("soybean", 10.0, 0.78, 0.75),
        ("iris", 1.0, 0.74, 0.87),
        ("zoo", 10.0, 0.76, 0.70),
        ("protein", 1.0, 0.46, 0.47),
    ] {
        let Some((on_table, on_labels)) = reached(name, gamma, 4) else {
            return;
        };
        assert!(
            on_table >= table && on_labels >= labels,
            "{name}: {on_table} on the table, {on_labels} on labels"
        );
    }
}

#[test]
fn a_model_labels_the_rest_of_a_table_the_same_after_a_file_and_with_shuffled_columns() {
    let Some(Table {
        columns,
        values,
        truth,
    }) = table("wdbc")
    else {
        return;
    };
    let mut order: Vec<usize> = (0..values.nrows()).collect();
    order.shuffle(&mut Seed::new(1).rng());
    let (seen, unseen) = order.split_at(values.nrows() * 6 / 10);
    let [train, rest] = [seen, unseen].map(|rows| values.select(Axis(0), rows));
    let features = Features::new(&columns, train.view()).unwrap();
    let ensemble = ensemble(train.view(), 2, Seed::new(2));
    let settings = SsceSettings::default();
    let outcome = ssce(&ensemble, &features, 2, Seed::new(3), &settings, &Silent).unwrap();
    let known = Partition::new(unseen.iter().map(|&i| truth.labels()[i]).collect(), 2).unwrap();
    let mut models = vec![outcome.model.unwrap()];
    for predictor in ["ssce", "centroid", "knn"] {
        let predictor = predictor.parse().unwrap();
        models.push(learn(predictor, &features, &outcome.partition).unwrap());
    }
    let mut places: Vec<usize> = (0..columns.len()).collect();
    places.shuffle(&mut Seed::new(4).rng());
    let shuffled: Vec<String> = places.iter().map(|&j| columns[j].clone()).collect();
    let turned = rest.select(Axis(1), &places);
    for model in models {
        let text = model.to_json().to_string();
        let again = read_model(&serde_json::from_str(&text).unwrap()).unwrap();
        let rest = Features::new(&columns, rest.view()).unwrap();
        let here = model.predict(&ModelInput::Features(rest)).unwrap();
        let turned = Features::new(&shuffled, turned.view()).unwrap();
        let there = again.predict(&ModelInput::Features(turned)).unwrap();
        assert_eq!(here, there);
        let accuracy = accuracy(&here.hard(), &known);
        assert!(accuracy > 0.8, "{accuracy}");
    }
}

#[test]
fn weights_and_seeds_reach_the_fit() {
    let mut rng = Seed::new(1).rng();
    let values = Array2::from_shape_fn((60, 2), |(i, _)| {
        (i / 30) as f64 * 3.0 + rng.random::<f64>()
    });
    let columns = ["x".to_owned(), "y".to_owned()];
    let features = Features::new(&columns, values.view()).unwrap();
    let halves: Vec<u32> = (0..60).map(|i| i / 30).collect();
    let good = halves.iter().copied().map(Some).collect();
    let bad: Vec<Option<u32>> = (0..60).map(|i| Some(i % 2)).collect();
    let bad = (0..3).map(|u| (format!("bad{u}"), bad.clone()));
    let ensemble = partita_conformance::ensemble([("good".into(), good)].into_iter().chain(bad));
    let mut settings = SsceSettings::default();
    settings.gamma = Some(0.1);
    let weights = BaseWeights::new(vec![100.0, 1.0, 1.0, 1.0]).unwrap();
    let mut source = WeightedEnsemble::from(&ensemble);
    source.base_weights = Some(&weights);
    let outcome = ssce(source, &features, 2, Seed::new(1), &settings, &Silent).unwrap();
    let halves = Partition::new(halves, 2).unwrap();
    assert!(accuracy(&outcome.partition, &halves) > 0.95);
    let trace = outcome.objective.unwrap().trace;
    assert!(trace.windows(2).all(|pair| pair[1] <= pair[0]), "{trace:?}");
}
