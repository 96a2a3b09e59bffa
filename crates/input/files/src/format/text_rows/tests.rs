use super::*;
use crate::testing::{assert_says, file};

/// The names of the columns, and the lines and fields of all rows.
type Read = (Option<Vec<String>>, Vec<(Row, Vec<String>)>);

fn read(name: &str, text: impl AsRef<[u8]>, transpose: bool) -> Result<Read> {
    let (_folder, path) = file(name, text);
    let options = OpenOptions {
        transpose,
        ..OpenOptions::default()
    };
    let mut reader = TextReader::open(&path, None, &options)?;
    let mut record = ByteRecord::new();
    let mut rows = Vec::new();
    while let Some(row) = reader.next(&mut record)? {
        let fields = record.iter().map(|field| String::from_utf8_lossy(field));
        rows.push((row, fields.map(Cow::into_owned).collect()));
    }
    Ok((reader.header().map(<[String]>::to_vec), rows))
}

#[test]
fn delimiters_and_headers_are_found() {
    // The names of the columns and the first row between bars; no names where the first line is a row.
    for (name, text, header, first) in [
        ("a.csv", "x,y\n1,2\n", Some("x|y"), "1|2"),
        ("a.csv", "\u{feff}x;y\r\n1;2\r\n", Some("x|y"), "1|2"),
        ("a.tsv", "x\ty\n1\t2\n", Some("x|y"), "1|2"),
        ("a.txt", "x y\n1 2\n", Some("x|y"), "1|2"),
        ("a.txt", "x\ty\n1\t2\n", Some("x|y"), "1|2"),
        ("a.csv", "\"x\",y\n\"1\",2", Some("x|y"), "1|2"),
        ("a.csv", "1,a\n2,b\n", None, "1|a"),
        ("a.csv", "0,1,label\n2,3,b\n", Some("0|1|label"), "2|3|b"),
        // Spreadsheets, and R.
        ("a.csv", "sep=;\r\nx;y;;\r\n3;4;;\r\n", Some("x|y"), "3|4"),
        ("a.txt", "\"x\" \"y\"\n\"r1\" 1 2\n", Some("|x|y"), "r1|1|2"),
    ] {
        let (names, rows) = read(name, text, false).unwrap();
        assert_eq!(
            names.map(|names| names.join("|")).as_deref(),
            header,
            "{text:?}"
        );
        assert_eq!(rows[0].1.join("|"), first, "{text:?}");
    }
}

#[test]
fn rows_that_do_not_fit_are_named_by_line() {
    for (text, expected) in [
        (
            &b"x,y\n\"1\n\",2\n\n3\n"[..],
            "a.csv, line 5: 1 fields where the first line has 2",
        ),
        (
            b"x,y,\n1,2,\n3,4,5\n",
            "line 3: column 3 has a value but no name",
        ),
        (b"x,y\n1,a\n2,\"b\n3,c\n4,d\n", "line 3: a quote is opened"),
        (b"x,y\n1,\"b\n3,c\n4\",d\n", "line 2: a quote is opened"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\n", "empty"),
    ] {
        assert_says(read("a.csv", text, false).unwrap_err(), &[expected]);
    }
    let (_, rows) = read("a.csv", "x,y\n1,\"b\nc\"\n5\" pipe,2\n7,8\n", false).unwrap();
    assert_eq!(rows.len(), 3, "a quote that is closed");
}

#[test]
fn rows_and_columns_can_change_places() {
    let text = "tool,c1,c2,c3\nu,1,2,\nv,a,\"b,c\",d\n";
    let (names, rows) = read("a.csv", text, true).unwrap();
    assert_eq!(names.unwrap(), ["tool", "u", "v"]);
    let rows: Vec<String> = rows.iter().map(|(_, fields)| fields.join("|")).collect();
    assert_eq!(rows, ["c1|1|a", "c2|2|b,c", "c3||d"]);
}

#[test]
fn lines_are_counted_with_any_line_break() {
    for text in [
        "x\n1\n2\n\n3",
        "x\r\n1\r\n2\r\n\r\n3\r\n",
        "x\n1\r\n2\r\n\n3\n\n",
    ] {
        let (_, rows) = read("a.csv", text, false).unwrap();
        let lines: Vec<u64> = rows.iter().map(|(row, _)| row.number()).collect();
        assert_eq!(lines, [2, 3, 5], "{text:?}");
    }
}
