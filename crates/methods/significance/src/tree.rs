//! Neighbouring clusters merged while no gap is seen between them.

use std::collections::{BTreeMap, BTreeSet};

use partita_core::{Monitor, ProgressCounter, Seed, map_parallel};

use crate::corridor::{Group, Half, Pair};
use crate::error::SignificanceError;
use crate::pair::{PairTest, combine, test_half};
use crate::result::{Node, Split, Verdict};
use crate::rows::Rows;
use crate::settings::GapTestSettings;

/// Two groups by their numbers, the smaller first.
type Key = (u32, u32);

/// The groups that are left while neighbours are merged.
pub(crate) struct Merging<'a, 'r> {
    rows: &'a Rows<'r>,
    settings: &'a GapTestSettings,
    seed: Seed,
    /// Groups by number, which is that of their first cluster: none for clusters that are not tested or have been merged.
    pub(crate) groups: Vec<Option<Group>>,
    /// The group of every cluster.
    pub(crate) group_of: Vec<u32>,
    /// The node of every group.
    node_of: Vec<usize>,
    tests: BTreeMap<Key, PairTest>,
    pub(crate) nodes: Vec<Node>,
    /// Tests of pairs that were made.
    pub(crate) made: usize,
}

/// A split that is left, by the numbers of its groups.
pub(crate) type NumberedSplit = (Key, Split);

impl<'a, 'r> Merging<'a, 'r> {
    pub(crate) fn new(
        rows: &'a Rows<'r>,
        settings: &'a GapTestSettings,
        seed: Seed,
        groups: Vec<Option<Group>>,
    ) -> Self {
        let clusters = groups.len();
        Self {
            rows,
            settings,
            seed,
            groups,
            group_of: (0..clusters as u32).collect(),
            node_of: (0..clusters).collect(),
            tests: BTreeMap::new(),
            nodes: Vec::new(),
            made: 0,
        }
    }

    /// Tests neighbours and merges the pair with the largest p-value until all are at most α.
    pub(crate) fn run(&mut self, monitor: &dyn Monitor) -> Result<(), SignificanceError> {
        let mut pairs = self.neighbours();
        // All pairs of neighbours, and those of every union.
        let merges = self.groups.iter().flatten().count();
        let most = pairs.len() + merges * 2 * self.settings.neighbours;
        let progress = ProgressCounter::new(monitor, (most * self.halves()) as u64);
        loop {
            self.test(&pairs, &progress)?;
            let Some(key) = self.next_merge() else {
                return Ok(());
            };
            pairs = self.merge(key);
        }
    }

    fn halves(&self) -> usize {
        2 * self.settings.halvings as usize
    }

    fn group(&self, number: u32) -> &Group {
        let group = self.groups[number as usize].as_ref();
        group.expect("only groups that are left are asked for")
    }

    fn distance(&self, (a, b): Key) -> f64 {
        let between = &self.group(a).centre - &self.group(b).centre;
        between.dot(&between)
    }

    /// Every group with those of the nearest centres.
    fn neighbours(&self) -> BTreeSet<Key> {
        let left: Vec<u32> = (0..self.groups.len() as u32)
            .filter(|&number| self.groups[number as usize].is_some())
            .collect();
        let mut pairs = BTreeSet::new();
        for &one in &left {
            let others = left.iter().filter(|&&other| other != one);
            let mut others: Vec<(f64, u32)> = others
                .map(|&other| (self.distance((one, other)), other))
                .collect();
            others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let nearest = others.iter().take(self.settings.neighbours);
            pairs.extend(nearest.map(|&(_, other)| (one.min(other), one.max(other))));
        }
        pairs
    }

    /// Tests pairs, half by half on all threads.
    fn test(
        &mut self,
        pairs: &BTreeSet<Key>,
        progress: &ProgressCounter<'_>,
    ) -> Result<(), SignificanceError> {
        let halves = (0..self.settings.halvings)
            .flat_map(|halving| [0, 1].map(|half| Half { halving, half }));
        let work = pairs
            .iter()
            .flat_map(|&key| halves.clone().map(move |half| (key, half)));
        let made = map_parallel(work, |(key, half)| {
            if progress.stopped() {
                return None;
            }
            let pair = Pair {
                rows: self.rows,
                first: self.group(key.0),
                second: self.group(key.1),
                groups: &self.groups,
                group_of: &self.group_of,
                numbers: [key.0, key.1],
            };
            let unit = u64::from(half.halving) * 2 + u64::from(half.half);
            // Halvings are drawn by children of the seed below.
            let seed = self.seed.child(u64::MAX).child(unit);
            let made = test_half(pair, half, self.settings, seed);
            progress.add(1);
            Some(made)
        });
        let made: Option<Vec<_>> = made.into_iter().collect();
        let mut made = made.ok_or(SignificanceError::Interrupted)?.into_iter();
        for &key in pairs {
            let halves = made.by_ref().take(self.halves()).collect();
            self.tests.insert(key, combine(halves));
        }
        self.made += pairs.len();
        Ok(())
    }

    /// Whether no count of rows could have made a pair's p-value small enough, or its values are too few.
    fn is_untold(&self, test: &PairTest) -> bool {
        test.few_values || (test.p > self.settings.alpha && test.least_p > self.settings.alpha)
    }

