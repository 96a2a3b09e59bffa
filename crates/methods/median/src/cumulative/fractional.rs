//! Cumulative voting over shares and weighted objects: a share votes for so much of a label.

use partita_core::ndarray::{Array2, Axis};
use partita_core::{Monitor, Outcome, Seed, SoftPartition, Stopped, WeightedEnsemble};
use partita_kmeans::labels::base_weights;

use super::ballot::Ballot;
use super::bottleneck::compress;
use super::{Scheme, by_entropy, mean, pad, settle};
use crate::criterion::Criterion;
use crate::fractional_rows::FractionalRows;
use crate::label_means::solve_weighted;
use crate::plurality::VoteDiagnostics;
use crate::{LabelMeansSettings, MedianError};

/// [`cumulative`](crate::cumulative) of fractional rows.
///
/// # Cost
/// O(entries · c + n M log(entries of a row)) time for a reference of c clusters; 3 n c numbers.
pub(super) fn fractional_votes(
    rows: &FractionalRows<'_>,
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    scheme: Scheme,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let (ensemble, offsets) = (source.ensemble, source.ensemble.offsets());
    let sizes = |u: usize| {
        let mut sizes = vec![0.0; offsets[u + 1] - offsets[u]];
        of_base(rows, u, |i, c, share| {
            sizes[c - offsets[u]] += rows.weight(i) * share;
        });
        sizes
    };
    let order = by_entropy((0..ensemble.bases().len()).map(sizes));
    let enough = |&u: &usize| {
        sizes(u).iter().all(|&size| size > 0.0) && offsets[u + 1] - offsets[u] >= clusters
    };
    let reference = order.iter().copied().find(enough);
    let start = if let Some(u) = reference {
        let mut start = Array2::zeros((rows.len(), offsets[u + 1] - offsets[u]));
        of_base(rows, u, |i, c, share| start[[i, c - offsets[u]]] = share);
        start
    } else {
        let found = solve_weighted(
            Criterion::Kc,
            source,
            clusters,
            seed,
            &LabelMeansSettings::default(),
            monitor,
        )?;
        let labels = found.partition.labels();
        let label = |row: usize| labels[rows.first_object(row)] as usize;
        Array2::from_shape_fn((rows.len(), clusters), |(row, k)| {
            f64::from(u8::from(label(row) == k))
        })
    };
    let base_weights = base_weights(ensemble.bases(), source.base_weights);
    let (mut votes, mut given) = (Array2::<f64>::zeros(start.dim()), vec![0.0; rows.len()]);
    let voters = reference
        .into_iter()
        .chain(order.into_iter().filter(|&u| Some(u) != reference));
    for u in voters {
        let adaptive =
            scheme == Scheme::Adaptive && reference.is_some_and(|reference| reference != u);
        let current = if adaptive {
            mean(&votes, &given)
        } else {
            start.clone()
        };
        let mut shared = Array2::<f64>::zeros((offsets[u + 1] - offsets[u], current.ncols()));
        of_base(rows, u, |i, c, share| {
            shared
                .row_mut(c - offsets[u])
                .scaled_add(rows.weight(i) * share, &current.row(i));
        });
        let ballot = Ballot::new(scheme, u, base_weights[u], &shared);
        of_base(rows, u, |i, c, share| {
            given[i] += ballot.cast_share(c - offsets[u], share, votes.row_mut(i));
        });
    }
    let weights: Vec<f64> = (0..rows.len()).map(|row| rows.weight(row)).collect();
    settle(&mut votes, &weights);
    let merged = if votes.ncols() > clusters {
        compress(votes.view(), &weights, clusters)
    } else {
        votes
    };
    let mut soft = pad(merged, clusters);
    // Merged columns of shares add up to 1 but for rounding.
    for mut row in soft.axis_iter_mut(Axis(0)) {
        let sum = row.sum();
        row /= sum;
    }
    let reference = reference
        .map_or("kc", |u| ensemble.bases()[u].name())
        .to_owned();
    let soft = soft.select(Axis(0), &rows.row_of_object());
    let soft = SoftPartition::new(soft).expect("normalised votes are on the simplex");
    Ok(Outcome::soft(soft, Stopped::Exact).with(VoteDiagnostics { reference }))
}

/// Calls `take` with row, base cluster and share of every entry of a base clustering.
fn of_base(rows: &FractionalRows<'_>, base: usize, mut take: impl FnMut(usize, usize, f64)) {
    for row in 0..rows.len() {
        rows.entries_of(row, base)
            .for_each(|(c, share)| take(row, c, share));
    }
}
