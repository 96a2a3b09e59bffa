//! Measures over the numbers of clusters that were tried, as a report draws them.

use partita_core::Partition;
use serde::Serialize;

/// The measures of one number of clusters. What was not measured is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The number of clusters, K.
    pub clusters: usize,
    /// The consensus CDF at equal steps from 0 to 1, ends included.
    #[serde(skip)]
    pub cdf: Vec<f64>,
    /// Area under the CDF.
    pub area: Option<f64>,
    /// Relative growth of the area from the K before.
    pub delta_area: Option<f64>,
    /// Proportion of ambiguous clustering.
    pub pac: Option<f64>,
    /// PAC of the null reference: mean over its draws.
    pub null_pac: Option<f64>,
    /// PAC of the null reference: smallest and largest of its draws, or another range that the text names.
    pub null_range: Option<(f64, f64)>,
    /// The method's objective, or a criterion such as BIC.
    pub objective: Option<f64>,
    /// How far the clusters agree that two halves of the base clusterings lead to: adjusted Rand index.
    pub stability: Option<f64>,
    /// p-value of a test against data without clusters.
    pub p: Option<f64>,
}

/// Another measure over the numbers of clusters, such as the one that chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measure {
    /// What it is, in a word or a few.
    pub name: String,
    /// One value for every row; none where it was not measured.
    pub values: Vec<Option<f64>>,
}

/// Curves over the numbers of clusters, and the number that was chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClusterCurves {
    /// One row for every K tried, rising.
    pub rows: Vec<CurvePoint>,
    /// The K that was chosen; none where the table does not choose.
    pub chosen: Option<usize>,
    /// Why, in a sentence.
    pub reason: String,
    /// The name of the criterion that decided, such as `score`; empty where it is not known.
    pub criterion: String,
    /// What the column `objective` holds.
    pub objective_name: String,
    /// Further columns of the table; the first is what decided, and is drawn as a curve too.
    pub measures: Vec<Measure>,
    /// Labels for every K tried, where they were kept, in the order of the rows; for the flow of objects.
    #[serde(skip)]
    pub partitions: Vec<Partition>,
    /// The objects that [`partitions`](Self::partitions) label, where they are not all.
    #[serde(skip)]
    pub objects: Option<Vec<u32>>,
}

/// Facts behind the number of clusters, which the page says in words.
#[derive(Debug, Serialize)]
pub(crate) struct Why<'a> {
    criterion: &'a str,
    chosen: usize,
    /// The numbers looked at.
    first: usize,
    last: usize,
    /// The next best number by what decided.
    next: Option<usize>,
    /// What decided, of the number chosen.
    value: Option<f64>,
    stability: Option<f64>,
    /// The agreement of halves with one cluster more.
    stability_of_more: Option<f64>,
    /// The smallest p-value of all numbers.
    p: Option<f64>,
}

/// Criteria of which less is better.
const LESS: [&str; 2] = ["bic", "contradicted"];

impl ClusterCurves {
    /// Whether the number with least of what decided was taken.
    pub(crate) fn less_is_better(&self) -> bool {
        LESS.contains(&self.criterion.as_str())
    }

    /// Why so many; none where it is not known what decided.
    pub(crate) fn why(&self) -> Option<Why<'_>> {
        let (chosen, first, last) = (self.chosen?, self.rows.first()?, self.rows.last()?);
        if self.criterion.is_empty() {
            return None;
        }
        let less = self.less_is_better();
        let row = |clusters: usize| self.rows.iter().find(|row| row.clusters == clusters);
        let values = self.measures.first().map_or(&[][..], |of| &of.values);
        let known = || self.rows.iter().zip(values);
        let others = known().filter_map(|(row, &value)| {
            let value = value.filter(|_| row.clusters != chosen)?;
            Some((row.clusters, if less { -value } else { value }))
        });
        Some(Why {
            criterion: &self.criterion,
            chosen,
            first: first.clusters,
            last: last.clusters,
            next: others.max_by(|a, b| a.1.total_cmp(&b.1)).map(|best| best.0),
            value: known().find_map(|(row, &value)| value.filter(|_| row.clusters == chosen)),
            stability: row(chosen).and_then(|row| row.stability),
            stability_of_more: row(chosen + 1).and_then(|row| row.stability),
            p: self.rows.iter().filter_map(|row| row.p).reduce(f64::min),
        })
    }

    /// The class of a number of clusters in a figure: the chosen one stands out.
    pub(crate) fn class(&self, clusters: usize) -> &'static str {
        if self.chosen == Some(clusters) {
            "t big"
        } else {
            "m"
        }
    }
}
