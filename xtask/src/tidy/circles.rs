//! Circles of imports between the modules of a crate.
//!
//! A module is a file or a folder among its siblings; what a folder's files import counts for the folder. Names that a
//! parent re-exports are followed to the module that has them. What a parent and its children say of each other, and test code,
//! does not count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Violation;
use super::source::{Source, attribute, is, line, name};

/// A module of a crate, or an item in one: names from the root of the crate.
type Path = Vec<String>;

/// A name that is used in a file.
struct Import {
    /// The module that uses it.
    by: Path,
    /// The name, from the root of the crate.
    of: Path,
    line: usize,
}

/// The modules of one crate.
#[derive(Default)]
struct Modules {
    /// The file of each.
    files: BTreeMap<Path, String>,
    imports: Vec<Import>,
    /// What a `use` calls by another place's name, by the name that it gets.
    names: BTreeMap<Path, Path>,
}

/// Complaints about circles in the crates that these files belong to, one for each circle that shares no import with another.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    let tests: BTreeSet<String> = sources.iter().flat_map(test_files).collect();
    for source in sources {
        let Some((folder, inside)) = source.file.split_once("/src/") else {
            continue;
        };
        let modules = crates.entry(folder).or_default();
        let module = module(inside);
        modules.files.insert(module.clone(), source.file.clone());
        if !tests.contains(&source.file) {
            modules.read(source.tokens.clone(), &module);
        }
    }
    crates.values().flat_map(Modules::circles).collect()
}

/// The module that a file under `src/` is.
fn module(inside: &str) -> Path {
    let names = inside.trim_end_matches(".rs").split('/');
    let mut path: Path = names.map(str::to_owned).collect();
    path.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
    path
}

/// The files of modules that are declared under `#[cfg(test)]`; of the two places for each, one exists.
fn test_files(source: &Source) -> Vec<String> {
    let tokens: Vec<TokenTree> = source.tokens.clone().into_iter().collect();
    let folder = match source.file.rsplit_once('/') {
        Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_owned(),
        _ => source.file.trim_end_matches(".rs").to_owned(),
    };
    let mut files = Vec::new();
    for at in 0..tokens.len() {
        let Some((_, length)) = attribute(&tokens[at..]).filter(|(inside, _)| is_test(inside))
        else {
            continue;
        };
        let words: Vec<_> = tokens[at + length..].iter().take(3).map(name).collect();
        if let [Some(key), Some(module), None] = &words[..]
            && key == "mod"
            && is(tokens.get(at + length + 2), ';')
        {
            files.push(format!("{folder}/{module}.rs"));
            files.push(format!("{folder}/{module}/mod.rs"));
        }
    }
    files
}

fn is_test(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test")
}

/// Where the first token is that holds, from `at` on, or the end.
fn find(tokens: &[TokenTree], at: usize, holds: impl Fn(&TokenTree) -> bool) -> usize {
    let found = tokens[at..].iter().position(holds);
    found.map_or(tokens.len(), |found| at + found)
}

