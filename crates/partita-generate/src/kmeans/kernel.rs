//! The nearest centre of 64 rows at once.

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
}

/// Finds the nearest of k centres (k × d, row by row; `half` holds their ½‖c‖²) for every row of a panel
/// (d × 64).
pub(super) fn nearest(panel: &[f32], centres: &[f32], half: &[f32], out: &mut Nearest) {
    let d = panel.len() / LANES;
    out.best.fill(f32::NEG_INFINITY);
    out.second.fill(f32::NEG_INFINITY);
    out.centre.fill(0);
    for (j, (centre, half)) in centres.chunks_exact(d).zip(half).enumerate() {
        let mut score = [-half; LANES];
        for (column, &c) in panel.chunks_exact(LANES).zip(centre) {
            for (s, &x) in score.iter_mut().zip(column) {
                *s += x * c;
            }
        }
        for lane in 0..LANES {
            let s = score[lane];
            let better = s > out.best[lane];
            out.second[lane] = if better { out.best[lane] } else { out.second[lane].max(s) };
            out.centre[lane] = if better { j as u32 } else { out.centre[lane] };
            out.best[lane] = if better { s } else { out.best[lane] };
        }
    }
}
