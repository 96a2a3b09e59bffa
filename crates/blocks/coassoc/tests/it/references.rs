//! Counts against a twin that is written for clarity, over drawn ensembles with missing labels.

use partita_coassoc::{
    CoAssociation, CoassocError, EvidenceRows, Seen, SparseEvidence, StrongestSettings,
    pair_histogram, recall,
};
use partita_core::{
    BaseWeights, Ensemble, EnsembleBuilder, MemoryBudget, Seed, Silent, WeightedEnsemble,
};
use rand::RngExt;

/// Of these two thirds, 200, have missing labels.
const ENSEMBLES: u64 = 300;

/// Ensembles of one or two bytes a label, with few or many base clusterings, with and without missing labels.
fn draw(seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let n = rng.random_range(1..if seed.is_multiple_of(5) { 150 } else { 40 });
    let bases = if seed.is_multiple_of(20) {
        rng.random_range(240..270)
    } else {
        rng.random_range(1..20)
    };
    let missing = if seed.is_multiple_of(3) { 0.0 } else { 0.3 };
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..bases {
        let clusters = if seed % 7 == 1 && u == 0 {
            300
        } else {
            rng.random_range(1..6)
        };
        let mut labels: Vec<Option<u32>> = (0..n)
            .map(|_| (!rng.random_bool(missing)).then(|| rng.random_range(0..clusters)))
            .collect();
        labels[0] = labels[0].or(Some(0));
        builder
            .push_clusters(format!("u{u}"), labels, clusters as usize)
            .expect("a base clustering");
    }
    builder.finish().expect("an ensemble")
}

/// c and N of a pair, by the definition.
fn naive(ensemble: &Ensemble, i: usize, j: usize) -> (u32, u32) {
    let (mut c, mut n) = (0, 0);
    for u in 0..ensemble.bases().len() {
        if let (Some(a), Some(b)) = (ensemble.label(i, u), ensemble.label(j, u)) {
            n += 1;
            c += u32::from(a == b);
        }
    }
    (c, n)
}

fn dense<'a>(source: impl Into<WeightedEnsemble<'a>>) -> CoAssociation {
    CoAssociation::count(source, MemoryBudget::UNLIMITED, &Silent).expect("counts")
}

fn strongest<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    neighbours: usize,
    settings: &StrongestSettings,
) -> SparseEvidence {
    let (seed, budget) = (Seed::new(1), MemoryBudget::UNLIMITED);
    SparseEvidence::strongest(source, neighbours, seed, settings, budget, &Silent).expect("counts")
}

fn weighted<'a>(ensemble: &'a Ensemble, weights: &'a BaseWeights) -> WeightedEnsemble<'a> {
    WeightedEnsemble {
        base_weights: Some(weights),
        ..ensemble.into()
    }
}

/// All pairs of n objects.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

/// The same on one thread and on two.
fn on_any_threads<T: Send + PartialEq + std::fmt::Debug>(work: impl Fn() -> T + Sync) -> T {
    let found = in_pool(1, &work);
    assert_eq!(found, in_pool(2, &work));
    found
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool")
        .install(work)
}

#[test]
fn dense_counts_are_those_of_the_naive_twin() {
    for seed in 0..ENSEMBLES {
        let ensemble = draw(seed);
        let n = ensemble.objects();
        let counts = on_any_threads(|| dense(&ensemble));
        assert_eq!(
            matches!(counts.seen(), Seen::Always(_)),
            ensemble.missing() == 0
        );
        for (i, j) in pairs(n) {
            let expected = naive(&ensemble, i, j);
            assert_eq!(counts.pair(j, i), expected, "seed {seed}, pair {i} {j}");
        }
    }
}

