//! How many pairs of objects are together so often, of so many times that both are labelled.

use std::ops::Range;

use partita_core::{Ensemble, Flow, Monitor};
use partita_kernels::BLOCK;
use rayon::prelude::*;

use crate::CoassocError;
use crate::tiles::{GROUP, Tiles};

/// How many pairs of objects are together c times of N, at N (N + 1) / 2 + c, for all N up to the number of base clusterings M. No
/// pair is held.
///
/// # Errors
/// [`CoassocError::TooManyBaseClusterings`] beyond 65,535, [`CoassocError::Interrupted`] if the monitor says so.
///
/// # Cost
/// O(n² M) byte comparisons; 16 M² bytes a thread.
pub fn pair_histogram(
    ensemble: &Ensemble,
    monitor: &dyn Monitor,
) -> Result<Vec<u64>, CoassocError> {
    let bases = ensemble.bases().len();
    CoassocError::check_bases(bases)?;
    let tiles = Tiles::new(ensemble);
    let (cells, blocks) = ((bases + 1) * (bases + 2) / 2, tiles.blocks());
    let one = |mut tables: Vec<[u64; GROUP]>, block: usize| {
        if monitor.tick((block * BLOCK) as u64, tiles.objects() as u64) == Flow::Stop {
            return Err(CoassocError::Interrupted);
        }
        (block..blocks).for_each(|other| add(&tiles, block, other, &mut tables));
        Ok(tables)
    };
    let counted = (0..blocks)
        .into_par_iter()
        .try_fold(|| vec![[0; GROUP]; cells], one);
    let sum = |tables: Vec<[u64; GROUP]>| {
        tables
            .iter()
            .map(|parts| parts.iter().sum())
            .collect::<Vec<u64>>()
    };
    counted.map(|tables| tables.map(sum)).try_reduce(
        || vec![0; cells],
        |mut a, b| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            Ok(a)
        },
    )
}

/// Adds the pairs of two blocks, those of one row of a group to one table: neighbours have the same c and N often, and a count that
/// is raised again at once waits for itself.
fn add(tiles: &Tiles, block: usize, other: usize, tables: &mut [[u64; GROUP]]) {
    let objects = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(tiles.objects());
    let others: Range<usize> = objects(other);
    let (mut c, mut seen) = ([[0; BLOCK]; GROUP], [[tiles.bases() as u16; BLOCK]; GROUP]);
    for first in objects(block).step_by(GROUP) {
        tiles.count(first, other, &mut c, &mut seen);
        let mut raise = |row: usize, lane: usize| {
            let (c, n) = (usize::from(c[row][lane]), usize::from(seen[row][lane]));
            tables[n * (n + 1) / 2 + c][row] += 1;
        };
        if first + GROUP <= others.start {
            (0..others.len()).for_each(|lane| (0..GROUP).for_each(|row| raise(row, lane)));
        } else {
            // Each pair once.
            for row in 0..GROUP.min(tiles.objects() - first) {
                (others.start.max(first + row + 1)..others.end)
                    .for_each(|j| raise(row, j - others.start));
            }
        }
    }
}
