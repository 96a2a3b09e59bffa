//! Integrated classification likelihood: how well one Gaussian a cluster explains the numbers of a table, and shares of its own its words.

use partita_core::Partition;
use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};

use crate::SelectError;
use crate::null_model::Scores;
use crate::words::Words;

/// Components that hold this share of the variance of numbers are looked at.
const VARIANCE: f64 = 0.9;

/// Columns that are looked at, from the first: every further one costs two free numbers a cluster and more.
const COLUMNS: usize = 12;

/// The least variance of a column inside a cluster, as a share of the mean variance of all columns: equal values would explain a
/// cluster without end.
const LEAST: f64 = 1e-3;

/// What a table is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Numbers in several directions.
    Numbers,
    /// Numbers of objects that all lie on a line.
    Line,
    /// Categories and columns of two or three values.
    Words,
    /// Words beside numbers.
    Both,
}

/// What one Gaussian a cluster explains of a table (n × d), as the integrated classification likelihood (ICL): the logarithm of the likelihood
/// of the rows and their clusters under one Gaussian a cluster, less the penalty of BIC for every free number. The covariances that give most
/// are taken: spherical, along the principal components or free, each the same in all clusters or its own for each (free ones where every
/// cluster has more than d objects). Words (categories, and columns of two or three values) have shares of their own in each cluster, or the same
/// in all, whichever gives more; in a cluster they have nothing to do with each other or with the numbers.
///
/// ```text
/// ICL = ( Σ_c n_c ( ln(n_c / n) − ½ ln det(2πe (S_c + R)) ) + Σ_f Σ_c Σ_w n_cw ln(n_cw / n_cf) − ½ p ln n ) / n
/// ```
/// Two halves of a box explain it no better than the box: the entropy of the sizes takes what smaller clusters gain. Clusters that are
/// no Gaussians (rings, arcs) are explained better the more pieces they are cut into.
///
/// R is the variance that recording takes away: a value that is one of few stands for all between it and the next, which vary by h² / 12, h the
/// [`step`] of its column (Sheppard's correction). Without it rows that are equal are the best of clusters. Of measured numbers h is next to
/// nothing. As a Gaussian a category would count as often as it has columns, and combinations of words be the best of clusters.
///
/// # References
/// C. Biernacki, G. Celeux, G. Govaert: Assessing a mixture model for clustering with the integrated completed likelihood, IEEE
/// TPAMI 22, 2000; the covariance models are EII, VII, EEI, VVI, EEE and VVV of G. Celeux, G. Govaert: Gaussian parsimonious clustering
/// models, Pattern Recognition 28, 1995; the model of words beside numbers is that of M. Marbac, M. Sedki, Variable selection for mixed data
/// clustering, Statistics and Computing 29, 2019. W. F. Sheppard: On the calculation of the most probable values of frequency-constants for data
/// arranged according to equidistant divisions of a scale, Proc. London Math. Soc. 29, 1898.
pub(crate) struct ClassificationLikelihood {
    words: Words,
    /// n × d, d at most 12: principal components of the numbers.
    components: Array2<f64>,
    /// R, with the least variance of a column inside a cluster on its diagonal: d × d.
    recording: Array2<f64>,
    /// ICL of all rows as one cluster.
    one: f64,
}

impl ClassificationLikelihood {
    /// Of rows of finite numbers (n × d), of which some were `known`, and their words.
    ///
    /// # Errors
    /// [`SelectError`] where components are not found.
    ///
    /// # Cost
    /// O(n d (min(n, d) + log n)).
    pub(crate) fn new(
        rows: ArrayView2<'_, f64>,
        known: ArrayView2<'_, bool>,
        words: Words,
    ) -> Result<Self, SelectError> {
        let rows = rows.select(Axis(1), &words.numbers);
        let known = known.select(Axis(1), &words.numbers);
        let varies = rows.outer_iter().any(|row| row != rows.row(0));
        let mut components = Array2::zeros((rows.nrows(), 0));
        if varies {
            components = Scores::of(rows.view(), VARIANCE)?.values;
        }
        let kept = components.ncols().min(COLUMNS);
        let components = components.slice(s![.., ..kept]).to_owned();
        let variance = components.var_axis(Axis(0), 0.0).mean().unwrap_or(0.0);
        let mut recording = recording(rows.view(), known.view(), components.view());
        for lost in recording.diag_mut() {
            *lost += LEAST * variance.max(f64::MIN_POSITIVE);
        }
        let mut made = Self {
            words,
            components,
            recording,
            one: 0.0,
        };
        made.one = made.of(&Partition::from_values(&vec![0_u32; rows.nrows()]));
        Ok(made)
    }

