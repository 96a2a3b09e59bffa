//! KC, QMI and IPVC against one-hot matrices written out.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use approx::assert_relative_eq;
use partita_conformance::{Drawn, draw};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{BaseWeights, ClustersError, Ensemble, Partition, Seed, Silent, WeightsError};
use partita_median::{LabelMeansSettings, MedianError, ipvc, kc, qmi};
use rand::RngExt;

/// Σ_i Σ_u weight_u ‖one-hot − mean of the cluster‖², written out.
fn squares(ensemble: &Ensemble, partition: &Partition, weights: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (u, base) in ensemble.bases().iter().enumerate() {
        for k in 0..partition.clusters() {
            let members: Vec<usize> = (0..ensemble.objects())
                .filter(|&i| partition.labels()[i] as usize == k && ensemble.label(i, u).is_some())
                .collect();
            for j in 0..base.clusters() {
                let hot = |i: &usize| f64::from(u8::from(ensemble.label(*i, u) == Some(j)));
                let mean = members.iter().map(hot).sum::<f64>() / members.len() as f64;
                sum += weights[u] * members.iter().map(|i| (hot(i) - mean).powi(2)).sum::<f64>();
            }
        }
    }
    sum
}

fn labelled(ensemble: &Ensemble, u: usize) -> f64 {
    ensemble.column(u).flatten().count() as f64
}

/// Category utility from its definition.
fn utility(ensemble: &Ensemble, partition: &Partition, weights: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (u, base) in ensemble.bases().iter().enumerate() {
        let n = labelled(ensemble, u);
        let count = |j: Option<usize>, k: Option<u32>| {
            let both = |&(l, label): &(Option<usize>, &u32)| {
                l.is_some() && (j.is_none() || l == j) && k.is_none_or(|k| *label == k)
            };
            ensemble
                .column(u)
                .zip(partition.labels())
                .filter(both)
                .count() as f64
        };
        for j in 0..base.clusters() {
            sum -= weights[u] * (count(Some(j), None) / n).powi(2);
            for k in 0..partition.clusters() as u32 {
                let size = count(None, Some(k));
                if size > 0.0 {
                    sum += weights[u] * size / n * (count(Some(j), Some(k)) / size).powi(2);
                }
            }
        }
    }
    sum
}

fn drawn(seed: u64, missing: f64) -> (Drawn, BaseWeights) {
    let drawn = draw(Seed::new(seed), missing);
    let weights = (0..drawn.ensemble.bases().len())
        .map(|u| 1.0 + ((u as u64 + seed) % 3) as f64)
        .collect();
    (drawn, BaseWeights::new(weights).unwrap())
}

#[test]
fn kc_reports_the_sum_of_squares_which_never_rises() {
    for seed in 0..100 {
        let (drawn, weights) = drawn(seed, 0.3);
        let settings = LabelMeansSettings::default();
        let outcome = kc(
            &drawn.ensemble,
            Some(&weights),
            drawn.clusters,
            Seed::new(seed),
            &settings,
            &Silent,
        )
        .unwrap();
        let objective = outcome.objective.unwrap();
        let expected = squares(&drawn.ensemble, &outcome.partition, weights.as_slice());
        assert_relative_eq!(
            objective.value,
            expected,
            max_relative = 1e-10,
            epsilon = 1e-10
        );
        assert!(
            objective
                .trace
                .windows(2)
                .all(|pair| pair[1] <= pair[0] + 1e-9),
            "{:?}",
            objective.trace
        );
    }
}

#[test]
fn qmi_reports_category_utility_which_never_falls() {
    for seed in 0..100 {
        let (drawn, weights) = drawn(seed, 0.3);
        let settings = LabelMeansSettings::default();
        let outcome = qmi(
            &drawn.ensemble,
            Some(&weights),
            drawn.clusters,
            Seed::new(seed),
            &settings,
            &Silent,
        )
        .unwrap();
        let objective = outcome.objective.unwrap();
        let expected = utility(&drawn.ensemble, &outcome.partition, weights.as_slice());
        assert_relative_eq!(
            objective.value,
            expected,
            max_relative = 1e-10,
            epsilon = 1e-10
        );
        assert!(
            objective
                .trace
                .windows(2)
                .all(|pair| pair[1] >= pair[0] - 1e-9),
            "{:?}",
            objective.trace
        );
    }
}

