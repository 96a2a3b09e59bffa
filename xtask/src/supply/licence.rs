//! Licence expressions (SPDX), of which one that is allowed must follow.

use std::collections::BTreeSet;

/// Whether the licences that are allowed are enough for this expression; those that count are put down in `used`.
///
/// # Errors
/// An expression that is not understood.
pub(super) fn allowed(
    text: &str,
    allow: &[String],
    used: &mut BTreeSet<String>,
) -> Result<bool, String> {
    // Older manifests separate alternatives by a slash.
    let spaced = text
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let found = either(&mut words, allow, used);
    found
        .filter(|_| words.is_empty())
        .ok_or_else(|| format!("'{text}' is not a licence expression"))
}

/// `a OR b`.
fn either(words: &mut Vec<&str>, allow: &[String], used: &mut BTreeSet<String>) -> Option<bool> {
    let mut found = both(words, allow, used)?;
    while words.pop_if(|word| *word == "OR").is_some() {
        found |= both(words, allow, used)?;
    }
    Some(found)
}

/// `a AND b`.
fn both(words: &mut Vec<&str>, allow: &[String], used: &mut BTreeSet<String>) -> Option<bool> {
    let mut found = one(words, allow, used)?;
    while words.pop_if(|word| *word == "AND").is_some() {
        found &= one(words, allow, used)?;
    }
    Some(found)
}

/// A licence with its exception, or an expression in parentheses.
fn one(words: &mut Vec<&str>, allow: &[String], used: &mut BTreeSet<String>) -> Option<bool> {
    let word = words
        .pop()
        .filter(|word| !matches!(*word, "OR" | "AND" | "WITH" | ")"))?;
    if word == "(" {
        let found = either(words, allow, used)?;
        return words.pop_if(|word| *word == ")").map(|_| found);
    }
    let licence = match words.pop_if(|word| *word == "WITH") {
        Some(_) => format!("{word} WITH {}", words.pop()?),
        None => word.to_owned(),
    };
    let found = allow.contains(&licence);
    used.extend(found.then_some(licence));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_and_conjunctions() {
        let allow = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(String::from);
        let allowed = |text: &str| super::allowed(text, &allow, &mut BTreeSet::new());
        for text in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR X) AND Zlib",
            "X OR Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(allowed(text), Ok(true), "{text}");
        }
        for text in [
            "GPL-3.0",
            "MIT AND X",
            "(MIT AND X) OR Y",
            "Apache-2.0",
            "Apache-2.0 WITH other",
        ] {
            assert_eq!(allowed(text), Ok(false), "{text}");
        }
        for text in ["", "MIT OR", "(MIT", "MIT)", "MIT Zlib", "OR", "MIT WITH"] {
            assert!(allowed(text).is_err(), "{text}");
        }
    }
}
