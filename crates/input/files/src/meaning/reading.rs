//! Numbers in the words of a column: read with one mark before decimals, with their units, notes and bounds.

use std::collections::{BTreeMap, BTreeSet};

use super::complaints::MOST_NAMED;
use crate::amount::{Amount, amount};
use crate::dictionary::Dictionary;
use crate::units::factors;
use crate::value_kind::ValueKind;
use crate::words::{self, MissingCounts};

/// So many different words, each in fewer rows than some on average, are no categories where nobody asks for them; and so few values with
/// words among them are.
pub(super) const MOST_DIFFERENT: usize = 10;

/// Words that are so many times rarer than the numbers among which they stand are no values.
pub(super) const RARE: u64 = 4;

/// How the values of a column read with one mark before decimals.
pub(super) struct Reading<'a> {
    pub(super) amounts: Vec<Option<Amount<'a>>>,
    /// Rows with a number, and with a word that is none.
    pub(super) read: u64,
    pub(super) unread: u64,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        words: &'a Dictionary,
        counts: &[u64],
        gap: impl Fn(&str) -> bool,
        decimal: char,
        behind: &str,
    ) -> Self {
        let read = |value: &'a String| {
            let found = amount(value.strip_suffix(behind)?, decimal)?;
            let kind = found
                .kind
                .or((!behind.is_empty()).then_some(ValueKind::Unit));
            Some(Amount { kind, ..found })
        };
        let amounts: Vec<Option<Amount<'a>>> = words.values().iter().map(read).collect();
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

    pub(super) fn values(&self) -> Vec<f64> {
        let value = |amount: &Option<Amount<'_>>| amount.map_or(f64::NAN, |amount| amount.value);
        self.amounts.iter().map(value).collect()
    }

    /// Marks that few of the numbers have behind them, such as the flags of official statistics, are taken for notes.
    pub(super) fn take_flags(&mut self, words: &Dictionary, counts: &[u64]) {
        let apart = words
            .values()
            .iter()
            .any(|value| value.trim().contains(' '));
        let mut read = self.amounts.iter().flatten();
        if !apart && !read.any(|found| found.value.fract() != 0.0) {
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
        // Laboratories say so of numbers that are low or high, however many.
        let has = |flag: &str| rows(&|unit: &str| unit == flag) > 0;
        let of_limits = ["H", "L"].into_iter().all(has);
        if flagged == 0 || !of_limits && 2 * flagged > rows(&|unit| unit.is_empty()) {
            return;
        }
        for amount in self.amounts.iter_mut().flatten() {
            if is_flag(amount.unit) {
                (amount.unit, amount.kind) = ("", Some(ValueKind::Note));
            }
        }
    }

    /// Takes the words that `read` knows for numbers of this kind; which they are.
    fn take_words(
        &mut self,
        words: &'a Dictionary,
        counts: &[u64],
        kind: ValueKind,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Vec<String> {
        let unit = self.amounts.iter().flatten().map(|found| found.unit).next();
        let mut taken = Vec::new();
        for ((amount, value), count) in self.amounts.iter_mut().zip(words.values()).zip(counts) {
            if amount.is_none()
                && let Some(number) = read(value)
            {
                *amount = Some(Amount {
                    value: number,
                    unit: unit.unwrap_or_default(),
                    kind: Some(kind),
                });
                (self.read, self.unread) = (self.read + count, self.unread.saturating_sub(*count));
                taken.push(value.clone());
            }
        }
        taken
    }

    /// Takes what is a number to people although it is a word: a price of 0 among amounts of money, and the ends of a scale that say
    /// what they mean. Gives what is to be said.
    pub(super) fn take_numbers_of_words(
        &mut self,
        words: &'a Dictionary,
        counts: &[u64],
    ) -> Option<String> {
        if self.unread == 0 || self.read == 0 {
            return None;
        }
        let ranges = self.unread <= self.read || words.values().len() > MOST_DIFFERENT;
        let mut kinds = self.amounts.iter().flatten();
        let quoted = |taken: &[String]| format!("'{}'", taken.join("', '"));
        if kinds
            .clone()
            .any(|found| found.kind == Some(ValueKind::Currency))
        {
            let zero = |value: &str| words::is_free(value).then_some(0.0);
            let taken = self.take_words(words, counts, ValueKind::Currency, zero);
            return (!taken.is_empty()).then(|| format!("take {} for 0", quoted(&taken)));
        }
        let plain = kinds.all(|found| found.kind.is_none() && found.value.fract() == 0.0);
        let range = |value: &str| middle(value).filter(|_| ranges);
        let number = |value: &str| labelled(value).or_else(|| range(value));
        let open = |(amount, value): (&Option<Amount<'_>>, &String)| {
            amount.is_some() || words::has_no_value(value) || number(value).is_some()
        };
        if !plain || !self.amounts.iter().zip(words.values()).all(open) {
            return None;
        }
        let taken = self.take_words(words, counts, ValueKind::Note, number);
        let more = taken.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let some = quoted(&taken[..taken.len().min(MOST_NAMED)]);
        let said = || format!("take the number alone, or the middle of a range, of {some}{more}");
        (!taken.is_empty()).then(said)
    }

    /// Takes numbers whose units are of one kind in the first of these; gives the units, if there are several.
    pub(super) fn unite(&mut self) -> Vec<String> {
        let units: Vec<&str> = self.units().into_iter().collect();
        // One is the plural of the other, or another spelling, and left out of some numbers.
        let mut named = units.clone();
        named.retain(|unit| !unit.is_empty());
        let plural = || named.len() == 2 && named[1].strip_suffix('s') == Some(named[0]);
        let same = || factors(&named).is_some_and(|own| own.iter().all(|one| *one == own[0]));
        let of_kind = named.len() == units.len() || factors(&units).is_none();
        if named.len() > 1 && of_kind && (plural() || same()) {
            let amounts = self.amounts.iter_mut().flatten();
            amounts.for_each(|amount| amount.unit = named[0]);
            return Vec::new();
        }
        if [["N", "S"], ["E", "W"]].iter().any(|two| units == two) {
            for amount in self.amounts.iter_mut().flatten() {
                if ["S", "W"].contains(&amount.unit) {
                    amount.value = -amount.value;
                }
                amount.unit = "°";
            }
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

    /// Makes numbers gaps whose units are so much rarer than that of all others; how many have each of these units.
    pub(super) fn drop_rare_units(
        &mut self,
        words: &'a Dictionary,
        counts: &[u64],
    ) -> MissingCounts {
        let mut rows: BTreeMap<&'a str, u64> = BTreeMap::new();
        for (amount, count) in self.amounts.iter().zip(counts) {
            if let Some(found) = amount {
                *rows.entry(found.unit).or_default() += count;
            }
        }
        let most = rows.iter().max_by_key(|(_, count)| **count);
        let Some((usual, often)) = most.map(|(unit, count)| (*unit, *count)) else {
            return MissingCounts::new();
        };
        rows.retain(|unit, _| *unit != usual && !unit.is_empty());
        let others: u64 = rows.values().sum();
        let long = rows.keys().chain([&usual]).all(|unit| unit.len() > 1);
        if !long || RARE * others > often || words.values().len() <= MOST_DIFFERENT {
            return MissingCounts::new();
        }
        for amount in self.amounts.iter_mut().flatten() {
            if rows.contains_key(amount.unit) {
                (amount.value, amount.unit) = (f64::NAN, usual);
            }
        }
        let owned = |(unit, count): (&str, u64)| (unit.to_owned(), count);
        rows.into_iter().map(owned).collect()
    }

    /// The units of all numbers, that of numbers without one too.
    fn units(&self) -> BTreeSet<&'a str> {
        let found = self.amounts.iter().flatten();
        found.map(|amount| amount.unit).collect()
    }

    /// The units, if there are several. Some numbers may have none, but for percentages.
    pub(super) fn different_units(&self) -> Vec<String> {
        let units = self.units();
        let one = units.len() < 2 || units.len() == 2 && units.contains("") && !units.contains("%");
        let units = units.into_iter().filter(|_| !one);
        units.map(str::to_owned).collect()
    }

    /// The notation that is said: bounds and notes before others.
    pub(super) fn kind(&self) -> Option<ValueKind> {
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
    pub(super) fn are_groups(&self, words: &Dictionary) -> bool {
        let mut pairs = self.amounts.iter().zip(words.values());
        pairs.all(|(amount, word)| {
            amount.is_none_or(|amount| amount.kind == Some(ValueKind::Bound))
                && !word.trim_end().ends_with('+')
        })
    }
}

/// The whole number before words that say what it means, as at the ends of a scale: 10 - Extremely likely.
fn labelled(value: &str) -> Option<f64> {
    let end = value.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, label) = value.split_at(end);
    let marks = [" - ", " – ", " = ", ": ", ") ", " ("];
    let is_label = marks.iter().any(|mark| label.starts_with(mark));
    number
        .parse()
        .ok()
        .filter(|_| is_label && label.contains(char::is_alphabetic))
}

/// The middle of a range of numbers.
pub(super) fn middle(value: &str) -> Option<f64> {
    let number = |text: &str| {
        let found = amount(text, '.').or_else(|| amount(text, ','))?;
        Some(found.value)
    };
    let of = |mark: &&str| {
        let (low, high) = value.split_once(*mark)?;
        Some(number(low)?.midpoint(number(high)?))
    };
    let marks = ["-", "–", " to ", " bis ", " à ", " a "];
    marks
        .iter()
        .find_map(of)
        .filter(|_| amount(value, '.').is_none())
}
