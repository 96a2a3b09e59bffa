//! Recipes: what an ensemble shall be made of.

use std::fmt;
use std::str::FromStr;

use partita_core::{Seed, on_one_line};
use partita_leiden::Objective;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::{BaseK, BaseKind, GenerateError, Resolutions, Scale};

/// So many runs of one base clusterer; written `kmeans:60`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub struct BaseSpec {
    /// The base clusterer.
    pub kind: BaseKind,
    /// How many base clusterings it makes, at least 1.
    pub runs: usize,
}

impl BaseSpec {
    /// So many runs of this base clusterer.
    pub const fn new(kind: BaseKind, runs: usize) -> Self {
        Self { kind, runs }
    }

    /// Reads a list such as `kmeans:60,kmeans-random:40`.
    ///
    /// # Errors
    /// [`GenerateError::UnknownBase`], [`GenerateError::Runs`] or [`GenerateError::NoBase`], naming the part
    /// that cannot be read.
    pub fn list(text: &str) -> Result<Vec<Self>, GenerateError> {
        if text.trim().is_empty() {
            return Err(GenerateError::NoBase);
        }
        text.split(',').map(|part| part.trim().parse()).collect()
    }
}

impl FromStr for BaseSpec {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self> {
        let (name, runs) = text.split_once(':').unwrap_or((text, ""));
        let kind: BaseKind = name.trim().parse()?;
        match runs.trim().parse() {
            Ok(runs) if runs > 0 => Ok(Self { kind, runs }),
            _ => Err(GenerateError::Runs {
                text: text.into(),
                name: kind.name().into(),
            }),
        }
    }
}

impl fmt::Display for BaseSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.runs)
    }
}

impl From<BaseSpec> for String {
    fn from(spec: BaseSpec) -> Self {
        spec.to_string()
    }
}

impl TryFrom<String> for BaseSpec {
    type Error = GenerateError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

/// What an ensemble shall be made of. Start from `default()` and change what you mean to change.
///
/// ```
/// use partita_generate::{BaseSpec, Recipe};
///
/// # fn main() -> Result<(), partita_generate::GenerateError> {
/// let mut recipe = Recipe::default();
/// recipe.base = BaseSpec::list("kmeans:60,kmeans-random:40")?;
/// recipe.base_k = "4..20".parse()?;
/// assert_eq!(recipe.runs(), 100);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Recipe {
    /// The base clusterers and how often each runs.
    pub base: Vec<BaseSpec>,
    /// How many clusters the base clusterings have.
    pub base_k: BaseK,
    /// Share of the objects that each base clustering sees; without replacement, 1 is all.
    pub subsample: f64,
    /// Draw the objects with replacement. k-means (not its mini-batch form) counts an object as often as it was
    /// drawn; other base clusterers see every drawn object once.
    pub replacement: bool,
    /// Share of the columns that each base clustering sees, drawn without replacement; 1 is all.
    pub features: f64,
    /// Columns of a random projection (Gaussian directions) that each base clustering sees instead of the table.
    pub projection: Option<usize>,
    /// How columns are brought to a common scale first; [`Scale::Auto`] unless said otherwise.
    pub scale: Scale,
    /// Limits of the Gini index of cluster sizes, 0 to 1, which the runs of `genie` take in turn: a low one makes clusters of
    /// about the same size, 1 is single link.
    #[serde(skip_serializing_if = "usual_gini")]
    pub gini: Vec<f64>,
    /// Resolutions that the runs of `leiden` and `leiden-cosine` draw from: a high one makes more and smaller clusters.
    #[serde(skip_serializing_if = "Resolutions::are_usual")]
    pub resolution: Resolutions,
    /// What the runs of `leiden` and `leiden-cosine` make as large as possible. The resolution of [`Objective::Cpm`] is in units of the
    /// weights of edges: the density that a cluster has at least.
    #[serde(skip_serializing_if = "is_usual")]
    pub objective: Objective,
    /// Share of the edges of the graph that each run of `leiden` and `leiden-cosine` sees; 1 is all.
    #[serde(skip_serializing_if = "is_all")]
    pub edges: f64,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            base: vec![BaseSpec::new(BaseKind::KMeans, 100)],
            base_k: BaseK::Sqrt,
            subsample: 0.9,
            replacement: false,
            features: 1.0,
            projection: None,
            scale: Scale::Auto,
            gini: USUAL_GINI.to_vec(),
            resolution: Resolutions::default(),
            objective: Objective::default(),
            edges: 1.0,
        }
    }
}

/// The limits that the runs of `genie` take in turn where a recipe names none.
const USUAL_GINI: [f64; 4] = [0.1, 0.3, 0.5, 0.7];

/// The most base clusterings of a recipe.
const MOST_RUNS: usize = 1 << 20;

