//! PEnCA (2011, slides): the one table, against the mixture model.

use partita::generate::Recipe;

use super::tables::{self, Floor};
use crate::page::LEGEND;
use crate::{Comparison, Grid, Lab, Published, ReproduceError, Results, Row, Scope, Sense, Study, Unit};

pub(super) static PENCA: Penca = Penca;

pub(super) struct Penca;

const DATA: [&str; 10] = [
    "iris",
    "wine-std",
    "house-votes",
    "cigar",
    "ionosphere",
    "yeast-cellcycle-std",
    "half-rings",
    "breast-cancer",
    "pima-std",
    "optdigits-1000",
];
const QUICK: usize = 4;
/// `draws`: 100 k-means with K to 3K clusters on nine tenths of the objects.
const ENSEMBLES: [&str; 2] = ["draws", "pcc-1"];
const METHODS: [&str; 2] = ["penca", "mm"];

const FLOORS: [Floor; 7] = [
    ("wine-std", "draws", "penca", 0.973),
    ("house-votes", "draws", "penca", 0.899),
    ("breast-cancer", "draws", "penca", 0.969),
    ("iris", "draws", "penca", 0.903),
    ("yeast-cellcycle-std", "draws", "penca", 0.670),
    ("pima-std", "draws", "penca", 0.685),
    ("wine-std", "pcc-1", "penca", 0.973),
];

impl Study for Penca {
    fn name(&self) -> &'static str {
        "penca"
    }

    fn title(&self) -> &'static str {
        "PEnCA against the mixture model (the slides' table)"
    }

    fn units(&self, scope: Scope) -> Vec<Unit> {
        let mut units = Vec::new();
        for data in if scope.quick { &DATA[..QUICK] } else { &DATA[..] } {
            for seed in 0..scope.seeds {
                units.extend(ENSEMBLES.map(|ensemble| Unit::new(*data, ensemble, seed, METHODS)));
            }
        }
        units
    }

    fn measure(&self, unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>, ReproduceError> {
        let data = lab.data(&unit.data)?;
        let recipe = if unit.setting == "draws" {
            Recipe::for_clusters(data.classes(), data.objects())
        } else {
            Recipe::preset(&unit.setting, data.classes()).map_err(ReproduceError::from_source)?
        };
        let ensemble = lab.ensemble(data.values.view(), &recipe, unit.seed)?;
        tables::measure(unit, lab, &data, &ensemble, |_| &[])
    }

    fn comparisons(&self, results: &Results) -> Vec<Comparison> {
        Published::read(include_str!("../../published/penca.csv")).compare(results, |_| Sense::More, &["penca"])
    }

    fn page(&self, results: &Results) -> String {
        let mut text = String::from(PROTOCOL);
        let comparisons = self.comparisons(results);
        text += "## The slides' table, ensembles with K to 3K clusters\n\n";
        text += &Grid::of_comparisons(comparisons.iter().filter(|c| c.published.setting == "draws")).finish();
        for ensemble in ENSEMBLES {
            for measure in ["h", "ari"] {
                text += &format!("## {} on ensembles `{ensemble}`\n\n", measure.to_uppercase());
                text += &Grid::of_methods(results, &DATA, ensemble, &METHODS, measure).finish();
            }
        }
        text += "## What another implementation reached\n\n";
        text += "H of an implementation written apart from this one, and whether ours is at most .02 below.\n\n";
        text += &tables::floors(results, &FLOORS);
        text + LEGEND
    }
}

const PROTOCOL: &str = "\
Protocol: the slides say only that base clusterings are k-means with different numbers of clusters and starts. Which numbers decides much, so two\n\
readings are shown: K to 3K clusters (`draws`: 100 k-means on nine tenths of the objects), and √n/2 to √n (`pcc-1`). K = number of classes,\n\
default settings, every seed a new ensemble. The sets *stars* and *bars* are not to be had. Our `mm` starts from merged small clusters and\n\
keeps the best of its starts; starts drawn at random, as of 2004, give a poorer baseline.\n\n";
