//! The Nemenyi test on mean ranks and its critical difference diagram (Demšar 2006).

use partita_report::Svg;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Share of false alarms.
const ALPHA: f64 = 0.05;
/// Where the axis of the diagram begins, how long it is, and the height of a line of text.
const LEFT: f64 = 190.0;
const WIDTH: f64 = 520.0;
const LINE: f64 = 18.0;

/// Ranks (1 = best, ties share their mean rank) of scores where more is better.
pub(super) fn ranks(scores: &[f64]) -> Vec<f64> {
    let rank = |score: f64| {
        let better = scores.iter().filter(|other| **other > score).count() as f64;
        let equal = scores.iter().filter(|other| **other == score).count() as f64;
        better + 0.5 * (equal + 1.0)
    };
    scores.iter().map(|&score| rank(score)).collect()
}

/// Mean ranks of `methods` over `blocks` that differ by less cannot be told apart at the 5 % level.
pub(super) fn critical_difference(methods: usize, blocks: usize) -> f64 {
    let k = methods as f64;
    let n = blocks as f64;
    studentised_range(methods) / 2.0_f64.sqrt() * (k * (k + 1.0) / (6.0 * n)).sqrt()
}

/// Upper 5 % point of the range of so many standard normal values.
fn studentised_range(groups: usize) -> f64 {
    let mut low = 0.0;
    let mut high = 20.0;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if range_below(groups, middle) < 1.0 - ALPHA {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Probability that so many standard normal values lie within `q` of each other: k ∫ φ(z) (Φ(z) − Φ(z − q))^(k−1) dz.
fn range_below(groups: usize, q: f64) -> f64 {
    let normal = Normal::standard();
    let step = 0.01;
    let value =
        |z: f64| normal.pdf(z) * (normal.cdf(z) - normal.cdf(z - q)).powi(groups as i32 - 1);
    groups as f64
        * step
        * (-800..=1600)
            .map(|place| value(f64::from(place) * step))
            .sum::<f64>()
}

/// Demšar's critical difference diagram: methods on an axis of mean ranks, bars over those that cannot be told apart.
pub(super) fn diagram(title: &str, mean_ranks: &[(String, f64)], difference: f64) -> String {
    let mut sorted = mean_ranks.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    let most = sorted.len() as f64;
    let half = sorted.len().div_ceil(2);
    let x = |rank: f64| LEFT + (rank - 1.0) / (most - 1.0).max(1.0) * WIDTH;
    let bars = bars(&sorted, difference);
    let axis = 64.0 + 7.0 * bars.len() as f64;
    let mut svg = Svg::new(900.0, axis + 24.0 + LINE * half as f64);
    let alt = format!(
        "mean rank, best on the left; bars join what cannot be told apart (CD {difference:.2})"
    );
    svg.text([LEFT, 18.0], "t", "start", format!("{title}: {alt}"));
    svg.line([LEFT, 34.0, x(1.0 + difference), 34.0], "ln il");
    for (place, (first, last)) in bars.iter().enumerate() {
        let y = 48.0 + 7.0 * place as f64;
        svg.path(
            &format!("M{:.1} {y}H{:.1}", x(*first) - 3.0, x(*last) + 3.0),
            "class=\"al\" stroke-width=\"4\"",
        );
    }
    svg.line([LEFT, axis, LEFT + WIDTH, axis], "ax");
    for (place, (name, rank)) in sorted.iter().enumerate() {
        let right = place >= half;
        let row = if right {
            sorted.len() - 1 - place
        } else {
            place
        };
        let (y, end) = (
            axis + 20.0 + LINE * row as f64,
            if right {
                LEFT + WIDTH + 8.0
            } else {
                LEFT - 8.0
            },
        );
        let (anchor, shift) = if right { ("start", 4.0) } else { ("end", -4.0) };
        svg.path(
            &format!("M{:.1} {axis}V{y}H{end}", x(*rank)),
            "class=\"ax\"",
        );
        svg.text(
            [end + shift, y + 4.0],
            "t",
            anchor,
            format!("{name} {rank:.1}"),
        );
    }
    svg.alone("ranks", title, &alt)
}

/// Longest runs of methods whose ranks differ by less than the critical difference, from first to last rank.
fn bars(sorted: &[(String, f64)], difference: f64) -> Vec<(f64, f64)> {
    let mut bars: Vec<(usize, usize)> = Vec::new();
    for first in 0..sorted.len() {
        let last = sorted.partition_point(|(_, rank)| *rank <= sorted[first].1 + difference) - 1;
        if last > first && bars.last().is_none_or(|&(_, end)| last > end) {
            bars.push((first, last));
        }
    }
    bars.into_iter()
        .map(|(first, last)| (sorted[first].1, sorted[last].1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_demsar() {
        // Demšar (2006), Table 5a: q / √2 at the 5 % level.
        for (methods, q) in [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)] {
            let ours = studentised_range(methods) / 2.0_f64.sqrt();
            assert!((ours - q).abs() < 2e-3, "{methods}: {ours}");
        }
        assert!((critical_difference(4, 14) - 1.25).abs() < 0.01);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn bars_join_what_is_near() {
        let ranks = [("a", 1.0), ("b", 1.5), ("c", 2.5), ("d", 4.0)]
            .map(|(name, rank)| (name.to_owned(), rank));
        assert_eq!(bars(&ranks, 1.0), [(1.0, 1.5), (1.5, 2.5)]);
        let svg = diagram("H", &ranks, 1.0);
        assert!(svg.starts_with("<svg") && svg.contains("d 4.0"));
    }
}
