//! Writes sample reports into a folder and says how long each took to build and how large it is:
//! `cargo run --release -p partita-report --example reports -- OUTDIR [NAME…]`.
//!
//! iris and digits from the repository's tables, 26 and 60 drawn groups, a consensus of labels without a table, runs of 120,000 and 1,000,000 objects drawn from a mixture, and one
//! with names that are not meant well. The tests look at some of these too.

use std::error::Error;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Instant;

use partita_coassoc::CoAssociation;
use partita_core::ndarray::{Array2, ArrayView1, ArrayView2};
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, Features, MemoryBudget, MethodInfo, Outcome,
    Partition, Problem, Seed, Silent,
};
use partita_eac::EAC_AVERAGE;
use partita_files::{ReadOptions, read_table};
use partita_generate::{BaseKind, BaseSpec, Recipe, Scale, generate};
use partita_median::PLURALITY;
use partita_metrics::{ConsensusCdf, Scores};
use partita_pcc::PCC_KL;
use partita_report::{ClusterCurves, CurvePoint, Described, Report, render};
use rand::RngExt;
use serde_json::{Value, json};

type Anything<T> = Result<T, Box<dyn Error>>;

/// What makes a sample.
type Maker = fn() -> Anything<Sample>;

/// The reports that are written, by name.
const SAMPLES: [(&str, Maker); 8] = [
    ("iris", iris),
    ("digits", || file("digits", &EAC_AVERAGE, 10, 6..=14)),
    ("groups-26", || groups(26)),
    ("groups-60", || groups(60)),
    ("consensus", labels_of_tools),
    ("hostile", hostile),
    ("synthetic-120k", || mixture(120_000, 39, 20)),
    ("synthetic-1m", || mixture(1_000_000, 4, 10)),
];

/// What a report borrows from.
pub(crate) struct Sample {
    title: String,
    pub(crate) record: Value,
    ensemble: Ensemble,
    outcome: Outcome,
    agreement: Vec<f64>,
    info: &'static MethodInfo,
    table: Option<(Vec<String>, Array2<f64>)>,
    truth: Option<Vec<Option<String>>>,
    pub(crate) choice: Option<ClusterCurves>,
    methods: Vec<(String, Partition)>,
    pub(crate) cluster_names: Vec<String>,
    pub(crate) described: Option<(Vec<String>, Array2<f64>)>,
}

impl Sample {
    pub(crate) fn report(&self) -> Report<'_> {
        let record = self.record.clone();
        let mut report = Report::of(
            &self.title,
            record,
            &self.outcome,
            &self.ensemble,
            &self.agreement,
        );
        report.features = self.table.as_ref().map(|(columns, values)| {
            Features::new(columns, values.view()).expect("the values are finite")
        });
        report.truth = self.truth.as_deref();
        report.choice.clone_from(&self.choice);
        report.method = Some(self.info);
        report.methods.clone_from(&self.methods);
        report.labels_file = Some("labels.csv".into());
        report.cluster_names.clone_from(&self.cluster_names);
        report.described = self.described.as_ref().map(|(columns, values)| Described {
            columns,
            values: values.view(),
        });
        report
    }
}

pub(crate) fn main() -> Anything<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder")?;
    let folder = Path::new(&folder);
    let named: Vec<String> = arguments.collect();
    for (name, sample) in SAMPLES {
        if !named.is_empty() && !named.iter().any(|wanted| wanted == name) {
            continue;
        }
        let sample = sample()?;
        let begun = Instant::now();
        let rendered = render(&sample.report())?;
        let (spent, size) = (begun.elapsed().as_secs_f64(), rendered.html.len());
        let figures = folder.join(name);
        std::fs::create_dir_all(&figures)?;
        std::fs::write(folder.join(format!("{name}.html")), rendered.html)?;
        for figure in rendered.figures {
            std::fs::write(figures.join(format!("{}.svg", figure.name)), figure.svg)?;
            std::fs::write(figures.join(format!("{}.csv", figure.name)), figure.csv)?;
        }
        let size = size as f64 / 1e6;
        let said = format!("{name}: {size:.2} MB, built in {spent:.2} s\n");
        std::io::Write::write_all(&mut std::io::stdout(), said.as_bytes())?;
    }
    Ok(())
}

fn made(values: ArrayView2<'_, f64>, recipe: &Recipe) -> Anything<Ensemble> {
    let (seed, budget) = (Seed::new(1), MemoryBudget::UNLIMITED);
    Ok(generate(values, recipe, seed, budget, &Silent)?.ensemble)
}

