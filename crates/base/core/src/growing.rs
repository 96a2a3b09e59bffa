//! Ensembles that grow: more objects below, objects put into another order.

use std::collections::BTreeMap;

use ndarray::Array2;

use crate::{BaseClustering, Ensemble, EnsembleError, Label, Memberships};

impl Ensemble {
    /// The objects of this ensemble followed by those of `other`, which has the same base clusterings: in the same order, or by name.
    /// Labels are matched by their values. A value that is new here becomes a cluster after those that there are, so that these keep
    /// their numbers. Objects have names where they have some on both sides.
    ///
    /// # Errors
    /// [`EnsembleError::OtherBases`] for other base clusterings, [`EnsembleError::TooManyClusters`] where new values are too many.
    ///
    /// # Cost
    /// O(n M) time, and the new ensemble.
    #[doc(alias = "append")]
    pub fn below(&self, other: &Self) -> Result<Self, EnsembleError> {
        let matched = self.matched_bases(other)?;
        let mut bases = self.bases().to_vec();
        let codes: Vec<Vec<u16>> = bases
            .iter_mut()
            .zip(&matched)
            .map(|(base, &v)| with_values(base, other.bases()[v].values()))
            .collect();
        if let Some(base) = bases
            .iter()
            .find(|base| base.clusters() > crate::MAX_BASE_CLUSTERS)
        {
            return Err(EnsembleError::TooManyClusters {
                name: base.name().into(),
                clusters: base.clusters(),
            });
        }
        let own = self.objects();
        let mut joined = if self.memberships().is_none() && other.memberships().is_none() {
            let label = |(i, u): (usize, usize)| match i.checked_sub(own) {
                None => self.label(i, u).map_or(u16::MISSING, u16::of),
                Some(i) => other
                    .label(i, matched[u])
                    .map_or(u16::MISSING, |j| codes[u][j]),
            };
            Self::from_words(
                Array2::from_shape_fn((own + other.objects(), bases.len()), label),
                bases,
            )?
        } else {
            let offsets = BaseClustering::offsets(&bases);
            let mut rows = Memberships::new();
            push_renumbered(&mut rows, self, |u, j| (offsets[u] + j) as u32);
            let mut place = vec![0; matched.len()];
            matched.iter().enumerate().for_each(|(u, &v)| place[v] = u);
            push_renumbered(&mut rows, other, |v, j| {
                (offsets[place[v]] + usize::from(codes[place[v]][j])) as u32
            });
            Self::from_memberships(rows, bases)?
        };
        let names = self.object_names().zip(other.object_names());
        joined.object_names = names.map(|(own, others)| [own, others].concat());
        Ok(joined)
    }

    /// The objects at these places, in this order; none stands for an object that no base clustering labels. They have no names.
    ///
    /// # Errors
    /// [`EnsembleError::AllMissing`] where a base clustering labels none of them.
    ///
    /// # Panics
    /// If a place is out of range.
    pub fn at(&self, places: &[Option<u32>]) -> Result<Self, EnsembleError> {
        let bases = self.bases().to_vec();
        if let Some(soft) = self.memberships() {
            let mut rows = Memberships::new();
            for place in places {
                let row = place.map(|i| soft.row(i as usize));
                let entries =
                    row.map(|(own, shares)| own.iter().copied().zip(shares.iter().copied()));
                rows.push(entries.into_iter().flatten());
            }
            return Self::from_memberships(rows, bases);
        }
        let label = |(i, u): (usize, usize)| places[i].and_then(|i| self.label(i as usize, u));
        let rows = Array2::from_shape_fn((places.len(), bases.len()), |at| {
            label(at).map_or(u16::MISSING, u16::of)
        });
        Self::from_words(rows, bases)
    }

    /// The base clustering of `other` for each of these: at the same place where all names are equal, else of the same name.
    fn matched_bases(&self, other: &Self) -> Result<Vec<usize>, EnsembleError> {
        let names = |ensemble: &Self| {
            ensemble
                .bases()
                .iter()
                .map(|base| base.name().to_owned())
                .collect::<Vec<_>>()
        };
        let (own, others) = (names(self), names(other));
        if own == others {
            return Ok((0..own.len()).collect());
        }
        let places: BTreeMap<&str, usize> = others
            .iter()
            .enumerate()
            .map(|(v, name)| (name.as_str(), v))
            .collect();
        let known: std::collections::BTreeSet<&str> = own.iter().map(String::as_str).collect();
        let missing: Vec<String> = own
            .iter()
            .filter(|name| !places.contains_key(name.as_str()))
            .cloned()
            .collect();
        let unknown: Vec<String> = others
            .iter()
            .filter(|name| !known.contains(name.as_str()))
            .cloned()
            .collect();
        if missing.is_empty()
            && unknown.is_empty()
            && places.len() == own.len()
            && own.len() == others.len()
        {
            return Ok(own.iter().map(|name| places[name.as_str()]).collect());
        }
        Err(EnsembleError::OtherBases { missing, unknown })
    }
}

