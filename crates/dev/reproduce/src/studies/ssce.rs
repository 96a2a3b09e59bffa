//! SSCE (2013), Tables 2 and 3: consensus of k-means with the table, and labels of objects that were not there.

use anyhow::Result;
use std::num::NonZeroU32;

use partita::extend::{ModelInput, WeightedEnsemble};
use partita::generate::{BaseSpec, Recipe};
use partita::metrics::Contingency;
use partita::ndarray::{Array2, ArrayView2, Axis};
use partita::ssce::{SsceSettings, ssce};
use partita::{BaseWeights, Ensemble, EnsembleBuilder, Outcome, Partition, Seed};
use rand::seq::SliceRandom;

use self::page::{page, published};
use self::readings::{explained, with_best};
use crate::{
    Comparison, Data, Lab, Results, Row, SECONDS, Scope, Sense, Study, Unit, base_partition,
    standardised,
};

mod page;
mod readings;

pub(super) static SSCE: Ssce = Ssce;

pub(super) struct Ssce;

/// Data sets, and how many ensembles are drawn for each of five seeds: fewer where one takes long.
const DATA: [(&str, u64); 13] = [
    ("soybean", 20),
    ("wine", 20),
    ("iris", 20),
    ("zoo", 20),
    ("protein", 20),
    ("glass", 4),
    ("bupa", 8),
    ("ionosphere", 8),
    ("wdbc", 8),
    ("balance", 4),
    ("pima", 8),
    ("segment", 1),
    ("magic04", 1),
];
const QUICK: usize = 5;

/// Base clusterings: of the columns as they are with moves of single objects at the end, of the columns as they are, and
/// of standardised ones; SSCE standardises the columns that it reads by itself.
const BASES: [&str; 3] = [MOVED, "raw", "std"];
/// The base clusterings that are compared.
const MOVED: &str = "moved";
/// Follows the base clusterings where 40 % of the objects are unseen.
const UNSEEN: &str = " 60/40";

/// Ensembles of standardised columns, and ensembles for SSCE-P, which costs more: at most so many a seed.
fn fewer(each: u64) -> u64 {
    if each == 20 { 4 } else { each.min(2) }
}

/// Ensembles of one split. The paper has ten splits; four times as many are drawn of the smallest data sets.
const RUNS: u64 = 5;
const SMALLEST: usize = 5;

const GAMMAS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// After the name of a method: its formulas as they are printed. They end after a round, since the next needs the inverse of
/// an Ω that has none.
const PRINTED: &str = " as printed";
/// Intercepts of those: what a measure begins with, the column of X that stands for it, and how often γ is taken.
const INTERCEPTS: [(&str, Option<u32>, f64); 3] = [
    ("none", None, 1.0),
    ("free", Some(100), 1.0),
    ("tied", Some(3), 2.0),
];

/// After the name of a method: as printed, but base clusterings take their names from the true labels, which the paper calls
/// the ideal reference.
const NAMED: &str = " named by the truth";
/// The base clustering of the true labels there, and its weight: it lends its names and next to nothing else.
const LENT: (&str, f64) = ("truth", 1e-9);

const OURS: [&str; 2] = ["ssce-p", "ssce"];
const OTHERS: [&str; 7] = ["kc", "nmfc", "mcla", "cspa", "hgpa", "bce", "mm"];

