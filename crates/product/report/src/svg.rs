//! A small writer of SVG drawings, the one behind every figure.

use std::fmt::{Display, Write as _};

use crate::palette::{COLOURS, HATCHES, MARKERS, SHAPES};
use crate::text::{escape, number};
use crate::{png, template};

/// An SVG drawing that grows. Lengths are in CSS pixels at full size.
///
/// Classes of the shared style, which follows the reader's light or dark theme: text `t` (ink), `m` (muted), `big`;
/// lines `ln` (2 pixels) with `il` (ink), `al` (accent) or `bl` (second colour), and `ax` (axis) or `g` (grid); areas
/// `a`, `b`, `gf` (grey), `k0` to `k29` (clusters).
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// A number with at most two decimals.
pub(crate) fn n(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    // Adding 0 takes the sign off a zero.
    format!("{}", rounded + 0.0)
}

/// The class of the colour of a cluster.
pub(crate) fn colour(cluster: usize) -> String {
    format!("k{}", cluster % COLOURS)
}

impl Svg {
    /// An empty drawing.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    /// Its width.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Adds markup as it is; text in it has to be escaped.
    pub fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// Opens a group with these attributes.
    pub fn open(&mut self, attributes: &str) {
        let _ = write!(self.body, "<g {attributes}>");
    }

    /// Closes the last group.
    pub fn close(&mut self) {
        self.body.push_str("</g>");
    }

