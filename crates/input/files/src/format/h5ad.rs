//! AnnData in HDF5 (`.h5ad`), decoded by the `hdf5-reader` crate: a matrix with the columns of `obs` as arrays beside it, or where labels
//! are wanted these columns alone.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use hdf5_reader::error::Error;
use hdf5_reader::group::Group;
use hdf5_reader::{
    BlockCacheStorage, Dataset, Datatype, FilterRegistry, Hdf5File, OpenOptions as Hdf5Options,
    RangeRequestStorage, StringSize, VarLenKind,
};
use partita_core::option;

use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::foreign::guarded;
use super::lzf;
use super::reader::{COLUMNS, Column, Extent, Form, Items, Layout, Limit, OBJECTS, Reader};
use super::sparse::FORMAT_MEMBER;
use crate::dictionary::Dictionary;
use crate::error::{FileError, Result};
use crate::open_file::FileCursor;
use crate::typed_array::{ArrayClaim, Dtype, Scalar, TypedArray, Values};

pub(crate) const FORMAT: Format = Format {
    name: "AnnData in HDF5",
    endings: &[".h5ad"],
    packed: false,
    magic: &[b"\x89HDF\r\n\x1a\n"],
    grouped: false,
    open,
    writes: Writes::Nothing,
    write: write_nothing,
};

/// The most that deflate can shrink anything, rounded up.
const BEST_RATIO: u64 = 1100;

/// The file written again, as files of old versions have to be.
const AGAIN: &str = "write it again in Python: import anndata; anndata.read_h5ad(\"FILE.h5ad\").write_h5ad(\"new.h5ad\")";

/// What an item is made of, by the places of its arrays in the file.
enum Member {
    /// Numbers or texts.
    Array(String),
    /// The number of every value, −1 for none, and the values.
    Categories { codes: String, values: String },
    /// Values, and which of them are missing.
    Masked { values: String, mask: String },
    /// Rows and columns of a sparse matrix.
    Shape([u64; 2]),
}

struct H5ad {
    items: Items,
    length: u64,
    file: Hdf5File,
    members: Vec<Member>,
    /// The column with the names of the objects.
    index: String,
    /// The layout of a sparse matrix, as SciPy names it.
    sparse: Option<&'static str>,
}

fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let cursor = FileCursor::open(path)?;
    let length = cursor.length();
    let read = move |at: u64, length: usize| {
        let mut bytes = vec![0; length];
        cursor.from(at).read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let storage =
        BlockCacheStorage::with_defaults(Arc::new(RangeRequestStorage::new(length, read)));
    let mut filters = FilterRegistry::new();
    filters.register(lzf::FILTER, Box::new(|_, packed, _| lzf::unpack(packed)));
    // Every array is read once.
    let how = Hdf5Options::default()
        .with_chunk_cache_bytes(0)
        .with_filter_registry(filters);
    let layout = if options.labels {
        Layout::Columns
    } else {
        Layout::Arrays
    };
    let mut file = H5ad {
        file: shielded(path, || {
            Hdf5File::from_storage_with_options(Arc::new(storage), how)
        })?,
        items: Items::new(path, layout, Vec::new()),
        length,
        members: Vec::new(),
        index: String::new(),
        sparse: None,
    };
    let end = file.file.superblock().eof_address;
    if end > length {
        let reason = format!("the file ends after {length} of {end} bytes; copy or write it again");
        return Err(file.damaged(reason));
    }
    if !options.labels {
        file.list_matrix(options)?;
    } else if options.layer.is_some() || options.obsm.is_some() {
        let reason = format!(
            "labels are the columns of obs; {} and {} name tables, leave them out",
            option("layer"),
            option("obsm")
        );
        return Err(file.damaged(reason));
    }
    file.list_obs()?;
    Ok(Box::new(file))
}

