//! Ensembles of sparse tables against those of the dense table.

use partita_core::ndarray::{Array2, Axis};
use partita_core::{MemoryBudget, Seed, Silent};
use partita_generate::{BaseSpec, GenerateError, Recipe, generate};
use rand::RngExt;
use sprs::CsMat;

/// Rows that share most of their columns with those of their group, a tenth of the numbers being there; some rows of
/// zeros.
fn texts(n: usize, d: usize, groups: usize, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    let mut table = Array2::zeros((n, d));
    for i in 0..n {
        if i % 97 == 96 {
            continue;
        }
        for _ in 0..=d.div_ceil(10) {
            let p = rng.random_range(0..d);
            let p = if rng.random::<f64>() < 0.7 {
                p / groups * groups + i % groups
            } else {
                p
            };
            table[[i, p.min(d - 1)]] += 10.0 * rng.random::<f64>();
        }
    }
    table
}

fn sparse(table: &Array2<f64>) -> CsMat<f64> {
    CsMat::csr_from_dense(table.view(), 0.0)
}

#[test]
fn ensembles_are_those_of_the_dense_table() {
    let table = texts(300, 60, 4, 5);
    let table = table.select(
        Axis(0),
        &(0..300)
            .filter(|i| table.row(*i).sum() > 0.0)
            .collect::<Vec<_>>(),
    );
    let mut recipe = Recipe::default();
    recipe.base = BaseSpec::list("kmeans-cosine:8,ward:2,splits:2").expect("base clusterers");
    recipe.base_k = "3..6".parse().expect("a range");
    let unlimited = MemoryBudget::UNLIMITED;
    let dense =
        generate(table.view(), &recipe, Seed::new(3), unlimited, &Silent).expect("an ensemble");
    let entries = sparse(&table);
    let made =
        generate(entries.view(), &recipe, Seed::new(3), unlimited, &Silent).expect("an ensemble");
    assert_eq!(made.ensemble, dense.ensemble);
    // Scaling fills the table; it is made dense and nothing else changes.
    recipe.scale = "zscore".parse().expect("a scale");
    let dense =
        generate(table.view(), &recipe, Seed::new(3), unlimited, &Silent).expect("an ensemble");
    let made =
        generate(entries.view(), &recipe, Seed::new(3), unlimited, &Silent).expect("an ensemble");
    assert_eq!(made.ensemble, dense.ensemble);
    let empty = CsMat::<f64>::zero((5, 3));
    assert_eq!(
        generate(empty.view(), &recipe, Seed::new(3), unlimited, &Silent).map(|_| ()),
        Err(GenerateError::Constant { rows: 5 })
    );
}
