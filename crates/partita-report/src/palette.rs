//! Colours, shapes and hatchings, and the style sheet that figures share.
//!
//! Clusters take the colours of Okabe and Ito, which people with any colour vision tell apart, in a light and a dark
//! reading; and a shape and a hatching, so that no figure depends on colour. Seven shapes and eight colours differ for
//! 56 clusters before both repeat.

use std::fmt::Write as _;

/// Colours of clusters on light ground; yellow is darker than published, to be seen on white.
const LIGHT: [&str; 8] = ["#0072b2", "#e08e00", "#009e73", "#d55e00", "#b8609a", "#3a9bd9", "#b3a100", "#5b6470"];

/// Colours of clusters on dark ground.
const DARK: [&str; 8] = ["#4aa8e8", "#f0ad33", "#2fc79b", "#ff8a4c", "#e39cc6", "#8fd0f7", "#ece24f", "#b9c2cc"];

/// Colours of cluster numbers that differ.
pub(crate) const COLOURS: usize = LIGHT.len();

/// Shapes and hatchings that differ.
pub(crate) const SHAPES: usize = 7;

/// Markers around (0, 0), about 8 units wide and alike in area.
const MARKERS: [&str; SHAPES] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.8L4.6 3.4H-4.6z",
    "M0-5.2L4.4 0L0 5.2L-4.4 0z",
    "M-1.5-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z",
    "M0 4.8L4.6-3.4H-4.6z",
    "M-4.9-1.7L-1.5-1.7L0-5L1.5-1.7L4.9-1.7L2.2.7L3.1 4.3L0 2.2L-3.1 4.3L-2.2.7z",
];

/// Lines of the hatchings in a tile of 8 × 8; the first cluster has none.
const HATCHES: [&str; SHAPES] = [
    "",
    "M-1 9L9-1M-1 1L1-1M7 9L9 7",
    "M2 2h2v2h-2zM6 6h2v2h-2z",
    "M-1-1L9 9M-1 7L1 9M7-1L9 1",
    "M0 4H8",
    "M4 0V8",
    "M0 4H8M4 0V8",
];

/// The path of a cluster's marker.
pub(crate) fn marker(cluster: usize) -> &'static str {
    MARKERS[cluster % SHAPES]
}

/// Definitions of the hatchings, their ids starting with `prefix`.
pub(crate) fn hatches(prefix: &str) -> String {
    let mut defs = String::new();
    for (at, lines) in HATCHES.iter().enumerate().skip(1) {
        let _ = write!(
            defs,
            "<pattern id=\"{prefix}-h{at}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
             <path class=\"ha\" d=\"{lines}\"/></pattern>"
        );
    }
    defs
}

/// The hatching laid over a cluster's colour, where it has one.
pub(crate) fn hatch(prefix: &str, cluster: usize) -> Option<String> {
    let at = cluster % SHAPES;
    (at > 0).then(|| format!("fill=\"url(#{prefix}-h{at})\""))
}

/// Style of a figure's classes in one theme; every rule starts with `under`.
fn theme(under: &str, dark: bool) -> String {
    let [ink, soft, line, ground, accent, second] = if dark {
        ["#e8eaed", "#a9b1bb", "#3c434c", "#1b1f24", "#4aa8e8", "#f0ad33"]
    } else {
        ["#1d2126", "#5a636e", "#d5dae0", "#ffffff", "#0072b2", "#c26a00"]
    };
    let mut css = String::new();
    let mut rule = |name: &str, body: &str| {
        let _ = write!(css, "{under}.{name}{{{body}}}");
    };
    rule("t", &format!("fill:{ink}"));
    rule("m", &format!("fill:{soft}"));
    rule("g", &format!("stroke:{line}"));
    rule("ax", &format!("stroke:{soft}"));
    rule("bg", &format!("fill:{ground}"));
    rule("gf", &format!("fill:{line}"));
    rule("a", &format!("fill:{accent}"));
    rule("al", &format!("stroke:{accent}"));
    rule("b", &format!("fill:{second}"));
    rule("bl", &format!("stroke:{second}"));
    rule("il", &format!("stroke:{ink}"));
    rule("rim", &format!("stroke:{ground}"));
    rule("ring", &format!("stroke:{ink}"));
    rule("halo", &format!("stroke:{ground}"));
    rule("on", if dark { "fill:#0d1013" } else { "fill:#ffffff" });
    // Shades are one file for both themes: a brighter blue is seen on dark ground.
    rule("px", if dark { "filter:brightness(1.55)" } else { "filter:none" });
    rule("ha", &format!("stroke:{ground};fill:{ground}"));
    for (at, colour) in if dark { DARK } else { LIGHT }.iter().enumerate() {
        rule(&format!("k{at}"), &format!("fill:{colour}"));
        rule(&format!("l{at}"), &format!("stroke:{colour}"));
    }
    css
}

/// What does not depend on the theme.
const SHARED: &str = ".fig text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",sans-serif;\
    font-size:12px}.fig .big{font-size:13px;font-weight:600}.fig .ln{fill:none;stroke-width:2;stroke-linejoin:round;\
    stroke-linecap:round}.fig .g,.fig .ax{stroke-width:1;fill:none}.fig .il{fill:none}.fig .ha{stroke-width:1.4;opacity:.55}\
    .fig .rim{stroke-width:.7}.fig .ring{fill:none;stroke-width:2.5}\
    .fig .o3{opacity:.3}.fig .o4{opacity:.4}.fig .o5{opacity:.5}.fig .o6{opacity:.6}.fig .o7{opacity:.7}\
    .fig .o8{opacity:.8}.fig .o9{opacity:.9}.fig .px{image-rendering:pixelated}.fig .dash{stroke-dasharray:5 4}.fig .halo{paint-order:stroke;stroke-width:3px;\
    stroke-linejoin:round}";

/// Style of a figure that stands alone: it follows the reader's theme.
pub(crate) fn alone() -> String {
    let (light, dark) = (theme(".fig ", false), theme(".fig ", true));
    format!("{SHARED}{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

/// Style of the figures of a page, where `data-theme` on the root may say otherwise. Paper is light.
pub(crate) fn on_page() -> String {
    let (light, chosen) = (theme(".fig ", false), theme("[data-theme=dark] .fig ", true));
    let followed = theme(":root:not([data-theme=light]) .fig ", true);
    format!("{SHARED}{light}@media screen{{{chosen}}}@media screen and (prefers-color-scheme:dark){{{followed}}}")
}
