//! Errors of a report.

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A part of the report is about another number of objects.
    #[error("the labels are those of {objects} objects, but {part} are given for {found}")]
    Sizes {
        /// Objects that have a label.
        objects: usize,
        /// Which part.
        part: &'static str,
        /// Objects that it has.
        found: usize,
    },
    /// Counts of all objects are not those of the clusters and base clusterings of the report.
    #[error("{found} {part} are given; the labels ask for {wanted}")]
    Counts {
        /// Which part.
        part: &'static str,
        /// Numbers that there should be.
        wanted: usize,
        /// Numbers that there are.
        found: usize,
    },
    /// There is nothing to show.
    #[error("a report needs at least one object")]
    Empty,
    /// An agreement is outside 0 to 1.
    #[error("object {object} has the agreement {value}; it must be in 0 to 1")]
    Agreement {
        /// Index of the object.
        object: usize,
        /// Its agreement.
        value: f64,
    },
    /// The template of the page does not fit what it is given: a mistake of this crate.
    #[error("the page cannot be written: {message}")]
    Template {
        /// What the template engine says.
        message: String,
    },
}

impl From<minijinja::Error> for ReportError {
    fn from(error: minijinja::Error) -> Self {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(error) = source {
            message = format!("{message}: {error}");
            source = error.source();
        }
        Self::Template { message }
    }
}
