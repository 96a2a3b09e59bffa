//! What is taken off a document before its words are looked for.

use std::borrow::Cow;

/// The text after a block of message headers, or all of it where there is none.
///
/// A block is two or more lines `Name: value`, which lines that start with a blank continue, up to an empty line. A
/// first line `From …` of a mail box belongs to it.
pub(crate) fn without_headers(text: &str) -> &str {
    let mut at = 0;
    let mut headers = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        if bare.is_empty() {
            return if headers < 2 { text } else { &text[at..] };
        }
        let continues = headers > 0 && bare.starts_with([' ', '\t']);
        let mailbox = headers == 0 && bare.starts_with("From ");
        if is_header(bare) {
            headers += 1;
        } else if !continues && !mailbox {
            return text;
        }
    }
    text
}

fn is_header(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

/// The text of an HTML document: tags, comments, scripts and styles become blanks, and character references become
/// characters where they are numbers or the most common names. A text that has neither an end tag nor a doctype is
/// left alone.
pub(crate) fn without_markup(text: &str) -> Cow<'_, str> {
    if !is_markup(text) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        kept.push_str(&rest[..at]);
        let tail = &rest[at..];
        rest = if tail.starts_with('<') {
            kept.push(' ');
            &tail[element(tail)..]
        } else {
            let (character, length) = reference(tail);
            kept.push(character);
            &tail[length..]
        };
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

fn is_markup(text: &str) -> bool {
    let mut places = text
        .match_indices('<')
        .map(|(at, _)| &text.as_bytes()[at + 1..]);
    places.any(|after| match after {
        [b'/', letter, ..] => letter.is_ascii_alphabetic(),
        [b'!', ..] => after
            .get(1..8)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")),
        _ => false,
    })
}

/// Bytes of what starts with the `<` at the beginning of the text: a comment, a script or style with all that is in it
/// (up to the end of the text where it is not closed), a tag, or a sign that stands for itself.
fn element(text: &str) -> usize {
    if let Some(comment) = text.strip_prefix("<!--") {
        return comment.find("-->").map_or(text.len(), |end| 4 + end + 3);
    }
    let name = text[1..].trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
        return 1;
    }
    for hidden in ["script", "style"] {
        let named = text
            .as_bytes()
            .get(1..=hidden.len())
            .is_some_and(|tag| tag.eq_ignore_ascii_case(hidden.as_bytes()));
        let whole = text
            .as_bytes()
            .get(1 + hidden.len())
            .is_some_and(|next| !next.is_ascii_alphanumeric());
        if named && whole {
            return end_of(text, hidden).unwrap_or(text.len());
        }
    }
    // A `<` that another one follows before any `>` is not a tag.
    match text[1..].find(['<', '>']) {
        Some(end) if text.as_bytes()[end + 1] == b'>' => end + 2,
        _ => 1,
    }
}

/// Bytes up to and including the end tag of this name.
fn end_of(text: &str, name: &str) -> Option<usize> {
    text.match_indices("</").find_map(|(at, _)| {
        let after = text.as_bytes().get(at + 2..at + 2 + name.len())?;
        let close = || text[at..].find('>').map(|close| at + close + 1);
        if after.eq_ignore_ascii_case(name.as_bytes()) {
            close()
        } else {
            None
        }
    })
}

/// The character that the reference at the beginning of the text stands for, and its bytes. An unknown name is a
/// blank; an `&` without a name is itself.
fn reference(text: &str) -> (char, usize) {
    const NAMES: [(&str, char); 6] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("rsquo", '’'),
    ];
    // No name is longer, and a reference ends with a semicolon.
    let end = text
        .bytes()
        .take(12)
        .position(|b| b == b';')
        .filter(|&end| end > 1);
    let name = end.map(|end| &text[1..end]);
    let Some(name) =
        name.filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#'))
    else {
        return ('&', 1);
    };
    let number = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        },
        None => None,
    };
    let known = || {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, character)| character)
    };
    (
        number
            .and_then(char::from_u32)
            .or_else(known)
            .unwrap_or(' '),
        name.len() + 2,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_end_at_the_first_empty_line() {
        let message =
            "Path: a!b\nSubject: Re: axes\n  and saws\nLines: 3\n\nIn article 7: yes\n\nbye";
        assert_eq!(without_headers(message), "In article 7: yes\n\nbye");
        assert_eq!(
            without_headers("From joe Mon\r\nTo: a\r\nCc: b\r\n\r\nbody"),
            "body"
        );
        for plain in [
            "",
            "Note: one line\n\nis no header",
            "A: b\nplain\n\nrest",
            "A: b\nC: d",
            "\nA: b\nC: d\n\nx",
        ] {
            assert_eq!(without_headers(plain), plain);
        }
        assert_eq!(without_headers("A: b\nC: d\n\n"), "");
    }

    #[test]
    fn markup_goes_and_characters_stay() {
        let page = "<!DOCTYPE html><head><STYLE type=x>p { color: red }</Style><title>Caf&#233; &amp; Bar</title></head>\
                    <!-- no\n<b>word</b> --><body bgcolor=\"a\nb\">a < b <I>c</I>&nbsp;d<script>var x = '<b>';</script>";
        let words: Vec<String> = without_markup(page)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(words, ["Café", "&", "Bar", "a", "b", "c", "d"]);
        for plain in ["<joe@x.com> wrote: 1 < 2 & 3 > 2", "a &amp; b", "</3", "<"] {
            assert_eq!(without_markup(plain), plain);
        }
    }

    #[test]
    fn no_text_is_too_odd() {
        let pieces = [
            "<",
            ">",
            "</b",
            "<!--",
            "-->",
            "&",
            "#",
            ";",
            "é",
            "script",
            "</script",
            " ",
            "x",
            "&#x;",
            "&#1114112;",
        ];
        for i in 0..pieces.len().pow(4) {
            let odd: String = (0..4)
                .map(|place| pieces[i / pieces.len().pow(place) % pieces.len()])
                .collect();
            let text = format!("</p>{odd}end");
            assert!(
                without_markup(&text).ends_with("end") || odd.contains('<') || odd.contains('&'),
                "{text}"
            );
        }
    }
}
