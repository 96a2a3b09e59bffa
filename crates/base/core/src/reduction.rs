//! Weights of 0 and equal rows: what leaves a problem before a method sees it, and how it comes back into the result.
//!
//! Base clusterings of weight 0 are left out. Objects of weight 0 are left out of the fit and labelled afterwards. Where weights of
//! objects differ, objects with the same label row become one that has the sum of their weights.

use ndarray::{Array2, Axis};

use crate::{
    BaseWeights, Clusters, ConsensusError, Ensemble, Features, MethodInfo, MissingLabels,
    ObjectWeights, Outcome, Partition, Problem, Reads, SoftPartition,
};

/// A problem without what has weight 0, and where every object of the given one is in it.
pub(crate) struct Reduction {
    ensemble: Ensemble,
    features: Option<Array2<f64>>,
    base_weights: Option<BaseWeights>,
    object_weights: Option<ObjectWeights>,
    /// The base clusterings that are kept.
    bases: Vec<u32>,
    /// The row of every object, none where it is left out.
    rows: Vec<Option<u32>>,
}

impl Reduction {
    /// The reduction of a problem whose weights are as many as there are base clusterings and objects; none where nothing is left out
    /// or joined.
    ///
    /// # Errors
    /// [`ConsensusError::Weights`] where an object is left without a label.
    pub(crate) fn of(
        problem: &Problem<'_>,
        info: &MethodInfo,
    ) -> Result<Option<Self>, ConsensusError> {
        let zero_base = problem
            .weights
            .is_some_and(|weights| weights.as_slice().contains(&0.0));
        if !zero_base && problem.object_weights.is_none() {
            return Ok(None);
        }
        let all = problem.ensemble;
        let above =
            |weight: Option<&[f64]>, at: usize| weight.is_none_or(|weight| weight[at] > 0.0);
        let base_weights = problem.weights.map(BaseWeights::as_slice);
        let object_weights = problem.object_weights.map(ObjectWeights::as_slice);
        let objects: Vec<u32> = (0..all.objects() as u32)
            .filter(|&i| above(object_weights, i as usize))
            .collect();
        let labels = |u: usize| objects.iter().any(|&i| all.label(i as usize, u).is_some());
        let bases: Vec<u32> = (0..all.bases().len() as u32)
            .filter(|&u| above(base_weights, u as usize) && labels(u as usize))
            .collect();
        check_labelled(info, all, &objects, &bases)?;
        let mut ensemble = all.select(&objects, &bases);
        if objects.len() < all.objects() {
            ensemble = ensemble.compacted();
        }
        let kept = |weights: &ObjectWeights| weights.selected(&objects);
        let base_weights = problem.weights.map(|weights| weights.selected(&bases));
        let base_weights =
            BaseWeights::heeded(base_weights.as_ref(), info.capabilities.base_weights).cloned();
        let made = Self {
            ensemble,
            features: problem
                .features
                .map(|features| features.values().select(Axis(0), &indices(&objects))),
            base_weights,
            object_weights: problem
                .object_weights
                .map(kept)
                .filter(|weights| !weights.are_even()),
            rows: places(&objects, all.objects()),
            bases,
        };
        Ok(Some(made.joined(problem.clusters, info.capabilities.reads)))
    }

    /// Objects with equal rows become one, where weights differ and a method can tell nothing else apart.
    fn joined(mut self, clusters: Clusters, reads: Reads) -> Self {
        let Some(weights) = self
            .object_weights
            .as_ref()
            .filter(|_| reads == Reads::Labels)
        else {
            return self;
        };
        let fragments = self.ensemble.fragments();
        let distinct = fragments.ensemble().objects();
        if matches!(clusters, Clusters::Exactly(clusters) if clusters > distinct) {
            return self;
        }
        let mut parts: Vec<Vec<f64>> = vec![Vec::new(); distinct];
        for (&fragment, &weight) in fragments.of_object().iter().zip(weights.as_slice()) {
            parts[fragment as usize].push(weight);
        }
        // Added in the order of size, so that the order of objects changes no bit.
        parts
            .iter_mut()
            .for_each(|parts| parts.sort_by(f64::total_cmp));
        let sums = parts
            .into_iter()
            .map(|parts| parts.into_iter().sum())
            .collect();
        self.object_weights =
            Some(ObjectWeights::of_checked(sums)).filter(|weights| !weights.are_even());
        self.rows
            .iter_mut()
            .flatten()
            .for_each(|row| *row = fragments.of_object()[*row as usize]);
        self.ensemble = fragments.ensemble().clone();
        self.features = None;
        self
    }

