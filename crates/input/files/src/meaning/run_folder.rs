//! What lies beside runs of ancestry programs: names and populations of the objects, how well each number of clusters fits, and lists of
//! runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk::metadata;
use crate::error::{FileError, Result};
use crate::format::ancestry::{LISTS, Listed, stem};
use crate::open_file::lower_name;

/// Names and populations of objects, as a file lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObjects {
    /// The file.
    pub file: PathBuf,
    /// How many there are.
    pub objects: usize,
    /// What the objects are called.
    pub names: Option<Vec<String>>,
    /// Their populations.
    pub populations: Option<Vec<String>>,
}

/// How well a number of clusters fits, as a program said in its log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoggedFit {
    /// K.
    pub clusters: usize,
    /// The error of cross-validation.
    pub cv_error: Option<f64>,
    /// The logarithm of the likelihood, or of what bounds it.
    pub log_likelihood: Option<f64>,
}

/// Longer files are no logs.
const LONGEST_LOG: u64 = 1 << 24;

/// The runs that a file map of pong lists, and the number of clusters that it says of each: lines of a name, a number and a file; none where it
/// is something else.
///
/// # Errors
/// [`FileError`] for a file that is listed and not there.
pub fn listed_runs(path: &Path) -> Result<Option<Vec<(PathBuf, usize)>>, FileError> {
    let name = lower_name(path);
    let text = [".txt", ".filemap", "filemap"]
        .iter()
        .any(|ending| name.ends_with(ending));
    let Some(text) = text.then(|| short_text(path)).flatten() else {
        return Ok(None);
    };
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let mut files = Vec::new();
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    for (at, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, clusters, file] = fields[..] else {
            return Ok(None);
        };
        match clusters.parse::<u16>() {
            Ok(clusters) if file.parse::<f64>().is_err() => {
                files.push((folder.join(file), clusters.into()));
            }
            // A header, which pong refuses.
            Err(_) if at == 0 && clusters.parse::<f64>().is_err() => {}
            _ => return Ok(None),
        }
    }
    // One that is there says that it is a list of files.
    let is_there = |(file, _): &&(PathBuf, usize)| metadata(file).is_ok();
    match files.iter().find(|file| !is_there(file)) {
        Some((missing, _)) if files.iter().any(|file| is_there(&file)) => Err(FileError::damaged(
            path,
            format!("it lists {}, which is not there", missing.display()),
        )),
        Some(_) => Ok(None),
        None if files.is_empty() => Ok(None),
        None => Ok(Some(files)),
    }
}

/// The names and populations of so many objects in a file beside a run that [`listed_objects`] reads, called like the run, or the only one
/// of its kind.
pub fn objects_beside(run: &Path, objects: usize) -> Option<ListedObjects> {
    let files = files_beside(run);
    LISTS.iter().find_map(|(ending, ..)| {
        let of_kind = || {
            files
                .iter()
                .filter(|file| lower_name(file).ends_with(ending))
        };
        // `panel.3.Q` belongs to `panel.fam`.
        let named = of_kind().find(|file| {
            let (own, name) = (stem(file), stem(run));
            name.strip_prefix(&own)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
        });
        let file = match named {
            Some(file) => file,
            None if of_kind().count() == 1 => of_kind().next()?,
            None => return None,
        };
        listed_objects(file).filter(|listed| listed.objects == objects)
    })
}

/// The names and populations of objects in a file of an ancestry program that lists them: `.ind2pop`, `.popfile` (a population a line),
/// `.ind` of EIGENSOFT, `.fam` of PLINK. None for other files, and where neither is said.
pub fn listed_objects(file: &Path) -> Option<ListedObjects> {
    let listed = Listed::of(&lower_name(file), || short_text(file))?;
    Some(ListedObjects {
        file: file.into(),
        objects: listed.objects,
        names: listed.names,
        populations: listed.populations,
    })
}

/// What logs beside runs say: ADMIXTURE (`CV error (K=3): 0.55`, `Loglikelihood: -1234.5` before it) and fastStructure (`name.3.log`:
/// `Marginal Likelihood = -0.9`, `CV error = 0.7, 0.1`).
pub fn logged_fits(run: &Path) -> Vec<LoggedFit> {
    let mut found = Vec::new();
    for file in files_beside(run) {
        let name = lower_name(&file);
        if [".log", ".out", ".txt"]
            .iter()
            .any(|ending| name.ends_with(ending))
        {
            found.extend(
                short_text(&file)
                    .map(|text| of_log(&stem(&file), &text))
                    .unwrap_or_default(),
            );
        }
    }
    found
}

fn of_log(stem: &str, text: &str) -> Vec<LoggedFit> {
    let number = |text: &str| text.trim().split([',', ' ']).next()?.parse::<f64>().ok();
    let clusters = stem
        .rsplit_once('.')
        .and_then(|(_, clusters)| clusters.parse().ok());
    let mut by_name = LoggedFit {
        clusters: clusters.unwrap_or(0),
        ..LoggedFit::default()
    };
    let mut found = Vec::new();
    let mut likelihood = None;
    for line in text.lines() {
        if let Some(rest) = line.split("CV error (K=").nth(1) {
            let told = rest
                .split_once("):")
                .and_then(|(k, error)| Some((k.parse().ok()?, number(error)?)));
            found.extend(told.map(|(clusters, error)| LoggedFit {
                clusters,
                cv_error: Some(error),
                log_likelihood: likelihood.take(),
            }));
        } else if let Some(rest) = line.strip_prefix("Loglikelihood:") {
            likelihood = number(rest);
        } else if let Some(rest) = line.strip_prefix("Marginal Likelihood =") {
            by_name.log_likelihood = number(rest);
        } else if let Some(rest) = line.strip_prefix("CV error =") {
            by_name.cv_error = number(rest);
        }
    }
    let told = by_name.cv_error.is_some() || by_name.log_likelihood.is_some();
    found.extend((told && by_name.clusters > 0).then_some(by_name));
    found
}

/// The files of the folder of a run, by name.
fn files_beside(run: &Path) -> Vec<PathBuf> {
    let folder = run.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or_else(|| Path::new(".")))
        .into_iter()
        .flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| match folder {
            Some(_) => entry.path(),
            None => PathBuf::from(entry.file_name()),
        })
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// The text of a file that is not long; what cannot be read is none of ours.
fn short_text(path: &Path) -> Option<String> {
    let length = fs::metadata(path).ok()?.len();
    (length <= LONGEST_LOG).then(|| fs::read_to_string(path).ok())?
}
