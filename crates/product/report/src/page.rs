//! A report as a page and figures: everything that the templates show, computed once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use minijinja::{Value, context};
use partita_core::ndarray::ArrayView2;
use partita_core::{BaseClustering, Ensemble, Partition};
use partita_metrics::Contingency;

use crate::agreement::Agreement;
use crate::clusters::{Cluster, Clusters};
use crate::features::markers;
use crate::figures::{Figure, Plot, all};
use crate::record::Record;
use crate::text::{cut, escape, number};
use crate::tools::Tools;
use crate::{ClusterCurves, Report, ReportError, palette, template};

/// A page and its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The page, one HTML file.
    pub html: String,
    /// Its figures, in the order of the page.
    pub figures: Vec<Figure>,
}

/// The page and its figures.
///
/// # Errors
/// [`ReportError`] if parts of the report are about different numbers of objects, or there is none.
///
/// # Cost
/// O(n M + n log n) time, and that of two maps of at most 1,200 objects; larger parts are measured on samples, which the page says.
pub fn render(report: &Report<'_>) -> Result<Rendered, ReportError> {
    let page = Page::of(report)?;
    Ok(Rendered {
        html: page.html()?,
        figures: page.plots.iter().map(Plot::file).collect(),
    })
}

/// The page: one HTML file.
///
/// # Errors
/// As [`render`].
pub fn html(report: &Report<'_>) -> Result<String, ReportError> {
    Page::of(report)?.html()
}

/// The figures as files.
///
/// # Errors
/// As [`render`].
pub fn figures(report: &Report<'_>) -> Result<Vec<Figure>, ReportError> {
    Ok(Page::of(report)?.plots.iter().map(Plot::file).collect())
}

/// Everything that sections draw from.
struct Page<'p, 'r> {
    report: &'p Report<'r>,
    clusters: Clusters,
    agreement: Option<Agreement>,
    tools: Option<Tools<'r>>,
    plots: Vec<Plot>,
}

/// Figures beyond this width stand alone in their line.
const NARROW: f64 = 560.0;

/// Methods that the table of their agreement has room for.
const METHODS: usize = 12;

/// Classes that the table of known classes has room for.
const CLASSES: usize = 30;

/// Columns for each cluster in the table of features, and where there are many clusters.
const EACH: usize = 5;
const EACH_OF_MANY: usize = 3;

/// Objects in the table at most.
const ROWS: usize = 2_000;

/// Bytes of names that the table of objects may hold, and those of the maps: long names leave room for fewer, or are cut shorter.
const TABLE_NAMES: usize = 400_000;
const MAP_NAMES: usize = 350_000;

impl<'p, 'r> Page<'p, 'r> {
    fn of(report: &'p Report<'r>) -> Result<Self, ReportError> {
        report.check()?;
        let mut clusters = Clusters::of(report);
        let tools = report
            .ensemble
            .and_then(|ensemble| Tools::of(report, ensemble, &clusters));
        if let Some(tools) = tools.as_ref().filter(|_| report.cluster_names.is_empty()) {
            clusters.take_names(tools.names());
        }
        // Nothing else asks for them, and there may be many.
        clusters.counts = None;
        let agreement = report
            .ensemble
            .map(|ensemble| Agreement::of(report, ensemble));
        let plots = all(report, &clusters, agreement.as_ref())?;
        Ok(Self {
            report,
            clusters,
            agreement,
            tools,
            plots,
        })
    }

    fn html(&self) -> Result<String, ReportError> {
        let report = self.report;
        let record = Record::of(&report.record);
        let mean_nmi = self.agreement.as_ref().map(Agreement::mean);
        let anmi = record.anmi.0.or(mean_nmi);
        let method = report.method.map(|info| {
            context! {
                name => info.name, summary => info.summary, reference => info.reference,
            }
        });
        let what = context! {
            title => &report.title, style => Value::from_safe_string(template::style_on_page().to_owned()),
            shapes => palette::MARKERS.map(Value::from).to_vec(), record => Serde(record), anmi, method,
            all => report.all(), given => report.n(), sampled => report.counted.is_some(), live => self.clusters.live,
            mean => report.mean_agreement(),
            low => 1.0 - report.share_from(500), high => report.share_from(900), columns => report.features.map(|table| table.values().ncols()),
            labels_file => &report.labels_file, answers => report.answers.as_ref().map(Serde),
        };
        let parts = context! {
            figures => self.plots.iter().map(card).collect::<Vec<_>>(), clusters => self.clusters(),
            choice => report.choice.as_ref().map(Serde),
            why => report.choice.as_ref().and_then(ClusterCurves::why).map(Serde), agreement => self.methods(), known => self.known_classes(),
            objects => self.objects(), with_second => report.soft.is_some_and(|soft| soft.clusters() > 1),
            known_classes => report.truth.is_some(), features => self.features(), described => self.described(), bases => self.bases(),
            tools => self.tools.as_ref().map(Tools::table), data => self.map_data(), agreeing => self.agreeing(),
        };
        template::page(context! { ..what, ..parts })
    }

