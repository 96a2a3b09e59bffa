//! Names of clusters that are classes, and the rule by which an object is called by one.

use ndarray::{ArrayView1, Axis};

use crate::SoftPartition;

/// Names of the clusters, where labels of base clusterings name classes, and how probable the class of an object must be.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterNames {
    names: Vec<String>,
    threshold: f64,
    confusion: Vec<Confusion>,
}

/// How one base clustering calls objects of each class.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Confusion {
    /// Name of the base clustering.
    pub name: String,
    /// Expected share of its labels that name the class of the object.
    pub accuracy: f64,
    /// For every class (a list each) the probability of every label, in the order of the names of the clusters.
    pub probabilities: Vec<Vec<f64>>,
}

/// Why objects have no name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unnamed {
    /// Objects all of whose classes are equally probable.
    pub without_evidence: usize,
    /// Others whose two most probable classes are equally probable.
    pub ties: usize,
    /// Others whose most probable class is below the threshold.
    pub below: usize,
}

impl Unnamed {
    /// Objects without a name.
    pub fn objects(self) -> usize {
        self.without_evidence + self.ties + self.below
    }
}

/// Probabilities that differ by no more are equal.
const TIE: f64 = 1e-9;

impl ClusterNames {
    /// What an object without a name is called.
    pub const UNKNOWN: &str = "unknown";

    /// Names of K clusters. An object is called by that of its most probable cluster where there is one such, with a probability of
    /// at least `threshold`.
    pub fn new(names: Vec<String>, threshold: f64, confusion: Vec<Confusion>) -> Self {
        Self {
            names,
            threshold,
            confusion,
        }
    }

    /// Names of the clusters, K of them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How every base clustering calls objects of each class.
    pub fn confusion(&self) -> &[Confusion] {
        &self.confusion
    }

    /// What an object with these probabilities is called.
    pub fn of(&self, probabilities: ArrayView1<'_, f64>) -> &str {
        let (best, first, second) = top_two(probabilities);
        let named = self.names.len() == 1 || first - second > TIE;
        if named && first >= self.threshold {
            &self.names[best]
        } else {
            Self::UNKNOWN
        }
    }

    /// What every object is called.
    pub fn of_all<'a>(&'a self, soft: &'a SoftPartition) -> impl Iterator<Item = &'a str> {
        (0..soft.objects()).map(|object| self.of(soft.rows().index_axis_move(Axis(0), object)))
    }

    /// Why objects are called unknown.
    pub fn unnamed(&self, soft: &SoftPartition) -> Unnamed {
        let mut found = Unnamed::default();
        for row in soft.rows().outer_iter().filter(|_| self.names.len() > 1) {
            let (_, first, second) = top_two(row);
            match first - second > TIE {
                false if first - 1.0 / self.names.len() as f64 <= TIE => {
                    found.without_evidence += 1;
                }
                false => found.ties += 1,
                true => found.below += usize::from(first < self.threshold),
            }
        }
        found
    }

    /// The same with base clusterings in the order in which they were given: at place i stands what was at `bases[i]`.
    pub(crate) fn restored(mut self, bases: &[u32]) -> Self {
        if self.confusion.len() == bases.len() {
            let mut placed: Vec<(u32, Confusion)> =
                bases.iter().copied().zip(self.confusion).collect();
            placed.sort_by_key(|(place, _)| *place);
            self.confusion = placed.into_iter().map(|(_, confusion)| confusion).collect();
        }
        self
    }

    /// What to say of objects without a name, where there are some.
    pub(crate) fn warning(&self, soft: &SoftPartition) -> Option<String> {
        let found = self.unnamed(soft);
        let said = [
            (found.ties, "with two equally probable names".to_owned()),
            (
                found.below,
                format!("with no name of probability {} or more", self.threshold),
            ),
            (
                found.without_evidence,
                "that no label says anything about".to_owned(),
            ),
        ];
        let said: Vec<String> = said
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, why)| format!("{n} {why}"))
            .collect();
        let (unknown, all) = (found.objects(), soft.objects());
        (unknown > 0).then(|| {
            format!(
                "of {all} objects {unknown} are called '{}': {}",
                Self::UNKNOWN,
                said.join(", ")
            )
        })
    }
}

/// The place of the largest value (the first of equals), it, and the second largest.
fn top_two(values: ArrayView1<'_, f64>) -> (usize, f64, f64) {
    values.iter().enumerate().fold(
        (0, f64::NEG_INFINITY, f64::NEG_INFINITY),
        |(best, first, second), (at, &value)| {
            if value > first {
                (at, value, first)
            } else {
                (best, first, second.max(value))
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn ties_and_doubt_have_no_name() {
        let names = ClusterNames::new(["a", "b", "c"].map(String::from).to_vec(), 0.5, Vec::new());
        let third = 1.0 / 3.0;
        let rows = array![
            [0.6, 0.3, 0.1],
            [0.45, 0.45, 0.1],
            [0.4, 0.35, 0.25],
            [third, third, third],
            [0.0, 0.5, 0.5]
        ];
        let soft = SoftPartition::new(rows).unwrap();
        assert_eq!(
            names.of_all(&soft).collect::<Vec<_>>(),
            ["a", "unknown", "unknown", "unknown", "unknown"]
        );
        let found = names.unnamed(&soft);
        assert_eq!(
            found,
            Unnamed {
                without_evidence: 1,
                ties: 2,
                below: 1
            }
        );
        let said = names.warning(&soft).unwrap();
        assert!(
            said.starts_with(
                "of 5 objects 4 are called 'unknown': 2 with two equally probable names"
            ),
            "{said}"
        );
        let one = ClusterNames::new(vec!["a".into()], 0.5, Vec::new());
        assert_eq!(one.of(array![1.0].view()), "a");
    }
}
