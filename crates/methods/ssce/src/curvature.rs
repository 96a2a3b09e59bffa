//! An approximate Hessian of the classifiers, by which descent is scaled.

use partita_core::ndarray::Array2;
use partita_spectral::symmetric_eigen;

use crate::SsceError;
use crate::loss::Loss;

/// Inputs up to which the curvature of the loss is known by its eigenvectors, beyond by its diagonal.
pub(crate) const EIGEN_WIDTH: usize = 400;

/// An approximate Hessian, `H ⊗ I + 2 A`: all classifiers are taken to curve as μ does times
/// their weights, and their classes alike.
pub(crate) struct Curvature {
    values: Vec<f64>,
    /// Eigenvectors of H, where it is not diagonal.
    vectors: Option<Array2<f64>>,
}

impl Curvature {
    pub(crate) fn new(loss: &Loss<'_>, centre: &Array2<f64>) -> Result<Self, SsceError> {
        let weights = loss.curvature(centre);
        if loss.design.width() > EIGEN_WIDTH {
            return Ok(Self {
                values: loss.design.squares(&weights),
                vectors: None,
            });
        }
        let gram = loss.design.gram(&weights);
        let pairs = symmetric_eigen(((&gram + &gram.t()) * 0.5).view())?;
        let values = pairs.values.iter().map(|value| value.max(0.0)).collect();
        Ok(Self {
            values,
            vectors: Some(pairs.vectors),
        })
    }

    /// The inverse applied to a gradient, p × M K, where these are the eigenvalues and eigenvectors of A.
    pub(crate) fn solve(
        &self,
        gradient: &Array2<f64>,
        values: &[f64],
        vectors: &Array2<f64>,
    ) -> Array2<f64> {
        let mut turned = match &self.vectors {
            Some(v) => v.t().dot(gradient),
            None => gradient.clone(),
        };
        let bases = values.len();
        let k = gradient.ncols() / bases;
        for (mut row, h) in turned.outer_iter_mut().zip(&self.values) {
            let block = row.to_shape((bases, k)).expect("M K numbers").to_owned();
            let mut inner = vectors.t().dot(&block);
            for (mut line, a) in inner.outer_iter_mut().zip(values) {
                line /= h + 2.0 * a;
            }
            let outer = vectors.dot(&inner);
            row.assign(&outer.flatten());
        }
        match &self.vectors {
            Some(v) => v.dot(&turned),
            None => turned,
        }
    }
}
