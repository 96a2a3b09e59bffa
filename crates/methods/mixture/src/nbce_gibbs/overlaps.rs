//! Overlaps of a partition's clusters with those of posterior samples, kept while single objects move.

use partita_core::Partition;

use super::partition_loss::CostTerms;

/// How many objects of each cluster are in each cluster of each sample, by weight.
pub(crate) struct Overlaps<'a> {
    samples: &'a [Partition],
    weights: Option<&'a [f64]>,
    /// Where each sample's clusters start.
    starts: Vec<usize>,
    width: usize,
    /// One line of `width` counts for every cluster of every sample.
    cells: Vec<f64>,
    sizes: Vec<f64>,
}

impl<'a> Overlaps<'a> {
    pub(crate) fn of(
        samples: &'a [Partition],
        weights: Option<&'a [f64]>,
        labels: &[u32],
        width: usize,
    ) -> Self {
        let mut starts = vec![0];
        samples
            .iter()
            .for_each(|sample| starts.push(starts[starts.len() - 1] + sample.clusters()));
        let cells = vec![0.0; starts[samples.len()] * width];
        let mut overlaps = Self {
            samples,
            weights,
            starts,
            width,
            cells,
            sizes: vec![0.0; width],
        };
        labels
            .iter()
            .enumerate()
            .for_each(|(i, &k)| overlaps.count(i, k as usize, 1.0));
        overlaps
    }

    /// What object `i` counts.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// Objects of a cluster.
    pub(crate) fn size(&self, cluster: usize) -> f64 {
        self.sizes[cluster]
    }

    /// Objects of every cluster that are in a cluster of a sample.
    pub(crate) fn of_sample(&self, sample: usize, place: usize) -> &[f64] {
        &self.cells[self.line(sample, place)..][..self.width]
    }

    fn line(&self, sample: usize, place: usize) -> usize {
        (self.starts[sample] + place) * self.width
    }

    /// Puts object `i` into cluster `k`, or takes it out where `sign` is −1.
    pub(crate) fn count(&mut self, i: usize, k: usize, sign: f64) {
        let one = sign * self.weight(i);
        self.sizes[k] += one;
        for s in 0..self.samples.len() {
            let line = self.line(s, self.samples[s].labels()[i] as usize);
            self.cells[line + k] += one;
        }
    }

    /// What it costs to put object `i` into each cluster, times the number of samples.
    pub(crate) fn costs(&self, i: usize, terms: &CostTerms<'_>, costs: &mut [f64]) {
        let (count, weight) = (self.samples.len() as f64, self.weight(i));
        costs
            .iter_mut()
            .zip(&self.sizes)
            .for_each(|(cost, &size)| *cost = count * terms.rise(size, weight));
        for (s, sample) in self.samples.iter().enumerate() {
            let line = &self.cells[self.line(s, sample.labels()[i] as usize)..][..self.width];
            costs
                .iter_mut()
                .zip(line)
                .for_each(|(cost, &cell)| *cost -= 2.0 * terms.rise(cell, weight));
        }
    }
}
