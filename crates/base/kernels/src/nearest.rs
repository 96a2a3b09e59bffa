//! The two nearest of k centres, for 64 rows at once.
//!
//! Rows lie in the lanes of vector registers, so that the search for the best centre needs no exchange between
//! lanes and k needs no padding. One tile multiplies a few centres with 8, 16 or 64 rows in registers. There are
//! three versions of the same loop: AVX-512, AVX2 with FMA, and the reference in plain Rust. All give the same bits, but that
//! scores are sums of rounded products where the target has no fused multiply-add; the centres are the same.

use crate::dispatch::Level;
use crate::fused::{FUSED, add_products, doubt, largest};

/// Rows in a panel: features of 64 rows, stored feature by feature.
pub const PANEL: usize = 64;

/// For each row of a panel the best score, the second best, and the centre of the best.
///
/// The score of centre c for row x is x·c − ½‖c‖², which grows as their distance shrinks; ties go to the
/// smaller centre.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
pub struct Nearest {
    /// The best score of every row.
    pub best: [f32; PANEL],
    /// The second best; −∞ where there is one centre.
    pub second: [f32; PANEL],
    /// The centre with the best score; of equals the first.
    pub centre: [u32; PANEL],
}

impl Default for Nearest {
    fn default() -> Self {
        Self::new()
    }
}

impl Nearest {
    /// Space for the answers, all 0.
    pub const fn new() -> Self {
        Self {
            best: [0.0; PANEL],
            second: [0.0; PANEL],
            centre: [0; PANEL],
        }
    }

    /// Takes in the scores of a later centre, from this lane on.
    #[inline(always)]
    fn join<const N: usize>(&mut self, first: usize, scores: &[f32; N], centre: usize) {
        let lanes = first..first + N;
        let best = &mut self.best[lanes.clone()];
        let second = &mut self.second[lanes.clone()];
        join_lanes(best, second, &mut self.centre[lanes], scores, centre as u32);
    }

    fn clear(&mut self) {
        self.best.fill(f32::NEG_INFINITY);
        self.second.fill(f32::NEG_INFINITY);
        self.centre.fill(0);
    }
}

/// Takes a later score into the two best of every lane, and whose the best is. Of NaN nothing is known. All is stored anew, which vectors can do.
#[inline(always)]
pub(crate) fn join_lanes<const N: usize>(
    best: &mut [f32],
    second: &mut [f32],
    place: &mut [u32],
    scores: &[f32; N],
    at: u32,
) {
    let found = best.iter_mut().zip(second).zip(place);
    for (&score, ((best, second), place)) in scores.iter().zip(found) {
        let lesser = if *best > score { score } else { *best };
        *second = if *second > lesser { *second } else { lesser };
        *place = if score > *best { at } else { *place };
        *best = if score > *best { score } else { *best };
    }
}

/// Finds the nearest of k centres (k × d, row by row; `half` holds their ½‖c‖²) for every row of a panel
/// (d × [`PANEL`]).
///
/// # Panics
/// If the lengths do not fit together or the panel is empty.
pub fn nearest(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    nearest_at(Level::widest(true), panel, centres, half, out);
}

