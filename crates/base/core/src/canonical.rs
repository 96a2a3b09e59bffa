//! One order for all the ways of writing down the same ensemble.
//!
//! Objects, base clusterings and cluster numbers come in whatever order a file had them. Methods break ties
//! by position and draw random starts by position, so the order of the rows would leak into the result.
//! Every method therefore runs on a canonical form: objects, base clusterings and clusters sorted by a hash
//! of how they relate to each other (colour refinement of the graph objects – clusters – base clusterings).
//! What refinement cannot tell apart keeps its given order.

use ndarray::{Array2, ArrayView2};

use crate::row_hash::sorted_by_hash;
use crate::seed::mix;
use crate::{BaseWeights, Ensemble, Features, Label, LabelRows, Memberships, ObjectWeights};

/// Iterations of refinement. Two tell apart all but contrived ensembles; the third costs little.
const ITERATIONS: usize = 3;

/// Where everything of a canonical ensemble stood in the given one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalOrder {
    objects: Vec<u32>,
    bases: Vec<u32>,
}

impl CanonicalOrder {
    /// For every place in the canonical order, the object that stands there.
    pub fn objects(&self) -> &[u32] {
        &self.objects
    }

    /// For every place in the canonical order, the base clustering that stands there.
    pub fn bases(&self) -> &[u32] {
        &self.bases
    }

    /// Values in canonical order, put back where they belong.
    pub fn restore<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.places()
            .iter()
            .map(|&at| values[at as usize].clone())
            .collect()
    }

    /// A table with a line an object in canonical order, put back where they belong, without a second table.
    pub(crate) fn restore_lines(&self, table: &mut Array2<f64>) {
        if !table.is_standard_layout() {
            *table = table.as_standard_layout().into_owned();
        }
        let width = table.ncols();
        let cells = table.as_slice_mut().expect("standard layout is contiguous");
        let mut place = self.places();
        for start in 0..place.len() {
            // Along the cycle that starts here; an object that has its line is its own place.
            if place[start] as usize == start {
                continue;
            }
            let (first, mut at) = (cells[start * width..][..width].to_vec(), start);
            loop {
                let from = std::mem::replace(&mut place[at], at as u32) as usize;
                if from == start {
                    break;
                }
                cells.copy_within(from * width..(from + 1) * width, at * width);
                at = from;
            }
            cells[at * width..][..width].copy_from_slice(&first);
        }
    }

    /// For every object its place in the canonical order.
    fn places(&self) -> Vec<u32> {
        let mut place = vec![0u32; self.objects.len()];
        self.objects
            .iter()
            .enumerate()
            .for_each(|(at, &object)| place[object as usize] = at as u32);
        place
    }
}

/// Weights of base clusterings and of objects, where there are some. In whole proportions they count as copies do, so that what has
/// weight 2 and what is there twice stand in the same order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weighting<'a> {
    /// Weights of base clusterings.
    pub bases: Option<&'a BaseWeights>,
    /// Weights of objects.
    pub objects: Option<&'a ObjectWeights>,
}

/// How much everything counts: whole numbers, which count as copies do, or else weights that only tell apart.
struct Counts<'a> {
    whole: Option<Vec<u64>>,
    weights: Option<&'a [f64]>,
}

impl<'a> Counts<'a> {
    fn of_bases(weights: Option<&'a BaseWeights>) -> Self {
        let whole = weights.and_then(|weights| weights.whole(u32::MAX));
        let whole = whole.map(|whole| whole.into_iter().map(u64::from).collect());
        Self {
            whole,
            weights: weights.map(BaseWeights::as_slice),
        }
    }

    fn of_objects(weights: Option<&'a ObjectWeights>) -> Self {
        let weights = weights.map(ObjectWeights::as_slice);
        let whole = weights.filter(|weights| weights.iter().all(|weight| weight.fract() == 0.0));
        Self {
            whole: whole.map(|whole| whole.iter().map(|&weight| weight as u64).collect()),
            weights,
        }
    }

    /// How often what stands at this place is there.
    fn times(&self, at: usize) -> u64 {
        self.whole.as_ref().map_or(1, |whole| whole[at])
    }

    /// The weight of what stands at this place, where it is no number of copies.
    fn bits(&self, at: usize) -> Option<u64> {
        self.weights
            .filter(|_| self.whole.is_none())
            .map(|weights| weights[at].to_bits())
    }
}

