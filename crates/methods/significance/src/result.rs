//! What a test of clusters says.

use serde::{Deserialize, Serialize};

use crate::pair::PairTest;
use crate::settings::GapTestSettings;

/// What is known of a cluster, or of a split between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There is a gap, and among all splits that were left hardly one is there by chance (Holm's p-value is at most α).
    Established,
    /// There is a gap at α if this is the only split that is asked about.
    SeparateAtAlpha,
    /// No place between them is seen to be emptier than both. They may differ all the same.
    NoGapSeen,
    /// Too few rows, or too few different values, to see a gap if there were one.
    CannotTell,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::SeparateAtAlpha => "separate at alpha alone",
            Self::NoGapSeen => "no gap seen",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// A cluster that was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestedCluster {
    /// Its label.
    pub label: u32,
    /// Its rows without a missing value.
    pub rows: usize,
    /// The merged cluster that it is in, a place in [`GapTest::merged`].
    pub merged: usize,
    /// What is known of it.
    pub verdict: Verdict,
}

/// A cluster that is left after merging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergedCluster {
    /// The clusters that it is made of, places in [`GapTest::clusters`].
    pub clusters: Vec<usize>,
    /// Its rows without a missing value.
    pub rows: usize,
    /// The least that is known of its splits from its neighbours.
    pub verdict: Verdict,
}

/// A split between two neighbours that is left after merging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// One side, a place in [`GapTest::merged`].
    pub first: usize,
    /// The other side.
    pub second: usize,
    /// The test.
    pub test: PairTest,
    /// Holm's p-value among the splits that are left; none for those that cannot be told.
    pub adjusted_p: Option<f64>,
    /// What is known of it.
    pub verdict: Verdict,
}

/// A node of the tree over the clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The smaller of its two children: a cluster if below K, else the node `left − K`.
    pub left: usize,
    /// The larger of its two children.
    pub right: usize,
    /// Its rows.
    pub rows: usize,
    /// The p-value of its split: of the test after which its children were merged, or above those the largest among the splits that
    /// are left between its sides.
    pub p: f64,
    /// What is known of its split.
    pub verdict: Verdict,
    /// The test.
    pub test: PairTest,
}

/// Which clusters of a table are real.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GapTest {
    /// The clusters that were given, K of them, in the order in which they first appear.
    pub clusters: Vec<TestedCluster>,
    /// The clusters that are left, in the order of their first cluster.
    pub merged: Vec<MergedCluster>,
    /// The splits between neighbours that are left.
    pub splits: Vec<Split>,
    /// The tree: first the merges in their order, then the splits that are left from the weakest on. Clusters that were not tested, and
    /// groups that are not neighbours, stay apart.
    pub nodes: Vec<Node>,
    /// The merged cluster of every row, a place in `merged`; none for rows without a label.
    pub labels: Vec<Option<u32>>,
    /// Tests of pairs.
    pub tests: usize,
    /// Rows with a missing value, which are left out of the test.
    pub incomplete_rows: usize,
    /// Complete rows without a label: they count in valleys, as every row does.
    pub unlabelled_rows: usize,
    /// Complete rows that are equal to an earlier one.
    pub duplicate_rows: usize,
    /// What was chosen.
    pub settings: GapTestSettings,
}

/// Above this share of equal rows, rows are taken to be repeated.
const REPEATED: f64 = 0.05;

impl GapTest {
    /// What of the data the test could not use, or may mislead it, each in a sentence.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.incomplete_rows > 0 {
            warnings.push(format!(
                "{} rows with a missing value are left out of the test; they keep the label of their cluster",
                self.incomplete_rows
            ));
        }
        if self.unlabelled_rows > 0 {
            warnings.push(format!(
                "{} rows without a label are in no cluster; a gap in which they lie is not taken as empty",
                self.unlabelled_rows
            ));
        }
        let complete: usize = self.clusters.iter().map(|cluster| cluster.rows).sum();
        let complete = complete + self.unlabelled_rows;
        if self.duplicate_rows as f64 > REPEATED * complete as f64 {
            warnings.push(format!(
                "{} of {complete} rows are equal to an earlier one; the test counts them as independent, so that p-values of repeated \
                 measurements are too small",
                self.duplicate_rows
            ));
        }
        let few = self.splits.iter().filter(|split| split.test.few_values);
        let few = few.count();
        if few > 0 {
            warnings.push(format!(
                "{few} of {} splits lie on a line with fewer than {} different values and are not judged: gaps between values are not gaps \
                 between clusters; test on components of the table instead",
                self.splits.len(),
                crate::BINS
            ));
        }
        let untold = self
            .clusters
            .iter()
            .filter(|cluster| cluster.rows < self.settings.least_rows);
        let untold = untold.count();
        if untold > 0 && !self.settings.merge_small {
            warnings.push(format!(
                "{untold} of {} clusters have fewer than {} rows and are not tested; {} merges them with a neighbour",
                self.clusters.len(),
                self.settings.least_rows,
                GapTestSettings::merge_small_option()
            ));
        }
        warnings
    }

    /// The clusters that are left in one sentence.
    pub fn sentence(&self) -> String {
        let (given, left) = (self.clusters.len(), self.merged.len());
        let of = |verdict| {
            self.merged
                .iter()
                .filter(|merged| merged.verdict == verdict)
                .count()
        };
        let parts = [
            Verdict::Established,
            Verdict::SeparateAtAlpha,
            Verdict::CannotTell,
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|verdict| of(*verdict) > 0)
            .map(|verdict| format!("{} {}", of(verdict), verdict.words()))
            .collect();
        if left == 1 {
            return format!("no gap is seen between any of the {given} clusters");
        }
        let kept = if left == given { "all " } else { "" };
        format!(
            "{kept}{left} of {given} clusters are left: {}",
            parts.join(", ")
        )
    }

    /// The tree in Newick's format, clusters by the names that are given, nodes by their p-values; parts without a split between them
    /// are children of the root.
    pub fn newick(&self, name: impl Fn(u32) -> String) -> String {
        let leaf =
            |cluster: &TestedCluster| format!("'{}'", name(cluster.label).replace('\'', "''"));
        let mut texts: Vec<String> = self.clusters.iter().map(leaf).collect();
        for node in &self.nodes {
            let children = [node.left, node.right].map(|child| std::mem::take(&mut texts[child]));
            texts.push(format!("({},{}){:.3e}", children[0], children[1], node.p));
        }
        texts.retain(|text| !text.is_empty());
        if let [only] = &texts[..] {
            return format!("{only};");
        }
        format!("({});", texts.join(","))
    }
}