#[inline]
fn nearest_at(level: Level, panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    let d = panel.len() / PANEL;
    assert!(
        d > 0 && panel.len() == d * PANEL && centres.len() == half.len() * d,
        "k centres of the panel's width"
    );
    out.clear();
    match level {
        Level::Baseline(_) if FUSED => reference::<true>(panel, centres, half, out),
        Level::Baseline(_) => rounded_first(panel, centres, half, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(token) => x86::nearest_256(token, panel, centres, half, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(token) => x86::nearest_512(token, panel, centres, half, out),
    }
}

/// Rows and centres whose scores fit into sixteen registers of 128 bits.
const ROWS: usize = 8;
const CENTRES: usize = 4;

/// The definition in plain Rust, products fused with sums or rounded. Without the instruction fusing is slow.
fn reference<const FUSED: bool>(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    let d = panel.len() / PANEL;
    let groups = centres.chunks(CENTRES * d).zip(half.chunks(CENTRES));
    for (group, (centres, half)) in groups.enumerate() {
        let first = group * CENTRES;
        if let Ok(half) = half.try_into() {
            tile::<FUSED, CENTRES>(panel, centres, half, first, out);
            continue;
        }
        for (j, (centre, half)) in centres.chunks_exact(d).zip(half).enumerate() {
            tile::<FUSED, 1>(panel, centre, &[*half], first + j, out);
        }
    }
}

/// Takes in a few centres, of which this is the first.
#[inline(always)]
fn tile<const FUSED: bool, const C: usize>(
    panel: &[f32],
    centres: &[f32],
    half: &[f32; C],
    first: usize,
    out: &mut Nearest,
) {
    let d = panel.len() / PANEL;
    for rows in (0..PANEL).step_by(ROWS) {
        let mut scores = half.map(|half| [-half; ROWS]);
        for (feature, column) in panel.chunks_exact(PANEL).enumerate() {
            for (j, scores) in scores.iter_mut().enumerate() {
                let c = centres[j * d + feature];
                add_products::<FUSED, ROWS>(scores, &column[rows..rows + ROWS], c);
            }
        }
        for (j, scores) in scores.iter().enumerate() {
            out.join(rows, scores, first + j);
        }
    }
}

/// As [`reference`] with fused sums, for targets that have vectors and no instruction that fuses: sums of rounded products find the nearest
/// centre, and rows whose two best scores are too close are compared again. One centre has its exact scores, others those of the rounded sums.
fn rounded_first(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    if half.len() == 1 {
        return reference::<true>(panel, centres, half, out);
    }
    reference::<false>(panel, centres, half, out);
    let d = panel.len() / PANEL;
    let most = largest(half.iter().map(|half| half.abs()));
    let mut squares = [0.0; PANEL];
    for column in panel.chunks_exact(PANEL) {
        for (square, x) in squares.iter_mut().zip(column) {
            *square += x * x;
        }
    }
    let doubts = squares.map(|square| doubt(d, square, most));
    for lane in 0..PANEL {
        if out.best[lane] - out.second[lane] > doubts[lane] {
            continue;
        }
        (out.best[lane], out.second[lane]) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        for (j, (centre, half)) in centres.chunks_exact(d).zip(half).enumerate() {
            let mut score = [-half];
            for (column, &c) in panel.chunks_exact(PANEL).zip(centre) {
                add_products::<true, 1>(&mut score, &column[lane..], c);
            }
            out.join(lane, &score, j);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "vector loads and stores through pointers, and calls on the proof of a token"
)]
#[expect(
    clippy::cast_ptr_alignment,
    reason = "the loads and stores used are those that need no alignment"
)]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m256i, __m512, __m512i, _CMP_GT_OQ, _mm256_blendv_epi8, _mm256_castps_si256,
        _mm256_cmp_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_max_ps,
        _mm256_min_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_storeu_ps, _mm256_storeu_si256,
        _mm512_cmp_ps_mask, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512,
        _mm512_mask_mov_epi32, _mm512_max_ps, _mm512_min_ps, _mm512_set1_epi32, _mm512_set1_ps,
        _mm512_storeu_ps, _mm512_storeu_si512,
    };

    use super::{Nearest, PANEL};
    use crate::dispatch::{Avx2, Avx512};

    /// The loop over tiles: six centres at once, then the rest in one smaller tile.
    macro_rules! tiles {
        ($half:ident, $first:ident, $tile:ident $arguments:tt) => {{
            let mut $first = 0;
            while $first + 6 <= $half.len() {
                $tile::<6> $arguments;
                $first += 6;
            }
            match $half.len() - $first {
                1 => $tile::<1> $arguments,
                2 => $tile::<2> $arguments,
                3 => $tile::<3> $arguments,
                4 => $tile::<4> $arguments,
                5 => $tile::<5> $arguments,
                _ => {}
            }
        }};
    }

    pub(super) fn nearest_512(
        _: Avx512,
        panel: &[f32],
        centres: &[f32],
        half: &[f32],
        out: &mut Nearest,
    ) {
        #[target_feature(enable = "avx512f")]
        fn compiled(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
            tiles!(half, first, tile_512(first, panel, centres, half, out));
        }
        // SAFETY: the function needs nothing but AVX-512 F, which the token proves.
        unsafe { compiled(panel, centres, half, out) }
    }

    pub(super) fn nearest_256(
        _: Avx2,
        panel: &[f32],
        centres: &[f32],
        half: &[f32],
        out: &mut Nearest,
    ) {
        #[target_feature(enable = "avx2,fma")]
        fn compiled(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
            for rows in 0..4 {
                tiles!(
                    half,
                    first,
                    tile_256(first, rows, panel, centres, half, out)
                );
            }
        }
        // SAFETY: the function needs nothing but AVX2 and FMA, which the token proves.
        unsafe { compiled(panel, centres, half, out) }
    }

    /// Scores `J` centres, from `first` on, against all 64 rows.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn tile_512<const J: usize>(
        first: usize,
        panel: &[f32],
        centres: &[f32],
        half: &[f32],
        out: &mut Nearest,
    ) {
        let d = panel.len() / PANEL;
        let centres = &centres[first * d..(first + J) * d];
        let half = &half[first..first + J];
        let mut scores: [[__m512; 4]; J] = std::array::from_fn(|t| [_mm512_set1_ps(-half[t]); 4]);
        for p in 0..d {
            // SAFETY: the panel holds d·64 numbers and p < d, so the four loads of 16 end at or before its end.
            let x: [__m512; 4] = std::array::from_fn(|v| unsafe {
                _mm512_loadu_ps(panel.as_ptr().add(p * PANEL + 16 * v))
            });
            for t in 0..J {
                // SAFETY: the slice was cut to J·d numbers; t < J and p < d.
                let c = _mm512_set1_ps(unsafe { *centres.get_unchecked(t * d + p) });
                for v in 0..4 {
                    scores[t][v] = _mm512_fmadd_ps(x[v], c, scores[t][v]);
                }
            }
        }
        for v in 0..4 {
            // SAFETY: each field of `Nearest` holds 64 numbers of four bytes; 16·v + 16 ≤ 64.
            unsafe {
                let (best_at, second_at) = (
                    out.best.as_mut_ptr().add(16 * v),
                    out.second.as_mut_ptr().add(16 * v),
                );
                let centre_at = out.centre.as_mut_ptr().add(16 * v).cast::<__m512i>();
                let (mut best, mut second) = (_mm512_loadu_ps(best_at), _mm512_loadu_ps(second_at));
                let mut centre = _mm512_loadu_si512(centre_at);
                for t in 0..J {
                    let better = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(scores[t][v], best);
                    second = _mm512_max_ps(second, _mm512_min_ps(best, scores[t][v]));
                    centre = _mm512_mask_mov_epi32(
                        centre,
                        better,
                        _mm512_set1_epi32((first + t) as i32),
                    );
                    best = _mm512_max_ps(best, scores[t][v]);
                }
                _mm512_storeu_ps(best_at, best);
                _mm512_storeu_ps(second_at, second);
                _mm512_storeu_si512(centre_at, centre);
            }
        }
    }

    /// Scores `J` centres, from `first` on, against 16 rows, the `rows`-th quarter of the panel.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn tile_256<const J: usize>(
        first: usize,
        rows: usize,
        panel: &[f32],
        centres: &[f32],
        half: &[f32],
        out: &mut Nearest,
    ) {
        let d = panel.len() / PANEL;
        let centres = &centres[first * d..(first + J) * d];
        let half = &half[first..first + J];
        let mut scores: [[__m256; 2]; J] = std::array::from_fn(|t| [_mm256_set1_ps(-half[t]); 2]);
        assert!(rows < 4, "a panel has four quarters");
        for p in 0..d {
            // SAFETY: the panel holds d·64 numbers; p < d and rows < 4, so both loads of 8 end at or before its end.
            let x: [__m256; 2] = std::array::from_fn(|v| unsafe {
                _mm256_loadu_ps(panel.as_ptr().add(p * PANEL + 16 * rows + 8 * v))
            });
            for t in 0..J {
                // SAFETY: the slice was cut to J·d numbers; t < J and p < d.
                let c = _mm256_set1_ps(unsafe { *centres.get_unchecked(t * d + p) });
                for v in 0..2 {
                    scores[t][v] = _mm256_fmadd_ps(x[v], c, scores[t][v]);
                }
            }
        }
        for v in 0..2 {
            let lane = 16 * rows + 8 * v;
            // SAFETY: each field of `Nearest` holds 64 numbers of four bytes; lane + 8 ≤ 64.
            unsafe {
                let (best_at, second_at) = (
                    out.best.as_mut_ptr().add(lane),
                    out.second.as_mut_ptr().add(lane),
                );
                let centre_at = out.centre.as_mut_ptr().add(lane).cast::<__m256i>();
                let (mut best, mut second) = (_mm256_loadu_ps(best_at), _mm256_loadu_ps(second_at));
                let mut centre = _mm256_loadu_si256(centre_at);
                for t in 0..J {
                    let better =
                        _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(scores[t][v], best));
                    second = _mm256_max_ps(second, _mm256_min_ps(best, scores[t][v]));
                    centre =
                        _mm256_blendv_epi8(centre, _mm256_set1_epi32((first + t) as i32), better);
                    best = _mm256_max_ps(best, scores[t][v]);
                }
                _mm256_storeu_ps(best_at, best);
                _mm256_storeu_ps(second_at, second);
                _mm256_storeu_si256(centre_at, centre);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panels, centres and ½‖c‖² for many widths and numbers of centres.
    fn cases() -> impl Iterator<Item = (Vec<f32>, Vec<f32>, Vec<f32>)> {
        (0..120usize).map(|case| {
            let (d, k) = (1 + case % 17, 1 + case % 23);
            let number = |place: usize| ((place * 37 + case) as f64 * 0.618).sin() as f32 * 3.0;
            let panel: Vec<f32> = (0..d * PANEL).map(number).collect();
            let centres: Vec<f32> = (0..k * d).map(|place| number(7 * place + 5)).collect();
            let half = centres
                .chunks_exact(d)
                .map(|c| 0.5 * c.iter().map(|x| x * x).sum::<f32>())
                .collect();
            (panel, centres, half)
        })
    }

    fn found(level: Level, (panel, centres, half): &(Vec<f32>, Vec<f32>, Vec<f32>)) -> Nearest {
        let mut out = Nearest::new();
        nearest_at(level, panel, centres, half, &mut out);
        out
    }

    #[test]
    fn the_nearest_two_are_found() {
        for case in cases() {
            let (panel, centres, half) = &case;
            let d = panel.len() / PANEL;
            for (level, lane) in Level::all()
                .into_iter()
                .flat_map(|level| (0..PANEL).map(move |lane| (level, lane)))
            {
                let out = found(level, &case);
                let score = |j: usize| -> f64 {
                    let c = &centres[j * d..][..d];
                    (0..d)
                        .map(|p| f64::from(panel[p * PANEL + lane]) * f64::from(c[p]))
                        .sum::<f64>()
                        - f64::from(half[j])
                };
                let mut scores: Vec<f64> = (0..half.len()).map(score).collect();
                let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-3;
                assert!(near(out.best[lane], scores[out.centre[lane] as usize]));
                scores.sort_by(|a, b| b.total_cmp(a));
                assert!(near(out.best[lane], scores[0]));
                match scores.get(1) {
                    Some(&second) => assert!(near(out.second[lane], second)),
                    None => assert_eq!(out.second[lane], f32::NEG_INFINITY),
                }
            }
        }
    }

    #[test]
    fn ties_go_to_the_smaller_centre() {
        let (panel, mut out) = (vec![1.0; 2 * PANEL], Nearest::new());
        nearest(&panel, &[0.5, 0.5].repeat(9), &[0.25; 9], &mut out);
        assert_eq!(out.centre, [0; PANEL]);
        assert_eq!(out.best, out.second);
    }

    #[test]
    fn vectors_of_any_width_give_the_bits_of_the_fused_reference() {
        for case in cases() {
            let mut fused = Nearest::new();
            fused.clear();
            reference::<true>(&case.0, &case.1, &case.2, &mut fused);
            for level in Level::all() {
                let found = found(level, &case);
                assert_eq!(found.centre, fused.centre, "{level:?}");
                assert!(found == fused || level.bits() == 128, "{level:?}");
            }
        }
    }
}
