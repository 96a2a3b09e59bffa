//! Propagation of certain pairs over a co-association matrix, by the alternating direction method of multipliers (ADMM).
//!
//! ```text
//! C ← T [(A − E + Y₁) + (F − Y₂)],  T = (2Φ + 2I)⁻¹        E ← (A − C + Y₁) / (λ + 1), 0 where H > 0
//! F ← clip(sym(C + Y₂), 0, 1)        Y₁ += A − C − E        Y₂ += C − F
//! ```
//! from C = E = F = Y₂ = 0 and Y₁ = A. After each round E = Y₁ / λ where H is 0, so that it is not held; T is block-diagonal over
//! the connected components of H, which come one after the other here.

use std::ops::Range;

use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::parallel::prelude::*;
use partita_core::ndarray::{Array2, ArrayViewMut1, Axis, Slice};
use partita_core::{Flow, Monitor, Stopped};
use partita_spectral::symmetric_eigen;

use super::evidence::Evidence;
use crate::GraphError;

/// Columns that one thread multiplies at a time.
const COLUMNS: usize = 128;

/// How a search for C ended.
pub(super) struct Propagated {
    /// n × n, in the order of [`Evidence::order`].
    pub(super) matrix: Array2<f64>,
    pub(super) rounds: u32,
    pub(super) stopped: Stopped,
    /// The largest of the five relative changes of the last round.
    pub(super) change: f64,
}

/// The five matrices and one to work in. A pair with evidence of at least α has a negative sign in A, since evidence is not negative.
struct State<'a> {
    a: &'a Array2<f64>,
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
/// O(s³) for every component of s objects, O(n Σ s²) a round.
pub(super) fn propagate(
    evidence: &Evidence,
    lambda: f64,
    rounds: u32,
    tolerance: f64,
    monitor: &dyn Monitor,
) -> Result<Propagated, GraphError> {
    let inverses = inverses(evidence, monitor)?;
    let zeros = || Array2::<f64>::zeros(evidence.weighted.dim());
    let mut state = State {
        a: &evidence.weighted,
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
        change = state.round(&evidence.components, &inverses, monitor)?;
        round += 1;
    }
    let stopped = if change < tolerance { Stopped::Converged } else { Stopped::RoundLimit };
    Ok(Propagated { matrix: state.f, rounds: round, stopped, change })
}

/// T of every component that has more than one object.
fn inverses(evidence: &Evidence, monitor: &dyn Monitor) -> Result<Vec<Array2<f64>>, GraphError> {
    let inverse = |component: &Range<usize>| {
        go_on(monitor)?;
        let all = Slice::from(component.clone());
        let certain = evidence.certain.slice_axis(Axis(0), all).slice_axis(Axis(1), all).to_owned();
        let mut matrix = certain.mapv(|h| -2.0 * h);
        for (i, degree) in certain.outer_iter().map(|row| row.sum()).enumerate() {
            matrix[[i, i]] = 2.0 * degree + 2.0;
        }
        let pairs = symmetric_eigen(matrix.view())?;
        let scaled = &pairs.vectors / &pairs.values;
        Ok(scaled.dot(&pairs.vectors.t()))
    };
    evidence.components.iter().filter(|component| component.len() > 1).map(inverse).collect()
}

/// An error if the monitor asks to stop.
fn go_on(monitor: &dyn Monitor) -> Result<(), GraphError> {
    if monitor.flow() == Flow::Stop { Err(GraphError::Interrupted) } else { Ok(()) }
}

