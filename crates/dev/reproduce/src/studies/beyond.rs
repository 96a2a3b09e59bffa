//! Beyond the papers: all methods on all small data sets and five kinds of ensembles.

use anyhow::Result;
use partita::METHODS;
use partita::generate::Recipe;

use super::critical::{critical_difference, diagram, ranks};
use super::tables;
use crate::page::dash;
use crate::{Grid, Lab, Results, Row, SECONDS, Scope, Study, Unit};

pub(super) static BEYOND: Beyond = Beyond;

pub(super) struct Beyond;

const DATA: [&str; 24] = [
    "soybean",
    "zoo",
    "protein",
    "iris",
    "wine-std",
    "wine",
    "tracedata",
    "spiral",
    "glass",
    "house-votes",
    "cigar",
    "ecoli",
    "bupa",
    "ionosphere",
    "yeast-cellcycle",
    "half-rings",
    "wdbc-std",
    "controlchart",
    "balance",
    "breast-cancer",
    "pima-std",
    "optdigits-1000",
    "isolet",
    "segment-std",
];
const QUICK: usize = 6;
/// `draws` is what `Recipe::for_clusters` says: K to 3K clusters on nine tenths of the objects.
const ENSEMBLES: [&str; 5] = ["pcc-1", "pcc-2", "ssce", "nbce", "draws"];
const MEASURES: [&str; 3] = ["h", "ari", "nmi"];

fn recipe(ensemble: &str, classes: usize, objects: usize) -> Result<Recipe> {
    if ensemble == "draws" {
        return Ok(Recipe::for_clusters(classes, objects));
    }
    Ok(Recipe::preset(ensemble, classes)?)
}

/// The same problem and solver as `pcc-kl`, at their defaults.
const SAME_PROBLEM: [&str; 2] = ["peace", "pcc"];

fn methods() -> Vec<&'static str> {
    METHODS
        .iter()
        .map(|method| method.info().name)
        .filter(|name| !SAME_PROBLEM.contains(name))
        .collect()
}

/// Defaults, but for the baseline whose rounds would take longer than everything else.
fn settings(method: &str) -> &'static [&'static str] {
    if method == "baum-eagon" {
        &["restarts=1", "iterations=200"]
    } else {
        &[]
    }
}

impl Study for Beyond {
    fn name(&self) -> &'static str {
        "beyond"
    }

    fn title(&self) -> &'static str {
        "All methods on all small data sets: what to pick"
    }

    fn units(&self, scope: Scope) -> Vec<Unit> {
        let data = scope.of(&DATA, QUICK);
        // One seed: the blocks of the test are data sets, and five ensembles are averaged in each.
        let mut units = Vec::new();
        for data in data {
            units.extend(ENSEMBLES.map(|ensemble| Unit::new(*data, ensemble, 0, methods())));
        }
        units
    }

    fn measure(&self, unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>> {
        let data = lab.data(&unit.data)?;
        let classes = data.classes();
        let objects = data.objects();
        let ensemble = lab.ensemble(
            data.values.view(),
            &recipe(&unit.setting, classes, objects)?,
            unit.seed,
        )?;
        tables::measure(unit, lab, &data, &ensemble, settings, |scores| {
            [
                ("h", scores.h),
                ("ari", scores.ari),
                ("nmi", scores.nmi.arithmetic),
            ]
        })
    }

    fn page(&self, results: &Results) -> String {
        let methods = measured(results);
        let mut text = String::from(PROTOCOL);
        let blocks = blocks(results, &methods, "h").len();
        let difference = critical_difference(methods.len(), blocks);
        text += &format!(
            "{} methods, {blocks} data sets measured in full; critical difference of mean ranks (Nemenyi, 5 %): {difference:.2}.\n\n",
            methods.len()
        );
        for measure in MEASURES {
            text += &format!("![mean ranks by {measure}](beyond-{measure}.svg)\n\n");
        }
        text += "## Mean ranks\n\nBest first by the mean of the three ranks; CPU seconds are of one thread, the mean over all ensembles.\n\n";
        text += &rank_table(results, &methods);
        for ensemble in ENSEMBLES {
            text += &format!("## H on ensembles {ensemble}: mean over the data sets, and each\n\n");
            text += &scores_table(results, &methods, ensemble);
        }
        text
    }

    fn pictures(&self, results: &Results) -> Vec<(String, String)> {
        let methods = measured(results);
        let picture = |measure: &str| {
            let blocks = blocks(results, &methods, measure);
            let difference = critical_difference(methods.len(), blocks.len());
            let names = methods.iter().map(|name| (*name).to_owned());
            let ranks: Vec<(String, f64)> = names.zip(mean_ranks(&blocks)).collect();
            (
                format!("beyond-{measure}.svg"),
                diagram(&measure.to_uppercase(), &ranks, difference),
            )
        };
        MEASURES.iter().map(|measure| picture(measure)).collect()
    }
}

