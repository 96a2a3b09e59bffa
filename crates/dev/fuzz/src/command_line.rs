//! The same small ensembles, methods and settings as of the target `consensus`, as a file and arguments for a program: so any version of
//! the command line can be tried, also one that is older than the targets.

use std::fmt::Write;

use partita::{Ensemble, METHODS};
use serde_json::Value;

use crate::bytes::Bytes;
use crate::consensus::{ensemble, settings};

/// A consensus that a program is asked for.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// A CSV of label columns.
    pub labels: String,
    /// The method.
    pub method: &'static str,
    /// The number of clusters.
    pub clusters: usize,
    /// `name=value`.
    pub settings: Vec<String>,
}

impl CommandLine {
    /// What these bytes ask for; none where it is no ensemble of labels.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut from = Bytes(bytes);
        let method = METHODS[from.below(METHODS.len())];
        let settings = settings(method, &mut from);
        let settings = settings
            .values()
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", text(value)?)));
        let settings = settings.collect();
        let ensemble = ensemble(&mut from).filter(|ensemble| ensemble.memberships().is_none())?;
        let clusters = 1 + from.below(ensemble.objects());
        Some(Self {
            labels: csv(&ensemble),
            method: method.info().name,
            clusters,
            settings,
        })
    }
}

fn csv(ensemble: &Ensemble) -> String {
    let bases = 0..ensemble.bases().len();
    let names: Vec<&str> = ensemble
        .bases()
        .iter()
        .map(partita::BaseClustering::name)
        .collect();
    let mut text = format!("{}\n", names.join(","));
    for i in 0..ensemble.objects() {
        let label = |u| {
            ensemble
                .label(i, u)
                .map_or_else(String::new, |label| format!("c{label}"))
        };
        let row: Vec<String> = bases.clone().map(label).collect();
        writeln!(text, "{}", row.join(",")).expect("text takes text");
    }
    text
}

/// A value as one writes it after the name of a setting.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => Some(values.iter().filter_map(text).collect::<Vec<_>>().join(",")),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_a_file_and_settings() {
        let found: Vec<CommandLine> = (0..200_u32)
            .filter_map(|i| CommandLine::of(&i.to_le_bytes().repeat(40)))
            .collect();
        assert!(found.len() > 100 && found.iter().any(|line| !line.settings.is_empty()));
        let lines = |text: &str| {
            text.lines()
                .map(|line| line.split(',').count())
                .collect::<Vec<_>>()
        };
        assert!(
            found
                .iter()
                .all(|line| lines(&line.labels).windows(2).all(|two| two[0] == two[1]))
        );
    }
}
