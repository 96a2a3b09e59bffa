//! Flags that say how files are read.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use partita::MemoryBudget;
use partita::files::Header;
use partita_app::{Encode, Impute, PairsOf, ReadOptions, TableInput, Truth};

/// A table and how to read it.
#[derive(Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// A table: one row an object, one column a feature (CSV, Excel, Parquet, NPY …). TSV, NPZ, Arrow and Matrix Market are read too, .gz
    /// and .zst of all, and a folder of Parquet, Arrow or NPY files whose rows follow each other. `generate` and `run` take the sparse
    /// matrices of SciPy and of `partita text` too.
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) read: TableReadArgs,
}

/// How a file is laid out, and what its columns are besides the truth.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct FileArgs {
    /// The column with the names of the objects. By name or position from 1. [default: a first column called object, id or
    /// name or not called at all, else a column of words that all differ]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Columns to leave out, by name, position or pattern. Positions count from 1, patterns have * and ?. Names with commas stand in quotes:
    /// --skip '"a, b",c'.
    #[arg(long, value_name = "COLUMN,…", value_parser = parse_columns)]
    pub(crate) skip: Vec<ColumnList>,
    /// Columns that are data, named as with --skip; others are left out.
    #[arg(long, value_name = "COLUMN,…", value_parser = parse_columns)]
    pub(crate) only: Vec<ColumnList>,
    /// Words that mean that a value is missing. They take the place of NA, NaN, N/A, null, None, ? and the others that pandas knows; ''
    /// for none. Empty fields are always missing.
    #[arg(
        long,
        value_name = "WORD,…",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    pub(crate) missing: Option<Vec<String>>,
    /// The first line names the columns (CSV, TSV). [default: it does unless it holds a number]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line does not name the columns (CSV, TSV); they are called 1, 2, ….
    #[arg(long)]
    pub(crate) no_header: bool,
    /// What separates fields (CSV, TSV): one character, tab or space. [default: what the first line holds most of , ; | and tab]
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<char>,
    /// The encoding of a text, such as latin1, windows-1252 or utf-16le. [default: found out]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// The mark before decimals, . or , (CSV, TSV). [default: found out]
    #[arg(long, value_name = "MARK", value_parser = parse_decimal)]
    pub(crate) decimal: Option<char>,
    /// Every row below the header is an object. Without it titles, comments, units, sums, notes and blank rows around the table are
    /// left out (CSV, TSV).
    #[arg(long)]
    pub(crate) all_rows: bool,
    /// Columns are objects and rows are base clusterings or features (text, NPY, NPZ, MAT).
    #[arg(long)]
    pub(crate) transpose: bool,
    /// The sheet to read of a spreadsheet (XLSX, XLS, ODS). [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,
    /// The layer of an AnnData that is the table (H5AD). [default: X]
    #[arg(long, value_name = "NAME", conflicts_with = "obsm")]
    pub(crate) layer: Option<String>,
    /// The array in obsm of an AnnData that is the table, such as X_pca (H5AD). [default: X]
    #[arg(long, value_name = "NAME")]
    pub(crate) obsm: Option<String>,
    /// The format of what comes or goes through -: of standard input, and of labels on standard output, each where it can
    /// be that. [default: input: what its first bytes say, else CSV; output: CSV]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<StreamFormat>,
}

/// The format of a stream, which has no name that could say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamFormat {
    Csv,
    Tsv,
    Parquet,
    Arrow,
    Npy,
    Npz,
    Mat,
    H5ad,
    Json,
}

impl StreamFormat {
    /// The ending of files of this format.
    pub(crate) fn ending(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| format!(".{}", value.get_name()))
    }

    /// Whether data is read from it.
    pub(crate) fn is_input(self) -> bool {
        self != Self::Json
    }

    /// Whether labels are written to it, as something else than CSV.
    pub(crate) fn is_output(self) -> bool {
        matches!(self, Self::Tsv | Self::Parquet | Self::Npy | Self::Json)
    }
}

/// Columns that one flag names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnList(pub(crate) Vec<String>);

/// Names between commas, in quotes where they hold commas.
pub(super) fn parse_columns(text: &str) -> Result<ColumnList, String> {
    let mut rows = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let row = rows.records().next().transpose();
    let row = row.map_err(|error| error.to_string())?.unwrap_or_default();
    Ok(ColumnList(row.iter().map(str::to_owned).collect()))
}

fn parse_decimal(text: &str) -> Result<char, String> {
    match text {
        "." => Ok('.'),
        "," => Ok(','),
        _ => Err("write . or ,".into()),
    }
}

