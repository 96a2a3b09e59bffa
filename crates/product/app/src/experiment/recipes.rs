//! Recipes of base clusterings: a paper's preset, a TOML file, or the one that an ensemble keeps of its making.

use std::path::Path;

use partita::files::{self, ReadOptions};
use partita::generate::Recipe;
use partita::{Clusters, Seed};
use serde_json::{Map, Value};

use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;
use crate::machine::default_budget;

/// A paper's recipe by name. Some do not depend on the number of clusters.
///
/// # Errors
/// [`AppError::Generate`] for an unknown name, [`AppError::Request`] if the recipe depends on a number of clusters and
/// there is none.
pub fn preset(name: &str, clusters: Option<Clusters>) -> Result<Recipe, AppError> {
    if let Some(Clusters::Exactly(clusters)) = clusters {
        return Ok(Recipe::preset(name, clusters)?);
    }
    let recipe = Recipe::preset(name, 3)?;
    if recipe != Recipe::preset(name, 4)? {
        return Err(AppError::request(format!(
            "the preset {name} multiplies a number of clusters; give one with -k"
        )));
    }
    Ok(recipe)
}

/// The default recipe or a preset, with these fields put in.
///
/// # Errors
/// As [`preset`]; [`AppError::Request`] for a field that a recipe does not have or take.
pub fn recipe_with(
    preset_name: Option<&str>,
    clusters: Option<Clusters>,
    fields: Map<String, Value>,
) -> Result<Recipe, AppError> {
    let start = preset_name.map_or_else(|| Ok(Recipe::default()), |name| preset(name, clusters))?;
    let wrong = |error: serde_json::Error| AppError::request(format!("the recipe: {error}"));
    let mut value = serde_json::to_value(&start).map_err(wrong)?;
    for (name, field) in fields {
        value[name] = field;
    }
    serde_json::from_value(value).map_err(wrong)
}

/// Whether base clusterings are made as the table suggests where these fields of a recipe are named: none but the scaling, and
/// the number of clusters is not left to the methods.
pub fn recipe_is_open(
    preset_name: Option<&str>,
    fields: &Map<String, Value>,
    clusters: ClustersAsked,
) -> bool {
    preset_name.is_none()
        && fields.keys().all(|name| name == "scale")
        && clusters != ClustersAsked::Method
}

/// The recipe in a `.toml` file, or that of an ensemble with the seed that it was made with.
///
/// # Errors
/// [`AppError::Content`] names the line of the file; [`AppError::File`] for what cannot be read.
pub fn recipe_from(path: &Path) -> Result<(Recipe, Option<Seed>), AppError> {
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return from_toml(path).map(|recipe| (recipe, None));
    }
    let loaded = files::read_ensemble(path, &ReadOptions::default().within(default_budget()))?;
    let text = loaded.ensemble.recipe().ok_or_else(|| {
        let reason =
            "does not say how it was made; take a .toml file, or an .npz that partita wrote";
        AppError::content(path, reason)
    })?;
    let (recipe, seed) =
        Recipe::from_json(text).map_err(|error| AppError::content(path, error.to_string()))?;
    Ok((recipe, Some(seed)))
}

fn from_toml(path: &Path) -> Result<Recipe, AppError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| AppError::io(path, "be read", error))?;
    toml::from_str(&text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        let what = error.message().replace('\n', " ");
        AppError::request(format!("{}, line {line}: {what}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_wrong_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recipe.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            recipe_from(&path).map_err(|error| error.to_string())
        };
        assert_eq!(
            read("base = [\"kmeans:3\", \"ward:2\"]\nbase_k = \"2..4\"\n")
                .unwrap()
                .0
                .runs(),
            5
        );
        let message = read("subsample = 0.5\nbase_k = \"4..2\"\n").unwrap_err();
        assert!(
            message.contains("line 2") && message.contains("reversed"),
            "{message}"
        );
        assert!(read("subsmaple = 0.5\n").unwrap_err().contains("subsmaple"));
    }

    #[test]
    fn some_presets_need_a_number_of_clusters() {
        assert!(preset("kdd", None).is_ok() && preset("ssce", Some(Clusters::Exactly(3))).is_ok());
        assert!(
            preset("ssce", Some(Clusters::Auto))
                .unwrap_err()
                .to_string()
                .contains("-k")
        );
    }
}
