//! Similarities of base clusters: Jaccard index, random walks, and weighted connected triples, all from the overlap table.

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array1, Array2, ArrayView1, Axis};
use partita_core::{BaseClustering, Entry, PassError, PassRunner, Row, RowBlock, RowPass};
use partita_spectral::symmetric_eigen;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_graph::Numbers;

/// The base clustering of every base cluster.
pub(crate) fn bases_of(offsets: &[usize]) -> Vec<usize> {
    offsets
        .windows(2)
        .enumerate()
        .flat_map(|(u, ends)| std::iter::repeat_n(u, ends[1] - ends[0]))
        .collect()
}

/// Σ of squared shares in every base cluster over the objects that each base clustering knows, ΣJ × M: of labels the objects.
pub(crate) fn known(rows: &PassRunner<'_>, overlap: &Overlap) -> Result<Array2<f64>, PassError> {
    if !rows.source().are_shares() {
        return Ok(labelled_by(overlap));
    }
    let offsets = overlap.offsets().to_vec();
    let shape = (overlap.table().nrows(), offsets.len() - 1);
    let squares = rows.run(&Squares { offsets })?;
    Ok(Array2::from_shape_vec(shape, squares.0).expect("M numbers a base cluster"))
}

/// The objects of every base cluster that each base clustering labels.
fn labelled_by(overlap: &Overlap) -> Array2<f64> {
    let (table, offsets) = (overlap.table(), overlap.offsets());
    Array2::from_shape_fn((table.nrows(), offsets.len() - 1), |(c, u)| {
        let own = (offsets[u]..offsets[u + 1]).into();
        table.row(c).slice_axis(Axis(0), own).sum()
    })
}

/// The sums of [`known`] of shares.
#[derive(Serialize, Deserialize)]
pub(crate) struct Squares {
    offsets: Vec<usize>,
}

impl RowPass for Squares {
    type Sum = Numbers;
    const KIND: &'static str = "graph/squares";

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.offsets == BaseClustering::offsets(bases)
    }

    fn zero(&self) -> Numbers {
        let bases = self.offsets.len() - 1;
        Numbers(vec![0.0; self.offsets[bases] * bases])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Numbers) {
        let bases = self.offsets.len() - 1;
        for (row, weight) in block.rows() {
            let entries: Vec<Entry> = row.entries(&self.offsets).collect();
            let mut known: Vec<usize> = entries.iter().map(|entry| entry.base).collect();
            known.dedup();
            for entry in &entries {
                let square = weight * entry.share * entry.share;
                let line = &mut sum.0[entry.cluster * bases..][..bases];
                known.iter().for_each(|&u| line[u] += square);
            }
        }
    }
}

/// The Jaccard index of every two base clusters of different base clusterings, over the objects that both of these know; of shares the
/// extended index, a·b / (a·a + b·b − a·b). ΣJ × ΣJ, symmetric, 0 on the diagonal and within a base clustering.
pub(crate) fn jaccard(overlap: &Overlap, known: &Array2<f64>) -> Array2<f64> {
    let (table, base_of) = (overlap.table(), bases_of(overlap.offsets()));
    Array2::from_shape_fn(table.dim(), |(c, d)| {
        let shared = table[[c, d]];
        if base_of[c] == base_of[d] || shared <= 0.0 {
            return 0.0;
        }
        // Added up alike both ways, so that the table is symmetric.
        let (one, other) = (c.min(d), c.max(d));
        shared / (known[[one, base_of[other]]] + known[[other, base_of[one]]] - shared)
    })
}

/// The base clusters that have objects.
pub(crate) fn live(overlap: &Overlap) -> Vec<usize> {
    let sizes = overlap.sizes();
    (0..sizes.len()).filter(|&c| sizes[c] > 0.0).collect()
}

