//! Numbers in the notations of people: decimal commas, marks between thousands, money, percent, units, magnitudes, bounds, notes.

use crate::calendar;
use crate::notation::ValueKind;
use crate::units::{CURRENCIES, MAGNITUDES, UNITS, in_kind, is_common_unit};

/// No number is written longer.
const LONGEST: usize = 40;

/// What stands for a minus in typeset text and in reports.
const MINUS: [char; 3] = ['\u{2212}', '\u{2013}', '▼'];

/// What separates thousands besides commas: blanks that do not break, apostrophes.
const GAPS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}'];

/// What stands behind an amount of money for no cents.
const ROUND: [&str; 6] = [".-", ",-", ".–", ",–", ".--", ",--"];

/// What stands before an exponent.
const POWERS_OF_TEN: [&str; 8] = ["e", "E", "×10^", "x10^", "*10^", "·10^", " × 10^", "*^"];

/// What says that a number is a bound of a value, or about it.
const BOUNDS: [&str; 24] = [
    "<=",
    ">=",
    "=<",
    "=>",
    "<",
    ">",
    "≤",
    "≥",
    "~",
    "≈",
    "ca.",
    "ca ",
    "less than ",
    "more than ",
    "under ",
    "over ",
    "weniger als ",
    "mehr als ",
    "unter ",
    "über ",
    "moins de ",
    "plus de ",
    "menos de ",
    "más de ",
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
    if let Some(plain) = ascii_digits(text) {
        let found = amount(&plain, decimal).filter(|found| found.unit.is_empty())?;
        return Some(Amount { unit: "", ..found });
    }
    if decimal == '.'
        && let Some(value) = text.parse().ok().filter(|value: &f64| value.is_finite())
    {
        return Some(Amount {
            value,
            unit: "",
            kind: None,
        });
    }
    let with_unit = |(value, unit)| Amount {
        value,
        unit,
        kind: Some(ValueKind::Unit),
    };
    let angle = || degrees(text, decimal).or_else(|| sexagesimal(text));
    if let Some(found) = angle().map(|value| (value, "°")).or_else(|| compound(text)) {
        return Some(with_unit(found));
    }
    if let Some((least, unit)) = text.split_once("+ ") {
        // Such as 10+ years.
        let found = amount(least, decimal).filter(|found| found.unit.is_empty());
        let is_word = unit.bytes().all(|byte| byte.is_ascii_alphabetic());
        return found.filter(|_| is_word).map(|found| Amount {
            unit,
            kind: Some(ValueKind::Bound),
            ..found
        });
    }
    if let Some((value, rest)) = fraction(text) {
        return Some(Amount {
            value,
            unit: rest,
            kind: Some(ValueKind::Unit),
        });
    }
    let (body, is_bound) = bound(text);
    let (body, is_noted) = without_note(body, decimal);
    let found = measure(body, decimal)?;
    let kind = match (is_bound, is_noted) {
        (true, _) => Some(ValueKind::Bound),
        (_, true) => Some(ValueKind::Note),
        _ => found.kind,
    };
    Some(Amount { kind, ..found })
}

/// A text with digits of other scripts (wide, Arabic, Persian, of India) as those of ASCII; none without such.
fn ascii_digits(text: &str) -> Option<String> {
    const ZEROS: [u32; 4] = [0xff10, 0x660, 0x6f0, 0x966];
    let own = |letter: char| {
        let of = |zero: &u32| char::from_digit((letter as u32).checked_sub(*zero)?, 10);
        ZEROS.iter().find_map(of).unwrap_or(letter)
    };
    let plain = |text: &str| text.chars().map(own).collect();
    Some(text)
        .filter(|text| !text.is_ascii())
        .map(plain)
        .filter(|plain| plain != text)
}

/// The degrees of an angle with minutes, such as 48°12'30"N or N 48° 12.5'; those of the south and the west are below 0.
fn degrees(text: &str, decimal: char) -> Option<f64> {
    let (before, text) = match text.strip_prefix(['N', 'S', 'E', 'W']) {
        Some(rest) => (text.starts_with(['S', 'W']), rest.trim_start()),
        None => (false, text),
    };
    let (whole, rest) = text.split_once('°')?;
    let (outer, whole) = signed(whole.trim());
    let half = rest.trim_end_matches(['N', 'S', 'E', 'W', 'O']);
    let below = rest[half.len()..].starts_with(['S', 'W']);
    let (minutes, seconds) = half.split_once(['\'', '′', '’'])?;
    let seconds = seconds.trim_end_matches(['"', '″', '”', '\'']).trim();
    let number = |text: &str| match text.trim() {
        "" => Some(0.0),
        text => digits(text, decimal).map(|(value, _)| value),
    };
    let value = number(whole)? + number(minutes)? / 60.0 + number(seconds)? / 3600.0;
    Some(if outer ^ below ^ before {
        -value
    } else {
        value
    })
}

