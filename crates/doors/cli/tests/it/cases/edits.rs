//! Changes to a text that stands in a file, as tools and editors make them.

/// Columns become rows.
pub(crate) fn turned(text: &str) -> String {
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>().join(",") + "\n";
    (0..rows[0].len()).map(column).collect()
}

/// Columns in the other order.
pub(crate) fn mirrored(text: &str) -> String {
    let line = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n";
    text.lines().map(line).collect()
}

/// The first lines alone.
pub(crate) fn first(text: &str, lines: usize) -> String {
    text.split_inclusive('\n').take(lines).collect()
}

/// The header, and what is after so many rows.
pub(crate) fn rest(text: &str, rows: usize) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines
        .filter(|(at, _)| *at == 0 || *at > rows)
        .map(|(_, line)| line)
        .collect()
}

/// Without the lines that begin so.
pub(crate) fn without(text: &str, beginnings: &[String]) -> String {
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| {
            !beginnings
                .iter()
                .any(|beginning| line.starts_with(beginning))
        })
        .collect()
}

/// The bytes of a text in which \n, \r, \t, \\ and \xff stand for themselves.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        let (byte, length) = match after.as_bytes().first() {
            Some(b'n') => (b'\n', 1),
            Some(b'r') => (b'\r', 1),
            Some(b't') => (b'\t', 1),
            Some(b'x') => {
                let digits = after.get(1..3).unwrap_or_default();
                (
                    u8::from_str_radix(digits, 16).expect("two hexadecimal digits"),
                    3,
                )
            }
            _ => (b'\\', usize::from(after.starts_with('\\'))),
        };
        bytes.push(byte);
        rest = &after[length..];
    }
    bytes.extend(rest.bytes());
    bytes
}

/// An NPY file with this header and so many bytes of data.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let width = (header.len() + 11).next_multiple_of(64) - 11;
    let padded = format!("{header:<width$}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.as_bytes());
    file.extend(data);
    file
}
