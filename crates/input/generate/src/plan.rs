//! Plans: which base clusterings are made, and what each of them sees of the table.

use partita_core::Seed;
use partita_core::ndarray::{Array2, ArrayView2, Axis};
use rand::RngExt;

use crate::error::Result;
use crate::hot_deck::TABLES;
use crate::{BaseK, BaseKind, GenerateError, Recipe};
use partita_kmeans::Members;

/// One base clustering to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) run: usize,
    pub(crate) kind: BaseKind,
    pub(crate) k: usize,
    /// The limit of the Gini index, for `genie`.
    pub(crate) gini: f64,
    /// The resolution, for `leiden` and `leiden-cosine`.
    pub(crate) resolution: f64,
    /// Chance of the base clusterer.
    pub(crate) seed: Seed,
    /// Chance of what it sees. Plans with the same kind and the same value see the same.
    pub(crate) sample: Seed,
    /// Chance of the values that gaps get, one of a few.
    pub(crate) gaps: Seed,
}

/// What a recipe asks for, run by run.
///
/// A base clusterer whose work hardly depends on k (a tree, an embedding) does it once for all numbers of a
/// list: one turn through the list sees one sample. For `genie` it is the list of limits of the Gini index, of which turns
/// start one later each time, so that every number of clusters meets every limit. With nothing left to chance, all its runs share the work.
pub(crate) fn plan(recipe: &Recipe, objects: usize, seed: Seed) -> Vec<Plan> {
    let runs = recipe
        .base
        .iter()
        .flat_map(|spec| (0..spec.runs).map(move |turn| (spec.kind, turn)));
    let everything = recipe.sees_everything();
    runs.enumerate()
        .map(|(run, (kind, turn))| {
            let own = seed.child(run as u64);
            let first = match &recipe.base_k {
                _ if !kind.shares() => run,
                _ if everything => run - turn,
                _ if kind == BaseKind::Genie => run - turn % recipe.gini.len().max(1),
                BaseK::Turns(turns) => run - turn % turns.len(),
                _ => run,
            };
            let limits = recipe.gini.len().max(1);
            let gini = recipe
                .gini
                .get((turn % limits + turn / limits) % limits)
                .copied()
                .unwrap_or(1.0);
            let sample = seed.child(first as u64).child(1);
            Plan {
                run,
                kind,
                k: recipe.base_k.draw(objects, turn, own.child(0)),
                gini,
                resolution: recipe.resolution.draw(own.child(3)),
                seed: own.child(2),
                sample,
                gaps: seed.child(u64::MAX).child(sample.number() % TABLES),
            }
        })
        .collect()
}

/// The table, and how base clusterings look at it.
pub(crate) struct TableSample<'a> {
    pub(crate) values: ArrayView2<'a, f64>,
    pub(crate) recipe: &'a Recipe,
    /// The values are distances of all pairs.
    pub(crate) distances: bool,
}

impl TableSample<'_> {
    /// The objects that a plan sees.
    pub(crate) fn members(&self, plan: &Plan) -> Members {
        drawn(self.recipe, self.values.nrows(), plan).0
    }

    /// The table as a plan sees it: some of the columns, or their projection; all rows.
    pub(crate) fn columns(&self, plan: &Plan) -> Array2<f64> {
        let chosen = self.chosen_columns(plan);
        let seen = if chosen.len() == self.values.ncols() {
            self.values.to_owned()
        } else {
            self.values.select(Axis(1), &chosen)
        };
        let Some(width) = self.recipe.projection else {
            return seen;
        };
        let mut rng = plan.sample.child(2).rng();
        let directions = Array2::from_shape_simple_fn((seen.ncols(), width), || normal(&mut rng));
        seen.dot(&directions) / (width as f64).sqrt()
    }

    /// The rows that a plan sees, members × columns; of distances members × members.
    pub(crate) fn rows(&self, plan: &Plan) -> (Vec<usize>, Array2<f64>) {
        let members: Vec<usize> = self.members(plan).iter().collect();
        if self.distances {
            let rows = self.values.select(Axis(0), &members);
            let rows = rows.select(Axis(1), &members);
            return (members, rows);
        }
        let rows = self.columns(plan).select(Axis(0), &members);
        (members, rows)
    }

    fn chosen_columns(&self, plan: &Plan) -> Vec<usize> {
        let d = self.values.ncols();
        let count = ((self.recipe.features * d as f64).round() as usize).clamp(1, d);
        Members::draw(d, count, &mut plan.sample.child(1).rng())
            .iter()
            .collect()
    }
}

