//! The clusters of every number that was tried, in common colours: what the figures over K draw.

use partita_core::Partition;
use partita_metrics::Contingency;

use crate::curves::ClusterCurves;

/// Numbers of clusters at most, and clusters of one of them.
const NUMBERS: usize = 14;
const CLUSTERS: usize = 40;

/// Partitions of the same objects with more and more clusters.
pub(crate) struct Tracks<'a> {
    pub(crate) partitions: Vec<&'a Partition>,
    /// The result on these objects.
    pub(crate) result: Partition,
    /// Which objects these are, where they are not all.
    pub(crate) objects: Option<&'a [u32]>,
    /// From every partition to the next.
    pub(crate) tables: Vec<Contingency>,
    /// A colour for every cluster of every partition: that of the cluster of the result it has most of, else that of the cluster
    /// of the number before it came from, else a new one.
    pub(crate) colours: Vec<Vec<usize>>,
    /// Clusters of every partition from left to right: near those that their objects come from.
    pub(crate) order: Vec<Vec<usize>>,
    /// What was left out, in words.
    pub(crate) left_out: String,
}

impl<'a> Tracks<'a> {
    /// The partitions of a choice; none where fewer than two were kept.
    ///
    /// # Cost
    /// O(n) a partition.
    pub(crate) fn of(choice: &'a ClusterCurves, result: &Partition) -> Option<Self> {
        let fits = |partition: &&Partition| {
            partition.clusters() <= CLUSTERS && partition.live_clusters() > 0
        };
        let partitions: Vec<&Partition> = choice
            .partitions
            .iter()
            .filter(fits)
            .take(NUMBERS)
            .collect();
        if partitions.len() < 2 {
            return None;
        }
        let objects = choice.objects.as_deref();
        let of_some = |some: &[u32]| {
            some.iter()
                .map(|&object| result.labels()[object as usize])
                .collect()
        };
        let result = match objects {
            None => result.clone(),
            Some(some) => Partition::new(of_some(some), result.clusters()).ok()?,
        };
        let pairs = partitions
            .windows(2)
            .map(|pair| Contingency::new(pair[0], pair[1]).ok());
        let tables: Vec<Contingency> = pairs.collect::<Option<_>>()?;
        let (mut colours, mut order): (Vec<Vec<usize>>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let mut next = result.clusters();
        for (at, partition) in partitions.iter().enumerate() {
            let before = at
                .checked_sub(1)
                .map(|before| (&tables[before], colours[before].as_slice()));
            let with_result = Contingency::new(partition, &result).ok()?;
            let coloured = common(
                &with_result,
                before,
                (partition.clusters(), result.clusters()),
                &mut next,
            );
            let placed = before.map(|(table, _)| (table, order[at - 1].as_slice()));
            order.push(near_origins(partition, placed));
            colours.push(coloured);
        }
        let left = choice.partitions.len() - partitions.len();
        let left_out = match (left, objects) {
            (0, None) => String::new(),
            (0, Some(some)) => format!("Of {} objects that were looked at.", some.len()),
            (left, _) => format!("{left} numbers of clusters are left out."),
        };
        Some(Self {
            partitions,
            result,
            objects,
            tables,
            colours,
            order,
            left_out,
        })
    }

    /// The object at a place of the partitions.
    pub(crate) fn object(&self, place: usize) -> usize {
        self.objects.map_or(place, |some| some[place] as usize)
    }

    /// Clusters that have objects, of every partition.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.partitions
            .iter()
            .map(|partition| partition.live_clusters())
            .collect()
    }
}

/// The colour of every cluster: largest overlaps choose first, with the result and then with the partition before.
fn common(
    with_result: &Contingency,
    before: Option<(&Contingency, &[usize])>,
    (clusters, known): (usize, usize),
    next: &mut usize,
) -> Vec<usize> {
    let mut cells: Vec<(usize, usize, u64)> = with_result.cells().collect();
    cells.sort_by(|a, b| b.2.cmp(&a.2).then(a.cmp(b)));
    let mut others: Vec<(usize, usize, u64)> = Vec::new();
    if let Some((table, colours)) = before {
        others.extend(
            table
                .cells()
                .map(|(a, b, objects)| (b, colours[a], objects))
                .filter(|cell| cell.1 >= known),
        );
        others.sort_by(|a, b| b.2.cmp(&a.2).then(a.cmp(b)));
    }
    let mut found: Vec<Option<usize>> = vec![None; clusters];
    for (cluster, colour, _) in cells.into_iter().chain(others) {
        if found[cluster].is_none() && !found.contains(&Some(colour)) {
            found[cluster] = Some(colour);
        }
    }
    let mut new = || {
        *next += 1;
        *next - 1
    };
    found
        .into_iter()
        .map(|colour| colour.unwrap_or_else(&mut new))
        .collect()
}

/// Live clusters, those first whose objects come from the first clusters of the partition before.
fn near_origins(partition: &Partition, before: Option<(&Contingency, &[usize])>) -> Vec<usize> {
    let sizes = partition.sizes();
    let mut pull: Vec<f64> = (0..sizes.len()).map(|cluster| cluster as f64).collect();
    if let Some((table, order)) = before {
        pull.fill(0.0);
        for (a, b, objects) in table.cells() {
            let place = order.iter().position(|&cluster| cluster == a).unwrap_or(0) as f64;
            pull[b] += place * objects as f64 / sizes[b].max(1) as f64;
        }
    }
    let mut order: Vec<usize> = (0..sizes.len())
        .filter(|&cluster| sizes[cluster] > 0)
        .collect();
    order.sort_by(|&a, &b| pull[a].total_cmp(&pull[b]).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(labels: &[u32]) -> Partition {
        Partition::new(labels.to_vec(), *labels.iter().max().unwrap() as usize + 1).unwrap()
    }

    #[test]
    fn colours_stay_with_clusters_and_never_meet_in_one_row() {
        let two = partition(&[0, 0, 0, 0, 1, 1, 1, 1]);
        let result = partition(&[1, 1, 2, 2, 0, 0, 0, 0]);
        let five = partition(&[0, 0, 1, 1, 2, 3, 4, 4]);
        let choice = ClusterCurves {
            partitions: vec![two, result.clone(), five],
            ..ClusterCurves::default()
        };
        let tracks = Tracks::of(&choice, &result).unwrap();
        assert_eq!(tracks.colours[1], [0, 1, 2], "the result keeps its own");
        assert_eq!(
            tracks.colours[0][1], 0,
            "the half of the result's cluster 0"
        );
        let mut last = tracks.colours[2].clone();
        assert_eq!((last[0], last[1], last[4]), (1, 2, 0));
        last.sort_unstable();
        assert_eq!(last, [0, 1, 2, 3, 4]);
        assert_eq!(
            tracks.order[1],
            [1, 2, 0],
            "near the clusters they come from"
        );
    }

    #[test]
    fn a_sample_is_compared_with_the_result_on_the_sample() {
        let result = partition(&[0, 0, 1, 1, 1, 1]);
        let some = vec![partition(&[0, 1, 1]), partition(&[0, 1, 2])];
        let choice = ClusterCurves {
            partitions: some,
            objects: Some(vec![1, 2, 5]),
            ..ClusterCurves::default()
        };
        let tracks = Tracks::of(&choice, &result).unwrap();
        assert_eq!(
            (tracks.colours[0].as_slice(), tracks.result.labels()),
            (&[0, 1][..], &[0, 1, 1][..])
        );
        assert_eq!(tracks.left_out, "Of 3 objects that were looked at.");
    }
}
