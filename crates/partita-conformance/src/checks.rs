//! The promises, one by one.

use std::sync::atomic::{AtomicU64, Ordering};

use partita_core::{
    BaseClustering, Clusters, Consensus, ConsensusError, Features, Flow, MissingLabels, Monitor, Outcome, Partition,
    Problem, Reads, Seed, SettingMap, Silent, consense,
};

use crate::draw::{Drawn, draw, ensemble, shuffled};

/// Ensembles drawn by [`check`].
const DRAWS: u64 = 60;

/// Holds a method to its card on many drawn ensembles, and returns how many promises were checked.
///
/// # Panics
/// With the method's name and the broken promise.
pub fn check(method: &dyn Consensus) -> usize {
    check_with(method, &[], DRAWS)
}

/// As [`check`], with settings other than the defaults (`name=value`) and a number of drawn ensembles: for methods
/// that are slow at their defaults.
///
/// # Panics
/// With the method's name and the broken promise.
pub fn check_with(method: &dyn Consensus, settings: &[&str], draws: u64) -> usize {
    let settings = SettingMap::parse(settings).expect("settings of the form name=value");
    let mut bench = Bench { method, settings, checks: 0 };
    bench.card();
    bench.refusals();
    bench.unanimous();
    for seed in (0..draws).map(Seed::new) {
        let missing = if method.info().capabilities.missing == MissingLabels::Refused { 0.0 } else { 0.3 };
        bench.drawn(&draw(seed, missing), seed);
    }
    bench.checks
}

struct Bench<'a> {
    method: &'a dyn Consensus,
    settings: SettingMap,
    checks: usize,
}

