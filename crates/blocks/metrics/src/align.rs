//! One set of labels for all base clusterings.

use partita_core::ndarray::{Array2, ArrayView1};
use partita_core::{BaseClustering, BaseWeights, Ensemble, Partition, WeightedEnsemble};
#[cfg(feature = "passes")]
use serde::{Deserialize, Serialize};

use crate::contingency::{check_sizes, weighted_cells};
use crate::information::nmi_of_cells;
use crate::{Contingency, MetricsError, Normalisation};

/// What becomes of clusters beyond the number that the reference has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "passes", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "passes", serde(rename_all = "kebab-case"))]
pub enum Surplus {
    /// They keep labels of their own, counted on from the last of the reference: the first surplus clusters of
    /// two base clusterings share a label.
    #[default]
    Own,
    /// They take the label of the reference cluster with which they share the most objects.
    Nearest,
}

/// Base clusterings in the labels of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    reference: Option<usize>,
    labels: usize,
    codes: Vec<Vec<u32>>,
}

impl Alignment {
    /// The base clustering whose labels all share; none if they share those of a partition.
    pub fn reference(&self) -> Option<usize> {
        self.reference
    }

    /// Number of labels, surplus ones included.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// The common label of every cluster of base clustering `base`.
    ///
    /// # Panics
    /// If `base` is out of range.
    pub fn codes(&self, base: usize) -> &[u32] {
        &self.codes[base]
    }

    /// The common labels of base clustering `base`, object by object; missing labels stay missing.
    ///
    /// # Panics
    /// If `base` is out of range, or the ensemble is another.
    pub fn column<'a>(
        &'a self,
        ensemble: &'a Ensemble,
        base: usize,
    ) -> impl ExactSizeIterator<Item = Option<u32>> + 'a {
        ensemble
            .column(base)
            .map(move |label| label.map(|j| self.codes[base][j]))
    }
}

/// The contingency tables of all pairs of base clusterings, from labels or from counts that are there already. Alignment and weights
/// by agreement need nothing else of an ensemble.
///
/// ```
/// use partita_core::EnsembleBuilder;
/// use partita_metrics::{BaseTables, Contingency, agreement_weights};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(4);
/// builder.push("a", [0, 0, 1, 1].map(Some))?;
/// builder.push("b", [1, 1, 0, 0].map(Some))?;
/// let counts = [[[2, 0], [0, 2]], [[0, 2], [2, 0]]]; // a with a, a with b
/// let table = |a: usize, b: usize| Contingency::of_counts(2, 2, |i, j| counts[a.abs_diff(b)][i][j]);
/// let tables = BaseTables::new(vec![2, 2], &table);
/// assert_eq!(tables.agreement_weights(), agreement_weights(&builder.finish()?));
/// # Ok(())
/// # }
/// ```
pub struct BaseTables<'a> {
    clusters: Vec<usize>,
    table: &'a Table<'a>,
}

/// The table of two base clusterings over the objects that both label.
type Table<'a> = dyn Fn(usize, usize) -> Result<Contingency, MetricsError> + 'a;

impl std::fmt::Debug for BaseTables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BaseTables")
            .field("clusters", &self.clusters)
            .finish_non_exhaustive()
    }
}

impl<'a> BaseTables<'a> {
    /// Base clusterings with so many clusters, whose tables `table` gives by their indices, rows for the first.
    pub fn new(clusters: Vec<usize>, table: &'a Table<'a>) -> Self {
        Self { clusters, table }
    }