fn recipe(clusters: &str, runs: usize) -> Anything<Recipe> {
    let mut recipe = Recipe::default();
    recipe.base = vec![BaseSpec::new(BaseKind::KMeans, runs)];
    (recipe.base_k, recipe.subsample) = (clusters.parse()?, 0.8);
    recipe.scale = Scale::None;
    Ok(recipe)
}

/// A consensus of an ensemble, and its record.
fn consensus(method: &dyn Consensus, ensemble: Ensemble, clusters: usize) -> Anything<Sample> {
    let begun = Instant::now();
    let problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    let outcome = partita_core::consense(method, &problem, &Silent)?;
    let record = json!({
        "method": method.info().name, "settings": outcome.settings, "seed": 1, "iterations": outcome.iterations,
        "stopped": outcome.stopped, "seconds": begun.elapsed().as_secs_f64(), "version": env!("CARGO_PKG_VERSION"),
        "objective": outcome.objective.as_ref().map(|o| o.value), "objective_name": outcome.objective.as_ref().map(|o| o.name),
        "anmi": partita_metrics::anmi(&outcome.partition, &ensemble)?, "warnings": outcome.warnings,
        "details": outcome.details, "experiment": { "clusters": clusters },
    });
    let agreement = partita_metrics::object_agreement(&ensemble, &outcome.partition)?;
    Ok(Sample {
        title: method.info().name.to_owned(),
        record,
        ensemble,
        outcome,
        agreement,
        info: method.info(),
        table: None,
        truth: None,
        choice: None,
        methods: Vec::new(),
        cluster_names: Vec::new(),
        described: None,
    })
}

pub(crate) fn iris() -> Anything<Sample> {
    file("iris", &PCC_KL, 3, 2..=8)
}

fn file(
    name: &str,
    method: &dyn Consensus,
    clusters: usize,
    tried: RangeInclusive<usize>,
) -> Anything<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets");
    let file = read_table(&root.join(format!("{name}.csv")), &ReadOptions::default())?;
    let truth = file.label.ok_or("it has classes")?.values;
    table(
        name,
        (file.columns, file.values),
        truth,
        method,
        clusters,
        tried,
    )
}

/// A table of so many groups with names, 12 objects each.
fn groups(clusters: usize) -> Anything<Sample> {
    let mut rng = Seed::new(11).rng();
    let centres = Array2::from_shape_fn((clusters, 6), |_| rng.random_range(-1.0..1.0));
    let values = Array2::from_shape_fn((12 * clusters, 6), |(i, j)| {
        let off = 0.3 * (rng.random::<f64>() + rng.random::<f64>() - 1.0);
        ((centres[[i % clusters, j]] + off) * 1e4).round() / 1e4
    });
    let letter = |group: usize| (b'A' + (group % 26) as u8) as char;
    let class = |i: usize| {
        Some(format!(
            "group {}{}",
            letter(i % clusters),
            i % clusters / 26
        ))
    };
    let columns = ["width", "height", "onset", "pitch", "weight", "slope"].map(str::to_owned);
    let (name, tried) = (format!("groups-{clusters}"), clusters - 3..=clusters + 2);
    let truth = (0..12 * clusters).map(class).collect();
    table(
        &name,
        (columns.to_vec(), values),
        truth,
        &EAC_AVERAGE,
        clusters,
        tried,
    )
}

fn table(
    name: &str,
    (columns, values): (Vec<String>, Array2<f64>),
    truth: Vec<Option<String>>,
    method: &dyn Consensus,
    clusters: usize,
    tried: RangeInclusive<usize>,
) -> Anything<Sample> {
    let recipe = recipe("2..20", 100)?;
    let ensemble = made(values.view(), &recipe)?;
    let mut sample = consensus(method, ensemble.clone(), clusters)?;
    let path = format!("datasets/{name}.csv");
    let (k, known) = (clusters.to_string(), Partition::from_values(&truth));
    let scores = Scores::of(&sample.outcome.partition, &known)?;
    sample.record["arguments"] = json!(["run", path, "-k", k, "-o", "out dir", "--seed", "1"]);
    sample.record["table"] = path.into();
    sample.record["recipe"] = serde_json::to_value(&recipe)?;
    sample.record["scores"] = serde_json::to_value(scores)?;
    for other in [method, &PLURALITY, &EAC_AVERAGE] {
        if sample
            .methods
            .iter()
            .all(|(name, _)| name != other.info().name)
        {
            let partition = consensus(other, ensemble.clone(), clusters)?
                .outcome
                .partition;
            sample.methods.push((other.info().name.into(), partition));
        }
    }
    name.clone_into(&mut sample.title);
    sample.choice = Some(choice(values.view(), clusters, tried)?);
    (sample.table, sample.truth) = (Some((columns, values)), Some(truth));
    Ok(sample)
}

