//! Propagation of certain pairs over a co-association matrix, by the alternating direction method of multipliers (ADMM).
//!
//! ```text
//! C ← T [(A − E + Y₁) + (F − Y₂)],  T = (2Φ + 2I)⁻¹        E ← (A − C + Y₁) / (λ + 1), 0 where H > 0
//! F ← clip(sym(C + Y₂), 0, 1)        Y₁ += A − C − E        Y₂ += C − F
//! ```
//! from C = E = F = Y₂ = 0 and Y₁ = A. After each round E = Y₁ / λ where H is 0, so that it is not held; T is block-diagonal over
//! the connected components of H, which come one after the other here.
//!
//! Objects with the same label row are alike in every matrix, so that one line stands for the w of them: X of different rows p and q is
//! one number, and so are X of an object with itself and X of two objects with the same row, which is the last column. A product of such
//! matrices is that of the means over the w² pairs of a row, and of what an object has with itself more than with the others:
//!
//! ```text
//! X̄_pp = (X_self + (w − 1) X_two) / w,  X̄_pq = X_pq:   (T X)‾ = T̄ diag(w) X̄          (T X)_self − (T X)_two = (X_self − X_two) / D_p
//! T̄ diag(w) = (D − 2 H diag(w))⁻¹,   D_p = 2 Σ_q w_q H_pq + 2,  H_pp = 1
//! ```
//! Weights of objects need not be whole: w is their sum, and for w below 1 there are no two, so that X̄_pp = X_self.

use std::ops::Range;

use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::parallel::prelude::*;
use partita_core::ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, Slice};
use partita_core::{Flow, Monitor, Stopped};
use partita_spectral::symmetric_eigen;

use super::evidence::Evidence;
use crate::GraphError;

/// Columns that one thread multiplies at a time.
const COLUMNS: usize = 128;

/// How a search for C ended.
pub(super) struct Propagated {
    /// f × (f + 1), in the order of [`Evidence::order`]; the last column is of two objects that have the same row.
    pub(super) matrix: Array2<f64>,
    pub(super) rounds: u32,
    pub(super) stopped: Stopped,
    /// The largest of the five relative changes of the last round.
    pub(super) change: f64,
}

/// The five matrices and one to work in. A pair with evidence of at least α has a negative sign in A, since evidence is not negative.
struct State<'a> {
    a: &'a Array2<f64>,
    masses: &'a [f64],
    c: Array2<f64>,
    f: Array2<f64>,
    y1: Array2<f64>,
    y2: Array2<f64>,
    work: Array2<f64>,
    /// λ; E is 0 before the first round.
    lambda: f64,
    fresh: bool,
}

/// Solves for C, F being its symmetric form between 0 and 1.
///
/// # Cost
/// O(s³) for every component of s rows, O(f Σ s²) a round.
pub(super) fn propagate(
    evidence: &Evidence,
    lambda: f64,
    rounds: u32,
    tolerance: f64,
    monitor: &dyn Monitor,
) -> Result<Propagated, GraphError> {
    let inverse = inverses(evidence, monitor)?;
    let zeros = || Array2::<f64>::zeros(evidence.weighted.dim());
    let mut state = State {
        a: &evidence.weighted,
        masses: &evidence.masses,
        c: zeros(),
        f: zeros(),
        y1: evidence.weighted.mapv(f64::abs),
        y2: zeros(),
        work: zeros(),
        lambda,
        fresh: true,
    };
    let (mut change, mut round) = (f64::INFINITY, 0);
    while round < rounds && change >= tolerance {
        if monitor.tick(u64::from(round), u64::from(rounds)) == Flow::Stop {
            return Err(GraphError::Interrupted);
        }
        change = state.round(&evidence.components, &inverse, monitor)?;
        round += 1;
    }
    let stopped = if change < tolerance {
        Stopped::Converged
    } else {
        Stopped::RoundLimit
    };
    Ok(Propagated {
        matrix: state.f,
        rounds: round,
        stopped,
        change,
    })
}

/// T.
struct Inverse {
    /// T̄ diag(w) of every component that has more than one row.
    of_means: Vec<Array2<f64>>,
    /// 1 / D of every row.
    of_differences: Vec<f64>,
}

