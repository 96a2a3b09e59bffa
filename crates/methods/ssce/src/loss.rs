//! The likelihood of all base clusterings under one classifier each.

use std::ops::Range;

use partita_core::chunks;
use partita_core::ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use crate::aligned_labels::MISSING;
use crate::design::Design;

/// Rows of one block of products, and the fewest and most of them that make a partial sum.
const BLOCK: usize = 256;
const FEWEST: usize = 1024;
const PARTS: usize = 32;

/// Classifiers W (p × M K, base clustering by base clustering) for the labels `codes` of the rows of a design.
pub(crate) struct Loss<'a> {
    pub(crate) design: &'a Design,
    /// n × M labels in 0..K.
    pub(crate) codes: ArrayView2<'a, u16>,
    /// K.
    pub(crate) classes: usize,
    /// M, weights of base clusterings.
    pub(crate) base_weights: &'a [f64],
    /// Probabilities to be learned in place of the labels, n × M K; zeros where nothing is known.
    pub(crate) soft: Option<ArrayView2<'a, f64>>,
    /// What every row counts; none where all count 1.
    pub(crate) objects: Option<&'a [f64]>,
}

impl<'a> Loss<'a> {
    /// Where there are labels alone, and all rows count 1.
    pub(crate) fn new(
        design: &'a Design,
        codes: &'a Array2<u16>,
        classes: usize,
        base_weights: &'a [f64],
    ) -> Self {
        Self {
            design,
            codes: codes.view(),
            classes,
            base_weights,
            soft: None,
            objects: None,
        }
    }

    /// Base clusterings, M.
    pub(crate) fn bases(&self) -> usize {
        self.base_weights.len()
    }

    fn parts(&self) -> Vec<Range<usize>> {
        let rows = self.design.rows();
        chunks(rows, rows.div_ceil(PARTS).max(FEWEST)).collect()
    }

    /// Negative log likelihood and its gradient.
    pub(crate) fn evaluate(&self, w: &Array2<f64>) -> (f64, Array2<f64>) {
        let parts = self.parts().into_par_iter().map(|range| {
            let mut value = 0.0;
            let mut gradient = Array2::zeros(w.dim());
            for start in range.clone().step_by(BLOCK) {
                let block = start..(start + BLOCK).min(range.end);
                let mut logits = self.design.times(block.clone(), w.view());
                value += self.residuals(block.clone(), &mut logits);
                self.design
                    .add_transposed(block, logits.view(), &mut gradient);
            }
            (value, gradient)
        });
        let mut parts = parts.collect::<Vec<_>>().into_iter();
        let (mut value, mut gradient) = parts.next().expect("there are objects");
        for (own_value, own_gradient) in parts {
            value += own_value;
            gradient += &own_gradient;
        }
        (value, gradient)
    }

    /// Turns logits into probabilities minus indicators, and returns the negative log likelihood.
    fn residuals(&self, rows: Range<usize>, logits: &mut Array2<f64>) -> f64 {
        let counting = self.objects.map(|objects| &objects[rows.clone()]);
        if let Some(soft) = self.soft {
            return self.soft_residuals(soft.slice(s![rows, ..]), counting, logits);
        }
        let codes = self.codes.slice(s![rows, ..]);
        let mut value = 0.0;
        for (at, (codes, mut line)) in codes.outer_iter().zip(logits.outer_iter_mut()).enumerate() {
            let object = counting.map_or(1.0, |counting| counting[at]);
            let line = line.as_slice_mut().expect("products are contiguous");
            let bases = line.chunks_exact_mut(self.classes).zip(self.base_weights);
            for (&code, (logits, &base_weight)) in codes.iter().zip(bases) {
                if code == MISSING {
                    logits.fill(0.0);
                    continue;
                }
                let base_weight = base_weight * object;
                let own = logits[usize::from(code)];
                value += base_weight * (softmax(logits) - own);
                logits[usize::from(code)] -= 1.0;
                logits.iter_mut().for_each(|r| *r *= base_weight);
            }
        }
        value
    }

    /// Curvature of a row for a classifier μ (p × K): Σ_k p_k (1 − p_k) / K.
    pub(crate) fn curvature(&self, centre: &Array2<f64>) -> Vec<f64> {
        let probabilities = probabilities(self.design, centre.view());
        let mut curved = Vec::with_capacity(probabilities.nrows());
        for (i, row) in probabilities.outer_iter().enumerate() {
            let curvature = row.iter().map(|p| p * (1.0 - p)).sum::<f64>() / self.classes as f64;
            curved.push(
                self.objects
                    .map_or(curvature, |objects| curvature * objects[i]),
            );
        }
        curved
    }

    /// Turns logits into probabilities minus those wanted, and returns the cross-entropy.
    fn soft_residuals(
        &self,
        wanted: ArrayView2<'_, f64>,
        counting: Option<&[f64]>,
        logits: &mut Array2<f64>,
    ) -> f64 {
        let mut value = 0.0;
        for (at, (wanted, mut line)) in wanted.outer_iter().zip(logits.outer_iter_mut()).enumerate()
        {
            let object = counting.map_or(1.0, |counting| counting[at]);
            let line = line.as_slice_mut().expect("products are contiguous");
            for (u, logits) in line.chunks_exact_mut(self.classes).enumerate() {
                let base_weight = self.base_weights[u] * object;
                let wanted = wanted.slice(s![u * self.classes..(u + 1) * self.classes]);
                let all = wanted.sum();
                let pairs = wanted.iter().zip(&*logits);
                let own: f64 = pairs.map(|(wanted, logit)| wanted * logit).sum();
                value += base_weight * (softmax(logits) * all - own);
                for (p, wanted) in logits.iter_mut().zip(wanted) {
                    *p = base_weight * (all * *p - wanted);
                }
            }
        }
        value
    }
}

/// Turns logits into probabilities and returns the logarithm of the sum of their exponentials.
fn softmax(logits: &mut [f64]) -> f64 {
    if let [a, b] = logits {
        // Two classes need one exponential.
        let high = a.max(*b);
        let small = (a.min(*b) - high).exp();
        let log_sum = high + small.ln_1p();
        let [low, other] = if a < b { [a, b] } else { [b, a] };
        *low = small / (1.0 + small);
        *other = 1.0 / (1.0 + small);
        return log_sum;
    }
    let high = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - high).exp();
        sum += *logit;
    }
    logits.iter_mut().for_each(|p| *p /= sum);
    high + sum.ln()
}

/// Probabilities of K classes for every row, n × K.
pub(crate) fn probabilities(design: &Design, w: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut rows = design.times(0..design.rows(), w);
    for mut row in rows.outer_iter_mut() {
        softmax(row.as_slice_mut().expect("products are contiguous"));
    }
    rows
}
