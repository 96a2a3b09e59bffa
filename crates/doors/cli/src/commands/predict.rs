//! `partita predict`: labels for new objects.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use partita::files::{self, LabelFormat, ManifestRows};
use partita_app::{PredictionInput, PushLabels, default_budget, write_label_rows};
use partita_distributed::Stage;
use serde_json::json;

use super::parts::next;
use crate::args::{PredictArgs, StreamFormat};
use crate::failure::Failure;
use crate::output::{check_outputs, print, print_json, print_labels, say};
use crate::streams::is_stream;
use crate::terminal::Terminal;

pub(crate) fn predict(args: &PredictArgs) -> Result<(), Failure> {
    let output = args.output.as_ref().filter(|path| !is_stream(path));
    output.map(|path| LabelFormat::of(path)).transpose()?;
    let outputs = output.into_iter().chain(&args.soft);
    check_outputs(outputs, [&args.model, &args.input], args.out.force)?;
    let request = PredictionInput {
        model: args.model.clone(),
        input: args.input.clone(),
        read: args.read.options(default_budget()),
        unknown: args.unknown,
    };
    if let Some(folder) = &args.tasks {
        return predict_by_tasks(args, folder, &request);
    }
    if request.reads_blocks() {
        return predict_rows(args, output.map(PathBuf::as_path), &request);
    }
    let found = request.predict(&Terminal)?;
    let names = found.object_names.as_deref();
    let numbers = [("probability", &found.probability[..])];
    let write = || -> Result<(), Failure> {
        if let Some(path) = output {
            files::write_labels(path, names, found.partition.labels(), &numbers)?;
        }
        if let Some(path) = &args.soft {
            files::write_soft(path, names, found.soft.rows())?;
        }
        Ok(())
    };
    files::write_as_one(|| Ok(()), write)?;
    match output {
        _ if args.out.json => print(&request.to_json(&found)?),
        Some(_) => Ok(()),
        None => print_labels(
            names,
            (&found.partition, None),
            &numbers,
            args.read.file.format,
        ),
    }
}

/// Labels rows that stay on the disk.
fn predict_rows(
    args: &PredictArgs,
    output: Option<&Path>,
    request: &PredictionInput,
) -> Result<(), Failure> {
    let here = args.input.display();
    if args.soft.is_some() {
        let reason = "--soft holds the probabilities of all objects, and a manifest is read block by block; leave it out";
        return Err(Failure::input(format!("{here}: {reason}")));
    }
    if output.is_none() && args.read.file.format.is_some_and(StreamFormat::is_output) {
        return Err(Failure::input(format!(
            "{here}: labels of a manifest go to stdout as CSV; name a file with -o"
        )));
    }
    let rows = ManifestRows::open(&args.input, default_budget())?
        .manifest()
        .rows;
    let predict = |push: &mut PushLabels<'_>| {
        request.predict_rows(&Terminal, &mut |first, labels, probability| {
            push(first, labels, &[probability])
        })
    };
    let numbers = &["probability"];
    let found = if args.out.json {
        write_label_rows(output, rows, numbers, &mut std::io::sink(), predict)
    } else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        write_label_rows(output, rows, numbers, &mut out, predict)
    }?;
    if args.out.json {
        print(&request.rows_to_json(&found)?)
    } else {
        Ok(())
    }
}

/// Labels rows by tasks: writes what they need, or says what they found.
fn predict_by_tasks(
    args: &PredictArgs,
    folder: &Path,
    request: &PredictionInput,
) -> Result<(), Failure> {
    let ending = args.labels.unwrap_or_default();
    let done = match partita_distributed::predict_by_tasks(request, folder, ending, &Terminal)? {
        Stage::Waiting(waiting) => return next(&waiting, &args.input, args.out.json),
        Stage::Done(done) => done,
    };
    let (labels, n, here) = (&done.labels, done.found.rows, folder.display());
    say(&format!(
        "{here}: labels of {n} objects in {} files, prediction.json",
        labels.len()
    ));
    let prediction = request.rows_to_json(&done.found)?;
    let prediction: serde_json::Value = serde_json::from_str(&prediction).unwrap_or_default();
    if args.out.json {
        let labels: Vec<_> = labels
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        print_json(&json!({ "done": true, "labels": labels, "prediction": prediction }))
    } else {
        Ok(())
    }
}
