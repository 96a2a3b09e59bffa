//! Consensus of label rows that stay on the disk.

use std::io::{self, BufWriter, Write};

use partita::files::{EnsembleOptions, LabelGroups, label_lines, write_whole};
use partita::mixture::{LabelSource, Streamed, StreamedLabels, stream_mm, stream_vb};
use partita::ndarray::Array2;
use partita::{BaseClustering, Clusters, Consensus, ConsensusError, Model, ProblemSize, SettingMap};
use partita_app::{AppError, Stopwatch, VERSION, methods, seeds, write_json};
use serde_json::{Value, json};

use crate::args::ConsensusArgs;
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{self, print_json, say};
use crate::terminal::{Progress, unless_interrupted};

struct Source(LabelGroups);

impl LabelSource for Source {
    fn bases(&self) -> &[BaseClustering] {
        self.0.bases()
    }

    fn groups(&self) -> usize {
        self.0.groups()
    }

    fn rows(&self, group: usize) -> usize {
        self.0.rows(group)
    }

    fn read(&self, group: usize) -> Result<Array2<u16>, String> {
        self.0.read(group).map_err(|error| error.to_string())
    }
}

/// Label rows on the disk, where the method can read them there and they were asked to stay or do not fit.
pub(super) struct Rows(Source);

impl Rows {
    /// # Errors
    /// If they were asked to stay and cannot.
    pub(super) fn of(args: &ConsensusArgs, method: &dyn Consensus, compute: &Compute) -> Result<Option<Self>, Failure> {
        let info = method.info();
        let refuse = |why: String| if args.stream { Err(Failure::input(why)) } else { Ok(None) };
        if !info.capabilities.streams {
            let others = methods::all().map(Consensus::info).filter(|info| info.capabilities.streams);
            let others: Vec<&str> = others.map(|info| info.name).collect();
            let (name, others) = (info.name, others.join(", "));
            return refuse(format!("{name} needs all label rows at once; --stream goes with {others}"));
        }
        if args.ensemble.extension().is_none_or(|extension| extension != "parquet") {
            return refuse(format!("{}: only Parquet files are read group by group", args.ensemble.display()));
        }
        let mut options = EnsembleOptions::default();
        options.truth.clone_from(&args.label);
        let Some(groups) = LabelGroups::open(&args.ensemble, &options)? else { return Ok(None) };
        let (objects, bases) = (groups.objects(), groups.bases());
        let size = ProblemSize::of_bases(objects, bases, args.clusters);
        let wrong = |source| ConsensusError::Settings { method: info.name, source };
        let bytes = method.bytes(&SettingMap::parse(&args.set)?, &size).map_err(wrong)?;
        let bytes = bytes.saturating_add(2 * (objects * bases.len()) as u64);
        Ok((args.stream || bytes > compute.budget.bytes()).then_some(Self(Source(groups))))
    }
}

/// Finds the consensus and writes labels and model.
pub(super) fn consensus(args: &ConsensusArgs, rows: &Rows, compute: &Compute) -> Result<(), Failure> {
    let here = args.ensemble.display();
    let left_out = [
        ("--soft", args.soft.is_some()),
        ("--relations", args.relations.is_some()),
        ("--base-weights", args.base_weights.is_some()),
    ];
    if let Some((flag, _)) = left_out.iter().find(|(_, given)| *given) {
        return Err(Failure::input(format!(
            "{here}: is read in groups of rows; leave {flag} out, or give more --max-memory"
        )));
    }
    say(&format!("{here}: {} label rows are read in {} groups, once a round", rows.0.0.objects(), rows.0.groups()));
    let stopwatch = Stopwatch::start();
    let mut streamed = Err(Failure::input("nothing was read"));
    let mut fit = |out: &mut dyn Write| {
        let mut out = BufWriter::new(out);
        writeln!(out, "object,label,certainty")?;
        streamed = run(args, rows, compute, &mut |labels| {
            let StreamedLabels { first, labels, certainty, .. } = labels;
            label_lines(&mut out, first, &labels, &certainty).map_err(|error| error.to_string())
        });
        // A fit that failed leaves no file.
        streamed.as_ref().map_err(|_| io::Error::other("no consensus"))?;
        out.flush()
    };
    let written = match &args.output {
        Some(path) => write_whole(path, fit).map_err(Failure::from),
        None if args.json => fit(&mut io::sink()).map_err(output::failed),
        None => fit(&mut io::stdout().lock()).map_err(output::failed),
    };
    let streamed = streamed?;
    written?;
    if let Some(path) = &args.model {
        write_json(path, &streamed.model.to_json())?;
    }
    if args.json {
        print_json(&record(args, rows, compute, &streamed, &stopwatch))?;
    }
    unless_interrupted(|| "what was written is the best so far".into())
}

fn run(
    args: &ConsensusArgs,
    rows: &Rows,
    compute: &Compute,
    sink: &mut dyn FnMut(StreamedLabels) -> Result<(), String>,
) -> Result<Streamed, Failure> {
    let largest = rows.0.bases().iter().map(BaseClustering::clusters).max().unwrap_or(1);
    let clusters = match args.clusters {
        Clusters::Exactly(clusters) => clusters,
        // As the methods have it for rows in memory.
        Clusters::Auto if args.method == "mm" => return Err(ConsensusError::Auto { method: "mm" }.into()),
        Clusters::Auto => (2 * largest).max(2),
    };
    let (pairs, progress) = (SettingMap::parse(&args.set)?, Progress::new(args.method.clone()));
    let (seed, budget) = (seeds::consensus(compute.seed), compute.budget);
    let streamed = if args.method == "mm" {
        stream_mm(&rows.0, clusters, seed, &pairs.apply()?, budget, &progress, sink)
    } else {
        stream_vb(&rows.0, clusters, seed, &pairs.apply()?, budget, &progress, sink)
    };
    Ok(streamed.map_err(|error| AppError::content(&args.ensemble, error.to_string()))?)
}

fn record(args: &ConsensusArgs, rows: &Rows, compute: &Compute, streamed: &Streamed, stopwatch: &Stopwatch) -> Value {
    let spent = stopwatch.read();
    json!({
        "method": args.method,
        "settings": streamed.settings,
        "seed": compute.seed.number(),
        "objective": streamed.objective.value,
        "objective_name": streamed.objective.name,
        "rounds": streamed.rounds,
        "stopped": streamed.stopped,
        "clusters": streamed.sizes.iter().filter(|size| **size > 0).count(),
        "sizes": streamed.sizes,
        "seconds": spent.seconds,
        "cpu_seconds": spent.cpu_seconds,
        "peak_bytes": spent.peak_bytes,
        "n": rows.0.0.objects(),
        "base_clusterings": rows.0.bases().len(),
        "row_groups": rows.0.groups(),
        "version": VERSION,
        "details": streamed.details,
    })
}
