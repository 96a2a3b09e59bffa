//! Which column of the consensus every base cluster goes to.

use partita_core::ndarray::{Array2, ArrayView2, s};
use partita_metrics::matching;

/// Sweeps over the clusters of a base clustering, at most.
const SWEEPS: usize = 20;

/// The matching of the clusters of one base clustering to `wide` columns, one by one, that has the largest sum of `products` (J × K;
/// columns beyond K count 0).
pub(super) fn one_to_one(products: ArrayView2<'_, f64>, wide: usize) -> Vec<u32> {
    let mut table = Array2::zeros((products.nrows(), wide));
    table
        .slice_mut(s![.., ..products.ncols()])
        .assign(&products);
    let columns = matching(table.view()).expect("products are finite").columns;
    columns
        .into_iter()
        .map(|column| column.expect("as many columns as clusters") as u32)
        .collect()
}

/// Every cluster of one base clustering to the column where it costs least while the others stay, from `codes` on:
/// ‖Y − QΠ‖² is −2 Σ products + Σ over clusters that share a column of their `co_shares`, so it falls in every step.
pub(super) fn merged(
    products: ArrayView2<'_, f64>,
    co_shares: ArrayView2<'_, f64>,
    codes: &mut [u32],
) {
    for _ in 0..SWEEPS {
        let mut moved = false;
        for c in 0..codes.len() {
            let cost = |column: usize| {
                let with = (0..codes.len()).filter(|&d| d != c && codes[d] as usize == column);
                with.map(|d| co_shares[[c, d]]).sum::<f64>() - products[[c, column]]
            };
            let own = codes[c] as usize;
            let best =
                (0..products.ncols()).fold(
                    own,
                    |best, at| if cost(at) < cost(best) { at } else { best },
                );
            moved |= best != own;
            codes[c] = best as u32;
        }
        if !moved {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    #[test]
    fn clusters_beyond_the_columns_are_left_over_or_merged() {
        let products = array![[5.0, 1.0], [4.0, 0.0], [0.0, 3.0]];
        assert_eq!(one_to_one(products.view(), 3), [0, 2, 1]);
        let mut codes = vec![1, 1, 0];
        merged(products.view(), Array2::zeros((3, 3)).view(), &mut codes);
        assert_eq!(codes, [0, 0, 1]);
    }
}