/// Methods of the list that were measured.
fn measured(results: &Results) -> Vec<&'static str> {
    let [_, _, there] = results.names();
    methods()
        .into_iter()
        .filter(|name| there.iter().any(|method| method == name))
        .collect()
}

/// For each data set on which everything was measured: the mean of a measure over the ensembles, by method.
fn blocks(results: &Results, methods: &[&str], measure: &str) -> Vec<Vec<f64>> {
    let mean = |data: &str, method: &str| {
        let values = ENSEMBLES.map(|ensemble| results.value(data, ensemble, method, 0, measure));
        values
            .into_iter()
            .sum::<Option<f64>>()
            .map(|sum| sum / ENSEMBLES.len() as f64)
    };
    let block = |data: &&str| {
        methods
            .iter()
            .map(|method| mean(data, method))
            .collect::<Option<Vec<f64>>>()
    };
    DATA.iter().filter_map(block).collect()
}

fn mean_ranks(blocks: &[Vec<f64>]) -> Vec<f64> {
    let ranked: Vec<Vec<f64>> = blocks.iter().map(|block| ranks(block)).collect();
    let methods = ranked.first().map_or(0, Vec::len);
    (0..methods)
        .map(|m| ranked.iter().map(|ranks| ranks[m]).sum::<f64>() / ranked.len() as f64)
        .collect()
}

fn rank_table(results: &Results, methods: &[&str]) -> String {
    let ranks = MEASURES.map(|measure| mean_ranks(&blocks(results, methods, measure)));
    let means = MEASURES.map(|measure| {
        let blocks = blocks(results, methods, measure);
        let mean = |m: usize| {
            blocks.iter().map(|block| block[m]).sum::<f64>() / blocks.len().max(1) as f64
        };
        (0..methods.len()).map(mean).collect::<Vec<f64>>()
    });
    if ranks[0].is_empty() {
        return String::from("No data set was measured in full.\n\n");
    }
    let overall = |m: usize| ranks.iter().map(|ranks| ranks[m]).sum::<f64>() / ranks.len() as f64;
    let mut order: Vec<usize> = (0..methods.len()).collect();
    order.sort_by(|&a, &b| overall(a).total_cmp(&overall(b)));
    let mut grid = Grid::new(
        "method | rank by H | rank by ARI | rank by NMI | mean H | mean ARI | mean NMI | CPU s"
            .split(" | "),
    );
    for m in order {
        let seconds = seconds(results, methods[m]);
        let cells = ranks.iter().map(|ranks| format!("{:.1}", ranks[m]));
        let cells = cells.chain(means.iter().map(|means| format!("{:.3}", means[m])));
        grid.row(
            [format!("`{}`", methods[m])]
                .into_iter()
                .chain(cells)
                .chain([format!("{seconds:.2}")]),
        );
    }
    grid.finish()
}

/// Mean CPU seconds over all that was measured.
fn seconds(results: &Results, method: &str) -> f64 {
    let cells = DATA
        .iter()
        .flat_map(|data| ENSEMBLES.map(|ensemble| (data, ensemble)));
    let values: Vec<f64> = cells
        .filter_map(|(data, ensemble)| results.value(data, ensemble, method, 0, SECONDS))
        .collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn scores_table(results: &Results, methods: &[&str], ensemble: &str) -> String {
    let there: Vec<&str> = DATA
        .into_iter()
        .filter(|data| {
            methods
                .iter()
                .any(|m| results.value(data, ensemble, m, 0, "h").is_some())
        })
        .collect();
    let mut grid = Grid::new(
        ["method", "mean"]
            .iter()
            .copied()
            .chain(there.iter().copied()),
    );
    for method in methods {
        let values: Vec<Option<f64>> = there
            .iter()
            .map(|data| results.value(data, ensemble, method, 0, "h"))
            .collect();
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let cell = |value: &Option<f64>| value.map_or_else(dash, |value| format!("{value:.2}"));
        grid.row(
            [format!("`{method}`"), format!("{mean:.3}")]
                .into_iter()
                .chain(values.iter().map(cell)),
        );
    }
    grid.finish()
}

const PROTOCOL: &str = "\
Protocol: the catalogue's sets of numbers with at most 2310 objects (of optdigits the first thousand; larger ones are left out, since the\n\
methods that hold all pairs would dominate the time), as they are or with standardised columns (`-std`), five ensembles each: the presets\n\
`pcc-1`, `pcc-2`, `ssce`, `nbce`, and `draws` (100 k-means with K to 3K clusters on nine tenths of the objects). K = number of classes,\n\
default settings (`baum-eagon` with restarts=1, iterations=200: its default takes minutes; `peace` and `pcc` are `pcc-kl` then and left out), one seed. A rank is over all methods on one data set, of the mean over its five ensembles; ties share their mean rank.\n\
What is measured is how well methods recover classes, which clusterings need not follow; data sets without such structure pull all\n\
methods together.\n\n";
