//! Label encoding of numbers: codes in the width that they need, and the labels of every column.

use std::collections::HashMap;
use std::path::Path;

use partita_core::{EnsembleError, Label, MAX_BASE_CLUSTERS};

use crate::error::FileError;
use crate::typed_array::{Number, Scalar, TypedArray, each_number};

/// The code of a missing value where codes are places in lists.
pub(crate) const MISSING: u32 = u32::MAX;

/// What a number says where labels are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelNumber {
    Missing,
    Label(u64),
    NotALabel,
}

impl LabelNumber {
    /// What a text says, if it is a number.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        match text.parse::<i128>() {
            Ok(whole) => Some(Self::of(Scalar::Integer(whole))),
            Err(_) => text
                .parse::<f64>()
                .ok()
                .map(|value| Self::of(Scalar::Float(value))),
        }
    }

    /// A whole number is a label, or −1 for missing; a floating-point number too where it is whole, and NaN is missing.
    pub(crate) fn of(number: Scalar) -> Self {
        match number {
            Scalar::Integer(-1) => Self::Missing,
            Scalar::Integer(whole) => u64::try_from(whole).map_or(Self::NotALabel, Self::Label),
            Scalar::Float(value) if value.is_nan() => Self::Missing,
            Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 1e18 => {
                Self::of(Scalar::Integer(value as i128))
            }
            Scalar::Float(_) => Self::NotALabel,
        }
    }

    pub(crate) fn label(&self) -> Option<u64> {
        if let Self::Label(label) = self {
            Some(*label)
        } else {
            None
        }
    }
}

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

/// An array of numbers as labels, in the same order.
#[derive(Clone, Debug)]
pub(crate) struct EncodedArray {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) by_column: bool,
    pub(crate) codes: Codes,
    /// The labels of every column; for [`Codes::Places`] by their codes, otherwise in order.
    pub(crate) labels: Vec<Vec<u64>>,
    /// The first row of every column with a number that is not a label; such numbers are encoded as missing.
    pub(crate) not_a_label: Vec<Option<usize>>,
}

impl EncodedArray {
    /// One column of codes.
    fn column(codes: Codes, rows: usize, labels: Vec<u64>) -> Self {
        Self {
            rows,
            columns: 1,
            by_column: true,
            codes,
            labels: vec![labels],
            not_a_label: vec![None],
        }
    }

    /// One column of codes of a byte.
    pub(crate) fn of_bytes(codes: Vec<u8>) -> Self {
        let mut column = Self::column(Codes::Bytes(Vec::new()), codes.len(), Vec::new());
        column.labels = column.used(&codes);
        column.codes = Codes::Bytes(codes);
        column
    }

    /// One column of clusters, of which there are so many.
    pub(crate) fn of_clusters(codes: Vec<u32>, clusters: usize) -> Self {
        let rows = codes.len();
        Self::column(Codes::Places(codes), rows, (0..clusters as u64).collect())
    }
}

