//! Values that people read as numbers and programs do not: dates, percents, amounts of money, decimal commas, units.

use std::collections::BTreeSet;
use std::fmt;

use partita_core::option;
use serde::{Deserialize, Serialize};

/// What a text is that looks like a number to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ValueKind {
    /// A date or a time, such as 2024-01-31, 31.1.2024 or 12:30.
    Date,
    /// A share of a hundred, such as 12.5 %.
    Percent,
    /// An amount of money, such as $12 or 12 €.
    Currency,
    /// A number with a decimal comma, such as 1,5.
    DecimalComma,
    /// A number with commas, blanks or apostrophes between thousands, such as 1,234,567 or 1 234.
    Thousands,
    /// A number with a minus of typeset text, such as −1.5, or in the brackets of accounts.
    Minus,
    /// A number with a unit behind it, such as 12 kg.
    Unit,
}

impl ValueKind {
    /// What a text is, if it is one of these.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if is_date(text) || names_month(text) {
            return Some(Self::Date);
        }
        let amount = amount(text, '.').or_else(|| amount(text, ','))?;
        amount.kind.filter(|kind| *kind != Self::Unit)
    }

    /// Whether all of these texts are a number and one of few units behind it, such as 3 kg: amounts, not names.
    pub(crate) fn all_have_unit(texts: &[String]) -> bool {
        let units: Option<BTreeSet<&str>> = texts.iter().map(|text| unit(text)).collect();
        units.is_some_and(|units| {
            units.len() == 1 || !units.is_empty() && 2 * units.len() < texts.len()
        })
    }

    /// Whether all of these texts are such, and of which kind the first is.
    pub(crate) fn of_all(texts: &[String]) -> Option<Self> {
        let first = Self::of(texts.first()?)?;
        texts
            .iter()
            .all(|text| Self::of(text).is_some())
            .then_some(first)
    }

    /// How it is called, and what to write instead.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Percent => ("a percentage", "write it without the sign"),
            Self::Currency => ("an amount of money", "write the amount alone"),
            Self::Date => (
                "a date or a time",
                "write it as a number (days since a day)",
            ),
            Self::Minus => ("a number with a typographic minus", "write the sign as -"),
            Self::DecimalComma => ("a number with a decimal comma", "write a decimal point"),
            Self::Thousands => (
                "a number with marks between thousands",
                "write the digits alone",
            ),
            Self::Unit => ("a number with a unit", "write the number alone"),
        }
    }

    /// What to do about a column of these.
    pub(crate) fn remedy(self, column: &str) -> String {
        let instead = self.words().1;
        let named = if self == Self::Date {
            let id = option("id").naming(column);
            format!(", or name it with {id} if it names the objects")
        } else {
            String::new()
        };
        let skip = option("skip").naming(column);
        format!("leave the column out ({skip}), or {instead}{named}")
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().0)
    }
}

/// No number is written longer.
const LONGEST: usize = 40;

/// Signs of currencies.
const SIGNS: [char; 5] = ['$', '€', '£', '¥', '₹'];

/// Codes of currencies (ISO 4217) that stand before or behind amounts.
const CODES: [&str; 20] = [
    "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HUF", "INR", "JPY", "KRW",
    "MXN", "NOK", "PLN", "RUB", "SEK", "USD", "ZAR",
];

/// What stands for a minus in typeset text.
const MINUS: [char; 2] = ['\u{2212}', '\u{2013}'];

/// What separates thousands besides commas: blanks that do not break, apostrophes.
const GAPS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}'];

/// Names of months; three letters of one are enough.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A number in any notation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount<'a> {
    pub(crate) value: f64,
    /// The unit, the currency or %; empty where there is none.
    pub(crate) unit: &'a str,
    /// The notation; none of a plain number.
    pub(crate) kind: Option<ValueKind>,
}