    /// The problem that a method is given.
    pub(crate) fn problem<'b>(&'b self, given: &'b Problem<'_>) -> Problem<'b> {
        let Problem {
            clusters,
            seed,
            start,
            pairs,
            settings,
            budget,
            ..
        } = given.clone();
        let columns = given
            .features
            .map_or(&[][..], |features| features.columns());
        let features = self
            .features
            .as_ref()
            .and_then(|values| Features::new(columns, values.view()).ok());
        let (weights, object_weights) = (self.base_weights.as_ref(), self.object_weights.as_ref());
        Problem {
            ensemble: &self.ensemble,
            clusters,
            seed,
            features,
            weights,
            object_weights,
            start,
            pairs,
            settings,
            budget,
        }
    }

    /// Whether objects of the problem stand for several.
    pub(crate) fn joins(&self) -> bool {
        self.object_weights.is_some()
    }

    /// The outcome for all objects.
    pub(crate) fn restored(&self, outcome: Outcome, given: &Ensemble) -> Outcome {
        let left_out = self.rows.iter().filter(|row| row.is_none()).count();
        let shares = if left_out > 0 {
            self.shares(&outcome.partition, given)
        } else {
            Array2::zeros((0, 0))
        };
        self.spread(outcome, &shares)
    }

    /// Values of the rows to their objects; what was left out has the largest of its `shares`.
    fn spread(&self, mut outcome: Outcome, shares: &Array2<f64>) -> Outcome {
        let left_out = SoftPartition::new(shares.clone()).expect("shares add up to 1");
        let labels = self.each(outcome.partition.labels(), left_out.hard().labels());
        let clusters = outcome.partition.clusters();
        outcome.partition = Partition::new(labels, clusters).expect("labels are below K");
        outcome.soft = outcome.soft.map(|soft| {
            let places: Vec<usize> = self.each(
                &(0..soft.objects()).collect::<Vec<_>>(),
                &(soft.objects()..soft.objects() + shares.nrows()).collect::<Vec<_>>(),
            );
            let mut rows = soft.into_rows();
            if shares.nrows() > 0 {
                rows.append(Axis(0), shares.view()).expect("K columns");
            }
            SoftPartition::new(rows.select(Axis(0), &places)).expect("rows on the simplex")
        });
        // Draws know nothing of objects that were left out, and methods that draw take no other weights of objects.
        outcome.posterior = outcome.posterior.filter(|_| shares.nrows() == 0);
        if shares.nrows() > 0 {
            outcome.dendrogram = None;
            outcome.warnings.push(left_out_warning(shares.nrows()));
        } else if let Some(tree) = &outcome.dendrogram {
            let group: Vec<u32> = self.rows.iter().flatten().copied().collect();
            outcome.dendrogram = Some(tree.unfolded(&group));
        }
        outcome
    }

    /// A value an object: that of its row, or the next of those left out.
    fn each<T: Clone>(&self, rows: &[T], left_out: &[T]) -> Vec<T> {
        let mut left_out = left_out.iter();
        let value = |row: &Option<u32>| match row {
            Some(row) => rows[*row as usize].clone(),
            None => left_out
                .next()
                .expect("one value for each that is left out")
                .clone(),
        };
        self.rows.iter().map(value).collect()
    }

    /// For every object that was left out, the share of the evidence that each cluster has:
    ///
    /// ```text
    /// e(i, k) = Σ_u w_u N_k(label of i in u) / Σ_u w_u N_k(labelled by u)     over the base clusterings that label i
    /// ```
    /// divided by its sum over the clusters; N are weights of the objects in the fit. Where there is none, the sizes of the clusters.
    fn shares(&self, partition: &Partition, given: &Ensemble) -> Array2<f64> {
        let (clusters, offsets) = (partition.clusters(), given.offsets());
        let mut inside = Array2::<f64>::zeros((offsets[given.bases().len()], clusters));
        let mut labelled = Array2::<f64>::zeros((given.bases().len(), clusters));
        let mut sizes = vec![0.0; clusters];
        let weight = |row: usize| {
            self.object_weights
                .as_ref()
                .map_or(1.0, |weights| weights.as_slice()[row])
        };
        // The first object of every row stands for it.
        let mut first = vec![true; partition.objects()];
        for (i, row) in self.rows.iter().enumerate() {
            let Some(row) = row
                .map(|row| row as usize)
                .filter(|&row| std::mem::take(&mut first[row]))
            else {
                continue;
            };
            let cluster = partition.labels()[row] as usize;
            sizes[cluster] += weight(row);
            for u in self.bases.iter().map(|&u| u as usize) {
                if let Some(label) = given.label(i, u) {
                    inside[[offsets[u] + label, cluster]] += weight(row);
                    labelled[[u, cluster]] += weight(row);
                }
            }
        }
        let left_out: Vec<usize> = (0..self.rows.len())
            .filter(|&i| self.rows[i].is_none())
            .collect();
        let base_weight = |at: usize| {
            self.base_weights
                .as_ref()
                .map_or(1.0, |weights| weights.as_slice()[at])
        };
        let mut shares = Array2::zeros((left_out.len(), clusters));
        for (mut shares, &i) in shares.outer_iter_mut().zip(&left_out) {
            let mut all = vec![0.0; clusters];
            for (at, u) in self.bases.iter().map(|&u| u as usize).enumerate() {
                let Some(label) = given.label(i, u) else {
                    continue;
                };
                for k in 0..clusters {
                    shares[k] += base_weight(at) * inside[[offsets[u] + label, k]];
                    all[k] += base_weight(at) * labelled[[u, k]];
                }
            }
            (0..clusters)
                .filter(|&k| all[k] > 0.0)
                .for_each(|k| shares[k] /= all[k]);
            if shares.sum() <= 0.0 {
                shares
                    .iter_mut()
                    .zip(&sizes)
                    .for_each(|(share, &size)| *share = size);
            }
            let sum = shares.sum();
            shares.mapv_inplace(|share| share / sum);
        }
        shares
    }
}

