//! One ensemble of several files: base clusterings side by side, objects matched by their names.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use partita::EnsembleBuilder;
use partita::extend::{EnsembleError, option};
use partita::files::{
    self, FileError, LabelColumn, Labels, LoadedEnsemble, ReadOptions, Role, Roles,
};

use crate::error::AppError;
use crate::input::input_notes::say_roles;
use crate::input::label_files::{load_ensemble, read_ensemble};
use crate::input::objects::{JointObjects, Objects};
use crate::observer::Observer;

/// Columns of a labels file besides names and labels, the last two of versions before.
const BESIDE: [&str; 4] = ["agreement", "probability", "certainty", "confidence"];

/// A file as it was read.
pub(crate) struct Part {
    path: PathBuf,
    pub(crate) loaded: LoadedEnsemble,
    roles: Roles,
}

impl Part {
    fn objects(&self) -> Objects<'_> {
        let ensemble = &self.loaded.ensemble;
        Objects::new(&self.path, ensemble.objects(), ensemble.object_names())
    }
}

/// Reads the files of an ensemble. One is as it is, and so are runs of ancestry (`.Q`, …). Of several others the base clusterings stand side by side: objects are matched by their
/// names where all files have them (what a file lacks is missing, and that is said), else by place; a file of labels as we write
/// them is one base clustering, called after its file; names that occur twice get that of their file.
///
/// # Errors
/// [`AppError::File`] for what cannot be read, [`AppError::Content`] for files that have nothing in common, or soft base clusterings
/// in one of several files.
pub fn load_ensembles(
    files: &[&Path],
    read: &ReadOptions,
    observer: &dyn Observer,
) -> Result<(LoadedEnsemble, Vec<Roles>), AppError> {
    if let [file] = files {
        return load_ensemble(file, read, observer).map(|(loaded, roles)| (loaded, vec![roles]));
    }
    if let Some((loaded, roles)) = files::load_runs(files, read)? {
        say_roles(files[0], &roles, observer);
        return Ok((loaded, vec![roles; files.len()]));
    }
    let mut parts = Vec::with_capacity(files.len());
    let mut asked = Asked::new(read);
    for file in files {
        let part = asked.load(file)?;
        say_roles(file, &part.roles, observer);
        parts.push(part);
    }
    asked.check()?;
    let loaded = join(&parts, observer)?;
    Ok((loaded, parts.into_iter().map(|part| part.roles).collect()))
}

/// Columns that were asked for, of which every one has to be in one of the files.
struct Asked<'a> {
    read: &'a ReadOptions,
    /// How the last file went where it lacked a column, by column: none once a file has had it.
    lacking: BTreeMap<String, Option<FileError>>,
}

impl<'a> Asked<'a> {
    fn new(read: &'a ReadOptions) -> Self {
        Self {
            read,
            lacking: BTreeMap::new(),
        }
    }

    /// Reads a file, without the columns that were asked for and that it does not have.
    fn load(&mut self, path: &Path) -> Result<Part, AppError> {
        let mut read = self.read.clone();
        let mut absent = Vec::new();
        let part = loop {
            match one_file(path, &read) {
                Err(FileError::NoColumn {
                    column,
                    path,
                    known,
                }) if is_asked(&read, &column) => {
                    forget(&mut read, &column);
                    absent.push((
                        column.clone(),
                        FileError::NoColumn {
                            path,
                            column,
                            known,
                        },
                    ));
                }
                read => break read?,
            }
        };
        for column in columns(&read) {
            self.lacking.insert(column, None);
        }
        for (column, error) in absent {
            self.lacking.entry(column).or_insert(Some(error));
        }
        Ok(part)
    }

    fn check(self) -> Result<(), AppError> {
        self.lacking
            .into_values()
            .flatten()
            .next()
            .map_or(Ok(()), |error| Err(error.into()))
    }
}

/// The columns that options ask for.
fn columns(read: &ReadOptions) -> Vec<String> {
    read.skip
        .iter()
        .chain(&read.only)
        .chain(&read.id)
        .map(String::as_str)
        .chain(read.truth.column())
        .map(str::to_owned)
        .collect()
}

fn is_asked(read: &ReadOptions, column: &str) -> bool {
    columns(read).iter().any(|asked| asked == column)
}

fn forget(read: &mut ReadOptions, column: &str) {
    read.skip.retain(|asked| asked != column);
    read.only.retain(|asked| asked != column);
    read.id = read.id.take().filter(|asked| asked != column);
    if read.truth.column() == Some(column) {
        read.truth = files::Truth::None;
    }
}

