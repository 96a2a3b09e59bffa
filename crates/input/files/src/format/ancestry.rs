//! Files of ancestry: the shares of objects in the clusters of one run, as ADMIXTURE (`.Q`), fastStructure (`.meanQ`), CLUMPP
//! (`.indivq`, `.outfile`; many runs: `.indfile`) and STRUCTURE (`_f`) write them, and archives of such files (`.zip`).

use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use partita_core::MemoryBudget;
use partita_core::ndarray::{Array2, Axis};
use zip::ZipArchive;

use super::reader::Limit;
use crate::error::{Cell, FileError, Result, Row};
use crate::open_file::{Compression, FileCursor, has_ending, lower_name, open};

/// One run as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AncestryRun {
    /// The name of the file without the ending, with a number where it has several runs.
    pub(crate) name: String,
    /// The shares, n × K.
    pub(crate) values: Array2<f64>,
    /// What the objects are called, where the file says so and all differ.
    pub(crate) names: Option<Vec<String>>,
    /// The population of every object, where the file says so.
    pub(crate) populations: Option<Vec<String>>,
    /// The logarithm of the probability of the data, where the file says so.
    pub(crate) log_likelihood: Option<f64>,
}

/// How names of files of one run, or of several, end; some programs have the ending alone for a name.
const ENDINGS: [&str; 6] = [".q", ".meanq", ".indivq", "_f", ".indfile", ".outfile"];

/// Whether a file is called like one of these.
pub(crate) fn fits(path: &Path) -> bool {
    let name = lower_name(path);
    is_run(&name) || has_ending(&name, "zip") && !name.starts_with('.')
}

fn is_run(name: &str) -> bool {
    let plain = Compression::plain_name(name);
    let named = ENDINGS.iter().any(|ending| plain.ends_with(ending));
    (named && !name.starts_with('.')) || ["indfile", "outfile"].contains(&plain)
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

/// The runs of a file.
///
/// # Errors
/// [`FileError`] for what is not a run.
pub(crate) fn read(path: &Path, budget: MemoryBudget) -> Result<Vec<AncestryRun>> {
    if has_ending(&lower_name(path), "zip") {
        return archive(path, FileCursor::open(path)?, budget);
    }
    let (file, length) = open(path)?;
    limit(budget).check(path, length.saturating_mul(4))?;
    let mut packed = Compression::of(path)
        .unpack(file)
        .map_err(FileError::reading(path))?;
    let bytes = unpacked(path, &mut packed, budget)?;
    runs(path, &text(path, bytes)?)
}

fn limit(budget: MemoryBudget) -> Limit {
    Limit::new(budget, "the run", "raise the limit")
}

/// All that there is. What is packed says nothing of what it unpacks to.
fn unpacked(path: &Path, bytes: &mut dyn Read, budget: MemoryBudget) -> Result<Vec<u8>> {
    let most = (budget.bytes() / 4).saturating_add(1);
    let mut all = Vec::new();
    bytes
        .take(most)
        .read_to_end(&mut all)
        .map_err(FileError::reading(path))?;
    limit(budget).check(path, (all.len() as u64).saturating_mul(4))?;
    Ok(all)
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| FileError::damaged(path, "it is not text (UTF-8)"))
}

/// The runs of an archive, as CLUMPAK takes them, also of archives in it: members that are called like runs, or all where none is.
fn archive(path: &Path, bytes: impl Read + Seek, budget: MemoryBudget) -> Result<Vec<AncestryRun>> {
    let whole = |error: zip::result::ZipError| {
        let reason = format!("this is not a whole ZIP archive ({error}); copy it again");
        FileError::damaged(path, reason)
    };
    let mut members = ZipArchive::new(bytes).map_err(whole)?;
    let mut names: Vec<String> = members
        .file_names_raw()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    let called = |name: &String| lower_name(Path::new(name));
    names.retain(|name| {
        !name.ends_with('/') && !name.starts_with("__MACOSX") && !called(name).starts_with('.')
    });
    let mut list = None;
    for name in &names {
        let mut read = || {
            let bytes =
                unpacked(&path.join(name), &mut members.by_name(name).ok()?, budget).ok()?;
            String::from_utf8(bytes).ok()
        };
        list = list.or(Listed::of(&called(name), &mut read));
    }
    let named = names.iter().any(|name| fits(Path::new(name)));
    if named {
        names.retain(|name| fits(Path::new(name)));
    }
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let within = path.join(&name);
        let mut member = members.by_name(&name).map_err(whole)?;
        let bytes = unpacked(&within, &mut member, budget)?;
        if has_ending(&called(&name), "zip") {
            found.extend(archive(&within, io::Cursor::new(bytes), budget)?);
        } else {
            let read = text(&within, bytes).and_then(|text| runs(&within, &text));
            found.extend(match read {
                Err(_) if !named => {
                    let reason = format!(
                        "none of its files is called like a run (.Q, .meanQ, .indfile, _f), and '{name}' is none; unpack it and name a file"
                    );
                    return Err(FileError::damaged(path, reason));
                }
                read => read?,
            });
        }
    }
    if found.is_empty() {
        return Err(FileError::damaged(path, "this archive has no run in it"));
    }
    // What the runs themselves say counts first.
    if let Some(list) = list.filter(|list| list.objects == found[0].values.nrows()) {
        let first = &mut found[0];
        first.names = first.names.take().or(list.names);
        first.populations = first.populations.take().or(list.populations);
    }
    Ok(found)
}

