//! Values of flags: ranges of numbers of clusters, sizes of memory.

use std::ops::RangeInclusive;
use std::str::FromStr;

use partita::MemoryBudget;

use super::parts::PartsAsked;

pub(super) fn parse_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let form = || "write the numbers of clusters as 2..12".to_owned();
    let (first, last) = text.split_once("..").ok_or_else(form)?;
    let (first, last) = (first.parse().map_err(|_| form())?, last.parse().map_err(|_| form())?);
    if first > last { Err(format!("{text} is reversed; {}", form())) } else { Ok(first..=last) }
}

/// A part, parts from a first to a last, or all.
pub(super) fn parse_parts(text: &str) -> Result<PartsAsked, String> {
    let number = |text: &str| text.parse().map_err(|_| "write a number, numbers as 0..9, or all".to_owned());
    match text.split_once("..") {
        None if text == "all" => Ok(PartsAsked { first: 0, last: None }),
        None => number(text).map(|part| PartsAsked { first: part, last: Some(part) }),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            let reversed = || format!("{text} is reversed; write the parts as 0..9");
            if first > last { Err(reversed()) } else { Ok(PartsAsked { first, last: Some(last) }) }
        }
    }
}

pub(super) fn parse_memory(text: &str) -> Result<MemoryBudget, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("write bytes with a unit, such as 500MiB or 4GiB".into()),
    };
    let number = f64::from_str(number).map_err(|_| "write a number with a unit, such as 4GiB".to_owned())?;
    Ok(MemoryBudget::new((number * f64::from(1u32 << 10).powi(power / 10)) as u64))
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
