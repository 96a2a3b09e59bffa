//! The features of a text file while it is read: numbers, words that become columns, gaps that are filled.

use std::path::Path;

use partita_core::MemoryBudget;
use partita_core::ndarray::Array2;

use crate::coded::{self, Coded, MISSING};
use crate::error::{FileError, Row};
use crate::number::number;
use crate::table::{check_budget, no_number};

/// True for a field that is there and no number.
pub(crate) fn is_word(field: &[u8]) -> bool {
    !field.trim_ascii().is_empty() && number(field).is_none()
}

/// Features row by row: a number, NaN for a gap, 0 where the column holds words.
pub(crate) struct Features {
    numbers: Vec<f64>,
    /// The words of every column that holds some.
    words: Vec<Option<Coded>>,
    /// Whether gaps are filled instead of refused.
    fill: bool,
    /// Whether words become their numbers instead of columns.
    codes: bool,
}

impl Features {
    pub(crate) fn new(words: Vec<bool>, fill: bool, codes: bool) -> Self {
        let words = words.into_iter().map(|words| words.then(Coded::default)).collect();
        Self { numbers: Vec::new(), words, fill, codes }
    }

    /// Numbers held so far.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Takes the field of the feature with this place.
    pub(crate) fn push(
        &mut self,
        path: &Path,
        row: Row,
        name: &str,
        place: usize,
        field: &[u8],
    ) -> Result<(), FileError> {
        if let Some(words) = &mut self.words[place] {
            let word = coded::text(path, row, name, field)?;
            if word.trim().is_empty() && !self.fill {
                return Err(no_number(path, row, name, field, None));
            }
            words.push(word, row);
            self.numbers.push(0.0);
            return Ok(());
        }
        match number(field) {
            Some(value) if value.is_finite() => self.numbers.push(value),
            Some(value) if self.fill && value.is_nan() => self.numbers.push(f64::NAN),
            None if self.fill && !is_word(field) => self.numbers.push(f64::NAN),
            other => return Err(no_number(path, row, name, field, other)),
        }
        Ok(())
    }

    /// Names and numbers of the columns, gaps filled and words spread out.
    pub(crate) fn finish(
        mut self,
        path: &Path,
        names: &[&str],
        budget: MemoryBudget,
    ) -> Result<(Vec<String>, Array2<f64>), FileError> {
        let rows = self.numbers.len() / names.len();
        let numbers = std::mem::take(&mut self.numbers);
        let mut read = Array2::from_shape_vec((rows, names.len()), numbers).expect("every row has every feature");
        if self.codes {
            self.number(&mut read);
        }
        for (mut column, name) in read.columns_mut().into_iter().zip(names).filter(|_| self.fill) {
            let there = column.iter().filter(|value| !value.is_nan());
            let (count, sum) = there.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
            if count == 0.0 {
                let why = format!("column '{name}' has no value at all; leave it out");
                return Err(FileError::NoFeatures { path: path.into(), why });
            }
            column.mapv_inplace(|value| if value.is_nan() { sum / count } else { value });
        }
        if self.words.iter().all(Option::is_none) {
            return Ok((names.iter().map(|&name| name.to_owned()).collect(), read));
        }
        let widths: Vec<usize> =
            self.words.iter().map(|words| words.as_ref().map_or(1, |w| w.values().len())).collect();
        let width = widths.iter().sum();
        check_budget(path, budget, rows * width)?;
        let (mut columns, mut spread) = (Vec::with_capacity(width), Array2::zeros((rows, width)));
        for (place, words) in self.words.iter().enumerate() {
            let first = columns.len();
            let Some(words) = words else {
                spread.column_mut(first).assign(&read.column(place));
                columns.push(names[place].to_owned());
                continue;
            };
            columns.extend(words.values().iter().map(|word| format!("{}={word}", names[place])));
            let codes = words.codes().iter().enumerate().filter(|(_, code)| **code != MISSING);
            codes.for_each(|(row, &code)| spread[[row, first + code as usize]] = 1.0);
        }
        Ok((columns, spread))
    }

    /// Puts the place of every word among the sorted words of its column into the table.
    fn number(&mut self, read: &mut Array2<f64>) {
        for (words, mut column) in self.words.iter_mut().zip(read.columns_mut()) {
            let Some(words) = words.take() else { continue };
            let mut sorted: Vec<&String> = words.values().iter().collect();
            sorted.sort_unstable();
            let place = |word: &String| sorted.partition_point(|other| *other < word) as f64;
            let places: Vec<f64> = words.values().iter().map(place).collect();
            let number = |&code: &u32| places.get(code as usize).copied().unwrap_or(f64::NAN);
            column.iter_mut().zip(words.codes()).for_each(|(to, code)| *to = number(code));
        }
    }
}
