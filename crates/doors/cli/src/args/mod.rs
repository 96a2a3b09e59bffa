//! The flags of the command line: names, values, help.

mod consensus;
mod help;
mod making;
mod parts;
mod recipe;
mod run;
mod runs;
mod shared;
mod suggested;
mod table;
mod test;
mod update;
mod values;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{ArgGroup, Args, Parser, Subcommand};
use partita_app::{COMMIT, TakenAs, UnknownValues, VERSION};
use partita_distributed::LabelEnding;

pub(crate) use consensus::ConsensusArgs;
pub(crate) use help::command;
pub(crate) use making::{GenerateArgs, MergeArgs, RecipeArgs, TextArgs};
pub(crate) use parts::{FoldArgs, ManifestArgs, PartsAsked, PassArgs};
pub(crate) use recipe::recipe;
pub(crate) use run::RunArgs;
pub(crate) use runs::{AlignArgs, ModesArgs};
pub(crate) use shared::{
    ComputeArgs, MachineArgs, OutputArgs, PageArgs, ThreadArgs, WeightArgs, weight_source,
};
use suggested::method_names;
pub(crate) use table::{FileArgs, ReadArgs, StreamFormat, TableArgs};
pub(crate) use test::TestArgs;
pub(crate) use update::UpdateArgs;
pub(crate) use values::{arguments, keep_arguments};
use values::{parse_range, part_labels, taken_as, unknown_values};

const AFTER_HELP: &str = "\
Examples:
  partita run table.csv -o out
  partita run datasets/digits.csv --truth label -k 10 -o out
  partita consensus labels_of_many_tools.csv -k 6 -o out/
  partita generate table.csv --base kmeans:200 --base-k 4..20 \\
    -o ensemble.npz
  partita consensus ensemble.npz -m pcc-kl -k 10 -o labels.csv \\
    --soft soft.csv
  partita evaluate labels.csv --truth table.csv:label

Exit codes: 0 done; 1 something failed while working: a method, a full disk, a read or write that the system refused;
2 the input or the command line is wrong, as is a place that does not exist or may not be written; 130 stopped by Ctrl-C.
Data goes to stdout, everything else to stderr. Set PARTITA_LOG=info (or debug) to see what runs.";

/// The version, with the commit where that is known.
fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| match COMMIT {
        "unknown" => VERSION.to_owned(),
        commit => format!("{VERSION} ({commit})"),
    });
    &TEXT
}

