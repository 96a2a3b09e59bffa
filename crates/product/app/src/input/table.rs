//! The table of an experiment: read whole, sparse, or left on the disk in groups of rows.

use partita::files::{self, LabelColumn, Roles, SparseTable, Table, TableGroups, Truth};
use partita::generate::{RowGroups, Scale, TableView};
use partita::ndarray::{Array2, ArrayView2};
use partita::{Features, MemoryBudget, Seed};

use crate::error::AppError;
use crate::experiment::description::{PairsOf, TableInput};
use crate::input::graph::NamedGraph;
use crate::input::input_notes::say_roles;
use crate::input::label_like::label_like_columns;
use crate::input::pairs::distances;
use crate::input::variance::outweighing_columns;
use crate::observer::{NoObserver, Observer};
use crate::seeds;

/// A table as it was read, or as a program holds it.
#[derive(Debug)]
pub enum InputTable<'a> {
    /// All numbers in memory.
    Dense(Table),
    /// The numbers that are not 0 in memory.
    Sparse(SparseTable),
    /// Numbers on the disk, in groups of rows.
    Groups(Box<GroupedTable>),
    /// All numbers in the memory of a program, which are not copied.
    View(TableInMemory<'a>),
    /// Distances of all pairs of objects, n × n, in place of features.
    Distances(Table),
    /// A graph in place of features.
    Graph(NamedGraph),
}

/// A table that a program holds.
#[derive(Clone, Debug)]
pub struct TableInMemory<'a> {
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// The numbers, n × d.
    pub values: ArrayView2<'a, f64>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The true labels, where there are some.
    pub label: Option<LabelColumn>,
    /// Where numbers stand for gaps, as in a [`Table`].
    pub gaps: Vec<(u32, u32)>,
}

/// A table whose numbers stay on the disk.
#[derive(Debug)]
pub struct GroupedTable(TableGroups);

impl RowGroups for GroupedTable {
    fn dim(&self) -> (usize, usize) {
        self.0.dim()
    }

    fn groups(&self) -> usize {
        self.0.groups()
    }

    fn read(&self, group: usize) -> Result<Array2<f64>, String> {
        self.0.read(group).map_err(|error| error.to_string())
    }
}

