//! Values of flags: ranges of numbers of clusters, sizes of memory.

use std::ffi::OsString;
use std::str::FromStr;
use std::sync::OnceLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use partita::MemoryBudget;
use partita_app::{ClustersAsked, TakenAs, UnknownValues};
use partita_distributed::LabelEnding;

/// A range of numbers of clusters, the last of which may be open.
pub(super) fn parse_range(text: &str) -> Result<(usize, Option<usize>), String> {
    match text.parse() {
        Ok(ClustersAsked::Chosen { first, last }) => Ok((first, last)),
        Ok(_) => Err("write the numbers of clusters as 2..12, or auto".to_owned()),
        Err(error) => Err(error),
    }
}

pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("write a share above 0 and below 1, such as 0.25".into()),
    }
}

pub(super) fn parse_memory(text: &str) -> Result<MemoryBudget, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("write bytes with a unit, such as 500MiB or 4GiB".into()),
    };
    let number =
        f64::from_str(number).map_err(|_| "write a number with a unit, such as 4GiB".to_owned())?;
    Ok(MemoryBudget::new(
        (number * f64::from(1u32 << 10).powi(power / 10)) as u64,
    ))
}

/// What becomes of values that a model has never seen.
pub(super) fn unknown_values() -> impl TypedValueParser<Value = UnknownValues> {
    PossibleValuesParser::new(["missing", "refuse"]).map(|text| match &*text {
        "refuse" => UnknownValues::Refuse,
        _ => UnknownValues::Missing,
    })
}

/// What a file can be taken as.
pub(super) fn taken_as() -> impl TypedValueParser<Value = TakenAs> {
    PossibleValuesParser::new(["table", "ensemble", "model", "record"]).map(|text| match &*text {
        "table" => TakenAs::Table,
        "ensemble" => TakenAs::Ensemble,
        "model" => TakenAs::Model,
        _ => TakenAs::Record,
    })
}

/// The format of labels of parts.
pub(super) fn part_labels() -> impl TypedValueParser<Value = LabelEnding> {
    PossibleValuesParser::new(["csv", "parquet", "npy"]).map(|text| match &*text {
        "parquet" => LabelEnding::Parquet,
        "npy" => LabelEnding::Npy,
        _ => LabelEnding::Csv,
    })
}

/// What the command was called with.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps what the command was called with, once a process.
pub(crate) fn keep_arguments(given: impl IntoIterator<Item = OsString>) -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| given.into_iter().collect())
}

/// The arguments of the command as people read them.
pub(crate) fn arguments() -> Vec<String> {
    let given = keep_arguments([]).iter().skip(1);
    given
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_units() {
        assert_eq!(parse_memory("4GiB"), Ok(MemoryBudget::new(4 << 30)));
        assert_eq!(parse_memory("1.5k"), Ok(MemoryBudget::new(1536)));
        assert!(parse_memory("much").is_err() && parse_memory("4 parsecs").is_err());
    }
}
