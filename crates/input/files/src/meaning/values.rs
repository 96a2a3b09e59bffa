//! What the values of a column mean: numbers in any notation, categories, times, ids, weights. The rules are here, each with its
//! reason; who is asked for otherwise is not asked here.

use std::collections::HashSet;

use partita_core::option;

use super::complaints::times;
use super::read_options::ReadOptions;
use super::reading::{MOST_DIFFERENT, RARE, Reading, middle};
use super::roles::Reason;
use crate::amount::{amount, common_end, parts};
use crate::calendar;
use crate::dictionary::Dictionary;
use crate::units::is_known_unit;
use crate::value_kind::ValueKind;
use crate::words::{self, MissingCounts, add_counts};

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
    /// Several numbers each, such as 120/80: as many for every value of a dictionary.
    Parts(Vec<Vec<f64>>, MissingCounts),
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
    /// What is to be said about the numbers of the column.
    pub(crate) remark: Option<String>,
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
    let (mut reading, by_comma, decimal) = read(words, &counts, notation, gap);
    if reading.read == 0
        && let Some(several) = several(words, &counts, gap, if by_comma { ',' } else { '.' })
    {
        return several;
    }
    reading.take_flags(words, &counts);
    let taken = reading.take_numbers_of_words(words, &counts);
    let united = reading.unite();
    let others = reading.drop_rare_units(words, &counts);
    let units = reading.different_units();
    let parted = |value: &String| value.contains([' ', '%']);
    let few = words.values().len() <= MOST_DIFFERENT && words.codes().len() >= FEWEST_OBJECTS;
    if reading.unread == 0 && !units.is_empty() && words.values().iter().any(parted) {
        let known = units.iter().all(|unit| is_known_unit(unit));
        return if few && !known {
            Meaning::Categories
        } else {
            Meaning::Units(units)
        };
    }
    let is_grouped = words.values().len() <= MOST_DIFFERENT && reading.are_groups(words);
    if reading.read == 0 || !units.is_empty() || is_grouped {
        return Meaning::Categories;
    }
    if reading.unread > 0 && has_ranges(words) {
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
    // Words without a digit are no codes: what is not measured has no number.
    let none_is_code = || not_read(false).keys().all(|word| !has_digit(word));
    let rare = notation.gaps && RARE * reading.unread <= reading.read && !few && none_is_code();
    if reading.unread > 0 && !rare {
        return if reading.unread <= reading.read && !few {
            Meaning::Mixed(not_read(false))
        } else {
            Meaning::Categories
        };
    }
    let in_one = || {
        let first = united.first()?;
        let all = united.join("', '");
        Some(format!(
            "have the units '{all}'; all are taken in '{first}'"
        ))
    };
    let mut gaps = not_read(true);
    let rare = not_read(false);
    let unmeasured = || {
        let words: Vec<String> = rare.keys().map(|word| format!("'{word}'")).collect();
        let often = times(rare.values().sum());
        let remedy = option("encode").to("one-hot");
        let words = words.join(", ");
        (!rare.is_empty()).then(|| {
            format!("are beside words, {words} ({often}), which are taken for missing values; if they are categories give {remedy}")
        })
    };
    let foreign = || {
        let often = times(others.values().sum());
        let words: Vec<&str> = others.keys().map(String::as_str).collect();
        let units = words.join("', '");
        (!others.is_empty()).then(|| {
            format!("have another unit ('{units}') {often}; those are taken for missing values")
        })
    };
    let remark = in_one().or(taken).or_else(unmeasured).or_else(foreign);
    add_counts(&mut gaps, &others);
    add_counts(&mut gaps, &rare);
    Meaning::Numbers(Numbers {
        values: reading.values(),
        kind: reading.kind(),
        gaps,
        decimal,
        remark,
    })
}

pub(crate) fn has_digit(word: &str) -> bool {
    word.contains(|letter: char| letter.is_ascii_digit())
}

/// The numbers of a column by the mark before decimals that reads more of them; whether this is a comma, and the mark where it shows.
fn read<'a>(
    words: &'a Dictionary,
    counts: &[u64],
    notation: Notation,
    gap: impl Fn(&str) -> bool + Copy,
) -> (Reading<'a>, bool, Option<char>) {
    let behind = common_end(words.values().iter().filter(|value| !gap(value)));
    let read = |decimal: char| {
        let plain = Reading::new(words, counts, gap, decimal, "");
        match behind.filter(|_| plain.read == 0) {
            Some(behind) => Reading::new(words, counts, gap, decimal, behind),
            None => plain,
        }
    };
    let point = read('.');
    let comma = read(',');
    let differ = point.unread != comma.unread || !alike(&point.values(), &comma.values());
    let by_comma = match notation.asked {
        Some(asked) => asked == ',',
        None if comma.unread == point.unread => notation.comma,
        None => comma.unread < point.unread,
    };
    // Which mark it is shows only where one of them reads more.
    let shown = differ && point.unread != comma.unread;
    let decimal = shown.then_some(if by_comma { ',' } else { '.' });
    (if by_comma { comma } else { point }, by_comma, decimal)
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
        // No time of the day has minutes and parts of seconds alone.
        let of_seconds = value.contains('.') && value.matches(':').count() == 1;
        of_seconds || value.starts_with('P') || hour.is_some_and(|hour: u32| hour > 24)
    };
    // Nothing but the first hour of the day is no time of the day.
    let short = |value: &String| value.starts_with("0:") || value.starts_with("00:");
    let three = |value: &String| value.matches(':').count() == 2 && short(value);
    let said = || words.values().iter().filter(|value| !gap(value));
    let is_short = || said().count() > 1 && said().all(three);
    (notation.durations || words.values().iter().any(longer) || is_short()).then(|| {
        Meaning::Numbers(Numbers {
            values,
            kind: Some(ValueKind::Duration),
            gaps: no_values(words, counts, gap),
            decimal: None,
            remark: None,
        })
    })
}

