//! k-means++ and greedy k-means++: centres drawn in proportion to weight × distance from the nearest centre so far.
//!
//! [`plus_plus`] is the one loop. What a distance is, how draws are made from it and in which precision is up to a
//! [`DistanceField`]; [`Field`] is one over any [`Points`] whose distances from a few centres are known.
//!
//! # References
//! Arthur and Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007; the greedy variant is in the same paper's
//! implementation, and in scikit-learn.

use rand::{Rng, RngExt};

/// Distances of points from the nearest centre so far.
pub trait DistanceField {
    /// The first centre; none where no point may become one.
    fn first(&mut self, rng: &mut impl Rng) -> Option<usize>;

    /// Takes a new centre into account.
    fn add(&mut self, centre: usize);

    /// A point drawn in proportion to weight × distance; none to stop before there are as many centres as asked for.
    fn draw(&self, rng: &mut impl Rng) -> Option<usize>;

    /// The first of the candidates after which weight × distance sums to least.
    fn best(&mut self, candidates: &[usize]) -> usize;
}

/// Chooses centres: the first by [`DistanceField::first`], every next one the best of so many `candidates` drawn independently (1 is
/// k-means++, more is greedy k-means++). The last centre is not added to the field.
pub fn plus_plus(
    field: &mut impl DistanceField,
    clusters: usize,
    candidates: usize,
    rng: &mut impl Rng,
) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(clusters);
    while chosen.len() < clusters {
        let next = match chosen.last() {
            None => field.first(rng),
            Some(&last) => {
                field.add(last);
                let drawn: Option<Vec<usize>> =
                    (0..candidates.max(1)).map(|_| field.draw(rng)).collect();
                drawn.map(|drawn| {
                    if drawn.len() == 1 {
                        drawn[0]
                    } else {
                        field.best(&drawn)
                    }
                })
            }
        };
        let Some(next) = next else { break };
        chosen.push(next);
    }
    chosen
}

/// Points with weights and distances, as [`Field`] reads them.
pub trait Points {
    /// How many there are.
    fn count(&self) -> usize;

    /// How much a point counts: 0 or more.
    fn weight(&self, point: usize) -> f64;

    /// Distances of all points from each of the centres, centre by centre.
    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>>;

    /// The distance of all points while there is no centre: the first is drawn by weight alone.
    fn first_distance(&self) -> f64 {
        1.0
    }

    /// The first centre where it is not drawn by weight.
    fn first(&self, _rng: &mut impl Rng) -> Option<usize> {
        None
    }

    /// A number from 0 up to the sum of weight × distance, which says what is drawn.
    fn mark(&self, total: f64, rng: &mut impl Rng) -> f64 {
        rng.random::<f64>() * total
    }

    /// The next centre where all points lie on centres; none to stop there.
    fn when_covered(&self, _rng: &mut impl Rng) -> Option<usize> {
        None
    }
}

/// The [`DistanceField`] of some [`Points`] in double precision.
#[derive(Clone, Debug)]
pub struct Field<'a, P> {
    points: &'a P,
    distance: Vec<f64>,
    nearest: Vec<u32>,
    centres: u32,
    /// Weight × distance.
    mass: Vec<f64>,
    total: f64,
    /// What [`DistanceField::best`] has computed for the one it chose.
    ahead: Option<(usize, Vec<f64>)>,
}

impl<'a, P: Points> Field<'a, P> {
    /// No centre yet.
    pub fn new(points: &'a P) -> Self {
        let distance = vec![points.first_distance(); points.count()];
        let nearest = vec![0; points.count()];
        let mass: Vec<f64> = distance
            .iter()
            .enumerate()
            .map(|(i, distance)| points.weight(i) * distance)
            .collect();
        let total = mass.iter().sum();
        Self {
            points,
            distance,
            nearest,
            centres: 0,
            mass,
            total,
            ahead: None,
        }
    }

    /// The centre that every point is nearest to, by number in the order in which they were added; ties go to the earlier.
    pub fn into_nearest(self) -> Vec<u32> {
        self.nearest
    }

    fn by_mass(&self, rng: &mut impl Rng) -> Option<usize> {
        (self.total > 0.0).then(|| pick(&self.mass, self.points.mark(self.total, rng)))?
    }
}

