//! What the literature calls our methods: names of algorithms and packages, and which method here each is, or is not.

/// A name from the literature, and the methods here that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAs {
    /// The name, as papers and packages write it.
    pub term: &'static str,
    /// Methods here, by name; none where there is no such method.
    pub methods: &'static [&'static str],
    /// In what way it is one of them, or is not.
    pub note: &'static str,
}

const fn known(
    term: &'static str,
    methods: &'static [&'static str],
    note: &'static str,
) -> KnownAs {
    KnownAs {
        term,
        methods,
        note,
    }
}

/// Names from the literature, in the order of the alphabet.
pub static KNOWN_AS: &[KnownAs] = &[
    known("ACV", &["acv"], "adaptive cumulative voting"),
    known(
        "ADMIXTURE",
        &["soft-mean"],
        "gives its runs common columns, and finds K by their errors of cross-validation: `partita align`; then their mean",
    ),
    known(
        "AGGLOMERATIVE",
        &["eac-average"],
        "clustering aggregation of Gionis and others: the same tree, cut at height 1/2 there, at K or by lifetime here",
    ),
    known(
        "BALLS",
        &[],
        "clustering aggregation of Gionis and others: not here; median-binder has the same objective and finds lower values",
    ),
    known(
        "BERTopic",
        &[],
        "topics of several models, −1 as missing: `partita consensus`; words of documents: `partita text`",
    ),
    known(
        "Binder loss",
        &["median-binder", "nbce-gibbs"],
        "median of base clusterings; summary of posterior samples",
    ),
    known("category utility", &["qmi", "kcc"], "kcc with utility=c"),
    known(
        "CEHM",
        &[],
        "k-hyperedge medoids of Li and others 2025: not here; mcla and ecpcs-mc group base clusters, then place objects",
    ),
    known(
        "cell types",
        &["mm"],
        "labels of annotation tools, which are names: mm with named=true",
    ),
    known(
        "clue",
        &["soft-mean", "median-binder", "plurality"],
        "R package: SE and HE are soft-mean with rows=soft and rows=hard, DWH with order=stream; GV1 is not here",
    ),
    known(
        "CLUMPP",
        &[],
        "aligns soft runs, which is no consensus: `partita align`",
    ),
    known(
        "Cluster ensemble",
        &["cspa", "mcla", "hgpa"],
        "Strehl and Ghosh 2002",
    ),
    known(
        "clustering aggregation",
        &["median-binder", "eac-average"],
        "Gionis, Mannila and Tsaparas 2007",
    ),
    known(
        "clustree",
        &[],
        "R package: `pt.plot.clustree` draws it in Python, `partita report --figures` where K was chosen",
    ),
    known(
        "COCA",
        &["kc"],
        "cluster-of-clusters analysis: k-means on one-hot labels of resampled base clusterings",
    ),
    known(
        "consensus clustering (Monti)",
        &["eac-average"],
        "make base clusterings on subsamples with generate",
    ),
    known(
        "consensus matrix",
        &["eac-average", "cspa"],
        "called co-association here: `partita inspect --co-association`; methods that cut it",
    ),
    known(
        "ConsensusClusterPlus",
        &["eac-average"],
        "make base clusterings on subsamples with generate",
    ),
    known(
        "correlation clustering",
        &["median-binder"],
        "with K free, on the co-association",
    ),
    known(
        "CPM",
        &[],
        "consensus by the constant Potts model on a sparse co-association: not here",
    ),
    known(
        "Dawid-Skene",
        &["mm"],
        "labels that name classes: mm with named=true",
    ),
    known(
        "diceR",
        &["cts", "lce", "cspa", "kc"],
        "R package; its CTS cuts the list of clusters into equal parts, ours by base clustering",
    ),
    known(
        "DREC",
        &[],
        "not here: a Sylvester equation an iteration, and a parameter that was tuned on the truth",
    ),
    known(
        "EAC",
        &["eac-average", "eac-single"],
        "evidence accumulation, Fred and Jain 2005",
    ),
    known(
        "EC-CMS",
        &[],
        "also ECCMS; not here: a dense matrix inverted, sensitive to its parameter, and at the published ones no better than lwea",
    ),
    known(
        "ECC",
        &["kcc"],
        "entropy-based consensus clustering: utility=h",
    ),
    known("ECPCS", &["ecpcs-mc", "ecpcs-hc"], "Huang and others 2021"),
    known(
        "FastEnsemble",
        &["eac-sparse"],
        "modularity of a network's co-association: not here; the sparse co-association without it",
    ),
    known(
        "FURTHEST",
        &[],
        "clustering aggregation of Gionis and others: not here; median-binder has the same objective",
    ),
    known(
        "fuzzy c-means",
        &["eac-fuzzy"],
        "on the rows of the co-association; fuzzy k-medoids with prototypes=medoids",
    ),
    known(
        "gap statistic",
        &[],
        "not here: `partita choose-k` for the number of clusters, `partita test` for gaps between them",
    ),
    known(
        "GP-MGLA",
        &["gp-mgla"],
        "multi-granularity link analysis, Huang, Lai and Wang 2015",
    ),
    known("HBGF", &["hbgf"], "Fern and Brodley 2004"),
    known(
        "HDBSCAN",
        &[],
        "not here: `partita consensus` reads its labels, −1 as missing",
    ),
    known(
        "ITK",
        &["kcc"],
        "information-theoretic k-means of Punera and Ghosh: utility=h, hard labels or shares",
    ),
    known("IVC", &["ipvc"], "iterative voting consensus"),
    known("k-HyperEdge Medoids", &[], "see CEHM"),
    known(
        "k-modes",
        &["kc"],
        "of label rows: kc has means in place of modes; a table with words: `partita run`",
    ),
    known(
        "KCC",
        &["kcc", "kc"],
        "k-means-based consensus clustering, Wu and others 2015",
    ),
    known(
        "latent class analysis",
        &["mm"],
        "a mixture of multinomials of the labels",
    ),
    known(
        "Leiden",
        &[],
        "a base clusterer: `partita run --base leiden:100` of a table, `partita run --graph` of a network; `partita consensus` reads its labels",
    ),
    known(
        "LinkCluE",
        &["cts", "lce"],
        "Matlab package of Iam-On and others",
    ),
    known(
        "LOCALSEARCH",
        &["median-binder"],
        "clustering aggregation of Gionis and others",
    ),
    known(
        "Louvain",
        &[],
        "not here: Leiden, which improves on it, is a base clusterer, `partita run --base leiden:100`; `partita consensus` reads its labels",
    ),
    known("LWCA", &["lwea"], "locally weighted co-association"),
    known(
        "majority voting",
        &["plurality"],
        "after the clusters are matched",
    ),
    known(
        "MDEC",
        &[],
        "not here: it holds several tables of all pairs",
    ),
    known(
        "median partition",
        &["median-vi", "median-binder", "kc", "qmi"],
        "by variation of information, Binder loss, squares, category utility",
    ),
    known(
        "meta-clustering",
        &["mcla", "ecpcs-mc"],
        "balanced by METIS; by normalised cut",
    ),
    known(
        "NCAI",
        &[],
        "weights of base clusterings (base-weights: agreement), no method; gp-mgla has it inside",
    ),
    known("pong", &[], "aligns and draws soft runs: `partita align`"),
    known(
        "PTA",
        &[],
        "probability trajectories: not here; ecpcs-hc walks among base clusters instead of fragments",
    ),
    known(
        "PTGP",
        &[],
        "probability trajectories: not here; ecpcs-mc walks among base clusters instead of fragments",
    ),
    known(
        "SAFE",
        &["best"],
        "single-cell ensembles by the best of cspa, hgpa and mcla: best takes all methods",
    ),
    known(
        "SALSO",
        &["median-vi", "median-binder"],
        "Dahl, Johnson and Müller 2022",
    ),
    known(
        "SAME",
        &["mm"],
        "mixture of multinomials that takes K by BIC: mm with choose-k",
    ),
    known(
        "SAMPLING",
        &["lwgp"],
        "clustering aggregation of Gionis and others: a sample, then the rest; methods that read row blocks need none",
    ),
    known(
        "SC3",
        &["eac-complete"],
        "its last step: complete link on the co-association of k-means runs",
    ),
    known(
        "scanpy",
        &[],
        "resolutions of Leiden: pt.sc.consensus in Python; label columns: `partita consensus`",
    ),
    known(
        "SDGCA",
        &[],
        "not here: two dense solves in each of 300 iterations, and three parameters published for each data set",
    ),
    known("SEC", &["sec"], "spectral ensemble clustering"),
    known(
        "Seurat",
        &[],
        "resolutions: add_consensus in R; label columns: `partita consensus`",
    ),
    known(
        "silhouette",
        &[],
        "of the clusters of a table for every K: `partita choose-k`; how sure a label is: agreement",
    ),
    known(
        "STRUCTURE",
        &["soft-mean"],
        "gives its runs common columns, and finds K by delta K: `partita align`; then their mean",
    ),
    known(
        "topic models",
        &["soft-mean", "mm"],
        "topics of several models: `partita consensus`, shares of topics: `partita align`; words of documents: `partita text`",
    ),
    known(
        "U-SENC",
        &["hbgf"],
        "its consensus step; base clusterings by generate with the preset u-senc",
    ),
    known(
        "U-SPEC",
        &["hbgf", "lwgp"],
        "a base clusterer, not a consensus method: generate with the base uspec:20",
    ),
    known(
        "variation of information",
        &["median-vi", "nbce-gibbs"],
        "median of base clusterings; summary of posterior samples",
    ),
    known("WCT", &["lce", "cts"], "weighted connected triples"),
    known(
        "WEAC",
        &["eac-average", "eac-single", "eac-complete"],
        "evidence weighted by agreement of base clusterings (base-weights: agreement); lwea weighs base clusters",
    ),
];

impl KnownAs {
    /// Whether the name or the note has this text, in upper or lower case.
    pub fn matches(&self, text: &str) -> bool {
        let has = |words: &str| words.to_lowercase().contains(&text.to_lowercase());
        has(self.term) || has(self.note)
    }
}