impl Bench<'_> {
    fn holds(&mut self, promise: bool, what: &str) {
        assert!(promise, "{}: {what}", self.method.info().name);
        self.checks += 1;
    }

    fn run(
        &self,
        drawn: &Drawn,
        clusters: Clusters,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Result<Outcome, ConsensusError> {
        let columns = ["x".to_owned(), "y".to_owned()];
        let mut problem = Problem::new(&drawn.ensemble, clusters);
        problem.seed = seed;
        problem.settings = self.settings.clone();
        if self.method.info().capabilities.reads == Reads::LabelsAndFeatures {
            problem.features = Some(Features::new(&columns, drawn.features.view()).expect("finite features"));
        }
        consense(self.method, &problem, monitor)
    }

    fn outcome(&self, drawn: &Drawn, clusters: Clusters, seed: Seed) -> Outcome {
        self.run(drawn, clusters, seed, &Silent).unwrap_or_else(|error| panic!("{}: {error}", self.method.info().name))
    }

    /// The card agrees with the settings.
    fn card(&mut self) {
        let defaults = self.method.default_settings();
        let mut known: Vec<&str> = defaults.keys().map(String::as_str).collect();
        let mut told: Vec<&str> = self.method.settings().iter().map(|setting| setting.name).collect();
        known.sort_unstable();
        told.sort_unstable();
        self.holds(known == told, &format!("the card explains {told:?}, the settings are {known:?}"));
        let name = self.method.info().name;
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        self.holds(plain && !name.is_empty(), "a name is lower case with hyphens");
    }

    /// What cannot be done is refused with the right error.
    fn refusals(&mut self) {
        let drawn = draw(Seed::new(77), 0.0);
        let n = drawn.ensemble.objects();
        for clusters in [0, n + 1] {
            let error = self.run(&drawn, Clusters::Exactly(clusters), Seed::new(0), &Silent);
            self.holds(matches!(error, Err(ConsensusError::Clusters { .. })), "K out of range is refused");
        }
        let auto = self.run(&drawn, Clusters::Auto, Seed::new(0), &Silent);
        self.holds(
            auto.is_ok() == self.method.info().capabilities.auto_clusters,
            "K = auto is answered as the card says",
        );
        let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(2));
        let columns = ["x".to_owned(), "y".to_owned()];
        problem.features = Features::new(&columns, drawn.features.view()).ok();
        self.settings(problem.clone());
        problem.budget = partita_core::MemoryBudget::new(1);
        let error = consense(self.method, &problem, &Silent);
        self.holds(matches!(error, Err(ConsensusError::Budget(_))), "one byte of memory is not enough");
        self.unlabelled();
    }

    /// Settings that do not exist or are below 0 are refused as such; other numbers are refused as such or do their work.
    fn settings(&mut self, mut problem: Problem<'_>) {
        let method = self.method;
        let mut refused = |pair: &str| {
            problem.settings = SettingMap::parse(&[pair]).expect("a pair");
            match consense(method, &problem, &Silent) {
                Ok(_) => Some(false),
                Err(ConsensusError::Settings { .. }) => Some(true),
                Err(_) => None,
            }
        };
        self.holds(refused("no-such-setting=1") == Some(true), "an unknown setting is refused");
        for setting in method.settings().iter().map(|setting| setting.name) {
            self.holds(refused(&format!("{setting}=-1")) == Some(true), &format!("{setting} is not below 0"));
            for edge in ["0", "1e-300", "1e300"] {
                let answer = refused(&format!("{setting}={edge}"));
                self.holds(answer.is_some(), &format!("{setting} = {edge} is refused as a setting, or does its work"));
            }
        }
    }

    /// An object without any label is refused or labelled by the prior, and missing labels as the card says.
    fn unlabelled(&mut self) {
        let mut drawn = draw(Seed::new(78), 0.0);
        let hidden = |hide: &dyn Fn(usize) -> bool| {
            let labels = |u: usize| {
                let shown = |i: usize, j: Option<usize>| j.filter(|_| i != 5 || !hide(u)).map(|j| j as u32);
                drawn.ensemble.column(u).enumerate().map(|(i, j)| shown(i, j)).collect()
            };
            let names = drawn.ensemble.bases().iter().map(BaseClustering::name).map(str::to_owned);
            ensemble(names.enumerate().map(|(u, name)| (name, labels(u))))
        };
        let (one, all) = (hidden(&|u| u == 1), hidden(&|_| true));
        let clusters = Clusters::Exactly(drawn.clusters);
        let missing = self.method.info().capabilities.missing;
        drawn.ensemble = one;
        let answer = self.run(&drawn, clusters, Seed::new(0), &Silent);
        let refused = matches!(answer, Err(ConsensusError::Missing { .. }));
        self.holds(refused == (missing == MissingLabels::Refused) && (refused || answer.is_ok()), "missing labels");
        drawn.ensemble = all;
        let answer = self.run(&drawn, clusters, Seed::new(0), &Silent);
        self.holds(answer.is_ok() == (missing == MissingLabels::HandledByPrior), "an object without a label");
    }

    /// What all base clusterings agree on is the consensus.
    fn unanimous(&mut self) {
        let mut drawn = draw(Seed::new(79), 0.0);
        for clusters in [2, 3] {
            let truth: Vec<u32> = (0..24).map(|i| i % clusters).collect();
            let column = |u: u32| (format!("u{u}"), truth.iter().map(|k| Some((k + u) % clusters)).collect());
            drawn.ensemble = ensemble((0..6).map(column));
            drawn.features = drawn.features.select(partita_core::ndarray::Axis(0), &[0; 24]);
            for (i, &k) in truth.iter().enumerate() {
                drawn.features[[i, 0]] = f64::from(k) * 10.0 + (i % 5) as f64 * 0.01;
            }
            let outcome = self.outcome(&drawn, Clusters::Exactly(clusters as usize), Seed::new(1));
            let expected = Partition::from_values(&truth).by_appearance();
            self.holds(outcome.partition.by_appearance() == expected, "a unanimous ensemble comes back");
        }
        let outcome = self.outcome(&drawn, Clusters::Exactly(1), Seed::new(1));
        self.holds(outcome.partition.sizes() == [24], "K = 1 is everything together");
    }

    /// The shape of an outcome, and everything that must not change it.
    fn drawn(&mut self, drawn: &Drawn, seed: Seed) {
        let clusters = Clusters::Exactly(drawn.clusters);
        let one = pool(1).install(|| self.outcome(drawn, clusters, seed));
        self.shape(&one, drawn);
        let two = pool(2).install(|| self.outcome(drawn, clusters, seed));
        self.holds(same_bits(&one, &two), "one thread and two give the same bits");
        if !self.method.info().capabilities.seeded {
            let other = self.outcome(drawn, clusters, seed.child(1));
            self.holds(same_bits(&one, &other), "the card says that the seed changes nothing");
        }
        self.order(&one, drawn, seed);
        self.twins(&one, drawn);
        self.stop(drawn, seed);
    }

    fn shape(&mut self, outcome: &Outcome, drawn: &Drawn) {
        let card = self.method.info();
        let n = drawn.ensemble.objects();
        self.holds(
            outcome.partition.objects() == n && outcome.certainty.len() == n,
            "one label and certainty an object",
        );
        let live = outcome.partition.live_clusters();
        self.holds(live >= 1 && live <= drawn.clusters, "at most K clusters");
        let exact = card.capabilities.clusters_is_maximum || outcome.partition.clusters() == drawn.clusters;
        self.holds(exact, "K clusters, unless K is a maximum");
        self.holds(outcome.certainty.iter().all(|c| (0.0..=1.0).contains(c)), "certainty is in 0..=1");
        self.holds(outcome.soft.is_some() == card.capabilities.soft, "a soft result, as the card says");
        if let Some(soft) = &outcome.soft {
            self.holds(soft.hard() == outcome.partition, "the labels are the most probable clusters");
        }
        let settings = self.method.default_settings();
        let keys = |map: &serde_json::Map<String, serde_json::Value>| map.keys().cloned().collect::<Vec<_>>();
        self.holds(keys(&outcome.settings) == keys(&settings), "the outcome carries all its settings");
        if let Some(objective) = &outcome.objective {
            self.holds(objective.value.is_finite(), "the objective is a number");
        }
    }

    /// Shuffling objects, base clusterings and label names changes nothing.
    fn order(&mut self, outcome: &Outcome, drawn: &Drawn, seed: Seed) {
        let (ensemble, objects) = shuffled(&drawn.ensemble, seed.child(2));
        let places: Vec<usize> = objects.iter().map(|&i| i as usize).collect();
        let features = drawn.features.select(partita_core::ndarray::Axis(0), &places);
        let other = Drawn { ensemble, features, ..drawn.clone() };
        let again = self.outcome(&other, Clusters::Exactly(drawn.clusters), seed);
        let expected: Vec<u32> = places.iter().map(|&i| outcome.partition.labels()[i]).collect();
        let same = Partition::from_values(&expected).by_appearance() == again.partition.by_appearance();
        self.holds(same, &format!("order changes the partition (draw {})", seed.number()));
        let close = places.iter().zip(&again.certainty).all(|(&i, c)| (outcome.certainty[i] - c).abs() < 1e-9);
        self.holds(close, &format!("order changes the certainty (draw {})", seed.number()));
    }

    /// Objects with the same label row have the same label.
    fn twins(&mut self, outcome: &Outcome, drawn: &Drawn) {
        if self.method.info().capabilities.reads != Reads::Labels || !self.method.info().capabilities.soft {
            return;
        }
        let fragments = drawn.ensemble.fragments();
        let labels = outcome.partition.labels();
        let mut of_fragment = vec![None; fragments.weights().len()];
        let agree = (fragments.of_object().iter().zip(labels))
            .all(|(&fragment, label)| *of_fragment[fragment as usize].get_or_insert(label) == label);
        self.holds(agree, "objects that nothing tells apart are apart");
    }

    /// A wish to stop is answered with what there is, or with the error that says there is nothing.
    fn stop(&mut self, drawn: &Drawn, seed: Seed) {
        let impatient = Impatient(AtomicU64::new(seed.number() % 3));
        let answer = self.run(drawn, Clusters::Exactly(drawn.clusters), seed, &impatient);
        self.holds(matches!(answer, Ok(_) | Err(ConsensusError::Interrupted)), "a stop is no other error");
    }
}

/// Lets a few ticks pass, then wants to stop.
struct Impatient(AtomicU64);

impl Monitor for Impatient {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        let patience = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if patience.is_ok() { Flow::Continue } else { Flow::Stop }
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of a thread or two")
}

fn same_bits(a: &Outcome, b: &Outcome) -> bool {
    let bits = |outcome: &Outcome| outcome.certainty.iter().map(|c| c.to_bits()).collect::<Vec<_>>();
    a.partition == b.partition && bits(a) == bits(b) && a.soft == b.soft
}
