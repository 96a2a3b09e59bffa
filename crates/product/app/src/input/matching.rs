//! Matching of objects between two files of labels: by their names, else by their places.

use std::path::Path;

use partita::extend::{PartitionError, option};
use partita::files::{LabelColumn, Labels};
use partita::metrics::Scores;
use partita::ndarray::Axis;
use partita::{Ensemble, Partition, SoftPartition};

use crate::error::AppError;
use crate::input::objects::{Objects, by_name};
use crate::observer::Observer;

/// Labels and truth of the same objects in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matched {
    /// The labels of the objects that are scored.
    pub labels: LabelColumn,
    /// Their true labels.
    pub truth: LabelColumn,
    /// What to know about how they were matched.
    pub note: Option<String>,
}

/// Brings labels and truth into one order: by the names of the objects where both files have them, else by place. Labels of
/// objects that were numbered from 0, as we number those without names, are places. With `common` only objects that both
/// files have count.
///
/// # Errors
/// [`AppError::Content`] for names that stand twice, objects without a truth (unless `common`), and files of different lengths.
pub fn match_objects(
    (labels_path, mut labels): (&Path, Labels),
    (truth_path, mut truth): (&Path, Labels),
    common: bool,
) -> Result<Matched, AppError> {
    let named = by_name(&[objects(labels_path, &labels), objects(truth_path, &truth)]);
    if named {
        number(&mut labels);
        number(&mut truth);
    }
    let here = objects(labels_path, &labels);
    let there = objects(truth_path, &truth);
    let (Some(names), Some(known), true) = (here.names, there.names, named) else {
        let found = here.by_place(&there).filter(|_| !common);
        let (n, m) = (here.count, there.count);
        let found = found.ok_or_else(|| {
            let reason = format!(
                "it labels {n} objects, {} has {m}, and they cannot be matched by name; score the same objects, or name \
                 them in both ({} for a column of a file)",
                truth_path.display(),
                option("id")
            );
            AppError::content(labels_path, reason)
        })?;
        return Ok(Matched {
            labels: labels.column,
            truth: truth.column,
            note: found.note,
        });
    };
    let found = here
        .rows_in(&there)?
        .map_or_else(Vec::new, |found| found.rows);
    here.places()?;
    let shared = found.iter().flatten().count();
    let (here, there) = (labels_path.display(), truth_path.display());
    if shared == 0 {
        let reason = format!(
            "none of its objects is in {there}, such as '{}'; give both the same names ({} for a column of a file)",
            names[0],
            option("id")
        );
        return Err(AppError::content(labels_path, reason));
    }
    if let (Some(absent), false) = (found.iter().position(Option::is_none), common) {
        let (absent, all) = (&names[absent], names.len());
        let reason = format!(
            "object '{absent}' is not in {there}, which has {shared} of the {all}; give {} to score those",
            option("common").on()
        );
        return Err(AppError::content(labels_path, reason));
    }
    let rows: Vec<usize> = (0..found.len())
        .filter(|&row| found[row].is_some())
        .collect();
    let all_differ = shared == names.len() && shared == known.len();
    let note = format!(
        "{shared} objects are in both: {here} has {}, {there} has {}",
        names.len(),
        known.len()
    );
    Ok(Matched {
        labels: picked(labels.column, rows.iter().copied()),
        truth: picked(truth.column, found.iter().flatten().copied()),
        note: (!all_differ).then_some(note),
    })
}

/// The external indices of labels against a truth of the same objects, matched as [`match_objects`] does. Objects without a label, or
/// without a true one, do not count. The observer hears how objects were matched and how many have no true label.
///
/// # Errors
/// As [`match_objects`]; [`AppError::Content`] where no object has both labels.
pub fn score_objects(
    labels: (&Path, Labels),
    (truth_path, truth): (&Path, Labels),
    common: bool,
    observer: &dyn Observer,
) -> Result<Scores, AppError> {
    let matched = match_objects(labels, (truth_path, truth), common)?;
    matched.note.iter().for_each(|note| observer.note(note));
    let unknown = matched.truth.values.iter();
    let unknown = unknown.filter(|value| value.is_none()).count();
    say_unknown(unknown as u64, truth_path, observer);
    score(codes(&matched.labels).0.into_iter(), &matched.truth)
        .ok_or_else(|| AppError::content(truth_path, "no object has both a label and a true label"))
}

