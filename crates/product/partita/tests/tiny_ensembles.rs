//! Ensembles of one to three objects, with every pattern of labels that so few can have: a consensus, or a reason why there cannot be one.

use partita::extend::{Consensus, ConsensusError, Problem, Reads, SettingMap, consense};
use partita::ndarray::Array2;
use partita::{Clusters, Ensemble, EnsembleBuilder, Features, METHODS, Silent};

/// Settings that make slow methods quick.
const QUICK: &[(&str, &[&str])] = &[
    ("baum-eagon", &["iterations=100"]),
    ("bce", &["restarts=2", "iterations=30"]),
    (
        "nbce-gibbs",
        &["burn_in=5", "sweeps=10", "keep=5", "chains=2"],
    ),
    ("ssce", &["gamma=1"]),
    ("ssce-p", &["gamma=1"]),
];

/// Ensembles of so many objects and base clusterings with labels 0, 1 or none: every `step`-th.
fn patterns(objects: usize, bases: usize, step: usize) -> impl Iterator<Item = Ensemble> {
    let count = 3usize.pow((objects * bases) as u32);
    (0..count).step_by(step).filter_map(move |pattern| {
        let label = |base: usize, object: usize| match pattern
            / 3usize.pow((base * objects + object) as u32)
            % 3
        {
            2 => None,
            label => Some(label),
        };
        let mut builder = EnsembleBuilder::new(objects);
        for base in 0..bases {
            builder
                .push(
                    base.to_string(),
                    (0..objects).map(|object| label(base, object)),
                )
                .ok()?;
        }
        builder.finish().ok()
    })
}

/// Whether the method answers: with labels of all objects, or by naming what it cannot take.
fn answers(method: &dyn Consensus, ensemble: &Ensemble, clusters: Clusters) -> Result<(), String> {
    let (columns, values) = (
        ["x".to_owned()],
        Array2::from_shape_fn((ensemble.objects(), 1), |(i, _)| i as f64),
    );
    let mut problem = Problem::new(ensemble, clusters);
    let quick = QUICK
        .iter()
        .find(|(name, _)| *name == method.info().name)
        .map_or(&[][..], |(_, settings)| settings);
    problem.settings = SettingMap::parse(quick).expect("pairs");
    if method.info().capabilities.reads == Reads::LabelsAndFeatures {
        problem.features = Features::new(&columns, values.view()).ok();
    }
    match consense(method, &problem, &Silent) {
        Ok(outcome) if outcome.partition.objects() == ensemble.objects() => Ok(()),
        Ok(outcome) => Err(format!("{} labels", outcome.partition.objects())),
        Err(ConsensusError::Method { source, .. }) => Err(source.to_string()),
        Err(_) => Ok(()),
    }
}

#[test]
fn every_method_answers() {
    let sizes = [
        (1, 1, 1),
        (1, 2, 1),
        (2, 1, 1),
        (2, 2, 1),
        (3, 1, 1),
        (3, 2, 11),
    ];
    let ensembles: Vec<Ensemble> = sizes
        .into_iter()
        .flat_map(|(n, m, step)| patterns(n, m, step))
        .collect();
    assert!(ensembles.len() > 150, "{}", ensembles.len());
    let mut failed = Vec::new();
    for method in METHODS {
        for ensemble in &ensembles {
            for clusters in (1..=ensemble.objects())
                .map(Clusters::Exactly)
                .chain([Clusters::Auto])
            {
                if let Err(why) = answers(*method, ensemble, clusters) {
                    let rows: Vec<String> = (0..ensemble.objects())
                        .map(|i| {
                            format!(
                                "{:?}",
                                (0..ensemble.bases().len())
                                    .map(|u| ensemble.label(i, u))
                                    .collect::<Vec<_>>()
                            )
                        })
                        .collect();
                    failed.push(format!(
                        "{} into {clusters:?} of {}: {why}",
                        method.info().name,
                        rows.join(" ")
                    ));
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of them: {:#?}",
        failed.len(),
        &failed[..failed.len().min(10)]
    );
}
