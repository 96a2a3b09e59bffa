//! One run: a membership of every object in every column.

use partita_core::ndarray::{Array2, ArrayView2};

use crate::ModesError;

/// Sums of shares that are off by no more are rounding of what wrote them.
const ROUNDED: f64 = 1e-3;

/// A run of a clustering program: the share of every object in each of K columns. A row of zeros is an object that the run
/// does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    name: String,
    rows: Array2<f64>,
    rescaled: usize,
}

impl Run {
    /// A soft run from n × K shares. Rows whose sums are off by at most 0.001 are rescaled and counted; rows of zeros stay.
    ///
    /// # Errors
    /// [`ModesError::Share`] for the first value that is not between 0 and 1, [`ModesError::Shares`] for the first row whose
    /// sum is not 1.
    #[doc(alias = "Q matrix")]
    pub fn soft(name: impl Into<String>, mut rows: Array2<f64>) -> Result<Self, ModesError> {
        let (name, mut rescaled) = (name.into(), 0);
        for (row, mut shares) in rows.rows_mut().into_iter().enumerate() {
            let wrong = shares.iter().position(|share| !(0.0..=1.0 + ROUNDED).contains(share));
            if let Some(column) = wrong {
                return Err(ModesError::Share { run: name, row, column, value: shares[column] });
            }
            let sum = shares.sum();
            if sum == 0.0 {
                continue;
            }
            if (sum - 1.0).abs() > ROUNDED {
                let remedy = "divide every row by its sum";
                return Err(ModesError::Shares { run: name, row, sum, remedy });
            }
            if (sum - 1.0).abs() > 1e-12 {
                rescaled += usize::from((sum - 1.0).abs() > 1e-9);
                shares /= sum;
            }
        }
        Ok(Self { name, rows, rescaled })
    }

    /// A run of labels below `clusters`; none for objects that it does not know.
    pub fn hard(
        name: impl Into<String>,
        labels: impl ExactSizeIterator<Item = Option<usize>>,
        clusters: usize,
    ) -> Self {
        let mut rows = Array2::zeros((labels.len(), clusters));
        labels.enumerate().filter_map(|(row, label)| Some((row, label?))).for_each(|place| rows[place] = 1.0);
        Self { name: name.into(), rows, rescaled: 0 }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shares, n × K.
    pub fn rows(&self) -> ArrayView2<'_, f64> {
        self.rows.view()
    }

    /// Its columns, K.
    pub fn clusters(&self) -> usize {
        self.rows.ncols()
    }

    /// Its objects, n.
    pub fn objects(&self) -> usize {
        self.rows.nrows()
    }

    /// Rows whose sums were off by more than rounding of numbers and at most 0.001.
    pub fn rescaled(&self) -> usize {
        self.rescaled
    }
}