/// Cosine similarity of random walks that start at base clusters (propagated similarity), ΣJ × ΣJ.
///
/// ```text
/// P = D⁻¹ A     G = Σ_{r = 1..t} Pʳ (Pʳ)ᵀ     Ŝ_cd = G_cd / √(G_cc G_dd)
/// ```
/// From one eigenproblem, D^-½ A D^-½ = Q Λ Qᵀ: Pʳ = D^-½ Q Λʳ Qᵀ D^½, so that
/// `G = D^-½ Q [ (QᵀDQ) ∘ Σ_r Λʳ 1 1ᵀ Λʳ ] Qᵀ D^-½` for any t. A cluster that shares objects with none has zeros.
///
/// A base cluster that is there `copies` = m times has m − 1 neighbours that are its copies. Walks do not tell copies apart but for the
/// part of a walk that has not left them, so that A has √(m_c m_d) A_cd, m_c − 1 on the diagonal, and G_cc has (m_c − 1) Σ_r D_c^-2r
/// more. Second come the similarities of two copies of every base cluster.
pub(crate) fn propagated(
    jaccard: &Array2<f64>,
    copies: &[f64],
    steps: u32,
) -> Result<(Array2<f64>, Vec<f64>), GraphError> {
    let more = Array1::from_iter(copies.iter().map(|m| (m - 1.0).max(0.0)));
    let degrees = (jaccard * &ArrayView1::from(copies)).sum_axis(Axis(1)) + &more;
    let linked: Vec<usize> = (0..degrees.len()).filter(|&c| degrees[c] > 0.0).collect();
    let (mut similarity, mut of_copies) = (Array2::zeros(jaccard.dim()), vec![1.0; copies.len()]);
    if linked.is_empty() {
        return Ok((similarity, of_copies));
    }
    let degree: Array1<f64> = linked.iter().map(|&c| degrees[c]).collect();
    let root = degree.mapv(|d| 1.0 / d.sqrt());
    let matrix = Array2::from_shape_fn((linked.len(), linked.len()), |(a, b)| {
        let (c, d) = (linked[a], linked[b]);
        let edge = if a == b {
            more[c]
        } else {
            jaccard[[c, d]] * (copies[c] * copies[d]).sqrt()
        };
        edge * (root[a] * root[b])
    });
    let pairs = symmetric_eigen(matrix.view())?;
    let vectors = &pairs.vectors;
    let mut inner = vectors
        .t()
        .dot(&(vectors * &degree.view().insert_axis(Axis(1))));
    for ((a, b), cell) in inner.indexed_iter_mut() {
        let ratio = pairs.values[a] * pairs.values[b];
        *cell *= (0..steps).fold(0.0, |sum, _| ratio * (1.0 + sum));
    }
    let left = vectors * &root.insert_axis(Axis(1));
    let mut gram = left.dot(&inner).dot(&left.t());
    for (a, &c) in linked.iter().enumerate() {
        let squared = 1.0 / (degrees[c] * degrees[c]);
        let stayed = (0..steps).fold(0.0, |sum, _| squared * (1.0 + sum));
        let shared = gram[[a, a]] - stayed;
        gram[[a, a]] += more[c] * stayed;
        if more[c] > 0.0 {
            of_copies[c] = (shared / gram[[a, a]]).clamp(0.0, 1.0);
        }
    }
    for (a, &c) in linked.iter().enumerate() {
        similarity[[c, c]] = 1.0;
        for (b, &d) in linked.iter().enumerate().skip(a + 1) {
            let length = (gram[[a, a]] * gram[[b, b]]).sqrt();
            let cosine = if length > 0.0 {
                (gram[[a, b]] / length).clamp(0.0, 1.0)
            } else {
                0.0
            };
            (similarity[[c, d]], similarity[[d, c]]) = (cosine, cosine);
        }
    }
    Ok((similarity, of_copies))
}

