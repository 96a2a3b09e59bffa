//! Text of messages: errors, warnings and notes are one line each.

/// A text as it is, but on one line: what messages quote, such as names out of files, may have line ends. O(length).
///
/// ```
/// assert_eq!(partita_core::on_one_line("column 'a\nb'"), "column 'a b'");
/// ```
pub fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
