//! What is made as large as possible.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a clustering shall make as large as possible. With A_ij the weight of the edge of i and j (A_ii twice that of an edge to
/// itself), k_i the sum of A_ij over j, 2m that of k_i over i, n_c the vertices of cluster c, γ the resolution:
///
/// | objective | its value |
/// |---|---|
/// | `modularity` | Σ_ij (A_ij − γ k_i k_j / 2m) δ(c_i, c_j) / 2m |
/// | `rb` | Σ_ij (A_ij − γ k_i k_j / 2m) δ(c_i, c_j): the same clusterings, another number |
/// | `cpm` | Σ_c (weight within c − γ n_c (n_c − 1) / 2), whose resolution is in units of the weights |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Objective {
    /// Modularity (Newman and Girvan 2004) with a resolution.
    #[default]
    Modularity,
    /// The Hamiltonian of Reichardt and Bornholdt (2006) with the configuration model.
    #[serde(rename = "rb")]
    RbConfiguration,
    /// The constant Potts model (Traag, Van Dooren and Nesterov 2011).
    Cpm,
}

impl Objective {
    /// Every objective.
    pub const ALL: [Self; 3] = [Self::Modularity, Self::RbConfiguration, Self::Cpm];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modularity => "modularity",
            Self::RbConfiguration => "rb",
            Self::Cpm => "cpm",
        }
    }
}

/// How [`leiden`](crate::leiden) works.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeidenSettings {
    /// What is made as large as possible.
    pub objective: Objective,
    /// A larger one gives more and smaller clusters; 0 one cluster a connected part of the graph.
    pub resolution: f64,
    /// The most rounds; each but the first starts from what was found.
    pub rounds: usize,
}

impl Default for LeidenSettings {
    fn default() -> Self {
        Self {
            objective: Objective::Modularity,
            resolution: 1.0,
            rounds: 100,
        }
    }
}

impl LeidenSettings {
    /// With another resolution.
    #[must_use]
    pub const fn with_resolution(self, resolution: f64) -> Self {
        Self { resolution, ..self }
    }

    /// With another objective.
    #[must_use]
    pub const fn with_objective(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|one| one.name() == text);
        known.ok_or_else(|| {
            format!("there is no objective '{text}'; choose from modularity, rb, cpm")
        })
    }
}
