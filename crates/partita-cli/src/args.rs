//! Flags: what they are called, what they take, what their help says.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use partita::generate::{BaseK, BaseSpec, PRESETS, Scale};
use partita::ssce::Predictor;
use partita::{Clusters, MemoryBudget};

const AFTER_HELP: &str = "\
Examples:
  partita run datasets/digits.csv --label label -k 10 -o out
  partita generate table.csv --base kmeans:200 --base-k 4..20 -o ensemble.npz
  partita consensus ensemble.npz -m pcc-kl -k 10 -o labels.csv --soft soft.csv
  partita evaluate labels.csv --truth table.csv:label

Exit codes: 0 done, 1 a computation failed, 2 the input or the command line is wrong, 130 stopped by Ctrl-C.
Data goes to stdout, everything else to stderr. Set PARTITA_LOG=info (or debug) to see what runs.";

/// Many clusterings of the same objects, made into one that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "partita", version, about, after_help = AFTER_HELP, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// From a table to labels: makes an ensemble, finds its consensus, writes both.
    Run(RunArgs),
    /// Turns documents into a sparse table of words, for `generate`.
    Text(TextArgs),
    /// Makes an ensemble of base clusterings from a table.
    Generate(GenerateArgs),
    /// Joins what `generate --part` made, or makes an ensemble of what a run that was cut short has finished.
    Merge(MergeArgs),
    /// Finds the consensus of an ensemble.
    Consensus(ConsensusArgs),
    /// Compares labels with the truth.
    Evaluate(EvaluateArgs),
    /// Labels new objects with a saved model.
    Predict(PredictArgs),
    /// Lists the consensus methods and their settings.
    Methods(MethodsArgs),
    /// Writes a synthetic table with known clusters.
    Synth(SynthArgs),
    /// Says what a file holds.
    Inspect(InspectArgs),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the manual page.
    Man,
}

/// How to read a table.
#[derive(Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// A table: one row an object, one column a feature (CSV, TSV, NPY, NPZ or Parquet; .gz is read too). `generate` and
    /// `run` take the sparse matrices of SciPy and of `partita text` too.
    pub(crate) table: PathBuf,
    /// The column with the true labels, by name or position from 1. It is not a feature; results are scored against it.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Columns to leave out, by name or position from 1.
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Make a column of zeros and ones of every value of a column that holds words (CSV, TSV).
    #[arg(long)]
    pub(crate) one_hot: bool,
    /// Fill gaps with the mean of their column (CSV, TSV).
    #[arg(long)]
    pub(crate) fill: bool,
}

/// What `--base` takes: kinds of base clusterings with how many of each.
#[derive(Clone, Debug)]
pub(crate) struct BaseList(pub(crate) Vec<BaseSpec>);

/// How to make the base clusterings: a paper's recipe or one from a file, then what the other flags change in it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Base clusterings")]
pub(crate) struct RecipeArgs {
    /// Which base clusterings, and how many of each. [default: kmeans:100]
    #[arg(long, value_name = "KIND:COUNT,…", value_parser = parse_base)]
    pub(crate) base: Option<BaseList>,
    /// Clusters of each base clustering: 10, a range 4..20, a list 4,6,8, or sqrt for ⌈√n/2⌉..⌈√n⌉. [default: sqrt]
    #[arg(long, value_name = "K")]
    pub(crate) base_k: Option<BaseK>,
    /// Share of the objects that each base clustering sees; the others get no label from it. [default: 0.9]
    #[arg(long, value_name = "SHARE")]
    pub(crate) subsample: Option<f64>,
    /// Draw the objects with replacement: k-means counts an object as often as it was drawn, others once.
    #[arg(long)]
    pub(crate) replacement: bool,
    /// Share of the columns that each base clustering sees. [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub(crate) features: Option<f64>,
    /// Random directions that each base clustering sees instead of the columns. [default: the columns]
    #[arg(long, value_name = "COUNT")]
    pub(crate) projection: Option<usize>,
    /// Scaling of the columns: none, zscore or minmax. [default: none]
    #[arg(long, value_name = "SCALE")]
    pub(crate) scale: Option<Scale>,
    /// A paper's recipe, which the flags above may change; those of pcc-2, ssce and nbce hang on -k.
    #[arg(long, value_name = "NAME", conflicts_with = "recipe", value_parser = PossibleValuesParser::new(PRESETS))]
    pub(crate) preset: Option<String>,
    /// A recipe from a file: TOML with the names of the flags above, or an ensemble, which says how it was made and
    /// with which seed.
    #[arg(long, value_name = "FILE")]
    pub(crate) recipe: Option<PathBuf>,
}