/// Which of n objects a plan sees, and where they are drawn with replacement how often each is.
pub(crate) fn drawn(recipe: &Recipe, n: usize, plan: &Plan) -> (Members, Option<Vec<f64>>) {
    let count = recipe.rows(n);
    let mut rng = plan.sample.child(0).rng();
    if !recipe.replacement {
        return (Members::draw(n, count, &mut rng), None);
    }
    let mut often = vec![0.0; n];
    (0..count).for_each(|_| often[rng.random_range(0..n as u64) as usize] += 1.0);
    (
        Members::those(often.iter().map(|&times| times > 0.0)),
        Some(often),
    )
}

/// Refuses a plan that sees fewer objects than it shall have clusters. Without replacement the recipe knows.
pub(crate) fn check_drawn(recipe: &Recipe, n: usize, plan: &Plan) -> Result<()> {
    let rows = if recipe.replacement {
        drawn(recipe, n, plan).0.count()
    } else {
        usize::MAX
    };
    if plan.k > rows {
        let share = recipe.subsample;
        return Err(GenerateError::TooManyForSubsample {
            clusters: plan.k,
            rows,
            share,
            objects: n,
        });
    }
    Ok(())
}

/// A draw of the standard normal distribution (Box and Muller).
pub(crate) fn normal(rng: &mut impl rand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BaseSpec;

    #[test]
    fn a_turn_through_the_list_sees_one_sample() {
        let recipe = Recipe {
            base: BaseSpec::list("average:6,kmeans:3").unwrap(),
            base_k: "2,5,7".parse().unwrap(),
            ..Recipe::default()
        };
        let plans = plan(&recipe, 50, Seed::new(1));
        assert_eq!(
            plans.iter().map(|p| p.k).collect::<Vec<_>>(),
            [2, 5, 7, 2, 5, 7, 2, 5, 7]
        );
        assert!(plans[0].sample == plans[2].sample && plans[2].sample != plans[3].sample);
        assert!(plans[6].sample != plans[7].sample && plans[0].seed != plans[1].seed);
        let whole = Recipe {
            subsample: 1.0,
            ..recipe
        };
        let plans = plan(&whole, 50, Seed::new(1));
        assert!(plans[0].sample == plans[5].sample && plans[6].sample != plans[7].sample);
    }

    #[test]
    fn with_replacement_an_object_counts_as_often_as_it_is_drawn() {
        let recipe = Recipe {
            replacement: true,
            subsample: 1.0,
            ..Recipe::default()
        };
        let plans = plan(&recipe, 400, Seed::new(2));
        let (members, often) = drawn(&recipe, 400, &plans[0]);
        let often = often.unwrap();
        assert_eq!(often.iter().sum::<f64>(), 400.0);
        assert!(
            members.iter().all(|i| often[i] > 0.0) && members.iter().count() == members.count()
        );
        let share = members.count() as f64 / 400.0;
        assert!((share - (1.0 - (-1.0_f64).exp())).abs() < 0.06, "{share}");
        assert_eq!(check_drawn(&recipe, 400, &plans[0]), Ok(()));
        let crowded = Plan { k: 390, ..plans[0] };
        assert!(matches!(
            check_drawn(&recipe, 400, &crowded),
            Err(GenerateError::TooManyForSubsample { clusters: 390, .. })
        ));
    }

    #[test]
    fn columns_are_chosen_or_projected() {
        let table = Array2::from_shape_fn((40, 8), |(i, p)| (i * p) as f64);
        let mut recipe = Recipe {
            features: 0.5,
            subsample: 0.5,
            ..Recipe::default()
        };
        let plans = plan(&recipe, 40, Seed::new(3));
        let (members, rows) = TableSample {
            values: table.view(),
            recipe: &recipe,
            distances: false,
        }
        .rows(&plans[0]);
        assert_eq!((members.len(), rows.dim()), (20, (20, 4)));
        assert!(
            rows.axis_iter(Axis(1)).all(|column| (0..8).any(|p| (0..20).all(|i| column[i] == (members[i] * p) as f64)))
        );
        recipe.projection = Some(3);
        recipe.features = 1.0;
        // A projection keeps squared lengths in the mean.
        let sight = TableSample {
            values: table.view(),
            recipe: &recipe,
            distances: false,
        };
        let ratio = |plan: &Plan| {
            let projected = sight.columns(plan);
            projected.row(7).dot(&projected.row(7)) / table.row(7).dot(&table.row(7))
        };
        let mean = plans.iter().map(ratio).sum::<f64>() / plans.len() as f64;
        assert!((mean - 1.0).abs() < 0.25, "{mean}");
    }
}
