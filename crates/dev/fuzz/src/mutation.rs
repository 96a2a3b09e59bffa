//! Mutations of an input: bits, numbers at their edges, pieces that are cut, doubled, moved, or taken from another input.

use rand::{Rng, RngExt};

/// Numbers at which lengths, counts and shifts go wrong.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Words of the formats that are read as text.
const WORDS: [&str; 24] = [
    "-1",
    "0",
    "1e308",
    "1e-308",
    "-inf",
    "nan",
    "NA",
    "null",
    "true",
    "[]",
    "{}",
    "[[]]",
    "\"",
    ",",
    ";",
    "\n",
    "\r\n",
    "\t",
    "18446744073709551615",
    "4294967295",
    "9007199254740993",
    "\u{feff}",
    "0.1",
    "(,)",
];

/// The longest input that is made.
const LONGEST: usize = 1 << 14;

/// This input changed in one to six ways; `other` lends pieces.
pub fn mutated(input: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=rng.random_range(0..6) {
        change(&mut bytes, other, rng);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
    if bytes.is_empty() {
        bytes.extend_from_slice(&other[..other.len().min(64)]);
        bytes.push(rng.random());
        return;
    }
    let at = rng.random_range(0..bytes.len());
    match rng.random_range(0..11) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes[at] = rng.random(),
        2 => {
            bytes[at] = bytes[at]
                .wrapping_add(rng.random_range(0..8))
                .wrapping_sub(4)
        }
        3 => edge(&mut bytes[at..], rng),
        4 => bytes.truncate(at),
        5 => {
            let piece = piece(bytes, 64, rng);
            insert(bytes, at, &piece);
        }
        6 => {
            let end = (at + rng.random_range(1..=32)).min(bytes.len());
            bytes.drain(at..end);
        }
        7 => {
            let piece = piece(other, 128, rng);
            insert(bytes, at, &piece);
        }
        8 => {
            let piece = piece(other, 128, rng);
            let end = (at + piece.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&piece[..end - at]);
        }
        9 => insert(
            bytes,
            at,
            WORDS[rng.random_range(0..WORDS.len())].as_bytes(),
        ),
        _ => replace_number(bytes, at, rng),
    }
}

/// Writes a number at its edge, in either order of bytes.
fn edge(bytes: &mut [u8], rng: &mut impl Rng) {
    let number = EDGES[rng.random_range(0..EDGES.len())];
    let width = [1, 2, 4, 8][rng.random_range(0..4)].min(bytes.len());
    let little = number.to_le_bytes();
    bytes[..width].copy_from_slice(&little[..width]);
    if rng.random_bool(0.3) {
        bytes[..width].reverse();
    }
}

/// A piece of at most so many bytes.
fn piece(bytes: &[u8], most: usize, rng: &mut impl Rng) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let from = rng.random_range(0..bytes.len());
    let to = (from + rng.random_range(1..=most)).min(bytes.len());
    bytes[from..to].to_vec()
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

/// Writes another number where digits are, or a word.
fn replace_number(bytes: &mut Vec<u8>, at: usize, rng: &mut impl Rng) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(digit).map(|start| at + start) else {
        return;
    };
    let end = bytes[start..]
        .iter()
        .position(|byte| !digit(byte))
        .map_or(bytes.len(), |length| start + length);
    let new = match rng.random_range(0..3) {
        0 => EDGES[rng.random_range(0..EDGES.len())].to_string(),
        1 => rng.random_range(0..20u32).to_string(),
        _ => WORDS[rng.random_range(0..WORDS.len())].to_owned(),
    };
    bytes.splice(start..end, new.into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::Seed;

    #[test]
    fn mutations_repeat_and_differ() {
        let of = |seed| mutated(b"a,b\n1,2\n", b"{\"x\": 1}", &mut Seed::new(seed).rng());
        assert!((0..50).all(|seed| of(seed) == of(seed)));
        assert!((0..50).filter(|seed| of(*seed) != b"a,b\n1,2\n").count() > 40);
    }
}