/// Says how many objects have no true label.
pub(crate) fn say_unknown(unknown: u64, truth: &Path, observer: &dyn Observer) {
    let have = match unknown {
        0 => return,
        1 => "object has no true label and does not count",
        _ => "objects have no true label and do not count",
    };
    observer.note(&format!("{}: {unknown} {have}", truth.display()));
}

/// Scores of labels against the truth; objects that lack either do not count.
pub fn score(found: impl Iterator<Item = Option<usize>>, truth: &LabelColumn) -> Option<Scores> {
    let both = found
        .zip(&truth.values)
        .filter_map(|(found, truth)| Some((found?, truth.as_deref()?)));
    let (found, truth): (Vec<usize>, Vec<&str>) = both.unzip();
    Scores::of(
        &Partition::from_values(&found),
        &Partition::from_values(&truth),
    )
    .ok()
}

/// Labels as numbers, in the order of their values, and how many values there are.
pub(crate) fn codes(column: &LabelColumn) -> (Vec<Option<usize>>, usize) {
    let mut values: Vec<&String> = column.values.iter().flatten().collect();
    values.sort_unstable();
    values.dedup();
    let code = |value: &Option<String>| value.as_ref().map(|v| values.partition_point(|w| *w < v));
    (column.values.iter().map(code).collect(), values.len())
}

/// Probabilities and the names of their objects, as [`partita::files::read_soft`] gives them.
pub type NamedSoft = (Option<Vec<String>>, SoftPartition);

/// Brings probabilities and true probabilities into one order, as [`match_objects`] does with labels.
///
/// # Errors
/// As [`match_objects`].
pub fn match_soft(
    (found_path, found): (&Path, NamedSoft),
    (truth_path, truth): (&Path, NamedSoft),
    common: bool,
) -> Result<(SoftPartition, SoftPartition), AppError> {
    let rows = |(names, soft): &NamedSoft| numbered(names.clone(), (0..soft.objects()).map(Some));
    let matched = match_objects(
        (found_path, rows(&found)),
        (truth_path, rows(&truth)),
        common,
    )?;
    let ordered = |soft: &SoftPartition, column: &LabelColumn| {
        let order: Vec<usize> = column
            .values
            .iter()
            .filter_map(|row| row_of(row.as_deref()))
            .collect();
        SoftPartition::new(soft.rows().select(Axis(0), &order))
    };
    let both: Result<_, PartitionError> = ordered(&found.1, &matched.labels)
        .and_then(|found| Ok((found, ordered(&truth.1, &matched.truth)?)));
    both.map_err(|error| AppError::content(found_path, error.to_string()))
}

/// Labels that are the numbers of their rows: where they come to stand is the order. A row without a number has no label.
/// Objects that are labelled by the numbers of their rows.
pub(crate) fn numbered(
    object_names: Option<Vec<String>>,
    rows: impl Iterator<Item = Option<usize>>,
) -> Labels {
    let values = rows.map(|row| row.map(|row| row.to_string())).collect();
    Labels {
        object_names,
        column: LabelColumn {
            name: String::new(),
            values,
        },
    }
}

fn row_of(label: Option<&str>) -> Option<usize> {
    label.and_then(|row| row.parse().ok())
}

