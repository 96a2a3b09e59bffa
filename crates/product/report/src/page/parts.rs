//! Pieces of markup that every section uses.

use std::fmt::Write as _;

use crate::clusters::{Cluster, Clusters};
use crate::figure::Drawn;
use crate::palette::{COLOURS, SHAPES, marker};
use crate::text::{count, escape, named};

/// A cell of a table.
pub(crate) enum Cell {
    /// Text from outside.
    Name(String),
    /// A number and how it is written.
    Number(f64, String),
    /// A cluster.
    Cluster(usize),
}

/// Texts of a figure that are enlarged on a phone, at most; more would run into each other.
const TEXTS: usize = 27;

/// Characters of a name in a table.
pub(crate) const SHORT: usize = 60;

/// A table with a caption. `class` may be `sorts` and `long` (cut short on paper).
pub(crate) fn table(
    id: &str,
    class: &str,
    caption: &str,
    heads: &[&str],
    rows: &[Vec<Cell>],
) -> String {
    let numeric = |at: usize| {
        rows.first()
            .is_some_and(|row| matches!(row.get(at), Some(Cell::Number(..))))
    };
    let mut html = format!(
        "<div class=\"box\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}-c\"><table id=\"{id}\" class=\"{class}\">\
         <caption id=\"{id}-c\">{}</caption><thead><tr>",
        escape(caption)
    );
    for (at, head) in heads.iter().enumerate() {
        let class = if numeric(at) { " class=\"r\"" } else { "" };
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escape(head));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            html.push_str(&written(cell, at == 0));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn written(cell: &Cell, first: bool) -> String {
    let (tag, scope) = if first {
        ("th", " scope=\"row\"")
    } else {
        ("td", "")
    };
    match cell {
        Cell::Name(name) => {
            let class = if first { " class=\"name\"" } else { "" };
            format!("<{tag}{scope}{class}>{}</{tag}>", named(name, SHORT))
        }
        Cell::Number(value, text) => {
            let value = if value.is_finite() {
                value.to_string()
            } else {
                String::new()
            };
            format!(
                "<{tag}{scope} class=\"r\" data-v=\"{value}\">{}</{tag}>",
                escape(text)
            )
        }
        Cell::Cluster(label) => {
            format!("<{tag}{scope} data-v=\"{label}\">{}</{tag}>", chip(*label))
        }
    }
}

/// A cluster's number with its colour and shape; [`symbols`] has the shapes.
pub(crate) fn chip(label: usize) -> String {
    format!(
        "<span class=\"chip\"><svg class=\"fig\" aria-hidden=\"true\"><use href=\"#s{}\" class=\"k{}\"/></svg>{label}</span>",
        label % SHAPES,
        label % COLOURS
    )
}

/// The shapes of all clusters, once a page.
pub(crate) fn symbols() -> String {
    let symbol = |at: usize| {
        format!(
            "<symbol id=\"s{at}\" viewBox=\"-6 -6 12 12\"><path d=\"{}\"/></symbol>",
            marker(at)
        )
    };
    let symbols: String = (0..SHAPES).map(symbol).collect();
    format!(
        "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\">{symbols}</svg>\n"
    )
}

/// A figure in a card.
pub(crate) fn card(figure: &Drawn, big: bool) -> String {
    // What may scroll sideways on a phone can be reached by Tab.
    // Nor can many texts be made larger there.
    let big = big || figure.svg.texts() > TEXTS;
    let picture = if big {
        let label = format!(
            "tabindex=\"0\" role=\"group\" aria-label=\"{}\"",
            escape(&figure.title)
        );
        format!("<div class=\"pic big\" {label}>{}</div>", figure.inline())
    } else {
        format!("<div class=\"pic\">{}</div>", figure.inline())
    };
    let picture = if figure.points.is_empty() {
        picture
    } else {
        with_arrow_keys(figure, &picture)
    };
    let note = if figure.note.is_empty() {
        String::new()
    } else {
        format!("<p class=\"note\">{}</p>", escape(&figure.note))
    };
    format!(
        "<figure class=\"card\"><figcaption><b>{}</b><p>{}</p></figcaption>{picture}{note}</figure>",
        escape(&figure.title),
        escape(&figure.alt)
    )
}

/// A map around which the arrow keys go.
fn with_arrow_keys(figure: &Drawn, picture: &str) -> String {
    format!(
        "<div class=\"map\" data-of=\"{}\" tabindex=\"0\" role=\"application\" aria-label=\"{}; arrow keys go from object \
         to object\">{picture}<output aria-live=\"polite\">Point at an object, or use the arrow keys, to see its name.\
         </output></div>",
        figure.name,
        escape(&figure.title)
    )
}

/// A section with a heading and a sentence on what it is for.
pub(crate) fn section(id: &str, title: &str, lead: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">{}</h2><p class=\"soft\">{}</p>{body}</section>",
        escape(title),
        escape(lead)
    )
}

/// The clusters shown, with their marks and sizes.
pub(crate) fn legend(clusters: &Clusters) -> String {
    let item = |cluster: &Cluster| {
        let size = count(cluster.size as i64);
        format!(
            "<li>{} <span class=\"soft\">{size}</span></li>",
            chip(cluster.label)
        )
    };
    let items: String = clusters.shown.iter().map(item).collect();
    format!("<ul class=\"legend\" aria-label=\"Clusters and their sizes\">{items}</ul>")
}
