//! Rows of a table that are equal: every base clustering gives them the same label.

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble};
use partita_kmeans::{UNLABELLED, compact};

use crate::error::Result;
use crate::{Generated, TableView};

/// Objects of which there are several with the same numbers: a list for each such row, every list and its objects in rising order.
/// None of a table that is read in groups.
///
/// # Cost
/// O(n·d + n ln n) time; 12·n bytes.
pub fn equal_rows(values: &TableView<'_>) -> Vec<Vec<u32>> {
    let rows = Rows(*values);
    let n = match values {
        TableView::Groups(_) | TableView::Graph(_) => 0,
        _ => values.dim().0,
    };
    let mut order: Vec<(u64, u32)> = (0..n).map(|i| (rows.hash(i), i as u32)).collect();
    order.sort_unstable();
    let mut lists: Vec<Vec<u32>> = Vec::new();
    for alike in order.chunk_by(|one, other| one.0 == other.0) {
        let begun = lists.len();
        for &(_, i) in alike {
            let same = |list: &&mut Vec<u32>| rows.equal(list[0] as usize, i as usize);
            match lists[begun..].iter_mut().find(same) {
                Some(list) => list.push(i),
                None => lists.push(vec![i]),
            }
        }
        // Most rows are there once: what is no list is let go at once.
        if alike.len() == 1 {
            lists.truncate(begun);
        }
    }
    lists.retain(|list| list.len() > 1);
    lists.sort_unstable();
    lists
}

/// A table that is held, row by row.
struct Rows<'a>(TableView<'a>);

impl Rows<'_> {
    /// The numbers of a row that are not 0, with their columns.
    fn entries(&self, i: usize) -> Box<dyn Iterator<Item = (usize, f64)> + '_> {
        let all: Box<dyn Iterator<Item = (usize, f64)>> = match &self.0 {
            TableView::Dense(values)
            | TableView::Gaps(values, _)
            | TableView::Distances(values) => {
                Box::new(values.row(i).into_iter().copied().enumerate())
            }
            TableView::Sparse(values) => match values.outer_view(i) {
                Some(row) => {
                    let entries: Vec<(usize, f64)> = row.iter().map(|(j, &x)| (j, x)).collect();
                    Box::new(entries.into_iter())
                }
                None => Box::new(std::iter::empty()),
            },
            TableView::Groups(_) | TableView::Graph(_) => Box::new(std::iter::empty()),
        };
        Box::new(all.filter(|&(_, x)| x != 0.0))
    }

    fn hash(&self, i: usize) -> u64 {
        self.entries(i).fold(0, |hash, (j, x)| {
            let mixed = |hash: u64, bits: u64| {
                (hash.rotate_left(5) ^ bits).wrapping_mul(0x517c_c1b7_2722_0a95)
            };
            mixed(mixed(hash, j as u64), x.to_bits())
        })
    }

    fn equal(&self, one: usize, other: usize) -> bool {
        self.entries(one).eq(self.entries(other))
    }
}

impl Generated {
    /// The same where objects of a list, whose rows are equal, have the same label in every base clustering: that of the first of them
    /// that has one. So objects that a subsample left out are not told apart from their equals.
    ///
    /// # Errors
    /// [`GenerateError`](crate::GenerateError) where that is no ensemble, which does not happen with the [`equal_rows`] of its table.
    pub fn with_equal_rows(mut self, lists: &[Vec<u32>]) -> Result<Self> {
        if lists.is_empty() {
            return Ok(self);
        }
        let ensemble = &self.ensemble;
        let mut rows = Array2::from_elem((ensemble.objects(), ensemble.bases().len()), UNLABELLED);
        let mut bases = Vec::with_capacity(ensemble.bases().len());
        for (u, (base, facts)) in ensemble.bases().iter().zip(&mut self.facts).enumerate() {
            let label = |label: Option<usize>| label.map_or(UNLABELLED, |label| label as u16);
            let mut labels: Vec<u16> = ensemble.column(u).map(label).collect();
            for list in lists {
                let own = list.iter().map(|&i| labels[i as usize]);
                if let Some(first) = own.clone().find(|&label| label != UNLABELLED) {
                    list.iter().for_each(|&i| labels[i as usize] = first);
                }
            }
            let clusters = compact(&mut labels);
            facts.clusters = clusters;
            facts.objects = labels.iter().filter(|&&label| label != UNLABELLED).count();
            rows.column_mut(u)
                .iter_mut()
                .zip(labels)
                .for_each(|(to, label)| *to = label);
            let values = (0..clusters).map(|j| j.to_string()).collect();
            bases.push(BaseClustering::new(base.name(), values));
        }
        let mut made = Ensemble::from_words(rows, bases)?;
        if let Some(names) = ensemble.object_names() {
            made = made.with_object_names(names.to_vec())?;
        }
        if let Some(recipe) = ensemble.recipe() {
            made = made.with_recipe(recipe);
        }
        self.ensemble = made;
        Ok(self)
    }
}
