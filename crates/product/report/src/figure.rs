//! A figure: the picture, what it shows in words, and its numbers.

use crate::svg::Svg;

/// A figure as files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figure {
    /// Name without ending, such as `certainty`.
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
pub(crate) struct Drawn {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) alt: String,
    pub(crate) svg: Svg,
    pub(crate) csv: String,
    /// What stands below it: how to read it, and what was left out.
    pub(crate) note: String,
    /// Places of objects in it, where they can be pointed at.
    pub(crate) points: Vec<Point>,
}

/// An object in a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) object: u32,
}

impl Drawn {
    pub(crate) fn file(&self) -> Figure {
        Figure {
            name: self.name.to_owned(),
            title: self.title.clone(),
            alt: self.alt.clone(),
            svg: self.svg.alone(self.name, &self.title, &self.alt),
            csv: self.csv.clone(),
        }
    }

    pub(crate) fn inline(&self) -> String {
        self.svg.inline(self.name, &self.title, &self.alt)
    }
}
