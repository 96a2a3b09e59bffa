//! `new`: the skeleton of a consensus method.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::shell;
use crate::workspace::Workspace;

const TEMPLATE: &str = include_str!("new/method.rs.txt");
const REGISTRY: &str = "crates/product/partita/src/lib.rs";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the method on the command line: lower case, digits, hyphens.
    method: String,
    /// The family it belongs to: the crate is partita-FAMILY.
    #[arg(long)]
    family: String,
}

/// The names that one method goes by.
struct Names {
    name: String,
    family: String,
    function: String,
    kind: String,
    constant: String,
    /// Path from the root.
    file: String,
}

/// Writes the method's file, makes it public, and puts it into the registry.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let names = Names::new(&arguments.method, &arguments.family)?;
    write(workspace, &names)?;
    let package = format!("partita-{}", names.family);
    let words = format!("fmt --package {package} --package partita");
    shell::run(&mut workspace.cargo(&words))?;
    println!("written: {}; its line in {REGISTRY}", names.file);
    println!("next: cargo test --package {package} {}", names.function);
    Ok(())
}

/// Everything is checked and composed before anything is written.
fn write(workspace: &Workspace, names: &Names) -> Result<()> {
    let library = format!("crates/methods/{}/src/lib.rs", names.family);
    let read = |file: &str| {
        fs::read_to_string(workspace.path(file)).with_context(|| format!("cannot read {file}"))
    };
    let family =
        read(&library).with_context(|| format!("there is no family '{}'", names.family))?;
    let registry = read(REGISTRY)?;
    ensure!(
        !workspace.path(&names.file).exists(),
        "{} exists already; choose another name",
        names.file
    );
    let module = format!("mod {};", names.function);
    let public = format!(
        "pub use {}::{{{}, {}Diagnostics, {}Settings, {}}};",
        names.function, names.constant, names.kind, names.kind, names.function
    );
    let family = after_last(&family, "mod ", &module).with_context(|| format!("in {library}"))?;
    let family =
        after_last(&family, "pub use ", &public).with_context(|| format!("in {library}"))?;
    let registry = registered(&registry, names)?;
    for (file, text) in [
        (&names.file, names.fill(TEMPLATE)),
        (&library, family),
        (&REGISTRY.to_owned(), registry),
    ] {
        fs::write(workspace.path(file), text).with_context(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

impl Names {
    fn new(method: &str, family: &str) -> Result<Self> {
        let word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        for name in [method, family] {
            if !name.split('-').all(word) {
                bail!(
                    "'{name}' is not a name; write lower case words joined by hyphens, such as eac-average"
                );
            }
        }
        let function = method.replace('-', "_");
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        Ok(Self {
            name: method.into(),
            family: family.into(),
            kind: method.split('-').map(capital).collect(),
            constant: function.to_uppercase(),
            file: format!("crates/methods/{family}/src/{function}.rs"),
            function,
        })
    }

    fn fill(&self, template: &str) -> String {
        let values = [
            ("{{name}}", &self.name),
            ("{{family}}", &self.family),
            ("{{function}}", &self.function),
            ("{{Type}}", &self.kind),
            ("{{CONSTANT}}", &self.constant),
            ("{{file}}", &self.file),
        ];
        values
            .iter()
            .fold(template.to_owned(), |text, (key, value)| {
                text.replace(key, value)
            })
    }
}

/// The text with `line` after the last line that starts with `start`, at the end if there is none. Items may run over
/// several lines; the formatter puts them into order.
fn after_last(text: &str, start: &str, line: &str) -> Result<String> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.contains(&line) {
        bail!("`{line}` is there already");
    }
    let first = lines.iter().rposition(|other| other.starts_with(start));
    let last = first.map(|at| {
        at + lines[at..]
            .iter()
            .position(|other| other.ends_with(';'))
            .unwrap_or(0)
    });
    let (before, after) = lines.split_at(last.map_or(lines.len(), |at| at + 1));
    Ok([before, &[line], after].concat().join("\n") + "\n")
}

/// The registry with one more line in `METHODS`, behind the feature of its family.
fn registered(registry: &str, names: &Names) -> Result<String> {
    let family = &names.family;
    let line = format!(
        "    \"{family}\" => partita_{}::{},",
        family.replace('-', "_"),
        names.constant
    );
    let start = registry
        .find("methods! {")
        .with_context(|| format!("there is no list `methods!` in {REGISTRY}"))?;
    let end = registry[start..]
        .find("\n}")
        .with_context(|| format!("the list `methods!` in {REGISTRY} does not end"))?;
    let (before, after) = registry.split_at(start + end);
    Ok(format!("{before}\n{line}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_derived() {
        let names = Names::new("two-words", "graph").unwrap();
        assert_eq!(
            (
                names.function.as_str(),
                names.kind.as_str(),
                names.constant.as_str(),
                names.file.as_str()
            ),
            (
                "two_words",
                "TwoWords",
                "TWO_WORDS",
                "crates/methods/graph/src/two_words.rs"
            )
        );
        for bad in ["Two", "two--words", "", "2words", "two_words", "../x"] {
            assert!(Names::new(bad, "graph").is_err(), "{bad}");
        }
        assert!(!names.fill(TEMPLATE).contains("{{"));
    }

    #[test]
    fn lines_go_where_their_like_are() {
        let text = "//! X.\n\nmod a;\nmod b;\n\npub use a::{\n    A,\n};\n\nfn x() {}\n";
        let new = after_last(text, "mod ", "mod c;").unwrap();
        let new = after_last(&new, "pub use ", "pub use c::C;").unwrap();
        assert_eq!(
            new,
            "//! X.\n\nmod a;\nmod b;\nmod c;\n\npub use a::{\n    A,\n};\npub use c::C;\n\nfn x() {}\n"
        );
        assert!(after_last(text, "mod ", "mod a;").is_err());
        assert_eq!(
            after_last("//! X.\n", "mod ", "mod a;").unwrap(),
            "//! X.\nmod a;\n"
        );
    }
}
