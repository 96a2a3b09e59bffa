//! Files of trees: in SciPy's layout, in that of `hclust` of R, and as Newick.

use std::path::Path;

use partita::extend::Dendrogram;
use partita::files::{self, Table};
use partita::ndarray::Array2;

use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::text_files::write_text;

/// The merges of a tree in SciPy's layout, a row a merge: left, right, height, objects.
pub fn linkage(tree: &Dendrogram) -> Array2<f64> {
    let mut rows = Array2::zeros((tree.merges().len(), 4));
    for (mut row, merge) in rows.outer_iter_mut().zip(tree.merges()) {
        let numbers = [
            f64::from(merge.left),
            f64::from(merge.right),
            merge.height,
            f64::from(merge.size),
        ];
        row.iter_mut()
            .zip(numbers)
            .for_each(|(cell, number)| *cell = number);
    }
    rows
}

/// Writes a tree; the ending says the format: `.nwk` is Newick, `.hclust.csv` what R calls an `hclust`, others are SciPy's layout, as for
/// tables.
pub(crate) fn write_tree(
    path: &Path,
    tree: &Dendrogram,
    names: Option<&[String]>,
) -> Result<(), AppError> {
    let name = |object: usize| match names {
        Some(names) => names[object].clone(),
        None => object.to_string(),
    };
    let called = path.to_string_lossy().to_lowercase();
    if [".nwk", ".newick", ".tree", ".tre"]
        .iter()
        .any(|ending| called.ends_with(ending))
    {
        return write_text(path, &newick(tree, &name));
    }
    if called.ends_with(".hclust.csv") {
        return write_text(path, &hclust(tree, &name));
    }
    let columns = ["left", "right", "height", "objects"]
        .map(str::to_owned)
        .to_vec();
    let table = Table {
        columns,
        values: linkage(tree),
        object_names: None,
        label: None,
        gaps: Vec::new(),
    };
    Ok(files::write_table(path, &table)?)
}

/// The objects from left to right.
fn order(tree: &Dendrogram) -> Vec<usize> {
    let (n, merges) = (tree.objects(), tree.merges());
    let mut left = vec![(2 * n).saturating_sub(2)];
    let mut found = Vec::with_capacity(n);
    while let Some(node) = left.pop() {
        match node.checked_sub(n) {
            None => found.push(node),
            Some(merge) => {
                left.extend([merges[merge].right, merges[merge].left].map(|node| node as usize));
            }
        }
    }
    found
}

/// `((a:1,b:1):0.5,c:1.5);`: a branch is as long as what its ends differ in height.
fn newick(tree: &Dendrogram, name: &dyn Fn(usize) -> String) -> String {
    let n = tree.objects();
    let height = |node: usize| {
        node.checked_sub(n)
            .map_or(0.0, |merge| tree.merges()[merge].height)
    };
    let mut text = String::new();
    // Nodes with the height of what they hang from; none is the end of a branch whose text is there.
    let mut left = vec![Step::Node((2 * n).saturating_sub(2), None)];
    while let Some(step) = left.pop() {
        match step {
            Step::Text(part) => text += &part,
            Step::Node(node, above) => {
                let length = above.map_or_else(String::new, |above: f64| {
                    format!(":{}", above - height(node))
                });
                let Some(merge) = node.checked_sub(n).map(|merge| &tree.merges()[merge]) else {
                    text += &quoted(&name(node));
                    text += &length;
                    continue;
                };
                text.push('(');
                left.push(Step::Text(format!("){length}")));
                left.push(Step::Node(merge.right as usize, Some(merge.height)));
                left.push(Step::Text(",".into()));
                left.push(Step::Node(merge.left as usize, Some(merge.height)));
            }
        }
    }
    text + ";\n"
}

/// What is still to be written of a tree.
enum Step {
    Text(String),
    Node(usize, Option<f64>),
}

/// A name in Newick: in single quotes where it has letters that mean something.
fn quoted(name: &str) -> String {
    let special = |letter: char| letter.is_whitespace() || "()[]{}:;,'\"_".contains(letter);
    if name.is_empty() || name.contains(special) {
        format!("'{}'", name.replace('\'', "''"))
    } else {
        name.to_owned()
    }
}

/// A row an object: the merges in the order of their heights, objects negative and earlier merges positive, from 1; the order of the objects,
/// from 1, and their names. The last row has no merge.
fn hclust(tree: &Dendrogram, name: &dyn Fn(usize) -> String) -> String {
    let n = tree.objects();
    let number = |node: u32| match (node as usize).checked_sub(n) {
        Some(merge) => (merge + 1).to_string(),
        None => format!("-{}", node + 1),
    };
    let row = |(at, object): (usize, usize)| {
        let merge = tree.merges().get(at);
        let of =
            |text: &dyn Fn(&partita::extend::Merge) -> String| merge.map_or_else(String::new, text);
        [
            of(&|merge| number(merge.left)),
            of(&|merge| number(merge.right)),
            of(&|merge| merge.height.to_string()),
            (object + 1).to_string(),
            name(at),
        ]
    };
    csv_text(
        "merge1,merge2,height,order,label",
        order(tree).into_iter().enumerate().map(row),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::extend::Merge;

    #[test]
    fn trees_have_names() {
        let merge = |left, right, height, size| Merge {
            left,
            right,
            height,
            size,
        };
        let tree = Dendrogram::new(
            4,
            vec![
                merge(1, 3, 0.5, 2),
                merge(0, 2, 1.0, 2),
                merge(4, 5, 2.0, 4),
            ],
        );
        let names = ["a", "b c", "d's", "e"];
        let name = |object: usize| names[object].to_owned();
        assert_eq!(
            newick(&tree, &name),
            "(('b c':0.5,e:0.5):1.5,(a:1,'d''s':1):1);\n"
        );
        assert_eq!(
            hclust(&tree, &name),
            "merge1,merge2,height,order,label\n-2,-4,0.5,2,a\n-1,-3,1,4,b c\n1,2,2,1,d's\n,,,3,e\n"
        );
    }
}