impl Study for Ssce {
    fn name(&self) -> &'static str {
        "ssce"
    }

    fn title(&self) -> &'static str {
        "SSCE: k-means ensembles and unseen objects (Tables 2 and 3)"
    }

    fn units(&self, scope: Scope) -> Vec<Unit> {
        let data = scope.of(&DATA, QUICK);
        let mut units = Vec::new();
        for (at, &(name, each)) in data.iter().enumerate() {
            let each = if scope.quick { each.min(2) } else { each };
            for base in BASES {
                let many = if base == "std" {
                    each.min(fewer(each))
                } else {
                    each
                };
                for seed in 0..many * scope.seeds {
                    let on_labels = base == MOVED || seed < fewer(each) * scope.seeds;
                    units.push(Unit::new(name, base, seed, methods(name, base, on_labels)));
                }
                let splits = if scope.quick {
                    2
                } else {
                    splits(at, each, base)
                };
                let setting = format!("{base}{UNSEEN}");
                let run =
                    |seed| Unit::new(name, setting.as_str(), seed, methods(name, base, false));
                units.extend((0..splits * RUNS).map(run));
            }
        }
        units
    }

    fn measure(&self, unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>> {
        let data = lab.data(&unit.data)?;
        let base = unit.setting.trim_end_matches(UNSEEN);
        let table = if base == "std" {
            standardised(data.values.view())
        } else {
            data.values.clone()
        };
        let mut recipe = Recipe::preset("ssce", data.classes())?;
        if base == MOVED {
            recipe.base = BaseSpec::list("kmeans-moves:20")?;
        }
        let ensemble = |table: ArrayView2<'_, f64>| lab.ensemble(table, &recipe, unit.seed);
        if unit.setting == base {
            let ensemble = ensemble(table.view())?;
            return Bench {
                unit,
                lab,
                data: &data,
                ensemble,
                rest: None,
            }
            .rows();
        }
        let (seen, unseen) = split(data.objects(), unit.seed / RUNS);
        let here = part(&data, &seen);
        let rest = part(&data, &unseen);
        let (table, unseen) = (table.select(Axis(0), &seen), table.select(Axis(0), &unseen));
        let ensemble = ensemble(table.view())?;
        Bench {
            unit,
            lab,
            data: &here,
            ensemble,
            rest: Some(Rest {
                table,
                unseen,
                data: rest,
            }),
        }
        .rows()
    }

    fn comparisons(&self, results: &Results) -> Vec<Comparison> {
        let results = with_best(results);
        let mut all = published().compare(&results, |_| Sense::More, &OURS);
        // The study has no counterpart of this column.
        all.retain(|comparison| comparison.published.method != "bce-infer");
        all.iter_mut()
            .for_each(|comparison| explained(&results, comparison));
        all
    }

    fn page(&self, results: &Results) -> String {
        page(&with_best(results), &self.comparisons(results))
    }
}

fn methods(data: &str, base: &str, on_labels: bool) -> Vec<String> {
    let others = OTHERS
        .into_iter()
        .filter(|method| *method != "cspa" || data != "magic04");
    let ours = OURS
        .into_iter()
        .filter(|method| *method == "ssce" || on_labels);
    // Many rounds are measured where other implementations were, and standardised.
    let ours = ours.flat_map(|method| {
        [
            (base != MOVED).then(|| method.to_owned()),
            Some(format!("{method}{PRINTED}")),
        ]
    });
    let named = (base == MOVED).then(|| format!("ssce{NAMED}"));
    std::iter::once("k-means")
        .chain(others)
        .map(String::from)
        .chain(ours.flatten())
        .chain(named)
        .collect()
}

/// Splits into 60 % and 40 %.
fn splits(place: usize, each: u64, base: &str) -> u64 {
    match (place < SMALLEST, base) {
        (true, "raw") if place == 0 => 160,
        (true, MOVED | "raw") => 40,
        (_, "raw" | "std") if each == 1 => 2,
        _ => 10,
    }
}

fn split(objects: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..objects).collect();
    order.shuffle(&mut Seed::new(seed).rng());
    let unseen = order.split_off(objects * 6 / 10);
    (order, unseen)
}

fn part(data: &Data, objects: &[usize]) -> Data {
    let labels = objects.iter().map(|&i| data.truth.labels()[i]).collect();
    let truth = Partition::new(labels, data.truth.clusters()).expect("labels of the whole");
    Data {
        values: data.values.select(Axis(0), objects),
        columns: data.columns.clone(),
        truth,
    }
}

/// Objects that no base clustering has seen.
struct Rest {
    /// What base clusterings are made of: the seen and the unseen.
    table: Array2<f64>,
    unseen: Array2<f64>,
    data: Data,
}

