//! Warnings about what was read: names given twice, base clusterings of single objects, tables that lie on their side.

use std::collections::HashMap;

use partita_core::BaseClustering;

use super::roles::{Roles, grouped};
use crate::error::shown;

/// Nothing is suspected of fewer objects.
const FEWEST_OBJECTS: usize = 20;

/// So many times more base clusterings than objects, and at least [`MANY_BASES`], look like objects.
const TOO_WIDE: usize = 10;
const MANY_BASES: usize = 100;

/// The most columns that a warning names.
const MOST_NAMED: usize = 3;

/// Two objects of one name: the first pair.
pub(crate) fn first_same(names: &[String]) -> Option<(usize, usize)> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    names.iter().enumerate().find_map(|(row, name)| first.insert(name, row).map(|before| (before, row)))
}

/// The warning about objects of one name.
pub(crate) fn same_names(names: &[String]) -> Option<String> {
    let (first, second) = first_same(names)?;
    let name = shown(&names[second]);
    Some(format!(
        "objects {} and {} are both called '{name}'; if names stand elsewhere give --id",
        first + 1,
        second + 1
    ))
}

/// Warnings about the base clusterings of so many objects.
pub(crate) fn about_bases(roles: &mut Roles, bases: &[BaseClustering], objects: usize) {
    roles.objects = objects as u64;
    if bases.len() >= MANY_BASES && bases.len() > TOO_WIDE * objects {
        let (bases, objects) = (grouped(bases.len() as u64), grouped(objects as u64));
        roles.warnings.push(format!(
            "{bases} base clusterings of {objects} objects; if the columns are the objects give --transpose"
        ));
    }
    if objects < FEWEST_OBJECTS {
        return;
    }
    let single: Vec<&BaseClustering> = bases.iter().filter(|base| base.clusters() > objects / 2).collect();
    let Some(first) = single.first() else { return };
    let names: Vec<String> = single.iter().take(MOST_NAMED).map(|base| format!("'{}'", shown(base.name()))).collect();
    let more = single.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (column, clusters) = (names.join(", "), grouped(first.clusters() as u64));
    let (base, has) = if single.len() == 1 { ("base clustering", "has") } else { ("base clusterings", "have about") };
    roles.warnings.push(format!(
        "{base} {column}{more} {has} {clusters} clusters of {} objects; if it names the objects give --id {name}, if it is \
         not a clustering --skip {name}",
        grouped(objects as u64),
        name = names[0],
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_something_else_is_said() {
        let base = |name: &str, clusters: usize| {
            BaseClustering::new(name, (0..clusters).map(|cluster| cluster.to_string()).collect())
        };
        let about = |bases: &[BaseClustering], objects| {
            let mut roles = Roles::default();
            about_bases(&mut roles, bases, objects);
            roles.warnings.join("; ")
        };
        assert_eq!(about(&[base("a", 10), base("b", 3)], 20), "");
        assert_eq!(about(&[base("a", 19)], 19), "");
        assert!(
            about(&[base("a", 3), base("cell", 3000)], 3000).contains("'cell' has 3,000 clusters of 3,000 objects")
        );
        assert!(about(&vec![base("a", 2); 3000], 5).contains("--transpose"));
        let names = ["x", "y", "x"].map(str::to_owned);
        assert!(same_names(&names).unwrap().starts_with("objects 1 and 3 are both called 'x'"));
        assert_eq!(same_names(&names[..2]), None);
    }
}
