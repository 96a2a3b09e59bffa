//! How many answers an ensemble holds, and which: modes by least description length.

use partita_core::ndarray::{Array2, Axis};
use partita_core::{Dendrogram, Ensemble, Flow, Monitor, Partition, SoftPartition};
use partita_linkage::{Linkage, cut, link};
use partita_metrics::matching;
use rayon::prelude::*;

use crate::ModesError;
use crate::description_length::LnFactorials;
use crate::label_counts::LabelCounts;
use crate::label_matrix::LabelMatrix;

/// More modes are not looked for.
pub const MOST_MODES: usize = 10;

/// Distinct label rows that the number of modes is found on; larger ensembles are thinned evenly.
const ROWS: usize = 20_000;

/// Base clusterings that the tree is made of; others join the mode that they fit best.
const BASES: usize = 500;

/// Sweeps of moves between modes.
const SWEEPS: usize = 20;

/// One answer of an ensemble.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mode {
    /// Its base clusterings, ascending.
    pub members: Vec<usize>,
    /// Its share of all base clusterings.
    pub share: f64,
    /// The consensus of its members: the label that most of them give, after alignment. Clusters are in the order of those of
    /// the first mode that they match, the others by size.
    pub partition: Partition,
    /// The share of its members that give each label, n × B.
    pub soft: SoftPartition,
    /// Σ over objects of the entropy of (n_ir + 1) / (n_i + B), in nats: how much its members differ.
    pub spread: f64,
}

/// The answers of an ensemble, the largest share first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Modes {
    /// One or more.
    pub modes: Vec<Mode>,
    /// Description length of the ensemble by these modes, in nats.
    pub description_length: f64,
    /// The least description length with 1, 2, … modes that was found, on the rows that were looked at.
    pub by_number: Vec<f64>,
    /// Distinct label rows that the number of modes was found on.
    pub rows_looked_at: usize,
    /// How much the modes differ on every object: 1 − Σ_r min over modes of their shares of label r; 0 for one mode.
    pub disagreement: Vec<f64>,
}

