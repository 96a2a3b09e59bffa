//! Graphs: a list of edges, or the symmetric matrix of their weights.

use partita::MemoryBudget;
use partita::files::{self, SparseTable};
use partita::generate::{Graph, GraphError};

use crate::error::AppError;
use crate::experiment::description::TableInput;

/// A graph, and what its vertices are called.
#[derive(Clone, Debug)]
pub struct NamedGraph {
    /// The graph, of n vertices.
    pub graph: Graph,
    /// What the vertices are called, n names.
    pub object_names: Option<Vec<String>>,
}

impl NamedGraph {
    /// Of the matrix of the weights, n × n.
    ///
    /// # Errors
    /// [`AppError::Request`] for a matrix that is not symmetric or has negative entries.
    pub fn of_matrix(table: &SparseTable) -> Result<Self, AppError> {
        let (rows, columns) = table.values.shape();
        if rows != columns {
            let reason = format!(
                "the matrix of a graph has as many rows as columns, not {rows} × {columns}"
            );
            return Err(AppError::request(reason));
        }
        let entries = table.values.iter();
        let entries = entries.map(|(&weight, (row, column))| (row, column, weight));
        let wrong = |error: GraphError| AppError::request(error.to_string());
        Ok(Self {
            graph: Graph::from_symmetric(rows, entries).map_err(wrong)?,
            object_names: table.object_names.clone(),
        })
    }

    /// Of a file: a sparse matrix, or a list of edges.
    pub(crate) fn read(input: &TableInput, budget: MemoryBudget) -> Result<Self, AppError> {
        let file = &input.file;
        if input.filters_rows() {
            let reason = "rows are filtered by label in tables of features only";
            return Err(AppError::content(file, reason));
        }
        if files::is_sparse_table(file, &input.read) {
            let table = files::read_sparse_table(file, &input.options(budget))?;
            return Self::of_matrix(&table)
                .map_err(|error| AppError::content(file, error.to_string()));
        }
        let list = files::read_edges(file, &input.options(budget))?;
        let wrong = |error: GraphError| AppError::content(file, error.to_string());
        Ok(Self {
            graph: Graph::from_edges(list.names.len(), list.edges).map_err(wrong)?,
            object_names: Some(list.names),
        })
    }
}
