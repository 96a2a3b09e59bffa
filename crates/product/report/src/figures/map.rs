//! Figure: map of the objects in the plane.

use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt::Write as _;

use minijinja::{Value, context};
use partita_core::Ensemble;
use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use partita_core::{Features, Seed};
use partita_spectral::{Eigenpairs, LanczosSettings, lanczos};

use super::Plot;
use super::tsne::{FEWEST, tsne};
use crate::Report;
use crate::axes::Scale;
use crate::clusters::rank;
use crate::record::Record;
use crate::svg::{Svg, colour};
use crate::text::{cut, field, percent};

/// Points on a map at most.
pub(super) const POINTS: usize = 1_200;

/// Columns above which principal components stand for them.
const WIDE: usize = 50;

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

/// The objects in the plane by the columns of the table: near each other where they are alike. A table of two columns is such a plane already.
pub(super) fn table(report: &Report<'_>, table: &Features<'_>, sample: &[u32]) -> Option<Plot> {
    let rows: Vec<usize> = sample.iter().map(|&i| i as usize).collect();
    let mut values = table.values().select(Axis(0), &rows);
    let record = Record::of(&report.record);
    let scaled = record.scale() != Some("none");
    centre(&mut values, scaled, record.scale() == Some("mixed"));
    let total: f64 = values.iter().map(|x| x * x).sum();
    if total <= 0.0 {
        return None;
    }
    let components = principal(&values)?;
    let axes = components.values.len().min(2);
    let shares = [0, 1].map(|axis| {
        components
            .values
            .get(axis)
            .map_or(0.0, |value| value / total)
    });
    let all = values.dot(&components.vectors);
    let mut places = Array2::zeros((sample.len(), 2));
    places
        .slice_mut(s![.., ..axes])
        .assign(&all.slice(s![.., ..axes]));
    let near = values.ncols() > 2 && sample.len() >= FEWEST;
    let mut names = None;
    if near {
        let of = if all.ncols() > 2 { &all } else { &values };
        places = tsne(&squares(of), &places);
    } else {
        let name = |axis: usize| {
            let share = percent(shares[axis]);
            format!("component {} ({share} of the variance)", axis + 1)
        };
        names = Some([name(0), name(1)]);
    }
    let facts = context! {
        near, share => shares[0] + shares[1], scaled, mixed => record.scale() == Some("mixed"), points => sample.len(),
    };
    Some(scatter(report, sample, &places, "map-table", names, facts))
}

/// The directions in which the rows differ most: two, or so many of wide tables that these stand for all columns.
fn principal(values: &Array2<f64>) -> Option<Eigenpairs> {
    let columns = values.ncols();
    let mut apply = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
        y.assign(&values.t().dot(&values.dot(&x)));
    };
    let wide = columns > WIDE;
    let of_wide = wide.then(|| largest(columns, WIDE, &mut apply)).flatten();
    of_wide.or_else(|| largest(columns, columns.min(2), &mut apply))
}

/// The share of the base clusterings that part two objects, of those that label both; some base clusterings of many.
fn disagreements(ensemble: &Ensemble) -> Array2<f64> {
    let n = ensemble.objects();
    let step = ensemble.bases().len().div_ceil(200);
    let bases: Vec<usize> = (0..ensemble.bases().len()).step_by(step.max(1)).collect();
    let row = |i: usize| -> Vec<u32> {
        let label = |&u: &usize| ensemble.label(i, u).map_or(u32::MAX, |label| label as u32);
        bases.iter().map(label).collect()
    };
    let rows: Vec<Vec<u32>> = (0..n).map(row).collect();
    Array2::from_shape_fn((n, n), |(i, j)| {
        let pairs = rows[i].iter().zip(&rows[j]);
        let known = pairs.filter(|(a, b)| **a != u32::MAX && **b != u32::MAX);
        let (mut all, mut apart) = (0u32, 0u32);
        for (a, b) in known {
            all += 1;
            apart += u32::from(a != b);
        }
        f64::from(apart) / f64::from(all.max(1))
    })
}

/// Squared distances of every two rows.
fn squares(values: &Array2<f64>) -> Array2<f64> {
    let norms: Vec<f64> = values.outer_iter().map(|row| row.dot(&row)).collect();
    let mut squares = values.dot(&values.t());
    for ((i, j), square) in squares.indexed_iter_mut() {
        *square = norms[i] + norms[j] - 2.0 * *square;
    }
    squares
}

/// Around 0, and to standard deviation 1 where columns are scaled; those of two values to 1/√2 between them where that is the scaling.
fn centre(values: &mut Array2<f64>, scaled: bool, mixed: bool) {
    for mut column in values.axis_iter_mut(Axis(1)) {
        let low = column.fold(f64::INFINITY, |low, &x| low.min(x));
        let high = column.fold(f64::NEG_INFINITY, |high, &x| high.max(x));
        if mixed && low < high && column.iter().all(|&x| x == low || x == high) {
            let share = column.iter().filter(|&&x| x == high).count() as f64 / column.len() as f64;
            column.mapv_inplace(|x| (f64::from(x == high) - share) * FRAC_1_SQRT_2);
            continue;
        }
        let mean = column.mean().unwrap_or(0.0);
        column.mapv_inplace(|x| x - mean);
        let deviation = (column.dot(&column) / column.len() as f64).sqrt();
        if scaled && deviation > 1e-12 * mean.abs().max(1e-300) {
            column.mapv_inplace(|x| x / deviation);
        }
    }
}

