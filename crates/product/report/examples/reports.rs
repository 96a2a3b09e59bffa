//! Writes sample reports into a folder and says how long each took to build and how large it is:
//! `cargo run --release -p partita-report --example reports -- OUTDIR [NAME…]`.
//!
//! iris and digits from the repository's tables, 26 and 60 drawn groups, a consensus of labels without a table, runs of 120,000 and 1,000,000 objects drawn from a mixture, and one
//! with names that are not meant well.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use partita_coassoc::CoAssociation;
use partita_core::ndarray::Array2;
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, Features, MemoryBudget, Outcome, Partition,
    Problem, Seed, Silent,
};
use partita_eac::EAC_AVERAGE;
use partita_files::{ReadOptions, Table, read_table};
use partita_generate::{BaseK, BaseKind, BaseSpec, Recipe, generate};
use partita_median::PLURALITY;
use partita_metrics::{ConsensusCdf, Scores};
use partita_pcc::PCC_KL;
use partita_report::{ClusterCurves, CurvePoint, Report, render};
use rand::RngExt;
use serde_json::{Value, json};

type Anything<T> = Result<T, Box<dyn Error>>;

fn main() -> Anything<()> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets");
    let named: Vec<String> = std::env::args().skip(2).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|wanted| wanted == name);
    if wanted("iris") {
        table(folder, &root.join("iris.csv"), "iris", &PCC_KL, 3, 2..=8)?;
    }
    if wanted("digits") {
        table(
            folder,
            &root.join("digits.csv"),
            "digits",
            &EAC_AVERAGE,
            10,
            6..=14,
        )?;
    }
    for clusters in [26, 60] {
        let name = format!("groups-{clusters}");
        if wanted(&name) {
            let csv = folder.join(format!("{name}.csv"));
            std::fs::write(&csv, groups(clusters))?;
            table(
                folder,
                &csv,
                &name,
                &EAC_AVERAGE,
                clusters,
                clusters - 3..=clusters + 2,
            )?;
        }
    }
    if wanted("consensus") {
        labels_of_tools(folder)?;
    }
    if wanted("hostile") {
        hostile(folder)?;
    }
    if wanted("synthetic-120k") {
        drawn(folder, "synthetic-120k", 120_000, 39, 20)?;
    }
    if wanted("synthetic-1m") {
        drawn(folder, "synthetic-1m", 1_000_000, 4, 10)?;
    }
    Ok(())
}

/// Writes the page and the figures, and says what they cost.
fn write(folder: &Path, name: &str, report: &Report<'_>) -> Anything<()> {
    let begun = Instant::now();
    let html = partita_report::html(report)?;
    let spent = begun.elapsed().as_secs_f64();
    std::fs::write(folder.join(format!("{name}.html")), &html)?;
    let figures = folder.join(name);
    std::fs::create_dir_all(&figures)?;
    for figure in render(report)?.figures {
        std::fs::write(figures.join(format!("{}.svg", figure.name)), figure.svg)?;
        std::fs::write(figures.join(format!("{}.csv", figure.name)), figure.csv)?;
    }
    let said = format!(
        "{name}: {:.2} MB, built in {spent:.2} s\n",
        html.len() as f64 / 1e6
    );
    std::io::Write::write_all(&mut std::io::stdout(), said.as_bytes())?;
    Ok(())
}

fn recipe(clusters: BaseK, runs: usize) -> Recipe {
    let mut recipe = Recipe::default();
    (recipe.base, recipe.base_k, recipe.subsample) =
        (vec![BaseSpec::new(BaseKind::KMeans, runs)], clusters, 0.8);
    recipe
}

fn made(table: &Table, recipe: &Recipe) -> Anything<Ensemble> {
    Ok(generate(
        table.values.view(),
        recipe,
        Seed::new(1),
        MemoryBudget::UNLIMITED,
        &Silent,
    )?
    .ensemble)
}

fn consensus(
    method: &dyn Consensus,
    ensemble: &Ensemble,
    clusters: usize,
) -> Anything<(Outcome, Value)> {
    let begun = Instant::now();
    let outcome = partita_core::consense(
        method,
        &Problem::new(ensemble, Clusters::Exactly(clusters)),
        &Silent,
    )?;
    let record = json!({
        "method": method.info().name, "settings": outcome.settings, "seed": 1, "rounds": outcome.rounds,
        "stopped": outcome.stopped, "seconds": begun.elapsed().as_secs_f64(), "version": env!("CARGO_PKG_VERSION"),
        "objective": outcome.objective.as_ref().map(|o| o.value), "objective_name": outcome.objective.as_ref().map(|o| o.name),
        "anmi": partita_metrics::anmi(&outcome.partition, ensemble)?, "warnings": outcome.warnings,
        "details": outcome.details,
    });
    Ok((outcome, record))
}

