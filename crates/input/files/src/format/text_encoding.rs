//! The encoding of text: UTF-8, or what the bytes say, as UTF-8.

use std::io::{self, Read};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use partita_core::option;

use crate::error::{FileError, Result};

/// Bytes that are read, and looked at, at once.
const BLOCK: usize = 1 << 16;

/// A text of any encoding as UTF-8. Text of ASCII letters is looked at until the first byte that says more.
pub(super) struct Decoded {
    bytes: Box<dyn Read + Send>,
    decoder: Option<Decoder>,
    /// UTF-8 has been found, or was asked for: the bytes are given as they are.
    sure: bool,
    block: Vec<u8>,
    given: usize,
    /// The beginning of a letter at the end of a block.
    cut: Vec<u8>,
    ended: bool,
}

impl Decoded {
    /// The text in this encoding, or in that which the bytes say.
    pub(super) fn new(
        path: &Path,
        bytes: Box<dyn Read + Send>,
        asked: Option<&str>,
    ) -> Result<Self> {
        let unknown = || {
            let reason = format!(
                "{} is not an encoding; name one such as utf-8, latin1, windows-1252 or utf-16le",
                option("encoding").naming(asked.unwrap_or_default())
            );
            FileError::damaged(path, reason)
        };
        let asked = asked
            .map(|asked| Encoding::for_label(asked.as_bytes()).ok_or_else(unknown))
            .transpose()?;
        Ok(Self {
            bytes,
            decoder: asked
                .filter(|asked| *asked != UTF_8)
                .map(Encoding::new_decoder_with_bom_removal),
            sure: asked.is_some(),
            block: Vec::new(),
            given: 0,
            cut: Vec::new(),
            ended: false,
        })
    }

    /// The encoding that the text was found to be in, other than UTF-8.
    pub(super) fn found(&self) -> Option<&'static str> {
        self.decoder
            .as_ref()
            .map(|decoder| decoder.encoding().name())
    }

    fn next_block(&mut self) -> io::Result<()> {
        let first = self.block.is_empty() && self.cut.is_empty();
        let mut raw = std::mem::take(&mut self.cut);
        let before = raw.len();
        (&mut self.bytes)
            .take((BLOCK - before) as u64)
            .read_to_end(&mut raw)?;
        self.ended = raw.len() == before;
        self.given = 0;
        if !self.sure {
            self.look(&raw, first);
        }
        let Some(decoder) = &mut self.decoder else {
            let whole = match std::str::from_utf8(&raw) {
                Err(cut) if !self.ended && cut.error_len().is_none() => cut.valid_up_to(),
                _ => raw.len(),
            };
            self.cut = raw.split_off(whole);
            self.block = raw;
            return Ok(());
        };
        let mut text = String::new();
        let room = decoder.max_utf8_buffer_length(raw.len()).unwrap_or(0);
        text.reserve(room);
        let _ = decoder.decode_to_string(&raw, &mut text, self.ended);
        self.block = text.into_bytes();
        Ok(())
    }

    /// Decides as soon as a byte is not ASCII.
    fn look(&mut self, raw: &[u8], first: bool) {
        let encoding = match (first, raw) {
            (true, [0xff, 0xfe, ..]) => Some(UTF_16LE),
            (true, [0xfe, 0xff, ..]) => Some(UTF_16BE),
            // Packed bytes are said to be such by those who read them.
            (true, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x1f, 0x8b, ..]) => None,
            (true, _) if raw.len() > 1 && zeros(raw, 1) => Some(UTF_16LE),
            (true, _) if raw.len() > 1 && zeros(raw, 0) => Some(UTF_16BE),
            _ if raw.is_ascii() => return,
            _ => guessed(raw),
        };
        self.sure = true;
        self.decoder = encoding.map(Encoding::new_decoder_with_bom_removal);
    }
}

/// Whether every second byte from this one on is mostly 0, as in UTF-16 of Latin letters, and the others are not.
fn zeros(raw: &[u8], from: usize) -> bool {
    let zero = |from: usize| {
        raw[from..]
            .iter()
            .step_by(2)
            .filter(|&&byte| byte == 0)
            .count()
    };
    2 * zero(from) > raw.len() / 2 && zero(1 - from) == 0
}

/// Whether of the letters beyond ASCII more are UTF-8 than are not.
fn mostly_utf8(raw: &[u8]) -> bool {
    let text = String::from_utf8_lossy(raw);
    let wrong = text.matches(char::REPLACEMENT_CHARACTER).count();
    2 * wrong < text.chars().filter(|letter| !letter.is_ascii()).count()
}

/// The encoding of bytes that are not UTF-8.
fn guessed(raw: &[u8]) -> Option<&'static Encoding> {
    match std::str::from_utf8(raw) {
        Ok(_) => None,
        // UTF-8 that is damaged in some places is said to be so.
        Err(wrong) if wrong.error_len().is_none() || mostly_utf8(raw) => None,
        Err(_) => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(raw, true);
            Some(detector.guess(None, Utf8Detection::Deny))
        }
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.block.len() && !self.ended {
            self.next_block()?;
        }
        let left = &self.block[self.given..];
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.given += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_utf8_by_chance_is_not() {
        // The first letter of GBK is one of UTF-8 too.
        assert!(
            guessed(b"\xd0\xa1\xc7\xf8,\xb3\xaf\xcf\xf2\n\xd0\xa1\xc7\xf81,\xc4\xcf\n").is_some()
        );
        assert!(guessed("ä,ö,ü\n".as_bytes()).is_none());
        assert!(guessed(b"\xc3\xa4,\xc3\xb6,\xff\n").is_none());
    }
}