/// Consensus clustering in the manner of Monti and others: base clusterings into K clusters for every K tried.
fn choice(
    values: ArrayView2<'_, f64>,
    chosen: usize,
    tried: RangeInclusive<usize>,
) -> Anything<ClusterCurves> {
    let mut choice = ClusterCurves {
        chosen: Some(chosen),
        objective_name: "mean NMI with the base clusterings".into(),
        ..ClusterCurves::default()
    };
    choice.reason = format!(
        "{chosen} clusters, as the data were made; the curves show how far the base clusterings agree."
    );
    let n = values.nrows();
    for clusters in tried {
        let ensemble = made(values, &recipe(&clusters.to_string(), 50)?)?;
        let counts = CoAssociation::count(&ensemble, MemoryBudget::UNLIMITED, &Silent)?;
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let shares = pairs.map(|(i, j)| counts.pair(i, j));
        let cdf = ConsensusCdf::of(shares.map(|(c, seen)| f64::from(c) / f64::from(seen)));
        let found = consensus(&EAC_AVERAGE, ensemble, clusters)?;
        let before = choice.rows.last().and_then(|row: &CurvePoint| row.area);
        choice.rows.push(CurvePoint {
            clusters,
            cdf: cdf.curve(),
            area: Some(cdf.area()),
            delta_area: Some(before.map_or(cdf.area(), |before| (cdf.area() - before) / before)),
            pac: Some(cdf.pac()),
            objective: found.record["anmi"].as_f64(),
            ..CurvePoint::default()
        });
        choice.partitions.push(found.outcome.partition);
    }
    Ok(choice)
}

/// Labels of five tools for cells of six types, some missing; no table.
fn labels_of_tools() -> Anything<Sample> {
    const CELLS: usize = 360;
    let mut rng = Seed::new(5).rng();
    let mut builder = EnsembleBuilder::new(CELLS);
    for (at, tool) in ["seurat", "scanpy", "sc3", "cidr", "raceid"]
        .into_iter()
        .enumerate()
    {
        let wrong = 0.05 + 0.06 * at as f64;
        let label = |cell: usize| {
            let known = rng.random::<f64>() > 0.04;
            let kind = if rng.random::<f64>() < wrong {
                cell / 6
            } else {
                cell
            };
            known.then(|| format!("{tool} {}", kind % 6))
        };
        builder.push(tool, (0..CELLS).map(label))?;
    }
    let names = (0..CELLS).map(|cell| format!("AAAC{cell:03}-1")).collect();
    let ensemble = builder.finish()?.with_object_names(names)?;
    let mut sample = consensus(&PCC_KL, ensemble, 6)?;
    let types = ["B", "T", "NK", "DC", "Mono", "pDC"];
    let truth: Vec<_> = (0..CELLS)
        .map(|cell| Some(types[cell % 6].to_owned()))
        .collect();
    let scores = Scores::of(&sample.outcome.partition, &Partition::from_values(&truth))?;
    sample.record["arguments"] = json!([
        "consensus",
        "cells.csv",
        "-k",
        "6",
        "--truth",
        "celltype",
        "-o",
        "out/"
    ]);
    sample.record["scores"] = serde_json::to_value(scores)?;
    (sample.title, sample.truth) = ("cells by pcc-kl".into(), Some(truth));
    Ok(sample)
}

