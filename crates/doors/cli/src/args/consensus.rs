//! Flags of `partita consensus`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use partita::ssce::Predictor;
use partita_app::{AppError, ClustersAsked, Unlabelled};

use super::suggested::{method_names, setting_names};
use super::table::EnsembleReadArgs;
use super::{ComputeArgs, OutputArgs, PageArgs, WeightArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita consensus ensemble.npz -m eac-average -k 10 -o labels.csv
  partita consensus cells.csv --truth celltype -k 6 -o out/
  partita consensus seurat.csv scanpy.csv sc3.csv -k 6 -o joined/
  partita consensus labels_of_many_tools.csv -m pcc-kl -k 6 \\
    --set restarts=8 --soft soft.csv -o labels.csv
  partita consensus ensemble.mat -m eac-average -k 10 > labels.csv
  partita consensus ensemble.npz -m best \\
    --set among=eac-average,lwgp,pcc-l2 -k 10 -o labels.csv
  partita consensus labels_of_many_tools.csv -m mm --set named=true \\
    -o names.csv
  partita consensus ensemble.npz -m nbce-gibbs -k 8 --draws draws.npz \\
    -o labels.csv
  partita consensus ensemble.npz -m eac-average -k 8 \\
    --tree tree.csv -o labels.csv
  partita consensus ensemble.npz -m lwgp -k 3 --features table.csv \\
    --model model.json --predict-with knn:9 -o labels.csv
  partita consensus ensemble.npz -m pcc-l2 -k 6 \\
    --relations relations.csv --threshold 0.05 -o labels.csv
  partita consensus ensemble.npz -m pcc-kl -k 6 \\
    --overlap overlap.csv --threshold 0.2 -o labels.csv")]
#[command(mut_arg("object_weights", |weights| weights.conflicts_with("stream")))]
#[command(group(ArgGroup::new("of_probabilities").args(["relations", "overlap"]).multiple(true)))]
pub(crate) struct ConsensusArgs {
    /// An ensemble: one row an object, one column a base clustering (CSV, NPZ, Parquet …). TSV, NPY, Arrow and MAT are read too, as is a
    /// folder of Parquet, Arrow or NPY files whose rows follow each other, or a manifest of such files (`partita distributed plan`),
    /// which is read block by block whatever its size. Empty, NA, NaN and −1 mean that the label is
    /// missing.
    pub(crate) ensemble: PathBuf,
    /// Further ensembles, or files of labels, of the same objects. Their base clusterings stand beside those of the first. Objects
    /// are matched by their names, else by place; labels of objects that a file lacks are missing.
    pub(crate) more: Vec<PathBuf>,
    /// The consensus method; `partita methods` lists them. With -k method: eac-average if not given.
    #[arg(short, long, value_name = "METHOD", default_value = super::PICK)]
    #[arg(default_value_if("clusters", "method", super::PICK_OF_AUTO))]
    #[arg(value_parser = method_names(), hide_possible_values = true)]
    pub(crate) method: String,
    /// Clusters: a number, a range such as 2..12, auto, or method. Of a range `partita choose-k` takes one (the method's
    /// where it cuts a tree, else that of eac-average), or 1 if base clusterings agree no more than by chance; auto
    /// is 2..12; with significant a table (--features) says which of many clusters have gaps between them; with method the
    /// method finds its own. Only where labels name classes (--set named=true) it can be left
    /// out: there is a cluster for each name.
    #[arg(short = 'k', long = "clusters", value_name = "K")]
    #[arg(
        default_value_if("set", "named=true", "method"),
        required_unless_present("set")
    )]
    pub(crate) clusters: Option<ClustersAsked>,
    #[command(flatten)]
    pub(crate) read: EnsembleReadArgs,
    /// A setting of the method, such as restarts=3; may be given several times. `partita methods METHOD` lists them.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting_names(), hide_possible_values = true)]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    /// Probabilities to start from (object,p0,p1,…), one column a cluster, for methods that can (`partita methods`): a soft partition as
    /// --soft writes it.
    #[arg(long, value_name = "SOFT.csv", conflicts_with = "stream")]
    pub(crate) start: Option<PathBuf>,
    /// The pairs of objects that are read, for methods that read pairs (`partita methods`): a file with the columns first and second. With
    /// the columns together and seen as well (how often the two are together, and in how many both are labelled) these counts take the
    /// place of those of the base clusterings; `partita inspect --co-association pairs.csv --least-share 0` writes such a file.
    #[arg(long, value_name = "PAIRS.csv", conflicts_with = "stream")]
    pub(crate) pairs: Option<PathBuf>,
    /// What is done with objects that no base clustering labels, such as the noise of a density method: keep (they stay without a label,
    /// NA), cluster (they are labelled though nothing speaks for it, mostly with the largest cluster), or refuse.
    #[arg(long, value_name = "keep|cluster|refuse", default_value = "keep")]
    pub(crate) unlabelled: Unlabelled,
    /// Insist that the label rows of a Parquet or Arrow ensemble stay on the disk where they are many, or say why they
    /// cannot. Ensembles of more than 33,554,432 labels of more than 65,536 objects stay there anyway where the method can read rows block by block
    /// (`partita methods`); the labels are the same wherever the rows are.
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
    /// Where the labels go: a file, or a folder for all results. Stdout if not given or -. A file has the columns
    /// object,label,agreement (and probability, of methods that have them); its ending says the format: .csv, .tsv, .parquet, .json, or .npy for the labels alone. A folder (it exists, or ends in /) gets
    /// labels.csv, soft.csv, report.html, record.json and summary.txt.
    #[arg(short, long, value_name = "FILE|DIR/")]
    pub(crate) output: Option<PathBuf>,
    /// Where the report goes, if not into the folder of the labels: one page that needs nothing else. Of label rows that stay on the disk
    /// its tables are of all objects, its pictures of about 20,000 that a hash draws.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write no report.html into the folder.
    #[arg(long)]
    pub(crate) no_report: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Where the probabilities go (object,p0,p1,…), of a method that has some.
    #[arg(long, value_name = "SOFT.csv")]
    pub(crate) soft: Option<PathBuf>,
    /// Where the relations of the clusters go (cluster,objects,0,1,…): of the expected objects of a row's cluster, the
    /// share that is in the column's.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) relations: Option<PathBuf>,
    /// Where overlapping clusters go (object,cluster,probability,bridgeness): a row for every cluster that an object has at least the
    /// --threshold probability of, and for its most probable one whatever that is. Bridgeness is 0 where an object is certain, 1 where it is in
    /// all clusters alike.
    #[arg(long, value_name = "FILE.csv", requires = "threshold")]
    pub(crate) overlap: Option<PathBuf>,
    /// Probabilities below this count as 0 in the relations, where what is left of a row is divided by its sum, and put no object into a
    /// cluster of --overlap.
    #[arg(long, value_name = "P", requires = "of_probabilities")]
    pub(crate) threshold: Option<f64>,
    /// Where draws from the posterior go, for methods that sample one (nbce-gibbs): an ensemble with a base clustering a draw,
    /// which `partita modes` and `partita consensus` read.
    #[arg(long, value_name = "DRAWS.npz")]
    pub(crate) draws: Option<PathBuf>,
    /// Where pairs of objects go that draws from the posterior put together (first,second,similarity).
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) similarity: Option<PathBuf>,
    /// Pairs that a smaller share of the draws puts together are left out of --similarity.
    #[arg(
        long,
        alias = "least-similarity",
        value_name = "SHARE",
        default_value_t = 0.1,
        requires = "similarity"
    )]
    pub(crate) min_similarity: f64,
    /// Where the tree goes, for methods that cut one: Newick with the names of the objects (.nwk), what R's hclust holds (.hclust.csv),
    /// or a row a merge, as scipy.cluster.hierarchy has them (NPY, CSV, TSV, NPZ or Parquet; left, right, height, objects).
    #[arg(long, value_name = "TREE.npy")]
    pub(crate) tree: Option<PathBuf>,
    /// Where a model goes that `partita predict` labels new objects with.
    #[arg(long, value_name = "MODEL.json")]
    pub(crate) model: Option<PathBuf>,
    /// What the model is: without it, the method's own or one of label rows; ssce (logistic regression), centroid or
    /// knn:5 read a table with the columns of --features instead.
    #[arg(long, value_name = "HOW", requires_all = ["model", "features"])]
    pub(crate) predict_with: Option<Predictor>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

impl ConsensusArgs {
    /// The number of clusters that was asked for.
    ///
    /// # Errors
    /// Where there is none.
    pub(crate) fn asked_clusters(&self) -> Result<ClustersAsked, AppError> {
        self.clusters.ok_or_else(|| {
            AppError::request(
                "say how many clusters: -k and a number, a range such as 2..12, auto, significant or method",
            )
        })
    }
}