/// A fraction with a whole number before it or a unit behind it, such as 1 1/2 or 3/4 cup; and the unit.
fn fraction(text: &str) -> Option<(f64, &str)> {
    let (above, rest) = text.split_once('/')?;
    let (whole, above) = above.split_once(' ').unwrap_or(("0", above));
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (below, unit) = rest.split_at(digits);
    let number = |part: &str| part.parse::<u16>().ok().map(f64::from);
    let (above, below) = (number(above)?, number(below)?);
    let is_unit = |unit: &str| {
        !unit.is_empty()
            && unit
                .chars()
                .all(|letter| letter.is_alphabetic() || letter == '"')
    };
    let fits = unit.is_empty() && whole != "0" || is_unit(unit.trim_start());
    (fits && above < below).then_some((number(whole)? + above / below, unit.trim_start()))
}

/// The words with which every text ends, such as those of 4.5 out of 5 stars.
pub(crate) fn common_end<'a>(mut texts: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let first = texts.next()?;
    let rest: Vec<&String> = texts.collect();
    let mut ends = first.match_indices(' ').map(|(at, _)| &first[at..]);
    let end = ends.find(|end| rest.iter().all(|text| text.ends_with(end)))?;
    (!rest.is_empty() && end.contains(char::is_alphabetic)).then_some(end)
}

/// Hours or degrees with minutes and seconds between blanks, as of stars: 05 35 17.3 or -69 45 04.
fn sexagesimal(text: &str) -> Option<f64> {
    let (below, body) = signed(text);
    let mut parts = body.split(' ');
    let (Some(whole), Some(minutes), Some(seconds), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let (full, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let two = |part: &str| part.len() == 2 && are_digits(part);
    let marked = body.len() < text.len() || full.len() < seconds.len();
    let fits = whole.len() <= 3 && are_digits(whole) && two(minutes) && two(full);
    let of = |part: &str| part.parse::<f64>().ok();
    let below_60 = minutes < "60" && full < "60" && are_digits(fraction);
    let value = of(whole)? + of(minutes)? / 60.0 + of(seconds)? / 3600.0;
    (marked && fits && below_60).then_some(if below { -value } else { value })
}

/// A sum of numbers with units of one kind, each smaller than the one before, in the last of them: 1 hr 23 min, 5'11", 2 days 04:30:00.
fn compound(text: &str) -> Option<(f64, &str)> {
    let mut parts: Vec<(f64, &str)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ':';
        let (number, behind) =
            rest.split_at(rest.find(|letter| !is_number(letter)).unwrap_or(rest.len()));
        let behind = behind.trim_start();
        let ends =
            |letter: char| letter.is_whitespace() || letter == ',' || letter.is_ascii_digit();
        let (unit, next) = behind.split_at(behind.find(ends).unwrap_or(behind.len()));
        parts.push(match calendar::duration(number) {
            Some(seconds) if unit.is_empty() => (seconds, "s"),
            // The mark of inches or minutes is often left out.
            _ if unit.is_empty() => {
                let last = parts.last().map(|(_, unit)| *unit);
                let (most, unit) = match last? {
                    "'" => (12.0, "\""),
                    "h" => (60.0, "min"),
                    _ => return None,
                };
                // Three digits stand behind a mark of thousands.
                let is_short = number.find('.').unwrap_or(number.len()) < 3;
                let value: f64 = number.parse().ok()?;
                (Some(value).filter(|value| is_short && *value < most)?, unit)
            }
            _ => (number.parse().ok()?, unit.trim_end_matches('.')),
        });
        rest = next.trim_start_matches([' ', ',']);
    }
    let units: Vec<&str> = parts.iter().map(|(_, unit)| *unit).collect();
    let (_, last) = parts.last().filter(|_| parts.len() > 1)?;
    let factors = UNITS.iter().find_map(|kind| in_kind(&units, kind))?;
    let falls = factors.windows(2).all(|two| two[0] > two[1]);
    let sum: f64 = parts
        .iter()
        .zip(&factors)
        .map(|((number, _), factor)| number * factor)
        .sum();
    falls.then(|| (sum / factors[factors.len() - 1], *last))
}

/// Two or three numbers between slashes, crosses, or commas or semicolons and blanks; in brackets or not; or a point of a map.
pub(crate) fn parts(text: &str, decimal: char) -> Option<Vec<f64>> {
    let text = text.trim();
    let point = text.strip_prefix("POINT").map(str::trim_start);
    let whole = point.unwrap_or(text);
    let inner = whole
        .strip_prefix(['(', '['])
        .and_then(|text| text.strip_suffix([')', ']']));
    let text = inner.unwrap_or(whole);
    let marks: &[&str] = match point {
        Some(_) => &[" "],
        None => &["/", ", ", "; ", "x", "×"],
    };
    let mark = marks.iter().find(|mark| text.contains(**mark))?;
    let own: Vec<&str> = text.split(mark).collect();
    let number = |(at, text): (usize, &&str)| {
        let plain = text.trim().bytes().all(|byte| !byte.is_ascii_alphabetic());
        let found = amount(text, decimal)?;
        let last = at > 0 && at + 1 == own.len() && is_common_unit(found.unit);
        (plain && found.unit.is_empty() || last).then_some(found.value)
    };
    let found: Option<Vec<f64>> = own.iter().enumerate().map(number).collect();
    found.filter(|found| (2..=3).contains(&found.len()) && !text.starts_with("0x"))
}

/// A text without what says that it is a bound, and whether something did.
fn bound(text: &str) -> (&str, bool) {
    let behind = |mark: &&str| {
        let (own, rest) = text.split_at_checked(mark.len())?;
        (own.to_lowercase() == **mark).then_some(rest)
    };
    if let Some(rest) = BOUNDS.iter().find_map(behind) {
        return (rest.trim_start(), true);
    }
    match text.strip_suffix('+') {
        Some(rest) if rest.ends_with(|last: char| last.is_ascii_digit()) => (rest, true),
        _ => (text, false),
    }
}

/// A text without an error, a note in brackets or marks behind its number, and whether there was such.
fn without_note(text: &str, decimal: char) -> (&str, bool) {
    let has_digit = |text: &str| text.contains(|letter: char| letter.is_ascii_digit());
    for mark in ["±", "+/-", "+-", "+"] {
        if let Some(error) = text.strip_prefix(mark) {
            return (error.trim_start(), true);
        }
        if let Some((value, error)) = text.split_once(mark)
            && value
                .trim_end()
                .ends_with(|last: char| last.is_ascii_digit())
            && measure(error.trim(), decimal).is_some()
        {
            return (value.trim_end(), true);
        }
    }
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some(inner) = text.strip_suffix(close)
            && let Some(at) = inner.rfind(open)
            && has_digit(&text[..at])
        {
            return (text[..at].trim_end(), true);
        }
    }
    let marks = ['*', '†', '‡', '§', '¹', '²', '³', '⁴', '⁵'];
    let body = text.trim_end_matches(marks).trim_end();
    let is_mark = body.len() < text.len() && body.ends_with(|last: char| last.is_ascii_digit());
    if is_mark { (body, true) } else { (text, false) }
}

