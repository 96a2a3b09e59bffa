//! Dense symmetric eigenproblems: all eigenpairs, by faer or by the backend that a caller names.

use partita_core::ndarray::{Array1, Array2, ArrayView2};

use crate::SpectralError;
use crate::faer;
#[cfg(feature = "lapack")]
use crate::lapack;
use crate::pairs::{Eigenpairs, Solver, orient};

/// Entries may differ from their mirror image by so much of the largest entry: rounding of a sum of many terms.
const ASYMMETRY: f64 = 1e-9;

/// All eigenpairs of a symmetric matrix. Only the lower triangle is read once the symmetry is checked.
///
/// One thread, so that the bits do not depend on how many there are.
///
/// # Errors
/// [`SpectralError::NotSquare`], [`SpectralError::NotFinite`] or [`SpectralError::NotSymmetric`] name the first entry that
/// does not fit; [`SpectralError::Dense`] if the solver gives up.
///
/// # Cost
/// O(s³) time, four matrices of side s.
pub fn symmetric_eigen(matrix: ArrayView2<'_, f64>) -> Result<Eigenpairs, SpectralError> {
    all_pairs(matrix, faer::rising)
}

/// [`symmetric_eigen`] by the `dsyev` of the system's OpenBLAS, for those who must use the library that the rest of their
/// numbers come from. Values and subspaces agree to rounding.
///
/// # Errors
/// As [`symmetric_eigen`].
///
/// # Cost
/// As [`symmetric_eigen`], slower.
#[cfg(feature = "lapack")]
pub fn symmetric_eigen_lapack(matrix: ArrayView2<'_, f64>) -> Result<Eigenpairs, SpectralError> {
    all_pairs(matrix, lapack::rising)
}

/// Eigenvalues, rising, and their vectors as columns, of a matrix whose side is not 0.
type Backend = fn(ArrayView2<'_, f64>) -> Result<(Array1<f64>, Array2<f64>), SpectralError>;

fn all_pairs(matrix: ArrayView2<'_, f64>, backend: Backend) -> Result<Eigenpairs, SpectralError> {
    check(matrix)?;
    let (values, vectors) = falling(matrix, backend)?;
    let residual = residual(matrix, &values, &vectors);
    Ok(Eigenpairs {
        values,
        vectors,
        residual,
        next: None,
        solver: Solver::Dense,
    })
}

/// A square symmetric matrix of finite numbers, or the first reason why not.
pub(crate) fn check(matrix: ArrayView2<'_, f64>) -> Result<(), SpectralError> {
    let (rows, columns) = matrix.dim();
    if rows != columns {
        return Err(SpectralError::NotSquare { rows, columns });
    }
    for ((row, column), &value) in matrix.indexed_iter() {
        if !value.is_finite() {
            return Err(SpectralError::NotFinite { row, column, value });
        }
    }
    let allowed = ASYMMETRY * matrix.iter().fold(0.0, |largest, x| x.abs().max(largest));
    for ((row, column), &value) in matrix.indexed_iter() {
        let mirrored = matrix[[column, row]];
        if (value - mirrored).abs() > allowed {
            return Err(SpectralError::NotSymmetric {
                row,
                column,
                value,
                mirrored,
            });
        }
    }
    Ok(())
}

/// Eigenvalues, falling, and their vectors as columns. The matrix has passed [`check`].
pub(crate) fn solve(
    matrix: ArrayView2<'_, f64>,
) -> Result<(Array1<f64>, Array2<f64>), SpectralError> {
    falling(matrix, faer::rising)
}

/// What a backend finds, largest first.
fn falling(
    matrix: ArrayView2<'_, f64>,
    backend: Backend,
) -> Result<(Array1<f64>, Array2<f64>), SpectralError> {
    let side = matrix.nrows();
    if side == 0 {
        return Ok((Array1::zeros(0), Array2::zeros((0, 0))));
    }
    let (values, vectors) = backend(matrix)?;
    let last = side - 1;
    let mut columns = Array2::from_shape_fn((side, side), |(i, j)| vectors[[i, last - j]]);
    orient(&mut columns);
    Ok((Array1::from_shape_fn(side, |j| values[last - j]), columns))
}

/// Largest `‖A v − λ v‖`, relative to the largest |λ|.
pub(crate) fn residual(
    matrix: ArrayView2<'_, f64>,
    values: &Array1<f64>,
    vectors: &Array2<f64>,
) -> f64 {
    relative_residual(&matrix.dot(vectors), values, vectors, largest(values))
}

/// As [`residual`] when the product `A v` is at hand.
pub(crate) fn relative_residual(
    product: &Array2<f64>,
    values: &Array1<f64>,
    vectors: &Array2<f64>,
    scale: f64,
) -> f64 {
    let worst = longest(&(product - &(vectors * values)));
    if scale > 0.0 { worst / scale } else { worst }
}

/// Length of the longest column.
pub(crate) fn longest(block: &Array2<f64>) -> f64 {
    let columns = block.columns().into_iter();
    let lengths = columns.map(|column| column.dot(&column).sqrt());
    lengths.fold(0.0, f64::max)
}

pub(crate) fn largest(values: &Array1<f64>) -> f64 {
    values
        .iter()
        .fold(0.0, |largest, value| value.abs().max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use partita_core::ndarray::array;
    use rand::RngExt;

    #[test]
    fn eigenpairs_rebuild_the_matrix() {
        for (side, seed) in (0..40).map(|seed| (1 + seed as usize, Seed::new(seed))) {
            let mut rng = seed.rng();
            let half = Array2::from_shape_fn((side, side), |_| rng.random_range(-1.0..1.0));
            let matrix = &half + &half.t();
            let pairs = symmetric_eigen(matrix.view()).unwrap();
            assert!(pairs.residual < 1e-12, "{}", pairs.residual);
            assert!(pairs.values.windows(2).into_iter().all(|w| w[0] >= w[1]));
            let rebuilt = (&pairs.vectors * &pairs.values).dot(&pairs.vectors.t());
            assert!((&rebuilt - &matrix).iter().all(|x| x.abs() < 1e-12));
            let gap = pairs.vectors.t().dot(&pairs.vectors) - Array2::<f64>::eye(side);
            assert!(gap.iter().all(|x| x.abs() < 1e-12));
        }
    }

    #[test]
    fn the_side_of_nothing_and_of_one_are_answered() {
        let none = symmetric_eigen(Array2::zeros((0, 0)).view()).unwrap();
        assert_eq!(none.values.len(), 0);
        let one = symmetric_eigen(array![[-3.0]].view()).unwrap();
        assert_eq!((one.values[0], one.vectors[[0, 0]]), (-3.0, 1.0));
        let zeros = symmetric_eigen(Array2::zeros((3, 3)).view()).unwrap();
        assert_eq!(zeros.residual, 0.0);
    }

    #[test]
    fn what_is_no_symmetric_matrix_is_named() {
        for (matrix, expected) in [
            (Array2::zeros((2, 3)), "a matrix of 2 × 3"),
            (array![[0.0, f64::NAN], [0.0, 0.0]], "entry (0, 1) is NaN"),
            (
                array![[0.0, 1.0], [2.0, 0.0]],
                "entry (0, 1) is 1 but its mirror image is 2",
            ),
        ] {
            let error = symmetric_eigen(matrix.view()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
