//! What methods say: their progress, and warnings about a result that is not to be trusted.

use partita::extend::{Consensus, Problem, Reads, SettingMap};
use partita::extend::{ConsensusError, Stopped, consense};
use partita::ndarray::Array2;
use partita::{Clusters, Ensemble, EnsembleBuilder, Features, METHODS, Outcome};
use partita::{Seed, Silent, method};
use partita_conformance::{planted, progress};

const OBJECTS: usize = 90;

/// Numbers without a pattern (SplitMix64).
fn hash(x: u64) -> u64 {
    let z = (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Base clusterings of four clusters; this share of the labels follows three groups.
fn ensemble(share: u64) -> Ensemble {
    let mut builder = EnsembleBuilder::new(OBJECTS);
    for base in 0..12 {
        let label = |object: u64| {
            let drawn = hash(object * 1000 + base);
            if drawn % 100 < share {
                object % 3
            } else {
                hash(drawn) % 4
            }
        };
        builder
            .push(
                base.to_string(),
                (0..OBJECTS as u64).map(|object| Some(label(object))),
            )
            .expect("labels of all objects");
    }
    builder.finish().expect("an ensemble")
}

/// One cluster in every base clustering.
fn constant() -> Ensemble {
    let mut builder = EnsembleBuilder::new(OBJECTS);
    (0..5).for_each(|base| {
        builder
            .push(base.to_string(), vec![Some(0); OBJECTS])
            .expect("labels of all objects");
    });
    builder.finish().expect("an ensemble")
}

fn solve(
    method: &dyn Consensus,
    ensemble: &Ensemble,
    settings: &[&str],
) -> Result<Outcome, ConsensusError> {
    let columns = ["x".to_owned(), "y".to_owned()];
    let values = Array2::from_shape_fn((OBJECTS, 2), |(i, j)| {
        ((i * (7 + 6 * j)) % 31 + 10 * (i % 3)) as f64
    });
    let mut problem = Problem::new(ensemble, Clusters::Exactly(3));
    problem.settings = SettingMap::parse(settings).expect("pairs");
    if method.info().capabilities.reads == Reads::LabelsAndFeatures {
        problem.features = Features::new(&columns, values.view()).ok();
    }
    consense(method, &problem, &Silent)
}

fn says(outcome: &Outcome, words: &str) -> bool {
    outcome
        .warnings
        .iter()
        .any(|warning| warning.contains(words))
}

#[test]
fn a_round_limit_is_said() {
    let ensemble = ensemble(25);
    let mut walked = 0;
    for method in METHODS {
        if !method
            .settings()
            .iter()
            .any(|setting| setting.name == "iterations")
        {
            continue;
        }
        let (name, gamma) = (
            method.info().name,
            method
                .settings()
                .iter()
                .any(|setting| setting.name == "gamma"),
        );
        let settings: &[&str] = if gamma {
            &["iterations=1", "gamma=1"]
        } else {
            &["iterations=1"]
        };
        let outcome = solve(*method, &ensemble, settings).unwrap();
        assert_eq!(outcome.stopped, Stopped::IterationLimit, "{name}");
        assert!(
            says(&outcome, "limit of 1 iterations"),
            "{name}: {:?}",
            outcome.warnings
        );
        walked += 1;
    }
    assert!(walked >= 17, "{walked} methods have iterations");
}

#[test]
fn an_ensemble_that_says_nothing_is_said() {
    let (nothing, chance) = (constant(), ensemble(0));
    let (mut solved, mut sampled) = (0, 0);
    for method in METHODS {
        let (info, quick): (_, &[&str]) = (method.info(), &[]);
        let gamma = method
            .settings()
            .iter()
            .any(|setting| setting.name == "gamma");
        let quick = if gamma { &["gamma=1"] } else { quick };
        // Some find no pair to look at, and say so as an error.
        if let Ok(outcome) = solve(*method, &nothing, quick) {
            assert!(
                says(&outcome, "every base clustering has one cluster"),
                "{}: {:?}",
                info.name,
                outcome.warnings
            );
            solved += 1;
        }
        if let Ok(outcome) = solve(*method, &chance, quick) {
            assert!(
                says(&outcome, "no more than by chance"),
                "{}: {:?}",
                info.name,
                outcome.warnings
            );
            sampled += 1;
        }
    }
    assert!(solved >= 25 && sampled >= 31, "{solved} {sampled}");
    let clear = solve(partita::method("lwgp").unwrap(), &ensemble(80), &[]).unwrap();
    assert_eq!(clear.warnings, [""; 0]);
}

/// A bar that stands still says that nothing happens: what takes long tells its progress often, in small steps.
#[test]
fn long_fits_tell_their_progress() {
    let cases: [(&str, &[&str], usize, usize); 7] = [
        ("lwgp", &[], 2000, 10),
        ("hbgf", &[], 2000, 10),
        ("pcc-kl", &["restarts=2"], 300, 60),
        ("pcc-l2", &["restarts=2"], 300, 60),
        ("pcc-kl", &["pairs_per_object=10"], 600, 60),
        ("ssce", &[], 400, 20),
        ("ssce-p", &[], 400, 20),
    ];
    for (name, settings, objects, least) in cases {
        let (drawn, settings) = (
            planted(objects, 12, 6, Seed::new(1)),
            SettingMap::parse(settings).unwrap(),
        );
        let shares = progress(
            method(name).unwrap(),
            &drawn,
            Clusters::Exactly(6),
            &settings,
        );
        let steps = shares
            .array_windows()
            .filter(|[before, after]| after > before)
            .count();
        let longest = shares
            .array_windows()
            .map(|[before, after]| after - before)
            .fold(0.0, f64::max);
        assert!(
            shares.is_sorted() && steps >= least,
            "{name} told {steps} steps: {shares:?}"
        );
        assert!(longest < 0.4, "{name} leaps by {longest}: {shares:?}");
    }
}