/// Finds the modes of an ensemble: groups of base clusterings, each aligned and counted, which together describe all labels
/// in the fewest nats. One mode means that base clusterings are noisy copies of one answer.
///
/// Starts are cuts of the average-link tree of base clusterings under the variation of information, and unions of the two modes of
/// one more that are described best as one; then single base clusterings move between modes while that shortens the
/// description. No random numbers.
///
/// # Errors
/// [`ModesError::Interrupted`].
///
/// # Cost
/// O(M² n) for the distances of min(M, 500) base clusterings, then a few sweeps of O(R² M n B), for R up to
/// min([`MOST_MODES`], M / 2); n is at most 20,000 distinct rows until the modes are written out.
///
/// # References
/// T. P. Peixoto, *Revealing consensus and dissensus between network partitions*, Physical Review X 11, 021003 (2021).
#[doc(alias = "label switching")]
pub fn find_modes(ensemble: &Ensemble, monitor: &dyn Monitor) -> Result<Modes, ModesError> {
    let fragments = ensemble.fragments();
    let all = LabelMatrix::new(fragments.ensemble(), fragments.weights());
    let data = all.thinned(ROWS);
    let factorials = LnFactorials::new(data.bases(), data.clusters.iter().sum::<usize>() + 1);
    let tree = tree(&data, monitor)?;
    let most = (data.bases() / 2).clamp(1, MOST_MODES);
    let cuts = (1..=most).into_par_iter().map(|number| {
        if monitor.tick(number as u64 - 1, most as u64) == Flow::Stop {
            return None;
        }
        let start = start(&data, &tree, number, &factorials, monitor);
        Some(search(&data, start, &factorials, monitor))
    });
    let cuts: Vec<Option<Division>> = cuts.collect();
    let found = cuts.into_iter().collect::<Option<Vec<Division>>>();
    let mut found = found.ok_or(ModesError::Interrupted)?;
    // Base clusterings with many clusters are far from each other even as copies of one answer, so the tree is not enough: from
    // the most modes down, the two go together that are described best as one.
    for number in (1..most).rev() {
        if monitor.flow() == Flow::Stop {
            return Err(ModesError::Interrupted);
        }
        let joined = joined(&data, &found[number].modes, &factorials, monitor);
        let joined = search(&data, joined, &factorials, monitor);
        if joined.length < found[number - 1].length {
            found[number - 1] = joined;
        }
    }
    if monitor.flow() == Flow::Stop {
        return Err(ModesError::Interrupted);
    }
    let by_number: Vec<f64> = found.iter().map(|found| found.length).collect();
    // Ties go to fewer modes.
    let mut best = 0;
    for at in 1..found.len() {
        if by_number[at] < by_number[best] - 1e-9 {
            best = at;
        }
    }
    let mut groups = Vec::new();
    for mode in &found[best].modes {
        let mut members: Vec<usize> = mode.members().collect();
        members.sort_unstable();
        groups.push(members);
    }
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then(a[0].cmp(&b[0])));
    let stop = || monitor.flow() == Flow::Stop;
    let modes = groups
        .iter()
        .map(|members| LabelCounts::of(&all, members, &factorials, &stop));
    let modes: Vec<LabelCounts> = modes.collect();
    if stop() {
        return Err(ModesError::Interrupted);
    }
    let description_length = total(&all, &modes, &factorials);
    let mut tables: Vec<Array2<f64>> = modes.iter().map(|mode| mode.table(&all.weights)).collect();
    let first = shares(&tables[0]);
    for table in &mut tables[1..] {
        *table = in_order_of(&first, table, &all.weights);
    }
    let modes = groups.into_iter().zip(&tables);
    let of_object = fragments.of_object();
    let modes = modes
        .map(|(members, table)| expanded(members, table, data.bases(), &all.weights, of_object));
    Ok(Modes {
        modes: modes.collect(),
        description_length,
        by_number,
        rows_looked_at: data.rows(),
        disagreement: fragments.expand(&disagreement(&tables)),
    })
}

/// Modes and their description length.
struct Division {
    modes: Vec<LabelCounts>,
    length: f64,
}

/// The modes with the two as one that are described best so; the modes as they are once the monitor wants to stop.
fn joined(
    data: &LabelMatrix,
    modes: &[LabelCounts],
    factorials: &LnFactorials,
    monitor: &dyn Monitor,
) -> Vec<LabelCounts> {
    let stop = || monitor.flow() == Flow::Stop;
    let pairs = pairs(modes.len());
    let without = |a: usize, b: usize| {
        let others = (0..modes.len()).filter(move |&at| at != a && at != b);
        others.map(|at| &modes[at])
    };
    let lengths = pairs.par_iter().map(|&(a, b)| {
        if stop() {
            return f64::INFINITY;
        }
        let both = modes[a].merged(&modes[b], data);
        let sizes = without(a, b).map(LabelCounts::size).chain([both.size()]);
        let sizes: Vec<usize> = sizes.collect();
        let apart = modes[a].length(data, factorials) + modes[b].length(data, factorials);
        both.length(data, factorials) - apart + factorials.division(&sizes)
    });
    let Some(best) = least(&lengths.collect::<Vec<f64>>()).filter(|_| !stop()) else {
        return modes.to_vec();
    };
    let (a, b) = pairs[best];
    let members: Vec<usize> = modes[a].members().chain(modes[b].members()).collect();
    let both = LabelCounts::of(data, &members, factorials, &stop);
    without(a, b).cloned().chain([both]).collect()
}

fn pairs(count: usize) -> Vec<(usize, usize)> {
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    pairs.collect()
}

/// The place of the smallest value, the first of equals.
fn least(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|best, at| if values[at] < values[best] { at } else { best })
}

