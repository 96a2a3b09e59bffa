//! What the values of a column mean: numbers in any notation, categories, times, ids, weights. The rules are here, each with its
//! reason; who is asked for otherwise is not asked here.

use std::collections::{BTreeSet, HashSet};

use super::read_options::ReadOptions;
use super::roles::Reason;
use crate::dictionary::Dictionary;
use crate::value_kind::{Amount, ValueKind, amount};
use crate::words::{self, MissingCounts};

/// Nothing is suspected of fewer objects.
pub(crate) const FEWEST_OBJECTS: usize = 20;

/// Seconds since 1970 from 2001 on.
const EPOCH: f64 = 1e9;

/// What a column is read as.
#[derive(Debug)]
pub(crate) enum Meaning {
    Numbers(Numbers),
    /// Columns of zeros and ones.
    Categories,
    LeftOut(Reason),
    /// Most values are numbers; these words are not, so often.
    Mixed(MissingCounts),
    /// Numbers with different units.
    Units(Vec<String>),
}

/// Numbers out of words: one for every value of a dictionary.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// NaN for what is no value.
    pub(crate) values: Vec<f64>,
    pub(crate) kind: Option<ValueKind>,
    /// Words that are no values, so often.
    pub(crate) gaps: MissingCounts,
    /// The mark before decimals; none where both readings are the same.
    pub(crate) decimal: Option<char>,
}

/// How the values of a column read with one mark before decimals.
struct Reading<'a> {
    amounts: Vec<Option<Amount<'a>>>,
    /// Rows with a number, and with a word that is none.
    read: u64,
    unread: u64,
}

impl<'a> Reading<'a> {
    fn new(
        words: &'a Dictionary,
        counts: &[u64],
        gap: impl Fn(&str) -> bool,
        decimal: char,
    ) -> Self {
        let amounts: Vec<Option<Amount<'a>>> = words
            .values()
            .iter()
            .map(|value| amount(value, decimal))
            .collect();
        let mut reading = Self {
            amounts,
            read: 0,
            unread: 0,
        };
        for ((amount, value), count) in reading.amounts.iter().zip(words.values()).zip(counts) {
            match amount {
                Some(_) => reading.read += count,
                None if gap(value) => {}
                None => reading.unread += count,
            }
        }
        reading
    }

    fn values(&self) -> Vec<f64> {
        let value = |amount: &Option<Amount<'_>>| amount.map_or(f64::NAN, |amount| amount.value);
        self.amounts.iter().map(value).collect()
    }

    /// The units, if there are several. Some numbers may have none, but for percentages.
    fn different_units(&self) -> Vec<String> {
        let units: BTreeSet<&str> = self
            .amounts
            .iter()
            .flatten()
            .map(|found| found.unit)
            .collect();
        let one = units.len() < 2 || units.len() == 2 && units.contains("") && !units.contains("%");
        let units = units.into_iter().filter(|_| !one);
        units.map(str::to_owned).collect()
    }
}

/// How numbers in a text are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notation {
    /// Whether words such as `-` or `n.a.` among numbers are no values.
    pub(crate) gaps: bool,
    /// The mark before decimals that was asked for.
    pub(crate) asked: Option<char>,
    /// Other columns show that the mark is a comma.
    pub(crate) comma: bool,
}

impl Notation {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            gaps: options.missing.is_none(),
            asked: options.decimal,
            comma: false,
        }
    }
}

/// What the words of a column mean.
pub(crate) fn of_words(words: &Dictionary, notation: Notation) -> Meaning {
    let gap = |value: &str| notation.gaps && words::means_nothing(value);
    let is_date = |value: &&String| ValueKind::of(value) == Some(ValueKind::Date);
    let mut said = words.values().iter().filter(|value| !gap(value)).peekable();
    if said.peek().is_none() {
        return Meaning::LeftOut(Reason::Empty);
    }
    if said.all(|value| is_date(&value)) {
        return Meaning::LeftOut(Reason::Dates);
    }
    let counts = words.counts();
    let point = Reading::new(words, &counts, gap, '.');
    let comma = Reading::new(words, &counts, gap, ',');
    let differ = point.unread != comma.unread || !alike(&point.values(), &comma.values());
    let by_comma = match notation.asked {
        Some(asked) => asked == ',',
        None if comma.unread == point.unread => notation.comma,
        None => comma.unread < point.unread,
    };
    // Which mark it is shows only where one of them reads more.
    let shown = differ && point.unread != comma.unread;
    let reading = if by_comma { comma } else { point };
    let units = reading.different_units();
    let parted = |value: &String| value.contains([' ', '%']);
    if reading.unread == 0 && !units.is_empty() && words.values().iter().any(parted) {
        return Meaning::Units(units);
    }
    if reading.read == 0 || !units.is_empty() {
        return Meaning::Categories;
    }
    let not_read = |wanted: bool| {
        let pairs = words.values().iter().zip(&reading.amounts).zip(&counts);
        let found =
            pairs.filter(move |((value, amount), _)| amount.is_none() && gap(value) == wanted);
        found
            .map(|((value, _), &count)| (value.clone(), count))
            .collect::<MissingCounts>()
    };
    if reading.unread > 0 {
        return if reading.unread <= reading.read {
            Meaning::Mixed(not_read(false))
        } else {
            Meaning::Categories
        };
    }
    let mut kinds = reading.amounts.iter().flatten();
    Meaning::Numbers(Numbers {
        values: reading.values(),
        kind: kinds.find_map(|amount| amount.kind),
        gaps: not_read(true),
        decimal: shown.then_some(if by_comma { ',' } else { '.' }),
    })
}

