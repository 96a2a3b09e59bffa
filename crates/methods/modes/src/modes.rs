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
    let cuts: Vec<Option<Found>> = (1..=most)
        .into_par_iter()
        .map(|number| {
            let going = monitor.tick(number as u64 - 1, most as u64) == Flow::Continue;
            going.then(|| {
                search(
                    &data,
                    start(&data, &tree, number, &factorials, monitor),
                    &factorials,
                    monitor,
                )
            })
        })
        .collect();
    let mut found: Vec<Found> = cuts
        .into_iter()
        .collect::<Option<_>>()
        .ok_or(ModesError::Interrupted)?;
    // Base clusterings with many clusters are far from each other even as copies of one answer, so the tree is not enough: from
    // the most modes down, the two go together that are described best as one.
    for number in (1..most).rev() {
        if monitor.flow() == Flow::Stop {
            return Err(ModesError::Interrupted);
        }
        let joined = search(
            &data,
            joined(&data, &found[number].0, &factorials, monitor),
            &factorials,
            monitor,
        );
        if joined.1 < found[number - 1].1 {
            found[number - 1] = joined;
        }
    }
    if monitor.flow() == Flow::Stop {
        return Err(ModesError::Interrupted);
    }
    let by_number: Vec<f64> = found.iter().map(|(_, length)| *length).collect();
    // Ties go to fewer modes.
    let best = (1..found.len()).fold(0, |best, at| {
        if by_number[at] < by_number[best] - 1e-9 {
            at
        } else {
            best
        }
    });
    let mut groups: Vec<Vec<usize>> = found[best]
        .0
        .iter()
        .map(|mode| {
            let mut members: Vec<usize> = mode.members().collect();
            members.sort_unstable();
            members
        })
        .collect();
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then(a[0].cmp(&b[0])));
    let stop = || monitor.flow() == Flow::Stop;
    let modes: Vec<LabelCounts> = groups
        .iter()
        .map(|members| LabelCounts::of(&all, members, &factorials, &stop))
        .collect();
    if stop() {
        return Err(ModesError::Interrupted);
    }
    let description_length = total(&all, &modes, &factorials);
    let mut tables: Vec<Array2<f64>> = modes.iter().map(|mode| mode.table(&all.weights)).collect();
    let (first, others) = tables.split_at_mut(1);
    others
        .iter_mut()
        .for_each(|table| *table = in_order_of(&shares(&first[0]), table, &all.weights));
    let disagreement = fragments.expand(&disagreement(&tables));
    let modes = groups.into_iter().zip(&tables);
    let modes = modes.map(|(members, table)| {
        written(
            members,
            table,
            data.bases(),
            &all.weights,
            fragments.of_object(),
        )
    });
    Ok(Modes {
        modes: modes.collect(),
        description_length,
        by_number,
        rows_looked_at: data.rows(),
        disagreement,
    })
}

/// Modes and their description length.
type Found = (Vec<LabelCounts>, f64);

/// The modes with the two as one that are described best so; the modes as they are once the monitor wants to stop.
fn joined(
    data: &LabelMatrix,
    modes: &[LabelCounts],
    factorials: &LnFactorials,
    monitor: &dyn Monitor,
) -> Vec<LabelCounts> {
    let pairs: Vec<(usize, usize)> = (0..modes.len())
        .flat_map(|a| (a + 1..modes.len()).map(move |b| (a, b)))
        .collect();
    let without = |a: usize, b: usize| {
        modes
            .iter()
            .enumerate()
            .filter(move |(at, _)| *at != a && *at != b)
            .map(|(_, mode)| mode)
    };
    let length = |&(a, b): &(usize, usize)| {
        if monitor.flow() == Flow::Stop {
            return (f64::INFINITY, a, b);
        }
        let both = modes[a].merged(&modes[b], data);
        let sizes: Vec<usize> = without(a, b)
            .map(LabelCounts::size)
            .chain([both.size()])
            .collect();
        let apart = modes[a].length(data, factorials) + modes[b].length(data, factorials);
        (
            both.length(data, factorials) - apart + factorials.division(&sizes),
            a,
            b,
        )
    };
    let lengths: Vec<(f64, usize, usize)> = pairs.par_iter().map(length).collect();
    let best = lengths
        .into_iter()
        .reduce(|best, next| if next.0 < best.0 { next } else { best });
    let Some((_, a, b)) = best.filter(|_| monitor.flow() == Flow::Continue) else {
        return modes.to_vec();
    };
    let stop = || monitor.flow() == Flow::Stop;
    let members: Vec<usize> = modes[a].members().chain(modes[b].members()).collect();
    without(a, b)
        .cloned()
        .chain([LabelCounts::of(data, &members, factorials, &stop)])
        .collect()
}

/// Description length of all modes together.
fn total(data: &LabelMatrix, modes: &[LabelCounts], factorials: &LnFactorials) -> f64 {
    let sizes: Vec<usize> = modes.iter().map(LabelCounts::size).collect();
    modes
        .iter()
        .map(|mode| mode.length(data, factorials))
        .sum::<f64>()
        + factorials.division(&sizes)
}

/// Which of the first base clusterings go together, by number of groups.
struct Tree(Option<Dendrogram>, usize);

