//! Rules about what was read and may be meant otherwise: each says what it was taken for and the flag that settles it. A rule is a
//! function and a line in [`RULES`], with a line in the tests below.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use partita_core::ndarray::{ArrayView1, ArrayView2};
use partita_core::{BaseClustering, option};

use super::label_column::LabelColumn;
use super::read_options::{ReadOptions, Truth};
use super::role_notes::grouped;
use super::roles::{Role, Roles};
use crate::error::{FileError, Result, shown};
use crate::value_kind::ValueKind;
use crate::words;

/// Nothing is suspected of fewer objects.
const FEWEST_OBJECTS: usize = 20;

/// So many times more base clusterings than objects, and at least [`MANY_BASES`], look like objects.
const TOO_WIDE: usize = 10;
const MANY_BASES: usize = 40;

/// The most columns that a warning names.
const MOST_NAMED: usize = 3;

/// What is known of a file that was read.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) roles: &'a Roles,
    pub(crate) options: &'a ReadOptions,
    pub(crate) objects: usize,
    pub(crate) names: Option<&'a [String]>,
    pub(crate) truth: Option<&'a LabelColumn>,
    pub(crate) bases: &'a [BaseClustering],
    /// Names of features, and their numbers.
    pub(crate) table: Option<(&'a [String], ArrayView2<'a, f64>)>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(roles: &'a Roles, options: &'a ReadOptions, objects: usize) -> Self {
        Self {
            roles,
            options,
            objects,
            names: None,
            truth: None,
            bases: &[],
            table: None,
        }
    }

    /// What the rules say, in their order.
    pub(crate) fn warnings(&self) -> Vec<String> {
        RULES.iter().flat_map(|rule| rule(self)).collect()
    }
}