    /// A cluster's number and what it is called.
    fn cluster(&self, label: usize) -> Value {
        context! { label, name => self.clusters.name(label) }
    }

    fn clusters(&self) -> Vec<Value> {
        let row = |(at, cluster): (usize, &Cluster)| {
            let nearest = self.clusters.nearest(at);
            context! {
                label => cluster.label, name => &cluster.name, title => cluster.title(), named => cluster.named(),
                size => cluster.size, mean => cluster.mean, lowest => cluster.deciles[0],
                within => self.clusters.cohesion(at), with_nearest => nearest.map(|nearest| nearest.1),
                nearest => nearest.map(|nearest| &self.clusters.shown[nearest.0].name),
            }
        };
        self.clusters.shown.iter().enumerate().map(row).collect()
    }

    /// How far the methods of a run agree, two by two.
    fn methods(&self) -> Option<Value> {
        let all = &self.report.methods;
        let methods = &all[..all.len().min(METHODS)];
        if methods.len() < 2 {
            return None;
        }
        let ari = |a: &Partition, b: &Partition| {
            Contingency::new(a, b).map_or(f64::NAN, |table| table.ari())
        };
        let row = |(name, a): &(String, Partition)| {
            let aris: Vec<f64> = methods.iter().map(|(_, b)| ari(a, b)).collect();
            context! { name, aris => Serde(aris) }
        };
        let rows: Vec<Value> = methods.iter().map(row).collect();
        Some(context! { rows, left => all.len() - methods.len() })
    }

    /// The share of the objects whose cluster at least nine in ten base clusterings agree with, where there are several.
    fn agreeing(&self) -> Option<f64> {
        let several = self.report.ensemble.is_some_and(|of| of.bases().len() > 1);
        several.then(|| self.report.share_from(900))
    }

    /// How many objects of every cluster shown are in every known class; of more classes, the largest.
    fn known_classes(&self) -> Option<Value> {
        let truth = self.report.truth?;
        let of = |object: usize| truth[object].as_deref();
        let sizes = counts((0..truth.len()).filter_map(of));
        let mut classes: Vec<&str> = sizes.keys().copied().collect();
        classes.sort_by_key(|class| Reverse(sizes[class]));
        classes.truncate(CLASSES);
        classes.sort_unstable();
        if classes.is_empty() {
            return None;
        }
        let row = |cluster: &Cluster| {
            let shared = counts(cluster.members.iter().filter_map(|&i| of(i as usize)));
            let objects = classes.iter().map(|class| shared.get(class).unwrap_or(&0));
            context! { cluster => self.cluster(cluster.label), objects => Serde(objects.collect::<Vec<_>>()) }
        };
        let rows: Vec<Value> = self.clusters.shown.iter().map(row).collect();
        Some(context! { all => sizes.len(), classes => Serde(classes), rows })
    }

    /// The objects least agreed on, as many as there is room for.
    fn objects(&self) -> Vec<Value> {
        let report = self.report;
        let sure = |i: &u32| report.agreement[*i as usize];
        let by = |a: &u32, b: &u32| sure(a).total_cmp(&sure(b)).then(a.cmp(b));
        let mut order: Vec<u32> = (0..report.n() as u32).collect();
        if order.len() > ROWS {
            order.select_nth_unstable_by(ROWS, by);
            order.truncate(ROWS);
        }
        order.sort_unstable_by(by);
        let mut left = TABLE_NAMES;
        let mut rows = Vec::new();
        for i in order.into_iter().map(|i| i as usize) {
            let (name, class) = (
                report.name(i),
                report.truth.map(|truth| truth[i].as_deref()),
            );
            let class = class.flatten();
            let label = report.partition.labels()[i] as usize;
            let tools = self.tools.as_ref();
            let others = tools.map(|tools| tools.disagreeing(i, label));
            let needed = room(&name) + class.map_or(0, room) + others.as_deref().map_or(0, room);
            if needed > left {
                break;
            }
            left -= needed;
            let second = self.second(i);
            rows.push(context! {
                name, class, others, cluster => self.cluster(label), agreement => report.agreement[i],
                second => second.map(|second| self.cluster(second.0)),
                probability => second.map(|second| second.1), agreed => self.agreed(i),
                own => report.soft.map(|soft| soft.rows()[[i, label]]),
            });
        }
        rows
    }

    /// The agreement of an object as a count, such as "7 of 8"; none where base clusterings have weights or shares.
    fn agreed(&self, object: usize) -> Option<String> {
        let ensemble = self
            .report
            .ensemble
            .filter(|of| of.memberships().is_none())?;
        let bases = 0..ensemble.bases().len();
        let labels = bases
            .filter(|&base| ensemble.label(object, base).is_some())
            .count();
        let agreeing = self.report.agreement[object] * labels as f64;
        let whole = (agreeing - agreeing.round()).abs() < 1e-3;
        whole.then(|| format!("{agreeing:.0} of {labels}"))
    }

    /// The most probable cluster besides the object's own, and its probability.
    fn second(&self, object: usize) -> Option<(usize, f64)> {
        let own = self.report.partition.labels()[object] as usize;
        let mut best = None;
        for (k, &p) in self.report.soft?.rows().row(object).iter().enumerate() {
            if k != own && p > best.map_or(0.0, |best: (usize, f64)| best.1) {
                best = Some((k, p));
            }
        }
        best
    }

