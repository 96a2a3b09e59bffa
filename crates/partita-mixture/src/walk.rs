//! One Gibbs chain from its start to its last sweep.

use partita_core::ndarray::ArrayView2;
use partita_core::{Flow, Label, Partition, Seed};

use crate::chain::Chain;
use crate::prior::Hyper;
use crate::restarts::Rounds;
use crate::{NbceGibbsSettings, Rows, nbce, seeding};

/// One kept draw.
pub(crate) struct Kept {
    pub(crate) partition: Partition,
    pub(crate) log_joint: f64,
    pub(crate) hyper: Hyper,
}

/// What one chain saw.
pub(crate) struct Walk {
    pub(crate) kept: Vec<Kept>,
    pub(crate) log_joint: Vec<f64>,
    pub(crate) clusters: Vec<u32>,
    /// Split–merge moves that were taken.
    pub(crate) moved: u64,
    pub(crate) interrupted: bool,
}

/// Runs one chain.
pub(crate) fn walk<L: Label>(
    rows: &Rows<'_>,
    labels: ArrayView2<'_, L>,
    (number, clusters): (u32, usize),
    seed: Seed,
    settings: &NbceGibbsSettings,
    rounds: &Rounds<'_>,
) -> Walk {
    let seed = seed.child(u64::from(number));
    let mut start = seeding::labels(rows, nbce::begin_with(clusters, number % 2), seed.child(0));
    nbce::by_size(rows, &mut start, clusters);
    let hyper = Hyper { alpha0: settings.alpha0, beta: settings.beta };
    let mut chain = Chain::new((labels, rows.offsets()), start, clusters, settings.prior, hyper);
    let mut rng = seed.child(1).rng();
    let (burn_in, sweeps) = (u64::from(settings.burn_in), u64::from(settings.sweeps.get()));
    let keep = u64::from(settings.keep.get()).min(sweeps);
    let mut walk = Walk { kept: Vec::new(), log_joint: Vec::new(), clusters: Vec::new(), moved: 0, interrupted: false };
    for sweep in 0..burn_in + sweeps {
        chain.sweep(&mut rng);
        walk.moved += (0..settings.moves).filter(|_| chain.split_or_merge(&mut rng)).count() as u64;
        if settings.learn {
            chain.learn(&mut rng);
        }
        walk.log_joint.push(chain.log_joint(chain.hyper));
        walk.clusters.push(chain.live());
        walk.interrupted = rounds.tick() == Flow::Stop;
        // Sweep s after burn-in is kept when s · keep / sweeps steps over a whole number.
        let place = |s: u64| s * keep / sweeps;
        let due = sweep >= burn_in && place(sweep - burn_in + 1) > place(sweep - burn_in);
        if due || (walk.interrupted && walk.kept.is_empty()) {
            let partition = Partition::new(chain.z.clone(), clusters).expect("clusters are below K");
            let log_joint = walk.log_joint[sweep as usize];
            walk.kept.push(Kept { partition, log_joint, hyper: chain.hyper });
        }
        if walk.interrupted {
            break;
        }
    }
    walk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use partita_core::{LabelRows, Monitor};
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
        let (rows, most) = (Rows::unfolded(&ensemble), NonZeroU32::MAX);
        let settings =
            NbceGibbsSettings { burn_in: u32::MAX, sweeps: most, keep: most, ..NbceGibbsSettings::default() };
        let rounds = Rounds::new(&Stop, u64::MAX);
        let LabelRows::Bytes(labels) = ensemble.rows() else { panic!("few clusters") };
        let walk = walk(&rows, labels, (0, 4), Seed::new(1), &settings, &rounds);
        assert!(walk.interrupted);
        assert_eq!((walk.kept.len(), walk.log_joint.len()), (1, 1));
    }
}
