//! One component in a program of one's own: two clusterings from elsewhere are scored and combined.
//!
//! A crate that wants no more than this asks for no more:
//!
//! ```toml
//! [dependencies]
//! partita = { version = "0.1", default-features = false, features = ["median"] }
//! ```
//!
//! That brings no C code, no file formats and no command line. Who wants only the scores takes `partita-metrics` alone, which brings
//! no thread pool either.

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use partita::extend::{Problem, consense};
use partita::median::PLURALITY;
use partita::metrics::Scores;
use partita::{Clusters, EnsembleBuilder, Partition, Silent};

/// Species of twelve flowers as three botanists wrote them down; the second had no time for two of them.
const ANNA: [&str; 12] = ["s", "s", "s", "s", "v", "v", "v", "v", "w", "w", "w", "v"];
const BORIS: [Option<u8>; 12] = [
    Some(1),
    Some(1),
    Some(1),
    Some(2),
    Some(2),
    Some(2),
    None,
    Some(2),
    Some(3),
    Some(3),
    None,
    Some(3),
];
const CLARA: [char; 12] = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c', 'c', 'c'];

fn main() -> Result<(), Box<dyn Error>> {
    // How well do two of them agree? Names of clusters do not matter, and need not be of one type.
    let (anna, clara) = (
        Partition::from_values(&ANNA),
        Partition::from_values(&CLARA),
    );
    let scores = Scores::of(&anna, &clara)?;
    println!("agreement of two: adjusted Rand index {:.2}", scores.ari);
    assert!(scores.ari > 0.4 && scores.ari < 1.0);

    // All three as an ensemble; a label that is missing is no label of its own.
    let mut ensemble = EnsembleBuilder::new(ANNA.len());
    ensemble.push("anna", ANNA.map(Some))?;
    ensemble.push("boris", BORIS)?;
    ensemble.push("clara", CLARA.map(Some))?;
    let ensemble = ensemble.finish()?;

    let problem = Problem::new(&ensemble, Clusters::Exactly(3)).seed(1);
    let outcome = consense(&PLURALITY, &problem, &Silent)?;
    println!("species  {:?}", outcome.partition.by_appearance().labels());
    println!("how sure {:.2?}", outcome.probability());
    assert_eq!(
        outcome.partition.by_appearance().labels(),
        [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    );
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example is right");
}
