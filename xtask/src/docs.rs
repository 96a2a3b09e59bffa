//! `docs`: the parts of the documents that are read from the methods themselves.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use crate::shell;
use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Change nothing; fail where something is stale.
    #[arg(long)]
    check: bool,
}

/// A document, the name of its generated part, and what writes it from what `partita methods --json` says.
type Page = (&'static str, &'static str, fn(&Value) -> String);

const PAGES: &[Page] = &[
    ("docs/methods.md", "overview", table),
    ("docs/methods.md", "methods", reference),
    ("docs/glossary.md", "names", names),
];

/// What is read of every method.
const KEYS: &str = "name family summary reference reads missing soft chooses_clusters clusters_is_maximum soft_bases base_weights \
    object_weights streams pairs time memory settings";

/// Fails where a generated part is not what the binary of the tests says.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    run(workspace, &Arguments { check: true })
}

/// Writes the generated parts, or checks them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut binary = Command::new(workspace.tested("partita")?);
    let json = shell::output(binary.args(["methods", "--json"]))?;
    let registry: Value =
        serde_json::from_str(&json).context("`partita methods --json` is not JSON")?;
    for method in all(&registry, "methods") {
        let absent = KEYS.split(' ').find(|key| method[*key].is_null());
        ensure!(
            absent.is_none(),
            "`partita methods --json` has no {}",
            absent.unwrap_or_default()
        );
    }
    let mut stale = Vec::new();
    for (file, name, write) in PAGES {
        let path = workspace.path(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
        let new = replace(&text, name, &write(&registry)).with_context(|| format!("in {file}"))?;
        if new != text {
            stale.push(*file);
        }
        if new != text && !arguments.check {
            fs::write(&path, new).with_context(|| format!("cannot write {file}"))?;
        }
    }
    let files = stale.join(" and ");
    match (arguments.check, stale.is_empty()) {
        (true, false) => bail!("{files} do not say what the methods say; run `cargo xtask docs`"),
        (false, false) => println!("written: {files}"),
        (_, true) => println!("the generated parts are up to date"),
    }
    Ok(())
}

/// `text` with `content` between `<!-- name:begin -->` and `<!-- name:end -->`, one line each.
///
/// An error says which marker is missing.
pub(crate) fn replace(text: &str, name: &str, content: &str) -> Result<String> {
    let (begin, end) = (
        format!("<!-- {name}:begin -->"),
        format!("<!-- {name}:end -->"),
    );
    let Some((before, rest)) = text.split_once(&begin) else {
        bail!("the line {begin} is missing; put it back where the generated part starts");
    };
    let Some((_, after)) = rest.split_once(&end) else {
        bail!("the line {end} is missing; put it back where the generated part ends");
    };
    Ok(format!(
        "{before}{begin}\n{}\n{end}{after}",
        content.trim_end()
    ))
}

/// The list of this name.
fn all<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().map_or(&[], Vec::as_slice)
}

/// The text of this name.
fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

fn yes(of: &Value, key: &str) -> &'static str {
    if of[key] == true { "yes" } else { "no" }
}

/// One row a method, for somebody who chooses.
fn table(registry: &Value) -> String {
    let head = ["method", "what it does", "gives", "chooses k", "time"];
    let mut rows = row(&head) + "|---|---|---|---|---|\n";
    for method in all(registry, "methods") {
        let gives = match yes(method, "soft") {
            "yes" => "labels, probabilities",
            _ => "labels",
        };
        let name = format!("`{}`", text(method, "name"));
        let chooses = yes(method, "chooses_clusters");
        rows += &row(&[
            &name,
            text(method, "summary"),
            gives,
            chooses,
            text(method, "time"),
        ]);
    }
    rows
}

/// One row a name from the literature.
fn names(registry: &Value) -> String {
    let mut rows = String::from("| name | methods here | in what way |\n|---|---|---|\n");
    for name in all(registry, "known_as") {
        let methods = all(name, "methods").iter().filter_map(Value::as_str);
        let methods: Vec<String> = methods.map(|method| format!("`{method}`")).collect();
        let methods = match methods.join(", ") {
            none if none.is_empty() => "–".to_owned(),
            some => some,
        };
        rows += &row(&[text(name, "term"), &methods, text(name, "note")]);
    }
    rows
}

/// What may be doubtful in the input.
const DOUBT: [(&str, &str); 3] = [
    ("soft base clusterings", "soft_bases"),
    ("weights of base clusterings", "base_weights"),
    ("weights of objects", "object_weights"),
];

