//! Passes that others run: jobs of bytes, part sums of bytes, and the join that misses no row and takes none twice.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RowBlocks;
use super::part_sum::PartSum;
use super::pass::{PassError, RowPass};
use crate::{Flow, Monitor};

/// Runs passes elsewhere: other processes, other machines ([`PassKind`](super::PassKind) is for the workers). What it hands back is checked and joined by the fixed tree, so that every
/// engine gives the bits of threads in memory.
///
/// ```text
/// driver   PassRunner::run ─▶ PassJob (kind, state) ─▶ engine ─▶ workers
/// worker   PassKind::sum(state, rows, groups) ─▶ part sum                    one a part, in any order, as often as needed
/// driver   part sums in the order of their rows ─▶ the sum over all rows
/// ```
pub trait PassEngine: Sync {
    /// Hands the sums of all parts to `take`, in the order of their rows.
    ///
    /// # Errors
    /// [`PassError::Pending`] when they have to be made first, what `take` says, and whatever keeps the engine from having them.
    fn sums(&self, job: &PassJob<'_>, take: &mut TakePart<'_>) -> Result<(), PassError>;

    /// Is told the sum over all rows, in the form of a part: handed to `take` it stands for all parts.
    ///
    /// # Errors
    /// Whatever keeps the engine from keeping it.
    fn keep(&self, _job: &PassJob<'_>, _whole: &[u8]) -> Result<(), PassError> {
        Ok(())
    }

    /// What [`remember`](Self::remember) was told of a step between passes, when the same fit was begun before.
    ///
    /// # Errors
    /// Whatever keeps the engine from having it.
    fn recall(&self, _step: &str) -> Result<Option<Vec<u8>>, PassError> {
        Ok(None)
    }

    /// Is told what a step gave that takes long: an engine that replays a fit from its sums may keep it.
    ///
    /// # Errors
    /// Whatever keeps the engine from keeping it.
    fn remember(&self, _step: &str, _made: &[u8]) -> Result<(), PassError> {
        Ok(())
    }
}

/// Takes the sum of a part.
pub type TakePart<'a> = dyn FnMut(&[u8]) -> Result<(), PassError> + 'a;

/// A pass as bytes.
#[derive(Clone, Copy, Debug)]
pub struct PassJob<'a> {
    /// What the pass is called ([`RowPass::KIND`]).
    pub kind: &'static str,
    /// Its state.
    pub state: &'a [u8],
}

/// The part of all rows, from the sums that an engine has.
pub(super) fn whole<P: RowPass>(
    engine: &dyn PassEngine,
    pass: &P,
    rows: &dyn RowBlocks,
) -> Result<PartSum<P::Sum>, PassError> {
    let state = encode(pass)?;
    let job = PassJob {
        kind: P::KIND,
        state: &state,
    };
    let mut all = PartSum::empty(0, P::EXACT && rows.are_whole());
    let bases = rows.bases().len();
    let (mut parts, mut known) = (0u64, false);
    engine.sums(&job, &mut |bytes| {
        let part: PartSum<P::Sum> = decode(bytes, P::KIND)?;
        follows(&all.rows, &part.rows)?;
        parts += 1;
        known = part.rows == (0..rows.rows());
        all.append(part, pass, bases);
        Ok(())
    })?;
    follows(&all.rows, &(rows.rows()..rows.rows()))?;
    // A whole that was kept before is not kept again.
    if !(known && parts == 1) {
        engine.keep(&job, &encode(&all)?)?;
    }
    Ok(all)
}

/// What `make` gives, or what the engine remembers of it, if that is of these rows. What was stopped halfway is not remembered.
pub(super) fn once<T: Serialize + DeserializeOwned>(
    (engine, monitor): (&dyn PassEngine, &dyn Monitor),
    step: &str,
    fits: impl FnOnce(&T) -> bool,
    make: impl FnOnce() -> T,
) -> Result<T, PassError> {
    let Some(bytes) = engine.recall(step)? else {
        let made = make();
        if monitor.flow() == Flow::Stop {
            return Err(PassError::Interrupted);
        }
        engine.remember(step, &encode(&made)?)?;
        return Ok(made);
    };
    let made = decode(&bytes, step)?;
    if fits(&made) {
        Ok(made)
    } else {
        Err(PassError::Parts(format!(
            "what is kept of '{step}' is of other rows"
        )))
    }
}

/// Refuses rows that do not begin where those before end.
fn follows(before: &Range<u64>, next: &Range<u64>) -> Result<(), PassError> {
    let (end, start) = (before.end, next.start);
    let what = match start.cmp(&end) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Greater => {
            format!("rows {end} to {} are in no part of the sum", start - 1)
        }
        std::cmp::Ordering::Less => format!("row {start} is in two parts of the sum"),
    };
    Err(PassError::Parts(what))
}

/// A value as bytes; floating-point numbers keep their bits.
pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, PassError> {
    postcard::to_allocvec(value)
        .map_err(|error| PassError::Parts(format!("a pass cannot be written as bytes: {error}")))
}

/// What [`encode`] wrote.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8], kind: &str) -> Result<T, PassError> {
    let wrong = || {
        PassError::Parts(format!(
            "these bytes are not of a pass '{kind}' of this version"
        ))
    };
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|_| wrong())?;
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(wrong())
    }
}
