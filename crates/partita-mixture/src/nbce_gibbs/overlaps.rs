//! Overlaps of a partition's clusters with those of posterior samples, kept while single objects move.

use partita_core::Partition;

/// How many objects of each cluster are in each cluster of each sample.
pub(crate) struct Overlaps<'a> {
    samples: &'a [Partition],
    /// Where each sample's clusters start.
    starts: Vec<usize>,
    width: usize,
    /// One line of `width` counts for every cluster of every sample.
    cells: Vec<u32>,
    sizes: Vec<u32>,
}

impl<'a> Overlaps<'a> {
    pub(crate) fn of(samples: &'a [Partition], labels: &[u32], width: usize) -> Self {
        let mut starts = vec![0];
        samples.iter().for_each(|sample| starts.push(starts[starts.len() - 1] + sample.clusters()));
        let cells = vec![0; starts[samples.len()] * width];
        let mut overlaps = Self { samples, starts, width, cells, sizes: vec![0; width] };
        labels.iter().enumerate().for_each(|(i, &k)| overlaps.count(i, k as usize, true));
        overlaps
    }

    /// Objects of a cluster.
    pub(crate) fn size(&self, cluster: usize) -> u32 {
        self.sizes[cluster]
    }

    /// Objects of every cluster that are in a cluster of a sample.
    pub(crate) fn of_sample(&self, sample: usize, place: usize) -> &[u32] {
        &self.cells[self.line(sample, place)..][..self.width]
    }

    fn line(&self, sample: usize, place: usize) -> usize {
        (self.starts[sample] + place) * self.width
    }

    /// Puts object `i` into cluster `k`, or takes it out.
    pub(crate) fn count(&mut self, i: usize, k: usize, add: bool) {
        let change = |count: &mut u32| if add { *count += 1 } else { *count -= 1 };
        change(&mut self.sizes[k]);
        for s in 0..self.samples.len() {
            let line = self.line(s, self.samples[s].labels()[i] as usize);
            change(&mut self.cells[line + k]);
        }
    }

    /// What it costs to put object `i` into each cluster, times the number of samples.
    pub(crate) fn costs(&self, i: usize, steps: &[f64], costs: &mut [f64]) {
        let count = self.samples.len() as f64;
        costs.iter_mut().zip(&self.sizes).for_each(|(cost, &size)| *cost = count * steps[size as usize]);
        for (s, sample) in self.samples.iter().enumerate() {
            let line = &self.cells[self.line(s, sample.labels()[i] as usize)..][..self.width];
            costs.iter_mut().zip(line).for_each(|(cost, &cell)| *cost -= 2.0 * steps[cell as usize]);
        }
    }
}
