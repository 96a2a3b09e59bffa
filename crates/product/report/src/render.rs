//! Renders a report to a page and figures.

use crate::agreement::Agreement;
use crate::clusters::Clusters;
use crate::figure::{Drawn, Figure};
use crate::page::Page;
use crate::{Report, ReportError};

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
/// O(n M + n log n) time; larger parts are measured on samples, which the page says.
pub fn render(report: &Report<'_>) -> Result<Rendered, ReportError> {
    let page = page(report)?;
    Ok(Rendered {
        html: page.html(),
        figures: page.drawn.iter().map(Drawn::file).collect(),
    })
}

/// The page: one HTML file.
///
/// # Errors
/// As [`render`].
pub fn html(report: &Report<'_>) -> Result<String, ReportError> {
    Ok(page(report)?.html())
}

/// The figures as files.
///
/// # Errors
/// As [`render`].
pub fn figures(report: &Report<'_>) -> Result<Vec<Figure>, ReportError> {
    Ok(page(report)?.drawn.iter().map(Drawn::file).collect())
}

fn page<'p, 'r>(report: &'p Report<'r>) -> Result<Page<'p, 'r>, ReportError> {
    report.check()?;
    let clusters = Clusters::of(report);
    let agreement = report
        .ensemble
        .map(|ensemble| Agreement::of(report, ensemble, &clusters));
    let drawn = crate::figures::all(report, &clusters, agreement.as_ref());
    Ok(Page {
        report,
        clusters,
        agreement,
        drawn,
    })
}
