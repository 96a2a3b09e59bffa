//! Base clusterings without copies of each other.

use partita_core::Ensemble;

/// The first of all base clusterings that are the same, and the sums of their weights.
pub(super) fn different_bases(ensemble: &Ensemble, weights: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let (mut different, mut sums): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
    for (u, weight) in weights.iter().enumerate() {
        if let Some(at) = different.iter().position(|&earlier| same_base(ensemble, earlier as usize, u)) {
            sums[at] += weight;
        } else {
            different.push(u as u32);
            sums.push(*weight);
        }
    }
    (different, sums)
}

/// Whether two base clusterings have the same labels, and where they are soft the same shares.
fn same_base(ensemble: &Ensemble, u: usize, v: usize) -> bool {
    let alike = ensemble.bases()[u].clusters() == ensemble.bases()[v].clusters();
    let labels = alike && (0..ensemble.objects()).all(|i| ensemble.label(i, u) == ensemble.label(i, v));
    let soft = ensemble.memberships().is_some();
    labels && (!soft || ensemble.base_shares(u).rows() == ensemble.base_shares(v).rows())
}
