//! One finished base clustering: its labels, and how the run ended.

use partita_core::Stopped;

use partita_kmeans::{Fit, UNLABELLED, compact};

/// One finished base clustering.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BaseRun {
    /// The cluster of every object, [`UNLABELLED`] where the run did not look. No cluster is empty.
    pub(crate) labels: Vec<u16>,
    pub(crate) clusters: usize,
    pub(crate) inertia: Option<f64>,
    pub(crate) iterations: usize,
    pub(crate) stopped: Stopped,
}

impl BaseRun {
    /// From labels of the members alone, which are numbered anew in the order of their numbers.
    pub(crate) fn of_members(
        objects: usize,
        members: &[usize],
        labels: impl Iterator<Item = u16>,
        stopped: Stopped,
    ) -> Self {
        let mut all = vec![UNLABELLED; objects];
        members
            .iter()
            .zip(labels)
            .for_each(|(&i, label)| all[i] = label);
        let clusters = compact(&mut all);
        Self {
            labels: all,
            clusters,
            inertia: None,
            iterations: 0,
            stopped,
        }
    }
}

impl From<Fit> for BaseRun {
    fn from(fit: Fit) -> Self {
        let Fit {
            labels,
            clusters,
            inertia,
            iterations,
            stopped,
            ..
        } = fit;
        Self {
            labels,
            clusters,
            inertia: Some(inertia),
            iterations,
            stopped,
        }
    }
}