    /// A rectangle: left, top, width, height.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], class: &str) {
        self.rect_with([x, y, width, height], &format!("class=\"{class}\""));
    }

    /// A rectangle with these attributes.
    pub fn rect_with(&mut self, [x, y, width, height]: [f64; 4], attributes: &str) {
        let [x, y, width, height] = [x, y, width, height].map(n);
        let _ = write!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {attributes}/>"
        );
    }

    /// A line from one point to another.
    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(n);
        let _ = write!(
            self.body,
            "<path d=\"M{x1} {y1}L{x2} {y2}\" class=\"{class}\"/>"
        );
    }

    /// A path with these attributes.
    pub fn path(&mut self, d: &str, attributes: &str) {
        let _ = write!(self.body, "<path d=\"{d}\" {attributes}/>");
    }

    /// The outline of a cluster's marker at a place, `scale` times its usual size.
    pub(crate) fn marker(&mut self, cluster: usize, [x, y]: [f64; 2], scale: f64, class: &str) {
        let (x, y, scale, d) = (n(x), n(y), n(scale), MARKERS[cluster % SHAPES]);
        let _ = write!(
            self.body,
            "<path transform=\"translate({x} {y})scale({scale})\" class=\"{class}\" d=\"{d}\"/>"
        );
    }

    /// The marker of a cluster in its colour.
    pub(crate) fn mark(&mut self, cluster: usize, at: [f64; 2], scale: f64) {
        self.marker(cluster, at, scale, &colour(cluster));
    }

    /// Marker and name of a cluster, side by side around a place.
    pub(crate) fn named(&mut self, cluster: usize, name: &str, [x, y]: [f64; 2]) {
        let half = 3.4 * name.chars().count() as f64;
        self.mark(cluster, [x - 3.6 - half, y], 1.0);
        self.text([x + 4.4 - half, y + 4.0], "t", "start", name);
    }

    /// Defines the markers that [`stamp`](Self::stamp) sets, their ids starting with `prefix`.
    pub(crate) fn stamps(&mut self, prefix: &str, scale: f64) {
        let scale = n(scale);
        self.body.push_str("<defs>");
        for (shape, d) in MARKERS.iter().enumerate() {
            let _ = write!(
                self.body,
                "<path id=\"{prefix}-m{shape}\" class=\"rim\" transform=\"scale({scale})\" d=\"{d}\"/>"
            );
        }
        self.body.push_str("</defs>");
    }

    /// A marker of a cluster at a place, shorter than [`marker`](Self::marker) where there are thousands.
    pub(crate) fn stamp(&mut self, prefix: &str, cluster: usize, [x, y]: [f64; 2], class: &str) {
        let (x, y, shape) = (n(x), n(y), cluster % SHAPES);
        let _ = write!(
            self.body,
            "<use href=\"#{prefix}-m{shape}\" x=\"{x}\" y=\"{y}\" class=\"{class}\"/>"
        );
    }

    /// Defines the hatchings that [`hatch`](Self::hatch) lays over a path, their ids starting with `prefix`.
    pub(crate) fn hatches(&mut self, prefix: &str) {
        self.body.push_str("<defs>");
        for (at, lines) in HATCHES.iter().enumerate().skip(1) {
            let _ = write!(
                self.body,
                "<pattern id=\"{prefix}-h{at}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
                 <path class=\"ha\" d=\"{lines}\"/></pattern>"
            );
        }
        self.body.push_str("</defs>");
    }

    /// A path with this number of a hatching; the first cluster has none.
    pub(crate) fn hatch(&mut self, prefix: &str, d: &str, number: usize) {
        let at = number % SHAPES;
        if at > 0 {
            self.path(d, &format!("fill=\"url(#{prefix}-h{at})\""));
        }
    }

    /// How many texts there are.
    pub(crate) fn texts(&self) -> usize {
        self.body.matches("<text").count()
    }

    /// Text; `anchor` is start, middle or end.
    pub fn text(&mut self, [x, y]: [f64; 2], class: &str, anchor: &str, text: impl Display) {
        let (x, y, text) = (n(x), n(y), escape(&text.to_string()));
        let _ = write!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    /// Text of a class that is turned about its anchor.
    pub(crate) fn turned(
        &mut self,
        [x, y]: [f64; 2],
        degrees: i32,
        [class, anchor]: [&str; 2],
        text: &str,
    ) {
        let (x, y, text) = (n(x), n(y), escape(text));
        let _ = write!(
            self.body,
            "<text transform=\"translate({x} {y})rotate({degrees})\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    /// Text that reads upwards.
    pub fn upwards(&mut self, at: [f64; 2], class: &str, text: &str) {
        self.turned(at, -90, [class, "middle"], text);
    }

    /// A framed picture of numbers in 0 to 1, row by row; numbers that are missing are 0.
    pub(crate) fn shades(&mut self, place: [f64; 4], columns: usize, values: &[f32]) {
        let [x, y, width, height] = place.map(n);
        let base64 = png::shares(columns, values);
        let _ = write!(
            self.body,
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" class=\"px\" preserveAspectRatio=\"none\" \
             href=\"data:image/png;base64,{base64}\"/>"
        );
        self.rect(place, "g");
    }

    /// A key for shades: full colour is this or more.
    pub(crate) fn key(&mut self, [x, y]: [f64; 2], name: &str, full: f64) {
        let steps: Vec<f32> = (0..64).map(|at| 1.0 - at as f32 / 63.0).collect();
        self.shades([x, y, 14.0, 120.0], 1, &steps);
        for at in [0.0, 0.5, 1.0] {
            let text = number((1.0 - at) * full);
            self.text([x + 20.0, y + 4.0 + at * 120.0], "m", "start", text);
        }
        self.text([x, y + 142.0], "m", "start", name);
    }

    /// The drawing as it stands in a page, its style being there already.
    pub(crate) fn inline(&self, name: &str, title: &str, alt: &str) -> String {
        let (width, height) = (n(self.width), n(self.height));
        format!(
            "<svg class=\"fig\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"{name}-t {name}-d\"><title id=\"{name}-t\">{}</title><desc id=\"{name}-d\">{}</desc>{}</svg>",
            escape(title),
            escape(alt),
            self.body
        )
    }

    /// The drawing as a file of its own.
    pub fn alone(&self, name: &str, title: &str, alt: &str) -> String {
        let [width, height] = [self.width, self.height].map(n);
        let style = template::style_alone();
        let ground = format!(
            "<style>{style}</style><rect width=\"{width}\" height=\"{height}\" class=\"bg\"/>"
        );
        let inline = self.inline(name, title, alt);
        let inline = inline.replacen("</desc>", &format!("</desc>{ground}"), 1);
        let namespace = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
        format!("{}\n", inline.replacen("<svg ", namespace, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [1.0, -0.001, 2.346, 1e6].map(n),
            ["1", "0", "2.35", "1000000"]
        );
    }

    #[test]
    fn a_drawing_says_what_it_is() {
        let mut svg = Svg::new(10.0, 5.0);
        svg.text([1.0, 2.0], "t", "start", "<&>");
        let text = svg.alone("x", "A \"title\"", "What it shows");
        assert!(text.starts_with("<svg xmlns="), "{text}");
        assert!(text.contains("<title id=\"x-t\">A &quot;title&quot;</title>"));
        assert!(text.contains("&lt;&amp;&gt;"));
    }
}
