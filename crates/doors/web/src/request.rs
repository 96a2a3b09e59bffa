//! What the page asks for, as an experiment, and the answer.

use std::path::{Path, PathBuf};

use partita::extend::SettingMap;
use partita::files::disk;
use partita::generate::Recipe;
use partita_app::{
    AppError, ClustersAsked, Experiment, FileKind, Input, MethodChoice, Outputs, PageOptions,
    ReadOptions, TableInput, TakenAs, inspect, methods, recipe_is_open, recipe_with,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::observer::{Message, Page};

/// Where the results go. The name of no file that a page hands over has a slash.
const FOLDER: &str = "results/";

/// The options that are neither of reading nor of recipes: what is done with objects, and what the report shows.
const UNLABELLED: &str = "unlabelled";
const OF_THE_REPORT: [&str; 3] = ["title", "names", "describe"];

/// What is asked.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Asked {
    /// What the methods are, and their settings.
    Methods,
    /// What a file holds, and what its columns are taken for.
    Inspect(Reading),
    /// The consensus.
    Run(Run),
}

/// Files, and how they are read.
#[derive(Deserialize)]
struct Reading {
    files: Vec<PathBuf>,
    /// Whether they hold labels; found out if absent.
    labels: Option<bool>,
    /// Options by name, those of the recipe too: texts as people write them, or lists.
    #[serde(default)]
    options: Map<String, Value>,
}

#[derive(Deserialize)]
struct Run {
    #[serde(flatten)]
    of: Reading,
    clusters: Option<String>,
    method: Option<String>,
    /// Settings of the method, each `name=value`.
    #[serde(default)]
    settings: Vec<String>,
    #[serde(default)]
    seed: u64,
}