/// The number that a text is to people who separate decimals by this mark.
pub(crate) fn amount(text: &str, decimal: char) -> Option<Amount<'_>> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let plain = |value: f64| Amount {
        value,
        unit: "",
        kind: None,
    };
    if decimal == '.'
        && let Some(value) = text.parse().ok().filter(|value: &f64| value.is_finite())
    {
        return Some(plain(value));
    }
    let bracketed = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let (outer, body) = signed(bracketed.unwrap_or(text));
    let (unit, body) = parted(body)?;
    let (inner, body) = signed(body);
    let (value, kind) = digits(body, decimal)?;
    let dash = bracketed.is_some() || text.contains(MINUS);
    let kind = match unit {
        "" if dash => Some(ValueKind::Minus),
        "" => kind,
        "%" => Some(ValueKind::Percent),
        unit if is_currency(unit) => Some(ValueKind::Currency),
        _ => Some(ValueKind::Unit),
    };
    // Latitudes of the south and longitudes of the west.
    let below = ["°S", "°W"].contains(&unit);
    let negative = (bracketed.is_some() || outer) ^ inner ^ below;
    let unit = if unit.starts_with('°') && unit.ends_with(['N', 'S', 'E', 'W']) {
        "°"
    } else {
        unit
    };
    Some(Amount {
        value: if negative { -value } else { value },
        unit,
        kind,
    })
}

fn is_currency(unit: &str) -> bool {
    CODES.contains(&unit) || unit.strip_prefix(SIGNS).is_some_and(str::is_empty)
}

/// Whether a minus stands before a text, and the text behind the sign.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', MINUS[0], MINUS[1]]) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A currency, unit or % and the number beside it.
fn parted(text: &str) -> Option<(&str, &str)> {
    let codes = CODES.iter().copied();
    if let Some(code) = codes
        .chain(["$", "€", "£", "¥", "₹"])
        .find(|code| text.starts_with(code))
    {
        return Some((code, text[code.len()..].trim_start()));
    }
    let last = text.rfind(|letter: char| letter.is_ascii_digit())?;
    let (body, unit) = text.split_at(last + 1);
    let unit = unit.trim_start_matches('.').trim();
    let is_unit = unit.chars().count() <= 8
        && !unit.contains(|letter: char| letter.is_whitespace() || ",;:()".contains(letter));
    is_unit.then_some((unit, body))
}

/// The number that digits, a mark before the decimals, and marks between thousands are.
fn digits(text: &str, decimal: char) -> Option<(f64, Option<ValueKind>)> {
    let (whole, decimals) = text.split_once(decimal).unwrap_or((text, ""));
    let mark = whole.chars().find(|letter| !letter.is_ascii_digit());
    let is_mark = |mark: &char| GAPS.contains(mark) || [',', '.'].contains(mark);
    let groups: Vec<&str> = match mark {
        None => vec![whole],
        Some(mark) if is_mark(&mark) => whole.split(mark).collect(),
        Some(_) => return None,
    };
    let (first, rest) = groups.split_first()?;
    let grouped = rest
        .iter()
        .all(|group| are_digits(group) && group.len() == 3);
    let begun = if rest.is_empty() {
        first.is_empty() || are_digits(first)
    } else {
        are_digits(first) && first.len() <= 3 && *first != "0"
    };
    let ended = decimals.bytes().all(|byte| byte.is_ascii_digit());
    if !grouped || !begun || !ended || whole.len() + decimals.len() == 0 {
        return None;
    }
    let value = format!("{}.{decimals}", groups.concat()).parse().ok()?;
    let gap = mark.is_some_and(|mark| GAPS.contains(&mark));
    let kind = match mark {
        _ if decimal == ',' && text.contains(',') && !gap => Some(ValueKind::DecimalComma),
        Some(_) => Some(ValueKind::Thousands),
        None if decimal == ',' && text.contains(',') => Some(ValueKind::DecimalComma),
        None => None,
    };
    Some((value, kind))
}

/// The word behind a number and a blank.
fn unit(text: &str) -> Option<&str> {
    let (_, unit) = text.trim().split_once(' ')?;
    let amount = amount(text, '.')?;
    (amount.kind == Some(ValueKind::Unit)).then_some(unit)
}

/// The name of a month beside one or two numbers, such as 1-Jan-2024, Jan 5, 2024 or 5 March.
fn names_month(text: &str) -> bool {
    let parts: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    let is_number = |part: &str| part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    let months = parts.iter().filter(|part| is_month(part)).count();
    let numbers = parts.iter().filter(|part| is_number(part)).count();
    months == 1 && (1..=2).contains(&numbers) && months + numbers == parts.len()
}

/// Whether a word is the name of a month, or three letters or more of one.
fn is_month(word: &str) -> bool {
    let word = word.to_lowercase();
    word.chars().count() >= 3 && MONTHS.iter().any(|month| month.starts_with(&word))
}

