//! The guarantees, one by one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use partita_core::ndarray::Axis;
use partita_core::{
    BaseClustering, Capabilities, Clusters, Consensus, ConsensusError, Features, Flow,
    MissingLabels, Monitor, Outcome, Partition, Problem, Reads, Seed, SettingMap, SettingValues,
    Silent, Weights, consense,
};

use crate::draw::{Drawn, draw, ensemble, many_clusters, planted, shuffled};
use crate::progress::progress;
use crate::rows::ByRows;
use crate::shape::{same_bits, shape};

/// Ensembles drawn by [`check`].
const DRAWS: u64 = 60;

/// How long a fit with an extreme setting may take before it is asked to stop.
const PATIENCE: Duration = Duration::from_millis(300);

/// Holds a method to its info on many drawn ensembles, and returns how many guarantees were checked.
///
/// # Panics
/// With the method's name and the broken guarantee.
pub fn check(method: &dyn Consensus) -> usize {
    check_with(method, &[], DRAWS)
}

/// As [`check`], with settings other than the defaults (`name=value`) and a number of drawn ensembles: for methods
/// that are slow at their defaults.
///
/// # Panics
/// With the method's name and the broken guarantee.
pub fn check_with(method: &dyn Consensus, settings: &[&str], draws: u64) -> usize {
    let settings = SettingMap::parse(settings).expect("settings of the form name=value");
    let pools = [pool(1), pool(2)];
    let mut bench = Bench {
        method,
        settings,
        pools,
        checks: 0,
    };
    bench.info();
    bench.refusals();
    bench.extremes();
    bench.unlabelled();
    bench.one_cluster();
    bench.unanimous();
    bench.weights();
    bench.many_clusters();
    for seed in (0..draws).map(Seed::new) {
        let missing = if method.info().capabilities.missing == MissingLabels::Refused {
            0.0
        } else {
            0.3
        };
        bench.drawn(&draw(seed, missing), seed);
    }
    bench.by_rows();
    bench.progress();
    bench.checks
}

pub(crate) struct Bench<'a> {
    pub(crate) method: &'a dyn Consensus,
    settings: SettingMap,
    pools: [rayon::ThreadPool; 2],
    checks: usize,
}