impl<P: Points> DistanceField for Field<'_, P> {
    fn first(&mut self, rng: &mut impl Rng) -> Option<usize> {
        self.points.first(rng).or_else(|| self.by_mass(rng))
    }

    fn add(&mut self, centre: usize) {
        let ahead = self
            .ahead
            .take()
            .filter(|(candidate, _)| *candidate == centre)
            .map(|(_, distances)| distances);
        let from = ahead
            .or_else(|| self.points.distances(&[centre]).pop())
            .unwrap_or_default();
        let first = self.centres == 0;
        self.total = 0.0;
        for (i, from) in from.into_iter().enumerate() {
            if first || from < self.distance[i] {
                (self.nearest[i], self.distance[i]) = (self.centres, from);
                self.mass[i] = self.points.weight(i) * from;
            }
            self.total += self.mass[i];
        }
        self.centres += 1;
    }

    fn draw(&self, rng: &mut impl Rng) -> Option<usize> {
        self.by_mass(rng).or_else(|| self.points.when_covered(rng))
    }

    fn best(&mut self, candidates: &[usize]) -> usize {
        let loss = |from: &Vec<f64>| -> f64 {
            let left = self
                .distance
                .iter()
                .zip(from)
                .map(|(distance, from)| from.min(*distance))
                .enumerate();
            left.map(|(i, distance)| self.points.weight(i) * distance)
                .sum()
        };
        let tables = self
            .points
            .distances(candidates)
            .into_iter()
            .zip(candidates);
        let valued = tables.map(|(from, &candidate)| (loss(&from), candidate, from));
        let best = valued.reduce(|best, next| if next.0 < best.0 { next } else { best });
        let (_, candidate, from) = best.expect("there is a candidate");
        self.ahead = Some((candidate, from));
        candidate
    }
}

/// The place at which the running sum of some masses passes `mark`; the last that has any where rounding leaves the sum below.
/// None where no place has any.
pub fn pick(masses: &[f64], mark: f64) -> Option<usize> {
    let (mut left, mut last) = (mark, None);
    for (i, &mass) in masses.iter().enumerate() {
        if mass > 0.0 {
            last = Some(i);
            left -= mass;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;

    /// Numbers on a line, squared distances.
    struct Line(Vec<f64>, Vec<f64>);

    impl Points for Line {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn weight(&self, point: usize) -> f64 {
            self.1[point]
        }

        fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
            centres
                .iter()
                .map(|&c| self.0.iter().map(|x| (x - self.0[c]).powi(2)).collect())
                .collect()
        }
    }

    #[test]
    fn a_mark_picks_its_place() {
        let masses = [0.0, 2.0, 0.0, 1.0, 0.0];
        assert_eq!(
            [0.0, 1.9, 2.0, 2.9, 3.1].map(|mark| pick(&masses, mark)),
            [1, 1, 3, 3, 3].map(Some)
        );
        assert_eq!(pick(&[0.0, 0.0], 0.0), None);
    }

    #[test]
    fn centres_are_distinct_and_stop_when_all_points_are_covered() {
        let points = Line(
            vec![0.0, 5.0, 5.0, 0.0, 9.0, 100.0],
            vec![1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
        );
        for seed in 0..50 {
            for candidates in [1, 3] {
                let mut field = Field::new(&points);
                let chosen = plus_plus(&mut field, 5, candidates, &mut Seed::new(seed).rng());
                let mut values: Vec<f64> = chosen.iter().map(|&i| points.0[i]).collect();
                values.sort_by(f64::total_cmp);
                assert_eq!(
                    values,
                    [0.0, 5.0, 9.0],
                    "the point of weight 0 is never drawn"
                );
            }
        }
    }

    #[test]
    fn draws_are_in_proportion_to_weight_times_distance() {
        let points = Line(vec![0.0, 1.0, 2.0], vec![1e12, 4.0, 3.0]);
        let far = (0..4000).filter(|&seed| {
            plus_plus(&mut Field::new(&points), 2, 1, &mut Seed::new(seed).rng()).contains(&2)
        });
        // The first is drawn at 0, the second at 1 or 2 with 4 · 1 to 3 · 4.
        assert!((far.count() as f64 / 4000.0 - 0.75).abs() < 0.03);
    }

    #[test]
    fn the_greedy_candidate_lowers_the_sum_most_and_points_know_their_centre() {
        let points = Line(vec![0.0, 10.0, 11.0, 12.0], vec![1.0; 4]);
        let mut field = Field::new(&points);
        field.add(0);
        assert_eq!(field.best(&[1, 3, 2, 2]), 2);
        field.add(2);
        assert_eq!(field.distance, [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(field.into_nearest(), [0, 1, 1, 1]);
    }
}
