//! `docs`: the parts of the documents that are read from the methods themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use crate::workspace::Workspace;
use crate::{markers, shell};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Change nothing; fail where something is stale.
    #[arg(long)]
    check: bool,
}

/// What `partita methods --json` says, as far as documents show it.
#[derive(Deserialize)]
struct Registry {
    methods: Vec<Method>,
    known_as: Vec<KnownAs>,
}

/// A name from the literature.
#[derive(Deserialize)]
struct KnownAs {
    term: String,
    methods: Vec<String>,
    note: String,
}

#[derive(Deserialize)]
struct Method {
    name: String,
    family: String,
    summary: String,
    reference: String,
    reads: String,
    missing: String,
    soft: bool,
    chooses_clusters: bool,
    clusters_is_maximum: bool,
    soft_bases: Value,
    base_weights: Value,
    object_weights: Value,
    streams: bool,
    certainty: String,
    time: String,
    memory: String,
    settings: Vec<Setting>,
}

#[derive(Deserialize)]
struct Setting {
    name: String,
    default: Value,
    help: String,
    values: String,
}

/// A document, the name of its generated part, and what writes it.
type Page = (&'static str, &'static str, fn(&Registry) -> String);

const PAGES: &[Page] = &[
    ("README.md", "methods", |registry| table(&registry.methods)),
    ("docs/methods.md", "methods", |registry| {
        reference(&registry.methods)
    }),
    ("docs/glossary.md", "names", |registry| {
        names(&registry.known_as)
    }),
];

/// Writes the generated parts, or checks them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    write(workspace, &workspace.tested("partita")?, arguments)
}

/// Fails where a generated part is not what the binary of the tests says.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    write(
        workspace,
        &workspace.tested("partita")?,
        &Arguments { check: true },
    )
}

