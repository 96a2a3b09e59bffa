//! Trees from a condensed matrix of dissimilarities.

use kodama::{Float, Method};
use partita_core::{Dendrogram, Merge};

/// How the dissimilarity of two clusters follows from those of their objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Linkage {
    /// The smallest over pairs.
    Single,
    /// The mean over pairs.
    Average,
    /// The largest over pairs.
    Complete,
    /// The growth of the sum of squares; dissimilarities are taken for Euclidean distances.
    Ward,
    /// The distance of the centroids; dissimilarities are taken for Euclidean distances. Heights may fall.
    Centroid,
}

/// Why dissimilarities make no tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkageError {
    /// There is not one dissimilarity a pair.
    #[error("{found} dissimilarities for {objects} objects; there are {} pairs", objects * objects.saturating_sub(1) / 2)]
    Length {
        /// Dissimilarities given.
        found: usize,
        /// Objects.
        objects: usize,
    },
    /// A dissimilarity that is negative or not a number.
    #[error("the dissimilarity of objects {left} and {right} is {value}")]
    Value {
        /// The first object.
        left: usize,
        /// The second object.
        right: usize,
        /// The dissimilarity given.
        value: f64,
    },
    /// Not one positive weight an object.
    #[error("{found} weights for {objects} objects, or a weight of 0")]
    Weights {
        /// Weights given.
        found: usize,
        /// Objects.
        objects: usize,
    },
    /// Sums of dissimilarities would not fit 64 bits.
    #[error(
        "dissimilarities in units of 1/{unit} over objects of total weight {weight} pass 64 bits; take a coarser unit"
    )]
    Unit {
        /// What the dissimilarity 1 counts.
        unit: u64,
        /// Sum of the weights.
        weight: f64,
    },
    /// An edge that does not join two objects, or whose length is out of range.
    #[error("({left}, {right}) of length {length} is not an edge between two of {objects} objects")]
    Edge {
        /// The first object.
        left: u32,
        /// The second object.
        right: u32,
        /// The length given.
        length: f64,
        /// Objects.
        objects: usize,
    },
    /// The monitor asked to stop.
    #[error("stopped before the tree was there")]
    Interrupted,
}

/// The tree of a condensed matrix: pairs in the order (0,1), (0,2), …, (1,2), …, as in SciPy.
///
/// # Errors
/// [`LinkageError`] if there is not one dissimilarity a pair, or one is negative or not finite.
///
/// # Cost
/// O(n²) time (centroid link: O(n² log n) usually), no memory besides the matrix.
pub fn link(
    condensed: Vec<f64>,
    objects: usize,
    linkage: Linkage,
) -> Result<Dendrogram, LinkageError> {
    tree(condensed, objects, linkage, |value| value)
}

/// [`link`] in single precision: half the memory, heights to about seven digits.
///
/// # Errors
/// As [`link`].
pub fn link_f32(
    condensed: Vec<f32>,
    objects: usize,
    linkage: Linkage,
) -> Result<Dendrogram, LinkageError> {
    tree(condensed, objects, linkage, f64::from)
}

fn tree<T: Float>(
    mut condensed: Vec<T>,
    objects: usize,
    linkage: Linkage,
    widen: impl Fn(T) -> f64,
) -> Result<Dendrogram, LinkageError> {
    check(&condensed, objects, &widen)?;
    let method = match linkage {
        Linkage::Single => Method::Single,
        Linkage::Average => Method::Average,
        Linkage::Complete => Method::Complete,
        Linkage::Ward => Method::Ward,
        Linkage::Centroid => Method::Centroid,
    };
    let steps = kodama::linkage(&mut condensed, objects, method);
    let merges = steps.steps().iter().map(|step| Merge {
        left: step.cluster1 as u32,
        right: step.cluster2 as u32,
        height: widen(step.dissimilarity),
        size: step.size as u32,
    });
    Ok(Dendrogram::new(objects, merges.collect()))
}

/// Refuses what is not a condensed matrix of so many objects.
pub(crate) fn check<T: Copy>(
    condensed: &[T],
    objects: usize,
    widen: impl Fn(T) -> f64,
) -> Result<(), LinkageError> {
    if condensed.len() != objects * objects.saturating_sub(1) / 2 {
        return Err(LinkageError::Length {
            found: condensed.len(),
            objects,
        });
    }
    let valid = 0.0..f64::INFINITY;
    if let Some(bad) = condensed
        .iter()
        .position(|&value| !valid.contains(&widen(value)))
    {
        let (left, right) = ends(bad, objects);
        return Err(LinkageError::Value {
            left,
            right,
            value: widen(condensed[bad]),
        });
    }
    Ok(())
}

/// The two objects of the pair at a place of a condensed matrix.
fn ends(mut pair: usize, objects: usize) -> (usize, usize) {
    let mut left = 0;
    while pair >= objects - 1 - left {
        pair -= objects - 1 - left;
        left += 1;
    }
    (left, left + 1 + pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_link_of_four_points_on_a_line() {
        // Points 0, 1, 5, 7.
        let tree = link(vec![1.0, 5.0, 7.0, 4.0, 6.0, 2.0], 4, Linkage::Average).unwrap();
        let heights: Vec<f64> = tree.merges().iter().map(|merge| merge.height).collect();
        assert_eq!(heights, [1.0, 2.0, 5.5]);
        let last = tree.merges()[2];
        assert_eq!((last.left, last.right, last.size), (4, 5, 4));
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        let error = link(vec![1.0], 3, Linkage::Single).unwrap_err();
        let found = 1;
        let objects = 3;
        assert_eq!(error, LinkageError::Length { found, objects });
        let error = link(vec![1.0, 2.0, f64::NAN], 3, Linkage::Single).unwrap_err();
        assert!(error.to_string().contains("objects 1 and 2 is NaN"));
        assert_eq!(link(vec![], 1, Linkage::Ward).unwrap().merges(), []);
    }
}
