//! Interaction of simultaneous moves: what moves of several objects at once do to the cost of the pairs among them.

use partita_kernels::{LANES, dispatch};

use super::iterate::Iterate;
use super::newton_step::{StepOutcome, support};
use crate::bregman::Bregman;
use crate::kernels::Cost;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

/// The change of the cost of the pairs among `objects`, which rise, when all move from the rows `old` to `new`, less the changes
/// that each move alone was counted for.
pub(crate) fn interaction<D: Bregman>(
    iterate: &Iterate<'_, D>,
    objects: &[usize],
    steps: &[StepOutcome],
    old: &[f64],
    new: &[f64],
) -> f64 {
    let interaction = match iterate.evidence.layout() {
        Layout::Columns => of_all,
        Layout::Rows => of_some,
    };
    interaction(iterate, objects, steps, old, new)
}

fn of_some<D: Bregman>(
    iterate: &Iterate<'_, D>,
    objects: &[usize],
    steps: &[StepOutcome],
    old: &[f64],
    new: &[f64],
) -> f64 {
    let clusters = iterate.table.clusters;
    let mut sum = 0.0;
    iterate.evidence.pairs_within(objects, &mut |i, j, c, n| {
        if steps[i].fall > 0.0 && steps[j].fall > 0.0 {
            let [one, other] = [new, old].map(|p| {
                let [after, before] = [new, old].map(|q| {
                    let pairs = row(p, i, clusters).iter().zip(row(q, j, clusters));
                    iterate.bregman.cost(c, n, pairs.map(|(a, b)| a * b).sum())
                });
                after - before
            });
            sum += one - other;
        }
    });
    sum
}

fn of_all<D: Bregman>(
    iterate: &Iterate<'_, D>,
    objects: &[usize],
    steps: &[StepOutcome],
    old: &[f64],
    new: &[f64],
) -> f64 {
    let size = objects.len();
    let clusters = iterate.table.clusters;
    let bregman = iterate.bregman;
    let zeros = vec![0.0; size.next_multiple_of(LANES)];
    let nothing = PairCounts {
        c: zeros.clone(),
        n: zeros,
    };
    let mut counts = vec![nothing; size];
    iterate.evidence.pairs_within(objects, &mut |i, j, c, n| {
        counts[i].c[j] = c;
        counts[i].n[j] = n;
    });
    let [before, after] = [old, new].map(|rows| {
        let mut table = Memberships::zeros(size, clusters, Layout::Columns);
        for (at, row) in rows.chunks(clusters).take(size).enumerate() {
            table.write(at, row);
        }
        table
    });
    let mut entries = Vec::new();
    let mut sum = 0.0;
    for i in (0..size).filter(|&i| steps[i].fall > 0.0) {
        let [one, other] = [new, old].map(|rows| {
            support(row(rows, i, clusters), &mut entries);
            let [after, before] = [&after, &before].map(|others| {
                dispatch(Cost {
                    bregman,
                    others,
                    counts: &counts[i],
                    y: &entries,
                    from: (i + 1) / LANES * LANES,
                })
            });
            after - before
        });
        sum += one - other;
    }
    sum
}

/// The probabilities of the object at a place.
pub(crate) fn row(rows: &[f64], at: usize, clusters: usize) -> &[f64] {
    &rows[at * clusters..(at + 1) * clusters]
}
