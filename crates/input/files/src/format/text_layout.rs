//! Layout of delimited text: what separates fields, and whether the first line names the columns.

use std::path::Path;

use csv::ByteRecord;
use partita_core::option;
use serde::{Deserialize, Serialize};

use crate::error::{FileError, Result, shown};
use crate::number::number;
use crate::open_file::lower_name;
use crate::value_kind::ValueKind;
use crate::words::{MISSING_WORDS, has_no_value, is_header_word};

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Header {
    /// It does unless one of its fields is a number (and none is a name such as `object` or `label`).
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called by their position from 1.
    No,
}

/// What separates fields, where it is told apart by counting.
const CANDIDATES: [u8; 4] = [b',', b'\t', b';', b'|'];

/// What may separate fields too, but stands in words as well.
const DOUBTFUL: [u8; 5] = [b' ', b':', b'^', b'~', b'/'];

/// So many numbers 0, 1, 2, … in the first line are names of columns, as pandas gives them.
const FEWEST_NUMBERED: usize = 5;

/// So many numbers that rise in uneven steps are names of columns, above numbers that do not.
const MANY_NUMBERED: usize = 10;

/// The delimiter that a first line `sep=;` names for Excel, and the bytes of this line.
pub(super) fn named_in_first_line(start: &[u8]) -> Option<(u8, usize)> {
    let &[delimiter, ref rest @ ..] = start.strip_prefix(b"sep=")? else {
        return None;
    };
    let end = if rest.starts_with(b"\r\n") {
        2
    } else {
        usize::from(rest.starts_with(b"\n"))
    };
    (end > 0).then_some((delimiter, 5 + end))
}

/// The lines of the beginning of a text that are whole and not empty.
fn lines(start: &[u8]) -> impl Iterator<Item = &[u8]> {
    const LINES: usize = 50;
    let whole = start
        .iter()
        .rposition(|&byte| byte == b'\n' || byte == b'\r');
    start[..whole.unwrap_or(start.len())]
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .map(<[u8]>::trim_ascii_start)
        .filter(|line| !line.is_empty())
        .take(LINES)
}

/// These lines without comments, or the first and these where only it begins like one.
fn rows(start: &[u8]) -> impl Iterator<Item = &[u8]> {
    let comments = lines(start)
        .take_while(|line| line.starts_with(b"# "))
        .count();
    lines(start).skip(if comments > 1 { comments } else { 0 })
}

/// What separates fields: the candidate that most lines hold as often, and of those the one that they hold most often.
pub(super) fn guess_delimiter(path: &Path, start: &[u8]) -> u8 {
    let name = lower_name(path);
    let preferred = if name.contains(".tsv") { b'\t' } else { b',' };
    let alike = |candidate: u8| {
        let mut found: Vec<usize> = rows(start).map(|line| count(line, candidate)).collect();
        found.sort_unstable();
        let runs = found.chunk_by(|a, b| a == b).filter(|run| run[0] > 0);
        runs.map(|run| (run.len(), run[0]))
            .max()
            .unwrap_or_default()
    };
    let mut most = (preferred, alike(preferred));
    for candidate in CANDIDATES {
        let found = alike(candidate);
        // Decimals of a table without a header have commas in every line.
        let of_decimals = most.0 == b',' && found.0 == most.1.0 && found.0 > 1;
        if found > most.1 || of_decimals && parts_decimals(start, candidate) {
            most = (candidate, found);
        }
    }
    let first = rows(start).next().unwrap_or_default();
    if most.1.1 == 0 {
        let blank = count(first, b' ') > 0 && name.contains(".txt");
        let found = [b' ', b'^', b'~']
            .into_iter()
            .find(|&mark| parts_numbers(start, mark));
        return found.unwrap_or(if blank { b' ' } else { most.0 });
    }
    most.0
}

