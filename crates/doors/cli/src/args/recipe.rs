//! From flags to a recipe: a preset or a file, then what the other flags change in it.

use partita::generate::Recipe;
use partita::{Clusters, Seed};
use partita_app::{AppError, preset, recipe_from};

use super::RecipeArgs;

/// The recipe that the flags describe, of the `usual` preset where they name none, and the seed where an ensemble brought one.
pub(crate) fn recipe(
    args: &RecipeArgs,
    clusters: Option<Clusters>,
    usual: Option<&str>,
) -> Result<(Recipe, Option<Seed>), AppError> {
    let (mut recipe, seed) = match (args.preset.as_deref().or(usual), &args.recipe) {
        (_, Some(path)) => recipe_from(path)?,
        (Some(name), None) => (preset(name, clusters)?, None),
        (None, None) => (Recipe::default(), None),
    };
    if let Some(base) = &args.base {
        recipe.base.clone_from(&base.0);
    }
    if let Some(base_k) = &args.base_k {
        recipe.base_k.clone_from(base_k);
    }
    recipe.subsample = args.subsample.unwrap_or(recipe.subsample);
    recipe.replacement |= args.replacement;
    recipe.features = args.features.unwrap_or(recipe.features);
    recipe.projection = args.projection.or(recipe.projection);
    recipe.scale = args.scale.unwrap_or(recipe.scale);
    recipe.resolution = args.resolution.unwrap_or(recipe.resolution);
    recipe.objective = args.objective.unwrap_or(recipe.objective);
    recipe.edges = args.edges.unwrap_or(recipe.edges);
    if !args.gini.is_empty() {
        recipe.gini.clone_from(&args.gini);
    }
    Ok((recipe, seed))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(flags: &str) -> Result<(Recipe, Option<Seed>), String> {
        let words = "partita generate t.csv -o e.npz"
            .split(' ')
            .chain(flags.split_whitespace());
        let Command::Generate(args) = Cli::try_parse_from(words)
            .expect("flags that exist")
            .command
        else {
            unreachable!("generate was asked for")
        };
        let clusters = args
            .clusters
            .map(|clusters| Clusters::Exactly(clusters.get()));
        recipe(&args.recipe, clusters, None).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_change_a_preset() {
        let (plain, seed) = read("--preset nbce -k 4").unwrap();
        assert_eq!((&plain, seed), (&Recipe::preset("nbce", 4).unwrap(), None));
        let (changed, _) = read("--preset nbce -k 4 --base-k 7 --replacement").unwrap();
        assert_eq!(
            (
                changed.base_k.to_string(),
                &changed.base,
                changed.replacement
            ),
            ("7".into(), &plain.base, true)
        );
        assert!(read("--preset kdd").is_ok() && read("--preset pcc-1").is_ok());
        assert!(read("--preset ssce").unwrap_err().contains("-k"));
    }
}