    /// What the table is made of.
    pub(crate) fn columns(&self) -> Columns {
        match (self.words.is_empty(), self.components.ncols()) {
            (true, 1) => Columns::Line,
            (true, _) => Columns::Numbers,
            (false, 0) => Columns::Words,
            (false, _) => Columns::Both,
        }
    }

    /// By how many nats an object a partition explains the rows better than one cluster.
    ///
    /// # Cost
    /// O(n d² + K d³).
    pub(crate) fn of(&self, partition: &Partition) -> f64 {
        let (n, columns) = self.components.dim();
        let (n, d) = (n as f64, columns as f64);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); partition.clusters()];
        for (object, &label) in partition.labels().iter().enumerate() {
            members[label as usize].push(object);
        }
        members.retain(|members| !members.is_empty());
        let k = members.len() as f64;
        let share = |members: &Vec<usize>| members.len() as f64 / n;
        let shares: Vec<f64> = members.iter().map(share).collect();
        let scatter = |members: &Vec<usize>| {
            covariance(self.components.select(Axis(0), members)) + &self.recording
        };
        let scatters: Vec<Array2<f64>> = members.iter().map(scatter).collect();
        let mut within = Array2::zeros((columns, columns));
        for (scatter, &share) in scatters.iter().zip(&shares) {
            within.scaled_add(share, scatter);
        }

        let sphere = |matrix: &Array2<f64>| matrix.diag().mean().map_or(0.0, |mean| d * mean.ln());
        let columns_alone = |matrix: &Array2<f64>| matrix.diag().mapv(f64::ln).sum();
        let own = |of: &dyn Fn(&Array2<f64>) -> f64| {
            let each = scatters.iter().zip(&shares);
            each.map(|(scatter, share)| share * of(scatter))
                .sum::<f64>()
        };
        let free = d * (d + 1.0) / 2.0;
        let mut models = vec![
            (sphere(&within), 1.0),
            (own(&sphere), k),
            (columns_alone(&within), d),
            (own(&columns_alone), k * d),
            (log_determinant(within), free),
        ];
        if members.iter().all(|members| members.len() > columns) {
            models.push((own(&|scatter| log_determinant(scatter.clone())), k * free));
        }
        let entropy: f64 = shares.iter().map(|share| share * share.ln()).sum();
        let constant = d * (1.0 + std::f64::consts::TAU.ln());
        let icl = |(log_volume, numbers): (f64, f64)| {
            let penalty = 0.5 * (k - 1.0 + k * d + numbers) * n.ln() / n;
            entropy - 0.5 * (constant + log_volume) - penalty
        };
        let most = models
            .into_iter()
            .map(icl)
            .fold(f64::NEG_INFINITY, f64::max);
        most + self.words.likelihood(partition) - self.one
    }
}

/// What recording takes from the covariance of components: `Vᵀ diag(h² / 12) V`, V the components' directions (d × r) and h the steps of columns.
fn recording(
    rows: ArrayView2<'_, f64>,
    known: ArrayView2<'_, bool>,
    components: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let means = rows.mean_axis(Axis(0)).expect("a table has rows");
    let mut directions = (&rows - &means).t().dot(&components);
    for (mut direction, scores) in directions
        .columns_mut()
        .into_iter()
        .zip(components.columns())
    {
        direction /= scores.dot(&scores);
    }
    let mut lost = directions.clone();
    let columns = rows.columns().into_iter().zip(known.columns());
    for (mut of_column, (column, known)) in lost.outer_iter_mut().zip(columns) {
        of_column *= step(column, known).powi(2) / 12.0;
    }
    directions.t().dot(&lost)
}

