//! Bytes as a source of choices: what a structured target makes its input from. An end of the bytes gives zeros.

/// Bytes that are used up from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// A number of at most eight bytes.
    pub(crate) fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let byte = usize::from(self.byte());
        let byte = if end > 256 {
            byte << 8 | usize::from(self.byte())
        } else {
            byte
        };
        byte % end
    }

    /// True for one of `of` bytes.
    pub(crate) fn one_in(&mut self, of: u8) -> bool {
        self.byte() % of == of - 1
    }

    /// One of these.
    pub(crate) fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Any floating-point number, more often one that people write.
    pub(crate) fn float(&mut self) -> f64 {
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
        match self.byte() % 4 {
            0 => self.choose(&EDGES),
            1 => f64::from_bits(self.number()),
            _ => f64::from(self.byte()) / 16.0,
        }
    }

    /// What is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}
