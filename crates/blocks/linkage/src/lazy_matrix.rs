//! Lazy dissimilarity matrix of clusters: only rows that a search has asked for exist.
//!
//! A row holds, for one cluster, what it shares with every other: the sum (or largest) of the dissimilarities of
//! their objects. Merging two clusters adds two rows, which is contiguous. What it means for all other rows
//! (one column goes into another) is only written into a log; a row replays the log when it is next read, while
//! it lies in the cache. Rows of objects come from [`Rows`] when they are first asked for. When a quarter of the
//! columns is dead, all rows are brought up to date and packed. Where rows would take more than a given number of bytes,
//! those of the smallest clusters are dropped; one is made again from the rows of its objects when it is asked for.

use crate::cell::{Cell, least};
use crate::nn_chain::Clusters;
use crate::{Linkage, Rows};

const NONE: u32 = u32::MAX;

/// Clusters are known by their smallest object, their slot.
pub(crate) struct LazyMatrix<'a, T> {
    rows: &'a dyn Rows,
    weights: &'a [u32],
    linkage: Linkage,
    alive: usize,
    /// The slot of every column, in ascending order.
    slots: Vec<u32>,
    /// The column of every living slot.
    column: Vec<u32>,
    /// The column of every object when the columns were last packed.
    packed: Vec<u32>,
    /// Objects in the cluster of every column; NaN where it is dead, which no comparison prefers.
    sizes: Vec<f64>,
    /// Sum of the squared dissimilarities inside the cluster of every column, over its squared size.
    spread: Vec<f64>,
    /// Sum of the dissimilarities inside the cluster of every slot.
    inner: Vec<u64>,
    /// Columns that went into others since the columns were last packed.
    log: Vec<(u32, u32)>,
    cells: Vec<T>,
    /// Where the row of every slot is, and how much of the log it has seen.
    place: Vec<u32>,
    seen: Vec<u32>,
    free: Vec<u32>,
    buffer: Vec<u32>,
    /// The next object of the same cluster, in a circle.
    next: Vec<u32>,
    /// Bytes of rows that may exist at once, and a slot whose row must stay.
    limit: u64,
    pinned: u32,
}

/// Bytes of rows that exist at once, at most: beyond some 28,000 objects fewer than [`cells`] do.
pub(crate) const LIMIT: u64 = 3 << 30;

/// What `limit` bytes for rows are for so many objects: never less than a few rows, while they are widened.
pub(crate) const fn at_least(limit: u64, objects: usize) -> u64 {
    let few = (objects as u64).saturating_mul(64 * 12);
    if limit > few { limit } else { few }
}

/// Objects on a chain whose rows may exist besides those of merged clusters: a quarter of all that may, at most.
pub(crate) fn chain_limit(objects: usize) -> usize {
    let quarter = at_least(LIMIT, objects) / 32 / (objects as u64).max(1);
    (objects / 64).max(32).min((quarter as usize).max(4))
}

/// Cells that exist at once, at most: when t of n clusters have merged, min(t, n − t) rows of merged clusters of
/// at most 4/3 (n − t) columns.
pub(crate) fn cells(objects: usize) -> usize {
    (objects.saturating_mul(objects) / 3)
        .saturating_add((chain_limit(objects) + 3).saturating_mul(objects))
}

/// Cells of 32 bits, and later of 64 bits (both, while they are widened), that exist at once, at most.
pub(crate) fn widths(objects: usize, unit: u64) -> (usize, usize) {
    // Cells widen when the product of two sizes passes this, which takes so many merges.
    let product = u64::from(u32::MAX) / unit.max(1);
    let merges = (2 * product.isqrt()).saturating_sub(2).min(objects as u64) as usize;
    let alive = objects - merges;
    let square = alive.saturating_mul(alive);
    let chain = (chain_limit(objects) + 3).saturating_mul(alive);
    let merged = (square.saturating_mul(4) / 3).saturating_add(chain.saturating_mul(4) / 3);
    let wide = cells(objects).min(merged);
    (cells(objects), wide.saturating_add(wide.div_ceil(2)))
}

impl<'a, T: Cell> LazyMatrix<'a, T> {
    /// The matrix before any merge, with at most `limit` bytes of rows. Under centroid link all rows of merged clusters stay.
    pub(crate) fn new(
        rows: &'a dyn Rows,
        weights: &'a [u32],
        linkage: Linkage,
        limit: u64,
    ) -> Self {
        let n = rows.objects();
        let limit = if linkage == Linkage::Centroid {
            u64::MAX
        } else {
            at_least(limit, n)
        };
        Self {
            rows,
            weights,
            linkage,
            alive: n,
            slots: (0..n as u32).collect(),
            column: (0..n as u32).collect(),
            packed: (0..n as u32).collect(),
            sizes: weights.iter().map(|&weight| f64::from(weight)).collect(),
            spread: vec![0.0; n],
            inner: vec![0; n],
            log: Vec::new(),
            cells: Vec::new(),
            place: vec![NONE; n],
            seen: vec![0; n],
            free: Vec::new(),
            buffer: vec![0; n],
            next: (0..n as u32).collect(),
            limit,
            pinned: NONE,
        }
    }