/// A number with a sign, a currency, a magnitude and a unit, or without.
fn measure(text: &str, decimal: char) -> Option<Amount<'_>> {
    let text = text.trim_end();
    if let Some(found) = text
        .strip_prefix('%')
        .and_then(|rest| measure(rest, decimal))
    {
        let kind = Some(ValueKind::Percent);
        return (found.unit.is_empty()).then_some(Amount {
            unit: "%",
            kind,
            ..found
        });
    }
    let own = ROUND.iter().filter(|mark| mark.starts_with(decimal));
    let round = own.copied().find_map(|mark| text.strip_suffix(mark));
    let round = round.filter(|text| text.ends_with(|last: char| last.is_ascii_digit()));
    if let Some(found) = round.and_then(|text| measure(text, decimal)) {
        let kind = Some(ValueKind::Currency);
        return Some(Amount { kind, ..found });
    }
    let bracketed = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let (outer, body) = signed(bracketed.unwrap_or(text));
    let Parts {
        currency,
        body,
        factor,
        unit,
    } = parted(body)?;
    let (inner, body) = signed(body);
    let (behind, body) = match body.strip_suffix('-') {
        Some(rest) if !inner && !outer => (true, rest),
        _ => (false, body),
    };
    let (value, kind) = digits(body, decimal)?;
    let dash = behind || bracketed.is_some() || text.contains(MINUS);
    let kind = match unit {
        _ if currency => Some(ValueKind::Currency),
        "" if dash => Some(ValueKind::Minus),
        "" => kind,
        "%" => Some(ValueKind::Percent),
        _ => Some(ValueKind::Unit),
    };
    // Latitudes of the south and longitudes of the west.
    let below = ["°S", "°W"].contains(&unit);
    let negative = (bracketed.is_some() || outer) ^ inner ^ behind ^ below;
    let unit = if unit.starts_with('°') && unit.ends_with(['N', 'S', 'E', 'W']) {
        "°"
    } else {
        unit
    };
    let value = value * factor;
    Some(Amount {
        value: if negative { -value } else { value },
        unit,
        kind,
    })
}