type Rule = fn(&Facts<'_>) -> Vec<String>;

/// Most rules have at most one thing to say.
const RULES: &[Rule] = &[
    |facts| Vec::from_iter(bases_that_are_objects(facts)),
    |facts| Vec::from_iter(bases_of_one_cluster(facts)),
    |facts| Vec::from_iter(bases_of_single_objects(facts)),
    bases_of_dates,
    |facts| Vec::from_iter(facts.bases.iter().find_map(weights_as_base)),
    |facts| Vec::from_iter(facts.bases.iter().find_map(labels_nearly_equal)),
    |facts| Vec::from_iter(clusters_that_mean_nothing(facts)),
    |facts| Vec::from_iter(classes_that_mean_nothing(facts)),
    |facts| Vec::from_iter(classes_as_data(facts)),
    |facts| Vec::from_iter(objects_of_one_name(facts)),
    |facts| Vec::from_iter(sums_as_object(facts)),
    features_that_number_rows,
];

fn bases_that_are_objects(facts: &Facts<'_>) -> Option<String> {
    let bases = facts.bases.len();
    let objects = facts.objects;
    (bases >= MANY_BASES && bases > TOO_WIDE * objects).then(|| {
        format!(
            "{} base clusterings of {} objects; if the columns are the objects give {}",
            grouped(bases as u64),
            grouped(objects as u64),
            option("transpose").on()
        )
    })
}

/// A base clustering of one cluster beside others.
fn bases_of_one_cluster(facts: &Facts<'_>) -> Option<String> {
    if facts.objects < FEWEST_OBJECTS {
        return None;
    }
    let single = facts.bases.iter().filter(|base| base.clusters() == 1);
    let names: Vec<&str> = single.map(BaseClustering::name).collect();
    let (base, puts) = if names.len() == 1 {
        ("base clustering", "puts")
    } else {
        ("base clusterings", "put")
    };
    (!names.is_empty() && names.len() < facts.bases.len()).then(|| {
        format!(
            "{base} {} {puts} all objects into one cluster and says nothing; {} leaves it out",
            few(&names),
            option("skip").naming(&shown(names[0]))
        )
    })
}

/// Base clusterings in which most clusters have one object.
fn bases_of_single_objects(facts: &Facts<'_>) -> Option<String> {
    let objects = facts.objects;
    if objects < FEWEST_OBJECTS {
        return None;
    }
    let mut single = facts
        .bases
        .iter()
        .filter(|base| base.clusters() > objects / 2);
    let first = single.next()?;
    let mut names = vec![first.name()];
    names.extend(single.map(BaseClustering::name));
    let (base, has) = if names.len() == 1 {
        ("base clustering", "has")
    } else {
        ("base clusterings", "have about")
    };
    let name = shown(first.name());
    Some(format!(
        "{base} {} {has} {} clusters of {} objects; if it names the objects give {}, if it is not a clustering {}",
        few(&names),
        grouped(first.clusters() as u64),
        grouped(objects as u64),
        option("id").naming(&name),
        option("skip").naming(&name)
    ))
}

fn bases_of_dates(facts: &Facts<'_>) -> Vec<String> {
    let dates = |base: &&BaseClustering| ValueKind::of_all(base.values()) == Some(ValueKind::Date);
    let said = |base: &BaseClustering| {
        let name = shown(base.name());
        format!(
            "the labels of base clustering '{name}' are dates or times; if it is not a clustering give {}",
            option("skip").naming(&name)
        )
    };
    facts.bases.iter().filter(dates).map(said).collect()
}

/// Refuses base clusterings whose labels are all amounts of money, percentages or numbers in a notation that is not read.
///
/// # Errors
/// [`FileError::Content`] for the first of them.
pub(crate) fn check_labels(path: &Path, bases: &[BaseClustering]) -> Result<()> {
    for base in bases {
        let Some(kind) = ValueKind::of_all(base.values()).filter(|kind| *kind != ValueKind::Date)
        else {
            continue;
        };
        let column = shown(base.name());
        let value = shown(&base.values()[0]);
        let remedy = kind.remedy(&column);
        let reason = format!(
            "the labels of column '{column}' ('{value}') are each {kind}, not clusters; {remedy}"
        );
        return Err(FileError::damaged(path, reason));
    }
    Ok(())
}

/// A base clustering of numbers that is called as weights are.
fn weights_as_base(base: &BaseClustering) -> Option<String> {
    let numbers = || {
        base.values()
            .iter()
            .all(|label| label.parse::<f64>().is_ok())
    };
    let name = shown(base.name());
    (words::is_one_of(words::WEIGHTS, base.name()) && numbers()).then(|| {
        format!(
            "column '{name}' is taken for a base clustering; if it weighs the objects give {}",
            option("object-weights").naming(&name)
        )
    })
}

/// Two labels of a base clustering that differ in case and spaces alone.
fn labels_nearly_equal(base: &BaseClustering) -> Option<String> {
    let mut known: HashMap<String, &str> = HashMap::new();
    let labels = base.values().iter();
    let mut worded = labels.filter(|label| label.contains(char::is_alphabetic));
    let (first, second) = worded.find_map(|label| {
        let key = label.split_whitespace().collect::<Vec<_>>().join(" ");
        let before = known.insert(key.to_lowercase(), label)?;
        Some((before, label))
    })?;
    let (name, first, second) = (shown(base.name()), shown(first), shown(second));
    Some(format!(
        "labels '{first}' and '{second}' of base clustering '{name}' are two clusters; if they are one write them alike"
    ))
}

fn clusters_that_mean_nothing(facts: &Facts<'_>) -> Option<String> {
    let labels = facts.bases.iter().flat_map(BaseClustering::values);
    mean_nothing(facts, labels, "cluster")
}

fn classes_that_mean_nothing(facts: &Facts<'_>) -> Option<String> {
    let classes = facts.truth.into_iter();
    let classes = classes.flat_map(|truth| truth.values.iter().flatten());
    mean_nothing(facts, classes, "class")
}

/// Labels that mean elsewhere that an object has none, where no words for missing labels are named.
fn mean_nothing<'a>(
    facts: &Facts<'_>,
    labels: impl Iterator<Item = &'a String>,
    taken: &str,
) -> Option<String> {
    let found: BTreeSet<&str> = labels
        .map(String::as_str)
        .filter(|label| words::means_nothing(label))
        .collect();
    if found.is_empty() || facts.options.missing.is_some() {
        return None;
    }
    let (are, them) = if found.len() == 1 {
        ("is", "it means")
    } else {
        ("are", "they mean")
    };
    let words = few(&found.iter().copied().collect::<Vec<_>>());
    // The words that are named replace the usual ones.
    let mut all = found;
    all.extend(facts.roles.missing.keys().map(String::as_str));
    Some(format!(
        "{words} {are} taken for a {taken}; if {them} that the label is missing give {}",
        option("missing").listing(all)
    ))
}

/// Data in a column that is called as the truth mostly is, where nothing is said about the truth.
fn classes_as_data(facts: &Facts<'_>) -> Option<String> {
    let Roles {
        columns, arrays, ..
    } = facts.roles;
    let mut all = columns.iter().chain(arrays);
    let data = facts.roles.data();
    // A table that is not to be clustered has no truth that could be meant.
    let unasked = facts.bases.is_empty() && !facts.options.clusterable;
    if unasked
        || facts.options.truth != Truth::ByName
        || all.any(|column| column.role == Role::Truth)
        || data.len() < 2
    {
        return None;
    }
    let mut names = data.into_iter().map(|at| columns[at].name.as_str());
    let name = names.find(|name| words::are_classes(name))?;
    let name = shown(name);
    Some(format!(
        "column '{name}' is taken for data; if it is the truth give {}, if not {}",
        option("truth").naming(&name),
        option("truth").off()
    ))
}