/// Description length of all modes together.
fn total(data: &LabelMatrix, modes: &[LabelCounts], factorials: &LnFactorials) -> f64 {
    let sizes: Vec<usize> = modes.iter().map(LabelCounts::size).collect();
    let lengths = modes.iter().map(|mode| mode.length(data, factorials));
    lengths.sum::<f64>() + factorials.division(&sizes)
}

/// Which of the first base clusterings go together, by number of groups.
struct Tree(Option<Dendrogram>, usize);

fn tree(data: &LabelMatrix, monitor: &dyn Monitor) -> Result<Tree, ModesError> {
    let bases = data.bases().min(BASES);
    let farthest = data.weights.iter().sum::<f64>().max(1.0).ln();
    let distances = pairs(bases)
        .into_par_iter()
        .map(|(a, b)| match monitor.flow() {
            Flow::Stop => Err(ModesError::Interrupted),
            Flow::Continue => Ok(data.distance(a, b).unwrap_or(farthest)),
        });
    let distances: Vec<f64> = distances.collect::<Result<_, _>>()?;
    if bases < 2 {
        return Ok(Tree(None, bases));
    }
    let tree = link(distances, bases, Linkage::Average).map_err(|_| ModesError::Interrupted)?;
    Ok(Tree(Some(tree), bases))
}

/// The groups of a cut of the tree, and base clusterings beyond it where they fit best; not all of them once the monitor wants to stop.
fn start(
    data: &LabelMatrix,
    tree: &Tree,
    number: usize,
    factorials: &LnFactorials,
    monitor: &dyn Monitor,
) -> Vec<LabelCounts> {
    let stop = || monitor.flow() == Flow::Stop;
    let Tree(tree, bases) = tree;
    let labels = match tree {
        Some(tree) => cut(tree, number).into_labels(),
        None => vec![0; *bases],
    };
    let mut groups = vec![Vec::new(); number];
    for (base, label) in labels.into_iter().enumerate() {
        groups[label as usize].push(base);
    }
    groups.retain(|members| !members.is_empty());
    let modes = groups
        .iter()
        .map(|members| LabelCounts::of(data, members, factorials, &stop));
    let mut modes: Vec<LabelCounts> = modes.collect();
    for base in *bases..data.bases() {
        if stop() {
            break;
        }
        let mut grown: Vec<LabelCounts> = modes.iter().map(|mode| with(mode, data, base)).collect();
        let pairs = grown.iter().zip(&modes);
        let growths = pairs
            .map(|(grown, mode)| grown.length(data, factorials) - mode.length(data, factorials));
        let best = least(&growths.collect::<Vec<f64>>()).unwrap_or(0);
        modes[best] = grown.swap_remove(best);
    }
    modes
}

fn with(mode: &LabelCounts, data: &LabelMatrix, base: usize) -> LabelCounts {
    let mut grown = mode.clone();
    grown.add(data, base);
    grown
}

