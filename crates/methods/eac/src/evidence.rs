//! The evidence as whole dissimilarities, a row at a time, which is what an exact tree is made of.

use partita_coassoc::EvidenceRows;
use partita_core::ndarray::ArrayView1;
use partita_core::{Ensemble, Label, LabelRows};
use partita_kernels::{Kernel, Simd, dispatch};
use partita_linkage::{Linkage, Rows};

/// 1 − c/N in whole units (squared, for the linkages that take squares): exactly while no label is missing, to one
/// part in the unit otherwise.
pub(crate) struct Dissimilarities {
    rows: EvidenceRows,
    unit: u64,
    squares: bool,
    /// The dissimilarity in units for c of N, at N (N + 1) / 2 + c; when nothing is missing, for c of M at c. Empty
    /// when it would be large.
    table: Vec<u32>,
}

/// N up to which a table is kept for all c and N.
const TABLED: u32 = 1000;

/// The unit that holds sums over so many objects in 64 bits, when it need not be exact.
pub(crate) fn rounded_unit(objects: usize) -> u64 {
    let pairs = (objects as u64).saturating_mul(objects as u64) / 4;
    (u64::MAX / 4 / pairs.max(1)).min(1 << 31)
}

/// The unit of 1 − c/N. M when nothing is missing (M² for squares), if sums of that fit.
pub(crate) fn unit(objects: usize, bases: usize, missing: bool, linkage: Linkage) -> u64 {
    let exact = (bases as u64).pow(if squares(linkage) { 2 } else { 1 });
    let rounded = rounded_unit(objects);
    if missing { rounded } else { exact.min(rounded) }
}

fn squares(linkage: Linkage) -> bool {
    matches!(linkage, Linkage::Ward | Linkage::Centroid)
}

impl Dissimilarities {
    /// The evidence of an ensemble (of fragments, say) that stands for `objects` objects.
    pub(crate) fn new(rows: EvidenceRows, objects: usize, linkage: Linkage) -> Self {
        let all = rows.unit();
        let unit = unit(objects, all as usize, rows.missing(), linkage);
        let mut made = Self {
            rows,
            unit,
            squares: squares(linkage),
            table: Vec::new(),
        };
        if !made.rows.missing() && u16::try_from(all).is_ok() {
            made.table = (0..=all).map(|c| made.value(c, all)).collect();
        } else if made.rows.missing() && all <= TABLED {
            let pairs = (0..=all).flat_map(|n| (0..=n).map(move |c| (c, n)));
            made.table = pairs.map(|(c, n)| made.value(c, n)).collect();
        }
        made
    }

    fn value(&self, c: u32, n: u32) -> u32 {
        let power = if self.squares { 2 } else { 1 };
        let apart = u128::from(n - c).pow(power);
        let all = u128::from(n).pow(power);
        let unit = u128::from(self.unit);
        (apart * unit + all / 2).checked_div(all).unwrap_or(unit) as u32
    }
}

impl Rows for Dissimilarities {
    fn objects(&self) -> usize {
        self.rows.objects()
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        if self.table.is_empty() {
            let rows = &self.rows;
            rows.for_each(object, |j, c, n| row[j] = self.value(c, n));
        } else if !self.rows.missing() {
            let rows = &self.rows;
            rows.for_each(object, |j, c, _| row[j] = self.table[c as usize]);
        } else {
            self.rows.for_each(object, |j, c, n| {
                row[j] = self.table[(n * (n + 1) / 2 + c) as usize];
            });
        }
    }
}

/// The evidence when base clusters count differently.
pub(crate) struct Weighted<'a> {
    rows: EvidenceRows,
    ensemble: &'a Ensemble,
    offsets: Vec<usize>,
    weights: Vec<u32>,
    /// What every base clustering adds to N.
    counts: Vec<u32>,
    /// What a weight of 1 counts.
    one: u64,
    /// What a part of N counts, where base clusterings have weights.
    part: Option<f64>,
    unit: u64,
}

/// Dissimilarities to objects of which all have the same N, [`Weighted::dissimilarity`] of each.
struct Apart<'a> {
    shared: &'a [u32],
    /// What N weighs, and what the dissimilarity 1 counts: at most 2³¹.
    all: u32,
    unit: u32,
    row: &'a mut [u32],
}

impl Kernel for Apart<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        /// 2⁵², to which whole numbers are added without a change of the exponent: they are the last bits of the sum.
        const WHOLE: f64 = 4_503_599_627_370_496.0;
        let unit = u64::from(self.unit);
        let all = u64::from(self.all);
        let ratio = unit as f64 / all as f64;
        for (row, &shared) in self.row.iter_mut().zip(self.shared) {
            // The quotient to the nearest number, which is at most one beside the one that is meant.
            let near = (f64::from(shared) * ratio + WHOLE).to_bits() & u64::from(u32::MAX);
            let rest = (u64::from(shared) * unit + all / 2).wrapping_sub(near * all) as i64;
            let quotient = near.wrapping_sub(u64::from(rest < 0)) + u64::from(rest >= all as i64);
            *row = unit.saturating_sub(quotient) as u32;
        }
    }
}