    /// The pair to be merged next: that of the largest p-value, of equals the nearest.
    fn next_merge(&self) -> Option<Key> {
        let merged = |&(_, test): &(&Key, &PairTest)| {
            test.p > self.settings.alpha && (self.settings.merge_small || !self.is_untold(test))
        };
        let candidates = self.tests.iter().filter(merged);
        let best = candidates.max_by(|(one, a), (other, b)| {
            let nearer = || self.distance(**other).total_cmp(&self.distance(**one));
            a.p.total_cmp(&b.p).then_with(nearer).then(other.cmp(one))
        });
        best.map(|(key, _)| *key)
    }

    /// Merges a pair, whose neighbours the union has; gives the pairs to be tested anew.
    fn merge(&mut self, key: Key) -> BTreeSet<Key> {
        let (kept, gone) = key;
        let test = self.tests.remove(&key);
        let of_pair = |&(a, b): &Key| a == kept || b == kept || a == gone || b == gone;
        let touched: Vec<Key> = self.tests.keys().copied().filter(of_pair).collect();
        let mut anew = BTreeSet::new();
        for pair in touched {
            self.tests.remove(&pair);
            let (a, b) = pair;
            let other = if a == kept || a == gone { b } else { a };
            anew.insert((kept.min(other), kept.max(other)));
        }
        let union = self.groups[gone as usize].take();
        let into = self.groups[kept as usize].as_mut();
        if let (Some(union), Some(into)) = (union, into) {
            into.take(union);
        }
        for group in &mut self.group_of {
            if *group == gone {
                *group = kept;
            }
        }
        if let Some(test) = test {
            self.join(key, self.group(kept).rows, test, Verdict::NoGapSeen);
        }
        anew
    }

    fn join(&mut self, (kept, gone): Key, rows: usize, test: PairTest, verdict: Verdict) {
        let (one, other) = (self.node_of[kept as usize], self.node_of[gone as usize]);
        self.nodes.push(Node {
            left: one.min(other),
            right: one.max(other),
            rows,
            p: test.p,
            verdict,
            test,
        });
        self.node_of[kept as usize] = self.groups.len() + self.nodes.len() - 1;
    }

    /// The splits that are left with their verdicts, by the numbers of their groups.
    pub(crate) fn splits(&self) -> Vec<NumberedSplit> {
        let judged = self.tests.iter().filter(|(_, test)| !self.is_untold(test));
        let judged: Vec<(Key, f64)> = judged.map(|(key, test)| (*key, test.p)).collect();
        let adjusted = holm(judged);
        let split = |(key, test): (&Key, &PairTest)| {
            let adjusted_p = adjusted.get(key).copied();
            let verdict = match adjusted_p {
                None => Verdict::CannotTell,
                Some(p) if p <= self.settings.alpha => Verdict::Established,
                Some(_) => Verdict::SeparateAtAlpha,
            };
            let split = Split {
                first: key.0 as usize,
                second: key.1 as usize,
                test: test.clone(),
                adjusted_p,
                verdict,
            };
            (*key, split)
        };
        self.tests.iter().map(split).collect()
    }

    /// The upper part of the tree: groups joined by the splits that are left, from the weakest on.
    pub(crate) fn join_splits(&mut self, splits: &[NumberedSplit]) {
        let mut order: Vec<&NumberedSplit> = splits.iter().collect();
        order.sort_by(|one, other| {
            let (a, b) = (&one.1, &other.1);
            b.verdict
                .cmp(&a.verdict)
                .then(b.test.p.total_cmp(&a.test.p))
                .then(one.0.cmp(&other.0))
        });
        let mut side: Vec<u32> = (0..self.groups.len() as u32).collect();
        let mut rows: Vec<usize> = self
            .groups
            .iter()
            .map(|group| group.as_ref().map_or(0, |group| group.rows))
            .collect();
        for ((a, b), split) in order {
            let (a, b) = (side[*a as usize], side[*b as usize]);
            let (kept, gone) = (a.min(b), a.max(b));
            if kept == gone {
                continue;
            }
            rows[kept as usize] += rows[gone as usize];
            side.iter_mut()
                .filter(|side| **side == gone)
                .for_each(|side| *side = kept);
            let sum = rows[kept as usize];
            self.join((kept, gone), sum, split.test.clone(), split.verdict);
        }
    }
}

impl Group {
    /// Takes in another.
    fn take(&mut self, other: Self) {
        let all = (self.rows + other.rows) as f64;
        let between = &other.centre - &self.centre;
        self.centre.scaled_add(other.rows as f64 / all, &between);
        self.rows += other.rows;
        self.clusters.extend(other.clusters);
        self.clusters.sort_unstable();
        for (own, others) in self.moments.iter_mut().zip(&other.moments) {
            own.add(others);
        }
    }
}

/// Holm's p-values of a family.
fn holm(mut family: Vec<(Key, f64)>) -> BTreeMap<Key, f64> {
    family.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(&other.0)));
    let (size, mut largest) = (family.len(), 0.0_f64);
    let adjusted = family.into_iter().enumerate().map(|(place, (key, p))| {
        largest = largest.max(((size - place) as f64 * p).min(1.0));
        (key, largest)
    });
    adjusted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holms_p_values_are_those_of_r() {
        // p.adjust(c(.01, .04, .03, .005), "holm") = 0.03 0.06 0.06 0.02
        let p = [0.01, 0.04, 0.03, 0.005];
        let family = p.iter().enumerate().map(|(at, p)| ((0, at as u32), *p));
        let adjusted: Vec<f64> = holm(family.collect()).into_values().collect();
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(
            adjusted
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }
}
