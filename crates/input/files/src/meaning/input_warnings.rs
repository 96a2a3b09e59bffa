//! Warnings about what was read: names given twice, base clusterings of single objects, tables that lie on their side, labels
//! and classes that may mean nothing, columns that may be the truth or count the rows.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use partita_core::BaseClustering;
use partita_core::ndarray::{ArrayView1, ArrayView2};

use super::label_column::LabelColumn;
use super::read_options::{ReadOptions, Truth};
use super::roles::{Role, Roles, grouped};
use crate::error::{FileError, shown};
use crate::missing_words::MISSING_WORDS;
use crate::odd_number::OddNumber;

/// Nothing is suspected of fewer objects.
const FEWEST_OBJECTS: usize = 20;

/// So many times more base clusterings than objects, and at least [`MANY_BASES`], look like objects.
const TOO_WIDE: usize = 10;
const MANY_BASES: usize = 100;

/// The most columns that a warning names.
const MOST_NAMED: usize = 3;

/// Labels, in small letters, that programs give to objects without a cluster, and errors of spreadsheets.
const NO_CLUSTER: [&str; 22] = [
    "-",
    "--",
    ".",
    "n.a.",
    "missing",
    "unassigned",
    "not assigned",
    "unknown",
    "unclassified",
    "unlabeled",
    "unlabelled",
    "undefined",
    "noise",
    "outlier",
    "outliers",
    "#div/0!",
    "#name?",
    "#null!",
    "#num!",
    "#ref!",
    "#value!",
    "#error!",
];

/// Names, in small letters, of columns that weigh the objects more often than not.
const WEIGHTS: [&str; 6] = [
    "weight",
    "weights",
    "object_weight",
    "object_weights",
    "sample_weight",
    "multiplicity",
];

/// Names, in small letters, of columns that are the truth more often than not.
const TRUTHS: [&str; 17] = [
    "label",
    "labels",
    "truth",
    "ground_truth",
    "groundtruth",
    "ground truth",
    "gt",
    "true_label",
    "true_labels",
    "class",
    "classes",
    "target",
    "celltype",
    "cell_type",
    "cell type",
    "cell_label",
    "species",
];

/// What sums and means of columns are called in spreadsheets, in small letters.
const SUMS: [&str; 8] = [
    "total",
    "totals",
    "grand total",
    "sum",
    "mean",
    "average",
    "summe",
    "mittelwert",
];

/// Two objects of one name: the first pair.
pub(crate) fn first_same(names: &[String]) -> Option<(usize, usize)> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    names
        .iter()
        .enumerate()
        .find_map(|(row, name)| first.insert(name, row).map(|before| (before, row)))
}

/// Warnings about the names of the objects.
pub(crate) fn about_names(names: &[String]) -> Vec<String> {
    same_names(names)
        .into_iter()
        .chain(sum_below(names))
        .collect()
}

/// The warning about a last row that adds up the others.
fn sum_below(names: &[String]) -> Option<String> {
    let last = names
        .last()
        .filter(|last| SUMS.contains(&last.trim().to_lowercase().as_str()))?;
    let (row, name) = (names.len(), shown(last));
    Some(format!(
        "the last object ({row}) is called '{name}'; if it adds up the others take it out of the file"
    ))
}

/// The warning about objects of one name.
fn same_names(names: &[String]) -> Option<String> {
    let (first, second) = first_same(names)?;
    let name = shown(&names[second]);
    Some(format!(
        "objects {} and {} are both called '{name}'; if names stand elsewhere give --id",
        first + 1,
        second + 1
    ))
}

/// Warnings about the base clusterings of so many objects.
pub(crate) fn about_bases(roles: &mut Roles, bases: &[BaseClustering], objects: usize) {
    roles.objects = objects as u64;
    if bases.len() >= MANY_BASES && bases.len() > TOO_WIDE * objects {
        let (bases, objects) = (grouped(bases.len() as u64), grouped(objects as u64));
        roles.warnings.push(format!(
            "{bases} base clusterings of {objects} objects; if the columns are the objects give --transpose"
        ));
    }
    if objects < FEWEST_OBJECTS {
        return;
    }
    roles.warnings.extend(one_cluster(bases));
    let single: Vec<&BaseClustering> = bases
        .iter()
        .filter(|base| base.clusters() > objects / 2)
        .collect();
    let Some(first) = single.first() else { return };
    let names: Vec<String> = single
        .iter()
        .take(MOST_NAMED)
        .map(|base| format!("'{}'", shown(base.name())))
        .collect();
    let more = single.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let (column, clusters) = (names.join(", "), grouped(first.clusters() as u64));
    let (base, has) = if single.len() == 1 {
        ("base clustering", "has")
    } else {
        ("base clusterings", "have about")
    };
    roles.warnings.push(format!(
        "{base} {column}{more} {has} {clusters} clusters of {} objects; if it names the objects give --id {name}, if it is \
         not a clustering --skip {name}",
        grouped(objects as u64),
        name = names[0],
    ));
}