/// Does what a request in JSON asks for; meanwhile `tell` hears of it.
///
/// # Errors
/// One line about what cannot be read, or cannot work.
pub fn answer(request: &str, tell: &(dyn Fn(Message<'_>) + Sync)) -> Result<Value, AppError> {
    let page = Page(tell);
    match serde_json::from_str(request).map_err(|error| AppError::request(error.to_string()))? {
        Asked::Methods => Ok(methods::all().map(methods::describe).collect()),
        Asked::Inspect(files) => {
            let kind = files.labels.map(|labels| {
                if labels {
                    TakenAs::Ensemble
                } else {
                    TakenAs::Table
                }
            });
            let facts = |file: &PathBuf| inspect(file, kind, &files.read()?, &page);
            files.files.iter().map(facts).collect()
        }
        Asked::Run(run) => {
            let experiment = run.experiment()?;
            let record = experiment.run(&page)?;
            for &name in experiment.folder_files() {
                if let Ok(content) = disk::read(Path::new(FOLDER).join(name)) {
                    let content = &content;
                    tell(Message::File { name, content });
                }
            }
            Ok(json!({ "summary": record.summary() }))
        }
    }
}

/// An option as JSON that its field takes: what is a list of texts or a text stays one.
fn value(name: &str, given: &Value) -> Value {
    const LISTS: [&str; 7] = [
        "base",
        "describe",
        "filter_labels",
        "missing",
        "names",
        "only",
        "skip",
    ];
    const TEXTS: [&str; 7] = [
        "id",
        "sheet",
        "delimiter",
        "decimal",
        "encoding",
        "base_k",
        "title",
    ];
    let Some(text) = given.as_str().map(str::trim) else {
        return given.clone();
    };
    let as_json = || serde_json::from_str(text).unwrap_or_else(|_| text.into());
    match name {
        _ if LISTS.contains(&name) => text.split(',').map(str::trim).collect(),
        _ if TEXTS.contains(&name) => text.into(),
        _ => as_json(),
    }
}

/// What fields of JSON say, as a structure of ours.
fn fields<T: for<'de> Deserialize<'de>>(of: Value) -> Result<T, AppError> {
    serde_json::from_value(of).map_err(|error| AppError::request(format!("the options: {error}")))
}

impl Reading {
    /// The options that are of recipes, or those that are not.
    fn options(&self, of_recipes: bool) -> Map<String, Value> {
        let known = json!(Recipe::default());
        let is = |name: &str| {
            known.get(name).is_some()
                || ["gini", "resolution", "objective", "edges"].contains(&name)
        };
        let other = |name: &str| name == UNLABELLED || OF_THE_REPORT.contains(&name);
        let own = |name: &str| is(name) == of_recipes && !other(name);
        let chosen = self.options.iter().filter(|(name, _)| own(name));
        chosen
            .map(|(name, given)| (name.clone(), value(name, given)))
            .collect()
    }

    /// The options of the report.
    fn page(&self) -> Result<PageOptions, AppError> {
        let asked = OF_THE_REPORT
            .iter()
            .filter_map(|&name| Some((name, value(name, self.options.get(name)?))));
        fields(
            asked
                .map(|(name, given)| (name.to_owned(), given))
                .collect(),
        )
    }

    fn table(&self, file: &Path) -> Result<TableInput, AppError> {
        let mut options = self.options(false);
        options.insert("file".into(), json!(file));
        fields(options.into())
    }

    fn read(&self) -> Result<ReadOptions, AppError> {
        Ok(self.table(Path::new(""))?.read)
    }

    /// Whether they hold labels: several do, one as `choose-k` takes it.
    fn are_labels(&self, first: &Path) -> Result<bool, AppError> {
        if let Some(labels) = self.labels {
            return Ok(labels);
        }
        let kind = || FileKind::of(first, &self.read()?);
        Ok(self.files.len() > 1 || matches!(kind()?, FileKind::Ensemble(..)))
    }
}

impl Run {
    fn experiment(&self) -> Result<Experiment, AppError> {
        let (first, more) = self
            .of
            .files
            .split_first()
            .ok_or_else(|| AppError::request("there is no file"))?;
        let labels = self.of.are_labels(first)?;
        let clusters = self
            .clusters
            .as_deref()
            .map_or(Ok(ClustersAsked::OPEN), |text| {
                text.parse()
                    .map_err(|error| AppError::request(format!("{text} clusters: {error}")))
            })?;
        let choice = MethodChoice {
            name: self
                .method
                .clone()
                .unwrap_or_else(|| methods::usual(clusters).into()),
            settings: SettingMap::parse(&self.settings)?,
        };
        let input = if labels {
            let mut options = self.of.options(false);
            options.insert("file".into(), json!(first));
            options.insert("more".into(), json!(more));
            fields(json!({ "ensemble": options }))?
        } else {
            self.of_table(first, clusters)?
        };
        let mut experiment = Experiment::new(input, clusters, vec![choice], self.seed);
        if let Some(unlabelled) = self.of.options.get(UNLABELLED) {
            experiment.unlabelled = fields(unlabelled.clone())?;
        }
        experiment.auto = !labels && recipe_is_open(None, &self.of.options(true), clusters);
        experiment.outputs = Outputs {
            folder: Some(FOLDER.into()),
            report: true,
            ..Outputs::default()
        };
        experiment.set_page(self.of.page()?);
        Ok(experiment)
    }

    fn of_table(&self, file: &Path, clusters: ClustersAsked) -> Result<Input, AppError> {
        let changes = self.of.options(true);
        let recipe = recipe_with(None, Some(clusters.clusters()), changes)?;
        let table = self.of.table(file)?;
        Ok(Input::Table { table, recipe })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(request: Value) -> Result<Experiment, String> {
        let run: Run = serde_json::from_value(request).map_err(|error| error.to_string())?;
        run.experiment().map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_of_reading_of_recipes_or_of_the_experiment() {
        let options = json!({ "skip": "a, b", "id": "3", "max_categories": "9", "base": "kmeans:20", "scale": "zscore",
            "title": "7", "names": "young, old", "describe": ["b", "c"] });
        let made = experiment(json!({ "files": ["t.csv"], "labels": false, "options": options }));
        let made = made.unwrap();
        let Input::Table { table, recipe } = &made.input else {
            panic!("{made:?}");
        };
        assert_eq!(table.file, Path::new("t.csv"));
        assert_eq!(table.read.skip, ["a", "b", "c"]);
        let page = &made.outputs.page;
        assert_eq!(page.title.as_deref(), Some("7"));
        assert_eq!(
            (&page.names[..], &page.describe[..]),
            (
                &["young".into(), "old".into()][..],
                &["b".into(), "c".into()][..]
            )
        );
        assert_eq!(table.read.id.as_deref(), Some("3"));
        assert_eq!(table.read.max_categories, Some(9));
        assert_eq!(
            (recipe.runs(), recipe.scale),
            (20, partita::generate::Scale::ZScore)
        );
        assert!(!made.auto);

        let options = json!({ "unlabelled": "refuse", "soft_bases": "true" });
        let made = experiment(json!({
            "files": ["a.csv", "b.csv"], "clusters": "2..4", "method": "mm", "settings": ["restarts=3"], "options": options,
        }));
        let made = made.unwrap();
        let Input::Ensemble { more, read, .. } = &made.input else {
            panic!("{made:?}");
        };
        assert_eq!((more.len(), read.soft_bases), (1, true));
        assert_eq!(json!(made.unlabelled), "refuse");
        assert_eq!(
            json!(made.methods),
            json!([{ "name": "mm", "settings": { "restarts": 3 } }])
        );
    }

    #[test]
    fn a_table_alone_is_clustered_as_it_suggests() {
        let made = experiment(json!({ "files": ["t.csv"], "labels": false })).unwrap();
        assert!(made.auto && made.clusters == ClustersAsked::OPEN);
        let made = experiment(json!({ "files": ["t.csv"], "labels": false, "clusters": "method" }));
        assert!(!made.unwrap().auto);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let of =
            |name: &str| json!({ "files": ["t.csv"], "labels": false, "options": { name: "1" } });
        let error = experiment(of("skipp")).unwrap_err();
        assert!(
            error.contains("the options: unknown field `skipp`"),
            "{error}"
        );
        let error = experiment(json!({ "files": ["t.csv"], "clusters": "few" })).unwrap_err();
        assert!(error.starts_with("few clusters: "), "{error}");
        assert_eq!(
            experiment(json!({ "files": [] })).unwrap_err(),
            "there is no file"
        );
    }
}
