//! Some of the rows of a table, by their labels.

use partita_core::Seed;
use partita_core::ndarray::Axis;
use rand::seq::index;

use crate::meaning::label_column::LabelColumn;
use crate::meaning::table::Table;

/// Why rows cannot be picked by their labels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickError {
    /// The table has no labels.
    #[error("rows are picked by their labels, and no column of labels is named")]
    NoLabels,
    /// No row has this label.
    #[error("no row has the label '{wanted}'; there are {known}")]
    Unknown {
        /// The label asked for.
        wanted: String,
        /// Labels that there are, the first twenty.
        known: String,
    },
}

impl Table {
    /// The rows whose label is one of `only` (all if none is named), at most `most` of each label, drawn with `seed`. Rows keep
    /// their order; columns that are constant in what is left say nothing any more and go.
    ///
    /// # Errors
    /// [`PickError`] if there are no labels, or none like one of `only`.
    ///
    /// # Cost
    /// O(n d) time, one copy of what is left.
    pub fn of_labels(
        self,
        only: &[String],
        most: Option<usize>,
        seed: Seed,
    ) -> Result<Self, PickError> {
        let label = self.label.as_ref().ok_or(PickError::NoLabels)?;
        let kept = rows(label, only, most, seed)?;
        let values = self.values.select(Axis(0), &kept);
        let varied = |&column: &usize| {
            values
                .column(column)
                .iter()
                .any(|value| *value != values[[0, column]])
        };
        let varying: Vec<usize> = (0..values.ncols()).filter(varied).collect();
        let texts = |all: &[Option<String>]| kept.iter().map(|&row| all[row].clone()).collect();
        Ok(Self {
            columns: varying
                .iter()
                .map(|&column| self.columns[column].clone())
                .collect(),
            values: values.select(Axis(1), &varying),
            object_names: self
                .object_names
                .map(|names| kept.iter().map(|&row| names[row].clone()).collect()),
            label: Some(LabelColumn {
                name: label.name.clone(),
                values: texts(&label.values),
            }),
        })
    }
}

/// Rows to keep, rising.
fn rows(
    label: &LabelColumn,
    only: &[String],
    most: Option<usize>,
    seed: Seed,
) -> Result<Vec<usize>, PickError> {
    let mut known: Vec<&String> = label.values.iter().flatten().collect();
    known.sort_unstable();
    known.dedup();
    if let Some(wanted) = only
        .iter()
        .find(|wanted| known.binary_search(wanted).is_err())
    {
        let known: Vec<&str> = known.iter().take(20).map(|label| label.as_str()).collect();
        return Err(PickError::Unknown {
            wanted: wanted.clone(),
            known: known.join(", "),
        });
    }
    let mut kept = Vec::new();
    let taken = known
        .iter()
        .enumerate()
        .filter(|(_, label)| only.is_empty() || only.contains(label));
    for (unit, wanted) in taken {
        let rows: Vec<usize> = (0..label.values.len())
            .filter(|&row| label.values[row].as_ref() == Some(wanted))
            .collect();
        match most.filter(|most| *most < rows.len()) {
            Some(most) => {
                let drawn = index::sample(&mut seed.child(unit as u64).rng(), rows.len(), most);
                kept.extend(drawn.into_iter().map(|place| rows[place]));
            }
            None => kept.extend(rows),
        }
    }
    kept.sort_unstable();
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::Array2;

    use super::*;

    fn table() -> Table {
        let values = Array2::from_shape_fn((30, 3), |(row, column)| {
            [row as f64, 1.0, (row % 3) as f64][column]
        });
        let label = (0..30)
            .map(|row| ["a", "b", "c"].get(row % 4).map(ToString::to_string))
            .collect();
        Table {
            columns: ["x", "same", "class"].map(String::from).to_vec(),
            values,
            object_names: Some((0..30).map(|row| format!("row {row}")).collect()),
            label: Some(LabelColumn {
                name: "kind".into(),
                values: label,
            }),
        }
    }

    #[test]
    fn rows_of_some_labels_at_most_so_many_of_each() {
        let only = ["c".to_owned(), "a".to_owned()];
        let picked = table().of_labels(&only, Some(5), Seed::new(1)).unwrap();
        assert_eq!(picked.columns, ["x", "class"]);
        let labels = picked.label.clone().unwrap().values;
        let count = |wanted: &str| {
            labels
                .iter()
                .flatten()
                .filter(|label| *label == wanted)
                .count()
        };
        assert_eq!((labels.len(), count("a"), count("c")), (10, 5, 5));
        let names = picked.object_names.clone().unwrap();
        for (row, name) in names.iter().enumerate() {
            assert_eq!(
                *name,
                format!("row {}", picked.values[[row, 0]]),
                "names go with their rows"
            );
        }
        assert!(
            picked
                .values
                .column(0)
                .windows(2)
                .into_iter()
                .all(|pair| pair[0] < pair[1]),
            "order is kept"
        );
        assert_eq!(
            picked,
            table().of_labels(&only, Some(5), Seed::new(1)).unwrap()
        );
        assert_ne!(
            picked,
            table().of_labels(&only, Some(5), Seed::new(2)).unwrap()
        );
    }

    #[test]
    fn rows_without_a_label_are_not_picked() {
        let picked = table().of_labels(&[], None, Seed::default()).unwrap();
        assert_eq!(picked.values.nrows(), 23);
    }

    #[test]
    fn a_label_that_is_not_there_is_named_with_those_that_are() {
        let error = table()
            .of_labels(&["d".to_owned()], None, Seed::default())
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "no row has the label 'd'; there are a, b, c"
        );
        let bare = Table {
            label: None,
            ..table()
        };
        assert_eq!(
            bare.of_labels(&[], None, Seed::default()),
            Err(PickError::NoLabels)
        );
    }
}
