//! One run of k-means: what is asked for, and what comes of it.

use partita_core::{Seed, Stopped};

use crate::members::Members;
use crate::settings::Initialization;

/// The label of a row that a run does not see, or has not seen yet.
pub const UNLABELLED: u16 = u16::MAX;

/// One run to be made.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Clusters asked for, at least 1 and at most the members and [`MAX_BASE_CLUSTERS`](partita_core::MAX_BASE_CLUSTERS).
    pub clusters: usize,
    /// How starting centres are chosen.
    pub initialization: Initialization,
    /// Chance of the initialization and of batches.
    pub seed: Seed,
    /// The rows that the run sees.
    pub members: Members,
    /// Starting centres in the units of the rows (`scaled`), clusters × d, instead of an initialization.
    pub given: Option<Vec<f64>>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The cluster of every row, [`UNLABELLED`] where the run did not look. No cluster is empty.
    pub labels: Vec<u16>,
    /// Centres in scaled units, clusters × d.
    pub centres: Vec<f64>,
    /// Clusters that have rows.
    pub clusters: usize,
    /// Σ w‖x − c‖² (by cosine Σ w(1 − cos)), in the units of the table.
    pub inertia: f64,
    /// Iterations used.
    pub iterations: usize,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// Numbers the clusters that have objects through, in the order of their numbers; gives how many there are.
pub fn compact(labels: &mut [u16]) -> usize {
    let most = labels
        .iter()
        .filter(|&&label| label != UNLABELLED)
        .max()
        .map_or(0, |&label| usize::from(label) + 1);
    let mut codes = vec![UNLABELLED; most];
    labels
        .iter()
        .filter(|&&label| label != UNLABELLED)
        .for_each(|&label| codes[usize::from(label)] = 0);
    let mut clusters = 0;
    for code in codes.iter_mut().filter(|code| **code != UNLABELLED) {
        *code = clusters;
        clusters += 1;
    }
    labels
        .iter_mut()
        .filter(|label| **label != UNLABELLED)
        .for_each(|label| *label = codes[usize::from(*label)]);
    usize::from(clusters)
}
