//! Options that messages name, in the words of the door by which the user came.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// Options whose value is a list, as Python writes it.
const LISTS: [&str; 3] = ["missing", "only", "skip"];

/// Options whose value is an array in Python, not a name.
const ARRAYS: [&str; 2] = ["base-weights", "object-weights"];

/// Keywords of Python that R calls otherwise.
const OF_R: [(&str, &str); 4] = [
    ("n-clusters", "k"),
    ("random-state", "seed"),
    ("recipe", "base"),
    ("X", "x"),
];

/// A door by which a user comes, whose words messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Interface {
    /// Flags of the command line: `--skip 'x'`.
    CommandLine,
    /// Keywords of Python: `skip=['x']`.
    Python,
    /// Arguments of R: `skip = "x"`.
    R,
    /// Lines under "Options" of the page in a browser: `skip: x`.
    Page,
}

/// The door of this process, which has one.
static INTERFACE: AtomicU8 = AtomicU8::new(Interface::CommandLine as u8);

/// From now on messages name options as this door does.
pub fn speak_as(interface: Interface) {
    INTERFACE.store(interface as u8, Ordering::Relaxed);
}

fn interface() -> Interface {
    match INTERFACE.load(Ordering::Relaxed) {
        at if at == Interface::Python as u8 => Interface::Python,
        at if at == Interface::R as u8 => Interface::R,
        at if at == Interface::Page as u8 => Interface::Page,
        _ => Interface::CommandLine,
    }
}

/// The command of this name as the door calls it: `partita methods`, `partita.methods()`, `partita_methods()`.
pub fn command(name: &str) -> String {
    match interface() {
        Interface::CommandLine => format!("`partita {name}`"),
        Interface::Python => format!("`partita.{name}()`"),
        Interface::R => format!("`partita_{name}()`"),
        Interface::Page => format!("`{name}` of the command line"),
    }
}

/// What an option is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value<'a> {
    /// Nothing is said of it.
    Open,
    /// A switch.
    Switch(bool),
    /// A word that the option knows.
    Word(String),
    /// What a file calls something.
    Name(&'a str),
    /// Several words of a file.
    Words(Vec<String>),
}

/// An option in a message, which a door spells: it is written by [`Display`](fmt::Display).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice<'a> {
    name: &'static str,
    /// What Python and R call it, where that is another name.
    keyword: &'static str,
    value: Value<'a>,
}

