//! Trees over distinct label rows are those over all objects, labels and heights.

use partita_core::{Clusters, Ensemble, MemoryBudget, Partition, Seed, Silent};
use partita_eac::eac;
use partita_linkage::{Linkage, Rows, cut, link_rows};

/// What the dissimilarity 1 counts where it is rounded, for fewer than 30,000 objects.
const UNIT: u64 = 1 << 31;

/// 1 − c/N of all objects, or its square, rounded: nothing is folded.
struct Unfolded(Vec<Vec<u32>>);

impl Unfolded {
    fn new(ensemble: &Ensemble, power: u32) -> Self {
        let cell = |i: usize, j: usize| {
            let bases = 0..ensemble.bases().len();
            let both: Vec<(usize, usize)> = bases
                .filter_map(|u| ensemble.label(i, u).zip(ensemble.label(j, u)))
                .collect();
            let (apart, all) = (
                both.iter().filter(|(a, b)| a != b).count() as u64,
                both.len() as u64,
            );
            let (apart, all) = (apart.pow(power), all.pow(power));
            (apart * UNIT + all / 2).checked_div(all).unwrap_or(UNIT) as u32
        };
        let n = ensemble.objects();
        Self(
            (0..n)
                .map(|i| (0..n).map(|j| cell(i, j)).collect())
                .collect(),
        )
    }
}

impl Rows for Unfolded {
    fn objects(&self) -> usize {
        self.0.len()
    }
    fn unit(&self) -> u64 {
        UNIT
    }
    fn fill(&self, object: usize, row: &mut [u32]) {
        row.copy_from_slice(&self.0[object]);
    }
}

/// Few base clusterings, so that rows repeat, and missing labels in every ensemble.
fn drawn(seed: u64) -> Option<Ensemble> {
    let ensemble = partita_conformance::draw(Seed::new(seed), 0.3).ensemble;
    let bases: Vec<u32> = (0..(ensemble.bases().len() as u32).min(2 + seed as u32 % 4)).collect();
    let kept = ensemble.select(&(0..ensemble.objects() as u32).collect::<Vec<_>>(), &bases);
    let repeats = kept.fragments().ensemble().objects() < kept.objects();
    (kept.missing() > 0 && kept.first_unlabelled().is_none() && repeats).then_some(kept)
}

#[test]
fn folding_changes_neither_labels_nor_heights() {
    let (mut ensembles, mut cuts) = (0, 0);
    for ensemble in (0..).filter_map(drawn).take(200) {
        ensembles += 1;
        for linkage in [
            Linkage::Single,
            Linkage::Average,
            Linkage::Complete,
            Linkage::Ward,
            Linkage::Centroid,
        ] {
            let outcome = eac(
                &ensemble,
                Clusters::Auto,
                linkage,
                MemoryBudget::UNLIMITED,
                &Silent,
            )
            .unwrap();
            let folded = outcome.dendrogram.unwrap();
            let power = if matches!(linkage, Linkage::Ward | Linkage::Centroid) {
                2
            } else {
                1
            };
            let all = link_rows(
                &Unfolded::new(&ensemble, power),
                &vec![1; ensemble.objects()],
                linkage,
                &Silent,
            )
            .unwrap();
            let heights: Vec<(f64, f64)> = folded
                .merges()
                .iter()
                .zip(all.merges())
                .map(|(a, b)| (a.height, b.height))
                .collect();
            let close = heights.iter().all(|(a, b)| (a - b).abs() < 1e-7);
            assert!(close, "{linkage:?} {ensembles}: {heights:?}");
            // Where merges tie at a cut, one or another is undone.
            for clusters in 1..=ensemble.objects() {
                let at = ensemble.objects() - clusters;
                let tied = at > 0 && at < heights.len() && heights[at].0 - heights[at - 1].0 < 1e-7;
                if !tied {
                    let groups = |partition: Partition| partition.by_appearance();
                    assert_eq!(
                        groups(cut(&folded, clusters)),
                        groups(cut(&all, clusters)),
                        "{linkage:?} {ensembles}"
                    );
                    cuts += 1;
                }
            }
        }
    }
    assert!(cuts > 5_000, "{cuts}");
}
