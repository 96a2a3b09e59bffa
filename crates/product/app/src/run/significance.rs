//! Which clusters of labels are real: labels and the table that they were made of, tested and merged.

use std::mem;
use std::path::{Path, PathBuf};

use partita::extend::option;
use partita::files::{self, LabelColumn, Labels, Table};
use partita::generate::{Scale, scale};
use partita::ndarray::{Array2, ArrayView2, Axis};
use partita::{MemoryBudget, Monitor, Outcome, Partition, Seed, SoftPartition};
use partita_significance::{GapTest, GapTestSettings, SignificanceError, Split, Verdict, gap_test};
use serde_json::{Value, json};

use crate::analysis::evaluation::file_and_column;
use crate::error::AppError;
use crate::experiment::description::TableInput;
use crate::experiment::file_names::RECORD;
use crate::input::input_notes::say_roles;
use crate::input::label_files::read_labels;
use crate::input::matching::{codes, match_objects, numbered};
use crate::input::table::InputTable;
use crate::observer::{NoObserver, Observer};
use crate::run::folder::RunFolder;
use crate::text_files::write_text;
use crate::text_table::TextTable;
use crate::version::VERSION;

/// Labels and the table that they were made of.
#[derive(Clone, Debug, Default)]
pub struct ClusterTestInput {
    /// The labels: a file, or a file and a column as `FILE:COLUMN`; the folder of a run; without a table, a table that has them.
    pub labels: PathBuf,
    /// The table, where it is another file, and how it is read. Of a run it is the run's; without one, the labels are a column of a table
    /// that is read so.
    pub table: TableInput,
    /// How its columns are scaled; as the run did, or by evidence, if not given.
    pub scale: Option<Scale>,
    /// Only rows that have a label count as labelled; without it every row must be in the file of labels.
    pub common: bool,
    /// What can be chosen of the test.
    pub settings: GapTestSettings,
    /// Where random numbers start.
    pub seed: Seed,
    /// Memory that may be held.
    pub budget: MemoryBudget,
}

/// What was found of the clusters of labels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestedClusters {
    /// The test, clusters by numbers.
    pub test: GapTest,
    /// What the clusters are called.
    pub names: Vec<String>,
    /// Names of the objects, where there are some.
    pub object_names: Option<Vec<String>>,
    input: (PathBuf, PathBuf),
    seed: Seed,
}

/// A table with the labels of its rows.
struct LabelledTable {
    path: PathBuf,
    table: Table,
    labels: LabelColumn,
    scale: Scale,
}

impl ClusterTestInput {
    /// Reads table and labels, and tests.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read or whose objects cannot be matched, what cannot be tested, or a stop.
    ///
    /// # Cost
    /// That of reading, and of [`gap_test`].
    pub fn test(&self, observer: &dyn Observer) -> Result<TestedClusters, AppError> {
        let labelled = self.read(observer)?;
        self.tested(labelled, observer)
    }

    /// The same of a table and labels that a program holds, which messages call by the names of the files.
    ///
    /// # Errors
    /// As [`test`](Self::test).
    pub fn test_held(
        &self,
        table: Table,
        labels: Labels,
        observer: &dyn Observer,
    ) -> Result<TestedClusters, AppError> {
        let scale = self.scale.unwrap_or(Scale::Auto);
        let labels = (self.labels.as_path(), labels);
        let table = (self.table.file.as_path(), table);
        self.tested(self.matched(labels, table, scale, observer)?, observer)
    }

    fn tested(
        &self,
        labelled: LabelledTable,
        observer: &dyn Observer,
    ) -> Result<TestedClusters, AppError> {
        let LabelledTable {
            path,
            mut table,
            labels,
            scale,
        } = labelled;
        for (row, column) in mem::take(&mut table.gaps) {
            table.values[[row as usize, column as usize]] = f64::NAN;
        }
        scale_complete_rows(&mut table.values, scale);
        let names = distinct(&labels);
        let codes: Vec<Option<u32>> = codes(&labels)
            .0
            .into_iter()
            .map(|code| code.map(|code| code as u32))
            .collect();
        let monitor = observer.begin("testing clusters");
        let test = gap_test(
            table.values.view(),
            &codes,
            self.seed,
            &self.settings,
            self.budget,
            &*monitor,
        );
        drop(monitor);
        let test = test.map_err(|error| of_test(&path, error))?;
        test.warnings()
            .iter()
            .for_each(|warning| observer.warn(warning));
        Ok(TestedClusters {
            test,
            names,
            object_names: table.object_names,
            input: (self.labels.clone(), path),
            seed: self.seed,
        })
    }