/// Whether every line has this mark as often, with numbers and gaps between below the first.
fn parts_numbers(start: &[u8], mark: u8) -> bool {
    let mut lines = rows(start).map(<[u8]>::trim_ascii_end);
    let marks = lines.next().map_or(0, |first| count(first, mark));
    let of_numbers = |line: &[u8]| {
        count(line, mark) == marks && line.split(|&byte| byte == mark).skip(1).all(is_value)
    };
    let rest: Vec<&[u8]> = lines.collect();
    marks > 0 && rest.len() > 1 && rest.into_iter().all(of_numbers)
}

/// Whether all commas between these marks stand before decimals, at most one between two.
fn parts_decimals(start: &[u8], mark: u8) -> bool {
    let is_decimal = |field: &[u8]| {
        let point = String::from_utf8_lossy(field).replace(',', ".");
        !field.contains(&b',') || number(point.as_bytes()).is_some()
    };
    rows(start).all(|line| line.split(|byte| *byte == mark).all(is_decimal))
}

/// Whether a field is a number or a word for a missing one.
fn is_value(field: &[u8]) -> bool {
    number(field).is_some() || MISSING_WORDS.iter().any(|word| word.as_bytes() == field)
}

/// Whether columns are aligned by blanks, several of them between some: every line has as many words, the first at most one less, and
/// numbers among them below the first.
pub(super) fn blanks_align(start: &[u8]) -> bool {
    let lines: Vec<&[u8]> = rows(start).map(<[u8]>::trim_ascii_end).collect();
    let fields = |line: &[u8]| {
        let mut quoted = false;
        let blank = move |byte: &u8| {
            quoted ^= *byte == b'"';
            !quoted && [b' ', b'\t'].contains(byte)
        };
        let fields = line.split(blank);
        fields.filter(|field| !field.is_empty()).count()
    };
    let is_blank = |byte: u8| [b' ', b'\t'].contains(&byte);
    let has_number = |line: &&[u8]| {
        let mut fields = line.split(|byte| [b' ', b'\t'].contains(byte)).skip(1);
        fields.any(|field| number(field).is_some())
    };
    let Some((first, rest)) = lines.split_first().filter(|(_, rest)| rest.len() > 2) else {
        return false;
    };
    let wanted = fields(rest[0]);
    let tabs = |line: &[u8]| count(line, b'\t');
    // A tab behind numbers between blanks is one of these.
    let of_numbers = |line: &&[u8]| {
        let before = line.split(|byte| *byte == b'\t').next().unwrap_or_default();
        let mut own = before.split(|byte| *byte == b' ');
        before.contains(&b' ') && own.all(|field| field.is_empty() || is_value(field))
    };
    let by_tabs = tabs(first) > 0
        && rest.iter().all(|line| tabs(line) == tabs(first))
        && !lines.iter().all(of_numbers);
    wanted > 1
        && !by_tabs
        && (wanted - 1..=wanted).contains(&fields(first))
        && rest.iter().all(|line| fields(line) == wanted)
        && rest.iter().all(has_number)
        && lines
            .iter()
            .any(|line| line.windows(2).any(|two| two.iter().copied().all(is_blank)))
        && !lines
            .iter()
            .any(|line| [b',', b';', b'|'].iter().any(|mark| line.contains(mark)))
}

/// Whether every line is a quoted field of its own that holds as many delimiters, as where a text was saved as one column.
pub(super) fn lines_are_quoted(start: &[u8]) -> bool {
    let inner = |line: &'_ [u8]| -> Option<Vec<u8>> {
        let inner = line.trim_ascii_end().strip_prefix(b"\"")?;
        Some(inner.strip_suffix(b"\"")?.to_vec())
    };
    let Some(inner) = lines(start).map(inner).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let is_whole = |line: &Vec<u8>| {
        line.split(|byte| *byte == b'"')
            .skip(1)
            .step_by(2)
            .all(<[u8]>::is_empty)
    };
    CANDIDATES.iter().any(|&mark| {
        let of = |line: &Vec<u8>| line.split(|&byte| byte == mark).count();
        let numbers = |line: &Vec<u8>| {
            line.split(|&byte| byte == mark)
                .any(|field| number(field).is_some())
        };
        let wanted = inner.first().map_or(0, of);
        wanted > 1
            && inner.len() > 2
            && inner
                .iter()
                .all(|line| of(line) == wanted && is_whole(line))
            && inner.iter().skip(1).all(numbers)
    })
}

