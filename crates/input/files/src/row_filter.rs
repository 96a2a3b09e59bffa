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
        let table = self.select(&kept);
        let values = &table.values;
        let varied = |&column: &usize| {
            values
                .column(column)
                .iter()
                .any(|value| *value != values[[0, column]])
        };
        let varying: Vec<usize> = (0..values.ncols()).filter(varied).collect();
        let place = |column: u32| varying.binary_search(&(column as usize)).ok();
        let gaps = table.gaps.iter();
        let gaps = gaps.filter_map(|&(row, column)| Some((row, place(column)? as u32)));
        Ok(Self {
            gaps: gaps.collect(),
            columns: varying
                .iter()
                .map(|&column| table.columns[column].clone())
                .collect(),
            values: values.select(Axis(1), &varying),
            ..table
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
        let number = |(row, column)| [row as f64, 1.0, (row % 3) as f64][column];
        let label = |row: usize| ["a", "b", "c"].get(row % 4).map(ToString::to_string);
        Table {
            columns: ["x", "same", "class"].map(String::from).to_vec(),
            values: Array2::from_shape_fn((30, 3), number),
            object_names: Some((0..30).map(|row| format!("row {row}")).collect()),
            label: Some(LabelColumn {
                name: "kind".into(),
                values: (0..30).map(label).collect(),
            }),
            gaps: vec![(1, 0), (4, 2)],
        }
    }

    #[test]
    fn rows_of_some_labels_at_most_so_many_of_each() {
        let only = ["c".to_owned(), "a".to_owned()];
        let pick = |seed| table().of_labels(&only, Some(5), Seed::new(seed)).unwrap();
        let picked = pick(1);
        assert_eq!(picked.columns, ["x", "class"]);
        let labels = picked.label.as_ref().unwrap().values.iter().flatten();
        let mut labels: Vec<&str> = labels.map(String::as_str).collect();
        labels.sort_unstable();
        assert_eq!(labels.concat(), "aaaaaccccc");
        let rows = picked.values.column(0).to_vec();
        assert!(rows.is_sorted(), "order is kept");
        let names: Vec<String> = rows.iter().map(|row| format!("row {row}")).collect();
        assert_eq!(picked.object_names, Some(names), "names go with their rows");
        assert_eq!(picked, pick(1));
        assert_ne!(picked, pick(2));
        let all = table().of_labels(&[], None, Seed::default()).unwrap();
        assert_eq!(
            all.values.nrows(),
            23,
            "rows without a label are not picked"
        );
    }

    #[test]
    fn a_label_that_is_not_there_is_named_with_those_that_are() {
        let error = table().of_labels(&["d".to_owned()], None, Seed::default());
        let message = "no row has the label 'd'; there are a, b, c";
        assert_eq!(error.unwrap_err().to_string(), message);
        let mut bare = table();
        bare.label = None;
        let error = bare.of_labels(&[], None, Seed::default());
        assert_eq!(error, Err(PickError::NoLabels));
    }
}
