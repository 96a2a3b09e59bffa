//! The nearest centre of 64 rows at once.
//!
//! Rows lie in the lanes of vector registers, so that the search for the best centre needs no exchange between
//! lanes and k needs no padding. One tile multiplies a few centres with 16 or 64 rows in registers. There are
//! three versions of the same loop: AVX-512, AVX2 with FMA (the same bits), and plain Rust (which rounds each
//! product unless the target always has a fused multiply-add).

/// Rows in a panel: features of 64 rows, stored feature by feature.
pub(super) const LANES: usize = 64;

/// For each row of a panel the best score, the second best, and the centre of the best.
///
/// The score of centre c for row x is x·c − ½‖c‖², which grows as their distance shrinks; ties go to the
/// smaller centre.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Nearest {
    pub(super) best: [f32; LANES],
    pub(super) second: [f32; LANES],
    pub(super) centre: [u32; LANES],
}

impl Nearest {
    pub(super) const fn new() -> Self {
        Self { best: [0.0; LANES], second: [0.0; LANES], centre: [0; LANES] }
    }

    fn clear(&mut self) {
        self.best.fill(f32::NEG_INFINITY);
        self.second.fill(f32::NEG_INFINITY);
        self.centre.fill(0);
    }
}

/// Finds the nearest of k centres (k × d, row by row; `half` holds their ½‖c‖²) for every row of a panel
/// (d × 64).
///
/// # Panics
/// If the lengths do not fit together.
pub(super) fn nearest(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    let d = panel.len() / LANES;
    assert!(panel.len() == d * LANES && centres.len() == half.len() * d, "k centres of the panel's width");
    out.clear();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: this processor has AVX-512F.
            return unsafe { x86::nearest_512(panel, centres, half, out) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: this processor has AVX2 and FMA.
            return unsafe { x86::nearest_256(panel, centres, half, out) };
        }
    }
    plain(panel, centres, half, out);
}

