//! Soft ensembles: shares of objects in base clusters beside the labels of the largest ones, and ensembles side by side.

use std::borrow::Cow;

use ndarray::Array2;

use crate::ensemble::{Rows, check_rows};
use crate::{BaseClustering, Ensemble, EnsembleError, Label, LabelRows, Memberships, Shares};

impl Ensemble {
    /// An ensemble from shares of objects in base clusters. Labels are the clusters of the largest shares, ties to the smaller
    /// number; where all shares are 1 nothing else is kept.
    ///
    /// # Errors
    /// [`EnsembleError`] if there is nothing to cluster, or a base clustering is empty or too large.
    pub fn from_memberships(
        memberships: Memberships,
        bases: Vec<BaseClustering>,
    ) -> Result<Self, EnsembleError> {
        let ensemble = Self::of_known_memberships(memberships, bases);
        match ensemble.rows() {
            LabelRows::Bytes(rows) => check_rows(rows, ensemble.bases())?,
            LabelRows::Words(rows) => check_rows(rows, ensemble.bases())?,
        }
        Ok(ensemble)
    }

    /// [`from_memberships`](Self::from_memberships) of shares that are known to be of these clusters.
    pub(crate) fn of_known_memberships(
        memberships: Memberships,
        bases: Vec<BaseClustering>,
    ) -> Self {
        let offsets = BaseClustering::offsets(&bases);
        let mut rows = Array2::from_elem((memberships.objects(), bases.len()), u16::MISSING);
        for (object, mut row) in rows.outer_iter_mut().enumerate() {
            let (clusters, shares) = memberships.row(object);
            let mut best = vec![0.0; bases.len()];
            for (&cluster, &share) in clusters.iter().zip(shares) {
                let u = offsets.partition_point(|&start| start <= cluster as usize) - 1;
                if share > best[u] {
                    (best[u], row[u]) = (share, u16::of(cluster as usize - offsets[u]));
                }
            }
        }
        let hard = memberships.is_hard();
        let mut ensemble = Self::from_known(rows, bases);
        ensemble.memberships = (!hard).then_some(memberships);
        ensemble
    }

    /// The shares of all objects in all base clusters, where some base clustering is soft.
    #[doc(alias = "soft labels")]
    pub fn memberships(&self) -> Option<&Memberships> {
        self.memberships.as_ref()
    }