    /// [`best_reference`] from these tables.
    pub fn best_reference(
        &self,
        weights: Option<&BaseWeights>,
        eligible: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let bases = self.clusters.len();
        let chosen: Vec<bool> = (0..bases).map(eligible).collect();
        let weight = |u: usize| weights.map_or(1.0, |weights| weights.as_slice()[u]);
        let mut overlap = vec![0.0; bases];
        for a in 0..bases {
            for b in (a..bases).filter(|&b| chosen[a] || chosen[b]) {
                // Two base clusterings that share no object overlap in none.
                let shared = (self.table)(a, b).map_or(0.0, |t| t.matched_objects() as f64);
                overlap[a] += weight(b) * shared;
                if a != b {
                    overlap[b] += weight(a) * shared;
                }
            }
        }
        let better = |best: Option<usize>, u: usize| match best {
            Some(best) if overlap[u] <= overlap[best] => Some(best),
            _ => Some(u),
        };
        (0..bases).filter(|&u| chosen[u]).fold(None, better)
    }

    /// [`align_to`] from these tables.
    ///
    /// # Errors
    /// [`MetricsError::NoSuchBase`] if there is no such reference.
    pub fn align_to(&self, reference: usize, surplus: Surplus) -> Result<Alignment, MetricsError> {
        let bases = self.clusters.len();
        let known = *self
            .clusters
            .get(reference)
            .ok_or(MetricsError::NoSuchBase {
                base: reference,
                bases,
            })?;
        let mut alignment = align_by(&self.clusters, known, surplus, |base| {
            (self.table)(base, reference)
        });
        alignment.codes[reference] = (0..known as u32).collect();
        alignment.reference = Some(reference);
        Ok(alignment)
    }

    /// [`agreement_matrix`] from these tables.
    pub fn agreement_matrix(&self) -> Array2<f64> {
        self.matrix(|table| table.nmi(Normalisation::Geometric))
    }

    /// An index of every pair of tables, with ones on the diagonal; NaN of a pair that shares no object.
    fn matrix(&self, index: impl Fn(&Contingency) -> f64) -> Array2<f64> {
        let bases = self.clusters.len();
        let mut agreement = Array2::from_elem((bases, bases), 1.0);
        for a in 0..bases {
            for b in a + 1..bases {
                let shared = (self.table)(a, b).map_or(f64::NAN, |table| index(&table));
                (agreement[[a, b]], agreement[[b, a]]) = (shared, shared);
            }
        }
        agreement
    }

    /// [`agreement_weights`] from these tables.
    pub fn agreement_weights(&self) -> BaseWeights {
        let agreement = self.agreement_matrix();
        let others = self.clusters.len().saturating_sub(1).max(1) as f64;
        let weight = |(own, row): (usize, ArrayView1<'_, f64>)| {
            // Those that share no object agree in nothing.
            let known = row
                .iter()
                .enumerate()
                .filter(|(other, shared)| *other != own && !shared.is_nan());
            (known.map(|(_, shared)| shared).sum::<f64>() / others).max(1e-3)
        };
        BaseWeights::new(agreement.outer_iter().enumerate().map(weight).collect())
            .expect("weights of at least 0.001 are positive")
            .in_proportion()
    }
}

fn clusters(ensemble: &Ensemble) -> Vec<usize> {
    ensemble
        .bases()
        .iter()
        .map(BaseClustering::clusters)
        .collect()
}

/// Gives all base clusterings the labels of the one that overlaps most with the others.
///
/// The reference is the base clustering for which the mean number of objects shared with all base clusterings
/// under the best matching is largest (the mean is weighted where `weights` are given). Ties go to the smaller
/// index. See [`align_to`] for the alignment itself.
///
/// # Errors
/// None that an ensemble can cause; [`MetricsError`] is what the parts return.
///
/// # Cost
/// O(M² n) time for the tables, and M² matchings.
pub fn align(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    surplus: Surplus,
) -> Result<Alignment, MetricsError> {
    let reference = best_reference(ensemble, weights, |_| true).unwrap_or(0);
    align_to(ensemble, reference, surplus)
}

