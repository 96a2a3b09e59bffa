//! Null models: tables without clusters that are shaped like a given one.

use partita_core::ndarray::{Array2, ArrayView2, Axis};
use partita_core::{Seed, SettingChoice};
use partita_spectral::principal_components;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::SelectError;

/// What a table without clusters looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Null {
    /// One Gaussian with the table's covariance.
    Gaussian,
    /// Even over a box along the principal axes with the table's variances.
    Box,
    /// Every principal component in an order of its own: keeps what each looks like, and so clusters along one.
    Permuted,
    /// Of an ensemble: every base clustering with its labels permuted at random. Sizes stay, agreement goes.
    PermutedLabels,
}

/// Principal components of a table: rotated so that columns are uncorrelated, of falling variance.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    /// n × r.
    pub(crate) values: Array2<f64>,
}

impl Scores {
    /// The components that hold a share of the variance; distances between rows are kept as far as the share is 1.
    pub(crate) fn of(table: ArrayView2<'_, f64>, share: f64) -> Result<Self, SelectError> {
        if table.outer_iter().all(|row| row == table.row(0)) {
            return Err(SelectError::Table("all rows of the table are equal".into()));
        }
        let values = principal_components(table, share, LEAST)?;
        Ok(Self { values })
    }

    /// A table of one kind; there is none for [`Null::PermutedLabels`], which settings refuse.
    pub(crate) fn draw(&self, null: Null, seed: Seed) -> Array2<f64> {
        let mut rng = seed.rng();
        let (n, r) = self.values.dim();
        let deviations = self
            .values
            .map_axis(Axis(0), |column| (column.dot(&column) / n as f64).sqrt());
        match null {
            Null::Gaussian => {
                Array2::from_shape_fn((n, r), |(_, j)| deviations[j] * normal(&mut rng))
            }
            Null::Box => {
                let half = 3f64.sqrt();
                Array2::from_shape_fn((n, r), |(_, j)| {
                    deviations[j] * half * rng.random_range(-1.0..1.0)
                })
            }
            Null::Permuted | Null::PermutedLabels => permuted(self.values.view(), seed),
        }
    }
}

fn permuted(table: ArrayView2<'_, f64>, seed: Seed) -> Array2<f64> {
    let mut rng = seed.rng();
    let mut made = table.to_owned();
    let n = made.nrows();
    for mut column in made.columns_mut() {
        for at in (1..n).rev() {
            column.swap(at, rng.random_range(0..=at as u64) as usize);
        }
    }
    made
}

/// Components that are always kept, where there are so many.
const LEAST: usize = 20;

/// A draw of the standard normal distribution (Box and Muller).
fn normal(rng: &mut impl rand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}