/// Recipes that do not name limits are written as before there were any.
fn usual_gini(gini: &[f64]) -> bool {
    gini == USUAL_GINI
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_usual(objective: &Objective) -> bool {
    *objective == Objective::default()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_all(share: &f64) -> bool {
    *share == 1.0
}

/// A recipe with what else is needed to make the same ensemble again.
#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    recipe: Recipe,
    seed: u64,
    version: String,
}

impl Recipe {
    /// Number of base clusterings, M.
    pub fn runs(&self) -> usize {
        self.base
            .iter()
            .fold(0, |sum, spec| sum.saturating_add(spec.runs))
    }

    /// Whether any base clustering is told a number of clusters; Leiden finds it by a resolution.
    pub fn asks_for_clusters(&self) -> bool {
        self.base.iter().any(|spec| !spec.kind.by_resolution())
    }

    /// Objects in each base clustering of a table of so many.
    pub fn rows(&self, objects: usize) -> usize {
        ((self.subsample * objects as f64).round() as usize).clamp(1, objects.max(1))
    }

    /// True when every base clustering sees the whole table.
    pub(crate) fn sees_everything(&self) -> bool {
        self.subsample == 1.0 && !self.replacement && !self.alters_columns()
    }

    /// True when base clusterings see other columns than the table's.
    pub(crate) fn alters_columns(&self) -> bool {
        self.features != 1.0 || self.projection.is_some()
    }

    /// Refuses a recipe that cannot be followed for a table of so many objects.
    ///
    /// # Errors
    /// [`GenerateError`] with the values that clash.
    pub fn check(&self, objects: usize) -> Result<(), GenerateError> {
        if self.runs() == 0 {
            return Err(GenerateError::NoBase);
        }
        if self.runs() > MOST_RUNS {
            return Err(GenerateError::TooManyRuns {
                runs: self.runs(),
                most: MOST_RUNS,
            });
        }
        let shares = [
            ("subsample", self.subsample),
            ("features", self.features),
            ("edges", self.edges),
        ];
        for (what, share) in shares {
            if !(share > 0.0 && share <= 1.0) {
                return Err(GenerateError::Share { what, share });
            }
        }
        if self.projection == Some(0) {
            return Err(GenerateError::Projection);
        }
        if self.gini.is_empty() || !self.gini.iter().all(|limit| (0.0..=1.0).contains(limit)) {
            return Err(GenerateError::Gini {
                gini: self.gini.clone(),
            });
        }
        self.resolution.check()?;
        self.base_k.check()?;
        let clusters = self.base_k.bounds(objects).1;
        let rows = self.rows(objects);
        if clusters > objects {
            return Err(GenerateError::TooManyClusters { clusters, objects });
        }
        if clusters > rows {
            return Err(GenerateError::TooManyForSubsample {
                clusters,
                rows,
                share: self.subsample,
                objects,
            });
        }
        Ok(())
    }

    /// One line of JSON that says how an ensemble was made: the recipe, the seed, this version.
    pub fn to_json(&self, seed: Seed) -> String {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let record = Record {
            recipe: self.clone(),
            seed: seed.number(),
            version,
        };
        serde_json::to_string(&record).expect("a recipe is plain data")
    }

    /// The recipe and the seed that [`Recipe::to_json`] wrote.
    ///
    /// # Errors
    /// [`GenerateError::Recipe`] if the text is something else.
    pub fn from_json(text: &str) -> Result<(Self, Seed), GenerateError> {
        let wrong =
            |error: serde_json::Error| GenerateError::Recipe(on_one_line(&error.to_string()));
        let record: Record = serde_json::from_str(text).map_err(wrong)?;
        Ok((record.recipe, Seed::new(record.seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_base_clusterers_read_back() {
        let list = BaseSpec::list(" kmeans:60, kmeans-random:40").unwrap();
        assert_eq!(
            list,
            [
                BaseSpec::new(BaseKind::KMeans, 60),
                BaseSpec::new(BaseKind::KMeansRandom, 40)
            ]
        );
        let message = |text: &str| BaseSpec::list(text).unwrap_err().to_string();
        assert!(
            message("kmean:3")
                .starts_with("there is no base clusterer 'kmean'; choose from kmeans, ")
        );
        for text in ["kmeans", "kmeans:0", "kmeans:x", "kmeans:-1"] {
            assert_eq!(
                message(text),
                format!("'{text}' says no number of runs; write for example kmeans:20")
            );
        }
        assert!(message("").contains("no base clustering"));
    }

    #[test]
    fn a_record_gives_back_recipe_and_seed() {
        let base_k = BaseK::Range { first: 3, last: 9 };
        let recipe = Recipe {
            base_k,
            subsample: 0.1 + 0.2,
            ..Recipe::default()
        };
        let text = recipe.to_json(Seed::new(u64::MAX));
        assert_eq!(Recipe::from_json(&text), Ok((recipe, Seed::new(u64::MAX))));
        assert!(
            text.starts_with(
                r#"{"base":["kmeans:100"],"base_k":"3..9","subsample":0.30000000000000004,"#
            ),
            "{text}"
        );
        assert!(matches!(
            Recipe::from_json("{}"),
            Err(GenerateError::Recipe(_))
        ));
    }

    #[test]
    fn what_can_not_be_followed_is_refused() {
        let check = |base_k: &str, subsample: f64, objects| {
            let recipe = Recipe {
                base_k: base_k.parse().unwrap(),
                subsample,
                ..Recipe::default()
            };
            recipe.check(objects)
        };
        assert_eq!(check("2..10", 0.5, 20), Ok(()));
        assert_eq!(
            check("11", 1.0, 10),
            Err(GenerateError::TooManyClusters {
                clusters: 11,
                objects: 10
            })
        );
        assert!(matches!(
            check("8", 0.5, 10),
            Err(GenerateError::TooManyForSubsample { rows: 5, .. })
        ));
        let many = |runs| {
            Recipe {
                base: vec![BaseSpec::new(BaseKind::KMeans, runs); 2],
                ..Recipe::default()
            }
            .check(20)
        };
        for runs in [1 << 20, usize::MAX] {
            assert!(matches!(many(runs), Err(GenerateError::TooManyRuns { .. })));
        }
        for share in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(matches!(
                check("2", share, 10),
                Err(GenerateError::Share { .. })
            ));
        }
    }
}