/// Adds values that `base` does not have, and says which cluster each value is.
fn with_values(base: &mut BaseClustering, values: &[String]) -> Vec<u16> {
    let known: BTreeMap<String, usize> = base.values().iter().cloned().zip(0..).collect();
    let mut all = base.values().to_vec();
    let code = |value: &String| {
        let place = known.get(value).copied().unwrap_or_else(|| {
            all.push(value.clone());
            all.len() - 1
        });
        u16::of(place.min(usize::from(u16::MISSING)))
    };
    let codes = values.iter().map(code).collect();
    *base = BaseClustering::new(base.name(), all);
    codes
}

/// Adds the rows of an ensemble, cluster j of base clustering u under the number `number(u, j)`.
fn push_renumbered(
    rows: &mut Memberships,
    ensemble: &Ensemble,
    number: impl Fn(usize, usize) -> u32,
) {
    let (shares, offsets) = (ensemble.shares(), ensemble.offsets());
    for object in 0..ensemble.objects() {
        let (own, values) = shares.row(object);
        let renumbered = own.iter().map(|&cluster| {
            let u = offsets.partition_point(|&start| start <= cluster as usize) - 1;
            number(u, cluster as usize - offsets[u])
        });
        let mut row: Vec<(u32, f64)> = renumbered.zip(values.iter().copied()).collect();
        row.sort_unstable_by_key(|&(cluster, _)| cluster);
        rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnsembleBuilder, Shares};

    fn words(columns: &[(&str, &[Option<&str>])]) -> Ensemble {
        let mut builder = EnsembleBuilder::new(columns[0].1.len());
        columns
            .iter()
            .for_each(|(name, labels)| builder.push(*name, labels.iter().copied()).unwrap());
        builder.finish().unwrap()
    }

    #[test]
    fn rows_are_added_by_the_names_of_base_clusterings_and_labels() {
        let old = words(&[
            ("a", &[Some("x"), Some("z"), None]),
            ("b", &[Some("1"), Some("1"), Some("2")]),
        ]);
        let new = words(&[
            ("b", &[Some("2"), Some("0")]),
            ("a", &[Some("y"), Some("z")]),
        ]);
        let all = old.below(&new).unwrap();
        assert_eq!(all.bases()[0].values(), ["x", "z", "y"]);
        assert_eq!(all.bases()[1].values(), ["1", "2", "0"]);
        assert_eq!(
            all.column(0).collect::<Vec<_>>(),
            [Some(0), Some(1), None, Some(2), Some(1)]
        );
        assert_eq!(
            all.column(1).collect::<Vec<_>>(),
            [Some(0), Some(0), Some(1), Some(1), Some(2)]
        );
        let other = words(&[("a", &[Some("x")]), ("c", &[Some("x")])]);
        let error = old.below(&other).unwrap_err();
        assert_eq!(
            error,
            EnsembleError::OtherBases {
                missing: vec!["b".into()],
                unknown: vec!["c".into()]
            }
        );
    }

    #[test]
    fn soft_rows_are_added_and_objects_put_in_order() {
        let soft = |rows, names: [&str; 2]| {
            let mut builder = EnsembleBuilder::new(2);
            builder
                .push_soft(
                    "q",
                    names.map(String::from).to_vec(),
                    &Shares::new(rows).unwrap(),
                    8,
                )
                .unwrap();
            builder.finish().unwrap()
        };
        let old = soft(ndarray::array![[0.25, 0.75], [1.0, 0.0]], ["p0", "p1"]);
        let new = soft(ndarray::array![[0.5, 0.5], [0.0, 1.0]], ["p2", "p0"]);
        let all = old.below(&new).unwrap();
        let kept = all.memberships().unwrap();
        assert_eq!(
            (kept.row(2), kept.row(3)),
            ((&[0, 2][..], &[0.5, 0.5][..]), (&[0][..], &[1.0][..]))
        );
        let placed = all.at(&[Some(2), None, Some(0)]).unwrap();
        assert_eq!(placed.memberships().unwrap().row(0), kept.row(2));
        assert_eq!(placed.label(1, 0), None);
        let hard = words(&[("a", &[Some("x"), Some("z"), None])]);
        assert_eq!(
            hard.at(&[Some(1), None])
                .unwrap()
                .column(0)
                .collect::<Vec<_>>(),
            [Some(1), None]
        );
        assert!(matches!(
            hard.at(&[Some(2)]),
            Err(EnsembleError::AllMissing { .. })
        ));
    }
}