/// The base clustering, among those that `eligible` accepts by index, for which the mean number of objects shared
/// with all base clusterings under the best matching is largest; none if it accepts none. Ties go to the smaller
/// index.
///
/// # Cost
/// O(E M n) time for the tables of E eligible base clusterings, and E M matchings.
pub fn best_reference(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    eligible: impl Fn(usize) -> bool,
) -> Option<usize> {
    BaseTables::new(clusters(ensemble), &|a, b| {
        Contingency::of_bases(ensemble, a, b)
    })
    .best_reference(weights, eligible)
}

/// Gives all base clusterings the labels of base clustering `reference`: each is matched one to one so that the
/// most objects get the label that they have in the reference. Objects that either does not label take no part.
/// While the reference has labels left, clusters that share nothing with it take those, in order.
///
/// # Errors
/// [`MetricsError::NoSuchBase`] if there is no such reference.
///
/// # Cost
/// O(M n) time for the tables, and M matchings.
///
/// ```
/// use partita_core::EnsembleBuilder;
/// use partita_metrics::{Surplus, align_to};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(4);
/// builder.push("a", [Some(0), Some(0), Some(1), Some(1)])?;
/// builder.push("b", [Some(1), Some(1), Some(0), None])?;
/// let ensemble = builder.finish()?;
/// let alignment = align_to(&ensemble, 0, Surplus::Own)?;
/// assert_eq!(alignment.column(&ensemble, 1).collect::<Vec<_>>(), [Some(0), Some(0), Some(1), None]);
/// # Ok(())
/// # }
/// ```
pub fn align_to(
    ensemble: &Ensemble,
    reference: usize,
    surplus: Surplus,
) -> Result<Alignment, MetricsError> {
    BaseTables::new(clusters(ensemble), &|a, b| {
        Contingency::of_bases(ensemble, a, b)
    })
    .align_to(reference, surplus)
}

/// Gives all base clusterings the labels of a partition of the same objects, as [`align_to`] does with those of a
/// base clustering.
///
/// # Errors
/// [`MetricsError::Sizes`] if the partition labels another number of objects.
///
/// # Cost
/// As [`align_to`].
pub fn align_to_partition(
    ensemble: &Ensemble,
    partition: &Partition,
    surplus: Surplus,
) -> Result<Alignment, MetricsError> {
    check_sizes(partition.objects(), ensemble.objects())?;
    let table = |base| Ok(Contingency::with_base(partition, ensemble, base)?.transposed());
    Ok(align_by(
        &clusters(ensemble),
        partition.clusters(),
        surplus,
        table,
    ))
}

/// Gives base clusterings with so many `clusters` the labels of a partition into `known` ones, as [`align_to_partition`] does,
/// from the tables that they have with it: rows for the base clustering.
pub fn align_by(
    clusters: &[usize],
    known: usize,
    surplus: Surplus,
    table: impl Fn(usize) -> Result<Contingency, MetricsError>,
) -> Alignment {
    let codes: Vec<Vec<u32>> = (clusters.iter().enumerate())
        .map(|(base, &clusters)| match table(base) {
            Ok(table) => code(&table, surplus),
            // No object in common: nothing says which label is which, so labels stay as they are.
            Err(_) => code_apart(clusters, known, surplus),
        })
        .collect();
    let labels = codes
        .iter()
        .flatten()
        .map(|&label| label as usize + 1)
        .max()
        .unwrap_or(0)
        .max(known);
    Alignment {
        reference: None,
        labels,
        codes,
    }
}

fn code(table: &Contingency, surplus: Surplus) -> Vec<u32> {
    let (matched, known) = (table.matching(), table.column_sizes().len());
    let nearest = nearest(table);
    let mut taken = vec![false; known];
    matched
        .iter()
        .flatten()
        .for_each(|&column| taken[column] = true);
    // Labels that nobody matched, then those beyond the reference.
    let mut left = (0..known).filter(|&column| !taken[column]).chain(known..);
    let label = |(row, matched): (usize, &Option<usize>)| {
        let column = matched.unwrap_or_else(|| match left.next() {
            Some(column) if column < known || surplus == Surplus::Own => column,
            _ => nearest[row],
        });
        column as u32
    };
    matched.iter().enumerate().map(label).collect()
}

