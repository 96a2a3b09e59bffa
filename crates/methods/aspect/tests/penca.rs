//! PEnCA against independent values, a naive reference, and its own guarantees.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use partita_aspect::{AspectError, Aspects, DyadCounts, PENCA, PencaSettings, Start, penca};
use partita_coassoc::{CoAssociation, SparseEvidence};
use partita_conformance::ensemble;
use partita_core::ndarray::Array2;
use partita_core::{
    Clusters, Ensemble, MemoryBudget, Outcome, PairList, Problem, Seed, SettingMap, Silent,
    consense,
};
use rand::RngExt;
use serde_json::Value;
use statrs::function::gamma::ln_gamma;

fn rows(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, k)| rows[i][k])
}

fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    let near = (found - expected).abs() <= 1e-8 * expected.abs();
    assert!(near, "found {found}, expected {expected}");
}

fn all_close(found: &Array2<f64>, expected: &Array2<f64>, near: f64) -> bool {
    let mut pairs = found.iter().zip(expected);
    pairs.all(|(a, b)| (a - b).abs() <= near)
}

fn count(ensemble: &Ensemble) -> CoAssociation {
    CoAssociation::count(ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap()
}

fn named<C: IntoIterator<Item = Option<u32>>>(columns: impl IntoIterator<Item = C>) -> Ensemble {
    let columns = columns.into_iter().enumerate();
    ensemble(columns.map(|(u, column)| (format!("u{u}"), column.into_iter().collect())))
}

fn found(ensemble: &Ensemble, clusters: Clusters, settings: &[&str]) -> Outcome {
    let mut problem = Problem::new(ensemble, clusters);
    problem.settings = SettingMap::parse(settings).unwrap();
    consense(&PENCA, &problem, &Silent).unwrap()
}

#[test]
fn rounds_agree_with_independent_values() {
    let fixtures = partita_conformance::fixtures();
    let labels: Vec<Vec<i64>> = serde_json::from_value(fixtures["labels"].clone()).unwrap();
    let known = |label: i64| u32::try_from(label).ok();
    let labels = labels
        .into_iter()
        .map(|column| column.into_iter().map(known));
    let counts = DyadCounts::dense(&count(&named(labels)));
    let expected = &fixtures["penca"];
    let shares: Vec<f64> = serde_json::from_value(expected["p0"].clone()).unwrap();
    let mut aspects = Aspects::new(&shares, rows(&expected["B0"]).view()).unwrap();
    for iteration in 1..=50 {
        aspects = aspects.improved(&counts);
        let expected = match iteration {
            1 => &expected["after1"],
            50 => &expected["after50"],
            _ => continue,
        };
        let log_likelihood = 2.0 * aspects.log_likelihood(&counts);
        close(log_likelihood, &expected["ll_ordered_pairs"]);
        let shares = expected["p"].as_array().unwrap();
        for (share, expected) in aspects.shares().iter().zip(shares) {
            close(*share, expected);
        }
        let soft = aspects.soft();
        let mut pairs = soft.into_rows().into_iter().zip(rows(&expected["V"]));
        assert!(pairs.all(|(a, b)| (a - b).abs() <= 1e-8 * b.abs() + 1e-14));
        if iteration == 1 {
            let mut members = aspects.members().into_iter().zip(rows(&expected["B"]));
            assert!(members.all(|(a, b)| (a - b).abs() <= 1e-8 * b.abs()));
        }
    }
}

/// Noisy copies of a planted partition, some labels missing; with `clusters` many, most pairs are never together.
fn drawn(seed: u64, clusters: usize) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let objects = rng.random_range(8..40);
    let noise = rng.random_range(0.0..0.4);
    let mut columns = Vec::new();
    for u in 0..rng.random_range(2..9) {
        let mut column = Vec::new();
        for i in 0..objects {
            let mut label = i % clusters;
            if rng.random_bool(noise) {
                label = rng.random_range(0..clusters);
            }
            let shown = i == u || !rng.random_bool(0.2);
            column.push(shown.then_some(label as u32));
        }
        columns.push(column);
    }
    named(columns)
}

/// A model, and its log-likelihood, as the slides write it.
struct Naive {
    shares: Vec<f64>,
    members: Array2<f64>,
}

