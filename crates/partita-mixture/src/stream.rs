//! Label rows that do not fit into memory: they pass by in groups, once a round.

use partita_core::ndarray::{Array2, ArrayView2, s};
use partita_core::{BaseClustering, Ensemble, Label, MemoryBudget, Seed, chunks};
use rand::RngExt;
use rayon::prelude::*;

use crate::partial::Partial;
use crate::table::{LogTable, lines, normalise, offsets};
use crate::{MixtureError, Rows};

/// Rows of a group that one partial sum is made of, at least, and the most partial sums of a group.
const FEWEST_ROWS: usize = 4096;
const MOST_PARTS: usize = 16;

/// Label rows in groups that can be read again and again.
pub trait LabelSource: Sync {
    /// The base clusterings, M of them.
    fn bases(&self) -> &[BaseClustering];

    /// Number of groups.
    fn groups(&self) -> usize;

    /// Objects of a group.
    fn rows(&self, group: usize) -> usize;

    /// The label rows of a group, objects × M: clusters, or [`u16::MAX`] where a label is missing. The groups one after
    /// the other are all objects, and the same whenever they are read.
    ///
    /// # Errors
    /// What kept it from being read.
    fn read(&self, group: usize) -> Result<Array2<u16>, String>;
}

/// The labels of a group of objects.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StreamedLabels {
    /// Index of the first object.
    pub first: u64,
    /// The cluster of every object.
    pub labels: Vec<u32>,
    /// The probability of every object's cluster.
    pub certainty: Vec<f64>,
}

/// A source, and how many of its groups are in memory at once.
pub(crate) struct Passes<'a> {
    source: &'a dyn LabelSource,
    offsets: Vec<usize>,
    window: usize,
}

/// What the last pass finds besides labels.
pub(crate) struct Told {
    pub(crate) sizes: Vec<u64>,
    pub(crate) log_likelihood: f64,
    /// Labels that are there.
    pub(crate) labels: u64,
}

impl<'a> Passes<'a> {
    /// Takes as many groups at once as there are threads and the budget has room for.
    pub(crate) fn new(
        source: &'a dyn LabelSource,
        clusters: usize,
        budget: MemoryBudget,
    ) -> Result<Self, MixtureError> {
        let offsets = offsets(source.bases());
        let (bases, values) = (source.bases().len() as u64, offsets[offsets.len() - 1] as u64);
        let largest = (0..source.groups()).map(|group| source.rows(group)).max().unwrap_or(0) as u64;
        // Labels, the column that is being decoded, and what is written of every object.
        let group = largest * (2 * bases + 48) + MOST_PARTS as u64 * 8 * (values + bases + 1) * clusters as u64;
        let fixed =
            32 * (values + bases + 1) * clusters as u64 + SAMPLE_ROWS as u64 * (4 * bases + 24 * clusters as u64);
        budget.check("one group of label rows", fixed + group, "write the file in smaller row groups")?;
        let window = ((budget.bytes() - fixed) / group.max(1)).min(rayon::current_num_threads() as u64).max(1);
        Ok(Self { source, offsets, window: window as usize })
    }

    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Objects of all groups.
    pub(crate) fn objects(&self) -> u64 {
        (0..self.source.groups()).map(|group| self.source.rows(group) as u64).sum()
    }

