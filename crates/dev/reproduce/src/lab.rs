//! What a study measures with: data sets by name, base clusterings, consensus, CPU seconds.

use anyhow::Result;
use std::collections::BTreeSet;
use std::path::PathBuf;

use partita::extend::{Consensus, Problem, SettingMap, consense};
use partita::files::{self, Impute, LabelColumn, ReadOptions, Table};
use partita::generate::{Recipe, Scale, TableView, generate, scale};
use partita::metrics::Scores;
use partita::ndarray::{Array2, ArrayView2};
use partita::{Clusters, Ensemble, Features, MemoryBudget, Monitor, Outcome, Partition, Seed};

use partita_app::seeds;

use crate::ReproduceError;

/// A table and its true labels.
#[derive(Clone, Debug)]
pub struct Data {
    /// One row an object.
    pub values: Array2<f64>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The true labels.
    pub truth: Partition,
}

impl Data {
    /// Its rows, as a method reads them.
    pub fn features(&self) -> Features<'_> {
        Features::new(&self.columns, self.values.view())
            .expect("a table of files has a name for every column")
    }

    /// Objects.
    pub fn objects(&self) -> usize {
        self.values.nrows()
    }

    /// Every external index of `found` against the true labels.
    ///
    /// # Errors
    /// Whatever the metrics say.
    pub fn scores(&self, found: &Partition) -> Result<Scores> {
        Ok(Scores::of(found, &self.truth)?)
    }

    /// Classes.
    pub fn classes(&self) -> usize {
        classes(&self.truth)
    }
}

/// Data sets by name, base clusterings, consensus, and a clock.
pub struct Lab<'a> {
    folders: Vec<PathBuf>,
    monitor: &'a dyn Monitor,
}

impl<'a> Lab<'a> {
    /// Looks for data in the project's `datasets` and in the folder that `PARTITA_DATASETS` names.
    pub fn new(root: &std::path::Path, monitor: &'a dyn Monitor) -> Self {
        let mut folders = vec![root.join("datasets")];
        folders.extend(std::env::var_os("PARTITA_DATASETS").map(PathBuf::from));
        Self { folders, monitor }
    }

    /// Told of progress; stops on Ctrl-C. Hand it on to everything that takes long.
    pub fn monitor(&self) -> &'a dyn Monitor {
        self.monitor
    }

    /// Where a data set lies.
    ///
    /// # Errors
    /// [`ReproduceError::NoData`] if it is not on this machine.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let missing = || ReproduceError::NoData { name: name.into() };
        let set = files::data_set(name).ok_or_else(missing)?;
        let mut paths = self.folders.iter().map(|folder| folder.join(&set.file));
        Ok(paths.find(|path| path.is_file()).ok_or_else(missing)?)
    }

    /// Whether a data set is on this machine; names that are not in the catalogue are made, not read.
    pub fn has(&self, name: &str) -> bool {
        let name = catalogue_name(name);
        files::data_set(name).is_none() || self.path(name).is_ok()
    }

    /// A data set of the catalogue; gaps are filled with the mean of their column. With `-std` after its name the
    /// columns are standardised, and `-1000` before that takes its first thousand rows.
    ///
    /// # Errors
    /// [`ReproduceError::NoData`] if it is not on this machine; whatever the reader says of a bad file.
    pub fn data(&self, name: &str) -> Result<Data> {
        let (name, standardise) = name
            .strip_suffix("-std")
            .map_or((name, false), |name| (name, true));
        let (name, first) = name
            .strip_suffix("-1000")
            .map_or((name, usize::MAX), |name| (name, 1000));
        let path = self.path(name)?;
        let mut options = ReadOptions::default();
        (options.truth, options.impute) = (Some("label").into(), Some(Impute::Mean));
        let table = files::read_table(&path, &options)?;
        let Table {
            columns,
            values,
            label,
            ..
        } = table;
        let LabelColumn {
            values: mut truth, ..
        } = label.expect("asked for");
        truth.truncate(first);
        let values = values.slice_move(partita::ndarray::s![..first.min(truth.len()), ..]);
        let values = if standardise {
            standardised(values.view())
        } else {
            values
        };
        Ok(Data {
            values,
            columns,
            truth: Partition::from_values(&truth),
        })
    }

    /// Base clusterings of a table.
    ///
    /// # Errors
    /// Whatever the generator says.
    pub fn ensemble<'t>(
        &self,
        values: impl Into<TableView<'t>>,
        recipe: &Recipe,
        seed: u64,
    ) -> Result<Ensemble> {
        let unlimited = MemoryBudget::UNLIMITED;
        let made = generate(
            values.into(),
            recipe,
            Seed::new(seed),
            unlimited,
            self.monitor,
        )?;
        Ok(made.ensemble)
    }

    /// The consensus of a method by its name, with settings as `--set` takes them.
    ///
    /// # Errors
    /// [`ReproduceError::NoMethod`], or whatever the method says.
    pub fn consensus<'b>(
        &self,
        method: &str,
        ensemble: &'b Ensemble,
        features: Option<Features<'b>>,
        clusters: usize,
        seed: u64,
        settings: &[&str],
    ) -> Result<Outcome> {
        let method: &dyn Consensus = partita::method(method)?;
        let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters));
        problem.features = features;
        problem.seed = seeds::consensus(Seed::new(seed));
        problem.settings = SettingMap::parse(settings)?;
        Ok(consense(method, &problem, self.monitor)?)
    }

    /// What `work` gives, and the CPU seconds that it took in this thread: all there are, since a unit runs in one.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let start = thread_seconds();
        let result = work();
        (result, thread_seconds() - start)
    }
}

/// The name without what says how to read the set.
pub(crate) fn catalogue_name(name: &str) -> &str {
    let name = name.strip_suffix("-std").unwrap_or(name);
    name.strip_suffix("-1000").unwrap_or(name)
}

/// CPU seconds of this thread.
#[cfg(unix)]
pub(crate) fn thread_seconds() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0.0, |time| {
        time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
    })
}

/// Wall seconds since the first call, where the system does not count those of a thread.
#[cfg(not(unix))]
pub(crate) fn thread_seconds() -> f64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_secs_f64()
}

/// Columns of mean 0 and standard deviation 1; constant ones become 0.
pub fn standardised(values: ArrayView2<'_, f64>) -> Array2<f64> {
    scale(values, Scale::ZScore)
}

/// A base clustering; objects without a label are in its first cluster.
pub(crate) fn base_partition(ensemble: &Ensemble, u: usize) -> Result<Partition> {
    let labels = ensemble
        .column(u)
        .map(|label| label.map_or(0, |j| j as u32))
        .collect();
    Ok(Partition::new(labels, ensemble.bases()[u].clusters())?)
}

/// How many different true labels there are.
pub fn classes(truth: &Partition) -> usize {
    truth.labels().iter().collect::<BTreeSet<_>>().len()
}
