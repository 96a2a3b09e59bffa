//! Block Lanczos: the largest few eigenpairs of an operator.

use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use partita_core::{MemoryBudget, Seed};
use serde::{Deserialize, Serialize};

use crate::SpectralError;
use crate::basis::Basis;
use crate::dense::{check, largest, longest, relative_residual, residual, solve};
use crate::pairs::{Eigenpairs, Solver, orient};

/// Settings of [`lanczos`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LanczosSettings {
    /// Stop when every pair has `‖A v − λ v‖` below this share of the largest |eigenvalue|.
    pub tolerance: f64,
    /// Blocks of Krylov vectors to build before giving up.
    pub blocks: usize,
    /// Sides up to this are solved dense at once.
    pub dense_side: usize,
    /// Sides up to this are solved dense when Lanczos gives up; larger ones are restarted.
    pub fallback_side: usize,
    /// How often a search that has built all its blocks starts anew from its best vectors before it is an error.
    pub restarts: usize,
    /// What Krylov vectors, and matrices that are solved dense, may take: of most operators few vectors are enough.
    #[serde(skip)]
    pub budget: MemoryBudget,
}

impl LanczosSettings {
    /// Refuses Krylov vectors of a side, and what the matrix of their number takes that is solved dense.
    fn check(&self, side: usize, vectors: usize, dense: usize) -> Result<(), SpectralError> {
        let squares = (dense as u64).saturating_mul(dense as u64);
        let cells = (side as u64).saturating_mul(vectors as u64);
        let bytes = squares.saturating_mul(5).saturating_add(cells);
        let remedy = "raise the limit, or take fewer base clusterings";
        let what = "the search for eigenvectors";
        Ok(self.budget.check(what, bytes.saturating_mul(8), remedy)?)
    }
}

impl Default for LanczosSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            blocks: 40,
            dense_side: 128,
            fallback_side: 4000,
            restarts: 50,
            budget: MemoryBudget::UNLIMITED,
        }
    }
}

/// The `count` algebraically largest eigenpairs of a symmetric operator of the given side.
///
/// `apply(x, y)` writes `A x` into `y` for a block of vectors (side × b, row by row). The block is a little wider than
/// `count`, so that eigenvalues that occur up to `count` times are all found; one vector at a time would find one of
/// them and report convergence.
///
/// ```text
/// Q ← orthonormal random block
/// repeat  W = A Q_last,  H = Qᵀ W,  W ← W − Q H (twice),  Q ← [Q, orth(W)]
/// until   ‖W's share of every wanted Ritz vector‖ ≤ tolerance · |λ|max
/// ```
/// Each Ritz pair is then multiplied once more and its true residual compared with the tolerance. Where the basis
/// outgrows `settings.blocks`, the operator is written out and solved dense, up to `settings.fallback_side`; a larger one
/// starts anew from its best Ritz vectors and the block that was next (thick restart, Wu and Simon 2000).
///
/// # Errors
/// [`SpectralError::Count`] for no or too many pairs, [`SpectralError::Budget`] for more vectors than fit, [`SpectralError::Operator`] when `apply` gives a number that is
/// not finite, [`SpectralError::NotConverged`] when the side is too large for the dense solver.
///
/// # Cost
/// m / b products with a block and O(s m² + m³) time for m Krylov vectors; s m numbers.
pub fn lanczos(
    side: usize,
    count: usize,
    mut apply: impl FnMut(ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>),
    seed: Seed,
    settings: &LanczosSettings,
) -> Result<Eigenpairs, SpectralError> {
    if count == 0 || count > side {
        return Err(SpectralError::Count { count, side });
    }
    let width = (count + count.clamp(4, 16).div_ceil(2)).min(side);
    if side <= settings.dense_side || 3 * width >= side {
        settings.check(side, 0, side)?;
        return written_out(side, count, width, &mut apply);
    }
    let (pairs, vectors) = krylov(side, count, width, &mut apply, seed, settings)?;
    match pairs {
        Ok(pairs) => Ok(pairs),
        Err(_) if dense_at_last(side, settings) => {
            settings.check(side, 0, side)?;
            written_out(side, count, width, &mut apply)
        }
        Err(residual) => Err(SpectralError::NotConverged {
            count,
            vectors,
            residual,
            tolerance: settings.tolerance,
        }),
    }
}

