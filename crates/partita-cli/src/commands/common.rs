//! What several commands do the same way.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use partita::files::{
    self, EnsembleOptions, LabelColumn, LoadedEnsemble, SparseTable, Table, TableGroups, TableOptions,
};
use partita::generate::{Durable, Generated, Recipe, RowGroups, TableView, generate, generate_durable};
use partita::ndarray::Array2;
use partita::{Consensus, MemoryBudget, Model, Outcome, Problem, Seed, consense};
use serde_json::Value;

use crate::args::{ComputeArgs, TableArgs};
use crate::failure::Failure;
use crate::output::say;
use crate::phases;
use crate::progress::{Progress, interrupted, listen_for_ctrl_c};
use crate::record::{Record, Stopwatch};

/// Base clusterings draw from children of the seed; a consensus draws from children of this child, which is not one
/// of theirs. `run` is therefore `generate` and then `consensus` with the same seed, to the byte.
const CONSENSUS: u64 = u64::MAX;

/// Threads, memory and Ctrl-C, set up once a process.
pub(crate) struct Compute {
    pub(crate) seed: u64,
    pub(crate) budget: MemoryBudget,
}

impl Compute {
    /// `seed` is taken where the flags name none.
    pub(crate) fn start(args: &ComputeArgs, seed: Option<Seed>) -> Result<Self, Failure> {
        let threads = args.threads.map_or(0, std::num::NonZeroUsize::get);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        listen_for_ctrl_c()?;
        let seed = args.seed.or(seed.map(Seed::number)).unwrap_or(0);
        Ok(Self { seed, budget: args.max_memory.unwrap_or_else(default_budget) })
    }

    /// Makes an ensemble of a table, with a part file where one is named.
    pub(crate) fn generate(
        &self,
        table: &AnyTable,
        recipe: &Recipe,
        durable: Option<&Durable>,
    ) -> Result<Generated, Failure> {
        let progress = Progress::new("base clusterings");
        let (values, seed) = (table.view(), Seed::new(self.seed));
        let bytes = partita::generate::bytes(recipe, &values);
        // Said where it is worth knowing.
        if bytes > 256 << 20 && bytes <= self.budget.bytes() {
            say(&format!("{} base clusterings will take up to {}", recipe.runs(), MemoryBudget::new(bytes)));
        }
        let mut made = match durable {
            Some(durable) => generate_durable(values, recipe, seed, durable, self.budget, &progress)?,
            None => generate(values, recipe, seed, self.budget, &progress)?,
        };
        if let Some(names) = table.object_names() {
            made.ensemble = made.ensemble.with_object_names(names.clone())?;
        }
        Ok(made)
    }

    /// What a consensus draws from.
    pub(crate) fn consensus_seed(&self) -> Seed {
        Seed::new(self.seed).child(CONSENSUS)
    }

    /// Finds a consensus of what came from `source` and records it. `problem` carries everything but seed and budget.
    pub(crate) fn consense(
        &self,
        method: &dyn Consensus,
        mut problem: Problem<'_>,
        source: &Path,
    ) -> Result<(Outcome, Record), Failure> {
        (problem.seed, problem.budget) = (self.consensus_seed(), self.budget);
        phases::taken();
        let stopwatch = Stopwatch::start();
        let outcome = consense(method, &problem, &Progress::new(method.info().name));
        let outcome = outcome.with_context(|| source.display().to_string())?;
        let record = Record::new(method.info().name, self.seed, problem.ensemble, &outcome, stopwatch.read());
        Ok((outcome, record))
    }
}

/// Three quarters of the machine's memory, or 4 GiB where that is not known.
fn default_budget() -> MemoryBudget {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    MemoryBudget::new(total.map_or(4 << 30, |kib| kib * 1024 / 4 * 3))
}

/// After a command's work: says so when Ctrl-C cut it short.
pub(crate) fn unless_interrupted(kept: impl FnOnce() -> String) -> Result<(), Failure> {
    if interrupted() { Err(Failure::Interrupted(kept())) } else { Ok(()) }
}

/// Every method, and the choice among them.
pub(crate) fn methods() -> impl Iterator<Item = &'static dyn Consensus> {
    partita::METHODS.iter().copied().chain([&partita_select::BEST as &dyn Consensus])
}

/// The method of this name, or an error with the nearest name.
pub(crate) fn method(name: &str) -> Result<&'static dyn Consensus, Failure> {
    methods().find(|method| method.info().name == name).ok_or_else(|| {
        let known = methods().map(|method| method.info().name);
        let nearest = known.max_by(|a, b| strsim::jaro(name, a).total_cmp(&strsim::jaro(name, b)));
        let nearest = nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
        Failure::input(format!("there is no method '{name}'{nearest} `partita methods` lists them all"))
    })
}

