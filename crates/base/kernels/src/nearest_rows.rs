//! The two nearest of k centres, for single rows from anywhere in a table.
//!
//! Here centres lie in the lanes of vector registers. A row takes longer than as one of 64 in [`nearest`](crate::nearest()), but
//! the other 63 need not be computed. Both sum the same products in the same order: the bits are the same.

use crate::dispatch::Level;
use crate::fused::{FUSED, add_products, doubt, largest};
use crate::nearest::{Nearest, PANEL, join_lanes};

/// Centres in a tile.
const TILE: usize = 16;

/// Centres in tiles of 16, feature by feature, and their ½‖c‖².
#[derive(Clone, Debug)]
pub struct Tiles {
    d: usize,
    k: usize,
    /// Tiles × d.
    centres: Vec<[f32; TILE]>,
    /// ∞ beyond the last.
    half: Vec<[f32; TILE]>,
}

impl Tiles {
    /// Of k centres (k × d, row by row; `half` holds their ½‖c‖²).
    ///
    /// # Panics
    /// If the lengths do not fit together or there is no centre.
    pub fn new(centres: &[f32], half: &[f32]) -> Self {
        let (k, d) = (half.len(), centres.len() / half.len());
        assert!(d > 0 && centres.len() == k * d, "k centres of one width");
        let tiles = k.div_ceil(TILE);
        let (mut places, mut halves) = (
            vec![[0.0; TILE]; tiles * d],
            vec![[f32::INFINITY; TILE]; tiles],
        );
        for (j, (centre, half)) in centres.chunks_exact(d).zip(half).enumerate() {
            let (tile, lane) = (j / TILE, j % TILE);
            halves[tile][lane] = *half;
            places[tile * d..]
                .iter_mut()
                .zip(centre)
                .for_each(|(place, &c)| place[lane] = c);
        }
        Self {
            d,
            k,
            centres: places,
            half: halves,
        }
    }

    /// Whether [`nearest_rows`] takes less time for so many rows of a panel than [`nearest`](crate::nearest()) for all.
    ///
    /// Measured: a panel takes the time of 64·k·d products, a single row that of 26, 32 or 14 (vectors of 512, 256 or 128 bits) for each
    /// tile of centres and each feature, and finding the two best of a tile takes as long as 16 features.
    #[inline]
    pub fn quicker_for(&self, rows: usize) -> bool {
        let alone = match Level::widest(true).bits() {
            512 => 26,
            256 => 32,
            _ => 14,
        };
        rows * self.half.len() * (self.d + 16) * alone < PANEL * self.k * self.d
    }
}

/// Finds the nearest centres of at most [`PANEL`] rows of a table (n × d, row by row); the answers for the first of them
/// stand in lane 0, and so on.
///
/// # Panics
/// If there are more rows, or one is not in the table.
pub fn nearest_rows(table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
    nearest_rows_at(Level::widest(true), table, rows, tiles, out);
}

