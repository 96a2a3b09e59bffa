//! Flags: what they are called, what they take, what their help says.

mod making;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use partita::ssce::Predictor;
use partita::{Clusters, MemoryBudget};

pub(crate) use making::{GenerateArgs, MergeArgs, RecipeArgs, TextArgs};

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
    /// Says how many clusters there are, if any: of a table, or of an ensemble.
    ChooseK(ChooseArgs),
    /// Compares labels with the truth.
    Evaluate(EvaluateArgs),
    /// Writes a page about a run: what was found, and how far to trust it.
    Report(ReportArgs),
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
    /// Number the words of a column in the order of the alphabet instead (CSV, TSV): fewer columns than `--one-hot`, but
    /// neighbours of words that are none.
    #[arg(long, conflicts_with = "one_hot")]
    pub(crate) codes: bool,
    /// Fill gaps with the mean of their column (CSV, TSV).
    #[arg(long)]
    pub(crate) fill: bool,
    /// Take only rows with these true labels; columns that are constant in them go.
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', requires = "label")]
    pub(crate) only: Vec<String>,
    /// Take at most so many rows of each true label, drawn with the seed.
    #[arg(long, value_name = "N", requires = "label")]
    pub(crate) per_label: Option<std::num::NonZeroUsize>,
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

/// The method that ranks first over all data sets and ensembles of docs/reproduction/beyond.md.
const PICK: &str = "lwgp";

/// Where K is to be found: by the longest lifetime in a tree.
const PICK_OF_AUTO: &str = "eac-average";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita run iris.csv --label label -k 3 -o out
  partita run table.csv -k 8 -m eac-average,pcc-kl --base kmeans:200 --base-k 8..40 --scale zscore -o out
  partita run kddcup99.csv.gz --label label --one-hot --only smurf.,neptune.,normal. --per-label 40000 \\
    --preset kdd -k 3 -m pcc-l2 -o out

Writes labels.csv (object,label,certainty) and soft.csv (object,p0,p1,…, where the method has probabilities) of the
first method named, those of the others in a folder each, a report.html beside every labels.csv, and ensemble.npz,
record.json, summary.txt.
Ctrl-C keeps what is finished, the base clusterings made so far included.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Clusters of the consensus, or auto where the method can choose.
    #[arg(short = 'k', long = "clusters", value_name = "K", value_parser = parse_clusters)]
    pub(crate) clusters: Clusters,
    /// Consensus methods, separated by commas; `partita methods` lists them. With -k auto: eac-average if not given.
    #[arg(short, long, value_name = "METHOD,…", value_delimiter = ',', default_value = PICK)]
    #[arg(default_value_if("clusters", "auto", PICK_OF_AUTO))]
    pub(crate) method: Vec<String>,
    /// A setting of the methods, or of the one that stands before a dot: partners=60, pcc-kl.restarts=3. May be given
    /// several times.
    #[arg(long, value_name = "[METHOD.]NAME=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) recipe: RecipeArgs,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// The folder to write into.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Write no report.html.
    #[arg(long)]
    pub(crate) no_report: bool,
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
    /// The consensus method; `partita methods` lists them. With -k auto: eac-average if not given.
    #[arg(short, long, value_name = "METHOD", default_value = PICK)]
    #[arg(default_value_if("clusters", "auto", PICK_OF_AUTO))]
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
    /// How far each base clustering is trusted, for methods that take weights: `agreement` (its mean NMI with the others)
    /// or a CSV with the columns name and weight.
    #[arg(long, value_name = "agreement|FILE.csv")]
    pub(crate) base_weights: Option<PathBuf>,
    /// Leave a Parquet ensemble on the disk and read its rows in groups, once a round (nbce-vb, mm). Without the flag
    /// this happens where the rows would not fit into --max-memory.
    #[arg(long)]
    pub(crate) stream: bool,
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
  partita choose-k table.csv --label label -k 2..12
  partita choose-k ensemble.npz -k 2..12 -m eac-single
  partita choose-k labels_of_many_tools.csv --kind ensemble -k 2..12 --json

