//! The search for the number of clusters holds what it says, and says little more.

use partita_conformance::Counting;
use partita_core::ndarray::Array2;
use partita_core::{MemoryBudget, Seed, Silent};
use partita_generate::Scale;
use partita_select::{SelectError, choose_recipe};
use rand::RngExt;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is held beside what is said, at most.
const SLACK: u64 = 4 << 20;

/// The search with two threads, and the most bytes that it held.
fn search(table: &Array2<f64>, bytes: u64) -> (Result<usize, SelectError>, u64) {
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let (budget, seed) = (MemoryBudget::new(bytes), Seed::new(1));
    let range = (2, None);
    Counting::peak(|| {
        two.expect("two threads").install(|| {
            choose_recipe(table.view(), range, Scale::Auto, seed, budget, &Silent)
                .map(|chosen| chosen.clusters)
        })
    })
}

#[test]
fn the_search_holds_what_it_says_and_says_little_more() {
    for (n, d) in [(200, 2), (1000, 3), (5000, 64)] {
        let mut rng = Seed::new(5).rng();
        let table = Array2::from_shape_fn((n, d), |(i, _)| rng.random::<f64>() + (i % 4) as f64);
        let (found, held) = search(&table, u64::MAX);
        // Threads do not hold their most at one time in every run.
        let enough = held + held / 2 + SLACK;
        let same = search(&table, enough);
        assert_eq!(found.ok(), same.0.ok(), "{n} × {d}: {enough} is refused");
        for less in [held / 4, held / 2] {
            let (found, held) = search(&table, less);
            let fits = held <= less + less / 4 + SLACK;
            assert!(fits, "{n} × {d}: {found:?} held {held} of {less}");
        }
    }
}