/// The `count` algebraically largest eigenpairs of a dense symmetric matrix: [`lanczos`] where that is quicker than
/// [`symmetric_eigen`](crate::symmetric_eigen).
///
/// # Errors
/// Those of both.
pub fn top_eigenpairs(
    matrix: ArrayView2<'_, f64>,
    count: usize,
    seed: Seed,
    settings: &LanczosSettings,
) -> Result<Eigenpairs, SpectralError> {
    check(matrix)?;
    let product = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
        general_mat_mul(1.0, &matrix, &x, 0.0, &mut y);
    };
    lanczos(matrix.nrows(), count, product, seed, settings)
}

fn dense_at_last(side: usize, settings: &LanczosSettings) -> bool {
    side <= settings.fallback_side
}

pub(crate) type Apply<'a> = dyn FnMut(ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>) + 'a;

/// `A x`, if it is finite.
pub(crate) fn product(
    apply: &mut Apply<'_>,
    x: ArrayView2<'_, f64>,
) -> Result<Array2<f64>, SpectralError> {
    let mut y = Array2::zeros(x.dim());
    apply(x, y.view_mut());
    match y.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(SpectralError::Operator { value }),
        None => Ok(y),
    }
}

/// Pairs that converged, or the residual reached; and the Krylov vectors built.
type Attempt = (Result<Eigenpairs, f64>, usize);

fn krylov(
    side: usize,
    count: usize,
    width: usize,
    apply: &mut Apply<'_>,
    seed: Seed,
    settings: &LanczosSettings,
) -> Result<Attempt, SpectralError> {
    let mut basis = Basis::new(side, seed);
    (0..width).for_each(|_| basis.push_random());
    let limit = settings.blocks.saturating_mul(width).min(side);
    let mut projected = Array2::<f64>::zeros((0, 0));
    let mut last = 0;
    let mut next_look = 3 * width;
    let mut scale = 0.0;
    let dense = dense_at_last(side, settings);
    let mut restarts = if dense { 0 } else { settings.restarts };
    loop {
        let block = basis.columns(last).as_standard_layout().into_owned();
        let mut rest = product(apply, block.view())?;
        scale = longest(&rest).max(scale);
        let shares = basis.project_out(&mut rest);
        projected = bordered(&projected, &shares);
        let size = basis.len();
        let full = size >= limit;
        let coupling = if full {
            rest
        } else {
            basis.extend(&rest, scale)
        };
        if full || size >= next_look {
            settings.check(side, size, size)?;
            let (values, small) = solve(projected.view())?;
            let tail = small.slice(s![last.., ..count]);
            let scale = largest(&values);
            let leak = coupling.dot(&tail);
            let residual = longest(&leak) / if scale > 0.0 { scale } else { 1.0 };
            if residual <= settings.tolerance || (full && restarts == 0) {
                let krylov = basis.view();
                let krylov = krylov.slice(s![.., ..size]);
                let pairs = accepted(
                    apply,
                    krylov,
                    &values,
                    small.slice(s![.., ..count]),
                    settings,
                )?;
                if pairs.is_ok() || restarts == 0 {
                    return Ok((pairs, size));
                }
            }
            if full {
                // Thick restart: the block that was next belongs to these vectors as to the whole basis.
                let kept = (2 * width).min(size / 2);
                basis.keep(small.slice(s![.., ..kept]));
                projected = Array2::from_diag(&values.slice(s![..kept]));
                basis.extend(&coupling, scale);
                restarts -= 1;
                last = kept;
                next_look = kept + 3 * width;
                continue;
            }
            next_look = size + (size / 6).max(width);
        }
        last = size;
    }
}

/// The projected operator with the columns of one more block and, by symmetry, its rows.
fn bordered(projected: &Array2<f64>, shares: &Array2<f64>) -> Array2<f64> {
    let old = projected.nrows();
    let new = shares.nrows();
    let (above, corner) = shares.view().split_at(Axis(0), old);
    let mut larger = Array2::zeros((new, new));
    larger.slice_mut(s![..old, ..old]).assign(projected);
    larger.slice_mut(s![..old, old..]).assign(&above);
    larger.slice_mut(s![old.., ..old]).assign(&above.t());
    let corner = (&corner + &corner.t()) * 0.5;
    larger.slice_mut(s![old.., old..]).assign(&corner);
    larger
}

