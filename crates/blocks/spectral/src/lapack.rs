//! Dense eigenpairs by the LAPACK of the system's OpenBLAS.

#![expect(unsafe_code, reason = "one function of OpenBLAS has no binding")]

use std::sync::Once;

use ndarray_linalg::{Eigh, UPLO};
use partita_core::ndarray::{Array1, Array2, ArrayView2};

use crate::SpectralError;

unsafe extern "C" {
    /// Says how many threads OpenBLAS may use.
    #[link_name = "openblas_set_num_threads"]
    fn set_threads(threads: std::ffi::c_int);
}

/// OpenBLAS sums in another order for another number of threads, and would take cores that the caller has given to
/// others. The variable of the environment is read before `main`, too early to be set here.
fn one_thread() {
    static ONCE: Once = Once::new();
    // SAFETY: the function belongs to OpenBLAS, which this feature links, takes a C int and has no precondition.
    ONCE.call_once(|| unsafe { set_threads(1) });
}

/// Eigenvalues, rising, and their vectors as columns (`dsyev`). The side is not 0.
pub(crate) fn rising(
    matrix: ArrayView2<'_, f64>,
) -> Result<(Array1<f64>, Array2<f64>), SpectralError> {
    one_thread();
    matrix.eigh(UPLO::Lower).map_err(|_| SpectralError::Dense {
        side: matrix.nrows(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use partita_core::ndarray::s;
    use rand::RngExt;

    /// Matrices of many sides: of random entries, of repeated eigenvalues, of low rank, normalised graphs.
    fn cases() -> impl Iterator<Item = Array2<f64>> {
        (0..48u64).map(|case| {
            let mut rng = Seed::new(case).rng();
            let side = 1 + (case as usize * 7) % 90;
            let half = Array2::from_shape_fn((side, side), |_| rng.random_range(-1.0..1.0));
            match case % 4 {
                0 => &half + &half.t(),
                1 => {
                    let (_, frame) =
                        crate::faer::rising((&half + &half.t()).view()).expect("finite numbers");
                    let values = Array1::from_shape_fn(side, |j| [2.0, 2.0, 2.0, -1.0, 0.5][j % 5]);
                    let matrix = (&frame * &values).dot(&frame.t());
                    (&matrix + &matrix.t()) * 0.5
                }
                2 => {
                    let some = half.slice(s![.., ..side.min(3)]);
                    some.dot(&some.t())
                }
                _ => {
                    let graph = (&half + &half.t()).mapv(f64::abs);
                    let rows = graph.outer_iter();
                    let root: Array1<f64> = rows.map(|row| row.sum().sqrt().recip()).collect();
                    let matrix = &graph * &root;
                    let scaled = (&matrix.t() * &root).reversed_axes();
                    (&scaled + &scaled.t()) * 0.5
                }
            }
        })
    }

    /// Where each run of eigenvalues that are equal to the seventh digit ends.
    fn ends(values: &Array1<f64>, scale: f64) -> Vec<usize> {
        (1..=values.len())
            .filter(|&j| j == values.len() || values[j] - values[j - 1] > 1e-7 * scale)
            .collect()
    }

    #[test]
    fn the_backend_is_the_one_that_is_named() {
        let matrix = cases().nth(44).expect("48 cases");
        let pairs = crate::symmetric_eigen_lapack(matrix.view()).expect("finite numbers");
        let (rising, _) = rising(matrix.view()).expect("finite numbers");
        assert!(pairs.values.iter().eq(rising.iter().rev()) && pairs.residual < 1e-12);
        // The feature changes nobody's results: without a name it is faer.
        let own = crate::symmetric_eigen(matrix.view()).expect("finite numbers");
        let (rising, _) = crate::faer::rising(matrix.view()).expect("finite numbers");
        assert!(own.values.iter().eq(rising.iter().rev()));
    }

    #[test]
    fn both_backends_agree_on_values_and_subspaces() {
        let mut compared = 0;
        for matrix in cases() {
            let (values, vectors) = rising(matrix.view()).expect("finite numbers");
            let (others, frame) = crate::faer::rising(matrix.view()).expect("finite numbers");
            let scale = others
                .iter()
                .map(|value| value.abs())
                .fold(1e-300, f64::max);
            let gap = &values - &others;
            let near = gap.iter().all(|gap| gap.abs() <= 1e-8 * scale);
            assert!(near, "{values} {others}");
            let mut first = 0;
            for end in ends(&others, scale) {
                // Two bases of one space have the same projection onto it.
                let [a, b] = [&vectors, &frame].map(|vectors| {
                    let some = vectors.slice(s![.., first..end]);
                    some.dot(&some.t())
                });
                let near = (a - b).iter().all(|gap| gap.abs() < 1e-8);
                assert!(near, "{} of {}", end - first, values.len());
                first = end;
                compared += 1;
            }
        }
        assert!(compared > 700, "{compared}");
    }
}
