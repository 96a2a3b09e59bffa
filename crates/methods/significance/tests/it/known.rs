//! Populations whose clusters are known.

use partita_core::ndarray::{Array2, s};
use partita_core::{MemoryBudget, Seed, Silent};
use partita_kmeans::{KMeansSettings, kmeans};
use partita_significance::{GapTest, GapTestSettings, Verdict, gap_test};
use rand::RngExt;
use rand_distr::StandardNormal;

pub(crate) fn normal(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    Array2::from_shape_simple_fn((n, d), || rng.sample(StandardNormal))
}

pub(crate) fn cut(table: &Array2<f64>, k: usize, seed: u64) -> Vec<Option<u32>> {
    let settings = KMeansSettings::default();
    let found = kmeans(table.view(), None, k, Seed::new(seed), &settings, &Silent)
        .expect("a table of numbers");
    found.labels.into_iter().map(Some).collect()
}

pub(crate) fn test(
    table: &Array2<f64>,
    labels: &[Option<u32>],
    settings: &GapTestSettings,
) -> GapTest {
    let budget = MemoryBudget::default();
    gap_test(
        table.view(),
        labels,
        Seed::new(5),
        settings,
        budget,
        &Silent,
    )
    .expect("a table of numbers")
}

/// Three populations of 150, 100 and 80 rows, or so many times as many, 7 standard deviations along another axis each.
fn three(times: usize, seed: u64) -> (Array2<f64>, Vec<Option<u32>>) {
    let mut table = normal(330 * times, 4, seed);
    let truth = |i: usize| match i / times {
        0..150 => 0,
        150..250 => 1,
        _ => 2,
    };
    for (i, mut row) in table.outer_iter_mut().enumerate() {
        row[truth(i)] += 7.0;
    }
    let labels = (0..330 * times).map(|i| Some(truth(i) as u32));
    (table, labels.collect())
}

#[test]
fn one_population_is_merged_back() {
    for (n, d, k) in [
        (200, 2, 2),
        (200, 2, 3),
        (400, 2, 4),
        (600, 10, 5),
        (1500, 3, 8),
    ] {
        let table = normal(n, d, 3);
        let found = test(&table, &cut(&table, k, 1), &GapTestSettings::default());
        assert_eq!(found.merged.len(), 1, "n {n}, d {d}, k {k}");
        assert_eq!(found.nodes.len(), k - 1);
        assert!(found.splits.is_empty());
        let verdicts = found.clusters.iter().map(|cluster| cluster.verdict);
        assert!(
            verdicts
                .into_iter()
                .all(|verdict| verdict == Verdict::NoGapSeen)
        );
        assert!(found.labels.iter().all(|label| *label == Some(0)));
        assert_eq!(found.nodes.last().unwrap().rows, n);
    }
}

#[test]
fn two_normals_at_six_standard_deviations_are_established() {
    let mut table = normal(400, 3, 9);
    table.slice_mut(s![200.., 0]).mapv_inplace(|x| x + 6.0);
    let labels: Vec<_> = (0..400).map(|i| Some(i / 200)).collect();
    let found = test(&table, &labels, &GapTestSettings::default());
    assert_eq!(found.merged.len(), 2);
    let split = &found.splits[0];
    assert_eq!(split.verdict, Verdict::Established);
    assert_eq!(split.adjusted_p, Some(split.test.p));
    assert!(split.test.p < 1e-6, "{}", split.test.p);
    let gap = split.test.gap.unwrap();
    assert!(gap.emptier > 0.8 && gap.low < gap.emptier && gap.emptier <= gap.high && gap.low > 0.5);
    let view = split.test.corridor.as_ref().unwrap();
    let windows = view.windows;
    assert!(windows.first_end.first + windows.first_end.width <= windows.valley.first);
    assert!(windows.valley.first + windows.valley.width <= windows.second_end.first);
    let counted: u32 = view.counts.all.iter().sum();
    assert!(
        (100..=200).contains(&counted),
        "{counted} of 200 held-out rows"
    );
    assert_eq!(
        found.sentence(),
        "all 2 of 2 clusters are left: 2 established"
    );
    let node = &found.nodes[0];
    assert_eq!((node.left, node.right, node.rows), (0, 1, 400));
    assert_eq!(
        found.newick(|label| format!("c{label}")),
        format!("('c0','c1'){:.3e};", node.p)
    );
}

#[test]
fn clusters_that_were_cut_are_merged_into_their_population() {
    let (table, truth) = three(4, 4);
    let found = test(&table, &cut(&table, 9, 2), &GapTestSettings::default());
    let labels: Vec<_> = found.labels.iter().zip(&truth).collect();
    assert_eq!(found.merged.len(), 3, "{}", found.sentence());
    for (one, a) in &labels {
        for (other, b) in &labels {
            assert_eq!(one == other, a == b);
        }
    }
    assert!(
        found
            .merged
            .iter()
            .all(|merged| merged.verdict == Verdict::Established)
    );
    // Holm: the smallest p-value of m is multiplied by m.
    let mut splits: Vec<_> = found
        .splits
        .iter()
        .map(|split| (split.test.p, split.adjusted_p))
        .collect();
    splits.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(splits[0].1, Some(splits.len() as f64 * splits[0].0));
    let sizes: Vec<usize> = found.merged.iter().map(|merged| merged.rows).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 1320);
    assert_eq!(found.nodes.last().unwrap().rows, 1320);
}

