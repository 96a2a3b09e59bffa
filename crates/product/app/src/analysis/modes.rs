//! The answers that an ensemble holds: read, found, written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita::files::{self, ReadOptions};
use partita::{Ensemble, EnsembleBuilder, Silent};
use partita_modes::{Mode, Modes, ModesError, find_modes};
use partita_report::Answers;
use serde_json::{Value, json};

use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::experiment::file_names::{LABELS, SOFT};
use crate::input::input_file::InputFile;
use crate::input::label_files::load_ensemble;
use crate::machine::default_budget;
use crate::observer::Observer;
use crate::text_files::{make_folder, write_json, write_text};
use crate::version::VERSION;

/// An ensemble to be looked at.
#[derive(Clone, Debug, Default)]
pub struct ModesInput {
    /// Its file.
    pub file: PathBuf,
    /// How it is read.
    pub read: ReadOptions,
}

/// The answers of an ensemble.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundModes {
    /// What was looked at.
    pub input: InputFile,
    /// The base clusterings.
    pub ensemble: Arc<Ensemble>,
    /// The modes, largest share first.
    pub modes: Modes,
}

impl ModesInput {
    /// Reads the ensemble and finds its modes.
    ///
    /// # Errors
    /// [`AppError`] for a file that cannot be read, or when the observer asks to stop.
    pub fn find(&self, observer: &dyn Observer) -> Result<FoundModes, AppError> {
        let options = self.read.clone().within(default_budget());
        let (loaded, roles) = load_ensemble(&self.file, &options, observer)?;
        let mut input = InputFile::of(&self.file)?;
        input.roles = Some(roles);
        FoundModes::of(Arc::new(loaded.ensemble), input, observer)
    }
}

/// What the library says, with its fault.
pub(crate) fn of_modes(error: ModesError) -> AppError {
    match error {
        ModesError::Interrupted => AppError::nothing_finished(),
        other => AppError::request(other.to_string()),
    }
}

/// Base clusterings and objects that a report looks at: a search among all may take longer than the consensus.
const GLANCE: (usize, usize) = (30, 400);

/// The answers of an ensemble for its report, found on some base clusterings and objects where there are many; none where there are
/// too few base clusterings to tell.
pub(crate) fn answers_at_a_glance(ensemble: &Ensemble) -> Option<Answers> {
    let (n, m) = (ensemble.objects(), ensemble.bases().len());
    let some = |all: usize, most: usize| -> Vec<u32> {
        let taken = all.min(most);
        (0..taken)
            .map(|at| (at * all / taken.max(1)) as u32)
            .collect()
    };
    let (bases, objects) = (some(m, GLANCE.0), some(n, GLANCE.1));
    if m < FEW {
        return None;
    }
    let mut builder = EnsembleBuilder::new(objects.len());
    for &u in &bases {
        let labels = objects
            .iter()
            .map(|&i| ensemble.label(i as usize, u as usize));
        // One that labels none of these objects says nothing here.
        let _ = builder.push(ensemble.bases()[u as usize].name(), labels);
    }
    let looked_at = builder.finish().ok()?;
    let modes = find_modes(&looked_at, &Silent).ok()?;
    let seen = if n > GLANCE.1 || m > GLANCE.0 {
        format!(
            " (looked at {} base clusterings and {} objects)",
            bases.len(),
            objects.len()
        )
    } else {
        String::new()
    };
    let shares = modes.modes.iter().map(|mode| mode.share).collect();
    Some(Answers {
        sentence: format!("{}{seen}.", sentence(&modes, &looked_at)),
        shares,
    })
}

/// Fewer base clusterings cannot be told apart.
const FEW: usize = 4;

