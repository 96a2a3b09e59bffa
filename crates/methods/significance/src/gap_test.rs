//! The held-out corridor gap test: which clusters of a table are real.

use partita_core::ndarray::ArrayView2;
use partita_core::{MemoryBudget, Monitor, Seed, map_parallel, sums_under_way};

use crate::corridor::Group;
use crate::error::SignificanceError;
use crate::moments::Moments;
use crate::result::{GapTest, MergedCluster, TestedCluster, Verdict};
use crate::rows::Rows;
use crate::settings::GapTestSettings;
use crate::tree::Merging;

/// Tests which clusters of a table (n × d) are real, and merges those between which no gap is seen.
///
/// Labels may come from any tool; rows without one are in no cluster, but count in valleys as every row does. A missing value is NaN.
///
/// ```text
/// H0 of two clusters: in every straight corridor the density has one mode
/// in a corridor with windows A, V, B in this order: mean density of V ≥ min(that of A, that of B)
/// p = max over the ends E of P(Bin(V + E, ρ w_V / (ρ w_V + w_E)) ≤ V),   ρ = 1 − min(½, margin √(d / n_pair))
/// corridor and windows from one half of the rows, counts from the other; z of both halves summed; median over halvings
/// ```
///
/// | paper's symbol | here |
/// |---|---|
/// | L, H | the half that learns, the half that is held out; both change their parts |
/// | W, λ | within-cluster covariance of the pair on L, shrunk by d / (d + n_L) to a multiple of the identity |
/// | corridor | rows with r² up to the larger .9 quantile of both clusters, nearer to the line than to the mean of a third cluster on L |
/// | s, r² | along the line of W⁻¹ (mean_b − mean_a), and squared distance from it, in standard deviations within clusters |
/// | A, V, B | rows in three windows of 3 to 20 of 48 bins: in the ends those of the pair, in the valley all |
/// | crossing | the half of the corridor, at the side to which rows of the pair near the valley bend, if it is less empty there |
///
/// Two neighbours with the largest p-value above α are merged until there is none: for one population that was cut, the probability of a
/// split that is left is at most α. Holm's p-values among the splits that are left say which are *established*; the others are *separate
/// at α alone*.
///
/// # Errors
/// [`SignificanceError`] for labels of another number of rows, infinite numbers, fewer than two clusters, settings out of range, more
/// memory than the budget, or a stop.
///
/// # Cost
/// O(S n d²) once for S halvings, and O(S (n d + n_c (K d + d²) + K d² + d³)) for each of about 4 K to 5 K tests of pairs, n_c rows of the
/// pair and in its corridor, in parallel; memory is
/// [`gap_test_bytes`]. Where a table has more columns than rows, n takes the place of d (rows are turned into the dimensions that they lie in), and
/// turning takes O(n² d). The same seed gives the same bits with any number of threads.
///
/// # Differences
/// This procedure is Partita's own: there is nothing that it could differ from but its prototype, which merged clusters that cannot be
/// tested and left out rows without a label. Here such clusters are listed, and such rows count in valleys, since a tool that leaves out
/// what lies between clusters would else make every gap itself. For the prototype a third cluster beside the valley was a way round it,
/// and a corridor was a ball about the line, which in many columns holds parts of every cluster; here it has the rows that are nearer to
/// the line than to the mean of any third cluster, which is still a convex set, so that H0 says the same of it; and rows of other clusters
/// show no way round. Third clusters are those that there are when a pair is tested; merges of others do not test it anew.
///
/// # References
/// - A. Prékopa: On logarithmic concave measures and functions. *Acta Sci. Math.* 34 (1973): why every straight corridor through a
///   log-concave density has one mode.
/// - C. Borell: Convex set functions in d-space. *Period. Math. Hungar.* 6 (1975): the same of multivariate t.
/// - J. A. Hartigan, P. M. Hartigan: The dip test of unimodality. *Ann. Statist.* 13 (1985): the test on a line that is compared with.
/// - S. Holm: A simple sequentially rejective multiple test procedure. *Scand. J. Statist.* 6 (1979).
pub fn gap_test(
    table: ArrayView2<'_, f64>,
    labels: &[Option<u32>],
    seed: Seed,
    settings: &GapTestSettings,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<GapTest, SignificanceError> {
    settings.check()?;
    let mut rows = Rows::new(table, labels, settings.halvings, seed)?;
    let tested = rows.members.iter().filter(|members| !members.is_empty());
    let clusters = tested.count();
    if clusters < 2 {
        return Err(SignificanceError::OneCluster { clusters });
    }
    let needed = gap_test_bytes(table.nrows(), table.ncols(), clusters, settings.halvings);
    let remedy = "test on principal components of the table, or with fewer halvings";
    budget.check("the test of clusters", needed, remedy)?;
    rows.turn();
    let groups = groups(&rows, settings);
    let mut merging = Merging::new(&rows, settings, seed, groups);
    merging.run(monitor)?;
    let splits = merging.splits();
    merging.join_splits(&splits);
    Ok(answer(&rows, merging, splits, settings))
}

/// The bytes that [`gap_test`] holds besides the table (a copy of one whose rows are not contiguous not counted): means and scatters of
/// 2 S halves of K clusters, some numbers a row, and on every thread the rows of a corridor and some d × d matrices.
pub fn gap_test_bytes(rows: usize, columns: usize, clusters: usize, halvings: u32) -> u64 {
    let [n, all, k] = [rows, columns, clusters].map(|size| size as u64);
    let d = all.min(n);
    let turning = if all > n {
        (all.saturating_mul(2))
            .saturating_add(n.saturating_mul(6))
            .saturating_mul(n)
            .saturating_mul(8)
    } else {
        0
    };
    let square = d.saturating_add(1).saturating_mul(d).saturating_mul(8);
    let halves = k.saturating_mul(2 * u64::from(halvings));
    // Rows of a corridor with those of the pair apart, for half of the rows, as vectors grow.
    let thread = square
        .saturating_mul(8)
        .saturating_add(n.saturating_mul(72));
    (halves.saturating_mul(square))
        .saturating_add(n.saturating_mul(40))
        .saturating_add(turning)
        .saturating_add(
            sums_under_way(usize::MAX)
                .div_ceil(2)
                .saturating_mul(thread),
        )
}

/// The clusters that are tested, with the moments of their halves.
fn groups(rows: &Rows<'_>, settings: &GapTestSettings) -> Vec<Option<Group>> {
    let enough = |members: &Vec<u32>| {
        !members.is_empty() && (settings.merge_small || members.len() >= settings.least_rows)
    };
    let tested: Vec<usize> = (0..rows.members.len())
        .filter(|&cluster| enough(&rows.members[cluster]))
        .collect();
    let halves = (0..settings.halvings).flat_map(|halving| [(halving, 0), (halving, 1)]);
    let work = tested.iter().flat_map(|&cluster| {
        halves
            .clone()
            .map(move |(halving, half)| (cluster, halving, half))
    });
    let moments = map_parallel(work, |(cluster, halving, half)| {
        let members = rows.members[cluster].iter().copied();
        let members: Vec<u32> = members
            .filter(|&row| rows.half(row, halving) == half)
            .collect();
        Moments::of(rows, &members)
    });
    let mut moments = moments.into_iter();
    let mut groups: Vec<Option<Group>> = rows.members.iter().map(|_| None).collect();
    for cluster in tested {
        let moments: Vec<Moments> = moments
            .by_ref()
            .take(2 * settings.halvings as usize)
            .collect();
        let mut all = moments[0].clone();
        all.add(&moments[1]);
        groups[cluster] = Some(Group {
            clusters: vec![cluster as u32],
            moments,
            rows: rows.members[cluster].len(),
            centre: all.mean,
        });
    }
    groups
}

/// The result by places in place of numbers of groups.
fn answer(
    rows: &Rows<'_>,
    merging: Merging<'_, '_>,
    splits: Vec<crate::tree::NumberedSplit>,
    settings: &GapTestSettings,
) -> GapTest {
    let group_of = &merging.group_of;
    // A group has the number of its first cluster.
    let mut merged: Vec<MergedCluster> = Vec::new();
    let mut place = vec![0; group_of.len()];
    for (cluster, &group) in group_of.iter().enumerate() {
        if group as usize == cluster {
            place[cluster] = merged.len();
            merged.push(MergedCluster {
                clusters: Vec::new(),
                rows: 0,
                verdict: Verdict::CannotTell,
            });
        }
        let merged = &mut merged[place[group as usize]];
        merged.clusters.push(cluster);
        merged.rows += rows.members[cluster].len();
    }
    let splits: Vec<_> = splits
        .into_iter()
        .map(|(_, mut split)| {
            [split.first, split.second] = [split.first, split.second].map(|group| place[group]);
            split
        })
        .collect();
    for (at, cluster) in merged.iter_mut().enumerate() {
        let own = splits
            .iter()
            .filter(|split| split.first == at || split.second == at);
        let weakest = own.map(|split| split.verdict).max();
        let untested = merging.groups[cluster.clusters[0]].is_none();
        cluster.verdict = weakest.unwrap_or(if untested {
            Verdict::CannotTell
        } else {
            Verdict::NoGapSeen
        });
    }
    let merged_of = |cluster: usize| place[group_of[cluster] as usize];
    let tested = |cluster: usize| {
        let own = &merged[merged_of(cluster)];
        TestedCluster {
            label: rows.labels[cluster],
            rows: rows.members[cluster].len(),
            merged: merged_of(cluster),
            verdict: if own.clusters.len() > 1 {
                Verdict::NoGapSeen
            } else {
                own.verdict
            },
        }
    };
    let label = |&cluster: &u32| {
        let of_row = (cluster as usize) < group_of.len();
        of_row.then(|| merged_of(cluster as usize) as u32)
    };
    GapTest {
        clusters: (0..group_of.len()).map(tested).collect(),
        labels: rows.cluster.iter().map(label).collect(),
        incomplete_rows: rows.incomplete,
        unlabelled_rows: rows.unlabelled,
        duplicate_rows: rows.duplicates,
        settings: settings.clone(),
        tests: merging.made,
        nodes: merging.nodes,
        merged,
        splits,
    }
}
