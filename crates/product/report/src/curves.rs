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
    /// What the column `objective` holds.
    pub objective_name: String,
    /// Further columns of the table; the first is drawn as a curve too.
    pub measures: Vec<Measure>,
    /// Labels for every K tried, where they were kept, in the order of the rows; for the flow of objects.
    #[serde(skip)]
    pub partitions: Vec<Partition>,
    /// The objects that [`partitions`](Self::partitions) label, where they are not all.
    #[serde(skip)]
    pub objects: Option<Vec<u32>>,
}

impl ClusterCurves {
    /// The class of a number of clusters in a figure: the chosen one stands out.
    pub(crate) fn class(&self, clusters: usize) -> &'static str {
        if self.chosen == Some(clusters) {
            "t big"
        } else {
            "m"
        }
    }
}