fn inverses(evidence: &Evidence, monitor: &dyn Monitor) -> Result<Inverse, GraphError> {
    let masses = &evidence.masses;
    let others = evidence.certain.dot(&ArrayView1::from(masses));
    let of_differences = others
        .iter()
        .zip(masses)
        .map(|(others, mass)| 1.0 / (2.0 * others + 2.0 * mass + 2.0))
        .collect();
    // D − 2 H diag(w) is similar to a symmetric matrix.
    let inverse = |component: &Range<usize>| {
        go_on(monitor)?;
        let all = Slice::from(component.clone());
        let roots: Vec<f64> = masses[component.clone()]
            .iter()
            .map(|mass| mass.sqrt())
            .collect();
        let mut matrix = evidence
            .certain
            .slice_axis(Axis(0), all)
            .slice_axis(Axis(1), all)
            .to_owned();
        matrix
            .indexed_iter_mut()
            .for_each(|((i, j), h)| *h *= -2.0 * roots[i] * roots[j]);
        matrix
            .diag_mut()
            .iter_mut()
            .zip(&others.as_slice().expect("a vector")[component.clone()])
            .for_each(|(d, others)| *d = 2.0 * others + 2.0);
        let pairs = symmetric_eigen(matrix.view())?;
        let scaled = &pairs.vectors / &pairs.values;
        let mut inverse = scaled.dot(&pairs.vectors.t());
        inverse
            .indexed_iter_mut()
            .for_each(|((i, j), t)| *t *= roots[j] / roots[i]);
        Ok(inverse)
    };
    let of_means: Result<_, GraphError> = evidence
        .components
        .iter()
        .filter(|component| component.len() > 1)
        .map(inverse)
        .collect();
    Ok(Inverse {
        of_means: of_means?,
        of_differences,
    })
}

/// An error if the monitor asks to stop.
fn go_on(monitor: &dyn Monitor) -> Result<(), GraphError> {
    if monitor.flow() == Flow::Stop {
        Err(GraphError::Interrupted)
    } else {
        Ok(())
    }
}

impl State<'_> {
    /// One round; the largest of the relative changes of C, E, F and of the residuals against their multipliers. The monitor is asked
    /// between its steps, and by component and columns inside the product.
    fn round(
        &mut self,
        components: &[Range<usize>],
        inverse: &Inverse,
        monitor: &dyn Monitor,
    ) -> Result<f64, GraphError> {
        self.right_side();
        let c = self.multiply(components, inverse, monitor)?;
        go_on(monitor)?;
        let [e, first] = self.multiplier();
        go_on(monitor)?;
        let [f, second] = self.project();
        self.fresh = false;
        Ok([c, e, first, f, second]
            .into_iter()
            .map(Norms::share)
            .fold(0.0, f64::max))
    }

    /// work ← A − E + Y₁ + F − Y₂.
    fn right_side(&mut self) {
        let (a, f, y1, y2, lambda, fresh) =
            (self.a, &self.f, &self.y1, &self.y2, self.lambda, self.fresh);
        self.work
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .enumerate()
            .for_each(|(i, mut row)| {
                for (j, to) in row.iter_mut().enumerate() {
                    let e = error(a[[i, j]], y1[[i, j]], lambda, fresh);
                    *to = a[[i, j]].abs() - e + y1[[i, j]] + f[[i, j]] - y2[[i, j]];
                }
            });
    }

    /// C ← T work.
    fn multiply(
        &mut self,
        components: &[Range<usize>],
        inverse: &Inverse,
        monitor: &dyn Monitor,
    ) -> Result<Norms, GraphError> {
        let last = self.masses.len();
        let mut differences = inverse.of_differences.clone();
        for (i, difference) in differences.iter_mut().enumerate() {
            let (own, two, others) = (
                self.work[[i, i]],
                self.work[[i, last]],
                copies(self.masses[i]),
            );
            *difference *= own - two;
            self.work[[i, i]] = (own + others * two) / (1.0 + others);
        }
        // What is changed twice is compared when it is done.
        let before: Vec<[f64; 2]> = (0..last)
            .map(|i| [self.c[[i, i]], self.c[[i, last]]])
            .collect();
        let mut norms = self.multiply_means(components, &inverse.of_means, monitor)?;
        for (i, (difference, before)) in differences.into_iter().zip(before).enumerate() {
            let (mean, others) = (self.c[[i, i]], copies(self.masses[i]));
            let now = [
                mean + others / (1.0 + others) * difference,
                mean - difference / (1.0 + others),
            ];
            for ((at, now), before) in [i, last].into_iter().zip(now).zip(before) {
                self.c[[i, at]] = now;
                norms = norms.with(times(self.masses, i, at), now - before, now);
            }
        }
        Ok(norms)
    }

    /// The product of the means, component by component; its norms are of different rows.
    fn multiply_means(
        &mut self,
        components: &[Range<usize>],
        inverses: &[Array2<f64>],
        monitor: &dyn Monitor,
    ) -> Result<Norms, GraphError> {
        let (mut inverses, mut norms, masses) = (inverses.iter(), Norms::default(), self.masses);
        let means = Slice::from(0..masses.len());
        for component in components {
            let rows = Slice::from(component.clone());
            let right = self.work.slice_axis(Axis(0), rows);
            let mut block = self.c.slice_axis_mut(Axis(0), rows);
            let inverse = if component.len() > 1 {
                inverses.next()
            } else {
                None
            };
            let parts: Result<Vec<Norms>, GraphError> = block
                .slice_axis_mut(Axis(1), means)
                .axis_chunks_iter_mut(Axis(1), COLUMNS)
                .into_par_iter()
                .zip(
                    right
                        .slice_axis(Axis(1), means)
                        .axis_chunks_iter(Axis(1), COLUMNS),
                )
                .enumerate()
                .map(|(chunk, (mut c, right))| {
                    go_on(monitor)?;
                    let before = c.to_owned();
                    match inverse {
                        Some(inverse) => general_mat_mul(1.0, inverse, &right, 0.0, &mut c),
                        // A row that is certainly with no other: T is ½.
                        None => c.assign(&(&right * 0.5)),
                    }
                    let mut norms = Norms::default();
                    for (((i, j), &new), &old) in c.indexed_iter().zip(&before) {
                        let (i, j) = (component.start + i, chunk * COLUMNS + j);
                        let times = if i == j { 0.0 } else { masses[i] * masses[j] };
                        norms = norms.with(times, new - old, new);
                    }
                    Ok(norms)
                })
                .collect();
            norms = parts?.into_iter().fold(norms, Norms::and);
        }
        Ok(norms)
    }

    /// E and Y₁ by the new C: the changes of E, and the residual A − C − E.
    fn multiplier(&mut self) -> [Norms; 2] {
        let (a, c, lambda, fresh, masses) = (self.a, &self.c, self.lambda, self.fresh, self.masses);
        let row = |(i, mut y1): (usize, ArrayViewMut1<'_, f64>)| {
            let (mut changes, mut residuals) = (Norms::default(), Norms::default());
            for (j, y1) in y1.iter_mut().enumerate() {
                let before = error(a[[i, j]], *y1, lambda, fresh);
                let gap = a[[i, j]].abs() - c[[i, j]];
                let sum = gap + *y1;
                let e = if certain(a[[i, j]]) {
                    0.0
                } else {
                    sum / (lambda + 1.0)
                };
                *y1 = sum - e;
                let times = times(masses, i, j);
                changes = changes.with(times, e - before, e);
                residuals = residuals.with(times, gap - e, *y1);
            }
            [changes, residuals]
        };
        let rows: Vec<[Norms; 2]> = self
            .y1
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .enumerate()
            .map(row)
            .collect();
        both(rows)
    }

    /// F and Y₂ by the new C: the changes of F, and the residual C − F.
    fn project(&mut self) -> [Norms; 2] {
        self.work.assign(&self.c);
        self.work += &self.y2;
        let (c, work, masses) = (&self.c, &self.work, self.masses);
        let lines = self
            .f
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .zip(self.y2.axis_iter_mut(Axis(0)))
            .enumerate();
        let row =
            |(i, (mut f, mut y2)): (usize, (ArrayViewMut1<'_, f64>, ArrayViewMut1<'_, f64>))| {
                let (mut changes, mut residuals) = (Norms::default(), Norms::default());
                for (j, (f, y2)) in f.iter_mut().zip(y2.iter_mut()).enumerate() {
                    let mirrored = if j < masses.len() {
                        work[[j, i]]
                    } else {
                        work[[i, j]]
                    };
                    let new = (0.5 * (work[[i, j]] + mirrored)).clamp(0.0, 1.0);
                    *y2 += c[[i, j]] - new;
                    let times = times(masses, i, j);
                    changes = changes.with(times, new - *f, new);
                    residuals = residuals.with(times, c[[i, j]] - new, *y2);
                    *f = new;
                }
                [changes, residuals]
            };
        both(lines.map(row).collect())
    }
}

