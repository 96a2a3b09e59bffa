//! The largest of many changing numbers: a tree of maxima, O(log n) a change.

/// A tournament tree: the largest value and who has it, ties to the smaller index. O(log n) a change.
#[derive(Clone, Debug, Default)]
pub(crate) struct MaxHeapTree {
    values: Vec<f64>,
    winners: Vec<u32>,
    leaves: usize,
}

impl MaxHeapTree {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        let leaves = values.len().next_power_of_two();
        values.resize(leaves, f64::NEG_INFINITY);
        let winners = vec![0; 2 * leaves];
        let mut tree = Self {
            values,
            winners,
            leaves,
        };
        for i in 0..leaves {
            tree.winners[leaves + i] = i as u32;
        }
        for node in (1..leaves).rev() {
            tree.winners[node] = tree.better(node);
        }
        tree
    }

    fn better(&self, node: usize) -> u32 {
        let left = self.winners[2 * node];
        let right = self.winners[2 * node + 1];
        let larger = self.values[right as usize] > self.values[left as usize];
        if larger { right } else { left }
    }

    pub(crate) fn set(&mut self, i: usize, value: f64) {
        self.values[i] = value;
        let mut node = (self.leaves + i) >> 1;
        while node > 0 {
            self.winners[node] = self.better(node);
            node >>= 1;
        }
    }

    /// Who has the largest value, and that value.
    pub(crate) fn winner(&self) -> (usize, f64) {
        let winner = self.winners[usize::from(self.leaves > 1)] as usize;
        (winner, self.values[winner])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_winner_is_the_first_of_the_largest() {
        for n in 1..20usize {
            let mut values: Vec<f64> = (0..n).map(|i| ((i * 7) % 5) as f64).collect();
            let mut tree = MaxHeapTree::new(values.clone());
            for iteration in 0..60usize {
                let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let first = values.iter().position(|&v| v == largest).unwrap();
                assert_eq!(tree.winner(), (first, largest));
                let at = (iteration * 11) % n;
                values[at] = ((iteration * 13) % 7) as f64;
                tree.set(at, values[at]);
            }
        }
    }
}