impl State<'_> {
    /// One round; the largest of the relative changes of C, E, F and of the residuals against their multipliers. The monitor is asked
    /// between its steps, and by component and columns inside the product.
    fn round(
        &mut self,
        components: &[Range<usize>],
        inverses: &[Array2<f64>],
        monitor: &dyn Monitor,
    ) -> Result<f64, GraphError> {
        self.right_side();
        let c = self.multiply(components, inverses, monitor)?;
        go_on(monitor)?;
        let [e, first] = self.multiplier();
        go_on(monitor)?;
        let [f, second] = self.project();
        self.fresh = false;
        Ok([c, e, first, f, second].into_iter().map(Norms::share).fold(0.0, f64::max))
    }

    /// work ← A − E + Y₁ + F − Y₂.
    fn right_side(&mut self) {
        let (a, f, y1, y2, lambda, fresh) = (self.a, &self.f, &self.y1, &self.y2, self.lambda, self.fresh);
        self.work.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
            for (j, to) in row.iter_mut().enumerate() {
                let e = error(a[[i, j]], y1[[i, j]], lambda, fresh);
                *to = a[[i, j]].abs() - e + y1[[i, j]] + f[[i, j]] - y2[[i, j]];
            }
        });
    }

    /// C ← T work, component by component.
    fn multiply(
        &mut self,
        components: &[Range<usize>],
        inverses: &[Array2<f64>],
        monitor: &dyn Monitor,
    ) -> Result<Norms, GraphError> {
        let (mut inverses, mut norms) = (inverses.iter(), Norms::default());
        for component in components {
            let rows = Slice::from(component.clone());
            let right = self.work.slice_axis(Axis(0), rows);
            let mut block = self.c.slice_axis_mut(Axis(0), rows);
            let inverse = if component.len() > 1 { inverses.next() } else { None };
            let parts: Result<Vec<Norms>, GraphError> = block
                .axis_chunks_iter_mut(Axis(1), COLUMNS)
                .into_par_iter()
                .zip(right.axis_chunks_iter(Axis(1), COLUMNS))
                .map(|(mut c, right)| {
                    go_on(monitor)?;
                    let before = c.to_owned();
                    match inverse {
                        Some(inverse) => general_mat_mul(1.0, inverse, &right, 0.0, &mut c),
                        // An object that is certainly with no other: T is ½.
                        None => c.assign(&(&right * 0.5)),
                    }
                    let pairs = c.iter().zip(&before);
                    Ok(pairs.fold(Norms::default(), |norms, (&new, &old)| norms.with(new - old, new)))
                })
                .collect();
            norms = parts?.into_iter().fold(norms, Norms::and);
        }
        Ok(norms)
    }

    /// E and Y₁ by the new C: the changes of E, and the residual A − C − E.
    fn multiplier(&mut self) -> [Norms; 2] {
        let (a, c, lambda, fresh) = (self.a, &self.c, self.lambda, self.fresh);
        let row = |(i, mut y1): (usize, ArrayViewMut1<'_, f64>)| {
            let (mut changes, mut residuals) = (Norms::default(), Norms::default());
            for (j, y1) in y1.iter_mut().enumerate() {
                let before = error(a[[i, j]], *y1, lambda, fresh);
                let gap = a[[i, j]].abs() - c[[i, j]];
                let sum = gap + *y1;
                let e = if certain(a[[i, j]]) { 0.0 } else { sum / (lambda + 1.0) };
                *y1 = sum - e;
                changes = changes.with(e - before, e);
                residuals = residuals.with(gap - e, *y1);
            }
            [changes, residuals]
        };
        let rows: Vec<[Norms; 2]> = self.y1.axis_iter_mut(Axis(0)).into_par_iter().enumerate().map(row).collect();
        both(rows)
    }

    /// F and Y₂ by the new C: the changes of F, and the residual C − F.
    fn project(&mut self) -> [Norms; 2] {
        self.work.assign(&self.c);
        self.work += &self.y2;
        let (c, work) = (&self.c, &self.work);
        let lines = self.f.axis_iter_mut(Axis(0)).into_par_iter().zip(self.y2.axis_iter_mut(Axis(0))).enumerate();
        let row = |(i, (mut f, mut y2)): (usize, (ArrayViewMut1<'_, f64>, ArrayViewMut1<'_, f64>))| {
            let (mut changes, mut residuals) = (Norms::default(), Norms::default());
            for (j, ((f, y2), mirrored)) in f.iter_mut().zip(y2.iter_mut()).zip(work.column(i)).enumerate() {
                let new = (0.5 * (work[[i, j]] + mirrored)).clamp(0.0, 1.0);
                *y2 += c[[i, j]] - new;
                changes = changes.with(new - *f, new);
                residuals = residuals.with(c[[i, j]] - new, *y2);
                *f = new;
            }
            [changes, residuals]
        };
        both(lines.map(row).collect())
    }
}

/// Whether a pair is held: it has evidence of at least α.
fn certain(a: f64) -> bool {
    a.is_sign_negative()
}

/// E by its multiplier.
fn error(a: f64, y1: f64, lambda: f64, fresh: bool) -> f64 {
    if fresh || certain(a) { 0.0 } else { y1 / lambda }
}

/// Squared norms of a change and of what it is compared with.
#[derive(Clone, Copy, Default)]
struct Norms {
    change: f64,
    whole: f64,
}

impl Norms {
    fn with(self, change: f64, whole: f64) -> Self {
        self.and(Self { change: change.powi(2), whole: whole.powi(2) })
    }

    fn and(self, other: Self) -> Self {
        Self { change: self.change + other.change, whole: self.whole + other.whole }
    }

    fn share(self) -> f64 {
        if self.change > 0.0 { (self.change / self.whole).sqrt() } else { 0.0 }
    }
}

/// Sums over rows, in their order.
fn both(rows: Vec<[Norms; 2]>) -> [Norms; 2] {
    rows.into_iter().fold([Norms::default(); 2], |[a, b], [c, d]| [a.and(c), b.and(d)])
}
