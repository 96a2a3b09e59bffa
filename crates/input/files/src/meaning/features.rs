//! The features of a text file: words that become columns or numbers, gaps that are filled.

use partita_core::ndarray::Array2;
use partita_core::option;

use super::base_columns::has_many_values;
use super::complaints::{complaint, refused, times, too_many};
use super::feature_columns::{Feature, fill, mirror_half, numbered, spread, without_value};
use super::frame::{Frame, are_names};
use super::marks;
use super::read_options::{Encode, Impute, ReadOptions, Truth};
use super::reading::MOST_DIFFERENT;
use super::roles::{Reason, Role};
use super::values::{self, FEWEST_OBJECTS, Meaning, Notation, has_digit};
use crate::amount::amount;
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Result, WrongValue, shown};
use crate::format::reader::{Column, Form, Limit};
use crate::label_number::MISSING;
use crate::value_kind::ValueKind;
use crate::words::{self, MissingCounts, add_counts};

/// More than [`MOST_DIFFERENT`] words, each in fewer rows than this on average, are no categories where nobody asks for them.
const MOST_SHARE: usize = 4;

/// Names and numbers of the features, whose columns were read in their order: as numbers, or as words where the first value
/// is one; and the names of the objects, if they are among them.
pub(crate) struct Features {
    pub(crate) columns: Vec<String>,
    pub(crate) values: Array2<f64>,
    /// Where the means of columns stand for gaps.
    pub(crate) gaps: Vec<(u32, u32)>,
    pub(crate) object_names: Option<Vec<String>>,
    /// The last row was left out: it adds up the others.
    pub(crate) ends_with_sums: bool,
}

