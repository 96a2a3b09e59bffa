//! What one run knows of the rows of one chunk, and how it compares them with its centres.

use partita_kernels::{Kernel, Nearest, PANEL, Simd, dispatch, nearest, nearest_rows, prefetch};

use crate::centres::Centres;
use crate::dense_rows::DenseRows;
use crate::drift::{Judge, Sure};
use crate::members::bits;
use crate::run::UNLABELLED;

/// Labels of the rows of a chunk, in whole panels, and what their changes do to the sums of the clusters.
pub(crate) struct Part {
    /// The cluster of every row.
    pub(crate) labels: Vec<u16>,
    /// The drift until which each label is sure.
    until: Vec<f32>,
    /// What changed in the weighted sums and the masses of the clusters.
    pub(crate) sums: Vec<f64>,
    /// See `sums`.
    pub(crate) mass: Vec<f64>,
    /// Labels that changed.
    pub(crate) changed: usize,
    /// Rows of the table that wait for being compared together.
    waiting: Vec<u32>,
    /// Places in the chunk whose labels change, and their new labels.
    moves: Vec<(u32, u16)>,
}

impl Part {
    /// A chunk of so many rows of which nothing is known, for clusters with so many sums and masses.
    pub(crate) fn new(rows: usize, sums: usize, mass: usize) -> Self {
        let rows = rows.next_multiple_of(PANEL);
        Self {
            labels: vec![UNLABELLED; rows],
            until: vec![f32::NEG_INFINITY; rows],
            sums: vec![0.0; sums],
            mass: vec![0.0; mass],
            changed: 0,
            waiting: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Compares the members of one panel whose labels are not sure; where they are few they wait for [`Part::gather`], which
    /// gives all their new labels. `start` is the first row of the chunk.
    pub(crate) fn compare(
        &mut self,
        rows: &DenseRows,
        centres: &Centres,
        start: usize,
        panel: usize,
        members: u64,
        found: &mut Nearest,
    ) {
        let first = panel * PANEL - start;
        let until = panel_of(&mut self.until, first);
        let unsure = members
            & !dispatch(Sure {
                until,
                now: centres.drift.now(),
            });
        let count = unsure.count_ones() as usize;
        if centres.tiles.quicker_for(count) {
            prefetch(&self.labels[first..first + PANEL]);
            let before = self.waiting.len();
            self.waiting.resize(before + count, 0);
            for (waiting, lane) in self.waiting[before..].iter_mut().zip(bits(unsure)) {
                let row = panel * PANEL + lane;
                prefetch(rows.row(row));
                *waiting = row as u32;
            }
            return;
        }
        nearest(rows.panel(panel), &centres.single, &centres.half, found);
        let squares = rows.squares[panel * PANEL..][..PANEL]
            .try_into()
            .expect("a panel");
        let labels = panel_of(&mut self.labels, first);
        let moved = dispatch(Judge {
            drift: centres.drift,
            found,
            squares,
            labels,
            until,
        });
        self.moves.extend(
            bits(moved & members).map(|lane| ((first + lane) as u32, found.centre[lane] as u16)),
        );
    }

    /// Compares the rows that wait, and gives the panels compared since the last time their new labels, in the order of the
    /// rows: which of them wait depends on the processor, and sums must not.
    pub(crate) fn gather(
        &mut self,
        rows: &DenseRows,
        centres: &Centres,
        start: usize,
        found: &mut Nearest,
    ) {
        let waiting = std::mem::take(&mut self.waiting);
        let (mut squares, mut labels, mut until) =
            ([0.0; PANEL], [UNLABELLED; PANEL], [0.0; PANEL]);
        for gathered in waiting.chunks(PANEL) {
            nearest_rows(&rows.plain, gathered, &centres.tiles, found);
            for (lane, &row) in gathered.iter().enumerate() {
                (squares[lane], labels[lane]) = (
                    rows.squares[row as usize],
                    self.labels[row as usize - start],
                );
            }
            let (squares, labels) = (&squares, &labels);
            let moved = dispatch(Judge {
                drift: centres.drift,
                found,
                squares,
                labels,
                until: &mut until,
            });
            gathered
                .iter()
                .zip(until)
                .for_each(|(&row, until)| self.until[row as usize - start] = until);
            let here = u64::MAX >> (PANEL - gathered.len());
            self.moves.extend(
                bits(moved & here)
                    .map(|lane| (gathered[lane] - start as u32, found.centre[lane] as u16)),
            );
        }
        self.waiting = waiting;
        self.waiting.clear();
        let mut moves = std::mem::take(&mut self.moves);
        // Two rising lists, which a stable sort merges.
        moves.sort_by_key(|&(place, _)| place);
        dispatch(Shift {
            part: self,
            rows,
            start,
            moves: moves.iter().copied(),
        });
        self.moves = moves;
        self.moves.clear();
    }

    /// Gives one row of the chunk another label, which is not sure.
    pub(crate) fn relabel(&mut self, rows: &DenseRows, start: usize, place: usize, label: u16) {
        self.until[place] = f32::NEG_INFINITY;
        dispatch(Shift {
            part: self,
            rows,
            start,
            moves: std::iter::once((place as u32, label)),
        });
    }
}

fn panel_of<T>(all: &mut [T], first: usize) -> &mut [T; PANEL] {
    (&mut all[first..first + PANEL])
        .try_into()
        .expect("a panel")
}

/// Moves rows of a chunk from one cluster's sums to another's: places in the chunk and new labels.
struct Shift<'a, I> {
    part: &'a mut Part,
    rows: &'a DenseRows,
    start: usize,
    moves: I,
}

impl<I: Iterator<Item = (u32, u16)>> Kernel for Shift<'_, I> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Part {
            labels,
            sums,
            mass,
            changed,
            ..
        } = self.part;
        let d = self.rows.d;
        for (place, new) in self.moves {
            let place = place as usize;
            let old = std::mem::replace(&mut labels[place], new);
            let (row, weight) = (
                self.rows.row(self.start + place),
                self.rows.weight(self.start + place),
            );
            *changed += 1;
            for (label, weight) in [(old, -weight), (new, weight)] {
                if label != UNLABELLED {
                    let label = usize::from(label);
                    mass[label] += weight;
                    let sums = &mut sums[label * d..][..d];
                    for (sum, &x) in sums.iter_mut().zip(row) {
                        *sum += weight * f64::from(x);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_core::Seed;
    use partita_core::ndarray::Array2;
    use rand::RngExt;

    use super::*;

    /// Compares all rows of a table with centres.
    fn label(part: &mut Part, rows: &DenseRows, centres: &Centres) {
        let mut found = Nearest::new();
        for panel in 0..rows.n.div_ceil(PANEL) {
            let here = (rows.n - panel * PANEL).min(PANEL);
            part.compare(
                rows,
                centres,
                0,
                panel,
                u64::MAX >> (PANEL - here),
                &mut found,
            );
        }
        part.gather(rows, centres, 0, &mut found);
    }

    #[test]
    fn rows_that_are_sure_would_have_kept_their_labels() {
        let (mut sure, mut all) = (0, 0);
        for case in 0..24u64 {
            let mut rng = Seed::new(case).rng();
            let (n, d, k) = (500, 1 + case as usize % 7, 1 + case as usize % 20);
            // Small whole numbers make ties.
            let mut number = |size: f64| {
                let x = rng.random_range(-size..size);
                if case % 3 == 0 { x.round() } else { x }
            };
            let table = Array2::from_shape_simple_fn((n, d), || number(4.0));
            let rows = DenseRows::new(table.view(), None, case % 2 == 1);
            let mut at: Vec<f64> = (0..k)
                .flat_map(|j| rows.row(j * n / k).to_vec())
                .map(f64::from)
                .collect();
            let mut centres = Centres::new(&rows, &at);
            let mut part = Part::new(n, k * d, k);
            for iteration in 0..12 {
                label(&mut part, &rows, &centres);
                let mut fresh = Part::new(n, k * d, k);
                label(&mut fresh, &rows, &centres);
                assert_eq!(
                    part.labels, fresh.labels,
                    "case {case}, iteration {iteration}"
                );
                assert!(
                    part.mass == fresh.mass
                        && part
                            .sums
                            .iter()
                            .zip(&fresh.sums)
                            .all(|(a, b)| (a - b).abs() < 1e-9)
                );
                at.iter_mut()
                    .for_each(|c| *c += number(1.0) * 0.25f64.powi(iteration));
                centres.follow(&rows, &at);
                sure += part.until[..n]
                    .iter()
                    .filter(|&&until| until > centres.drift.now())
                    .count();
                all += n;
            }
        }
        assert!(sure > all / 4, "{sure} of {all}");
    }
}