Of a table: base clusterings of subsamples at every K, and the same of tables without clusters (Gaussian, box); a K is
chosen if it is more stable than those, else the answer is 1. Of an ensemble: the consensus at every K, by the longest
lifetime of the tree or what --set criterion= names, against the same ensemble with its labels dealt out anew.
rcsi is log10 of how many times less base clusterings contradict each other than they do without clusters; p is the
chance of such stability without clusters.")]
pub(crate) struct ChooseArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// What the file is, where its name does not tell.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<Source>,
    /// Numbers of clusters to look at.
    #[arg(short = 'k', long = "clusters", value_name = "FROM..TO", value_parser = parse_range, default_value = "2..12")]
    pub(crate) clusters: RangeInclusive<usize>,
    /// The consensus method at every K of an ensemble.
    #[arg(short, long, value_name = "METHOD", default_value = "eac-average")]
    pub(crate) method: String,
    /// A setting of the choice, such as runs=200, draws=30 or, of an ensemble, criterion=anmi.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// Where everything that was found goes as JSON, for `partita report --choice`.
    #[arg(short, long, value_name = "CHOICE.json")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an output that exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print everything as one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `choose-k` looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Source {
    /// Numbers.
    Table,
    /// Labels.
    Ensemble,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita evaluate out/labels.csv --truth datasets/digits.csv:label
  partita evaluate labels.csv --truth truth.csv --soft soft.csv --soft-truth soft_truth.csv --json
  partita evaluate --model model.json --held-out new_rows.csv

h is the share of objects in the right cluster under the best one-to-one matching (accuracy, CI). vi is in nats.
js is the mean Jensen–Shannon divergence to the true probabilities, in bits, under the best permutation.")]
pub(crate) struct EvaluateArgs {
    /// The labels to judge: a file with a column `label`.
    #[arg(required_unless_present = "model", requires = "truth")]
    pub(crate) labels: Option<PathBuf>,
    /// The true labels: a file, and the column if it is not called `label`. Objects are matched by name where both
    /// files have names, else by position.
    #[arg(long, value_name = "FILE[:COLUMN]", requires = "labels")]
    pub(crate) truth: Option<PathBuf>,
    /// Probabilities to judge (object,p0,p1,…).
    #[arg(long, value_name = "SOFT.csv", requires_all = ["soft_truth", "labels"])]
    pub(crate) soft: Option<PathBuf>,
    /// The true probabilities.
    #[arg(long, value_name = "FILE", requires = "soft")]
    pub(crate) soft_truth: Option<PathBuf>,
    /// Instead of labels, judge a model of label rows that `consensus --model` wrote: by its perplexity of rows it has
    /// not seen, exp(−mean ln p of a label), 1 at best.
    #[arg(long, value_name = "MODEL.json", requires = "held_out", conflicts_with = "labels")]
    pub(crate) model: Option<PathBuf>,
    /// Label rows of the model's base clusterings, matched by name; missing labels do not count.
    #[arg(long, value_name = "ENSEMBLE", requires = "model")]
    pub(crate) held_out: Option<PathBuf>,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita report out
  partita report out --method pcc-kl -o pcc.html --figures figures
  partita choose-k table.csv -o choice.json && partita report out --choice choice.json --force

One HTML file that needs no network: summary, heat map of the evidence, certainty of every object, memberships, base
clusterings, a map. --figures writes each picture as SVG and its numbers as CSV.")]
pub(crate) struct ReportArgs {
    /// A folder that `partita run` wrote.
    pub(crate) run: PathBuf,
    /// Which of its methods; the first if not given.
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Where the page goes. [default: report.html beside the labels]
    #[arg(short, long, value_name = "REPORT.html")]
    pub(crate) output: Option<PathBuf>,
    /// What `partita choose-k -o` found, for the section on the number of clusters.
    #[arg(long, value_name = "CHOICE.json")]
    pub(crate) choice: Option<PathBuf>,
    /// A folder for every picture as SVG and its numbers as CSV.
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// Replace outputs that exist.
    #[arg(long)]
    pub(crate) force: bool,
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

fn parse_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let form = || "write the numbers of clusters as 2..12".to_owned();
    let (first, last) = text.split_once("..").ok_or_else(form)?;
    let (first, last) = (first.parse().map_err(|_| form())?, last.parse().map_err(|_| form())?);
    if first > last { Err(format!("{text} is reversed; {}", form())) } else { Ok(first..=last) }
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
    fn clusters_are_a_number_or_auto() {
        assert_eq!(parse_clusters("auto"), Ok(Clusters::Auto));
        assert_eq!(parse_clusters("7"), Ok(Clusters::Exactly(7)));
        assert!(parse_clusters("0").is_err() && parse_clusters("-3").is_err() && parse_clusters("x").is_err());
    }
}
