//! Consensus of label rows that stay on the disk and are read block by block.

use std::path::PathBuf;

use partita::files::{LabelFormat, LabelGroups, ManifestRows};
use partita::{
    Consensus, MemoryBudget, MethodInfo, PassRunner, RowBlocks, RowOutcome, RowProblem, SettingMap,
    Silent, are_read_by_blocks,
};
use partita_app::{
    AppError, ClustersAsked, LABEL_NUMBERS, RECORD, REPORT, ReportRows, RowRun, Stopwatch,
    base_weights_of_rows, consense_rows_with_confidence, say_roles, seeds, with_origin, write_json,
    write_text,
};
use tracing::debug_span;

use crate::args::{ConsensusArgs, StreamFormat};
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{PushLabels, is_folder, print_json, say, warn, write_blocks};
use crate::streams::is_stream;
use crate::terminal::{Progress, Terminal, unless_interrupted};

/// Label rows on the disk, where there are so many that the method reads them block by block. Whether it does depends on
/// the size of the ensemble alone; rows in memory are then read in the same blocks, with the same labels.
///
/// # Errors
/// If they were asked to stay on the disk and cannot.
pub(super) fn rows_of(
    args: &ConsensusArgs,
    method: &dyn Consensus,
    compute: &Compute,
) -> Result<Option<RowSource>, Failure> {
    let manifest = ManifestRows::is_manifest(&args.ensemble);
    let refuse = |why: String| {
        if args.stream || manifest {
            Err(Failure::input(why))
        } else {
            Ok(None)
        }
    };
    let info = method.info();
    if args.weights.object_weights.is_some() {
        return Ok(None);
    }
    if !args.more.is_empty() {
        return refuse(
            "several files are joined in memory; name one with --stream or a manifest".into(),
        );
    }
    if !info.capabilities.streams {
        let others = partita::METHODS.iter().map(|method| method.info());
        let others: Vec<&str> = others
            .filter(|info| info.capabilities.streams)
            .map(|info| info.name)
            .collect();
        return refuse(format!(
            "{} holds all label rows; --stream and manifests go with {}",
            info.name,
            others.join(", ")
        ));
    }
    if let ClustersAsked::Chosen { .. } = args.asked_clusters()? {
        return refuse(
            "the choice of K looks at label rows in memory; with --stream or a manifest name a number with -k".into(),
        );
    }
    if manifest {
        return rows_of_manifest(args, method, compute).map(Some);
    }
    let Some(groups) = LabelGroups::open(&args.ensemble, &args.read.options(compute.budget))?
    else {
        let here = args.ensemble.display();
        return refuse(format!(
            "{here}: only numbers in Parquet, Arrow or NPY are read in groups; leave out --stream"
        ));
    };
    let named = groups.roles().objects().is_some();
    if let Some(what) = wants_memory(args, info, named) {
        return refuse(format!(
            "{}: {what}; leave out --stream",
            args.ensemble.display()
        ));
    }
    let large = are_read_by_blocks(groups.objects() as u64, groups.bases().len() as u64);
    Ok(large.then_some(RowSource::Groups(groups)))
}

/// The rows of a manifest, which are read block by block however few they are.
fn rows_of_manifest(
    args: &ConsensusArgs,
    method: &dyn Consensus,
    compute: &Compute,
) -> Result<RowSource, Failure> {
    if let Some(what) = wants_memory(args, method.info(), false) {
        return Err(Failure::input(format!(
            "{}: {what}; a manifest is read block by block",
            args.ensemble.display()
        )));
    }
    let rows = ManifestRows::open(&args.ensemble, compute.budget)?;
    rows.open_files()?;
    Ok(RowSource::Manifest(rows))
}

/// Label rows on the disk.
pub(super) enum RowSource {
    Groups(LabelGroups),
    Manifest(ManifestRows),
}

impl RowSource {
    fn blocks(&self) -> &dyn RowBlocks {
        match self {
            Self::Groups(groups) => groups,
            Self::Manifest(rows) => rows,
        }
    }

    fn hold(&self, bytes: u64) {
        match self {
            Self::Groups(groups) => groups.hold(bytes),
            Self::Manifest(rows) => rows.hold(bytes),
        }
    }

    fn transient(&self) -> u64 {
        match self {
            Self::Groups(groups) => groups.transient(),
            Self::Manifest(rows) => rows.transient(),
        }
    }
}

/// What cannot be had without holding something of every object.
fn wants_memory(args: &ConsensusArgs, info: &MethodInfo, named: bool) -> Option<&'static str> {
    let model = args.model.is_some() && !info.capabilities.predicts;
    let wanted = [
        (
            !comes_in_blocks(args),
            "JSON, and what is not text on stdout, are not written block by block",
        ),
        (
            args.soft.is_some(),
            "--soft holds the probabilities of all objects",
        ),
        (
            args.relations.is_some(),
            "--relations holds the probabilities of all objects",
        ),
        (
            args.draws.is_some() || args.similarity.is_some(),
            "--draws and --similarity hold labels of all objects",
        ),
        (args.tree.is_some(), "--tree holds all objects"),
        (model, "--model learns from the labels of all objects"),
        (named, "the names of all objects are held"),
    ];
    wanted
        .iter()
        .find(|(wanted, _)| *wanted)
        .map(|(_, what)| *what)
}

