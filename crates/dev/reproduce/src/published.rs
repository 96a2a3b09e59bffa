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
    /// Our mean is better by more than two standard errors of the difference.
    Exceeded,
    /// Within two standard errors of the difference.
    Reached,
    /// Worse by more than two standard errors of the difference.
    Missed,
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
            Self::Reached => "=",
            Self::Missed => "▼",
            Self::Impossible => "∅",
            Self::Absent => "–",
        }
    }

    /// Whether ours is as good or better.
    pub fn reached(self) -> bool {
        matches!(self, Self::Exceeded | Self::Reached)
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
    /// Half a unit of its last digit.
    pub half: f64,
    /// Why ours differs, where that was found out; or `impossible: …`.
    pub note: String,
    /// The independent runs that it is the mean of, where the paper says how many.
    pub runs: Option<u32>,
    /// Their standard deviation, where it is printed.
    pub sd: Option<f64>,
    /// How many of our runs share a draw and count as one.
    pub together: u32,
    /// Why it does not stand for itself: it repeats a printed number, or its data are drawn by us. Empty where it does.
    pub apart: String,
}

/// All numbers of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Published(Vec<PublishedCell>);

impl Published {
    /// Reads `table,data,setting,method,measure,value,note`, and where they are there `runs`, `sd` and `apart`; lines without a
    /// value (illegible, out of memory) are left out. The standard deviation may also stand in a line of its own, whose measure ends in ` sd`.
    ///
    /// # Panics
    /// If it is not such a table: it is part of the source.
    pub fn read(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let names = reader.headers().expect("a line of names").clone();
        let records = reader
            .records()
            .map(|record| record.expect("published numbers are a CSV"));
        let cell = |record: csv::StringRecord| {
            let of = |name: &str| {
                let at = names.iter().position(|known| known == name)?;
                record.get(at).filter(|text| !text.is_empty())
            };
            let text = |name| of(name).unwrap_or_default().to_owned();
            let printed = of("value")?;
            let decimals = printed.split('.').nth(1).map_or(0, str::len);
            Some(PublishedCell {
                table: text("table"),
                data: text("data"),
                setting: text("setting"),
                method: text("method"),
                measure: text("measure"),
                value: printed.parse().ok()?,
                half: 0.5 / 10_f64.powi(decimals as i32),
                note: text("note"),
                runs: of("runs").and_then(|runs| runs.parse().ok()),
                sd: of("sd").and_then(|sd| sd.parse().ok()),
                together: 1,
                apart: text("apart"),
            })
        };
        let mut cells: Vec<PublishedCell> = records.filter_map(cell).collect();
        for at in 0..cells.len() {
            let sd = format!("{} sd", cells[at].measure);
            let like = |cell: &&PublishedCell| cell.measure == sd && cell.is_beside(&cells[at]);
            if let Some(sd) = cells.iter().find(like).map(|cell| cell.value) {
                cells[at].sd = Some(sd);
            }
        }
        Self(cells)
    }

    /// The same, where a paper says of a whole table how many independent runs its numbers are the means of, and how many of ours share a draw.
    #[must_use]
    pub fn with_runs(mut self, runs: impl Fn(&str) -> (u32, u32)) -> Self {
        for cell in &mut self.0 {
            let (theirs, together) = runs(&cell.table);
            (cell.runs, cell.together) = (Some(theirs), together);
        }
        self
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
        let far = ERRORS * self.error(stat) + self.half;
        match self.ahead(stat, sense) {
            ahead if ahead > far => Verdict::Exceeded,
            ahead if ahead >= -far => Verdict::Reached,
            _ => Verdict::Missed,
        }
    }

    /// The standard error of the difference between our mean and theirs, which is taken for as sure as ours where the paper prints neither
    /// its runs nor their deviation.
    fn error(&self, ours: Stat) -> f64 {
        let count = (ours.count as f64 / f64::from(self.together)).max(1.0);
        let runs = self.runs.map_or(count, f64::from);
        let sd = self.sd.unwrap_or(ours.sd);
        (ours.sd.powi(2) / count + sd.powi(2) / runs).sqrt()
    }

