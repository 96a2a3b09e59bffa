//! Active set: which objects an iteration skips because their partners hardly moved since they were in order.
//!
//! An object that was in order when last visited stays so while its partners stand still. They never quite do, so what they
//! moved since is added up, and the object is visited again when that may matter. This is a guess, and safe: the certificate
//! looks at every object, and all are visited again where an object was skipped for too long.

use crate::evidence::Evidence;

/// How much the gradient of an object changes at most, mostly, when a partner moves all its probability: this many times the
/// mean N of a pair.
const STEEP: f64 = 4.0;

/// How far the partners of every object moved since it was last visited and in order; infinity where it was not. Empty where all
/// objects are partners: somebody always moves.
#[derive(Debug, Default)]
pub(crate) struct ActiveSet {
    drift: Vec<f64>,
    /// Up to here objects are skipped.
    limit: f64,
    /// Partners of an object, on average.
    degree: f64,
}

impl ActiveSet {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let objects = evidence.objects();
        if objects == 0 || evidence.partners(0).is_none() {
            return Self::default();
        }
        let pairs: usize = (0..objects).map(|i| evidence.degree(i)).sum();
        Self {
            drift: vec![f64::INFINITY; objects],
            limit: 0.0,
            degree: pairs as f64 / objects as f64,
        }
    }

    /// Violations up to `small` are skipped, where objects see observations of a sum of `scale`.
    pub(crate) fn set_limit(&mut self, small: f64, scale: f64) {
        self.limit = small * self.degree / (STEEP * scale);
    }

    pub(crate) fn is_active(&self, i: usize) -> bool {
        self.drift.get(i).is_none_or(|drift| *drift > self.limit)
    }

    /// Object `i` is in order.
    pub(crate) fn settled(&mut self, i: usize) {
        if let Some(drift) = self.drift.get_mut(i) {
            *drift = 0.0;
        }
    }

    pub(crate) fn activate_all(&mut self) {
        self.drift.fill(f64::INFINITY);
    }

    /// Objects of a group moved by so much: (object, sum of changes).
    ///
    /// Where that is more than the limit for everybody, on average, it is not told to each partner.
    pub(crate) fn moved(&mut self, evidence: &Evidence, group: &[(usize, f64)]) {
        if self.drift.is_empty() {
            return;
        }
        let sum: f64 = group.iter().map(|(_, by)| by).sum();
        if sum * self.degree > self.limit * self.drift.len() as f64 {
            return self.activate_all();
        }
        for &(i, by) in group {
            self.drift[i] = f64::INFINITY;
            for &j in evidence.partners(i).unwrap_or_default() {
                self.drift[j as usize] += by;
            }
        }
    }
}