/// Whether a minus stands before a text, and the text behind the sign.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', MINUS[0], MINUS[1], MINUS[2]]) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix(['+', '▲']).unwrap_or(text).trim()),
    }
}

/// What stands around a number.
struct Parts<'a> {
    currency: bool,
    body: &'a str,
    factor: f64,
    unit: &'a str,
}

/// A currency, magnitude, unit or % and the number beside it.
fn parted(text: &str) -> Option<Parts<'_>> {
    let is_bare = |byte: u8| byte.is_ascii_digit() || b",.-' ".contains(&byte);
    if text.bytes().all(is_bare) {
        return Some(Parts {
            currency: false,
            body: text,
            factor: 1.0,
            unit: "",
        });
    }
    let code = CURRENCIES
        .iter()
        .copied()
        .find(|code| text.starts_with(code));
    let rest = code.map_or(text, |code| text[code.len()..].trim_start());
    let last = rest.rfind(|letter: char| letter.is_ascii_digit())?;
    let (body, behind) = rest.split_at(last + 1);
    // A minus of accounts stands behind the number.
    let minus = usize::from(behind == "-");
    let (body, behind) = rest.split_at(body.len() + minus);
    let behind = behind.strip_prefix('.').unwrap_or(behind).trim();
    let coded = CURRENCIES.iter().copied().find_map(|code| {
        let before = behind.strip_suffix(code)?;
        let is_apart = before.is_empty() || before.ends_with([' ', '.']) || !code.is_ascii();
        (code.len() > 1 && is_apart || before.is_empty()).then_some((before.trim_end(), code))
    });
    let (unit, code) = match coded {
        Some((before, own)) => (before, code.or(Some(own))),
        None => (behind, code),
    };
    let magnitude = MAGNITUDES
        .iter()
        .find(|(name, _)| code.is_some() && *name == unit.trim_end_matches('.'));
    let factor = magnitude.map_or(1.0, |(_, factor)| *factor);
    let unit = if magnitude.is_some() { "" } else { unit };
    let is_unit = unit.chars().count() <= 8
        && !unit.contains(|letter: char| letter.is_whitespace() || ",;:()".contains(letter));
    let of_money = code.is_none() || unit.is_empty() || unit.starts_with('/');
    (is_unit && of_money).then_some(Parts {
        currency: code.is_some(),
        body,
        factor,
        unit: if unit.is_empty() {
            code.unwrap_or_default()
        } else {
            unit
        },
    })
}

/// The number that digits, a mark before the decimals, marks between thousands and an exponent are.
fn digits(text: &str, decimal: char) -> Option<(f64, Option<ValueKind>)> {
    let powers = POWERS_OF_TEN.iter();
    let mut written = powers.filter_map(|mark| text.split_once(mark));
    let (text, exponent) = written.next().unwrap_or((text, "0"));
    let exponent: i32 = exponent
        .parse()
        .ok()
        .filter(|power: &i32| power.abs() < 300)?;
    let (whole, decimals) = text.split_once(decimal).unwrap_or((text, ""));
    let mark = whole.chars().find(|letter| !letter.is_ascii_digit());
    let is_mark = |mark: &char| GAPS.contains(mark) || [',', '.'].contains(mark);
    let groups: Vec<&str> = match mark {
        None => vec![whole],
        Some(mark) if is_mark(&mark) => whole.split(mark).collect(),
        Some(_) => return None,
    };
    let ended = decimals.bytes().all(|byte| byte.is_ascii_digit());
    if !are_grouped(&groups) || !ended || whole.len() + decimals.len() == 0 {
        return None;
    }
    let value = format!("{}.{decimals}e{exponent}", groups.concat());
    let gap = mark.is_some_and(|mark| GAPS.contains(&mark));
    let kind = match mark {
        _ if decimal == ',' && text.contains(',') && !gap => Some(ValueKind::DecimalComma),
        Some(_) => Some(ValueKind::Thousands),
        None if decimal == ',' && text.contains(',') => Some(ValueKind::DecimalComma),
        None => None,
    };
    Some((value.parse().ok()?, kind))
}

