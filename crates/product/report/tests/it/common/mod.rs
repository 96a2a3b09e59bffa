//! Reports that tests look at.

use partita_core::{Clusters, Consensus, Ensemble, MemoryBudget, Outcome, Problem, Seed, Silent};
use partita_eac::EAC_AVERAGE;
use partita_files::{ReadOptions, Table, read_table};
use partita_generate::{BaseKind, BaseSpec, Recipe, generate};
use partita_pcc::PCC_KL;
use partita_report::{ClusterCurves, CurvePoint, Measure, Report};
use serde_json::json;

/// What a report of iris borrows from.
pub(crate) struct Iris {
    pub(crate) table: Table,
    pub(crate) ensemble: Ensemble,
    pub(crate) outcome: Outcome,
    pub(crate) truth: Vec<Option<String>>,
    pub(crate) choice: ClusterCurves,
}

fn made(table: &Table, clusters: &str, runs: usize) -> Ensemble {
    let mut recipe = Recipe::default();
    recipe.base = vec![BaseSpec::new(BaseKind::KMeans, runs)];
    (recipe.base_k, recipe.subsample) = (clusters.parse().expect("a range"), 0.8);
    generate(
        table.values.view(),
        &recipe,
        Seed::new(1),
        MemoryBudget::UNLIMITED,
        &Silent,
    )
    .expect("it can be made")
    .ensemble
}

fn consensus(method: &dyn Consensus, ensemble: &Ensemble, clusters: usize) -> Outcome {
    let problem = Problem::new(ensemble, Clusters::Exactly(clusters));
    partita_core::consense(method, &problem, &Silent).expect("it can be found")
}

impl Iris {
    pub(crate) fn new() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../datasets/iris.csv");
        let table =
            read_table(path.as_ref(), &ReadOptions::default()).expect("it is in the repository");
        let ensemble = made(&table, "2..12", 40);
        let outcome = consensus(&PCC_KL, &ensemble, 3);
        let truth = table.label.as_ref().expect("it has classes").values.clone();
        let mut choice = ClusterCurves {
            chosen: Some(3),
            reason: "3 clusters, as asked for.".into(),
            ..ClusterCurves::default()
        };
        for clusters in 2..=5 {
            let found = consensus(
                &EAC_AVERAGE,
                &made(&table, &clusters.to_string(), 20),
                clusters,
            );
            let sure = found.certainty.iter().sum::<f64>() / found.certainty.len() as f64;
            let step = clusters as f64 / 10.0;
            choice.rows.push(CurvePoint {
                clusters,
                cdf: (0..=50)
                    .map(|at| step + (1.0 - step) * (f64::from(at) / 50.0).powi(4))
                    .collect(),
                pac: Some(0.5 - step),
                null_pac: Some(0.6 - 0.2 * step),
                null_range: Some((0.5 - 0.2 * step, 0.7 - 0.2 * step)),
                delta_area: Some(0.1 / step),
                certainty: Some(sure),
                ..CurvePoint::default()
            });
            choice.partitions.push(found.partition);
        }
        let values = [0.1, 0.4, 0.3, 0.2].map(Some).to_vec();
        choice.measures = vec![Measure {
            name: "stability index".into(),
            values,
        }];
        Self {
            table,
            ensemble,
            outcome,
            truth,
            choice,
        }
    }

    pub(crate) fn report(&self) -> Report<'_> {
        let record = json!({ "method": "pcc-kl", "seed": 1, "table": "iris.csv", "seconds": 0.5, "version": "0.0.0",
            "arguments": ["run", "iris.csv", "-k", "3"], "experiment": { "clusters": 3 }, "recipe": { "scale": "none" } });
        let mut report = Report::of("iris", record, &self.outcome, &self.ensemble);
        report.features = Some(
            partita_core::Features::new(&self.table.columns, self.table.values.view())
                .expect("it is finite"),
        );
        report.truth = Some(&self.truth);
        report.choice = Some(self.choice.clone());
        report.labels_file = Some("labels.csv".into());
        report
    }
}