pub(crate) fn table(
    frame: &mut Frame,
    places: &[usize],
    columns: Vec<Column>,
    names: Option<&[String]>,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<Features> {
    let mut found = Vec::with_capacity(columns.len());
    let mut padded_columns = Vec::with_capacity(columns.len());
    let mut marked = Vec::with_capacity(columns.len());
    for column in columns {
        marked.push(options.encode.is_none() && holds_ones(&column));
        padded_columns.push(matches!(column, Column::Parsed { padded: true, .. }));
        found.push(match column {
            Column::Parsed {
                values,
                words: false,
                missing,
                ..
            } => {
                add_counts(&mut frame.roles.missing, &missing);
                Feature::Numbers(values)
            }
            Column::Labels(words) => Feature::Words(words),
            _ => Feature::LeftOut,
        });
    }
    let later = |feature: &Feature| matches!(feature, Feature::LeftOut);
    read_words(frame, places, &mut found, later, limit)?;
    let given = names;
    let last_name = names.and_then(|names| names.last());
    let ends_with_sums = !options.all_rows
        && adds_up(
            &found,
            last_name.map(String::as_str),
            Notation::new(options),
        );
    if ends_with_sums {
        leave_out_last(frame, &mut found);
    }
    let semicolons = frame.reader.items().semicolons;
    let mut codes: Vec<bool> = Vec::with_capacity(places.len());
    let mut again: Vec<bool> = Vec::with_capacity(places.len());
    for (place, (&at, feature)) in places.iter().zip(&found).enumerate() {
        let name = &frame.names[at];
        codes.push(is_code(name, feature));
        let is_padded = padded_columns[place] && all_whole(feature);
        let otherwise = marked[place] || semicolons && may_be_thousands(feature);
        again.push(codes[place] || is_padded || otherwise);
    }
    for (feature, _) in found.iter_mut().zip(&again).filter(|(_, again)| **again) {
        *feature = Feature::LeftOut;
    }
    read_words(frame, places, &mut found, later, limit)?;
    if ends_with_sums {
        let again = found.iter_mut().zip(&again).filter(|(_, again)| **again);
        again.for_each(|(feature, _)| pop(feature));
    }
    for ((is_code, feature), padded) in codes.iter_mut().zip(&found).zip(&padded_columns) {
        *is_code |= *padded && matches!(feature, Feature::Words(words) if words.have_one_length());
    }
    let object_names = decide(frame, places, &mut found, &codes, options, limit)?;
    let kept: Vec<usize> = (0..places.len())
        .filter(|&place| !matches!(found[place], Feature::LeftOut))
        .collect();
    if kept.is_empty() {
        let columns = frame.names.len();
        let reason = format!(
            " has no feature: of its {columns} columns none is left beside names, labels and what is left out ({})",
            frame.roles
        );
        return Err(FileError::content(frame.path(), reason));
    }
    let names: Vec<&str> = kept
        .iter()
        .map(|&place| frame.names[places[place]].as_str())
        .collect();
    let kept: Vec<&Feature> = kept.iter().map(|&place| &found[place]).collect();
    let (columns, mut values) = spread(frame, &names, &kept, limit)?;
    let mut gaps = Vec::new();
    if options.impute != Some(Impute::None) {
        gaps = fill(frame.path(), &columns, options, &mut values)?;
        let said = without_value(&gaps, columns.len(), object_names.as_deref().or(given));
        frame.roles.warnings.extend(said);
    }
    if options.impute.is_none() {
        frame.roles.filled = kept.iter().map(|feature| feature.gaps()).sum();
    } else {
        gaps.clear();
    }
    Ok(Features {
        columns,
        values,
        gaps,
        object_names,
        ends_with_sums,
    })
}

/// Whether a column of numbers has ones alone, beside empty fields.
fn holds_ones(column: &Column) -> bool {
    matches!(column, Column::Parsed { values, missing, words: false, .. } if missing.is_empty() && marks::are_ones(values))
}

/// A mean that stands below a column differs from it by no more than this share of the mean deviation: rounding, and one of a hundred values.
const ROUNDED: f64 = 0.01;

/// Whether the last row has the sums or the means of all numbers above it, and no words beside them: several, or one where the row has no name
/// (of means: where it alone has none).
fn adds_up(found: &[Feature], name: Option<&str>, notation: Notation) -> bool {
    let unnamed = name.is_none_or(str::is_empty);
    let plain = |feature: &Feature| match feature {
        Feature::Numbers(values) => Some(values.clone()),
        _ => None,
    };
    let read = |feature: &Feature| match feature {
        Feature::Words(words) => match values::of_words(words, notation) {
            Meaning::Numbers(numbers) => {
                let value = |&code: &u32| numbers.values.get(code as usize).copied();
                let codes = words.codes().iter();
                Some(codes.map(|code| value(code).unwrap_or(f64::NAN)).collect())
            }
            _ => None,
        },
        _ => None,
    };
    let mut columns: Vec<Vec<f64>> = found.iter().filter_map(plain).collect();
    let ends_with_word = |feature: &Feature| matches!(feature, Feature::Words(words) if words.codes().last().is_some_and(|last| *last != MISSING));
    if !columns.is_empty() && found.iter().any(ends_with_word) {
        return false;
    }
    if columns.is_empty() {
        columns = found.iter().filter_map(read).collect();
    }
    let of = |mean: bool| {
        let mut there = 0;
        let mut differs = false;
        let fits = columns.iter().all(|column| {
            let Some((&last, others)) = column.split_last().filter(|(last, _)| !last.is_nan())
            else {
                return true;
            };
            let others: Vec<f64> = others
                .iter()
                .copied()
                .filter(|value| !value.is_nan())
                .collect();
            let sum: f64 = others.iter().sum();
            let average = sum / others.len() as f64;
            let size: f64 = others.iter().map(|value| value.abs()).sum();
            let deviation = others
                .iter()
                .map(|value| (value - average).abs())
                .sum::<f64>();
            let (wanted, rounding) = if mean {
                (average, ROUNDED * deviation / others.len() as f64)
            } else {
                (sum, 1e-6 * size)
            };
            there += usize::from(size > 0.0);
            // What is always the same is its mean in every row.
            differs |= others.iter().any(|value| *value != last);
            others.len() > 2 && (last - wanted).abs() <= rounding
        });
        let one = unnamed && !(mean && name.is_none());
        fits && there > usize::from(!one) && differs
    };
    of(false) || unnamed && of(true)
}

fn leave_out_last(frame: &mut Frame, found: &mut [Feature]) {
    found.iter_mut().for_each(pop);
    frame.roles.warnings.push(format!(
        "the last row is left out: its numbers are the sums or means of those above it ({} keeps it)",
        option("all-rows").on()
    ));
}

/// Takes the last row away.
fn pop(feature: &mut Feature) {
    match feature {
        Feature::Numbers(values) => {
            values.pop();
        }
        Feature::Words(words) => words.pop(),
        Feature::Parts(_) | Feature::LeftOut => {}
    }
}
/// Reads columns again, as words.
fn read_words(
    frame: &mut Frame,
    places: &[usize],
    found: &mut [Feature],
    which: impl Fn(&Feature) -> bool,
    limit: &Limit,
) -> Result<()> {
    let again: Vec<usize> = (0..places.len())
        .filter(|&place| which(&found[place]))
        .collect();
    let wanted: Vec<(usize, Form)> = again
        .iter()
        .map(|&place| (places[place], Form::Labels))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    for (&place, column) in again.iter().zip(frame.read_columns(&wanted, limit)?) {
        found[place] = Feature::Words(column.into_dictionary());
    }
    Ok(())
}

/// Whether a column of whole numbers is called as codes are.
fn is_code(name: &str, feature: &Feature) -> bool {
    words::is_code(name) && all_whole(feature)
}

/// Whether a column has whole numbers and nothing else.
fn all_whole(feature: &Feature) -> bool {
    let Feature::Numbers(values) = feature else {
        return false;
    };
    let mut there = values.iter().filter(|value| !value.is_nan()).peekable();
    there.peek().is_some() && there.all(|value| value.fract() == 0.0)
}

/// Whether the points of a column may stand between thousands: some numbers have three decimals or fewer, and none is 1000 or more.
fn may_be_thousands(feature: &Feature) -> bool {
    let Feature::Numbers(values) = feature else {
        return false;
    };
    let fits = |value: &f64| {
        let thousands = value * 1e3;
        value.is_nan()
            || (thousands - thousands.round()).abs() < 1e-6
                && (value.fract() == 0.0 || value.abs() >= 1.0)
                && value.abs() < 1e3
    };
    values.iter().all(fits)
        && has_fractions(feature)
        && values.iter().any(|value| value.fract() == 0.0)
}

/// What is found out about columns while it is decided what they are.
struct Decision<'a> {
    frame: &'a mut Frame,
    options: &'a ReadOptions,
    notation: Notation,
    object_names: Option<Vec<String>>,
    /// Columns of numbers with words among them.
    complaints: Vec<(String, MissingCounts)>,
    /// Columns of numbers with different units.
    units: Vec<String>,
    /// Columns of one word or nothing.
    marks: Vec<String>,
}

