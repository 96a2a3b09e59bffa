//! Text of messages: errors, warnings and notes are one line each, and what they quote does nothing but show.

/// A text as it is, but on one line: what messages quote, such as names out of files, may have line ends. Other control characters
/// are as in [`visible`]. O(length).
///
/// ```
/// assert_eq!(partita_core::on_one_line("column 'a\nb'"), "column 'a b'");
/// ```
pub fn on_one_line(text: &str) -> String {
    let line_end = |c: char| c.is_control() && c.is_whitespace();
    visible(&text.replace(line_end, " "))
}

/// A text of which a terminal shows every character: control characters but line ends and tabs, and those that change the direction
/// of writing, are escaped as in JSON. O(length).
///
/// ```
/// assert_eq!(partita_core::visible("\u{1b}[2J\u{202e}a\n"), "\\u001b[2J\\u202ea\n");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if turns || letter.is_control() && !matches!(letter, '\n' | '\t') {
            shown += &format!("\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}