impl Modules {
    /// Notes what the tokens of `module` use.
    fn read(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let Some((inside, length)) = attribute(&tokens[at..]) {
                at += length;
                if is_test(&inside) {
                    at = item_end(&tokens, at);
                }
                continue;
            }
            match name(&tokens[at]).as_deref() {
                Some("use") => {
                    let end = find(&tokens, at, |token| is(Some(token), ';'));
                    let inside = &tokens[at + 1..end];
                    self.tree(inside, &start(module, inside), module, true);
                    at = end;
                }
                Some("mod") if matches!(tokens.get(at + 2), Some(TokenTree::Group(_))) => {
                    let inner = [module, &[name(&tokens[at + 1]).unwrap_or_default()]].concat();
                    if let TokenTree::Group(group) = &tokens[at + 2] {
                        self.read(group.stream(), &inner);
                    }
                    at += 3;
                }
                Some("crate" | "super")
                    if !is(at.checked_sub(1).map(|before| &tokens[before]), ':') =>
                {
                    let end = find(&tokens, at, |token| !is_path(token));
                    self.tree(&tokens[at..end], &[], module, false);
                    at = end;
                }
                _ => {
                    if let TokenTree::Group(group) = &tokens[at] {
                        self.read(group.stream(), module);
                    }
                    at += 1;
                }
            }
        }
    }

    /// Notes the names of a tree of paths below `from`; in a `use` also what they are called afterwards.
    fn tree(&mut self, tokens: &[TokenTree], from: &[String], module: &[String], named: bool) {
        let mut path = from.to_vec();
        for (at, token) in tokens.iter().enumerate() {
            match (token, name(token).as_deref()) {
                (_, Some("crate")) => path = Vec::new(),
                (_, Some("super")) if at == 0 => {
                    path = module[..module.len().saturating_sub(1)].to_vec();
                }
                (_, Some("super")) => drop(path.pop()),
                (_, Some("self")) if at == 0 && from.is_empty() => path = module.to_vec(),
                (_, Some("self" | "pub" | "r")) => {}
                (_, Some("as")) => {
                    let alias = tokens.get(at + 1).and_then(name).unwrap_or_default();
                    self.note(path, module, named.then_some(alias), line(token));
                    return;
                }
                (_, Some(word)) => path.push(word.to_owned()),
                (TokenTree::Group(group), _) => {
                    for part in parts(group) {
                        self.tree(&part, &path, module, named);
                    }
                    return;
                }
                _ => {}
            }
        }
        let last = path.last().cloned().filter(|_| named);
        self.note(path, module, last, tokens.first().map_or(1, line));
    }

    fn note(&mut self, of: Path, module: &[String], alias: Option<String>, line: usize) {
        if let Some(alias) = alias {
            let name = [module, &[alias]].concat();
            if name != of {
                self.names.insert(name, of.clone());
            }
        }
        self.imports.push(Import {
            by: module.to_vec(),
            of,
            line,
        });
    }

    /// The module that has the item, re-exports followed.
    fn home(&self, item: &[String], steps: usize) -> Path {
        let mut module = Path::new();
        for (at, word) in item.iter().enumerate() {
            module.push(word.clone());
            if self.files.contains_key(&module) {
                continue;
            }
            if let Some(other) = self.names.get(&module).filter(|_| steps > 0) {
                return self.home(&[other, &item[at + 1..]].concat(), steps - 1);
            }
            module.pop();
            break;
        }
        module
    }

    /// Arrows between siblings, by the module that they are in, with the import that draws each.
    fn arrows(&self) -> BTreeMap<Path, BTreeMap<(String, String), &Import>> {
        let mut arrows: BTreeMap<Path, BTreeMap<(String, String), &Import>> = BTreeMap::new();
        for import in &self.imports {
            let home = self.home(&import.of, 8);
            let pairs = import.by.iter().zip(&home);
            let common = pairs.take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (import.by.get(common), home.get(common)) {
                let siblings = arrows.entry(home[..common].to_vec()).or_default();
                siblings.entry((from.clone(), to.clone())).or_insert(import);
            }
        }
        arrows
    }

    fn circles(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (parent, mut arrows) in self.arrows() {
            while let Some(circle) = shortest_circle(arrows.keys()) {
                let steps = circle
                    .windows(2)
                    .map(|two| (two[0].clone(), two[1].clone()));
                let steps: Vec<(String, String)> = steps.collect();
                let import = arrows[&steps[0]];
                let folder = match &parent[..] {
                    [] => String::new(),
                    names => format!(" in {}", names.join("::")),
                };
                let way = circle.join(" → ");
                let what =
                    format!("modules import in a circle{folder}: {way}; move what both need");
                let mut lengths = (0..=import.by.len()).rev();
                let file = lengths.find_map(|length| self.files.get(&import.by[..length]));
                let file = file.map_or("", String::as_str);
                violations.push(Violation::new(file, import.line, what));
                arrows.retain(|arrow, _| !steps.contains(arrow));
            }
        }
        violations
    }
}

/// Where the path of a `use` starts: at this module's child of that name, elsewhere nowhere of ours.
fn start(module: &[String], tokens: &[TokenTree]) -> Path {
    match tokens.first().and_then(name).as_deref() {
        Some("crate" | "super" | "self") => Path::new(),
        _ => module.to_vec(),
    }
}