#[test]
fn with_complete_labels_qmi_is_kc() {
    for seed in 0..50 {
        let (drawn, weights) = drawn(seed, 0.0);
        let settings = LabelMeansSettings::default();
        let (ensemble, k, seed) = (&drawn.ensemble, drawn.clusters, Seed::new(seed));
        let one = kc(ensemble, Some(&weights), k, seed, &settings, &Silent).unwrap();
        let other = qmi(ensemble, Some(&weights), k, seed, &settings, &Silent).unwrap();
        assert_eq!(one.partition, other.partition);
    }
}

/// One-hot labels, n × ΣJ, columns centred and those of base clustering u times √weight_u.
fn standardised(ensemble: &Ensemble, weights: &[f64]) -> Array2<f64> {
    let offsets = ensemble.offsets();
    let mut hot = Array2::<f64>::zeros((ensemble.objects(), offsets[offsets.len() - 1]));
    for i in 0..ensemble.objects() {
        for (u, weight) in weights.iter().enumerate() {
            hot[[i, offsets[u] + ensemble.label(i, u).unwrap()]] = weight.sqrt();
        }
    }
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
        if !members.is_empty() {
            means
                .row_mut(k)
                .assign(&rows.select(Axis(0), &members).mean_axis(Axis(0)).unwrap());
        }
    }
    let far = |i: usize, k: usize| (&rows.row(i) - &means.row(k)).mapv(|d| d * d).sum();
    let live: Vec<usize> = (0..clusters)
        .filter(|&k| labels.contains(&(k as u32)))
        .collect();
    let nearest = |i: usize| {
        live.iter().copied().fold(
            live[0],
            |best, k| if far(i, k) < far(i, best) { k } else { best },
        )
    };
    let sum = (0..labels.len()).map(|i| far(i, labels[i] as usize)).sum();
    (sum, (0..labels.len()).map(|i| nearest(i) as u32).collect())
}

/// Plain k-means on the matrix from random labels.
fn dense_kmeans(rows: &Array2<f64>, clusters: usize, seed: Seed) -> f64 {
    let mut rng = seed.rng();
    let mut labels: Vec<u32> = (0..rows.nrows())
        .map(|_| rng.random_range(0..clusters as u32))
        .collect();
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
        let (drawn, weights) = drawn(seed, 0.0);
        let (ensemble, k) = (&drawn.ensemble, drawn.clusters);
        let rows = standardised(ensemble, weights.as_slice());
        let settings = LabelMeansSettings::default();
        let outcome = qmi(
            ensemble,
            Some(&weights),
            k,
            Seed::new(seed),
            &settings,
            &Silent,
        )
        .unwrap();
        let (inside, _) = about_means(&rows, outcome.partition.labels(), k);
        let all = rows.mapv(|x| x * x).sum();
        let n = ensemble.objects() as f64;
        assert_relative_eq!(
            outcome.objective.unwrap().value,
            (all - inside) / n,
            max_relative = 1e-10
        );
        let dense = (0..10).map(|start| dense_kmeans(&rows, k, Seed::new(seed).child(start)));
        best += usize::from(inside <= dense.fold(f64::INFINITY, f64::min) + 1e-9);
    }
    assert!(best >= 38, "{best} of 40");
}

#[test]
fn ipvc_reports_votes_which_never_fall() {
    for seed in 0..100 {
        let (drawn, weights) = drawn(seed, 0.3);
        let settings = LabelMeansSettings::default();
        let outcome = ipvc(
            &drawn.ensemble,
            Some(&weights),
            drawn.clusters,
            Seed::new(seed),
            &settings,
            &Silent,
        )
        .unwrap();
        let objective = outcome.objective.unwrap();
        let squares = squares(&drawn.ensemble, &outcome.partition, weights.as_slice());
        let all: f64 = weights
            .as_slice()
            .iter()
            .enumerate()
            .map(|(u, w)| w * labelled(&drawn.ensemble, u))
            .sum();
        assert_relative_eq!(
            objective.value,
            all - squares,
            max_relative = 1e-10,
            epsilon = 1e-10
        );
        assert!(
            objective
                .trace
                .windows(2)
                .all(|pair| pair[1] >= pair[0] - 1e-9),
            "{:?}",
            objective.trace
        );
    }
}