impl Ensemble {
    /// The canonical form of this ensemble and the way back. Features, where there are some, and weights of objects and
    /// base clusterings take part in telling objects and base clusterings apart.
    ///
    /// # Cost
    /// O(n M + n log n) time, about 20 n bytes besides the new ensemble.
    pub fn canonical(
        &self,
        features: Option<&Features<'_>>,
        weights: Weighting<'_>,
    ) -> (Self, CanonicalOrder) {
        let offsets = self.offsets();
        let counts = (
            &Counts::of_objects(weights.objects),
            &Counts::of_bases(weights.bases),
        );
        let colours = match (self.memberships(), self.rows()) {
            (Some(soft), _) => refine(soft, &offsets, features, counts),
            (None, LabelRows::Bytes(rows)) => refine(
                &HardRows {
                    rows,
                    offsets: &offsets,
                },
                &offsets,
                features,
                counts,
            ),
            (None, LabelRows::Words(rows)) => refine(
                &HardRows {
                    rows,
                    offsets: &offsets,
                },
                &offsets,
                features,
                counts,
            ),
        };
        let codes: Vec<Vec<u16>> = offsets
            .windows(2)
            .map(|ends| ranks(&colours.clusters[ends[0]..ends[1]]))
            .collect();
        let bases = sorted(&colours.bases, |u| counts.1.times(u));
        let mut objects = sorted(&colours.objects, |i| counts.0.times(i));
        self.sort_equals(&mut objects, &colours.objects);
        // Numbered where it stands, so that the labels are held twice, not three times.
        let codes: Vec<Vec<u16>> = bases
            .iter()
            .map(|&base| codes[base as usize].clone())
            .collect();
        let canonical = self.select(&objects, &bases).recoded(&codes);
        (canonical, CanonicalOrder { objects, bases })
    }

    /// Brings identical rows together where different rows share a colour.
    fn sort_equals(&self, objects: &mut [u32], colours: &[u64]) {
        fn sort<L: Label>(rows: ArrayView2<'_, L>, run: &mut [u32]) {
            run.sort_by(|&a, &b| rows.row(a as usize).iter().cmp(rows.row(b as usize).iter()));
        }
        for run in objects.chunk_by_mut(|&a, &b| colours[a as usize] == colours[b as usize]) {
            if run.len() > 1 {
                match (self.memberships(), self.rows()) {
                    (Some(soft), _) => run.sort_by(|&a, &b| soft.compare(a as usize, b as usize)),
                    (None, LabelRows::Bytes(rows)) => sort(rows, run),
                    (None, LabelRows::Words(rows)) => sort(rows, run),
                }
            }
        }
    }
}

struct Colours {
    objects: Vec<u64>,
    clusters: Vec<u64>,
    bases: Vec<u64>,
}

/// Which base clusters each object is in.
trait Related {
    /// Number of objects.
    fn objects(&self) -> usize;

    /// Calls `take` with the place among all ΣJ clusters, and a hash of the share (0 for all of it), of every base cluster that `object`
    /// is in.
    fn each(&self, object: usize, take: impl FnMut(usize, u64));
}

/// Labels, and where the clusters of each base clustering start.
struct HardRows<'a, L> {
    rows: ArrayView2<'a, L>,
    offsets: &'a [usize],
}

impl<L: Label> Related for HardRows<'_, L> {
    fn objects(&self) -> usize {
        self.rows.nrows()
    }

    fn each(&self, object: usize, mut take: impl FnMut(usize, u64)) {
        let mut one = |(label, offset): (&L, &usize)| {
            if let Some(cluster) = label.cluster() {
                take(offset + cluster, 0);
            }
        };
        let row = self.rows.row(object);
        match row.as_slice() {
            Some(labels) => labels.iter().zip(self.offsets).for_each(&mut one),
            None => row.iter().zip(self.offsets).for_each(&mut one),
        }
    }
}

impl Related for Memberships {
    fn objects(&self) -> usize {
        self.objects()
    }

    fn each(&self, object: usize, mut take: impl FnMut(usize, u64)) {
        let (clusters, shares) = self.row(object);
        for (&cluster, &share) in clusters.iter().zip(shares) {
            take(
                cluster as usize,
                if share == 1.0 {
                    0
                } else {
                    mix(share.to_bits())
                },
            );
        }
    }
}

