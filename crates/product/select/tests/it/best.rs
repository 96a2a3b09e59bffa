//! The choice among real methods.

use partita_conformance::{draw, ensemble};
use partita_core::{
    Clusters, Consensus, MemoryBudget, ObjectWeights, Partition, Problem, Seed, SettingMap, Silent,
    consense,
};
use partita_eac::{EAC_AVERAGE, EAC_SINGLE};
use partita_graph::{CSPA, HBGF, HGPA, LWGP, MCLA};
use partita_metrics::{Contingency, anmi};
use partita_select::{Best, BestCriterion, SelectError, Verdict, agreement, best};

use crate::common::Patience;

const METHODS: [&dyn Consensus; 7] = [&EAC_SINGLE, &EAC_AVERAGE, &LWGP, &HBGF, &MCLA, &CSPA, &HGPA];

fn scores(best: &Best, criterion: BestCriterion) -> Vec<Option<f64>> {
    let scores = best.table.iter().map(|entry| match &entry.verdict {
        Verdict::Found { agreement, .. } if criterion == BestCriterion::Bases => {
            Some(agreement.anmi)
        }
        Verdict::Found { others, .. } => Some(*others),
        _ => None,
    });
    scores.collect()
}

fn highest(scores: &[Option<f64>]) -> f64 {
    scores
        .iter()
        .flatten()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn the_highest_anmi_wins_and_the_first_of_equals() {
    for seed in (0..30).map(Seed::new) {
        let drawn = draw(seed, 0.2);
        let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
        problem.seed = seed;
        let chosen = best(&METHODS, &problem, BestCriterion::Bases, &Silent).unwrap();
        let found = scores(&chosen, BestCriterion::Bases);
        assert_eq!(found.len(), METHODS.len());
        let highest = highest(&found);
        let first = found.iter().position(|score| *score == Some(highest));
        assert_eq!(first, Some(chosen.winner));
        assert_eq!(chosen.method(), METHODS[chosen.winner].info().name);

        // The winner is what the method finds on its own, and its score is the metric's.
        let alone = consense(METHODS[chosen.winner], &problem, &Silent).unwrap();
        assert_eq!(alone.partition, chosen.outcome.partition);
        assert_eq!(anmi(&alone.partition, &drawn.ensemble), Ok(highest));

        let again = best(&METHODS, &problem, BestCriterion::Bases, &Silent).unwrap();
        assert_eq!((again.table, again.winner), (chosen.table, chosen.winner));
    }
}

/// The mean adjusted Rand index with the others by its definition, with whole weights as copies of objects.
#[test]
fn what_agrees_most_with_the_other_methods_wins() {
    for seed in (0..20).map(Seed::new) {
        let drawn = draw(seed, 0.2);
        let n = drawn.ensemble.objects();
        let weighted = seed.number() % 2 == 1;
        let times = |object: usize| if weighted { 1 + object % 3 } else { 1 };
        let weights = (0..n).map(|object| times(object) as f64).collect();
        let weights = ObjectWeights::new(weights).unwrap();
        let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
        problem.seed = seed;
        problem.object_weights = weighted.then_some(&weights);
        let chosen = best(&METHODS, &problem, BestCriterion::Methods, &Silent).unwrap();
        let found = scores(&chosen, BestCriterion::Methods);
        let copies: Vec<usize> = (0..n).flat_map(|i| vec![i; times(i)]).collect();
        let copied = METHODS.map(|method| {
            let partition = consense(method, &problem, &Silent).ok()?.partition;
            let labels = copies.iter().map(|&object| partition.labels()[object]);
            Partition::new(labels.collect(), partition.clusters()).ok()
        });
        for (h, partition) in copied.iter().enumerate() {
            let Some(partition) = partition else { continue };
            let others = (0..copied.len()).filter(|&other| other != h);
            let others = others.filter_map(|other| copied[other].as_ref());
            let aris = others.map(|other| Contingency::new(partition, other).unwrap().ari());
            let aris: Vec<f64> = aris.collect();
            let mean = aris.iter().sum::<f64>() / aris.len() as f64;
            assert!((mean - found[h].unwrap()).abs() < 1e-12, "{mean} {found:?}");
        }
        assert_eq!(found[chosen.winner], Some(highest(&found)));
    }
}

#[test]
fn two_methods_are_told_apart_by_anmi_and_one_agrees_with_itself() {
    let drawn = draw(Seed::new(7), 0.2);
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
    let two = [&EAC_SINGLE as &dyn Consensus, &LWGP];
    let [by_methods, by_bases] = [BestCriterion::Methods, BestCriterion::Bases]
        .map(|criterion| best(&two, &problem, criterion, &Silent).unwrap());
    assert_eq!(by_methods.winner, by_bases.winner);
    assert_eq!(by_methods.table, by_bases.table);
    let one = best(&two[..1], &problem, BestCriterion::Methods, &Silent).unwrap();
    assert_eq!(scores(&one, BestCriterion::Methods), [Some(1.0)]);
}

#[test]
fn methods_that_refuse_are_listed_with_their_reason() {
    let drawn = draw(Seed::new(3), 0.0);
    let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
    problem.settings = SettingMap::parse(&["theta=0.2"]).unwrap();
    let chosen = best(&METHODS, &problem, BestCriterion::Methods, &Silent).unwrap();
    assert_eq!(chosen.method(), "lwgp");
    let found = scores(&chosen, BestCriterion::Methods);
    assert_eq!(found.iter().flatten().count(), 1);
    let Verdict::Refused { reason } = &chosen.table[0].verdict else {
        panic!("single link takes no theta")
    };
    assert!(reason.contains("there is no setting 'theta'"), "{reason}");

    problem.settings = SettingMap::default();
    problem.budget = MemoryBudget::new(1);
    let refused = best(&METHODS, &problem, BestCriterion::Methods, &Silent);
    let Err(SelectError::AllRefused { reasons }) = refused else {
        panic!("one byte is enough")
    };
    assert_eq!(reasons.len(), METHODS.len());
    for (_, reason) in reasons {
        assert!(reason.contains("memory budget"), "{reason}");
    }
}

#[test]
fn what_all_say_is_said_once() {
    let drawn = draw(Seed::new(3), 0.0);
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(0));
    let error = best(&METHODS, &problem, BestCriterion::Methods, &Silent).unwrap_err();
    let error = error.to_string();
    assert_eq!(error.matches("asked for 0 clusters").count(), 1, "{error}");
    let none = best(&[], &problem, BestCriterion::Methods, &Silent);
    assert!(matches!(none, Err(SelectError::NoMethods)));
}

