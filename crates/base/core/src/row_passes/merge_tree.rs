//! Pairwise summation over numbered blocks, whoever summed them.

use serde::{Deserialize, Serialize};

/// A sum to which another can be added. For floating-point sums the order of merges matters: [`MergeTree`] fixes it.
pub trait Mergeable {
    /// Adds `other`, which is over later rows, to `self`.
    fn merge(&mut self, other: Self);
}

/// The sums of consecutive blocks, merged as far as a binary tree over block numbers allows: blocks 2i and 2i + 1 first,
/// then pairs of those, and so on. However the blocks were dealt out, the same merges are made in the same order.
///
/// ```
/// use partita_core::{MergeTree, Mergeable};
///
/// struct Text(String);
/// impl Mergeable for Text {
///     fn merge(&mut self, other: Self) {
///         self.0 = format!("({}{})", self.0, other.0);
///     }
/// }
///
/// let sum = |blocks: std::ops::Range<u64>| {
///     let mut tree = MergeTree::new();
///     blocks.for_each(|block| tree.push(block, Text(block.to_string())));
///     tree
/// };
/// let mut halves = sum(0..3);
/// halves.append(sum(3..5));
/// assert_eq!(halves.total().map(|text| text.0).as_deref(), Some("(((01)(23))4)"));
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MergeTree<S> {
    /// Subtrees that have no sibling yet, by first block.
    nodes: Vec<Node<S>>,
}

/// The sum of blocks `index · 2^level` up to `(index + 1) · 2^level`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Node<S> {
    level: u32,
    index: u64,
    sum: S,
}

impl<S> Default for MergeTree<S> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<S: Mergeable> MergeTree<S> {
    /// The sum of no block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the sum of the block that follows those it has.
    pub fn push(&mut self, block: u64, sum: S) {
        self.grow(Node {
            level: 0,
            index: block,
            sum,
        });
    }

    /// Adds the sums of the blocks that follow those it has.
    pub fn append(&mut self, other: Self) {
        other.nodes.into_iter().for_each(|node| self.grow(node));
    }

    fn grow(&mut self, mut node: Node<S>) {
        while node.index % 2 == 1
            && let Some(left) = self
                .nodes
                .pop_if(|left| left.level == node.level && left.index == node.index - 1)
        {
            let mut sum = left.sum;
            sum.merge(node.sum);
            node = Node {
                level: node.level + 1,
                index: node.index / 2,
                sum,
            };
        }
        self.nodes.push(node);
    }

    /// The sum of all blocks; none if there were none.
    pub fn total(self) -> Option<S> {
        self.nodes
            .into_iter()
            .map(|node| node.sum)
            .reduce(|mut all, sum| {
                all.merge(sum);
                all
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use rand::RngExt;

    impl Mergeable for f64 {
        fn merge(&mut self, other: Self) {
            *self += other;
        }
    }

    /// Numbers of very different sizes: any other order of additions shows.
    fn numbers(count: u64) -> Vec<f64> {
        let mut rng = Seed::new(count).rng();
        (0..count)
            .map(|_| rng.random_range(-1.0..1.0) * 10f64.powi(rng.random_range(-12..12)))
            .collect()
    }

    #[test]
    fn any_division_of_the_blocks_gives_the_same_bits() {
        for count in [1, 2, 3, 7, 8, 64, 97] {
            let numbers = numbers(count);
            let tree = |blocks: std::ops::Range<u64>| {
                let mut tree = MergeTree::new();
                blocks.for_each(|block| tree.push(block, numbers[block as usize]));
                tree
            };
            let whole = tree(0..count).total().map(f64::to_bits);
            let mut rng = Seed::new(count + 1).rng();
            for _ in 0..50 {
                let (mut divided, mut from) = (MergeTree::new(), 0);
                while from < count {
                    let to = rng.random_range(from + 1..=count);
                    divided.append(tree(from..to));
                    from = to;
                }
                assert_eq!(divided.total().map(f64::to_bits), whole);
            }
        }
        assert!(MergeTree::<f64>::new().total().is_none());
    }
}
