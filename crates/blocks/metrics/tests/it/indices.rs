//! Indices against other implementations, against slow ones, and against what must not change them.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use approx::assert_abs_diff_eq;
use partita_conformance::fixtures;
use partita_core::ndarray::Array2;
use partita_core::{Partition, Seed, SoftPartition};
use partita_metrics::{
    Contingency, MetricsError, Normalisation, Scores, jensen_shannon, perplexity,
};
use rand::{RngExt, seq::SliceRandom};
use serde_json::Value;

fn labels(value: &Value) -> Partition {
    let values: Vec<i64> = serde_json::from_value(value.clone()).unwrap();
    Partition::from_values(&values)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn indices_equal_those_of_the_independent_implementation() {
    let all = fixtures();
    let expected = &all["metrics"];
    let scores = Scores::of(&labels(&expected["a"]), &labels(&expected["b"])).unwrap();
    for (name, value) in [
        ("H", scores.h),
        ("ari", scores.ari),
        ("nmi_sqrt", scores.nmi.geometric),
        ("f1_pairwise", scores.f1.pairwise),
        ("f1_nbce", scores.f1.best_class),
        ("f1_nbce_swapped", scores.f1.best_cluster),
    ] {
        assert_abs_diff_eq!(number(&expected[name]), value, epsilon = 1e-12);
    }
}

#[test]
fn soft_values_equal_those_of_the_independent_implementation() {
    let all = fixtures();
    let start: Vec<Vec<f64>> = serde_json::from_value(all["Y0"].clone()).unwrap();
    let soft = SoftPartition::new(Array2::from_shape_fn((24, 4), |(i, k)| start[i][k])).unwrap();
    let truth = SoftPartition::of(&labels(&all["truth"]));
    let expected = number(&all["metrics"]["js2"]);
    for (one, other) in [(&soft, &truth), (&truth, &soft)] {
        let found = jensen_shannon(one, other).unwrap();
        assert_abs_diff_eq!(found, expected, epsilon = 1e-8);
    }
    let mm = &all["mm"];
    let found = perplexity(number(&mm["loglik"]), 240);
    assert_abs_diff_eq!(found, number(&mm["perplexity"]), epsilon = 1e-8);
}

/// Values that scikit-learn 1.9.1 prints, ARI, AMI, NMI (max, arithmetic, geometric, min), Fowlkes–Mallows, mutual
/// information, with
/// ```python
/// import numpy as np
/// from sklearn.metrics import *
/// i = np.arange(500); x = (i*i + 3*i)//7 % 9; y = ((i*i + 3*i)//7 % 9 + (i % 5 == 0)*(i//5)) % 6
/// for a, b in [(x, y), (x, i), (i, y), (x, 0*i), (0*i, 0*i), (i, i)]:
///     print(adjusted_rand_score(b, a), adjusted_mutual_info_score(b, a),
///           *[normalized_mutual_info_score(b, a, average_method=m) for m in ('max', 'arithmetic', 'geometric', 'min')],
///           fowlkes_mallows_score(b, a), mutual_info_score(b, a))
/// ```
#[test]
fn indices_equal_those_of_scikit_learn() {
    let i: Vec<u32> = (0..500).collect();
    let x: Vec<u32> = i.iter().map(|i| (i * i + 3 * i) / 7 % 9).collect();
    let more = i.iter().map(|i| if i % 5 == 0 { i / 5 } else { 0 });
    let y: Vec<u32> = x.iter().zip(more).map(|(x, more)| (x + more) % 6).collect();
    let one = vec![0u32; 500];
    #[rustfmt::skip]
    let cases = [
        (&x, &y, [0.47325881218381216, 0.5173989656075122, 0.4742513217577956, 0.5280441256582024,
            0.531474069468232, 0.5956012636299626, 0.5693077613143499, 1.0033670646223032]),
        (&x, &i, [0.0, 0.0, 0.34043761919136445, 0.5079499624857404, 0.5834703241737017, 1.0, 0.0, 2.115686385234224]),
        (&i, &y, [0.0, 0.0, 0.2710756352221069, 0.4265295120297689, 0.5206492439465431, 1.0, 0.0, 1.6846288379362457]),
        (&x, &one, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3575243310525721, 0.0]),
        (&one, &one, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]),
        (&i, &i, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 6.214608098422192]),
    ];
    for (a, b, expected) in cases {
        let [a, b] = [a, b].map(|labels| Partition::from_values(labels));
        let table = Contingency::new(&a, &b).unwrap();
        let scores = Scores::from(&table);
        let mut found = vec![scores.ari, scores.ami];
        found.extend(nmi(&scores));
        found.extend([scores.fowlkes_mallows, table.mutual_information()]);
        assert_abs_diff_eq!(&found[..], &expected[..], epsilon = 1e-11);
    }
}

