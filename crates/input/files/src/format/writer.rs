//! What is handed to a format to be written: named columns or arrays, and notes beside them.

/// Values of a column, drawn when they are written.
pub(crate) enum Data<'a> {
    /// Whole numbers.
    Integer(Box<dyn Iterator<Item = Option<i64>> + 'a>),
    /// Numbers.
    Float(Box<dyn Iterator<Item = f64> + 'a>),
    /// Texts.
    Text(Box<dyn Iterator<Item = Option<&'a str>> + 'a>),
}

impl<'a> Data<'a> {
    pub(crate) fn integers(values: impl Iterator<Item = Option<i64>> + 'a) -> Self {
        Self::Integer(Box::new(values))
    }

    pub(crate) fn floats(values: impl Iterator<Item = f64> + 'a) -> Self {
        Self::Float(Box::new(values))
    }

    pub(crate) fn texts(values: impl Iterator<Item = Option<&'a str>> + 'a) -> Self {
        Self::Text(Box::new(values))
    }

    /// Names, of which none is missing.
    pub(crate) fn names(names: &'a [String]) -> Self {
        Self::texts(names.iter().map(|name| Some(name.as_str())))
    }

    /// Labels by their own names.
    pub(crate) fn labels(values: &'a [Option<String>]) -> Self {
        Self::texts(values.iter().map(Option::as_deref))
    }
}

/// Values of an array in the order of its rows, drawn when they are written.
pub(crate) enum Elements<'a> {
    I8(Box<dyn Iterator<Item = i8> + 'a>),
    I16(Box<dyn Iterator<Item = i16> + 'a>),
    I32(Box<dyn Iterator<Item = i32> + 'a>),
    I64(Box<dyn Iterator<Item = i64> + 'a>),
    F64(Box<dyn Iterator<Item = f64> + 'a>),
    Texts(std::borrow::Cow<'a, [String]>),
    /// The bytes of a member that is not an array of numbers.
    Bytes(std::borrow::Cow<'a, [u8]>),
}

/// An array to be written.
pub(crate) struct Array<'a> {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Elements<'a>,
}

impl<'a> Array<'a> {
    pub(crate) fn new(shape: impl Into<Vec<usize>>, elements: Elements<'a>) -> Self {
        Self {
            shape: shape.into(),
            elements,
        }
    }

    pub(crate) fn floats(
        shape: impl Into<Vec<usize>>,
        values: impl IntoIterator<Item = f64, IntoIter: 'a>,
    ) -> Self {
        Self::new(shape, Elements::F64(Box::new(values.into_iter())))
    }

    pub(crate) fn texts(texts: impl Into<std::borrow::Cow<'a, [String]>>) -> Self {
        Self::new([], Elements::Texts(texts.into()))
    }

    pub(crate) fn bytes(bytes: impl Into<std::borrow::Cow<'a, [u8]>>) -> Self {
        Self::new([], Elements::Bytes(bytes.into()))
    }
}

/// What is to be written.
pub(crate) enum Contents<'a> {
    /// Columns of equal length by name, and notes by name.
    Columns {
        #[cfg_attr(
            not(feature = "parquet"),
            expect(dead_code, reason = "text is not cut into groups")
        )]
        rows: usize,
        columns: Vec<(&'a str, Data<'a>)>,
        #[cfg_attr(
            not(feature = "parquet"),
            expect(dead_code, reason = "text has no place for notes")
        )]
        notes: Vec<(&'a str, String)>,
    },
    /// Arrays by name; [`Elements::Bytes`] by the name of the member.
    Arrays(Vec<(&'a str, Array<'a>)>),
}
