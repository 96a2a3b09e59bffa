//! A folder of files of one format as one file: what Spark, Dask, Polars and partitioned writers leave behind.

use std::fs;
use std::path::{Path, PathBuf};

use super::description::{Format, OpenOptions};
use super::reader::{Column, Extent, Form, Items, Limit, Reader};
use crate::error::{FileError, Result};
use crate::open_file::lower_name;

/// Files that have the same columns. Their rows follow each other in the order of the files' names, and the groups of
/// rows of each file are groups of the whole.
struct Folder {
    items: Items,
    parts: Vec<Box<dyn Reader>>,
    /// File and group within it, for every group.
    groups: Vec<(usize, usize)>,
}

/// The files of a folder whose rows can be read in groups, in the order of their names, and their format. What begins with
/// a dot or an underscore is a note that some program left there.
///
/// # Errors
/// [`FileError::Directory`] if there are none, and [`FileError::Content`] for files of two formats.
pub(super) fn parts(
    formats: &'static [Format],
    folder: &Path,
) -> Result<(&'static Format, Vec<PathBuf>)> {
    let mut found: Vec<(PathBuf, &'static Format)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(FileError::reading(folder))? {
        let path = entry.map_err(FileError::reading(folder))?.path();
        let name = lower_name(&path);
        if name.starts_with(['.', '_']) || path.is_dir() {
            continue;
        }
        found.extend(
            formats
                .iter()
                .find(|format| format.grouped && format.fits(&name))
                .map(|format| (path, format)),
        );
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let Some(&(_, format)) = found.first() else {
        return Err(FileError::Directory(folder.into()));
    };
    if let Some((path, other)) = found.iter().find(|(_, other)| other.name != format.name) {
        let reason = format!(
            "it is {} beside files that are {}; keep one kind in a folder",
            other.name, format.name
        );
        return Err(FileError::damaged(path, reason));
    }
    Ok((format, found.into_iter().map(|(path, _)| path).collect()))
}

/// Opens the files of a folder as one.
///
/// # Errors
/// [`FileError`] as for each of the files, and for a file whose columns are not those of the first.
pub(super) fn open(
    formats: &'static [Format],
    folder: &Path,
    options: &OpenOptions,
) -> Result<Box<dyn Reader>> {
    if options.transpose {
        return Err(super::transposed::refused(folder));
    }
    let (_, paths) = parts(formats, folder)?;
    let open = |path: &PathBuf| super::open_reader(formats, path, options);
    let parts: Vec<Box<dyn Reader>> = paths.iter().map(open).collect::<Result<_, _>>()?;
    let mut groups = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        same_columns(&*parts[0], &**part)?;
        groups.extend((0..part.extent(0)?.count()).map(|group| (at, group)));
    }
    Ok(Box::new(Folder {
        items: Items {
            path: folder.into(),
            ..parts[0].items().clone()
        },
        parts,
        groups,
    }))
}

/// Refuses a file that has other columns than the first.
fn same_columns(first: &dyn Reader, part: &dyn Reader) -> Result<()> {
    let wanted = first.names();
    let found = part.names();
    let differs = (0..wanted.len().max(found.len())).find(|&at| wanted.get(at) != found.get(at));
    let shown = |names: &[String], at: usize| {
        names
            .get(at)
            .map_or("not there".into(), |name| format!("'{name}'"))
    };
    let columns = [first.extent(0)?.columns, part.extent(0)?.columns];
    let what = match (differs, columns) {
        (Some(at), _) => format!(
            "column {} is {}, but {}",
            at + 1,
            shown(found, at),
            shown(wanted, at)
        ),
        (None, [wanted, found]) if wanted != found => {
            format!("it has {found} columns, but {wanted}")
        }
        (None, _) => return Ok(()),
    };
    let reason = format!(
        "{what} in {}; files of one folder have the same columns",
        first.path().display()
    );
    Err(FileError::damaged(part.path(), reason))
}

impl Reader for Folder {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, item: usize) -> Result<Extent> {
        let mut all = Extent {
            groups: Some(Vec::new()),
            ..self.parts[0].extent(item)?
        };
        for part in &self.parts {
            let own = part.extent(item)?;
            all.width = all.width.max(own.width);
            all.groups
                .get_or_insert_default()
                .extend(own.groups.unwrap_or_default());
        }
        Ok(all)
    }

    fn read_one(&self, group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let (part, group) = self.groups[group];
        self.parts[part].read_one(group, item, form, limit)
    }

    /// A note that all files have in the same words: what only some say is not said of the whole.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let first = self.parts[0].note(name)?;
        for part in &self.parts[1..] {
            if part.note(name)? != first {
                return Ok(None);
            }
        }
        Ok(first)
    }
}