impl Naive {
    /// One iteration: the responsibilities of every ordered pair, then weighted co-associations. Returns the log-likelihood before. `own`
    /// is how often an object is together with itself.
    fn improve(&mut self, pairs: &CoAssociation, own: &[f64]) -> f64 {
        let (clusters, n) = self.members.dim();
        let mut weighted = Array2::<f64>::zeros((clusters, n));
        let mut log_likelihood = 0.0;
        for y in 0..n {
            for z in 0..n {
                let c = if z == y {
                    own[y]
                } else {
                    f64::from(pairs.pair(y, z).0)
                };
                let joint = (0..clusters)
                    .map(|r| self.shares[r] * self.members[[r, y]] * self.members[[r, z]]);
                let joint: Vec<f64> = joint.collect();
                let sum: f64 = joint.iter().sum();
                if c > 0.0 {
                    log_likelihood += 0.5 * c * sum.ln();
                    (0..clusters).for_each(|r| weighted[[r, y]] += c * joint[r] / sum);
                }
            }
        }
        let sums: Vec<f64> = weighted.outer_iter().map(|row| row.sum()).collect();
        let total: f64 = sums.iter().sum();
        self.members = Array2::from_shape_fn((clusters, n), |(r, y)| weighted[[r, y]] / sums[r]);
        self.shares = sums.iter().map(|sum| sum / total).collect();
        log_likelihood
    }
}

#[test]
fn dense_sparse_and_the_naive_reference_agree_and_the_likelihood_never_falls() {
    let mut problems = 0;
    for seed in 0..240 {
        let ensemble = drawn(seed, if seed % 3 == 0 { 18 } else { 3 });
        let n = ensemble.objects();
        let pairs = count(&ensemble);
        let all = (0..n as u32).flat_map(|i| (0..i).map(move |j| (i, j)));
        let all: Vec<(u32, u32)> = all.collect();
        let some = SparseEvidence::of_pairs(&ensemble, &all, MemoryBudget::UNLIMITED, &Silent);
        let dense = DyadCounts::dense(&pairs);
        let sparse = DyadCounts::sparse(&some.unwrap());
        if dense.total() == 0.0 {
            continue;
        }
        problems += 1;
        let clusters = 1 + seed as usize % 5;
        let mut here = Start::random("", n, clusters, Seed::new(seed)).aspects;
        let mut there = here.clone();
        let shares = here.shares().to_vec();
        let mut naive = Naive {
            shares,
            members: here.members(),
        };
        let mut before = f64::NEG_INFINITY;
        for iteration in 0..30 {
            let now = here.log_likelihood(&dense);
            let near = 1e-10 * now.abs();
            let rises = now >= before - 0.1 * near;
            assert!(
                rises,
                "seed {seed} iteration {iteration}: {before} to {now}"
            );
            assert!((there.log_likelihood(&sparse) - now).abs() <= near);
            before = now;
            here = here.improved(&dense);
            there = there.improved(&sparse);
            if iteration < 8 {
                assert!((naive.improve(&pairs, &vec![0.0; n]) - now).abs() <= near);
                let mut shares = here.shares().iter().zip(&naive.shares);
                assert!(shares.all(|(a, b)| (a - b).abs() < 1e-10));
                assert!(all_close(&here.members(), &naive.members, 1e-10));
            }
        }
        let same = all_close(&here.members(), &there.members(), 1e-8);
        assert!(same, "seed {seed}");
    }
    assert!(problems >= 200, "{problems}");
}

#[test]
fn the_diagonal_counts_every_label_of_an_object() {
    for seed in 0..40 {
        let ensemble = drawn(seed, if seed % 3 == 0 { 18 } else { 3 });
        let n = ensemble.objects();
        let bases = 0..ensemble.bases().len();
        let labels = |i| {
            bases
                .clone()
                .filter(|&u| ensemble.label(i, u).is_some())
                .count()
        };
        let own: Vec<f64> = (0..n).map(|i| labels(i) as f64).collect();
        let copies: Vec<(u32, u32)> = own.iter().map(|&c| (c as u32, c as u32)).collect();
        let pairs = count(&ensemble);
        let counts = DyadCounts::dense(&pairs).weighted(&vec![1.0; n], &copies, true);
        let mut here = Start::random("", n, 3, Seed::new(seed)).aspects;
        let (shares, members) = (here.shares().to_vec(), here.members());
        let mut naive = Naive { shares, members };
        for _ in 0..8 {
            let now = here.log_likelihood(&counts);
            here = here.improved(&counts);
            let plain = naive.improve(&pairs, &own);
            assert!(
                (plain - now).abs() <= 1e-10 * now.abs(),
                "seed {seed}: {plain} {now}"
            );
            assert!(all_close(&here.members(), &naive.members, 1e-10));
        }
    }
}

