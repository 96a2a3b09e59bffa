//! Notations of values that people read as numbers and programs do not.

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
    /// A number with a note, a mark or an error behind it, such as 12.3 (e), 12.3* or 12.3 ± 0.4.
    Note,
    /// A number that is a bound, such as <0.5 or 10,000+.
    Bound,
    /// A duration, such as 1:23:45, in seconds.
    Duration,
    /// Two or three numbers, such as 120/80, 48.2, 16.4 or 30x20x10.
    Pair,
}