/// Ritz vectors multiplied once more: the pairs if their true residual is as small as asked for, else the residual.
fn accepted(
    apply: &mut Apply<'_>,
    krylov: ArrayView2<'_, f64>,
    all: &Array1<f64>,
    small: ArrayView2<'_, f64>,
    settings: &LanczosSettings,
) -> Result<Result<Eigenpairs, f64>, SpectralError> {
    let count = small.ncols();
    let values = all.slice(s![..count]).to_owned();
    let mut vectors = Array2::zeros((krylov.nrows(), count));
    general_mat_mul(1.0, &krylov, &small.to_owned(), 0.0, &mut vectors);
    orient(&mut vectors);
    let scale = largest(all);
    let residual = relative_residual(&product(apply, vectors.view())?, &values, &vectors, scale);
    // Twice the tolerance: the estimate that stopped the search and this number round differently.
    if residual > 2.0 * settings.tolerance {
        return Ok(Err(residual));
    }
    Ok(Ok(Eigenpairs {
        values,
        vectors,
        residual,
        next: all.get(count).copied(),
        solver: Solver::Lanczos,
    }))
}

/// The operator as a matrix, solved dense.
pub(crate) fn written_out(
    side: usize,
    count: usize,
    width: usize,
    apply: &mut Apply<'_>,
) -> Result<Eigenpairs, SpectralError> {
    let mut matrix = Array2::zeros((side, side));
    for first in (0..side).step_by(width) {
        let end = (first + width).min(side);
        let mut unit = Array2::zeros((side, end - first));
        unit.slice_mut(s![first..end, ..]).diag_mut().fill(1.0);
        let columns = product(apply, unit.view())?;
        matrix.slice_mut(s![.., first..end]).assign(&columns);
    }
    let matrix = (&matrix + &matrix.t()) * 0.5;
    let (values, vectors) = solve(matrix.view())?;
    let next = values.get(count).copied();
    let values = values.slice(s![..count]).to_owned();
    let vectors = vectors.slice(s![.., ..count]).to_owned();
    let residual = residual(matrix.view(), &values, &vectors);
    Ok(Eigenpairs {
        values,
        vectors,
        residual,
        next,
        solver: Solver::Dense,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symmetric_eigen;
    use rand::RngExt;

    /// Settings with which no side is solved dense at once.
    fn never_dense() -> LanczosSettings {
        LanczosSettings {
            dense_side: 0,
            ..LanczosSettings::default()
        }
    }

    /// A matrix of the given eigenvalues in a random orthonormal frame.
    fn with_values(values: &[f64], seed: u64) -> Array2<f64> {
        let mut basis = Basis::new(values.len(), Seed::new(seed));
        values.iter().for_each(|_| basis.push_random());
        let frame = basis.view();
        let matrix = (&frame * &Array1::from(values.to_vec())).dot(&frame.t());
        (&matrix + &matrix.t()) * 0.5
    }

    #[test]
    fn lanczos_agrees_with_the_dense_solver() {
        let settings = never_dense();
        let mut by_lanczos = 0;
        for seed in 0..30 {
            let mut rng = Seed::new(seed).rng();
            let side = rng.random_range(60..160);
            let count = rng.random_range(1..8);
            let half = Array2::from_shape_fn((side, side), |_| rng.random_range(-1.0..1.0));
            let matrix = &half + &half.t();
            let all = symmetric_eigen(matrix.view()).unwrap();
            let top = top_eigenpairs(matrix.view(), count, Seed::new(seed), &settings).unwrap();
            by_lanczos += usize::from(top.solver == Solver::Lanczos);
            assert!(top.residual < 2e-8, "seed {seed}: {}", top.residual);
            for j in 0..count {
                let gap = top.values[j] - all.values[j];
                assert!(gap.abs() < 1e-9 * all.values[0], "seed {seed}");
                let cosine = top.vectors.column(j).dot(&all.vectors.column(j));
                assert!((cosine - 1.0).abs() < 1e-6, "seed {seed}: {cosine}");
            }
        }
        assert!(by_lanczos > 20, "{by_lanczos}");
    }

    #[test]
    fn multiple_eigenvalues_are_all_found() {
        let settings = never_dense();
        for (copies, seed) in (1..=6).flat_map(|copies| (0..4).map(move |seed| (copies, seed))) {
            let mut values: Vec<f64> = (1..=150).map(|i| 0.9 / f64::from(i)).collect();
            values[..copies].fill(1.0);
            let matrix = with_values(&values, seed);
            let top = top_eigenpairs(matrix.view(), 6, Seed::new(seed), &settings).unwrap();
            assert_eq!(top.solver, Solver::Lanczos);
            for j in 0..6 {
                let near = (top.values[j] - values[j]).abs() < 1e-10;
                assert!(near, "{copies} copies: {}", top.values);
            }
        }
    }

    #[test]
    fn a_space_that_closes_early_does_not_end_the_search() {
        // Rank 2, rank 0 and the identity: the Krylov space of any start is tiny.
        let settings = never_dense();
        let mut two = vec![0.0; 120];
        two[5] = 3.0;
        two[9] = -4.0;
        for (values, expected) in [
            (two, [3.0, 0.0]),
            (vec![0.0; 120], [0.0, 0.0]),
            (vec![1.0; 120], [1.0, 1.0]),
        ] {
            let matrix = Array2::from_diag(&Array1::from(values));
            let top = top_eigenpairs(matrix.view(), 2, Seed::new(1), &settings).unwrap();
            let mut pairs = top.values.iter().zip(expected);
            let near = pairs.all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near, "{}", top.values);
            assert!(top.residual < 1e-10);
        }
    }

    #[test]
    fn without_room_it_falls_back_to_dense_or_says_so() {
        let values: Vec<f64> = (0..200).map(|i| 1.0 - f64::from(i) * 1e-4).collect();
        let matrix = with_values(&values, 5);
        let mut settings = LanczosSettings {
            blocks: 3,
            ..LanczosSettings::default()
        };
        let top = top_eigenpairs(matrix.view(), 3, Seed::new(1), &settings).unwrap();
        assert_eq!(top.solver, Solver::Dense);
        assert!((top.values[2] - values[2]).abs() < 1e-12);
        settings.fallback_side = 100;
        settings.restarts = 0;
        let refused = top_eigenpairs(matrix.view(), 3, Seed::new(1), &settings);
        let Err(SpectralError::NotConverged { count, vectors, .. }) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!((count, vectors), (3, 15));
    }

    #[test]
    fn a_restarted_search_finds_what_one_basis_does_not_hold() {
        let values: Vec<f64> = (0..300).map(|i| 1.0 - f64::from(i) * 1e-3).collect();
        for seed in 0..5 {
            let matrix = with_values(&values, seed);
            let mut settings = LanczosSettings {
                blocks: 8,
                fallback_side: 0,
                ..LanczosSettings::default()
            };
            let top = top_eigenpairs(matrix.view(), 3, Seed::new(77), &settings).unwrap();
            assert_eq!(top.solver, Solver::Lanczos);
            let near = (top.values[2] - values[2]).abs() < 1e-12;
            assert!(top.residual < 2e-8 && near, "{}", top.values);
            assert!(top.next.is_some_and(|next| next <= values[3] + 1e-12));
            settings.restarts = 0;
            let stopped = top_eigenpairs(matrix.view(), 3, Seed::new(77), &settings);
            let Err(SpectralError::NotConverged { vectors, .. }) = stopped else {
                panic!("{stopped:?}")
            };
            assert_eq!(vectors, 40);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_and_bad_requests_are_refused() {
        let values: Vec<f64> = (0..200).map(|i| 0.97f64.powi(i)).collect();
        let matrix = with_values(&values, 6);
        let settings = LanczosSettings::default();
        let run = |count, seed| top_eigenpairs(matrix.view(), count, Seed::new(seed), &settings);
        let one = run(4, 1).unwrap();
        assert_eq!(run(4, 1).unwrap(), one);
        let apart = run(4, 2).unwrap().vectors - &one.vectors;
        assert!(apart.iter().all(|x| x.abs() < 1e-5));
        assert_eq!(one.vectors.ncols(), 4);
        assert!(run(0, 1).is_err() && run(201, 1).is_err());
        let nan = |_: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| y.fill(f64::NAN);
        let error = lanczos(500, 2, nan, Seed::new(1), &settings);
        assert!(matches!(error, Err(SpectralError::Operator { .. })));
    }
}