/// Labels out of an array of numbers; none for an array of texts.
pub(crate) fn encode(array: &TypedArray) -> Option<EncodedArray> {
    let present = array.present.as_deref();
    let mut encoded = EncodedArray {
        rows: array.rows,
        columns: array.columns,
        by_column: array.by_column,
        codes: Codes::Places(Vec::new()),
        labels: Vec::new(),
        not_a_label: vec![None; array.columns],
    };
    each_number!(&array.values, numbers => {
        if let Some(codes) = narrow::<_, u8>(numbers, present) {
            encoded.labels = encoded.used(&codes);
            encoded.codes = Codes::Bytes(codes);
        } else if let Some(codes) = narrow::<_, u16>(numbers, present) {
            encoded.labels = encoded.used(&codes);
            encoded.codes = Codes::Words(codes);
        } else {
            encoded.find_places(array);
        }
    }, text => return None);
    Some(encoded)
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

impl EncodedArray {
    /// The labels of every column in order, where labels are their own codes.
    fn used<L: Label>(&self, codes: &[L]) -> Vec<Vec<u64>> {
        let all = L::MISSING.index() + 1;
        let mut seen = vec![false; all * self.columns];
        if self.by_column {
            for (column, seen) in codes.chunks(self.rows.max(1)).zip(seen.chunks_mut(all)) {
                column.iter().for_each(|code| seen[code.index()] = true);
            }
        } else {
            for row in codes.chunks(self.columns) {
                row.iter()
                    .zip(seen.chunks_mut(all))
                    .for_each(|(code, seen)| seen[code.index()] = true);
            }
        }
        let labels = |seen: &[bool]| {
            let labels = 0..all as u64 - 1;
            labels.filter(|&label| seen[label as usize]).collect()
        };
        seen.chunks(all).map(labels).collect()
    }

    /// Takes labels of any size by their places in lists.
    fn find_places(&mut self, array: &TypedArray) {
        let mut codes = vec![MISSING; array.rows * array.columns];
        for column in 0..array.columns {
            let (start, step) = array.stride(column);
            let mut own = Vec::new();
            let mut known = HashMap::new();
            for row in 0..array.rows {
                let number = array.scalar(row, column);
                match number.map_or(LabelNumber::Missing, LabelNumber::of) {
                    LabelNumber::Missing => {}
                    LabelNumber::NotALabel => _ = self.not_a_label[column].get_or_insert(row),
                    LabelNumber::Label(label) => {
                        codes[start + row * step] = *known.entry(label).or_insert_with(|| {
                            own.push(label);
                            own.len() as u32 - 1
                        });
                    }
                }
            }
            self.labels.push(own);
        }
        self.codes = Codes::Places(codes);
    }
}

/// Refuses more clusters than can be held.
pub(crate) fn check_clusters(path: &Path, name: &str, clusters: usize) -> Result<(), FileError> {
    if clusters <= MAX_BASE_CLUSTERS {
        return Ok(());
    }
    Err(FileError::ensemble(path)(EnsembleError::TooManyClusters {
        name: name.into(),
        clusters,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed_array::Values;

    /// The width of the codes, and the label of every value of one column.
    fn told(encoded: &EncodedArray) -> (u32, Vec<Option<u64>>) {
        let own = |code: u64, most: u64| (code < most).then_some(code);
        match &encoded.codes {
            Codes::Bytes(codes) => (1, codes.iter().map(|&code| own(code.into(), 255)).collect()),
            Codes::Words(codes) => (
                2,
                codes.iter().map(|&code| own(code.into(), 65_535)).collect(),
            ),
            Codes::Places(codes) => {
                let labels = &encoded.labels[0];
                (
                    4,
                    codes
                        .iter()
                        .map(|&code| labels.get(code as usize).copied())
                        .collect(),
                )
            }
        }
    }

    #[test]
    fn numbers_of_any_type_and_size_are_encoded() {
        let bad = Values::F64(vec![1.0, 0.5, -2.0, 1e18]);
        let (all, some) = (None, Some(vec![true, false, true]));
        for (values, present, width, expected, not_a_label) in [
            (
                Values::I64(vec![7, -1, 254, 0]),
                &all,
                1,
                vec![Some(7), None, Some(254), Some(0)],
                None,
            ),
            (
                Values::F32(vec![65_534.0, f32::NAN, 255.0]),
                &all,
                2,
                vec![Some(65_534), None, Some(255)],
                None,
            ),
            (
                Values::U64(vec![u64::MAX, 0, 65_535]),
                &all,
                4,
                vec![Some(u64::MAX), Some(0), Some(65_535)],
                None,
            ),
            (bad, &all, 4, vec![Some(1), None, None, None], Some(1)),
            (
                Values::I32(vec![1, 0, 2]),
                &some,
                1,
                vec![Some(1), None, Some(2)],
                None,
            ),
        ] {
            let column = TypedArray::column(values, expected.len(), present.clone());
            let encoded = encode(&column).unwrap();
            assert_eq!(told(&encoded), (width, expected));
            assert_eq!(encoded.not_a_label, [not_a_label]);
        }
        let (width, data) = (1, vec![97]);
        let text = TypedArray::column(Values::Chars { width, data }, 1, None);
        assert!(encode(&text).is_none());
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
            assert_eq!(encode(&array).unwrap().labels, expected);
        }
    }
}