/// Colour refinement. Sums wrap and commute, so that no order of summation matters.
fn refine(
    rows: &impl Related,
    offsets: &[usize],
    features: Option<&Features<'_>>,
    (of_objects, of_bases): (&Counts<'_>, &Counts<'_>),
) -> Colours {
    let given = |object: usize| {
        let features = features.map_or(0, |f| {
            f.values()
                .row(object)
                .iter()
                .fold(0, |hash, x| mix(hash ^ x.to_bits()))
        });
        of_objects
            .bits(object)
            .map_or(features, |weight| mix(features ^ weight))
    };
    let mut objects: Vec<u64> = (0..rows.objects()).map(given).collect();
    let count = offsets.len() - 1;
    let weight_hashes: Vec<u64> = (0..count)
        .map(|u| of_bases.bits(u).map_or(0, mix))
        .collect();
    let base_of: Vec<usize> = (0..count)
        .flat_map(|u| std::iter::repeat_n(u, offsets[u + 1] - offsets[u]))
        .collect();
    let mut clusters = vec![0u64; offsets[count]];
    let mut bases = weight_hashes.clone();
    for _ in 0..ITERATIONS {
        clusters
            .iter_mut()
            .for_each(|colour| *colour = mix(*colour));
        for (object, &colour) in objects.iter().enumerate() {
            let (colour, times) = (mix(colour), of_objects.times(object));
            let whole = colour.wrapping_mul(times);
            rows.each(object, |place, share| {
                let more = if share == 0 {
                    whole
                } else {
                    mix(colour ^ share).wrapping_mul(times)
                };
                clusters[place] = clusters[place].wrapping_add(more);
            });
        }
        for (u, base) in bases.iter_mut().enumerate() {
            let sum = clusters[offsets[u]..offsets[u + 1]]
                .iter()
                .fold(weight_hashes[u], |s, &c| s.wrapping_add(mix(c)));
            *base = mix(sum);
        }
        // What an object that is wholly in a cluster takes from it.
        let related = |place: usize, share: u64| {
            mix(clusters[place] ^ bases[base_of[place]] ^ share)
                .wrapping_mul(of_bases.times(base_of[place]))
        };
        let whole: Vec<u64> = (0..clusters.len()).map(|place| related(place, 0)).collect();
        for (object, colour) in objects.iter_mut().enumerate() {
            *colour = mix(*colour);
            rows.each(object, |place, share| {
                let more = if share == 0 {
                    whole[place]
                } else {
                    related(place, share)
                };
                *colour = colour.wrapping_add(more);
            });
        }
    }
    Colours {
        objects,
        clusters,
        bases,
    }
}

/// Indices in the order of their colours, then of how often they count; equals keep their order.
fn sorted(colours: &[u64], times: impl Fn(usize) -> u64) -> Vec<u32> {
    sorted_by_hash(colours, |a, b| times(a).cmp(&times(b)))
}

