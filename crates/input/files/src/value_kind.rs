//! Values that people read as numbers and programs do not: dates, percents, amounts of money, decimal commas, units, bounds.

use std::collections::BTreeSet;
use std::fmt;

use partita_core::option;
use serde::{Deserialize, Serialize};

use crate::amount::{amount, is_common_unit, pair};
use crate::calendar;

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
    /// A number with a note, a mark or an error behind it, such as 12.3 (e), 12.3* or 12.3 ± 0.4.
    Note,
    /// A number that is a bound, such as <0.5 or 10,000+.
    Bound,
    /// A duration, such as 1:23:45, in seconds.
    Duration,
    /// Two numbers, such as 120/80 or 48.2, 16.4.
    Pair,
}

impl ValueKind {
    /// What a text is, if it is one of these.
    pub fn of(text: &str) -> Option<Self> {
        let found = Self::found(text).flatten();
        found.filter(|kind| !matches!(kind, Self::Unit | Self::Note | Self::Bound | Self::Pair))
    }

    /// The notation of a number, a pair of them or a date, none of a plain number; none of a word.
    fn found(text: &str) -> Option<Option<Self>> {
        let text = text.trim();
        if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if calendar::is_date(text) {
            return Some(Some(Self::Date));
        }
        let amount = amount(text, '.').or_else(|| amount(text, ','));
        match amount {
            Some(amount) if amount.kind == Some(Self::Unit) && !text.contains(' ') => {
                is_common_unit(amount.unit).then_some(amount.kind)
            }
            Some(amount) => Some(amount.kind),
            None => pair(text, '.')
                .or_else(|| pair(text, ','))
                .map(|_| Some(Self::Pair)),
        }
    }

    /// Whether all of these texts are numbers, pairs of them or dates, in whatever notation: values, not names.
    pub(crate) fn are_values(texts: &[String]) -> bool {
        let units = texts.iter().filter_map(|text| amount(text, '.'));
        let units: BTreeSet<&str> = units.map(|amount| amount.unit).collect();
        let few = units.len() < 2 || 2 * units.len() < texts.len();
        few && texts.iter().all(|text| Self::found(text).is_some())
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
            Self::Note => (
                "a number with a note or an error behind it",
                "write the number alone",
            ),
            Self::Bound => ("a number or its bound", "write the number alone"),
            Self::Duration => ("a duration in seconds", "write its seconds"),
            Self::Pair => ("two numbers", "write them into two columns"),
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

/// No value is written longer.
const LONGEST: usize = 40;

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
    fn values_are_no_names() {
        let all = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            ValueKind::are_values(&texts)
        };
        for values in [
            &["3 kg", "4.5 kg", "-1 kg"][..],
            &["120/80", "130/85"],
            &["48.2, 16.4", "1.5, 2"],
            &["<0.5", "7", "> 10"],
            &["12.5*", "3 (e)"],
            &["512k", "3.1M", "4.2M", "9M", "8M"],
        ] {
            assert!(all(values), "{values:?}");
        }
        for names in [
            &["3 kg", "4 lb"][..],
            &["T 1", "T 2"],
            &["85123A", "85124A"],
            &["FV/1/2024", "FV/2/2024"],
            &["10.0.0.1", "10.0.0.2"],
        ] {
            assert!(!all(names), "{names:?}");
        }
    }
}