/// How the names of files end that list objects, a line each, and which of its words are names and populations: `.ind2pop`, `.popfile`,
/// `.ind` of EIGENSOFT, `.fam` of PLINK.
pub(crate) const LISTS: [(&str, Option<usize>, usize); 4] = [
    (".ind2pop", None, 0),
    (".popfile", None, 0),
    (".ind", Some(0), 2),
    (".fam", Some(1), 0),
];

/// Names and populations of objects in a file that lists them.
pub(crate) struct Listed {
    pub(crate) objects: usize,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) populations: Option<Vec<String>>,
}

impl Listed {
    /// What a file of this name (small letters) lists; none for other files, and where neither is said.
    pub(crate) fn of(name: &str, text: impl FnOnce() -> Option<String>) -> Option<Self> {
        let (_, of_name, population) = LISTS.iter().find(|(ending, ..)| name.ends_with(ending))?;
        let text = text()?;
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .filter(|fields: &Vec<&str>| !fields.is_empty())
            .collect();
        let column = |at: usize| -> Option<Vec<String>> {
            let fields = lines.iter().map(|fields| fields.get(at));
            fields
                .map(|field| field.map(|&field| field.to_owned()))
                .collect()
        };
        let listed = Self {
            objects: lines.len(),
            names: of_name.and_then(column).filter(|names| !repeat(names)),
            // A family of its own for everybody says nothing.
            populations: column(*population).filter(|populations| repeat(populations)),
        };
        (listed.names.is_some() || listed.populations.is_some()).then_some(listed)
    }
}

/// The lines of shares of a file.
#[derive(Default)]
struct Lines {
    values: Vec<f64>,
    width: usize,
    /// The words before the shares of every line.
    words: Vec<Vec<String>>,
    /// The rows that begin a run.
    begins: Vec<usize>,
}

/// Numbers between blanks, commas or semicolons, a line an object, behind its name or population and name; where lines have a colon, only
/// those behind it count, and what stands before is number, name, share of missing data and population.
fn runs(path: &Path, text: &str) -> Result<Vec<AncestryRun>> {
    let with_colon = text.lines().any(|line| behind_colon(line).is_some());
    let mut lines = Lines::default();
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        let (before, shares) = match (with_colon, behind_colon(line)) {
            (true, Some(parts)) => parts,
            (true, None) => continue,
            (false, _) => ("", line),
        };
        let row = lines.words.len();
        if with_colon {
            // Runs stand one after the other; numbers of objects begin anew.
            let number = before
                .split_whitespace()
                .next()
                .and_then(|word| word.parse().ok());
            let number: u64 = number.unwrap_or(last + 1);
            if row == 0 || number <= last {
                lines.begins.push(row);
            }
            last = number;
        } else if row == 0 {
            lines.begins = vec![0];
        }
        lines.push(path, at as u64 + 1, before, shares)?;
    }
    let objects = lines.words.len();
    if objects == 0 {
        return Err(FileError::damaged(path, "it has no line of shares"));
    }
    let log_likelihood = text.lines().find_map(log_likelihood);
    let values = Array2::from_shape_vec((objects, lines.width), lines.values)
        .expect("every line has as many");
    let ends = lines.begins.iter().skip(1).copied().chain([objects]);
    let (stem, several) = (stem(path), lines.begins.len() > 1);
    let run = |(at, (begin, end)): (usize, (usize, usize))| {
        let (names, populations) = said(&lines.words[begin..end], with_colon);
        AncestryRun {
            name: if several {
                format!("{stem}.{}", at + 1)
            } else {
                stem.clone()
            },
            values: without_numbers(values.slice_axis(Axis(0), (begin..end).into()).to_owned()),
            names,
            populations,
            log_likelihood,
        }
    };
    Ok(lines
        .begins
        .iter()
        .copied()
        .zip(ends)
        .enumerate()
        .map(run)
        .collect())
}