/// Whether a blank, or the sign with which Excel keeps zeros, stands between a delimiter and a quote.
pub(super) fn blanks_before_quotes(start: &[u8], delimiter: u8) -> bool {
    let parts = |line: &[u8]| {
        let mut found = line.windows(3);
        let is_start = |three: &[u8]| {
            three[0] == delimiter && [b" \"", b"=\""].contains(&&[three[1], three[2]])
        };
        line.starts_with(b"=\"") || found.any(is_start)
    };
    lines(start).take(2).any(parts)
}

/// What stands around fields that hold the delimiter: a single quote, if the first line has all its fields between such.
pub(super) fn quote(start: &[u8], delimiter: u8) -> u8 {
    let is_single = |field: &[u8]| {
        let inner = field.strip_prefix(b"'");
        inner.is_some_and(|inner| inner.ends_with(b"'") && !inner.is_empty())
    };
    let mut first = lines(start).take(1).map(<[u8]>::trim_ascii_end);
    let single = first.all(|line| {
        let mut fields = line.split(|&byte| byte == delimiter);
        fields.all(is_single)
    });
    if single && !start.is_empty() {
        b'\''
    } else {
        b'"'
    }
}

/// Whether commas separate decimals and nothing else: one column, whose header holds none.
pub(super) fn commas_are_decimal(start: &[u8]) -> bool {
    let mut lines = lines(start).map(<[u8]>::trim_ascii_end);
    let header = lines.next().is_some_and(|first| !first.contains(&b','));
    let is_decimal = |line: &[u8]| {
        let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        let line = line.strip_prefix(b"-").unwrap_or(line);
        let mut parts = line.split(|&byte| byte == b',');
        matches!((parts.next(), parts.next(), parts.next()), (Some(a), Some(b), None) if digits(a) && digits(b))
    };
    let mut rest = lines.peekable();
    header && rest.peek().is_some() && rest.all(is_decimal)
}

/// How often a byte stands outside of quotes.
fn count(line: &[u8], wanted: u8) -> usize {
    let mut quoted = false;
    let mut found = 0;
    for &byte in line {
        quoted ^= byte == b'"';
        found += usize::from(!quoted && byte == wanted);
    }
    found
}

/// Refuses a single column whose lines all hold the same number of something that may separate fields.
pub(super) fn check_one_column(path: &Path, start: &[u8]) -> Result<()> {
    let lines: Vec<&[u8]> = lines(start).map(<[u8]>::trim_ascii_end).collect();
    let (Some(first), true) = (lines.first(), lines.len() > 1) else {
        return Ok(());
    };
    let separates = |&byte: &u8| {
        let wanted = count(first, byte);
        wanted > 0 && lines.iter().all(|line| count(line, byte) == wanted)
    };
    match DOUBTFUL.iter().find(|byte| separates(byte)) {
        Some(&byte) => {
            let found = char::from(byte);
            let reason = format!(
                "one column, and every line holds '{found}' as often; if it separates fields give {}, else {}",
                option("delimiter").naming(&found.to_string()),
                option("delimiter").naming(",")
            );
            Err(FileError::damaged(path, reason))
        }
        None => Ok(()),
    }
}

/// Fields up to the last that is not empty.
pub(super) fn filled(row: &ByteRecord) -> usize {
    let last = row.iter().rposition(|field| !field.trim_ascii().is_empty());
    last.map_or(0, |last| last + 1)
}

/// What the first line is.
pub(super) struct FirstLine {
    pub(super) is_header: bool,
    /// What to say where it could be meant otherwise.
    pub(super) remark: Option<String>,
}

