//! A table in the shape that the k-means kernels read.

use partita_core::ndarray::{Array2, ArrayView2, Axis};

use partita_kernels::PANEL;

/// Rows in single precision, once row by row and once in panels of 64 rows, feature by feature.
///
/// Rows are centred and multiplied by a power of two that brings the largest number near 1: this changes no
/// partition, and neither huge nor tiny units leave the range of single precision.
pub(crate) struct Rows {
    pub(super) n: usize,
    pub(super) d: usize,
    pub(super) plain: Vec<f32>,
    pub(super) panels: Vec<f32>,
    /// ‖x‖² of every row, 0 beyond the last.
    pub(super) squares: Vec<f32>,
    pub(super) weights: Option<Vec<f64>>,
    /// What was subtracted from each column, in scaled units.
    pub(super) shift: Vec<f64>,
    /// What every number was multiplied with.
    pub(super) factor: f64,
    /// Mean variance of the columns, in scaled units.
    pub(super) variance: f64,
    pub(super) cosine: bool,
}

/// The set of rows that a run works on: one bit a row, one word a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Members {
    words: Vec<u64>,
    count: usize,
}

impl Members {
    /// All of n rows.
    pub(crate) fn all(n: usize) -> Self {
        let mut words = vec![u64::MAX; n.div_ceil(PANEL)];
        if !n.is_multiple_of(PANEL) {
            words[n / PANEL] = (1 << (n % PANEL)) - 1;
        }
        Self { words, count: n }
    }

    /// The rows that are marked.
    pub(crate) fn those(marks: impl ExactSizeIterator<Item = bool>) -> Self {
        let mut words = vec![0u64; marks.len().div_ceil(PANEL)];
        marks.enumerate().filter(|(_, mark)| *mark).for_each(|(row, _)| words[row / PANEL] |= 1 << (row % PANEL));
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { words, count }
    }

    /// `count` of n rows, each set of that size being equally likely.
    pub(crate) fn draw(n: usize, count: usize, rng: &mut impl rand::Rng) -> Self {
        use rand::RngExt;
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
            words.iter_mut().zip(&all.words).for_each(|(word, all)| *word = all & !*word);
        }
        all.words = words;
        all.count = count;
        all
    }

    /// At most so many of these rows, each such set being equally likely.
    pub(super) fn thin(&self, count: usize, rng: &mut impl rand::Rng) -> Self {
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

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The bits of one panel.
    pub(super) fn word(&self, panel: usize) -> u64 {
        self.words[panel]
    }

    /// The member with so many members before it.
    pub(super) fn nth(&self, rank: usize) -> usize {
        let mut before = rank;
        for (panel, &word) in self.words.iter().enumerate() {
            let here = word.count_ones() as usize;
            if before < here {
                return panel * PANEL + bits(word).nth(before).expect("the word has more bits than that");
            }
            before -= here;
        }
        unreachable!("rank {rank} is below the {} members", self.count)
    }

    /// Every member, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(panel, &word)| bits(word).map(move |bit| panel * PANEL + bit))
    }
}

/// The places of the ones of a word, lowest first.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < PANEL).then_some(bit)
    })
}

impl Rows {
    /// The rows of a finite table; with `cosine`, each divided by its length.
    pub(crate) fn new(values: ArrayView2<'_, f64>, weights: Option<&[f64]>, cosine: bool) -> Self {
        let (n, d) = values.dim();
        let largest = values.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let factor = if largest > 0.0 { 2f64.powi(-(largest.log2().floor() as i32)) } else { 1.0 };
        let shift: Vec<f64> = if cosine {
            vec![0.0; d]
        } else {
            values.axis_iter(Axis(1)).map(|column| column.iter().map(|x| x * factor).sum::<f64>() / n as f64).collect()
        };
        let mut rows = Self {
            n,
            d,
            plain: Vec::with_capacity(n * d),
            panels: vec![0.0; n.div_ceil(PANEL) * PANEL * d],
            squares: vec![0.0; n.div_ceil(PANEL) * PANEL],
            weights: weights.map(<[f64]>::to_vec),
            shift,
            factor,
            variance: 0.0,
            cosine,
        };
        for row in values.outer_iter() {
            let length = if cosine { row.iter().map(|x| (x * factor).powi(2)).sum::<f64>().sqrt() } else { 1.0 };
            let scale = if length > 0.0 { factor / length } else { 0.0 };
            rows.plain.extend(row.iter().zip(&rows.shift).map(|(x, shift)| (x * scale - shift) as f32));
        }
        rows.pack();
        rows
    }

