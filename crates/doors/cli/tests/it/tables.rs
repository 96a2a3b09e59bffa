//! Tables as people have them (`tests/tables.txt`): none is misread in silence, and nearly all give labels without a flag.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::Value;

use crate::cases::table;
use crate::common::{Workplace, repository};

/// Columns of the widest table.
const WIDE: usize = 3000;

/// A refusal takes no longer.
const AT_ONCE: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Sample {
    name: String,
    rows: usize,
    encoding: String,
    lines: Vec<String>,
    below: Vec<String>,
    features: String,
    first: String,
    said: Vec<String>,
    refused: Vec<String>,
}

impl Sample {
    fn new(text: &str) -> Self {
        let (head, rest) = text.split_once('\n').expect("lines");
        let mut head = head.split_whitespace().map(str::to_owned);
        let mut sample = Self {
            name: head.next().expect("a name"),
            rows: head
                .next()
                .and_then(|rows| rows.parse().ok())
                .expect("rows"),
            encoding: head.next().unwrap_or_default(),
            ..Self::default()
        };
        for line in rest.lines() {
            let (kind, text) = line.split_at(line.len().min(1));
            let own = text.trim().to_owned();
            let parts = own.split(" | ").map(str::to_owned);
            match kind {
                "|" => sample.lines.push(text.to_owned()),
                ">" => sample.below.push(own),
                "=" => sample.features = own,
                "@" => sample.first = own,
                "!" => sample.said = parts.collect(),
                "x" => sample.refused = parts.collect(),
                _ => {}
            }
        }
        sample
    }

    fn content(&self) -> Vec<u8> {
        let mut text = table(self.rows, &self.lines).expect("a template");
        self.below
            .iter()
            .for_each(|line| text += &format!("{line}\n"));
        match &*self.encoding {
            "latin1" => text
                .chars()
                .map(|letter| u8::try_from(letter).unwrap_or(0x80))
                .collect(),
            "utf16" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "wide" => widened(&text).into_bytes(),
            _ => text.into_bytes(),
        }
    }

    /// Other processes may slow one run down, but not all of them.
    fn is_refused_at_once(&self, place: &Workplace) -> Result<(), String> {
        let taken = (0..10).map(|_| {
            let begun = Instant::now();
            place.partita(&["run", &self.name, "-o", "out", "--no-report"]);
            begun.elapsed()
        });
        let fastest = taken.min().unwrap_or_default();
        if fastest < AT_ONCE {
            return Ok(());
        }
        Err(format!("refused after {fastest:?}"))
    }

    /// What is wrong; nothing if all is as expected.
    fn check(&self) -> Result<(), String> {
        let place = Workplace::new();
        place.file(&self.name, self.content());
        let inspected = place.partita(&["inspect", &self.name, "--as", "table", "--json"]);
        let run = place.partita(&["run", &self.name, "-o", "out", "--no-report"]);
        let said = run.stderr.clone();
        let lacking = |parts: &[String]| parts.iter().find(|part| !said.contains(*part)).cloned();
        if !self.refused.is_empty() {
            return match lacking(&self.refused) {
                None if run.code == Some(2) => self.is_refused_at_once(&place),
                _ => Err(format!("not refused with {:?}: {said}", self.refused)),
            };
        }
        if run.code != Some(0) {
            return Err(said);
        }
        if let Some(part) = lacking(&self.said) {
            return Err(format!("'{part}' is not said: {said}"));
        }
        let facts: Value = serde_json::from_str(&inspected.stdout).map_err(|_| inspected.stderr)?;
        let features = facts["features"].as_array().into_iter().flatten();
        let features: Vec<&str> = features
            .filter_map(|feature| feature["name"].as_str())
            .collect();
        if self.encoding == "wide" && features.len() != WIDE
            || self.encoding != "wide" && features.join(", ") != self.features
        {
            return Err(format!("features are {}", features.join(", ")));
        }
        let labels = place.text("out/labels.csv");
        let mut rows = csv::Reader::from_reader(labels.as_bytes());
        let rows: Vec<csv::StringRecord> = rows.records().flatten().collect();
        let clusters: Vec<&str> = rows.iter().map(|row| &row[1]).collect();
        let first = rows.first().map_or("", |row| &row[0]);
        if clusters.len() != self.rows || !self.first.is_empty() && first != self.first {
            return Err(format!(
                "{} objects, the first is '{first}': {said}",
                clusters.len()
            ));
        }
        let alike = |(at, cluster): (usize, &&str)| {
            (0..3).all(|other| (clusters[other] == *cluster) == (at % 3 == other))
        };
        if clusters.iter().enumerate().all(alike) {
            return Ok(());
        }
        Err(format!("the groups are not found: {}", clusters.join(" ")))
    }
}

/// The last column so often that there are [`WIDE`].
fn widened(text: &str) -> String {
    let line = |(at, line): (usize, &str)| {
        let (name, values) = line.split_once(',').expect("columns");
        let last = values.split(',').next_back().unwrap_or_default();
        let more = (2..WIDE).map(|column| {
            if at == 0 {
                format!(",c{column}")
            } else {
                format!(",{last}{}", column % 7)
            }
        });
        format!("{name},{values}{}\n", more.collect::<String>())
    };
    text.lines().enumerate().map(line).collect()
}

#[test]
fn tables_as_people_have_them() {
    let text =
        std::fs::read_to_string(repository("crates/doors/cli/tests/tables.txt")).expect("text");
    let wanted = std::env::var("PARTITA_TABLE").unwrap_or_default();
    let samples: Vec<Sample> = text.split("\n== ").skip(1).map(Sample::new).collect();
    let samples: Vec<&Sample> = samples
        .iter()
        .filter(|sample| sample.name.contains(&wanted))
        .collect();
    if let Some(folder) = std::env::var_os("PARTITA_TABLES_INTO") {
        let write = |sample: &&Sample| {
            std::fs::write(
                std::path::Path::new(&folder).join(&sample.name),
                sample.content(),
            )
        };
        samples.iter().try_for_each(write).expect("files");
    }
    let wrong = |sample: &&&Sample| Some(format!("{}: {}", sample.name, sample.check().err()?));
    let wrong: Vec<String> = samples
        .par_iter()
        .filter_map(|sample| wrong(&sample))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} are wrong\n{}",
        wrong.len(),
        samples.len(),
        wrong.join("\n")
    );
    let refused = samples
        .iter()
        .filter(|sample| !sample.refused.is_empty())
        .count();
    assert!(refused <= 3, "{refused} of {} need a flag", samples.len());
}
