//! What every base clusterer answers to tables and recipes that make no sense, or hardly any.

use partita_core::Seed;
use partita_core::ndarray::{Array2, Axis, concatenate};
use partita_generate::{BaseKind, BaseSpec, GenerateError, Generated, Recipe, Scale};
use rand::RngExt;

use crate::common;

const SCALES: [Scale; 3] = [Scale::None, Scale::ZScore, Scale::MinMax];

fn recipe(kind: BaseKind, base_k: &str, subsample: f64) -> Recipe {
    let mut recipe = Recipe::default();
    recipe.base = vec![BaseSpec::new(kind, 4)];
    recipe.base_k = base_k.parse().expect("a number of clusters");
    recipe.subsample = subsample;
    recipe
}

fn make(table: &Array2<f64>, recipe: &Recipe) -> Result<Generated, GenerateError> {
    common::make(table, recipe, 3)
}

/// Every base clusterer with each of these.
fn kinds_and<T: Copy, const N: usize>(others: [T; N]) -> impl Iterator<Item = (BaseKind, T)> {
    let kinds = BaseKind::ALL.into_iter();
    kinds.flat_map(move |kind| others.map(|other| (kind, other)))
}

/// A table of groups that no base clusterer finds odd.
fn plain(n: usize, d: usize) -> Array2<f64> {
    let mut rng = Seed::new(11).rng();
    Array2::from_shape_fn((n, d), |(i, p)| {
        1.0 + (i * (p + 1) % 4) as f64 * 3.0 + rng.random::<f64>()
    })
}

/// Holds a finished ensemble to what all promise: so many labels, no label beyond the clusters, no empty cluster, no
/// more clusters than asked for.
fn whole(table: &Array2<f64>, recipe: &Recipe, rows: usize, what: &str) -> Generated {
    let made = make(table, recipe).expect(what);
    assert_eq!(
        (made.finished, made.asked, made.facts.len()),
        (4, 4, 4),
        "{what}"
    );
    for (u, facts) in made.facts.iter().enumerate() {
        let mut sizes = vec![0; facts.clusters];
        made.ensemble
            .column(u)
            .flatten()
            .for_each(|label| sizes[label] += 1);
        assert_eq!(
            (facts.objects, sizes.iter().sum::<usize>()),
            (rows, rows),
            "{what}"
        );
        assert!(
            facts.clusters >= 1 && facts.clusters <= facts.k && !sizes.contains(&0),
            "{what}: {sizes:?}"
        );
        assert!(
            facts.inertia.is_none_or(|inertia| inertia >= 0.0),
            "{what}: {facts:?}"
        );
    }
    made
}

/// True where rows that are equal have equal labels.
fn copies_stay_together(table: &Array2<f64>, made: &Generated, u: usize) -> bool {
    let labels: Vec<Option<usize>> = made.ensemble.column(u).collect();
    let apart = |i: usize, j: usize| table.row(i) == table.row(j) && labels[i] != labels[j];
    (0..labels.len())
        .all(|i| (0..i).all(|j| labels[i].is_none() || labels[j].is_none() || !apart(i, j)))
}

#[test]
fn more_clusters_than_rows_are_refused() {
    let table = plain(20, 3);
    for kind in BaseKind::ALL {
        let refused = make(&table, &recipe(kind, "3,11", 0.5));
        let expected = GenerateError::TooManyForSubsample {
            clusters: 11,
            rows: 10,
            share: 0.5,
            objects: 20,
        };
        assert_eq!(refused, Err(expected.clone()), "{kind}");
        assert_eq!(
            expected.to_string(),
            "asked for base clusterings of up to 11 clusters of 10 objects (a share of 0.5 of 20); lower --base-k \
             or raise the share (--subsample)"
        );
        let refused = make(&table, &recipe(kind, "2..21", 1.0));
        assert_eq!(
            refused,
            Err(GenerateError::TooManyClusters {
                clusters: 21,
                objects: 20
            }),
            "{kind}"
        );
        // As many clusters as rows is the last that can be followed.
        whole(&table, &recipe(kind, "10", 0.5), 10, kind.name());
        whole(&table, &recipe(kind, "1", 0.05), 1, kind.name());
    }
}

#[test]
fn a_constant_column_does_no_harm() {
    let varied = plain(40, 2);
    for constant in [0.0, -7.5] {
        let column = Array2::from_elem((40, 1), constant);
        let table = concatenate(Axis(1), &[varied.view(), column.view()]).expect("40 rows each");
        for (kind, scale) in kinds_and(SCALES) {
            let mut recipe = recipe(kind, "2..6", 0.8);
            recipe.scale = scale;
            whole(&table, &recipe, 32, &format!("{kind}, {scale}"));
            // A draw of columns may hold the constant one alone.
            recipe.features = 0.3;
            whole(&table, &recipe, 32, &format!("{kind}, {scale}, one column"));
        }
    }
}

