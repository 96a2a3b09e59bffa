//! KC, QMI and IPVC against one-hot matrices written out.

use partita_conformance::draw;
use partita_core::ndarray::{Array2, Axis};
use partita_core::{BaseWeights, Consensus, Partition, Seed};
use partita_median::{IPVC, KC, QMI};
use rand::RngExt;

use crate::common::{Tables, assert_close, assert_monotone, found, partitions, problem, value};

fn weights(bases: usize, seed: u64) -> BaseWeights {
    let weight = |u| 1.0 + ((u as u64 + seed) % 3) as f64;
    BaseWeights::new((0..bases).map(weight).collect()).unwrap()
}

#[test]
fn objectives_are_what_definitions_say_and_never_get_worse() {
    for seed in 0..100 {
        let drawn = draw(Seed::new(seed), 0.3);
        let weights = weights(drawn.ensemble.bases().len(), seed);
        let mut tables = Tables::of(&drawn.ensemble);
        tables.bases = weights.as_slice().to_vec();
        // Labels that are there, each with the weight of its base clustering.
        let labels = |(table, weight): (&Array2<f64>, &f64)| weight * table.sum();
        let all: f64 = tables.shares.iter().zip(&tables.bases).map(labels).sum();
        for (method, name) in [(&KC, "kc"), (&QMI, "qmi"), (&IPVC, "ipvc")] {
            let problem = problem(&drawn.ensemble, drawn.clusters, &[]).seed(seed);
            let outcome = found(method, &problem.base_weights(&weights));
            let partition = outcome.partition.labels();
            let expected = match name {
                "kc" => tables.squares(partition),
                "qmi" => tables.category_utility(partition),
                _ => all - tables.squares(partition),
            };
            assert_close(value(&outcome), expected, name);
            assert_monotone(outcome.objective.as_ref().unwrap());
        }
    }
}

#[test]
fn with_complete_labels_qmi_is_kc() {
    for seed in 0..50 {
        let drawn = draw(Seed::new(seed), 0.0);
        let weights = weights(drawn.ensemble.bases().len(), seed);
        let problem = problem(&drawn.ensemble, drawn.clusters, &[]).seed(seed);
        let problem = problem.base_weights(&weights);
        let partition = |method: &dyn Consensus| found(method, &problem).partition;
        assert_eq!(partition(&KC), partition(&QMI));
    }
}

/// One-hot labels, n × ΣJ, columns centred and those of base clustering u times √weight_u.
fn standardised(tables: &Tables) -> Array2<f64> {
    let weighted = tables.shares.iter().zip(&tables.bases);
    let columns = weighted.map(|(table, weight)| table * weight.sqrt());
    let columns: Vec<Array2<f64>> = columns.collect();
    let views: Vec<_> = columns.iter().map(|table| table.view()).collect();
    let hot = partita_core::ndarray::concatenate(Axis(1), &views).unwrap();
    let means = hot.mean_axis(Axis(0)).unwrap();
    hot - means
}

/// Sum of squares about the means of clusters, and for every row its nearest mean.
fn about_means(rows: &Array2<f64>, labels: &[u32], clusters: usize) -> (f64, Vec<u32>) {
    let mut means = Array2::<f64>::zeros((clusters, rows.ncols()));
    for k in 0..clusters {
        let members: Vec<usize> = (0..labels.len())
            .filter(|&i| labels[i] as usize == k)
            .collect();
        if let Some(mean) = rows.select(Axis(0), &members).mean_axis(Axis(0)) {
            means.row_mut(k).assign(&mean);
        }
    }
    let far = |i: usize, k: usize| (&rows.row(i) - &means.row(k)).mapv(|d| d * d).sum();
    let live = (0..clusters).filter(|&k| labels.contains(&(k as u32)));
    let live: Vec<usize> = live.collect();
    let nearest = |i: usize| {
        let nearer = |best, k| if far(i, k) < far(i, best) { k } else { best };
        live.iter().copied().fold(live[0], nearer) as u32
    };
    let sum = (0..labels.len()).map(|i| far(i, labels[i] as usize)).sum();
    (sum, (0..labels.len()).map(nearest).collect())
}

