//! Overlaps of soft base clusters: products of the shares of all objects.

use partita_core::Memberships;
use partita_core::ndarray::Array2;
use rayon::prelude::*;

use crate::{Overlap, OverlapError};

/// Objects whose products are summed in one piece, whatever the number of threads.
const PIECE: usize = 4096;

/// ZᵀWZ for the shares Z (n × ΣJ) and a weight an object: ΣJ × ΣJ, symmetric. For hard labels it is the table of [`Overlap`].
///
/// # Cost
/// O(n (M r)²) time for r shares of an object in a base clustering; ΣJ × ΣJ numbers, two tables a thread.
pub fn share_products(
    shares: &Memberships,
    side: usize,
    weight: impl Fn(usize) -> f64 + Sync,
) -> Array2<f64> {
    let pieces: Vec<usize> = (0..shares.objects().div_ceil(PIECE)).collect();
    let mut total = Array2::zeros((side, side));
    for some in pieces.chunks(rayon::current_num_threads()) {
        let sums = some.par_iter().map(|&piece| {
            let mut sums = Array2::zeros((side, side));
            for object in piece * PIECE..((piece + 1) * PIECE).min(shares.objects()) {
                let (clusters, own) = shares.row(object);
                for (&a, share) in clusters.iter().zip(own) {
                    let mut line = sums.row_mut(a as usize);
                    let factor = share * weight(object);
                    clusters
                        .iter()
                        .zip(own)
                        .for_each(|(&b, other)| line[b as usize] += factor * other);
                }
            }
            sums
        });
        let sums: Vec<Array2<f64>> = sums.collect();
        sums.into_iter().for_each(|sums| total += &sums);
    }
    total
}

impl Overlap {
    /// The overlap of soft base clusters: the products of the shares of every object in clusters of different base clusterings, the
    /// sum of its shares on the diagonal, and 0 between clusters of one base clustering. With shares of 1 it is
    /// [`Overlap::count`].
    ///
    /// # Cost
    /// That of [`share_products`].
    ///
    /// # Panics
    /// If there is not one weight an object.
    pub fn of_shares(shares: &Memberships, offsets: Vec<usize>, weights: Option<&[f64]>) -> Self {
        let weight = |object: usize| weights.map_or(1.0, |weights| weights[object]);
        let side = offsets.last().copied().unwrap_or(0);
        let mut table = share_products(shares, side, weight);
        for ends in offsets.windows(2) {
            (ends[0]..ends[1]).for_each(|a| (ends[0]..ends[1]).for_each(|b| table[[a, b]] = 0.0));
        }
        let mut first_unlabelled = None;
        for object in 0..shares.objects() {
            let (clusters, own) = shares.row(object);
            clusters
                .iter()
                .zip(own)
                .for_each(|(&c, share)| table[[c as usize, c as usize]] += weight(object) * share);
            if clusters.is_empty() {
                first_unlabelled.get_or_insert(object as u64);
            }
        }
        Self::of_table(table, offsets, first_unlabelled)
    }

    /// [`with_bases`](Self::with_bases) of soft base clusterings: `shares` are of all of them, with those counted here first. The same
    /// as [`of_shares`](Self::of_shares) but for the order of additions.
    ///
    /// # Errors
    /// [`OverlapError::Bases`] where the first base clusterings are not these.
    pub fn with_shares(
        &self,
        shares: &Memberships,
        offsets: &[usize],
    ) -> Result<Self, OverlapError> {
        if !offsets.starts_with(self.offsets()) {
            return Err(OverlapError::Bases);
        }
        let old = self.offsets().last().copied().unwrap_or(0);
        let base_of: Vec<usize> = offsets
            .windows(2)
            .enumerate()
            .flat_map(|(u, e)| vec![u; e[1] - e[0]])
            .collect();
        let mut grown = self.widened(offsets)?;
        let table = grown.table_mut();
        for object in 0..shares.objects() {
            let (clusters, own) = shares.row(object);
            let first_new = clusters.partition_point(|&c| (c as usize) < old);
            for at in first_new..clusters.len() {
                let new = clusters[at] as usize;
                table[[new, new]] += own[at];
                for before in
                    (0..at).filter(|&before| base_of[clusters[before] as usize] != base_of[new])
                {
                    let (other, product) = (clusters[before] as usize, own[before] * own[at]);
                    table[[other, new]] += product;
                    table[[new, other]] += product;
                }
            }
        }
        Ok(grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;
    use partita_core::{EnsembleBuilder, EnsembleRows, PassRunner, Shares, Silent};

    #[test]
    fn shares_of_one_give_the_overlap_of_labels() {
        let mut builder = EnsembleBuilder::new(5);
        builder
            .push("a", [Some(0), Some(1), Some(1), None, Some(0)])
            .unwrap();
        builder
            .push("b", [Some(0), Some(1), Some(2), Some(2), Some(0)])
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let labels =
            Overlap::count(&PassRunner::new(&EnsembleRows::new(&ensemble), &Silent)).unwrap();
        let soft = Overlap::of_shares(&ensemble.shares(), ensemble.offsets(), None);
        assert_eq!(soft, labels);
        assert_eq!(
            share_products(&ensemble.shares(), 5, |_| 1.0),
            labels.table()
        );
    }

    #[test]
    fn shares_are_multiplied_between_base_clusterings() {
        let mut builder = EnsembleBuilder::new(2);
        let values = || vec!["0".to_owned(), "1".into()];
        let shares = |rows| Shares::new(rows).unwrap();
        builder
            .push_soft("a", values(), &shares(array![[0.25, 0.75], [1.0, 0.0]]), 8)
            .unwrap();
        builder
            .push_soft("b", values(), &shares(array![[0.5, 0.5], [0.0, 1.0]]), 8)
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let soft = Overlap::of_shares(&ensemble.shares(), ensemble.offsets(), Some(&[2.0, 1.0]));
        let expected = array![
            [1.5, 0.0, 0.25, 1.25],
            [0.0, 1.5, 0.75, 0.75],
            [0.25, 0.75, 1.0, 0.0],
            [1.25, 0.75, 0.0, 2.0]
        ];
        assert_eq!(soft.table(), expected);
    }

    #[test]
    fn a_soft_table_that_grows_is_the_one_that_is_counted_anew() {
        let mut builder = EnsembleBuilder::new(3);
        let values = |j: usize| (0..j).map(|j| j.to_string()).collect::<Vec<String>>();
        let tables = [
            array![[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]],
            array![[0.125, 0.875], [0.0, 0.0], [0.75, 0.25]],
            array![[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]],
        ];
        for (u, table) in tables.into_iter().enumerate() {
            builder
                .push_soft(format!("u{u}"), values(2), &Shares::new(table).unwrap(), 8)
                .unwrap();
        }
        let all = builder.finish().unwrap();
        let count = |ensemble: &partita_core::Ensemble| {
            Overlap::of_shares(&ensemble.shares(), ensemble.offsets(), None)
        };
        let old = count(&all.select(&[0, 1, 2], &[0]));
        assert_eq!(
            old.with_shares(&all.shares(), &all.offsets()).unwrap(),
            count(&all)
        );
        assert_eq!(
            count(&all).with_shares(&all.shares(), &[0, 3, 6]),
            Err(OverlapError::Bases)
        );
        let (first, last) = (
            count(&all.select(&[0, 1], &[0, 1, 2])),
            count(&all.select(&[2], &[0, 1, 2])),
        );
        assert_eq!(first.with_rows(2, &last).unwrap(), count(&all));
    }
}
