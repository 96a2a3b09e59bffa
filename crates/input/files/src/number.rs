//! Numbers out of text and into it.

use std::fmt;

/// The number a field holds. Short decimals take the exact fast path: both their digits and their power of ten are
/// exact doubles, so one division rounds correctly.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut whole, mut decimals, mut point) = (0u64, 0, false);
    if digits.is_empty() || digits == b"." || digits.len() > 16 {
        return slow_number(field);
    }
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                whole = whole * 10 + u64::from(byte - b'0');
                decimals += usize::from(point);
            }
            b'.' if !point => point = true,
            _ => return slow_number(field),
        }
    }
    if whole >= 1 << 53 || decimals >= POWERS.len() {
        return slow_number(field);
    }
    let value = whole as f64 / POWERS[decimals];
    Some(if negative { -value } else { value })
}

fn slow_number(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    text.parse().ok().or_else(|| by_fortran(text))
}

/// A number with the exponent of doubles in Fortran, such as 1.5D+03.
fn by_fortran(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['D', 'd'])?;
    let is_one = mantissa.contains('.') && exponent.starts_with(['+', '-']);
    is_one.then(|| format!("{mantissa}e{exponent}").parse().ok())?
}

/// A number as the shortest text that reads back to the same bits, with an exponent where that saves zeros.
pub(crate) struct Short(pub(crate) f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = self;
        // Shares are 0 or 1 more often than not.
        match value.abs() {
            _ if value.to_bits() == 0 => f.write_str("0"),
            1.0 if *value > 0.0 => f.write_str("1"),
            0.0 | 1e-5..1e16 => write!(f, "{value}"),
            _ => write!(f, "{value:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use rand::RngExt;

    #[test]
    fn the_fast_path_rounds_as_the_standard_library() {
        let mut rng = Seed::new(1).rng();
        for _ in 0..20_000 {
            let value: f64 = rng.random_range(-1e6..1e6);
            let text = format!("{value:.*}", rng.random_range(0..17));
            let expected: f64 = text.parse().unwrap();
            assert_eq!(
                number(text.as_bytes()).unwrap().to_bits(),
                expected.to_bits(),
                "{text}"
            );
        }
        for text in [
            "-0",
            "1.",
            "+1",
            " 2 ",
            "1e3",
            "9007199254740993",
            "0.000000000000001",
            "123456789012345678",
        ] {
            let expected: f64 = text.trim().parse().unwrap();
            assert_eq!(
                number(text.as_bytes()).map(f64::to_bits),
                Some(expected.to_bits()),
                "{text}"
            );
        }
        assert_eq!(number(b"-1.5D+03"), Some(-1500.0));
        for text in ["", ".", "-", "1.2.3", "1,5", "0x1", "--1", "1D5", "1.5D5"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn short_texts_read_back() {
        let cases = [
            (0.1, "0.1"),
            (1e-300, "1e-300"),
            (12.0, "12"),
            (1.5e20, "1.5e20"),
        ];
        for (value, text) in
            cases
                .into_iter()
                .chain([(0.0, "0"), (-0.0, "-0"), (1.0, "1"), (-1.0, "-1")])
        {
            assert_eq!(Short(value).to_string(), text);
        }
        let mut rng = Seed::new(2).rng();
        for value in std::iter::repeat_with(|| f64::from_bits(rng.random()))
            .take(5000)
            .filter(|x| !x.is_nan())
        {
            let text = Short(value).to_string();
            assert!(text.len() <= 24, "{text}");
            assert_eq!(
                number(text.as_bytes()).map(f64::to_bits),
                Some(value.to_bits()),
                "{text}"
            );
        }
    }
}