/// Rows of an ensemble, in their order, and the rows of labels of the same objects, matched as [`match_objects`] does; objects without a
/// label are left out. The observer hears how objects were matched, and how many have no label.
///
/// # Errors
/// As [`match_objects`]; [`AppError::Content`] where no object has a label.
pub fn match_rows(
    (place, ensemble): (&Path, &Ensemble),
    (path, labels): (&Path, &Labels),
    common: bool,
    observer: &dyn Observer,
) -> Result<(Vec<u32>, Vec<usize>), AppError> {
    let all = numbered(
        ensemble.object_names().map(<[String]>::to_vec),
        (0..ensemble.objects()).map(Some),
    );
    let labelled = labels
        .column
        .values
        .iter()
        .enumerate()
        .map(|(row, label)| label.as_ref().map(|_| row));
    let labelled = numbered(labels.object_names.clone(), labelled);
    let matched = match_objects((place, all), (path, labelled), common)?;
    matched.note.iter().for_each(|note| observer.note(note));
    let both = matched.labels.values.iter().zip(&matched.truth.values);
    let (rows, labelled): (Vec<u32>, Vec<usize>) = both
        .filter_map(|(row, label)| {
            Some((row_of(row.as_deref())? as u32, row_of(label.as_deref())?))
        })
        .unzip();
    let without = matched.labels.values.len() - rows.len();
    if without > 0 {
        observer.note(&format!(
            "{}: {without} objects have no label and do not count",
            path.display()
        ));
    }
    if rows.is_empty() {
        return Err(AppError::content(
            path,
            "no object of the ensemble has a label; name the column as FILE:COLUMN",
        ));
    }
    Ok((rows, labelled))
}

/// Calls objects without names by the numbers of their rows.
fn number(labels: &mut Labels) {
    let rows = 0..labels.column.values.len();
    labels
        .object_names
        .get_or_insert_with(|| rows.map(|row| row.to_string()).collect());
}

fn objects<'a>(file: &'a Path, labels: &'a Labels) -> Objects<'a> {
    let names = labels.object_names.as_deref();
    Objects::new(file, labels.column.values.len(), names)
}

fn picked(column: LabelColumn, rows: impl Iterator<Item = usize>) -> LabelColumn {
    LabelColumn {
        values: rows.map(|row| column.values[row].clone()).collect(),
        name: column.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str], values: &str) -> Labels {
        let values = values
            .chars()
            .map(|value| (value != '.').then(|| value.to_string()))
            .collect();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let column = LabelColumn {
            name: "label".into(),
            values,
        };
        Labels {
            object_names: (!names.is_empty()).then_some(names),
            column,
        }
    }

    fn matched(
        found: Labels,
        truth: Labels,
        common: bool,
    ) -> Result<(String, Option<String>), String> {
        let matched = match_objects(
            (Path::new("l.csv"), found),
            (Path::new("t.csv"), truth),
            common,
        );
        let told =
            |column: &LabelColumn| column.values.iter().flatten().cloned().collect::<String>();
        matched
            .map(|both| (told(&both.labels) + "/" + &told(&both.truth), both.note))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn names_go_before_places() {
        let truth = || labels(&["a", "b", "c"], "xyz");
        assert_eq!(
            matched(labels(&["c", "a", "b"], "123"), truth(), false),
            Ok(("123/zxy".into(), None))
        );
        let fewer = matched(labels(&["c", "a"], "12"), truth(), false).unwrap();
        assert_eq!((fewer.0.as_str(), fewer.1.is_some()), ("12/zx", true));
        assert_eq!(
            matched(labels(&["0", "1", "2"], "123"), truth(), false)
                .unwrap()
                .0,
            "123/xyz"
        );
        assert_eq!(
            matched(labels(&[], "123"), labels(&[], "xyz"), false),
            Ok(("123/xyz".into(), None))
        );
        assert!(
            matched(labels(&["c", "a", "b"], "123"), labels(&[], "xyz"), false)
                .unwrap()
                .1
                .is_some()
        );
    }

    #[test]
    fn what_cannot_be_matched_is_refused() {
        let truth = || labels(&["a", "b", "c"], "xyz");
        let message = matched(labels(&["a", "q"], "12"), truth(), false).unwrap_err();
        assert!(
            message.contains("object 'q' is not in t.csv") && message.contains("--common"),
            "{message}"
        );
        let common = matched(labels(&["a", "q"], "12"), truth(), true).unwrap();
        assert_eq!(
            (common.0.as_str(), common.1.unwrap().contains("1 objects")),
            ("1/x", true)
        );
        assert!(
            matched(labels(&["p", "q"], "12"), truth(), true)
                .unwrap_err()
                .contains("none of its objects")
        );
        assert!(
            matched(labels(&["a", "a"], "12"), truth(), false)
                .unwrap_err()
                .contains("objects 1 and 2 are both")
        );
        assert!(
            matched(labels(&[], "12"), truth(), false)
                .unwrap_err()
                .contains("labels 2 objects, t.csv has 3")
        );
    }
}