fn write(workspace: &Workspace, binary: &Path, arguments: &Arguments) -> Result<()> {
    let registry = registry(binary)?;
    let mut stale = Vec::new();
    for (file, name, write) in PAGES {
        let path = workspace.path(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
        let new = markers::replace(&text, name, &write(&registry))
            .with_context(|| format!("in {file}"))?;
        if new == text {
            continue;
        }
        stale.push(*file);
        if !arguments.check {
            fs::write(&path, new).with_context(|| format!("cannot write {file}"))?;
        }
    }
    match (arguments.check, stale.is_empty()) {
        (true, false) => bail!(
            "{} do not say what the methods say; run `cargo xtask docs`",
            stale.join(" and ")
        ),
        (false, false) => println!("written: {}", stale.join(", ")),
        (_, true) => println!("the generated parts are up to date"),
    }
    Ok(())
}

fn registry(binary: &Path) -> Result<Registry> {
    let json = shell::output(Command::new(binary).args(["methods", "--json"]))?;
    serde_json::from_str(&json).context("`partita methods --json` has another form")
}

/// One row a method, for somebody who chooses.
fn table(methods: &[Method]) -> String {
    let mut text = String::from(
        "| method | what it does | gives | chooses k | time |\n|---|---|---|---|---|\n",
    );
    for method in methods {
        let gives = if method.soft {
            "labels, probabilities"
        } else {
            "labels"
        };
        let chooses = if method.chooses_clusters { "yes" } else { "no" };
        text += &row(&[
            &format!("`{}`", method.name),
            &method.summary,
            gives,
            chooses,
            &method.time,
        ]);
    }
    text
}

/// One row a name from the literature.
fn names(known: &[KnownAs]) -> String {
    let mut text = String::from("| name | methods here | in what way |\n|---|---|---|\n");
    for name in known {
        let methods: Vec<String> = name
            .methods
            .iter()
            .map(|method| format!("`{method}`"))
            .collect();
        let methods = if methods.is_empty() {
            "–".to_owned()
        } else {
            methods.join(", ")
        };
        text += &row(&[&name.term, &methods, &name.note]);
    }
    text
}

/// Who takes doubt in the input, and why others do not; then everything an info says, one section a method.
fn reference(methods: &[Method]) -> String {
    let sections = methods.iter().map(section).collect::<Vec<_>>().join("\n");
    format!("{}\n{sections}", doubt(methods))
}

/// Which methods refuse soft base clusterings or weights, with the reasons: all others take them.
fn doubt(methods: &[Method]) -> String {
    let all = |of: fn(&Method) -> &Value| {
        let takes = methods
            .iter()
            .filter(|method| of(method)["refused"].is_null())
            .count();
        format!("{takes} of {}", methods.len())
    };
    let mut text = format!(
        "## Soft base clusterings and weights\n\nSoft base clusterings are taken by {} methods, weights of base clusterings by {}, weights of \
         objects by {}. The others refuse them:\n\n| method | refuses | because |\n|---|---|---|\n",
        all(|method| &method.soft_bases),
        all(|method| &method.base_weights),
        all(|method| &method.object_weights)
    );
    for method in methods {
        let given = [
            ("soft base clusterings", &method.soft_bases),
            ("weights of base clusterings", &method.base_weights),
            ("weights of objects", &method.object_weights),
        ];
        for (what, taken) in given {
            text += &taken["refused"].as_str().map_or_else(String::new, |why| {
                row(&[&format!("`{}`", method.name), what, why])
            });
        }
    }
    text
}

fn section(method: &Method) -> String {
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let clusters = match (method.chooses_clusters, method.clusters_is_maximum) {
        (true, _) => "a number, a range, `auto`, or `method`",
        (false, true) => "the most it may use, a range or `auto`",
        (false, false) => "a number, a range or `auto`",
    };
    let facts = [
        ("crate", format!("`partita-{}`", method.family)),
        ("reads", method.reads.replace('-', " ")),
        ("missing labels", method.missing.replace('-', " ")),
        ("`-k`", clusters.to_owned()),
        ("probabilities", yes(method.soft)),
        ("soft base clusterings", taken(&method.soft_bases)),
        ("weights of base clusterings", taken(&method.base_weights)),
        ("weights of objects", taken(&method.object_weights)),
        ("rows in blocks", yes(method.streams)),
        ("certainty", method.certainty.clone()),
        ("time", method.time.clone()),
        ("memory", method.memory.clone()),
    ];
    let (name, summary, reference) = (
        &method.name,
        sentence(&method.summary),
        sentence(&method.reference),
    );
    let mut text = format!("## `{name}`\n\n{summary}\n\n{reference}\n\n| | |\n|---|---|\n");
    text.extend(facts.iter().map(|(what, is)| row(&[what, is])));
    if !method.settings.is_empty() {
        text += "\n| setting | default | values | what it changes |\n|---|---|---|---|\n";
        let setting = |s: &Setting| {
            row(&[
                &format!("`{}`", s.name),
                &format!("`{}`", plain(&s.default)),
                &s.values,
                &s.help,
            ])
        };
        text.extend(method.settings.iter().map(setting));
    }
    text
}

/// Whether soft base clusterings or weights are taken, and why not.
fn taken(weights: &Value) -> String {
    match (weights["refused"].as_str(), weights.as_str()) {
        (Some(why), _) => format!("no: {why}"),
        (None, Some("copies")) => "yes, as numbers of copies".to_owned(),
        (None, _) => "yes".to_owned(),
    }
}

/// A line of an info as a sentence.
fn sentence(line: &str) -> String {
    let mut letters = line.chars();
    let first: String = letters
        .next()
        .map(|first| first.to_uppercase().collect())
        .unwrap_or_default();
    let end = if line.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A default as it is typed after `--set name=`.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| cell.replace('|', "\\|").replace('\n', " "))
        .collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"methods": [{"name": "a-b", "family": "eac", "summary": "joins |x|", "reference": "A, 2005",
        "reads": "labels-and-features", "missing": "handled-by-prior", "soft": true, "chooses_clusters": false,
        "clusters_is_maximum": true, "soft_bases": "native", "base_weights": "native", "object_weights": {"refused": "it counts every object once"}, "streams": true, "seeded": true, "certainty": "share", "time": "O(n)",
        "memory": "O(1)", "settings": [{"name": "solver", "default": "greedy", "help": "Which.", "values": "block or greedy"},
        {"name": "rounds", "default": 8, "help": "How many.", "values": "a whole number from 1"}]}],
        "known_as": [{"term": "A-B", "methods": ["a-b"], "note": "the same"}, {"term": "C", "methods": [], "note": "not here"}]}"#;

    #[test]
    fn tables_are_read_from_the_infos() {
        let registry: Registry = serde_json::from_str(JSON).unwrap();
        let table = table(&registry.methods);
        assert!(
            table.ends_with("| `a-b` | joins \\|x\\| | labels, probabilities | no | O(n) |\n"),
            "{table}"
        );
        let names = names(&registry.known_as);
        assert!(
            names.ends_with("| A-B | `a-b` | the same |\n| C | – | not here |\n"),
            "{names}"
        );
        let reference = reference(&registry.methods);
        assert!(
            reference.contains("\n## `a-b`\n\nJoins |x|.\n\nA, 2005.\n"),
            "{reference}"
        );
        assert!(
            reference.contains("base clusterings by 1 of 1, weights of objects by 0 of 1."),
            "{reference}"
        );
        for line in [
            "| `a-b` | weights of objects | it counts every object once |",
            "| missing labels | handled by prior |",
            "| `-k` | the most it may use, a range or `auto` |",
            "| `solver` | `greedy` | block or greedy | Which. |",
            "| `rounds` | `8` | a whole number from 1 | How many. |",
        ] {
            assert!(
                reference.lines().any(|other| other == line),
                "{line} is not in\n{reference}"
            );
        }
    }
}
