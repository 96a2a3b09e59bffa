//! What k clusters say about ΣJ labels.

use partita_core::Label;

use crate::rows::Rows;

/// How often every label occurs in every cluster. Counts are whole numbers, so that any order of adding them gives
/// the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    clusters: usize,
    /// ΣJ × K.
    labels: Vec<i64>,
    /// M × K, sums of the above over the labels of a base clustering.
    sizes: Vec<i64>,
    /// K, objects.
    objects: Vec<i64>,
}

impl Counts {
    pub(crate) fn new<L: Label>(rows: &Rows<'_, L>, clusters: usize) -> Self {
        Self {
            clusters,
            labels: vec![0; rows.base_clusters() * clusters],
            sizes: vec![0; rows.bases() * clusters],
            objects: vec![0; clusters],
        }
    }

    /// Adds `weight` objects with a row to a cluster.
    pub(crate) fn add<L: Label>(&mut self, rows: &Rows<'_, L>, at: usize, cluster: u32, weight: i64) {
        let k = cluster as usize;
        for (u, place) in rows.places(at) {
            self.labels[place * self.clusters + k] += weight;
            self.sizes[u * self.clusters + k] += weight;
        }
        self.objects[k] += weight;
    }

    /// The first cluster without an object.
    pub(crate) fn first_empty(&self) -> Option<u32> {
        self.objects.iter().position(|&count| count == 0).map(|k| k as u32)
    }

    /// Objects in a cluster.
    pub(crate) fn objects(&self, cluster: u32) -> i64 {
        self.objects[cluster as usize]
    }

    /// Share of label `place` of base clustering `u` among the labels of cluster `k`; 0 where it has none.
    pub(crate) fn share(&self, u: usize, place: usize, k: usize) -> f64 {
        let size = self.sizes[u * self.clusters + k];
        if size == 0 { 0.0 } else { self.labels[place * self.clusters + k] as f64 / size as f64 }
    }

    /// Within-cluster sum of squares Σ_u trust_u Σ_k (n_ku − Σ_j n_kuj² / n_ku) of the one-hot rows.
    pub(crate) fn squares(&self, offsets: &[usize], trust: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (u, trust) in trust.iter().enumerate() {
            let mut inside = 0.0;
            for (k, &size) in self.sizes[u * self.clusters..(u + 1) * self.clusters].iter().enumerate() {
                if size > 0 {
                    let count = |place: usize| self.labels[place * self.clusters + k] as f64;
                    let own: f64 = (offsets[u]..offsets[u + 1]).map(|place| count(place) * count(place)).sum();
                    inside += size as f64 - own / size as f64;
                }
            }
            sum += trust * inside;
        }
        sum
    }
}

/// How a row chooses its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The nearest mean of one-hot rows: largest Σ_u trust_u (2 p_kuℓ − Σ_j p_kuj²).
    Nearest,
    /// The cluster in which its labels are most probable: largest Σ_u trust_u p_kuℓ.
    Likeliest,
}

/// What every label adds to the score of every cluster: one line of `lanes` numbers a label, K of them used, and a
/// last line of zeros for missing labels.
pub(crate) struct Scores {
    pub(crate) clusters: usize,
    pub(crate) lanes: usize,
    pub(crate) lines: Vec<f64>,
}

impl Scores {
    pub(crate) fn new<L: Label>(rows: &Rows<'_, L>, counts: &Counts, trust: &[f64], rule: Rule) -> Self {
        let (clusters, lanes) = (counts.clusters, counts.clusters.next_multiple_of(4));
        let mut lines = vec![0.0; (rows.base_clusters() + 1) * lanes];
        for (u, trust) in trust.iter().enumerate() {
            let places = rows.offsets()[u]..rows.offsets()[u + 1];
            let all = Self::everywhere(counts, places.clone());
            for k in 0..clusters {
                let empty = counts.sizes[u * clusters + k] == 0;
                // A cluster that a base clustering says nothing about is taken to be like all objects.
                let share = |place: usize| {
                    if empty { all[place - places.start] } else { counts.share(u, place, k) }
                };
                let own: f64 = places.clone().map(|place| share(place) * share(place)).sum();
                for place in places.clone() {
                    lines[place * lanes + k] = trust
                        * match rule {
                            Rule::Nearest => 2.0 * share(place) - own,
                            Rule::Likeliest => share(place),
                        };
                }
            }
        }
        Self { clusters, lanes, lines }
    }