/// Two objects of one name: the first pair.
fn first_same(names: &[String]) -> Option<(usize, usize)> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    names
        .iter()
        .enumerate()
        .find_map(|(row, name)| first.insert(name, row).map(|before| (before, row)))
}

fn objects_of_one_name(facts: &Facts<'_>) -> Option<String> {
    let (first, second) = first_same(facts.names?)?;
    let name = shown(&facts.names?[second]);
    Some(format!(
        "objects {} and {} are both called '{name}'; if names stand elsewhere give {}",
        first + 1,
        second + 1,
        option("id")
    ))
}

/// A last row that adds up the others.
fn sums_as_object(facts: &Facts<'_>) -> Option<String> {
    let names = facts.names?;
    let last = names
        .last()
        .filter(|last| words::is_one_of(words::SUMS, last))?;
    Some(format!(
        "the last object ({}) is called '{}'; if it adds up the others take it out of the file",
        names.len(),
        shown(last)
    ))
}

/// Columns of a table that count the rows, or look like ids.
fn features_that_number_rows(facts: &Facts<'_>) -> Vec<String> {
    let Some((names, values)) = facts.table else {
        return Vec::new();
    };
    if values.nrows() < FEWEST_OBJECTS || names.len() < 2 {
        return Vec::new();
    }
    let mut counts = Vec::new();
    let mut ids = Vec::new();
    let mut times = Vec::new();
    for (at, (name, column)) in names.iter().zip(values.columns()).enumerate() {
        // Such as the numbers of the rows that were taken out of a larger table.
        let first_rises = at == 0
            && facts.names.is_none()
            && column.windows(2).into_iter().all(|two| two[0] < two[1]);
        if counts_rows(column) {
            counts.push(name.as_str());
        } else if (words::is_id(name) || first_rises) && all_whole_and_different(column) {
            ids.push(name.as_str());
        } else if words::is_time(name) && !words::is_duration(name) && !is_category(column) {
            times.push(name.as_str());
        }
    }
    let found = [
        (counts, "counts the rows"),
        (ids, "has a number of its own for every row"),
        (times, "holds times by its name"),
    ];
    let mut said = Vec::new();
    for (columns, what) in found {
        if let Some(first) = columns.first().map(|first| shown(first)) {
            let all = few(&columns);
            said.push(format!(
                "column {all} {what} and is taken for a feature; if it names the objects give {}, if it is neither {}",
                option("id").naming(&first),
                option("skip").naming(&first)
            ));
        }
    }
    said
}

/// Whether a column holds 0, 1, 2, … or 1, 2, 3, ….
fn counts_rows(column: ArrayView1<'_, f64>) -> bool {
    let first = column.first().copied().unwrap_or(f64::NAN);
    let mut rows = column.iter().enumerate();
    (first == 0.0 || first == 1.0) && rows.all(|(row, &value)| value == first + row as f64)
}

/// Whether a column holds zeros and ones, as those of the words of one do.
fn is_category(column: ArrayView1<'_, f64>) -> bool {
    column.iter().all(|&value| value == 0.0 || value == 1.0)
}

fn all_whole_and_different(column: ArrayView1<'_, f64>) -> bool {
    let mut seen = HashSet::with_capacity(column.len());
    column
        .iter()
        .all(|value| value.fract() == 0.0 && seen.insert(value.to_bits()))
}