/// How far every two base clusters are near the same others, T_cd = Σ_e w_e min(W_ce, W_de), ΣJ × ΣJ; w is 1 where there is none.
pub(crate) fn common_links(near: &Array2<f64>, weights: Option<&[f64]>) -> Array2<f64> {
    let side = near.nrows();
    let line = |c: usize| {
        let own = near
            .row(c)
            .into_iter()
            .enumerate()
            .filter(|(_, w)| **w > 0.0);
        let own: Vec<(usize, f64, f64)> = own
            .map(|(e, &w)| (e, w, weights.map_or(1.0, |weights| weights[e])))
            .collect();
        let common = |d: usize| {
            own.iter()
                .map(|&(e, w, weight)| weight * w.min(near[[d, e]]))
                .sum::<f64>()
        };
        (c..side).map(common).collect::<Vec<f64>>()
    };
    let lines: Vec<Vec<f64>> = (0..side).into_par_iter().map(line).collect();
    let mut links = Array2::zeros((side, side));
    for (c, line) in lines.iter().enumerate() {
        for (d, &common) in (c..side).zip(line) {
            (links[[c, d]], links[[d, c]]) = (common, common);
        }
    }
    links
}

/// Similarity of base clusters by weighted connected triples (WCT), ΣJ × ΣJ, 1 on the diagonal.
///
/// ```text
/// T_cd = Σ_e min(W_ce, W_de)      Sim_cd = decay · T_cd / max T
/// ```
/// A base cluster that is there `copies` = m times counts so often among the neighbours, and its m − 1 copies are neighbours too, with
/// W = 1: they add (m_c + m_d − 2) W_cd, and two copies have m_c − 2 and all their links in common, which may be the maximum.
pub(crate) fn connected_triples(jaccard: &Array2<f64>, copies: &[f64], decay: f64) -> Array2<f64> {
    let mut similarity = common_links(jaccard, Some(copies));
    let more: Vec<f64> = copies.iter().map(|m| (m - 1.0).max(0.0)).collect();
    similarity.indexed_iter_mut().for_each(|((c, d), common)| {
        // Of copies the part of a second one that there is.
        *common = if c == d {
            more[c].min(1.0) * (*common + (more[c] - 1.0).max(0.0))
        } else {
            *common + (more[c] + more[d]) * jaccard[[c, d]]
        };
    });
    let most = similarity.iter().copied().fold(0.0, f64::max);
    similarity.mapv_inplace(|common| {
        if most > 0.0 {
            decay * common / most
        } else {
            0.0
        }
    });
    similarity.diag_mut().fill(1.0);
    similarity
}