fn nearest_rows_at(level: Level, table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
    assert!(rows.len() <= PANEL, "{} rows", rows.len());
    match level {
        Level::Baseline(_) if FUSED => reference::<true>(table, rows, tiles, out),
        Level::Baseline(_) => rounded_first(table, rows, tiles, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(token) => x86::rows_256(token, table, rows, tiles, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(token) => x86::rows_512(token, table, rows, tiles, out),
    }
}

/// Has the processor fetch items that are needed soon. It changes nothing but the time.
#[inline]
pub fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(items);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

/// The definition in plain Rust.
fn reference<const FUSED: bool>(table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
    for (lane, &row) in rows.iter().enumerate() {
        let row = &table[row as usize * tiles.d..][..tiles.d];
        out.set(lane, &[answer::<FUSED>(row, tiles)]);
    }
}

/// The answer of one row: the two best of every lane, then of all.
fn answer<const FUSED: bool>(row: &[f32], tiles: &Tiles) -> Answer {
    let (mut best, mut second) = ([f32::NEG_INFINITY; TILE], [f32::NEG_INFINITY; TILE]);
    let mut place = [0; TILE];
    for (tile, half) in tiles.half.iter().enumerate() {
        let mut scores = half.map(|half| -half);
        for (&x, centres) in row.iter().zip(&tiles.centres[tile * tiles.d..]) {
            add_products::<FUSED, TILE>(&mut scores, centres, x);
        }
        join_lanes(&mut best, &mut second, &mut place, &scores, tile as u32);
    }
    let mut answer = Answer::NONE;
    for lane in 0..TILE {
        let centre = place[lane] * TILE as u32 + lane as u32;
        let earlier = best[lane] == answer.0 && centre < answer.2;
        answer.join(best[lane], second[lane], centre);
        if earlier {
            answer.2 = centre;
        }
    }
    answer
}

/// As [`reference`] with fused sums where no instruction fuses: as that of whole panels.
fn rounded_first(table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
    let halves = tiles.half.iter().flatten().take(tiles.k);
    let most = largest(halves.map(|half| half.abs()));
    for (lane, &row) in rows.iter().enumerate() {
        let row = &table[row as usize * tiles.d..][..tiles.d];
        let mut found = answer::<false>(row, tiles);
        let square = row.iter().map(|x| x * x).sum();
        let apart = found.0 - found.1 > doubt(tiles.d, square, most);
        if tiles.k == 1 || !apart {
            found = answer::<true>(row, tiles);
        }
        out.set(lane, &[found]);
    }
}

/// The best score, the second best, and the centre of the best.
#[derive(Clone, Copy)]
struct Answer(f32, f32, u32);

impl Answer {
    const NONE: Self = Self(f32::NEG_INFINITY, f32::NEG_INFINITY, 0);

    /// Takes in the two best of later centres.
    #[inline(always)]
    fn join(&mut self, best: f32, second: f32, centre: u32) {
        let lesser = if self.0 > best { best } else { self.0 };
        self.1 = larger(self.1, larger(second, lesser));
        if best > self.0 {
            (self.0, self.2) = (best, centre);
        }
    }
}

/// One instruction, where `f32::max` asks for NaN as well.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

impl Nearest {
    #[inline(always)]
    fn set(&mut self, first: usize, answers: &[Answer]) {
        for (lane, &Answer(best, second, centre)) in (first..).zip(answers) {
            (self.best[lane], self.second[lane], self.centre[lane]) = (best, second, centre);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "vector loads through pointers, hints, and calls on the proof of a token"
)]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m512, _CMP_EQ_OQ, _MM_HINT_T0, _mm_cvtss_f32, _mm_max_ps, _mm_max_ss,
        _mm_movehdup_ps, _mm_movehl_ps, _mm_prefetch, _mm256_castps256_ps128, _mm256_cmp_ps,
        _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_movemask_ps,
        _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm512_cmp_ps_mask,
        _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_mov_ps, _mm512_reduce_max_ps, _mm512_set1_ps,
        _mm512_setzero_ps, _mm512_sub_ps,
    };

    use super::{Answer, Nearest, TILE, Tiles};
    use crate::dispatch::{Avx2, Avx512};

    /// Bytes of a line of the cache.
    const LINE: usize = 64;

    #[inline]
    pub(super) fn prefetch<T>(items: &[T]) {
        let bytes = items.as_ptr_range();
        let (mut at, end) = (bytes.start.cast::<i8>(), bytes.end.cast::<i8>());
        while at < end {
            // SAFETY: a hint about an address, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
            at = at.wrapping_add(LINE - at.addr() % LINE);
        }
    }

    /// The loop over groups of rows, which share the loading of centres, and over tiles. In the last group the last row
    /// stands in for those that are not there.
    macro_rules! groups {
        ($size:literal, $table:ident, $rows:ident, $tiles:ident, $out:ident, $scores:ident, $two_best:ident) => {
            for (group, chosen) in $rows.chunks($size).enumerate() {
                let rows: [&[f32]; $size] = std::array::from_fn(|r| {
                    &$table[chosen[r.min(chosen.len() - 1)] as usize * $tiles.d..][..$tiles.d]
                });
                let mut answers = [Answer::NONE; $size];
                for ((centres, half), first) in $tiles
                    .centres
                    .chunks_exact($tiles.d)
                    .zip(&$tiles.half)
                    .zip((0..).step_by(TILE))
                {
                    for (answer, scores) in answers.iter_mut().zip($scores(rows, centres, half)) {
                        let (best, second, lane) = $two_best(scores);
                        answer.join(best, second, first + lane);
                    }
                }
                $out.set(group * $size, &answers[..chosen.len()]);
            }
        };
    }

    pub(super) fn rows_512(
        _: Avx512,
        table: &[f32],
        rows: &[u32],
        tiles: &Tiles,
        out: &mut Nearest,
    ) {
        #[target_feature(enable = "avx512f")]
        fn compiled(table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
            groups!(8, table, rows, tiles, out, scores_512, two_best_512);
        }
        // SAFETY: the function needs nothing but AVX-512 F, which the token proves.
        unsafe { compiled(table, rows, tiles, out) }
    }

    pub(super) fn rows_256(_: Avx2, table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
        #[target_feature(enable = "avx2,fma")]
        fn compiled(table: &[f32], rows: &[u32], tiles: &Tiles, out: &mut Nearest) {
            groups!(4, table, rows, tiles, out, scores_256, two_best_256);
        }
        // SAFETY: the function needs nothing but AVX2 and FMA, which the token proves.
        unsafe { compiled(table, rows, tiles, out) }
    }

    /// The scores of a tile of centres for `R` rows.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn scores_512<const R: usize>(
        rows: [&[f32]; R],
        centres: &[[f32; TILE]],
        half: &[f32; TILE],
    ) -> [__m512; R] {
        assert!(
            rows.iter().all(|row| row.len() == centres.len()),
            "rows as wide as centres"
        );
        // SAFETY: a tile's numbers are 16.
        let half = unsafe { _mm512_loadu_ps(half.as_ptr()) };
        let mut scores = [_mm512_sub_ps(_mm512_setzero_ps(), half); R];
        for (p, centres) in centres.iter().enumerate() {
            // SAFETY: a tile's numbers are 16.
            let c = unsafe { _mm512_loadu_ps(centres.as_ptr()) };
            for r in 0..R {
                // SAFETY: the rows have as many numbers as p counts.
                let x = _mm512_set1_ps(unsafe { *rows[r].get_unchecked(p) });
                scores[r] = _mm512_fmadd_ps(x, c, scores[r]);
            }
        }
        scores
    }

    /// The best score, the second best, and the lane of the best; of equals the first.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn two_best_512(scores: __m512) -> (f32, f32, u32) {
        let best = _mm512_reduce_max_ps(scores);
        let equal = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(scores, _mm512_set1_ps(best));
        let first = equal & equal.wrapping_neg();
        let others = _mm512_mask_mov_ps(scores, first, _mm512_set1_ps(f32::NEG_INFINITY));
        (best, _mm512_reduce_max_ps(others), equal.trailing_zeros())
    }

    /// As [`scores_512`], eight centres in each half.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn scores_256<const R: usize>(
        rows: [&[f32]; R],
        centres: &[[f32; TILE]],
        half: &[f32; TILE],
    ) -> [[__m256; 2]; R] {
        assert!(
            rows.iter().all(|row| row.len() == centres.len()),
            "rows as wide as centres"
        );
        // SAFETY: a tile's numbers are 16, and 8·h + 8 ≤ 16.
        let load =
            |tile: &[f32; TILE], h: usize| unsafe { _mm256_loadu_ps(tile.as_ptr().add(8 * h)) };
        let negative = |h| _mm256_sub_ps(_mm256_setzero_ps(), load(half, h));
        let mut scores = [[negative(0), negative(1)]; R];
        for (p, centres) in centres.iter().enumerate() {
            let c = [load(centres, 0), load(centres, 1)];
            for r in 0..R {
                // SAFETY: the rows have as many numbers as p counts.
                let x = _mm256_set1_ps(unsafe { *rows[r].get_unchecked(p) });
                for h in 0..2 {
                    scores[r][h] = _mm256_fmadd_ps(x, c[h], scores[r][h]);
                }
            }
        }
        scores
    }

    /// As [`two_best_512`].
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn two_best_256(scores: [__m256; 2]) -> (f32, f32, u32) {
        let best = largest_256(scores);
        let equal = |h: usize| {
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(scores[h], _mm256_set1_ps(best)))
        };
        let lane = (equal(0) | equal(1) << 8).trailing_zeros();
        let mut others = [0.0; TILE];
        for h in 0..2 {
            // SAFETY: 16 numbers, and 8·h + 8 ≤ 16.
            unsafe { _mm256_storeu_ps(others.as_mut_ptr().add(8 * h), scores[h]) };
        }
        others[lane as usize % TILE] = f32::NEG_INFINITY;
        // SAFETY: as above.
        let half = |h: usize| unsafe { _mm256_loadu_ps(others.as_ptr().add(8 * h)) };
        (best, largest_256([half(0), half(1)]), lane)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn largest_256(scores: [__m256; 2]) -> f32 {
        let eight = _mm256_max_ps(scores[0], scores[1]);
        let four = _mm_max_ps(
            _mm256_castps256_ps128(eight),
            _mm256_extractf128_ps::<1>(eight),
        );
        let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nearest::nearest;

    #[test]
    fn rows_alone_are_as_rows_in_panels() {
        for case in 0..120usize {
            let (d, k, n) = (1 + case % 17, 1 + case % 39, 1 + case * 5 % PANEL);
            // Few values, so that scores are equal often.
            let number = |place: usize| ((place * 37 + case) as f32 * 0.618).sin();
            let value = |place: usize| {
                if case % 2 == 0 {
                    number(place).round()
                } else {
                    number(place)
                }
            };
            let table: Vec<f32> = (0..2 * PANEL * d).map(value).collect();
            let rows: Vec<u32> = (0..n)
                .map(|lane| ((lane * 29 + case) % (2 * PANEL)) as u32)
                .collect();
            let centres: Vec<f32> = (0..k * d).map(|place| value(7 * place + 5)).collect();
            let half: Vec<f32> = centres
                .chunks_exact(d)
                .map(|c| 0.5 * c.iter().map(|x| x * x).sum::<f32>())
                .collect();
            let mut panel = vec![0.0; PANEL * d];
            for (lane, &row) in rows.iter().enumerate() {
                (0..d).for_each(|p| panel[p * PANEL + lane] = table[row as usize * d + p]);
            }
            let (tiles, mut together) = (Tiles::new(&centres, &half), Nearest::new());
            nearest(&panel, &centres, &half, &mut together);
            let check = |alone: &Nearest| {
                assert_eq!(alone.best[..n], together.best[..n], "case {case}");
                assert_eq!(alone.second[..n], together.second[..n], "case {case}");
                assert_eq!(alone.centre[..n], together.centre[..n], "case {case}");
            };
            let wide = Level::all().into_iter().filter(|level| level.bits() > 128);
            for level in wide {
                let mut alone = Nearest::new();
                nearest_rows_at(level, &table, &rows, &tiles, &mut alone);
                check(&alone);
            }
            if Level::widest(true).bits() > 128 {
                let mut alone = Nearest::new();
                reference::<true>(&table, &rows, &tiles, &mut alone);
                check(&alone);
                rounded_first(&table, &rows, &tiles, &mut alone);
                assert_eq!(alone.centre[..n], together.centre[..n], "case {case}");
            }
        }
    }
}
