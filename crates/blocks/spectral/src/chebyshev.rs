//! Subspace iteration with a Chebyshev filter: the largest few eigenpairs of a sparse normalised graph.

use partita_core::Seed;
use partita_core::ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, concatenate, s};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::SpectralError;
use crate::dense::{largest, relative_residual, solve};
use crate::lanczos::{Apply, product, written_out};
use crate::pairs::{Eigenpairs, Solver, orient};

/// How much more an eigenvalue of 1 grows in one iteration than the edge of what is not wanted.
const GAIN: f64 = 1e4;

/// Most products in one iteration.
const DEGREE: f64 = 200.0;

/// The share of the largest below which a direction of a block counts as nothing: an eigenvalue of its Gram matrix.
const NOTHING: f64 = 1e-13;

/// Sides up to this are solved dense.
const DENSE_SIDE: usize = 128;

/// Settings of [`chebyshev`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChebyshevSettings {
    /// Stop when an iteration raises the mean of the wanted eigenvalues by at most this share of the distance from 1 to the
    /// smallest eigenvalue of the block.
    pub tolerance: f64,
    /// Most iterations; what is there after them is the result, with its residual.
    pub iterations: usize,
}

impl Default for ChebyshevSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            iterations: 40,
        }
    }
}

/// The `count` algebraically largest eigenpairs of a symmetric operator whose eigenvalues lie in [−1, 1], as those of
/// D^−½ A D^−½ do for a graph A with weights that are not negative.
///
/// `apply(x, y)` writes `A x` into `y` for a block of vectors (side × b, row by row, b a multiple of 8).
///
/// ```text
/// X ← random block, a ← 0
/// repeat  Y ← T_m((2 A + 1 − a) / (1 + a)) X,  T_m the Chebyshev polynomial of degree m,
///         m the least with T_m at the eigenvalue 1 ≥ 10⁴:  what lies in [−1, a] does not grow
///         Q ← orth(Y),  (θ, U) ← eigenpairs of Qᵀ A Q,  X ← Q U,  a ← the smallest θ
/// until   the mean of the wanted θ rises by at most tolerance · (1 − a)
/// ```
/// Eigenvalues are looked at relative to 1 − a: a graph whose clusters hardly touch is solved as exactly as one whose do. The block
/// has a quarter more vectors than are wanted, and so finds eigenvalues that occur as often as that: those of a graph in several parts.
/// A product with a sparse graph costs much less than a vector's orthogonalisation, which is done once in m products here and
/// after each in [`lanczos`](crate::lanczos()). Small sides are solved dense.
///
/// # Errors
/// [`SpectralError::Count`] for no or too many pairs, [`SpectralError::Operator`] when `apply` gives a number that is
/// not finite, [`SpectralError::Dense`] if the solver of a small matrix gives up.
///
/// # Cost
/// About 5 iterations of m products with a block of b ≈ 1.25 k vectors and O(s b²) time; 6 s b numbers. m is 12 for a = 0.7, 22 for 0.9, 70 for 0.99.
///
/// # References
/// Zhou, Saad, Tiago and Chelikowsky, *Self-consistent-field calculations using Chebyshev-filtered subspace iteration*, Journal of
/// Computational Physics 2006.
pub fn chebyshev(
    side: usize,
    count: usize,
    mut apply: impl FnMut(ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>),
    seed: Seed,
    settings: &ChebyshevSettings,
) -> Result<Eigenpairs, SpectralError> {
    if count == 0 || count > side {
        return Err(SpectralError::Count { count, side });
    }
    let width = width(count);
    if side <= DENSE_SIDE || 3 * width >= side {
        return written_out(side, count, width, &mut apply);
    }
    let mut block = random(side, width, seed.child(0));
    let mut edge = 0.0;
    let mut mean = f64::NEG_INFINITY;
    let mut iteration = 0;
    loop {
        iteration += 1;
        let found = orthonormal(
            filtered(&mut apply, block, edge)?,
            seed.child(iteration as u64),
        )?;
        let image = product(&mut apply, found.view())?;
        let projected = found.t().dot(&image);
        let (values, turn) = solve(((&projected + &projected.t()) * 0.5).view())?;
        block = found.dot(&turn);
        edge = values[width - 1].clamp(-0.9, 1.0);
        let before = std::mem::replace(&mut mean, values.slice(s![..count]).sum() / count as f64);
        // No eigenvalue rises above 1. The last term is rounding.
        let rise = (mean - before).min(1.0 - mean);
        if iteration >= settings.iterations || rise <= settings.tolerance * (1.0 - edge) + 1e-14 {
            let vectors = block.slice(s![.., ..count]).to_owned();
            return Ok(pairs(vectors, &image.dot(&turn), &values));
        }
    }
}