/// Objects from a mixture of ten; base clusterings that take the nearest of centres which are a little off.
fn mixture(n: usize, columns: usize, bases: usize) -> Anything<Sample> {
    const CLUSTERS: usize = 10;
    let mut rng = Seed::new(7).rng();
    // Clusters overlap about as much for any number of columns.
    let noise = 0.55 * (columns as f64).sqrt();
    let centres = Array2::from_shape_fn((CLUSTERS, columns), |_| rng.random_range(-1.0..1.0));
    let mut values = Array2::zeros((n, columns));
    for mut row in values.outer_iter_mut() {
        let at: usize = (rng.random::<f64>().powi(2) * CLUSTERS as f64) as usize;
        for (x, c) in row.iter_mut().zip(centres.row(at)) {
            *x = c + noise * (rng.random::<f64>() + rng.random::<f64>() - 1.0);
        }
    }
    let mut builder = EnsembleBuilder::new(n);
    for base in 0..bases {
        let off = centres.mapv(|c| c + rng.random_range(-0.45..0.45));
        let nearest = |row: ArrayView1<'_, f64>| {
            let far = |k: usize| (&row - &off.row(k)).mapv(|x| x * x).sum();
            (0..CLUSTERS)
                .min_by(|&a, &b| far(a).total_cmp(&far(b)))
                .map(|k| k as u32)
        };
        let labels = values.outer_iter().map(nearest);
        builder.push_clusters(format!("centres-{base}"), labels, CLUSTERS)?;
    }
    let mut sample = consensus(&PLURALITY, builder.finish()?, CLUSTERS)?;
    let names = (0..columns).map(|at| format!("column {at} of a mixture"));
    sample.table = Some((names.collect(), values));
    Ok(sample)
}

/// A name as bad as they come.
pub(crate) fn nasty(i: usize) -> String {
    match i % 9 {
        0 => format!("</script><script>fail({i})</script>"),
        1 => format!("\" onload='fail()' <img src=x onerror=fail()> & <b>bold</b> {i}"),
        2 => format!("👩‍👩‍👧‍👦 🏳️‍🌈 emoji ]]> &amp; <!-- {i}"),
        3 => format!("{i} {}", "long ".repeat(2_000)),
        4 => format!("\u{202e}turned {i}"),
        5 => format!("nul \u{0} bell \u{7} escape \u{1b} \u{2028} line\nbreak {i}"),
        6 => format!("<!--<img src=x onerror=fail()>{i}"),
        7 => format!("{}{i}", "é<".repeat(5_000)),
        _ => format!("{}{i}", "W".repeat(10_000)),
    }
}

/// Such names wherever there may be names.
pub(crate) fn hostile() -> Anything<Sample> {
    let n = 240;
    let mut rng = Seed::new(3).rng();
    let values = Array2::from_shape_fn((n, 3), |(i, _)| (i % 3) as f64 + 0.4 * rng.random::<f64>());
    let mut builder = EnsembleBuilder::new(n);
    for base in 0..9 {
        let label = |i: usize| {
            let known = rng.random::<f64>() > 0.05;
            let wrong = rng.random::<f64>() < 0.15;
            known.then(|| nasty(if wrong { base % 3 } else { i % 3 }))
        };
        builder.push(nasty(base), (0..n).map(label))?;
    }
    let names = (0..n).map(nasty).collect();
    let mut sample = consensus(&PCC_KL, builder.finish()?.with_object_names(names)?, 3)?;
    let record = json!({ "method": nasty(0), "warnings": [nasty(1), "<script>fail()</script> is not a name"], "arguments": [nasty(0), nasty(1), "-k", nasty(2)],
        "experiment": { "clusters": nasty(2) }, "settings": { nasty(0): nasty(1) }, "table": nasty(1), "version": nasty(0),
        "objective": 1.0, "objective_name": nasty(0), "stopped": nasty(0), "recipe": { "scale": nasty(0) },
        "details": { nasty(1): 1 }, "methods": [{ "method": nasty(0) }, { "method": nasty(1) }] });
    let rows = vec![CurvePoint {
        clusters: 2,
        objective: Some(1.0),
        ..CurvePoint::default()
    }];
    sample.choice = Some(ClusterCurves {
        rows,
        reason: nasty(0),
        objective_name: nasty(1),
        ..ClusterCurves::default()
    });
    (sample.title, sample.record) = (nasty(0), record);
    sample.table = Some(((1..4).map(nasty).collect(), values));
    sample.truth = Some((0..n).map(|i| (i % 5 > 0).then(|| nasty(i % 9))).collect());
    sample.cluster_names = [0, 1, 8].map(nasty).to_vec();
    let class = |i: usize, j: usize| f64::from(u8::from(i % 3 == j));
    sample.described = Some((
        (0..3).map(nasty).collect(),
        Array2::from_shape_fn((n, 3), |(i, j)| class(i, j)),
    ));
    Ok(sample)
}
