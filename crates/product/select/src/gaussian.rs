//! Integrated classification likelihood: how well one Gaussian a cluster explains a table.

use partita_core::Partition;
use partita_core::ndarray::{Array2, ArrayView2, Axis, s};

/// Columns that are looked at, from the first: every further one costs two free numbers a cluster and more.
const COLUMNS: usize = 12;

/// The least variance of a column inside a cluster, as a share of the mean variance of all columns: equal values would explain a
/// cluster without end.
const LEAST: f64 = 1e-3;

/// The integrated classification likelihood (ICL) of a partition of table rows (n × d, columns uncorrelated over all rows), in nats an
/// object: the logarithm of the likelihood of the rows and their clusters under one Gaussian a cluster, less the penalty of BIC for every
/// free number. The covariances that give most are taken: spherical, along the columns or free, each the same in all clusters or its own
/// for each (free ones where every cluster has more than d objects).
///
/// ```text
/// ICL = ( Σ_c n_c ( ln(n_c / n) − ½ ln det(2πe S_c) ) − ½ p ln n ) / n
/// ```
/// Two halves of a box explain it no better than the box: the entropy of the sizes takes what smaller clusters gain. Clusters that are
/// no Gaussians (rings, arcs) are explained better the more pieces they are cut into.
///
/// # Cost
/// O(n d² + K d³), d at most 12: of more columns the first.
///
/// # References
/// C. Biernacki, G. Celeux, G. Govaert: Assessing a mixture model for clustering with the integrated completed likelihood, IEEE
/// TPAMI 22, 2000; the covariance models are EII, VII, EEI, VVI, EEE and VVV of G. Celeux, G. Govaert: Gaussian parsimonious clustering
/// models, Pattern Recognition 28, 1995.
pub(crate) fn classification_likelihood(table: ArrayView2<'_, f64>, partition: &Partition) -> f64 {
    let table = table.slice(s![.., ..table.ncols().min(COLUMNS)]);
    let (n, d) = (table.nrows() as f64, table.ncols() as f64);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); partition.clusters()];
    partition
        .labels()
        .iter()
        .enumerate()
        .for_each(|(object, &label)| members[label as usize].push(object));
    members.retain(|members| !members.is_empty());
    let k = members.len() as f64;
    let floor = LEAST
        * table
            .var_axis(Axis(0), 0.0)
            .mean()
            .unwrap_or(0.0)
            .max(f64::MIN_POSITIVE);
    let shares: Vec<f64> = members
        .iter()
        .map(|members| members.len() as f64 / n)
        .collect();
    let scatters: Vec<Array2<f64>> = members
        .iter()
        .map(|members| covariance(table.select(Axis(0), members), floor))
        .collect();
    let mut within = Array2::zeros((table.ncols(), table.ncols()));
    scatters
        .iter()
        .zip(&shares)
        .for_each(|(scatter, &share)| within.scaled_add(share, scatter));

    let sphere = |matrix: &Array2<f64>| d * (matrix.diag().sum() / d).ln();
    let columns = |matrix: &Array2<f64>| matrix.diag().mapv(f64::ln).sum();
    let own = |of: &dyn Fn(&Array2<f64>) -> f64| {
        scatters
            .iter()
            .zip(&shares)
            .map(|(scatter, share)| share * of(scatter))
            .sum::<f64>()
    };
    let free = d * (d + 1.0) / 2.0;
    let mut models = vec![
        (sphere(&within), 1.0),
        (own(&sphere), k),
        (columns(&within), d),
        (own(&columns), k * d),
        (log_determinant(within.clone()), free),
    ];
    if members.iter().all(|members| members.len() > table.ncols()) {
        models.push((own(&|scatter| log_determinant(scatter.clone())), k * free));
    }
    let entropy: f64 = shares.iter().map(|share| share * share.ln()).sum();
    let constant = d * (1.0 + std::f64::consts::TAU.ln());
    let icl = |(log_volume, numbers): (f64, f64)| {
        entropy - 0.5 * (constant + log_volume) - 0.5 * (k - 1.0 + k * d + numbers) * n.ln() / n
    };
    models
        .into_iter()
        .map(icl)
        .fold(f64::NEG_INFINITY, f64::max)
}

