//! How the seeds of all steps are derived from the one seed of a run.
//!
//! Base clustering u draws from `seed.child(u)`. The other steps draw from children of reserved numbers, which no base
//! clustering reaches, so that no step shares its random numbers with another, and `run` gives the bytes of `generate`
//! followed by `consensus` with the same seed.
//!
//! | seed | what draws from it |
//! |---|---|
//! | [`choice`] | the choice of the number of clusters: the run's own seed, so that `choose-k` with it answers the same |
//! | [`consensus`] | every consensus method |
//! | [`rows`] | rows taken of a table by their labels (`max_per_label`) |
//! | [`pairs`] | pairs of objects sampled for evidence outside a method |
//! | [`held_out`] | the objects of an ensemble that are held out |
//! | [`shown`] | the objects that a report of rows which are not held shows |

use partita::Seed;

const CONSENSUS: u64 = u64::MAX;
const ROWS: u64 = u64::MAX - 1;
const PAIRS: u64 = u64::MAX - 2;
const SHOWN: u64 = u64::MAX - 3;
const HELD_OUT: u64 = u64::MAX - 4;

/// What the choice of the number of clusters draws from.
#[must_use]
pub const fn choice(run: Seed) -> Seed {
    run
}

/// What every consensus method of a run draws from.
#[must_use]
pub const fn consensus(run: Seed) -> Seed {
    run.child(CONSENSUS)
}

/// What the choice of rows by their labels draws from.
#[must_use]
pub const fn rows(run: Seed) -> Seed {
    run.child(ROWS)
}

/// What a sample of pairs that a study takes itself draws from.
#[must_use]
pub const fn pairs(run: Seed) -> Seed {
    run.child(PAIRS)
}

/// What the sample of objects that a report shows draws from, where rows are not held.
#[must_use]
pub const fn shown(run: Seed) -> Seed {
    run.child(SHOWN)
}

/// What the choice of objects that are held out draws from.
#[must_use]
pub const fn held_out(run: Seed) -> Seed {
    run.child(HELD_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_do_not_share_seeds() {
        let run = Seed::new(7);
        let steps = [
            consensus(run),
            rows(run),
            pairs(run),
            shown(run),
            held_out(run),
            run.child(0),
            run.child(1),
        ];
        assert!((0..7).all(|a| (0..a).all(|b| steps[a] != steps[b])));
    }
}