#[test]
fn given_probabilities_and_counts_are_what_em_starts_from_and_reads() {
    let ensemble = blocks(3, 2);
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(3));
    let usual = consense(&PENCA, &problem, &Silent).unwrap();
    let soft = usual.soft.as_ref().unwrap();
    let again = consense(&PENCA, &problem.clone().start(soft), &Silent).unwrap();
    assert_eq!(again.details["start"], "given");
    assert_eq!(again.details["restarts"].as_array().unwrap().len(), 1);
    let trace = again.objective.unwrap().trace;
    assert!(
        trace
            .windows(2)
            .all(|two| two[1] >= two[0] - 1e-9 * two[0].abs()),
        "{trace:?}"
    );
    let counted = count(&ensemble);
    let pairs: Vec<(u32, u32)> = (0..60)
        .flat_map(|i| (i + 1..60).map(move |j| (i, j)))
        .collect();
    let counts = pairs
        .iter()
        .map(|&(i, j)| counted.pair(i as usize, j as usize));
    let counts: Vec<(u32, u32)> = counts.collect();
    let list = PairList::new(60, &pairs, Some(&counts)).unwrap();
    let other = consense(&PENCA, &problem.clone().pairs(&list), &Silent).unwrap();
    // Objects with one label row are levelled only where nothing tells them apart.
    let [usual, other] = [&usual, &other].map(|found| found.soft.clone().unwrap().into_rows());
    assert!(all_close(&usual, &other, 1e-12));
    problem.settings = SettingMap::parse(&["diagonal=true"]).unwrap();
    let error = consense(&PENCA, &problem.clone().pairs(&list), &Silent).unwrap_err();
    assert!(error.to_string().contains("have no diagonal"), "{error}");
}

/// Blocks of objects that are together in nine of ten base clusterings, and elsewhere at random.
fn blocks(clusters: u32, seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let mut label = |i: u32| {
        let noisy = rng.random_bool(0.1);
        Some(if noisy {
            rng.random_range(0..clusters)
        } else {
            i % clusters
        })
    };
    named((0..30).map(|_| (0..60).map(&mut label).collect::<Vec<_>>()))
}

#[test]
fn all_criteria_find_the_blocks() {
    for clusters in [2, 3, 4, 5] {
        let ensemble = blocks(clusters, clusters.into());
        for criterion in ["bic", "mdl", "dirichlet-process"] {
            let criterion = &format!("criterion={criterion}");
            let outcome = found(&ensemble, Clusters::Auto, &[criterion]);
            assert_eq!(outcome.details["chosen"], clusters, "{criterion}");
            assert_eq!(outcome.partition.live_clusters(), clusters as usize);
            let tried = outcome.details["criteria"].as_array().unwrap();
            assert!(tried.len() >= clusters as usize);
        }
    }
}

/// The evidence of few pairs by a sum over all their components: the bound is not above it, and not far below.
#[test]
fn the_bound_of_the_evidence_is_below_the_sum_over_all_components() {
    let ensemble = named([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]].map(|row| row.map(Some)));
    let counted = count(&ensemble);
    let mut draws = Vec::new();
    for (i, j) in (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))) {
        draws.extend((0..counted.pair(i, j).0).map(|_| [i, j]));
    }
    // Of Dirichlet(a, …, a): Γ(m a) / Γ(m a + Σ) Π Γ(a + count) / Γ(a).
    let chance = |counts: &[usize], a: f64| {
        let all = counts.len() as f64 * a;
        let each = counts.iter().map(|&c| ln_gamma(a + c as f64) - ln_gamma(a));
        ln_gamma(all) - ln_gamma(all + counts.iter().sum::<usize>() as f64) + each.sum::<f64>()
    };
    let mut sum = 0.0;
    for code in 0..1_u32 << draws.len() {
        let mut pairs = [0; 2];
        let mut objects = [[0; 4]; 2];
        for (at, draw) in draws.iter().enumerate() {
            let component = (code >> at & 1) as usize;
            pairs[component] += 1;
            for &object in draw {
                objects[component][object] += 1;
            }
        }
        let members: f64 = objects.iter().map(|counts| chance(counts, 1.0)).sum();
        sum += (chance(&pairs, 0.5) + members).exp();
    }
    let outcome = found(&ensemble, Clusters::Auto, &["criterion=dirichlet-process"]);
    let objective = outcome.objective.unwrap();
    let bound = objective.value;
    let evidence = sum.ln();
    assert!(
        bound <= evidence && bound > evidence - 2.0,
        "{bound} {evidence}"
    );
    let mut steps = objective.trace.windows(2);
    assert!(
        steps.all(|pair| pair[1] >= pair[0] - 1e-9),
        "{:?}",
        objective.trace
    );
}