#[test]
fn agreement_can_be_checked_by_eye() {
    let column = |labels: [u32; 4]| labels.map(Some).to_vec();
    let ensemble = ensemble([
        ("a".to_owned(), column([0, 0, 1, 1])),
        ("b".to_owned(), column([0, 1, 0, 1])),
    ]);
    let partition = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
    let found = agreement(&partition, &ensemble).unwrap();
    // The same as a, independent of b, whose adjusted index with it is −1/2.
    let near = (found.anmi - 0.5).abs() < 1e-12 && (found.ari - 0.25).abs() < 1e-12;
    assert!(near, "{found:?}");
    assert_eq!(found.live_clusters, 2);
}

#[test]
fn a_stop_leaves_the_best_so_far() {
    let drawn = draw(Seed::new(5), 0.0);
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
    let mut interrupted = 0;
    let mut partial = 0;
    for patience in 0..40 {
        let mut monitor = Patience::new(patience);
        monitor.rising = true;
        match best(&METHODS, &problem, BestCriterion::Methods, &monitor) {
            Ok(chosen) => {
                let found = scores(&chosen, BestCriterion::Methods);
                assert_eq!(found.len(), METHODS.len());
                partial += usize::from(found.iter().any(Option::is_none));
            }
            Err(error) => {
                assert!(matches!(error, SelectError::Interrupted), "{error}");
                interrupted += 1;
            }
        }
    }
    assert!(interrupted > 0 && partial > 0, "{interrupted} {partial}");
}