    /// The columns that tell clusters apart: of those clustered on, and of those that are only described.
    fn features(&self) -> Option<Value> {
        let table = self.report.features?;
        self.profile(table.columns(), table.values())
    }

    fn described(&self) -> Option<Value> {
        let table = self.report.described?;
        self.profile(table.columns, table.values)
    }

    fn profile(&self, names: &[String], values: ArrayView2<'_, f64>) -> Option<Value> {
        let shown = &self.clusters.shown;
        let each = if shown.len() > 12 { EACH_OF_MANY } else { EACH };
        let markers = markers(self.report, values, &self.clusters, each)?;
        let differs = |at: usize| markers.found.iter().any(|marker| marker.cluster == at);
        let without = (0..shown.len()).filter(|&at| !differs(at));
        let without: Vec<&str> = without.map(|at| shown[at].name.as_str()).collect();
        Some(
            context! { each, without => Serde(without), columns => names.len(), names => Serde(names), ..Value::from(Serde(markers)) },
        )
    }

    /// The base clusterings drawn, those that disagree most with the result first.
    fn bases(&self) -> Option<Value> {
        let (ensemble, agreement) = (self.report.ensemble?, self.agreement.as_ref()?);
        let row = |at: usize| {
            let u = agreement.drawn[at] as usize;
            let (base, alike) = (&ensemble.bases()[u], agreement.with_result[u]);
            context! {
                name => base.name(), clusters => base.clusters(), nmi => alike.nmi, ari => alike.ari,
                others => agreement.with_others(at),
            }
        };
        let rows: Vec<Value> = (0..agreement.drawn.len()).rev().map(row).collect();
        let sizes = || ensemble.bases().iter().map(BaseClustering::clusters);
        Some(context! {
            rows, all => ensemble.bases().len(), least => sizes().min(), most => sizes().max(),
            missing => self.missing(ensemble), mean => agreement.mean(), diversity => agreement.diversity(),
        })
    }

    /// The share of labels that are missing.
    fn missing(&self, ensemble: &Ensemble) -> f64 {
        let labels = self.report.all() as f64 * ensemble.bases().len() as f64;
        let missing = match &self.report.counted {
            Some(counted) => labels - counted.of_base_clusters.iter().sum::<u64>() as f64,
            None => ensemble.missing() as f64,
        };
        missing / labels
    }

    /// Names of the objects in maps, and where they are.
    fn map_data(&self) -> Value {
        let report = self.report;
        let mut objects: BTreeSet<usize> = BTreeSet::new();
        let mut maps = BTreeMap::new();
        for plot in &self.plots {
            if !plot.points.is_empty() {
                let round = |x: f64| (x * 10.0).round() / 10.0;
                let points = plot.points.iter().map(|&(x, y, i)| (round(x), round(y), i));
                maps.insert(plot.name, points.collect::<Vec<_>>());
                objects.extend(plot.points.iter().map(|point| point.2 as usize));
            }
        }
        let names = |limit: usize| -> Vec<String> {
            let names = objects.iter().map(|&object| report.name(object));
            names.map(|name| cut(&name, limit)).collect()
        };
        let fits = |names: &Vec<String>| {
            names.iter().map(|name| json_size(name)).sum::<usize>() <= MAP_NAMES
        };
        let fitting = [48, 24].into_iter().map(names).find(fits);
        let said = |(&object, name): (&usize, String)| {
            let (label, sure) = (report.partition.labels()[object], report.agreement[object]);
            (object.to_string(), (name, label, number(sure)))
        };
        let names = fitting.unwrap_or_else(|| names(10));
        let objects: BTreeMap<_, _> = objects.iter().zip(names).map(said).collect();
        let names: BTreeMap<usize, &str> = self
            .clusters
            .shown
            .iter()
            .map(|of| (of.label, of.name.as_str()))
            .collect();
        context! { maps => Serde(maps), objects => Serde(objects), names => Serde(names) }
    }
}

fn card(plot: &Plot) -> Value {
    let [title, alt, note] = &plot.texts;
    context! {
        name => plot.name, title, alt, note, svg => Value::from_safe_string(plot.svg.inline(plot.name, title, alt)),
        texts => plot.svg.texts(), wide => plot.svg.width() > NARROW, map => !plot.points.is_empty(),
    }
}

/// How often every text is there.
fn counts<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeMap<&'t str, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

/// Bytes that a name takes in a table, with what it shows at a pointer where it is cut.
fn room(name: &str) -> usize {
    let short = cut(name, 60);
    let whole = if short == name {
        0
    } else {
        escape(&cut(name, 200)).len()
    };
    escape(&short).len() + whole
}

/// Bytes that a name takes in JSON inside HTML.
fn json_size(name: &str) -> usize {
    let size = |c: char| match c {
        '<' | '>' | '&' | '\'' | '"' => 6,
        c => c.len_utf8(),
    };
    name.chars().map(size).sum()
}