/// What the decoder gives; where it fails or panics the file is not whole.
fn shielded<T>(path: &Path, work: impl FnOnce() -> Result<T, Error>) -> Result<T> {
    let why = match guarded(work) {
        Some(Ok(done)) => return Ok(done),
        Some(Err(error)) => error.to_string(),
        None => "its bytes cannot be decoded".to_owned(),
    };
    let reason = if why.contains("unsupported filter") {
        format!("its arrays are packed in a way that is not read ({why}); {AGAIN}")
    } else {
        format!("this is not a whole HDF5 file of AnnData ({why}); copy or write it again")
    };
    Err(FileError::damaged(path, reason))
}

/// What a group says of itself under this name; empty where it says nothing.
fn attribute(group: &Group, name: &str) -> String {
    let found = group.attribute(name);
    found
        .and_then(|found| found.read_string())
        .unwrap_or_default()
}

impl H5ad {
    fn shielded<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T> {
        shielded(&self.items.path, work)
    }

    fn damaged(&self, reason: impl AsRef<str>) -> FileError {
        FileError::damaged(&self.items.path, reason)
    }

    fn add(&mut self, name: impl Into<String>, member: Member) {
        self.items.names.push(name.into());
        self.members.push(member);
    }

    /// The names in a group, sorted; none where there is no such group.
    fn listed(&self, group: &str) -> Result<Vec<String>> {
        let names = self.shielded(|| match self.file.group(group) {
            Ok(group) => group.member_names(),
            Err(_) => Ok(Default::default()),
        });
        let (groups, arrays) = names?;
        let mut names: Vec<String> = groups.into_iter().chain(arrays).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Where the matrix lies that is asked for, X where none is.
    fn place_of_matrix(&mut self, options: &OpenOptions) -> Result<String> {
        let layers = self.listed("layers")?;
        let obsm = self.listed("obsm")?;
        let is_listed = |list: &[String], name: &String| list.contains(name);
        match (&options.layer, &options.obsm) {
            (Some(_), Some(_)) => {
                let reason = format!("give {} or {}, not both", option("layer"), option("obsm"));
                return Err(self.damaged(reason));
            }
            (Some(layer), None) if layer != "X" => {
                return if is_listed(&layers, layer) {
                    Ok(format!("layers/{layer}"))
                } else {
                    Err(self.lacks("layer", layer, &layers))
                };
            }
            (None, Some(name)) => {
                return if is_listed(&obsm, name) {
                    Ok(format!("obsm/{name}"))
                } else {
                    Err(self.lacks("array in obsm", name, &obsm))
                };
            }
            _ => {}
        }
        let others: Vec<String> = [("layer", layers), ("obsm", obsm)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(flag, names)| format!("{} takes '{}'", option(flag), names.join("', '")))
            .collect();
        if !self.listed("/")?.iter().any(|name| name == "X") {
            let reason = match others[..] {
                [] => {
                    "it has no X, no layers and no obsm; its columns of obs can be read as labels"
                        .to_owned()
                }
                _ => format!("it has no X; {}", others.join(", ")),
            };
            return Err(self.damaged(reason));
        }
        if !others.is_empty() && options.layer.is_none() {
            let remark = format!("its X is read; {}", others.join(", "));
            self.items.remarks.push(remark);
        }
        Ok("X".to_owned())
    }

    fn lacks(&self, what: &str, name: &str, known: &[String]) -> FileError {
        self.damaged(format!(
            "it has no {what} '{name}'; there are '{}'",
            known.join("', '")
        ))
    }

    /// The arrays of a matrix, dense or in compressed rows or columns, and the names of its columns.
    fn list_matrix(&mut self, options: &OpenOptions) -> Result<()> {
        let place = self.place_of_matrix(options)?;
        if self.shielded(|| Ok(self.file.dataset(&place).is_ok()))? {
            self.add("X", Member::Array(place));
        } else {
            self.list_sparse(&place)?;
        }
        let var = self.shielded(|| Ok(self.file.group("var").ok()))?;
        if let Some(var) = var.filter(|_| options.obsm.is_none()) {
            let index = self.shielded(|| Ok(attribute(&var, "_index")))?;
            if !index.is_empty() {
                self.add(COLUMNS, Member::Array(format!("var/{index}")));
            }
        }
        Ok(())
    }

    fn list_sparse(&mut self, place: &str) -> Result<()> {
        let group = self.shielded(|| self.file.group(place))?;
        let kind = self.shielded(|| {
            Ok(attribute(&group, "encoding-type") + &attribute(&group, "h5sparse_format"))
        })?;
        self.sparse = match &*kind {
            "csr_matrix" | "csr" => Some("csr"),
            "csc_matrix" | "csc" => Some("csc"),
            other => {
                return Err(self.damaged(format!(
                    "'{place}' is stored as '{other}'; dense and sparse matrices are read, name another or write it so"
                )));
            }
        };
        let shape = self.shielded(|| {
            let shape = group
                .attribute("shape")
                .or_else(|_| group.attribute("h5sparse_shape"))?;
            shape.read_1d::<i64>()
        })?;
        let [rows, columns] = shape[..] else {
            return Err(self.damaged(format!("'{place}' has a shape of {} numbers", shape.len())));
        };
        let side = |length: i64| u64::try_from(length).unwrap_or(0);
        self.add("shape", Member::Shape([side(rows), side(columns)]));
        for name in ["indptr", "indices", "data"] {
            self.add(name, Member::Array(format!("{place}/{name}")));
        }
        Ok(())
    }

    /// The names of the objects and the columns of `obs`, in their order.
    fn list_obs(&mut self) -> Result<()> {
        let Some(obs) = self.shielded(|| Ok(self.file.group("obs").ok()))? else {
            return Err(self.damaged(format!(
                "its obs is of anndata before 0.7, or missing; {AGAIN}"
            )));
        };
        self.index = self.shielded(|| Ok(attribute(&obs, "_index")))?;
        if self.index.is_empty() {
            return Err(self.damaged(format!(
                "its obs does not say which column is its index; {AGAIN}"
            )));
        }
        let (groups, arrays) = self.shielded(|| obs.member_names())?;
        let order = self.shielded(|| {
            let order = obs.attribute("column-order");
            Ok(order.and_then(|order| order.read_strings()).ok())
        })?;
        let listed = order.unwrap_or_else(|| arrays.iter().chain(&groups).cloned().collect());
        let old = self.listed("obs/__categories")?;
        let own_name = if self.items.layout == Layout::Arrays {
            OBJECTS.to_owned()
        } else {
            self.index.clone()
        };
        self.add(own_name, Member::Array(format!("obs/{}", self.index)));
        for name in listed {
            if name == self.index || name == "__categories" {
                continue;
            }
            let place = format!("obs/{name}");
            let member = if old.contains(&name) {
                Member::Categories {
                    codes: place,
                    values: format!("obs/__categories/{name}"),
                }
            } else if arrays.contains(&name) {
                Member::Array(place)
            } else if let Some(member) = self.of_group(&place)? {
                member
            } else {
                let remark = format!(
                    "column '{name}' of obs is of a kind that is not read, and is left out"
                );
                self.items.remarks.push(remark);
                continue;
            };
            self.add(name, member);
        }
        self.items.words = (0..self.members.len())
            .map(|item| self.is_text(item))
            .collect::<Result<_>>()?;
        Ok(())
    }

    /// A column that is stored as a group.
    fn of_group(&self, place: &str) -> Result<Option<Member>> {
        let kind = self.shielded(|| {
            let group = self.file.group(place);
            Ok(group.map_or_else(
                |_| String::new(),
                |group| attribute(&group, "encoding-type"),
            ))
        })?;
        let within = |name: &str| format!("{place}/{name}");
        Ok(match &*kind {
            "categorical" => Some(Member::Categories {
                codes: within("codes"),
                values: within("categories"),
            }),
            kind if kind.starts_with("nullable-") => Some(Member::Masked {
                values: within("values"),
                mask: within("mask"),
            }),
            _ => None,
        })
    }

    fn is_text(&self, item: usize) -> Result<bool> {
        Ok(match &self.members[item] {
            Member::Categories { .. } => true,
            Member::Array(place) | Member::Masked { values: place, .. } => {
                is_text(self.dataset(place)?.dtype())
            }
            Member::Shape(_) => false,
        })
    }

    fn dataset(&self, place: &str) -> Result<Dataset> {
        self.shielded(|| self.file.dataset(place))
    }

    /// What the file says of an array of numbers.
    fn claim(&self, place: &str, dataset: &Dataset) -> Result<ArrayClaim> {
        let what = format!("'{place}'");
        let Some(dtype) = dtype(dataset.dtype()) else {
            let found = format!("of the type {:?}", dataset.dtype());
            let needed = "an array of numbers of 1 to 8 bytes, or of texts";
            return Err(FileError::kind(&self.items.path, what, found, needed));
        };
        let claim = ArrayClaim {
            what,
            dtype,
            shape: dataset.shape().to_vec(),
            by_column: false,
        };
        claim.bytes(&self.items.path, self.length.saturating_mul(BEST_RATIO))?;
        Ok(claim)
    }

    fn numbers(&self, place: &str, limit: &Limit) -> Result<TypedArray> {
        let dataset = self.dataset(place)?;
        let claim = self.claim(place, &dataset)?;
        let claimed = claim.bytes(&self.items.path, u64::MAX)?;
        // As bytes, then as numbers.
        limit.check(&self.items.path, claimed.saturating_mul(2))?;
        let bytes = self.shielded(|| dataset.read_native_bytes())?;
        claim.read(&self.items.path, &mut &*bytes, bytes.len() as u64)
    }

    /// Values as texts, whatever their type.
    fn texts(&self, place: &str, limit: &Limit) -> Result<Vec<String>> {
        let dataset = self.dataset(place)?;
        if !is_text(dataset.dtype()) {
            return Ok(self.numbers(place, limit)?.texts(0).collect());
        }
        let bytes = self.shielded(|| {
            let count = dataset.num_elements()?;
            let fixed = count.saturating_mul(dataset.raw_element_size()? as u64 + 24);
            if fixed > self.length.saturating_mul(BEST_RATIO) || !is_variable(dataset.dtype()) {
                return Ok(fixed);
            }
            // Every reference begins with the length of its text; many may name one text.
            let references = dataset.read_raw_bytes()?;
            let length = |reference: &[u8]| {
                let first = reference.first_chunk().copied();
                u64::from(first.map_or(0, u32::from_le_bytes))
            };
            let texts = references.chunks(dataset.vlen_reference_size()).map(length);
            Ok(texts.fold(fixed, u64::saturating_add))
        })?;
        limit.check(&self.items.path, bytes)?;
        self.shielded(|| dataset.read_strings())
    }

    /// The values of categories in the order of the objects, empty where there is none.
    fn categories(&self, codes: &str, values: &str, limit: &Limit) -> Result<Vec<String>> {
        let codes_read = self.numbers(codes, limit)?;
        let values = self.texts(values, limit)?;
        let value = |row: usize| {
            match codes_read.scalar(row, 0).map(Scalar::float) {
            Some(code) if code < 0.0 => Ok(String::new()),
            code => code
                .and_then(|code| values.get(code as usize).cloned())
                .ok_or_else(|| {
                    self.damaged(format!(
                        "value {} of '{codes}' is not one of its {} categories; write the file again",
                        row + 1,
                        values.len()
                    ))
                }),
        }
        };
        (0..codes_read.rows).map(value).collect()
    }

    fn masked(&self, values: &str, mask: &str, limit: &Limit) -> Result<Column> {
        let mask = self.numbers(mask, limit)?;
        let present: Vec<bool> = (0..mask.rows)
            .map(|row| {
                mask.scalar(row, 0)
                    .is_some_and(|missing| missing.float() == 0.0)
            })
            .collect();
        if is_text(self.dataset(values)?.dtype()) {
            let texts = self.texts(values, limit)?;
            let own = texts.into_iter().zip(present);
            let own = own.map(|(text, present)| if present { text } else { String::new() });
            return Ok(Column::Text(own.collect()));
        }
        let array = self.numbers(values, limit)?;
        if array.rows != present.len() || array.columns != 1 {
            return Err(
                self.damaged("values and mask of a column differ in length; write the file again")
            );
        }
        Ok(Column::Array(TypedArray {
            present: Some(present),
            ..array
        }))
    }
}

impl Reader for H5ad {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, item: usize) -> Result<Extent> {
        let place = match &self.members[item] {
            Member::Array(place)
            | Member::Categories { codes: place, .. }
            | Member::Masked { values: place, .. } => place,
            Member::Shape(_) => return Ok(Extent::of_column(Some(vec![2]))),
        };
        let dataset = self.dataset(place)?;
        if !is_text(dataset.dtype()) {
            return Extent::of_array(&self.claim(place, &dataset)?, &self.items.path);
        }
        let rows = dataset.shape().first().copied().unwrap_or(0);
        Ok(Extent::of_column(Some(vec![rows as usize])))
    }