/// The covariance of rows about their mean, with a floor under every variance.
fn covariance(mut rows: Array2<f64>, floor: f64) -> Array2<f64> {
    let count = rows.nrows() as f64;
    for mut column in rows.columns_mut() {
        let mean = column.sum() / count;
        column -= mean;
    }
    let mut covariance = rows.t().dot(&rows) / count;
    covariance
        .diag_mut()
        .mapv_inplace(|variance| variance + floor);
    covariance
}

/// ln det of a positive definite matrix, by its Cholesky factor, which takes the place of the lower triangle.
fn log_determinant(mut matrix: Array2<f64>) -> f64 {
    let inner = |matrix: &Array2<f64>, i: usize, j: usize| {
        matrix.slice(s![i, ..j]).dot(&matrix.slice(s![j, ..j]))
    };
    let mut sum = 0.0;
    for j in 0..matrix.nrows() {
        let pivot = (matrix[[j, j]] - inner(&matrix, j, j))
            .max(f64::MIN_POSITIVE)
            .sqrt();
        matrix[[j, j]] = pivot;
        sum += 2.0 * pivot.ln();
        for i in j + 1..matrix.nrows() {
            matrix[[i, j]] = (matrix[[i, j]] - inner(&matrix, i, j)) / pivot;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use partita_core::ndarray::array;
    use partita_synth::{SynthSettings, synthesise};

    #[test]
    fn values_by_hand() {
        // One column, two clusters of two: variances 1 and 4 (with their floor), entropy ln ½.
        let table = array![[-1.0], [1.0], [18.0], [22.0]];
        let halves = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
        let floor = 1e-3 * table.var_axis(Axis(0), 0.0)[0];
        let gaussian = |log_variances: f64| {
            0.5f64.ln() - 0.5 * (1.0 + std::f64::consts::TAU.ln() + log_variances)
        };
        let penalty = |numbers: f64| 0.5 * numbers * 4f64.ln() / 4.0;
        let equal = gaussian((2.5_f64 + floor).ln()) - penalty(1.0 + 2.0 + 1.0);
        let own = gaussian(0.5 * ((1.0_f64 + floor).ln() + (4.0_f64 + floor).ln()))
            - penalty(1.0 + 2.0 + 2.0);
        let found = classification_likelihood(table.view(), &halves);
        assert!(
            (found - equal.max(own)).abs() < 1e-12,
            "{found} {equal} {own}"
        );
        let wide = array![[4.0, 2.0, 0.6], [2.0, 2.0, 0.5], [0.6, 0.5, 1.0]];
        // 4 (2 − .25) − 2 (2 − .3) + .6 (1 − 1.2)
        assert!((log_determinant(wide) - 3.48f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn clusters_are_explained_better_than_one_and_halves_of_one_are_not() {
        let likelihoods = |family: &str| {
            let made = synthesise(family, 300, Seed::new(3), &SynthSettings::default()).unwrap();
            let labels: Vec<usize> = made.labels.iter().map(|label| label.unwrap_or(0)).collect();
            let middle = made.values.column(0).mean().unwrap();
            let halves: Vec<bool> = made.values.column(0).iter().map(|&x| x > middle).collect();
            let of =
                |partition: &Partition| classification_likelihood(made.values.view(), partition);
            let one = Partition::new(vec![0; 300], 1).unwrap();
            [
                of(&one),
                of(&Partition::from_values(&halves)),
                of(&Partition::from_values(&labels)),
            ]
        };
        let [one, halves, truth] = likelihoods("overlap-3");
        assert!(truth > halves && truth > one, "{one} {halves} {truth}");
        for family in ["one-long", "one-disc", "one-box-5d"] {
            let [one, halves, _] = likelihoods(family);
            assert!(halves < one, "{family}: {one} {halves}");
        }
    }

    #[test]
    fn columns_without_spread_and_single_objects_are_finite() {
        let table = array![[1.0, 5.0], [1.0, 5.0], [1.0, 7.0], [1.0, 5.0]];
        for labels in [vec![0, 0, 0, 0], vec![0, 1, 2, 3], vec![0, 0, 2, 0]] {
            let found =
                classification_likelihood(table.view(), &Partition::new(labels, 4).unwrap());
            assert!(found.is_finite(), "{found}");
        }
        let equal = Array2::zeros((3, 2));
        assert!(
            classification_likelihood(equal.view(), &Partition::new(vec![0, 0, 0], 1).unwrap())
                .is_finite()
        );
    }
}
