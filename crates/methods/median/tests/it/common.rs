//! What the tests share: consensuses in memory and by blocks, and objectives written out from their definitions.

use partita_core::ndarray::Array2;
use partita_core::{
    Assigned, Clusters, Consensus, Ensemble, Objective, Outcome, Problem, RowOutcome, RowProblem,
    Sense, SettingMap, Silent, consense, consense_rows,
};

/// The problem of an ensemble into K clusters, with these settings.
pub(crate) fn problem<'a>(ensemble: &'a Ensemble, k: usize, settings: &[&str]) -> Problem<'a> {
    Problem::new(ensemble, Clusters::Exactly(k)).settings(SettingMap::parse(settings).unwrap())
}

pub(crate) fn found(method: &dyn Consensus, problem: &Problem<'_>) -> Outcome {
    consense(method, problem, &Silent).unwrap()
}

/// The same without canonical order.
pub(crate) fn found_as_given(method: &dyn Consensus, problem: &Problem<'_>) -> Outcome {
    method.fit_canonical(problem, &Silent).unwrap()
}

/// The consensus by blocks, and what all rows are assigned.
pub(crate) fn found_by_rows(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
) -> (RowOutcome, Assigned) {
    let mut problem = problem.clone();
    problem.by_blocks = true;
    let mut all = Assigned::default();
    let found = consense_rows(method, &problem, &Silent, &mut |_, block| {
        all.labels.extend(block.labels);
        if let Some(soft) = block.soft {
            all.soft.get_or_insert_default().extend(soft);
        }
        Ok(())
    });
    (found.unwrap(), all)
}

pub(crate) fn value(outcome: &Outcome) -> f64 {
    outcome.objective.as_ref().unwrap().value
}

/// The partition, numbered by first appearance.
pub(crate) fn labels(outcome: &Outcome) -> Vec<u32> {
    outcome.partition.by_appearance().labels().to_vec()
}

/// Asserts that an objective never gets worse from one iteration to the next, and ends where it says.
#[track_caller]
pub(crate) fn assert_monotone(objective: &Objective) {
    let sign = match objective.sense {
        Sense::Minimise => 1.0,
        Sense::Maximise => -1.0,
    };
    let trace = &objective.trace;
    let gets_better = |pair: &[f64]| sign * (pair[1] - pair[0]) <= 1e-9;
    assert!(trace.windows(2).all(gets_better), "{trace:?}");
    assert_eq!(trace.last(), Some(&objective.value));
}

/// Asserts that two numbers are the same but for rounding.
#[track_caller]
pub(crate) fn assert_close(a: f64, b: f64, what: &str) {
    let near = (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
    assert!(near, "{what}: {a} is not {b}");
}

/// Every partition of n objects into at most `most` clusters, numbered by first appearance.
pub(crate) fn partitions(n: usize, most: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |labels: Vec<u32>| {
            let next = labels.iter().max().map_or(0, |k| k + 1);
            (0..=next.min(most as u32 - 1))
                .map(move |k| labels.iter().copied().chain([k]).collect::<Vec<u32>>())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// What a label distribution is worth.
pub(crate) type Phi = fn(&[f64]) -> f64;

/// The utilities of KCC by name.
pub(crate) const UTILITIES: [(&str, Phi); 4] = [
    ("c", |m| m.iter().map(|x| x * x).sum()),
    ("h", |m| {
        let present = m.iter().filter(|x| **x > 0.0);
        present.map(|x| x * x.ln()).sum()
    }),
    ("cos", |m| m.iter().map(|x| x * x).sum::<f64>().sqrt()),
    ("lp", |m| m.iter().map(|x| x.powi(5)).sum::<f64>().powf(0.2)),
];

/// Base clusterings as tables of shares, with weights: objectives by their definitions.
pub(crate) struct Tables {
    pub(crate) shares: Vec<Array2<f64>>,
    pub(crate) bases: Vec<f64>,
    pub(crate) objects: Vec<f64>,
}

/// What a partition is worth for one base clustering.
struct Worth {
    /// Σ_k n_ku / n_u φ(m_ku) − φ(p_u).
    gain: f64,
    /// φ(p_u).
    own: f64,
    /// n_u / n.
    known: f64,
}

impl Tables {
    /// The tables of an ensemble, all weights 1.
    pub(crate) fn of(ensemble: &Ensemble) -> Self {
        let bases = ensemble.bases().len();
        let table = |u| ensemble.base_shares(u).rows().to_owned();
        Self {
            shares: (0..bases).map(table).collect(),
            bases: vec![1.0; bases],
            objects: vec![1.0; ensemble.objects()],
        }
    }

    /// The mean shares of base clustering u inside each cluster, and the weight of the objects that it knows there.
    fn means(&self, u: usize, labels: &[u32]) -> Vec<(Vec<f64>, f64)> {
        let table = &self.shares[u];
        let clusters = 1 + labels.iter().copied().max().unwrap() as usize;
        let mut means = vec![(vec![0.0; table.ncols()], 0.0); clusters];
        for ((row, &label), weight) in table.outer_iter().zip(labels).zip(&self.objects) {
            if row.sum() > 0.0 {
                let (sums, size) = &mut means[label as usize];
                *size += weight;
                sums.iter_mut().zip(row).for_each(|(s, x)| *s += weight * x);
            }
        }
        for (sums, size) in &mut means {
            sums.iter_mut().for_each(|sum| *sum /= size.max(1e-300));
        }
        means
    }

    /// Σ_i w_i Σ_u ω_u ‖z_iu − m_ku‖² over the base clusterings that know an object.
    pub(crate) fn squares(&self, labels: &[u32]) -> f64 {
        let mut sum = 0.0;
        for (u, table) in self.shares.iter().enumerate() {
            let means = self.means(u, labels);
            for ((row, &label), weight) in table.outer_iter().zip(labels).zip(&self.objects) {
                let mean = &means[label as usize].0;
                if row.sum() > 0.0 {
                    let square = |(z, m): (&f64, &f64)| (z - m) * (z - m);
                    let square: f64 = row.iter().zip(mean).map(square).sum();
                    sum += self.bases[u] * weight * square;
                }
            }
        }
        sum
    }

    fn worth(&self, u: usize, labels: &[u32], phi: Phi) -> Worth {
        let all = &self.means(u, &vec![0; labels.len()])[0];
        let own = phi(&all.0);
        let inside = self.means(u, labels);
        let worth = |(mean, size): &(Vec<f64>, f64)| size / all.1 * phi(mean);
        Worth {
            gain: inside.iter().map(worth).sum::<f64>() - own,
            own,
            known: all.1 / self.objects.iter().sum::<f64>(),
        }
    }

    /// Category utility, in which every base clustering counts the same.
    pub(crate) fn category_utility(&self, labels: &[u32]) -> f64 {
        let gain = |u: usize| self.bases[u] * self.worth(u, labels, UTILITIES[0].1).gain;
        (0..self.shares.len()).map(gain).sum()
    }

    /// Σ_u ω_u (n_u / n) U_u, each divided by what the base clustering is worth itself where they are normalised.
    pub(crate) fn utility(&self, labels: &[u32], phi: Phi, normalised: bool) -> f64 {
        let gain = |u: usize| {
            let Worth { gain, own, known } = self.worth(u, labels, phi);
            let scale = if normalised && own.abs() > 1e-12 {
                own.abs()
            } else {
                1.0
            };
            self.bases[u] * known * gain / scale
        };
        (0..self.shares.len()).map(gain).sum()
    }
}