/// What every computing command takes.
#[derive(Debug, Args)]
pub(crate) struct ComputeArgs {
    /// Where chance starts: the same seed gives the same bytes. [default: 0, or that of an ensemble given as --recipe]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Threads to use; all cores if not given. The result does not depend on it.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Memory that may be held at once, such as 500MiB or 4GiB; three quarters of the machine's if not given.
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub(crate) max_memory: Option<MemoryBudget>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita run iris.csv --label label -k 3 -o out
  partita run table.csv -k 8 -m eac-average,pcc-kl --base kmeans:200 --base-k 8..40 --scale zscore -o out

Writes labels.csv (object,label,certainty) and soft.csv (object,p0,p1,…, where the method has probabilities) of the
first method named, those of the others in a folder each, and ensemble.npz, record.json, summary.txt.
Ctrl-C keeps what is finished, the base clusterings made so far included.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Clusters of the consensus, or auto where the method can choose.
    #[arg(short = 'k', long = "clusters", value_name = "K", value_parser = parse_clusters)]
    pub(crate) clusters: Clusters,
    /// Consensus methods, separated by commas; `partita methods` lists them.
    #[arg(short, long, value_name = "METHOD,…", value_delimiter = ',', default_value = "eac-average")]
    pub(crate) method: Vec<String>,
    #[command(flatten)]
    pub(crate) recipe: RecipeArgs,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// The folder to write into.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Write into a folder that holds something already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the record as one JSON object on stdout instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita generate table.csv --base kmeans:100 --base-k 4..20 --subsample 0.9 --scale zscore --seed 1 -o ensemble.npz
  partita generate table.csv --base kmeans:60,average:10,ward:10,spectral:20 -o ensemble.npz
  partita generate table.csv --preset nbce -k 3 -o ensemble.npz
  partita generate table.csv --recipe ensemble.npz -o the_same_again.npz
  partita generate table.csv --recipe recipe.toml -o ensemble.npz
  partita generate table.csv --base kmeans:400 --part 2/4 -o ensemble.2      # on four machines, then
  partita merge ensemble.1 ensemble.2 ensemble.3 ensemble.4 -o ensemble.npz

A recipe.toml has lines such as
  base = [\"kmeans:60\", \"ward:10\"]
  base_k = \"4..20\"
  subsample = 0.8

Finished base clusterings are kept in FILE.part until the ensemble is written. After Ctrl-C, a kill or a power cut the
same command with --resume makes the missing ones only and writes the bytes of an undisturbed run.")]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Clusters that are expected: what the presets pcc-2, ssce and nbce multiply.
    #[arg(short = 'k', long = "clusters", value_name = "K")]
    pub(crate) clusters: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    pub(crate) recipe: RecipeArgs,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// The ensemble to write: .csv, .npz or .parquet. With --part, the file that `partita merge` takes.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Go on where a run that was cut short ended.
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    /// Make only this share of the base clusterings, such as the second of four.
    #[arg(long, value_name = "I/OF", value_parser = parse_part)]
    pub(crate) part: Option<Part>,
    /// Replace the output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what was done as one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita merge ensemble.1 ensemble.2 -o ensemble.npz
  partita merge ensemble.npz.part -o what_there_is.npz")]
pub(crate) struct MergeArgs {
    /// Files that `partita generate --part` wrote, or the .part file of a run that was cut short.
    #[arg(required = true)]
    pub(crate) parts: Vec<PathBuf>,
    /// The ensemble to write: .csv, .npz or .parquet.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what was done as one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita consensus ensemble.npz -m eac-average -k 10 -o labels.csv
  partita consensus labels_of_many_tools.csv -m pcc-kl -k 6 --set restarts=8 --soft soft.csv -o labels.csv
  partita consensus ensemble.mat -m eac-average -k 10 > labels.csv
  partita consensus ensemble.npz -m best --set among=eac-average,lwgp,pcc-l2 -k 10 -o labels.csv
  partita consensus ensemble.npz -m lwgp -k 3 --features table.csv --model model.json --predict-with knn:9 -o labels.csv
  partita consensus ensemble.npz -m pcc-l2 -k 6 --relations relations.csv --threshold 0.05 -o labels.csv")]
pub(crate) struct ConsensusArgs {
    /// An ensemble: one row an object, one column a base clustering (CSV, TSV, NPY, NPZ, Parquet or MAT). Empty, NaN
    /// and −1 mean that the label is missing.
    pub(crate) ensemble: PathBuf,
    /// The consensus method; `partita methods` lists them.
    #[arg(short, long, value_name = "METHOD", default_value = "eac-average")]
    pub(crate) method: String,
    /// Clusters of the consensus, or auto where the method can choose.
    #[arg(short = 'k', long = "clusters", value_name = "K", value_parser = parse_clusters)]
    pub(crate) clusters: Clusters,
    /// A column of the ensemble's file that is no base clustering but the truth.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// A setting of the method; may be given several times. `partita methods METHOD` lists them.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The table behind the ensemble, for methods that read it. Rows in the order of the ensemble.
    #[arg(long, value_name = "TABLE")]
    pub(crate) features: Option<PathBuf>,
    /// The column of the table with the true labels.
    #[arg(long, value_name = "COLUMN", requires = "features")]
    pub(crate) features_label: Option<String>,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// Where the labels go (object,label,certainty); stdout if not given.
    #[arg(short, long, value_name = "LABELS.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Where the probabilities go (object,p0,p1,…).
    #[arg(long, value_name = "SOFT.csv")]
    pub(crate) soft: Option<PathBuf>,
    /// Where the relations of the clusters go (cluster,objects,0,1,…): of the expected objects of a row's cluster, the
    /// share that is in the column's.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) relations: Option<PathBuf>,
    /// Probabilities below this count as 0 in the relations; what is left of a row is divided by its sum.
    #[arg(long, value_name = "P", default_value_t = 0.0, requires = "relations")]
    pub(crate) threshold: f64,
    /// Where a model goes that `partita predict` labels new objects with.
    #[arg(long, value_name = "MODEL.json")]
    pub(crate) model: Option<PathBuf>,
    /// What the model is: without it, the method's own or one of label rows; ssce (logistic regression), centroid or
    /// knn:5 read a table with the columns of --features instead.
    #[arg(long, value_name = "HOW", requires_all = ["model", "features"])]
    pub(crate) predict_with: Option<Predictor>,
    /// Replace outputs that exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the record as one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita evaluate out/labels.csv --truth datasets/digits.csv:label
  partita evaluate labels.csv --truth truth.csv --soft soft.csv --soft-truth soft_truth.csv --json

h is the share of objects in the right cluster under the best one-to-one matching (accuracy, CI). vi is in nats.
js is the mean Jensen–Shannon divergence to the true probabilities, in bits, under the best permutation.")]
pub(crate) struct EvaluateArgs {
    /// The labels to judge: a file with a column `label`.
    pub(crate) labels: PathBuf,
    /// The true labels: a file, and the column if it is not called `label`. Objects are matched by name where both
    /// files have names, else by position.
    #[arg(long, value_name = "FILE[:COLUMN]")]
    pub(crate) truth: PathBuf,
    /// Probabilities to judge (object,p0,p1,…).
    #[arg(long, value_name = "SOFT.csv", requires = "soft_truth")]
    pub(crate) soft: Option<PathBuf>,
    /// The true probabilities.
    #[arg(long, value_name = "FILE", requires = "soft")]
    pub(crate) soft_truth: Option<PathBuf>,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  partita consensus ensemble.npz -m pcc-kl -k 10 -o labels.csv --model model.json
  partita predict model.json new_rows.csv -o new_labels.csv")]
pub(crate) struct PredictArgs {
    /// A model that `partita consensus --model` wrote.
    pub(crate) model: PathBuf,
    /// New objects in the form that the model reads: label rows of the same base clusterings, matched by name.
    pub(crate) input: PathBuf,
    /// A column of the input that is the truth.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Where the labels go; stdout if not given.
    #[arg(short, long, value_name = "LABELS.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Where the probabilities go.
    #[arg(long, value_name = "SOFT.csv")]
    pub(crate) soft: Option<PathBuf>,
    /// Replace outputs that exist.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MethodsArgs {
    /// Say everything about this method.
    pub(crate) method: Option<String>,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  partita synth half-rings -n 400 --seed 1 -o half-rings.csv")]
pub(crate) struct SynthArgs {
    /// What to draw; an unknown name lists them.
    pub(crate) name: String,
    /// Number of objects.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) objects: usize,
    /// Where chance starts.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// clusters, dimensions or separation of a mixture; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The table to write (CSV), with a column `label`.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Where the true probabilities of a mixture go (object,p0,p1,…).
    #[arg(long, value_name = "SOFT.csv")]
    pub(crate) soft: Option<PathBuf>,
    /// Replace the output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A table, an ensemble or a model.
    pub(crate) file: PathBuf,
    /// Take the file as this. Without it, .mat and .npz files are ensembles, .json files are models and everything
    /// else is a table.
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) kind: Option<Kind>,
    /// A column that holds the true labels.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a file can be taken as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    Table,
    Ensemble,
    Model,
}

fn parse_clusters(text: &str) -> Result<Clusters, String> {
    match text {
        "auto" => Ok(Clusters::Auto),
        _ => match usize::from_str(text) {
            Ok(0) => Err("there is no partition into 0 clusters; ask for 1 or more, or auto".into()),
            Ok(clusters) => Ok(Clusters::Exactly(clusters)),
            Err(_) => Err("write a number of clusters such as 10, or auto".into()),
        },
    }
}

fn parse_base(text: &str) -> Result<BaseList, String> {
    BaseSpec::list(text).map(BaseList).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita text documents.csv --column text --label topic -o words.npz
  partita text documents.csv --column text --set least_documents=40 --set terms=500 -o words.npz
  partita generate words.npz --preset peace-text -o ensemble.npz

Message headers and HTML go, words are made lower case, English stop words go, the rest is stemmed; words of few
documents go (least_documents), of the others those whose counts vary most stay (terms); counts are weighted by tf-idf
and rows brought to length 1. Each step is a setting, given as --set NAME=VALUE: headers, markup, stop_words, stemming,
numbers (true or false), shortest, least_documents, terms, frequency (count or log), idf (none, plain or smooth),
unit_length. The file is what scipy.sparse.save_npz writes.")]
pub(crate) struct TextArgs {
    /// A table with a column of texts (CSV or TSV; .gz is read too).
    pub(crate) documents: PathBuf,
    /// The column with the texts, by name or position from 1.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: String,
    /// The column with the true labels.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// A setting; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The table to write (.npz).
    #[arg(short, long, value_name = "FILE.npz")]
    pub(crate) output: PathBuf,
    /// Replace the output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what was done as one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A share of the work: the index from 0, and of how many.
pub(crate) type Part = (u32, u32);

fn parse_part(text: &str) -> Result<Part, String> {
    let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((index, of)) if (1..=of).contains(&index) => Ok((index - 1, of)),
        _ => Err("write which part of how many, such as 2/4".into()),
    }
}

fn parse_memory(text: &str) -> Result<MemoryBudget, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("write bytes with a unit, such as 500MiB or 4GiB".into()),
    };
    let number = f64::from_str(number).map_err(|_| "write a number with a unit, such as 4GiB".to_owned())?;
    Ok(MemoryBudget::new((number * f64::from(1u32 << 10).powi(power / 10)) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn memory_has_units() {
        assert_eq!(parse_memory("4GiB"), Ok(MemoryBudget::new(4 << 30)));
        assert_eq!(parse_memory("1.5k"), Ok(MemoryBudget::new(1536)));
        assert!(parse_memory("much").is_err() && parse_memory("4 parsecs").is_err());
    }

    #[test]
    fn parts_count_from_one() {
        assert_eq!(parse_part("2/4"), Ok((1, 4)));
        assert!(["0/4", "5/4", "2", "a/b", "-1/3"].iter().all(|text| parse_part(text).is_err()));
    }

    #[test]
    fn clusters_are_a_number_or_auto() {
        assert_eq!(parse_clusters("auto"), Ok(Clusters::Auto));
        assert_eq!(parse_clusters("7"), Ok(Clusters::Exactly(7)));
        assert!(parse_clusters("0").is_err() && parse_clusters("-3").is_err() && parse_clusters("x").is_err());
    }
}
