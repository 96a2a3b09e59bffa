//! Schemas of Arrow IPC files: what every column is, and what it takes in a batch.

use arrow_ipc::{Precision, Type};

use super::array_claim::Dtype;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(Dtype),
    Bool,
    /// Texts, with places of four or eight bytes.
    Text(Dtype),
    /// Texts, short ones in place and long ones in buffers of their own.
    TextView,
    /// Dates and times.
    Time,
    Other,
}

/// A column, and what it takes in a batch.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Number of the dictionary and type of the places in it.
    pub(crate) dictionary: Option<(i64, Dtype)>,
    pub(crate) nodes: usize,
    pub(crate) buffers: usize,
    /// Columns in it with any number of buffers.
    pub(crate) views: usize,
}

/// A column of the schema, and what it takes in every batch; none for what cannot be true.
pub(crate) fn read_field(field: arrow_ipc::Field<'_>, depth: usize) -> Option<Field> {
    let name = field.name().unwrap_or_default().to_owned();
    let kind = kind(field);
    let mut read = Field {
        name,
        kind,
        dictionary: None,
        nodes: 1,
        buffers: 2,
        views: 0,
    };
    if let Some(dictionary) = field.dictionary() {
        let places = dictionary.indexType().map_or(Some(Dtype::I32), |int| {
            integer(int.bitWidth(), int.is_signed())
        })?;
        read.dictionary = Some((dictionary.id(), places));
        return Some(read);
    }
    read.buffers = match field.type_type() {
        Type::Null | Type::RunEndEncoded => 0,
        Type::Struct_ | Type::FixedSizeList => 1,
        Type::Utf8
        | Type::Binary
        | Type::LargeUtf8
        | Type::LargeBinary
        | Type::ListView
        | Type::LargeListView => 3,
        Type::Union => match field.type_as_union()?.mode() {
            arrow_ipc::UnionMode::Dense => 2,
            _ => 1,
        },
        _ => 2,
    };
    read.views = usize::from(matches!(
        field.type_type(),
        Type::Utf8View | Type::BinaryView
    ));
    if depth > 64 {
        return None;
    }
    for child in field.children().into_iter().flatten() {
        let child = read_field(child, depth + 1)?;
        read.nodes += child.nodes;
        read.buffers += child.buffers;
        read.views += child.views;
    }
    Some(read)
}

fn integer(width: i32, signed: bool) -> Option<Dtype> {
    Some(match (width, signed) {
        (8, true) => Dtype::I8,
        (16, true) => Dtype::I16,
        (32, true) => Dtype::I32,
        (64, true) => Dtype::I64,
        (8, false) => Dtype::U8,
        (16, false) => Dtype::U16,
        (32, false) => Dtype::U32,
        (64, false) => Dtype::U64,
        _ => return None,
    })
}

fn kind(field: arrow_ipc::Field<'_>) -> Kind {
    let number = |dtype: Option<Dtype>| dtype.map_or(Kind::Other, Kind::Number);
    match field.type_type() {
        Type::Int => number(
            field
                .type_as_int()
                .and_then(|int| integer(int.bitWidth(), int.is_signed())),
        ),
        Type::FloatingPoint => match field
            .type_as_floating_point()
            .map(|float| float.precision())
        {
            Some(Precision::SINGLE) => Kind::Number(Dtype::F32),
            Some(Precision::DOUBLE) => Kind::Number(Dtype::F64),
            _ => Kind::Other,
        },
        Type::Bool => Kind::Bool,
        Type::Utf8 => Kind::Text(Dtype::I32),
        Type::LargeUtf8 => Kind::Text(Dtype::I64),
        Type::Utf8View => Kind::TextView,
        Type::Date | Type::Time | Type::Timestamp => Kind::Time,
        _ => Kind::Other,
    }
}
