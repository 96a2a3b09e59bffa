//! Colours, shapes and hatchings, and the style sheet that figures share.
//!
//! The first eight clusters take the colours of Okabe and Ito, which people with any colour vision tell apart, in a light and a
//! dark reading. Twenty-two more were added one by one, each as far as possible from all before in OKLab, also as people without
//! red or green cones see them, in both readings. Shapes and hatchings go with them, so that no figure depends on colour:
//! seven shapes and 30 colours differ for 210 clusters before both repeat.

/// Colours of clusters on light ground; yellow is darker than published, to be seen on white.
pub(crate) const LIGHT: [&str; 30] = [
    "#0072b2", "#e08e00", "#009e73", "#d55e00", "#b8609a", "#3a9bd9", "#b3a100", "#5b6470",
    "#6e066e", "#653304", "#28309a", "#980b40", "#8faa8e", "#27534d", "#a89abb", "#5d457b",
    "#878c49", "#546d32", "#4d47b6", "#20b561", "#a26053", "#834791", "#615201", "#812e64",
    "#4a2e7e", "#49920f", "#771735", "#ac847c", "#6c9a92", "#5f2e54",
];

/// Colours of clusters on dark ground.
pub(crate) const DARK: [&str; 30] = [
    "#4aa8e8", "#f0ad33", "#2fc79b", "#ff8a4c", "#e39cc6", "#8fd0f7", "#ece24f", "#b9c2cc",
    "#b158b0", "#a97249", "#6076de", "#df617e", "#ceebcd", "#66938c", "#e8dafd", "#9d83be",
    "#c7cc88", "#92ad70", "#888bfa", "#7df6a3", "#e89f90", "#c686d5", "#a1914e", "#c86ea5",
    "#886ec4", "#8cd467", "#bf5b71", "#eec4bb", "#abdad3", "#a26b95",
];

/// Colours of cluster numbers that differ.
pub(crate) const COLOURS: usize = LIGHT.len();

/// Shapes and hatchings that differ.
pub(crate) const SHAPES: usize = 7;

/// Markers around (0, 0), about 8 units wide and alike in area.
pub(crate) const MARKERS: [&str; SHAPES] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.8L4.6 3.4H-4.6z",
    "M0-5.2L4.4 0L0 5.2L-4.4 0z",
    "M-1.5-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z",
    "M0 4.8L4.6-3.4H-4.6z",
    "M-4.9-1.7L-1.5-1.7L0-5L1.5-1.7L4.9-1.7L2.2.7L3.1 4.3L0 2.2L-3.1 4.3L-2.2.7z",
];

/// Lines of the hatchings in a tile of 8 × 8; the first cluster has none.
pub(crate) const HATCHES: [&str; SHAPES] = [
    "",
    "M-1 9L9-1M-1 1L1-1M7 9L9 7",
    "M2 2h2v2h-2zM6 6h2v2h-2z",
    "M-1-1L9 9M-1 7L1 9M7-1L9 1",
    "M0 4H8",
    "M4 0V8",
    "M0 4H8M4 0V8",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A colour in OKLab, where distances are about as people see them.
    fn oklab(hex: &str) -> [f64; 3] {
        let channel = |at: usize| {
            let x = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if x <= 0.040_45 {
                x / 12.92
            } else {
                ((x + 0.055) / 1.055).powf(2.4)
            }
        };
        let [r, g, b] = [1, 3, 5].map(channel);
        let l = (0.412_221 * r + 0.536_333 * g + 0.051_446 * b).cbrt();
        let m = (0.211_903 * r + 0.680_700 * g + 0.107_397 * b).cbrt();
        let s = (0.088_302 * r + 0.281_719 * g + 0.629_979 * b).cbrt();
        [
            0.210_454 * l + 0.793_618 * m - 0.004_072 * s,
            1.977_998 * l - 2.428_592 * m + 0.450_594 * s,
            0.025_904 * l + 0.782_772 * m - 0.808_676 * s,
        ]
    }

    #[test]
    fn every_two_colours_differ_in_both_themes() {
        for colours in [LIGHT, DARK] {
            let lab = colours.map(oklab);
            for (a, b) in (0..COLOURS).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let squares = [0, 1, 2].map(|i| (lab[a][i] - lab[b][i]).powi(2));
                let apart = squares.iter().sum::<f64>().sqrt();
                assert!(
                    apart > 0.06,
                    "{} and {}: {apart:.3}",
                    colours[a],
                    colours[b]
                );
            }
        }
    }

    #[test]
    fn clusters_that_share_a_colour_differ_in_shape() {
        for cluster in 0..COLOURS * (SHAPES - 1) {
            assert_ne!(cluster % SHAPES, (cluster + COLOURS) % SHAPES);
        }
    }
}