#[test]
fn kc_mostly_finds_the_best_partition_of_a_few_objects() {
    let (mut found, tried) = (0, 40);
    for seed in 0..tried {
        let drawn = draw(Seed::new(seed), 0.2);
        let keep: Vec<u32> = (0..8).collect();
        let bases: Vec<u32> = (0..drawn.ensemble.bases().len() as u32).collect();
        let small = drawn.ensemble.select(&keep, &bases);
        if small.first_unlabelled().is_some() {
            found += 1;
            continue;
        }
        let ones = vec![1.0; bases.len()];
        let every = (0..3u32.pow(8)).map(|code| {
            let labels = (0..8).map(|i| code / 3u32.pow(i) % 3).collect();
            squares(&small, &Partition::new(labels, 3).unwrap(), &ones)
        });
        let best = every.fold(f64::INFINITY, f64::min);
        let outcome = kc(
            &small,
            None,
            3,
            Seed::new(seed),
            &LabelMeansSettings::default(),
            &Silent,
        )
        .unwrap();
        found += u64::from(outcome.objective.unwrap().value <= best + 1e-9);
    }
    assert!(found >= tried * 9 / 10, "{found} of {tried}");
}

#[test]
fn a_single_start_is_no_better_than_many_and_every_cluster_is_used() {
    for seed in 0..50 {
        let drawn = draw(Seed::new(seed), 0.0);
        let many = LabelMeansSettings::default();
        let mut one = LabelMeansSettings::default();
        one.restarts = std::num::NonZeroU32::MIN;
        let value = |settings| {
            let outcome = kc(
                &drawn.ensemble,
                None,
                drawn.clusters,
                Seed::new(seed),
                settings,
                &Silent,
            )
            .unwrap();
            let rows = drawn.ensemble.fragments().weights().len();
            assert_eq!(outcome.partition.live_clusters(), drawn.clusters.min(rows));
            outcome.objective.unwrap().value
        };
        assert!(value(&many) <= value(&one));
    }
}

#[test]
fn starts_on_a_sample_go_on_with_all_rows() {
    let mut builder = partita_core::EnsembleBuilder::new(30_000);
    for u in 0..9usize {
        let label = |i: usize| {
            Some(if (i * 7919).is_multiple_of(11 + u) {
                (i / 3 + u) % 4
            } else {
                i % 4
            })
        };
        builder
            .push(format!("u{u}"), (0..30_000).map(label))
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let outcome = kc(
        &ensemble,
        None,
        4,
        Seed::new(3),
        &LabelMeansSettings::default(),
        &Silent,
    )
    .unwrap();
    let truth = Partition::new((0..30_000).map(|i| i % 4).collect(), 4).unwrap();
    let table = partita_metrics::Contingency::new(&outcome.partition, &truth).unwrap();
    assert!(table.accuracy() > 0.999, "{}", table.accuracy());
    assert_relative_eq!(
        outcome.objective.unwrap().value,
        squares(&ensemble, &outcome.partition, &[1.0; 9]),
        max_relative = 1e-10
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let drawn = draw(Seed::new(1), 0.0);
    let (ensemble, seed) = (&drawn.ensemble, Seed::new(0));
    let mut settings = LabelMeansSettings::default();
    let short = BaseWeights::new(vec![1.0]).unwrap();
    let error = kc(ensemble, Some(&short), 2, seed, &settings, &Silent).unwrap_err();
    assert_eq!(
        error,
        MedianError::Weights(WeightsError {
            found: 1,
            bases: ensemble.bases().len()
        })
    );
    let error = kc(ensemble, None, 0, seed, &settings, &Silent).unwrap_err();
    assert_eq!(
        error,
        MedianError::Clusters(ClustersError {
            clusters: 0,
            objects: ensemble.objects()
        })
    );
    settings.tolerance = f64::NAN;
    assert!(matches!(
        kc(ensemble, None, 2, seed, &settings, &Silent),
        Err(MedianError::Settings(_))
    ));
}
