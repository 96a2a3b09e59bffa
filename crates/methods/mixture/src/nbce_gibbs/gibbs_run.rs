//! A run of one Gibbs chain: start, burn-in, sweeps, and the draws that are kept.

use partita_core::ndarray::{ArrayView2, ArrayViewMut2};
use partita_core::{Label, Memberships, Partition, ProgressCounter, Seed};
use rand::{Rng, RngExt};

use super::gibbs_state::GibbsState;
use super::settings::NbceGibbsSettings;
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::truncation::{initial_clusters, number_by_size};
use crate::shared::held_rows::HeldRows;
use crate::shared::initialization;

/// One kept draw.
pub(crate) struct KeptDraw {
    pub(crate) partition: Partition,
    pub(crate) log_joint: f64,
    pub(crate) hyperparameters: Hyperparameters,
}

/// What one chain saw.
pub(crate) struct GibbsRun {
    pub(crate) kept: Vec<KeptDraw>,
    pub(crate) log_joint: Vec<f64>,
    pub(crate) clusters: Vec<u32>,
    /// Split–merge moves that were taken.
    pub(crate) moved: u64,
    pub(crate) interrupted: bool,
}

/// Draws a label of every object in every base clustering by its shares, for the next sweep; labels stay where shares are 1.
fn draw_labels<L: Label>(
    (shares, offsets): (&Memberships, &[usize]),
    mut labels: ArrayViewMut2<'_, L>,
    rng: &mut impl Rng,
) {
    for (object, mut row) in labels.outer_iter_mut().enumerate() {
        let (clusters, own) = shares.row(object);
        let mut at = 0;
        while at < clusters.len() {
            let u = offsets.partition_point(|&start| start <= clusters[at] as usize) - 1;
            let end = at + clusters[at..].partition_point(|&c| (c as usize) < offsets[u + 1]);
            if end - at > 1 {
                let mut left = rng.random::<f64>() * own[at..end].iter().sum::<f64>();
                let drawn = (at..end - 1).find(|&place| {
                    left -= own[place];
                    left < 0.0
                });
                row[u] = L::of(clusters[drawn.unwrap_or(end - 1)] as usize - offsets[u]);
            }
            at = end;
        }
    }
}

/// Moves after which a chain asks whether to stop.
const MOVES_A_LOOK: u32 = 1024;

/// One chain of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    pub(crate) number: u32,
    pub(crate) clusters: usize,
}

/// Runs one chain. Where base clusterings are soft, every sweep draws labels by their shares first.
pub(crate) fn gibbs_run<L: Label>(
    rows: HeldRows<'_>,
    soft: Option<&Memberships>,
    labels: ArrayView2<'_, L>,
    Chain { number, clusters }: Chain,
    seed: Seed,
    settings: &NbceGibbsSettings,
    progress: &ProgressCounter<'_>,
) -> GibbsRun {
    let seed = seed.child(u64::from(number));
    let mut start =
        initialization::labels(rows, initial_clusters(clusters, number % 2), seed.child(0));
    let weights = rows.weights();
    number_by_size(&mut start, &weights, clusters);
    let hyperparameters = Hyperparameters {
        alpha0: settings.alpha0,
        beta: settings.beta,
    };
    let soft = soft.map(|shares| (shares, &rows.layout.offsets[..]));
    let mut drawn = soft.map(|_| labels.to_owned());
    let differ = weights.iter().any(|weight| *weight != 1.0);
    let mut state = GibbsState::new(
        labels,
        rows.layout,
        differ.then_some(&weights[..]),
        start,
        clusters,
        settings.prior,
        hyperparameters,
    );
    let mut rng = seed.child(1).rng();
    let (burn_in, sweeps) = (
        u64::from(settings.burn_in),
        u64::from(settings.sweeps.get()),
    );
    let keep = u64::from(settings.keep.get()).min(sweeps);
    let mut run = GibbsRun {
        kept: Vec::new(),
        log_joint: Vec::new(),
        clusters: Vec::new(),
        moved: 0,
        interrupted: false,
    };
    for sweep in 0..burn_in + sweeps {
        if let (Some(shares), Some(labels)) = (soft, &mut drawn) {
            draw_labels(shares, labels.view_mut(), &mut rng);
            state.observe(labels);
        }
        state.sweep(&mut rng);
        // Where a sweep has very many moves, a wish to stop is not kept waiting for its end.
        let goes_on =
            |at: &u32| *at == 0 || !at.is_multiple_of(MOVES_A_LOOK) || !progress.stopped();
        let moves = (0..settings.moves).take_while(goes_on);
        run.moved += moves.filter(|_| state.split_or_merge(&mut rng)).count() as u64;
        if settings.learn {
            state.learn(&mut rng);
        }
        run.log_joint.push(state.log_joint(state.hyperparameters));
        run.clusters.push(state.live());
        progress.add(1);
        run.interrupted = progress.stopped();
        // Sweep s after burn-in is kept when s · keep / sweeps steps over a whole number.
        let place = |s: u64| s * keep / sweeps;
        let due = sweep >= burn_in && place(sweep - burn_in + 1) > place(sweep - burn_in);
        if due || (run.interrupted && run.kept.is_empty()) {
            let partition =
                Partition::new(state.z.clone(), clusters).expect("clusters are below K");
            let log_joint = run.log_joint[sweep as usize];
            run.kept.push(KeptDraw {
                partition,
                log_joint,
                hyperparameters: state.hyperparameters,
            });
        }
        if run.interrupted {
            break;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use partita_core::{Flow, LabelRows, Monitor};
    use std::num::NonZeroU32;

    struct Stop;

    impl Monitor for Stop {
        fn tick(&self, _done: u64, _total: u64) -> Flow {
            Flow::Stop
        }
    }

    #[test]
    fn the_longest_chain_that_can_be_written_begins() {
        let ensemble = fixture::drawn(1);
        let (held, most) = (Held::each(&ensemble), NonZeroU32::MAX);
        let settings = NbceGibbsSettings {
            burn_in: u32::MAX,
            sweeps: most,
            keep: most,
            ..NbceGibbsSettings::default()
        };
        let progress = ProgressCounter::new(&Stop, u64::MAX);
        let LabelRows::Bytes(labels) = ensemble.rows() else {
            panic!("few clusters")
        };
        let run = |settings| {
            let chain = Chain {
                number: 0,
                clusters: 4,
            };
            gibbs_run(
                held.rows(),
                None,
                labels,
                chain,
                Seed::new(1),
                settings,
                &progress,
            )
        };
        assert!(run(&settings).interrupted);
        let settings = NbceGibbsSettings {
            moves: u32::MAX,
            ..NbceGibbsSettings::default()
        };
        let run = run(&settings);
        assert!(run.interrupted);
        assert_eq!((run.kept.len(), run.log_joint.len()), (1, 1));
    }
}