/// One ensemble.
struct Bench<'a> {
    unit: &'a Unit,
    lab: &'a Lab<'a>,
    data: &'a Data,
    ensemble: Ensemble,
    rest: Option<Rest>,
}

impl Bench<'_> {
    fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for method in &self.unit.methods {
            match method.as_str() {
                "k-means" => rows.push(self.unit.row(method, "h", self.kmeans()?)),
                "ssce" | "ssce-p" => self.own(method, &mut rows)?,
                _ if method.ends_with(PRINTED) => self.printed(method, &mut rows)?,
                _ if method.ends_with(NAMED) => self.named(method, &mut rows)?,
                _ => {
                    let (outcome, seconds) = self.lab.timed(|| self.consensus(method, &[]));
                    rows.push(
                        self.unit
                            .row(method, "h", self.accuracy(&outcome?.partition)?),
                    );
                    rows.push(self.unit.row(method, SECONDS, seconds));
                }
            }
        }
        Ok(rows)
    }

    fn consensus(&self, method: &str, settings: &[&str]) -> Result<Outcome> {
        let features = Some(self.data.features());
        self.lab.consensus(
            method,
            &self.ensemble,
            features,
            self.data.classes(),
            self.unit.seed,
            settings,
        )
    }

    /// Mean accuracy of the base clusterings.
    fn kmeans(&self) -> Result<f64> {
        let bases = self.ensemble.bases().len();
        let mut sum = 0.0;
        for u in 0..bases {
            sum += self.accuracy(&base_partition(&self.ensemble, u)?)?;
        }
        Ok(sum / bases as f64)
    }

    /// SSCE or SSCE-P with an Ω that has an inverse, many rounds, every γ; and our default, which knows no true label.
    fn own(&self, method: &str, rows: &mut Vec<Row>) -> Result<()> {
        for gamma in GAMMAS {
            let tie = with(gamma);
            let paper = [
                tie.as_str(),
                "intercept=false",
                "exact=false",
                "shrink=0",
                "iterations=30",
            ];
            let outcome = self.consensus(method, &paper)?;
            rows.push(
                self.unit
                    .row(method, &format!("h {tie}"), self.found(&outcome)?),
            );
        }
        let (outcome, seconds) = self.lab.timed(|| self.consensus(method, &[]));
        rows.push(self.unit.row(method, "h held out", self.found(&outcome?)?));
        rows.push(self.unit.row(method, SECONDS, seconds));
        Ok(())
    }

    /// The formulas as they are printed, one round, every intercept, every γ.
    fn printed(&self, name: &str, rows: &mut Vec<Row>) -> Result<()> {
        let method = name.trim_end_matches(PRINTED);
        let mut seconds = 0.0;
        for (measure, constant, times) in INTERCEPTS {
            let (intercept, constant) = (
                format!("intercept={}", constant.is_some()),
                format!("intercept_scaling={}", constant.unwrap_or(1)),
            );
            for gamma in GAMMAS {
                let tie = with(gamma * self.vectors() * times);
                let paper = [
                    &tie,
                    &intercept,
                    &constant,
                    "exact=false",
                    "shrink=0",
                    "iterations=1",
                ];
                let (outcome, took) = self.lab.timed(|| self.consensus(method, &paper));
                rows.push(self.unit.row(
                    name,
                    &format!("{measure} {}", with(gamma)),
                    self.found(&outcome?)?,
                ));
                seconds += took;
            }
        }
        rows.push(self.unit.row(name, SECONDS, seconds));
        Ok(())
    }

    /// SSCE as printed without an intercept, named by the true labels, every γ.
    fn named(&self, name: &str, rows: &mut Vec<Row>) -> Result<()> {
        let bases = self.ensemble.bases();
        let truth = &self.data.truth;
        let mut builder = EnsembleBuilder::new(truth.objects());
        for (u, base) in bases.iter().enumerate() {
            builder.push(base.name(), self.ensemble.column(u))?;
        }
        let labels = truth.labels().iter().map(|&label| Some(label as usize));
        builder.push(LENT.0, labels)?;
        let ensemble = builder.finish()?;
        let weights = BaseWeights::new([vec![1.0; bases.len()], vec![LENT.1]].concat())
            .expect("all are above 0")
            .in_proportion();
        let mut settings = SsceSettings::paper();
        settings.iterations = Some(NonZeroU32::MIN);
        settings.reference = Some(LENT.0.into());
        let mut seconds = 0.0;
        for gamma in GAMMAS {
            settings.gamma = Some(gamma * self.vectors());
            let (features, classes, seed) = (
                self.data.features(),
                self.data.classes(),
                Seed::new(self.unit.seed),
            );
            let source = WeightedEnsemble {
                base_weights: Some(&weights),
                ..(&ensemble).into()
            };
            let run = || {
                ssce(
                    source,
                    &features,
                    classes,
                    seed,
                    &settings,
                    self.lab.monitor(),
                )
            };
            let (outcome, took) = self.lab.timed(run);
            let found = self.found(&outcome?.erased())?;
            rows.push(self.unit.row(name, &format!("none {}", with(gamma)), found));
            seconds += took;
        }
        rows.push(self.unit.row(name, SECONDS, seconds));
        Ok(())
    }

    /// How often γ is taken. Of two classes the paper has one vector, w; here are two, w/2 and −w/2, whose squares sum to half of
    /// its.
    fn vectors(&self) -> f64 {
        if self.data.classes() == 2 { 2.0 } else { 1.0 }
    }

    /// Accuracy of an outcome; on unseen objects that of its model.
    fn found(&self, outcome: &Outcome) -> Result<f64> {
        match (&self.rest, &outcome.model) {
            (Some(rest), Some(model)) => {
                let input = ModelInput::Features(rest.data.features());
                let found = model.predict(&input)?;
                accuracy(&found.hard(), &rest.data.truth)
            }
            _ => self.accuracy(&outcome.partition),
        }
    }

    /// Accuracy of a partition; on unseen objects, of the clusters whose centres are nearest to them.
    fn accuracy(&self, partition: &Partition) -> Result<f64> {
        match &self.rest {
            None => accuracy(partition, &self.data.truth),
            Some(rest) => accuracy(
                &nearest(rest.table.view(), partition, rest.unseen.view()),
                &rest.data.truth,
            ),
        }
    }
}

