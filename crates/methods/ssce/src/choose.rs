//! Choice of gamma: how strongly the classifiers are tied, by labels of base clusterings that were held out.

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{Flow, Monitor, ProgressCounter, Seed};
use rand::{RngExt, seq::index};

use crate::aligned_labels::MISSING;
use crate::alternating::fit_in_turn;
use crate::design::Design;
use crate::loss::{Loss, probabilities};
use crate::{SsceError, SsceSettings};

/// Ties that are tried, the strongest first.
const GAMMAS: [f64; 5] = [100.0, 10.0, 1.0, 0.1, 0.01];

/// Objects on which they are tried, and the parts that take turns at being held out; only one does where there are
/// more objects than that.
const TRIED: usize = 1000;
const FOLDS: usize = 3;

/// Base clusterings that classifiers learn while ties are tried. Held-out labels are those of all.
const BASES: usize = 20;

/// Units of progress of a trial.
const UNITS: u64 = 1000;

/// Iterations of a trial.
const ITERATIONS: u32 = 5;

/// What a strong tie may cost in the log probability of held-out labels, in nats: see [`crate`] for what was measured.
const SLACK: f64 = 0.25;

/// The least probability of a held-out label that counts: one surprise shall not decide.
const LEAST: f64 = 1e-12;

/// Inputs and labels.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) design: &'a Design,
    pub(crate) codes: &'a Array2<u16>,
    /// Shares in place of the codes, where there are some.
    pub(crate) soft: Option<&'a Array2<f64>>,
    /// What every object counts; none where all count 1.
    pub(crate) objects: Option<&'a [f64]>,
    pub(crate) base_weights: &'a [f64],
    pub(crate) clusters: usize,
}

/// A tie, and the mean log probability of held-out labels under all that were tried, by rising γ.
pub(crate) struct Choice {
    pub(crate) gamma: f64,
    pub(crate) tried: Vec<(f64, f64)>,
}

/// Some objects with the parts in which they are held out, and the base clusterings that are learned.
struct Parts {
    objects: Vec<(usize, usize)>,
    held: usize,
    bases: Vec<usize>,
}