/// The first names in quotes, and how many more there are.
fn few(names: &[&str]) -> String {
    let named = names.iter().take(MOST_NAMED);
    let named: Vec<String> = named.map(|name| format!("'{}'", shown(name))).collect();
    match names.len().saturating_sub(MOST_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_says;
    use partita_core::ndarray::Array2;

    fn words(name: &str, labels: &[&str]) -> BaseClustering {
        BaseClustering::new(name, labels.iter().map(ToString::to_string).collect())
    }

    fn numbered(name: &str, clusters: usize) -> BaseClustering {
        BaseClustering::new(name, (0..clusters).map(|label| label.to_string()).collect())
    }

    #[test]
    fn bases_that_may_be_something_else_are_said() {
        let mut roles = Roles::default();
        roles.missing.insert("NA".into(), 3);
        let options = ReadOptions::default();
        let plain = words("a", &["0", "1"]);
        let day = words("day", &["2024-01-01", "2024-01-02"]);
        let cells = words("type", &["B", "T cell", "T  Cell "]);
        let nearly = "labels 'T cell' and 'T  Cell ' of base clustering 'type' are two clusters; if they are one write them alike";
        let na = vec![words("a", &["na", "B"]), words("b", &["Unassigned", "B"])];
        let weights = words("Weight", &["1", "2.5"]);
        let heavy = words("weight", &["heavy", "light"]);
        let cell = vec![numbered("a", 3), numbered("cell", 3000)];
        // Base clusterings, objects, and what is in the one warning; nothing is said where that is empty.
        let cases: [(Vec<BaseClustering>, usize, &[&str]); 12] = [
            (vec![plain.clone(), words("b", &["T", "B"])], 19, &[]),
            (
                na,
                19,
                &[
                    "'Unassigned', 'na' are taken for a cluster",
                    "'NA,Unassigned,na'",
                ],
            ),
            (vec![day], 19, &["'day' are dates or times", "--skip 'day'"]),
            (vec![plain.clone(), cells], 19, &[nearly]),
            (vec![plain, weights], 19, &["--object-weights 'Weight'"]),
            (vec![heavy], 19, &[]),
            (vec![numbered("a", 10), numbered("b", 3)], 20, &[]),
            (
                vec![numbered("a", 3), numbered("c", 1)],
                20,
                &["'c' puts all objects into one cluster"],
            ),
            // Methods say that nothing tells objects apart.
            (vec![numbered("a", 1), numbered("c", 1)], 20, &[]),
            (vec![numbered("a", 19)], 19, &[]),
            (
                cell,
                3000,
                &["'cell' has 3,000 clusters of 3,000 objects", "--id 'cell'"],
            ),
            (vec![numbered("a", 2); 3000], 5, &["--transpose"]),
        ];
        for (bases, objects, expected) in cases {
            let mut facts = Facts::new(&roles, &options, objects);
            facts.bases = &bases;
            let said = facts.warnings();
            assert_eq!(said.len(), usize::from(!expected.is_empty()), "{said:?}");
            let said = said.join("");
            assert!(expected.iter().all(|text| said.contains(text)), "{said}");
        }
        let refused = check_labels(Path::new("e.csv"), &[words("x", &["0,5", "1,5"])]);
        let refused = refused.unwrap_err().to_string();
        for text in ["'x'", "a decimal comma", "--skip 'x'"] {
            assert!(refused.contains(text), "{refused}");
        }
    }

    #[test]
    fn classes_and_names_that_may_be_something_else_are_said() {
        let usual = ReadOptions::default();
        let named = ReadOptions {
            missing: Some(vec!["NA".into()]),
            ..ReadOptions::default()
        };
        let unknown = "'Unknown' is taken for a class; if it means that the label is missing give --missing 'Unknown'";
        let twice = "objects 1 and 3 are both called 'x'; if names stand elsewhere give --id";
        for (classes, names, options, expected) in [
            (&["T cell", "", "B cell"][..], &["x", "y", "z"], &usual, ""),
            (
                &["T cell", "Unknown", "Unknown"],
                &["x", "y", "z"],
                &usual,
                unknown,
            ),
            // Who names words has thought of it.
            (&["T cell", "Unknown"], &["x", "y", "z"], &named, ""),
            (&[], &["x", "y", "x"], &usual, twice),
            (
                &[],
                &["x", "y", "Total"],
                &usual,
                "the last object (3) is called 'Total'; if it adds up the others take it out of the file",
            ),
        ] {
            let value = |class: &&str| (!class.is_empty()).then(|| (*class).to_owned());
            let truth = LabelColumn {
                name: "truth".into(),
                values: classes.iter().map(value).collect(),
            };
            let roles = Roles::default();
            let names = names.map(str::to_owned);
            let mut facts = Facts::new(&roles, options, 3);
            facts.truth = Some(&truth);
            facts.names = Some(&names);
            assert_eq!(facts.warnings().join("; "), expected);
        }
    }

    #[test]
    fn features_that_number_rows_are_said() {
        let values = Array2::from_shape_fn((30, 3), |(i, j)| match j {
            0 => i as f64 + 1.0,
            1 => (i * 37 + 500) as f64,
            _ => (i % 3) as f64,
        });
        let about = |names: [&str; 3]| {
            let roles = Roles::default();
            let options = ReadOptions::default();
            let names = names.map(str::to_owned);
            let mut facts = Facts::new(&roles, &options, 30);
            facts.table = Some((&names, values.view()));
            facts.warnings().join("; ")
        };
        let said = about(["index", "patient_id", "x"]);
        assert_says(&said, &["column 'index' counts the rows"]);
        assert_says(&said, &["--id 'patient_id'"]);
        assert!(!about(["a", "elapsed time", "reviews_per_month"]).contains("times by its name"));
        assert!(
            !about(["t", "weight", "id"]).contains("of its own"),
            "a number twice is not an id"
        );
    }
}
