//! Refinement of a cut: objects move between clusters while the exact normalised cut of the co-association falls, as in spectral
//! ensemble clustering.

use std::num::Saturating;

use partita_core::{
    Flow, Monitor, Objective, Outcome, Partition, ProblemSize, Sense, SettingChoice, SettingsError,
};
use serde::{Deserialize, Serialize};

use crate::rows::Rows;
use crate::spectral::SpectralDiagnostics;

/// What is done to a cut afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refine {
    /// Nothing.
    #[default]
    None,
    /// Objects move while the exact normalised cut of the co-association falls (spectral ensemble clustering from this start). On
    /// published pools the cut falls, and agreement with the classes does not rise.
    Sec,
}

/// Most rounds of moves.
const ROUNDS: usize = 100;

/// A round must lower the cut by more than rounding does.
const ROUNDING: f64 = 1e-12;

/// Refuses a refinement where label rows are not all at hand, or are not one label a base clustering.
pub(crate) fn in_memory_only(refine: Refine) -> Result<(), SettingsError> {
    if refine == Refine::None {
        return Ok(());
    }
    let reason =
        "objects move by labels in memory, for one number of clusters; take none".to_owned();
    Err(SettingsError::Unfit {
        name: "refine",
        value: "sec".into(),
        reason,
    })
}

/// Bytes that a refinement holds at once, at most.
pub(crate) fn refine_bytes(refine: Refine, size: &ProblemSize) -> u64 {
    let [n, _, side, k] = size.saturating();
    if refine == Refine::None {
        0
    } else {
        (n * Saturating(48) + side * k * Saturating(16) + side * Saturating(8)).0
    }
}

/// Moves objects while the normalised cut falls, if that is asked for:
///
/// ```text
/// Ncut = Σ_k [ 1 − Σ_c e_c n_kc² / V_k ],    V_k = Σ_{i in k} δ_i,    δ_i = Σ_{c ∋ i} e_c s_c
/// ```
/// with e_c the strength of base cluster c, s_c its size and n_kc how much of it is in cluster k: k-means of the points Z_i / δ_i with
/// weights δ_i, so that no round raises the cut. It becomes the objective. An object that has moved has certainty 0: the eigenvectors
/// spoke for another cluster.
pub(crate) fn refined(
    refine: Refine,
    outcome: Outcome<SpectralDiagnostics>,
    rows: &Rows<'_>,
    strengths: &[f64],
    monitor: &dyn Monitor,
) -> Outcome<SpectralDiagnostics> {
    if refine == Refine::None {
        return outcome;
    }
    let clusters = outcome.partition.clusters();
    let before = rows.of_rows(outcome.partition.labels());
    let graph = Coassociation::new(rows, strengths);
    let (labels, trace) = graph.moved(before.clone(), clusters, monitor);
    let moved: Vec<bool> = before.iter().zip(&labels).map(|(a, b)| a != b).collect();
    let moved = rows.expand(&moved);
    let mut outcome = outcome;
    outcome.partition = Partition::new(rows.expand(&labels), clusters).expect("labels are below K");
    outcome
        .certainty
        .iter_mut()
        .zip(&moved)
        .filter(|(_, moved)| **moved)
        .for_each(|(certainty, _)| *certainty = 0.0);
    let value = trace.last().copied().unwrap_or(f64::NAN);
    let name = "normalised cut of the co-association";
    outcome.objective = Some(Objective {
        name,
        sense: Sense::Minimise,
        value,
        trace,
    });
    let count = moved.into_iter().filter(|&moved| moved).count();
    outcome.map_details(|details| SpectralDiagnostics {
        moved: Some(count),
        ..details
    })
}

/// The graph of objects whose edges weigh what the base clusters that two objects share are worth.
struct Coassociation<'a> {
    rows: &'a Rows<'a>,
    strengths: &'a [f64],
    /// Sum of the weights of a row's edges.
    degrees: Vec<f64>,
}

/// How much of every base cluster is in every cluster, and the volume of the cluster.
struct Sums {
    counts: Vec<Vec<f64>>,
    volumes: Vec<f64>,
}

impl<'a> Coassociation<'a> {
    fn new(rows: &'a Rows<'a>, strengths: &'a [f64]) -> Self {
        let mut sizes = vec![0.0; strengths.len()];
        rows.for_each(0..rows.len(), |i, own| {
            own.iter()
                .for_each(|&c| sizes[c as usize] += rows.weights()[i])
        });
        let mut degrees = vec![0.0; rows.len()];
        rows.for_each(0..rows.len(), |i, own| {
            degrees[i] = own
                .iter()
                .map(|&c| strengths[c as usize] * sizes[c as usize])
                .sum();
        });
        Self {
            rows,
            strengths,
            degrees,
        }
    }

    fn sums(&self, labels: &[u32], clusters: usize) -> Sums {
        let mut sums = Sums {
            counts: vec![vec![0.0; self.strengths.len()]; clusters],
            volumes: vec![0.0; clusters],
        };
        self.rows.for_each(0..self.rows.len(), |i, own| {
            let (k, weight) = (labels[i] as usize, self.rows.weights()[i]);
            sums.volumes[k] += weight * self.degrees[i];
            own.iter()
                .for_each(|&c| sums.counts[k][c as usize] += weight);
        });
        sums
    }

    /// Σ_c e_c n_kc² of a cluster.
    fn inside(&self, counts: &[f64]) -> f64 {
        counts
            .iter()
            .zip(self.strengths)
            .map(|(n, e)| e * n * n)
            .sum()
    }