/// The objects in the plane by the evidence: near each other where they share base clusters. It starts from a spectral embedding.
///
/// ```text
/// B: objects × base clusters, 1 where an object is in a cluster;  Z = D_r^-1/2 B D_c^-1/2
/// coordinates: second and third eigenvectors of Z Zᵀ, each divided by the root of the object's labels
/// ```
pub(super) fn evidence(report: &Report<'_>, ensemble: &Ensemble, sample: &[u32]) -> Option<Plot> {
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
    let ensemble = &ensemble.select(sample, &bases);
    let places = embedding(ensemble)?;
    let mut places = apart(ensemble, &places);
    let near = sample.len() >= FEWEST;
    let mut names = None;
    if near {
        places = tsne(&disagreements(ensemble), &places);
    } else {
        names = Some(["second eigenvector", "third eigenvector"].map(str::to_owned));
    }
    let facts = context! { near, points => sample.len() };
    Some(scatter(
        report,
        sample,
        &places,
        "map-evidence",
        names,
        facts,
    ))
}

fn embedding(ensemble: &Ensemble) -> Option<Array2<f64>> {
    let (n, bases) = (ensemble.objects(), ensemble.bases().len());
    let offsets = ensemble.offsets();
    if n < 3 {
        return None;
    }
    let base_cluster = |i: usize, u: usize| Some(offsets[u] + ensemble.label(i, u)?);
    let row = |i: usize| (0..bases).filter_map(|u| base_cluster(i, u)).collect();
    let rows: Vec<Vec<usize>> = (0..n).map(row).collect();
    let mut sizes = vec![0.0f64; offsets[bases]];
    rows.iter().flatten().for_each(|&j| sizes[j] += 1.0);
    let root = |row: &Vec<usize>| (row.len() as f64).sqrt().max(1.0);
    let root: Vec<f64> = rows.iter().map(root).collect();
    let apply = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
        // Rows of a few numbers: plain slices are several times quicker than views.
        let width = x.ncols();
        let x: Vec<f64> = x.iter().copied().collect();
        let mut sums = vec![0.0; sizes.len() * width];
        for (i, row) in rows.iter().enumerate() {
            for &j in row {
                let into = &mut sums[j * width..(j + 1) * width];
                add(into, &x[i * width..(i + 1) * width], 1.0 / root[i]);
            }
        }
        for (sum, &size) in sums.chunks_mut(width).zip(&sizes) {
            sum.iter_mut().for_each(|sum| *sum /= size.max(1.0));
        }
        for (i, row) in rows.iter().enumerate() {
            let mut into = vec![0.0; width];
            for &j in row {
                add(&mut into, &sums[j * width..(j + 1) * width], 1.0 / root[i]);
            }
            y.row_mut(i).assign(&ArrayView1::from(&into));
        }
    };
    let pairs = largest(n, 3, apply)?;
    let mut places = pairs.vectors.slice(s![.., 1..]).to_owned();
    for (mut place, root) in places.outer_iter_mut().zip(&root) {
        place /= *root;
    }
    Some(places)
}

/// Adds so many times some numbers to others.
fn add(into: &mut [f64], from: &[f64], times: f64) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += times * from;
    }
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
    name: &'static str,
    names: Option<[String; 2]>,
    facts: Value,
) -> Plot {
    let (width, height) = (520.0, 440.0);
    let mut svg = Svg::new(width, height);
    // Room for the names of the axes, where they have some.
    let beside = if names.is_some() { 30.0 } else { 8.0 };
    let x = Scale::over(
        places.column(0).iter().copied(),
        beside + 6.0,
        width - 14.0,
        0.03,
    );
    let y = Scale::over(
        places.column(1).iter().copied(),
        height - beside - 6.0,
        14.0,
        0.03,
    );
    let frame = [beside, 8.0, width - beside - 8.0, height - beside - 8.0];
    svg.rect(frame, "g");
    if let Some([across, up]) = names {
        svg.text([0.5 * width + 11.0, height - 10.0], "m", "middle", across);
        svg.upwards([18.0, 0.5 * height - 11.0], "m", &up);
    }
    // Those most agreed on first, so that doubtful objects lie on top of them.
    let sure = |at: usize| report.agreement[sample[at] as usize].clamp(0.0, 1.0);
    let mut order: Vec<usize> = (0..sample.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(rank(sure(at))), at));
    svg.stamps(name, if sample.len() > 1_000 { 0.7 } else { 0.95 });
    let mut points = Vec::with_capacity(sample.len());
    let mut csv = "object,x,y,cluster,agreement\n".to_owned();
    for at in order {
        let (object, sure) = (sample[at], sure(at));
        let label = report.partition.labels()[object as usize] as usize;
        let [across, up] = [places[[at, 0]], places[[at, 1]]];
        let (x, y) = (x.at(across), y.at(up));
        let opacity = ((0.25 + 0.65 * sure) * 10.0).round();
        let class = format!("{} o{opacity}", colour(label));
        svg.stamp(name, label, [x, y], &class);
        points.push((x, y, object));
        let name = field(&cut(&report.name(object as usize), 200));
        let _ = writeln!(csv, "{name},{across},{up},{label},{sure}");
    }
    svg.raw("<circle class=\"ring\" r=\"9\" visibility=\"hidden\"/>");
    Plot {
        points,
        ..Plot::new(name, svg, csv, facts)
    }
}