/// Vectors of a block in which so many are wanted.
fn width(count: usize) -> usize {
    (count + (count / 4).max(6)).next_multiple_of(8)
}

fn pairs(mut vectors: Array2<f64>, image: &Array2<f64>, all: &Array1<f64>) -> Eigenpairs {
    let count = vectors.ncols();
    let values = all.slice(s![..count]).to_owned();
    let image = image.slice(s![.., ..count]).to_owned();
    let residual = relative_residual(&image, &values, &vectors, largest(all));
    orient(&mut vectors);
    Eigenpairs {
        values,
        vectors,
        residual,
        next: all.get(count).copied(),
        solver: Solver::Chebyshev,
    }
}

/// The block times the polynomial that is at most 1 on [−1, edge].
fn filtered(
    apply: &mut Apply<'_>,
    mut before: Array2<f64>,
    edge: f64,
) -> Result<Array2<f64>, SpectralError> {
    let half = 0.5 * (1.0 + edge);
    let middle = half - 1.0;
    let degree = GAIN.acosh() / ((1.0 - middle) / half).acosh();
    let degree = degree.min(DEGREE).ceil() as usize;
    let mut block = product(apply, before.view())?;
    block.zip_mut_with(&before, |y, x| *y = (*y - middle * x) / half);
    for _ in 1..degree {
        let mut next = product(apply, block.view())?;
        let factor = 2.0 / half;
        next.zip_mut_with(&block, |y, x| *y = factor * (*y - middle * x));
        next -= &before;
        before = std::mem::replace(&mut block, next);
    }
    Ok(block)
}

/// An orthonormal basis of what the columns span, by the eigenvectors of their Gram matrix, twice; random columns stand in for directions
/// that they lack.
fn orthonormal(mut block: Array2<f64>, seed: Seed) -> Result<Array2<f64>, SpectralError> {
    let (side, width) = block.dim();
    for pass in 0.. {
        let squares = (&block * &block).sum_axis(Axis(0));
        block *= &squares.mapv(|square| {
            if square > 0.0 {
                square.sqrt().recip()
            } else {
                0.0
            }
        });
        let (values, vectors) = solve(block.t().dot(&block).view())?;
        let counts = values
            .iter()
            .take_while(|&&value| value > NOTHING * values[0]);
        let kept = counts.count();
        let lengths = values.slice(s![..kept]).mapv(f64::sqrt);
        block = block.dot(&(&vectors.slice(s![.., ..kept]) / &lengths));
        if kept < width {
            block = concatenate![Axis(1), block, random(side, width - kept, seed.child(pass))];
        } else if pass > 0 {
            break;
        }
    }
    Ok(block)
}

