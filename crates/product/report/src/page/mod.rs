//! The page: sections in order, one file.

mod bases;
mod certainty;
mod choice;
mod features;
mod known;
mod parts;
mod summary;

use serde_json::json;

use crate::Report;
use crate::agreement::Agreement;
use crate::clusters::Clusters;
use crate::figure::Drawn;
use crate::palette;
use crate::text::{cut, escape, number, script_json};

use parts::{card, section};

/// Everything that sections draw from, computed once.
pub(crate) struct Page<'p, 'r> {
    pub(crate) report: &'p Report<'r>,
    pub(crate) clusters: Clusters,
    pub(crate) agreement: Option<Agreement>,
    pub(crate) drawn: Vec<Drawn>,
}

/// What may load or run: nothing from anywhere else.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Bytes of the names in maps.
const NAMES: usize = 350_000;

impl Page<'_, '_> {
    /// Figures whose name starts so.
    fn figures<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a Drawn> {
        self.drawn
            .iter()
            .filter(move |figure| figure.name.starts_with(start))
    }

    /// The whole file.
    pub(crate) fn html(&self) -> String {
        let sections = [
            ("summary", "Summary", summary::summary(self)),
            ("evidence", "Evidence", self.evidence()),
            ("choice", "How many", self.choice()),
            ("sure", "How sure", certainty::certainty(self)),
            ("soft", "Clusters", self.soft()),
            ("features", "Features", features::features(self)),
            ("bases", "Base clusterings", bases::bases(self)),
            ("map", "Map", self.map()),
        ];
        let there = || sections.iter().filter(|section| !section.2.is_empty());
        let links: String = there()
            .map(|(id, name, _)| format!("<li><a href=\"#{id}\">{name}</a></li>"))
            .collect();
        let body: String = there().map(|section| section.2.as_str()).collect();
        let title = escape(&cut(&self.report.title, 120));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{title} – Partita report</title>\n<style>\n{}\n{}\n</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#summary\">Skip to the summary</a>\n{}\
             <header><div class=\"wide\"><div><p class=\"kicker\">Partita report</p><h1>{title}</h1><p class=\"lead\">{}</p></div>\
             <button type=\"button\" id=\"theme\" hidden>Dark theme</button></div></header>\n\
             <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n<main class=\"wide\">\n{body}\n</main>\n\
             <footer><div class=\"wide\">Made by Partita. This file loads nothing from anywhere.</div></footer>\n\
             <script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
            include_str!("style.css").trim_end(),
            palette::on_page(),
            parts::symbols(),
            escape(&summary::headline(self)),
            script_json(&self.data()),
            include_str!("script.js"),
        )
    }

    fn evidence(&self) -> String {
        let body: String = self
            .figures("evidence")
            .map(|figure| card(figure, figure.name == "evidence"))
            .collect();
        let lead =
            "What the base clusterings say about every two objects, and about every two clusters.";
        if body.is_empty() {
            body
        } else {
            section("evidence", "Evidence", lead, &body)
        }
    }

    fn choice(&self) -> String {
        let Some(choice) = &self.report.choice else {
            return String::new();
        };
        let wide = |figure: &&Drawn| figure.svg.width() > 560.0;
        let small: String = self
            .figures("choice-")
            .filter(|figure| !wide(figure))
            .map(|figure| card(figure, false))
            .collect();
        let flow: String = self
            .figures("choice-")
            .filter(wide)
            .map(|figure| card(figure, true))
            .collect();
        let verdict = if choice.reason.is_empty() {
            String::new()
        } else {
            format!("<p><b>{}</b></p>", escape(&cut(&choice.reason, 600)))
        };
        let body = format!(
            "{verdict}<div class=\"figs\">{small}</div>{flow}{}",
            choice::table(choice)
        );
        let lead =
            "What other numbers of clusters give, and what data without clusters would give.";
        section("choice", "How many clusters", lead, &body)
    }

    fn soft(&self) -> String {
        let of = |name: &'static str| self.figures(name).next();
        let narrow = |figure: &&Drawn| figure.svg.width() <= 560.0;
        let wide: String = of("membership")
            .into_iter()
            .map(|figure| card(figure, true))
            .collect();
        let pair = || of("relations").into_iter().chain(of("centres"));
        let small: String = pair()
            .filter(narrow)
            .map(|figure| card(figure, false))
            .collect();
        let large: String = pair()
            .filter(|figure| !narrow(figure))
            .map(|figure| card(figure, true))
            .collect();
        let small = if small.is_empty() {
            small
        } else {
            format!("<div class=\"figs\">{small}</div>")
        };
        let body = format!("{wide}{small}{large}");
        let lead = "How clusters overlap, what they share, and where they lie in the table.";
        if body.is_empty() {
            body
        } else {
            section("soft", "Clusters and what they share", lead, &body)
        }
    }

    fn map(&self) -> String {
        let maps: String = self
            .figures("map-")
            .map(|figure| card(figure, false))
            .collect();
        let lead = "Objects in the plane: those with the same shape and colour have the same label, pale ones are doubtful.";
        let legend = parts::legend(&self.clusters);
        if maps.is_empty() {
            maps
        } else {
            section(
                "map",
                "Map",
                lead,
                &format!("{legend}<div class=\"figs\">{maps}</div>"),
            )
        }
    }

    /// Names of the objects in maps, and where they are.
    fn data(&self) -> serde_json::Value {
        let mut objects: Vec<u32> = Vec::new();
        let mut maps = serde_json::Map::new();
        for figure in self.drawn.iter().filter(|figure| !figure.points.is_empty()) {
            objects.extend(figure.points.iter().map(|point| point.object));
            let round = |x: f64| (x * 10.0).round() / 10.0;
            let points = figure
                .points
                .iter()
                .map(|point| json!([round(point.x), round(point.y), point.object]));
            maps.insert(figure.name.to_owned(), points.collect());
        }
        objects.sort_unstable();
        objects.dedup();
        // Names that would fill the page are cut shorter.
        let named = |limit: usize| -> serde_json::Map<String, serde_json::Value> {
            objects
                .iter()
                .map(|&object| (object.to_string(), self.said(object as usize, limit).into()))
                .collect()
        };
        let room = |named: &serde_json::Map<_, _>| script_json(&json!(named)).len() <= NAMES;
        let fits = [48, 24]
            .into_iter()
            .map(named)
            .find(room)
            .unwrap_or_else(|| named(10));
        json!({ "maps": maps, "objects": fits })
    }

    /// What a map says of an object.
    fn said(&self, object: usize, limit: usize) -> String {
        let report = self.report;
        let (label, sure) = (
            report.partition.labels()[object],
            number(report.trust()[object]),
        );
        format!(
            "{}: cluster {label}, {} {sure}",
            cut(&report.name(object), limit),
            report.trust_name()
        )
    }
}