/// Moves single base clusterings between modes while the description length falls and the monitor wants to go on; the length is infinite
/// where it does not.
fn search(
    data: &LabelMatrix,
    mut modes: Vec<LabelCounts>,
    factorials: &LnFactorials,
    monitor: &dyn Monitor,
) -> Division {
    let stop = || monitor.flow() == Flow::Stop;
    let lengths = modes.iter().map(|mode| mode.length(data, factorials));
    let mut lengths: Vec<f64> = lengths.collect();
    let ln_size = |mode: &LabelCounts| (mode.size() as f64).ln();
    for _ in 0..SWEEPS {
        let mut moved = false;
        for base in 0..data.bases() {
            let has_base = |mode: &LabelCounts| mode.members().any(|member| member == base);
            let Some(own) = modes.iter().position(has_base) else {
                continue;
            };
            if modes[own].size() < 2 || modes.len() < 2 || stop() {
                continue;
            }
            let mut left = modes[own].clone();
            left.remove(data, base);
            let left_length = left.length(data, factorials);
            // ln m! of both modes changes by the ln of what leaves and what comes.
            let saved = lengths[own] - left_length - ln_size(&modes[own]);
            let mut best = None;
            let mut least = saved - 1e-9;
            for at in (0..modes.len()).filter(|&at| at != own) {
                if stop() {
                    break;
                }
                let mode = with(&modes[at], data, base);
                let length = mode.length(data, factorials);
                let growth = length - lengths[at] - ln_size(&mode);
                if growth < least {
                    least = growth;
                    best = Some((at, mode, length));
                }
            }
            if let Some((at, mode, length)) = best {
                modes[own] = left;
                lengths[own] = left_length;
                modes[at] = mode;
                lengths[at] = length;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    if stop() {
        return Division {
            modes,
            length: f64::INFINITY,
        };
    }
    for mode in &mut modes {
        let members: Vec<usize> = mode.members().collect();
        *mode = LabelCounts::of(data, &members, factorials, &stop);
    }
    let length = total(data, &modes, factorials);
    Division { modes, length }
}

/// Rows of counts divided by their sums; rows of zeros are spread evenly.
fn shares(table: &Array2<f64>) -> Array2<f64> {
    let mut shares = table.clone();
    let labels = table.ncols().max(1) as f64;
    for mut row in shares.rows_mut() {
        let sum = row.sum();
        row.mapv_inplace(|count| if sum > 0.0 { count / sum } else { 1.0 / labels });
    }
    shares
}

/// A table with its columns in the order of the reference's that they match.
fn in_order_of(reference: &Array2<f64>, table: &Array2<f64>, weights: &[f64]) -> Array2<f64> {
    let mut weighted = shares(table);
    for (mut row, weight) in weighted.outer_iter_mut().zip(weights) {
        row *= *weight;
    }
    let overlap = weighted.t().dot(reference);
    let matched = matching(overlap.view()).expect("shares are finite").columns;
    let mut order: Vec<usize> = (0..table.ncols()).collect();
    order.sort_by_key(|&column| (matched[column].unwrap_or(usize::MAX), column));
    table.select(Axis(1), &order)
}

/// 1 − Σ_r min over modes of the shares, row by row.
fn disagreement(tables: &[Array2<f64>]) -> Vec<f64> {
    let shares: Vec<Array2<f64>> = tables.iter().map(shares).collect();
    let rows = shares.first().map_or(0, Array2::nrows);
    if shares.len() < 2 {
        return vec![0.0; rows];
    }
    let labels = shares.iter().map(Array2::ncols).min().unwrap_or(0);
    let disagreement = (0..rows).map(|row| {
        let least = (0..labels).map(|label| {
            let of_modes = shares.iter().map(|table| table[[row, label]]);
            of_modes.fold(f64::INFINITY, f64::min)
        });
        (1.0 - least.sum::<f64>()).clamp(0.0, 1.0)
    });
    disagreement.collect()
}

/// A mode for all objects.
fn expanded(
    members: Vec<usize>,
    table: &Array2<f64>,
    bases: usize,
    weights: &[f64],
    of_object: &[u32],
) -> Mode {
    let labels = table.ncols() as f64;
    let mut spread = 0.0;
    for (row, weight) in table.outer_iter().zip(weights) {
        let all = row.sum() + labels;
        let terms = row.iter().map(|count| {
            let p = (count + 1.0) / all;
            -p * p.ln()
        });
        spread += weight * terms.sum::<f64>();
    }
    let rows = shares(table);
    let all = Array2::from_shape_fn((of_object.len(), table.ncols()), |(object, label)| {
        rows[[of_object[object] as usize, label]]
    });
    let soft = SoftPartition::new(all).expect("shares of one");
    Mode {
        share: members.len() as f64 / bases as f64,
        partition: soft.hard(),
        soft,
        members,
        spread,
    }
}
