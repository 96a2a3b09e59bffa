//! One finished base clustering.

use partita_core::Stopped;

use crate::kmeans::{Fit, NONE};

/// One finished base clustering.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The cluster of every object, [`NONE`] where the run did not look. No cluster is empty.
    pub(crate) labels: Vec<u16>,
    pub(crate) clusters: usize,
    pub(crate) inertia: Option<f64>,
    pub(crate) rounds: usize,
    pub(crate) stopped: Stopped,
}

impl Found {
    /// From labels of the members alone, which are numbered anew in the order of their numbers.
    pub(crate) fn of_members(
        objects: usize,
        members: &[usize],
        labels: impl Iterator<Item = u16>,
        stopped: Stopped,
    ) -> Self {
        let mut all = vec![NONE; objects];
        members.iter().zip(labels).for_each(|(&i, label)| all[i] = label);
        let clusters = compact(&mut all);
        Self { labels: all, clusters, inertia: None, rounds: 0, stopped }
    }
}

impl From<Fit> for Found {
    fn from(fit: Fit) -> Self {
        let Fit { labels, clusters, inertia, rounds, stopped, .. } = fit;
        Self { labels, clusters, inertia: Some(inertia), rounds, stopped }
    }
}

/// Numbers the clusters that have objects through, in the order of their numbers; gives how many there are.
pub(crate) fn compact(labels: &mut [u16]) -> usize {
    let most = labels.iter().filter(|&&label| label != NONE).max().map_or(0, |&label| usize::from(label) + 1);
    let mut codes = vec![NONE; most];
    labels.iter().filter(|&&label| label != NONE).for_each(|&label| codes[usize::from(label)] = 0);
    let mut clusters = 0;
    for code in codes.iter_mut().filter(|code| **code != NONE) {
        *code = clusters;
        clusters += 1;
    }
    labels.iter_mut().filter(|label| **label != NONE).for_each(|label| *label = codes[usize::from(*label)]);
    usize::from(clusters)
}
