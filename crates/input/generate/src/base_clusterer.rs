//! Base clusterers by name.

use std::fmt;
use std::str::FromStr;

use crate::GenerateError;
use crate::error::Result;

/// A base clusterer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaseKind {
    /// k-means from a k-means++ start.
    KMeans,
    /// k-means from a greedy k-means++ start (the best of 2 + ln k candidates for each centre).
    KMeansGreedy,
    /// k-means from k rows drawn evenly.
    KMeansRandom,
    /// The same, ended by moves of single rows to where the sum of squares becomes smaller.
    #[doc(alias = "Hartigan–Wong")]
    KMeansMoves,
    /// k-means by the angle between rows (spherical), from a k-means++ start.
    KMeansCosine,
    /// k-means on small random batches of rows.
    KMeansBatch,
    /// Single link, cut at k clusters.
    Single,
    /// Average link, cut at k clusters.
    Average,
    /// Complete link, cut at k clusters.
    Complete,
    /// Ward's method, cut at k clusters.
    Ward,
    /// Centroid link, cut at k clusters.
    Centroid,
    /// Genie: single link along a minimum spanning tree that keeps cluster sizes about equal, cut at k clusters.
    Genie,
    /// Spectral clustering of a graph with local scales: of all pairs up to 2000 rows, of nearest neighbours above.
    Spectral,
    /// The same with all pairs for any number of rows.
    SpectralDense,
    /// The same with the 15 nearest neighbours of every row for any number of rows.
    SpectralKnn,
    /// Spectral clustering by way of 1000 representatives, for very many rows.
    #[doc(alias = "U-SPEC")]
    #[doc(alias = "U-SENC")]
    Uspec,
    /// Random hyperplanes, each through the cluster that has most rows.
    Splits,
    /// Partitioning around medoids: the k objects from which all others are nearest in sum, by swaps from a drawn start.
    #[doc(alias = "k-medoids")]
    Pam,
    /// Leiden on the graph of the 15 nearest neighbours of every row, or on a given graph, at a drawn resolution.
    #[doc(alias = "community detection")]
    Leiden,
    /// The same with neighbours by the angle between rows.
    LeidenCosine,
}

impl BaseKind {
    /// Every base clusterer.
    pub const ALL: [Self; 20] = [
        Self::KMeans,
        Self::KMeansGreedy,
        Self::KMeansRandom,
        Self::KMeansMoves,
        Self::KMeansCosine,
        Self::KMeansBatch,
        Self::Single,
        Self::Average,
        Self::Complete,
        Self::Ward,
        Self::Centroid,
        Self::Genie,
        Self::Spectral,
        Self::SpectralDense,
        Self::SpectralKnn,
        Self::Uspec,
        Self::Splits,
        Self::Pam,
        Self::Leiden,
        Self::LeidenCosine,
    ];

    /// Its name in a recipe.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KMeans => "kmeans",
            Self::KMeansGreedy => "kmeans-greedy",
            Self::KMeansRandom => "kmeans-random",
            Self::KMeansMoves => "kmeans-moves",
            Self::KMeansCosine => "kmeans-cosine",
            Self::KMeansBatch => "kmeans-batch",
            Self::Single => "single",
            Self::Average => "average",
            Self::Complete => "complete",
            Self::Ward => "ward",
            Self::Centroid => "centroid",
            Self::Genie => "genie",
            Self::Spectral => "spectral",
            Self::SpectralDense => "spectral-dense",
            Self::SpectralKnn => "spectral-knn",
            Self::Uspec => "uspec",
            Self::Splits => "splits",
            Self::Pam => "pam",
            Self::Leiden => "leiden",
            Self::LeidenCosine => "leiden-cosine",
        }
    }

    /// True where it takes the distances of all pairs in place of columns.
    pub const fn reads_distances(self) -> bool {
        matches!(
            self,
            Self::Single
                | Self::Average
                | Self::Complete
                | Self::Ward
                | Self::Pam
                | Self::Spectral
                | Self::SpectralDense
                | Self::SpectralKnn
                | Self::Leiden
        )
    }

    /// True where it finds the number of clusters by a resolution ([`Recipe::resolution`](crate::Recipe)) in place of being told it.
    pub const fn by_resolution(self) -> bool {
        matches!(self, Self::Leiden | Self::LeidenCosine)
    }

    /// True when most of the work serves every k: one tree, one embedding.
    pub(crate) const fn shares(self) -> bool {
        matches!(
            self,
            Self::Single
                | Self::Average
                | Self::Complete
                | Self::Ward
                | Self::Centroid
                | Self::Genie
                | Self::Spectral
                | Self::SpectralDense
                | Self::SpectralKnn
        )
    }
}

impl fmt::Display for BaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BaseKind {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| {
                let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
                GenerateError::UnknownBase {
                    name: text.into(),
                    known: known.join(", "),
                }
            })
    }
}
