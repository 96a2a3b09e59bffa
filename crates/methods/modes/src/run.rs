//! One run: a membership of every object in every column.

use partita_core::Shares;
use partita_core::ndarray::ArrayView2;

/// A run of a clustering program: the share of every object in each of K columns. A row of zeros is an object that the run
/// does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    name: String,
    shares: Shares,
}

impl Run {
    /// A soft run.
    #[doc(alias = "Q matrix")]
    pub fn soft(name: impl Into<String>, shares: Shares) -> Self {
        Self {
            name: name.into(),
            shares,
        }
    }

    /// A run of labels below `clusters`; none for objects that it does not know.
    pub fn hard(
        name: impl Into<String>,
        labels: impl ExactSizeIterator<Item = Option<usize>>,
        clusters: usize,
    ) -> Self {
        Self {
            name: name.into(),
            shares: Shares::of_labels(labels, clusters),
        }
    }

    /// The same run under another name.
    #[must_use]
    pub fn called(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shares, n × K.
    pub fn rows(&self) -> ArrayView2<'_, f64> {
        self.shares.rows()
    }

    /// Its shares with what was mended in them.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Its columns, K.
    pub fn clusters(&self) -> usize {
        self.rows().ncols()
    }

    /// Its objects, n.
    pub fn objects(&self) -> usize {
        self.rows().nrows()
    }

    /// Rows whose sums were off by more than rounding of numbers and at most 0.001.
    pub fn rescaled(&self) -> usize {
        self.shares.rescaled()
    }
}
