//! What a case expects of a file, of stdout (`out`) or of stderr (`err`).

use std::collections::HashMap;

use serde_json::Value;

use super::edits::unescaped;
use super::parts;
use crate::common::cells;

type Outcome = Result<(), String>;
/// Gives what is in a file.
type Read<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

pub(super) const VERBS: [&str; 21] = [
    "range", "has", "lacks", "once", "each", "is", "starts", "ends", "before", "lines", "within",
    "same", "labels", "clusters", "groups", "column", "mean", "sums", "shares", "cells", "json",
];

/// Whether a target is as a line of a case says.
pub(super) fn check(read: Read<'_>, target: &str, verb: &str, argument: &str) -> Outcome {
    let bytes = read(target)?;
    let text = String::from_utf8_lossy(&bytes);
    let other = |name: &str| Ok::<_, String>(String::from_utf8_lossy(&read(name)?).into_owned());
    let fragments: Vec<String> = parts(argument).iter().map(|part| plain(part)).collect();
    let words: Vec<&str> = argument.split(' ').collect();
    match verb {
        "has" => all(&fragments, |part| text.contains(part)),
        "lacks" => all(&fragments, |part| !text.contains(part)),
        "once" => all(&fragments, |part| text.matches(part).count() == 1),
        "each" => holds(
            text.lines()
                .all(|line| fragments.iter().any(|part| line.starts_with(part))),
        ),
        "is" => same(&text, &plain(argument).into()),
        "starts" => holds(bytes.starts_with(&unescaped(argument))),
        "ends" => holds(bytes.ends_with(&unescaped(argument))),
        "before" => holds(
            matches!(&fragments[..], [a, b] if text.find(a) < text.find(b) && text.contains(a)),
        ),
        "lines" => same(&text.lines().count().to_string(), &argument.to_owned()),
        "within" => holds(
            text.lines()
                .all(|line| line.chars().count() < number(argument) as usize),
        ),
        // As wholes: what differs may be too long to be shown.
        "same" => holds(bytes == read(argument)?),
        "labels" => same(&column(&text, 1), &column(&other(argument)?, 1)),
        "clusters" => same(&clusters(&text), &clusters(&other(argument)?)),
        "groups" => same(
            &clusters(&text),
            &(0..number(argument) as usize).map(|i| i % 3).collect(),
        ),
        "column" => same(
            &column(&text, number(words[0]) as usize),
            &column(&other(words[1])?, number(words[2]) as usize),
        ),
        "mean" => {
            let numbers = numbers(&text, number(words[0]) as usize);
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            condition(read, &mean.into(), &format!(". {} {}", words[1], words[2]))
        }
        "range" => {
            let limits = number(words[1])..=number(words[2]);
            let numbers = numbers(&text, number(words[0]) as usize);
            holds(numbers.iter().all(|number| limits.contains(number)))
        }
        "sums" => text.lines().skip(1).try_for_each(|line| {
            let row = line.split(',').skip(number(words[0]) as usize).map(number);
            same(&((row.sum::<f64>() * 1e9).round() / 1e9), &number(words[1]))
        }),
        "shares" => shares(&text, &other(words[0])?, words.contains(&"certain")),
        "cells" => {
            let (here, there) = (cells(&text, words[0]), cells(&other(words[1])?, words[0]));
            if words.contains(&"number") {
                same(&here.len(), &there.len())
            } else {
                same(&here, &there)
            }
        }
        _ => {
            let value = json(&text)?;
            parts(argument)
                .iter()
                .try_for_each(|text| condition(read, &value, text))
        }
    }
}

/// A text in which \n and the like stand for themselves.
pub(super) fn plain(text: &str) -> String {
    String::from_utf8_lossy(&unescaped(text)).into_owned()
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("found    {found:?}\n  expected {expected:?}"))
}

fn holds(condition: bool) -> Outcome {
    if condition {
        Ok(())
    } else {
        Err("it is not so".into())
    }
}

