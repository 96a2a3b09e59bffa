//! Sums of products that are rounded once: fused multiply-add, by an instruction or by numbers of twice the width.

/// Whether every processor of the target has the instruction.
pub(crate) const FUSED: bool = cfg!(target_arch = "aarch64");

/// Twice what sums of d products less a half, of a row with a centre, lie apart at most if products are rounded and if they are fused: scores that
/// differ by more have the same order. The row has this squared length, and centres half of theirs at most.
#[inline(always)]
pub(crate) fn doubt(d: usize, row: f32, half: f32) -> f32 {
    const UNIT: f32 = f32::EPSILON / 2.0;
    2.0 * (3 * d + 5) as f32 * UNIT * ((row * 2.0 * half).sqrt() + half)
}

/// The largest number, without NaN.
pub(crate) fn largest(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.fold(0.0, |a, b| if b > a { b } else { a })
}

/// Adds the product of each x and c to its sum.
#[inline(always)]
pub(crate) fn add_products<const FUSES: bool, const N: usize>(
    sums: &mut [f32; N],
    xs: &[f32],
    c: f32,
) {
    // There are vectors of doubles everywhere.
    if FUSES && !FUSED {
        return by_width(sums, xs, c);
    }
    for (s, &x) in sums.iter_mut().zip(xs) {
        *s = if FUSES { x.mul_add(c, *s) } else { x * c + *s };
    }
}

/// Bits of a double that a single lacks, and those of them of a number in the middle between two singles.
const BELOW: u64 = (1 << 29) - 1;
const MIDDLE: u64 = 1 << 28;

/// The same by doubles, in which products of singles are exact. Their sum is rounded twice, which only tells in the middle between two
/// singles; that is rare, and done anew.
#[inline(always)]
fn by_width<const N: usize>(sums: &mut [f32; N], xs: &[f32], c: f32) {
    let before = *sums;
    let mut middle = false;
    for (s, &x) in sums.iter_mut().zip(xs) {
        let sum = f64::from(x) * f64::from(c) + f64::from(*s);
        middle |= sum.to_bits() & BELOW == MIDDLE;
        *s = sum as f32;
    }
    if middle {
        for ((s, before), &x) in sums.iter_mut().zip(before).zip(xs) {
            *s = x.mul_add(c, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_give_the_bits_of_the_instruction() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 40) as f32 / 4096.0 - 2048.0
        };
        let (mut middles, one) = (0, 1.0f32);
        for turn in 0..4000 {
            let c = next();
            // Every other turn products end in the middle between two singles, with or without a little more.
            let (xs, before): ([f32; 8], [f32; 8]) = if turn % 2 == 0 {
                (
                    std::array::from_fn(|_| next()),
                    std::array::from_fn(|_| next()),
                )
            } else {
                middles += 1;
                let little = [0.0, 1e-20, -1e-20, 1e-9][turn / 2 % 4];
                ([one + f32::EPSILON; 8], [little; 8])
            };
            let c = if turn % 2 == 0 { c } else { 1.5 };
            let mut own = before;
            by_width(&mut own, &xs, c);
            let theirs: [f32; 8] = std::array::from_fn(|at| xs[at].mul_add(c, before[at]));
            assert_eq!(own.map(f32::to_bits), theirs.map(f32::to_bits));
        }
        assert_eq!(middles, 2000);
    }
}