    fn pack(&mut self) {
        let (d, mut sums, mut squares) = (self.d, vec![0.0f64; self.d], 0.0);
        for (i, row) in self.plain.chunks_exact(d).enumerate() {
            let panel = &mut self.panels[i / PANEL * PANEL * d..][..PANEL * d];
            let mut square = 0.0;
            for (p, &x) in row.iter().enumerate() {
                panel[p * PANEL + i % PANEL] = x;
                square += f64::from(x).powi(2);
                sums[p] += f64::from(x);
            }
            self.squares[i] = square as f32;
            squares += square;
        }
        let means: f64 = sums.iter().map(|sum| (sum / self.n as f64).powi(2)).sum();
        self.variance = ((squares / self.n as f64 - means) / d as f64).max(0.0);
    }

    /// Runs that advance together: one where the table stays in the cache anyway, else as many as share each
    /// reading of it without their labels taking more than 256 MB.
    pub(crate) fn together(&self) -> usize {
        if 4 * self.n * self.d <= 1 << 20 { 1 } else { ((256 << 20) / (10 * self.n)).clamp(1, 16) }
    }

    /// True where one run alone gives work to many threads.
    pub(crate) fn large(&self) -> bool {
        self.n >= 1 << 15
    }

    /// Points of the table's units in ours.
    pub(super) fn scaled(&self, points: ArrayView2<'_, f64>) -> Vec<f64> {
        let scaled = points.outer_iter().flat_map(|point| {
            let length = if self.cosine { point.iter().map(|x| x * x).sum::<f64>().sqrt() } else { 1.0 };
            let factor = if self.cosine { 1.0 / length.max(f64::MIN_POSITIVE) } else { self.factor };
            point.iter().zip(&self.shift).map(|(x, shift)| x * factor - shift).collect::<Vec<f64>>()
        });
        scaled.collect()
    }

    /// Points of our units in the table's.
    pub(super) fn unscaled(&self, points: &[f64]) -> Array2<f64> {
        let factor = if self.cosine { 1.0 } else { self.factor };
        Array2::from_shape_fn((points.len() / self.d, self.d), |(j, p)| {
            (points[j * self.d + p] + self.shift[p]) / factor
        })
    }

    /// The features of one row.
    pub(super) fn row(&self, i: usize) -> &[f32] {
        &self.plain[i * self.d..][..self.d]
    }

    /// The features of 64 rows, d × 64.
    pub(super) fn panel(&self, panel: usize) -> &[f32] {
        &self.panels[panel * PANEL * self.d..][..PANEL * self.d]
    }

    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Squared distance of a row from a point.
    pub(super) fn distance2(&self, i: usize, point: &[f32]) -> f64 {
        let (row, mut sums) = (self.row(i), [0.0f64; 8]);
        let (head, tail) = row.split_at(row.len() & !7);
        for (x, c) in head.chunks_exact(8).zip(point.chunks_exact(8)) {
            for ((sum, x), c) in sums.iter_mut().zip(x).zip(c) {
                *sum += f64::from(x - c).powi(2);
            }
        }
        let tail: f64 = tail.iter().zip(&point[head.len()..]).map(|(x, c)| f64::from(x - c).powi(2)).sum();
        sums.iter().sum::<f64>() + tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use partita_core::ndarray::array;

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
                assert_eq!(members.nth(rank), row);
                seen[row] += 1;
            }
        }
        // Each row is expected 80 · (1 + 13 + 65 + 117 + 130) / 130 ≈ 200 times, with deviation near 6.
        assert!(seen.iter().all(|&times| (165..236).contains(&times)), "{seen:?}");
    }

    #[test]
    fn a_thinned_set_is_a_subset() {
        let mut rng = Seed::new(5).rng();
        let members = Members::draw(500, 300, &mut rng);
        let few: Vec<usize> = members.thin(40, &mut rng).iter().collect();
        assert!(few.len() == 40 && few.iter().all(|&row| members.iter().any(|member| member == row)));
        assert_eq!(members.thin(300, &mut rng), members);
    }

    #[test]
    fn units_do_not_matter() {
        let table = array![[1.0, 2.0], [3.0, -4.0], [5.0, 0.5]];
        let rows = Rows::new(table.view(), None, false);
        for factor in [1e-300, 1e300] {
            let scaled = Rows::new((&table * factor).view(), None, false);
            for (a, b) in rows.plain.iter().zip(&scaled.plain) {
                let ratio = (rows.factor / (scaled.factor * factor)) as f32;
                assert!((a - b * ratio).abs() < 1e-5, "{a} {b} {ratio}");
            }
        }
        assert_eq!(rows.panel(0)[PANEL + 1], rows.row(1)[1]);
        let unit = Rows::new(table.view(), None, true);
        assert!((unit.squares[2] - 1.0).abs() < 1e-6);
    }
}
