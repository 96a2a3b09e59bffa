//! The files in the folder of a run: what they are called and where they lie.

use std::path::{Path, PathBuf};

/// Names of the files in the folder of a run.
pub(crate) const ENSEMBLE: &str = "ensemble.npz";
/// The record of a run.
pub const RECORD: &str = "record.json";
/// What a run that was cut short has finished of the base clusterings.
pub(crate) const PART: &str = "ensemble.npz.part";
/// The choice of the number of clusters, as `partita choose-k -o` writes it.
pub(crate) const CHOICE: &str = "choice.json";
pub(crate) const SUMMARY: &str = "summary.txt";
pub(crate) const LABELS: &str = "labels.csv";
pub(crate) const SOFT: &str = "soft.csv";
/// The confusion matrices of base clusterings whose labels name classes.
pub(crate) const CONFUSION: &str = "confusion.csv";
/// The page of a result, beside its labels.
pub const REPORT: &str = "report.html";

/// What the folder of a consensus gets.
pub(crate) const RESULT_FILES: [&str; 6] = [LABELS, SOFT, RECORD, SUMMARY, REPORT, CHOICE];
/// What the folder of a run gets that makes base clusterings.
pub(crate) const RUN_FILES: [&str; 8] = [
    LABELS, SOFT, RECORD, SUMMARY, REPORT, CHOICE, ENSEMBLE, PART,
];

/// Where the results of a method lie: the first method's in the folder itself, those of the others in one each.
pub(crate) fn folder_of(run: &Path, method: &str, place: usize) -> PathBuf {
    if place == 0 {
        run.to_owned()
    } else {
        run.join(method)
    }
}
