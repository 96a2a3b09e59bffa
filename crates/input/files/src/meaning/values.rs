//! What the values of a column mean: numbers in any notation, categories, times, ids, weights. The rules are here, each with its
//! reason; who is asked for otherwise is not asked here.

use std::collections::{BTreeSet, HashSet};

use super::read_options::ReadOptions;
use super::roles::Reason;
use crate::amount::{Amount, amount, factors, pair};
use crate::calendar;
use crate::dictionary::Dictionary;
use crate::value_kind::ValueKind;
use crate::words::{self, MissingCounts};

/// Nothing is suspected of fewer objects.
pub(crate) const FEWEST_OBJECTS: usize = 20;

/// Seconds since 1970 from 2001 on.
const EPOCH: f64 = 1e9;

/// Days since 1900 of the years 1955 to 2119, as spreadsheets count them.
const SERIAL: (f64, f64) = (20_000.0, 80_000.0);

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
    /// Two numbers each, such as 120/80: one pair for every value of a dictionary.
    Pairs(Vec<[f64; 2]>, MissingCounts),
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
    /// Units of one kind, all of which are taken in the first.
    pub(crate) units: Vec<String>,
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

    /// Marks that few of the numbers have behind them, such as the flags of official statistics, are taken for notes.
    fn take_flags(&mut self, words: &Dictionary, counts: &[u64]) {
        if !words
            .values()
            .iter()
            .any(|value| value.trim().contains(' '))
        {
            return;
        }
        let is_flag = |unit: &str| {
            (1..=2).contains(&unit.len())
                && unit.bytes().all(|byte| byte.is_ascii_alphabetic())
                && factors(&["", unit]).is_none()
        };
        let pairs = || self.amounts.iter().zip(counts);
        let rows = |wanted: &dyn Fn(&str) -> bool| -> u64 {
            let found =
                pairs().filter(|(amount, _)| amount.is_some_and(|found| wanted(found.unit)));
            found.map(|(_, count)| count).sum()
        };
        let flagged = rows(&is_flag);
        if flagged == 0 || 2 * flagged > rows(&|unit| unit.is_empty()) {
            return;
        }
        for amount in self.amounts.iter_mut().flatten() {
            if is_flag(amount.unit) {
                (amount.unit, amount.kind) = ("", Some(ValueKind::Note));
            }
        }
    }

    /// Takes numbers whose units are of one kind in the first of these; gives the units, if there are several.
    fn unite(&mut self) -> Vec<String> {
        let units: BTreeSet<&str> = self
            .amounts
            .iter()
            .flatten()
            .map(|found| found.unit)
            .collect();
        let units: Vec<&str> = units.into_iter().collect();
        // One is the plural of the other.
        if let &[one, many] = &*units
            && many.strip_suffix('s') == Some(one)
            && !one.is_empty()
        {
            self.amounts
                .iter_mut()
                .flatten()
                .for_each(|amount| amount.unit = one);
            return Vec::new();
        }
        let Some(factors) = factors(&units).filter(|_| units.len() > 1) else {
            return Vec::new();
        };
        for amount in self.amounts.iter_mut().flatten() {
            let at = units.iter().position(|unit| *unit == amount.unit);
            amount.value *= at.map_or(1.0, |at| factors[at] / factors[0]);
            amount.unit = units[0];
            amount.kind = amount.kind.or(Some(ValueKind::Unit));
        }
        units.into_iter().map(str::to_owned).collect()
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

    /// The notation that is said: bounds and notes before others.
    fn kind(&self) -> Option<ValueKind> {
        let kinds = || {
            self.amounts
                .iter()
                .flatten()
                .filter_map(|amount| amount.kind)
        };
        let rare = |kind: &ValueKind| matches!(kind, ValueKind::Bound | ValueKind::Note);
        kinds().find(rare).or_else(|| kinds().next())
    }

    /// Whether all numbers are bounds with marks before them, as those of groups are.
    fn are_groups(&self, words: &Dictionary) -> bool {
        let mut pairs = self.amounts.iter().zip(words.values());
        pairs.all(|(amount, word)| {
            amount.is_none_or(|amount| amount.kind == Some(ValueKind::Bound))
                && !word.trim_end().ends_with('+')
        })
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
    /// The name of the column says that what looks like a time of the day is a duration.
    pub(crate) durations: bool,
}

impl Notation {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            gaps: options.missing.is_none(),
            asked: options.decimal,
            comma: false,
            durations: false,
        }
    }

    /// The same for a column of this name.
    pub(crate) fn of(self, column: &str) -> Self {
        Self {
            durations: words::is_duration(column),
            ..self
        }
    }
}