    /// The shares of all objects in all base clusters; where the ensemble is hard they are 1.
    ///
    /// # Cost
    /// O(n M) time and 12 bytes a label where the ensemble is hard, else nothing.
    pub fn shares(&self) -> Cow<'_, Memberships> {
        if let Some(soft) = &self.memberships {
            return Cow::Borrowed(soft);
        }
        let (offsets, mut hard) = (self.offsets(), Memberships::new());
        for object in 0..self.objects() {
            let labels = (0..self.bases().len()).filter_map(|u| Some((u, self.label(object, u)?)));
            hard.push(labels.map(|(u, j)| ((offsets[u] + j) as u32, 1.0)));
        }
        Cow::Owned(hard)
    }

    /// The shares of the objects in the clusters of one base clustering, n × J.
    ///
    /// # Panics
    /// If `base` is out of range.
    pub fn base_shares(&self, base: usize) -> Shares {
        let clusters = self.bases()[base].clusters();
        let Some(soft) = &self.memberships else {
            return Shares::of_labels(self.column(base), clusters);
        };
        let start = self.offsets()[base];
        let mut rows = Array2::zeros((self.objects(), clusters));
        for (object, mut row) in rows.outer_iter_mut().enumerate() {
            let (own, shares) = soft.row(object);
            let inside = own
                .iter()
                .map(|&cluster| (cluster as usize).wrapping_sub(start))
                .zip(shares);
            inside
                .filter(|(j, _)| *j < clusters)
                .for_each(|(j, &share)| row[j] = share);
        }
        Shares::known(rows)
    }

    /// The base clusterings of this ensemble followed by those of `other`, which has the same objects in the same order. The
    /// objects are called as here, or else as there.
    ///
    /// # Errors
    /// [`EnsembleError::Length`] for another number of objects.
    pub fn beside(mut self, other: &Self) -> Result<Self, EnsembleError> {
        let (objects, found) = (self.objects(), other.objects());
        if objects != found {
            let name = other.bases()[0].name().to_owned();
            return Err(EnsembleError::Length {
                name,
                found,
                expected: objects,
            });
        }
        let bases: Vec<BaseClustering> =
            self.bases().iter().chain(other.bases()).cloned().collect();
        let names = self
            .object_names
            .take()
            .or_else(|| other.object_names.clone());
        let mut joined = if self.memberships.is_none() && other.memberships.is_none() {
            let own = self.bases().len();
            let label = |i, u| {
                if u < own {
                    self.label(i, u)
                } else {
                    other.label(i, u - own)
                }
            };
            let stored = |(i, u)| label(i, u).map_or(u16::MISSING, u16::of);
            Self::from_words(Array2::from_shape_fn((objects, bases.len()), stored), bases)?
        } else {
            let start = self.offsets().last().copied().unwrap_or(0);
            Self::from_memberships(self.shares().beside(&other.shares(), start as u32), bases)?
        };
        joined.object_names = names;
        Ok(joined)
    }

    /// The same without shares: every object is in the cluster of its largest one.
    #[must_use]
    pub fn hardened(mut self) -> Self {
        self.memberships = None;
        self
    }

    /// Whether two objects have the same labels, or shares, in all base clusterings.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn same_row(&self, one: usize, other: usize) -> bool {
        let labels = match &self.rows {
            Rows::Bytes(rows) => rows.row(one) == rows.row(other),
            Rows::Words(rows) => rows.row(one) == rows.row(other),
        };
        labels
            && self
                .memberships
                .as_ref()
                .is_none_or(|soft| soft.row(one) == soft.row(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EnsembleBuilder;

    fn values(clusters: usize) -> Vec<String> {
        (0..clusters).map(|j| j.to_string()).collect()
    }

    fn soft(rows: Array2<f64>) -> Shares {
        Shares::new(rows).unwrap()
    }

    #[test]
    fn shares_of_one_are_labels_and_nothing_else() {
        let mut hard = EnsembleBuilder::new(3);
        hard.push_clusters("a", [Some(1), None, Some(0)], 2)
            .unwrap();
        hard.push_clusters("b", [Some(0), Some(2), Some(1)], 3)
            .unwrap();
        let mut shares = EnsembleBuilder::new(3);
        shares
            .push_soft(
                "a",
                values(2),
                &soft(ndarray::array![[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]),
                8,
            )
            .unwrap();
        let b = ndarray::array![[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
        shares.push_soft("b", values(3), &soft(b), 8).unwrap();
        let (hard, shares) = (hard.finish().unwrap(), shares.finish().unwrap());
        assert!(hard == shares && shares.memberships().is_none());
        assert_eq!(hard.shares().row(0), (&[1, 2][..], &[1.0, 1.0][..]));
        assert_eq!(
            hard.base_shares(0).rows(),
            ndarray::array![[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
        );
    }

    #[test]
    fn a_soft_ensemble_is_selected_joined_and_hardened() {
        let mut builder = EnsembleBuilder::new(3);
        builder
            .push("words", [Some("x"), Some("y"), Some("y")])
            .unwrap();
        let table = ndarray::array![[0.25, 0.5, 0.25], [0.0, 0.0, 0.0], [0.0, 0.5, 0.5]];
        let left = builder.push_soft("s", values(3), &soft(table), 2).unwrap();
        assert_eq!((left.objects, left.most, left.sum), (1, 0.25, 0.25));
        let ensemble = builder.finish().unwrap();
        // Of equal shares the smaller cluster is kept, and is the label.
        assert_eq!(
            ensemble.column(1).collect::<Vec<_>>(),
            [Some(1), None, Some(1)]
        );
        let kept = ensemble.memberships().unwrap();
        assert_eq!(
            kept.row(0),
            (&[0, 2, 3][..], &[1.0, 0.25 / 0.75, 0.5 / 0.75][..])
        );
        assert_eq!(
            (kept.row(1).0, kept.row(2)),
            (&[1][..], (&[1, 3, 4][..], &[1.0, 0.5, 0.5][..]))
        );

        let chosen = ensemble.select(&[2, 0], &[1]);
        assert_eq!(
            chosen.memberships().unwrap().row(0),
            (&[1, 2][..], &[0.5, 0.5][..])
        );
        assert!(
            ensemble.select(&[0, 1, 2], &[0]).memberships().is_none(),
            "what is left is hard"
        );
        let (words, shares) = (
            ensemble.select(&[0, 1, 2], &[0]),
            ensemble.select(&[0, 1, 2], &[1]),
        );
        assert_eq!(words.beside(&shares).unwrap(), ensemble);
        assert!(ensemble.clone().beside(&chosen).is_err());
        let hard = ensemble.hardened();
        assert!(hard.memberships().is_none() && hard.label(0, 1) == Some(1));
    }
}
