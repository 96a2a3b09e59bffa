//! What clusters are in each of a few base clusterings that were handed in: labels of tools, of resolutions, of raters.

use minijinja::value::Serde;
use minijinja::{Value, context};
use partita_core::{BaseClustering, Ensemble};
use partita_metrics::Agreement;

use crate::Report;
use crate::clusters::{Clusters, SHOWN};
use crate::text::cut;

/// Base clusterings that are named one by one at most.
pub(crate) const TOOLS: usize = 40;

/// Tools that the first screen names for a cluster, and that the table of objects names for an object, at most.
const FIRST: usize = 2;
const NAMED: usize = 3;

/// Characters of a tool's name of a cluster, and of its own, at most.
const NAME: usize = 40;

/// A tool's own cluster that most objects of a cluster are in.
#[derive(Clone, Copy)]
struct Largest {
    base_cluster: usize,
    /// Its share of the cluster's objects that the tool labels.
    share: f64,
}

/// A few base clusterings and how the clusters lie in them.
pub(crate) struct Tools<'a> {
    ensemble: &'a Ensemble,
    offsets: Vec<usize>,
    /// The numbers of the clusters shown.
    labels: Vec<usize>,
    /// For every cluster shown and tool; none where the tool labels no object of it.
    largest: Vec<Vec<Option<Largest>>>,
    /// Whose every base cluster is, as agreement counts it; of clusters by their places among those shown.
    agreement: Agreement,
}

impl<'a> Tools<'a> {
    /// None where base clusterings were made from a table, are many, or clusters are too many to be shown.
    pub(crate) fn of(
        report: &Report<'a>,
        ensemble: &'a Ensemble,
        clusters: &Clusters,
    ) -> Option<Self> {
        let offsets = ensemble.offsets();
        let few = ensemble.bases().len() <= TOOLS && clusters.live <= SHOWN;
        let made = report
            .record
            .get("recipe")
            .is_some_and(serde_json::Value::is_object);
        if !few || made || report.features.is_some() {
            return None;
        }
        let counts = clusters.counts.as_ref()?;
        let agreement = Agreement::of_counts(ensemble.bases(), &counts.concat(), None).ok()?;
        let largest = |counts: &Vec<u64>| {
            let bases = offsets.windows(2);
            bases.map(|u| Largest::of(&counts[u[0]..u[1]])).collect()
        };
        let labels: Vec<usize> = clusters.shown.iter().map(|of| of.label).collect();
        Some(Self {
            largest: counts.iter().map(largest).collect(),
            agreement,
            ensemble,
            offsets,
            labels,
        })
    }

    /// What tools call each cluster shown: the words that most of its objects have over all tools, if no other cluster has the same.
    pub(crate) fn names(&self) -> Vec<Option<String>> {
        let names: Vec<Option<&str>> = self.largest.iter().map(|row| self.name(row)).collect();
        let alone = |name: &&str| names.iter().flatten().filter(|one| *one == name).count() == 1;
        let names = names.iter().map(|name| name.filter(alone));
        names.map(|name| name.map(str::to_owned)).collect()
    }