    fn read(&self, observer: &dyn Observer) -> Result<LabelledTable, AppError> {
        let (file, column) = file_and_column(&self.labels);
        if file.join(RECORD).is_file() {
            return self.of_run(&RunFolder::open(&file)?, observer);
        }
        let mut input = self.table.clone();
        let scale = self.scale.unwrap_or(Scale::Auto);
        if input.file.as_os_str().is_empty() {
            input.file.clone_from(&file);
            if column.is_some() {
                input.read.truth = column.into();
            }
            let mut table = self.read_table(&input, self.seed, observer)?;
            let labels = table.label.take().ok_or_else(|| no_labels(&file))?;
            return Ok(LabelledTable {
                path: file,
                table,
                labels,
                scale,
            });
        }
        let mut options = self.table.read.clone();
        options.truth = column.into();
        let labels = read_labels(&file, &options, observer)?;
        let table = self.read_table(&input, self.seed, observer)?;
        self.matched((&file, labels), (&input.file, table), scale, observer)
    }

    /// The labels of a run with its table, or with that which is given.
    fn of_run(&self, run: &RunFolder, observer: &dyn Observer) -> Result<LabelledTable, AppError> {
        let (path, labels) = run.labels()?;
        let mut scale = self.scale;
        let input = if self.table.file.as_os_str().is_empty() {
            let (table, of_run) = run.table_input()?;
            scale = scale.or(of_run);
            table
        } else {
            self.table.clone()
        };
        let table = self.read_table(&input, run.seed(), observer)?;
        let scale = scale.unwrap_or(Scale::Auto);
        self.matched((&path, labels), (&input.file, table), scale, observer)
    }

    /// The labels in the order of the table's rows.
    fn matched(
        &self,
        (label_file, labels): (&Path, Labels),
        (path, table): (&Path, Table),
        scale: Scale,
        observer: &dyn Observer,
    ) -> Result<LabelledTable, AppError> {
        let n = table.values.nrows();
        let rows = numbered(table.object_names.clone(), (0..n).map(Some));
        let matched = match_objects((path, rows), (label_file, labels), self.common)?;
        matched.note.iter().for_each(|note| observer.note(note));
        let mut values = vec![None; n];
        let places = matched.labels.values.into_iter().flatten();
        for (place, label) in places.zip(matched.truth.values) {
            if let Some(value) = place
                .parse()
                .ok()
                .and_then(|row: usize| values.get_mut(row))
            {
                *value = label;
            }
        }
        let labels = LabelColumn {
            name: matched.truth.name,
            values,
        };
        Ok(LabelledTable {
            path: path.to_owned(),
            table,
            labels,
            scale,
        })
    }

