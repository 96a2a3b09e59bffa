//! Lines of delimited text to be written.

use std::io::{self, Write};

use crate::number::Short;

/// Text that is held before it is written.
const HELD: usize = 1 << 18;

/// Lines of fields. A number is as short as reads back to the same bits.
pub(crate) struct TextLines {
    delimiter: u8,
    text: Vec<u8>,
    /// Where the line begins that is being written, and its fields.
    begin: usize,
    fields: usize,
    /// Made for the first number.
    numbers: Option<NumberTexts>,
}

impl TextLines {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            text: Vec::new(),
            begin: 0,
            fields: 0,
            numbers: None,
        }
    }

    /// A field, in quotes where it needs them.
    pub(crate) fn text(&mut self, field: &str) {
        self.separate();
        let special = |byte: u8| byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        if !field.bytes().any(special) {
            return self.text.extend_from_slice(field.as_bytes());
        }
        self.text.push(b'"');
        for byte in field.bytes() {
            if byte == b'"' {
                self.text.push(b'"');
            }
            self.text.push(byte);
        }
        self.text.push(b'"');
    }

    pub(crate) fn integer(&mut self, value: impl itoa::Integer) {
        self.separate();
        self.text
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub(crate) fn number(&mut self, value: f64) {
        self.separate();
        self.text
            .extend_from_slice(self.numbers.get_or_insert_default().text(value));
    }

    /// A number, and `gap` for NaN.
    pub(crate) fn number_or(&mut self, value: f64, gap: &str) {
        if value.is_nan() {
            self.text(gap);
        } else {
            self.number(value);
        }
    }

    /// Ends a line. A line of one empty field has quotes, since empty lines are not read.
    pub(crate) fn end(&mut self) {
        if self.fields == 1 && self.text.len() == self.begin {
            self.text.extend_from_slice(b"\"\"");
        }
        self.text.push(b'\n');
        (self.begin, self.fields) = (self.text.len(), 0);
    }

    /// Hands the lines that have ended over, once they are many.
    pub(crate) fn pass(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.begin < HELD {
            Ok(())
        } else {
            self.finish(out)
        }
    }

    /// Hands all lines over.
    pub(crate) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.text)?;
        self.text.clear();
        self.begin = 0;
        Ok(())
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    fn separate(&mut self) {
        if self.fields > 0 {
            self.text.push(self.delimiter);
        }
        self.fields += 1;
    }
}

/// Numbers as text, remembered: shares are 0 and 1 more often than not, and objects with equal labels have equal numbers.
struct NumberTexts(Vec<(u64, Vec<u8>)>);

impl Default for NumberTexts {
    fn default() -> Self {
        Self(vec![(f64::NAN.to_bits(), b"NaN".to_vec()); 1 << 10])
    }
}

impl NumberTexts {
    fn text(&mut self, value: f64) -> &[u8] {
        let bits = value.to_bits();
        let place = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        let (known, text) = &mut self.0[place];
        if *known != bits {
            *known = bits;
            text.clear();
            // Writing to a vector cannot fail.
            let _ = write!(text, "{}", Short(value));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_csv_crate() {
        let fields = [
            "",
            "a",
            "a,b",
            "a\tb",
            "say \"a\"",
            "two\nlines",
            "back\r",
            " a ",
            "#",
            "ä",
        ];
        for delimiter in [b',', b'\t'] {
            let mut lines = TextLines::new(delimiter);
            let mut expected = csv::WriterBuilder::new()
                .delimiter(delimiter)
                .flexible(true)
                .from_writer(Vec::new());
            for (at, field) in fields.iter().enumerate() {
                lines.text(field);
                lines.end();
                expected.write_record([field]).unwrap();
                fields[at..].iter().for_each(|field| lines.text(field));
                lines.number(0.5 * at as f64);
                lines.integer(at);
                lines.end();
                let others = [(0.5 * at as f64).to_string(), at.to_string()];
                expected
                    .write_record(
                        fields[at..]
                            .iter()
                            .copied()
                            .chain(others.iter().map(String::as_str)),
                    )
                    .unwrap();
            }
            assert_eq!(lines.into_bytes(), expected.into_inner().unwrap());
        }
    }
}