/// Whether labels are written as they come: text anywhere, NPY and Parquet to files.
fn comes_in_blocks(args: &ConsensusArgs) -> bool {
    let format = args.read.read.file.format;
    let Some(path) = args.output.as_deref().filter(|path| !is_stream(path)) else {
        return !format.is_some_and(StreamFormat::is_output);
    };
    is_folder(path) || LabelFormat::of(path).is_ok_and(|format| format != LabelFormat::Json)
}

/// Finds the consensus and writes labels and model.
pub(super) fn consensus(
    args: &ConsensusArgs,
    method: &dyn Consensus,
    rows: &RowSource,
    compute: &Compute,
) -> Result<(), Failure> {
    let stopwatch = Stopwatch::start();
    let folder = args.output.as_deref().filter(|path| is_folder(path));
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, "be made", error))?;
    }
    let labels = folder.map(|folder| folder.join("labels.csv"));
    let labels = labels
        .or_else(|| args.output.clone())
        .filter(|path| !is_stream(path));
    let pages: Vec<PathBuf> = folder
        .filter(|_| !args.no_report)
        .map(|folder| folder.join(REPORT))
        .into_iter()
        .chain(args.report.clone())
        .collect();
    let mut shown = (!pages.is_empty()).then(|| ReportRows::new(rows.blocks(), compute.seed));
    let (found, confidence) = write_blocks(
        (labels.as_deref(), rows.blocks().rows()),
        &LABEL_NUMBERS,
        args.out.json,
        |push| run(args, method, rows, compute, shown.as_mut(), push),
    )?;
    if let (Some(path), Some(model)) = (&args.model, &found.model) {
        write_json(
            path,
            &with_origin(model.to_json(), &args.method, rows.blocks().rows() as usize),
        )?;
    }
    let (name, seed, spent) = (
        args.method.as_str(),
        compute.seed.number(),
        stopwatch.read(),
    );
    let record = RowRun {
        method: name,
        seed,
        found: &found,
        confidence,
        rows: rows.blocks(),
        spent,
    }
    .record();
    if let Some(folder) = folder {
        write_json(&folder.join(RECORD), &record)?;
        say("note: probabilities are for label rows that are held in memory; there is no soft.csv");
    }
    if let Some(shown) = shown {
        let data = args
            .ensemble
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let page = shown.page(
            format!("{data} by {name}"),
            record.clone(),
            method,
            rows.blocks(),
        )?;
        pages
            .iter()
            .try_for_each(|path| write_text(path, &page.html))?;
    }
    found
        .warnings
        .iter()
        .for_each(|warning| warn(&format!("{name}: {warning}")));
    say(&format!(
        "{name}: {} clusters; {} after {} rounds",
        record["clusters"], found.stopped, found.rounds
    ));
    if args.out.json {
        print_json(&record)?;
    }
    unless_interrupted(|| "what was written is the best so far".into())
}

fn run(
    args: &ConsensusArgs,
    method: &dyn Consensus,
    rows: &RowSource,
    compute: &Compute,
    shown: Option<&mut ReportRows>,
    push: &mut PushLabels<'_>,
) -> Result<(RowOutcome, f64), Failure> {
    let blocks = rows.blocks();
    let passes = PassRunner::new(blocks, &Silent);
    let weights = args
        .weights
        .of_bases()
        .map(|source| base_weights_of_rows(&source, &passes, compute.budget))
        .transpose()?;
    let mut problem = RowProblem::new(blocks, args.asked_clusters()?.clusters());
    (problem.seed, problem.budget, problem.soft) =
        (seeds::consensus(compute.seed), compute.budget, false);
    problem.weights = weights.as_ref();
    problem.settings = SettingMap::parse(&args.set)?;
    let wrong = |source| AppError::Consensus {
        input: args.ensemble.clone(),
        source,
    };
    problem.check(method).map_err(wrong)?;
    let size = problem.size();
    let of_report = if shown.is_some() {
        ReportRows::bytes(size.base_clusterings, size.clusters.min(size.base_clusters))
    } else {
        0
    };
    let needed = method
        .row_bytes(&problem.settings, &size)
        .unwrap_or(u64::MAX)
        .saturating_add(of_report);
    compute.budget.check(
        &args.method,
        needed,
        "raise --max-memory or leave the report out",
    )?;
    if !args.stream {
        rows.hold(room(needed, compute.budget, rows));
    }
    if let RowSource::Groups(groups) = rows {
        say_roles(&args.ensemble, groups.roles(), &Terminal);
    }
    let here = args.ensemble.display();
    say(&format!(
        "{here}: {} label rows are read in {} groups",
        blocks.rows(),
        blocks.groups()
    ));
    let progress = Progress::new(args.method.clone());
    let mut total = 0.0;
    let found = consense_rows_with_confidence(
        method,
        &problem,
        &progress,
        shown,
        &mut |first, block, confidence| {
            total += confidence.iter().sum::<f64>();
            debug_span!("write")
                .in_scope(|| push(first, &block.labels, &[&block.certainty, &confidence]))
        },
    );
    Ok((found.map_err(wrong)?, total / blocks.rows().max(1) as f64))
}

/// Label rows that are held after they were read first, at most: beyond it, reading again is little beside the rest.
const MOST_HELD: u64 = 1 << 30;

/// Half of what the budget leaves beside the method and the readers.
fn room(needed: u64, budget: MemoryBudget, rows: &RowSource) -> u64 {
    let left = budget
        .bytes()
        .saturating_sub(needed)
        .saturating_sub(rows.transient());
    (left / 2).min(MOST_HELD)
}