impl Lines {
    /// Adds a line, or passes over one that has no share.
    fn push(&mut self, path: &Path, line: u64, before: &str, shares: &str) -> Result<()> {
        let comma = if shares.contains(',') && !shares.contains('(') {
            ','
        } else {
            ';'
        };
        let fields = shares
            .split(|letter: char| letter.is_whitespace() || letter == comma)
            .filter(|field| !field.is_empty())
            // STRUCTURE puts the bounds of an interval behind the shares.
            .take_while(|field| !field.starts_with('('));
        let fields: Vec<&str> = fields.collect();
        let share = |field: &str| field.parse::<f64>().ok().filter(|share| share.is_finite());
        let first = fields.iter().position(|field| share(field).is_some());
        let begins = self.words.is_empty() || shares.trim_start().starts_with('#');
        let Some(first) = first.filter(|_| !shares.trim_start().starts_with('#')) else {
            // A header, a comment, a blank line.
            if fields.is_empty() || begins {
                return Ok(());
            }
            return Err(FileError::not_a_number(cell(path, line, 1, fields[0])));
        };
        let width = fields.len() - first;
        if self.width > 0 && width != self.width {
            let reason = format!(
                "line {line}: {width} shares where the first line has {}",
                self.width
            );
            return Err(FileError::damaged(path, reason));
        }
        self.width = width;
        for (at, field) in fields[first..].iter().enumerate() {
            let share = share(field)
                .ok_or_else(|| FileError::not_a_number(cell(path, line, first + at + 1, field)))?;
            self.values.push(share);
        }
        let before = before
            .split_whitespace()
            .chain(fields[..first].iter().copied());
        self.words.push(
            before
                .map(|word| word.trim_matches('"').to_owned())
                .collect(),
        );
        Ok(())
    }
}

fn cell(path: &Path, line: u64, column: usize, field: &str) -> Cell {
    Cell::new(path, Row::Line(line), &column.to_string(), field)
}

/// A table without the numbers of its rows, which are no shares.
fn without_numbers(values: Array2<f64>) -> Array2<f64> {
    let counts = |first: usize| {
        let rows = values.column(0).into_iter().zip(first..);
        rows.into_iter().all(|(&value, row)| value == row as f64)
    };
    if values.ncols() > 1 && values.nrows() > 2 && (counts(0) || counts(1)) {
        values.slice_axis(Axis(1), (1..).into()).to_owned()
    } else {
        values
    }
}

/// Names and populations by the words before the shares: number, name, share of missing data and population before a colon; else the name,
/// or family and name.
fn said(words: &[Vec<String>], with_colon: bool) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let column = |of: &dyn Fn(&Vec<String>) -> Option<&String>| -> Option<Vec<String>> {
        words.iter().map(|words| of(words).cloned()).collect()
    };
    let (names, populations) = if with_colon {
        (
            column(&|words| words.get(1).filter(|_| words.len() > 2)),
            column(&|words| {
                words
                    .last()
                    .filter(|word| words.len() > 3 && !word.starts_with('('))
            }),
        )
    } else {
        let families = column(&|words| words.first().filter(|_| words.len() == 2));
        (
            column(&|words| words.last()),
            families.filter(|families| repeat(families)),
        )
    };
    let numbers =
        |names: &Vec<String>| (1..).zip(names).all(|(row, name)| *name == row.to_string());
    let names = names.filter(|names| !repeat(names) && !numbers(names));
    (names, populations)
}

/// Whether some word comes twice.
pub(crate) fn repeat(words: &[String]) -> bool {
    let mut sorted: Vec<&String> = words.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// What stands before and behind the colon of a line of STRUCTURE or CLUMPP: an index before it, shares behind it.
fn behind_colon(line: &str) -> Option<(&str, &str)> {
    let (before, shares) = line.split_once(" : ").or_else(|| line.split_once(":  "))?;
    let index = before.split_whitespace().next()?.parse::<u64>().is_ok();
    let share = shares.split_whitespace().next()?.parse::<f64>().is_ok();
    (index && share).then_some((before, shares))
}

/// What STRUCTURE says of the probability of the data.
fn log_likelihood(line: &str) -> Option<f64> {
    let (_, value) = line
        .strip_prefix("Estimated Ln Prob of Data")?
        .split_once('=')?;
    value.trim().parse().ok()
}