/// Bytes of the tables and of the eigenproblem, at most.
pub(crate) fn bytes(side: u64) -> u64 {
    side.saturating_mul(side).saturating_mul(8 * 10)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use partita_conformance::{draw, ensemble};
    use partita_core::{Ensemble, EnsembleRows, PassRunner, Seed, Silent};

    pub(crate) fn overlap(ensemble: &Ensemble) -> Overlap {
        Overlap::count(&PassRunner::new(&EnsembleRows::new(ensemble), &Silent)).unwrap()
    }

    /// The Jaccard index of labels.
    pub(crate) fn index(overlap: &Overlap) -> Array2<f64> {
        jaccard(overlap, &labelled_by(overlap))
    }

    /// Σ_i Z_ic Z_id / d_i, where the strengths of an object's base clusters add up to d_i.
    pub(crate) fn shared(ensemble: &Ensemble, strengths: &[f64]) -> Array2<f64> {
        let source = EnsembleRows::new(ensemble);
        Overlap::shared(&PassRunner::new(&source, &Silent), strengths)
            .unwrap()
            .into_table()
    }

    /// a = 1 1 1 2 2 2, b = 1 1 2 2 2 2, c = 1 1 1 2 3 3.
    pub(crate) fn tiny() -> Ensemble {
        let columns = [[1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2], [1, 1, 1, 2, 3, 3]];
        let named = columns.iter().zip(["a", "b", "c"]);
        ensemble(named.map(|(column, name)| {
            (
                name.to_owned(),
                column.iter().map(|&label| Some(label)).collect(),
            )
        }))
    }

    /// How far every object is in every base cluster, n × ΣJ: as similar as its own cluster of that base clustering is.
    pub(crate) fn refined(ensemble: &Ensemble, similarity: &Array2<f64>) -> Array2<f64> {
        let (offsets, base_of) = (ensemble.offsets(), bases_of(&ensemble.offsets()));
        Array2::from_shape_fn((ensemble.objects(), base_of.len()), |(i, c)| {
            let u = base_of[c];
            ensemble
                .label(i, u)
                .map_or(0.0, |label| similarity[[c, label + offsets[u]]])
        })
    }

    /// Holds a cluster graph to D^-½ Bᵀ D⁻¹ B D^-½ of edges B, whose first rows are objects, and what base clusters add to the places
    /// of their objects for all eigenvectors to D⁻¹ B D^-½.
    pub(crate) fn assert_cut_of(
        ensemble: &Ensemble,
        edges: &Array2<f64>,
        graph: &Array2<f64>,
        table: &Array2<f64>,
    ) {
        let sums = |axis| edges.sum_axis(Axis(axis)).mapv(|sum: f64| sum.max(1e-300));
        let (rows, columns) = (sums(1), sums(0));
        let half = edges / &columns.mapv(f64::sqrt);
        let whole = &half / &rows.view().insert_axis(Axis(1));
        assert!(
            (&whole.t().dot(&half) - graph)
                .iter()
                .all(|x| x.abs() < 1e-10)
        );
        let places =
            refined(ensemble, &Array2::eye(columns.len())).dot(table) / columns.sum().sqrt();
        for (i, place) in places.outer_iter().enumerate() {
            assert!(
                place
                    .iter()
                    .zip(whole.row(i))
                    .all(|(a, b)| (a / rows[i] - b).abs() < 1e-10),
                "{i}"
            );
        }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} {expected}");
    }

    #[test]
    fn tiny_tables_to_their_printed_digits() {
        let a = index(&overlap(&tiny()));
        let cells = [
            (1, 2, 0.0),
            (1, 3, 0.666_667),
            (1, 4, 0.166_667),
            (1, 5, 1.0),
            (2, 4, 0.75),
        ];
        let more = [
            (2, 6, 0.333_333),
            (2, 7, 0.666_667),
            (4, 6, 0.25),
            (4, 7, 0.5),
        ];
        cells
            .iter()
            .chain(&more)
            .for_each(|&(c, d, value)| close(a[[c - 1, d - 1]], value));
        let rows = [
            (
                1,
                [
                    1.0, 0.097_430, 0.582_772, 0.142_394, 0.320_755, 0.082_416, 0.082_416,
                ],
            ),
            (
                2,
                [
                    1.0, 0.137_487, 0.691_612, 0.207_037, 0.489_269, 0.125_890, 0.125_890,
                ],
            ),
            (
                20,
                [
                    1.0, 0.655_069, 0.937_391, 0.723_864, 0.894_259, 0.647_484, 0.647_484,
                ],
            ),
        ];
        for (steps, row) in rows {
            let similarity = propagated(&a, &[1.0; 7], steps).unwrap().0;
            row.iter()
                .zip(similarity.row(0))
                .for_each(|(&expected, &found)| close(found, expected));
        }
        let triples = connected_triples(&a, &[1.0; 7], 1.0) * 0.833_333_333_333;
        let cells = [
            (1, 5, 0.833_333),
            (1, 3, 0.666_667),
            (2, 4, 0.75),
            (4, 7, 0.666_667),
            (6, 7, 0.583_333),
        ];
        let more = [
            (1, 2, 0.166_667),
            (1, 6, 0.166_667),
            (1, 7, 0.166_667),
            (2, 6, 0.25),
            (2, 7, 0.5),
            (2, 3, 0.0),
        ];
        cells
            .iter()
            .chain(&more)
            .for_each(|&(c, d, value)| close(triples[[c - 1, d - 1]], value));
    }

    /// The definitions, over objects, step by step.
    pub(crate) fn naive(ensemble: &Ensemble, steps: u32) -> (Array2<f64>, Array2<f64>) {
        let (offsets, n) = (ensemble.offsets(), ensemble.objects());
        let side = offsets[offsets.len() - 1];
        let base = |c: usize| offsets.iter().rposition(|&start| start <= c).unwrap();
        let inside = |i: usize, c: usize| ensemble.label(i, base(c)) == Some(c - offsets[base(c)]);
        let a = Array2::from_shape_fn((side, side), |(c, d)| {
            let seen = |i: usize| {
                ensemble.label(i, base(c)).is_some() && ensemble.label(i, base(d)).is_some()
            };
            let both = (0..n).filter(|&i| inside(i, c) && inside(i, d)).count() as f64;
            let any = (0..n)
                .filter(|&i| seen(i) && (inside(i, c) || inside(i, d)))
                .count() as f64;
            if base(c) == base(d) || any == 0.0 {
                0.0
            } else {
                both / any
            }
        });
        let sums = a.sum_axis(Axis(1));
        let p = Array2::from_shape_fn((side, side), |(c, d)| {
            if sums[c] > 0.0 {
                a[[c, d]] / sums[c]
            } else {
                0.0
            }
        });
        let (mut power, mut gram) = (Array2::<f64>::eye(side), Array2::<f64>::zeros((side, side)));
        for _ in 0..steps {
            power = power.dot(&p);
            gram = gram + power.dot(&power.t());
        }
        let cosine = |(c, d): (usize, usize)| {
            let length = (gram[[c, c]] * gram[[d, d]]).sqrt();
            if length > 0.0 {
                gram[[c, d]] / length
            } else {
                0.0
            }
        };
        (Array2::from_shape_fn((side, side), cosine), a)
    }

    #[test]
    fn one_eigenproblem_gives_what_steps_do() {
        for seed in 0..120 {
            let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
            let steps = 1 + (seed % 25) as u32;
            let (expected, a) = naive(&drawn.ensemble, steps);
            let index = self::index(&overlap(&drawn.ensemble));
            assert!((&index - &a).iter().all(|x| x.abs() < 1e-12), "{seed}");
            let found = propagated(&index, &vec![1.0; index.nrows()], steps)
                .unwrap()
                .0;
            assert!(
                (&found - &expected).iter().all(|x| x.abs() < 1e-10),
                "{seed}"
            );
        }
    }

    /// A base clustering of weight 3 is three of them, for walks and for triples.
    #[test]
    fn copies_are_neighbours() {
        for seed in 0..60 {
            let ensemble = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 }).ensemble;
            let (bases, own) = (ensemble.bases().len() as u32, ensemble.offsets()[1]);
            let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
            let copied = ensemble.select(
                &objects,
                &[&(0..bases).collect::<Vec<u32>>()[..], &[0, 0]].concat(),
            );
            let index = self::index(&overlap(&ensemble));
            let of_copies = self::index(&overlap(&copied));
            let copies: Vec<f64> = (0..index.nrows())
                .map(|c| if c < own { 3.0 } else { 1.0 })
                .collect();
            let ones = vec![1.0; of_copies.nrows()];
            let (walks, alike) = propagated(&index, &copies, 20).unwrap();
            let pairs = [
                (walks, propagated(&of_copies, &ones, 20).unwrap().0),
                (
                    connected_triples(&index, &copies, 0.9),
                    connected_triples(&of_copies, &ones, 0.9),
                ),
            ];
            for (at, (found, expected)) in pairs.iter().enumerate() {
                for ((c, d), value) in found.indexed_iter().filter(|((c, d), _)| c != d) {
                    assert!(
                        (value - expected[[c, d]]).abs() < 1e-9,
                        "{seed} {at} {c} {d}"
                    );
                }
            }
            for c in (0..own).filter(|&c| overlap(&ensemble).sizes()[c] > 0.0) {
                let expected = pairs[0].1[[c, index.nrows() + c]];
                assert!((alike[c] - expected).abs() < 1e-9, "{seed} {c}");
            }
        }
    }
}