impl InputTable<'static> {
    /// Reads a table. One in Parquet that would fill half of the budget stays on the disk. Rows are filtered by their
    /// labels with random numbers of `seed`, the seed of the run.
    ///
    /// # Errors
    /// [`AppError`] for what cannot be read or filtered.
    pub fn read(
        input: &TableInput,
        budget: MemoryBudget,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        Self::load(input, budget, seed, observer).map(|(table, _)| table)
    }

    /// As [`read`](Self::read), and what every column was taken for.
    pub(crate) fn load(
        input: &TableInput,
        budget: MemoryBudget,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<(Self, Roles), AppError> {
        if input.pairs == Some(PairsOf::Graph) {
            return Self::load_dense(input, budget, seed, observer);
        }
        if files::is_sparse_table(&input.file, &input.read) {
            refuse_pairs(input)?;
            let table = read_sparse(input, budget)?;
            let roles = table.roles();
            say_roles(&input.file, &roles, observer);
            return Ok((Self::Sparse(table), roles));
        }
        // Means of columns are those of all rows, which are then read whole.
        let groups = input
            .read
            .impute
            .is_none()
            .then(|| TableGroups::open(&input.file, &input.options(budget)));
        if let Some(groups) = groups.transpose()?.flatten() {
            let (n, d) = groups.dim();
            if (16 * n * d) as u64 > budget.bytes() / 2 && !input.filters_rows() {
                let roles = groups.roles().clone();
                say_roles(&input.file, &roles, observer);
                return Ok((Self::Groups(Box::new(GroupedTable(groups))), roles));
            }
        }
        Self::load_dense(input, budget, seed, observer)
    }

    /// Reads a table whole, as methods and predictors want it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_dense(
        input: &TableInput,
        budget: MemoryBudget,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        Self::load_dense(input, budget, seed, observer).map(|(table, _)| table)
    }

    /// These columns of a table, of the same rows, for a page that describes them: NaN where a value is missing.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`AppError::Content`] for a table that is not dense, or whose rows are others without its other columns.
    pub(crate) fn described(
        input: &TableInput,
        columns: &[String],
        objects: usize,
        budget: MemoryBudget,
        seed: Seed,
    ) -> Result<Table, AppError> {
        let mut input = input.clone();
        (input.read.only, input.read.skip) = (columns.to_vec(), Vec::new());
        (input.read.encode, input.read.impute) = (None, None);
        (input.read.clusterable, input.pairs) = (false, Some(PairsOf::Features));
        // The true labels are described like any other column.
        input.read.truth = Truth::None;
        let wrong = |reason: &str| AppError::content(&input.file, reason);
        let Self::Dense(mut table) = Self::read_dense(&input, budget, seed, &NoObserver)? else {
            return Err(wrong("columns are described in dense tables only"));
        };
        if table.values.nrows() != objects {
            return Err(wrong(
                "the columns to describe do not have the rows that were clustered",
            ));
        }
        for (row, column) in std::mem::take(&mut table.gaps) {
            table.values[[row as usize, column as usize]] = f64::NAN;
        }
        Ok(table)
    }

    /// As [`read_dense`](Self::read_dense), and what every column was taken for.
    pub(crate) fn load_dense(
        input: &TableInput,
        budget: MemoryBudget,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<(Self, Roles), AppError> {
        if input.pairs == Some(PairsOf::Graph) {
            let graph = NamedGraph::read(input, budget)?;
            let roles = Roles {
                objects: graph.graph.vertices() as u64,
                ..Roles::default()
            };
            return Ok((Self::Graph(graph), roles));
        }
        let (table, roles) = files::load_table(&input.file, &input.options(budget))?;
        say_roles(&input.file, &roles, observer);
        if let Some(values) = distances(&input.file, &table, input.pairs)? {
            if input.filters_rows() {
                let reason = "rows are filtered by label in tables of features only";
                return Err(AppError::content(&input.file, reason));
            }
            return Ok((Self::Distances(Table { values, ..table }), roles));
        }
        filtered(table, input, seed, observer).map(|table| (Self::Dense(table), roles))
    }
}

/// Says that distances are read from dense tables.
fn refuse_pairs(input: &TableInput) -> Result<(), AppError> {
    match input.pairs {
        None | Some(PairsOf::Features) => Ok(()),
        Some(_) => {
            let reason = "distances are read from dense tables; write it so (matrix.toarray())";
            Err(AppError::content(&input.file, reason))
        }
    }
}

