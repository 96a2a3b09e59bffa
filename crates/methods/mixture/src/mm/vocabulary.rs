//! The classes that labels name, over all base clusterings, and what is odd about the names.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use partita_core::BaseClustering;

/// Labels by which tools say that they do not know the class, in lower case.
const SAYS_NOTHING: [&str; 2] = ["unknown", "unassigned"];

/// The most names that a warning lists.
const LISTED: usize = 5;

/// The classes that labels name: labels with the same name are the same class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vocabulary {
    /// Names of the classes: numbers by size, else in the order of characters.
    pub(crate) names: Vec<String>,
    /// For every label value of every base clustering its class; none where it says that the class is unknown.
    pub(crate) classes: Vec<Option<usize>>,
}

impl Vocabulary {
    pub(crate) fn of(bases: &[BaseClustering]) -> Self {
        let values = || bases.iter().flat_map(BaseClustering::values);
        let mut names: Vec<&String> = values().filter(|name| says_something(name)).collect();
        names.sort_unstable();
        names.dedup();
        let numbers: Option<Vec<f64>> = names
            .iter()
            .map(|name| name.parse().ok().filter(|x: &f64| !x.is_nan()))
            .collect();
        if let Some(numbers) = numbers {
            let mut both: Vec<(f64, &String)> = numbers.into_iter().zip(names).collect();
            both.sort_by(|a, b| {
                a.0.partial_cmp(&b.0)
                    .unwrap_or(Ordering::Equal)
                    .then_with(|| a.1.cmp(b.1))
            });
            names = both.into_iter().map(|(_, name)| name).collect();
        }
        let place: BTreeMap<&str, usize> = names
            .iter()
            .enumerate()
            .map(|(k, name)| (name.as_str(), k))
            .collect();
        let classes = values()
            .map(|name| place.get(name.as_str()).copied())
            .collect();
        Self {
            names: names.into_iter().cloned().collect(),
            classes,
        }
    }

    /// Number of classes, K.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Base clusterings that name each class.
    fn uses(&self, bases: &[BaseClustering]) -> Vec<usize> {
        let mut uses = vec![0; self.len()];
        let named = self.classes.iter().flatten();
        debug_assert_eq!(
            self.classes.len(),
            bases.iter().map(BaseClustering::clusters).sum::<usize>()
        );
        named.for_each(|&class| uses[class] += 1);
        uses
    }

    /// Why these labels are not names of classes that base clusterings have in common, if they are not.
    pub(crate) fn refusal(&self, bases: &[BaseClustering]) -> Option<String> {
        if self.len() == 0 {
            return Some("no label names a class".into());
        }
        let shared = self.uses(bases).into_iter().any(|uses| uses > 1);
        (!shared).then(|| {
            "no name of a label occurs in two base clusterings; leave named out where labels are not names of classes".into()
        })
    }

    /// What a user should know of the names.
    pub(crate) fn warnings(&self, bases: &[BaseClustering]) -> Vec<String> {
        [
            self.nearly_equal(),
            self.used_once(bases),
            Self::silent(bases),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Names that differ in case and spaces alone.
    fn nearly_equal(&self) -> Option<String> {
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let key = |name: &str| {
            name.chars()
                .filter(|c| c.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .collect()
        };
        self.names
            .iter()
            .for_each(|name| alike.entry(key(name)).or_default().push(name));
        let pairs: Vec<String> = (alike.iter())
            .filter(|(key, names)| {
                !key.is_empty() && names.len() > 1 && names[0].parse::<f64>().is_err()
            })
            .map(|(_, names)| {
                names
                    .iter()
                    .map(|name| format!("'{name}'"))
                    .collect::<Vec<_>>()
                    .join(" and ")
            })
            .collect();
        (!pairs.is_empty()).then(|| {
            format!(
                "{} are different classes; if they are the same, write them alike",
                list(&pairs)
            )
        })
    }

    /// Names that only one base clustering has.
    fn used_once(&self, bases: &[BaseClustering]) -> Option<String> {
        let uses = self.uses(bases).into_iter().zip(&self.names);
        let once: Vec<String> = uses
            .filter(|(uses, _)| *uses == 1)
            .map(|(_, name)| format!("'{name}'"))
            .collect();
        (!once.is_empty()).then(|| format!("only one base clustering has the name {}", list(&once)))
    }

    /// Labels that say that the class is unknown.
    fn silent(bases: &[BaseClustering]) -> Option<String> {
        let all: BTreeSet<&str> = (bases.iter().flat_map(BaseClustering::values))
            .filter(|name| !says_something(name))
            .map(String::as_str)
            .collect();
        let all: Vec<String> = all.into_iter().map(|name| format!("'{name}'")).collect();
        (!all.is_empty()).then(|| {
            format!(
                "with named=true labels {} count as missing, whatever else was said of them",
                list(&all)
            )
        })
    }
}

fn says_something(name: &str) -> bool {
    !SAYS_NOTHING.contains(&name.trim().to_lowercase().as_str())
}

fn list(texts: &[String]) -> String {
    let more = texts.len().saturating_sub(LISTED);
    let shown = texts[..texts.len() - more].join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(values: &[&[&str]]) -> Vec<BaseClustering> {
        let base = |(u, values): (usize, &&[&str])| {
            BaseClustering::new(
                u.to_string(),
                values.iter().map(ToString::to_string).collect(),
            )
        };
        values.iter().enumerate().map(base).collect()
    }

    #[test]
    fn equal_names_are_one_class() {
        let bases = bases(&[&["B", "T cell", "Unknown"], &["NK", "T cell", "t-cell"]]);
        let vocabulary = Vocabulary::of(&bases);
        assert_eq!(vocabulary.names, ["B", "NK", "T cell", "t-cell"]);
        assert_eq!(
            vocabulary.classes,
            [Some(0), Some(2), None, Some(1), Some(2), Some(3)]
        );
        assert!(vocabulary.refusal(&bases).is_none());
        let said = vocabulary.warnings(&bases).join("\n");
        for words in [
            "'T cell' and 't-cell' are different",
            "has the name 'B', 'NK', 't-cell'",
            "labels 'Unknown' count",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn numbers_are_sorted_by_size_and_foreign_names_refused() {
        let numbers = bases(&[&["10", "9"], &["9", "100"]]);
        assert_eq!(Vocabulary::of(&numbers).names, ["9", "10", "100"]);
        let foreign = bases(&[&["a", "b"], &["x", "y"]]);
        assert!(
            Vocabulary::of(&foreign)
                .refusal(&foreign)
                .unwrap()
                .contains("no name of a label occurs in two")
        );
        let silent = bases(&[&["unknown"], &["unassigned "]]);
        assert!(
            Vocabulary::of(&silent)
                .refusal(&silent)
                .unwrap()
                .contains("no label names a class")
        );
    }
}