/// Whether a line has amounts and dates in the notations of the line below it, in all places where that has some.
fn has_values_like(first: &ByteRecord, second: Option<&ByteRecord>) -> bool {
    let kind = |field: &[u8]| ValueKind::of(std::str::from_utf8(field).ok()?);
    let pairs = first.iter().zip(second.into_iter().flatten());
    let kinds = pairs.map(|(above, under)| (kind(above), kind(under)));
    let mut own = kinds.filter(|(_, under)| under.is_some()).peekable();
    own.peek().is_some() && own.all(|(above, under)| above == under)
}

/// Whether a first line is a row like those below it: in most columns its word stands further down too, beside others.
pub(super) fn is_like_rows(first: &ByteRecord, rows: &[&ByteRecord]) -> bool {
    let stands_below = |(at, field): &(usize, &[u8])| {
        let (same, other): (Vec<&[u8]>, Vec<&[u8]>) = rows
            .iter()
            .filter_map(|row| row.get(*at).filter(|own| !own.is_empty()))
            .partition(|own| own == field);
        same.len() > 1 && !other.is_empty()
    };
    let again = first.iter().enumerate().filter(stands_below).count();
    let mut fields = first
        .iter()
        .chain(rows.iter().take(1).flat_map(|row| row.iter()));
    first.len() > 1 && 2 * again > first.len() && fields.all(|field| number(field).is_none())
}