/// How a file is read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// The column with the true labels, which score the result. It is not data; by name or position from 1. [default: a column called label; of an ensemble also truth]
    #[arg(long, alias = "label", value_name = "COLUMN")]
    pub(crate) truth: Option<String>,
    /// There are no true labels: a column called label is data.
    #[arg(long, conflicts_with = "truth")]
    pub(crate) no_truth: bool,
    #[command(flatten)]
    pub(crate) file: FileArgs,
}

/// How an ensemble is read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct EnsembleReadArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// All columns are shares of objects in clusters: name.p0, name.p1, … of the soft base clustering name, others of one
    /// that is called like the file. Without it, columns called so are, if their values are shares.
    #[arg(long)]
    pub(crate) soft_bases: bool,
    /// The most shares of an object in a soft base clustering that are kept; the largest are, divided by their sum.
    #[arg(long, value_name = "R", default_value = "8")]
    pub(crate) most_shares: NonZeroUsize,
    /// Take soft base clusterings as hard: every object is in the cluster of its largest share.
    #[arg(long)]
    pub(crate) harden: bool,
}

/// How a table is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct TableReadArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// What columns that hold words become (CSV, TSV): a column of zeros and ones of every word (one-hot), or the number
    /// of the word in alphabetical order (ordinal), which makes fewer columns but neighbours of words that are not near; none
    /// refuses them. [default: one-hot; columns of more words than --max-categories are left out]
    #[arg(long, value_name = "HOW", value_parser = encode_parser())]
    pub(crate) encode: Option<Encode>,
    /// The former spelling of `--encode one-hot`.
    #[arg(long, hide = true, conflicts_with = "encode")]
    pub(crate) one_hot: bool,
    /// The former spelling of `--encode ordinal`.
    #[arg(long, hide = true, conflicts_with_all = ["encode", "one_hot"])]
    pub(crate) codes: bool,
    /// The most columns that --encode one-hot makes of one column.
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) max_categories: Option<NonZeroUsize>,
    /// What missing values become (CSV, TSV): mean, that of their column; none refuses them. [default: base clusterings draw values
    /// of like rows]
    #[arg(long, value_name = "HOW", value_parser = impute_parser())]
    pub(crate) impute: Option<Impute>,
    /// The former spelling of `--impute mean`.
    #[arg(long, hide = true, conflicts_with = "impute")]
    pub(crate) fill: bool,
    /// The table has the distances of all pairs of objects, n × n: base clusterings by average, complete and Ward's link, PAM and spectral
    /// clustering read them (--preset distances).
    #[arg(long, conflicts_with_all = ["similarities", "no_distances"])]
    pub(crate) distances: bool,
    /// The table has the similarities of all pairs of objects, n × n, 1 of an object to itself: distances are √(2 − 2 s).
    #[arg(long, conflicts_with = "no_distances")]
    pub(crate) similarities: bool,
    /// The table is a graph: a row an edge, the names of its two ends and its weight (CSV, Parquet, Arrow), or a symmetric sparse matrix
    /// (NPZ, MTX). Base clusterings are made by Leiden (--preset graph, --resolution).
    #[arg(long, conflicts_with_all = ["distances", "similarities", "no_distances"])]
    pub(crate) graph: bool,
    /// The columns are features, though the table looks like distances or similarities of all pairs.
    #[arg(long)]
    pub(crate) no_distances: bool,
    /// Take only rows with these true labels; columns that are constant in them are left out.
    #[arg(
        long,
        value_name = "LABEL,…",
        value_delimiter = ',',
        requires = "truth"
    )]
    pub(crate) filter_labels: Vec<String>,
    /// Take at most so many rows of each true label, drawn with the seed.
    #[arg(long, alias = "per-label", value_name = "N", requires = "truth")]
    pub(crate) max_per_label: Option<NonZeroUsize>,
}

fn encode_parser() -> impl TypedValueParser<Value = Encode> {
    let values = PossibleValuesParser::new(["one-hot", "ordinal", "none"]);
    values.map(|text| match &*text {
        "ordinal" => Encode::Ordinal,
        "none" => Encode::None,
        _ => Encode::OneHot,
    })
}

fn impute_parser() -> impl TypedValueParser<Value = Impute> {
    let values = PossibleValuesParser::new(["mean", "none"]);
    values.map(|text| match &*text {
        "none" => Impute::None,
        _ => Impute::Mean,
    })
}