/// What the words of a column mean.
pub(crate) fn of_words(words: &Dictionary, notation: Notation) -> Meaning {
    let gap = |value: &str| notation.gaps && words::has_no_value(value);
    let is_date = |value: &&String| ValueKind::of(value) == Some(ValueKind::Date);
    let mut said = words.values().iter().filter(|value| !gap(value)).peekable();
    if said.peek().is_none() {
        // A cross is an answer where nothing else is said.
        let is_empty = words
            .values()
            .iter()
            .all(|value| words::means_nothing(value));
        return if is_empty {
            Meaning::LeftOut(Reason::Empty)
        } else {
            Meaning::Categories
        };
    }
    let counts = words.counts();
    if said.all(|value| is_date(&value)) {
        return durations(words, &counts, notation, gap).unwrap_or(Meaning::LeftOut(Reason::Dates));
    }
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
    let mut reading = if by_comma { comma } else { point };
    if reading.read == 0
        && let Some(pairs) = pairs(words, &counts, gap, if by_comma { ',' } else { '.' })
    {
        return pairs;
    }
    reading.take_flags(words, &counts);
    let united = reading.unite();
    let units = reading.different_units();
    let parted = |value: &String| value.contains([' ', '%']);
    if reading.unread == 0 && !units.is_empty() && words.values().iter().any(parted) {
        return Meaning::Units(units);
    }
    if reading.read == 0 || !units.is_empty() || reading.are_groups(words) || has_ranges(words) {
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
    Meaning::Numbers(Numbers {
        values: reading.values(),
        kind: reading.kind(),
        gaps: not_read(true),
        decimal: shown.then_some(if by_comma { ',' } else { '.' }),
        units: united,
    })
}

/// How often each word occurs that is no value.
fn no_values(words: &Dictionary, counts: &[u64], gap: impl Fn(&str) -> bool) -> MissingCounts {
    let pairs = words.values().iter().zip(counts);
    let found = pairs.filter(|(value, _)| gap(value));
    found
        .map(|(value, &count)| (value.clone(), count))
        .collect()
}

/// The seconds of what looks like times of the day, if the name of the column says that they are durations or one is longer than a day.
fn durations(
    words: &Dictionary,
    counts: &[u64],
    notation: Notation,
    gap: impl Fn(&str) -> bool,
) -> Option<Meaning> {
    let seconds = |value: &String| calendar::duration(value.trim());
    let read = |value: &String| seconds(value).or_else(|| gap(value).then_some(f64::NAN));
    let values: Vec<f64> = words.values().iter().map(read).collect::<Option<_>>()?;
    let longer = |value: &String| {
        let hour = value
            .split(':')
            .next()
            .and_then(|hour| hour.trim().parse().ok());
        hour.is_some_and(|hour: u32| hour > 24)
    };
    (notation.durations || words.values().iter().any(longer)).then(|| {
        Meaning::Numbers(Numbers {
            values,
            kind: Some(ValueKind::Duration),
            gaps: no_values(words, counts, gap),
            decimal: None,
            units: Vec::new(),
        })
    })
}

/// Two numbers of every value, if all are such.
fn pairs(
    words: &Dictionary,
    counts: &[u64],
    gap: impl Fn(&str) -> bool,
    decimal: char,
) -> Option<Meaning> {
    let read =
        |value: &String| pair(value, decimal).or_else(|| gap(value).then_some([f64::NAN; 2]));
    let found: Vec<[f64; 2]> = words.values().iter().map(read).collect::<Option<_>>()?;
    Some(Meaning::Pairs(found, no_values(words, counts, gap)))
}

/// Whether some word is a range of numbers, such as 18-24 or $25,000 to $49,999: all are groups then.
fn has_ranges(words: &Dictionary) -> bool {
    let number = |text: &str| amount(text, '.').or_else(|| amount(text, ',')).is_some();
    let is_range = |value: &String| {
        ["-", "–", " to ", " bis ", " à ", " a "]
            .iter()
            .any(|mark| {
                let parts = value.split_once(mark);
                parts.is_some_and(|(low, high)| {
                    number(low) && number(high) && amount(value, '.').is_none()
                })
            })
    };
    words.values().iter().any(is_range)
}

/// A number that stands for a missing value more often than not, where all others are 0 or more and it occurs several times; how often,
/// and whether it surely does: it has several nines, or is further away from the others than they are from each other.
pub(crate) fn stands_for_missing(values: &[f64]) -> Option<(f64, usize, bool)> {
    const MARKERS: [f64; 5] = [-9.0, -99.0, -999.0, -9999.0, -99999.0];
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let others = || {
        values
            .iter()
            .copied()
            .filter(|value| *value != least && !value.is_nan())
    };
    let (low, high) = others().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let count = values.iter().filter(|value| **value == least).count();
    let far = low - least > high - low;
    let sure = low >= 0.0 && (least <= MARKERS[1] || far) || least <= MARKERS[1] && far;
    let suspected = MARKERS.contains(&least) && count > 1 && (sure || low >= 0.0);
    suspected.then_some((least, count, sure))
}

/// Whether points stand between thousands: every number with one has three digits behind each, and there are numbers below 1000 without.
pub(crate) fn points_part_thousands(words: &Dictionary) -> bool {
    let is_whole = |text: &str| {
        (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (parted, whole): (Vec<&String>, Vec<&String>) =
        words.values().iter().partition(|value| value.contains('.'));
    let thousands = |value: &&String| !value.starts_with('0') && amount(value, ',').is_some();
    !parted.is_empty()
        && whole
            .iter()
            .any(|value| is_whole(value.trim_start_matches('-')))
        && parted.iter().all(thousands)
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
    let among = |low: f64, high: f64| values.iter().all(|value| (low..high).contains(value));
    let serial = || {
        whole && (among(EPOCH, f64::INFINITY) || words::is_day(name) && among(SERIAL.0, SERIAL.1))
    };
    let epoch = || whole && (among(EPOCH, 2.0 * EPOCH) || among(1e3 * EPOCH, 2e3 * EPOCH));
    let is_phone = words::is_phone(name) && among(1e5, f64::INFINITY);
    let is_key = (words::is_key(name) || is_phone) && whole && enough;
    let table: [(bool, Reason); 6] = [
        (
            enough
                && (words::is_time(name) && (rises() || serial())
                    || words::is_period(name) && whole && among(1800.0, 2200.0)),
            Reason::Time,
        ),
        (
            enough
                && (values.iter().all(|&value| calendar::is_compact(value)) || epoch() && rises()),
            Reason::Dates,
        ),
        (
            values.len() > 2 && words::is_id(name) && whole && differ(),
            Reason::Distinct,
        ),
        (is_key, Reason::Key),
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
            Meaning::Pairs(pairs, _) => format!("{pairs:?}"),
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
            ("3 kg|4 cm", "[\"cm\", \"kg\"]"),
            ("3 kg|500 g", "[3000.0, 500.0]"),
            ("1.5K|2M|800", "[1500.0, 2000000.0, 800.0]"),
            ("3.1 p|4|5|6 b|7|8", "[3.1, 4.0, 5.0, 6.0, 7.0, 8.0]"),
            ("<0.5|7|> 10", "[0.5, 7.0, 10.0]"),
            ("1,000+|10,000+", "[1000.0, 10000.0]"),
            ("<5|>10", "categories"),
            ("65+|65+|18 - 24|70+", "categories"),
            (
                "120/80|-|130/85",
                "[[120.0, 80.0], [NaN, NaN], [130.0, 85.0]]",
            ),
            ("3|4|#DIV/0!|:", "[3.0, 4.0, NaN, NaN]"),
            ("75:30|4:05", "[4530.0, 245.0]"),
            ("12:30|14:05", "Dates"),
            ("1st|2nd|3rd", "categories"),
            ("18-24|25-34|65+", "categories"),
            ("2024-01-31|-|2024-02-01", "Dates"),
            ("-|.", "Empty"),
        ] {
            assert_eq!(means(values), expected, "{values}");
        }
    }
}