fn with(gamma: f64) -> String {
    format!("gamma={gamma}")
}

/// Share of objects under the best matching of these very objects.
fn accuracy(found: &Partition, truth: &Partition) -> Result<f64> {
    Ok(Contingency::new(found, truth)?.accuracy())
}

/// The cluster of the nearest centre for every row of `unseen`.
fn nearest(
    table: ArrayView2<'_, f64>,
    partition: &Partition,
    unseen: ArrayView2<'_, f64>,
) -> Partition {
    let clusters = partition.clusters();
    let mut centres = Array2::<f64>::zeros((clusters, table.ncols()));
    let mut sizes = vec![0.0; clusters];
    for (row, &label) in table.outer_iter().zip(partition.labels()) {
        centres.row_mut(label as usize).scaled_add(1.0, &row);
        sizes[label as usize] += 1.0;
    }
    let there: Vec<usize> = (0..clusters).filter(|&k| sizes[k] > 0.0).collect();
    there
        .iter()
        .for_each(|&k| centres.row_mut(k).mapv_inplace(|x| x / sizes[k]));
    let far = |row: partita::ndarray::ArrayView1<'_, f64>, k: usize| {
        row.iter()
            .zip(centres.row(k))
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
    };
    let closest = |row: partita::ndarray::ArrayView1<'_, f64>| {
        let best = there
            .iter()
            .copied()
            .min_by(|&a, &b| far(row, a).total_cmp(&far(row, b)));
        best.unwrap_or(0) as u32
    };
    Partition::new(unseen.outer_iter().map(closest).collect(), clusters)
        .expect("clusters of the partition")
}