impl<'a> Weighted<'a> {
    /// `weights` are those of the base clusters, in 0..=1 times the weight of their base clustering, of which the mean is 1; `counts` are
    /// the whole weights of the base clusterings.
    pub(crate) fn new(
        rows: EvidenceRows,
        ensemble: &'a Ensemble,
        objects: usize,
        weights: &[f64],
        counts: Option<Vec<u32>>,
    ) -> Self {
        let bases = rows.base_clusterings();
        let one = u64::from(u32::MAX) / 2 / bases as u64;
        let part = one as f64 * bases as f64 / f64::from(rows.unit());
        let part = counts.is_some().then_some(part);
        let counts = counts.unwrap_or_else(|| vec![1; bases]);
        let weights = weights
            .iter()
            .map(|weight| (weight * one as f64).round() as u32);
        let weights = weights.collect();
        Self {
            rows,
            ensemble,
            offsets: ensemble.offsets(),
            weights,
            counts,
            one,
            part,
            unit: rounded_unit(objects),
        }
    }

    /// The dissimilarity of two objects with the label row of this one.
    pub(crate) fn inside(&self, object: usize) -> f64 {
        let own = self.own(object);
        let labelled = (0..own.len()).filter(|&u| self.ensemble.label(object, u).is_some());
        let labels = labelled.map(|u| self.counts[u]).sum();
        let shared = own.iter().map(|&weight| u64::from(weight)).sum();
        self.dissimilarity(shared, labels) as f64 / self.unit as f64
    }

    /// For every base clustering the weight of the object's cluster.
    fn own(&self, object: usize) -> Vec<u32> {
        match self.ensemble.rows() {
            LabelRows::Bytes(rows) => self.own_weights(rows.row(object)),
            LabelRows::Words(rows) => self.own_weights(rows.row(object)),
        }
    }

    fn own_weights<L: Label>(&self, labels: ArrayView1<'_, L>) -> Vec<u32> {
        let clusters = labels
            .iter()
            .map(|label| label.cluster())
            .zip(&self.offsets);
        let weights = clusters.map(|(j, start)| j.map_or(0, |j| self.weights[start + j]));
        weights.collect()
    }

    fn dissimilarity(&self, shared: u64, n: u32) -> u64 {
        let all = self.weight_of(n);
        let share = (shared * self.unit + all / 2).checked_div(all);
        self.unit.saturating_sub(share.unwrap_or(0))
    }

    /// What N labels weigh, in units of the weights.
    fn weight_of(&self, n: u32) -> u64 {
        match self.part {
            None => u64::from(n) * self.one,
            Some(part) => (f64::from(n) * part).round() as u64,
        }
    }
}

impl Rows for Weighted<'_> {
    fn objects(&self) -> usize {
        self.rows.objects()
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        let own = self.own(object);
        let all = self.weight_of(self.rows.unit());
        let rows = &self.rows;
        rows.fill_weighted(object, &own, row, |shared, n, row| {
            if rows.missing() {
                for ((row, &shared), &n) in row.iter_mut().zip(shared).zip(n) {
                    *row = self.dissimilarity(u64::from(shared), n) as u32;
                }
            } else {
                let all = all as u32;
                let unit = self.unit as u32;
                dispatch(Apart {
                    shared,
                    all,
                    unit,
                    row,
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use rand::RngExt;

    #[test]
    fn quotients_are_rounded_as_whole_numbers_are() {
        let mut rng = Seed::new(2).rng();
        for draw in 0..2_000 {
            let least = if draw % 3 == 0 { 1 << 31 } else { 1 };
            let unit = rng.random_range(least..=1u32 << 31);
            let all = rng.random_range(1..=1u32 << if draw % 2 == 0 { 31 } else { 8 });
            let mut shared = vec![0, all, all / 2, all - 1];
            shared.extend((4..70).map(|_| rng.random_range(0..=all)));
            let mut row = vec![0; shared.len()];
            dispatch(Apart {
                shared: &shared,
                all,
                unit,
                row: &mut row,
            });
            let unit = u64::from(unit);
            let all = u64::from(all);
            for (&shared, &found) in shared.iter().zip(&row) {
                let quotient = (u64::from(shared) * unit + all / 2) / all;
                assert_eq!(u64::from(found), unit - quotient, "{shared} {unit} {all}");
            }
        }
    }
}
