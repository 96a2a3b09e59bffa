//! The centres of a run in single precision, as the kernels read them.

use partita_kernels::Tiles;

use crate::dense_rows::DenseRows;
use crate::drift::Drift;

/// Centres of a run, and how far they have come.
pub(crate) struct Centres {
    /// k × d.
    pub(crate) single: Vec<f32>,
    /// Their ½‖c‖²; 0 by cosine.
    pub(crate) half: Vec<f32>,
    /// Both once more, for single rows.
    pub(crate) tiles: Tiles,
    /// Their moves so far.
    pub(crate) drift: Drift,
}

impl Centres {
    /// The centres `at` (k × d), before the first iteration.
    pub(crate) fn new(rows: &DenseRows, at: &[f64]) -> Self {
        let (single, half) = (vec![0.0; at.len()], vec![0.0; at.len() / rows.d]);
        let mut centres = Self {
            tiles: Tiles::new(&single, &half),
            single,
            half,
            drift: Drift::new(rows.cosine),
        };
        centres.follow(rows, at);
        centres
    }

    /// Takes over where the centres have moved to.
    pub(crate) fn follow(&mut self, rows: &DenseRows, at: &[f64]) {
        let single: Vec<f32> = at.iter().map(|&c| c as f32).collect();
        self.drift.follow(rows, &self.single, &single);
        self.single = single;
        if !rows.cosine {
            for (half, centre) in self.half.iter_mut().zip(self.single.chunks_exact(rows.d)) {
                *half = (0.5 * centre.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>()) as f32;
            }
        }
        self.tiles = Tiles::new(&self.single, &self.half);
    }
}
