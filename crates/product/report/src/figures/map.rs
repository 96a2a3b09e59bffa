//! Figure: map of the objects in the plane.

use std::fmt::Write as _;

use partita_core::Ensemble;
use partita_core::ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use partita_core::{Features, Seed};
use partita_spectral::{Eigenpairs, LanczosSettings, lanczos};

use crate::Report;
use crate::axes::Scale;
use crate::clusters::rank;
use crate::figure::{Drawn, Point};
use crate::palette::COLOURS;
use crate::svg::Svg;
use crate::text::{count, cut, field, percent};

/// Points on a map at most.
pub(crate) const POINTS: usize = 3_000;

/// Where chance starts; the map does not depend on it beyond rounding.
const SEED: Seed = Seed::new(0);

/// The largest eigenpairs, to as many digits as a picture needs; to fewer where those are slow to come.
fn largest(
    side: usize,
    wanted: usize,
    mut apply: impl FnMut(ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>),
) -> Option<Eigenpairs> {
    [1e-5, 1e-3].into_iter().find_map(|tolerance| {
        let mut settings = LanczosSettings::default();
        (settings.tolerance, settings.fallback_side) = (tolerance, 400);
        lanczos(side, wanted, &mut apply, SEED, &settings).ok()
    })
}

/// The two directions of the table in which the objects differ most.
pub(crate) fn principal(
    report: &Report<'_>,
    table: &Features<'_>,
    sample: &[u32],
) -> Option<Drawn> {
    let rows: Vec<usize> = sample.iter().map(|&i| i as usize).collect();
    let mut values = table.values().select(Axis(0), &rows);
    let scaled = report.record["recipe"]["scale"]
        .as_str()
        .is_none_or(|scale| scale != "none");
    centre(&mut values, scaled);
    let total: f64 = values.iter().map(|x| x * x).sum();
    if total <= 0.0 {
        return None;
    }
    let axes = values.ncols().min(2);
    let apply = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
        y.assign(&values.t().dot(&values.dot(&x)))
    };
    let pairs = largest(values.ncols(), axes, apply)?;
    let places = values.dot(&pairs.vectors);
    let share = |axis: usize| pairs.values.get(axis).map_or(0.0, |value| value / total);
    let names = [0, 1].map(|axis| {
        format!(
            "component {} ({} of the variance)",
            axis + 1,
            percent(share(axis))
        )
    });
    let alt = format!(
        "{} objects by the first two principal components of the table, which hold {} of its variance.",
        count(sample.len() as i64),
        percent(share(0) + share(1))
    );
    let scale = if scaled {
        "Columns scaled to standard deviation 1."
    } else {
        "Columns as they are."
    };
    let places = Array2::from_shape_fn((sample.len(), 2), |(i, axis)| {
        places.get([i, axis]).copied().unwrap_or(0.0)
    });
    Some(scatter(
        report,
        sample,
        &places,
        ("map-table", "Map of the table"),
        alt,
        names,
        scale,
    ))
}

fn centre(values: &mut Array2<f64>, scaled: bool) {
    for mut column in values.axis_iter_mut(Axis(1)) {
        let mean = column.mean().unwrap_or(0.0);
        column.mapv_inplace(|x| x - mean);
        let deviation = (column.dot(&column) / column.len() as f64).sqrt();
        if scaled && deviation > 1e-12 * mean.abs().max(1e-300) {
            column.mapv_inplace(|x| x / deviation);
        }
    }
}

/// A spectral embedding of the evidence: objects that share base clusters are near each other.
///
/// ```text
/// B: objects × base clusters, 1 where an object is in a cluster;  Z = D_r^-1/2 B D_c^-1/2
/// coordinates: second and third eigenvectors of Z Zᵀ, each divided by the root of the object's labels
/// ```
pub(crate) fn evidence(report: &Report<'_>, ensemble: &Ensemble, sample: &[u32]) -> Option<Drawn> {
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
    let ensemble = &ensemble.select(sample, &bases);
    let places = embedding(ensemble)?;
    let places = apart(ensemble, &places);
    let names = [
        "second eigenvector".to_owned(),
        "third eigenvector".to_owned(),
    ];
    let alt = format!(
        "{} objects by a spectral embedding of the evidence: objects that the base clusterings put together are near \
         each other.",
        count(sample.len() as i64)
    );
    let note = "Objects with the same labels in every base clustering are spread a little around one place.";
    Some(scatter(
        report,
        sample,
        &places,
        ("map-evidence", "Map of the evidence"),
        alt,
        names,
        note,
    ))
}