/// Numbers that stand for a missing value more often than not, where all others are 0 or more: the first that occurs several times.
pub(crate) fn stands_for_missing(values: &[f64]) -> Option<(f64, usize)> {
    let mut below = values.iter().filter(|value| **value < 0.0);
    let first = *below.next()?;
    let alike = below.clone().all(|value| *value == first);
    let marked = [-9.0, -99.0, -999.0, -9999.0, -99999.0].contains(&first);
    let count = 1 + below.count();
    (alike && marked && count > 1).then_some((first, count))
}

fn alike(a: &[f64], b: &[f64]) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| a == b || a.is_nan() && b.is_nan())
}

/// Why a column of numbers is no feature, if it is none: it numbers the rows, is an id, a time or a weight.
pub(crate) fn no_feature(name: &str, values: &[f64]) -> Option<Reason> {
    let first = values.first().copied().unwrap_or(f64::NAN);
    let whole = values.iter().all(|value| value.fract() == 0.0);
    let step = values.get(1).map_or(0.0, |second| second - first);
    let mut rows = values.iter().enumerate();
    // Decimals such as 0.1 are not exact.
    let near = |(row, &value): (usize, &f64)| {
        (value - first - row as f64 * step).abs() < 1e-6 * step.abs()
    };
    let counts = rows.all(near);
    let mut seen = HashSet::with_capacity(values.len());
    let mut differ = || values.iter().all(|value| seen.insert(value.to_bits()));
    let enough = values.len() >= FEWEST_OBJECTS;
    let rises = || values.windows(2).all(|two| two[0] < two[1]);
    let table: [(bool, Reason); 4] = [
        (
            enough
                && words::is_time(name)
                && (rises() || whole && values.iter().all(|&value| value >= EPOCH)),
            Reason::Time,
        ),
        (
            values.len() > 2 && words::is_id(name) && whole && differ(),
            Reason::Distinct,
        ),
        (enough && counts, Reason::Counts),
        (words::weighs_objects(name), Reason::Weights),
    ];
    table
        .into_iter()
        .find(|(fits, _)| *fits)
        .map(|(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(values: &str) -> String {
        let texts: Vec<String> = values.split('|').map(str::to_owned).collect();
        let notation = Notation {
            gaps: true,
            ..Notation::default()
        };
        match of_words(&Dictionary::of_texts(texts), notation) {
            Meaning::Numbers(found) => format!("{:?}", found.values),
            Meaning::Categories => "categories".into(),
            Meaning::LeftOut(reason) => format!("{reason:?}"),
            Meaning::Mixed(words) => format!("{words:?}"),
            Meaning::Units(units) => format!("{units:?}"),
        }
    }

    #[test]
    fn values_say_what_a_column_is() {
        for (values, expected) in [
            ("1,5|2,25", "[1.5, 2.25]"),
            ("1.234,5|17,0", "[1234.5, 17.0]"),
            ("1,234|2,345", "[1234.0, 2345.0]"),
            ("1,234|2,34", "[1.234, 2.34]"),
            ("12 kg|13|1.5 kg", "[12.0, 13.0, 1.5]"),
            ("$3|-|$4.50", "[3.0, NaN, 4.5]"),
            ("3|4|k.A.|..", "[3.0, 4.0, NaN, NaN]"),
            ("3|4|5|error", "{\"error\": 1}"),
            ("3|b", "{\"b\": 1}"),
            ("5%|0.5|7%", "[\"\", \"%\"]"),
            ("3 kg|4 lb", "[\"kg\", \"lb\"]"),
            ("1st|2nd|3rd", "categories"),
            ("18-24|25-34|65+", "categories"),
            ("2024-01-31|-|2024-02-01", "Dates"),
            ("-|.", "Empty"),
        ] {
            assert_eq!(means(values), expected, "{values}");
        }
    }
}
