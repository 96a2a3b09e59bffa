//! Nothing is printed, neither by us nor by the C code of METIS: this file runs itself as a child process that asks for
//! everything at the edge, and looks at what came out.

use std::env;
use std::process::Command;

use partita_conformance::{draw, ensemble};
use partita_core::{Clusters, Consensus, Ensemble, Problem, Seed, SettingMap, Silent, consense};
use partita_graph::{CSPA, HBGF, HGPA, LWGP, MCLA};

const CHILD: &str = "PARTITA_GRAPH_SILENCE";

fn every_method(ensemble: &Ensemble, clusters: usize) {
    let methods: [(&dyn Consensus, &[&str]); 6] = [
        (&LWGP, &[]),
        (&HBGF, &[]),
        (&HBGF, &["cut=metis"]),
        (&MCLA, &["imbalance=0"]),
        (&CSPA, &["imbalance=0"]),
        (&HGPA, &["imbalance=0"]),
    ];
    for (method, settings) in methods {
        let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters));
        problem.settings = SettingMap::parse(settings).expect("settings of the form name=value");
        consense(method, &problem, &Silent).expect("a consensus");
    }
}

#[test]
fn nothing_is_printed() {
    if env::var_os(CHILD).is_some() {
        let singletons = (0..9).map(|i| Some(i as u32)).collect();
        let halves = (0..9).map(|i| Some(u32::from(i > 4))).collect();
        let once = (0..9).map(|i| (i < 1).then_some(0)).collect();
        let edge = ensemble([
            ("s".to_owned(), singletons),
            ("h".to_owned(), halves),
            ("o".to_owned(), once),
        ]);
        (1..=9).for_each(|clusters| every_method(&edge, clusters));
        (0..20)
            .map(|seed| draw(Seed::new(seed), 0.4))
            .for_each(|drawn| every_method(&drawn.ensemble, drawn.clusters));
        return;
    }
    let output = Command::new(env::current_exe().expect("a test is a program"))
        .args([
            "--exact",
            "nothing_is_printed",
            "--nocapture",
            "--test-threads",
            "1",
        ])
        .env(CHILD, "1")
        .output()
        .expect("a test can be run");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // The words of the test harness are all there is.
    let harness = [
        "running 1 test",
        "test nothing_is_printed ... ok",
        "test result: ok. 1 passed",
    ];
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let stray = printed
        .lines()
        .find(|line| !line.is_empty() && !harness.iter().any(|words| line.starts_with(words)));
    assert_eq!(stray, None, "{printed}");
}