impl InputTable<'_> {
    /// Whether base clusterings can be chosen for it: it is in memory, not sparse, and has 10 objects or more.
    pub(crate) fn has_recipes(&self) -> bool {
        const FEW: usize = 10;
        matches!(self, Self::Dense(_) | Self::View(_)) && self.view().dim().0 >= FEW
    }

    /// The warning about columns that outweigh all others where nothing scales them; none for tables that are sparse or on
    /// the disk.
    pub fn scale_warning(&self, scale: Scale) -> Option<String> {
        match self {
            Self::Dense(table) if scale == Scale::None => {
                outweighing_columns(&table.columns, table.values.view())
            }
            Self::View(table) if scale == Scale::None => {
                outweighing_columns(&table.columns, table.values)
            }
            _ => None,
        }
    }

    /// The warning about a table from a file all of whose columns may be labels.
    pub fn label_warning(&self) -> Option<String> {
        match self {
            Self::Dense(table) => label_like_columns(table.values.view()),
            _ => None,
        }
    }

    /// The numbers, as base clusterers read them.
    pub fn view(&self) -> TableView<'_> {
        match self {
            Self::Dense(table) => with_gaps(table.values.view(), &table.gaps),
            Self::Sparse(table) => table.values.view().into(),
            Self::Groups(table) => TableView::Groups(&**table),
            Self::View(table) => with_gaps(table.values, &table.gaps),
            Self::Distances(table) => TableView::Distances(table.values.view()),
            Self::Graph(graph) => TableView::Graph(&graph.graph),
        }
    }

    /// The columns, as methods read them: absent for what is not dense and in memory.
    pub fn features(&self) -> Option<Features<'_>> {
        match self {
            Self::Dense(table) => Features::new(&table.columns, table.values.view()).ok(),
            Self::View(table) => Features::new(&table.columns, table.values).ok(),
            _ => None,
        }
    }

    /// Names of the objects, where there are some.
    pub fn object_names(&self) -> Option<&Vec<String>> {
        match self {
            Self::Dense(table) | Self::Distances(table) => table.object_names.as_ref(),
            Self::Sparse(table) => table.object_names.as_ref(),
            Self::Groups(table) => table.0.object_names.as_ref(),
            Self::View(table) => table.object_names.as_ref(),
            Self::Graph(graph) => graph.object_names.as_ref(),
        }
    }

    /// The true labels, where there are some.
    pub fn label(&self) -> Option<&LabelColumn> {
        match self {
            Self::Dense(table) | Self::Distances(table) => table.label.as_ref(),
            Self::Sparse(table) => table.label.as_ref(),
            Self::Groups(table) => table.0.label.as_ref(),
            Self::View(table) => table.label.as_ref(),
            Self::Graph(_) => None,
        }
    }

    /// Keeps these rows, in their order.
    ///
    /// # Errors
    /// [`AppError::Request`] for a table that is not read whole.
    pub(crate) fn keep_rows(&mut self, rows: &[usize]) -> Result<(), AppError> {
        let Self::Dense(table) = self else {
            let reason = "some objects have no label in any base clustering; leave them out of the ensemble and of the table";
            return Err(AppError::request(reason));
        };
        if rows
            .last()
            .is_some_and(|&last| last >= table.values.nrows())
        {
            return Ok(()); // The number of rows is wrong, which is said where methods are checked.
        }
        *table = std::mem::take(table).select(rows);
        Ok(())
    }

    /// Takes the true labels out.
    pub(crate) fn take_label(&mut self) -> Option<LabelColumn> {
        match self {
            Self::Dense(table) | Self::Distances(table) => table.label.take(),
            Self::Sparse(table) => table.label.take(),
            Self::Groups(table) => table.0.label.take(),
            Self::View(table) => table.label.take(),
            Self::Graph(_) => None,
        }
    }
}

/// Numbers as base clusterers read them, some of which stand for gaps.
fn with_gaps<'a>(values: ArrayView2<'a, f64>, gaps: &'a [(u32, u32)]) -> TableView<'a> {
    match gaps {
        [] => values.into(),
        gaps => TableView::Gaps(values, gaps),
    }
}

fn read_sparse(input: &TableInput, budget: MemoryBudget) -> Result<SparseTable, AppError> {
    if input.filters_rows() {
        let reason = "rows are filtered by label in dense tables that fit memory only";
        return Err(AppError::content(&input.file, reason));
    }
    Ok(files::read_sparse_table(
        &input.file,
        &input.options(budget),
    )?)
}

/// The rows that are asked for.
fn filtered(
    table: Table,
    input: &TableInput,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Table, AppError> {
    if !input.filters_rows() {
        return Ok(table);
    }
    let (n, d) = table.values.dim();
    let most = input.max_per_label.map(std::num::NonZeroUsize::get);
    let table = table
        .of_labels(&input.filter_labels, most, seeds::rows(seed))
        .map_err(|source| AppError::Rows {
            path: input.file.clone(),
            source,
        })?;
    let (rows, columns) = table.values.dim();
    observer.note(&format!(
        "{}: {rows} of {n} rows, {columns} of {d} columns that vary in them",
        input.file.display()
    ));
    Ok(table)
}
