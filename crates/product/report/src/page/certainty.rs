//! The section on confidence and certainty: figures, the table of clusters, the table of objects.

use super::Page;
use super::parts::{Cell, SHORT, card, section, table};
use crate::Report;
use crate::figures::certainty::left_out;
use crate::text::{count, cut, named, number};

/// Objects in the table at most.
const ROWS: usize = 2_000;

/// Bytes of names that the table may hold: long names leave room for fewer objects.
const NAMES: usize = 400_000;

pub(super) fn certainty(page: &Page<'_, '_>) -> String {
    let mut figures = String::new();
    page.figures("certainty")
        .for_each(|figure| figures.push_str(&card(figure, false)));
    let body = format!(
        "<div class=\"figs\">{figures}</div>{}{}",
        clusters(page),
        objects(page)
    );
    section("sure", "How sure", lead(page.report), &body)
}

fn lead(report: &Report<'_>) -> &'static str {
    match report.confidence {
        Some(_) => {
            "How far each label can be trusted. The confidence is the share of the base clusterings' evidence for an object's own \
             cluster against the best other one, calibrated as the probability that the label is right; it compares between \
             methods. 1/K is chance. The certainty is the method's own number."
        }
        None => {
            "How far each label can be trusted. 1 is certain; what the number means is in the method's info."
        }
    }
}

fn clusters(page: &Page<'_, '_>) -> String {
    let clusters = &page.clusters;
    let share = |x: Option<f64>| Cell::Number(x.unwrap_or(f64::NAN), number(x.unwrap_or(f64::NAN)));
    let rows: Vec<Vec<Cell>> = clusters
        .shown
        .iter()
        .enumerate()
        .map(|(at, cluster)| {
            let size = Cell::Number(cluster.size as f64, count(cluster.size as i64));
            let mut row = vec![Cell::Cluster(cluster.label), size];
            row.extend([share(Some(cluster.mean)), share(Some(cluster.deciles[0]))]);
            if clusters.evidence.is_some() {
                let nearest = clusters.nearest(at);
                row.push(share(clusters.cohesion(at)));
                row.push(share(nearest.map(|nearest| nearest.1)));
                let other = nearest.map_or_else(
                    || "–".into(),
                    |nearest| clusters.shown[nearest.0].label.to_string(),
                );
                row.push(Cell::Name(other));
            }
            row
        })
        .collect();
    let mean = format!("Mean {}", page.report.trust_name());
    let heads = [
        "Cluster",
        "Objects",
        mean.as_str(),
        "Lowest tenth",
        "Together within",
        "With the nearest",
        "Nearest cluster",
    ];
    let caption = format!(
        "Clusters. “Together within” is how often the base clusterings put two of its objects together, “with the nearest” \
         one of its objects and one of the cluster that comes next. {}",
        left_out(clusters)
    );
    let width = if clusters.evidence.is_some() { 7 } else { 4 };
    format!(
        "<h3>Each cluster</h3>{}",
        table(
            "clusters-table",
            "sorts",
            caption.trim_end(),
            &heads[..width],
            &rows
        )
    )
}

fn objects(page: &Page<'_, '_>) -> String {
    let report = page.report;
    let shown = doubtful(page);
    let (with_second, with_class) = (
        report.soft.is_some_and(|soft| soft.clusters() > 1),
        report.truth.is_some(),
    );
    let row = |&object: &u32| {
        let i = object as usize;
        let mut row = vec![
            Cell::Name(report.name(i)),
            Cell::Cluster(report.partition.labels()[i] as usize),
        ];
        let both = [report.confidence.map(|of| of[i]), Some(report.certainty[i])];
        row.extend(
            both.into_iter()
                .flatten()
                .map(|share| Cell::Number(share, number(share))),
        );
        if with_second {
            let (name, p) = second(page, i);
            row.extend([name, p]);
        }
        if with_class {
            row.push(Cell::Name(
                report
                    .truth
                    .and_then(|truth| truth[i].clone())
                    .unwrap_or_else(|| "–".into()),
            ));
        }
        row
    };
    let rows: Vec<Vec<Cell>> = shown.iter().map(row).collect();
    let mut heads = vec!["Object", "Cluster"];
    heads.extend(report.confidence.map(|_| "Confidence"));
    heads.push("Certainty");
    heads.extend(
        ["Second cluster", "Its probability"]
            .iter()
            .take(if with_second { 2 } else { 0 }),
    );
    heads.extend(with_class.then_some("Known class"));
    let search = "<div class=\"bar\" hidden><label for=\"search\">Search</label><input id=\"search\" type=\"search\" \
                  autocomplete=\"off\"><output id=\"found\" class=\"soft\"></output></div>";
    let table = table(
        "objects-table",
        "sorts long",
        &caption(page, shown.len()),
        &heads,
        &rows,
    );
    format!("<h3>Objects, doubtful ones first</h3>{search}{table}")
}

fn caption(page: &Page<'_, '_>, shown: usize) -> String {
    let n = page.report.n();
    let file = page
        .report
        .labels_file
        .as_ref()
        .map(|file| format!("; all of them are in {}", cut(file, 200)));
    let drawn = page
        .report
        .counted
        .as_ref()
        .filter(|counted| counted.objects() > n as u64);
    let drawn = drawn.map(|counted| {
        format!(
            ", which were drawn from {}",
            count(counted.objects() as i64)
        )
    });
    let (file, drawn) = (file.unwrap_or_default(), drawn.unwrap_or_default());
    if shown == n {
        return format!("All {} objects{drawn}{file}.", count(n as i64));
    }
    format!(
        "The {} most doubtful of {} objects{drawn}{file}.",
        count(shown as i64),
        count(n as i64)
    )
}

/// The objects whose labels can be trusted least, as many as there is room for.
fn doubtful(page: &Page<'_, '_>) -> Vec<u32> {
    let report = page.report;
    let mut order: Vec<u32> = (0..report.n() as u32).collect();
    let by = |a: &u32, b: &u32| {
        let sure = |i: u32| report.trust()[i as usize];
        sure(*a).total_cmp(&sure(*b)).then(a.cmp(b))
    };
    if order.len() > ROWS {
        order.select_nth_unstable_by(ROWS, by);
        order.truncate(ROWS);
    }
    order.sort_unstable_by(by);
    let mut left = NAMES;
    let fits = |object: &u32| {
        let i = *object as usize;
        let class = report
            .truth
            .and_then(|truth| truth[i].as_deref())
            .unwrap_or_default();
        let needed = named(&report.name(i), SHORT).len() + named(class, SHORT).len();
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    };
    let kept = order.iter().take_while({
        let mut fits = fits;
        move |object| fits(object)
    });
    let kept = kept.count();
    order.truncate(kept);
    order
}

/// The most probable cluster besides the object's own, and its probability.
fn second(page: &Page<'_, '_>, object: usize) -> (Cell, Cell) {
    let own = page.report.partition.labels()[object] as usize;
    let none = || (Cell::Name("–".into()), Cell::Number(0.0, "0".into()));
    let Some(soft) = page.report.soft else {
        return none();
    };
    let row = soft.rows();
    let others = row
        .row(object)
        .into_iter()
        .copied()
        .enumerate()
        .filter(|&(k, _)| k != own);
    let (best, p) = others.fold(
        (own, 0.0),
        |best, (k, p)| if p > best.1 { (k, p) } else { best },
    );
    if best == own {
        none()
    } else {
        (Cell::Cluster(best), Cell::Number(p, number(p)))
    }
}
