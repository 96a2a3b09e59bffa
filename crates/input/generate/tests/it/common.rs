//! What the tests of this folder share.

use partita_core::ndarray::Array2;
use partita_core::{MemoryBudget, Seed, Silent};
use partita_generate::{BaseSpec, GenerateError, Generated, Recipe, generate};

/// A recipe from its texts.
pub(crate) fn recipe(base: &str, base_k: &str, subsample: f64) -> Recipe {
    let mut recipe = Recipe::default();
    recipe.base = BaseSpec::list(base).expect("base clusterers");
    recipe.base_k = base_k.parse().expect("numbers of clusters");
    recipe.subsample = subsample;
    recipe
}

/// The ensemble of a table, with as much memory as it takes.
pub(crate) fn make(
    table: &Array2<f64>,
    recipe: &Recipe,
    seed: u64,
) -> Result<Generated, GenerateError> {
    let unlimited = MemoryBudget::UNLIMITED;
    generate(table.view(), recipe, Seed::new(seed), unlimited, &Silent)
}
