//! Correspondence of the clusters of base clusterings with those of the consensus: as the reference has it, or optimised with the classifiers.
//!
//! The names of a base clustering's clusters and its classifiers change together, which leaves the likelihood as it is. Proposed are those
//! under which it is nearest to the mean of all others, an assignment problem; they are taken where they lower the ties, μ and Ω being the best
//! for them. Each change and each fit that goes on from it lowers the objective, so that it is never above that of the names that were there
//! first.

use partita_core::ProgressCounter;

use crate::aligned_labels::{Targets, renamed_columns};
use crate::alternating::{Fit, State, go_on_in_turn};
use crate::design::Design;
use crate::joint::fit_jointly;
use crate::loss::Loss;
use crate::{Correspondence, Solver, SsceError, SsceSettings};

/// The most fits, each with other names.
const FITS: u64 = 20;

/// Turns of μ and Ω for given classifiers.
const TURNS: usize = 20;

/// Fits that there may be.
pub(crate) fn fits(settings: &SsceSettings) -> u64 {
    match settings.correspondence {
        Correspondence::Fixed => 1,
        Correspondence::Joint => FITS,
    }
}

/// What classifiers are fitted to, but for the names of clusters.
pub(crate) struct Problem<'a> {
    pub(crate) design: &'a Design,
    pub(crate) objects: Option<&'a [f64]>,
    pub(crate) base_weights: &'a [f64],
    pub(crate) clusters: usize,
    pub(crate) settings: &'a SsceSettings,
}

