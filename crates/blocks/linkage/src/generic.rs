//! Trees by always merging the two nearest clusters, for linkages whose heights may fall.

use partita_core::{Dendrogram, Monitor};

use crate::LinkageError;
use crate::lazy_matrix::LazyMatrix;
use crate::merges::{Merged, as_they_come};
use crate::rows::report;

/// The tree under centroid link: every cluster remembers its nearest.
pub(crate) fn generic(
    mut store: LazyMatrix<'_, u64>,
    weights: &[u32],
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    let n = store.objects();
    let mut nearest: Vec<(f64, u32)> = Vec::with_capacity(n);
    for slot in 0..n as u32 {
        nearest.push(store.nearest(slot));
        store.forget(slot);
        report(monitor, slot as usize, 2 * n)?;
    }
    let mut merged = Vec::with_capacity(n - 1);
    while store.alive() > 1 {
        let mut one = 0;
        let mut least = f64::INFINITY;
        for slot in store.living() {
            let (score, _) = nearest[slot as usize];
            if score < least {
                one = slot;
                least = score;
            }
        }
        let other = nearest[one as usize].1;
        let a = one.min(other);
        let b = one.max(other);
        merged.push(Merged::new(a, b, store.merge(a, b)));
        if store.alive() > 1 {
            renew(&mut store, &mut nearest, a, b);
        }
        report(monitor, n + merged.len(), 2 * n)?;
    }
    Ok(as_they_come(&merged, weights))
}

/// Finds the nearest of every cluster again where a merge of `a` and `b` may have changed it.
fn renew(store: &mut LazyMatrix<'_, u64>, nearest: &mut [(f64, u32)], a: u32, b: u32) {
    nearest[a as usize] = store.nearest(a);
    let others: Vec<u32> = store.living().filter(|&slot| slot != a).collect();
    for slot in others {
        let (score, now) = nearest[slot as usize];
        if now == a || now == b {
            nearest[slot as usize] = store.nearest(slot);
            store.forget(slot);
        } else {
            let offer = store.centroids(a, slot);
            if offer < score || (offer == score && a < now) {
                nearest[slot as usize] = (offer, a);
            }
        }
    }
}
