//! The bytes of a text on the way to its rows: lines are counted, blanks between fields are taken away.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};

use partita_core::{MemoryBudget, option};

use super::text_encoding::Decoded;

/// A reader that counts lines and refuses to feed one endless row.
pub(super) struct Counted {
    pub(super) bytes: BufReader<Decoded>,
    pub(super) lines: Lines,
    /// Blanks that are taken away.
    pub(super) blanks: Option<Blanks>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.bytes.read(buffer)?;
            let kept = match &mut self.blanks {
                Some(blanks) => blanks.apply(&mut buffer[..read]),
                None => read,
            };
            self.lines.feed(&buffer[..kept])?;
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Where lines end. The CSV reader's own count is that before the blank lines, or the second half of a `\r\n`, which
/// stand between two rows.
#[derive(Debug)]
pub(super) struct Lines {
    /// Line breaks not yet passed.
    breaks: VecDeque<Breaks>,
    /// The most bytes that a row may take.
    longest: u64,
    pub(super) line: u64,
    read: u64,
    row_start: u64,
    /// Whether nothing but line ends was read since the row began.
    blank: bool,
    after_return: bool,
    odd_quotes: bool,
}

/// Line breaks one after the other, with nothing between them: blank lines are as many as a file has bytes.
#[derive(Debug)]
struct Breaks {
    at: u64,
    /// Whether a `\r` stands before each.
    after_return: bool,
    count: u64,
}

impl Breaks {
    /// From one to the next.
    fn step(&self) -> u64 {
        1 + u64::from(self.after_return)
    }
}

impl Lines {
    pub(super) fn new(longest: u64) -> Self {
        Self {
            breaks: VecDeque::new(),
            longest,
            line: 1,
            read: 0,
            row_start: 0,
            blank: true,
            after_return: false,
            odd_quotes: false,
        }
    }

    pub(super) fn row_begins(&mut self) {
        self.row_start = self.read;
        self.blank = true;
    }

    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let after_return = if at == 0 {
                self.after_return
            } else {
                bytes[at - 1] == b'\r'
            };
            let at = self.read + at as u64;
            match self.breaks.back_mut() {
                Some(last)
                    if last.after_return == after_return
                        && last.at + last.count * last.step() == at =>
                {
                    last.count += 1;
                }
                _ => self.breaks.push_back(Breaks {
                    at,
                    after_return,
                    count: 1,
                }),
            }
        }
        self.odd_quotes ^= bytes.iter().fold(false, |odd, &byte| odd ^ (byte == b'"'));
        self.after_return = bytes.last() == Some(&b'\r');
        self.read += bytes.len() as u64;
        // Blank lines before a row are no part of it.
        self.blank &= bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        if self.blank {
            self.row_start = self.read;
        }
        if self.read - self.row_start > self.longest {
            let reason = format!(
                "a row is longer than {}; check its quotes and line ends, or raise {}",
                MemoryBudget::new(self.longest),
                option("max-memory")
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(())
    }

    /// At the end of the file: whether the last row began with a quote that nothing closes, and took in further lines.
    pub(super) fn quote_is_open(&self) -> bool {
        self.odd_quotes && self.breaks.iter().map(|breaks| breaks.count).sum::<u64>() > 1
    }

    /// The line of the row that was read from this place on, line breaks before it included.
    pub(super) fn at(&mut self, mut place: u64) -> u64 {
        while let Some(next) = self.breaks.front_mut() {
            let (at, step) = (next.at, next.step());
            if at > place && !(next.after_return && at == place + 1) {
                break;
            }
            place = place.max(at + 1);
            self.line += 1;
            next.at += step;
            next.count -= 1;
            if next.count == 0 {
                self.breaks.pop_front();
            }
        }
        self.line
    }
}

/// Which blanks or quotes of a text are taken away.
#[derive(Debug)]
pub(super) enum Blanks {
    /// Columns are aligned by blanks, tabs among them: several become one, and those at the beginning of a line none.
    Repeated { after_blank: bool },
    /// Those between this delimiter and a quote, which would be a part of the field; and the sign of a formula there.
    BeforeQuotes {
        delimiter: u8,
        quoted: bool,
        at_start: bool,
    },
    /// None, but the quotes around whole lines, in which a quote is doubled.
    AroundLines { at_start: bool, after_quote: bool },
}

impl Blanks {
    pub(super) fn repeated() -> Self {
        Self::Repeated { after_blank: true }
    }

    pub(super) fn before_quotes(delimiter: u8) -> Self {
        Self::BeforeQuotes {
            delimiter,
            quoted: false,
            at_start: true,
        }
    }

    pub(super) fn around_lines() -> Self {
        Self::AroundLines {
            at_start: true,
            after_quote: false,
        }
    }

    /// The bytes without these blanks; how many are left.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..bytes.len() {
            if let Some(byte) = self.pass(bytes[at]) {
                bytes[kept] = byte;
                kept += 1;
            }
        }
        kept
    }

    fn pass(&mut self, byte: u8) -> Option<u8> {
        match self {
            Self::Repeated { after_blank } => {
                let byte = if byte == b'\t' { b' ' } else { byte };
                let keeps = byte != b' ' || !*after_blank;
                *after_blank = matches!(byte, b' ' | b'\n' | b'\r');
                keeps.then_some(byte)
            }
            Self::AroundLines {
                at_start,
                after_quote,
            } => {
                let drops = byte == b'"' && (*at_start || !*after_quote);
                *after_quote = drops && !*at_start;
                *at_start = matches!(byte, b'\n' | b'\r');
                (!drops).then_some(byte)
            }
            Self::BeforeQuotes {
                delimiter,
                quoted,
                at_start,
            } => {
                if matches!(byte, b' ' | b'=') && *at_start && !*quoted {
                    return None;
                }
                *quoted ^= byte == b'"';
                *at_start = [*delimiter, b'\n', b'\r'].contains(&byte);
                Some(byte)
            }
        }
    }
}
