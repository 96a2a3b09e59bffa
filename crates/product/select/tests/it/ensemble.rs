//! How many clusters ensembles have.

use std::path::Path;

use partita_conformance::{draw, ensemble};
use partita_core::{
    Clusters, Consensus, Ensemble, MemoryBudget, Problem, Seed, SettingsError, Silent, consense,
};
use partita_files::{ReadOptions, read_table};
use partita_generate::{BaseSpec, Recipe, generate};
use partita_linkage::longest_lifetime;
use partita_select::{
    Choice, Criterion, EnsembleChoiceSettings, Null, SelectError, choose_clusters_of_ensemble,
};
use partita_synth::{SynthSettings, synthesise};
use rand::RngExt;

fn choose(
    method: &str,
    ensemble: &Ensemble,
    last: usize,
    settings: &EnsembleChoiceSettings,
) -> Choice {
    let method = partita::method(method).expect("it is listed");
    let problem = Problem::new(ensemble, Clusters::Auto);
    choose_clusters_of_ensemble(method, &problem, 2..=last, settings, &Silent)
        .expect("there is a consensus")
}

/// Many small clusters, as evidence accumulation wants them.
fn fine(name: &str, objects: usize, seed: u64) -> Ensemble {
    let made = synthesise(name, objects, Seed::new(seed), &SynthSettings::default())
        .expect("it is listed");
    let mut recipe = Recipe::default();
    recipe.base = BaseSpec::list("kmeans:100").expect("it is listed");
    recipe.base_k = "10..30".parse().expect("it is a range");
    let budget = MemoryBudget::UNLIMITED;
    let made = generate(
        made.values.view(),
        &recipe,
        Seed::new(seed),
        budget,
        &Silent,
    );
    made.expect("there is room").ensemble
}

#[test]
fn half_rings_are_two_by_lifetime() {
    for seed in 0..3 {
        let settings = EnsembleChoiceSettings::default();
        let choice = choose("eac-single", &fine("half-rings", 400, seed), 10, &settings);
        assert_eq!(choice.clusters, 2, "{}", choice.reason);
        assert_eq!(choice.criterion, Criterion::Lifetime);
        let row = choice.row(2).unwrap();
        assert_eq!(row.references[0].null, Null::PermutedLabels);
        assert!(row.anmi.unwrap() > row.references[0].anmi.unwrap().high && row.p.unwrap() < 1e-3);
    }
}

#[test]
fn a_tree_is_cut_as_the_method_cuts_it() {
    for seed in (0..8).map(Seed::new) {
        let drawn = draw(seed, 0.1);
        let ensemble = &drawn.ensemble;
        let n = ensemble.objects();
        for name in ["eac-average", "eac-single", "lwea", "mcla"] {
            let method: &dyn Consensus = partita::method(name).unwrap();
            let mut settings = EnsembleChoiceSettings::default();
            settings.draws = 0;
            let choice = choose(name, ensemble, n, &settings);
            for row in &choice.rows {
                let what = format!("{name} {}", row.clusters);
                let problem = Problem::new(ensemble, Clusters::Exactly(row.clusters));
                let outcome = consense(method, &problem, &Silent).unwrap();
                let found = row.partition.as_ref().unwrap().by_appearance();
                assert_eq!(found, outcome.partition.by_appearance(), "{what}");
                if row.clusters == 2 && name.starts_with("eac") {
                    let longest = longest_lifetime(&outcome.dendrogram.unwrap());
                    assert!(longest == choice.clusters || longest >= n, "{name}");
                }
            }
        }
    }
}

#[test]
fn labels_without_agreement_are_one_cluster() {
    for seed in 0..5 {
        let mut rng = Seed::new(seed).rng();
        let ensemble = ensemble((0..15).map(|u| {
            let labels = (0..80).map(|_| Some(rng.random_range(0..4)));
            (format!("{u}"), labels.collect())
        }));
        for method in ["eac-average", "mcla"] {
            let choice = choose(method, &ensemble, 6, &EnsembleChoiceSettings::default());
            assert_eq!(choice.clusters, 1, "{method} {seed}: {}", choice.reason);
        }
    }
}

#[test]
fn large_ensembles_are_sampled() {
    let ensemble = fine("half-rings", 400, 1);
    let mut settings = EnsembleChoiceSettings::default();
    settings.sample = 150;
    settings.draws = 3;
    let choice = choose("eac-single", &ensemble, 6, &settings);
    let objects = choice.objects.as_ref().unwrap();
    assert!(objects.len() == 150 && objects.is_sorted_by(|a, b| a < b));
    let mut rows = choice.rows.iter();
    assert!(rows.all(|row| row.partition.as_ref().unwrap().objects() == 150));
    settings.sample = 400;
    assert_eq!(choose("eac-single", &ensemble, 6, &settings).objects, None);
}

#[test]
fn a_method_with_a_likelihood_is_judged_by_bic() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets/iris.csv");
    let table = read_table(&path, &ReadOptions::default()).unwrap();
    let mut recipe = Recipe::default();
    recipe.base = BaseSpec::list("kmeans:30").unwrap();
    recipe.base_k = "3".parse().unwrap();
    let budget = MemoryBudget::UNLIMITED;
    let made = generate(table.values.view(), &recipe, Seed::new(1), budget, &Silent).unwrap();
    let mut settings = EnsembleChoiceSettings::default();
    settings.draws = 3;
    let choice = choose("penca", &made.ensemble, 5, &settings);
    assert_eq!(choice.criterion, Criterion::Bic);
    assert_eq!(choice.clusters, 3, "{}", choice.reason);
    let mut rows = choice.rows.iter();
    assert!(rows.all(|row| row.bic.is_some() && row.objective.is_some()));
    // Only the chosen one is compared.
    let compared = choice.rows.iter().filter(|row| !row.references.is_empty());
    assert_eq!(compared.count(), 1);

    settings.criterion = Some(Criterion::Lifetime);
    let method = partita::method("penca").unwrap();
    let problem = Problem::new(&made.ensemble, Clusters::Auto);
    let refused = choose_clusters_of_ensemble(method, &problem, 2..=3, &settings, &Silent);
    let Err(SelectError::Settings(SettingsError::Unfit { name, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(name, "criterion");
}
