//! Calibrates the confidence of labels on data sets with known classes, and looks at it on others.
//!
//! `cargo xtask bench confidence` fits the map from margins to probabilities (`CALIBRATION` of `partita-metrics`) on every second data
//! set, and prints calibration error and area under the ROC curve on the others, against the methods' own certainty. The reliability
//! diagram goes to `docs/benchmarks/confidence.svg`. Sets that are not in `datasets/` are looked for in the folder that
//! `PARTITA_DATASETS` names.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its tables and how far it is"
)]

use std::error::Error;
use std::path::{Path, PathBuf};

use partita::extend::{Problem, consense};
use partita::files::{Impute, ReadOptions, read_table};
use partita::generate::{BaseSpec, Recipe, Scale, generate, scale};
use partita::metrics::{CALIBRATION, Contingency, calibrated_confidence, confidence_margins};
use partita::ndarray::{Array2, Axis};
use partita::{Clusters, MemoryBudget, Partition, Seed, Silent};
use partita_report::Svg;

/// Data sets in the order of their classes: fitted on the first, the third, …
const SETS: [&str; 26] = [
    "breast-cancer",
    "bupa",
    "half-rings",
    "house-votes",
    "ionosphere",
    "magic04",
    "pima",
    "spiral",
    "wdbc",
    "balance",
    "iris",
    "wine",
    "cigar",
    "soybean",
    "tracedata",
    "yeast-cellcycle",
    "controlchart",
    "glass",
    "isolet",
    "protein",
    "segment",
    "zoo",
    "ecoli",
    "optdigits",
    "pendigits",
    "letter-recognition",
];
const METHODS: [&str; 6] = [
    "lwgp",
    "eac-average",
    "pcc-kl",
    "mm",
    "nbce-vb",
    "plurality",
];
/// Numbers of clusters of 50 k-means each: many small clusters, and about as many as there are classes.
const BASE_CLUSTERS: [&str; 2] = ["sqrt", "2..12"];
/// Objects of a set, at most.
const OBJECTS: usize = 1000;

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Labels of one method on one ensemble.
struct Labelled {
    method: &'static str,
    clusters: usize,
    right: Vec<bool>,
    certainty: Vec<f64>,
    margins: Vec<f64>,
}

impl Labelled {
    fn confidence(&self) -> Vec<f64> {
        self.margins
            .iter()
            .map(|&margin| calibrated_confidence(margin, self.clusters))
            .collect()
    }
}

fn main() -> Done {
    let (mut fitted, mut held_out) = (Vec::new(), Vec::new());
    for (at, name) in SETS.into_iter().enumerate() {
        let labelled = data_set(name)?;
        eprintln!("{name}");
        if at % 2 == 0 {
            &mut fitted
        } else {
            &mut held_out
        }
        .extend(labelled);
    }
    let half = |first: usize| {
        SETS.iter()
            .skip(first)
            .step_by(2)
            .copied()
            .collect::<Vec<_>>()
            .join(", ")
    };
    println!("fitted on:   {}\nlooked at:   {}\n", half(0), half(1));
    println!(
        "CALIBRATION: {:.3?} fitted here, {CALIBRATION:.3?} in the code\n",
        fit(&fitted)
    );
    println!(
        "held-out half                 expected calibration error    Brier score             AUC of right labels"
    );
    println!(
        "method        objects  right    certainty  confidence      certainty  confidence   certainty  confidence"
    );
    for method in METHODS.into_iter().map(Some).chain([None]) {
        let of: Vec<&Labelled> = held_out
            .iter()
            .filter(|one| method.is_none_or(|method| method == one.method))
            .collect();
        row(method.unwrap_or("all"), &of);
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/benchmarks/confidence.svg");
    std::fs::write(path, diagram(&held_out.iter().collect::<Vec<_>>()))?;
    Ok(())
}

/// Standardised columns of a set, of every so many objects, and their classes.
fn read(name: &str) -> Done<(Array2<f64>, Partition)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets")];
    folders.extend(std::env::var_os("PARTITA_DATASETS").map(PathBuf::from));
    let files = folders
        .iter()
        .flat_map(|folder| ["csv", "csv.gz"].map(|end| folder.join(format!("{name}.{end}"))));
    let path = { files }
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{name}: set PARTITA_DATASETS"))?;
    let mut options = ReadOptions::default();
    (options.truth, options.impute) = (Some("label").into(), Some(Impute::Mean));
    if ["optdigits", "pendigits", "isolet"].contains(&name) {
        options.skip = vec!["split".into()];
    }
    let table = read_table(&path, &options)?;
    let classes = Partition::from_values(&table.label.ok_or("no classes")?.values);
    let step = table.values.nrows().div_ceil(OBJECTS);
    let chosen: Vec<usize> = (0..table.values.nrows()).step_by(step).collect();
    let classes: Vec<u32> = chosen.iter().map(|&i| classes.labels()[i]).collect();
    Ok((
        scale(table.values.select(Axis(0), &chosen).view(), Scale::ZScore),
        Partition::from_values(&classes),
    ))
}