#[test]
fn rows_that_are_all_equal_are_refused() {
    for (kind, value) in kinds_and([0.0, 4.0, -1e100]) {
        let refused = make(&Array2::from_elem((9, 2), value), &recipe(kind, "2", 1.0));
        assert_eq!(refused, Err(GenerateError::Constant { rows: 9 }), "{kind}");
    }
}

#[test]
fn copies_of_few_rows_stay_together() {
    let few = plain(5, 3);
    let table = few.select(Axis(0), &(0..40).map(|i| i % 5).collect::<Vec<_>>());
    for (kind, scale) in kinds_and(SCALES) {
        for (base_k, subsample) in [("2..5", 1.0), ("3", 0.6), ("12", 0.9)] {
            let what = format!("{kind}, {scale}, k = {base_k}");
            let mut recipe = recipe(kind, base_k, subsample);
            recipe.scale = scale;
            let made = whole(&table, &recipe, (40.0 * subsample) as usize, &what);
            for (u, facts) in made
                .facts
                .iter()
                .enumerate()
                .filter(|(_, facts)| facts.k <= 5)
            {
                assert!(copies_stay_together(&table, &made, u), "{what}: {facts:?}");
            }
        }
    }
}

#[test]
fn a_subsample_of_equal_rows_is_one_cluster_or_cut_as_asked() {
    // One row of forty differs: most subsamples of eight do not see it.
    let table = Array2::from_shape_fn((40, 2), |(i, _)| if i == 17 { 9.0 } else { 2.0 });
    for kind in BaseKind::ALL {
        for replacement in [false, true] {
            let mut recipe = recipe(kind, "3", 0.2);
            recipe.replacement = replacement;
            let made = make(&table, &recipe).expect("two distinct rows");
            assert_eq!(made.finished, 4, "{kind}");
            // A resolution above 1 cuts what is alike in all directions.
            let most = if kind.by_resolution() { 8 } else { 3 };
            for facts in &made.facts {
                assert!(
                    (1..=most).contains(&facts.clusters) && (1..=8).contains(&facts.objects),
                    "{kind}: {facts:?}"
                );
            }
        }
    }
}

#[test]
fn one_column_is_enough() {
    let table = plain(50, 1);
    for (kind, scale) in kinds_and(SCALES) {
        let mut recipe = recipe(kind, "2,4,7", 0.9);
        recipe.scale = scale;
        whole(&table, &recipe, 45, &format!("{kind}, {scale}"));
        (recipe.features, recipe.projection) = (0.1, Some(3));
        whole(&table, &recipe, 45, &format!("{kind}, {scale}, projected"));
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused_by_place() {
    for kind in BaseKind::ALL {
        for (value, shown) in [
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            let mut table = plain(20, 3);
            table[[7, 2]] = value;
            let message = make(&table, &recipe(kind, "2", 0.9))
                .expect_err("not a finite number")
                .to_string();
            let expected =
                format!("row 7 has {shown} in column 2; every feature must be a finite number");
            assert_eq!(message, expected, "{kind}");
        }
    }
}

#[test]
fn units_do_not_matter() {
    let table = plain(30, 3);
    for kind in BaseKind::ALL {
        let recipe = recipe(kind, "2,4", 0.9);
        let made = make(&table, &recipe).expect("a plain table");
        for power in [-400, -60, 60, 400] {
            let other =
                make(&(&table * 2f64.powi(power)), &recipe).expect("the same in other units");
            let same = (0..4).all(|u| made.ensemble.column(u).eq(other.ensemble.column(u)));
            assert!(same, "{kind}, 2^{power}");
        }
    }
}

#[test]
fn numbers_too_large_to_square_are_refused() {
    for (kind, factor) in kinds_and([1e-300, 1e-160]) {
        let table = plain(30, 3) * factor;
        for scale in [Scale::None, Scale::ZScore, Scale::MinMax] {
            let mut recipe = recipe(kind, "2,4", 0.9);
            recipe.scale = scale;
            let what = format!("{kind} × {factor:e}, {scale}");
            whole(&table, &recipe, 27, &what);
        }
    }
    for (kind, factor) in kinds_and([1e160, 1e300]) {
        let refused = make(&(plain(30, 3) * factor), &recipe(kind, "2,4", 0.9));
        let large = matches!(refused, Err(GenerateError::TooLarge { .. }));
        assert!(large, "{kind}: {refused:?}");
    }
}
