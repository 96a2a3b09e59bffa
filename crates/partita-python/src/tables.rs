//! Tables: dense ones read in place, sparse ones in compressed rows.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use partita::files::SparseTable;
use partita::files::sprs::CsMat;
use partita_app::{InputTable, TableInMemory};
use pyo3::prelude::*;

use crate::errors::input_error;

/// What the records of tables in memory call them.
pub(crate) const IN_MEMORY: &str = "table";

/// A table with names of its columns and, where there are some, of its objects.
#[pyclass(frozen, name = "NativeTable", module = "partita._partita")]
pub(crate) struct NativeTable {
    /// A NumPy array (n × d, float64), or the three arrays of compressed sparse rows.
    values: Values,
    columns: Vec<String>,
    objects: Option<Vec<String>>,
}

enum Values {
    Dense(Py<PyAny>),
    Sparse(CsMat<f64>),
}

/// The array of a dense table while it is read.
pub(crate) enum Held<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(CsMat<f64>),
}

impl NativeTable {
    /// Keeps others from writing into the table until it is dropped.
    pub(crate) fn hold<'py>(&self, py: Python<'py>) -> PyResult<Held<'py>> {
        match &self.values {
            Values::Dense(array) => Ok(Held::Dense(array.bind(py).extract()?)),
            Values::Sparse(matrix) => Ok(Held::Sparse(matrix.clone())),
        }
    }

    /// The table as experiments read it.
    pub(crate) fn input<'a>(&self, held: &'a Held<'_>) -> InputTable<'a> {
        let (columns, object_names) = (self.columns.clone(), self.objects.clone());
        match held {
            Held::Dense(array) => InputTable::View(TableInMemory { columns, values: array.as_array(), object_names }),
            Held::Sparse(values) => {
                InputTable::Sparse(SparseTable { columns, values: values.clone(), object_names, label: None })
            }
        }
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }
}

#[pymethods]
impl NativeTable {
    /// A dense table.
    #[staticmethod]
    fn dense(values: PyReadonlyArray2<'_, f64>, columns: Vec<String>, objects: Option<Vec<String>>) -> Self {
        let array: &Bound<'_, numpy::PyArray2<f64>> = &values;
        Self { values: Values::Dense(array.clone().into_any().unbind()), columns, objects }
    }

    /// A table of compressed sparse rows.
    #[staticmethod]
    fn sparse(
        py: Python<'_>,
        shape: (usize, usize),
        indptr: PyReadonlyArray1<'_, i64>,
        indices: PyReadonlyArray1<'_, i64>,
        data: PyReadonlyArray1<'_, f64>,
        columns: Vec<String>,
        objects: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let places = |array: &PyReadonlyArray1<'_, i64>| array.as_array().iter().map(|&at| at as usize).collect();
        let (starts, columns_of): (Vec<usize>, Vec<usize>) = (places(&indptr), places(&indices));
        let data = data.as_array().to_vec();
        let matrix = CsMat::try_new(shape, starts, columns_of, data);
        let matrix = matrix.map_err(|(.., error)| input_error(py, &format!("this is not a sparse table: {error}")))?;
        Ok(Self { values: Values::Sparse(matrix), columns, objects })
    }
}