fn random(side: usize, width: usize, seed: Seed) -> Array2<f64> {
    let mut rng = seed.rng();
    Array2::from_shape_simple_fn((side, width), || rng.random_range(-1.0..1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symmetric_eigen;

    /// A normalised graph of so many equal parts, each a random graph of `size` vertices.
    fn parts(count: usize, size: usize, seed: u64) -> Array2<f64> {
        let mut rng = Seed::new(seed).rng();
        let mut graph = Array2::<f64>::zeros((size, size));
        for i in 0..size {
            for step in 1..4 {
                let j = (i + step * step) % size;
                let weight = rng.random_range(0.1..1.0);
                graph[[i, j]] += weight;
                graph[[j, i]] += weight;
            }
        }
        let root = graph.sum_axis(Axis(0)).mapv(|degree| degree.sqrt().recip());
        let normalised =
            Array2::from_shape_fn((size, size), |(i, j)| graph[[i, j]] * (root[i] * root[j]));
        Array2::from_shape_fn((count * size, count * size), |(i, j)| {
            let same = i / size == j / size;
            if same {
                normalised[[i % size, j % size]]
            } else {
                0.0
            }
        })
    }

    fn of(
        matrix: &Array2<f64>,
        count: usize,
        seed: u64,
        settings: &ChebyshevSettings,
    ) -> Eigenpairs {
        let apply =
            |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| y.assign(&matrix.dot(&x));
        chebyshev(matrix.nrows(), count, apply, Seed::new(seed), settings).unwrap()
    }

    #[test]
    fn it_agrees_with_the_dense_solver() {
        let exact = ChebyshevSettings {
            tolerance: 0.0,
            ..ChebyshevSettings::default()
        };
        for (seed, (count, size)) in [(1, 170), (1, 200), (2, 90), (3, 60), (6, 30)]
            .into_iter()
            .enumerate()
        {
            let matrix = parts(count, size, seed as u64);
            let all = symmetric_eigen(matrix.view()).unwrap();
            for wanted in [1, 2, 7, 12] {
                let top = of(&matrix, wanted, seed as u64, &exact);
                assert_eq!(top.solver, Solver::Chebyshev);
                let gap = &top.values - &all.values.slice(s![..wanted]);
                let near = gap.iter().all(|gap| gap.abs() < 1e-9);
                assert!(near, "{count} of {size}: {} {}", top.values, all.values);
                let gap = top.vectors.t().dot(&top.vectors) - Array2::<f64>::eye(wanted);
                assert!(gap.iter().all(|x| x.abs() < 1e-12));
                if all.values[wanted - 1] - all.values[wanted] > 1e-3 {
                    let wanted = all.vectors.slice(s![.., ..wanted]);
                    // Two bases of one space have the same projection onto it.
                    let gap = top.vectors.dot(&top.vectors.t()) - wanted.dot(&wanted.t());
                    assert!(gap.iter().all(|gap| gap.abs() < 1e-5), "{count} of {size}");
                }
                // The default stops earlier, near by.
                let usual = of(&matrix, wanted, seed as u64, &ChebyshevSettings::default());
                let lost = top.values.sum() - usual.values.sum();
                let near = lost.abs() < 1e-3 * wanted as f64;
                assert!(near, "{count} of {size}, {wanted}: {lost}");
            }
        }
    }

    #[test]
    fn more_parts_than_vectors_are_all_at_1() {
        let matrix = parts(60, 5, 1);
        let top = of(&matrix, 8, 3, &ChebyshevSettings::default());
        let ones = top.values.iter().all(|value| (value - 1.0).abs() < 1e-9);
        assert!(ones, "{}", top.values);
        assert!(top.residual < 1e-5, "{}", top.residual);
        let image = matrix.dot(&top.vectors);
        assert!((&image - &top.vectors).iter().all(|gap| gap.abs() < 1e-5));
    }

    #[test]
    fn operators_without_a_spectrum_to_speak_of_are_answered() {
        for value in [0.0, 1.0, -1.0, 0.5] {
            let matrix = Array2::eye(150) * value;
            let top = of(&matrix, 5, 1, &ChebyshevSettings::default());
            let near = top.values.iter().all(|found| (found - value).abs() < 1e-12);
            assert!(near, "{value}: {}", top.values);
        }
        let small = of(&parts(1, 40, 1), 40, 1, &ChebyshevSettings::default());
        assert_eq!((small.values.len(), small.solver), (40, Solver::Dense));
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_and_bad_requests_are_refused() {
        let matrix = parts(2, 100, 5);
        let mut settings = ChebyshevSettings::default();
        assert_eq!(of(&matrix, 6, 1, &settings), of(&matrix, 6, 1, &settings));
        settings.iterations = 1;
        let first = of(&matrix, 6, 1, &settings);
        assert!(first.residual > of(&matrix, 6, 1, &ChebyshevSettings::default()).residual);
        let settings = ChebyshevSettings::default();
        let run = |count, number: f64| {
            chebyshev(
                200,
                count,
                |_, mut y| y.fill(number),
                Seed::new(1),
                &settings,
            )
        };
        for count in [0, 201] {
            assert_eq!(
                run(count, 0.0),
                Err(SpectralError::Count { count, side: 200 })
            );
        }
        let refused = run(2, f64::NAN);
        assert!(matches!(refused, Err(SpectralError::Operator { .. })));
    }
}
