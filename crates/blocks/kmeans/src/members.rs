//! The set of rows that a run sees: one bit a row, one word a panel of 64 rows.

use partita_kernels::PANEL;
use rand::{Rng, RngExt};

/// A set of row numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    words: Vec<u64>,
    count: usize,
}

impl Members {
    /// All of n rows.
    pub fn all(n: usize) -> Self {
        let mut words = vec![u64::MAX; n.div_ceil(PANEL)];
        if !n.is_multiple_of(PANEL) {
            words[n / PANEL] = (1 << (n % PANEL)) - 1;
        }
        Self { words, count: n }
    }

    /// The rows that are marked.
    pub fn those(marks: impl ExactSizeIterator<Item = bool>) -> Self {
        let n = marks.len();
        Self::among(
            n,
            marks
                .enumerate()
                .filter(|(_, mark)| *mark)
                .map(|(row, _)| row),
        )
    }

    /// These of n rows.
    ///
    /// # Panics
    /// If one is not below n.
    pub fn among(n: usize, rows: impl Iterator<Item = usize>) -> Self {
        let mut words = vec![0u64; n.div_ceil(PANEL)];
        for row in rows {
            assert!(row < n, "row {row} of {n}");
            words[row / PANEL] |= 1 << (row % PANEL);
        }
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { words, count }
    }

    /// `count` of n rows, each set of that size being equally likely.
    pub fn draw(n: usize, count: usize, rng: &mut impl Rng) -> Self {
        let mut all = Self::all(n);
        if count >= n {
            return all;
        }
        // The smaller of the set and its complement is drawn.
        let few = count.min(n - count);
        let mut words = vec![0u64; all.words.len()];
        let mut drawn = 0;
        while drawn < few {
            let row = rng.random_range(0..n as u64) as usize;
            let bit = 1 << (row % PANEL);
            drawn += usize::from(words[row / PANEL] & bit == 0);
            words[row / PANEL] |= bit;
        }
        if few != count {
            words
                .iter_mut()
                .zip(&all.words)
                .for_each(|(word, all)| *word = all & !*word);
        }
        all.words = words;
        all.count = count;
        all
    }

    /// At most so many of these rows, each such set being equally likely.
    #[must_use]
    pub fn thin(&self, count: usize, rng: &mut impl Rng) -> Self {
        if count >= self.count {
            return self.clone();
        }
        let ranks = Self::draw(self.count, count, rng);
        let mut words = vec![0u64; self.words.len()];
        let (mut ranks, mut next) = (ranks.iter(), None);
        for (rank, row) in self.iter().enumerate() {
            next = next.or_else(|| ranks.next());
            if next == Some(rank) {
                words[row / PANEL] |= 1 << (row % PANEL);
                next = None;
            }
        }
        Self { words, count }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a row is one of them.
    pub fn contains(&self, row: usize) -> bool {
        self.words[row / PANEL] >> (row % PANEL) & 1 == 1
    }

    /// The bits of one panel.
    pub fn word(&self, panel: usize) -> u64 {
        self.words[panel]
    }

    /// The member with so many members before it.
    ///
    /// # Panics
    /// If there are not more members than that.
    pub fn nth(&self, rank: usize) -> usize {
        let mut before = rank;
        for (panel, &word) in self.words.iter().enumerate() {
            let here = word.count_ones() as usize;
            if before < here {
                return panel * PANEL
                    + bits(word)
                        .nth(before)
                        .expect("the word has more bits than that");
            }
            before -= here;
        }
        unreachable!("rank {rank} is below the {} members", self.count)
    }

    /// Every member, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(panel, &word)| bits(word).map(move |bit| panel * PANEL + bit))
    }
}

/// The places of the ones of a word, lowest first.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < PANEL).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;

    #[test]
    fn a_draw_has_the_size_asked_for_and_is_even() {
        let mut seen = [0; 130];
        for unit in 0..400 {
            let count = [1, 13, 65, 117, 130][unit % 5];
            let members = Members::draw(130, count, &mut Seed::new(3).child(unit as u64).rng());
            let rows: Vec<usize> = members.iter().collect();
            assert_eq!((rows.len(), members.count()), (count, count));
            for (rank, &row) in rows.iter().enumerate() {
                assert!(row < 130);
                assert!(members.nth(rank) == row && members.contains(row));
                seen[row] += 1;
            }
        }
        // Each row is expected 80 · (1 + 13 + 65 + 117 + 130) / 130 ≈ 200 times, with deviation near 6.
        assert!(
            seen.iter().all(|&times| (165..236).contains(&times)),
            "{seen:?}"
        );
    }

    #[test]
    fn a_thinned_set_is_a_subset() {
        let mut rng = Seed::new(5).rng();
        let members = Members::draw(500, 300, &mut rng);
        let few: Vec<usize> = members.thin(40, &mut rng).iter().collect();
        assert!(
            few.len() == 40
                && few
                    .iter()
                    .all(|&row| members.iter().any(|member| member == row))
        );
        assert_eq!(members.thin(300, &mut rng), members);
    }
}