/// The place of every index in the order of the colours.
fn ranks(colours: &[u64]) -> Vec<u16> {
    let mut ranks = vec![0; colours.len()];
    sorted(colours, |_| 1)
        .iter()
        .enumerate()
        .for_each(|(rank, &i)| ranks[i as usize] = rank as u16);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnsembleBuilder, Seed};
    use rand::{RngExt, seq::SliceRandom};

    /// The same ensemble with objects, base clusterings and cluster numbers in another order.
    fn shuffled(ensemble: &Ensemble, seed: u64) -> (Ensemble, Vec<u32>) {
        let mut rng = Seed::new(seed).rng();
        let mut objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
        let mut bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        objects.shuffle(&mut rng);
        bases.shuffle(&mut rng);
        let codes: Vec<Vec<u16>> = (ensemble.bases().iter())
            .map(|base| {
                let mut codes: Vec<u16> = (0..base.clusters() as u16).collect();
                codes.shuffle(&mut rng);
                codes
            })
            .collect();
        (
            ensemble.clone().recoded(&codes).select(&objects, &bases),
            objects,
        )
    }

    #[test]
    fn the_canonical_form_forgets_every_order() {
        for seed in 0..50 {
            let mut rng = Seed::new(seed).rng();
            let n = rng.random_range(20..60);
            let mut builder = EnsembleBuilder::new(n);
            for u in 0..6 {
                let labels: Vec<Option<u32>> = (0..n)
                    .map(|_| rng.random_bool(0.8).then(|| rng.random_range(0..4)))
                    .collect();
                builder.push(format!("u{u}"), labels).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let (canonical, order) = ensemble.canonical(None, Weighting::default());
            let (other, objects) = shuffled(&ensemble, seed + 1000);
            let (again, other_order) = other.canonical(None, Weighting::default());
            assert_eq!(canonical, again, "seed {seed}");

            // The way back: what stands at a place in both forms is the same object, or one with the same row.
            let values: Vec<u32> = (0..n as u32).collect();
            let (here, there) = (order.restore(&values), other_order.restore(&values));
            for (at, &object) in objects.iter().enumerate() {
                let (a, b) = (here[object as usize], there[at]);
                assert!(
                    (0..6)
                        .all(|u| canonical.label(a as usize, u) == canonical.label(b as usize, u))
                );
            }
        }
    }

    #[test]
    fn weights_in_whole_proportions_are_copies() {
        for seed in 0..50 {
            let mut rng = Seed::new(seed).rng();
            let (n, bases) = (rng.random_range(10..40), 5);
            let mut builder = EnsembleBuilder::new(n);
            for u in 0..bases {
                let labels: Vec<Option<u32>> = (0..n)
                    .map(|i| {
                        (i % bases == u || rng.random_bool(0.8)).then(|| rng.random_range(0..3))
                    })
                    .collect();
                builder.push(format!("u{u}"), labels).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let copies = |weights: &[u32]| -> Vec<u32> {
                weights
                    .iter()
                    .zip(0..)
                    .flat_map(|(&times, at)| vec![at; times as usize])
                    .collect()
            };
            let mut weights = |count: usize| {
                (0..count)
                    .map(|_| rng.random_range(1..4))
                    .collect::<Vec<u32>>()
            };
            let (of_bases, of_objects) = (weights(bases), weights(n));
            let numbers =
                |weights: &[u32]| weights.iter().copied().map(f64::from).collect::<Vec<f64>>();
            let base_weights = BaseWeights::new(numbers(&of_bases)).unwrap();
            let object_weights = ObjectWeights::new(numbers(&of_objects)).unwrap();
            let weighting = Weighting {
                bases: Some(&base_weights),
                objects: Some(&object_weights),
            };
            let (weighted, order) = ensemble.canonical(None, weighting);
            let pick = |order: &[u32], weights: &[u32]| {
                copies(
                    &order
                        .iter()
                        .map(|&at| weights[at as usize])
                        .collect::<Vec<u32>>(),
                )
            };
            let expected = weighted.select(
                &pick(&order.objects, &of_objects),
                &pick(&order.bases, &of_bases),
            );
            let copied = ensemble.select(&copies(&of_objects), &copies(&of_bases));
            let (copied, _) = copied.canonical(None, Weighting::default());
            let rows = |ensemble: &Ensemble| -> Vec<Vec<Option<usize>>> {
                let row = |i: usize| {
                    (0..ensemble.bases().len())
                        .map(|u| ensemble.label(i, u))
                        .collect()
                };
                (0..ensemble.objects()).map(row).collect()
            };
            assert_eq!(rows(&expected), rows(&copied), "seed {seed}");
        }
    }

    #[test]
    fn lines_go_back_where_values_do() {
        for seed in 0..50 {
            let mut rng = Seed::new(seed).rng();
            let (n, width) = (rng.random_range(1..30), rng.random_range(1..4));
            let mut objects: Vec<u32> = (0..n as u32).collect();
            objects.shuffle(&mut rng);
            let order = CanonicalOrder {
                objects,
                bases: Vec::new(),
            };
            let given = Array2::from_shape_simple_fn((n, width), || rng.random::<f64>());
            // One table in rows, one in columns.
            for mut table in [given.clone(), given.t().to_owned().reversed_axes()] {
                order.restore_lines(&mut table);
                for (column, given) in table.columns().into_iter().zip(given.columns()) {
                    assert_eq!(column.to_vec(), order.restore(&given.to_vec()));
                }
            }
        }
    }

    #[test]
    fn features_tell_apart_what_labels_do_not() {
        let mut builder = EnsembleBuilder::new(3);
        builder.push("u", [Some(0), Some(0), Some(0)]).unwrap();
        let ensemble = builder.finish().unwrap();
        let columns = ["x".to_owned()];
        let forward = ndarray::array![[1.0], [2.0], [3.0]];
        let backward = ndarray::array![[3.0], [2.0], [1.0]];
        let order = |values: &ndarray::Array2<f64>| {
            let features = Features::new(&columns, values.view()).unwrap();
            ensemble
                .canonical(Some(&features), Weighting::default())
                .1
                .objects()
                .iter()
                .map(|&i| values[[i as usize, 0]])
                .collect::<Vec<_>>()
        };
        assert_eq!(order(&forward), order(&backward));
    }
}
