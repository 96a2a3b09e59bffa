//! Values that people read as numbers and programs do not: dates, percents, amounts of money, decimal commas, units.

use std::fmt;

use partita_core::option;

/// What a text is that looks like a number to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// A number with a minus of typeset text, such as −1.5.
    Minus,
}

impl ValueKind {
    /// What a text is, if it is one of these.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > 40 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        RULES
            .iter()
            .find(|rule| (rule.is)(text))
            .map(|rule| rule.kind)
    }

    /// Whether all of these texts are a number and the same unit behind it, such as 3 kg: amounts, not names.
    pub(crate) fn all_have_unit(texts: &[String]) -> bool {
        let first = texts.first().and_then(|text| unit(text));
        first.is_some() && texts.iter().all(|text| unit(text) == first)
    }

    /// Whether all of these texts are such, and of which kind the first is.
    pub(crate) fn of_all(texts: &[String]) -> Option<Self> {
        let first = Self::of(texts.first()?)?;
        texts
            .iter()
            .all(|text| Self::of(text).is_some())
            .then_some(first)
    }

    fn rule(self) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.kind == self)
    }

    /// What to do about a column of these.
    pub(crate) fn remedy(self, column: &str) -> String {
        let instead = self.rule().map_or("", |rule| rule.instead);
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
        f.write_str(self.rule().map_or("", |rule| rule.name))
    }
}

/// A number in a notation of its own, as a test of texts without blanks around them.
struct Rule {
    kind: ValueKind,
    /// How it is called.
    name: &'static str,
    /// What to write instead.
    instead: &'static str,
    is: fn(&str) -> bool,
}

/// The first rule that fits a text says what it is.
const RULES: &[Rule] = &[
    Rule {
        kind: ValueKind::Percent,
        name: "a percentage",
        instead: "write it without the sign",
        is: |text| text.strip_suffix('%').is_some_and(is_plain),
    },
    Rule {
        kind: ValueKind::Currency,
        name: "an amount of money",
        instead: "write the amount alone",
        is: |text| {
            let amount = text.trim_start_matches('-').trim_matches(SIGNS);
            text.contains(SIGNS) && is_plain(amount) || without_code(text).is_some_and(is_plain)
        },
    },
    Rule {
        kind: ValueKind::Date,
        name: "a date or a time",
        instead: "write it as a number (days since a day)",
        is: |text| is_date(text) || names_month(text),
    },
    Rule {
        kind: ValueKind::Minus,
        name: "a number with a typographic minus",
        instead: "write the sign as -",
        is: |text| {
            text.strip_prefix(MINUS)
                .is_some_and(|rest| rest.trim_start().parse::<f64>().is_ok())
        },
    },
    Rule {
        kind: ValueKind::DecimalComma,
        name: "a number with a decimal comma",
        instead: "write a decimal point",
        is: |text| has_decimal_comma(unsigned(text)),
    },
    Rule {
        kind: ValueKind::Thousands,
        name: "a number with marks between thousands",
        instead: "write the digits alone",
        is: |text| has_commas(unsigned(text)) || has_gaps(unsigned(text)),
    },
];

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
    let mut groups = whole.split(gap);
    let first = groups
        .next()
        .is_some_and(|first| are_digits(first) && first.len() <= 3);
    first && groups.all(|group| are_digits(group) && group.len() == 3) && are_digits(decimals)
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

fn unsigned(text: &str) -> &str {
    text.trim_start_matches(['-', '+'])
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// One comma, before the decimals; three of them are thousands, but behind a 0.
fn has_decimal_comma(text: &str) -> bool {
    text.split_once(',').is_some_and(|(whole, decimals)| {
        are_digits(&whole.replace('.', ""))
            && are_digits(decimals)
            && (decimals.len() != 3 || whole == "0")
    })
}

/// Commas between thousands.
fn has_commas(text: &str) -> bool {
    text.split_once(',').is_some_and(|(whole, rest)| {
        let (thousands, decimals) = rest.split_once('.').unwrap_or((rest, "0"));
        let mut groups = thousands.split(',');
        are_digits(whole)
            && groups.all(|group| group.len() == 3 && are_digits(group))
            && are_digits(decimals)
    })
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
