//! Orders and heat maps against twins that are written for clarity, over drawn ensembles with missing labels.

use partita_coassoc::{heat_map, vat_order};
use partita_core::{Ensemble, EnsembleBuilder, Seed, Silent};
use rand::RngExt;
use rand::seq::SliceRandom;

fn draw(seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let n = rng.random_range(1..40);
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..rng.random_range(1..9) {
        let clusters = rng.random_range(1..6);
        let mut labels: Vec<Option<u32>> = (0..n)
            .map(|_| (!rng.random_bool(0.3)).then(|| rng.random_range(0..clusters)))
            .collect();
        labels[0] = labels[0].or(Some(0));
        builder
            .push_clusters(format!("u{u}"), labels, clusters as usize)
            .expect("a base clustering");
    }
    builder.finish().expect("an ensemble")
}

/// c and N of a pair, by the definition.
fn counts(ensemble: &Ensemble, i: usize, j: usize) -> (u32, u32) {
    let labels = |u: usize| ensemble.label(i, u).zip(ensemble.label(j, u));
    let both: Vec<(usize, usize)> = (0..ensemble.bases().len()).filter_map(labels).collect();
    (
        both.iter().filter(|(a, b)| a == b).count() as u32,
        both.len() as u32,
    )
}

/// 1 − c/N as a fraction, so that ties are ties.
fn apart(ensemble: &Ensemble, i: usize, j: usize) -> (u32, u32) {
    let (c, n) = counts(ensemble, i, j);
    if n == 0 { (1, 1) } else { (n - c, n) }
}

fn less(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 * b.1 < b.0 * a.1
}

#[test]
fn the_order_always_goes_on_with_the_nearest() {
    for seed in 0..200 {
        let ensemble = draw(seed);
        let n = ensemble.objects();
        let mut at = (0, (0, 1));
        for (i, j) in (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .filter(|(i, j)| i != j)
        {
            if less(at.1, apart(&ensemble, i, j)) {
                at = (i, apart(&ensemble, i, j));
            }
        }
        let mut order = vec![at.0];
        while order.len() < n {
            let nearest = |j: usize| {
                let distances = order.iter().map(|&i| apart(&ensemble, i, j));
                distances
                    .reduce(|a, b| if less(b, a) { b } else { a })
                    .expect("one is placed")
            };
            let rest = (0..n).filter(|j| !order.contains(j));
            let next = rest
                .reduce(|a, b| if less(nearest(b), nearest(a)) { b } else { a })
                .expect("one is left");
            order.push(next);
        }
        let found: Vec<usize> = vat_order(&ensemble, &Silent)
            .unwrap()
            .iter()
            .map(|&i| i as usize)
            .collect();
        assert_eq!(found, order, "seed {seed}");
    }
}

#[test]
fn cells_are_the_mean_evidence_of_their_pairs() {
    for seed in 0..200 {
        let ensemble = draw(seed);
        let mut rng = Seed::new(seed).rng();
        let mut order: Vec<u32> = (0..ensemble.objects() as u32).collect();
        order.shuffle(&mut rng);
        let side = rng.random_range(1..12);
        let map = heat_map(&ensemble, &order, side);
        let runs: Vec<&[u32]> = order.chunks(order.len().div_ceil(side)).collect();
        assert_eq!(map.dim(), (runs.len(), runs.len()), "seed {seed}");
        assert!(runs.len() <= side);
        for ((a, b), &cell) in map.indexed_iter() {
            let pairs = runs[a]
                .iter()
                .flat_map(|&i| runs[b].iter().map(move |&j| (i as usize, j as usize)));
            let counts = pairs
                .filter(|(i, j)| i != j)
                .map(|(i, j)| counts(&ensemble, i, j));
            let (c, n) = counts.fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
            let expected = if n == 0 {
                0.0
            } else {
                f64::from(c) / f64::from(n)
            };
            assert!(
                (f64::from(cell) - expected).abs() < 1e-6,
                "seed {seed}, cell {a} {b}: {cell}, {expected}"
            );
        }
    }
}
