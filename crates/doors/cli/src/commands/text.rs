//! `partita text`: documents in, a sparse table of words out.

use partita::extend::SettingMap;
use partita::files::{self, SparseTable};
use partita::text::{TextError, TextSettings, tf_idf};
use partita_app::{ReadOptions, VERSION, default_budget, read_labels};
use serde_json::json;

use crate::args::TextArgs;
use crate::failure::Failure;
use crate::output::{check_outputs, print_json, say};
use crate::terminal::{Progress, Terminal, listen_for_ctrl_c, unless_interrupted};

pub(crate) fn text(args: &TextArgs) -> Result<(), Failure> {
    check_outputs([&args.output], [&args.documents], args.out.force)?;
    listen_for_ctrl_c()?;
    let settings: TextSettings = SettingMap::parse(&args.set)?.apply()?;
    let options = |column: &str| ReadOptions::of_column(column).within(default_budget());
    let documents = read_labels(&args.documents, &options(&args.column), &Terminal)?;
    let label = match &args.label {
        Some(column) => Some(files::read_labels(&args.documents, &options(column))?.column),
        None => None,
    };
    let texts = documents
        .column
        .values
        .iter()
        .map(|text| text.as_deref().unwrap_or_default());
    let made = tf_idf(texts, &settings, &Progress::new("documents")).map_err(failed)?;
    unless_interrupted(|| "nothing was written".into())?;
    let (n, d) = made.matrix.shape();
    for document in made.empty_documents().into_iter().take(1) {
        let empty = made.empty_documents().len();
        let first = documents.object_names.as_ref().map_or_else(
            || (document + 1).to_string(),
            |names| names[document].clone(),
        );
        say(&format!(
            "{empty} of {n} documents have none of the kept words; the first is {first}"
        ));
    }
    let entries = made.matrix.nnz();
    let table = SparseTable {
        columns: made.terms,
        values: made.matrix,
        object_names: documents.object_names,
        label,
        remarks: Vec::new(),
    };
    files::write_sparse_table(&args.output, &table)?;
    say(&format!(
        "{n} documents × {d} of {} words are in {}",
        made.found,
        args.output.display()
    ));
    if args.out.json {
        print_json(&json!({
            "documents": n,
            "words": d,
            "words_found": made.found,
            "entries": entries,
            "settings": settings,
            "version": VERSION,
        }))?;
    }
    Ok(())
}

fn failed(error: TextError) -> Failure {
    match error {
        TextError::Stopped { .. } => Failure::interrupted("nothing was written".into()),
        other => Failure::input(other.to_string()),
    }
}
