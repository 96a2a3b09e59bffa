//! Locally weighted evidence accumulation.

use partita_coassoc::{EvidenceRows, cluster_weights};
use partita_core::{Clusters, Ensemble, Fragments, MemoryBudget, Outcome, Watch};
use partita_linkage::{Linkage, cut, link_rows, unfold_at};
use serde::{Deserialize, Serialize};

use crate::EacError;
use crate::certainty::Tables;
use crate::eac::{WAY_OUT, number, outcome};
use crate::evidence::{Weighted, rounded_unit};

/// Settings of [`lwea`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LweaSettings {
    /// How fast a base cluster loses weight as the others disagree on it (paper: θ): less is faster.
    pub theta: f64,
}

impl Default for LweaSettings {
    fn default() -> Self {
        Self { theta: 0.4 }
    }
}

/// Locally weighted evidence accumulation (Huang, Wang and Lai 2018): average link on evidence in which a base
/// cluster counts the more, the less the other base clusterings break it up.
///
/// ```text
/// H(C)   = Σ_u H(labels of base clustering u inside C), in bits
/// ECI(C) = exp(−H(C) / (θ M))
/// a_ij   = Σ_{u: i and j in the same cluster C of u} ECI(C) / N_ij
/// ```
/// | paper | here |
/// |---|---|
/// | θ | [`LweaSettings::theta`] |
/// | ECI(C) | [`cluster_weights`] |
/// | LWCA matrix A | evidence, made a row at a time, in units of at least 2⁻²⁰ or so |
///
/// # Errors
/// [`EacError`] when the tree does not fit the budget, theta is not positive, or the watch asks to stop.
///
/// # Cost
/// O(n M²) for the weights, O(f² M) for the evidence and O(f²) for the tree over f distinct label rows (all objects,
/// when labels are missing); [`lwea_bytes`] of memory.
///
/// # Differences from the paper
/// Missing labels, which the paper has none of, count for neither the entropy nor N; M in ECI(C) is then the number
/// of base clusterings that label something of C.
///
/// # References
/// D. Huang, C.-D. Wang, J.-H. Lai: Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48(5), 2018.
pub fn lwea(
    ensemble: &Ensemble,
    clusters: Clusters,
    settings: &LweaSettings,
    budget: MemoryBudget,
    watch: &dyn Watch,
) -> Result<Outcome, EacError> {
    if !(settings.theta.is_finite() && settings.theta > 0.0) {
        return Err(EacError::Theta(settings.theta));
    }
    // With missing labels an object may have more in common with another than with its equal.
    let fragments = if ensemble.missing() == 0 { Some(ensemble.fragments()) } else { None };
    let folded = fragments.as_ref().map_or(ensemble, Fragments::ensemble);
    let distinct = folded.objects();
    budget.check("the tree over all pairs", lwea_bytes(distinct, ensemble.bases().len()), WAY_OUT)?;

    let weights = cluster_weights(ensemble, settings.theta);
    let rows = Weighted::new(EvidenceRows::new(folded)?, folded, ensemble.objects(), &weights);
    let tree = match &fragments {
        Some(fragments) => {
            let tree = link_rows(&rows, fragments.weights(), Linkage::Average, watch)?;
            let inside: Vec<f64> = (0..distinct).map(|fragment| rows.inside(fragment)).collect();
            unfold_at(&tree, fragments.of_object(), &inside)
        }
        None => link_rows(&rows, &vec![1; distinct], Linkage::Average, watch)?,
    };
    let partition = cut(&tree, number(&tree, clusters));
    let offsets = ensemble.offsets();
    debug_assert_eq!(weights.len(), offsets[offsets.len() - 1], "one weight a base cluster");
    let certainty = Tables::new(ensemble, &partition, |cluster| weights[cluster]).all();
    Ok(outcome(partition, certainty, tree, distinct))
}

/// Bytes that [`lwea`] holds at once, at most, over so many distinct label rows.
pub fn lwea_bytes(objects: usize, base_clusterings: usize) -> u64 {
    let rows = partita_linkage::bytes(objects, rounded_unit(objects), Linkage::Average);
    rows + (objects * (base_clusterings * 5 / 2 + 16)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn weights_can_be_checked_by_eye() {
        let mut builder = EnsembleBuilder::new(4);
        builder.push("a", [Some(0), Some(0), Some(1), Some(1)]).unwrap();
        builder.push("b", [Some(0), Some(1), Some(2), Some(2)]).unwrap();
        // Cluster 0 of a is split in halves by b: one bit. All others stay whole.
        let weights = cluster_weights(&builder.finish().unwrap(), 0.5);
        assert_eq!(weights, [(-1.0f64).exp(), 1.0, 1.0, 1.0, 1.0]);
    }
}