/// The same in plain Rust.
fn plain(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    let d = panel.len() / LANES;
    for (j, (centre, half)) in centres.chunks_exact(d).zip(half).enumerate() {
        let mut score = [-half; LANES];
        for (column, &c) in panel.chunks_exact(LANES).zip(centre) {
            for (s, &x) in score.iter_mut().zip(column) {
                *s = if cfg!(target_arch = "aarch64") { x.mul_add(c, *s) } else { x * c + *s };
            }
        }
        for lane in 0..LANES {
            let s = score[lane];
            let better = s > out.best[lane];
            out.second[lane] = out.second[lane].max(out.best[lane].min(s));
            out.centre[lane] = if better { j as u32 } else { out.centre[lane] };
            out.best[lane] = out.best[lane].max(s);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(clippy::cast_ptr_alignment, reason = "the loads and stores used are those that need no alignment")]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m256i, __m512, __m512i, _CMP_GT_OQ, _mm256_blendv_epi8, _mm256_castps_si256, _mm256_cmp_ps,
        _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_max_ps, _mm256_min_ps, _mm256_set1_epi32,
        _mm256_set1_ps, _mm256_storeu_ps, _mm256_storeu_si256, _mm512_cmp_ps_mask, _mm512_fmadd_ps, _mm512_loadu_ps,
        _mm512_loadu_si512, _mm512_mask_mov_epi32, _mm512_max_ps, _mm512_min_ps, _mm512_set1_epi32, _mm512_set1_ps,
        _mm512_storeu_ps, _mm512_storeu_si512,
    };

    use super::{LANES, Nearest};

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

    #[target_feature(enable = "avx512f")]
    pub(super) fn nearest_512(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
        tiles!(half, first, tile_512(first, panel, centres, half, out));
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn nearest_256(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
        for rows in 0..4 {
            tiles!(half, first, tile_256(first, rows, panel, centres, half, out));
        }
    }

    /// Scores `J` centres, from `first` on, against all 64 rows.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn tile_512<const J: usize>(first: usize, panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
        let d = panel.len() / LANES;
        let centres = &centres[first * d..(first + J) * d];
        let half = &half[first..first + J];
        let mut scores: [[__m512; 4]; J] = std::array::from_fn(|t| [_mm512_set1_ps(-half[t]); 4]);
        for p in 0..d {
            // SAFETY: the panel holds d·64 numbers and p < d, so the four loads of 16 end at or before its end.
            let x: [__m512; 4] =
                std::array::from_fn(|v| unsafe { _mm512_loadu_ps(panel.as_ptr().add(p * LANES + 16 * v)) });
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
                let (best_at, second_at) = (out.best.as_mut_ptr().add(16 * v), out.second.as_mut_ptr().add(16 * v));
                let centre_at = out.centre.as_mut_ptr().add(16 * v).cast::<__m512i>();
                let (mut best, mut second) = (_mm512_loadu_ps(best_at), _mm512_loadu_ps(second_at));
                let mut centre = _mm512_loadu_si512(centre_at);
                for t in 0..J {
                    let better = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(scores[t][v], best);
                    second = _mm512_max_ps(second, _mm512_min_ps(best, scores[t][v]));
                    centre = _mm512_mask_mov_epi32(centre, better, _mm512_set1_epi32((first + t) as i32));
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
        let d = panel.len() / LANES;
        let centres = &centres[first * d..(first + J) * d];
        let half = &half[first..first + J];
        let mut scores: [[__m256; 2]; J] = std::array::from_fn(|t| [_mm256_set1_ps(-half[t]); 2]);
        assert!(rows < 4, "a panel has four quarters");
        for p in 0..d {
            // SAFETY: the panel holds d·64 numbers; p < d and rows < 4, so both loads of 8 end at or before its end.
            let x: [__m256; 2] =
                std::array::from_fn(|v| unsafe { _mm256_loadu_ps(panel.as_ptr().add(p * LANES + 16 * rows + 8 * v)) });
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
                let (best_at, second_at) = (out.best.as_mut_ptr().add(lane), out.second.as_mut_ptr().add(lane));
                let centre_at = out.centre.as_mut_ptr().add(lane).cast::<__m256i>();
                let (mut best, mut second) = (_mm256_loadu_ps(best_at), _mm256_loadu_ps(second_at));
                let mut centre = _mm256_loadu_si256(centre_at);
                for t in 0..J {
                    let better = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(scores[t][v], best));
                    second = _mm256_max_ps(second, _mm256_min_ps(best, scores[t][v]));
                    centre = _mm256_blendv_epi8(centre, _mm256_set1_epi32((first + t) as i32), better);
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
    use partita_core::Seed;
    use rand::RngExt;

    /// Panels, centres and ½‖c‖² for many widths and numbers of centres.
    fn cases() -> impl Iterator<Item = (Vec<f32>, Vec<f32>, Vec<f32>)> {
        (0..120usize).map(|case| {
            let (d, k) = (1 + case % 17, 1 + case % 23);
            let mut rng = Seed::new(case as u64).rng();
            let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| rng.random_range(-3.0..3.0)).collect() };
            let (panel, centres) = (draw(d * LANES), draw(k * d));
            let half = centres.chunks_exact(d).map(|c| 0.5 * c.iter().map(|x| x * x).sum::<f32>()).collect();
            (panel, centres, half)
        })
    }

    #[test]
    fn the_nearest_two_are_found() {
        for (panel, centres, half) in cases() {
            let d = panel.len() / LANES;
            let (mut out, mut twin) = (Nearest::new(), Nearest::new());
            nearest(&panel, &centres, &half, &mut out);
            twin.clear();
            plain(&panel, &centres, &half, &mut twin);
            for lane in 0..LANES {
                let score = |j: usize| -> f64 {
                    let c = &centres[j * d..][..d];
                    (0..d).map(|p| f64::from(panel[p * LANES + lane]) * f64::from(c[p])).sum::<f64>()
                        - f64::from(half[j])
                };
                let mut scores: Vec<f64> = (0..half.len()).map(score).collect();
                let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-3;
                assert!(near(out.best[lane], scores[out.centre[lane] as usize]));
                assert!(near(twin.best[lane], scores[twin.centre[lane] as usize]));
                scores.sort_by(|a, b| b.total_cmp(a));
                assert!(near(out.best[lane], scores[0]) && near(twin.best[lane], scores[0]));
                match scores.get(1) {
                    Some(&second) => assert!(near(out.second[lane], second) && near(twin.second[lane], second)),
                    None => assert_eq!((out.second[lane], twin.second[lane]), (f32::NEG_INFINITY, f32::NEG_INFINITY)),
                }
            }
        }
    }

    #[test]
    fn ties_go_to_the_smaller_centre() {
        let (panel, mut out) = (vec![1.0; 2 * LANES], Nearest::new());
        nearest(&panel, &[0.5, 0.5].repeat(9), &[0.25; 9], &mut out);
        assert_eq!(out.centre, [0; LANES]);
        assert_eq!(out.best, out.second);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn both_vector_widths_give_the_same_bits() {
        if !(is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma")) {
            return;
        }
        for (panel, centres, half) in cases() {
            let (mut wide, mut narrow) = (Nearest::new(), Nearest::new());
            wide.clear();
            narrow.clear();
            // SAFETY: the features were asked for above (every processor with AVX-512F has AVX2).
            unsafe {
                x86::nearest_512(&panel, &centres, &half, &mut wide);
                x86::nearest_256(&panel, &centres, &half, &mut narrow);
            }
            assert_eq!((wide.best, wide.second, wide.centre), (narrow.best, narrow.second, narrow.centre));
        }
    }
}
