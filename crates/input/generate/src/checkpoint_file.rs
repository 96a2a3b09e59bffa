//! Checkpoint files: finished base clusterings on disk, appended one by one.
//!
//! ```text
//! file    PARTITA-PART-1 \n  {"recipe": …, "objects": n, "table": fingerprint, "part": [i, of], "note": …} \n  record*
//! record  length u32 | run u32 | clusters u32 | iterations u32 | stopped u8 | inertia f64 (NaN: none) | n labels | check u64
//! ```
//! Numbers are little-endian; labels take one byte up to 255 clusters and two above. A record that was cut off at
//! the end of the file (the process was killed) is dropped; a whole one whose check does not fit is damage.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use partita_core::{MAX_BASE_CLUSTERS, Stopped};
use serde::{Deserialize, Serialize};

use crate::GenerateError;
use crate::base_run::BaseRun;
use crate::error::Result;
use partita_kmeans::UNLABELLED;

const MAGIC: &str = "PARTITA-PART-1\n";

/// Bytes of a record besides its labels, its length and its check.
const FIXED: usize = 4 + 4 + 4 + 1 + 8;

/// What makes two part files of the same work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The recipe with seed and version, as [`crate::Recipe::to_json`] writes it.
    pub(crate) recipe: String,
    pub(crate) objects: usize,
    /// Fingerprint of the table.
    pub(crate) table: u64,
    /// Which share of the base clusterings: (index, of so many).
    pub(crate) part: (u32, u32),
    /// The caller's words.
    pub(crate) note: String,
}

/// An open part file.
pub(crate) struct PartFile {
    path: PathBuf,
    file: Mutex<(File, Option<GenerateError>)>,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> GenerateError {
    move |error| GenerateError::PartFile {
        path: path.display().to_string(),
        reason: error.to_string(),
        kind: error.kind(),
    }
}

/// Keeps other processes from the file until this one ends; on a disk without locks there are none.
fn lock(path: &Path, file: &File) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(GenerateError::InUse {
            path: path.display().to_string(),
        }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

impl PartFile {
    /// A new part file.
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Self> {
        let opened = OpenOptions::new().write(true).create_new(true).open(path);
        let mut file = opened.map_err(failed(path))?;
        lock(path, &file)?;
        file.write_all(text(header).as_bytes())
            .map_err(failed(path))?;
        Ok(Self {
            path: path.into(),
            file: Mutex::new((file, None)),
        })
    }

    /// The part file of an interrupted run, ready for more, and what it holds. One that was cut off inside its
    /// header holds nothing and is begun again.
    pub(crate) fn resume(path: &Path, header: &Header) -> Result<(Self, Vec<(usize, BaseRun)>)> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let mut file = opened.map_err(failed(path))?;
        lock(path, &file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed(path))?;
        let expected = text(header);
        let (records, end) =
            if expected.as_bytes().starts_with(&bytes) && bytes.len() < expected.len() {
                (Vec::new(), 0)
            } else {
                let (found, records, end) = parse(path, &bytes)?;
                if found != *header {
                    return Err(GenerateError::OtherWork {
                        path: path.display().to_string(),
                    });
                }
                (records, end)
            };
        let cut = |file: &mut File| -> std::io::Result<()> {
            file.set_len(end as u64)?;
            file.seek(SeekFrom::End(0))?;
            if end == 0 {
                file.write_all(expected.as_bytes())
            } else {
                Ok(())
            }
        };
        cut(&mut file).map_err(failed(path))?;
        Ok((
            Self {
                path: path.into(),
                file: Mutex::new((file, None)),
            },
            records,
        ))
    }

    /// Appends a finished base clustering. The first failure is kept for [`PartFile::close`].
    pub(crate) fn append(&self, run: usize, found: &BaseRun) {
        let record = record(run, found);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.1.is_none()
            && let Err(error) = file.0.write_all(&record)
        {
            file.1 = Some(failed(&self.path)(error));
        }
    }

    /// Brings everything to the disk; gives the first failure.
    pub(crate) fn close(self) -> Result<()> {
        let (file, failure) = self
            .file
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(failure) => Err(failure),
            None => file.sync_all().map_err(failed(&self.path)),
        }
    }
}

/// Whether a file begins as part files do.
pub(crate) fn is_part_file(path: &Path) -> bool {
    let mut start = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == MAGIC.as_bytes()
}

/// Header and records of a whole part file.
pub(crate) fn read(path: &Path) -> Result<(Header, Vec<(usize, BaseRun)>)> {
    let bytes = std::fs::read(path).map_err(failed(path))?;
    let (header, records, _) = parse(path, &bytes)?;
    Ok((header, records))
}