/// Two partitions of the same objects, some clusters empty, and the generator that drew them.
fn drawn(seed: u64) -> (Partition, Partition) {
    let mut rng = Seed::new(seed).rng();
    let n = rng.random_range(2..60);
    let k = rng.random_range(1..8);
    let l = rng.random_range(1..8);
    let truth: Vec<u32> = (0..n).map(|_| rng.random_range(0..l)).collect();
    let found = truth.iter().map(|t| {
        if rng.random_bool(0.6) {
            t % k
        } else {
            rng.random_range(0..k)
        }
    });
    let found = Partition::new(found.collect(), k as usize).unwrap();
    (found, Partition::new(truth, l as usize + 1).unwrap())
}

fn nmi(scores: &Scores) -> [f64; 4] {
    let nmi = &scores.nmi;
    [nmi.max, nmi.arithmetic, nmi.geometric, nmi.min]
}

fn flat(scores: &Scores) -> Vec<f64> {
    let Scores {
        h,
        ari,
        ami,
        vi,
        purity,
        fowlkes_mallows,
        ..
    } = *scores;
    let f1 = &scores.f1;
    let mut all = vec![h, ari, ami, vi, purity, fowlkes_mallows];
    all.extend([f1.best_class, f1.best_cluster, f1.both, f1.pairwise]);
    all.extend(nmi(scores));
    all
}

#[test]
fn indices_of_pairs_equal_counting_every_pair() {
    for seed in 0..200 {
        let (a, b) = drawn(seed);
        let mut both = 0.0;
        let mut first = 0.0;
        let mut second = 0.0;
        let mut pairs = 0.0;
        for i in 0..a.objects() {
            for j in 0..i {
                let [x, y] = [&a, &b].map(|p| p.labels()[i] == p.labels()[j]);
                both += f64::from(u8::from(x && y));
                first += f64::from(u8::from(x));
                second += f64::from(u8::from(y));
                pairs += 1.0;
            }
        }
        let table = Contingency::new(&a, &b).unwrap();
        let expected = first * second / pairs;
        let range = 0.5 * (first + second) - expected;
        let ari = if range == 0.0 {
            1.0
        } else {
            (both - expected) / range
        };
        assert_abs_diff_eq!(table.ari(), ari, epsilon = 1e-12);
        let sum = first + second;
        let f1 = if sum == 0.0 { 1.0 } else { 2.0 * both / sum };
        assert_abs_diff_eq!(table.f1_pairwise(), f1, epsilon = 1e-12);
        let root = (first * second).sqrt();
        let fm = if both == 0.0 { 0.0 } else { both / root };
        assert_abs_diff_eq!(table.fowlkes_mallows(), fm, epsilon = 1e-12);
    }
}

#[test]
fn names_and_order_change_nothing() {
    for seed in 0..100 {
        let (a, b) = drawn(seed);
        let mut rng = Seed::new(seed).child(1).rng();
        let mut names: Vec<u32> = (0..a.clusters() as u32).collect();
        names.shuffle(&mut rng);
        let mut order: Vec<usize> = (0..a.objects()).collect();
        order.shuffle(&mut rng);
        let other_a = order
            .iter()
            .map(|&i| names[a.labels()[i] as usize])
            .collect();
        let other_b = order.iter().map(|&i| b.labels()[i]).collect();
        let other_a = Partition::new(other_a, a.clusters()).unwrap();
        let other_b = Partition::new(other_b, b.clusters()).unwrap();
        let here = flat(&Scores::of(&a, &b).unwrap());
        let there = flat(&Scores::of(&other_a, &other_b).unwrap());
        assert_abs_diff_eq!(&here[..], &there[..], epsilon = 1e-12);
    }
}

#[test]
fn symmetric_indices_are_symmetric_and_f1_swaps() {
    for seed in 0..100 {
        let (a, b) = drawn(seed);
        let here = Scores::of(&a, &b).unwrap();
        let there = Scores::of(&b, &a).unwrap();
        let exact = |s: &Scores| [s.h, s.ari, s.f1.pairwise, s.f1.both];
        assert_eq!(exact(&here), exact(&there));
        assert_eq!(here.f1.best_class, there.f1.best_cluster);
        assert_eq!(here.f1.best_cluster, there.f1.best_class);
        let near = |s: &Scores| [s.ami, s.vi, s.nmi.max];
        assert_abs_diff_eq!(&near(&here)[..], &near(&there)[..], epsilon = 1e-12);
    }
}

#[test]
fn duplicating_every_object_keeps_the_indices_that_are_shares() {
    for seed in 0..100 {
        let (a, b) = drawn(seed);
        let [twice_a, twice_b] = [&a, &b].map(|p| {
            let labels = p.labels().iter().flat_map(|&label| [label; 3]);
            Partition::new(labels.collect(), p.clusters()).unwrap()
        });
        let [here, there] = [(&a, &b), (&twice_a, &twice_b)].map(|(a, b)| {
            let s = Scores::of(a, b).unwrap();
            let f1 = [s.f1.best_class, s.f1.best_cluster, s.f1.both];
            [&[s.h, s.vi, s.purity, s.nmi.min, s.nmi.geometric], &f1[..]].concat()
        });
        assert_abs_diff_eq!(&here[..], &there[..], epsilon = 1e-12);
    }
}

