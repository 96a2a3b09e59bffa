//! What moves of several objects at once do to each other.

use partita_kernels::{LANES, dispatch};

use crate::block::row;
use crate::descent::Race;
use crate::kernel::{Cost, PairCounts};
use crate::laws::Bregman;
use crate::row::{Visit, support};
use crate::table::{Layout, Table};

/// The change of the cost of the pairs among `objects`, which rise, when all move from the rows `old` to `new`, less the changes
/// that each move alone was counted for.
pub(crate) fn interaction<D: Bregman>(
    race: &Race<'_, D>,
    objects: &[usize],
    visits: &[Visit],
    old: &[f64],
    new: &[f64],
) -> f64 {
    match race.evidence.layout() {
        Layout::Columns => of_all(race, objects, visits, old, new),
        Layout::Rows => of_some(race, objects, visits, old, new),
    }
}

fn of_some<D: Bregman>(race: &Race<'_, D>, objects: &[usize], visits: &[Visit], old: &[f64], new: &[f64]) -> f64 {
    let clusters = race.table.clusters;
    let mut sum = 0.0;
    race.evidence.inside(objects, &mut |i, j, c, n| {
        if visits[i].fall > 0.0 && visits[j].fall > 0.0 {
            let dot = |p: &[f64], q: &[f64]| -> f64 {
                row(p, i, clusters).iter().zip(row(q, j, clusters)).map(|(a, b)| a * b).sum()
            };
            let cost = |p: &[f64], q: &[f64]| race.law.cost(c, n, dot(p, q));
            sum += (cost(new, new) - cost(new, old)) - (cost(old, new) - cost(old, old));
        }
    });
    sum
}

fn of_all<D: Bregman>(race: &Race<'_, D>, objects: &[usize], visits: &[Visit], old: &[f64], new: &[f64]) -> f64 {
    let (size, clusters, law) = (objects.len(), race.table.clusters, race.law);
    let mut counts = vec![PairCounts::default(); size];
    let padded = size.next_multiple_of(LANES);
    for counts in &mut counts {
        (counts.c, counts.n) = (vec![0.0; padded], vec![0.0; padded]);
    }
    race.evidence.inside(objects, &mut |i, j, c, n| (counts[i].c[j], counts[i].n[j]) = (c, n));
    let table = |rows: &[f64]| {
        let mut table = Table::zeros(size, clusters, Layout::Columns);
        rows.chunks(clusters).take(size).enumerate().for_each(|(at, row)| table.write(at, row));
        table
    };
    let (before, after) = (table(old), table(new));
    let (mut from_entries, mut to_entries) = (Vec::new(), Vec::new());
    let mut sum = 0.0;
    for i in (0..size).filter(|&i| visits[i].fall > 0.0) {
        support(row(old, i, clusters), &mut from_entries);
        support(row(new, i, clusters), &mut to_entries);
        let from = (i + 1) / LANES * LANES;
        let cost = |y, others| dispatch(Cost { law, others, counts: &counts[i], y, from });
        sum += (cost(&to_entries, &after) - cost(&to_entries, &before))
            - (cost(&from_entries, &after) - cost(&from_entries, &before));
    }
    sum
}
