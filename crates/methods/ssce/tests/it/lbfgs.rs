//! The objective, and what the paper's settings are.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroU32;

use approx::assert_abs_diff_eq;
use partita_conformance::{Drawn, draw};
use partita_core::ndarray::Axis;
use partita_core::{Features, ModelInput, Outcome, Seed, Silent};
use partita_ssce::{SsceSettings, ssce, ssce_p};

fn columns() -> Vec<String> {
    ["x", "y"].map(str::to_owned).into()
}

/// SSCE on the table, or SSCE-P on the labels.
fn run(drawn: &Drawn, on_table: bool, seed: u64, settings: &SsceSettings) -> Outcome {
    let ensemble = &drawn.ensemble;
    let k = drawn.clusters;
    let seed = Seed::new(seed);
    if !on_table {
        return ssce_p(ensemble, k, seed, settings, &Silent)
            .unwrap()
            .erased();
    }
    let columns = columns();
    let features = Features::new(&columns, drawn.features.view()).unwrap();
    ssce(ensemble, &features, k, seed, settings, &Silent)
        .unwrap()
        .erased()
}

#[test]
fn no_round_raises_the_objective() {
    let mut iterations = 0;
    for seed in 0..60 {
        let mut settings = SsceSettings::default();
        settings.gamma = Some([0.01, 1.0, 100.0][seed as usize % 3]);
        settings.tolerance = 0.0;
        settings.iterations = NonZeroU32::new(20);
        let drawn = draw(Seed::new(seed), 0.3);
        for on_table in [true, false] {
            let trace = run(&drawn, on_table, seed, &settings)
                .objective
                .unwrap()
                .trace;
            iterations += trace.len();
            // Beyond rounding.
            let mut pairs = trace.windows(2);
            let falls = pairs.all(|pair| pair[1] <= pair[0] + 1e-12 * pair[0].abs());
            assert!(falls, "{trace:?}");
        }
    }
    assert!(iterations > 1000, "{iterations}");
}

/// Without an intercept an object of average columns is like any cluster; with one it has the share of the cluster.
#[test]
fn the_papers_settings_have_no_intercept() {
    let columns = columns();
    let mut uniform = 0;
    for seed in 0..20 {
        let drawn = draw(Seed::new(seed), 0.0);
        let average = drawn
            .features
            .mean_axis(Axis(0))
            .unwrap()
            .insert_axis(Axis(0));
        let input = ModelInput::Features(Features::new(&columns, average.view()).unwrap());
        let even = 1.0 / drawn.clusters as f64;
        // How far the average object is from uniform.
        let [paper, own] = [SsceSettings::paper(), SsceSettings::default()].map(|mut settings| {
            settings.gamma = Some(1.0);
            let model = run(&drawn, true, seed, &settings).model.unwrap();
            let soft = model.predict(&input).unwrap();
            soft.rows()
                .iter()
                .map(|p| (p - even).abs())
                .fold(0.0, f64::max)
        });
        assert!(paper <= 1e-9, "{paper}");
        uniform += usize::from(own < 1e-9);
    }
    assert!(2 * uniform < 20, "{uniform} of 20");
}

/// Strong ties draw all weights to zero; from some scaling on an intercept keeps what the labels say of the sizes of clusters.
#[test]
fn an_intercept_that_is_scaled_up_is_not_held_back_by_strong_ties() {
    let columns = columns();
    let mut far = 0;
    for seed in 0..20 {
        let drawn = draw(Seed::new(seed), 0.0);
        let features = Features::new(&columns, drawn.features.view()).unwrap();
        for on_table in [true, false] {
            let [held, free, freer] = [1.0, 1e3, 1e4].map(|scaling| {
                let mut settings = SsceSettings::paper();
                settings.gamma = Some(1e4);
                settings.intercept = true;
                settings.intercept_scaling = scaling;
                let outcome = run(&drawn, on_table, seed, &settings);
                let soft = outcome.soft.unwrap();
                if let Some(model) = outcome.model {
                    let again = model.predict(&ModelInput::Features(features)).unwrap();
                    for (a, b) in soft.rows().iter().zip(again.rows()) {
                        assert_abs_diff_eq!(a, b, epsilon = 1e-9);
                    }
                }
                soft.rows().mean_axis(Axis(0)).unwrap()
            });
            assert_abs_diff_eq!(
                free.as_slice().unwrap(),
                freer.as_slice().unwrap(),
                epsilon = 1e-2
            );
            let even = 1.0 / drawn.clusters as f64;
            let [held, free] = [held, free].map(|shares| {
                shares
                    .iter()
                    .map(|share| (share - even).abs())
                    .fold(0.0, f64::max)
            });
            far += usize::from(free > 2.0 * held);
        }
    }
    assert!(2 * far > 40, "{far} of 40");
}