/// Who takes doubt in the input, and why others do not; then everything an info says, one section a method.
fn reference(registry: &Value) -> String {
    let methods = all(registry, "methods");
    let takes = DOUBT.map(|(_, key)| {
        let taken = |method: &&Value| method[key]["refused"].is_null();
        format!(
            "{} of {}",
            methods.iter().filter(taken).count(),
            methods.len()
        )
    });
    let [soft, bases, objects] = takes;
    let mut page = format!(
        "## Soft base clusterings and weights\n\nSoft base clusterings are taken by {soft} methods, weights of base clusterings by {bases}, \
         weights of objects by {objects}. The others refuse them:\n\n| method | refuses | because |\n|---|---|---|\n"
    );
    for method in methods {
        let name = format!("`{}`", text(method, "name"));
        for (what, key) in DOUBT {
            if let Some(why) = method[key]["refused"].as_str() {
                page += &row(&[&name, what, why]);
            }
        }
    }
    for method in methods {
        page += &section(method);
    }
    page
}

fn section(method: &Value) -> String {
    let chooses = method["chooses_clusters"] == true;
    let clusters = match method["clusters_is_maximum"] == true {
        _ if chooses => "a number, a range, `auto`, or `method`",
        true => "the most it may use, a range or `auto`",
        false => "a number, a range or `auto`",
    };
    let family = format!("`partita-{}`", text(method, "family"));
    let reads = text(method, "reads").replace('-', " ");
    let missing = text(method, "missing").replace('-', " ");
    let doubt = DOUBT.map(|(_, key)| taken(&method[key]));
    let facts = [
        ("crate", family.as_str()),
        ("reads", &reads),
        ("missing labels", &missing),
        ("`-k`", clusters),
        ("probabilities", yes(method, "soft")),
        (DOUBT[0].0, &doubt[0]),
        (DOUBT[1].0, &doubt[1]),
        (DOUBT[2].0, &doubt[2]),
        ("rows in blocks", yes(method, "streams")),
        (
            "a start, pairs and their counts of your own",
            yes(method, "pairs"),
        ),
        ("time", text(method, "time")),
        ("memory", text(method, "memory")),
    ];
    let [summary, reference] = ["summary", "reference"].map(|key| sentence(text(method, key)));
    let name = text(method, "name");
    let mut page = format!("\n## `{name}`\n\n{summary}\n\n{reference}\n\n| | |\n|---|---|\n");
    page.extend(facts.map(|(what, is)| row(&[what, is])));
    let settings = all(method, "settings");
    if !settings.is_empty() {
        page += "\n| setting | default | values | what it changes |\n|---|---|---|---|\n";
    }
    for setting in settings {
        let name = format!("`{}`", text(setting, "name"));
        // As it is typed after `--set name=`.
        let default = match &setting["default"] {
            Value::String(default) => format!("`{default}`"),
            default => format!("`{default}`"),
        };
        page += &row(&[
            &name,
            &default,
            text(setting, "values"),
            text(setting, "help"),
        ]);
    }
    page
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
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let end = if line.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.collect::<String>(), letters.as_str())
}

fn row(cells: &[&str]) -> String {
    let plain = |cell: &&str| cell.replace('|', "\\|").replace('\n', " ");
    let cells: Vec<String> = cells.iter().map(plain).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"methods": [{"name": "a-b", "family": "eac", "summary": "joins |x|", "reference": "A, 2005",
        "reads": "labels-and-features", "missing": "handled-by-prior", "soft": true, "chooses_clusters": false,
        "clusters_is_maximum": true, "soft_bases": "native", "base_weights": "native", "object_weights": {"refused": "it counts every object once"}, "streams": true, "seeded": true, "time": "O(n)",
        "memory": "O(1)", "settings": [{"name": "solver", "default": "greedy", "help": "Which.", "values": "block or greedy"},
        {"name": "iterations", "default": 8, "help": "How many.", "values": "a whole number from 1"}]}],
        "known_as": [{"term": "A-B", "methods": ["a-b"], "note": "the same"}, {"term": "C", "methods": [], "note": "not here"}]}"#;

    #[test]
    fn tables_are_read_from_the_infos() {
        let registry: Value = serde_json::from_str(JSON).unwrap();
        let table = table(&registry);
        assert!(
            table.ends_with("| `a-b` | joins \\|x\\| | labels, probabilities | no | O(n) |\n"),
            "{table}"
        );
        let names = names(&registry);
        assert!(
            names.ends_with("| A-B | `a-b` | the same |\n| C | – | not here |\n"),
            "{names}"
        );
        let reference = reference(&registry);
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
            "| `iterations` | `8` | a whole number from 1 | How many. |",
        ] {
            assert!(
                reference.lines().any(|other| other == line),
                "{line} is not in\n{reference}"
            );
        }
    }

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let text = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n";
        let new = replace(text, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n");
        assert_eq!(replace(&new, "x", "new").unwrap(), new);
    }

    #[test]
    fn a_missing_marker_is_named() {
        let error = |text| replace(text, "x", "").unwrap_err().to_string();
        assert!(error("a").starts_with("the line <!-- x:begin --> is missing"));
        assert!(error("<!-- x:begin -->").starts_with("the line <!-- x:end --> is missing"));
    }
}