    /// The cut; clusters without volume count nothing.
    fn cut(&self, sums: &Sums) -> f64 {
        let parts = sums
            .counts
            .iter()
            .zip(&sums.volumes)
            .filter(|(_, volume)| **volume > 0.0);
        parts
            .map(|(counts, volume)| 1.0 - self.inside(counts) / volume)
            .sum()
    }

    /// Labels that no round improves, and the cut before and after each round.
    fn moved(
        &self,
        mut labels: Vec<u32>,
        clusters: usize,
        monitor: &dyn Monitor,
    ) -> (Vec<u32>, Vec<f64>) {
        let mut sums = self.sums(&labels, clusters);
        let mut trace = vec![self.cut(&sums)];
        for round in 0..ROUNDS {
            if monitor.tick(round as u64, ROUNDS as u64) == Flow::Stop {
                break;
            }
            let better = self.nearest(&labels, &sums);
            let next = self.sums(&better, clusters);
            let value = self.cut(&next);
            let emptied = next
                .volumes
                .iter()
                .zip(&sums.volumes)
                .any(|(new, old)| *new <= 0.0 && *old > 0.0);
            if better == labels || emptied || value >= trace[trace.len() - 1] - ROUNDING {
                break;
            }
            (labels, sums) = (better, next);
            trace.push(value);
        }
        (labels, trace)
    }

    /// For every row the cluster whose mean is nearest; of equals its own, else the first.
    fn nearest(&self, labels: &[u32], sums: &Sums) -> Vec<u32> {
        let live: Vec<usize> = (0..sums.volumes.len())
            .filter(|&k| sums.volumes[k] > 0.0)
            .collect();
        let square = |k: usize| self.inside(&sums.counts[k]) / (sums.volumes[k] * sums.volumes[k]);
        let squares: Vec<f64> = (0..sums.volumes.len())
            .map(|k| if live.contains(&k) { square(k) } else { 0.0 })
            .collect();
        let mut found = labels.to_vec();
        self.rows.for_each(0..self.rows.len(), |i, own| {
            let distance = |k: usize| {
                let shared: f64 = own
                    .iter()
                    .map(|&c| self.strengths[c as usize] * sums.counts[k][c as usize])
                    .sum();
                squares[k] - 2.0 * shared / (sums.volumes[k] * self.degrees[i])
            };
            let own = labels[i] as usize;
            let mut best = (distance(own), own);
            for &k in &live {
                let distance = distance(k);
                if distance < best.0 - ROUNDING * best.0.abs() {
                    best = (distance, k);
                }
            }
            found[i] = best.1 as u32;
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HbgfSettings, hbgf};
    use partita_conformance::draw;
    use partita_core::{Ensemble, Seed, Silent};

    /// Ncut of the co-association written out.
    fn naive(ensemble: &Ensemble, labels: &[u32], clusters: usize) -> f64 {
        let n = ensemble.objects();
        let together = |i: usize, j: usize| {
            let same = |&u: &usize| {
                ensemble.label(i, u).is_some() && ensemble.label(i, u) == ensemble.label(j, u)
            };
            (0..ensemble.bases().len()).filter(same).count() as f64
        };
        let sum = |k: u32, inside: bool| -> f64 {
            let first = (0..n).filter(|&i| labels[i] == k);
            first
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .filter(|&(_, j)| !inside || labels[j] == k)
                .map(|(i, j)| together(i, j))
                .sum()
        };
        (0..clusters as u32)
            .map(|k| {
                if sum(k, false) > 0.0 {
                    1.0 - sum(k, true) / sum(k, false)
                } else {
                    0.0
                }
            })
            .sum()
    }

    #[test]
    fn the_cut_is_exact_and_never_above_its_start() {
        let mut lower = 0;
        for seed in 0..120 {
            let ensemble = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 }).ensemble;
            let clusters = (2 + seed as usize % 3).min(ensemble.objects());
            let fit = |refine: Refine| {
                let settings = HbgfSettings {
                    refine,
                    ..HbgfSettings::default()
                };
                hbgf(&ensemble, clusters, Seed::new(1), &settings, &Silent).unwrap()
            };
            let (plain, refined) = (fit(Refine::None), fit(Refine::Sec));
            let objective = refined.objective.as_ref().unwrap();
            let (before, after) = (
                naive(&ensemble, plain.partition.labels(), clusters),
                naive(&ensemble, refined.partition.labels(), clusters),
            );
            assert!((objective.trace[0] - before).abs() < 1e-10, "seed {seed}");
            assert!(
                (objective.value - after).abs() < 1e-10 && after <= before + 1e-12,
                "seed {seed}"
            );
            lower += usize::from(after < before - 1e-9);
            let changed = plain
                .partition
                .labels()
                .iter()
                .zip(refined.partition.labels())
                .filter(|(a, b)| a != b);
            assert_eq!(
                refined.details.spectral.unwrap().moved,
                Some(changed.count())
            );
        }
        assert!(lower > 0, "no draw was improved");
    }

    #[test]
    fn tiny_degrees_to_their_printed_digits() {
        let ensemble = crate::cluster_similarity::tests::tiny();
        let rows = Rows::each_object(&ensemble, 2, vec![1.0; 6]).unwrap();
        assert_eq!(
            Coassociation::new(&rows, &[1.0; 7]).degrees,
            [8.0, 8.0, 10.0, 8.0, 9.0, 9.0]
        );
    }
}
