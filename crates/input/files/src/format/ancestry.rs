//! Files of ancestry: the shares of objects in the clusters of one run, as ADMIXTURE (`.Q`), fastStructure (`.meanQ`), CLUMPP
//! (`.indivq`) and STRUCTURE (`_f`) write them.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use partita_core::MemoryBudget;
use partita_core::ndarray::Array2;

use super::reader::Limit;
use crate::error::{Cell, FileError, Result, Row};
use crate::open_file::{Compression, lower_name, open};

/// Whether a file is called like one of these.
pub(crate) fn fits(path: &Path) -> bool {
    let name = lower_name(path);
    let plain = Compression::plain_name(&name);
    [".q", ".meanq", ".indivq", "_f"]
        .iter()
        .any(|ending| plain.ends_with(ending))
        && !name.starts_with('.')
}

/// The files of a folder that are called so, in the order of their names.
///
/// # Errors
/// [`FileError::Directory`] if there are none.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(FileError::reading(folder))? {
        let path = entry.map_err(FileError::reading(folder))?.path();
        if fits(&path) && !path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        Err(FileError::Directory(folder.into()))
    } else {
        Ok(found)
    }
}

/// The name of a file without the ending.
pub(crate) fn stem(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let plain = Compression::plain_name(&name).to_owned();
    plain
        .rsplit_once('.')
        .map_or(plain.clone(), |(stem, _)| stem.to_owned())
}

/// Numbers between blanks, a line an object, and the population of every object where the file says it; where
/// lines have a colon, only those behind it count and what stands before is
/// number, name, share of missing data and population.
pub(crate) fn read(
    path: &Path,
    budget: MemoryBudget,
) -> Result<(Array2<f64>, Option<Vec<String>>)> {
    let (file, length) = open(path)?;
    let limit = Limit::new(budget, "the run", "raise the limit");
    limit.check(path, length.saturating_mul(4))?;
    // What is packed says nothing of what it unpacks to.
    let most = (budget.bytes() / 4).saturating_add(1);
    let mut text = Vec::new();
    Compression::of(path)
        .unpack(file)
        .map_err(FileError::reading(path))?
        .take(most)
        .read_to_end(&mut text)
        .map_err(FileError::reading(path))?;
    limit.check(path, (text.len() as u64).saturating_mul(4))?;
    let text =
        String::from_utf8(text).map_err(|_| FileError::damaged(path, "it is not text (UTF-8)"))?;
    let with_colon = text.lines().filter_map(behind_colon).count() > 0;
    let (mut values, mut width, mut populations) = (Vec::new(), 0, Vec::new());
    for (at, line) in text.lines().enumerate() {
        let (before, shares) = match (with_colon, behind_colon(line)) {
            (true, Some(parts)) => parts,
            (true, None) => continue,
            (false, _) => ("", line),
        };
        let mut fields = 0;
        // STRUCTURE puts the bounds of an interval behind the shares.
        for field in shares
            .split_whitespace()
            .take_while(|field| !field.starts_with('('))
        {
            let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
            let cell = || {
                Cell::new(
                    path,
                    Row::Line(at as u64 + 1),
                    &(fields + 1).to_string(),
                    field,
                )
            };
            values.push(value.ok_or_else(|| FileError::not_a_number(cell()))?);
            fields += 1;
        }
        if fields == 0 {
            continue;
        }
        if width > 0 && fields != width {
            let reason = format!(
                "line {}: {fields} shares where the first line has {width}",
                at + 1
            );
            return Err(FileError::damaged(path, reason));
        }
        width = fields;
        populations.extend(before.split_whitespace().last().map(str::to_owned));
    }
    let objects = values.len() / width.max(1);
    let values = Array2::from_shape_vec((objects, width), values).expect("every line has as many");
    if objects == 0 {
        return Err(FileError::damaged(path, "it has no line of shares"));
    }
    let known = |label: &String| !label.starts_with('(');
    let populations =
        (populations.len() == objects && populations.iter().all(known)).then_some(populations);
    Ok((values, populations))
}

/// What stands before and behind the colon of a line of STRUCTURE or CLUMPP: an index before it, shares behind it.
fn behind_colon(line: &str) -> Option<(&str, &str)> {
    let (before, shares) = line.split_once(" : ").or_else(|| line.split_once(":  "))?;
    let index = before.split_whitespace().next()?.parse::<u64>().is_ok();
    let share = shares.split_whitespace().next()?.parse::<f64>().is_ok();
    (index && share).then_some((before, shares))
}
