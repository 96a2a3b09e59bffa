//! What a method tells of its progress.

use std::sync::{Mutex, PoisonError};

use partita_core::{
    Clusters, Consensus, Features, Flow, Monitor, Problem, Reads, SettingMap, consense,
};

use crate::draw::Drawn;

/// Keeps what it is told.
#[derive(Default)]
struct Told(Mutex<Vec<(u64, u64)>>);

impl Monitor for Told {
    fn tick(&self, done: u64, total: u64) -> Flow {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((done, total));
        Flow::Continue
    }
}

/// The shares that a method says are done while it looks for a consensus on one thread, in their order.
///
/// # Panics
/// With the method's name where there is no consensus, or more is done than there is.
pub fn progress(
    method: &dyn Consensus,
    drawn: &Drawn,
    clusters: Clusters,
    settings: &SettingMap,
) -> Vec<f64> {
    let name = method.info().name;
    let columns = ["x".to_owned(), "y".to_owned()];
    let mut problem = Problem::new(&drawn.ensemble, clusters);
    problem.settings = settings.clone();
    if method.info().capabilities.reads == Reads::LabelsAndFeatures {
        problem.features =
            Some(Features::new(&columns, drawn.features.view()).expect("finite features"));
    }
    let (told, pool) = (
        Told::default(),
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a thread"),
    );
    pool.install(|| consense(method, &problem, &told))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let share = |(done, total): (u64, u64)| {
        assert!(done <= total, "{name}: {done} of {total} are done");
        done as f64 / total.max(1) as f64
    };
    told.0
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .into_iter()
        .map(share)
        .collect()
}
