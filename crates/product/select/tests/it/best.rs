//! The choice among real methods.

use std::sync::atomic::{AtomicU64, Ordering};

use partita_conformance::{draw, ensemble};
use partita_core::{
    Clusters, Consensus, Flow, MemoryBudget, Monitor, ObjectWeights, Partition, Problem, Seed,
    SettingMap, Silent, consense,
};
use partita_eac::{EAC_AVERAGE, EAC_SINGLE};
use partita_graph::{CSPA, HBGF, HGPA, LWGP, MCLA};
use partita_metrics::{Contingency, anmi};
use partita_select::{Best, BestCriterion, SelectError, Verdict, agreement, best};

const METHODS: [&dyn Consensus; 7] = [&EAC_SINGLE, &EAC_AVERAGE, &LWGP, &HBGF, &MCLA, &CSPA, &HGPA];

fn scores(best: &Best, criterion: BestCriterion) -> Vec<Option<f64>> {
    let of = |verdict: &Verdict| match verdict {
        Verdict::Found { agreement, .. } if criterion == BestCriterion::Bases => {
            Some(agreement.anmi)
        }
        Verdict::Found { others, .. } => Some(*others),
        _ => None,
    };
    best.table.iter().map(|entry| of(&entry.verdict)).collect()
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
        let highest = found
            .iter()
            .flatten()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(
            found.iter().position(|score| *score == Some(highest)),
            Some(chosen.winner)
        );
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
        let weights: Vec<f64> = (0..n)
            .map(|object| {
                if seed.number() % 2 == 0 {
                    1.0
                } else {
                    (1 + object % 3) as f64
                }
            })
            .collect();
        let mut problem =
            Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters)).seed(seed.number());
        let object_weights = ObjectWeights::new(weights.clone()).unwrap();
        problem.object_weights = (seed.number() % 2 == 1).then_some(&object_weights);
        let chosen = best(&METHODS, &problem, BestCriterion::Methods, &Silent).unwrap();
        let found = scores(&chosen, BestCriterion::Methods);
        let copies: Vec<usize> = (0..n)
            .flat_map(|object| vec![object; weights[object] as usize])
            .collect();
        let alone = METHODS.map(|method| {
            consense(method, &problem, &Silent)
                .ok()
                .map(|outcome| outcome.partition)
        });
        let copied = |partition: &Partition| {
            Partition::new(
                copies
                    .iter()
                    .map(|&object| partition.labels()[object])
                    .collect(),
                partition.clusters(),
            )
            .unwrap()
        };
        let copied: Vec<Option<Partition>> =
            alone.iter().map(|one| one.as_ref().map(copied)).collect();
        for (h, partition) in copied.iter().enumerate() {
            let Some(partition) = partition else { continue };
            let others = copied
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != h)
                .filter_map(|(_, other)| other.as_ref());
            let aris: Vec<f64> = others
                .map(|other| Contingency::new(partition, other).unwrap().ari())
                .collect();
            let mean = aris.iter().sum::<f64>() / aris.len() as f64;
            assert!((mean - found[h].unwrap()).abs() < 1e-12, "{mean} {found:?}");
        }
        let highest = found
            .iter()
            .flatten()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(found[chosen.winner], Some(highest));
    }
}

#[test]
fn two_methods_are_told_apart_by_anmi_and_one_agrees_with_itself() {
    let drawn = draw(Seed::new(7), 0.2);
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
    let two = [&EAC_SINGLE as &dyn Consensus, &LWGP];
    let [by_methods, by_bases] = [BestCriterion::Methods, BestCriterion::Bases]
        .map(|criterion| best(&two, &problem, criterion, &Silent).unwrap());
    assert_eq!(
        (by_methods.winner, &by_methods.table),
        (by_bases.winner, &by_bases.table)
    );
    let one = best(&two[..1], &problem, BestCriterion::Methods, &Silent).unwrap();
    assert_eq!(scores(&one, BestCriterion::Methods), [Some(1.0)]);
}