fn embedding(ensemble: &Ensemble) -> Option<Array2<f64>> {
    let (n, bases, offsets) = (
        ensemble.objects(),
        ensemble.bases().len(),
        ensemble.offsets(),
    );
    let rows: Vec<Vec<usize>> = (0..n)
        .map(|i| {
            (0..bases)
                .filter_map(|u| Some(offsets[u] + ensemble.label(i, u)?))
                .collect()
        })
        .collect();
    let mut sizes = vec![0.0f64; offsets[bases]];
    rows.iter().flatten().for_each(|&j| sizes[j] += 1.0);
    let root: Vec<f64> = rows
        .iter()
        .map(|row| (row.len() as f64).sqrt().max(1.0))
        .collect();
    let apply = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
        // Rows of a few numbers: plain slices are several times quicker than views.
        let width = x.ncols();
        let (x, mut sums): (Vec<f64>, _) =
            (x.iter().copied().collect(), vec![0.0; sizes.len() * width]);
        for (i, row) in rows.iter().enumerate() {
            for &j in row {
                let from = &x[i * width..(i + 1) * width];
                sums[j * width..(j + 1) * width]
                    .iter_mut()
                    .zip(from)
                    .for_each(|(sum, x)| *sum += x / root[i]);
            }
        }
        for (sum, &size) in sums.chunks_mut(width).zip(&sizes) {
            sum.iter_mut().for_each(|sum| *sum /= size.max(1.0));
        }
        let mut into = vec![0.0; width];
        for (i, row) in rows.iter().enumerate() {
            into.fill(0.0);
            for &j in row {
                into.iter_mut()
                    .zip(&sums[j * width..(j + 1) * width])
                    .for_each(|(to, sum)| *to += sum / root[i]);
            }
            y.row_mut(i)
                .iter_mut()
                .zip(&into)
                .for_each(|(y, &to)| *y = to);
        }
    };
    let wanted = n.min(3);
    let pairs = largest(n, wanted, apply)?;
    (wanted == 3).then(|| {
        let mut places = pairs.vectors.slice(s![.., 1..]).to_owned();
        for (mut place, root) in places.outer_iter_mut().zip(&root) {
            place /= *root;
        }
        places
    })
}

/// Spreads objects of identical rows over a small spiral.
fn apart(ensemble: &Ensemble, places: &Array2<f64>) -> Array2<f64> {
    let fragments = ensemble.fragments();
    let mut met = vec![0u32; fragments.weights().len()];
    let extent = |axis: usize| {
        let scale = Scale::over(places.column(axis).iter().copied(), 0.0, 1.0, 0.0);
        scale.high - scale.low
    };
    let extents = [extent(0), extent(1)];
    let mut spread = places.clone();
    for (i, &fragment) in fragments.of_object().iter().enumerate() {
        let at = f64::from(met[fragment as usize]);
        met[fragment as usize] += 1;
        // The golden angle fills a disc evenly.
        let (radius, turn) = (0.0035 * at.sqrt(), at * 2.399_963_229_728_653);
        spread[[i, 0]] += extents[0] * radius * turn.cos();
        spread[[i, 1]] += extents[1] * radius * turn.sin();
    }
    spread
}

fn scatter(
    report: &Report<'_>,
    sample: &[u32],
    places: &Array2<f64>,
    (name, title): (&'static str, &str),
    alt: String,
    [across, up]: [String; 2],
    note: &str,
) -> Drawn {
    let (width, height) = (520.0, 440.0);
    let mut svg = Svg::new(width, height);
    let x = Scale::over(places.column(0).iter().copied(), 36.0, width - 14.0, 0.03);
    let y = Scale::over(places.column(1).iter().copied(), height - 36.0, 14.0, 0.03);
    svg.rect_with([30.0, 8.0, width - 38.0, height - 38.0], "class=\"g\"");
    svg.text([0.5 * width + 11.0, height - 10.0], "m", "middle", &across);
    svg.upwards([18.0, 0.5 * height - 11.0], "m", &up);
    // The certain ones first, so that doubtful objects lie on top of them.
    let mut order: Vec<usize> = (0..sample.len()).collect();
    let sure = |at: usize| report.trust()[sample[at] as usize].clamp(0.0, 1.0);
    order.sort_by_key(|&at| (std::cmp::Reverse(rank(sure(at))), at));
    let size = if sample.len() > 1_000 { 0.7 } else { 0.95 };
    svg.stamps(name, size);
    let mut points = Vec::with_capacity(sample.len());
    let mut csv = format!("object,x,y,cluster,{}\n", report.trust_name());
    for at in order {
        let (object, label) = (
            sample[at],
            report.partition.labels()[sample[at] as usize] as usize,
        );
        let place = [x.at(places[[at, 0]]), y.at(places[[at, 1]])];
        let step = (0.25 + 0.65 * sure(at)) * 10.0;
        svg.stamp(
            name,
            label,
            place,
            &format!("k{} o{}", label % COLOURS, step.round()),
        );
        points.push(Point {
            x: place[0],
            y: place[1],
            object,
        });
        let name = field(&cut(&report.name(object as usize), 200));
        let _ = writeln!(
            csv,
            "{name},{},{},{label},{}",
            places[[at, 0]],
            places[[at, 1]],
            sure(at)
        );
    }
    svg.raw("<circle class=\"ring\" r=\"9\" visibility=\"hidden\"/>");
    let sampled = if sample.len() < report.n() {
        format!(
            " {} of {} objects, in proportion to the clusters.",
            count(sample.len() as i64),
            count(report.n() as i64)
        )
    } else {
        String::new()
    };
    let note = format!(
        "{note}{sampled} Pale objects have a smaller {}.",
        report.trust_name()
    );
    Drawn {
        name,
        title: title.to_owned(),
        alt,
        svg,
        csv,
        note,
        points,
    }
}