/// Reads one more ensemble with the options of another file: columns that were asked for and that this file does not have are
/// forgotten.
pub(crate) fn read_ensemble_beside(
    path: &Path,
    read: &mut ReadOptions,
    observer: &dyn Observer,
) -> Result<LoadedEnsemble, AppError> {
    loop {
        match read_ensemble(path, read, observer) {
            Err(AppError::File(FileError::NoColumn { column, .. })) if is_asked(read, &column) => {
                forget(read, &column);
            }
            other => return other,
        }
    }
}

/// A file of labels, or an ensemble.
fn one_file(path: &Path, read: &ReadOptions) -> Result<Part, FileError> {
    if let Some(part) = labels_file(path, read) {
        return Ok(part);
    }
    let (loaded, roles) = files::load_ensemble(path, read)?;
    Ok(Part {
        path: path.into(),
        loaded,
        roles,
    })
}

/// A file of labels as we write them: one base clustering.
pub(crate) fn labels_file(path: &Path, read: &ReadOptions) -> Option<Part> {
    let asked = read.truth.column();
    let mut read = read.clone();
    read.truth = files::Truth::ByName;
    let (labels, mut roles) = files::load_labels(path, &read).ok()?;
    let is_asked = roles
        .columns
        .iter()
        .any(|column| Some(column.name.as_str()) == asked);
    let own = roles.columns.iter().all(|column| match column.role {
        Role::Truth => column.name == "label",
        Role::Objects => true,
        _ => BESIDE.contains(&column.name.as_str()),
    });
    let written = roles
        .columns
        .iter()
        .any(|column| BESIDE.contains(&column.name.as_str()));
    if !own || !written || is_asked {
        return None;
    }
    roles.columns.retain(|column| column.role == Role::Objects);
    let Labels {
        object_names,
        column,
    } = labels;
    let mut builder = EnsembleBuilder::new(column.values.len());
    builder
        .push(file_name(path), column.values.iter().map(Option::as_deref))
        .ok()?;
    let mut ensemble = builder.finish().ok()?;
    if let Some(names) = object_names {
        ensemble = ensemble.with_object_names(names).ok()?;
    }
    Some(Part {
        path: path.into(),
        loaded: LoadedEnsemble {
            ensemble,
            truth: None,
        },
        roles,
    })
}

/// What a base clustering is called after its file; of `out/labels.csv` the folder says more.
pub(crate) fn file_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').next().unwrap_or_default().to_owned();
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .map(|folder| folder.to_string_lossy().into_owned());
    folder.filter(|_| stem == "labels").unwrap_or(stem)
}

/// The base clusterings of all files side by side.
fn join(parts: &[Part], observer: &dyn Observer) -> Result<LoadedEnsemble, AppError> {
    if let Some(soft) = parts
        .iter()
        .find(|part| part.loaded.ensemble.memberships().is_some())
    {
        let reason = "holds soft base clusterings, which are read from one file; `align` joins runs of several";
        return Err(AppError::content(&soft.path, reason));
    }
    let objects: Vec<Objects<'_>> = parts.iter().map(Part::objects).collect();
    let remedy = format!("name the columns of their names with {}", option("id"));
    let JointObjects {
        names: object_names,
        rows,
    } = JointObjects::of(&objects, &remedy, observer)?;
    let mut builder = EnsembleBuilder::new(rows[0].len());
    let names = base_names(parts);
    let mut names = names.iter();
    for (part, rows) in parts.iter().zip(&rows) {
        let wrong = |error: EnsembleError| AppError::content(&part.path, error.to_string());
        let ensemble = &part.loaded.ensemble;
        for (u, base) in ensemble.bases().iter().enumerate() {
            let label = |row: &Option<usize>| {
                row.and_then(|row| ensemble.label(row, u))
                    .map(|label| base.values()[label].as_str())
            };
            builder
                .push(
                    names.next().map_or(base.name(), String::as_str),
                    rows.iter().map(label),
                )
                .map_err(wrong)?;
        }
    }
    let wrong = |error: EnsembleError| AppError::content(&parts[0].path, error.to_string());
    let mut ensemble = builder.finish().map_err(wrong)?;
    let truth = parts
        .iter()
        .zip(&rows)
        .find_map(|(part, rows)| truth(part, rows));
    if let Some(names) = object_names {
        ensemble = ensemble.with_object_names(names).map_err(wrong)?;
    }
    Ok(LoadedEnsemble { ensemble, truth })
}

/// The true labels of a file for the objects of all.
fn truth(part: &Part, rows: &[Option<usize>]) -> Option<LabelColumn> {
    let LabelColumn { name, values } = part.loaded.truth.as_ref()?;
    let value = |row: &Option<usize>| row.and_then(|row| values[row].clone());
    Some(LabelColumn {
        name: name.clone(),
        values: rows.iter().map(value).collect(),
    })
}

