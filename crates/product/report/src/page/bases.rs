//! The section on base clusterings.

use partita_core::Ensemble;

use super::parts::{Cell, card, section, table};
use super::{Agreement, Page};
use crate::Answers;
use crate::text::{count, escape, number, percent};

pub(super) fn bases(page: &Page<'_, '_>) -> String {
    let (Some(ensemble), Some(agreement)) = (page.report.ensemble, &page.agreement) else {
        return String::new();
    };
    let mut body = String::from("<div class=\"figs\">");
    page.figures("base-")
        .for_each(|figure| body.push_str(&card(figure, false)));
    body.push_str("</div>");
    body.push_str(
        &page
            .report
            .answers
            .as_ref()
            .map(answers)
            .unwrap_or_default(),
    );
    if let Some(diversity) = agreement.diversity() {
        body.push_str(&format!(
            "<p>Diversity, 1 minus the mean NMI of two base clusterings, is {}; their mean NMI with the result is {}.</p>",
            number(diversity),
            number(agreement.mean())
        ));
    }
    body.push_str(&least(ensemble, agreement));
    let lead =
        "What the result was made from, how far they agree, and which of them disagree most.";
    section("bases", "Base clusterings", lead, &body)
}

/// How many answers the ensemble holds, and a bar of how many base clusterings give each.
fn answers(found: &Answers) -> String {
    const WIDTH: f64 = 400.0;
    let mut at = 0.0;
    let part = |(k, share): (usize, &f64)| {
        let (x, width) = (at, share * WIDTH);
        at += width;
        let (left, middle, percent) = (number(x), number(x + width / 2.0), percent(*share));
        let said = if *share < 0.1 { String::new() } else { percent };
        format!(
            "<rect class=\"k{k}\" x=\"{left}\" y=\"0\" width=\"{}\" height=\"20\"/>\
             <text x=\"{middle}\" y=\"36\" text-anchor=\"middle\" class=\"t\">{said}</text>",
            number(width)
        )
    };
    let parts: String = found.shares.iter().enumerate().map(part).collect();
    format!(
        "<p>Answers in the ensemble: {}</p><svg class=\"fig\" role=\"img\" aria-label=\"Share of the base clusterings that give \
         each answer\" width=\"400\" height=\"42\" viewBox=\"0 0 400 42\" style=\"max-width:100%\">{parts}</svg>",
        escape(&found.sentence)
    )
}

/// The base clusterings drawn, those that disagree most with the result first.
fn least(ensemble: &Ensemble, agreement: &Agreement) -> String {
    let cell = |x: f64| Cell::Number(x, number(x));
    let row = |at: usize| {
        let u = agreement.drawn[at] as usize;
        let (base, alike) = (&ensemble.bases()[u], agreement.with_result[u]);
        vec![
            Cell::Name(base.name().to_owned()),
            Cell::Number(base.clusters() as f64, count(base.clusters() as i64)),
            cell(alike.nmi),
            cell(alike.ari),
            cell(agreement.with_others(at)),
        ]
    };
    let rows: Vec<Vec<Cell>> = (0..agreement.drawn.len()).rev().map(row).collect();
    let heads = [
        "Base clustering",
        "Clusters",
        "NMI with the result",
        "ARI with the result",
        "Mean NMI with the others",
    ];
    let all = ensemble.bases().len();
    let mut caption = format!(
        "{} of {} base clusterings, those that disagree most first.",
        rows.len(),
        count(all as i64)
    );
    if agreement.objects < ensemble.objects() as u64 {
        caption.push_str(&format!(
            " Measured on {} of the objects.",
            count(agreement.objects as i64)
        ));
    }
    table("bases-table", "sorts long", &caption, &heads, &rows)
}