    fn name(&self, row: &[Option<Largest>]) -> Option<&'a str> {
        let mut found: Vec<(&str, f64)> = Vec::new();
        for (base, largest) in self.ensemble.bases().iter().zip(row) {
            let Some(Largest {
                base_cluster,
                share,
            }) = *largest
            else {
                continue;
            };
            let value = base.values()[base_cluster].as_str();
            if !in_words(value) || share < 0.5 {
                continue;
            }
            match found.iter_mut().find(|(name, _)| *name == value) {
                Some((_, sum)) => *sum += share,
                None => found.push((value, share)),
            }
        }
        // Of equals the first tool's.
        let best = found.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(name, _)| *name)
    }

    /// The table of clusters and tools: names of the tools, a row for each cluster shown, and for the first screen the tools with
    /// words that agree most.
    pub(crate) fn table(&self) -> Value {
        let bases = self.ensemble.bases();
        let tools: Vec<String> = bases.iter().map(|base| cut(base.name(), NAME)).collect();
        let row = |at: usize| {
            let row = &self.largest[at];
            let cell = |(base, of): (&BaseClustering, &Option<Largest>)| {
                of.map(|of| context! { name => cut(&base.values()[of.base_cluster], NAME), share => of.share })
            };
            let cells: Vec<Option<Value>> = bases.iter().zip(row).map(cell).collect();
            context! { cells, first => Serde(self.first(at)) }
        };
        let rows: Vec<Value> = (0..self.labels.len()).map(row).collect();
        context! { tools => Serde(tools), rows }
    }

    /// The places of the tools that say most of a cluster: those whose label is mostly of this cluster before others, words before
    /// numbers, then by their share.
    fn first(&self, cluster: usize) -> Vec<usize> {
        let row = &self.largest[cluster];
        let rank = |at: &usize| {
            let (u, of) = (*at, row[*at]?);
            let own = self.of_tool(u, of.base_cluster) == Some(self.labels[cluster]);
            let words = in_words(&self.ensemble.bases()[u].values()[of.base_cluster]);
            Some((own, words, (of.share * 1e6) as u64))
        };
        let mut order: Vec<usize> = (0..row.len()).filter(|&at| row[at].is_some()).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(rank(at)), *at));
        order.truncate(FIRST);
        order
    }

    /// The cluster that has more than half of a tool's own.
    fn of_tool(&self, tool: usize, base_cluster: usize) -> Option<usize> {
        let found = self.agreement.majority(self.offsets[tool] + base_cluster);
        found.map(|at| self.labels[at])
    }

    /// The tools that do not agree with an object's label, with what they call it.
    pub(crate) fn disagreeing(&self, object: usize, label: usize) -> String {
        let bases = self.ensemble.bases();
        let other = |u: usize| {
            let j = self.ensemble.label(object, u)?;
            let (tool, name) = (cut(bases[u].name(), NAME), cut(&bases[u].values()[j], NAME));
            (self.of_tool(u, j) != Some(label)).then(|| format!("{tool}: {name}"))
        };
        let all: Vec<String> = (0..bases.len()).filter_map(other).collect();
        let mut text = all[..all.len().min(NAMED)].join("; ");
        if all.len() > NAMED {
            text += &format!(" and {} more", all.len() - NAMED);
        }
        text
    }
}

impl Largest {
    fn of(counts: &[u64]) -> Option<Self> {
        let all: u64 = counts.iter().sum();
        let by_count = |&j: &usize| (counts[j], std::cmp::Reverse(j));
        let base_cluster = (0..counts.len()).max_by_key(by_count)?;
        (all > 0).then(|| Self {
            base_cluster,
            share: counts[base_cluster] as f64 / all as f64,
        })
    }
}

/// Whether a tool calls a cluster by a word, not by a number such as 3 or `leiden_3`.
fn in_words(name: &str) -> bool {
    let mut parts = name.rsplit(|c: char| !c.is_alphanumeric());
    let last = parts.find(|part| !part.is_empty()).unwrap_or_default();
    let counted = last.chars().all(|c| c.is_ascii_digit());
    !counted && name.chars().filter(|c| c.is_alphabetic()).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Partition};
    use serde_json::json;

    #[test]
    fn clusters_have_the_names_of_tools_and_objects_the_tools_that_disagree() {
        let mut builder = EnsembleBuilder::new(6);
        for (name, labels) in [
            ("azimuth", ["T", "T", "T", "B", "B", "B"]),
            ("singler", ["cd4", "cd4", "bcell", "bcell", "bcell", "nk"]),
            ("leiden", ["0", "0", "0", "1", "1", "1"]),
            ("halves", ["x", "y", "y", "y", "y", "x"]),
        ] {
            builder.push(name, labels.map(Some)).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let partition = Partition::new(vec![0, 0, 0, 1, 1, 1], 2).unwrap();
        let mut report = Report::new("", json!({}), &partition, &[1.0; 6]);
        report.ensemble = Some(&ensemble);
        let clusters = Clusters::of(&report);
        let tools = Tools::of(&report, &ensemble, &clusters).unwrap();
        assert_eq!(
            tools.names(),
            [Some("cd4".to_owned()), Some("bcell".to_owned())]
        );
        assert_eq!(tools.disagreeing(2, 0), "singler: bcell; halves: y");
        // What is half in each of two clusters agrees with neither.
        assert_eq!(tools.disagreeing(0, 0), "halves: x");
        assert_eq!(tools.first(0), [1, 0]);
        let words = ["CD4 T", "Th17", "seurat 1", "leiden_3", "7", "B", ""].map(in_words);
        assert_eq!(words, [true, true, false, false, false, false, false]);
        let made = Report {
            record: json!({ "recipe": {} }),
            ..report.clone()
        };
        assert!(Tools::of(&made, &ensemble, &clusters).is_none());
    }
}