/// The warning about base clusterings of one cluster beside others.
fn one_cluster(bases: &[BaseClustering]) -> Option<String> {
    let (names, all): (Vec<&str>, usize) = (
        bases
            .iter()
            .filter(|base| base.clusters() == 1)
            .map(BaseClustering::name)
            .collect(),
        bases.len(),
    );
    let (base, puts) = if names.len() == 1 {
        ("base clustering", "puts")
    } else {
        ("base clusterings", "put")
    };
    (!names.is_empty() && names.len() < all).then(|| {
        format!(
            "{base} {} {puts} all objects into one cluster and says nothing; --skip leaves it out",
            few(&names)
        )
    })
}

/// Warns of labels that may mean that an object has none, that are nearly the same, and of dates; refuses amounts and decimals.
///
/// # Errors
/// [`FileError::OddLabels`] for a base clustering whose labels are all numbers in a notation that is not read.
pub(crate) fn about_labels(
    path: &Path,
    roles: &mut Roles,
    bases: &[BaseClustering],
    options: &ReadOptions,
) -> Result<(), FileError> {
    for base in bases {
        match OddNumber::of_all(base.values().iter()) {
            None => {}
            Some(OddNumber::Date) => roles.warnings.push(format!(
                "the labels of base clustering '{0}' are dates or times; if it is not a clustering give --skip '{0}'",
                shown(base.name())
            )),
            Some(kind) => {
                let (column, value) = (base.name().to_owned(), base.values()[0].clone());
                return Err(FileError::OddLabels { path: path.into(), column, value, kind });
            }
        }
    }
    roles
        .warnings
        .extend(bases.iter().find_map(weights_of_objects));
    roles.warnings.extend(bases.iter().find_map(nearly_equal));
    about_silent(
        roles,
        bases
            .iter()
            .flat_map(BaseClustering::values)
            .map(String::as_str),
        "cluster",
        options,
    );
    Ok(())
}

/// The warning about a base clustering of numbers that is called as weights are.
fn weights_of_objects(base: &BaseClustering) -> Option<String> {
    let numbers = || {
        base.values()
            .iter()
            .all(|label| label.parse::<f64>().is_ok())
    };
    let name = shown(base.name());
    let weights = WEIGHTS.contains(&base.name().trim().to_lowercase().as_str()) && numbers();
    weights.then(|| {
        format!(
            "column '{name}' is taken for a base clustering; if it weighs the objects give --object-weights '{name}'"
        )
    })
}

/// The warning about two labels of a base clustering that differ in case and spaces alone.
fn nearly_equal(base: &BaseClustering) -> Option<String> {
    let mut known: HashMap<String, &str> = HashMap::new();
    let mut words = base
        .values()
        .iter()
        .filter(|label| label.contains(char::is_alphabetic));
    let (first, second) = words.find_map(|label| {
        let key = label
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        known.insert(key, label).map(|first| (first, label))
    })?;
    let (name, first, second) = (shown(base.name()), shown(first), shown(second));
    Some(format!(
        "labels '{first}' and '{second}' of base clustering '{name}' are two clusters; if they are one write them alike"
    ))
}

/// Warns of true classes that mean elsewhere that the class is not known.
pub(crate) fn about_classes(roles: &mut Roles, truth: Option<&LabelColumn>, options: &ReadOptions) {
    let classes = truth
        .iter()
        .flat_map(|truth| truth.values.iter().flatten())
        .map(String::as_str);
    about_silent(roles, classes, "class", options);
}

/// Warns of labels that mean elsewhere that an object has none, where no words for missing labels are named.
fn about_silent<'a>(
    roles: &mut Roles,
    labels: impl Iterator<Item = &'a str>,
    taken: &str,
    options: &ReadOptions,
) {
    let found: BTreeSet<&str> = labels.filter(means_nothing).collect();
    if found.is_empty() || options.missing.is_some() {
        return;
    }
    let words: Vec<&str> = found.iter().copied().collect();
    // The words that are named replace the usual ones.
    let all: BTreeSet<&str> = found
        .iter()
        .copied()
        .chain(roles.missing.keys().map(String::as_str))
        .collect();
    let all = all.into_iter().collect::<Vec<_>>().join(",");
    let (are, them) = if words.len() == 1 {
        ("is", "it means")
    } else {
        ("are", "they mean")
    };
    roles.warnings.push(format!(
        "{} {are} taken for a {taken}; if {them} that the label is missing give --missing '{all}'",
        few(&words)
    ));
}