fn code_apart(clusters: usize, known: usize, surplus: Surplus) -> Vec<u32> {
    let fold = |j: usize| {
        if surplus == Surplus::Nearest && j >= known {
            0
        } else {
            j
        }
    };
    (0..clusters).map(|j| fold(j) as u32).collect()
}

/// The column with which every row shares the most objects; ties go to the smaller one.
fn nearest(table: &Contingency) -> Vec<usize> {
    let mut best = vec![(0, 0); table.row_sizes().len()];
    for (row, column, count) in table.cells() {
        if count > best[row].0 {
            best[row] = (count, column);
        }
    }
    best.into_iter().map(|(_, column)| column).collect()
}

/// Mean over the base clusterings of the normalised mutual information (geometric) that a partition shares with
/// them (Strehl and Ghosh 2002). Objects that a base clustering does not label drop out of that comparison. An ensemble may come with
/// weights ([`WeightedEnsemble`]): the mean is then that of the weighted base clusterings, and an object of weight w counts as w objects.
///
/// # Errors
/// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object;
/// [`MetricsError::Empty`] if a base clustering that counts labels none of the objects that count.
///
/// # Cost
/// O(n M) time, O(n M log K J) with weights of objects.
pub fn anmi<'a>(
    partition: &Partition,
    of: impl Into<WeightedEnsemble<'a>>,
) -> Result<f64, MetricsError> {
    let of: WeightedEnsemble<'_> = of.into();
    let bases = of.ensemble.bases().len();
    let weights = of
        .shares()
        .map_or_else(|| vec![1.0; bases], <[f64]>::to_vec);
    check_sizes(weights.len(), bases)?;
    let shared = |base: usize| match of.multiplicities() {
        None => {
            Ok(Contingency::with_base(partition, of.ensemble, base)?.nmi(Normalisation::Geometric))
        }
        Some(objects) => {
            let cells = weighted_cells(partition, of.ensemble, base, objects)?;
            if cells.is_empty() {
                Err(MetricsError::Empty)
            } else {
                Ok(nmi_of_cells(&cells, Normalisation::Geometric))
            }
        }
    };
    let counting = weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0);
    let sum: f64 = counting
        .map(|(base, weight)| Ok(weight * shared(base)?))
        .sum::<Result<f64, MetricsError>>()?;
    Ok(sum / weights.iter().sum::<f64>())
}

/// Weight of every base clustering: its mean normalised mutual information (geometric) with the others, over
/// the objects that both label. A base clustering that agrees with nobody gets a small weight, not none.
///
/// # Cost
/// O(M² n) time.
pub fn agreement_weights(ensemble: &Ensemble) -> BaseWeights {
    BaseTables::new(clusters(ensemble), &|a, b| {
        Contingency::of_bases(ensemble, a, b)
    })
    .agreement_weights()
}

/// The normalised mutual information (geometric) of every pair of base clusterings over the objects that both label, M × M with ones on
/// the diagonal; NaN where no object has both labels.
///
/// # Cost
/// O(M² n) time.
pub fn agreement_matrix(ensemble: &Ensemble) -> Array2<f64> {
    BaseTables::new(clusters(ensemble), &|a, b| {
        Contingency::of_bases(ensemble, a, b)
    })
    .agreement_matrix()
}

/// The adjusted Rand index of every pair of base clusterings over the objects that both label, M × M with ones on the diagonal; NaN where
/// no object has both labels.
///
/// # Cost
/// O(M² n) time.
pub fn rand_matrix(ensemble: &Ensemble) -> Array2<f64> {
    BaseTables::new(clusters(ensemble), &|a, b| {
        Contingency::of_bases(ensemble, a, b)
    })
    .matrix(Contingency::ari)
}
