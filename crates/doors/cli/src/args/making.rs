//! Flags of the commands that make ensembles.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use partita::generate::{BaseK, BaseSpec, Objective, PRESETS, Resolutions, Scale};

use partita_app::parse_part;

use super::table::EnsembleReadArgs;
use super::values::parse_share;
use super::{ComputeArgs, OutputArgs, TableArgs};

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
    /// Clusters of each base clustering: 10, 4..20, a list 4,6,8, or sqrt. The last is ⌈√n/2⌉..⌈√n⌉. [default: sqrt]
    #[arg(long, value_name = "K")]
    pub(crate) base_k: Option<BaseK>,
    /// Share of the objects that each base clustering sees. The others get no label from it. [default: 0.9]
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
    /// Limits of the Gini index of cluster sizes, 0 to 1, which the runs of genie take in turn: a low one makes clusters of about
    /// the same size, 1 is single link. [default: 0.1,0.3,0.5,0.7]
    #[arg(long, value_name = "LIMIT,…", value_delimiter = ',')]
    pub(crate) gini: Vec<f64>,
    /// Resolutions that runs of leiden draw from, evenly in their logarithm: LOW..HIGH or one; a high one makes more and smaller clusters.
    /// [default: 0.1..2]
    #[arg(long, value_name = "LOW..HIGH")]
    pub(crate) resolution: Option<Resolutions>,
    /// What runs of leiden make as large as possible: modularity, cpm or rb. The resolution of cpm is in units of the weights of edges;
    /// rb finds the clusterings of modularity. [default: modularity]
    #[arg(long, value_name = "NAME")]
    pub(crate) objective: Option<Objective>,
    /// Share of the edges that each run of leiden sees. [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub(crate) edges: Option<f64>,
    /// Scaling of the columns: none, zscore, minmax, mixed or auto. Mixed is zscore, but a category and a column of two values have half the
    /// variance of a number, and columns that agree with no other less; auto is mixed where there are categories, and mixed or zscore where a
    /// column's standard deviation is more than 3 times that of the median column. [default: auto; none of a preset that says nothing]
    #[arg(long, value_name = "SCALE")]
    pub(crate) scale: Option<Scale>,
    /// A paper's recipe, which the flags above may change. Those of pcc-2, ssce and nbce depend on -k.
    #[arg(long, value_name = "NAME", conflicts_with = "recipe", value_parser = PossibleValuesParser::new(PRESETS))]
    pub(crate) preset: Option<String>,
    /// A recipe from a file: TOML with the names of the flags above, or an ensemble, which says how it was made and
    /// with which seed.
    #[arg(long, value_name = "FILE")]
    pub(crate) recipe: Option<PathBuf>,
}

impl RecipeArgs {
    /// Whether any of them is given.
    pub(crate) fn given(&self) -> bool {
        self.more_than_scale() || self.scale.is_some()
    }

    /// Whether any of them is given but the scaling.
    pub(crate) fn more_than_scale(&self) -> bool {
        let options = [
            self.base.is_some(),
            self.base_k.is_some(),
            self.subsample.is_some(),
            self.features.is_some(),
            self.projection.is_some(),
            !self.gini.is_empty(),
            self.resolution.is_some(),
            self.objective.is_some(),
            self.edges.is_some(),
            self.preset.is_some(),
            self.recipe.is_some(),
        ];
        self.replacement || options.contains(&true)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita generate table.csv --base kmeans:100 --base-k 4..20 \\
    --subsample 0.9 --scale zscore --seed 1 -o ensemble.npz
  partita generate table.csv \\
    --base kmeans:60,average:10,ward:10,spectral:20 -o ensemble.npz
  partita generate table.csv --preset nbce -k 3 -o ensemble.npz
  partita generate table.csv --held-out rest.npz -o ensemble.npz
  partita generate table.csv --recipe ensemble.npz -o the_same_again.npz
  partita generate table.csv --recipe recipe.toml -o ensemble.npz
  partita generate table.csv --base kmeans:400 --part 2/4 -o ensemble.2
  # the other parts on other machines, then
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
    /// Hold objects out: their label rows go to this ensemble, those of the others to --output. The base clusterings are of all. What a model
    /// of the others says of them: `partita evaluate --model MODEL.json --held-out FILE`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "part"])]
    pub(crate) held_out: Option<PathBuf>,
    /// The share of the objects that is held out, drawn by the seed.
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse_share,
        default_value_t = 0.25,
        requires = "held_out"
    )]
    pub(crate) held_out_share: f64,
    /// Go on where a run that was cut short ended.
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    /// Make only this share of the base clusterings, such as the second of four.
    #[arg(long, value_name = "I/OF", value_parser = parse_part)]
    pub(crate) part: Option<Part>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita text documents.csv --column text --label topic -o words.npz
  partita text documents.csv --column text --set min_documents=40 \\
    --set terms=500 -o words.npz
  partita generate words.npz --preset peace-text -o ensemble.npz

Message headers and HTML go, words are made lower case, English stop words go, the rest is stemmed; words of few
documents go (min_documents), of the others those whose counts vary most stay (terms); counts are weighted by tf-idf
and rows brought to length 1. Each step is a setting, given as --set NAME=VALUE: headers, markup, stop_words, stemming,
numbers (true or false), min_length, min_documents, terms, frequency (count or log), idf (none, plain or smooth),
unit_length. The file is what scipy.sparse.save_npz writes.")]
pub(crate) struct TextArgs {
    /// A table with a column of texts (CSV or TSV; .gz and .zst are read too).
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
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita merge ensemble.1 ensemble.2 -o ensemble.npz
  partita merge ensemble.npz.part -o what_there_is.npz
  partita merge seurat.csv scanpy.csv sc3.csv -o cells.npz

Part files are of one job: the same table, recipe and seed. Ensembles and files of labels stand side by side: objects are
matched by their names where all files have them, else by place, and labels of objects that a file lacks are missing.
One ensemble alone is written in another format, or with --skip or --harden changed.")]
pub(crate) struct MergeArgs {
    /// Files that `partita generate --part` wrote, or the .part file of a run that was cut short; or ensembles and files of
    /// labels of the same objects.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: EnsembleReadArgs,
    /// The ensemble to write: .csv, .npz or .parquet.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

/// A share of the work: the index from 0, and of how many.
pub(crate) type Part = (u32, u32);

fn parse_base(text: &str) -> Result<BaseList, String> {
    BaseSpec::list(text)
        .map(BaseList)
        .map_err(|error| error.to_string())
}