/// Names of the base clusterings of all files: their own where no other has it, else beside that of the file.
fn base_names(parts: &[Part]) -> Vec<String> {
    let bases = || {
        parts.iter().flat_map(|part| {
            part.loaded
                .ensemble
                .bases()
                .iter()
                .map(move |base| (part, base.name()))
        })
    };
    let mut times: HashMap<&str, usize> = HashMap::new();
    bases().for_each(|(_, name)| *times.entry(name).or_default() += 1);
    let several = |part: &Part| {
        parts
            .iter()
            .filter(|other| file_name(&other.path) == file_name(&part.path))
            .count()
            > 1
    };
    let name = |(part, name): (&Part, &str)| match (times[name], several(part)) {
        (1, _) => name.to_owned(),
        (_, true) => format!("{}:{name}", part.path.display()),
        (_, false) => format!("{}:{name}", file_name(&part.path)),
    };
    bases().map(name).collect()
}

#[cfg(test)]
mod tests {
    use partita::Ensemble;

    use super::*;
    use crate::observer::NoObserver;

    fn joined(
        files: &[(&str, &str)],
        read: &ReadOptions,
    ) -> Result<(Ensemble, Option<LabelColumn>), String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = files
            .iter()
            .map(|(name, _)| folder.path().join(name))
            .collect();
        for ((name, text), path) in files.iter().zip(&paths) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let found = load_ensembles(&paths, read, &NoObserver);
        found
            .map(|(loaded, _)| (loaded.ensemble, loaded.truth))
            .map_err(|error| error.to_string())
    }

    fn rows(ensemble: &Ensemble) -> Vec<String> {
        let label = |i: usize, u: usize| {
            ensemble
                .label(i, u)
                .map_or("-", |label| &ensemble.bases()[u].values()[label])
        };
        let row = |i: usize| {
            (0..ensemble.bases().len())
                .map(|u| label(i, u))
                .collect::<Vec<_>>()
                .join("")
        };
        (0..ensemble.objects())
            .map(|i| ensemble.object_name(i) + ":" + &row(i))
            .collect()
    }

    #[test]
    fn runs_of_ancestry_are_one_ensemble() {
        let files = [("a.Q", "0.9 0.1\n0.2 0.8\n"), ("b.Q", "0.3 0.7\n0.6 0.4\n")];
        let (ensemble, _) = joined(&files, &ReadOptions::default()).unwrap();
        assert_eq!(ensemble.bases().len(), 2);
        assert!(ensemble.memberships().is_some());
        let other = [files[0], ("b.Q", "0.3 0.7\n")];
        assert!(joined(&other, &ReadOptions::default()).is_err());
    }

    #[test]
    fn objects_are_matched_by_name_and_labels_files_are_base_clusterings() {
        let skip = |column: &str| {
            let mut read = ReadOptions::default();
            read.skip.push(column.into());
            read
        };
        let files = [
            ("seurat.csv", "cell,k\nc1,a\nc2,a\nc3,b\n"),
            ("sc3.csv", "cell,k,kind\nc3,2,B\nc1,1,T\nc4,2,B\n"),
            (
                "run/labels.csv",
                "object,label,certainty,confidence\nc1,0,1,1\nc2,0,1,1\nc3,1,1,1\nc4,1,1,1\n",
            ),
        ];
        let (ensemble, truth) = joined(&files, &ReadOptions::of_column("kind")).unwrap();
        let names: Vec<&str> = ensemble
            .bases()
            .iter()
            .map(partita::extend::BaseClustering::name)
            .collect();
        assert_eq!(names, ["seurat:k", "sc3:k", "run"]);
        assert_eq!(rows(&ensemble), ["c1:a10", "c2:a-0", "c3:b21", "c4:-21"]);
        let truth: Vec<Option<String>> = truth.unwrap().values;
        assert_eq!(
            truth,
            [Some("T".into()), None, Some("B".into()), Some("B".into())]
        );
        assert!(joined(&files, &skip("kind")).unwrap().1.is_none());
        let message = joined(&files, &skip("knd")).unwrap_err();
        assert!(message.contains("no column 'knd'"), "{message}");
    }

    #[test]
    fn files_without_names_are_matched_by_place() {
        let read = ReadOptions::default();
        let (ensemble, _) =
            joined(&[("a.csv", "x\n0\n1\n"), ("b.csv", "y\n1\n1\n")], &read).unwrap();
        assert_eq!(rows(&ensemble), ["0:01", "1:11"]);
        let message =
            joined(&[("a.csv", "x\n0\n1\n"), ("b.csv", "y\n1\n1\n2\n")], &read).unwrap_err();
        assert!(
            message.contains("3 objects where") && message.contains("--id"),
            "{message}"
        );
        let strangers = [
            ("a.csv", "object,x\np,0\nq,1\n"),
            ("b.csv", "object,y\nr,1\ns,1\n"),
        ];
        assert!(
            joined(&strangers, &read)
                .unwrap_err()
                .contains("none of its objects")
        );
    }
}