/// Many clusterings of the same objects, made into one that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "partita", version = version(), after_help = AFTER_HELP, max_term_width = 110)]
pub(crate) struct Cli {
    /// Say which steps run and how long each took. Twice or three times for more; as PARTITA_LOG=info does.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    pub(crate) verbose: u8,
    /// Leave out notes and progress; twice: warnings too.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "verbose", display_order = 901)]
    pub(crate) quiet: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// From a table to clusters: an ensemble, its consensus, a page.
    Run(RunArgs),
    /// From documents to a sparse table of words.
    Text(TextArgs),
    /// Makes an ensemble: many base clusterings of a table.
    Generate(GenerateArgs),
    /// Joins ensembles, files of labels, or parts of an ensemble.
    Merge(MergeArgs),
    /// From labels of several tools or runs to their consensus.
    Consensus(ConsensusArgs),
    /// Adds base clusterings or objects to an ensemble.
    Update(UpdateArgs),
    /// A consensus by many machines that share files alone.
    #[command(subcommand)]
    Distributed(DistributedCommand),
    // What `distributed` has was called so before.
    #[command(hide = true)]
    Manifest(ManifestArgs),
    #[command(hide = true)]
    Pass(PassArgs),
    #[command(hide = true)]
    Fold(FoldArgs),
    /// How many clusters there are, if any.
    ChooseK(ChooseArgs),
    /// Whether an ensemble holds one answer or several.
    Modes(ModesArgs),
    /// Gives many runs common columns and colours (label switching).
    Align(AlignArgs),
    /// Scores labels against the truth, or against an ensemble.
    Evaluate(EvaluateArgs),
    /// Which clusters are real: a p-value for every split.
    Test(TestArgs),
    /// Writes the page about a run again.
    Report(ReportArgs),
    /// Labels new objects with a saved model.
    Predict(PredictArgs),
    /// Lists the consensus methods and their settings.
    Methods(MethodsArgs),
    /// Writes a synthetic table with known clusters.
    Synth(SynthArgs),
    /// Says what a file holds.
    Inspect(InspectArgs),
    /// Says what this build and machine have, and checks itself.
    Doctor(DoctorArgs),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints a manual page, or writes all of them.
    Man(ManArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum DistributedCommand {
    /// Makes one ensemble of many files, cut into parts: a manifest, for `consensus` too.
    Plan(ManifestArgs),
    /// Does the task of one part, or of several.
    Run(PassArgs),
    /// Merges what `run` made, and says what comes next.
    Merge(FoldArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita man run > partita-run.1
  partita man -o man1")]
pub(crate) struct ManArgs {
    /// The command; the program itself if not given.
    #[arg(conflicts_with = "output")]
    pub(crate) command: Option<String>,
    /// A folder that gets a page for every command.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace pages that exist.
    #[arg(long)]
    pub(crate) force: bool,
}

/// The method that ranks first over all data sets and ensembles of docs/reproduction/beyond.md.
pub(crate) const PICK: &str = partita_app::methods::DEFAULT;

/// Where the method finds K: by the longest lifetime in a tree.
pub(crate) const PICK_OF_AUTO: &str = partita_app::methods::DEFAULT_OF_OWN_CLUSTERS;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita choose-k table.csv --truth label -k 2..12
  partita choose-k table.csv --set criterion=rcsi --base kmeans:200 -k 2..12
  partita choose-k ensemble.npz -k 2..12 -m eac-single
  partita choose-k labels_of_many_tools.csv --kind ensemble -k 2..12 --json

Of a table: what `partita run` finds. The consensus of two ensembles (k-means and Genie) of at most 1000 rows at every K has a
score: depth of the cut, density-based validity, likelihood of a Gaussian for each cluster, and silhouette, which counts
against it. The highest is chosen, or 1 where `partita test` sees no gap between neighbours (p) and no clusters are
separate or cut off far. With --set criterion=rcsi the K that is most stable against such tables (M3C), where --base (one
kind), --subsample and --set change the base clusterings. rcsi is log10 of how many times less base clusterings contradict
each other than they do without clusters; p is then the chance of such stability without clusters.
Of an ensemble: the consensus at every K, by the longest lifetime of the tree or what --set criterion= names, against the
same ensemble with the labels of every base clustering permuted at random.")]
pub(crate) struct ChooseArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// What the file is, where its name does not tell.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<Source>,
    /// Numbers of clusters to look at: a range such as 2..12, or auto: 2..12, and of a table up to a twelfth of its
    /// objects, 40 at most, or twice as many while the number chosen lies in the upper quarter.
    #[arg(short = 'k', long = "clusters", value_name = "FROM..TO", value_parser = parse_range, default_value = "auto")]
    pub(crate) clusters: (usize, Option<usize>),
    #[command(flatten)]
    pub(crate) recipe: RecipeArgs,
    /// The consensus method at every K of an ensemble.
    #[arg(short, long, value_name = "METHOD", default_value = "eac-average")]
    #[arg(value_parser = method_names(), hide_possible_values = true)]
    pub(crate) method: String,
    /// A setting of the choice, such as criterion=rcsi and runs=200 of a table, or criterion=anmi of an ensemble.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// Where everything that was found goes as JSON, for `partita report --choice`.
    #[arg(short, long, value_name = "CHOICE.json")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
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
  partita evaluate labels.csv --truth truth.csv --soft soft.csv \\
    --soft-truth soft_truth.csv --json
  partita evaluate labels.csv --ensemble ensemble.npz \\
    --agreement agreement.csv
  partita evaluate labels.csv --ensemble ensemble.npz \\
    --base-weights agreement
  partita evaluate --model model.json --held-out new_rows.csv

h is the share of objects in the right cluster under the best one-to-one matching (accuracy, CI). vi is in nats.
js is the mean Jensen–Shannon divergence to the true probabilities, in bits, under the best permutation. overlap has the Omega index,
overlapping NMI by McDaid and others (nmi_max), and extended BCubed. anmi is the mean
NMI (geometric) with the base clusterings, agreement the share of them in which an object lies with its cluster: labels of any
tool, or drawn by hand, can be judged so where no truth is known. Weights count in both: a base clustering of twice the weight counts
twice in the mean, an object of weight 2 is two objects.")]
#[command(mut_arg("force", |force| force.requires("agreement")))]
#[command(mut_arg("base_weights", |weights| weights.requires("ensemble")))]
#[command(mut_arg("object_weights", |weights| weights.requires("ensemble")))]
#[command(group(ArgGroup::new("against").args(["truth", "ensemble"]).multiple(true)))]
pub(crate) struct EvaluateArgs {
    /// The labels to judge: a file, and the column if it is not called `label` and there are several.
    #[arg(required_unless_present = "model", requires = "against")]
    pub(crate) labels: Option<PathBuf>,
    /// The true labels: a file, and the column if it is not called `label` and there are several. Objects are matched by
    /// name where both files have names, else by position. Where one of both is a manifest (`partita distributed plan`), both are read
    /// block by block, however many objects there are.
    #[arg(long, value_name = "FILE[:COLUMN]", requires = "labels")]
    pub(crate) truth: Option<PathBuf>,
    /// An ensemble of the same objects, matched in the same way: how far it agrees with the labels, and supports each.
    #[arg(long, value_name = "ENSEMBLE", requires = "labels")]
    pub(crate) ensemble: Option<PathBuf>,
    /// Where the agreement of each label goes (object,label,agreement; and label_name where labels are words).
    #[arg(long, value_name = "FILE.csv", requires = "ensemble")]
    pub(crate) agreement: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    /// Have tasks count the pairs of labels: both files are manifests then. Writes what `partita distributed run` needs into this folder and prints
    /// its name; called again when all parts are there, it prints the scores.
    #[arg(long, value_name = "DIR/", requires = "truth", conflicts_with_all = ["ensemble", "soft", "common"])]
    pub(crate) tasks: Option<PathBuf>,
    /// Score only the objects that both files have, and say how many.
    #[arg(long, requires = "labels")]
    pub(crate) common: bool,
    #[command(flatten)]
    pub(crate) read: FileArgs,
    /// Probabilities to judge (object,p0,p1,…).
    #[arg(long, value_name = "SOFT.csv", requires_all = ["soft_truth", "truth"])]
    pub(crate) soft: Option<PathBuf>,
    /// The true probabilities.
    #[arg(long, value_name = "FILE", requires = "soft")]
    pub(crate) soft_truth: Option<PathBuf>,
    /// Compare overlapping clusters too: every object is in all clusters that both files of probabilities give it at least this
    /// probability of (and in its most probable one).
    #[arg(long, value_name = "P", requires = "soft")]
    pub(crate) overlap: Option<f64>,
    /// Instead of labels, judge a model of label rows that `consensus --model` wrote: by its perplexity of rows it has
    /// not seen, exp(−mean ln p of a label), 1 at best.
    #[arg(
        long,
        value_name = "MODEL.json",
        requires = "held_out",
        conflicts_with = "labels"
    )]
    pub(crate) model: Option<PathBuf>,
    /// Label rows of the model's base clusterings, matched by name; missing labels do not count.
    #[arg(long, value_name = "ENSEMBLE", requires = "model")]
    pub(crate) held_out: Option<PathBuf>,
    /// Estimate the probabilities that a model has only bounds on (bce) by annealed importance sampling, 32 runs of so many steps; the standard
    /// error is printed.
    #[arg(long, value_name = "STEPS", requires = "held_out")]
    pub(crate) annealed: Option<std::num::NonZeroU32>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita report out
  partita report out --method pcc-kl -o pcc.html --figures figures
  partita report out --title Customers --names 'young,old,rest'
  partita choose-k table.csv --truth label -o choice.json \\
    && partita report out --choice choice.json

One HTML file that needs no network: summary, heat map of the evidence, agreement of every object, memberships, base
clusterings, a map. --figures writes each picture as SVG and its numbers as CSV.")]
pub(crate) struct ReportArgs {
    /// A folder that `partita run` wrote.
    pub(crate) run: PathBuf,
    /// Which of its methods; the first if not given.
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Where the page goes. [default: report.html beside the labels, which it replaces]
    #[arg(short, long, value_name = "REPORT.html")]
    pub(crate) output: Option<PathBuf>,
    /// What `partita choose-k -o` found, for the section on the number of clusters.
    #[arg(long, value_name = "CHOICE.json")]
    pub(crate) choice: Option<PathBuf>,
    /// A folder for every picture as SVG and its numbers as CSV.
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Replace outputs that exist.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  partita consensus ensemble.npz -m pcc-kl -k 10 -o labels.csv \\
    --model model.json
  partita predict model.json new_rows.csv -o new_labels.csv")]
pub(crate) struct PredictArgs {
    /// A model that `partita consensus --model` wrote.
    pub(crate) model: PathBuf,
    /// New objects in the form that the model reads: label rows of the same base clusterings, or a table with the same
    /// columns, matched by name; a table may have others too, and is read with the encoding and imputation of the model's.
    /// A manifest of label rows (`partita distributed plan`) is read block by block, however many rows there are.
    pub(crate) input: PathBuf,
    /// What becomes of values that the model has never seen (labels of a base clustering, words of a column): they are
    /// taken as missing with a warning, or the input is refused.
    #[arg(long, value_name = "HOW", value_parser = unknown_values(), default_value = "missing")]
    pub(crate) unknown: UnknownValues,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Where the labels go; stdout if not given or -.
    #[arg(short, long, value_name = "LABELS.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Where the probabilities go.
    #[arg(long, value_name = "SOFT.csv")]
    pub(crate) soft: Option<PathBuf>,
    /// Have tasks label the rows of a manifest: writes what `partita distributed run` needs into this folder and prints its name. Tasks write
    /// the labels there, a file a part; called again when all are there, it writes prediction.json.
    #[arg(long, value_name = "DIR/", conflicts_with_all = ["output", "soft", "force"])]
    pub(crate) tasks: Option<PathBuf>,
    /// The format of the files that tasks write. NPY has the labels alone. [default: csv]
    #[arg(long, value_name = "FORMAT", value_parser = part_labels(), requires = "tasks")]
    pub(crate) labels: Option<LabelEnding>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MethodsArgs {
    /// Say everything about this method.
    #[arg(value_parser = method_names(), hide_possible_values = true)]
    pub(crate) method: Option<String>,
    /// List the methods that a name from the literature stands for, such as ECC, SALSO or LinkCluE, and those whose name, summary or
    /// reference has this text.
    #[arg(long, value_name = "TERM", conflicts_with = "method")]
    pub(crate) search: Option<String>,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita doctor
  partita doctor --json

The self-check makes 100 base clusterings of the iris data; three methods must give the clusters and the objective that
they give on every machine. If one does not, the exit code is 1.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Print one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita synth half-rings -n 400 --seed 1 -o half-rings.csv
  partita synth pcc-gaussians --ensemble drawn.npz --soft shares.csv -o g.csv
  partita synth --list")]
pub(crate) struct SynthArgs {
    /// The family to draw from; --list shows them.
    #[arg(value_name = "FAMILY", required_unless_present = "list")]
    pub(crate) name: Option<String>,
    /// List the families by group, with their usual number of objects.
    #[arg(long, conflicts_with_all = ["name", "objects", "output", "soft", "ensemble", "set"])]
    pub(crate) list: bool,
    /// Number of objects; the family's usual if not given.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) objects: Option<usize>,
    /// Where all random numbers start.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// clusters, dimensions or separation of a mixture; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The table to write (CSV), with a column `label`, empty for objects of no cluster.
    #[arg(short, long, value_name = "FILE", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// Where the true probabilities of a mixture go (object,p0,p1,…).
    #[arg(long, value_name = "SOFT.csv")]
    pub(crate) soft: Option<PathBuf>,
    /// Where base clusterings go that are drawn from the true probabilities of a mixture, an object's cluster each time anew, as in the PCC
    /// paper.
    #[arg(long, value_name = "ENSEMBLE")]
    pub(crate) ensemble: Option<PathBuf>,
    /// How many of them are drawn.
    #[arg(long, value_name = "M", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..), requires = "ensemble")]
    pub(crate) draws: u32,
    /// Replace the output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita inspect table.csv
  partita inspect out
  partita inspect model.json --json
  partita inspect ensemble.npz --co-association pairs.npy
  partita inspect ensemble.npz --co-association pairs.npz \\
    --least-share 0.5
  partita inspect ensemble.npz --agreement agreement.csv

The co-association of two objects is the share of the base clusterings that put them together, of those that label both;
the agreement of two base clusterings is their NMI (geometric) over the objects that both label.")]
pub(crate) struct InspectArgs {
    /// A table, an ensemble, a model, a record.json, a choice.json, or the folder of a run.
    pub(crate) file: PathBuf,
    /// Take the file as this, whatever is found in it.
    #[arg(long = "as", value_name = "KIND", value_parser = taken_as())]
    pub(crate) kind: Option<TakenAs>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Where the co-association of an ensemble goes, n × n numbers (NPY, NPZ, CSV, TSV or Parquet).
    #[arg(long, value_name = "FILE", help_heading = "Options of an ensemble")]
    pub(crate) co_association: Option<PathBuf>,
    /// Write only pairs of at least this share: a sparse matrix of SciPy (.npz), or lines
    /// first,second,share,together,seen (.csv; 0 writes all pairs that were seen).
    #[arg(
        long,
        value_name = "SHARE",
        requires = "co_association",
        help_heading = "Options of an ensemble"
    )]
    pub(crate) least_share: Option<f64>,
    /// Where the agreement of all pairs of base clusterings goes, M × M numbers (CSV, TSV, NPY, NPZ or Parquet).
    #[arg(long, value_name = "FILE", help_heading = "Options of an ensemble")]
    pub(crate) agreement: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}