fn text(header: &Header) -> String {
    format!(
        "{MAGIC}{}\n",
        serde_json::to_string(header).expect("a header is plain data")
    )
}

fn record(run: usize, found: &BaseRun) -> Vec<u8> {
    let mut body = Vec::with_capacity(FIXED + 2 * found.labels.len());
    for number in [run, found.clusters, found.iterations] {
        body.extend((number as u32).to_le_bytes());
    }
    body.push(match found.stopped {
        Stopped::Converged => 0,
        Stopped::Exact => 1,
        _ => 2,
    });
    body.extend(found.inertia.unwrap_or(f64::NAN).to_le_bytes());
    if found.clusters <= 255 {
        // The missing label is the largest value of either width.
        body.extend(found.labels.iter().map(|&label| {
            if label == UNLABELLED {
                u8::MAX
            } else {
                label as u8
            }
        }));
    } else {
        found
            .labels
            .iter()
            .for_each(|label| body.extend(label.to_le_bytes()));
    }
    let mut record = (body.len() as u32).to_le_bytes().to_vec();
    record.extend(&body);
    record.extend(fingerprint(body.chunks(8).map(word)).to_le_bytes());
    record
}

/// Header, whole records, and where they end.
#[expect(clippy::type_complexity, reason = "read in two places, both beside it")]
fn parse(path: &Path, bytes: &[u8]) -> Result<(Header, Vec<(usize, BaseRun)>, usize)> {
    let damaged = |what: &str| GenerateError::Damaged {
        path: path.display().to_string(),
        what: what.into(),
    };
    let rest = bytes
        .strip_prefix(MAGIC.as_bytes())
        .ok_or_else(|| damaged("it does not begin as a part file does"))?;
    let line = rest
        .iter()
        .position(|&byte| byte == b'\n')
        .ok_or_else(|| damaged("its header has no end"))?;
    let header: Header =
        serde_json::from_slice(&rest[..line]).map_err(|error| damaged(&error.to_string()))?;
    let mut at = MAGIC.len() + line + 1;
    let mut records = Vec::new();
    while let Some(length) = bytes.get(at..at + 4) {
        let length = word(length) as usize;
        let labels = length.saturating_sub(FIXED);
        if length < FIXED || labels < header.objects || labels.div_ceil(2) > header.objects {
            return Err(damaged(&format!(
                "record {} has an impossible length",
                records.len()
            )));
        }
        let (Some(body), Some(check)) = (
            bytes.get(at + 4..at + 4 + length),
            bytes.get(at + 4 + length..at + 12 + length),
        ) else {
            break;
        };
        if fingerprint(body.chunks(8).map(word)) != word(check) {
            return Err(damaged(&format!("record {} was altered", records.len())));
        }
        let found = decode(body, header.objects)
            .ok_or_else(|| damaged("a record holds impossible labels"))?;
        records.push(found);
        at += 12 + length;
    }
    Ok((header, records, at))
}

fn decode(body: &[u8], objects: usize) -> Option<(usize, BaseRun)> {
    let number = |at: usize| word(&body[at..at + 4]) as usize;
    let (run, clusters, iterations) = (number(0), number(4), number(8));
    let stopped = match body[12] {
        0 => Stopped::Converged,
        1 => Stopped::Exact,
        _ => Stopped::IterationLimit,
    };
    if clusters > MAX_BASE_CLUSTERS {
        return None;
    }
    let inertia = f64::from_bits(word(&body[13..21]));
    let labels = &body[FIXED..];
    let labels: Vec<u16> = if clusters <= 255 {
        labels
            .iter()
            .map(|&label| {
                if label == u8::MAX {
                    UNLABELLED
                } else {
                    u16::from(label)
                }
            })
            .collect()
    } else {
        labels.chunks(2).map(|pair| word(pair) as u16).collect()
    };
    let fits = labels.len() == objects
        && labels
            .iter()
            .all(|&l| l == UNLABELLED || usize::from(l) < clusters);
    let inertia = (!inertia.is_nan()).then_some(inertia);
    fits.then_some((
        run,
        BaseRun {
            labels,
            clusters,
            inertia,
            iterations,
            stopped,
        },
    ))
}

/// Up to eight bytes as a number, least significant first.
fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// A number that differs when any of the words does, as good as always.
pub(crate) fn fingerprint(words: impl Iterator<Item = u64>) -> u64 {
    continued(0xCBF2_9CE4_8422_2325, words)
}

/// The fingerprint of these words after those that gave `hash`.
pub(crate) fn continued(hash: u64, words: impl Iterator<Item = u64>) -> u64 {
    words.fold(hash, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ mixed >> 29
    })
}