#[test]
fn components_may_die_and_are_counted() {
    let outcome = found(&blocks(2, 1), Clusters::Exactly(20), &[]);
    let live = outcome.details["live_components"].as_u64().unwrap();
    assert!((2..=20).contains(&live));
    assert!(outcome.partition.live_clusters() as u64 <= live);
    let trace = outcome.objective.unwrap().trace;
    let mut steps = trace.windows(2);
    assert!(steps.all(|pair| pair[1] >= pair[0] - 1e-11 * pair[0].abs()));
}

#[test]
fn objects_that_are_never_together_are_told() {
    let ensemble = named([[0, 0, 1, 1, 2].map(Some); 2]);
    let outcome = found(&ensemble, Clusters::Exactly(2), &[]);
    let warning = &outcome.warnings[0];
    let begin = "1 objects are never together";
    assert!(warning.starts_with(begin), "{warning}");
    assert!(outcome.probability().expect("probabilities")[4] < 0.6);
    // Nothing together at all: every model is as good.
    let outcome = found(&named([(0..4).map(Some)]), Clusters::Exactly(3), &[]);
    assert!(outcome.warnings[0].starts_with("4 objects"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let counts = DyadCounts::dense(&count(&blocks(2, 1)));
    let refused = |objects, settings: &PencaSettings| {
        let start = Start::random("", objects, 2, Seed::new(1));
        penca(&counts, vec![start], settings, &Silent).unwrap_err()
    };
    let error = refused(9, &PencaSettings::default());
    assert_eq!(
        error,
        AspectError::Objects {
            found: 9,
            expected: 60
        }
    );
    let mut settings = PencaSettings::default();
    settings.tolerance = f64::NAN;
    assert!(matches!(refused(60, &settings), AspectError::Settings(_)));
    for (shares, each) in [(&[0.5, 0.4][..], 0.25), (&[1.0], 0.25), (&[0.5, 0.5], 0.2)] {
        let members = Array2::from_elem((2, 4), each);
        assert!(Aspects::new(shares, members.view()).is_err());
    }
}

/// The starts of a run, in their order.
fn starts(ensemble: &Ensemble, settings: &[&str]) -> Vec<String> {
    let outcome = found(ensemble, Clusters::Exactly(3), settings);
    let details = serde_json::to_value(&outcome.details).unwrap();
    let restarts = details["restarts"].as_array().unwrap();
    let names = restarts
        .iter()
        .map(|run| run["start"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn em_starts_where_it_is_told_to() {
    let ensemble = partita_conformance::draw(Seed::new(3), 0.1).ensemble;
    assert_eq!(starts(&ensemble, &[]), ["single-link", "average-link"]);
    assert_eq!(starts(&ensemble, &["start=single-link"]), ["single-link"]);
    assert_eq!(
        starts(&ensemble, &["start=average-link", "restarts=1"]),
        ["average-link", "dirichlet 1"]
    );
    assert_eq!(starts(&ensemble, &["start=random"]), ["dirichlet 1"]);
    assert_eq!(
        starts(&ensemble, &["start=random", "restarts=2"]),
        ["dirichlet 1", "dirichlet 2"]
    );
    // The likelihood of both trees is that of the better one.
    let value = |settings: &[&str]| {
        let outcome = found(&ensemble, Clusters::Exactly(3), settings);
        outcome.objective.unwrap().value
    };
    let each = ["start=single-link", "start=average-link"].map(|start| value(&[start]));
    assert_eq!(value(&[]), each[0].max(each[1]));
}

#[test]
fn a_tree_is_refused_where_a_sample_of_the_pairs_is_read() {
    let ensemble = partita_conformance::draw(Seed::new(3), 0.0).ensemble;
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(3));
    problem.settings = SettingMap::parse(&["start=average-link", "pairs_per_object=3"]).unwrap();
    let message = consense(&PENCA, &problem, &Silent).unwrap_err().to_string();
    assert!(
        message.contains("start=average-link cuts a tree of all pairs"),
        "{message}"
    );
    assert!(message.contains("pairs_per_object=0"), "{message}");
}