/// Three numbers with one mark between them, or a time of the day, or both.
fn is_date(text: &str) -> bool {
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time.trim_end_matches('Z'))),
        None => (text, None),
    };
    if time.is_none() && is_time(day) {
        return true;
    }
    let is_day = ['-', '/', '.'].iter().any(|&mark| {
        let parts: Vec<&str> = day.split(mark).collect();
        let numbers = parts
            .iter()
            .all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
        let years = parts.iter().filter(|part| part.len() == 4).count();
        parts.len() == 3
            && numbers
            && (years == 1 || (years == 0 && parts.iter().all(|part| part.len() == 2)))
    });
    is_day && time.is_none_or(is_time)
}

/// Such as 12:30 or 12:30:59.5.
fn is_time(text: &str) -> bool {
    let time = text.split(['+', '.']).next().unwrap_or_default();
    let parts: Vec<&str> = time.split(':').collect();
    let numbers = parts
        .iter()
        .all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    (2..=3).contains(&parts.len()) && numbers
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_read_as_numbers() {
        const DATES: &[&str] = &[
            "2024-01-31",
            "31.1.2024",
            "1/31/2024",
            "01/31/24",
            "2024-01-31T12:30:00Z",
            "2024-01-31 12:30",
            "12:30",
            "1-Jan-2024",
            "Jan 5, 2024",
            "5 September",
        ];
        const NONE: &[&str] = &[
            "",
            "a",
            "cell-1",
            "AAAC-1",
            "1.5",
            "T1",
            "10.1.2",
            "1-2-3",
            "a,b",
            "g1,5x",
            "12:3x",
            "S1 12",
            "12 34",
            "1 2345",
            "MARCH1",
            "Mart 5",
            "3. März 2024",
            "may",
            "USD",
            "EUR1x",
            "5 cells",
            "\u{2212}x1",
            "T 1 Jan 2 3",
        ];
        for (kind, texts) in [
            (Some(ValueKind::Date), DATES),
            (Some(ValueKind::Percent), &["12.5%", "-3 %"]),
            (
                Some(ValueKind::Currency),
                &["$12.50", "1.234,50 €", "-$3", "EUR 12", "12.50 USD"],
            ),
            (Some(ValueKind::DecimalComma), &["1,5", "1.234,56", "0,125"]),
            (
                Some(ValueKind::Thousands),
                &[
                    "1,234",
                    "1,234,567.8",
                    "1 234",
                    "12\u{a0}345,5",
                    "1'234'567",
                ],
            ),
            (Some(ValueKind::Minus), &["\u{2212}1.5"]),
            (None, NONE),
        ] {
            for text in texts {
                assert_eq!(ValueKind::of(text), kind, "{text}");
            }
        }
    }

    #[test]
    fn amounts_are_numbers() {
        for (text, decimal, value, unit) in [
            ("1,5", ',', 1.5, ""),
            ("1.234,50 €", ',', 1234.5, "€"),
            ("1.234", ',', 1234.0, ""),
            ("1,234,567.8", '.', 1_234_567.8, ""),
            ("1 234,5", ',', 1234.5, ""),
            ("-$3", '.', -3.0, "$"),
            ("EUR -12", '.', -12.0, "EUR"),
            ("(1,234.00)", '.', -1234.0, ""),
            ("\u{2212}1.5", '.', -1.5, ""),
            ("12.5 %", '.', 12.5, "%"),
            ("12kg", '.', 12.0, "kg"),
            ("48.2 °N", '.', 48.2, "°"),
            ("12.5 °S", '.', -12.5, "°"),
            (".5 g/cm³", '.', 0.5, "g/cm³"),
        ] {
            let found = amount(text, decimal).map(|found| (found.value, found.unit));
            assert_eq!(found, Some((value, unit)), "{text}");
        }
        for (text, decimal) in [
            ("0,125", '.'),
            ("1,5", '.'),
            ("1.5", ','),
            ("1,23,4", '.'),
            ("a1", '.'),
            ("", '.'),
            ("1-2", '.'),
            ("inf", '.'),
        ] {
            assert_eq!(amount(text, decimal), None, "{text}");
        }
    }

    #[test]
    fn amounts_of_one_unit() {
        let all = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            ValueKind::all_have_unit(&texts)
        };
        assert!(all(&["3 kg", "4.5 kg", "-1 kg"]));
        assert!(
            !all(&["3 kg", "4 lb"]) && !all(&["3 kg", "4"]) && !all(&["T 1", "T 2"]) && !all(&[])
        );
    }
}
