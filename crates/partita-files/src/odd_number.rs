//! Values that people read as numbers and programs do not: dates, percents, amounts of money, decimal commas.

use std::fmt;

/// Signs of currencies.
const SIGNS: [char; 5] = ['$', '€', '£', '¥', '₹'];

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
    /// A number with commas between thousands, such as 1,234,567.
    Thousands,
}

impl OddNumber {
    /// What a text is, if it is one of these.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 || text.len() > 40 {
            return None;
        }
        if text.strip_suffix('%').is_some_and(is_plain) {
            return Some(Self::Percent);
        }
        let amount = text.trim_start_matches('-').trim_matches(SIGNS);
        if text.contains(SIGNS) && is_plain(amount) {
            return Some(Self::Currency);
        }
        if is_date(text) {
            return Some(Self::Date);
        }
        comma(text.trim_start_matches(['-', '+']))
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
            Self::Thousands => "write it without commas".to_owned(),
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
            Self::Thousands => "a number with commas between thousands",
        })
    }
}

/// Digits with points and commas between them.
fn is_plain(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['-', '+']);
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\''))
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
        let numbers =
            parts.iter().all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
        let years = parts.iter().filter(|part| part.len() == 4).count();
        parts.len() == 3 && numbers && (years == 1 || (years == 0 && parts.iter().all(|part| part.len() == 2)))
    });
    is_day && time.is_none_or(is_time)
}

/// Such as 12:30 or 12:30:59.5.
fn is_time(text: &str) -> bool {
    let time = text.split(['+', '.']).next().unwrap_or_default();
    let parts: Vec<&str> = time.split(':').collect();
    let numbers = parts.iter().all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
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
    let threes = thousands.split(',').all(|part| part.len() == 3 && digits(part));
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
        ] {
            assert_eq!(OddNumber::of(text), Some(kind), "{text}");
        }
        for text in ["", "a", "cell-1", "AAAC-1", "1.5", "T1", "10.1.2", "1-2-3", "a,b", "g1,5x", "12:3x", "S1 12"] {
            assert_eq!(OddNumber::of(text), None, "{text}");
        }
    }
}