impl Bench<'_> {
    pub(crate) fn holds(&mut self, guarantee: bool, what: &str) {
        assert!(guarantee, "{}: {what}", self.name());
        self.checks += 1;
    }

    pub(crate) fn name(&self) -> &'static str {
        self.method.info().name
    }

    pub(crate) fn can(&self) -> Capabilities {
        self.method.info().capabilities
    }

    /// Runs the method on a drawn ensemble, with the problem changed as `change` says.
    pub(crate) fn run_with<'p>(
        &self,
        drawn: &'p Drawn,
        columns: &'p [String],
        monitor: &dyn Monitor,
        change: impl FnOnce(Problem<'p>) -> Problem<'p>,
    ) -> Result<Outcome, ConsensusError> {
        let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
        problem.settings = self.settings.clone();
        if self.can().reads == Reads::LabelsAndFeatures {
            problem.features =
                Some(Features::new(columns, drawn.features.view()).expect("finite features"));
        }
        consense(self.method, &change(problem), monitor)
    }

    fn run(
        &self,
        drawn: &Drawn,
        clusters: Clusters,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Result<Outcome, ConsensusError> {
        self.run_with(drawn, &columns(), monitor, |mut problem| {
            (problem.clusters, problem.seed) = (clusters, seed);
            problem
        })
    }

    pub(crate) fn outcome(&self, drawn: &Drawn, clusters: Clusters, seed: Seed) -> Outcome {
        self.run(drawn, clusters, seed, &Silent)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name()))
    }

    /// With as many clusters as were planted.
    pub(crate) fn planted(&self, drawn: &Drawn, seed: Seed) -> Outcome {
        self.outcome(drawn, Clusters::Exactly(drawn.clusters), seed)
    }

    /// The info agrees with the settings, and says why weights are refused.
    fn info(&mut self) {
        let info = self.method.info();
        let settings = self.method.settings();
        let defaults = self.method.default_settings();
        let known: Vec<&str> = defaults.keys().map(String::as_str).collect();
        let told: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
        self.holds(
            known == told,
            &format!("declared are {told:?}, the defaults are of {known:?}"),
        );
        for setting in &settings {
            let sentence = setting.help.len() > 10 && setting.help.ends_with('.');
            self.holds(
                sentence,
                &format!(
                    "the help of {} is a sentence: '{}'",
                    setting.name, setting.help
                ),
            );
            let own = setting.aliases.iter().all(|alias| !told.contains(alias));
            self.holds(
                own,
                &format!("the aliases of {} are not settings", setting.name),
            );
        }
        let plain = info
            .name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        self.holds(
            plain && !info.name.is_empty(),
            "a name is lower case with hyphens",
        );
        for weights in [
            info.capabilities.base_weights,
            info.capabilities.object_weights,
        ] {
            let reason = !matches!(weights, Weights::Refused(why) if why.is_empty());
            self.holds(reason, "weights are refused with a reason");
        }
    }

    /// What cannot be done is refused with the right error.
    fn refusals(&mut self) {
        let drawn = draw(Seed::new(77), 0.0);
        let n = drawn.ensemble.objects();
        for clusters in [0, n + 1] {
            let error = self.run(&drawn, Clusters::Exactly(clusters), Seed::new(0), &Silent);
            self.holds(
                matches!(error, Err(ConsensusError::Clusters { .. })),
                "K out of range is refused",
            );
        }
        let auto = self.run(&drawn, Clusters::Auto, Seed::new(0), &Silent);
        match (auto, self.can().auto_clusters) {
            (Ok(outcome), true) => {
                let chosen = outcome.partition.clusters();
                self.checks += shape(self.method, &outcome, &drawn.ensemble, chosen);
            }
            (Err(ConsensusError::Auto { .. }), false) => self.checks += 1,
            (other, can) => panic!("{}: auto is {can}, and answered by {other:?}", self.name()),
        }
        let error = self.run_with(&drawn, &columns(), &Silent, |problem| {
            problem.budget(partita_core::MemoryBudget::new(1))
        });
        self.holds(
            matches!(error, Err(ConsensusError::Budget(_))),
            "one byte of memory is not enough",
        );
    }

    /// Settings that do not exist, and the ends of what can be written, are refused as settings (or their memory is) or do
    /// their work.
    fn extremes(&mut self) {
        let drawn = draw(Seed::new(77), 0.0);
        self.extreme(&drawn, "no-such-setting=1", true);
        for setting in self.method.settings() {
            let name = setting.name;
            let list = matches!(setting.values, SettingValues::List(_));
            self.extreme(&drawn, &format!("{name}=-1"), true);
            let numbers = [
                "0",
                "1e-300",
                "1e300",
                "4294967295",
                "18446744073709551615",
                "1.7976931348623157e308",
            ];
            for edge in numbers.into_iter().filter(|_| !list) {
                self.extreme(&drawn, &format!("{name}={edge}"), false);
            }
            let mut values = &setting.values;
            while let SettingValues::Optional(inner) = values {
                values = inner;
            }
            if let SettingValues::Number(range) = values {
                for end in [range.low, range.high]
                    .into_iter()
                    .filter(|end| end.is_finite())
                {
                    self.extreme(&drawn, &format!("{name}={end:e}"), false);
                }
            }
        }
    }

    fn extreme(&mut self, drawn: &Drawn, pair: &str, refused: bool) {
        let given = SettingMap::parse(&[pair]).expect("a pair").values().clone();
        let all = self
            .settings
            .values()
            .clone()
            .into_iter()
            .chain(given)
            .collect::<serde_json::Map<_, _>>();
        // What a budget of a machine would refuse is not tried.
        let budget = partita_core::MemoryBudget::new(1 << 30);
        let monitor = Deadline::after(PATIENCE);
        let answer = self.run_with(drawn, &columns(), &monitor, |problem| {
            problem.settings(all.into()).budget(budget)
        });
        let settings = matches!(answer, Err(ConsensusError::Settings { .. }));
        let other = matches!(
            answer,
            Ok(_) | Err(ConsensusError::Budget(_) | ConsensusError::Interrupted)
        ) && !refused;
        self.holds(
            settings || other,
            &format!("{pair} gives {:?}", answer.err()),
        );
    }

    /// An object without any label is refused or labelled by the prior, and missing labels as the info says.
    fn unlabelled(&mut self) {
        let mut drawn = draw(Seed::new(78), 0.0);
        let hidden = |hide: &dyn Fn(usize) -> bool| {
            let labels = |u: usize| {
                let shown =
                    |i: usize, j: Option<usize>| j.filter(|_| i != 5 || !hide(u)).map(|j| j as u32);
                drawn
                    .ensemble
                    .column(u)
                    .enumerate()
                    .map(|(i, j)| shown(i, j))
                    .collect()
            };
            let names = drawn
                .ensemble
                .bases()
                .iter()
                .map(BaseClustering::name)
                .map(str::to_owned);
            ensemble(names.enumerate().map(|(u, name)| (name, labels(u))))
        };
        let (one, all) = (hidden(&|u| u == 1), hidden(&|_| true));
        let clusters = Clusters::Exactly(drawn.clusters);
        let missing = self.can().missing;
        drawn.ensemble = one;
        let answer = self.run(&drawn, clusters, Seed::new(0), &Silent);
        let refused = matches!(answer, Err(ConsensusError::Missing { .. }));
        self.holds(
            refused == (missing == MissingLabels::Refused) && (refused || answer.is_ok()),
            "missing labels",
        );
        drawn.ensemble = all;
        let answer = self.run(&drawn, clusters, Seed::new(0), &Silent);
        self.holds(
            answer.is_ok() == (missing == MissingLabels::HandledByPrior),
            "an object without a label",
        );
    }

    /// K = 1 is everything together, and checks and records settings as any K does.
    fn one_cluster(&mut self) {
        let drawn = draw(Seed::new(76), 0.0);
        let outcome = self.outcome(&drawn, Clusters::Exactly(1), Seed::new(1));
        self.holds(
            outcome.partition.sizes() == [drawn.ensemble.objects()],
            "K = 1 is everything together",
        );
        let size = Problem::new(&drawn.ensemble, Clusters::Exactly(1)).size();
        let expected = self
            .method
            .validate(&self.settings, &size)
            .expect("settings that fit");
        self.holds(
            outcome.settings == expected,
            "K = 1 records the settings given",
        );
        let wrong = SettingMap::parse(&["no-such-setting=1"]).expect("a pair");
        let answer = self.run_with(&drawn, &columns(), &Silent, |mut problem| {
            problem.clusters = Clusters::Exactly(1);
            problem.settings(wrong)
        });
        self.holds(
            matches!(answer, Err(ConsensusError::Settings { .. })),
            "K = 1 refuses an unknown setting",
        );
    }

    /// What all base clusterings agree on is the consensus.
    fn unanimous(&mut self) {
        let mut drawn = draw(Seed::new(79), 0.0);
        for clusters in [2, 3] {
            let truth: Vec<u32> = (0..24).map(|i| i % clusters).collect();
            let column = |u: u32| {
                (
                    format!("u{u}"),
                    truth.iter().map(|k| Some((k + u) % clusters)).collect(),
                )
            };
            drawn.ensemble = ensemble((0..6).map(column));
            drawn.features = drawn.features.select(Axis(0), &[0; 24]);
            for (i, &k) in truth.iter().enumerate() {
                drawn.features[[i, 0]] = f64::from(k) * 10.0 + (i % 5) as f64 * 0.01;
            }
            let outcome = self.outcome(&drawn, Clusters::Exactly(clusters as usize), Seed::new(1));
            let expected = Partition::from_values(&truth).by_appearance();
            self.holds(
                outcome.partition.by_appearance() == expected,
                "a unanimous ensemble comes back",
            );
            // Only that many rows differ: more clusters there cannot be.
            let more = self.outcome(
                &drawn,
                Clusters::Exactly(clusters as usize + 3),
                Seed::new(1),
            );
            self.equal_rows(&more, &drawn);
        }
    }

    /// Methods that read label rows block by block.
    fn by_rows(&mut self) {
        if self.can().streams {
            self.checks += ByRows {
                method: self.method,
                settings: &self.settings,
                pools: &self.pools,
            }
            .check();
        }
    }

    /// Labels of two bytes.
    fn many_clusters(&mut self) {
        let drawn = many_clusters(Seed::new(80));
        let clusters = drawn.clusters;
        let outcome = self.outcome(&drawn, Clusters::Exactly(clusters), Seed::new(2));
        self.checks += shape(self.method, &outcome, &drawn.ensemble, clusters);
    }

    /// The shape of an outcome, and everything that must not change it.
    fn drawn(&mut self, drawn: &Drawn, seed: Seed) {
        let clusters = Clusters::Exactly(drawn.clusters);
        let one = self.pools[0].install(|| self.outcome(drawn, clusters, seed));
        self.checks += shape(self.method, &one, &drawn.ensemble, drawn.clusters);
        let two = self.pools[1].install(|| self.outcome(drawn, clusters, seed));
        self.holds(
            same_bits(&one, &two),
            "one thread and two give the same bits",
        );
        if !self.can().seeded {
            let other = self.outcome(drawn, clusters, seed.child(1));
            self.holds(
                same_bits(&one, &other),
                "the info says that the seed changes nothing",
            );
        }
        self.order(&one, drawn, seed);
        self.equal_rows(&one, drawn);
        self.stop(drawn, seed);
    }

    /// Shuffling objects, base clusterings and label names changes nothing.
    fn order(&mut self, outcome: &Outcome, drawn: &Drawn, seed: Seed) {
        let (ensemble, objects) = shuffled(&drawn.ensemble, seed.child(2));
        let places: Vec<usize> = objects.iter().map(|&i| i as usize).collect();
        let features = drawn.features.select(Axis(0), &places);
        let other = Drawn {
            ensemble,
            features,
            ..drawn.clone()
        };
        let again = self.planted(&other, seed);
        let expected: Vec<u32> = places
            .iter()
            .map(|&i| outcome.partition.labels()[i])
            .collect();
        let same =
            Partition::from_values(&expected).by_appearance() == again.partition.by_appearance();
        self.holds(
            same,
            &format!("order changes the partition (draw {})", seed.number()),
        );
        let close = match (outcome.probability(), again.probability()) {
            (Some(before), Some(after)) => {
                let pairs = places.iter().zip(after);
                { pairs }.all(|(&i, p)| (before[i] - p).abs() < 1e-9)
            }
            (before, after) => before == after,
        };
        self.holds(
            close,
            &format!("order changes the probabilities (draw {})", seed.number()),
        );
    }

    /// Objects with the same label row have the same label.
    fn equal_rows(&mut self, outcome: &Outcome, drawn: &Drawn) {
        if self.can().reads != Reads::Labels {
            return;
        }
        let fragments = drawn.ensemble.fragments();
        let labels = outcome.partition.labels();
        let mut of_fragment = vec![None; fragments.weights().len()];
        let agree = (fragments.of_object().iter().zip(labels)).all(|(&fragment, label)| {
            *of_fragment[fragment as usize].get_or_insert(label) == label
        });
        self.holds(agree, "objects that nothing tells apart are apart");
    }

    /// Progress never falls: what is done is not taken back.
    fn progress(&mut self) {
        let drawn = planted(60, 8, 4, Seed::new(1));
        let shares = progress(self.method, &drawn, Clusters::Exactly(4), &self.settings);
        let most = shares.len().min(40);
        self.holds(
            shares.is_sorted(),
            &format!("progress never falls: {:?}", &shares[..most]),
        );
    }

    /// A wish to stop, early or late, is answered with what there is, or with the error that says there is nothing.
    fn stop(&mut self, drawn: &Drawn, seed: Seed) {
        const MOMENTS: [u64; 8] = [0, 1, 2, 5, 20, 100, 500, 2500];
        let impatient = Impatient(AtomicU64::new(
            MOMENTS[seed.number() as usize % MOMENTS.len()],
        ));
        match self.run(drawn, Clusters::Exactly(drawn.clusters), seed, &impatient) {
            Ok(outcome) => {
                self.checks += shape(self.method, &outcome, &drawn.ensemble, drawn.clusters);
            }
            Err(error) => {
                let interrupted = matches!(error, ConsensusError::Interrupted);
                self.holds(
                    interrupted,
                    &format!("a stop is not another error: {error}"),
                );
            }
        }
    }
}

pub(crate) fn columns() -> [String; 2] {
    ["x".to_owned(), "y".to_owned()]
}

/// Lets a few looks pass, then wants to stop.
struct Impatient(AtomicU64);

impl Monitor for Impatient {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        self.flow()
    }

    fn flow(&self) -> Flow {
        let patience = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        if patience.is_ok() {
            Flow::Continue
        } else {
            Flow::Stop
        }
    }
}

/// Wants to stop at a time.
#[derive(Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// From now on so long.
    pub fn after(patience: Duration) -> Self {
        Self(Instant::now() + patience)
    }
}

impl Monitor for Deadline {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        self.flow()
    }

    fn flow(&self) -> Flow {
        if Instant::now() < self.0 {
            Flow::Continue
        } else {
            Flow::Stop
        }
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of a thread or two")
}
