//! Files of trees, in SciPy's layout.

use std::path::Path;

use partita::extend::Dendrogram;
use partita::files::{self, Table};
use partita::ndarray::Array2;

use crate::error::AppError;

/// The merges of a tree in SciPy's layout, a row a merge: left, right, height, objects.
pub fn linkage(tree: &Dendrogram) -> Array2<f64> {
    let mut rows = Array2::zeros((tree.merges().len(), 4));
    for (mut row, merge) in rows.outer_iter_mut().zip(tree.merges()) {
        let numbers = [
            f64::from(merge.left),
            f64::from(merge.right),
            merge.height,
            f64::from(merge.size),
        ];
        row.iter_mut()
            .zip(numbers)
            .for_each(|(cell, number)| *cell = number);
    }
    rows
}

/// Writes a tree; the ending says the format, as for tables.
pub(crate) fn write_tree(path: &Path, tree: &Dendrogram) -> Result<(), AppError> {
    let columns = ["left", "right", "height", "objects"]
        .map(str::to_owned)
        .to_vec();
    let table = Table {
        columns,
        values: linkage(tree),
        object_names: None,
        label: None,
    };
    Ok(files::write_table(path, &table)?)
}
