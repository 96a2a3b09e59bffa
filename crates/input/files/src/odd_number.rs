//! Values that people read as numbers and programs do not: dates, percents, amounts of money, decimal commas, units.

use std::fmt;

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

/// Names of months in English, and in German where they differ; three letters of one are enough.
const MONTHS: [&str; 20] = [
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
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
];

/// What a text is that looks like a number to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OddNumber {
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
    /// A number with a minus of typeset text, such as −1.5.
    Minus,
}

impl OddNumber {
    /// What a text is, if it is one of these.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 || text.len() > 40 {
            return None;
        }
        if text.strip_suffix('%').is_some_and(is_plain) {
            return Some(Self::Percent);
        }
        let amount = text.trim_start_matches('-').trim_matches(SIGNS);
        if text.contains(SIGNS) && is_plain(amount) || without_code(text).is_some_and(is_plain) {
            return Some(Self::Currency);
        }
        if is_date(text) || names_month(text) {
            return Some(Self::Date);
        }
        if text
            .strip_prefix(MINUS)
            .is_some_and(|rest| rest.trim_start().parse::<f64>().is_ok())
        {
            return Some(Self::Minus);
        }
        let unsigned = text.trim_start_matches(['-', '+']);
        comma(unsigned).or_else(|| has_gaps(unsigned).then_some(Self::Thousands))
    }

    /// Whether all of these texts are a number and the same unit behind it, such as 3 kg: amounts, not names.
    pub(crate) fn all_have_unit<'a>(texts: impl Iterator<Item = &'a String>) -> bool {
        let mut units = texts.map(|text| unit(text));
        let Some(Some(first)) = units.next() else {
            return false;
        };
        units.all(|unit| unit == Some(first))
    }

    /// Whether all of these texts are such, and of which kind the first is.
    pub(crate) fn of_all<'a>(mut texts: impl Iterator<Item = &'a String>) -> Option<Self> {
        let first = Self::of(texts.next()?)?;
        texts.all(|text| Self::of(text).is_some()).then_some(first)
    }

    /// What to do about a column of these.
    pub(crate) fn remedy(self, column: &str) -> String {
        let instead = match self {
            Self::Date => format!(
                "write it as a number (days since a day), or name it with --id '{column}' if it names the objects"
            ),
            Self::Percent => "write it without the sign".to_owned(),
            Self::Currency => "write the amount alone".to_owned(),
            Self::DecimalComma => "write a decimal point".to_owned(),
            Self::Thousands => "write the digits alone".to_owned(),
            Self::Minus => "write the sign as -".to_owned(),
        };
        format!("leave the column out (--skip '{column}'), or {instead}")
    }
}

impl fmt::Display for OddNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Date => "a date or a time",
            Self::Percent => "a percentage",
            Self::Currency => "an amount of money",
            Self::DecimalComma => "a number with a decimal comma",
            Self::Thousands => "a number with marks between thousands",
            Self::Minus => "a number with a typographic minus",
        })
    }
}

/// Digits with points and commas between them.
fn is_plain(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['-', '+']);
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\''))
}

/// What is left of an amount without the code of a currency.
fn without_code(text: &str) -> Option<&str> {
    CODES
        .iter()
        .find_map(|code| text.strip_prefix(code).or_else(|| text.strip_suffix(code)))
}

/// The word behind a number and a blank.
fn unit(text: &str) -> Option<&str> {
    let (number, unit) = text.trim().split_once(' ')?;
    let is_unit = !unit.is_empty()
        && unit.len() <= 8
        && !unit.contains(|c: char| c.is_whitespace() || c.is_ascii_digit());
    (is_unit && number.parse::<f64>().is_ok_and(f64::is_finite)).then_some(unit)
}

/// Digits in groups of three with the same gap between them.
fn has_gaps(text: &str) -> bool {
    let (whole, decimals) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let Some(gap) = whole.chars().find(|letter| GAPS.contains(letter)) else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(gap);
    let first = groups
        .next()
        .is_some_and(|first| digits(first) && first.len() <= 3);
    first && groups.all(|group| digits(group) && group.len() == 3) && digits(decimals)
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

/// A number with commas: one for the decimals, or several between thousands.
fn comma(text: &str) -> Option<OddNumber> {
    let (whole, rest) = text.split_once(',')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole_part = whole.replace('.', "");
    if digits(&whole_part) && digits(rest) && !(rest.len() == 3 && whole != "0") {
        return Some(OddNumber::DecimalComma);
    }
    let (thousands, decimals) = rest.split_once('.').unwrap_or((rest, "0"));
    let threes = thousands
        .split(',')
        .all(|part| part.len() == 3 && digits(part));
    (digits(whole) && threes && digits(decimals)).then_some(OddNumber::Thousands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_read_as_numbers() {
        for (text, kind) in [
            ("2024-01-31", OddNumber::Date),
            ("31.1.2024", OddNumber::Date),
            ("1/31/2024", OddNumber::Date),
            ("01/31/24", OddNumber::Date),
            ("2024-01-31T12:30:00Z", OddNumber::Date),
            ("2024-01-31 12:30", OddNumber::Date),
            ("12:30", OddNumber::Date),
            ("12.5%", OddNumber::Percent),
            ("-3 %", OddNumber::Percent),
            ("$12.50", OddNumber::Currency),
            ("1.234,50 €", OddNumber::Currency),
            ("-$3", OddNumber::Currency),
            ("1,5", OddNumber::DecimalComma),
            ("1.234,56", OddNumber::DecimalComma),
            ("0,125", OddNumber::DecimalComma),
            ("1,234", OddNumber::Thousands),
            ("1,234,567.8", OddNumber::Thousands),
            ("1 234", OddNumber::Thousands),
            ("12\u{a0}345,5", OddNumber::Thousands),
            ("1'234'567", OddNumber::Thousands),
            ("EUR 12", OddNumber::Currency),
            ("12.50 USD", OddNumber::Currency),
            ("\u{2212}1.5", OddNumber::Minus),
            ("1-Jan-2024", OddNumber::Date),
            ("Jan 5, 2024", OddNumber::Date),
            ("5 September", OddNumber::Date),
            ("3. März 2024", OddNumber::Date),
        ] {
            assert_eq!(OddNumber::of(text), Some(kind), "{text}");
        }
        for text in [
            "", "a", "cell-1", "AAAC-1", "1.5", "T1", "10.1.2", "1-2-3", "a,b", "g1,5x", "12:3x",
            "S1 12", "12 34", "1 2345",
        ] {
            assert_eq!(OddNumber::of(text), None, "{text}");
        }
        for text in [
            "MARCH1",
            "Mart 5",
            "may",
            "USD",
            "EUR1x",
            "5 cells",
            "\u{2212}x1",
            "T 1 Jan 2 3",
        ] {
            assert_eq!(OddNumber::of(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_of_one_unit() {
        let all = |texts: &[&str]| {
            OddNumber::all_have_unit(
                texts
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .iter(),
            )
        };
        assert!(all(&["3 kg", "4.5 kg", "-1 kg"]));
        assert!(
            !all(&["3 kg", "4 lb"]) && !all(&["3 kg", "4"]) && !all(&["T 1", "T 2"]) && !all(&[])
        );
    }
}
