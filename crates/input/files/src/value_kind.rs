//! Values that people read as numbers and programs do not: dates, percents, amounts of money, decimal commas, units, bounds.

use std::collections::BTreeSet;
use std::fmt;

use partita_core::option;

use crate::amount::{amount, common_end, parts};
use crate::calendar;
pub use crate::notation::ValueKind;
use crate::units::is_common_unit;
use crate::words::has_no_value;

/// In which notation a text is a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Word,
    PlainNumber,
    Special(ValueKind),
}

impl Notation {
    /// That of a number, a pair of them or a date.
    fn of(text: &str) -> Self {
        let text = text.trim();
        if text.len() > LONGEST || !text.contains(char::is_numeric) {
            return Self::Word;
        }
        if calendar::is_date(text) || calendar::duration(text).is_some() {
            return Self::Special(ValueKind::Date);
        }
        match amount(text, '.').or_else(|| amount(text, ',')) {
            Some(amount)
                if amount.kind == Some(ValueKind::Unit)
                    && !text.contains(' ')
                    && !is_common_unit(amount.unit) =>
            {
                Self::Word
            }
            Some(amount) => amount.kind.map_or(Self::PlainNumber, Self::Special),
            None => match parts(text, '.').or_else(|| parts(text, ',')) {
                Some(_) => Self::Special(ValueKind::Pair),
                None => Self::Word,
            },
        }
    }
}

impl ValueKind {
    /// What a text is, if it is one of these.
    pub fn of(text: &str) -> Option<Self> {
        let Notation::Special(found) = Notation::of(text) else {
            return None;
        };
        Some(found)
            .filter(|kind| !matches!(kind, Self::Unit | Self::Note | Self::Bound | Self::Pair))
    }

    /// Whether all of these texts are numbers, pairs of them or dates, in whatever notation, or say that there is none: values, not names.
    pub(crate) fn are_values(texts: &[String]) -> bool {
        let mut texts: Vec<&String> = texts.iter().collect();
        texts.retain(|text| !has_no_value(text));
        if texts.is_empty() {
            return false;
        }
        let units = texts.iter().filter_map(|text| amount(text, '.'));
        let units: BTreeSet<&str> = units.map(|amount| amount.unit).collect();
        let few = units.len() < 2 || 2 * units.len() < texts.len();
        let end = common_end(texts.iter().copied()).unwrap_or("");
        let is_amount = |text: &&String| {
            let own = text.strip_suffix(end).unwrap_or(text);
            amount(own, '.').or_else(|| amount(own, ',')).is_some()
        };
        if !end.is_empty() && texts.iter().all(is_amount) {
            return true;
        }
        few && texts
            .iter()
            .all(|text| Notation::of(text) != Notation::Word)
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
            Self::Pair => ("several numbers", "write them into columns of their own"),
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
            &["€ 12.50 p.n.", "€ 9 p.n."],
            &["35.2N", "12.5S", "4.75N", "3N", "5S"],
            &["512k", "3.1M", "4.2M", "9M", "8M"],
            &["1.200,5", "k.A.", "900,25"],
        ] {
            assert!(all(values), "{values:?}");
        }
        for names in [
            &["3 kg", "4 lb"][..],
            &["T 1", "T 2"],
            &["85123A", "85124A"],
            &["FV/1/2024", "FV/2/2024"],
            &["10.0.0.1", "10.0.0.2"],
            &["k.A."],
        ] {
            assert!(!all(names), "{names:?}");
        }
    }
}