/// The numbers of every value, if all are several and as many.
fn several(
    words: &Dictionary,
    counts: &[u64],
    gap: impl Fn(&str) -> bool,
    decimal: char,
) -> Option<Meaning> {
    let values = words.values().iter();
    let width = values
        .clone()
        .find_map(|value| parts(value, decimal))?
        .len();
    let read = |value: &String| {
        let found = parts(value, decimal).filter(|found| found.len() == width);
        found.or_else(|| gap(value).then(|| vec![f64::NAN; width]))
    };
    let found: Vec<Vec<f64>> = values.map(read).collect::<Option<_>>()?;
    Some(Meaning::Parts(found, no_values(words, counts, gap)))
}

/// Whether some word is a range of numbers, such as 18-24 or $25,000 to $49,999: all are groups then.
fn has_ranges(words: &Dictionary) -> bool {
    words.values().iter().any(|value| middle(value).is_some())
}

/// Numbers that stand for missing values more often than not; how often each, and whether it surely does: it is below 0, and all others are
/// not or are nearer to each other, or it does in another column, whose numbers are `known`.
pub(crate) fn stand_for_missing(values: &[f64], known: &[f64]) -> Vec<(f64, usize, bool)> {
    let mut found: Vec<(f64, usize)> = Vec::new();
    let mut others: Vec<f64> = Vec::with_capacity(values.len());
    for &value in values.iter().filter(|value| !value.is_nan()) {
        if !words::is_missing_code(value) {
            others.push(value);
        } else if let Some((_, count)) = found.iter_mut().find(|(code, _)| *code == value) {
            *count += 1;
        } else {
            found.push((value, 1));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let range = |others: &[f64]| {
        let low = others.iter().copied().fold(f64::INFINITY, f64::min);
        let high = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    };
    let (low, high) = range(&others);
    let judged = found.into_iter().filter_map(|(code, count)| {
        let far = low - code > high - low;
        let above = code - high > high - low && high > low;
        let sure = code < 0.0
            && (low >= 0.0
                && (code <= -77.0 || code.fract() != 0.0 || far || known.contains(&code))
                || code <= -99.0 && far)
            || above && (code >= 1e20 || code.fract() != 0.0 && code > 99.0);
        let suspected = sure || code < 0.0 && low >= 0.0 || above;
        (count > 1 && low <= high && suspected).then_some((code, count, sure))
    });
    let mut judged: Vec<(f64, usize, bool)> = judged.collect();
    if low == -1.0 || low < 0.0 && low % 100.0 == 0.0 {
        // The one number below all others may be another code of its program.
        let all = others.len();
        others.retain(|value| *value > low);
        let (next, high) = range(&others);
        let count = all - others.len();
        let far = count > 2 && next - low > high - next;
        let sure = low < -1.0 && (far || known.contains(&low) && next >= 0.0);
        let suspected = sure || low == -1.0 && next >= 0.0 && high >= 10.0;
        judged.extend((count > 1 && next < high && suspected).then_some((low, count, sure)));
    }
    judged
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
    let mut there = values.to_vec();
    there.retain(|value| !value.is_nan());
    let first = values.first().copied().unwrap_or(f64::NAN);
    let whole = there.iter().all(|value| value.fract() == 0.0);
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
    let rises = || there.windows(2).all(|two| two[0] < two[1]);
    let falls = || there.windows(2).any(|two| two[0] > two[1]);
    let among = |low: f64, high: f64| there.iter().all(|value| (low..high).contains(value));
    let serial = || {
        whole && (among(EPOCH, f64::INFINITY) || words::is_day(name) && among(SERIAL.0, SERIAL.1))
    };
    let is_month = || {
        (words::is_time(name) || words::is_period(name))
            && there.iter().all(|&value| calendar::is_compact_month(value))
    };
    let epoch = || among(EPOCH, 2.0 * EPOCH) || among(1e3 * EPOCH, 2e3 * EPOCH);
    let is_phone = words::is_phone(name) && among(1e5, f64::INFINITY);
    let repeats = words::is_id(name) && !falls() || words::is_one_of(&["id"], name);
    let is_key = (words::is_key(name) || is_phone || repeats) && whole && enough;
    let table: [(bool, Reason); 6] = [
        (
            enough
                && (words::is_time(name) && (rises() || serial())
                    || is_month()
                    || words::is_period(name) && whole && among(1800.0, 2200.0)),
            Reason::Time,
        ),
        (
            enough
                && (there.iter().all(|&value| calendar::is_compact(value)) || epoch() && rises()),
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
            Meaning::Parts(parts, _) => format!("{parts:?}"),
        }
    }

    #[test]
    fn few_values_with_words_are_categories() {
        let often = |values: &str| [values; 10].join("|");
        for values in [
            "neg|trace|1+|2+",
            "Studio|2 bd|4 bd",
            "1. Yes|2. No",
            "4|+|r|2a",
        ] {
            assert_eq!(means(&often(values)), "categories", "{values}");
        }
    }

    #[test]
    fn numbers_that_stand_for_missing_values() {
        for (values, expected) in [
            (
                &[1.0, 4.0, -99.0, 7.0, -77.0, -99.0, -77.0][..],
                &[(-99.0, 2, true), (-77.0, 2, true)][..],
            ),
            (
                &[1.0, 4.0, 7.0, 99.0, 99.0, 98.0, 98.0],
                &[(98.0, 2, false), (99.0, 2, false)],
            ),
            (&[20.0, 60.0, 99.0, 99.0], &[]),
            (&[-9.0, -9.0, -6.0, 30.0], &[]),
            (&[0.0, 30.0, -9.0, -9.0], &[(-9.0, 2, false)]),
            (&[0.0, 5.0, -9.0, -9.0], &[(-9.0, 2, true)]),
            (&[1.0, 5.0, -200.0, -200.0, -200.0], &[(-200.0, 3, true)]),
            (&[1.0, 500.0, -200.0, -200.0, -200.0], &[]),
            (&[1.0, 99.88, 99.88, 50.0], &[]),
            (&[1.0, 30.0, -1.0, -1.0], &[(-1.0, 2, false)]),
            (&[1.0, 30.0, 999.9, 999.9], &[(999.9, 2, true)]),
        ] {
            assert_eq!(stand_for_missing(values, &[]), expected, "{values:?}");
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
            ("3|4|5|6|Tr", "[3.0, 4.0, 5.0, 6.0, NaN]"),
            ("130 L|150 H|140|151 H", "[130.0, 150.0, 140.0, 151.0]"),
            ("CHF 45.-|CHF 1'200.-", "[45.0, 1200.0]"),
            ("kr 1.200,-|kr 150,-", "[1200.0, 150.0]"),
            ("%12,5|%7,25", "[12.5, 7.25]"),
            ("5'10|5'0", "[70.0, 60.0]"),
            ("88+2|71+1", "[88.0, 71.0]"),
            ("PT1H20M|PT45M", "[4800.0, 2700.0]"),
            ("1|2|\\N|(null)|–", "[1.0, 2.0, NaN, NaN, NaN]"),
            ("3|4|5|6|E7.1", "{\"E7.1\": 1}"),
            ("Less than 1 year|4|12|40", "[1.0, 4.0, 12.0, 40.0]"),
            ("01:57:32|111:06:40", "[7052.0, 400000.0]"),
            ("3.1a|4|5|6.5b|7|8", "[3.1, 4.0, 5.0, 6.5, 7.0, 8.0]"),
            ("<1 year|4|>9 years", "[1.0, 4.0, 9.0]"),
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
            ("0:36.5|1:02.35", "[36.5, 62.35]"),
            ("00:01:20|00:12:00|-", "[80.0, 720.0, NaN]"),
            ("35.5N|12.5S", "[35.5, -12.5]"),
            ("12/3/8|7/4/11", "[[12.0, 3.0, 8.0], [7.0, 4.0, 11.0]]"),
            ("4.5 out of 5 stars|3.0 out of 5 stars", "[4.5, 3.0]"),
            ("12,5 % vol|9,0 % vol|k. A.", "[12.5, 9.0, NaN]"),
            ("45 min|1 hr 23 min", "[45.0, 83.0]"),
            ("< 1 year|4 years|10+ years", "[1.0, 4.0, 10.0]"),
            ("$3|free|$4.50", "[3.0, 0.0, 4.5]"),
            ("free|4|5|6", "{\"free\": 1}"),
            ("0 - never|1|2|3|4 - always", "[0.0, 1.0, 2.0, 3.0, 4.0]"),
            (
                "1050|1200 - 1300|2100|980",
                "[1050.0, 1250.0, 2100.0, 980.0]",
            ),
            ("900|.a|b.d.", "[900.0, NaN, NaN]"),
            ("1. Yes|2. No", "[\"No\", \"Yes\"]"),
            ("3|4|n. b.|Not detected", "[3.0, 4.0, NaN, NaN]"),
        ] {
            assert_eq!(means(values), expected, "{values}");
        }
    }
}