fn left_out_warning(objects: usize) -> String {
    let (what, them) = if objects == 1 {
        ("1 object", "it")
    } else {
        ("objects", "them")
    };
    let what = if objects == 1 {
        what.to_owned()
    } else {
        format!("{objects} {what}")
    };
    format!(
        "{what} of weight 0 had no part in the fit and got the cluster that the base clusterings mostly put {them} with"
    )
}

/// Refuses weights that take all labels from an object.
fn check_labelled(
    info: &MethodInfo,
    all: &Ensemble,
    objects: &[u32],
    bases: &[u32],
) -> Result<(), ConsensusError> {
    let labelled = |i: usize| bases.iter().any(|&u| all.label(i, u as usize).is_some());
    let lost =
        |i: &usize| !labelled(*i) && (0..all.bases().len()).any(|u| all.label(*i, u).is_some());
    let lost = objects.iter().map(|&i| i as usize).find(lost);
    if bases.is_empty() {
        let reason =
            "no object of a weight above 0 has a label of a base clustering of a weight above 0; give both one"
                .to_owned();
        return Err(ConsensusError::Weights {
            what: "objects",
            reason,
        });
    }
    match lost {
        Some(object) if info.capabilities.missing != MissingLabels::HandledByPrior => {
            let name = all.object_name(object);
            let reason = format!(
                "only those of weight 0 label object {name}; give one of them a weight, or remove the object"
            );
            Err(ConsensusError::Weights {
                what: "base clusterings",
                reason,
            })
        }
        _ => Ok(()),
    }
}

/// The place of every kept object among those kept.
fn places(kept: &[u32], objects: usize) -> Vec<Option<u32>> {
    let mut places = vec![None; objects];
    kept.iter()
        .enumerate()
        .for_each(|(at, &i)| places[i as usize] = Some(at as u32));
    places
}

fn indices(objects: &[u32]) -> Vec<usize> {
    objects.iter().map(|&i| i as usize).collect()
}
