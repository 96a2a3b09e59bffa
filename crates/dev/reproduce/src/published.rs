//! The papers' published numbers, and how ours compare with them.

use crate::{Results, Stat};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// More is better.
    More,
    /// Less is better.
    Less,
}

/// How ours stands to a published number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Our mean is better by more than one standard deviation over seeds.
    Exceeded,
    /// Within one standard deviation over seeds, or better.
    Matched,
    /// Worse by more than one standard deviation.
    NotReached,
    /// No correct implementation can print that number.
    Impossible,
    /// Not measured here.
    Absent,
}

impl Verdict {
    /// One sign, explained under the tables.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Exceeded => "▲",
            Self::Matched => "=",
            Self::NotReached => "▼",
            Self::Impossible => "∅",
            Self::Absent => "–",
        }
    }

    /// Whether ours is as good or better.
    pub fn reached(self) -> bool {
        matches!(self, Self::Exceeded | Self::Matched)
    }
}

/// One number of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedCell {
    /// Which table or figure.
    pub table: String,
    /// Our name of the data set.
    pub data: String,
    /// Our setting.
    pub setting: String,
    /// Our method.
    pub method: String,
    /// Our measure.
    pub measure: String,
    /// The number.
    pub value: f64,
    /// Why ours differs, where that was found out; or `impossible: …`.
    pub note: String,
}

/// All numbers of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Published(Vec<PublishedCell>);

impl Published {
    /// Reads `table,data,setting,method,measure,value,note`; lines without a value (illegible, out of memory) are left out.
    ///
    /// # Panics
    /// If it is not such a table: it is part of the source.
    pub fn read(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let cells = reader
            .records()
            .map(|record| record.expect("published numbers are a CSV of seven columns"));
        let cell = |record: csv::StringRecord| {
            let [table, data, setting, method, measure, value, note] =
                std::array::from_fn(|at| record.get(at).expect("seven columns").to_owned());
            let value = value.parse().ok()?;
            Some(PublishedCell {
                table,
                data,
                setting,
                method,
                measure,
                value,
                note,
            })
        };
        Self(cells.filter_map(cell).collect())
    }

    /// The cells of one table.
    pub fn table(&self, table: &str) -> impl Iterator<Item = &PublishedCell> {
        self.0.iter().filter(move |cell| cell.table == table)
    }

    /// The first cell of a table that is like this.
    pub fn find(
        &self,
        table: &str,
        like: impl Fn(&PublishedCell) -> bool,
    ) -> Option<&PublishedCell> {
        self.table(table).find(|cell| like(cell))
    }

    /// How ours stand to all of them, `sense` by measure. `ours` are the methods that are the papers' own and ours.
    pub fn compare(
        &self,
        results: &Results,
        sense: impl Fn(&str) -> Sense,
        ours: &[&str],
    ) -> Vec<Comparison> {
        let compare = |cell: &PublishedCell| {
            let stat = results.stat(&cell.data, &cell.setting, &cell.method, &cell.measure);
            let sense = sense(&cell.measure);
            let verdict = cell.verdict(stat, sense);
            let counts = ours.contains(&cell.method.as_str());
            Comparison {
                published: cell.clone(),
                stat,
                sense,
                verdict,
                counts,
            }
        };
        self.0.iter().map(compare).collect()
    }
}

impl PublishedCell {
    /// How a value of ours stands to this number.
    pub fn verdict(&self, ours: Option<Stat>, sense: Sense) -> Verdict {
        let Some(stat) = ours else {
            return Verdict::Absent;
        };
        if self.note.starts_with("impossible") {
            return Verdict::Impossible;
        }
        let ahead = if sense == Sense::More {
            stat.mean - self.value
        } else {
            self.value - stat.mean
        };
        // Papers print three digits, or four of what is near 0.
        let half = if self.value.abs() < 0.01 { 5e-5 } else { 5e-4 };
        match ahead {
            ahead if ahead > stat.sd + half => Verdict::Exceeded,
            ahead if ahead >= -stat.sd - half => Verdict::Matched,
            _ => Verdict::NotReached,
        }
    }
}

/// A published number and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Theirs.
    pub published: PublishedCell,
    /// Ours over seeds.
    pub stat: Option<Stat>,
    /// Which way is better.
    pub sense: Sense,
    /// Which is better.
    pub verdict: Verdict,
    /// Whether the method is the papers' own, one that this project promises to reproduce.
    pub counts: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn within_a_standard_deviation_is_a_match() {
        let text = "table,data,setting,method,measure,value,note\nT1,iris,a,mm,h,.5,\nT1,iris,a,mm,h,×,out of memory\n";
        let published = Published::read(text);
        assert_eq!(published.table("T1").count(), 1);
        for (values, verdict) in [
            ([0.49, 0.47], Verdict::NotReached),
            ([0.45, 0.53], Verdict::Matched),
            ([0.5, 0.5], Verdict::Matched),
            ([0.6, 0.61], Verdict::Exceeded),
        ] {
            let mut results = Results::default();
            for (seed, value) in (0..).zip(values) {
                let unit = Unit::new("iris", "a", seed, ["mm"]);
                results.insert(unit.row("mm", "h", value));
            }
            assert_eq!(
                published.compare(&results, |_| Sense::More, &["mm"])[0].verdict,
                verdict,
                "{values:?}"
            );
        }
        let nothing = published.compare(&Results::default(), |_| Sense::More, &[]);
        assert_eq!(
            (nothing[0].verdict, nothing[0].counts),
            (Verdict::Absent, false)
        );
    }
}