#[test]
fn a_histogram_counts_each_pair_once() {
    for seed in 0..ENSEMBLES {
        let ensemble = draw(seed);
        let (n, bases) = (ensemble.objects(), ensemble.bases().len());
        let mut expected = vec![0; (bases + 1) * (bases + 2) / 2];
        for (i, j) in pairs(n) {
            let (c, n) = naive(&ensemble, i, j);
            expected[(n * (n + 1) / 2 + c) as usize] += 1;
        }
        let found = on_any_threads(|| pair_histogram(&ensemble, &Silent).unwrap());
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn rows_are_those_of_the_naive_twin() {
    for seed in 0..ENSEMBLES {
        let ensemble = draw(seed);
        let rows = EvidenceRows::new(&ensemble).unwrap();
        let object = seed as usize % ensemble.objects();
        let mut next = 0;
        rows.for_each(object, |j, c, n| {
            assert_eq!(
                (j, (c, n)),
                (next, naive(&ensemble, object, j)),
                "seed {seed}"
            );
            next += 1;
        });
        assert_eq!(next, ensemble.objects());

        let weights: Vec<u32> = (0..ensemble.bases().len() as u32)
            .map(|u| u * u + 1)
            .collect();
        for (j, (s, n)) in weighted_row(&rows, object, &weights)
            .into_iter()
            .enumerate()
        {
            let shared = |u: &usize| {
                let label = ensemble.label(object, *u);
                label.is_some() && label == ensemble.label(j, *u)
            };
            let expected: u32 = (0..weights.len()).filter(shared).map(|u| weights[u]).sum();
            assert_eq!(
                (s, n),
                (expected, naive(&ensemble, object, j).1),
                "seed {seed}"
            );
        }
    }
}

/// What an object shares with every other by weight, and N.
fn weighted_row(rows: &EvidenceRows, object: usize, weights: &[u32]) -> Vec<(u32, u32)> {
    let (mut sums, mut seen) = (vec![0; rows.objects()], vec![0; rows.objects()]);
    rows.fill_weighted(object, weights, &mut sums, |s, _, row| {
        row.copy_from_slice(s);
    });
    rows.fill_weighted(object, weights, &mut seen, |_, n, row| {
        row.copy_from_slice(n);
    });
    sums.into_iter().zip(seen).collect()
}

#[test]
fn long_rows_are_filled_in_pieces() {
    // 6 million labels: three pieces of 2,000 objects each, and a rest.
    let (objects, bases) = (6_150, 1_000);
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..bases {
        let label = |i: usize| (!(i + u).is_multiple_of(11)).then_some((i * 7 + u * i / 3) % 3);
        builder
            .push(format!("u{u}"), (0..objects).map(label).collect::<Vec<_>>())
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let rows = EvidenceRows::new(&ensemble).unwrap();
    let weighted = in_pool(2, || weighted_row(&rows, 4_000, &vec![2; bases]));
    let mut next = 0;
    rows.for_each(4_000, |j, c, n| {
        assert_eq!(weighted[j], (2 * c, n));
        next += 1;
    });
    assert_eq!(next, objects);
}

#[test]
fn sparse_evidence_of_all_pairs_is_dense_and_of_some_a_part_of_it() {
    for seed in 0..ENSEMBLES {
        let ensemble = draw(seed);
        let n = ensemble.objects() as u64;
        let all = n * (n - 1) / 2;
        let (dense, unlimited) = (dense(&ensemble), MemoryBudget::UNLIMITED);
        for pairs in [all, all / 3] {
            let seed = Seed::new(seed);
            let sparse = on_any_threads(|| {
                SparseEvidence::sample(&ensemble, pairs, seed, unlimited, &Silent).unwrap()
            });
            assert_eq!(sparse.pairs() as u64, pairs);
            assert_eq!(sparse.each_pair().count() as u64, pairs);
            for i in 0..n as usize {
                assert!(sparse.neighbours(i).is_sorted_by(|a, b| a < b));
                for (j, c, n) in sparse.row(i) {
                    assert_eq!((c, n), dense.pair(i, j as usize), "{seed:?}");
                }
            }
            let list: Vec<(u32, u32)> = sparse
                .each_pair()
                .flat_map(|(i, j, ..)| [(j, i), (i, j)])
                .collect();
            let given = SparseEvidence::of_pairs(&ensemble, &list, unlimited, &Silent);
            assert_eq!(given.unwrap(), sparse);
        }
    }
}

/// The ensemble in which base clustering u is there `1 + u % 3` times, and weights that say the same.
fn copied(ensemble: &Ensemble) -> (Ensemble, BaseWeights) {
    let often = |u: u32| 1 + u % 3;
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32)
        .flat_map(|u| (0..often(u)).map(move |_| u))
        .collect();
    let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
    let weights = (0..ensemble.bases().len() as u32)
        .map(|u| 0.1 * f64::from(often(u)))
        .collect();
    (
        ensemble.select(&objects, &bases),
        BaseWeights::new(weights).expect("positive weights"),
    )
}

/// Whole proportions are exact: a weight of 2 is two copies.
#[test]
fn a_weight_is_so_many_copies() {
    for seed in 0..ENSEMBLES / 3 {
        let ensemble = draw(seed);
        let (copies, weights) = copied(&ensemble);
        let weighted = weighted(&ensemble, &weights);
        let (found, expected) = (dense(weighted), dense(&copies));
        let n = ensemble.objects();
        for (i, j) in pairs(n) {
            assert_eq!(found.pair(i, j), expected.pair(i, j), "seed {seed}");
        }
        let (rows, all) = (
            EvidenceRows::new(weighted).unwrap(),
            EvidenceRows::new(&copies).unwrap(),
        );
        let row = |rows: &EvidenceRows| {
            let mut row = Vec::new();
            rows.for_each(n / 2, |j, c, seen| row.push((j, c, seen)));
            row
        };
        assert_eq!(row(&rows), row(&all), "seed {seed}");
        let near = |source: WeightedEnsemble<'_>| {
            let near = strongest(source, 3, &StrongestSettings::default());
            near.each_pair().collect::<Vec<_>>()
        };
        assert_eq!(near(weighted), near((&copies).into()), "seed {seed}");
    }
}

/// Weights in no whole proportions are rounded to one part in 2³¹.
#[test]
fn weights_of_any_proportion_are_summed() {
    for seed in 0..ENSEMBLES / 3 {
        let ensemble = draw(seed);
        let given: Vec<f64> = (0..ensemble.bases().len())
            .map(|u| (1.0 + u as f64).sqrt())
            .collect();
        let weights = BaseWeights::new(given).unwrap();
        let dense = dense(weighted(&ensemble, &weights));
        let weight = |u: usize| weights.as_slice()[u] / ensemble.bases().len() as f64;
        for (i, j) in pairs(ensemble.objects()) {
            let (mut c, mut n) = (0.0, 0.0);
            for u in 0..ensemble.bases().len() {
                if let (Some(a), Some(b)) = (ensemble.label(i, u), ensemble.label(j, u)) {
                    n += weight(u);
                    c += if a == b { weight(u) } else { 0.0 };
                }
            }
            let found = dense.pair(i, j);
            let share = |count: u32| f64::from(count) / f64::from(dense.unit());
            assert!(
                (share(found.0) - c).abs() < 1e-6 && (share(found.1) - n).abs() < 1e-6,
                "seed {seed}"
            );
        }
    }
}

#[test]
fn what_can_not_be_counted_is_refused() {
    let ensemble = draw(4);
    let n = ensemble.objects() as u32;
    let of =
        |pairs: &[(u32, u32)], budget| SparseEvidence::of_pairs(&ensemble, pairs, budget, &Silent);
    for (left, right) in [(0, 0), (0, n), (n, 1)] {
        let error = of(&[(0, 1), (left, right)], MemoryBudget::UNLIMITED).unwrap_err();
        assert_eq!(
            error,
            CoassocError::NoPair {
                left,
                right,
                objects: n as usize
            }
        );
    }
    let error = of(&[(0, 1)], MemoryBudget::new(10)).unwrap_err();
    assert!(
        error.to_string().contains("the sparse evidence needs"),
        "{error}"
    );
    assert!(error.to_string().ends_with("0 pairs would fit"), "{error}");
    let bytes = CoAssociation::bytes(7, ensemble.bases().len(), true);
    assert!(
        CoAssociation::bytes(n as usize, ensemble.bases().len(), true) > bytes,
        "{n} objects"
    );
    let error = CoAssociation::count(&ensemble, MemoryBudget::new(bytes), &Silent).unwrap_err();
    let remedy = "7 objects would fit; for more, take the sparse evidence of sampled pairs";
    assert!(error.to_string().ends_with(remedy), "{error}");
}

#[test]
fn the_strongest_are_those_of_the_naive_twin() {
    for seed in 0..ENSEMBLES {
        let ensemble = draw(seed);
        let n = ensemble.objects();
        let q = 1 + seed as usize % 6;
        let settings = StrongestSettings::default();
        let strongest = on_any_threads(|| strongest(&ensemble, q, &settings));
        let mut expected = std::collections::BTreeSet::new();
        for i in 0..n {
            let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            let strength = |j: usize| {
                let (c, n) = naive(&ensemble, i, j);
                if n == 0 {
                    0.0
                } else {
                    f64::from(c) / f64::from(n)
                }
            };
            others.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
            expected.extend(
                others
                    .iter()
                    .take(q)
                    .map(|&j| (i.min(j) as u32, i.max(j) as u32)),
            );
        }
        let pairs: Vec<(u32, u32)> = strongest.each_pair().map(|(i, j, ..)| (i, j)).collect();
        assert!(pairs.iter().eq(expected.iter()), "seed {seed}");
        assert_eq!(
            recall(&strongest, &ensemble, q, n, Seed::new(2)).unwrap(),
            1.0
        );
    }
}

#[test]
fn most_of_the_strongest_are_among_the_candidates() {
    let mut rng = Seed::new(5).rng();
    let n = 2_000;
    let mut builder = EnsembleBuilder::new(n);
    let points: Vec<f64> = (0..n).map(|_| rng.random()).collect();
    for u in 0..20 {
        let (cells, shift) = (rng.random_range(5.0..20.0), rng.random::<f64>());
        let label =
            |point: &f64| (!rng.random_bool(0.02)).then_some((point * cells + shift) as u32);
        builder
            .push(format!("u{u}"), points.iter().map(label))
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let mut settings = StrongestSettings::default();
    settings.exact_objects = 0;
    let strongest = on_any_threads(|| strongest(&ensemble, 10, &settings));
    let share = recall(&strongest, &ensemble, 10, 500, Seed::new(2)).unwrap();
    assert!(share > 0.8, "{share}");
}
