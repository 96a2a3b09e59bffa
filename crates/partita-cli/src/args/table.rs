//! Flags that say how a table is read.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use partita_app::{Encode, Impute, TableInput};

/// A table and how to read it.
#[derive(Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// A table: one row an object, one column a feature (CSV, TSV, NPY, NPZ, Parquet or Arrow; .gz and .zst are read too), or a
    /// folder of Parquet, Arrow or NPY files whose rows follow each other. `generate` and `run` take the sparse
    /// matrices of SciPy and of `partita text` too.
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// How to read a table.
#[derive(Debug, Default, Args)]
pub(crate) struct ReadArgs {
    /// The column with the true labels, by name or position from 1. It is not a feature; results are scored against it.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Columns to leave out, by name or position from 1.
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// What columns that hold words become (CSV, TSV): a column of zeros and ones of every word (one-hot), or the number
    /// of the word in alphabetical order (ordinal), which makes fewer columns but neighbours of words that are not near.
    #[arg(long, value_name = "HOW", value_parser = encode_parser())]
    pub(crate) encode: Option<Encode>,
    /// The former spelling of `--encode one-hot`.
    #[arg(long, hide = true, conflicts_with = "encode")]
    pub(crate) one_hot: bool,
    /// The former spelling of `--encode ordinal`.
    #[arg(long, hide = true, conflicts_with_all = ["encode", "one_hot"])]
    pub(crate) codes: bool,
    /// What missing numbers become (CSV, TSV): the mean of their column.
    #[arg(long, value_name = "HOW", value_parser = impute_parser())]
    pub(crate) impute: Option<Impute>,
    /// The former spelling of `--impute mean`.
    #[arg(long, hide = true, conflicts_with = "impute")]
    pub(crate) fill: bool,
    /// Take only rows with these true labels; columns that are constant in them are left out.
    #[arg(long, alias = "only", value_name = "LABEL,…", value_delimiter = ',', requires = "label")]
    pub(crate) filter_labels: Vec<String>,
    /// Take at most so many rows of each true label, drawn with the seed.
    #[arg(long, alias = "per-label", value_name = "N", requires = "label")]
    pub(crate) max_per_label: Option<NonZeroUsize>,
}

fn encode_parser() -> impl TypedValueParser<Value = Encode> {
    let values = PossibleValuesParser::new(["one-hot", "ordinal"]);
    values.map(|text| if text == "ordinal" { Encode::Ordinal } else { Encode::OneHot })
}

fn impute_parser() -> impl TypedValueParser<Value = Impute> {
    PossibleValuesParser::new(["mean"]).map(|_| Impute::Mean)
}

impl TableArgs {
    /// The table as the application reads it.
    pub(crate) fn input(&self) -> TableInput {
        self.read.input(&self.table)
    }
}

impl ReadArgs {
    /// A table read in this way.
    pub(crate) fn input(&self, file: &Path) -> TableInput {
        let one_hot = self.one_hot.then_some(Encode::OneHot);
        TableInput {
            file: file.to_owned(),
            label: self.label.clone(),
            skip: self.skip.clone(),
            encode: self.encode.or(one_hot).or(self.codes.then_some(Encode::Ordinal)),
            impute: self.impute.or(self.fill.then_some(Impute::Mean)),
            filter_labels: self.filter_labels.clone(),
            max_per_label: self.max_per_label,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn input(flags: &str) -> TableInput {
        let words = "partita run t.csv -k 2 -o out --label y".split(' ').chain(flags.split_whitespace());
        let Command::Run(args) = Cli::try_parse_from(words).expect("flags that exist").command else {
            unreachable!("run was asked for")
        };
        args.read.input(Path::new("t.csv"))
    }

    #[test]
    fn former_spellings_mean_the_same() {
        assert_eq!(input("--one-hot"), input("--encode one-hot"));
        assert_eq!(input("--codes"), input("--encode ordinal"));
        assert_eq!(input("--fill"), input("--impute mean"));
        assert_eq!(input("--only a,b --per-label 7"), input("--filter-labels a,b --max-per-label 7"));
        assert_ne!(input("--one-hot"), input("--codes"));
    }
}
