//! Tables that cannot be tested or hardly, and the promises about memory and stopping.

use partita_core::ndarray::{Array2, array};
use partita_core::{Flow, MemoryBudget, Monitor, Seed, Silent};
use partita_significance::{GapTestSettings, SignificanceError, Verdict, gap_test, gap_test_bytes};
use rand::RngExt;

use crate::known::{cut, normal, test};

fn refusal(table: &Array2<f64>, labels: &[Option<u32>], settings: &GapTestSettings) -> String {
    let budget = MemoryBudget::default();
    let found = gap_test(
        table.view(),
        labels,
        Seed::new(1),
        settings,
        budget,
        &Silent,
    );
    found.expect_err("it cannot be tested").to_string()
}

#[test]
fn rows_with_missing_values_are_left_out() {
    let mut table = normal(300, 2, 1);
    for i in 0..300 {
        table[[i, 0]] += 8.0 * f64::from(u8::from(i % 2 == 1));
    }
    let mut labels: Vec<_> = (0..300).map(|i| Some(i as u32 % 2)).collect();
    (0..20).for_each(|i| table[[7 * i, 1]] = f64::NAN);
    (0..9).for_each(|i| labels[200 + 7 * i] = None);
    let found = test(&table, &labels, &GapTestSettings::default());
    assert_eq!((found.incomplete_rows, found.unlabelled_rows), (20, 9));
    assert_eq!(
        found
            .clusters
            .iter()
            .map(|cluster| cluster.rows)
            .sum::<usize>(),
        271
    );
    assert_eq!(found.merged.len(), 2);
    assert_eq!(
        (found.labels[0], found.labels[7], found.labels[200]),
        (Some(0), Some(1), None)
    );
    let warnings = found.warnings();
    assert!(
        warnings[0].starts_with("20 rows with a missing value are left out"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].starts_with("9 rows without a label"),
        "{warnings:?}"
    );
}

#[test]
fn rows_without_a_label_close_a_gap() {
    // The middle of one population is left out by the labels, as tools do that call it noise.
    let table = normal(600, 2, 4);
    let label = |i: usize| match table[[i, 0]] {
        x if x.abs() < 0.5 => None,
        x => Some(u32::from(x > 0.0)),
    };
    let labels: Vec<_> = (0..600).map(label).collect();
    assert_eq!(
        test(&table, &labels, &GapTestSettings::default())
            .merged
            .len(),
        1
    );
}

#[test]
fn lines_of_few_values_are_not_judged() {
    let mut rng = Seed::new(3).rng();
    let table = Array2::from_shape_simple_fn((400, 2), || f64::from(rng.random_range(0..4u8)));
    let labels: Vec<_> = table
        .rows()
        .into_iter()
        .map(|row| Some(u32::from(row[0] > 1.5)))
        .collect();
    let found = test(&table, &labels, &GapTestSettings::default());
    assert_eq!(found.splits[0].verdict, Verdict::CannotTell);
    assert!(found.splits[0].test.few_values);
    let warnings = found.warnings().join("\n");
    assert!(
        warnings.contains("384 of 400 rows are equal to an earlier one"),
        "{warnings}"
    );
    assert!(
        warnings.contains("1 of 1 splits lie on a line with fewer than 48"),
        "{warnings}"
    );
}

#[test]
fn degenerate_tables_have_an_answer() {
    let settings = GapTestSettings::default();
    let halves = |n: usize| -> Vec<_> { (0..n).map(|i| Some((2 * i / n) as u32)).collect() };
    let equal = test(&Array2::zeros((100, 3)), &halves(100), &settings);
    assert_eq!(equal.splits[0].verdict, Verdict::CannotTell);
    let mut two = Array2::zeros((100, 2));
    two.slice_mut(partita_core::ndarray::s![50.., ..]).fill(1.0);
    assert_eq!(
        test(&two, &halves(100), &settings).splits[0].verdict,
        Verdict::CannotTell
    );
    for (n, d) in [(80, 1), (70, 90), (90, 3)] {
        for size in [1e-160, 1.0, 1e8, 1e160] {
            let table = normal(n, d, 2) * size;
            test(&table, &halves(n), &settings);
            test(&table, &cut(&normal(n, d, 2), 5, 1), &settings);
        }
    }
    let mut settings = GapTestSettings::default();
    (settings.merge_small, settings.neighbours) = (true, 50);
    let table = normal(24, 2, 3);
    let alone: Vec<_> = (0..24).map(|i| Some(i as u32)).collect();
    assert_eq!(test(&table, &alone, &settings).merged.len(), 1);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let settings = GapTestSettings::default();
    let table = array![[0.0], [1.0], [f64::INFINITY], [3.0]];
    let labels = [Some(0), Some(0), Some(1), Some(1)];
    let error = refusal(&table, &labels, &settings);
    assert!(error.starts_with("row 3, column 1 is inf"), "{error}");
    let error = refusal(&table, &labels[..3], &settings);
    assert!(
        error.starts_with("there are 3 labels and the table has 4 rows"),
        "{error}"
    );
    let error = refusal(&Array2::zeros((4, 0)), &labels, &settings);
    assert!(error.starts_with("the table has no columns"), "{error}");
    let table = array![[0.0], [1.0], [f64::NAN], [f64::NAN]];
    let error = refusal(&table, &labels, &settings);
    assert!(
        error.starts_with("there are 1 clusters with rows"),
        "{error}"
    );
    for (alpha, halvings, said) in [(0.0, 4, "alpha is 0"), (0.05, 33, "halvings is 33")] {
        let mut settings = GapTestSettings::default();
        (settings.alpha, settings.halvings) = (alpha, halvings);
        let error = refusal(&table, &labels, &settings);
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn memory_and_stops_are_heeded() {
    struct Stop;
    impl Monitor for Stop {
        fn tick(&self, _done: u64, _total: u64) -> Flow {
            Flow::Stop
        }
    }
    let table = normal(200, 3, 1);
    let labels = cut(&table, 2, 1);
    let run = |budget, monitor: &dyn Monitor| {
        let settings = GapTestSettings::default();
        gap_test(
            table.view(),
            &labels,
            Seed::new(1),
            &settings,
            budget,
            monitor,
        )
    };
    let stopped = run(MemoryBudget::default(), &Stop).unwrap_err();
    assert_eq!(stopped, SignificanceError::Interrupted);
    let needed = gap_test_bytes(200, 3, 2, 4);
    assert!(run(MemoryBudget::new(needed), &Silent).is_ok());
    let refused = run(MemoryBudget::new(needed - 1), &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        refused.starts_with("the test of clusters needs"),
        "{refused}"
    );
    assert!(gap_test_bytes(usize::MAX, usize::MAX, 9, 32) == u64::MAX);
}