#[test]
fn methods_that_refuse_are_listed_with_their_reason() {
    let drawn = draw(Seed::new(3), 0.0);
    let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
    problem.settings = SettingMap::parse(&["theta=0.2"]).unwrap();
    let chosen = best(&METHODS, &problem, BestCriterion::Methods, &Silent).unwrap();
    assert_eq!(
        (
            chosen.method(),
            scores(&chosen, BestCriterion::Methods)
                .iter()
                .flatten()
                .count()
        ),
        ("lwgp", 1)
    );
    let Verdict::Refused { reason } = &chosen.table[0].verdict else {
        panic!("single link takes no theta")
    };
    assert!(reason.contains("there is no setting 'theta'"), "{reason}");

    problem.settings = SettingMap::default();
    problem.budget = MemoryBudget::new(1);
    let Err(SelectError::AllRefused { reasons }) =
        best(&METHODS, &problem, BestCriterion::Methods, &Silent)
    else {
        panic!("one byte is enough")
    };
    assert_eq!(reasons.len(), METHODS.len());
    assert!(
        reasons
            .iter()
            .all(|(_, reason)| reason.contains("memory budget")),
        "{reasons:?}"
    );
}

#[test]
fn what_all_say_is_said_once() {
    let drawn = draw(Seed::new(3), 0.0);
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(0));
    let error = best(&METHODS, &problem, BestCriterion::Methods, &Silent)
        .unwrap_err()
        .to_string();
    assert_eq!(error.matches("asked for 0 clusters").count(), 1, "{error}");
    assert!(matches!(
        best(&[], &problem, BestCriterion::Methods, &Silent),
        Err(SelectError::NoMethods)
    ));
}

#[test]
fn agreement_can_be_checked_by_eye() {
    let column = |labels: [u32; 4]| labels.map(Some).to_vec();
    let ensemble = ensemble([
        ("a".to_owned(), column([0, 0, 1, 1])),
        ("b".to_owned(), column([0, 1, 0, 1])),
    ]);
    let partition = partita_core::Partition::new(vec![0, 0, 1, 1], 2).unwrap();
    let found = agreement(&partition, &ensemble).unwrap();
    // The same as a, independent of b, whose adjusted index with it is −1/2.
    assert!(
        (found.anmi - 0.5).abs() < 1e-12 && (found.ari - 0.25).abs() < 1e-12,
        "{found:?}"
    );
    assert_eq!(found.live_clusters, 2);
}

/// Counts what it is told, and asks to stop after a number of ticks.
struct Patience {
    left: AtomicU64,
    last: AtomicU64,
}

impl Monitor for Patience {
    fn tick(&self, done: u64, total: u64) -> Flow {
        assert!(done <= total);
        assert!(
            self.last.fetch_max(done, Ordering::Relaxed) <= done,
            "progress goes back"
        );
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        if left.is_ok() {
            Flow::Continue
        } else {
            Flow::Stop
        }
    }
}

#[test]
fn a_stop_leaves_the_best_so_far() {
    let drawn = draw(Seed::new(5), 0.0);
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
    let (mut interrupted, mut partial) = (0, 0);
    for patience in 0..40 {
        let monitor = Patience {
            left: AtomicU64::new(patience),
            last: AtomicU64::new(0),
        };
        match best(&METHODS, &problem, BestCriterion::Methods, &monitor) {
            Ok(chosen) => {
                assert_eq!(chosen.table.len(), METHODS.len());
                partial += usize::from(
                    scores(&chosen, BestCriterion::Methods)
                        .iter()
                        .any(Option::is_none),
                );
            }
            Err(error) => {
                assert!(matches!(error, SelectError::Interrupted), "{error}");
                interrupted += 1;
            }
        }
    }
    assert!(interrupted > 0 && partial > 0, "{interrupted} {partial}");
}