    /// Whether our mean is at most one standard deviation over our seeds worse: the rule of earlier versions.
    pub fn within_a_deviation(&self, ours: Stat, sense: Sense) -> bool {
        self.ahead(ours, sense) >= -ours.sd - self.half
    }

    /// Whether our mean is, to the digits of the print, not below it (not above it where less is better).
    pub fn not_below(&self, ours: Stat, sense: Sense) -> bool {
        self.ahead(ours, sense) >= -self.half
    }

    fn ahead(&self, ours: Stat, sense: Sense) -> f64 {
        if sense == Sense::More {
            ours.mean - self.value
        } else {
            self.value - ours.mean
        }
    }

    /// Whether both are of one row of a table.
    fn is_beside(&self, other: &Self) -> bool {
        let names = |cell: &Self| {
            [&cell.table, &cell.data, &cell.setting, &cell.method].map(ToOwned::to_owned)
        };
        names(self) == names(other)
    }
}

/// Standard errors within which two means are the same: 95 % of equal ones are.
const ERRORS: f64 = 2.0;

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

    fn results(values: &[f64]) -> Results {
        let mut results = Results::default();
        for (seed, value) in (0..).zip(values) {
            let unit = Unit::new("iris", "a", seed, ["mm"]);
            results.insert(unit.row("mm", "h", *value));
        }
        results
    }

    #[test]
    fn two_standard_errors_of_the_difference_decide() {
        let text = "table,data,setting,method,measure,value,note\nT1,iris,a,mm,h,.500,\nT1,iris,a,mm,h,×,out of memory\n";
        let published = Published::read(text);
        assert_eq!(published.table("T1").count(), 1);
        // Deviation and error of the difference are .0141: reached within .0288.
        for (values, verdict, before, not_below) in [
            ([0.482, 0.462], Verdict::Reached, false, false),
            ([0.46, 0.44], Verdict::Missed, false, false),
            ([0.50, 0.48], Verdict::Reached, true, false),
            ([0.50, 0.4994], Verdict::Reached, true, true),
            ([0.538, 0.518], Verdict::Reached, true, true),
            ([0.54, 0.52], Verdict::Exceeded, true, true),
        ] {
            let compared = published.compare(&results(&values), |_| Sense::More, &["mm"]);
            let Comparison {
                published,
                stat,
                verdict: found,
                ..
            } = &compared[0];
            let stat = stat.expect("two values");
            assert_eq!(*found, verdict, "{values:?}");
            assert_eq!(
                published.within_a_deviation(stat, Sense::More),
                before,
                "{values:?}"
            );
            assert_eq!(
                published.not_below(stat, Sense::More),
                not_below,
                "{values:?}"
            );
        }
        let nothing = published.compare(&Results::default(), |_| Sense::More, &[]);
        assert_eq!(
            (nothing[0].verdict, nothing[0].counts),
            (Verdict::Absent, false)
        );
    }

    #[test]
    fn printed_runs_and_deviations_make_the_print_surer() {
        let compared = |more: &str| {
            let head = "table,data,setting,method,measure,value,note,runs\n";
            Published::read(&format!("{head}T1,iris,a,mm,h,.5000,,{more}"))
        };
        let verdict = |published: Published| {
            let results = results(&[0.485, 0.465, 0.485, 0.465]);
            published.compare(&results, |_| Sense::More, &["mm"])[0].verdict
        };
        assert_eq!(verdict(compared("\n")), Verdict::Missed);
        // One run of theirs is less sure, and so are our four where they are one draw; a printed deviation is theirs.
        assert_eq!(verdict(compared("1\n")), Verdict::Reached);
        assert_eq!(
            verdict(compared("\n").with_runs(|_| (4, 4))),
            Verdict::Reached
        );
        let printed = "\nT1,iris,a,mm,h sd,.0400,,\n";
        assert_eq!(verdict(compared(printed)), Verdict::Reached);
    }

    #[test]
    fn a_print_stands_for_what_rounds_to_it() {
        let text = "table,data,setting,method,measure,value,note\nT2,iris,a,mm,h,.50,\n";
        let compared =
            Published::read(text).compare(&results(&[0.496, 0.496]), |_| Sense::More, &[]);
        assert_eq!(compared[0].verdict, Verdict::Reached);
    }
}