#[test]
fn the_same_partition_scores_best_and_bounds_hold() {
    for seed in 0..100 {
        let (a, b) = drawn(seed);
        let perfect = Scores::of(&a, &a).unwrap();
        let apart = a.sizes().iter().all(|&size| size < 2);
        assert_eq!((perfect.h, perfect.ari, perfect.purity), (1.0, 1.0, 1.0));
        assert_eq!(perfect.fowlkes_mallows, if apart { 0.0 } else { 1.0 });
        assert_abs_diff_eq!(perfect.ami, 1.0, epsilon = 1e-9);
        assert_abs_diff_eq!(perfect.nmi.max, 1.0, epsilon = 1e-12);
        assert_abs_diff_eq!(perfect.vi, 0.0, epsilon = 1e-12);
        let scores = Scores::of(&a, &b).unwrap();
        assert!(scores.h <= scores.purity + 1e-15 && scores.ami <= 1.0 && scores.ari <= 1.0);
        let nmi = nmi(&scores);
        let rises = nmi.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12);
        assert!(rises, "{nmi:?}");
    }
}

#[test]
fn single_clusters_and_singletons_follow_the_documented_conventions() {
    let one = Partition::new(vec![1; 4], 3).unwrap();
    let apart = Partition::new(vec![0, 1, 2, 3], 4).unwrap();
    let halves = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
    let scores = |a, b| Scores::of(a, b).unwrap();
    for perfect in [&one, &apart] {
        let s = scores(perfect, perfect);
        assert_eq!([s.h, s.ari, s.ami, s.f1.pairwise], [1.0; 4]);
    }
    let s = scores(&one, &halves);
    assert_eq!(
        [s.h, s.ari, s.ami, s.nmi.min, s.purity],
        [0.5, 0.0, 0.0, 0.0, 0.5]
    );
    assert_eq!([s.f1.best_class, s.f1.best_cluster], [2.0 / 3.0; 2]);
    // The cluster found is half one class; all of every class is in it.
    assert_eq!(s.f1.both, 2.0 / 3.0);
    // Pure clusters, each half a class; then a mixed one beside a pure one: precision (2/3 + 1) / 2, recall (1 + 1/2) / 2.
    assert_eq!(scores(&apart, &halves).f1.both, 2.0 / 3.0);
    let mixed = Partition::new(vec![0, 0, 0, 1], 2).unwrap();
    let (precision, recall) = (5.0 / 6.0, 3.0 / 4.0);
    let both = 2.0 * precision * recall / (precision + recall);
    assert_abs_diff_eq!(scores(&mixed, &halves).f1.both, both, epsilon = 1e-15);
    let s = scores(&apart, &halves);
    assert_eq!(
        [s.h, s.ari, s.fowlkes_mallows, s.purity],
        [0.5, 0.0, 0.0, 1.0]
    );
    assert_abs_diff_eq!(s.ami, 0.0, epsilon = 1e-12);
    let table = Contingency::new(&halves, &halves).unwrap();
    assert_eq!(table.nmi(Normalisation::Max), 1.0);
    let none = Partition::new(vec![], 2).unwrap();
    assert_eq!(Contingency::new(&none, &none), Err(MetricsError::Empty));
    let sizes = MetricsError::Sizes { left: 0, right: 4 };
    assert_eq!(Contingency::new(&none, &one), Err(sizes));
}

#[test]
fn the_json_has_the_names_that_files_use() {
    let (a, b) = drawn(3);
    let json = serde_json::to_value(Scores::of(&a, &b).unwrap()).unwrap();
    for (json, expected) in [
        (&json, "h ari ami nmi vi purity f1 fowlkes_mallows"),
        (&json["nmi"], "max arithmetic geometric min"),
    ] {
        let names: Vec<String> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names.join(" "), expected);
    }
    assert!(json["f1"]["best_class"].is_number() && json["f1"]["best_cluster"].is_number());
}

#[test]
fn large_tables_take_moments() {
    let n = 100_000u32;
    let mut rng = Seed::new(9).rng();
    let truth: Vec<u32> = (0..n).map(|i| i * 300 / n).collect();
    let found = truth.iter().map(|&t| {
        if rng.random_bool(0.7) {
            t
        } else {
            rng.random_range(0..350)
        }
    });
    let found = Partition::new(found.collect(), 350).unwrap();
    let scores = Scores::of(&found, &Partition::new(truth, 300).unwrap()).unwrap();
    assert!(scores.ami > 0.5 && scores.ami < scores.nmi.arithmetic);
    let fine = Partition::new((0..n).map(|i| i / 2).collect(), 60_000).unwrap();
    let other = (0..n).map(|_| rng.random_range(0..60_000)).collect();
    let other = Partition::new(other, 60_000).unwrap();
    let scores = Scores::of(&fine, &other).unwrap();
    let independent = scores.ami.abs() < 0.01 && scores.nmi.arithmetic > 0.8;
    assert!(independent, "{scores:?}");
}
