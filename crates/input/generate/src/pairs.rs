//! Dissimilarities of all pairs of objects.

use std::str::FromStr;

use partita_core::ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

use crate::GenerateError;

/// How far objects are apart, by their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dissimilarity {
    /// Euclidean distance.
    Euclidean,
    /// 1 less Pearson's correlation.
    Pearson,
    /// 1 less Spearman's correlation, which is that of ranks.
    Spearman,
}

impl FromStr for Dissimilarity {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        match text {
            "euclidean" => Ok(Self::Euclidean),
            "pearson" => Ok(Self::Pearson),
            "spearman" => Ok(Self::Spearman),
            _ => Err(GenerateError::UnknownDissimilarity { name: text.into() }),
        }
    }
}

/// Numbers of all pairs, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    values: Vec<f64>,
    pub(crate) n: usize,
}

impl Pairs {
    /// Of a condensed matrix in SciPy's order.
    pub(crate) fn of(condensed: &[f64], n: usize) -> Self {
        let mut values = vec![0.0; n * n];
        let mut pairs = condensed.iter();
        for i in 0..n {
            for (j, &distance) in (i + 1..n).zip(pairs.by_ref()) {
                (values[i * n + j], values[j * n + i]) = (distance, distance);
            }
        }
        Self { values, n }
    }

    /// Squared Euclidean distances of rows.
    pub(crate) fn squared(rows: ArrayView2<'_, f64>) -> Self {
        let mut centred = rows.to_owned();
        if let Some(mean) = rows.mean_axis(Axis(0)) {
            centred -= &mean;
        }
        let norms: Vec<f64> = centred.outer_iter().map(|row| row.dot(&row)).collect();
        Self::of_products(&centred, |i, j, product| {
            norms[i] + norms[j] - 2.0 * product
        })
    }

    /// Dissimilarities of rows.
    pub(crate) fn measured(rows: ArrayView2<'_, f64>, by: Dissimilarity) -> Self {
        let mut rows = match by {
            Dissimilarity::Euclidean => {
                let mut made = Self::squared(rows);
                made.values
                    .iter_mut()
                    .for_each(|value| *value = value.sqrt());
                return made;
            }
            Dissimilarity::Pearson => rows.to_owned(),
            Dissimilarity::Spearman => {
                let mut ranked = Array2::zeros(rows.dim());
                for (mut to, row) in ranked.outer_iter_mut().zip(rows.outer_iter()) {
                    to.assign(&partita_core::ndarray::Array1::from(ranks(&row.to_vec())));
                }
                ranked
            }
        };
        for mut row in rows.outer_iter_mut() {
            let mean = row.mean().unwrap_or_default();
            row -= mean;
            let norm = row.dot(&row).sqrt();
            row /= norm;
        }
        Self::of_products(&rows, |_, _, product| 1.0 - product)
    }

    /// What the scalar products of all pairs of rows give; what rounding makes negative is 0.
    fn of_products(rows: &Array2<f64>, value: impl Fn(usize, usize, f64) -> f64 + Sync) -> Self {
        // Rows at a time: enough for a fast product of matrices, few enough for several threads.
        const BLOCK: usize = 64;
        let n = rows.nrows();
        let mut values = vec![0.0; n * n];
        values
            .par_chunks_mut(BLOCK * n.max(1))
            .enumerate()
            .for_each(|(at, part)| {
                let first = at * BLOCK;
                let block = rows.slice(s![first..(first + BLOCK).min(n), ..]);
                let products = block.dot(&rows.slice(s![first.., ..]).t());
                for ((row, column), &product) in products.indexed_iter() {
                    let (i, j) = (first + row, first + column);
                    if i != j {
                        // Not max, which makes 0 of NaN.
                        let value = value(i, j, product);
                        part[row * n + j] = if value < 0.0 { 0.0 } else { value };
                    }
                }
            });
        for i in 0..n {
            for j in i + 1..n {
                values[j * n + i] = values[i * n + j];
            }
        }
        Self { values, n }
    }

    /// Those of some objects.
    pub(crate) fn select(&self, objects: &[usize]) -> Self {
        let rows = objects.iter().map(|&i| self.row(i));
        Self {
            values: rows
                .flat_map(|row| objects.iter().map(|&j| row[j]))
                .collect(),
            n: objects.len(),
        }
    }

    /// The numbers of a square matrix.
    pub(crate) fn of_square(values: ArrayView2<'_, f64>) -> Self {
        Self {
            values: values.iter().copied().collect(),
            n: values.nrows(),
        }
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..][..self.n]
    }

    /// In SciPy's order.
    pub(crate) fn condensed(&self) -> Vec<f64> {
        let rows = (0..self.n).map(|i| &self.row(i)[i + 1..]);
        rows.flatten().copied().collect()
    }
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = first as f64 + (same.len() + 1) as f64 / 2.0;
        same.iter().for_each(|&at| ranks[at] = mean);
        first += same.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_give_the_dissimilarities() {
        let rows = Array2::from_shape_fn((70, 5), |(i, p)| ((i * 31 + p * 17) % 23) as f64 + 40.0);
        let squared = Pairs::squared(rows.view());
        let pearson = Pairs::measured(rows.view(), Dissimilarity::Pearson);
        for (i, a) in rows.outer_iter().enumerate() {
            for (j, b) in rows.outer_iter().enumerate() {
                let difference = &a - &b;
                assert!((squared.row(i)[j] - difference.dot(&difference)).abs() < 1e-9);
                let (a, b) = (&a - a.mean().unwrap(), &b - b.mean().unwrap());
                let correlation = a.dot(&b) / (a.dot(&a) * b.dot(&b)).sqrt();
                assert!((pearson.row(i)[j] - (1.0 - correlation)).abs() < 1e-12);
            }
        }
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }
}