/// How many others have the row of an object.
fn copies(mass: f64) -> f64 {
    (mass - 1.0).max(0.0)
}

/// How many pairs of objects a number stands for.
fn times(masses: &[f64], i: usize, j: usize) -> f64 {
    if i == j {
        masses[i]
    } else {
        masses[i] * masses.get(j).copied().unwrap_or_else(|| copies(masses[i]))
    }
}

/// Whether a pair is held: it has evidence of at least α.
fn certain(a: f64) -> bool {
    a.is_sign_negative()
}

/// E by its multiplier.
fn error(a: f64, y1: f64, lambda: f64, fresh: bool) -> f64 {
    if fresh || certain(a) {
        0.0
    } else {
        y1 / lambda
    }
}

/// Squared norms of a change and of what it is compared with.
#[derive(Clone, Copy, Default)]
struct Norms {
    change: f64,
    whole: f64,
}

impl Norms {
    fn with(self, times: f64, change: f64, whole: f64) -> Self {
        self.and(Self {
            change: times * change.powi(2),
            whole: times * whole.powi(2),
        })
    }

    fn and(self, other: Self) -> Self {
        Self {
            change: self.change + other.change,
            whole: self.whole + other.whole,
        }
    }

    fn share(self) -> f64 {
        if self.change > 0.0 {
            (self.change / self.whole).sqrt()
        } else {
            0.0
        }
    }
}

/// Sums over rows, in their order.
fn both(rows: Vec<[Norms; 2]>) -> [Norms; 2] {
    rows.into_iter()
        .fold([Norms::default(); 2], |[a, b], [c, d]| [a.and(c), b.and(d)])
}