/// Whether the first line names the columns, above this one.
pub(super) fn first_line(first: &ByteRecord, second: Option<&ByteRecord>) -> FirstLine {
    let texts: Vec<String> = first
        .iter()
        .take(filled(first).max(1))
        .map(|field| String::from_utf8_lossy(field).trim().to_lowercase())
        .collect();
    let numbers = texts.iter().any(|text| number(text.as_bytes()).is_some());
    let sure = |is_header| FirstLine {
        is_header,
        remark: None,
    };
    if !numbers || texts.iter().any(|text| is_header_word(text)) {
        return sure(numbers || !has_values_like(first, second));
    }
    let counted = |texts: &[String], from: usize| {
        texts
            .iter()
            .zip(from..)
            .all(|(text, at)| *text == at.to_string())
    };
    let in_turn = |texts: &[String]| {
        let values: Vec<f64> = texts.iter().map_while(|text| text.parse().ok()).collect();
        let step = values.get(1).map_or(0.0, |second| second - values[0]);
        // Two decimals are always in turn.
        let enough = values.len() > 2 || values.iter().all(|value| value.fract() == 0.0);
        values.len() == texts.len()
            && step != 0.0
            && enough
            && values
                .windows(2)
                .all(|two| (two[1] - two[0] - step).abs() <= 1e-9 * step.abs())
    };
    let is_word = |text: &&String| number(text.as_bytes()).is_none();
    let words = texts.iter().take_while(is_word).count();
    // Such as the wavelengths of spectra: decimals that rise from column to column, above numbers that do not.
    let rise = |values: Vec<f64>| values.windows(2).all(|two| two[0] < two[1]);
    let own: Vec<f64> = texts[words..]
        .iter()
        .map_while(|text| text.parse().ok())
        .collect();
    let below = second.filter(|row| row.len() == first.len());
    let falls = |row: &ByteRecord| !rise(row.iter().skip(words).filter_map(number).collect());
    // Such as `taxon` above `t1`: names are numbered, and this is none of them.
    let has_digit = |field: &[u8]| field.iter().any(u8::is_ascii_digit);
    let is_other = |row: &ByteRecord| {
        let [above, under] = [&first[0], &row[0]];
        !has_digit(above) && has_digit(under) && number(under).is_none()
    };
    let enough = own.len() >= FEWEST_NUMBERED || own.len() > 2 && below.is_some_and(is_other);
    let scale = enough && own.len() + words == texts.len() && rise(own) && below.is_some_and(falls);
    // A word above numbers alone is no object, unless it says that there is no number.
    let one_word = words == 1 && below.is_some_and(|row| row.iter().all(is_value));
    let names_numbers = |word: &str| one_word && !word.is_empty() && !has_no_value(word);
    let names_steps = words == 0 && scale && (in_turn(&texts) || texts.len() >= MANY_NUMBERED);
    match texts.split_first() {
        Some((first, _)) if names_steps && !counted(&texts, 0) => FirstLine {
            is_header: true,
            remark: Some(format!(
                "the first line, numbers that rise from '{}' on, is taken for names; if it is not, give {}",
                shown(first),
                option("header").off()
            )),
        },
        // Words or an index without a name, and columns that are called by years or other whole numbers in turn.
        _ if words > 0 && in_turn(&texts[words..]) => sure(true),
        Some((word, _)) if words > 0 && scale || names_numbers(word) => FirstLine {
            is_header: true,
            remark: Some(format!(
                "the first line, '{}' and numbers{}, is taken for names; if it is not, give {}",
                shown(word),
                if scale { " that rise" } else { "" },
                option("header").off()
            )),
        },
        Some((word, rest))
            if !word.is_empty() && words == 1 && !rest.iter().any(|text| is_word(&text)) =>
        {
            let first = shown(String::from_utf8_lossy(&first[0]).trim());
            let remark = format!(
                "the first line is taken for the object '{first}'; if it names the columns give {}",
                option("header").on()
            );
            FirstLine {
                is_header: false,
                remark: Some(remark),
            }
        }
        Some((_, rest)) if !rest.is_empty() && counted(&texts, 0) => {
            let is_header = texts.len() >= FEWEST_NUMBERED;
            let (what, flag) = if is_header {
                ("names of columns", option("header").off())
            } else {
                ("values", option("header").on())
            };
            let last = texts.len() - 1;
            let remark = format!(
                "the first line, 0 to {last}, is taken for {what}; if it is not, give {flag}"
            );
            FirstLine {
                is_header,
                remark: Some(remark),
            }
        }
        _ => sure(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_other_programs() {
        let is_header = |line: &str| {
            let record = |line: &str| ByteRecord::from(line.split(',').collect::<Vec<_>>());
            first_line(&record(line), Some(&record("x,3,1,4,1,5"))).is_header
        };
        assert!(is_header("400,402,404,406,408,410"));
        assert!(!is_header("400,402,404,406,408,411"));
        for header in [
            "a,b",
            "0,1,label",
            ",0,1,2",
            "cell,0.4,0.8",
            "0,1,2,3,4",
            "Unnamed: 0,1",
            "file,301.1,302.2,303.4,310,311.5",
            "wave,400.5,410.5,420.5",
        ] {
            assert!(is_header(header), "{header}");
        }
        for values in [
            "a,1.5,2.5,3,4",
            "a,1,2.5,2,4,7",
            "1,a",
            ",1,1",
            "0,1,2,4,3",
            "1,2,3,4,5",
            "0,1,2",
            "7",
        ] {
            assert!(!is_header(values), "{values}");
        }
        let [doses, name] = [["taxon", "10", "20", "40"], ["t1", "10", "20", "40"]];
        let below = ByteRecord::from(vec!["t2", "3", "2", "7"]);
        let is_header =
            |line: [&str; 4]| first_line(&ByteRecord::from(line.to_vec()), Some(&below)).is_header;
        assert!(is_header(doses) && !is_header(name));
        assert!(
            first_line(&ByteRecord::from(vec!["0", "1"]), None)
                .remark
                .is_some_and(|remark| remark.contains("--header"))
        );
    }

    #[test]
    fn columns_that_are_not_split_are_refused() {
        let check = |text: &str| check_one_column(Path::new("a.csv"), text.as_bytes()).is_ok();
        assert!(!check("a:b\n1:2\n") && !check("a b\n1 2\n3 4\n5 6"));
        assert!(check("cell type\nT cell\nB\n") && check("x\n1\n") && check("a:b\n"));
    }

    #[test]
    fn excel_says_what_separates() {
        assert_eq!(named_in_first_line(b"sep=;\r\na;b"), Some((b';', 7)));
        assert_eq!(named_in_first_line(b"sep=;a;b\n"), None);
    }
}