fn means_nothing(label: &&str) -> bool {
    const LONGEST: usize = 12;
    if label.len() > LONGEST || label.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let small = label.to_lowercase();
    NO_CLUSTER.contains(&small.as_str())
        || MISSING_WORDS
            .iter()
            .any(|word| word.eq_ignore_ascii_case(&small))
}

/// Warns of data in a column that is called as the truth mostly is, where nothing is said about the truth.
pub(crate) fn about_truth(roles: &mut Roles, options: &ReadOptions) {
    let has_truth = roles
        .columns
        .iter()
        .chain(&roles.arrays)
        .any(|column| column.role == Role::Truth);
    let data = roles.data();
    if options.truth != Truth::ByName || has_truth || data.len() < 2 {
        return;
    }
    let names = data.into_iter().map(|at| roles.columns[at].name.as_str());
    let truth = names
        .into_iter()
        .find(|name| TRUTHS.contains(&name.trim().to_lowercase().as_str()))
        .map(shown);
    roles.warnings.extend(truth.map(|name| {
        format!("column '{name}' is taken for data; if it is the truth give --truth '{name}', if not --no-truth")
    }));
}

/// Warns of columns of a table that count the rows, or look like ids.
pub(crate) fn about_columns(roles: &mut Roles, names: &[String], values: ArrayView2<'_, f64>) {
    if values.nrows() < FEWEST_OBJECTS || names.len() < 2 {
        return;
    }
    let columns = || names.iter().zip(values.columns());
    let counts: Vec<&str> = columns()
        .filter(|(_, column)| counts_rows(*column))
        .map(|(name, _)| name.as_str())
        .collect();
    let is_id = |(name, column): &(&String, ArrayView1<'_, f64>)| {
        is_id(name) && !counts.contains(&name.as_str()) && all_whole_and_different(*column)
    };
    let ids: Vec<&str> = columns()
        .filter(is_id)
        .map(|(name, _)| name.as_str())
        .collect();
    for (found, what) in [
        (counts, "counts the rows"),
        (ids, "has a number of its own for every row"),
    ] {
        if let Some(first) = found.first() {
            let (all, first) = (few(&found), shown(first));
            roles.warnings.push(format!(
                "column {all} {what} and is taken for a feature; if it names the objects give --id '{first}', if it is \
                 neither --skip '{first}'"
            ));
        }
    }
}

/// Whether a column holds 0, 1, 2, … or 1, 2, 3, ….
fn counts_rows(column: ArrayView1<'_, f64>) -> bool {
    let first = column.first().copied().unwrap_or(f64::NAN);
    (first == 0.0 || first == 1.0)
        && column
            .iter()
            .enumerate()
            .all(|(row, &value)| value == first + row as f64)
}

/// Whether a column is called as ids are: `id`, `patient_id`, `cellID`.
fn is_id(name: &str) -> bool {
    let small = name.trim().to_lowercase();
    let before = small.strip_suffix("id").unwrap_or("x");
    let parted = before.is_empty() || before.ends_with(['_', ' ', '.', '-']);
    parted
        || ["Id", "ID"].iter().any(|end| name.ends_with(end))
        || ["index", "barcode", "row"].contains(&small.as_str())
}

fn all_whole_and_different(column: ArrayView1<'_, f64>) -> bool {
    let mut seen = HashSet::with_capacity(column.len());
    column
        .iter()
        .all(|value| value.fract() == 0.0 && seen.insert(value.to_bits()))
}