fn table(
    folder: &Path,
    path: &Path,
    name: &str,
    method: &dyn Consensus,
    clusters: usize,
    tried: std::ops::RangeInclusive<usize>,
) -> Anything<()> {
    let table = read_table(path, &ReadOptions::default())?;
    let recipe = recipe("2..20".parse()?, 100);
    let ensemble = made(&table, &recipe)?;
    let (outcome, mut record) = consensus(method, &ensemble, clusters)?;
    let truth = table.label.as_ref().map(|label| label.values.clone());
    record["table"] = format!("datasets/{name}.csv").into();
    record["recipe"] = serde_json::to_value(&recipe)?;
    record["arguments"] = json!([
        "run",
        format!("datasets/{name}.csv"),
        "-k",
        clusters.to_string(),
        "-o",
        "out dir",
        "--seed",
        "1"
    ]);
    record["experiment"] = json!({ "clusters": clusters });
    if let Some(truth) = &truth {
        record["scores"] = serde_json::to_value(Scores::of(
            &outcome.partition,
            &Partition::from_values(truth),
        )?)?;
    }
    let mut report = Report::of(name, record, &outcome, &ensemble);
    report.features = Some(Features::new(&table.columns, table.values.view())?);
    report.truth = truth.as_deref();
    report.choice = Some(choice(&table, clusters, tried)?);
    report.method = Some(method.info());
    report.methods = vec![(method.info().name.into(), outcome.partition.clone())];
    for other in [&PLURALITY as &dyn Consensus, &EAC_AVERAGE] {
        if other.info().name != method.info().name {
            report.methods.push((
                other.info().name.into(),
                consensus(other, &ensemble, clusters)?.0.partition,
            ));
        }
    }
    report.labels_file = Some("labels.csv".into());
    write(folder, name, &report)
}

/// Labels of five tools for cells of six types, some missing; no table.
fn labels_of_tools(folder: &Path) -> Anything<()> {
    const CELLS: usize = 360;
    let mut rng = Seed::new(5).rng();
    let mut builder = EnsembleBuilder::new(CELLS);
    for (at, tool) in ["seurat", "scanpy", "sc3", "cidr", "raceid"]
        .into_iter()
        .enumerate()
    {
        let wrong = 0.05 + 0.06 * at as f64;
        let label = |cell: usize| {
            let (known, kind) = (
                rng.random::<f64>() > 0.04,
                if rng.random::<f64>() < wrong {
                    cell / 6
                } else {
                    cell
                },
            );
            known.then(|| format!("{tool} {}", kind % 6))
        };
        builder.push(tool, (0..CELLS).map(label))?;
    }
    let names = (0..CELLS).map(|cell| format!("AAAC{cell:03}-1")).collect();
    let ensemble = builder.finish()?.with_object_names(names)?;
    let (outcome, mut record) = consensus(&PCC_KL, &ensemble, 6)?;
    record["arguments"] = json!([
        "consensus",
        "cells.csv",
        "-k",
        "6",
        "--truth",
        "celltype",
        "-o",
        "out/"
    ]);
    record["experiment"] = json!({ "clusters": 6 });
    let truth: Vec<Option<String>> = (0..CELLS)
        .map(|cell| Some(["B", "T", "NK", "DC", "Mono", "pDC"][cell % 6].to_owned()))
        .collect();
    record["scores"] = serde_json::to_value(Scores::of(
        &outcome.partition,
        &Partition::from_values(&truth),
    )?)?;
    let mut report = Report::of("cells by pcc-kl", record, &outcome, &ensemble);
    report.truth = Some(&truth);
    report.method = Some(PCC_KL.info());
    report.labels_file = Some("labels.csv".into());
    write(folder, "consensus", &report)
}

/// A table of so many groups with names, 12 objects each, as CSV.
fn groups(clusters: usize) -> String {
    let mut rng = Seed::new(11).rng();
    let centres = Array2::from_shape_fn((clusters, 6), |_| rng.random_range(-1.0..1.0));
    let mut csv = "width,height,onset,pitch,weight,slope,label\n".to_owned();
    for i in 0..12 * clusters {
        let group = i % clusters;
        for centre in centres.row(group) {
            csv.push_str(&format!(
                "{:.4},",
                centre + 0.3 * (rng.random::<f64>() + rng.random::<f64>() - 1.0)
            ));
        }
        csv.push_str(&format!(
            "group {}{}\n",
            (b'A' + (group % 26) as u8) as char,
            group / 26
        ));
    }
    csv
}

/// Consensus clustering in the manner of Monti and others: base clusterings into K clusters for every K tried.
fn choice(
    table: &Table,
    chosen: usize,
    tried: std::ops::RangeInclusive<usize>,
) -> Anything<ClusterCurves> {
    let mut choice = ClusterCurves {
        chosen: Some(chosen),
        objective_name: "mean NMI with the base clusterings".into(),
        ..ClusterCurves::default()
    };
    choice.reason = format!(
        "{chosen} clusters, as the data were made; the curves show how far the base clusterings agree."
    );
    for clusters in tried {
        let ensemble = made(table, &recipe(clusters.to_string().parse()?, 50))?;
        let counts = CoAssociation::count(&ensemble, MemoryBudget::UNLIMITED, &Silent)?;
        let n = ensemble.objects();
        let pairs = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .map(|(i, j)| counts.pair(i, j));
        let cdf = ConsensusCdf::of(pairs.map(|(c, seen)| f64::from(c) / f64::from(seen)));
        let (outcome, record) = consensus(&EAC_AVERAGE, &ensemble, clusters)?;
        let before = choice.rows.last().and_then(|row: &CurvePoint| row.area);
        choice.rows.push(CurvePoint {
            clusters,
            cdf: cdf.curve(),
            area: Some(cdf.area()),
            delta_area: Some(before.map_or(cdf.area(), |before| (cdf.area() - before) / before)),
            pac: Some(cdf.pac()),
            certainty: Some(outcome.certainty.iter().sum::<f64>() / n as f64),
            objective: record["anmi"].as_f64(),
            ..CurvePoint::default()
        });
        choice.partitions.push(outcome.partition);
    }
    Ok(choice)
}

