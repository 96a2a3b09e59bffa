//! Axes, scales and frames of plots.

use std::fmt::Write as _;

use crate::svg::{Svg, n};
use crate::text::tick as short;

/// A range of values laid on a range of pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Scale {
    /// A scale over these values with a little margin, or over 0..1 where they have no extent.
    pub(crate) fn over(values: impl Iterator<Item = f64>, from: f64, to: f64, margin: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.filter(|x| x.is_finite()) {
            (low, high) = (low.min(x), high.max(x));
        }
        match high - low {
            extent if !extent.is_finite() => (low, high) = (0.0, 1.0),
            extent if extent <= 1e-12 * high.abs().max(1e-300) => {
                (low, high) = (low - 0.5, high + 0.5);
            }
            extent => (low, high) = (low - margin * extent, high + margin * extent),
        }
        Self {
            low,
            high,
            from,
            to,
        }
    }

    /// The pixel of a value.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.from + (x - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round values in the range, about `wanted` of them.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
        let step = steps.into_iter().find(|&step| step >= rough * 0.999);
        let step = step.unwrap_or(rough);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let tick = |at: i64| (at as f64 * step * 1e12).round() / 1e12;
        (first..=last).map(tick).collect()
    }
}

/// The area of a plot: pixels from left, top to right, bottom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    /// A drawing of this size with room for axes.
    pub(crate) fn new(width: f64, height: f64) -> (Svg, Self) {
        let frame = Self {
            left: 70.0,
            top: 14.0,
            right: width - 16.0,
            bottom: height - 46.0,
        };
        (Svg::new(width, height), frame)
    }

    pub(crate) fn x(&self, low: f64, high: f64) -> Scale {
        Scale::over([low, high].into_iter(), self.left, self.right, 0.0)
    }

    pub(crate) fn y(&self, low: f64, high: f64) -> Scale {
        Scale::over([low, high].into_iter(), self.bottom, self.top, 0.0)
    }

    /// Room on the left for the numbers of a vertical axis beside its name.
    pub(crate) fn make_room(&mut self, y: &Scale, write: fn(f64) -> String) {
        let ticks = y.ticks(5).into_iter();
        let longest = ticks.map(|tick| write(tick).chars().count()).max();
        self.left = self.left.max(32.0 + 7.0 * longest.unwrap_or(0) as f64);
    }

    /// Lines and numbers of the vertical axis, and its name.
    pub(crate) fn draw_y(&self, svg: &mut Svg, y: &Scale, name: &str, write: fn(f64) -> String) {
        for tick in y.ticks(5) {
            let at = y.at(tick);
            svg.line([self.left, at, self.right, at], "g");
            svg.text([self.left - 7.0, at + 4.0], "m", "end", write(tick));
        }
        svg.upwards([13.0, 0.5 * (self.top + self.bottom)], "m", name);
    }

    /// Line and numbers of the horizontal axis, and its name.
    pub(crate) fn draw_x(&self, svg: &mut Svg, x: &Scale, name: &str, ticks: &[f64]) {
        let bottom = self.bottom;
        svg.line([self.left, bottom, self.right, bottom], "ax");
        for &tick in ticks {
            let at = x.at(tick);
            svg.line([at, bottom, at, bottom + 4.0], "ax");
            svg.text([at, bottom + 18.0], "m", "middle", short(tick));
        }
        let middle = 0.5 * (self.left + self.right);
        svg.text([middle, bottom + 38.0], "m", "middle", name);
    }
}

/// Rising places along a line, at which labels have to be a distance apart.
pub(crate) struct Spacing {
    least: f64,
    last: f64,
}

impl Spacing {
    pub(crate) fn new(least: f64) -> Self {
        let last = f64::NEG_INFINITY;
        Self { least, last }
    }

    /// Whether there is room for a label at this place, which is taken then.
    pub(crate) fn fits(&mut self, place: f64) -> bool {
        let fits = place - self.last >= self.least;
        if fits {
            self.last = place;
        }
        fits
    }
}

/// The path of a line through these pixels; it is interrupted where a number is missing.
pub(crate) fn polyline(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut d = String::new();
    let mut pen = false;
    for [x, y] in points {
        let there = x.is_finite() && y.is_finite();
        if there {
            let _ = write!(d, "{}{} {}", if pen { "L" } else { "M" }, n(x), n(y));
        }
        pen = there;
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let mut scale = Scale::over([0.0, 1.0].into_iter(), 0.0, 100.0, 0.0);
        assert_eq!(scale.ticks(5), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(scale.at(0.25), 25.0);
        (scale.low, scale.high) = (-3.0, 12.0);
        assert_eq!(scale.ticks(4), [0.0, 5.0, 10.0]);
        assert_eq!(Scale::over([2.0, 2.0].into_iter(), 0.0, 1.0, 0.1).low, 1.5);
        assert_eq!(Scale::over(std::iter::empty(), 0.0, 1.0, 0.1).high, 1.0);
    }

    #[test]
    fn lines_break_where_numbers_are_missing() {
        let line = polyline([[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0], [3.0, 3.5]]);
        assert_eq!(line, "M0 1M2 3L3 3.5");
    }
}