/// The first names in quotes, and how many more there are.
fn few(names: &[&str]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(MOST_NAMED)
        .map(|name| format!("'{}'", shown(name)))
        .collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        format!("{} and {more} more", shown.join(", "))
    } else {
        shown.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, labels: &[&str]) -> BaseClustering {
        BaseClustering::new(name, labels.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn labels_that_may_mean_nothing_are_said_and_odd_numbers_refused() {
        let about = |bases: &[BaseClustering]| {
            let mut roles = Roles::default();
            roles.missing.insert("NA".into(), 3);
            let found = about_labels(
                Path::new("e.csv"),
                &mut roles,
                bases,
                &ReadOptions::default(),
            );
            found
                .map(|()| roles.warnings.join("; "))
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            about(&[words("a", &["0", "1"]), words("b", &["T", "B"])]).unwrap(),
            ""
        );
        let said = about(&[words("a", &["na", "B"]), words("b", &["Unassigned", "B"])]).unwrap();
        assert!(
            said.starts_with("'Unassigned', 'na' are taken for a cluster")
                && said.contains("'NA,Unassigned,na'"),
            "{said}"
        );
        let said = about(&[words("day", &["2024-01-01", "2024-01-02"])]).unwrap();
        assert!(
            said.contains("'day' are dates or times") && said.contains("--skip 'day'"),
            "{said}"
        );
        let said = about(&[
            words("a", &["0", "1"]),
            words("type", &["B", "T cell", "T  Cell "]),
        ])
        .unwrap();
        assert_eq!(
            said,
            "labels 'T cell' and 'T  Cell ' of base clustering 'type' are two clusters; if they are one write them alike"
        );
        let said = about(&[words("a", &["0", "1"]), words("Weight", &["1", "2.5"])]).unwrap();
        assert!(said.contains("--object-weights 'Weight'"), "{said}");
        assert_eq!(about(&[words("weight", &["heavy", "light"])]).unwrap(), "");
        let refused = about(&[words("x", &["0,5", "1,5"])]).unwrap_err();
        assert!(
            refused.contains("'x'")
                && refused.contains("a decimal comma")
                && refused.contains("--skip 'x'"),
            "{refused}"
        );
    }

    #[test]
    fn classes_that_may_mean_nothing_are_said() {
        let about = |classes: &[&str], options: &ReadOptions| {
            let values = classes
                .iter()
                .map(|&class| (!class.is_empty()).then(|| class.to_owned()))
                .collect();
            let mut roles = Roles::default();
            about_classes(
                &mut roles,
                Some(&LabelColumn {
                    name: "truth".into(),
                    values,
                }),
                options,
            );
            roles.warnings.join("; ")
        };
        let usual = ReadOptions::default();
        assert_eq!(about(&["T cell", "", "B cell"], &usual), "");
        let said = about(&["T cell", "Unknown", "Unknown"], &usual);
        assert!(
            said.contains("'Unknown' is taken for a class") && said.contains("--missing 'Unknown'"),
            "{said}"
        );
        let named = ReadOptions {
            missing: Some(vec!["NA".into()]),
            ..usual
        };
        assert_eq!(
            about(&["T cell", "Unknown"], &named),
            "",
            "who names words has thought of it"
        );
    }

    #[test]
    fn columns_that_count_or_name_rows_are_said() {
        let values = partita_core::ndarray::Array2::from_shape_fn((30, 3), |(i, j)| match j {
            0 => i as f64 + 1.0,
            1 => (i * 37 + 500) as f64,
            _ => (i % 3) as f64,
        });
        let about = |names: [&str; 3]| {
            let mut roles = Roles::default();
            about_columns(&mut roles, &names.map(str::to_owned), values.view());
            roles.warnings.join("; ")
        };
        let said = about(["index", "patient_id", "x"]);
        assert!(
            said.contains("column 'index' counts the rows") && said.contains("--id 'patient_id'"),
            "{said}"
        );
        assert!(
            !about(["t", "weight", "id"]).contains("of its own"),
            "a number twice is not an id"
        );
        assert!(
            ["id", "cellID", "Sample Id", "row_id"].map(is_id) == [true; 4]
                && ["humid", "grid", "x"].map(is_id) == [false; 3]
        );
    }

    #[test]
    fn what_looks_like_something_else_is_said() {
        let base = |name: &str, clusters: usize| {
            BaseClustering::new(
                name,
                (0..clusters).map(|cluster| cluster.to_string()).collect(),
            )
        };
        let about = |bases: &[BaseClustering], objects| {
            let mut roles = Roles::default();
            about_bases(&mut roles, bases, objects);
            roles.warnings.join("; ")
        };
        assert_eq!(about(&[base("a", 10), base("b", 3)], 20), "");
        assert!(
            about(&[base("a", 3), base("c", 1)], 20)
                .contains("'c' puts all objects into one cluster")
        );
        assert_eq!(
            about(&[base("a", 1), base("c", 1)], 20),
            "",
            "methods say that nothing tells objects apart"
        );
        assert!(about_names(&["a".into(), "Total".into()])[0].contains("called 'Total'"));
        assert_eq!(about(&[base("a", 19)], 19), "");
        assert!(
            about(&[base("a", 3), base("cell", 3000)], 3000)
                .contains("'cell' has 3,000 clusters of 3,000 objects")
        );
        assert!(about(&vec![base("a", 2); 3000], 5).contains("--transpose"));
        let names = ["x", "y", "x"].map(str::to_owned);
        assert!(
            same_names(&names)
                .unwrap()
                .starts_with("objects 1 and 3 are both called 'x'")
        );
        assert_eq!(same_names(&names[..2]), None);
    }
}