fn tree(data: &LabelMatrix, monitor: &dyn Monitor) -> Result<Tree, ModesError> {
    let bases = data.bases().min(BASES);
    let farthest = data.weights.iter().sum::<f64>().max(1.0).ln();
    let pairs: Vec<(usize, usize)> = (0..bases)
        .flat_map(|a| (a + 1..bases).map(move |b| (a, b)))
        .collect();
    let distance = |(a, b): (usize, usize)| match monitor.flow() {
        Flow::Stop => Err(ModesError::Interrupted),
        Flow::Continue => Ok(data.distance(a, b).unwrap_or(farthest)),
    };
    let distances: Vec<f64> = pairs
        .into_par_iter()
        .map(distance)
        .collect::<Result<_, _>>()?;
    if bases < 2 {
        return Ok(Tree(None, bases));
    }
    link(distances, bases, Linkage::Average)
        .map(|tree| Tree(Some(tree), bases))
        .map_err(|_| ModesError::Interrupted)
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
    let labels = tree
        .as_ref()
        .map_or_else(|| vec![0; *bases], |tree| cut(tree, number).into_labels());
    let group = |label: u32| {
        (0..*bases)
            .filter(|&base| labels[base] == label)
            .collect::<Vec<_>>()
    };
    let groups: Vec<Vec<usize>> = (0..number as u32)
        .map(group)
        .filter(|members| !members.is_empty())
        .collect();
    let mut modes: Vec<LabelCounts> = groups
        .iter()
        .map(|members| LabelCounts::of(data, members, factorials, &stop))
        .collect();
    for base in *bases..data.bases() {
        if monitor.flow() == Flow::Stop {
            break;
        }
        let grown: Vec<LabelCounts> = modes.iter().map(|mode| with(mode, data, base)).collect();
        let growth =
            |at: usize| grown[at].length(data, factorials) - modes[at].length(data, factorials);
        let growths: Vec<f64> = (0..modes.len()).map(growth).collect();
        let best = (1..modes.len()).fold(0, |best, at| {
            if growths[at] < growths[best] {
                at
            } else {
                best
            }
        });
        modes[best] = grown[best].clone();
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
) -> Found {
    let mut lengths: Vec<f64> = modes
        .iter()
        .map(|mode| mode.length(data, factorials))
        .collect();
    let ln_size = |mode: &LabelCounts| (mode.size() as f64).ln();
    for _ in 0..SWEEPS {
        let mut moved = false;
        for base in 0..data.bases() {
            let Some(own) = modes
                .iter()
                .position(|mode| mode.members().any(|member| member == base))
            else {
                continue;
            };
            if modes[own].size() < 2 || modes.len() < 2 || monitor.flow() == Flow::Stop {
                continue;
            }
            let mut left = modes[own].clone();
            left.remove(data, base);
            let left_length = left.length(data, factorials);
            // ln m! of both modes changes by the ln of what leaves and what comes.
            let saved = lengths[own] - left_length - ln_size(&modes[own]);
            let grown = |at: usize| {
                if monitor.flow() == Flow::Stop {
                    return (f64::INFINITY, at, modes[at].clone(), lengths[at]);
                }
                let mode = with(&modes[at], data, base);
                let length = mode.length(data, factorials);
                (length - lengths[at] - ln_size(&mode), at, mode, length)
            };
            let others = (0..modes.len()).filter(|&at| at != own).map(grown);
            let best = others.reduce(|best, next| if next.0 < best.0 { next } else { best });
            if let Some((_, at, mode, length)) = best.filter(|(growth, ..)| *growth < saved - 1e-9)
            {
                (modes[own], lengths[own]) = (left, left_length);
                (modes[at], lengths[at]) = (mode, length);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    if monitor.flow() == Flow::Stop {
        return (modes, f64::INFINITY);
    }
    let stop = || monitor.flow() == Flow::Stop;
    for mode in &mut modes {
        let members: Vec<usize> = mode.members().collect();
        *mode = LabelCounts::of(data, &members, factorials, &stop);
    }
    let length = total(data, &modes, factorials);
    (modes, length)
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
    weighted
        .rows_mut()
        .into_iter()
        .zip(weights)
        .for_each(|(mut row, weight)| row *= *weight);
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
    let least = |row: usize, label: usize| {
        let of = |table: &Array2<f64>| table.get((row, label)).copied().unwrap_or(0.0);
        shares.iter().map(of).fold(f64::INFINITY, f64::min)
    };
    let labels = shares.iter().map(Array2::ncols).min().unwrap_or(0);
    let of_row =
        |row| (1.0 - (0..labels).map(|label| least(row, label)).sum::<f64>()).clamp(0.0, 1.0);
    (0..rows)
        .map(|row| if shares.len() < 2 { 0.0 } else { of_row(row) })
        .collect()
}

/// A mode for all objects.
fn written(
    members: Vec<usize>,
    table: &Array2<f64>,
    bases: usize,
    weights: &[f64],
    of_object: &[u32],
) -> Mode {
    let labels = table.ncols() as f64;
    let term = |count: &f64, seen: f64| {
        let p = (count + 1.0) / (seen + labels);
        -p * p.ln()
    };
    let spread = table.rows().into_iter().zip(weights);
    let spread = spread
        .map(|(row, weight)| weight * row.iter().map(|count| term(count, row.sum())).sum::<f64>())
        .sum();
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