impl Problem<'_> {
    /// The fit, and how often a base clustering got other names.
    pub(crate) fn fit(
        &self,
        targets: &mut Targets,
        gamma: f64,
        progress: &ProgressCounter<'_>,
        units: u64,
    ) -> Result<(Fit, u64), SsceError> {
        let gammas = self.settings.gammas(gamma);
        let start = State::start(&self.loss(targets), gammas, self.settings)?;
        let mut fit = self.go_on(targets, start, progress, units)?;
        let mut renamed = 0;
        for _ in 1..fits(self.settings) {
            let (trace, iterations) = (fit.trace, fit.iterations);
            let mut state = State {
                w: fit.w,
                centre: fit.centre,
                prior: fit.prior,
            };
            let changes = self.rename(targets, &mut state)?;
            renamed += changes;
            if changes == 0 || progress.stopped() {
                fit = Fit {
                    w: state.w,
                    centre: state.centre,
                    prior: state.prior,
                    trace,
                    iterations,
                    ..fit
                };
                break;
            }
            fit = self.go_on(targets, state, progress, units)?;
            fit.trace.splice(..0, trace);
            fit.iterations += iterations;
        }
        Ok((fit, renamed))
    }

    fn loss<'b>(&'b self, targets: &'b Targets) -> Loss<'b> {
        Loss {
            soft: targets.soft.as_ref().map(|soft| soft.view()),
            objects: self.objects,
            ..Loss::new(
                self.design,
                &targets.codes,
                self.clusters,
                self.base_weights,
            )
        }
    }

    fn go_on(
        &self,
        targets: &Targets,
        state: State,
        progress: &ProgressCounter<'_>,
        units: u64,
    ) -> Result<Fit, SsceError> {
        let (loss, part) = (self.loss(targets), progress.part(units));
        match self.settings.solver {
            Solver::Alternating => go_on_in_turn(&loss, state, self.settings, &part),
            Solver::Joint => fit_jointly(&loss, state, self.settings, &part),
        }
    }

    /// Gives base clusterings better names, one after the other; says how many got some.
    fn rename(&self, targets: &mut Targets, state: &mut State) -> Result<u64, SsceError> {
        let mut changes = 0;
        let mut value = self.ties(state);
        for u in 0..self.base_weights.len() {
            let Some(names) = state.prior.names_of_others(&state.w, u) else {
                continue;
            };
            let mut other = state.clone();
            renamed_columns(&mut other.w, u, &names);
            self.settle(&mut other)?;
            let ties = self.ties(&other);
            if ties < value * (1.0 - 1e-9) {
                (*state, value) = (other, ties);
                targets.rename(u, &names);
                changes += 1;
            }
        }
        Ok(changes)
    }

    /// The part of the objective that names change.
    fn ties(&self, State { w, centre, prior }: &State) -> f64 {
        prior.evaluate(w, centre).0 + self.settings.shrink * (centre * centre).sum()
    }

    /// Brings μ and Ω to what is best for W, by turns.
    fn settle(&self, state: &mut State) -> Result<(), SsceError> {
        let SsceSettings {
            shrink,
            ridge,
            exact,
            ..
        } = *self.settings;
        for _ in 0..TURNS {
            state.centre = state.prior.centre(&state.w, shrink, exact);
            state.prior = state.prior.adapted(&state.w, &state.centre, ridge, exact)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::ensemble;
    use partita_core::ndarray::Array2;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    /// Four base clusterings of two or three groups, a third of the labels wrong, and the table of one noisy column a group.
    fn drawn(seed: u64) -> (Design, Targets, usize) {
        let mut rng = Seed::new(seed).rng();
        let (objects, k) = (24, 2 + seed as usize % 2);
        let table = Array2::from_shape_fn((objects, k), |(i, p)| {
            rng.random::<f64>() + if i % k == p { 1.0 } else { 0.0 }
        });
        let drawn = ensemble((0..4).map(|u| {
            let labels = (0..objects).map(|i| {
                Some(if rng.random_bool(0.35) {
                    rng.random_range(0..k as u32)
                } else {
                    (i % k) as u32
                })
            });
            (format!("u{u}"), labels.collect())
        }));
        let mut targets = Targets::new(&drawn, None, k, None).unwrap();
        // Names that are wrong to begin with.
        let shifted: Vec<usize> = (0..k).map(|name| (name + 1) % k).collect();
        (1..3).for_each(|u| targets.rename(u, &shifted));
        (Design::Dense(table), targets, k)
    }

    fn fitted(
        design: &Design,
        targets: &mut Targets,
        clusters: usize,
        settings: &SsceSettings,
    ) -> (f64, u64) {
        let problem = Problem {
            design,
            objects: None,
            base_weights: &[1.0, 2.0, 1.0, 0.5],
            clusters,
            settings,
        };
        let progress = ProgressCounter::new(&Silent, 1);
        let (fit, renamed) = problem.fit(targets, 1.0, &progress, 1).unwrap();
        (*fit.trace.last().unwrap(), renamed)
    }

    /// All correspondences of the last three base clusterings to the first, each with its joint minimum: the optimised one is never above the
    /// fixed one, never below the least of all, and that least in half of the cases.
    #[test]
    fn the_optimised_correspondence_is_between_the_fixed_one_and_the_best_of_all() {
        let (mut least_found, mut lower) = (0, 0);
        for seed in 0..8 {
            let (design, targets, k) = drawn(seed);
            for solver in [Solver::Joint, Solver::Alternating] {
                let fixed = SsceSettings {
                    shrink: 0.1,
                    solver,
                    ..SsceSettings::default()
                };
                let joint = SsceSettings {
                    correspondence: Correspondence::Joint,
                    ..fixed.clone()
                };
                let before = fitted(&design, &mut targets.clone(), k, &fixed).0;
                let (after, renamed) = fitted(&design, &mut targets.clone(), k, &joint);
                assert!(
                    after <= before * (1.0 + 1e-9),
                    "seed {seed}: {after} above {before}"
                );
                lower += u32::from(renamed > 0 && after < before * 0.999);
                if solver == Solver::Alternating {
                    continue;
                }
                let orders: &[&[usize]] = match k {
                    2 => &[&[0, 1], &[1, 0]],
                    _ => &[
                        &[0, 1, 2],
                        &[0, 2, 1],
                        &[1, 0, 2],
                        &[1, 2, 0],
                        &[2, 0, 1],
                        &[2, 1, 0],
                    ],
                };
                let mut least = f64::INFINITY;
                for code in 0..orders.len().pow(3) {
                    let mut other = targets.clone();
                    for u in 1..4u32 {
                        other.rename(
                            u as usize,
                            orders[code / orders.len().pow(u - 1) % orders.len()],
                        );
                    }
                    least = least.min(fitted(&design, &mut other, k, &fixed).0);
                }
                assert!(
                    after >= least * (1.0 - 1e-6),
                    "seed {seed}: {after} below {least}"
                );
                least_found += u32::from(after <= least * (1.0 + 1e-4));
            }
        }
        assert!(
            least_found >= 4 && lower >= 12,
            "{least_found} of 8, {lower} of 16"
        );
    }
}
