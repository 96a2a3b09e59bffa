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
        let fitting = choice.partitions.iter().filter(fits);
        let partitions: Vec<&Partition> = fitting.take(NUMBERS).collect();
        if partitions.len() < 2 {
            return None;
        }
        let objects = choice.objects.as_deref();
        let mut result = result.clone();
        if let Some(some) = objects {
            let labels = some.iter().map(|&object| result.labels()[object as usize]);
            result = Partition::new(labels.collect(), result.clusters()).ok()?;
        }
        let mut tables: Vec<Contingency> = Vec::new();
        let mut colours: Vec<Vec<usize>> = Vec::new();
        let mut order: Vec<Vec<usize>> = Vec::new();
        let mut next = result.clusters();
        for (at, partition) in partitions.iter().enumerate() {
            if at > 0 {
                tables.push(Contingency::new(partitions[at - 1], partition).ok()?);
            }
            let with_result = Contingency::new(partition, &result).ok()?;
            let before = tables.last();
            let of_before = before.zip(colours.last().map(Vec::as_slice));
            colours.push(common(&with_result, of_before, &mut next));
            let placed = before.zip(order.last().map(Vec::as_slice));
            order.push(near_origins(partition, placed));
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

    /// Places of the objects of a partition, cluster by cluster in their order, and within a cluster as the result has them.
    pub(crate) fn places(&self, at: usize) -> Vec<usize> {
        let (labels, result) = (self.partitions[at].labels(), self.result.labels());
        let mut rank = vec![0; self.partitions[at].clusters()];
        for (place, &cluster) in self.order[at].iter().enumerate() {
            rank[cluster] = place;
        }
        let mut places: Vec<usize> = (0..labels.len()).collect();
        places.sort_by_key(|&place| (rank[labels[place] as usize], result[place]));
        places
    }

    /// Clusters that have objects, of every partition.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        let partitions = self.partitions.iter();
        partitions
            .map(|partition| partition.live_clusters())
            .collect()
    }
}

/// The colour of every cluster: largest overlaps choose first, with the result and then with the partition before.
fn common(
    with_result: &Contingency,
    before: Option<(&Contingency, &[usize])>,
    next: &mut usize,
) -> Vec<usize> {
    let (clusters, known) = (
        with_result.row_sizes().len(),
        with_result.column_sizes().len(),
    );
    let mut cells: Vec<(usize, usize, u64)> = with_result.cells().collect();
    cells.sort_by(|a, b| b.2.cmp(&a.2).then(a.cmp(b)));
    if let Some((table, colours)) = before {
        let others = table
            .cells()
            .map(|(a, b, objects)| (b, colours[a], objects));
        let mut others: Vec<_> = others.filter(|cell| cell.1 >= known).collect();
        others.sort_by(|a, b| b.2.cmp(&a.2).then(a.cmp(b)));
        cells.extend(others);
    }
    let mut found: Vec<Option<usize>> = vec![None; clusters];
    for (cluster, colour, _) in cells {
        if found[cluster].is_none() && !found.contains(&Some(colour)) {
            found[cluster] = Some(colour);
        }
    }
    let mut new = || {
        *next += 1;
        *next - 1
    };
    let found = found.into_iter();
    found
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
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.retain(|&cluster| sizes[cluster] > 0);
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
        assert_eq!(tracks.colours[0][1], 0, "half of the result's cluster 0");
        let mut last = tracks.colours[2].clone();
        assert_eq!((last[0], last[1], last[4]), (1, 2, 0));
        last.sort_unstable();
        assert_eq!(last, [0, 1, 2, 3, 4]);
        assert_eq!(tracks.order[1], [1, 2, 0], "near their origins");
        assert_eq!(tracks.places(1), [0, 1, 2, 3, 4, 5, 6, 7]);
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
        assert_eq!(tracks.colours[0], [0, 1]);
        assert_eq!(tracks.result.labels(), [0, 1, 1]);
        assert_eq!(tracks.left_out, "Of 3 objects that were looked at.");
    }
}