fn all(fragments: &[String], holds: impl Fn(&str) -> bool) -> Outcome {
    let wrong = fragments.iter().find(|part| !holds(part));
    wrong.map_or(Ok(()), |part| Err(format!("not so of '{part}'")))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// A column of a CSV without its name.
fn column(text: &str, at: usize) -> Vec<&str> {
    text.lines()
        .skip(1)
        .map(|line| line.split(',').nth(at).unwrap_or_default())
        .collect()
}

fn numbers(text: &str, at: usize) -> Vec<f64> {
    column(text, at).into_iter().map(number).collect()
}

/// The labels of a file, numbered in the order of their first objects: whatever they are called.
fn clusters(text: &str) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let number = |label| {
        let next = numbers.len();
        *numbers.entry(label).or_insert(next)
    };
    column(text, 1).into_iter().map(number).collect()
}

/// Shares of objects in clusters: each row sums to one, its largest share is that of the label, and is its probability
/// where it is said to be; all are written so that they are read to the last bit.
fn shares(text: &str, labels: &str, certain: bool) -> Outcome {
    let rows = text
        .lines()
        .skip(1)
        .zip(column(labels, 1))
        .zip(column(labels, 3));
    rows.into_iter()
        .try_for_each(|((line, label), probability)| {
            let (_, written) = line.split_once(',').unwrap_or_default();
            let shares: Vec<f64> = written.split(',').map(number).collect();
            let largest = shares.iter().copied().fold(0.0, f64::max);
            let again = shares
                .iter()
                .map(f64::to_string)
                .collect::<Vec<_>>()
                .join(",");
            let own = shares.get(number(label) as usize);
            let right = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9
                && own == Some(&largest)
                && written == again;
            if right && (!certain || number(probability) == largest) {
                Ok(())
            } else {
                Err(format!("{line}: {label},{probability}"))
            }
        })
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))
}

/// Whether `path = value` holds, with `=`, `~` (to nine digits), `<`, `>`, `has`, `starts` or `len`. A value `@FILE:path` is
/// that of another file.
fn condition(read: Read<'_>, value: &Value, text: &str) -> Outcome {
    let words: Vec<&str> = text.splitn(3, ' ').collect();
    let [path, sign, expected] = words[..] else {
        return Err(format!("'{text}' is not a condition"));
    };
    let found = at(value, path);
    let expected = match expected
        .strip_prefix('@')
        .and_then(|text| text.split_once(':'))
    {
        Some((file, path)) => at(&json(&String::from_utf8_lossy(&read(file)?))?, path),
        None => serde_json::from_str(expected).unwrap_or_else(|_| expected.into()),
    };
    let (a, b) = (
        found.as_f64().unwrap_or(f64::NAN),
        expected.as_f64().unwrap_or(f64::NAN),
    );
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let right = match sign {
        "=" => a == b || found == expected,
        "~" => (a - b).abs() < 1e-9 * b.abs().max(1.0),
        ">" => a > b,
        "<" => a < b,
        "has" => contains(&found, &expected),
        "starts" => text_of(&found).starts_with(&text_of(&expected)),
        "len" => length(&found) == expected.as_u64(),
        _ => return Err(format!("'{sign}' compares nothing")),
    };
    if right {
        Ok(())
    } else {
        Err(format!("{text}: it is {found}, not {sign} {expected}"))
    }
}

/// The value at a path such as `methods.0.name`; null where there is none, and the whole at `.`.
fn at(value: &Value, path: &str) -> Value {
    let parts = path.split('.').filter(|part| !part.is_empty());
    let found = parts
        .into_iter()
        .try_fold(value, |value, part| match part.parse::<usize>() {
            Ok(index) if value.is_array() => value.get(index),
            _ => value.get(part),
        });
    found.cloned().unwrap_or(Value::Null)
}

fn length(value: &Value) -> Option<u64> {
    let length = match value {
        Value::Array(values) => values.len(),
        Value::Object(object) => object.len(),
        Value::String(text) => text.len(),
        _ => return None,
    };
    Some(length as u64)
}

/// Whether a text has this text in it, a list this value, or an object this key.
fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::String(text), Value::String(part)) => text.contains(part),
        (Value::Array(values), part) => values.contains(part),
        (Value::Object(object), Value::String(key)) => object.contains_key(key),
        _ => false,
    }
}
