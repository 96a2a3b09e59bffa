//! Label encoding: codes in the width that they need, and what the codes of every column stand for.

use std::collections::HashMap;

use partita_core::Label;

use crate::dictionary::Dictionary;
use crate::label_number::{LabelNumber, MISSING};
use crate::typed_array::{Number, TypedArray, each_number};

/// Codes of labels in the width that they need; the largest code of each is missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Codes {
    /// Labels below 255 are their own codes.
    Bytes(Vec<u8>),
    /// Labels below 65,535 are their own codes.
    Words(Vec<u16>),
    /// Codes are places in the lists of labels.
    Places(Vec<u32>),
}

/// What the codes of a column stand for.
#[derive(Clone, Debug)]
pub(crate) enum Labels {
    /// Numbers, by their codes for [`Codes::Places`], otherwise in order.
    Numbers {
        labels: Vec<u64>,
        /// The first row with a number that is not a label; such numbers are encoded as missing.
        not_a_label: Option<usize>,
    },
    /// Texts by their codes.
    Texts(Dictionary),
}

impl Labels {
    /// Different labels, or more than there can be where a number is none.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Numbers {
                labels,
                not_a_label,
            } => not_a_label.map_or(labels.len(), |_| usize::MAX),
            Self::Texts(words) => words.values().len(),
        }
    }

    /// The first row that holds something else than the number of a cluster.
    pub(crate) fn first_wrong(&self) -> Option<usize> {
        match self {
            Self::Numbers { not_a_label, .. } => *not_a_label,
            Self::Texts(words) => words.first_word().map(|(_, row)| row.number() as usize - 1),
        }
    }
}

/// One or more columns of labels as codes.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) by_column: bool,
    pub(crate) codes: Codes,
    /// What the codes of every column stand for.
    pub(crate) labels: Vec<Labels>,
}

impl Encoded {
    /// One column of codes of a byte.
    pub(crate) fn of_bytes(codes: Vec<u8>) -> Self {
        let labels = used(&codes, 1, true);
        Self::by_column(codes.len(), Codes::Bytes(codes), labels)
    }

    fn by_column(rows: usize, codes: Codes, labels: Vec<Labels>) -> Self {
        Self {
            rows,
            columns: labels.len(),
            by_column: true,
            codes,
            labels,
        }
    }

    pub(crate) fn of_texts(columns: Vec<Dictionary>) -> Self {
        let mut codes = Vec::new();
        let mut labels = Vec::with_capacity(columns.len());
        for mut column in columns {
            codes.append(&mut column.take_codes());
            labels.push(Labels::Texts(column));
        }
        Self::by_column(
            codes.len() / labels.len().max(1),
            Codes::Places(codes),
            labels,
        )
    }

    pub(crate) fn of_array(array: &TypedArray) -> Self {
        let present = array.present.as_deref();
        let (codes, labels) = each_number!(&array.values, numbers => {
            if let Some(codes) = narrow::<_, u8>(numbers, present) {
                let labels = used(&codes, array.columns, array.by_column);
                (Codes::Bytes(codes), labels)
            } else if let Some(codes) = narrow::<_, u16>(numbers, present) {
                let labels = used(&codes, array.columns, array.by_column);
                (Codes::Words(codes), labels)
            } else {
                places(array)
            }
        }, text => {
            let columns = (0..array.columns).map(|column| Dictionary::of_texts(array.texts(column)));
            return Self::of_texts(columns.collect());
        });
        Self {
            rows: array.rows,
            columns: array.columns,
            by_column: array.by_column,
            codes,
            labels,
        }
    }

    /// The labels without their codes, whose memory is given back.
    pub(crate) fn without_codes(self) -> Self {
        Self {
            codes: Codes::Places(Vec::new()),
            ..self
        }
    }
}

/// Labels that are their own codes, if all of them are small enough.
pub(crate) fn narrow<T: Number, L: Label>(
    numbers: &[T],
    present: Option<&[bool]>,
) -> Option<Vec<L>> {
    const STEP: usize = 1 << 12;
    let last = L::MISSING.index() as i64;
    let mut codes = Vec::with_capacity(numbers.len());
    for (step, numbers) in numbers.chunks(STEP).enumerate() {
        let mut fits = true;
        codes.extend(numbers.iter().map(|number| {
            let label = number.as_label();
            fits &= (-1..last).contains(&label);
            // −1 becomes the largest code, which is that of a missing label.
            L::of(label as usize)
        }));
        if let Some(present) = present {
            let present = &present[step * STEP..][..numbers.len()];
            let codes = codes[step * STEP..].iter_mut();
            codes
                .zip(present)
                .filter(|(_, present)| !**present)
                .for_each(|(code, _)| *code = L::MISSING);
        }
        if !fits {
            return None;
        }
    }
    Some(codes)
}

