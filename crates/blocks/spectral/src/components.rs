//! Principal components of a table.

use partita_core::ndarray::{Array2, ArrayView2, Axis, s};

use crate::{SpectralError, symmetric_eigen};

/// An eigenvalue that is no larger than this share of the largest is rounding.
const ROUNDING: f64 = 1e-12;

/// The rows of a table (n × d) along its principal components, of falling variance (n × r): the fewest that hold a share of the variance, but not
/// fewer than `least` that are more than rounding. Where the share is 1, distances between rows are kept. No rows have no components.
///
/// # Errors
/// [`SpectralError`] for products that are not finite, or if the solver gives up.
///
/// # Cost
/// O(n d min(n, d)) time, some matrices of side min(n, d) and a copy of the table. One thread, so that the bits do not depend on how many there
/// are.
pub fn principal_components(
    table: ArrayView2<'_, f64>,
    share: f64,
    least: usize,
) -> Result<Array2<f64>, SpectralError> {
    let (n, d) = table.dim();
    let Some(means) = table.mean_axis(Axis(0)) else {
        return Ok(Array2::zeros((0, 0)));
    };
    let centred = &table - &means;
    if d <= n {
        let eigen = symmetric_eigen(centred.t().dot(&centred).view())?;
        let kept = kept(eigen.values.iter().copied(), share, least);
        return Ok(centred.dot(&eigen.vectors.slice(s![.., ..kept])));
    }
    let eigen = symmetric_eigen(centred.dot(&centred.t()).view())?;
    let kept = kept(eigen.values.iter().copied(), share, least);
    let values = eigen.values.slice(s![..kept]);
    let lengths = values.mapv(|value| value.max(0.0).sqrt());
    Ok(&eigen.vectors.slice(s![.., ..kept]) * &lengths)
}

/// The fewest leading eigenvalues that hold a share of all, but not fewer than so many that are more than rounding, and one.
fn kept(values: impl Iterator<Item = f64> + Clone, share: f64, least: usize) -> usize {
    let largest = values.clone().fold(0.0, f64::max);
    let total: f64 = values.clone().map(|value| value.max(0.0)).sum();
    let (mut sum, mut kept) = (0.0, 0);
    for value in values {
        if kept > 0 && ((kept >= least && sum >= share * total) || value <= ROUNDING * largest) {
            break;
        }
        sum += value;
        kept += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use partita_core::ndarray::ArrayView1;
    use rand::RngExt;

    #[test]
    fn distances_are_kept_and_columns_uncorrelated() {
        for (n, d) in [(9, 4), (4, 9), (6, 6)] {
            let mut rng = Seed::new(1).rng();
            let table = Array2::from_shape_simple_fn((n, d), || rng.random_range(-1.0..1.0));
            let found = principal_components(table.view(), 1.0, 0).unwrap();
            assert_eq!(found.dim(), (n, d.min(n - 1)));
            let distance = |rows: ArrayView1<'_, f64>, other: ArrayView1<'_, f64>| {
                (&rows - &other).mapv(|x| x * x).sum()
            };
            for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let wanted = distance(table.row(i), table.row(j));
                assert!((distance(found.row(i), found.row(j)) - wanted).abs() < 1e-12);
            }
            let products = found.t().dot(&found);
            for ((i, j), product) in products.indexed_iter() {
                assert!(i == j || product.abs() < 1e-12);
            }
            let variances = products.diag();
            assert!(variances.windows(2).into_iter().all(|two| two[0] >= two[1]));
            let first = principal_components(table.view(), 0.0, 0).unwrap();
            assert_eq!(first.ncols(), 1);
        }
    }
}
