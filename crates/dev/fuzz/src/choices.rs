//! Choices that bytes make, from the front; an end of the bytes gives zeros.

use arbitrary::Unstructured;

/// Numbers at which arithmetic goes wrong, beside those that people write.
const EDGES: [f64; 14] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    1e-300,
    1e300,
    f64::MAX,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e-9,
    4_294_967_296.0,
];

/// The next byte.
pub(crate) fn byte(from: &mut Unstructured<'_>) -> u8 {
    from.arbitrary().unwrap_or(0)
}

/// A number of at most eight bytes.
pub(crate) fn number(from: &mut Unstructured<'_>) -> u64 {
    from.int_in_range(0..=u64::MAX).unwrap_or(0)
}

/// A number below `end`, which is not 0.
pub(crate) fn below(from: &mut Unstructured<'_>, end: usize) -> usize {
    from.int_in_range(0..=end - 1).unwrap_or(0)
}

/// True for one of `of` bytes.
pub(crate) fn one_in(from: &mut Unstructured<'_>, of: u8) -> bool {
    byte(from) % of == of - 1
}

/// One of these.
pub(crate) fn choose<T: Copy>(from: &mut Unstructured<'_>, all: &[T]) -> T {
    all[below(from, all.len())]
}

/// Any floating-point number, more often one that people write.
pub(crate) fn float(from: &mut Unstructured<'_>) -> f64 {
    match byte(from) % 4 {
        0 => choose(from, &EDGES),
        1 => f64::from_bits(number(from)),
        _ => f64::from(byte(from)) / 16.0,
    }
}
