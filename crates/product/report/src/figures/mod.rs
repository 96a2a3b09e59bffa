//! The figures, one file a kind: a picture, its numbers, and what its texts say of them.

use minijinja::{Value, context};

use crate::agreement::Agreement;
use crate::clusters::{Clusters, sample};
use crate::svg::Svg;
use crate::template::texts;
use crate::tracks::Tracks;
use crate::{Report, ReportError};

mod agreement;
pub(crate) mod bars;
mod bases;
mod centres;
mod choice;
mod flow;
mod heat;
mod map;
mod relations;
mod tree;
mod tsne;

/// A figure as files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figure {
    /// Name without ending, such as `map`.
    pub name: String,
    /// What stands above it.
    pub title: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
    /// The picture, an SVG file that follows the reader's light or dark theme.
    pub svg: String,
    /// The numbers behind it, as CSV with a line of names.
    pub csv: String,
}

/// A figure before it goes to a page or to files.
pub(crate) struct Plot {
    /// Its texts are the macro of this name in `templates/figures.txt`.
    pub(crate) name: &'static str,
    pub(crate) svg: Svg,
    pub(crate) csv: String,
    /// What the texts say.
    facts: Value,
    /// Places of objects in it, where they can be pointed at: x, y and the object.
    pub(crate) points: Vec<(f64, f64, u32)>,
    /// Title, description, and what stands below it: how to read it, and what was left out.
    pub(crate) texts: [String; 3],
}

impl Plot {
    fn new(name: &'static str, svg: Svg, csv: String, facts: Value) -> Self {
        Self {
            name,
            svg,
            csv,
            facts,
            points: Vec::new(),
            texts: Default::default(),
        }
    }

    pub(crate) fn file(&self) -> Figure {
        let [title, alt, _] = self.texts.clone();
        Figure {
            name: self.name.to_owned(),
            svg: self.svg.alone(self.name, &title, &alt),
            csv: self.csv.clone(),
            title,
            alt,
        }
    }
}

/// All figures that there is something for, in the order of the page.
pub(crate) fn all(
    report: &Report<'_>,
    clusters: &Clusters,
    agreement: Option<&Agreement>,
) -> Result<Vec<Plot>, ReportError> {
    let mut plots = Vec::new();
    if let Some(ensemble) = report.ensemble {
        plots.push(heat::objects(report, ensemble, clusters));
        plots.extend(heat::clusters(clusters));
    }
    if let Some(choice) = &report.choice {
        plots.extend(choice::curves(choice));
        if let Some(tracks) = Tracks::of(choice, report.partition) {
            let matrices = |ensemble| heat::by_number(ensemble, choice, &tracks, clusters);
            plots.extend(report.ensemble.and_then(matrices));
            plots.push(tree::figure(choice, &tracks));
            plots.push(bars::by_k(report, choice, &tracks, clusters));
            plots.push(flow::figure(choice, &tracks));
        }
    }
    plots.push(agreement::histogram(report));
    plots.push(agreement::by_cluster(clusters));
    plots.extend(report.soft.map(|soft| bars::membership(soft, clusters)));
    plots.extend(relations::graph(report.soft, clusters));
    let table = report.features.filter(|table| table.values().ncols() > 0);
    plots.extend(table.map(|table| centres::figure(report, &table, clusters)));
    if let (Some(ensemble), Some(agreement)) = (report.ensemble, agreement) {
        plots.push(heat::bases(ensemble, agreement));
        plots.push(bases::spread(ensemble, agreement));
    }
    let points = sample(clusters, map::POINTS);
    plots.extend(table.and_then(|table| map::table(report, &table, &points)));
    let ensemble = report.ensemble;
    plots.extend(ensemble.and_then(|ensemble| map::evidence(report, ensemble, &points)));
    let common = context! {
        shown => clusters.shown.len(), live => clusters.live,
        given => report.n(), all => report.all(),
    };
    for plot in &mut plots {
        plot.texts = texts(plot.name, &plot.facts, &common)?;
    }
    Ok(plots)
}