/// The option that the command line calls `--name`.
///
/// ```
/// use partita_core::option;
///
/// assert_eq!(option("impute").to("mean").to_string(), "--impute mean");
/// assert_eq!(option("header").off().to_string(), "--no-header");
/// ```
pub fn option(name: &'static str) -> Advice<'static> {
    Advice {
        name,
        keyword: name,
        value: Value::Open,
    }
}

/// What stands between an option and its value: one that begins like an option needs more than a blank.
fn mark_before(value: &str) -> char {
    if value.len() > 1 && value.starts_with('-') {
        '='
    } else {
        ' '
    }
}

impl Advice<'_> {
    /// With another name in Python.
    #[must_use]
    pub fn called(self, keyword: &'static str) -> Self {
        Self { keyword, ..self }
    }

    /// A switch that is set.
    #[must_use]
    pub fn on(self) -> Self {
        let value = Value::Switch(true);
        Self { value, ..self }
    }

    /// A switch that is set to no.
    #[must_use]
    pub fn off(self) -> Self {
        let value = Value::Switch(false);
        Self { value, ..self }
    }

    /// Set to a number, or to a word that the option knows.
    #[must_use]
    pub fn to(self, word: impl fmt::Display) -> Self {
        let value = Value::Word(word.to_string());
        Self { value, ..self }
    }

    /// Set to what a file calls something.
    pub fn naming(self, name: &str) -> Advice<'_> {
        let (own, keyword) = (self.name, self.keyword);
        Advice {
            name: own,
            keyword,
            value: Value::Name(name),
        }
    }

    /// Set to several words of a file.
    #[must_use]
    pub fn listing(self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let value = Value::Words(words.into_iter().map(Into::into).collect());
        Self { value, ..self }
    }

    fn write_flag(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dashes = if self.name.len() == 1 { "-" } else { "--" };
        match &self.value {
            Value::Open | Value::Switch(true) => write!(f, "{dashes}{}", self.name),
            Value::Switch(false) => write!(f, "--no-{}", self.name),
            Value::Word(word) => write!(f, "{dashes}{}{}{word}", self.name, mark_before(word)),
            Value::Name(name) => write!(f, "{dashes}{}{}'{name}'", self.name, mark_before(name)),
            Value::Words(words) => {
                let words = words.join(",");
                write!(f, "{dashes}{}{}'{words}'", self.name, mark_before(&words))
            }
        }
    }

    fn write_keyword(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.keyword.replace('-', "_");
        match &self.value {
            Value::Open => write!(f, "{name}="),
            Value::Name(_) if ARRAYS.contains(&self.name) => write!(f, "{name}="),
            Value::Switch(true) => write!(f, "{name}=True"),
            Value::Switch(false) => write!(f, "{name}=False"),
            Value::Word(word) if word.parse::<f64>().is_ok() => write!(f, "{name}={word}"),
            Value::Word(word) => write!(f, "{name}='{word}'"),
            Value::Name(of) if LISTS.contains(&self.name) => write!(f, "{name}=['{of}']"),
            Value::Name(of) => write!(f, "{name}='{of}'"),
            Value::Words(words) => write!(f, "{name}=['{}']", words.join("', '")),
        }
    }

    fn write_argument(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_r = OF_R.iter().find(|(keyword, _)| *keyword == self.keyword);
        let name = of_r.map_or_else(
            || self.keyword.replace('-', "_"),
            |(_, name)| (*name).into(),
        );
        match &self.value {
            Value::Open => write!(f, "`{name}`"),
            Value::Name(_) if ARRAYS.contains(&self.name) => write!(f, "`{name}`"),
            Value::Switch(true) => write!(f, "{name} = TRUE"),
            Value::Switch(false) => write!(f, "{name} = FALSE"),
            Value::Word(word) if word.parse::<f64>().is_ok() => write!(f, "{name} = {word}"),
            Value::Word(word) => write!(f, "{name} = \"{word}\""),
            Value::Name(of) => write!(f, "{name} = \"{of}\""),
            Value::Words(words) => write!(f, "{name} = c(\"{}\")", words.join("\", \"")),
        }
    }

    fn write_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.len() == 1 {
            self.keyword
        } else {
            self.name
        };
        let name = name.replace('-', "_");
        match &self.value {
            Value::Open => write!(f, "`{name}`"),
            Value::Switch(on) => write!(f, "`{name}: {on}`"),
            Value::Word(word) => write!(f, "`{name}: {word}`"),
            Value::Name(of) => write!(f, "`{name}: {of}`"),
            Value::Words(words) => write!(f, "`{name}: {}`", words.join(", ")),
        }
    }
}

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match interface() {
            Interface::CommandLine => self.write_flag(f),
            Interface::Python => self.write_keyword(f),
            Interface::R => self.write_argument(f),
            Interface::Page => self.write_line(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct InPython<'a>(Advice<'a>);

    impl fmt::Display for InPython<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.write_keyword(f)
        }
    }

    struct InR<'a>(Advice<'a>);

    impl fmt::Display for InR<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.write_argument(f)
        }
    }

    struct OnThePage<'a>(Advice<'a>);

    impl fmt::Display for OnThePage<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.write_line(f)
        }
    }

    #[test]
    fn an_option_is_spelled_for_the_page() {
        for (advice, line) in [
            (option("k").called("n-clusters"), "`n_clusters`"),
            (option("soft-bases").on(), "`soft_bases: true`"),
            (option("truth").off(), "`truth: false`"),
            (option("max-categories").to(9), "`max_categories: 9`"),
            (option("id").naming("cell id"), "`id: cell id`"),
            (option("skip").listing(["x", "y"]), "`skip: x, y`"),
        ] {
            assert_eq!(OnThePage(advice).to_string(), line);
        }
    }

    #[test]
    fn an_option_is_spelled_for_r() {
        for (advice, argument) in [
            (option("k").called("n-clusters"), "`k`"),
            (option("base-weights").naming("w.csv"), "`base_weights`"),
            (option("soft-bases").on(), "soft_bases = TRUE"),
            (option("scale").to("zscore"), "scale = \"zscore\""),
            (option("max-categories").to(9), "max_categories = 9"),
            (option("skip").naming("x"), "skip = \"x\""),
            (
                option("missing").listing(["?", "-"]),
                "missing = c(\"?\", \"-\")",
            ),
        ] {
            assert_eq!(InR(advice).to_string(), argument);
        }
    }

    #[test]
    fn an_option_is_spelled_for_python_and_for_the_command_line() {
        for (advice, flag, keyword) in [
            (option("id"), "--id", "id="),
            (option("k").called("n-clusters"), "-k", "n_clusters="),
            (option("soft-bases").on(), "--soft-bases", "soft_bases=True"),
            (option("truth").off(), "--no-truth", "truth=False"),
            (
                option("scale").to("zscore"),
                "--scale zscore",
                "scale='zscore'",
            ),
            (
                option("max-categories").to(9),
                "--max-categories 9",
                "max_categories=9",
            ),
            (
                option("id").naming("cell id"),
                "--id 'cell id'",
                "id='cell id'",
            ),
            (option("skip").naming("x"), "--skip 'x'", "skip=['x']"),
            (
                option("missing").listing(["?", "-"]),
                "--missing '?,-'",
                "missing=['?', '-']",
            ),
        ] {
            assert_eq!(advice.to_string(), flag);
            assert_eq!(InPython(advice).to_string(), keyword);
        }
    }
}
