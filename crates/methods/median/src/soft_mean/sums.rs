//! Sums over the rows that are closest to the memberships of objects: what they cost, and their products with these.

use partita_core::Mergeable;
use partita_core::ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// Weighted sums over objects and base clusterings: the loss, the weights, for each of K columns the squares about the rows, the shares
/// and their squares; and the products of rows and base clusters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MeanSums {
    pub(super) loss: f64,
    weight: f64,
    columns: Vec<[f64; 3]>,
    /// Σ_i w_i share_ic y_ik, ΣJ × K.
    products: Vec<f64>,
}

impl MeanSums {
    pub(super) fn new(base_clusters: usize, clusters: usize) -> Self {
        let (columns, products) = (
            vec![[0.0; 3]; clusters],
            vec![0.0; base_clusters * clusters],
        );
        Self {
            loss: 0.0,
            weight: 0.0,
            columns,
            products,
        }
    }

    /// Adds an object of this weight, whose shares are gathered.
    pub(super) fn add(
        &mut self,
        gathered: &mut Gathered,
        entries: impl Iterator<Item = (usize, usize, f64)>,
        weight: f64,
        hard: bool,
    ) {
        let clusters = self.columns.len();
        let mut row = std::mem::take(&mut gathered.row);
        gathered.closest(&mut row, hard);
        for (_, cluster, share) in entries {
            let products = &mut self.products[cluster * clusters..][..clusters];
            products
                .iter_mut()
                .zip(&row)
                .for_each(|(sum, y)| *sum += weight * share * y);
        }
        let (total, squares) = (gathered.total, gathered.all_squares);
        let own: f64 = row.iter().map(|y| y * y).sum();
        let both: f64 = row.iter().zip(&gathered.sums).map(|(y, sum)| y * sum).sum();
        self.loss += weight * (total * own - 2.0 * both + squares).max(0.0);
        self.weight += weight * total;
        for (k, (column, y)) in self.columns.iter_mut().zip(&row).enumerate() {
            let (shares, squares) = (gathered.sums[k], gathered.squares[k]);
            let within = (y * (total * y - 2.0 * shares) + squares).max(0.0);
            [within, shares, squares]
                .iter()
                .zip(column)
                .for_each(|(more, own)| *own += weight * more);
        }
        gathered.row = row;
    }

    /// The mean over columns of the share of squares about the mean of the column that is left about the rows; 1 for a column in
    /// which all is equal. The loss is 0 where all base clusters share one column, and this is not.
    pub(super) fn unexplained(&self) -> f64 {
        let of_column = |&[within, shares, squares]: &[f64; 3]| {
            let all = squares - shares * shares / self.weight;
            if all > 1e-9 * self.weight {
                within / all
            } else {
                1.0
            }
        };
        self.columns.iter().map(of_column).sum::<f64>() / self.columns.len() as f64
    }

    /// ΣJ × K.
    pub(super) fn products(&self) -> ArrayView2<'_, f64> {
        let clusters = self.columns.len();
        let shape = (self.products.len() / clusters, clusters);
        ArrayView2::from_shape(shape, &self.products).expect("K numbers a base cluster")
    }
}

impl Mergeable for MeanSums {
    fn merge(&mut self, other: Self) {
        self.loss += other.loss;
        self.weight += other.weight;
        for (own, more) in self.columns.iter_mut().zip(&other.columns) {
            own.iter_mut()
                .zip(more)
                .for_each(|(own, more)| *own += more);
        }
        self.products
            .iter_mut()
            .zip(&other.products)
            .for_each(|(own, more)| *own += more);
    }
}

/// The shares of one object, added up by column.
pub(super) struct Gathered {
    /// The weighted sum of every column.
    sums: Vec<f64>,
    /// The weighted squares of every column, and of all.
    squares: Vec<f64>,
    all_squares: f64,
    /// The weight of the base clusterings that know the object.
    total: f64,
    own: Vec<f64>,
    touched: Vec<usize>,
    row: Vec<f64>,
}

impl Gathered {
    /// For rows of K columns, where base clusters go to the columns in `codes`.
    pub(super) fn new(codes: &[u32], clusters: usize) -> Self {
        let columns = codes
            .iter()
            .max()
            .map_or(clusters, |&most| clusters.max(most as usize + 1));
        let zeros = vec![0.0; columns];
        let (sums, squares, own) = (zeros.clone(), zeros.clone(), zeros);
        Self {
            sums,
            squares,
            all_squares: 0.0,
            total: 0.0,
            own,
            touched: Vec::new(),
            row: vec![0.0; clusters],
        }
    }

    /// Adds up the shares of an object, weighted by their base clusterings: `(base clustering, base cluster, share)`, one base
    /// clustering after the other. What one of them gives to the same column is added before it is squared.
    pub(super) fn gather(
        &mut self,
        entries: impl Iterator<Item = (usize, usize, f64)>,
        codes: &[u32],
        base_weights: &[f64],
    ) {
        self.sums.fill(0.0);
        self.squares.fill(0.0);
        (self.total, self.all_squares) = (0.0, 0.0);
        let mut before = None;
        for (u, cluster, share) in entries {
            if before != Some(u) {
                before.iter().for_each(|&u| self.close(base_weights[u]));
                before = Some(u);
            }
            let column = codes[cluster] as usize;
            if self.own[column] == 0.0 {
                self.touched.push(column);
            }
            self.own[column] += share;
        }
        before.iter().for_each(|&u| self.close(base_weights[u]));
    }

    /// Ends the shares of one base clustering.
    fn close(&mut self, weight: f64) {
        for column in self.touched.drain(..) {
            let share = std::mem::take(&mut self.own[column]);
            self.sums[column] += weight * share;
            self.squares[column] += weight * share * share;
            self.all_squares += weight * share * share;
        }
        self.total += weight;
    }

    /// Whether no base clustering that counts knows the object.
    pub(super) fn unknown(&self) -> bool {
        self.total == 0.0
    }

    /// The row on the simplex of K columns that is closest to the mean of the shares. What goes to columns from K on is spread evenly;
    /// with `hard` it is the largest entry.
    pub(super) fn closest(&self, row: &mut [f64], hard: bool) {
        let k = row.len();
        let beyond: f64 = self.sums[k..].iter().sum();
        row.iter_mut()
            .zip(&self.sums)
            .for_each(|(y, sum)| *y = (sum + beyond / k as f64) / self.total);
        if hard {
            let best = (1..k).fold(0, |best, at| if row[at] > row[best] { at } else { best });
            row.fill(0.0);
            row[best] = 1.0;
        }
    }
}