fn parse_delimiter(text: &str) -> Result<char, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok('\t'),
        ("space", _) => Ok(' '),
        ("comma", _) => Ok(','),
        (_, [byte]) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => {
            Ok(char::from(*byte))
        }
        _ => Err("write one character such as ; or |, or tab, space or comma".into()),
    }
}

impl TableArgs {
    /// The table as the application reads it.
    pub(crate) fn input(&self) -> TableInput {
        self.read.input(&self.table)
    }
}

pub(super) fn columns(lists: &[ColumnList]) -> Vec<String> {
    lists.iter().flat_map(|list| list.0.clone()).collect()
}

impl FileArgs {
    /// How the reader is told, within this memory.
    pub(crate) fn options(&self, budget: MemoryBudget) -> ReadOptions {
        let mut options = ReadOptions::default().within(budget);
        options.id.clone_from(&self.id);
        options.skip = columns(&self.skip);
        options.only = columns(&self.only);
        options.encoding.clone_from(&self.encoding);
        (options.decimal, options.all_rows) = (self.decimal, self.all_rows);
        (options.missing, options.delimiter) = (self.missing.clone(), self.delimiter);
        options.transpose = self.transpose;
        options.sheet.clone_from(&self.sheet);
        options.layer.clone_from(&self.layer);
        options.obsm.clone_from(&self.obsm);
        options.header = match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Auto,
        };
        options
    }
}

impl ReadArgs {
    /// How the reader is told, within this memory.
    pub(crate) fn options(&self, budget: MemoryBudget) -> ReadOptions {
        let mut options = self.file.options(budget);
        options.truth = if self.no_truth {
            Truth::None
        } else {
            self.truth.clone().into()
        };
        options
    }
}

impl EnsembleReadArgs {
    /// How the reader is told, within this memory.
    pub(crate) fn options(&self, budget: MemoryBudget) -> ReadOptions {
        let mut options = self.read.options(budget);
        options.most_shares = self.most_shares.get();
        (options.soft_bases, options.harden) = (self.soft_bases, self.harden);
        options
    }
}

impl TableReadArgs {
    /// A table read in this way.
    pub(crate) fn input(&self, file: &Path) -> TableInput {
        let one_hot = self.one_hot.then_some(Encode::OneHot);
        let mut read = self.read.options(MemoryBudget::default());
        read.encode = self
            .encode
            .or(one_hot)
            .or(self.codes.then_some(Encode::Ordinal));
        read.impute = self.impute.or(self.fill.then_some(Impute::Mean));
        read.max_categories = self.max_categories.map(NonZeroUsize::get);
        let (filter_labels, max_per_label) = (self.filter_labels.clone(), self.max_per_label);
        TableInput {
            file: file.to_owned(),
            read,
            filter_labels,
            max_per_label,
            pairs: self.pairs(),
        }
    }

    /// What a table of n × n numbers is.
    fn pairs(&self) -> Option<PairsOf> {
        let pairs = [
            (self.distances, PairsOf::Distances),
            (self.similarities, PairsOf::Similarities),
            (self.graph, PairsOf::Graph),
            (self.no_distances, PairsOf::Features),
        ];
        pairs
            .into_iter()
            .find_map(|(given, what)| given.then_some(what))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn input(flags: &str) -> TableInput {
        let words = "partita run t.csv -k 2 -o out"
            .split(' ')
            .chain(flags.split_whitespace());
        let Command::Run(args) = Cli::try_parse_from(words)
            .expect("flags that exist")
            .command
        else {
            unreachable!("run was asked for")
        };
        args.read.input(Path::new("t.csv"))
    }

    #[test]
    fn former_spellings_mean_the_same() {
        assert_eq!(input("--one-hot"), input("--encode one-hot"));
        assert_eq!(input("--codes"), input("--encode ordinal"));
        assert_eq!(input("--fill"), input("--impute mean"));
        assert_eq!(input("--label y"), input("--truth y"));
        let filtered = input("--truth y --filter-labels a,b --max-per-label 7");
        assert_eq!(
            input("--label y --filter-labels a,b --per-label 7"),
            filtered
        );
        assert_ne!(input("--one-hot"), input("--codes"));
        assert_ne!(input("--no-truth"), input(""));
    }

    #[test]
    fn delimiters_have_names() {
        assert_eq!(parse_delimiter("tab"), Ok('\t'));
        assert_eq!(parse_delimiter("|"), Ok('|'));
        assert!(
            parse_delimiter("").is_err()
                && parse_delimiter("ab").is_err()
                && parse_delimiter("\"").is_err()
        );
    }
}