/// The labels of every column in order, where labels are their own codes.
fn used<L: Label>(codes: &[L], columns: usize, by_column: bool) -> Vec<Labels> {
    let all = L::MISSING.index() + 1;
    let mut seen = vec![false; all * columns];
    if by_column {
        let rows = (codes.len() / columns).max(1);
        for (column, seen) in codes.chunks(rows).zip(seen.chunks_mut(all)) {
            column.iter().for_each(|code| seen[code.index()] = true);
        }
    } else {
        for row in codes.chunks(columns) {
            for (code, seen) in row.iter().zip(seen.chunks_mut(all)) {
                seen[code.index()] = true;
            }
        }
    }
    let labels = seen.chunks(all).map(|seen| Labels::Numbers {
        labels: (0..all as u64 - 1)
            .filter(|&label| seen[label as usize])
            .collect(),
        not_a_label: None,
    });
    labels.collect()
}

/// Labels of any size by their places in lists.
fn places(array: &TypedArray) -> (Codes, Vec<Labels>) {
    let mut codes = vec![MISSING; array.rows * array.columns];
    let mut all = Vec::with_capacity(array.columns);
    for column in 0..array.columns {
        let (start, step) = array.stride(column);
        let mut labels = Vec::new();
        let mut known = HashMap::new();
        let mut not_a_label = None;
        for row in 0..array.rows {
            let number = array.scalar(row, column);
            match number.map_or(LabelNumber::Missing, LabelNumber::of) {
                LabelNumber::Missing => {}
                LabelNumber::NotALabel => _ = not_a_label.get_or_insert(row),
                LabelNumber::Label(label) => {
                    codes[start + row * step] = *known.entry(label).or_insert_with(|| {
                        labels.push(label);
                        labels.len() as u32 - 1
                    });
                }
            }
        }
        all.push(Labels::Numbers {
            labels,
            not_a_label,
        });
    }
    (Codes::Places(codes), all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed_array::Values;

    /// The width of the codes, and the label of every value of one column.
    fn told(encoded: &Encoded) -> (u32, Vec<Option<u64>>) {
        let Labels::Numbers { labels, .. } = &encoded.labels[0] else {
            panic!("texts")
        };
        let own = |code: u64, most: u64| (code < most).then_some(code);
        match &encoded.codes {
            Codes::Bytes(codes) => (1, codes.iter().map(|&code| own(code.into(), 255)).collect()),
            Codes::Words(codes) => (
                2,
                codes.iter().map(|&code| own(code.into(), 65_535)).collect(),
            ),
            Codes::Places(codes) => (
                4,
                codes
                    .iter()
                    .map(|&code| labels.get(code as usize).copied())
                    .collect(),
            ),
        }
    }

    #[test]
    fn numbers_of_any_type_and_size_are_encoded() {
        let some = Some(vec![true, false, true]);
        for (values, present, width, expected, wrong) in [
            (
                Values::I64(vec![7, -1, 254, 0]),
                None,
                1,
                vec![Some(7), None, Some(254), Some(0)],
                None,
            ),
            (
                Values::F32(vec![65_534.0, f32::NAN, 255.0]),
                None,
                2,
                vec![Some(65_534), None, Some(255)],
                None,
            ),
            (
                Values::U64(vec![u64::MAX, 0, 65_535]),
                None,
                4,
                vec![Some(u64::MAX), Some(0), Some(65_535)],
                None,
            ),
            (
                Values::F64(vec![1.0, 0.5, -2.0, 1e18]),
                None,
                4,
                vec![Some(1), None, None, None],
                Some(1),
            ),
            (
                Values::I32(vec![1, 0, 2]),
                some,
                1,
                vec![Some(1), None, Some(2)],
                None,
            ),
        ] {
            let column = TypedArray::column(values, expected.len(), present);
            let encoded = Encoded::of_array(&column);
            assert_eq!(told(&encoded), (width, expected));
            assert_eq!(encoded.labels[0].first_wrong(), wrong);
        }
        let width = 1;
        let data = vec![97];
        let text = TypedArray::column(Values::Chars { width, data }, 1, None);
        let encoded = Encoded::of_array(&text);
        assert!(matches!(&encoded.labels[0], Labels::Texts(words) if words.values() == ["a"]));
        assert_eq!(encoded.codes, Codes::Places(vec![0]));
    }

    #[test]
    fn columns_of_a_matrix_have_labels_of_their_own() {
        for (by_column, expected) in [
            (false, [vec![0, 1], vec![300]]),
            (true, [vec![0, 1, 300], vec![0, 300]]),
        ] {
            let array = TypedArray {
                values: Values::I16(vec![0, 300, 1, -1, 0, 300]),
                rows: 3,
                columns: 2,
                by_column,
                present: None,
            };
            for (found, expected) in Encoded::of_array(&array).labels.iter().zip(expected) {
                assert!(matches!(found, Labels::Numbers { labels, .. } if *labels == expected));
            }
        }
    }
}
