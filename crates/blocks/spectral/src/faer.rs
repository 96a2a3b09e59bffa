//! Dense eigenpairs by faer: plain Rust, the default.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::prelude::default;
use faer::{Mat, MatRef, Par};
use partita_core::ndarray::{Array1, Array2, ArrayView2};

use crate::SpectralError;

/// Eigenvalues, rising, and their vectors as columns. The side is not 0.
pub(crate) fn rising(
    matrix: ArrayView2<'_, f64>,
) -> Result<(Array1<f64>, Array2<f64>), SpectralError> {
    let side = matrix.nrows();
    let held = matrix.as_standard_layout();
    let numbers = held.as_slice().expect("standard layout is one slice");
    let matrix = MatRef::from_row_major_slice(numbers, side, side);
    let mut values = faer::diag::Diag::<f64>::zeros(side);
    let mut vectors = Mat::<f64>::zeros(side, side);
    let yes = ComputeEigenvectors::Yes;
    let need = self_adjoint_evd_scratch::<f64>(side, yes, Par::Seq, default());
    let mut memory = MemBuffer::new(need);
    let stack = MemStack::new(&mut memory);
    let output = Some(vectors.as_mut());
    self_adjoint_evd(matrix, values.as_mut(), output, Par::Seq, stack, default())
        .map_err(|_| SpectralError::Dense { side })?;
    let values = values.column_vector();
    let vectors = Array2::from_shape_fn((side, side), |(i, j)| vectors[(i, j)]);
    Ok((Array1::from_shape_fn(side, |j| values[j]), vectors))
}