/// One or several answers, in one sentence.
fn sentence(found: &Modes, ensemble: &Ensemble) -> String {
    let (modes, bases) = (&found.modes, ensemble.bases().len());
    if modes.len() == 1 {
        let why = if bases < FEW {
            "; fewer than four base clusterings cannot be told apart"
        } else {
            ""
        };
        return format!(
            "one answer: the {bases} base clusterings are described best as copies of one{why}"
        );
    }
    let share = |mode: &Mode| {
        format!(
            "{:.0} % ({} clusters)",
            100.0 * mode.share,
            mode.partition.live_clusters()
        )
    };
    let shares: Vec<String> = modes.iter().map(share).collect();
    let doubtful = found
        .disagreement
        .iter()
        .filter(|&&disagreement| disagreement > 0.5)
        .count();
    let objects = ensemble.objects();
    format!(
        "{} answers: {} of the base clusterings; on {doubtful} of {objects} objects the answers differ by more than half",
        modes.len(),
        shares.join(", ")
    )
}

impl FoundModes {
    /// The modes of an ensemble that is held; `input` is what it was read from.
    ///
    /// # Errors
    /// [`AppError`] when the observer asks to stop.
    pub fn of(
        ensemble: Arc<Ensemble>,
        input: InputFile,
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        if ensemble.memberships().is_some() {
            observer
                .note("modes are of labels: every object is in the cluster of its largest share");
        }
        let modes = find_modes(&ensemble, &*observer.begin("modes")).map_err(of_modes)?;
        Ok(Self {
            input,
            ensemble,
            modes,
        })
    }

    /// Names of the files that [`write`](Self::write) writes into the folder itself.
    pub const FILES: [&str; 2] = ["modes.json", "objects.csv"];

    /// One or several answers, in one sentence.
    pub fn sentence(&self) -> String {
        sentence(&self.modes, &self.ensemble)
    }

    /// Everything but labels, as one JSON object.
    pub fn to_json(&self) -> Value {
        let name = |&base: &usize| self.ensemble.bases()[base].name();
        let mode = |mode: &Mode| {
            json!({
                "share": mode.share,
                "clusters": mode.partition.live_clusters(),
                "sizes": mode.partition.sizes(),
                "members": mode.members.iter().map(name).collect::<Vec<_>>(),
                "spread": mode.spread,
            })
        };
        json!({
            "modes": self.modes.modes.iter().map(mode).collect::<Vec<_>>(),
            "description_length": self.modes.description_length,
            "description_length_by_number": self.modes.by_number,
            "answer": self.sentence(),
            "n": self.ensemble.objects(),
            "base_clusterings": self.ensemble.bases().len(),
            "rows_looked_at": self.modes.rows_looked_at,
            "input": self.input,
            "version": VERSION,
        })
    }

    /// Writes `modes.json`, `objects.csv` (the label of every object in every mode, and how much the modes differ on it),
    /// and labels and probabilities of every mode in a folder each.
    ///
    /// # Errors
    /// [`AppError`] for what cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), AppError> {
        files::write_as_one(|| Ok(()), || self.write_files(folder))
    }

    fn write_files(&self, folder: &Path) -> Result<(), AppError> {
        make_folder(folder)?;
        let (modes, names) = (&self.modes.modes, self.ensemble.object_names());
        for (at, mode) in modes.iter().enumerate() {
            let own = folder.join(format!("mode{}", at + 1));
            make_folder(&own)?;
            let probability = mode.soft.largest();
            files::write_labels(
                &own.join(LABELS),
                names,
                mode.partition.labels(),
                &[("probability", &probability)],
            )?;
            files::write_soft(&own.join(SOFT), names, mode.soft.rows())?;
        }
        let header: String = (1..=modes.len()).map(|at| format!(",mode{at}")).collect();
        let row = |object: usize| {
            let labels = modes
                .iter()
                .map(move |mode| mode.partition.labels()[object].to_string());
            let name = std::iter::once(self.ensemble.object_name(object));
            name.chain(labels)
                .chain([format!("{:.4}", self.modes.disagreement[object])])
        };
        let rows = (0..self.ensemble.objects()).map(row);
        write_text(
            &folder.join("objects.csv"),
            &csv_text(&format!("object{header},disagreement"), rows),
        )?;
        write_json(&folder.join("modes.json"), &self.to_json())
    }
}