/// Decides what every column is, and makes it that. Gives the names of the objects, if they are among the columns.
fn decide(
    frame: &mut Frame,
    places: &[usize],
    found: &mut [Feature],
    codes: &[bool],
    options: &ReadOptions,
    limit: &Limit,
) -> Result<Option<Vec<String>>> {
    let mut notation = Notation::new(options);
    notation.comma = shows_comma(frame, found, notation);
    if notation.comma || notation.asked == Some(',') {
        // What a point means in numbers that could be read as they are shows in their words.
        read_words(frame, places, found, has_fractions, limit)?;
    }
    let is_known = |&at: &usize| {
        options.data.contains(&frame.names[at]) || frame.roles.columns[at].reason == Reason::Asked
    };
    let known: Vec<bool> = places.iter().map(is_known).collect();
    let mut decision = Decision {
        frame,
        options,
        notation,
        object_names: None,
        complaints: Vec::new(),
        units: Vec::new(),
        marks: Vec::new(),
    };
    for (place, &at) in places.iter().enumerate() {
        if let Feature::Words(words) = &mut found[place] {
            let words = std::mem::take(words);
            found[place] = decision.of_words(at, words, codes[place], known[place])?;
        }
    }
    decision.check()?;
    let remark = marks::remark(&decision.marks);
    decision.frame.roles.warnings.extend(remark);
    let mut sure = Vec::new();
    for feature in found.iter() {
        if let Feature::Numbers(values) = feature {
            let codes = values::stand_for_missing(values, &[]).into_iter();
            sure.extend(codes.filter_map(|(code, _, sure)| sure.then_some(code)));
        }
    }
    for (feature, &at) in found.iter_mut().zip(places) {
        if let Feature::Numbers(values) = feature {
            decision.look_for_markers(at, values, &sure);
        }
    }
    if let Some(half) = mirror_half(found) {
        decision.frame.roles.warnings.push(half);
    }
    decision.take_classes(places, found, &known);
    decision.leave_out_numbers(places, found, &known, limit)?;
    Ok(decision.object_names)
}

