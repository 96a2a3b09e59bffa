//! What weights count in the likelihood: a base clustering of weight 2 is there twice, and a pair counts the product of the weights of its
//! objects, without the pairs among what one object stands for.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use partita_aspect::{Aspects, DyadCounts, Start};
use partita_coassoc::{CoAssociation, SparseEvidence};
use partita_conformance::{draw, duplicated};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{BaseWeights, Ensemble, MemoryBudget, Seed, Silent, WeightedEnsemble};
use rand::RngExt;

fn pairs<'a>(source: impl Into<WeightedEnsemble<'a>>) -> CoAssociation {
    CoAssociation::count(source, MemoryBudget::UNLIMITED, &Silent).unwrap()
}

/// All pairs, as a sample.
fn sampled(ensemble: &Ensemble) -> DyadCounts {
    let objects = ensemble.objects() as u32;
    let all: Vec<(u32, u32)> = (0..objects).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    DyadCounts::sparse(&SparseEvidence::of_pairs(ensemble, &all, MemoryBudget::UNLIMITED, &Silent).unwrap())
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "found {found}, expected {expected}");
}

/// Object i stands for m_i copies, each of which has the share 1 / m_i of its probability in every component. Then
///
/// ```text
/// log-likelihood of the copies = that of the weights − Σ_{i<j} m_i m_j c_ij ln(m_i m_j)
///                                + Σ_i m_i (m_i − 1) / 2 · N_i ln Σ_r p_r (B_ri / m_i)²
/// ```
/// where N_i base clusterings label object i: a constant, and the pairs among the copies of one object.
#[test]
fn copies_of_objects_add_the_pairs_among_themselves_and_nothing_else() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
        let (ensemble, mut rng) = (&drawn.ensemble, Seed::new(seed).child(1).rng());
        let (objects, bases) = (ensemble.objects(), ensemble.bases().len());
        let weights: Vec<f64> = (0..objects).map(|_| f64::from(rng.random_range(1..4))).collect();
        let order: Vec<usize> = weights.iter().enumerate().flat_map(|(i, &times)| vec![i; times as usize]).collect();
        let chosen: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        let all = ensemble.select(&chosen, &(0..bases as u32).collect::<Vec<u32>>());

        let model = Start::random("", objects, drawn.clusters + 1, Seed::new(seed)).aspects;
        let members = model.members();
        let shared = Array2::from_shape_fn(members.dim(), |(r, i)| members[[r, i]] / weights[i]);
        let of_copies = Aspects::new(model.shares(), shared.select(Axis(1), &order).view()).unwrap();

        let (counts, dense) = (pairs(ensemble), DyadCounts::dense(&pairs(&all)));
        let one = model.log_likelihood(&DyadCounts::dense(&counts).weighted(&weights));
        let mut expected = one;
        for i in 0..objects {
            for j in 0..i {
                let both = weights[i] * weights[j];
                expected -= both * f64::from(counts.pair(i, j).0) * both.ln();
            }
            let seen = (0..bases).filter(|&u| ensemble.label(i, u).is_some()).count() as f64;
            let joint: f64 = model.shares().iter().zip(shared.column(i)).map(|(share, b)| share * b * b).sum();
            expected += weights[i] * (weights[i] - 1.0) / 2.0 * seen * joint.ln();
        }
        close(of_copies.log_likelihood(&dense), expected);
        close(of_copies.log_likelihood(&sampled(&all)), expected);
        close(model.log_likelihood(&sampled(ensemble).weighted(&weights)), one);
    }
}

#[test]
fn a_base_clustering_of_weight_two_is_there_twice() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
        let (ensemble, bases) = (&drawn.ensemble, drawn.ensemble.bases().len());
        let mut weights = vec![1.0; bases];
        weights[0] = 2.0;
        let weights = BaseWeights::new(weights).unwrap();
        let twice = DyadCounts::dense(&pairs(&duplicated(ensemble, 0)));
        let weighted = WeightedEnsemble { base_weights: Some(&weights), ..ensemble.into() };
        let weighted = DyadCounts::dense(&pairs(weighted));
        let model = Start::random("", ensemble.objects(), drawn.clusters + 1, Seed::new(seed)).aspects;
        // The mean of weights is 1, so that they add up to the number of base clusterings that there are.
        let share = bases as f64 / (bases as f64 + 1.0);
        close(model.log_likelihood(&weighted), share * model.log_likelihood(&twice));
        let (one, two) = (model.improved(&weighted), model.improved(&twice));
        assert!((one.members() - two.members()).iter().all(|difference| difference.abs() < 1e-12));
    }
}
