//! A column of labels: true classes, or clusters of a result.

/// Classes or clusters by their own names, one an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelColumn {
    /// Name of the column.
    pub name: String,
    /// The label of every object; none where it is missing.
    pub values: Vec<Option<String>>,
}

/// A column of labels, and what the objects are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Names of the objects, where the file has them.
    pub object_names: Option<Vec<String>>,
    /// The labels.
    pub column: LabelColumn,
}

/// A column of numbers beside labels: its name, and one number an object.
pub type LabelNumbers<'a> = (&'a str, &'a [f64]);

/// The heading of a column of what objects are called beside their labels.
pub(crate) const LABEL_NAME: &str = "label_name";
