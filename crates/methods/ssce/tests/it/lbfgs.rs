//! The objective, and what the paper's settings are.

use std::num::NonZeroU32;

use approx::assert_abs_diff_eq;
use partita_conformance::draw;
use partita_core::ndarray::Array2;
use partita_core::{Features, ModelInput, Seed, Silent};
use partita_ssce::{SsceSettings, ssce, ssce_p};

fn columns() -> Vec<String> {
    ["x", "y"].map(str::to_owned).into()
}

#[test]
fn no_round_raises_the_objective() {
    let (mut rounds, columns) = (0, columns());
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), 0.3);
        let features = Features::new(&columns, drawn.features.view()).unwrap();
        let mut settings = SsceSettings::default();
        (settings.gamma, settings.tolerance) = (Some([0.01, 1.0, 100.0][seed as usize % 3]), 0.0);
        settings.rounds = NonZeroU32::new(20);
        let (ensemble, k, seed) = (&drawn.ensemble, drawn.clusters, Seed::new(seed));
        let on_table = ssce(ensemble, &features, k, seed, &settings, &Silent).unwrap();
        let on_labels = ssce_p(ensemble, k, seed, &settings, &Silent).unwrap();
        for trace in [on_table, on_labels].map(|outcome| outcome.objective.unwrap().trace) {
            rounds += trace.len();
            // Beyond rounding.
            assert!(
                trace
                    .windows(2)
                    .all(|pair| pair[1] <= pair[0] + 1e-12 * pair[0].abs()),
                "{trace:?}"
            );
        }
    }
    assert!(rounds > 1000, "{rounds}");
}

/// Without an intercept an object of average columns is like any cluster; with one it has the share of the cluster.
#[test]
fn the_papers_settings_have_no_intercept() {
    let (columns, means) = (columns(), |values: &Array2<f64>| {
        values.mean_axis(partita_core::ndarray::Axis(0)).unwrap()
    });
    let (mut uniform, mut drawn_from) = (0, 0);
    for seed in 0..20 {
        let drawn = draw(Seed::new(seed), 0.0);
        let features = Features::new(&columns, drawn.features.view()).unwrap();
        let average = means(&drawn.features).insert_axis(partita_core::ndarray::Axis(0));
        let at_average = |mut settings: SsceSettings| {
            settings.gamma = Some(1.0);
            let (ensemble, k, seed) = (&drawn.ensemble, drawn.clusters, Seed::new(seed));
            let model = ssce(ensemble, &features, k, seed, &settings, &Silent)
                .unwrap()
                .model
                .unwrap();
            let input = ModelInput::Features(Features::new(&columns, average.view()).unwrap());
            model.predict(&input).unwrap().rows().row(0).to_vec()
        };
        drawn_from += 1;
        let even = 1.0 / drawn.clusters as f64;
        at_average(SsceSettings::paper())
            .iter()
            .for_each(|p| assert_abs_diff_eq!(*p, even, epsilon = 1e-9));
        uniform += usize::from(
            at_average(SsceSettings::default())
                .iter()
                .all(|p| (p - even).abs() < 1e-9),
        );
    }
    assert!(2 * uniform < drawn_from, "{uniform} of {drawn_from}");
}

/// Strong ties draw all weights to zero; from some scaling on an intercept keeps what the labels say of the sizes of clusters.
#[test]
fn an_intercept_that_is_scaled_up_is_not_held_back_by_strong_ties() {
    let columns = columns();
    let (mut far, mut all) = (0, 0);
    for seed in 0..20 {
        let drawn = draw(Seed::new(seed), 0.0);
        let features = Features::new(&columns, drawn.features.view()).unwrap();
        let shares = |scaling: f64, on_table: bool| {
            let mut settings = SsceSettings::paper();
            (
                settings.gamma,
                settings.intercept,
                settings.intercept_scaling,
            ) = (Some(1e4), true, scaling);
            let (ensemble, k, seed) = (&drawn.ensemble, drawn.clusters, Seed::new(seed));
            let outcome = if on_table {
                ssce(ensemble, &features, k, seed, &settings, &Silent).unwrap()
            } else {
                ssce_p(ensemble, k, seed, &settings, &Silent).unwrap()
            };
            let soft = outcome.soft.unwrap();
            if let Some(model) = outcome.model {
                let again = model.predict(&ModelInput::Features(features)).unwrap();
                soft.rows()
                    .iter()
                    .zip(again.rows())
                    .for_each(|(a, b)| assert_abs_diff_eq!(a, b, epsilon = 1e-9));
            }
            soft.rows()
                .mean_axis(partita_core::ndarray::Axis(0))
                .unwrap()
                .to_vec()
        };
        for on_table in [true, false] {
            let free = shares(1e3, on_table);
            let other = shares(1e4, on_table);
            free.iter()
                .zip(&other)
                .for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-2));
            let even = 1.0 / drawn.clusters as f64;
            let spread = |shares: &[f64]| {
                shares
                    .iter()
                    .map(|share| (share - even).abs())
                    .fold(0.0, f64::max)
            };
            all += 1;
            far += usize::from(spread(&free) > 2.0 * spread(&shares(1.0, on_table)));
        }
    }
    assert!(2 * far > all, "{far} of {all}");
}