    /// Shares of the labels `places` over all clusters.
    fn everywhere(counts: &Counts, places: std::ops::Range<usize>) -> Vec<f64> {
        let line = |place: usize| counts.labels[place * counts.clusters..(place + 1) * counts.clusters].iter();
        let sums: Vec<i64> = places.map(|place| line(place).sum()).collect();
        let total = sums.iter().sum::<i64>().max(1) as f64;
        sums.into_iter().map(|sum| sum as f64 / total).collect()
    }

    /// How far the score of any row in any cluster can be from what `other` says: Σ_u of the largest difference.
    pub(crate) fn drift(&self, other: &Self, offsets: &[usize]) -> f64 {
        let furthest = |ends: &[usize]| {
            let range = ends[0] * self.lanes..ends[1] * self.lanes;
            let pairs = self.lines[range.clone()].iter().zip(&other.lines[range]);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        offsets.windows(2).map(furthest).sum()
    }

    /// The best cluster of every row in `range`, into `best`; ties go to the smaller number. `drift` is how far scores
    /// have moved since the start, `limits` holds for every row the drift up to which its choice stands.
    pub(crate) fn choose<L: Label>(
        &self,
        rows: &Rows<'_, L>,
        range: &[u32],
        drift: f64,
        (best, limits): (&mut [u32], &mut [f64]),
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { self.choose_avx2(rows, range, drift, (best, limits)) };
        }
        self.choose_lanes(rows, range, drift, (best, limits));
    }

    /// As [`Scores::choose_lanes`], four sums to a register: every sum is the same sequence of additions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn choose_avx2<L: Label>(&self, rows: &Rows<'_, L>, range: &[u32], drift: f64, kept: (&mut [u32], &mut [f64])) {
        self.choose_lanes(rows, range, drift, kept);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is compiled anew for every instruction set that calls it")]
    fn choose_lanes<L: Label>(
        &self,
        rows: &Rows<'_, L>,
        range: &[u32],
        drift: f64,
        (best, limits): (&mut [u32], &mut [f64]),
    ) {
        let due = range.iter().zip(best).zip(limits).filter(|(_, limit)| drift >= **limit);
        match self.lanes {
            4 => self.choose_fixed::<L, 4>(rows, drift, due),
            8 => self.choose_fixed::<L, 8>(rows, drift, due),
            12 => self.choose_fixed::<L, 12>(rows, drift, due),
            16 => self.choose_fixed::<L, 16>(rows, drift, due),
            _ => self.choose_any(rows, drift, due),
        }
    }

    /// As [`Scores::choose_any`] with the sums in registers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is compiled anew for every instruction set that calls it")]
    fn choose_fixed<'r, L: Label, const N: usize>(
        &self,
        rows: &Rows<'_, L>,
        drift: f64,
        due: impl Iterator<Item = ((&'r u32, &'r mut u32), &'r mut f64)>,
    ) {
        let (lines, []) = self.lines.as_chunks::<N>() else { return };
        let missing = lines.len() - 1;
        for ((&at, best), limit) in due {
            let mut sums = [0.0; N];
            for (label, offset) in rows.row(at as usize).iter().zip(rows.offsets()) {
                let line = &lines[label.cluster().map_or(missing, |j| offset + j)];
                for (sum, add) in sums.iter_mut().zip(line) {
                    *sum += add;
                }
            }
            (*best, *limit) = largest(&sums[..self.clusters], drift);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is compiled anew for every instruction set that calls it")]
    fn choose_any<'r, L: Label>(
        &self,
        rows: &Rows<'_, L>,
        drift: f64,
        due: impl Iterator<Item = ((&'r u32, &'r mut u32), &'r mut f64)>,
    ) {
        let missing = rows.base_clusters();
        let mut sums = vec![0.0; self.lanes];
        for ((&at, best), limit) in due {
            sums.fill(0.0);
            for (label, offset) in rows.row(at as usize).iter().zip(rows.offsets()) {
                let place = label.cluster().map_or(missing, |j| offset + j);
                let line = &self.lines[place * self.lanes..(place + 1) * self.lanes];
                for (sum, add) in sums.iter_mut().zip(line) {
                    *sum += add;
                }
            }
            (*best, *limit) = largest(&sums[..self.clusters], drift);
        }
    }
}

/// The largest sum's index, and the drift up to which it stays the largest: its lead over the second is used up when
/// both move by half of it. A little is kept back for rounding.
fn largest(sums: &[f64], drift: f64) -> (u32, f64) {
    let (mut best, mut second) = (0, f64::NEG_INFINITY);
    for k in 1..sums.len() {
        if sums[k] > sums[best] {
            second = sums[best];
            best = k;
        } else {
            second = second.max(sums[k]);
        }
    }
    (best as u32, drift + 0.4999 * (sums[best] - second) - 1e-9)
}