/// Objects from a mixture of ten; base clusterings that take the nearest of centres which are a little off.
fn drawn(folder: &Path, name: &str, n: usize, columns: usize, bases: usize) -> Anything<()> {
    const CLUSTERS: usize = 10;
    let mut rng = Seed::new(7).rng();
    // Clusters overlap about as much for any number of columns.
    let noise = 0.55 * (columns as f64).sqrt();
    let centres = Array2::from_shape_fn((CLUSTERS, columns), |_| rng.random_range(-1.0..1.0));
    let mut values = Array2::zeros((n, columns));
    for mut row in values.outer_iter_mut() {
        let at: usize = (rng.random::<f64>().powi(2) * CLUSTERS as f64) as usize;
        row.iter_mut()
            .zip(centres.row(at))
            .for_each(|(x, c)| *x = c + noise * (rng.random::<f64>() + rng.random::<f64>() - 1.0));
    }
    let mut builder = EnsembleBuilder::new(n);
    for base in 0..bases {
        let off = centres.mapv(|c| c + rng.random_range(-0.45..0.45));
        let nearest = |row: partita_core::ndarray::ArrayView1<'_, f64>| {
            let far = |k: usize| {
                row.iter()
                    .zip(off.row(k))
                    .map(|(x, c)| (x - c).powi(2))
                    .sum::<f64>()
            };
            (0..CLUSTERS)
                .min_by(|&a, &b| far(a).total_cmp(&far(b)))
                .map(|k| k as u32)
        };
        builder.push_clusters(
            format!("centres-{base}"),
            values.outer_iter().map(nearest),
            CLUSTERS,
        )?;
    }
    let ensemble = builder.finish()?;
    let (outcome, record) = consensus(&PLURALITY, &ensemble, CLUSTERS)?;
    let names: Vec<String> = (0..columns)
        .map(|at| format!("column {at} of a mixture"))
        .collect();
    let mut report = Report::of(name, record, &outcome, &ensemble);
    report.features = Some(Features::new(&names, values.view())?);
    report.labels_file = Some("labels.csv".into());
    write(folder, name, &report)
}

/// Names as bad as they come.
fn hostile(folder: &Path) -> Anything<()> {
    let n = 240;
    let nasty = |i: usize| match i % 8 {
        0 => format!("</script><script>fail({i})</script>"),
        1 => format!("\"quoted\" 'twice' & <b>bold</b> {i}"),
        2 => format!("👩‍👩‍👧‍👦 🏳️‍🌈 emoji {i}"),
        3 => format!("{i} {}", "long ".repeat(2_000)),
        4 => format!("\u{202e}turned {i}"),
        5 => format!("nul \u{0} bell \u{7} line\nbreak {i}"),
        6 => format!("<!--<img src=x onerror=fail()>{i}"),
        _ => format!("{}{i}", "W".repeat(10_000)),
    };
    let mut rng = Seed::new(3).rng();
    let values = Array2::from_shape_fn((n, 3), |(i, _)| (i % 3) as f64 + 0.4 * rng.random::<f64>());
    let mut builder = EnsembleBuilder::new(n);
    for base in 0..9 {
        let labels = (0..n).map(|i| {
            (rng.random::<f64>() > 0.05).then(|| {
                if rng.random::<f64>() < 0.15 {
                    base % 3
                } else {
                    i % 3
                }
            })
        });
        builder.push(nasty(base), labels)?;
    }
    let ensemble = builder
        .finish()?
        .with_object_names((0..n).map(nasty).collect())?;
    let (outcome, mut record) = consensus(&PCC_KL, &ensemble, 3)?;
    record["warnings"] = json!(["<script>fail()</script> is not a name"]);
    record["arguments"] = json!(["run", "it's \"here\" <b>.csv", "-k", "3"]);
    record["experiment"] = json!({ "clusters": 3 });
    let columns: Vec<String> = (1..4).map(nasty).collect();
    let truth: Vec<Option<String>> = (0..n).map(|i| (i % 5 > 0).then(|| nasty(i % 3))).collect();
    let mut report = Report::of(nasty(0), record, &outcome, &ensemble);
    report.features = Some(Features::new(&columns, values.view())?);
    report.truth = Some(&truth);
    write(folder, "hostile", &report)
}
