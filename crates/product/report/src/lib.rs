//! Reports of a consensus: one self-contained HTML page, and its figures as SVG and CSV.
//!
//! Pick this crate to show what a consensus is and how far to trust it to somebody who will not open a terminal. It
//! reads no files and computes no consensus: it takes labels, how sure they are and whatever else there is (the record
//! of the run, the ensemble, the table, probabilities, a tree, what other numbers of clusters gave), and leaves out the
//! sections for which nothing was given.
//!
//! | function | what it gives | time | memory |
//! |---|---|---|---|
//! | [`html`] | one HTML file, at most 3 MB for any n | O(n M + n log n) | O(n), and 20 MB |
//! | [`figures`] | every figure as SVG, its numbers as CSV, and what it shows in words | the same | the same |
//! | [`render`] | both, computed once | the same | the same |
//! | [`membership_rows`] | membership bars of several runs as SVG | O(R n K) | O(n) |
//! | [`Svg`] | the writer of SVG behind the figures, for drawings of one's own | O(elements) | O(elements) |
//!
//! The page loads nothing (its content policy forbids it), follows the reader's light or dark theme, works without its
//! script and on paper. Clusters differ by shape and hatching as well as by colour, tables say what their headings
//! head, the arrow keys go from object to object in a map. The same report gives the same bytes.
//!
//! ```
//! use partita_core::{EnsembleBuilder, Partition};
//! use partita_report::{Report, html};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(4);
//! builder.push("a", [Some(0), Some(0), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(0), Some(1)])?;
//! let ensemble = builder.finish()?;
//! let partition = Partition::new(vec![0, 0, 1, 1], 2)?;
//!
//! let mut report = Report::new("Four objects", json!({ "method": "by hand" }), &partition, &[1.0, 1.0, 0.5, 1.0]);
//! report.ensemble = Some(&ensemble);
//! let page = html(&report)?;
//! assert!(page.starts_with("<!doctype html>") && page.contains("Base clusterings"));
//! # Ok(())
//! # }
//! ```

mod agreement;
mod axes;
mod clusters;
mod counted;
mod curves;
mod error;
mod features;
mod figures;
mod order;
mod page;
mod palette;
mod png;
mod record;
mod report;
mod svg;
mod template;
mod text;
mod tools;
mod tracks;

pub use counted::{AgreementCounts, Counted};
pub use curves::{ClusterCurves, CurvePoint, Measure};
pub use error::ReportError;
pub use figures::Figure;
pub use figures::bars::{MembershipRow, membership_rows};
pub use page::{Rendered, figures, html, render};
pub use report::{Answers, Described, Report};
pub use svg::Svg;
pub use text::field as csv_field;