/// Whether digits are in groups of three, as 1,234,567, or as in India, 12,34,567; or in one.
fn are_grouped(groups: &[&str]) -> bool {
    let Some((first, rest)) = groups.split_first() else {
        return false;
    };
    let Some((last, middle)) = rest.split_last() else {
        return first.is_empty() || are_digits(first);
    };
    let begun = |most: usize| are_digits(first) && first.len() <= most && *first != "0";
    let of = |wanted: usize| {
        let mut groups = middle.iter();
        groups.all(|group| are_digits(group) && group.len() == wanted)
    };
    are_digits(last) && last.len() == 3 && (begun(3) && of(3) || begun(2) && of(2))
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::factors;

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
            ("1,23,456.50", '.', 123_456.5, ""),
            ("1,234.50-", '.', -1234.5, ""),
            ("1,2E+03", ',', 1200.0, ""),
            ("R$ 1.234,56", ',', 1234.56, "R$"),
            ("1 234,50 zł", ',', 1234.5, "zł"),
            ("kr 12,50", ',', 12.5, "kr"),
            ("1 234,50 руб.", ',', 1234.5, "руб."),
            ("€110.5M", '.', 110_500_000.0, "€"),
            ("3,5 Mio. €", ',', 3_500_000.0, "€"),
            ("$150/mo", '.', 150.0, "/mo"),
            ("512k", '.', 512.0, "k"),
            ("<0.5", '.', 0.5, ""),
            ("≥ 1,000", '.', 1000.0, ""),
            ("10,000+", '.', 10_000.0, ""),
            ("12.5 ± 0.3", '.', 12.5, ""),
            ("12.5 (e)", '.', 12.5, ""),
            ("12.5[1]", '.', 12.5, ""),
            ("1,234*", '.', 1234.0, ""),
            ("12.5 p", '.', 12.5, "p"),
            ("48°15'36\"N", '.', 48.26, "°"),
            ("16°30'W", '.', -16.5, "°"),
            ("S 33° 30.0'", '.', -33.5, "°"),
            ("-69 30 36", '.', -69.51, "°"),
            ("05 30 36.0", '.', 5.51, "°"),
            ("1 hr 23 min", '.', 83.0, "min"),
            ("2 yrs 3 mos", '.', 27.0, "mos"),
            ("1h 30m", '.', 90.0, "m"),
            ("5'11\"", '.', 71.0, "\""),
            ("2 days 04:30:00", '.', 189_000.0, "s"),
            ("10+ years", '.', 10.0, "years"),
            ("1 1/2 cup", '.', 1.5, "cup"),
            ("3/4\"", '.', 0.75, "\""),
            ("+/- 3.5", '.', 3.5, ""),
            ("▼ 3,5 %", ',', -3.5, "%"),
            ("1h15", '.', 75.0, "min"),
            ("2 Std. 5 Min.", '.', 125.0, "Min"),
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
            ("1--", '.'),
            ("5 - agree", '.'),
            ("< LOD", '.'),
            ("2024-05", '.'),
            ("inf", '.'),
            ("12 34 56", '.'),
            ("3 min 2 h", '.'),
            ("5 cm 2 kg", '.'),
        ] {
            assert_eq!(amount(text, decimal), None, "{text}");
        }
    }

    #[test]
    fn several_numbers() {
        for (text, decimal, expected) in [
            ("120/80", '.', &[120.0, 80.0][..]),
            ("(48.25, -16.5)", '.', &[48.25, -16.5]),
            ("6,5/10", ',', &[6.5, 10.0]),
            ("11/3/8", '.', &[11.0, 3.0, 8.0]),
            ("30x20x10 cm", '.', &[30.0, 20.0, 10.0]),
            ("POINT (16.5 48.25)", '.', &[16.5, 48.25]),
        ] {
            assert_eq!(parts(text, decimal).as_deref(), Some(expected), "{text}");
        }
        for text in ["A/5", "1/2/3/4", "1,5", "12", "3 kg/2", "1-2", "0x10", "x1"] {
            assert_eq!(parts(text, '.'), None, "{text}");
        }
    }

    #[test]
    fn units_of_one_kind() {
        assert_eq!(factors(&["MB", "GB"]), Some(vec![1e6, 1e9]));
        assert_eq!(factors(&["", "K", "M"]), Some(vec![1.0, 1e3, 1e6]));
        assert_eq!(factors(&["s", "min"]), Some(vec![1.0, 60.0]));
        for units in [&["kg", "cm"][..], &["", "kg"], &["", "%"], &["Dr", "Cr"]] {
            assert_eq!(factors(units), None, "{units:?}");
        }
    }
}