/// Plain k-means on the matrix from random labels.
fn dense_kmeans(rows: &Array2<f64>, clusters: usize, seed: Seed) -> f64 {
    let mut rng = seed.rng();
    let random = |_| rng.random_range(0..clusters as u32);
    let mut labels: Vec<u32> = (0..rows.nrows()).map(random).collect();
    loop {
        let (sum, next) = about_means(rows, &labels, clusters);
        if next == labels {
            return sum;
        }
        labels = next;
    }
}

#[test]
fn qmi_is_kmeans_on_standardised_one_hot_labels() {
    let mut best = 0;
    for seed in 0..40 {
        let drawn = draw(Seed::new(seed), 0.0);
        let (ensemble, k) = (&drawn.ensemble, drawn.clusters);
        let weights = weights(ensemble.bases().len(), seed);
        let mut tables = Tables::of(ensemble);
        tables.bases = weights.as_slice().to_vec();
        let rows = standardised(&tables);
        let problem = problem(ensemble, k, &[]).seed(seed).base_weights(&weights);
        let outcome = found(&QMI, &problem);
        let (inside, _) = about_means(&rows, outcome.partition.labels(), k);
        let all = rows.mapv(|x| x * x).sum();
        let between = (all - inside) / ensemble.objects() as f64;
        assert_close(value(&outcome), between, "squares between clusters");
        let dense = (0..10).map(|start| dense_kmeans(&rows, k, Seed::new(seed).child(start)));
        best += usize::from(inside <= dense.fold(f64::INFINITY, f64::min) + 1e-9);
    }
    assert!(best >= 38, "{best} of 40");
}

#[test]
fn kc_mostly_finds_the_best_partition_of_a_few_objects() {
    let (mut reached, mut tried) = (0, 0);
    let all = partitions(8, 3);
    for seed in 0..40 {
        let drawn = draw(Seed::new(seed), 0.2);
        let bases: Vec<u32> = (0..drawn.ensemble.bases().len() as u32).collect();
        let small = drawn.ensemble.select(&[0, 1, 2, 3, 4, 5, 6, 7], &bases);
        if small.first_unlabelled().is_some() {
            continue;
        }
        let tables = Tables::of(&small);
        let squares = all.iter().map(|labels| tables.squares(labels));
        let best = squares.fold(f64::INFINITY, f64::min);
        let outcome = found(&KC, &problem(&small, 3, &[]).seed(seed));
        reached += usize::from(value(&outcome) <= best + 1e-9);
        tried += 1;
    }
    assert!(
        tried > 20 && 10 * reached >= 9 * tried,
        "{reached} of {tried}"
    );
}

#[test]
fn a_single_start_is_no_better_than_many_and_every_cluster_is_used() {
    for seed in 0..50 {
        let drawn = draw(Seed::new(seed), 0.0);
        let rows = drawn.ensemble.fragments().weights().len();
        let value = |settings: &[&str]| {
            let problem = problem(&drawn.ensemble, drawn.clusters, settings).seed(seed);
            let outcome = found(&KC, &problem);
            assert_eq!(outcome.partition.live_clusters(), drawn.clusters.min(rows));
            value(&outcome)
        };
        assert!(value(&[]) <= value(&["restarts=1"]));
    }
}

#[test]
fn starts_on_a_sample_go_on_with_all_rows() {
    let mut builder = partita_core::EnsembleBuilder::new(30_000);
    for u in 0..9usize {
        let noise = |i: usize| (i * 7919).is_multiple_of(11 + u);
        let label = |i: usize| if noise(i) { (i / 3 + u) % 4 } else { i % 4 };
        builder
            .push(format!("u{u}"), (0..30_000).map(|i| Some(label(i))))
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let outcome = found(&KC, &problem(&ensemble, 4, &[]).seed(3));
    let truth = Partition::new((0..30_000).map(|i| i % 4).collect(), 4).unwrap();
    let table = partita_metrics::Contingency::new(&outcome.partition, &truth).unwrap();
    assert!(table.accuracy() > 0.999, "{}", table.accuracy());
    let expected = Tables::of(&ensemble).squares(outcome.partition.labels());
    assert_close(value(&outcome), expected, "squares");
}
