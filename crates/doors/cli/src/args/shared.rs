//! Flags that several commands share: outputs, threads, memory, seed, weights.

use std::path::{Path, PathBuf};

use clap::Args;
use partita::MemoryBudget;
use partita_app::{ObjectWeightSource, PageOptions, WeightSource, default_budget, limit_memory};

use super::table::{ColumnList, columns, parse_columns};
use super::values::parse_memory;

/// What every command takes that writes files and can answer in JSON.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Replace outputs that exist. Or write into a folder that holds something already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object on stdout, in place of all else. It says what was found or done.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadArgs {
    /// Threads to use; all cores if not given or 0. The result does not depend on it.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Memory that may be held at once, such as 500MiB or 4GiB; three quarters of the machine's if not given.
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub(crate) max_memory: Option<MemoryBudget>,
}

impl MachineArgs {
    /// What may be held at once, by everything that this process reads and computes.
    pub(crate) fn budget(&self) -> MemoryBudget {
        if let Some(asked) = self.max_memory {
            limit_memory(asked);
        }
        default_budget()
    }
}

/// What every computing command takes.
#[derive(Debug, Args)]
pub(crate) struct ComputeArgs {
    /// Where all random numbers start. The same seed gives the same bytes. [default: 0, or that of an ensemble given as --recipe]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// What reports are called, and what they say besides.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct PageArgs {
    /// The title of the report. [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Names of the clusters in the report, in the order of their numbers: 'young,old,rest'. Names with commas stand in quotes.
    #[arg(long, value_name = "NAME,…", value_parser = parse_columns)]
    pub(crate) names: Option<ColumnList>,
    /// Columns that the report compares between clusters but that are left out of the clustering, named as with --skip.
    #[arg(long, value_name = "COLUMN,…", value_parser = parse_columns)]
    pub(crate) describe: Vec<ColumnList>,
}

impl PageArgs {
    /// What reports show.
    pub(crate) fn options(&self) -> PageOptions {
        PageOptions {
            title: self.title.clone(),
            names: self.names.clone().unwrap_or_default().0,
            describe: columns(&self.describe),
        }
    }
}

/// What base clusterings and objects count.
#[derive(Debug, Args)]
pub(crate) struct WeightArgs {
    /// Weights of the base clusterings, for methods that take them: `agreement` (its mean NMI with the others)
    /// or a CSV with the columns name and weight. One of weight 0 is left out.
    #[arg(long, value_name = "agreement|FILE.csv")]
    pub(crate) base_weights: Option<PathBuf>,
    /// Weights of the objects, for methods that take them: a column of the ensemble's file, which is then not a base clustering, or a
    /// file with the column weight (and one of names where the objects have names). A weight of 2 is two objects; one of 0 has no part
    /// in what is found, and is labelled all the same.
    #[arg(long, value_name = "COLUMN|FILE")]
    pub(crate) object_weights: Option<PathBuf>,
}

impl WeightArgs {
    pub(crate) fn of_bases(&self) -> Option<WeightSource> {
        weight_source(self.base_weights.as_deref())
    }

    /// A file where one is called so, else a column.
    pub(crate) fn of_objects(&self) -> Option<ObjectWeightSource> {
        let given = self.object_weights.as_ref()?;
        Some(match given.to_str() {
            Some(column) if !given.is_file() => ObjectWeightSource::Column(column.to_owned()),
            _ => ObjectWeightSource::File(given.clone()),
        })
    }
}

/// Where weights of base clusterings come from.
pub(crate) fn weight_source(given: Option<&Path>) -> Option<WeightSource> {
    given.map(|given| match given.to_str() {
        Some("agreement") => WeightSource::Agreement,
        _ => WeightSource::File(given.to_owned()),
    })
}
