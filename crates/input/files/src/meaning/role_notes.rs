//! What is said of the roles of columns: the line for people, and the words of reasons.

use std::fmt;

use partita_core::option;

use super::roles::{ColumnRole, Reason, Role, Roles, share_of};
use crate::value_kind::ValueKind;

/// The most columns of one kind that a line names.
const MOST_SHOWN: usize = 8;

impl fmt::Display for Roles {
    /// Such as `names from 'barcode' (all 3,000 values differ); truth 'label' (by its name); 754 missing values (NA)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (role, word) in [
            (Role::Objects, "names from"),
            (Role::Truth, "truth"),
            (Role::Skipped, "left out"),
        ] {
            let unread =
                |column: &ColumnRole| column.role == Role::Skipped && column.reason == Reason::Rest;
            let named = self
                .columns
                .iter()
                .chain(&self.arrays)
                .filter(|column| column.role == role && !unread(column));
            let names: Vec<String> = named.map(|column| self.shown(column)).collect();
            if let Some((first, others)) = names.split_at_checked(MOST_SHOWN) {
                let more = if others.is_empty() {
                    String::new()
                } else {
                    format!(" and {} more", others.len())
                };
                parts.push(format!("{word} {}{more}", first.join(", ")));
            } else if !names.is_empty() {
                parts.push(format!("{word} {}", names.join(", ")));
            }
        }
        parts.extend(self.read_otherwise());
        if self.of(Role::Share).next().is_some() {
            parts.push(self.soft_bases());
        }
        if !self.missing.is_empty() {
            let all: u64 = self.missing.values().sum();
            let words: Vec<&str> = self.missing.keys().map(String::as_str).collect();
            let values = if all == 1 { "value" } else { "values" };
            parts.push(format!(
                "{} missing {values} ({})",
                grouped(all),
                words.join(", ")
            ));
        }
        if self.filled > 0 {
            let (gaps, get) = if self.filled == 1 {
                ("gap", "gets")
            } else {
                ("gaps", "get")
            };
            parts.push(format!(
                "{} {gaps} {get} values of like rows, which base clusterings draw ({} refuses them, mean takes that of the column)",
                grouped(self.filled),
                option("impute").to("none")
            ));
        }
        if parts.is_empty() {
            let count = self.of(Role::Data).count();
            parts.push(format!(
                "{count} data column{}",
                if count == 1 { "" } else { "s" }
            ));
        }
        f.write_str(&parts.join("; "))
    }
}

impl Roles {
    /// Such as `soft base clusterings 'a' (3 shares), 'b' (4 shares)`.
    fn soft_bases(&self) -> String {
        let mut named: Vec<(&str, usize)> = Vec::new();
        for column in self
            .columns
            .iter()
            .filter(|column| column.role == Role::Share)
        {
            let name = share_of(&column.name).map_or(column.name.as_str(), |(name, _)| name);
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, shares)) => *shares += 1,
                None => named.push((name, 1)),
            }
        }
        let shown: Vec<String> = named
            .iter()
            .take(MOST_SHOWN)
            .map(|(name, shares)| format!("'{name}' ({shares} shares)"))
            .collect();
        let more = named.len().saturating_sub(MOST_SHOWN);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let rescaled = match self.rescaled {
            0 => String::new(),
            rows => {
                format!(
                    "; {} rows of shares that did not quite sum to 1 were divided by their sums",
                    grouped(rows)
                )
            }
        };
        format!("soft base clusterings {}{more}{rescaled}", shown.join(", "))
    }

    /// The columns of data that are not read as they stand, by how they are read.
    fn read_otherwise(&self) -> Vec<String> {
        let mut kinds: Vec<(Reason, Vec<String>)> = Vec::new();
        for column in self
            .columns
            .iter()
            .filter(|column| column.role == Role::Data)
        {
            if !column.is_read_otherwise() {
                continue;
            }
            let name = format!("'{}'", crate::error::shown(&column.name));
            match kinds
                .iter_mut()
                .find(|(reason, _)| *reason == column.reason)
            {
                Some((_, names)) => names.push(name),
                None => kinds.push((column.reason, vec![name])),
            }
        }
        let line = |(reason, names): (Reason, Vec<String>)| {
            let more = names.len().saturating_sub(MOST_SHOWN);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let names = names[..names.len().min(MOST_SHOWN)].join(", ");
            match reason {
                Reason::Notation(ValueKind::DecimalComma | ValueKind::Thousands) => format!(
                    "numbers of {names}{more} each read as {reason} ({} says which mark stands before decimals)",
                    option("decimal")
                ),
                Reason::Notation(_) => format!("numbers of {names}{more} each read as {reason}"),
                Reason::Codes => format!("categories {names}{more} (codes by their name)"),
                _ => format!(
                    "categories {names}{more} (words; {} says otherwise)",
                    option("encode")
                ),
            }
        };
        kinds.into_iter().map(line).collect()
    }

    fn shown(&self, column: &ColumnRole) -> String {
        let ColumnRole { name, role, reason } = column;
        let name = crate::error::shown(name);
        let why = match reason {
            Reason::Asked => "asked for".to_owned(),
            Reason::Name if *role == Role::Truth && self.arrays.contains(column) => {
                format!("by its name; {} leaves it out", option("truth").off())
            }
            Reason::Name if *role == Role::Truth => {
                format!("by its name; {} makes it data", option("truth").off())
            }
            Reason::Name => "by its name".to_owned(),
            Reason::Distinct if self.objects == 1 => "by its name".to_owned(),
            Reason::Distinct => format!("all {} values differ", grouped(self.objects)),
            Reason::Index => "an index".to_owned(),
            Reason::Unknown => "the model does not know it".to_owned(),
            Reason::Rest => return format!("'{name}'"),
            Reason::Weights => format!(
                "weights of objects by its name; {} weighs by them",
                option("object-weights").naming(&name)
            ),
            Reason::Clusters => format!(
                "more than 3 √n different values; {} takes it",
                option("only").naming(&name)
            ),
            Reason::Key => format!("ids by its name; {} takes it", option("only").naming(&name)),
            Reason::Clustering => format!(
                "labels of a clustering by its name; {} compares with them",
                option("truth").naming(&name)
            ),
            Reason::Many => format!(
                "many different words; {} takes more for categories",
                option("max-categories")
            ),
            Reason::Time if *role == Role::Skipped => format!(
                "times by its name; {} takes it",
                option("only").naming(&name)
            ),
            reason => reason.to_string(),
        };
        format!("'{name}' ({why})")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "asked for",
            Self::Name => "by its name",
            Self::Distinct => "all values differ",
            Self::Index => "an index",
            Self::Unknown => "the model does not know it",
            Self::Key => "ids by its name",
            Self::Clustering => "labels of a clustering by its name",
            Self::Counts => "it counts the rows",
            Self::Dates => "dates or times",
            Self::Time => "times by its name",
            Self::Weights => "weights of objects by its name",
            Self::Empty => "no value",
            Self::Many => "many different words",
            Self::Clusters => "more different values than clusters",
            Self::Words => "categories",
            Self::Codes => "codes by its name",
            Self::Rest => "numbers",
            Self::Notation(kind) => return kind.fmt(f),
        })
    }
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