    fn read_one(&self, _group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let column = match &self.members[item] {
            Member::Array(place) if self.items.words.get(item) == Some(&true) => {
                Column::Text(self.texts(place, limit)?)
            }
            Member::Array(place) => Column::Array(self.numbers(place, limit)?),
            Member::Categories { codes, values } => {
                Column::Text(self.categories(codes, values, limit)?)
            }
            Member::Masked { values, mask } => self.masked(values, mask, limit)?,
            Member::Shape(sides) => {
                Column::Array(TypedArray::column(Values::U64(sides.to_vec()), 2, None))
            }
        };
        Ok(match column {
            Column::Text(texts) if form != Form::Text => {
                Column::Labels(Dictionary::of_texts(texts))
            }
            column => column,
        })
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(match name {
            "pandas" if self.items.layout == Layout::Columns => {
                let note = serde_json::json!({ "index_columns": [self.index] });
                Some(note.to_string().into_bytes())
            }
            FORMAT_MEMBER => self.sparse.map(|word| word.as_bytes().to_vec()),
            _ => None,
        })
    }
}

fn is_variable(datatype: &Datatype) -> bool {
    matches!(
        datatype,
        Datatype::VarLen {
            kind: VarLenKind::String,
            ..
        } | Datatype::String {
            size: StringSize::Variable,
            ..
        }
    )
}

fn is_text(datatype: &Datatype) -> bool {
    is_variable(datatype) || matches!(datatype, Datatype::String { .. })
}

/// The type of numbers; none of those that are not read.
fn dtype(datatype: &Datatype) -> Option<Dtype> {
    Some(match datatype {
        Datatype::FixedPoint { size, signed, .. } => match (size, signed) {
            (1, true) => Dtype::I8,
            (2, true) => Dtype::I16,
            (4, true) => Dtype::I32,
            (8, true) => Dtype::I64,
            (1, false) => Dtype::U8,
            (2, false) => Dtype::U16,
            (4, false) => Dtype::U32,
            (8, false) => Dtype::U64,
            _ => return None,
        },
        Datatype::FloatingPoint { size: 4, .. } => Dtype::F32,
        Datatype::FloatingPoint { size: 8, .. } => Dtype::F64,
        // Truth values.
        Datatype::Enum { base, .. } => return dtype(base),
        _ => return None,
    })
}
