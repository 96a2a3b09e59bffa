//! Pairs of objects that a user gives: which of them are read, and how often they are together, where that is known.

/// Pairs of objects, and their counts where these are given and not counted in the base clusterings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairList {
    objects: usize,
    /// The smaller object first, in ascending order.
    pairs: Vec<(u32, u32)>,
    /// c and N of each.
    counts: Option<Vec<(u32, u32)>>,
}

/// Why pairs are not a list of pairs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pair {}: {reason}", row + 1)]
#[non_exhaustive]
pub struct PairListError {
    /// The place of the pair among those given.
    pub row: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// The most times that a pair may have been seen.
const MOST: u32 = u16::MAX as u32;

impl PairList {
    /// Pairs of two of so many objects, in any order, each at most once. `counts` has for each how often the two are together (c) and how
    /// often that was looked at (N).
    ///
    /// # Errors
    /// [`PairListError`] for the first that is an object with itself or out of range, was there before, or has c above N or N above 65,535;
    /// and for another number of counts than pairs.
    pub fn new(
        objects: usize,
        pairs: &[(u32, u32)],
        counts: Option<&[(u32, u32)]>,
    ) -> Result<Self, PairListError> {
        let wrong = |row, reason| PairListError { row, reason };
        if let Some(given) = counts.filter(|given| given.len() != pairs.len()) {
            let reason = format!("there are {} counts for {} pairs", given.len(), pairs.len());
            return Err(wrong(given.len().min(pairs.len()), reason));
        }
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        let sorted = |row: usize| {
            (
                pairs[row].0.min(pairs[row].1),
                pairs[row].0.max(pairs[row].1),
            )
        };
        order.sort_by_key(|&row| (sorted(row), row));
        for (row, &(i, j)) in pairs.iter().enumerate() {
            if i == j {
                return Err(wrong(row, format!("it is object {i} with itself")));
            }
            if i.max(j) as usize >= objects {
                let reason = format!("there is no object {} among {objects}", i.max(j));
                return Err(wrong(row, reason));
            }
            if let Some((c, n)) = counts.map(|counts| counts[row])
                && (c > n || n > MOST)
            {
                let reason = format!(
                    "it is together {c} times of {n}; give c of N times, c at most N and N at most {MOST}"
                );
                return Err(wrong(row, reason));
            }
        }
        let twice = order
            .windows(2)
            .find(|rows| sorted(rows[0]) == sorted(rows[1]));
        if let Some(rows) = twice {
            let reason = format!("it was there before, as pair {}", rows[0] + 1);
            return Err(wrong(rows[1], reason));
        }
        Ok(Self {
            objects,
            pairs: order.iter().map(|&row| sorted(row)).collect(),
            counts: counts.map(|counts| order.iter().map(|&row| counts[row]).collect()),
        })
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// The pairs, ascending, the smaller object first.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// How often each is together, c, and how often that was looked at, N; none where base clusterings say it.
    pub fn counts(&self) -> Option<&[(u32, u32)]> {
        self.counts.as_deref()
    }

    /// Whether these are all pairs.
    pub fn is_all(&self) -> bool {
        self.pairs.len() == self.objects * self.objects.saturating_sub(1) / 2
    }

    /// The pairs of these objects, which are numbered in this order.
    ///
    /// # Panics
    /// If an object is out of range.
    #[must_use]
    pub fn selected(&self, objects: &[u32]) -> Self {
        let mut place = vec![None; self.objects];
        for (at, &object) in objects.iter().enumerate() {
            place[object as usize] = Some(at as u32);
        }
        let mut rows = Vec::with_capacity(self.pairs.len());
        for (row, &(i, j)) in self.pairs.iter().enumerate() {
            if let (Some(i), Some(j)) = (place[i as usize], place[j as usize]) {
                rows.push(((i.min(j), i.max(j)), row));
            }
        }
        rows.sort_unstable();
        let counts = self.counts.as_ref();
        Self {
            objects: objects.len(),
            pairs: rows.iter().map(|&(pair, _)| pair).collect(),
            counts: counts.map(|counts| rows.iter().map(|&(_, row)| counts[row]).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_pairs_is_refused() {
        for (pairs, counts, said) in [
            (
                &[(0, 1), (2, 2)][..],
                None,
                "pair 2: it is object 2 with itself",
            ),
            (&[(0, 3)], None, "pair 1: there is no object 3 among 3"),
            (
                &[(0, 1), (1, 2), (1, 0)],
                None,
                "pair 3: it was there before, as pair 1",
            ),
            (
                &[(0, 1)],
                Some(&[(3, 2)][..]),
                "pair 1: it is together 3 times of 2",
            ),
            (&[(0, 1)], Some(&[(3, 70_000)]), "3 times of 70000"),
            (&[(0, 1)], Some(&[]), "there are 0 counts for 1 pairs"),
        ] {
            let found = PairList::new(3, pairs, counts).unwrap_err().to_string();
            assert!(found.contains(said), "{found}");
        }
    }

    #[test]
    fn pairs_follow_their_objects() {
        let counts = [(1, 2), (3, 4), (5, 6)];
        let list = PairList::new(3, &[(2, 0), (0, 1), (1, 2)], Some(&counts)).unwrap();
        assert_eq!(list.pairs(), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(list.counts().unwrap(), [(3, 4), (1, 2), (5, 6)]);
        assert!(list.is_all());
        let turned = list.selected(&[2, 0]);
        assert_eq!(
            (turned.pairs(), turned.counts()),
            (&[(0, 1)][..], Some(&[(1, 2)][..]))
        );
        assert_eq!(turned.objects(), 2);
    }
}