fn data_set(name: &str) -> Done<Vec<Labelled>> {
    let (values, classes) = read(name)?;
    let mut all = Vec::new();
    for base_clusters in BASE_CLUSTERS {
        let mut recipe = Recipe::default();
        (recipe.base, recipe.base_k) = (BaseSpec::list("kmeans:50")?, base_clusters.parse()?);
        let ensemble = generate(
            values.view(),
            &recipe,
            Seed::new(1),
            MemoryBudget::UNLIMITED,
            &Silent,
        )?
        .ensemble;
        for method in METHODS {
            let problem = Problem::new(&ensemble, Clusters::Exactly(classes.clusters()));
            let found = consense(partita::method(method)?, &problem, &Silent)?;
            let margins = confidence_margins(&ensemble, &found.partition)?;
            let class = Contingency::new(&found.partition, &classes)?.matching();
            let labels = found.partition.labels().iter().zip(classes.labels());
            let right = labels
                .map(|(&k, &truth)| class[k as usize] == Some(truth as usize))
                .collect();
            let clusters = found.partition.live_clusters();
            all.push(Labelled {
                method,
                clusters,
                right,
                certainty: found.certainty,
                margins,
            });
        }
    }
    Ok(all)
}

/// The increasing map with the least Brier score, every result weighing the same: cyclic coordinate descent over its steps, which are
/// not negative.
fn fit(results: &[Labelled]) -> Vec<f64> {
    let steps = CALIBRATION.len() - 1;
    let (mut products, mut right) = (vec![vec![0.0; steps]; steps], vec![0.0; steps]);
    for result in results.iter().filter(|result| result.clusters > 1) {
        let chance = 1.0 / result.clusters as f64;
        let weight = 1.0 / result.margins.len() as f64;
        for (margin, &ok) in result
            .margins
            .iter()
            .zip(&result.right)
            .filter(|(margin, _)| **margin >= 0.0)
        {
            let place = margin * steps as f64;
            let of = |step: usize| (1.0 - chance) * (place - step as f64).clamp(0.0, 1.0);
            for a in 0..steps {
                right[a] += weight * of(a) * (f64::from(u8::from(ok)) - chance);
                (0..steps).for_each(|b| products[a][b] += weight * of(a) * of(b));
            }
        }
    }
    let mut heights = vec![0.0; steps];
    for _ in 0..10_000 {
        for a in 0..steps {
            let others: f64 = (0..steps)
                .filter(|&b| b != a)
                .map(|b| products[a][b] * heights[b])
                .sum();
            heights[a] = ((right[a] - others) / products[a][a]).max(0.0);
        }
    }
    let sums = heights.iter().scan(0.0, |sum, height| {
        *sum += height;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// Weight, sum of the numbers and sum of the right labels of ten bins; every result weighs the same.
fn bins(results: &[&Labelled], of: fn(&Labelled) -> Vec<f64>) -> [[f64; 3]; 10] {
    let mut bins = [[0.0; 3]; 10];
    for result in results {
        let weight = 1.0 / (result.right.len() * results.len()) as f64;
        for (value, &ok) in of(result).into_iter().zip(&result.right) {
            let bin = &mut bins[((value * 10.0) as usize).min(9)];
            let sums = [weight, weight * value, weight * f64::from(u8::from(ok))];
            bin.iter_mut()
                .zip(sums)
                .for_each(|(sum, more)| *sum += more);
        }
    }
    bins
}

fn own(result: &Labelled) -> Vec<f64> {
    result.certainty.clone()
}

fn row(name: &str, results: &[&Labelled]) {
    let objects: usize = results.iter().map(|result| result.right.len()).sum();
    let share = |result: &&Labelled| {
        result.right.iter().filter(|ok| **ok).count() as f64 / result.right.len() as f64
    };
    let mean = |of: &dyn Fn(&Labelled) -> f64| {
        results.iter().map(|result| of(result)).sum::<f64>() / results.len() as f64
    };
    let error = |of| {
        bins(results, of)
            .iter()
            .map(|[_, said, right]| (said - right).abs())
            .sum::<f64>()
    };
    let brier = |of: fn(&Labelled) -> Vec<f64>| {
        mean(&|result: &Labelled| {
            let miss = of(result)
                .into_iter()
                .zip(&result.right)
                .map(|(p, &ok)| (p - f64::from(u8::from(ok))).powi(2));
            miss.sum::<f64>() / result.right.len() as f64
        })
    };
    // Where all labels are right or all are wrong there is nothing to tell apart.
    let told = |of: fn(&Labelled) -> Vec<f64>| {
        let areas: Vec<f64> = results
            .iter()
            .filter_map(|result| auc(&of(result), &result.right))
            .collect();
        areas.iter().sum::<f64>() / areas.len() as f64
    };
    println!(
        "{name:<12} {objects:>8}  {:.3}        {:.3}       {:.3}          {:.3}       {:.3}       {:.3}       {:.3}",
        results.iter().map(share).sum::<f64>() / results.len() as f64,
        error(own),
        error(Labelled::confidence),
        brier(own),
        brier(Labelled::confidence),
        told(own),
        told(Labelled::confidence)
    );
}

/// How often a right label has the larger number than a wrong one; ties count half.
fn auc(values: &[f64], right: &[bool]) -> Option<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut below, mut sum) = (0.0, 0.0);
    for ties in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rights = ties.iter().filter(|&&i| right[i]).count() as f64;
        let wrongs = ties.len() as f64 - rights;
        sum += rights * (below + 0.5 * wrongs);
        below += wrongs;
    }
    let rights = values.len() as f64 - below;
    (rights > 0.0 && below > 0.0).then(|| sum / (rights * below))
}

