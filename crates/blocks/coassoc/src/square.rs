//! Full symmetric matrix from a packed triangle.

/// Side of a tile of the mirror.
const TILE: usize = 64;

/// Both halves of a packed upper triangle, object by object, `stride` values each; the diagonal and the padding hold the
/// default. The mirror is written in square tiles so that both sides stay in the cache.
///
/// # Panics
/// If `stride` is below `objects`, or the triangle is not that of so many objects.
pub fn square<T: Copy + Default>(triangle: &[T], objects: usize, stride: usize) -> Vec<T> {
    assert!(stride >= objects, "a row holds all objects");
    let mut full = vec![T::default(); objects * stride];
    let mut rest = triangle;
    for i in 0..objects {
        let (row, below) = rest.split_at(objects - i - 1);
        full[i * stride + i + 1..i * stride + objects].copy_from_slice(row);
        rest = below;
    }
    for top in (0..objects).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(objects) {
                for j in left..(left + TILE).min(i) {
                    full[i * stride + j] = full[j * stride + i];
                }
            }
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::square;

    #[test]
    fn both_halves_hold_the_pair() {
        for objects in [1, 2, 63, 64, 65, 130] {
            let stride = objects + 3;
            let triangle: Vec<u32> = (1..).take(objects * (objects - 1) / 2).collect();
            let full = square(&triangle, objects, stride);
            let mut pairs = triangle.iter();
            for i in 0..objects {
                assert_eq!(full[i * stride + i], 0, "diagonal");
                assert_eq!(
                    full[i * stride + objects..(i + 1) * stride],
                    [0; 3],
                    "padding"
                );
                for j in i + 1..objects {
                    let pair = pairs.next().expect("one a pair");
                    assert_eq!(
                        (full[i * stride + j], full[j * stride + i]),
                        (*pair, *pair),
                        "{i}, {j}"
                    );
                }
            }
        }
    }
}