    pub(crate) fn objects(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn alive(&self) -> usize {
        self.alive
    }

    /// Living slots in ascending order.
    pub(crate) fn living(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots
            .iter()
            .zip(&self.sizes)
            .filter(|(_, size)| !size.is_nan())
            .map(|(&slot, _)| slot)
    }

    pub(crate) fn size(&self, slot: u32) -> f64 {
        self.sizes[self.column[slot as usize] as usize]
    }

    /// Whether a cell holds all sums when no cluster but one of `size` is larger than those there are.
    pub(crate) fn fits(&self, size: f64) -> bool {
        if matches!(self.linkage, Linkage::Single | Linkage::Complete) || size_of::<T>() == 8 {
            return true;
        }
        let largest = self
            .sizes
            .iter()
            .fold(size, |most, &size| if size > most { size } else { most });
        largest * size * self.rows.unit() as f64 <= f64::from(u32::MAX)
    }

    /// The same with cells of 64 bits.
    pub(crate) fn widened(mut self) -> LazyMatrix<'a, u64> {
        // Both exist for a moment.
        let fit = self.limit / (size_of::<T>() + size_of::<u64>()) as u64;
        if self.cells.len() as u64 > fit {
            while (self.stored().count() * self.slots.len()) as u64 > fit && self.drop_rows() {}
            self.pack();
        }
        self.cells.shrink_to_fit();
        LazyMatrix {
            cells: self.cells.iter().map(|cell| cell.exact()).collect(),
            rows: self.rows,
            weights: self.weights,
            linkage: self.linkage,
            alive: self.alive,
            slots: self.slots,
            column: self.column,
            packed: self.packed,
            sizes: self.sizes,
            spread: self.spread,
            inner: self.inner,
            log: self.log,
            place: self.place,
            seen: self.seen,
            free: self.free,
            buffer: self.buffer,
            next: self.next,
            limit: self.limit,
            pinned: self.pinned,
        }
    }

    fn range(&self, slot: u32) -> std::ops::Range<usize> {
        let start = self.place[slot as usize] as usize * self.slots.len();
        start..start + self.slots.len()
    }

    /// Brings the row of a living slot into being and up to date.
    fn touch(&mut self, slot: u32) {
        if self.place[slot as usize] == NONE {
            self.create(slot);
        }
        let range = self.range(slot);
        let log = &self.log[self.seen[slot as usize] as usize..];
        let row = &mut self.cells[range];
        if self.linkage == Linkage::Complete {
            for &(into, from) in log {
                row[into as usize] = row[into as usize].max(row[from as usize]);
            }
        } else {
            for &(into, from) in log {
                row[into as usize] = row[into as usize].plus(row[from as usize]);
            }
        }
        self.seen[slot as usize] = self.log.len() as u32;
    }

