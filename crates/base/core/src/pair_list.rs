//! Pairs of objects that a user gives: which of them are read, and how often they are together, where that is known.

/// Pairs of objects, and their counts where these are given and not counted in the base clusterings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairList {
    objects: usize,
    /// The smaller object first, in ascending order.
    pairs: Vec<(u32, u32)>,
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
    /// [`PairListError`] for the first that is not a pair of two objects or has c above N or N above 65,535; then for one that is there twice.
    ///
    /// # Panics
    /// If there is not one count a pair.
    pub fn new(
        objects: usize,
        pairs: &[(u32, u32)],
        counts: Option<&[(u32, u32)]>,
    ) -> Result<Self, PairListError> {
        assert!(
            counts.is_none_or(|counts| counts.len() == pairs.len()),
            "one count a pair"
        );
        for (row, &pair) in pairs.iter().enumerate() {
            if let Some(reason) = wrong(objects, pair, counts.map(|counts| counts[row])) {
                return Err(PairListError { row, reason });
            }
        }
        let rows = pairs.iter().copied().zip(0..).collect();
        let (list, order) = Self::sorted(objects, rows, counts);
        match list.pairs.windows(2).position(|two| two[0] == two[1]) {
            Some(at) => Err(PairListError {
                row: order[at + 1],
                reason: format!("it was there before, as pair {}", order[at] + 1),
            }),
            None => Ok(list),
        }
    }

    /// The list of these pairs and their rows among the counts, and the rows in its order.
    fn sorted(
        objects: usize,
        mut rows: Vec<((u32, u32), usize)>,
        counts: Option<&[(u32, u32)]>,
    ) -> (Self, Vec<usize>) {
        rows.iter_mut()
            .for_each(|((i, j), _)| (*i, *j) = (*i.min(j), *i.max(j)));
        rows.sort_unstable();
        let (pairs, order): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let counts = counts.map(|counts| order.iter().map(|&row| counts[row]).collect());
        (
            Self {
                objects,
                pairs,
                counts,
            },
            order,
        )
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
        for (at, &object) in (0..).zip(objects) {
            place[object as usize] = Some(at);
        }
        let kept = |(row, &(i, j)): (usize, &(u32, u32))| {
            Some(((place[i as usize]?, place[j as usize]?), row))
        };
        let rows = self.pairs.iter().enumerate().filter_map(kept).collect();
        Self::sorted(objects.len(), rows, self.counts()).0
    }
}

/// Why this is not a pair with such counts, where it is not.
fn wrong(objects: usize, (i, j): (u32, u32), counts: Option<(u32, u32)>) -> Option<String> {
    match counts {
        _ if i == j => Some(format!("it is object {i} with itself")),
        _ if i.max(j) as usize >= objects => {
            Some(format!("there is no object {} among {objects}", i.max(j)))
        }
        Some((c, n)) if c > n || n > MOST => Some(format!(
            "it is together {c} times of {n}; give c of N times, c at most N and N at most {MOST}"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_pairs_is_refused_and_pairs_follow_their_objects() {
        let mut said = String::new();
        for pairs in [&[(0, 1), (2, 2)][..], &[(0, 3)], &[(0, 1), (1, 2), (1, 0)]] {
            said += &format!("{}\n", PairList::new(3, pairs, None).unwrap_err());
        }
        for counts in [(3, 2), (3, 70_000)] {
            said += &format!(
                "{}\n",
                PairList::new(3, &[(0, 1)], Some(&[counts])).unwrap_err()
            );
        }
        for expected in [
            "pair 2: it is object 2 with itself",
            "pair 1: there is no object 3 among 3",
            "pair 3: it was there before, as pair 1",
            "pair 1: it is together 3 times of 2;",
            "3 times of 70000",
        ] {
            assert!(said.contains(expected), "{said}");
        }
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
    }
}
