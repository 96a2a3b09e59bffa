//! Edge lists: a row an edge, the names of its ends and its weight.

use std::path::Path;

use partita_core::option;

use super::label_file::read_all;
use super::read_options::ReadOptions;
use super::roles::find_all;
use crate::dictionary::Dictionary;
use crate::error::{FileError, Result, shown};
use crate::format::reader::{Column, Form, Layout, Limit};
use crate::format::{self, FORMATS};
use crate::label_number::MISSING;

/// The edges of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeList {
    /// What the n vertices are called: numbers rising, or in the order of their letters.
    pub names: Vec<String>,
    /// Places of the two ends among the names, and the weight; 1 where the file has none.
    pub edges: Vec<(usize, usize, f64)>,
}

/// Reads edges: a row each, of two columns, the ends, or of three, the third the weight, whatever they are called; `only` and `skip` say which of
/// more. A name that is written alike in both columns is one vertex.
///
/// # Errors
/// [`FileError`] for other columns, for an end that is missing and for a weight that is no number.
///
/// # Cost
/// O(m log n) time; about 60 bytes an edge.
pub fn read_edges(path: &Path, options: &ReadOptions) -> Result<EdgeList, FileError> {
    let reader = format::open_reader(FORMATS, path, &options.open_options())?;
    let only = find_all(path, reader.names(), &options.only)?;
    let skip = find_all(path, reader.names(), &options.skip)?;
    let columns: Vec<usize> = (0..reader.names().len())
        .filter(|at| (only.is_empty() || only.contains(at)) && !skip.contains(at))
        .collect();
    if reader.items().layout != Layout::Columns || !(2..=3).contains(&columns.len()) {
        let reason = format!(
            " is no list of edges: it has {} columns; an edge is a row of its two ends, and its weight behind them where there is one ({} or {} settles it)",
            columns.len(),
            option("only"),
            option("skip")
        );
        return Err(FileError::content(path, reason));
    }
    let forms = [Form::Labels, Form::Labels, Form::Text];
    let wanted: Vec<(usize, Form)> = columns.into_iter().zip(forms).collect();
    let limit = Limit {
        bytes_per_row: 40,
        ..Limit::new(options.budget, "the edges", "raise the limit")
    };
    let read = read_all(&*reader, &wanted, &limit)?;
    let mut read = read.into_iter();
    let ends: Vec<Dictionary> = read.by_ref().take(2).map(Column::into_dictionary).collect();
    let mut names: Vec<&str> = ends
        .iter()
        .flat_map(|end| end.values().iter().map(String::as_str))
        .collect();
    // Numbers by their size, words after them.
    let key = |name: &&str| (name.parse::<u64>().unwrap_or(u64::MAX), name.to_string());
    names.sort_by_cached_key(key);
    names.dedup();
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); 2];
    for (end, places) in ends.iter().zip(&mut places) {
        let place = |name: &String| names.binary_search_by_key(&key(&name.as_str()), key);
        let place: Vec<usize> = end
            .values()
            .iter()
            .map(|name| place(name).unwrap_or(0))
            .collect();
        for (row, &code) in end.codes().iter().enumerate() {
            if code == MISSING {
                let reason = format!(
                    ", row {}: an edge has two ends, and one is missing",
                    row + 1
                );
                return Err(FileError::content(path, reason));
            }
            places.push(place[code as usize]);
        }
    }
    let weights = match read.next().map(Column::into_texts) {
        None => vec![1.0; places[0].len()],
        Some(texts) => {
            let weight = |(row, text): (usize, &String)| {
                text.trim().parse::<f64>().map_err(|_| {
                    let (row, text) = (row + 1, shown(text));
                    let reason =
                        format!(", row {row}: '{text}' is no weight; write a number from 0 up");
                    FileError::content(path, reason)
                })
            };
            texts
                .iter()
                .enumerate()
                .map(weight)
                .collect::<Result<_>>()?
        }
    };
    let ends = places[0].iter().zip(&places[1]).zip(weights);
    Ok(EdgeList {
        edges: ends.map(|((&a, &b), weight)| (a, b, weight)).collect(),
        names: names.into_iter().map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EdgeList, String> {
        read_by(text, &ReadOptions::default())
    }

    fn read_by(text: &str, options: &ReadOptions) -> Result<EdgeList, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("edges.csv");
        std::fs::write(&file, text).unwrap();
        read_edges(&file, options).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_of_both_ends_and_weights_may_be_missing() {
        let found = read("from,to,weight\n10,9,2.5\n9,x,1\n").unwrap();
        assert_eq!(found.names, ["9", "10", "x"]);
        assert_eq!(found.edges, [(1, 0, 2.5), (0, 2, 1.0)]);
        let plain = read("from,to\nb,a\nc,a\n").unwrap();
        assert_eq!(plain.edges, [(1, 0, 1.0), (2, 0, 1.0)]);
        // Without a header.
        assert_eq!(read("0,1\n1,2\n0,2\n").unwrap().edges.len(), 3);
    }

    #[test]
    fn what_is_no_edge_is_refused() {
        let says = |text: &str| read(text).unwrap_err();
        assert!(says("a,b,c,d\n1,2,3,4\n").contains("4 columns"));
        let options = ReadOptions {
            skip: vec!["kind".into()],
            ..ReadOptions::default()
        };
        let found = read_by("kind,a,b,w\nx,1,2,3\n", &options).unwrap();
        assert_eq!(found.edges, [(0, 1, 3.0)]);
        assert!(says("a,b,w\n1,,3\n").contains("row 1: an edge has two ends"));
        assert!(says("a,b,w\nx,y,3\nx,z,much\n").contains("row 2: 'much' is no weight"));
    }
}