    /// The row of a cluster, as of the last packing, from those of its objects.
    fn create(&mut self, slot: u32) {
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.room(),
        };
        (self.place[slot as usize], self.seen[slot as usize]) = (place, 0);
        let range = self.range(slot);
        self.cells[range.clone()].fill(T::default());
        let mut object = slot;
        loop {
            self.add_object(object, range.clone());
            object = self.next[object as usize];
            if object == slot {
                break;
            }
        }
    }

    /// Adds the row of an object to that of its cluster.
    fn add_object(&mut self, object: u32, range: std::ops::Range<usize>) {
        self.rows.fill(object as usize, &mut self.buffer);
        self.buffer[object as usize] = 0;
        let row = &mut self.cells[range];
        let given = self.packed.iter().zip(&self.buffer);
        if self.linkage == Linkage::Complete {
            for (&at, &d) in given {
                row[at as usize] = row[at as usize].max(T::of(u64::from(d)));
            }
        } else {
            let weight = u64::from(self.weights[object as usize]);
            for ((&at, &d), &other) in given.zip(self.weights) {
                row[at as usize] =
                    row[at as usize].plus(T::of(u64::from(d) * weight * u64::from(other)));
            }
        }
    }

    /// A place for one more row.
    fn room(&mut self) -> u32 {
        let columns = self.slots.len();
        let most = usize::try_from(self.limit / size_of::<T>() as u64).unwrap_or(usize::MAX);
        if self.cells.len() + columns > most && self.drop_rows() {
            return self.free.pop().expect("a row was dropped");
        }
        if self.cells.capacity() < self.cells.len() + columns {
            let len = self.cells.len();
            let all = if len == 0 {
                cells(columns).min(columns * columns)
            } else {
                len + len / 2
            };
            self.cells
                .reserve_exact(all.min(most).max(len + columns) - len);
        }
        self.cells.resize(self.cells.len() + columns, T::default());
        (self.cells.len() / columns) as u32 - 1
    }

    /// Living slots whose rows exist.
    fn stored(&self) -> impl Iterator<Item = u32> + '_ {
        self.living()
            .filter(|&slot| self.place[slot as usize] != NONE)
    }

    /// Drops the rows of an eighth of the clusters, the smallest; none (false) where none may go.
    fn drop_rows(&mut self) -> bool {
        let mut rows: Vec<(f64, u32)> = self
            .stored()
            .filter(|&slot| slot != self.pinned)
            .map(|slot| (self.size(slot), slot))
            .collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        rows.truncate(rows.len().div_ceil(8));
        for &(_, slot) in &rows {
            self.free.push(self.place[slot as usize]);
            self.place[slot as usize] = NONE;
        }
        !rows.is_empty()
    }

    /// Drops the row of a slot that has not merged; it can be made again.
    pub(crate) fn forget(&mut self, slot: u32) {
        let merged = self.next[slot as usize] != slot;
        if self.place[slot as usize] != NONE && !merged {
            self.free.push(self.place[slot as usize]);
            self.place[slot as usize] = NONE;
        }
    }

    /// The nearest other cluster and how near, in units that compare within this linkage (for single, average and
    /// complete link: only within this row). Ties go to the smallest slot.
    pub(crate) fn nearest(&mut self, slot: u32) -> (f64, u32) {
        self.touch(slot);
        let own = self.column[slot as usize] as usize;
        let size = self.sizes[own];
        let spread = self.spread[own];
        self.sizes[own] = f64::NAN;
        let row = &self.cells[self.range(slot)];
        let (score, at) = match self.linkage {
            Linkage::Average => least(row, &self.sizes, &self.spread, |s, b, _| s / b),
            Linkage::Ward => least(row, &self.sizes, &self.spread, |s, b, v| {
                ward(s, size, b, spread, v)
            }),
            Linkage::Centroid => least(row, &self.sizes, &self.spread, |s, b, v| {
                centroid(s, size, b, spread, v)
            }),
            Linkage::Single | Linkage::Complete => {
                least(row, &self.sizes, &self.spread, |s, b, _| s + 0.0 * b)
            }
        };
        self.sizes[own] = size;
        (score, self.slots[at])
    }

    /// How near two clusters are under centroid link; the row of the first is up to date.
    pub(crate) fn centroids(&self, a: u32, b: u32) -> f64 {
        let i = self.column[a as usize] as usize;
        let j = self.column[b as usize] as usize;
        let sum = self.cells[self.range(a)][j].value();
        let a = self.sizes[i];
        let b = self.sizes[j];
        centroid(sum, a, b, self.spread[i], self.spread[j])
    }

    /// Merges two clusters, the smaller slot first, and says at which height.
    pub(crate) fn merge(&mut self, a: u32, b: u32) -> f64 {
        self.touch(a);
        self.pinned = a;
        self.touch(b);
        self.pinned = NONE;
        let i = self.column[a as usize] as usize;
        let j = self.column[b as usize] as usize;
        let shared = self.cells[self.range(a)][j];
        let height = self.height(shared.value(), i, j);
        self.add_rows(a, b);
        self.inner[a as usize] += self.inner[b as usize] + shared.exact();
        self.next.swap(a as usize, b as usize);
        self.sizes[i] += self.sizes[j];
        self.sizes[j] = f64::NAN;
        self.spread[i] = self.inner[a as usize] as f64 / (self.sizes[i] * self.sizes[i]);
        self.free.push(self.place[b as usize]);
        (self.place[b as usize], self.column[b as usize]) = (NONE, NONE);
        self.log.push((i as u32, j as u32));
        self.seen[a as usize] = self.log.len() as u32;
        self.alive -= 1;
        if self.alive * 4 < self.slots.len() * 3 {
            self.pack();
        }
        height
    }

    fn add_rows(&mut self, a: u32, b: u32) {
        let into = self.range(a);
        let from = self.range(b);
        let (low, high) = self.cells.split_at_mut(into.start.max(from.start));
        let columns = self.slots.len();
        let (row, other) = if into.start < from.start {
            (&mut low[into], &high[..columns])
        } else {
            (&mut high[..columns], &low[from])
        };
        let cells = row.iter_mut().zip(other);
        if self.linkage == Linkage::Complete {
            cells.for_each(|(cell, &other)| *cell = (*cell).max(other));
        } else {
            cells.for_each(|(cell, &other)| *cell = cell.plus(other));
        }
    }

    fn height(&self, shared: f64, i: usize, j: usize) -> f64 {
        let unit = self.rows.unit() as f64;
        let a = self.sizes[i];
        let b = self.sizes[j];
        let v = self.spread[i];
        let w = self.spread[j];
        match self.linkage {
            Linkage::Single | Linkage::Complete => shared / unit,
            Linkage::Average => shared / (a * b * unit),
            Linkage::Ward => (ward(shared, a, b, v, w) / unit).max(0.0).sqrt(),
            Linkage::Centroid => (centroid(shared, a, b, v, w) / unit).max(0.0).sqrt(),
        }
    }

    /// Brings all rows up to date and drops dead columns.
    fn pack(&mut self) {
        let mut stored: Vec<(u32, u32)> = self
            .living()
            .map(|slot| (self.place[slot as usize], slot))
            .filter(|row| row.0 != NONE)
            .collect();
        stored.sort_unstable();
        stored.iter().for_each(|&(_, slot)| self.touch(slot));
        let kept: Vec<u32> = (0..self.slots.len() as u32)
            .filter(|&at| !self.sizes[at as usize].is_nan())
            .collect();
        let old = self.slots.len();
        let new = kept.len();
        for (at, &(place, slot)) in stored.iter().enumerate() {
            let from = place as usize * old;
            for (k, &column) in kept.iter().enumerate() {
                self.cells[at * new + k] = self.cells[from + column as usize];
            }
            (self.place[slot as usize], self.seen[slot as usize]) = (at as u32, 0);
        }
        self.cells.truncate(stored.len() * new);
        self.free.clear();
        self.repack_columns(&kept);
    }

    fn repack_columns(&mut self, kept: &[u32]) {
        let mut into: Vec<u32> = (0..self.slots.len() as u32).collect();
        for &(to, from) in self.log.iter().rev() {
            into[from as usize] = into[to as usize];
        }
        let mut renumbered = vec![NONE; self.slots.len()];
        for (at, &column) in kept.iter().enumerate() {
            renumbered[column as usize] = at as u32;
        }
        for packed in &mut self.packed {
            *packed = renumbered[into[*packed as usize] as usize];
        }
        self.sizes = picked(&self.sizes, kept);
        self.spread = picked(&self.spread, kept);
        self.slots = picked(&self.slots, kept);
        for (at, &slot) in self.slots.iter().enumerate() {
            self.column[slot as usize] = at as u32;
        }
        self.log.clear();
    }
}

