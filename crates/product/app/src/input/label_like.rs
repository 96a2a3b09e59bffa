//! Tables whose columns may be labels: clustering them takes their numbers as amounts, which labels are not.

use partita::ndarray::ArrayView2;

use crate::input::file_kind::{are_few, counts_through};

/// Labels from here on are not looked for.
const MOST: u32 = 100;

/// The warning about a table in which every column may be the labels of a base clustering, where it is such: whole numbers as
/// [`FileKind::Either`](crate::FileKind::Either) has them, more than two in some column (zeros and ones are answers to questions).
///
/// # Cost
/// O(n d), or up to the first number that is no label.
pub(crate) fn label_like_columns(values: ArrayView2<'_, f64>) -> Option<String> {
    let (objects, features) = values.dim();
    let mut seen = vec![0u128; features];
    for row in values.outer_iter() {
        for (seen, &value) in seen.iter_mut().zip(row) {
            if value.fract() != 0.0 || !(0.0..f64::from(MOST)).contains(&value) {
                return None;
            }
            *seen |= 1 << value as u32;
        }
    }
    let found = |&seen: &u128| {
        (0..u64::from(MOST))
            .filter(|value| seen >> value & 1 == 1)
            .collect::<Vec<u64>>()
    };
    let columns: Vec<Vec<u64>> = seen.iter().map(found).collect();
    let may_be_labels =
        |values: &Vec<u64>| are_few(values.len(), objects) && counts_through(values);
    let labels = columns.iter().all(may_be_labels) && columns.iter().any(|values| values.len() > 2);
    labels.then(|| {
        "every column holds whole numbers from 0 or 1 without gaps, which are taken as amounts; if they are labels of clusterings \
         give the file to `partita consensus`"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::ndarray::array;

    #[test]
    fn labels_are_told_from_amounts_and_from_answers() {
        let warned = |values: ArrayView2<'_, f64>| label_like_columns(values).is_some();
        let labels = array![
            [0.0, 1.0],
            [1.0, 2.0],
            [2.0, 1.0],
            [0.0, 2.0],
            [1.0, 1.0],
            [2.0, 2.0]
        ];
        assert!(warned(labels.view()));
        assert!(!warned((&labels + 1.0).view()), "from 1 and from 2");
        assert!(!warned((&labels * 0.5).view()), "fractions");
        assert!(!warned((&labels * 2.0).view()), "gaps");
        assert!(!warned((-&labels).view()), "below 0");
        assert!(!warned((&labels * 1e300).view()), "large numbers");
        assert!(
            !warned(labels.mapv(|value| value.min(1.0)).view()),
            "zeros and ones"
        );
        assert!(!warned(array![[0.0], [1.0], [2.0], [3.0]].view()), "names");
        assert!(
            !warned(array![[f64::NAN], [1.0], [2.0], [0.0], [1.0], [2.0]].view()),
            "a gap"
        );
    }
}
