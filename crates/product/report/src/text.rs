//! Escaping of text from outside, and formats of numbers.

use std::fmt::Write as _;

/// Text as it stands between tags or in a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars().map(visible) {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// A space for characters that no HTML or XML may hold.
fn visible(c: char) -> char {
    if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') {
        ' '
    } else {
        c
    }
}

/// At most `limit` characters: the rest gives way to an ellipsis. Marks that turn the direction of writing are taken
/// out, so that a name cannot reorder the text around it.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut kept: String = text
        .chars()
        .filter(|c| !turns(c))
        .map(visible)
        .take(limit + 1)
        .collect();
    if let Some((at, _)) = kept.char_indices().nth(limit) {
        kept.truncate(kept[..at].char_indices().last().map_or(0, |(last, _)| last));
        kept.push('…');
    }
    kept
}

/// A field of a CSV line, quoted where it must be.
pub fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number with as many digits as a reader can use.
pub(crate) fn number(x: f64) -> String {
    if !x.is_finite() {
        return "–".into();
    }
    let size = x.abs();
    if x == x.trunc() && size < 1e15 {
        return count(x as i64);
    }
    let text = match size {
        _ if !(1e-3..1e6).contains(&size) => format!("{x:.2e}"),
        _ if size >= 1000.0 => format!("{x:.0}"),
        _ if size >= 100.0 => format!("{x:.1}"),
        _ if size >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    };
    text.replacen('-', "−", usize::from(x < 0.0))
}

/// A round number beside an axis, without zeros that say nothing.
pub(crate) fn tick(x: f64) -> String {
    if x.abs() >= 1000.0 || (x != 0.0 && x.abs() < 1e-4) {
        number(x)
    } else {
        format!("{x}").replace('-', "−")
    }
}

/// A whole number, in groups of three.
pub(crate) fn count(x: i64) -> String {
    let digits = x.unsigned_abs().to_string();
    let mut grouped = if x < 0 { "−" } else { "" }.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let exact = value == value.round() || value > 99.95 && share == 1.0;
    match value {
        _ if !value.is_finite() => "–".into(),
        _ if exact => format!("{value:.0}\u{202f}%"),
        _ if value > 99.9 => "> 99.9\u{202f}%".into(),
        _ if value < 0.1 => "< 0.1\u{202f}%".into(),
        _ => format!("{value:.1}\u{202f}%"),
    }
}

/// A share in whole percent.
pub(crate) fn whole_percent(share: f64) -> String {
    match 100.0 * share {
        value if value > 0.0 && value < 0.5 => "< 1\u{202f}%".into(),
        value if share < 1.0 && value >= 99.5 => "> 99\u{202f}%".into(),
        value => format!("{value:.0}\u{202f}%"),
    }
}

/// A number in about three digits, without zeros at the end.
pub(crate) fn brief(x: f64) -> String {
    let text = number(x);
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    let decimals = match x.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{x:.decimals$}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    let short = if decimals == 0 { &text } else { short };
    short.replacen('-', "−", 1)
}

/// Seconds, in words.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        _ if !s.is_finite() => "–".into(),
        _ if s < 0.1 => format!("{:.0} ms", 1e3 * s),
        _ if s < 120.0 => format!("{s:.2} s"),
        _ => format!("{:.1} min", s / 60.0),
    }
}

/// Words as a shell would want them, in one line.
pub(crate) fn command(program: &str, words: &[impl AsRef<str>]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    let mut line = program.to_owned();
    for word in words.iter().map(AsRef::as_ref) {
        if !word.is_empty() && word.chars().all(plain) {
            let _ = write!(line, " {word}");
        } else {
            let _ = write!(line, " '{}'", word.replace('\'', "'\\''"));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let escaped = escape("<b a='1'>&\"\u{0}");
        assert_eq!(escaped, "&lt;b a=&#39;1&#39;&gt;&amp;&quot; ");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(cut("né😀u", 4), "né😀u");
        assert_eq!(cut("né😀uf", 4), "né😀…");
        assert_eq!(cut("a\u{202e}b", 4), "ab");
    }

    #[test]
    fn numbers_read_well() {
        for (x, written) in [
            (3.0, "3"),
            (0.12345, "0.123"),
            (1234.5, "1234"),
            (0.0004, "4.00e-4"),
            (-2.5, "−2.50"),
            (1_234_567.0, "1\u{202f}234\u{202f}567"),
            (1234.0, "1234"),
        ] {
            assert_eq!(number(x), written);
        }
        for (x, written) in [
            (0.2, "0.2"),
            (-29.4, "−29.4"),
            (45.05, "45"),
            (138.94, "139"),
            (100.2, "100"),
            (1.5, "1.5"),
            (3.0, "3"),
        ] {
            assert_eq!(brief(x), written);
        }
        assert_eq!(
            [0.001, 0.184, 0.999, 1.0].map(whole_percent),
            ["< 1", "18", "> 99", "100"].map(|share| format!("{share}\u{202f}%"))
        );
        assert_eq!(percent(1.0), "100\u{202f}%");
        assert_eq!(percent(0.99999), "> 99.9\u{202f}%");
    }

    #[test]
    fn commands_can_be_pasted() {
        let line = command("partita", &["run", "my data.csv", "it's", "-k"]);
        assert_eq!(line, r"partita run 'my data.csv' 'it'\''s' -k");
    }
}
