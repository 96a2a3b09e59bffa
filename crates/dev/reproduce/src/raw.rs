//! Measured values on the disk: one compressed CSV a study, sorted, values to six digits.

use anyhow::Result;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use partita::files::write_whole;

use crate::results::rounded;
use crate::unit::{SECONDS, Unit};
use crate::{ReproduceError, Results, Row};

const HEADER: [&str; 6] = ["data", "setting", "method", "seed", "measure", "value"];

/// Values that repeat and seconds that do not, in one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    pub(crate) values: Results,
    pub(crate) seconds: Results,
}

impl Raw {
    /// What `folder` has of a study; nothing if there is no file yet.
    pub(crate) fn read(folder: &Path, study: &str) -> Result<Self> {
        let [values, seconds] = files(folder, study).map(|path| read(&path));
        Ok(Self {
            values: values?,
            seconds: seconds?,
        })
    }

    pub(crate) fn write(&self, folder: &Path, study: &str) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|error| ReproduceError::file(folder, error))?;
        let [values, seconds] = files(folder, study);
        write(&values, &self.values)?;
        write(&seconds, &self.seconds)
    }

    pub(crate) fn insert(&mut self, rows: impl IntoIterator<Item = Row>) {
        for row in rows {
            let to = if row.measure == SECONDS {
                &mut self.seconds
            } else {
                &mut self.values
            };
            to.insert(row);
        }
    }

    /// The unit with the methods that were not measured yet; none if all were.
    pub(crate) fn missing(&self, unit: &Unit) -> Option<Unit> {
        let there = |method: &String| {
            self.values
                .has(&unit.data, &unit.setting, method, unit.seed)
        };
        let methods: Vec<String> = unit
            .methods
            .iter()
            .filter(|method| !there(method))
            .cloned()
            .collect();
        (!methods.is_empty()).then(|| Unit {
            methods,
            ..unit.clone()
        })
    }
}

/// The files of a study: values, and CPU seconds.
fn files(folder: &Path, study: &str) -> [PathBuf; 2] {
    ["", "-seconds"].map(|kind| folder.join(format!("{study}{kind}.csv.gz")))
}

fn read(path: &Path) -> Result<Results> {
    let mut results = Results::default();
    if !path.exists() {
        return Ok(results);
    }
    let file = File::open(path).map_err(|error| ReproduceError::file(path, error))?;
    let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(file));
    for (line, record) in reader.records().enumerate() {
        let record = record.map_err(|error| ReproduceError::file(path, error))?;
        let expected = "data,setting,method,seed,measure,value expected";
        let row = row(&record)
            .ok_or_else(|| ReproduceError::file(path, format!("line {}: {expected}", line + 2)))?;
        results.insert(row);
    }
    Ok(results)
}

fn row(record: &csv::StringRecord) -> Option<Row> {
    let text = |at: usize| record.get(at).map(ToOwned::to_owned);
    let (data, setting, method, measure) = (text(0)?, text(1)?, text(2)?, text(4)?);
    let seed = record.get(3)?.parse().ok()?;
    let value = record.get(5)?.parse().ok()?;
    Some(Row {
        data,
        setting,
        method,
        seed,
        measure,
        value,
    })
}

fn write(path: &Path, results: &Results) -> Result<()> {
    let mut writer = csv::Writer::from_writer(GzEncoder::new(Vec::new(), Compression::default()));
    writer.write_record(HEADER)?;
    for row in results.rows() {
        let seed = row.seed.to_string();
        let value = rounded(row.value).to_string();
        writer.write_record([
            &row.data,
            &row.setting,
            &row.method,
            &seed,
            &row.measure,
            &value,
        ])?;
    }
    let bytes = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?
        .finish()?;
    Ok(write_whole(path, |file| {
        std::io::Write::write_all(file, &bytes)
    })?)
}