#[test]
fn small_clusters_cannot_be_told() {
    let (mut table, mut labels) = three(1, 6);
    for i in (310..330).rev() {
        table.row_mut(i).mapv_inplace(|x| x - 15.0);
        labels[i] = Some(8);
    }
    let mut settings = GapTestSettings::default();
    let found = test(&table, &labels, &settings);
    assert_eq!(found.merged.len(), 4);
    let small = found.clusters.last().unwrap();
    assert_eq!(
        (small.label, small.rows, small.verdict),
        (8, 20, Verdict::CannotTell)
    );
    assert!(
        found.clusters[..3]
            .iter()
            .all(|cluster| cluster.verdict == Verdict::Established)
    );
    let warnings = found.warnings().join("\n");
    assert!(
        warnings.contains("1 of 4 clusters have fewer than 30 rows"),
        "{warnings}"
    );
    assert!(warnings.contains("--merge-small"), "{warnings}");
    assert!(found.newick(|label| label.to_string()).starts_with("('8',"));

    // Rows of one population that are labelled apart are merged where that is asked for.
    let (table, mut labels) = three(1, 6);
    for i in 310..330 {
        labels[i] = Some(8);
    }
    assert_eq!(test(&table, &labels, &settings).merged.len(), 4);
    settings.merge_small = true;
    let found = test(&table, &labels, &settings);
    assert_eq!(found.merged.len(), 3);
    assert_eq!(found.labels[329], found.labels[300]);
}

#[test]
fn a_test_that_no_count_could_pass_cannot_tell() {
    let mut table = normal(64, 2, 2);
    table.slice_mut(s![32.., 0]).mapv_inplace(|x| x + 9.0);
    let labels: Vec<_> = (0..64).map(|i| Some(i / 32)).collect();
    let mut settings = GapTestSettings::default();
    settings.alpha = 1e-9;
    let found = test(&table, &labels, &settings);
    assert_eq!(found.merged.len(), 2);
    assert_eq!(found.splits[0].verdict, Verdict::CannotTell);
    assert!(found.splits[0].test.least_p > 1e-9 && found.splits[0].adjusted_p.is_none());
    settings.merge_small = true;
    assert_eq!(test(&table, &labels, &settings).merged.len(), 1);
}

#[test]
fn names_of_clusters_and_threads_change_no_bit() {
    let (table, _) = three(1, 8);
    let labels = cut(&table, 7, 3);
    let settings = GapTestSettings::default();
    let found = test(&table, &labels, &settings);
    let renamed: Vec<_> = labels
        .iter()
        .map(|label| label.map(|label| 1000 - 13 * label))
        .collect();
    let again = test(&table, &renamed, &settings);
    assert_eq!((&again.nodes, &again.splits), (&found.nodes, &found.splits));
    assert_eq!(again.labels, found.labels);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| test(&table, &labels, &settings)), found);
    }
    // A table in the other order of its memory is the same table.
    let turned = table.t().as_standard_layout().into_owned();
    let budget = MemoryBudget::default();
    let other = gap_test(
        turned.t(),
        &labels,
        Seed::new(5),
        &settings,
        budget,
        &Silent,
    )
    .unwrap();
    assert_eq!(other, found);
    let other = gap_test(
        table.view(),
        &labels,
        Seed::new(6),
        &settings,
        budget,
        &Silent,
    )
    .unwrap();
    assert_ne!(other.nodes, found.nodes);
}

#[test]
fn a_ring_and_a_bent_population_are_one_cluster() {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / 600.0;
    let noise = normal(600, 2, 1);
    for bend in [1.0, 0.5] {
        let table = Array2::from_shape_fn((600, 2), |(i, j)| {
            let angle = bend * angle(i);
            8.0 * if j == 0 { angle.cos() } else { angle.sin() } + noise[[i, j]]
        });
        let found = test(&table, &cut(&table, 2, 1), &GapTestSettings::default());
        assert_eq!(
            found.merged.len(),
            1,
            "{bend}: {:?}",
            found.splits[0].test.p
        );
    }
}

#[test]
fn a_third_cluster_beside_a_valley_does_not_hide_it() {
    // The corners of a regular body: every two are 6.0 standard deviations apart, the others beside the middle of their corridor.
    let (clusters, each, columns) = (10, 150, 10);
    let apart = 6.0 / f64::sqrt(2.0);
    let labels: Vec<Option<u32>> = (0..clusters * each).map(|row| Some(row / each)).collect();
    for seed in 0..4 {
        let noise = normal(labels.len(), columns, seed);
        let shift = |i: usize, j: usize| if i / each as usize == j { apart } else { 0.0 };
        let table = Array2::from_shape_fn(noise.dim(), |(i, j)| noise[[i, j]] + shift(i, j));
        let found = test(&table, &labels, &GapTestSettings::default());
        assert_eq!(found.merged.len(), clusters as usize, "{seed}");
    }
}