fn has_fractions(feature: &Feature) -> bool {
    let is_fraction = |value: &f64| !value.is_nan() && value.fract() != 0.0;
    matches!(feature, Feature::Numbers(values) if values.iter().any(is_fraction))
}

impl Decision<'_> {
    /// What a column of words is.
    fn of_words(
        &mut self,
        at: usize,
        mut words: Dictionary,
        is_code: bool,
        known: bool,
    ) -> Result<Feature> {
        let counts = words.drop_words(&self.frame.missing);
        add_counts(&mut self.frame.roles.missing, &counts);
        let name = self.frame.names[at].clone();
        if !known && are_names(&name, &words) {
            self.frame.roles.take_distinct(at);
            let role = self.frame.roles.columns[at].role;
            if role == Role::Objects {
                self.object_names = Some(words.values().to_vec());
            }
            if role != Role::Data {
                return Ok(Feature::LeftOut);
            }
        }
        let asked = matches!(self.options.encode, Some(Encode::OneHot | Encode::Ordinal));
        let open = !asked && !self.options.data.contains(&name);
        let semicolons = self.frame.reader.items().semicolons;
        let notation = Notation {
            comma: self.notation.comma || semicolons && values::points_part_thousands(&words),
            ..self.notation.of(&name)
        };
        let is_mark = counts.is_empty() && marks::fill(&mut words);
        if is_mark {
            self.marks.push(name.clone());
        }
        let meaning = if is_mark || is_code || words::is_code(&name) {
            Meaning::Categories
        } else {
            values::of_words(&words, notation)
        };
        match meaning {
            Meaning::Parts(parts, gaps) if !asked => {
                self.refuse_gaps(&name, &gaps, &words)?;
                add_counts(&mut self.frame.roles.missing, &gaps);
                self.frame.roles.columns[at].reason = Reason::Notation(ValueKind::Pair);
                let read = |part: usize| {
                    let value = |&code: &u32| parts.get(code as usize).map(|own| own[part]);
                    let codes = words.codes().iter();
                    codes.map(|code| value(code).unwrap_or(f64::NAN)).collect()
                };
                let width = parts.first().map_or(0, Vec::len);
                return Ok(Feature::Parts((0..width).map(read).collect()));
            }
            Meaning::Numbers(numbers) => {
                self.refuse_gaps(&name, &numbers.gaps, &words)?;
                let value = |&code: &u32| numbers.values.get(code as usize);
                let read = words.codes().iter().map(|code| value(code).copied());
                add_counts(&mut self.frame.roles.missing, &numbers.gaps);
                if let Some(remark) = numbers.remark {
                    let name = shown(&name);
                    let warning = format!("the numbers of column '{name}' {remark}");
                    self.frame.roles.warnings.push(warning);
                }
                if let Some(kind) = numbers.kind {
                    self.frame.roles.columns[at].reason = Reason::Notation(kind);
                }
                return Ok(Feature::Numbers(
                    read.map(|value| value.unwrap_or(f64::NAN)).collect(),
                ));
            }
            // Such as a letter before the number of an invoice that was cancelled.
            Meaning::Mixed(found)
                if open && words::is_key(&name) && found.keys().all(|word| has_digit(word)) =>
            {
                return Ok(self.leave_out(at, Reason::Key));
            }
            Meaning::Mixed(found) if open => {
                self.complaints.push(complaint(&name, &found, &words));
            }
            Meaning::Units(found) if open => {
                let found: Vec<String> = found.iter().map(|unit| format!("'{unit}'")).collect();
                self.units
                    .push(format!("'{}' ({})", shown(&name), found.join(", ")));
            }
            Meaning::LeftOut(reason) => return Ok(self.leave_out(at, reason)),
            // A model has learned from its numbers.
            _ if self.options.means.contains_key(&name) => {
                let not_read = |(value, count): (&String, u64)| {
                    amount(value, '.').is_none().then(|| (value.clone(), count))
                };
                let found = words.values().iter().zip(words.counts());
                let found = found.filter_map(not_read).collect();
                self.complaints.push(complaint(&name, &found, &words));
            }
            _ => return self.categories(at, words, is_code, known),
        }
        Ok(Feature::LeftOut)
    }

    /// Refuses words that say that there is no value, where gaps are not to be filled.
    fn refuse_gaps(&self, name: &str, gaps: &MissingCounts, words: &Dictionary) -> Result<()> {
        let rows = gaps
            .keys()
            .filter_map(|word| Some((word, words.first_row(word)?)));
        match rows.min_by_key(|(_, row)| *row) {
            Some((word, row)) if self.options.impute == Some(Impute::None) => {
                let cell = Cell::new(self.frame.path(), row, name, word);
                Err(FileError::value(cell, WrongValue::Missing))
            }
            _ => Ok(()),
        }
    }

    /// A column of categories, unless it holds the classes or too many.
    fn categories(
        &mut self,
        at: usize,
        words: Dictionary,
        is_code: bool,
        known: bool,
    ) -> Result<Feature> {
        let Self { frame, options, .. } = self;
        let asked = options.encode.filter(|encode| *encode != Encode::None);
        let most = options
            .max_categories
            .filter(|_| asked != Some(Encode::Ordinal));
        let different = words.values().len();
        let no_truth = frame.roles.truth().is_none() && options.truth == Truth::ByName;
        let name = &frame.names[at];
        if asked.is_none() && no_truth && !known && words::may_be_classes(name) {
            let column = &mut frame.roles.columns[at];
            (column.role, column.reason) = (Role::Truth, Reason::Name);
            return Ok(Feature::LeftOut);
        }
        if asked.is_none() && !known && words::is_clustering(name) {
            return Ok(self.leave_out(at, Reason::Clustering));
        }
        let present = words
            .codes()
            .iter()
            .filter(|&&code| code != MISSING)
            .count();
        // Words of which none stands in two rows group nothing, such as a remark or the first cell of a merged column.
        let apart = different == present && words.codes().len() >= FEWEST_OBJECTS;
        let mostly_differ = apart || different > MOST_DIFFERENT && MOST_SHARE * different > present;
        let is_usual = asked.is_none() && most == ReadOptions::default().max_categories;
        if (most.is_some_and(|most| different > most) || is_usual && mostly_differ && !is_code)
            && !known
        {
            return match asked {
                Some(_) => Err(too_many(frame, at, different, options)),
                None => Ok(self.leave_out(at, Reason::Many)),
            };
        }
        frame.roles.columns[at].reason = if is_code {
            Reason::Codes
        } else {
            Reason::Words
        };
        let gap = words.first_missing();
        if let Some(row) = gap.filter(|_| options.impute == Some(Impute::None)) {
            let cell = Cell::new(frame.path(), row, &frame.names[at], "");
            return Err(FileError::value(cell, WrongValue::Missing));
        }
        Ok(match asked {
            Some(Encode::Ordinal) => Feature::Numbers(numbered(&words)),
            _ => Feature::Words(words),
        })
    }

    fn leave_out(&mut self, at: usize, reason: Reason) -> Feature {
        let column = &mut self.frame.roles.columns[at];
        (column.role, column.reason) = (Role::Skipped, reason);
        Feature::LeftOut
    }

    /// Refuses columns of which it is not clear what they are.
    fn check(&self) -> Result<()> {
        if self.complaints.is_empty() && self.units.is_empty() {
            return Ok(());
        }
        Err(refused(self.frame, &self.complaints, &self.units))
    }

    /// Makes numbers that surely mean that there is no value gaps, and warns of those that may.
    fn look_for_markers(&mut self, at: usize, values: &mut [f64], known: &[f64]) {
        if self.options.missing.is_some() {
            return;
        }
        let name = shown(&self.frame.names[at]);
        for (value, count, sure) in values::stand_for_missing(values, known) {
            let often = times(count as u64);
            if sure {
                let gaps = values.iter_mut().filter(|own| **own == value);
                gaps.for_each(|own| *own = f64::NAN);
                let found = MissingCounts::from([(value.to_string(), count as u64)]);
                add_counts(&mut self.frame.roles.missing, &found);
            }
            let (taken, what, words) = if sure {
                (
                    "far from all others, and is taken for a missing value",
                    "it is a number",
                    "NA".to_owned(),
                )
            } else {
                (
                    "apart from the others",
                    "it means that the value is missing",
                    value.to_string(),
                )
            };
            self.frame.roles.warnings.push(format!(
                "{value} is {often} a number of column '{name}', {taken}; if {what} give {}",
                option("missing").listing([words])
            ));
        }
    }

    /// Takes whole numbers whose column is called as classes or clusterings are for such, not for features; the last columns that are left
    /// are data whatever they hold.
    fn take_classes(&mut self, places: &[usize], found: &mut [Feature], known: &[bool]) {
        let labels = |place: usize| match &found[place] {
            Feature::Numbers(values) => are_labels(values),
            _ => false,
        };
        let called: Vec<usize> = (0..places.len())
            .filter(|&place| {
                let name = &self.frame.names[places[place]];
                let is_called = words::is_clustering(name) || words::are_classes(name);
                !known[place] && is_called && labels(place)
            })
            .collect();
        let features = found
            .iter()
            .filter(|feature| !matches!(feature, Feature::LeftOut));
        if called.len() == features.count() {
            return;
        }
        for place in called {
            let at = places[place];
            if words::is_clustering(&self.frame.names[at]) {
                found[place] = self.leave_out(at, Reason::Clustering);
            } else if self.frame.roles.truth().is_none() && self.options.truth == Truth::ByName {
                let column = &mut self.frame.roles.columns[at];
                (column.role, column.reason) = (Role::Truth, Reason::Name);
                found[place] = Feature::LeftOut;
            }
        }
    }

    /// Leaves out columns of numbers that are no features; the last columns that are left are data whatever they hold.
    fn leave_out_numbers(
        &mut self,
        places: &[usize],
        found: &mut [Feature],
        known: &[bool],
        limit: &Limit,
    ) -> Result<()> {
        let why = |place: usize| match &found[place] {
            Feature::Numbers(values) if values.iter().all(|value| value.is_nan()) => {
                Some(Reason::Empty)
            }
            Feature::Numbers(values) => {
                values::no_feature(&self.frame.names[places[place]], values)
            }
            _ => None,
        };
        let reasons: Vec<Option<Reason>> = (0..places.len())
            .map(|place| why(place).filter(|_| !known[place]))
            .collect();
        let left = found
            .iter()
            .zip(&reasons)
            .any(|(feature, reason)| reason.is_none() && !matches!(feature, Feature::LeftOut));
        for (place, reason) in reasons.into_iter().enumerate() {
            let Some(reason) = reason.filter(|reason| left || *reason == Reason::Empty) else {
                continue;
            };
            let at = places[place];
            found[place] = self.leave_out(at, reason);
            let may_name = words::is_id(&self.frame.names[at]) || at == 0;
            let numbers_rows = matches!(reason, Reason::Distinct | Reason::Counts);
            if numbers_rows && may_name && !self.frame.roles.has_names() {
                self.frame.roles.columns[at].role = Role::Objects;
                self.object_names = Some(self.frame.texts(at, limit)?);
            }
        }
        Ok(())
    }
}

/// Whether numbers may be labels: whole, and few.
fn are_labels(values: &[f64]) -> bool {
    let mut different: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| !value.is_nan())
        .collect();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    different.iter().all(|value| value.fract() == 0.0)
        && !has_many_values(different.len(), values.len())
}

/// Whether some column shows that a comma stands before decimals, and none that a point does.
fn shows_comma(frame: &Frame, found: &[Feature], notation: Notation) -> bool {
    let shown = |feature: &Feature| match feature {
        Feature::Words(words) => {
            let mut words = words.clone();
            words.drop_words(&frame.missing);
            match values::of_words(&words, notation) {
                Meaning::Numbers(numbers) => numbers.decimal,
                _ => None,
            }
        }
        _ => None,
    };
    let marks: Vec<char> = found.iter().filter_map(shown).collect();
    !marks.is_empty() && marks.iter().all(|mark| *mark == ',')
}