impl<'a> Task<'a> {
    pub(crate) fn loss(&self) -> Loss<'a> {
        Loss {
            soft: self.soft.map(|soft| soft.view()),
            objects: self.objects,
            ..Loss::new(self.design, self.codes, self.clusters, self.base_weights)
        }
    }

    /// Units of progress that choosing is worth, where an iteration over all objects is worth `iteration`.
    pub(crate) fn units(&self, settings: &SsceSettings, iteration: u64) -> u64 {
        if settings.gamma.is_some() {
            return 0;
        }
        let iterations =
            GAMMAS.len() * self.held() * settings.alternating_iterations().min(ITERATIONS) as usize;
        let share = self.design.rows().min(TRIED) as f64 / self.design.rows().max(1) as f64;
        (iterations as f64 * share * iteration as f64).ceil() as u64
    }

    /// Parts that are held out.
    fn held(&self) -> usize {
        if self.design.rows() > TRIED { 1 } else { FOLDS }
    }

    /// The strongest tie under which held-out labels are nearly as probable as under the best one.
    ///
    /// From the strongest on: no consensus can make labels more probable than the shares of votes do, so a tie that
    /// comes near enough to those is the answer; and once labels become less probable, weaker ties are not tried.
    pub(crate) fn choose(
        &self,
        seed: Seed,
        settings: &SsceSettings,
        monitor: &dyn Monitor,
    ) -> Result<Choice, SsceError> {
        let parts = self.parts(seed);
        let most = self.most(&parts);
        let mut tried: Vec<(f64, f64)> = Vec::new();
        let progress = ProgressCounter::new(monitor, GAMMAS.len() as u64 * UNITS);
        for gamma in GAMMAS {
            if progress.flow() == Flow::Stop {
                return Err(SsceError::Interrupted);
            }
            let agreement = self.held_out(&parts, gamma, settings, &progress.part(UNITS))?;
            let worse = tried.last().is_some_and(|last| agreement < last.1);
            tried.push((gamma, agreement));
            if worse || agreement >= most - SLACK {
                break;
            }
        }
        let agreements = tried.iter().map(|(_, agreement)| *agreement);
        let best = agreements.fold(f64::NEG_INFINITY, f64::max);
        let near = tried
            .iter()
            .find(|(_, agreement)| *agreement >= best - SLACK);
        let gamma = near.map_or(1.0, |(gamma, _)| *gamma);
        tried.reverse();
        Ok(Choice { gamma, tried })
    }

    fn parts(&self, seed: Seed) -> Parts {
        let mut rng = seed.child(1).rng();
        let rows = self.design.rows();
        let mut chosen = index::sample(&mut rng, rows, rows.min(TRIED)).into_vec();
        chosen.sort_unstable();
        let mut objects = Vec::with_capacity(chosen.len());
        for object in chosen {
            objects.push((object, rng.random_range(0..FOLDS)));
        }
        let all = self.base_weights.len();
        let mut bases = index::sample(&mut rng, all, all.min(BASES)).into_vec();
        bases.sort_unstable();
        Parts {
            objects,
            held: self.held(),
            bases,
        }
    }

    /// The mean log probability of held-out labels, in nats. The share of labels predicted rightly would say less:
    /// many γ differ in no label.
    fn held_out(
        &self,
        parts: &Parts,
        gamma: f64,
        settings: &SsceSettings,
        monitor: &dyn Monitor,
    ) -> Result<f64, SsceError> {
        let mut short = settings.clone();
        short.iterations = NonZeroU32::new(settings.alternating_iterations().min(ITERATIONS));
        let mut sum = 0.0;
        let mut all = 0.0;
        let k = self.clusters;
        let base_weights: Vec<f64> = parts.bases.iter().map(|&u| self.base_weights[u]).collect();
        let fewer = self.base_weights.iter().sum::<f64>() / base_weights.iter().sum::<f64>();
        let columns = parts.bases.iter().flat_map(|u| u * k..(u + 1) * k);
        let columns: Vec<usize> = columns.collect();
        let progress = ProgressCounter::new(monitor, parts.held as u64 * UNITS);
        for held in 0..parts.held {
            if progress.flow() == Flow::Stop {
                return Err(SsceError::Interrupted);
            }
            let part = progress.part(UNITS);
            let seen = parts.objects(|part| part != held);
            if seen.is_empty() {
                continue;
            }
            let design = self.design.select(&seen);
            let codes = some_of(self.codes, &seen, &parts.bases);
            let soft = self.soft.map(|soft| some_of(soft, &seen, &columns));
            let objects = self.objects;
            let objects = objects.map(|all| seen.iter().map(|&i| all[i]).collect::<Vec<f64>>());
            let some = Task {
                design: &design,
                codes: &codes,
                soft: soft.as_ref(),
                objects: objects.as_deref(),
                base_weights: &base_weights,
                clusters: k,
            };
            // The tie of all objects, for the share of them that is seen.
            let share = match (self.objects, &objects) {
                (Some(all), Some(seen)) => seen.iter().sum::<f64>() / all.iter().sum::<f64>(),
                _ => seen.len() as f64 / self.design.rows() as f64,
            };
            // The trace of Ω is 1 for some base clusterings as for all.
            let (first, second) = settings.gammas(gamma);
            let gammas = (first * share, second * share * fewer);
            let centre = fit_in_turn(&some.loss(), gammas, &short, &part)?
                .state
                .centre;
            let unseen = parts.objects(|part| part == held);
            let predicted = probabilities(&self.design.select(&unseen), centre.view());
            for (&object, row) in unseen.iter().zip(predicted.outer_iter()) {
                let (own, weight) = self.surprise(object, |code| row[code].max(LEAST).ln());
                sum += own;
                all += weight;
            }
        }
        Ok(if all > 0.0 { sum / all } else { 0.0 })
    }

    /// What no consensus can exceed: every object with the shares of its own votes.
    fn most(&self, parts: &Parts) -> f64 {
        let mut sum = 0.0;
        let mut all = 0.0;
        for object in (0..parts.held).flat_map(|held| parts.objects(|part| part == held)) {
            let mut votes = vec![0.0; self.clusters];
            let said = self.said(object);
            let weight: f64 = said.iter().map(|(_, weight)| weight).sum();
            for (code, own) in said {
                votes[code] += own / weight;
            }
            let (own, counted) = self.surprise(object, |code| votes[code].ln());
            sum += own;
            all += counted;
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// Sums over the labels of an object, by weight: of what `value` says of them, and of 1.
    fn surprise(&self, object: usize, value: impl Fn(usize) -> f64) -> (f64, f64) {
        let mut sum = 0.0;
        let mut all = 0.0;
        for (code, weight) in self.said(object) {
            sum += weight * value(code);
            all += weight;
        }
        let counts = self.objects.map_or(1.0, |objects| objects[object]);
        (sum * counts, all * counts)
    }

    /// The labels of an object, or the clusters that it has shares of, with what each counts.
    fn said(&self, object: usize) -> Vec<(usize, f64)> {
        let mut said = Vec::new();
        let Some(soft) = self.soft else {
            for (&code, &weight) in self.codes.row(object).iter().zip(self.base_weights) {
                if code != MISSING {
                    said.push((usize::from(code), weight));
                }
            }
            return said;
        };
        for (at, share) in soft.row(object).iter().enumerate() {
            if *share > 0.0 {
                let weight = self.base_weights[at / self.clusters];
                said.push((at % self.clusters, weight * share));
            }
        }
        said
    }
}

impl Parts {
    /// The objects of some parts.
    fn objects(&self, of: impl Fn(usize) -> bool) -> Vec<usize> {
        let objects = self.objects.iter().filter(|(_, part)| of(*part));
        objects.map(|(object, _)| *object).collect()
    }
}

/// Some rows and columns of a matrix.
fn some_of<T: Clone>(all: &Array2<T>, rows: &[usize], columns: &[usize]) -> Array2<T> {
    all.select(Axis(1), columns).select(Axis(0), rows)
}
