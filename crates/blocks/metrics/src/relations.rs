//! How the clusters of a soft partition relate.

use partita_core::SoftPartition;
use partita_core::ndarray::{Array1, Array2, ArrayView2};

use crate::MetricsError;
use crate::contingency::check_sizes;

/// What the clusters of a soft partition share.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Relations {
    /// `m_kl`, K × K: of the objects that are in cluster k, the share that is in cluster l when all are drawn again.
    /// Rows sum to 1, except that those of clusters nobody is in are 0. Not symmetric: a small cluster may lie inside a
    /// large one.
    pub shares: Array2<f64>,
    /// Expected number of objects in each cluster, K values.
    pub sizes: Vec<f64>,
    /// Entropy of every object's probabilities in nats, n values: 0 = certain, ln K = no idea.
    pub entropies: Vec<f64>,
    /// The probabilities that the rest was computed from: small ones removed, rows summing to 1 again.
    pub soft: SoftPartition,
}

/// The cluster relation matrix of a soft partition, and what goes with it.
///
/// ```text
/// m_kl = E|P_k ∩ Q_l| / E|P_k| = Σ_i y_ik y_il / Σ_i y_ik        P, Q: two hard partitions drawn from the soft one
/// ```
///
/// Probabilities below `threshold` are removed first, and what is left of a row is divided by its sum; an object whose
/// probabilities are all below keeps its most probable cluster. 0 removes none.
///
/// # Errors
/// [`MetricsError::Threshold`] unless `threshold` is in 0..=1.
///
/// # Cost
/// O(n K²).
///
/// # Differences from the paper
/// It gives no value for the threshold and does not say what becomes of an object whose probabilities are all below.
///
/// # References
/// Lourenço and others, *Probabilistic consensus clustering using evidence accumulation*, 2015, section 7.
pub fn relations(soft: &SoftPartition, threshold: f64) -> Result<Relations, MetricsError> {
    if !(0.0..=1.0).contains(&threshold) {
        return Err(MetricsError::Threshold { threshold });
    }
    let soft = without_small(soft, threshold);
    let rows = soft.rows();
    let sizes: Vec<f64> = rows
        .columns()
        .into_iter()
        .map(|column| column.sum())
        .collect();
    let mut shares = rows.t().dot(&rows);
    for (mut row, &size) in shares.outer_iter_mut().zip(&sizes) {
        row.mapv_inplace(|share| if size > 0.0 { share / size } else { 0.0 });
    }
    let entropies = soft.entropy();
    Ok(Relations {
        shares,
        sizes,
        entropies,
        soft,
    })
}

/// What is left of the probabilities without those below the threshold; rows sum to 1 again, and one of which nothing is left keeps its most
/// probable cluster.
pub(crate) fn without_small(soft: &SoftPartition, threshold: f64) -> SoftPartition {
    let hard = soft.hard();
    let mut rows = soft.rows().to_owned();
    for (mut row, &label) in rows.outer_iter_mut().zip(hard.labels()) {
        row.mapv_inplace(|y| if y < threshold { 0.0 } else { y });
        let sum = row.sum();
        if sum > 0.0 {
            row.mapv_inplace(|y| y / sum);
        } else {
            row[label as usize] = 1.0;
        }
    }
    SoftPartition::new(rows).expect("rows were divided by their sums")
}

/// The centres of the clusters in a table of the same objects, K × d: means of the rows, weighted by the probabilities.
/// NaN for clusters that nobody is in.
///
/// ```text
/// c_k = Σ_i y_ik x_i / Σ_i y_ik
/// ```
///
/// # Errors
/// [`MetricsError::Sizes`] if the table has another number of rows.
pub fn centres(
    soft: &SoftPartition,
    table: ArrayView2<'_, f64>,
) -> Result<Array2<f64>, MetricsError> {
    check_sizes(soft.objects(), table.nrows())?;
    let sizes: Array1<f64> = soft
        .rows()
        .columns()
        .into_iter()
        .map(|column| column.sum())
        .collect();
    let mut centres = soft.rows().t().dot(&table);
    for (mut centre, size) in centres.outer_iter_mut().zip(sizes) {
        centre.mapv_inplace(|x| if size > 0.0 { x / size } else { f64::NAN });
    }
    Ok(centres)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    #[test]
    fn a_small_cluster_inside_a_large_one() {
        let soft =
            SoftPartition::new(array![[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]).unwrap();
        let found = relations(&soft, 0.0).unwrap();
        assert_eq!(found.sizes, [2.5, 0.5, 0.0]);
        assert_eq!(
            found.shares,
            array![[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
        );
        assert_eq!(found.entropies, [0.0, 0.0, std::f64::consts::LN_2]);
    }

    #[test]
    fn small_probabilities_are_removed_and_rows_sum_to_one() {
        let soft = SoftPartition::new(array![[0.9, 0.06, 0.04], [0.34, 0.33, 0.33]]).unwrap();
        let found = relations(&soft, 0.05).unwrap();
        assert!(
            (found.soft.rows()[[0, 0]] - 0.9375).abs() < 1e-15 && found.soft.rows()[[0, 2]] == 0.0
        );
        assert_eq!(
            relations(&soft, 0.95).unwrap().soft,
            SoftPartition::new(array![[1., 0., 0.], [1., 0., 0.]]).unwrap()
        );
        for threshold in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(
                relations(&soft, threshold),
                Err(MetricsError::Threshold { .. })
            ));
        }
    }

    #[test]
    fn centres_are_weighted_means() {
        let soft = SoftPartition::new(array![[1.0, 0.0], [0.5, 0.5]]).unwrap();
        let table = array![[0.0, 3.0], [3.0, 0.0]];
        assert_eq!(
            centres(&soft, table.view()).unwrap(),
            array![[1.0, 2.0], [3.0, 0.0]]
        );
        assert!(centres(&soft, array![[1.0]].view()).is_err());
    }
}
