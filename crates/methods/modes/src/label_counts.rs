//! One mode: aligned base clusterings, counted object by object.

use partita_core::ndarray::{Array1, Array2};
use partita_metrics::matching;

use crate::description_length::LnFactorials;
use crate::label_matrix::{LabelMatrix, MISSING};

/// Iterations of realignment, after which a mode is taken as it is.
const ITERATIONS: usize = 20;

/// Counts n_ir of the base clusterings of a mode that give row i the label r, and the alignment that they are of.
#[derive(Clone, Debug)]
pub(crate) struct LabelCounts {
    /// Labels in use or not, B′ ≥ B.
    width: usize,
    /// F × width counts.
    counts: Vec<u32>,
    /// Members with the label of each of their clusters.
    members: Vec<(usize, Vec<u32>)>,
}

impl LabelCounts {
    /// The mode of these base clusterings, aligned one after the other, then again until the description length stops falling.
    pub(crate) fn of(
        data: &LabelMatrix,
        members: &[usize],
        factorials: &LnFactorials,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let mut mode = Self {
            width: 0,
            counts: Vec::new(),
            members: Vec::new(),
        };
        for &base in members.iter().take_while(|_| !stop()) {
            mode.add(data, base);
        }
        let mut length = mode.length(data, factorials);
        for _ in 0..ITERATIONS {
            let mut next = mode.clone();
            for &base in members {
                if stop() {
                    return mode;
                }
                next.remove(data, base);
                next.add(data, base);
            }
            let next_length = next.length(data, factorials);
            if next_length >= length - 1e-9 * length.abs() {
                break;
            }
            mode = next;
            length = next_length;
        }
        mode
    }

    /// Description length of the mode, in nats.
    pub(crate) fn length(&self, data: &LabelMatrix, factorials: &LnFactorials) -> f64 {
        factorials.mode(&self.counts, self.width, &data.weights)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|(base, _)| *base)
    }

    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// Takes a base clustering in, its clusters matched one to one to the labels so that the description length grows least:
    /// by the maximum of Σ ln(n_is + 1). Clusters beyond the labels get new ones.
    pub(crate) fn add(&mut self, data: &LabelMatrix, base: usize) {
        let column = &data.columns[base];
        let mut gain = Array2::<f64>::zeros((data.clusters[base], self.width));
        if self.width > 0 {
            // Among labels that share nothing with a cluster, those in use: each further label has its price.
            gain += &self.used();
            let rows = self.counts.chunks_exact(self.width).zip(&data.weights);
            for (&label, (counts, weight)) in column.iter().zip(rows) {
                if label == MISSING {
                    continue;
                }
                for (&count, gain) in counts.iter().zip(gain.row_mut(label as usize)) {
                    if count > 0 {
                        *gain += weight * f64::from(count + 1).ln();
                    }
                }
            }
        }
        let codes = new_labels(&gain, self.width);
        self.widen(data.rows(), &codes);
        self.change(column, &codes, 1);
        self.members.push((base, codes));
    }

    /// Both modes as one, the labels of the other matched to these by what base clusterings gain on average.
    pub(crate) fn merged(&self, other: &Self, data: &LabelMatrix) -> Self {
        let mut gain = Array2::<f64>::zeros((other.width, self.width));
        let rows = self.rows().zip(other.rows());
        for ((own, others), weight) in rows.zip(&data.weights) {
            for (from, &theirs) in others.iter().enumerate().filter(|(_, theirs)| **theirs > 0) {
                for (&own, gain) in own.iter().zip(gain.row_mut(from)) {
                    if own > 0 {
                        *gain += weight * f64::from(theirs) * f64::from(own + 1).ln();
                    }
                }
            }
        }
        let labels = new_labels(&gain, self.width);
        let mut both = self.clone();
        both.widen(data.rows(), &labels);
        let rows = both.counts.chunks_exact_mut(both.width.max(1));
        for (own, others) in rows.zip(other.rows()) {
            for (count, &label) in others.iter().zip(&labels) {
                own[label as usize] += count;
            }
        }
        for (base, codes) in &other.members {
            let renamed = codes.iter().map(|&code| labels[code as usize]);
            both.members.push((*base, renamed.collect()));
        }
        both
    }

    /// The counts of every row.
    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.counts.chunks_exact(self.width.max(1))
    }

    /// Next to nothing for labels in use, nothing for others.
    fn used(&self) -> Array1<f64> {
        let mut used = Array1::zeros(self.width);
        for counts in self.rows() {
            for (&count, used) in counts.iter().zip(&mut used) {
                if count > 0 {
                    *used = 1e-9;
                }
            }
        }
        used
    }

    /// Takes a base clustering out again.
    pub(crate) fn remove(&mut self, data: &LabelMatrix, base: usize) {
        let Some(place) = self.members.iter().position(|(member, _)| *member == base) else {
            return;
        };
        let (_, codes) = self.members.remove(place);
        self.change(&data.columns[base], &codes, -1);
    }

    fn change(&mut self, column: &[u32], codes: &[u32], by: i32) {
        for (counts, &label) in self.counts.chunks_exact_mut(self.width.max(1)).zip(column) {
            if label != MISSING {
                let count = &mut counts[codes[label as usize] as usize];
                *count = count.wrapping_add_signed(by);
            }
        }
    }

    /// Makes room for these labels.
    fn widen(&mut self, rows: usize, labels: &[u32]) {
        let width = labels.iter().max().map_or(0, |&label| label as usize + 1);
        if width > self.width {
            let mut counts = vec![0; rows * width];
            for (new, old) in counts.chunks_exact_mut(width).zip(self.rows()) {
                new[..old.len()].copy_from_slice(old);
            }
            self.counts = counts;
            self.width = width;
        }
    }

    /// The counts of labels in use, F × B, largest label first.
    pub(crate) fn table(&self, weights: &[f64]) -> Array2<f64> {
        let mut labels = Vec::new();
        for label in 0..self.width {
            let rows = self.rows().zip(weights);
            let sum: f64 = rows
                .map(|(counts, weight)| weight * f64::from(counts[label]))
                .sum();
            if sum > 0.0 {
                labels.push((label, sum));
            }
        }
        labels.sort_by(|a, b| b.1.total_cmp(&a.1));
        Array2::from_shape_fn((weights.len(), labels.len()), |(row, place)| {
            f64::from(self.counts[row * self.width + labels[place].0])
        })
    }
}

/// The label of every row of a matrix of gains: its match among the first `width`, else a new one.
fn new_labels(gain: &Array2<f64>, width: usize) -> Vec<u32> {
    let mut matched = vec![None; gain.nrows()];
    if width > 0 {
        let found = matching(gain.view()).expect("logarithms of counts are finite");
        matched = found.columns;
    }
    let mut fresh = width..;
    let labels = matched
        .into_iter()
        .map(|label| label.or_else(|| fresh.next()));
    labels
        .map(|label| label.map_or(u32::MAX, |label| label as u32))
        .collect()
}