/// Whether a token may stand in a path of names.
fn is_path(token: &TokenTree) -> bool {
    name(token).is_some() || is(Some(token), ':')
}

/// What commas separate in a group of braces.
fn parts(group: &Group) -> Vec<Vec<TokenTree>> {
    if group.delimiter() != Delimiter::Brace {
        return Vec::new();
    }
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let parts = tokens.split(|token| is(Some(token), ','));
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(<[_]>::to_vec).collect()
}

/// Past the item that starts at `at`: its semicolon or its braces, which do not end a `use`.
fn item_end(tokens: &[TokenTree], at: usize) -> usize {
    let is_use = tokens
        .get(at)
        .and_then(name)
        .is_some_and(|word| word == "use");
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => !is_use && group.delimiter() == Delimiter::Brace,
        token => is(Some(token), ';'),
    };
    (find(tokens, at, ends) + 1).min(tokens.len())
}

/// A shortest way from a module over others back to itself, the first of equals.
fn shortest_circle<'a>(arrows: impl Iterator<Item = &'a (String, String)>) -> Option<Vec<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(from).or_default().push(to);
    }
    let circles = next.keys().filter_map(|start| back(&next, start));
    circles.min_by_key(Vec::len)
}

/// A shortest way along the arrows from a module back to it.
fn back(next: &BTreeMap<&str, Vec<&str>>, start: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![start]]);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for &to in next.get(way[way.len() - 1]).into_iter().flatten() {
            let longer = [&way[..], &[to]].concat();
            if to == start {
                return Some(longer.into_iter().map(str::to_owned).collect());
            }
            if seen.insert(to) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Complaints about a crate of these files under `src/`.
    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(file, text): &(&str, &str)| {
            Source::new(&format!("crates/x/src/{file}"), text).expect("Rust")
        };
        check(&files.iter().map(source).collect::<Vec<_>>())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_circle_is_named_by_its_way() {
        let said = complaints(&[
            (
                "lib.rs",
                "mod a;\nmod b;\nmod c;\npub use c::{C, inner::D};\n",
            ),
            ("a.rs", "use std::fmt;\nuse crate::b::B;\n"),
            ("b/mod.rs", "mod deep;\n"),
            (
                "b/deep.rs",
                "fn x() { crate::D::new(super::super::a::y) }\n",
            ),
            ("c.rs", "mod inner;\npub use crate::a::C;\n"),
            ("c/inner.rs", "use super::C;\n"),
        ]);
        let what = "modules import in a circle: a → b → a; move what both need";
        assert_eq!(said, [format!("crates/x/src/a.rs:2: {what}")]);
    }

    #[test]
    fn re_exports_are_followed_and_parents_and_tests_are_not() {
        let said = complaints(&[
            (
                "lib.rs",
                "mod a;\nmod b;\n#[cfg(test)]\nmod t;\npub use {a::A, b::B as Bee};\npub const X: u32 = 1;\n",
            ),
            (
                "a.rs",
                "use crate::{X, A, t::T};\n#[cfg(test)]\nmod tests {\n    use crate::Bee;\n}\n",
            ),
            ("b.rs", "use crate::A;\n#[cfg(test)]\nuse crate::{t::T};\n"),
            ("t.rs", "use crate::{A, Bee};\n"),
        ]);
        assert_eq!(said, [""; 0]);
        let said = complaints(&[
            ("lib.rs", "mod a;\nmod b;\npub use {a::A, b::B as Bee};\n"),
            ("a.rs", "fn f(b: &crate::Bee) {}\n"),
            ("b.rs", "use crate::{A};\n"),
        ]);
        assert_eq!(said.len(), 1, "{said:?}");
    }

    #[test]
    fn siblings_in_a_folder_are_looked_at_too() {
        let said = complaints(&[
            ("lib.rs", "mod a;\n"),
            (
                "a/mod.rs",
                "mod b;\nmod c;\npub use b::B;\npub use self::c::C;\n",
            ),
            ("a/b.rs", "use super::C;\n"),
            ("a/c.rs", "use super::{B};\n"),
        ]);
        assert_eq!(
            said,
            [
                "crates/x/src/a/b.rs:1: modules import in a circle in a: b → c → b; move what both need"
            ]
        );
    }
}
