//! Recipes: a preset or a file, then what the flags change in it.

use std::path::Path;

use partita::files::{self, EnsembleOptions};
use partita::generate::Recipe;
use partita::{Clusters, Seed};

use crate::args::RecipeArgs;
use crate::failure::Failure;

/// The recipe that the flags describe, and the seed where an ensemble brought one.
pub(crate) fn recipe(args: &RecipeArgs, clusters: Option<Clusters>) -> Result<(Recipe, Option<Seed>), Failure> {
    let (mut recipe, seed) = match (&args.preset, &args.recipe) {
        (Some(name), _) => (preset(name, clusters)?, None),
        (None, Some(path)) => from_file(path)?,
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
    Ok((recipe, seed))
}

/// A paper's recipe. Some do not depend on the number of clusters.
fn preset(name: &str, clusters: Option<Clusters>) -> Result<Recipe, Failure> {
    if let Some(Clusters::Exactly(clusters)) = clusters {
        return Ok(Recipe::preset(name, clusters)?);
    }
    let recipe = Recipe::preset(name, 3)?;
    if recipe != Recipe::preset(name, 4)? {
        return Err(Failure::input(format!("the preset {name} multiplies a number of clusters; give one with -k")));
    }
    Ok(recipe)
}

fn from_file(path: &Path) -> Result<(Recipe, Option<Seed>), Failure> {
    let here = path.display();
    if path.extension().is_some_and(|extension| extension == "toml") {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::input(format!("{here}: {error}")))?;
        let recipe = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            Failure::input(format!("{here}, line {line}: {}", error.message().replace('\n', " ")))
        })?;
        return Ok((recipe, None));
    }
    let loaded = files::read_ensemble(path, &EnsembleOptions::default())?;
    let text = loaded.ensemble.recipe().ok_or_else(|| {
        Failure::input(format!(
            "{here}: does not say how it was made; take a .toml file, or an .npz that partita wrote"
        ))
    })?;
    let (recipe, seed) = Recipe::from_json(text).map_err(|error| Failure::input(format!("{here}: {error}")))?;
    Ok((recipe, Some(seed)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(flags: &str) -> Result<(Recipe, Option<Seed>), String> {
        let words = "partita generate t.csv -o e.npz".split(' ').chain(flags.split_whitespace());
        let Command::Generate(args) = Cli::try_parse_from(words).expect("flags that exist").command else {
            unreachable!("generate was asked for")
        };
        let clusters = args.clusters.map(|clusters| Clusters::Exactly(clusters.get()));
        recipe(&args.recipe, clusters).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn flags_change_a_preset() {
        let (plain, seed) = read("--preset nbce -k 4").unwrap();
        assert_eq!((&plain, seed), (&Recipe::preset("nbce", 4).unwrap(), None));
        let (changed, _) = read("--preset nbce -k 4 --base-k 7 --replacement").unwrap();
        assert_eq!((changed.base_k.to_string(), &changed.base, changed.replacement), ("7".into(), &plain.base, true));
        assert!(read("--preset kdd").is_ok() && read("--preset pcc-1").is_ok());
        assert!(read("--preset ssce").unwrap_err().contains("-k"));
    }

    #[test]
    fn a_file_names_its_wrong_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recipe.toml");
        let flags = format!("--recipe {}", path.display());
        std::fs::write(&path, "base = [\"kmeans:3\", \"ward:2\"]\nbase_k = \"2..4\"\n").unwrap();
        assert_eq!(read(&flags).unwrap().0.runs(), 5);
        std::fs::write(&path, "subsample = 0.5\nbase_k = \"4..2\"\n").unwrap();
        let message = read(&flags).unwrap_err();
        assert!(message.contains("line 2") && message.contains("reversed"), "{message}");
        std::fs::write(&path, "subsmaple = 0.5\n").unwrap();
        assert!(read(&flags).unwrap_err().contains("subsmaple"));
    }
}