    /// A table whose missing values stay missing, unless means in their place are asked for.
    fn read_table(
        &self,
        input: &TableInput,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Table, AppError> {
        let (table, mut roles) = InputTable::load_dense(input, self.budget, seed, &NoObserver)?;
        roles.filled = 0;
        say_roles(&input.file, &roles, observer);
        match table {
            InputTable::Dense(table) => Ok(table),
            _ => Err(AppError::content(
                &input.file,
                "clusters are tested on columns of numbers, not on distances; give the table that the distances are of",
            )),
        }
    }
}

/// Scales the rows without a missing value; others stay as they are.
pub(crate) fn scale_complete_rows(values: &mut Array2<f64>, how: Scale) {
    let complete = |row: usize| values.row(row).iter().all(|value| !value.is_nan());
    let rows: Vec<usize> = (0..values.nrows()).filter(|&row| complete(row)).collect();
    if rows.len() == values.nrows() {
        *values = scale(values.view(), how);
        return;
    }
    let scaled = scale(values.select(Axis(0), &rows).view(), how);
    for (row, scaled) in rows.into_iter().zip(scaled.outer_iter()) {
        values.row_mut(row).assign(&scaled);
    }
}

/// Merges the clusters of an outcome between which no gap is seen on a scaled table; what was found, in words.
pub(crate) fn merge_clusters(
    outcome: &mut Outcome,
    table: ArrayView2<'_, f64>,
    (seed, budget): (Seed, MemoryBudget),
    monitor: &dyn Monitor,
) -> Result<String, SignificanceError> {
    let labels: Vec<Option<u32>> = outcome
        .partition
        .labels()
        .iter()
        .copied()
        .map(Some)
        .collect();
    let mut settings = GapTestSettings::default();
    settings.merge_small = true;
    let test = match gap_test(table, &labels, seed, &settings, budget, monitor) {
        Err(SignificanceError::OneCluster { .. }) => {
            return Ok("1 cluster, of which nothing is tested".into());
        }
        other => other?,
    };
    let merged = test.merged.len();
    let mut of_label = vec![0; outcome.partition.clusters()];
    for cluster in &test.clusters {
        of_label[cluster.label as usize] = cluster.merged;
    }
    let hard = |labels: &[u32]| {
        labels
            .iter()
            .map(|&label| of_label[label as usize] as u32)
            .collect()
    };
    outcome.partition =
        Partition::new(hard(outcome.partition.labels()), merged).expect("a place of every cluster");
    if let Some(soft) = outcome.soft.take() {
        let mut shares = Array2::zeros((soft.objects(), merged));
        for (from, &to) in soft.rows().columns().into_iter().zip(&of_label) {
            let mut into = shares.column_mut(to);
            into += &from;
        }
        let soft = SoftPartition::new(shares).expect("shares of fewer clusters");
        outcome.partition = soft.hard();
        outcome.soft = Some(soft);
    }
    (outcome.names, outcome.posterior, outcome.model) = (None, None, None);
    outcome.warnings.extend(test.warnings());
    outcome
        .details
        .insert("tested_clusters".into(), test.clusters.len().into());
    Ok(test.sentence())
}

/// The labels that there are, in the order of their codes.
fn distinct(labels: &LabelColumn) -> Vec<String> {
    let mut names: Vec<String> = labels.values.iter().flatten().cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn no_labels(file: &Path) -> AppError {
    let reason = format!(
        "has no column of labels called 'label'; name it as FILE:COLUMN, or give the table of these labels ({})",
        option("table").called("X")
    );
    AppError::content(file, reason)
}

pub(crate) fn of_test(path: &Path, error: SignificanceError) -> AppError {
    match error {
        SignificanceError::Interrupted => AppError::nothing_finished(),
        SignificanceError::Setting { .. } => AppError::request(error.to_string()),
        other => AppError::content(path, other.to_string()),
    }
}

impl TestedClusters {
    /// What a cluster that is left is called: by the labels that it is made of.
    pub fn name(&self, merged: usize) -> String {
        let parts = self.test.merged[merged].clusters.iter();
        let names: Vec<&str> = parts
            .map(|&cluster| self.names[self.test.clusters[cluster].label as usize].as_str())
            .collect();
        match &names[..] {
            [first, second, third, _, _, ..] => {
                format!("{first}+{second}+{third}+… ({})", names.len())
            }
            few => few.join("+"),
        }
    }

    /// The tree over the clusters in Newick's format, nodes by their p-values.
    pub fn newick(&self) -> String {
        self.test.newick(|label| self.names[label as usize].clone())
    }

    /// Writes the merged labels of all objects.
    ///
    /// # Errors
    /// [`AppError::File`] for what cannot be written.
    pub fn write_labels(&self, path: &Path) -> Result<(), AppError> {
        let labels: Vec<u32> = self
            .test
            .labels
            .iter()
            .map(|label| label.unwrap_or(files::NO_LABEL))
            .collect();
        let names: Vec<String> = (0..self.test.merged.len())
            .map(|merged| self.name(merged))
            .collect();
        let classes: Vec<&str> = self
            .test
            .labels
            .iter()
            .map(|label| label.map_or("", |label| names[label as usize].as_str()))
            .collect();
        let objects = self.object_names.as_deref();
        Ok(files::write_named_labels(
            path,
            objects,
            &labels,
            Some(&classes),
            &[],
        )?)
    }

    /// Writes the tree.
    ///
    /// # Errors
    /// [`AppError::Io`] for what cannot be written.
    pub fn write_tree(&self, path: &Path) -> Result<(), AppError> {
        write_text(path, &format!("{}\n", self.newick()))
    }

    /// All that was found as JSON.
    pub fn to_json(&self) -> Value {
        let test = &self.test;
        let clusters = test.clusters.iter().map(|cluster| {
            json!({
                "name": self.names[cluster.label as usize],
                "rows": cluster.rows,
                "merged": cluster.merged,
                "verdict": cluster.verdict,
            })
        });
        let merged = test.merged.iter().enumerate().map(|(at, merged)| {
            json!({
                "name": self.name(at),
                "rows": merged.rows,
                "clusters": merged.clusters,
                "verdict": merged.verdict,
            })
        });
        json!({
            "labels": self.input.0,
            "table": self.input.1,
            "n": test.labels.len(),
            "clusters": clusters.collect::<Vec<_>>(),
            "merged": merged.collect::<Vec<_>>(),
            "splits": test.splits,
            "nodes": test.nodes,
            "newick": self.newick(),
            "sentence": test.sentence(),
            "warnings": test.warnings(),
            "tests": test.tests,
            "rows_with_missing_values": test.incomplete_rows,
            "rows_without_label": test.unlabelled_rows,
            "settings": test.settings,
            "seed": self.seed.number(),
            "version": VERSION,
        })
    }

    /// What was found, for people.
    pub fn to_text(&self) -> String {
        let mut clusters = TextTable::new(["cluster", "rows", "verdict"]);
        for (at, merged) in self.test.merged.iter().enumerate() {
            clusters.row([
                self.name(at),
                merged.rows.to_string(),
                merged.verdict.words().into(),
            ]);
        }
        let mut text = clusters.render();
        if !self.test.nodes.is_empty() {
            text = format!("{text}\n{}", self.comparisons().render());
        }
        format!("{text}\n{}\n", self.test.sentence())
    }

    /// Merges in their order, then the splits that are left.
    fn comparisons(&self) -> TextTable {
        let mut table = TextTable::new(["between", "p", "Holm", "emptier", "verdict"]);
        let mut names: Vec<String> = self
            .test
            .clusters
            .iter()
            .map(|cluster| self.names[cluster.label as usize].clone())
            .collect();
        let merges = self.test.nodes.iter();
        for node in merges.filter(|node| node.verdict == Verdict::NoGapSeen) {
            let [one, other] = [node.left, node.right].map(|child| names[child].clone());
            let between = format!("{one} | {other}");
            table.row([
                between,
                p_text(node.p),
                String::new(),
                String::new(),
                "no gap seen: merged".into(),
            ]);
            names.push(format!("{one}+{other}"));
        }
        let mut splits: Vec<&Split> = self.test.splits.iter().collect();
        splits.sort_by(|one, other| other.test.p.total_cmp(&one.test.p));
        for split in splits {
            let gap = split.test.gap.map(|gap| {
                format!(
                    "{:.0} % ({:.0} to {:.0})",
                    100.0 * gap.emptier,
                    100.0 * gap.low,
                    100.0 * gap.high
                )
            });
            table.row([
                format!("{} | {}", self.name(split.first), self.name(split.second)),
                p_text(split.test.p),
                split.adjusted_p.map_or_else(String::new, p_text),
                gap.unwrap_or_default(),
                split.verdict.words().into(),
            ]);
        }
        table
    }
}

/// A p-value in few characters.
fn p_text(p: f64) -> String {
    if p < 0.001 {
        format!("{p:.0e}")
    } else {
        format!("{p:.3}")
    }
}
