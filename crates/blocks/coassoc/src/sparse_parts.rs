//! Sparse evidence as plain arrays, out and in again: what a file holds.

use crate::pairs::Numbers;
use crate::{CoassocError, Counts, SparseEvidence};

impl SparseEvidence {
    /// Where the row of every object starts, and where the last ends; n + 1 values.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The neighbours of all objects, row after row.
    pub fn all_neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// c of all neighbours, row after row.
    pub fn all_together(&self) -> Counts<'_> {
        self.together.counts()
    }

    /// N of all neighbours, row after row; none when no label is missing, N being M everywhere.
    pub fn all_seen(&self) -> Option<Counts<'_>> {
        self.seen.as_ref().map(Numbers::counts)
    }

    /// Evidence from the arrays that [`base_clusterings`](Self::base_clusterings), [`starts`](Self::starts),
    /// [`all_neighbours`](Self::all_neighbours), [`all_together`](Self::all_together) and
    /// [`all_seen`](Self::all_seen) gave out.
    ///
    /// # Errors
    /// [`CoassocError::Parts`] if the arrays do not fit together, a row is not in ascending order or holds its own
    /// object, a pair is not stored alike in both directions, or not c ≤ N ≤ M.
    ///
    /// # Cost
    /// O(n + m) for m pairs, 8 n bytes.
    pub fn from_parts(
        base_clusterings: usize,
        starts: Vec<usize>,
        neighbours: Vec<u32>,
        together: Vec<u16>,
        seen: Option<Vec<u16>>,
    ) -> Result<Self, CoassocError> {
        CoassocError::check_bases(base_clusterings)?;
        let (unit, together, seen) = (
            base_clusterings as u32,
            Numbers::Words(together),
            seen.map(Numbers::Words),
        );
        let made = Self {
            base_clusterings,
            unit,
            starts,
            neighbours,
            together,
            seen,
        };
        made.check_shape()
            .and_then(|()| made.check_counts())
            .and_then(|()| made.check_both_ways())?;
        Ok(made)
    }

    fn check_shape(&self) -> Result<(), CoassocError> {
        let (starts, stored) = (&self.starts, self.neighbours.len());
        if starts.first() != Some(&0) || starts.last() != Some(&stored) || !starts.is_sorted() {
            return Err(parts(format!(
                "rows do not run from 0 to the {stored} neighbours stored"
            )));
        }
        let counts = [
            Some(self.together.len()),
            self.seen.as_ref().map(Numbers::len),
        ];
        if let Some(found) = counts.into_iter().flatten().find(|&found| found != stored) {
            return Err(parts(format!("{found} counts for {stored} neighbours")));
        }
        let objects = self.objects();
        for i in 0..objects {
            let row = self.neighbours(i);
            let inside = row.last().is_none_or(|&last| (last as usize) < objects);
            if !inside || !row.is_sorted_by(|a, b| a < b) || row.binary_search(&(i as u32)).is_ok()
            {
                return Err(parts(format!(
                    "row {i} is not other objects below {objects} in ascending order"
                )));
            }
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), CoassocError> {
        let all = self.base_clusterings as u32;
        for i in 0..self.objects() {
            if let Some((j, c, n)) = self.row(i).find(|&(_, c, n)| c > n || n > all) {
                let reason = format!(
                    "objects {i} and {j} are together {c} times of {n}, of {all} base clusterings"
                );
                return Err(parts(reason));
            }
        }
        Ok(())
    }

    /// Rows are ascending, so the smaller neighbours of an object come up in the order of its row.
    fn check_both_ways(&self) -> Result<(), CoassocError> {
        let mut next = self.starts.clone();
        for i in 0..self.objects() {
            for at in self.starts[i]..self.starts[i + 1] {
                let j = self.neighbours[at] as usize;
                let other = if j > i {
                    Some(next[j]).filter(|&other| other < self.starts[j + 1])
                } else {
                    None
                };
                let alike = |&other: &usize| {
                    let same = |counts: &Numbers| counts.at(other) == counts.at(at);
                    let there = self.neighbours[other] as usize == i;
                    there && same(&self.together) && self.seen.as_ref().is_none_or(same)
                };
                let met = if j > i {
                    other.as_ref().is_some_and(alike)
                } else {
                    at < next[i]
                };
                if !met {
                    return Err(parts(format!(
                        "objects {i} and {j} are not stored alike in both directions"
                    )));
                }
                if j > i {
                    next[j] += 1;
                }
            }
        }
        Ok(())
    }
}

fn parts(reason: String) -> CoassocError {
    CoassocError::Parts { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts<'a> = (usize, &'a [usize], &'a [u32], &'a [u16], Option<&'a [u16]>);

    fn made(
        (bases, starts, neighbours, together, seen): Parts<'_>,
    ) -> Result<SparseEvidence, String> {
        let seen = seen.map(<[u16]>::to_vec);
        let made = SparseEvidence::from_parts(
            bases,
            starts.to_vec(),
            neighbours.to_vec(),
            together.to_vec(),
            seen,
        );
        made.map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_no_evidence_is_refused() {
        // Pairs (0, 1): 2 of 3, and (1, 2): 0 of 1.
        let (starts, neighbours, c, n) = (
            &[0, 1, 3, 4][..],
            &[1, 0, 2, 1][..],
            &[2, 2, 0, 0][..],
            &[3, 3, 1, 1][..],
        );
        let evidence = made((4, starts, neighbours, c, Some(n))).unwrap();
        assert_eq!(
            evidence.each_pair().collect::<Vec<_>>(),
            [(0, 1, 2, 3), (1, 2, 0, 1)]
        );
        assert!(made((4, &[0], &[], &[], None)).is_ok());
        let refused: [(Parts<'_>, &str); 13] = [
            ((4, &[], &[], &[], None), "rows do not run"),
            ((4, &[0, 1, 3, 3], neighbours, c, None), "rows do not run"),
            ((4, &[0, 3, 1, 4], neighbours, c, None), "rows do not run"),
            (
                (4, starts, neighbours, &c[1..], None),
                "3 counts for 4 neighbours",
            ),
            (
                (4, starts, neighbours, c, Some(&n[1..])),
                "3 counts for 4 neighbours",
            ),
            ((4, starts, &[3, 0, 2, 1], c, None), "row 0 is not"),
            ((4, starts, &[0, 0, 2, 1], c, None), "row 0 is not"),
            ((4, starts, &[1, 2, 0, 1], c, None), "row 1 is not"),
            (
                (2, starts, neighbours, c, Some(n)),
                "objects 0 and 1 are together 2 times of 3, of 2 base",
            ),
            (
                (4, starts, neighbours, &[4, 4, 0, 0], Some(n)),
                "together 4 times of 3",
            ),
            (
                (4, starts, neighbours, &[1, 2, 0, 0], None),
                "objects 0 and 1 are not stored alike",
            ),
            (
                (4, starts, neighbours, c, Some(&[3, 3, 1, 2])),
                "objects 1 and 2 are not stored alike",
            ),
            (
                (4, &[0, 0, 1, 2], &[0, 1], &[1, 1], None),
                "objects 1 and 0 are not stored alike",
            ),
        ];
        for (parts, reason) in refused {
            let found = made(parts).unwrap_err();
            assert!(found.contains(reason), "{found}");
        }
    }
}