pub(crate) fn read_table(args: &TableArgs) -> Result<Table, Failure> {
    Ok(files::read_table(&args.table, &table_options(args))?)
}

fn table_options(args: &TableArgs) -> TableOptions {
    let mut options = TableOptions::default();
    options.label.clone_from(&args.label);
    options.skip.clone_from(&args.skip);
    (options.one_hot, options.codes, options.fill) = (args.one_hot, args.codes, args.fill);
    options
}

/// A child of the seed that neither base clusterings nor a consensus draw from.
const PICK: u64 = u64::MAX - 1;

fn picks(args: &TableArgs) -> bool {
    !args.only.is_empty() || args.per_label.is_some()
}

/// The rows that the flags ask for.
fn picked(table: Table, args: &TableArgs, seed: u64) -> Result<Table, Failure> {
    if !picks(args) {
        return Ok(table);
    }
    let (n, d) = table.values.dim();
    let most = args.per_label.map(std::num::NonZeroUsize::get);
    let table = table
        .of_labels(&args.only, most, Seed::new(seed).child(PICK))
        .map_err(|error| Failure::input(format!("{}: {error}", args.table.display())))?;
    let (rows, columns) = table.values.dim();
    say(&format!("{}: {rows} of {n} rows, {columns} of {d} columns that vary in them", args.table.display()));
    Ok(table)
}

/// A table as it lies on the disk.
pub(crate) enum AnyTable {
    Dense(Table),
    Sparse(SparseTable),
    Groups(Groups),
}

/// A table that stays on the disk.
pub(crate) struct Groups(TableGroups);

impl RowGroups for Groups {
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

impl AnyTable {
    /// A Parquet table that would fill half of the budget stays on the disk.
    /// Rows are picked by their labels with `seed`.
    pub(crate) fn read(args: &TableArgs, budget: MemoryBudget, seed: u64) -> Result<Self, Failure> {
        if let Some(groups) = TableGroups::open(&args.table, &table_options(args))? {
            let (n, d) = groups.dim();
            if (16 * n * d) as u64 > budget.bytes() / 2 && !picks(args) {
                return Ok(Self::Groups(Groups(groups)));
            }
        }
        if !files::is_sparse_table(&args.table) {
            return Ok(Self::Dense(picked(read_table(args)?, args, seed)?));
        }
        if picks(args) {
            let here = args.table.display();
            return Err(Failure::input(format!(
                "{here}: rows are picked by label from dense tables that fit memory only"
            )));
        }
        let mut table = files::read_sparse_table(&args.table, budget)?;
        if let Some(column) = &args.label {
            table.label = table.label.filter(|label| label.name == *column);
            if table.label.is_none() {
                let here = args.table.display();
                return Err(Failure::input(format!(
                    "{here}: a sparse table has its classes in the array y; --label is label"
                )));
            }
        }
        Ok(Self::Sparse(table))
    }

    pub(crate) fn view(&self) -> TableView<'_> {
        match self {
            Self::Dense(table) => table.values.view().into(),
            Self::Sparse(table) => table.values.view().into(),
            Self::Groups(table) => TableView::Groups(table),
        }
    }

    pub(crate) fn object_names(&self) -> Option<&Vec<String>> {
        match self {
            Self::Dense(table) => table.object_names.as_ref(),
            Self::Sparse(table) => table.object_names.as_ref(),
            Self::Groups(table) => table.0.object_names.as_ref(),
        }
    }

    pub(crate) fn label(&self) -> Option<&LabelColumn> {
        match self {
            Self::Dense(table) => table.label.as_ref(),
            Self::Sparse(table) => table.label.as_ref(),
            Self::Groups(table) => table.0.label.as_ref(),
        }
    }
}

pub(crate) fn read_ensemble(path: &Path, label: Option<&String>) -> Result<LoadedEnsemble, Failure> {
    let mut options = EnsembleOptions::default();
    options.truth = label.cloned();
    Ok(files::read_ensemble(path, &options)?)
}

/// A saved model.
pub(crate) fn load_model(path: &Path) -> Result<Arc<dyn Model>, Failure> {
    partita::load_model(&read_json(path)?)
        .map_err(|error| Failure::input(format!("{}: {error}; fit it again", path.display())))
}

/// A file of JSON.
pub(crate) fn read_json(path: &Path) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("{}: this is no JSON: {error}; fit it again", path.display())))
}