/// The least difference of two known values that are not equal; 0 where all are.
pub(crate) fn step(column: ArrayView1<'_, f64>, known: ArrayView1<'_, bool>) -> f64 {
    let known = column.iter().zip(known).filter(|(_, known)| **known);
    let mut values: Vec<f64> = known.map(|(value, _)| *value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let steps = values.windows(2).map(|pair| pair[1] - pair[0]);
    steps.reduce(f64::min).unwrap_or(0.0)
}

/// The covariance of rows about their mean.
fn covariance(mut rows: Array2<f64>) -> Array2<f64> {
    let count = rows.nrows() as f64;
    for mut column in rows.columns_mut() {
        let mean = column.sum() / count;
        column -= mean;
    }
    rows.t().dot(&rows) / count
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
    use rand::RngExt;

    fn of_rows(rows: &Array2<f64>) -> ClassificationLikelihood {
        let known = Array2::from_elem(rows.dim(), true);
        let words = Words::of(rows.view(), known.view());
        ClassificationLikelihood::new(rows.view(), known.view(), words).unwrap()
    }

    #[test]
    fn values_by_hand() {
        // One column, two clusters of two: variances 1 and 4, of all 102.5, with their floor and a step of 2; entropy ln ½.
        let likelihood = of_rows(&array![[-1.0], [1.0], [18.0], [22.0]]);
        let halves = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
        let gaussian = |variances: &[f64]| {
            let logs = variances.iter().map(|v| (v + 102.5e-3 + 4.0 / 12.0).ln());
            let mean = logs.sum::<f64>() / variances.len() as f64;
            -0.5 * (1.0 + std::f64::consts::TAU.ln() + mean)
        };
        let penalty = |numbers: f64| 0.5 * numbers * 4f64.ln() / 4.0;
        let equal = 0.5f64.ln() + gaussian(&[2.5]) - penalty(1.0 + 2.0 + 1.0);
        let own = 0.5f64.ln() + gaussian(&[1.0, 4.0]) - penalty(1.0 + 2.0 + 2.0);
        let one = gaussian(&[102.5]) - penalty(1.0 + 1.0);
        let (found, expected) = (likelihood.of(&halves), equal.max(own) - one);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        let wide = array![[4.0, 2.0, 0.6], [2.0, 2.0, 0.5], [0.6, 0.5, 1.0]];
        // 4 (2 − .25) − 2 (2 − .3) + .6 (1 − 1.2)
        assert!((log_determinant(wide) - 3.48f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn clusters_are_explained_better_than_one_and_halves_of_one_are_not() {
        let gains = |family: &str| {
            let made = synthesise(family, 300, Seed::new(3), &SynthSettings::default()).unwrap();
            let labels: Vec<usize> = made.labels.iter().map(|label| label.unwrap_or(0)).collect();
            let middle = made.values.column(0).mean().unwrap();
            let halves: Vec<bool> = made.values.column(0).iter().map(|&x| x > middle).collect();
            let likelihood = of_rows(&made.values);
            let one = Partition::new(vec![0; 300], 1).unwrap();
            assert_eq!(likelihood.of(&one), 0.0);
            [
                likelihood.of(&Partition::from_values(&halves)),
                likelihood.of(&Partition::from_values(&labels)),
            ]
        };
        let [halves, truth] = gains("overlap-3");
        assert!(truth > halves && truth > 0.0, "{halves} {truth}");
        for family in ["one-long", "one-disc", "one-box-5d"] {
            let [halves, _] = gains(family);
            assert!(halves < 0.0, "{family}: {halves}");
        }
    }

    #[test]
    fn equal_rows_of_yes_and_no_are_no_better_than_what_drew_them() {
        // Two clusters, six questions: each answer is the cluster's in 85 of 100 cases.
        let mut rng = Seed::new(1).rng();
        let rows = Array2::from_shape_fn((300, 6), |(object, _)| {
            f64::from(u8::from((object < 150) == (rng.random::<f64>() < 0.85)))
        });
        let likelihood = of_rows(&rows);
        let drew: Vec<bool> = (0..300).map(|object| object < 150).collect();
        let patterns: Vec<Vec<u8>> = rows
            .outer_iter()
            .map(|row| row.iter().map(|&answer| answer as u8).collect())
            .collect();
        let drew = likelihood.of(&Partition::from_values(&drew));
        let patterns = likelihood.of(&Partition::from_values(&patterns));
        assert!(drew > patterns, "{drew} {patterns}");
    }

    #[test]
    fn columns_without_spread_and_single_objects_are_finite() {
        let rows = array![[1.0, 5.0], [1.0, 5.0], [1.0, 7.0], [1.0, 5.0]];
        let likelihood = of_rows(&rows);
        for labels in [vec![0, 0, 0, 0], vec![0, 1, 2, 3], vec![0, 0, 2, 0]] {
            let partition = Partition::new(labels, 4).unwrap();
            assert!(likelihood.of(&partition).is_finite());
        }
    }
}