/// Share of right labels over what was said, certainty and confidence; the size of a point is the share of its bin.
fn diagram(results: &[&Labelled]) -> String {
    let (size, edge) = (420.0, 52.0);
    let mut svg = Svg::new(size, size);
    let at = |x: f64, y: f64| {
        [
            edge + x * (size - edge - 16.0),
            size - edge - y * (size - edge - 16.0),
        ]
    };
    for tick in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
        let ([x, bottom], [_, top], [left, y], [right, _]) =
            (at(tick, 0.0), at(tick, 1.0), at(0.0, tick), at(1.0, tick));
        svg.line([x, bottom, x, top], "g");
        svg.line([left, y, right, y], "g");
        svg.text([x, bottom + 16.0], "m", "middle", format!("{tick}"));
        svg.text([left - 7.0, y + 4.0], "m", "end", format!("{tick}"));
    }
    let ([x0, y0], [x1, y1]) = (at(0.0, 0.0), at(1.0, 1.0));
    svg.line([x0, y0, x1, y1], "ax dash");
    for (of, colour, line, name, y) in [
        (
            own as fn(&Labelled) -> Vec<f64>,
            "b",
            "bl",
            "the methods' own certainty",
            32.0,
        ),
        (Labelled::confidence, "a", "al", "confidence", 50.0),
    ] {
        let filled = bins(results, of).into_iter().filter(|bin| bin[0] > 0.0005);
        let points: Vec<([f64; 2], f64)> = filled
            .map(|[weight, said, right]| (at(said / weight, right / weight), weight))
            .collect();
        for pair in points.windows(2) {
            svg.line(
                [pair[0].0[0], pair[0].0[1], pair[1].0[0], pair[1].0[1]],
                &format!("ln {line}"),
            );
        }
        for ([x, y], weight) in points {
            svg.raw(&format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\" class=\"{colour}\"/>",
                3.0 + 12.0 * weight.sqrt()
            ));
        }
        svg.raw(&format!(
            "<circle cx=\"{}\" cy=\"{y}\" r=\"5\" class=\"{colour}\"/>",
            edge + 18.0
        ));
        svg.text([edge + 30.0, y + 4.0], "t", "start", name);
    }
    svg.text(
        [0.5 * (size + edge), size - 14.0],
        "m",
        "middle",
        "what was said",
    );
    svg.upwards([15.0, 0.5 * (size - edge)], "m", "share of right labels");
    let alt = "Share of right labels over certainty and over confidence, on data sets that were not fitted. The size of a point is \
               its share of the objects; on the dashed line what is said is true.";
    svg.alone("confidence", "Reliability of certainty and confidence", alt)
}