    /// Hands what `look` makes of every group to `take`, in the order of the groups.
    fn each<T: Send>(
        &self,
        look: impl Fn(usize, ArrayView2<'_, u16>) -> T + Sync,
        mut take: impl FnMut(usize, T) -> Result<(), MixtureError>,
    ) -> Result<(), MixtureError> {
        let one = |group: usize| {
            let rows = self.source.read(group).map_err(|reason| MixtureError::Source { group, reason })?;
            check(group, &rows, self.source)?;
            Ok(look(group, rows.view()))
        };
        for window in chunks(self.source.groups(), self.window) {
            let first = window.start;
            let found: Vec<Result<T, MixtureError>> = window.into_par_iter().map(one).collect();
            for (at, found) in found.into_iter().enumerate() {
                take(first + at, found?)?;
            }
        }
        Ok(())
    }

    /// One round's expectation under `table`, over all groups.
    pub(crate) fn expect(&self, table: &LogTable) -> Result<Partial, MixtureError> {
        let zero = || Partial::zero(self.offsets[self.offsets.len() - 1], table.clusters());
        let group = |_: usize, rows: ArrayView2<'_, u16>| {
            let parts: Vec<Partial> = parts(rows.nrows())
                .into_par_iter()
                .map(|range| {
                    let (mut part, weights) = (zero(), vec![1.0; range.len()]);
                    part.expect(rows.slice(s![range, ..]), &weights, &self.offsets, table);
                    part
                })
                .collect();
            parts.into_iter().reduce(Partial::merged)
        };
        let mut all = zero();
        self.each(group, |_, found| {
            if let Some(found) = found {
                let sums = std::mem::replace(&mut all, Partial::zero(0, 0));
                all = sums.merged(found);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The size of every cluster under `table`, and which are some object's most probable one.
    pub(crate) fn survey(&self, table: &LogTable) -> Result<(Vec<f64>, Vec<bool>), MixtureError> {
        let clusters = table.clusters();
        let group = |_: usize, rows: ArrayView2<'_, u16>| {
            let part = |range: std::ops::Range<usize>| {
                let (mut sizes, mut chosen, mut soft) =
                    (vec![0.0; clusters], vec![false; clusters], vec![0.0; clusters]);
                for row in rows.slice(s![range, ..]).outer_iter() {
                    table.score(lines(row, &self.offsets), &mut soft);
                    normalise(&mut soft);
                    chosen[largest(&soft)] = true;
                    sizes.iter_mut().zip(&soft).for_each(|(size, p)| *size += p);
                }
                (sizes, chosen)
            };
            parts(rows.nrows()).into_par_iter().map(part).collect::<Vec<_>>()
        };
        let (mut sizes, mut chosen) = (vec![0.0; clusters], vec![false; clusters]);
        self.each(group, |_, found| {
            for (some, best) in found {
                sizes.iter_mut().zip(some).for_each(|(a, b)| *a += b);
                chosen.iter_mut().zip(best).for_each(|(a, b)| *a |= b);
            }
            Ok(())
        })?;
        Ok((sizes, chosen))
    }

    /// Writes the labels of all objects: probabilities under `table` are summed into the places of its clusters, and
    /// told beside the likelihood under `model`.
    pub(crate) fn label(
        &self,
        table: &LogTable,
        place: &[usize],
        model: &LogTable,
        sink: &mut dyn FnMut(StreamedLabels) -> Result<(), String>,
    ) -> Result<Told, MixtureError> {
        let places = place.iter().max().map_or(1, |most| most + 1);
        let group = |_: usize, rows: ArrayView2<'_, u16>| {
            let part = |range: std::ops::Range<usize>| {
                let (mut soft, mut sums) = (vec![0.0; table.clusters()], vec![0.0; places]);
                let (mut found, mut log, mut labels) = (Vec::with_capacity(range.len()), 0.0, 0);
                for row in rows.slice(s![range, ..]).outer_iter() {
                    table.score(lines(row, &self.offsets), &mut soft);
                    if normalise(&mut soft) == f64::NEG_INFINITY {
                        soft.copy_from_slice(&table.prior);
                        normalise(&mut soft);
                    }
                    sums.fill(0.0);
                    soft.iter().zip(place).for_each(|(p, &place)| sums[place] += p);
                    let best = largest(&sums);
                    found.push((best as u32, sums[best].min(1.0)));
                    let mut scores = vec![0.0; model.clusters()];
                    model.score(lines(row, &self.offsets), &mut scores);
                    log += normalise(&mut scores);
                    labels += lines(row, &self.offsets).count() as u64;
                }
                (found, log, labels)
            };
            parts(rows.nrows()).into_par_iter().map(part).collect::<Vec<_>>()
        };
        let mut told = Told { sizes: vec![0; places], log_likelihood: 0.0, labels: 0 };
        let mut first = 0;
        self.each(group, |_, found| {
            let mut out = StreamedLabels { first, labels: Vec::new(), certainty: Vec::new() };
            for (found, log, labels) in found {
                told.log_likelihood += log;
                told.labels += labels;
                found.iter().for_each(|&(k, _)| told.sizes[k as usize] += 1);
                out.labels.extend(found.iter().map(|found| found.0));
                out.certainty.extend(found.iter().map(|found| found.1));
            }
            first += out.labels.len() as u64;
            sink(out).map_err(MixtureError::Sink)
        })?;
        Ok(told)
    }

    /// About `SAMPLE_ROWS` objects, one from each of as many equal strata, that stand for all; and for every base
    /// clustering that labels none of them the first object that it labels.
    pub(crate) fn sample(&self, seed: Seed) -> Result<Rows<'static>, MixtureError> {
        let (objects, bases) = (self.objects(), self.source.bases().len());
        let strata = objects.min(SAMPLE_ROWS as u64);
        let stratum = objects as f64 / strata as f64;
        let mut rng = seed.rng();
        let place = |s: u64| ((s as f64 + rng.random::<f64>()) * stratum) as u64;
        let chosen: Vec<u64> =
            if strata == objects { (0..objects).collect() } else { (0..strata).map(place).collect() };
        let (mut rows, mut first) = (Vec::<u16>::new(), 0);
        let (mut labelled, mut spare) = (vec![false; bases], vec![None; bases]);
        let group = |_: usize, rows: ArrayView2<'_, u16>| rows.to_owned();
        self.each(group, |_, found| {
            let end = first + found.nrows() as u64;
            let from = chosen.partition_point(|&object| object < first);
            for &object in chosen[from..].iter().take_while(|&&object| object < end) {
                let row = found.row((object - first) as usize);
                rows.extend(row.iter());
                labelled.iter_mut().zip(row).for_each(|(labelled, label)| *labelled |= *label != u16::MISSING);
            }
            for (u, spare) in spare.iter_mut().enumerate().filter(|(_, spare)| spare.is_none()) {
                let row = found.column(u).iter().position(|&label| label != u16::MISSING);
                *spare = row.map(|row| found.row(row).to_vec());
            }
            first = end;
            Ok(())
        })?;
        let mut weights = vec![stratum; rows.len() / bases];
        for spare in spare.into_iter().zip(labelled).filter_map(|(spare, labelled)| spare.filter(|_| !labelled)) {
            rows.extend(spare);
            weights.push(1.0);
        }
        let rows = Array2::from_shape_vec((weights.len(), bases), rows).expect("rows of M labels");
        let ensemble = Ensemble::from_words(rows, self.source.bases().to_vec())
            .map_err(|error| MixtureError::Source { group: 0, reason: error.to_string() })?;
        Rows::weighted(&ensemble, &weights)
    }
}

/// Objects on which starts race.
pub(crate) const SAMPLE_ROWS: usize = 32_768;

fn parts(rows: usize) -> Vec<std::ops::Range<usize>> {
    chunks(rows, rows.div_ceil(MOST_PARTS).max(FEWEST_ROWS)).collect()
}

fn largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, k| if values[k] > values[best] { k } else { best })
}

/// Nothing that is read is believed.
fn check(group: usize, rows: &Array2<u16>, source: &dyn LabelSource) -> Result<(), MixtureError> {
    let wrong = |reason: String| Err(MixtureError::Source { group, reason });
    let wanted = (source.rows(group), source.bases().len());
    if rows.dim() != wanted {
        return wrong(format!("it has {:?} labels where {wanted:?} were announced", rows.dim()));
    }
    let most: Vec<usize> = source.bases().iter().map(BaseClustering::clusters).collect();
    for row in rows.outer_iter() {
        if let Some((u, label)) =
            row.iter().enumerate().find(|(u, label)| label.cluster().is_some_and(|j| j >= most[*u]))
        {
            return wrong(format!(
                "label {label} of base clustering '{}' is not below {}",
                source.bases()[u].name(),
                most[u]
            ));
        }
    }
    Ok(())
}