fn picked<V: Copy>(values: &[V], kept: &[u32]) -> Vec<V> {
    kept.iter().map(|&at| values[at as usize]).collect()
}

impl<T: Cell> Clusters for LazyMatrix<'_, T> {
    fn alive(&self) -> usize {
        self.alive
    }

    fn nearest_slot(&mut self, slot: u32, _before: Option<u32>) -> u32 {
        self.nearest(slot).1
    }

    fn can_merge(&self, a: u32, b: u32) -> bool {
        self.fits(self.size(a) + self.size(b))
    }

    fn merge(&mut self, a: u32, b: u32) -> f64 {
        Self::merge(self, a, b)
    }

    fn chain_limit(&self) -> usize {
        chain_limit(self.objects())
    }

    fn forget(&mut self, slot: u32) {
        Self::forget(self, slot);
    }
}

/// Squared distance of two centroids: mean squared dissimilarity between, less the two spreads.
fn centroid(sum: f64, a: f64, b: f64, v: f64, w: f64) -> f64 {
    sum / (a * b) - (v + w)
}

/// Twice the growth of the sum of squares.
fn ward(sum: f64, a: f64, b: f64, v: f64, w: f64) -> f64 {
    2.0 * (a * b) / (a + b) * centroid(sum, a, b, v, w)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every object is one apart from every other.
    struct Apart(usize);

    impl Rows for Apart {
        fn objects(&self) -> usize {
            self.0
        }

        fn unit(&self) -> u64 {
            1
        }

        fn fill(&self, _object: usize, row: &mut [u32]) {
            row.fill(1);
        }
    }

    #[test]
    fn centroid_link_holds_no_more_cells_than_it_says() {
        let rows = Apart(300);
        let weights = vec![1; 300];
        let mut matrix = LazyMatrix::<u64>::new(&rows, &weights, Linkage::Centroid, LIMIT);
        matrix.nearest(0);
        assert!(matrix.cells.capacity() >= 300 * 300 / 3);
        assert!(matrix.cells.capacity() as u64 * 8 <= crate::bytes(300, 1, Linkage::Centroid));
    }
}
