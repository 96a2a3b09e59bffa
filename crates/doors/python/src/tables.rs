//! Tables: dense ones read in place, sparse ones in compressed rows.

use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use partita::files::sprs::CsMat;
use partita::files::{self, LabelColumn, SparseTable};
use partita::ndarray::Array2;
use partita_app::{AppError, InputTable, TableInMemory, default_budget};
use pyo3::prelude::*;

use crate::errors::{input_error, raised};
use crate::reading::Classes;

/// What the records of tables in memory call them.
pub(crate) const IN_MEMORY: &str = "table";

/// A table with names of its columns and, where there are some, of its objects.
#[pyclass(frozen, name = "NativeTable", module = "partita._partita")]
pub(crate) struct NativeTable {
    /// A NumPy array (n × d, float64), or the three arrays of compressed sparse rows.
    values: Values,
    columns: Vec<String>,
    objects: Option<Vec<String>>,
    truth: Option<LabelColumn>,
    /// Where numbers stand for gaps.
    gaps: Vec<(u32, u32)>,
}

/// True classes, one an object.
fn label_column(
    py: Python<'_>,
    truth: Option<Classes>,
    objects: usize,
) -> PyResult<Option<LabelColumn>> {
    match truth {
        Some((_, values)) if values.len() != objects => {
            let what = format!(
                "{} true classes for {objects} objects; give one an object, None where it is open",
                values.len()
            );
            Err(input_error(py, &what))
        }
        truth => Ok(truth.map(|(name, values)| LabelColumn { name, values })),
    }
}

/// Numbers without gaps where there were some, the means of the columns, and where the gaps were (row, column).
type Filled<'py> = (Option<Bound<'py, PyArray2<f64>>>, Vec<f64>, Vec<(u32, u32)>);

/// Fills NaN with the means of the columns, or with those given.
#[pyfunction]
pub(crate) fn fill_gaps<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    columns: Vec<String>,
    means: Option<Vec<f64>>,
) -> PyResult<Filled<'py>> {
    let values = values.as_array();
    let gaps = values.indexed_iter().filter(|(_, value)| value.is_nan());
    let gaps: Vec<(u32, u32)> = gaps.map(|((i, j), _)| (i as u32, j as u32)).collect();
    let known = means.map_or_else(
        || vec![None; columns.len()],
        |means| means.into_iter().map(Some).collect(),
    );
    let means = files::column_means(values, &known).map_err(|column| {
        let name = &columns[column];
        input_error(
            py,
            &format!("column '{name}' has no value at all; leave it out"),
        )
    })?;
    let filled = (!gaps.is_empty()).then(|| {
        let mut filled = values.to_owned();
        files::fill_gaps(&mut filled, &means);
        filled.into_pyarray(py)
    });
    Ok((filled, means, gaps))
}

enum Values {
    Dense(Py<PyAny>),
    Sparse(CsMat<f64>),
}

/// The array of a dense table while it is read.
pub(crate) enum Held<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(CsMat<f64>),
    /// A sparse table that was made dense.
    Spread(Array2<f64>),
}

impl NativeTable {
    /// Keeps others from writing into the table until it is dropped.
    pub(crate) fn hold<'py>(&self, py: Python<'py>) -> PyResult<Held<'py>> {
        match &self.values {
            Values::Dense(array) => Ok(Held::Dense(array.bind(py).extract()?)),
            Values::Sparse(matrix) => Ok(Held::Sparse(matrix.clone())),
        }
    }

    /// As [`hold`](Self::hold), dense: for models, which read dense tables.
    pub(crate) fn hold_dense<'py>(&self, py: Python<'py>) -> PyResult<Held<'py>> {
        let Values::Sparse(matrix) = &self.values else {
            return self.hold(py);
        };
        let (rows, columns) = matrix.shape();
        let needed = 8 * rows as u64 * columns as u64;
        let what = "the dense table that a model of a table reads";
        default_budget()
            .check(what, needed, "take fewer objects or columns")
            .map_err(|error| raised(py, &AppError::from(error)))?;
        let mut spread = Array2::zeros((rows, columns));
        for (&value, at) in matrix {
            spread[at] = value;
        }
        Ok(Held::Spread(spread))
    }

    /// The table as experiments read it.
    pub(crate) fn input<'a>(&self, held: &'a Held<'_>) -> InputTable<'a> {
        let (columns, object_names, label) = (
            self.columns.clone(),
            self.objects.clone(),
            self.truth.clone(),
        );
        let values = match held {
            Held::Sparse(values) => {
                return InputTable::Sparse(SparseTable {
                    columns,
                    values: values.clone(),
                    object_names,
                    label,
                    remarks: Vec::new(),
                });
            }
            Held::Dense(array) => array.as_array(),
            Held::Spread(array) => array.view(),
        };
        InputTable::View(TableInMemory {
            columns,
            values,
            object_names,
            label,
            gaps: self.gaps.clone(),
        })
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }
}

#[pymethods]
impl NativeTable {
    /// A dense table.
    #[staticmethod]
    fn dense(
        py: Python<'_>,
        values: PyReadonlyArray2<'_, f64>,
        columns: Vec<String>,
        objects: Option<Vec<String>>,
        truth: Option<Classes>,
        gaps: Vec<(u32, u32)>,
    ) -> PyResult<Self> {
        let truth = label_column(py, truth, values.as_array().nrows())?;
        let array: &Bound<'_, PyArray2<f64>> = &values;
        Ok(Self {
            values: Values::Dense(array.clone().into_any().unbind()),
            columns,
            objects,
            truth,
            gaps,
        })
    }

    /// A table of compressed sparse rows.
    #[staticmethod]
    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of a sparse matrix, and names"
    )]
    fn sparse(
        py: Python<'_>,
        shape: (usize, usize),
        indptr: PyReadonlyArray1<'_, i64>,
        indices: PyReadonlyArray1<'_, i64>,
        data: PyReadonlyArray1<'_, f64>,
        columns: Vec<String>,
        objects: Option<Vec<String>>,
        truth: Option<Classes>,
    ) -> PyResult<Self> {
        let truth = label_column(py, truth, shape.0)?;
        let places = |array: &PyReadonlyArray1<'_, i64>| {
            array.as_array().iter().map(|&at| at as usize).collect()
        };
        let (starts, columns_of): (Vec<usize>, Vec<usize>) = (places(&indptr), places(&indices));
        let data = data.as_array().to_vec();
        let matrix = CsMat::try_new(shape, starts, columns_of, data);
        let matrix = matrix.map_err(|(.., error)| {
            input_error(py, &format!("this is not a sparse table: {error}"))
        })?;
        Ok(Self {
            values: Values::Sparse(matrix),
            columns,
            objects,
            truth,
            gaps: Vec::new(),
        })
    }
}
