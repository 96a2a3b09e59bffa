//! Soft base clusterings and weights of objects: what the conformance tests ask of the methods that take them as fractions, and that
//! what they find on small ensembles is the best of all partitions.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::{check_soft, check_with, draw_shares, ensemble_of_shares};
use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Clusters, Consensus, Ensemble, ObjectWeights, Problem, Seed, SettingMap, Silent,
    consense,
};
use partita_median::{
    ACV, IPVC, KC, KCC, MEDIAN_BINDER, MEDIAN_VI, NMFC, PLURALITY, QMI, RCV, SEC, URCV,
};

const METHODS: [&dyn Consensus; 10] = [
    &KC, &QMI, &IPVC, &PLURALITY, &NMFC, &RCV, &URCV, &ACV, &KCC, &SEC,
];

#[test]
fn soft_base_clusterings_are_part_of_what_is_optimised() {
    for method in METHODS {
        assert!(check_soft(method, &[]) > 1, "{}", method.info().name);
    }
}

#[test]
fn weights_of_objects_are_copies() {
    for method in METHODS
        .into_iter()
        .chain([&MEDIAN_VI as &dyn Consensus, &MEDIAN_BINDER])
    {
        assert!(check_with(method, &[], 1) > 50, "{}", method.info().name);
    }
}

/// Shares of eight objects, with weights.
struct Small {
    ensemble: Ensemble,
    tables: Vec<Array2<f64>>,
    objects: ObjectWeights,
    bases: BaseWeights,
}

fn small(seed: u64) -> Small {
    let drawn = draw_shares(Seed::new(seed));
    let rows: Vec<usize> = (0..8).collect();
    let tables: Vec<Array2<f64>> = drawn
        .tables
        .iter()
        .take(4)
        .map(|table| table.select(partita_core::ndarray::Axis(0), &rows))
        .collect();
    let named = tables
        .iter()
        .enumerate()
        .map(|(u, table)| (format!("u{u}"), table));
    Small {
        ensemble: ensemble_of_shares(named),
        objects: ObjectWeights::new(vec![2.0, 1.0, 0.5, 3.0, 1.0, 1.5, 1.0, 2.5]).unwrap(),
        bases: BaseWeights::new(vec![1.0, 2.0, 1.0, 3.0]).unwrap(),
        tables,
    }
}

impl Small {
    /// Weighted mean shares in a base clustering of the objects inside, and the weight of those that it knows.
    fn mean(&self, u: usize, inside: impl Fn(usize) -> bool) -> (Vec<f64>, f64) {
        let table = &self.tables[u];
        let known = (0..8).filter(|&i| inside(i) && table.row(i).sum() > 0.0);
        let weight = |i: usize| self.objects.as_slice()[i];
        let all: f64 = known.clone().map(weight).sum();
        let sum = |j: usize| {
            known
                .clone()
                .map(|i| weight(i) * table[[i, j]])
                .sum::<f64>()
        };
        (
            (0..table.ncols())
                .map(|j| if all > 0.0 { sum(j) / all } else { 0.0 })
                .collect(),
            all,
        )
    }

    /// Σ_u ω_u (n_u / n)^e [ Σ_k n_ku / n_u φ(m_ku) − φ(p_u) ].
    fn utility(&self, labels: &[u32], phi: &dyn Fn(&[f64]) -> f64, by_known: bool) -> f64 {
        let of_base = |u: usize| {
            let (own, known) = self.mean(u, |_| true);
            let inside = |k: u32| {
                let (shares, size) = self.mean(u, |i| labels[i] == k);
                if size > 0.0 {
                    size / known * phi(&shares)
                } else {
                    0.0
                }
            };
            let share = if by_known {
                known / self.objects.sum()
            } else {
                1.0
            };
            self.bases.as_slice()[u] * share * ((0..2).map(inside).sum::<f64>() - phi(&own))
        };
        (0..self.tables.len()).map(of_base).sum()
    }

    /// Σ_i w_i Σ_u ω_u ‖z_iu − p_ku‖².
    fn squares(&self, labels: &[u32]) -> f64 {
        let of = |(u, i): (usize, usize)| {
            let (mean, _) = self.mean(u, |j| labels[j] == labels[i]);
            let row = self.tables[u].row(i);
            let square: f64 = row.iter().zip(&mean).map(|(z, p)| (z - p) * (z - p)).sum();
            if row.sum() > 0.0 {
                self.bases.as_slice()[u] * self.objects.as_slice()[i] * square
            } else {
                0.0
            }
        };
        (0..self.tables.len())
            .flat_map(|u| (0..8).map(move |i| (u, i)))
            .map(of)
            .sum()
    }

    fn found(&self, method: &dyn Consensus, settings: &[&str]) -> f64 {
        let mut problem = Problem::new(&self.ensemble, Clusters::Exactly(2));
        problem.settings = SettingMap::parse(settings).unwrap();
        let problem = problem
            .base_weights(&self.bases)
            .object_weights(&self.objects);
        consense(method, &problem, &Silent)
            .unwrap()
            .objective
            .unwrap()
            .value
    }
}

/// All ways to share eight objects out between two clusters.
fn all() -> impl Iterator<Item = Vec<u32>> {
    (1..128u32).map(|code| (0..8).map(|i| (code >> i) & 1).collect())
}

#[test]
fn the_best_of_all_partitions_is_found_on_weighted_shares() {
    let square: &dyn Fn(&[f64]) -> f64 = &|m| m.iter().map(|x| x * x).sum();
    let entropy: &dyn Fn(&[f64]) -> f64 =
        &|m| m.iter().filter(|x| **x > 0.0).map(|x| x * x.ln()).sum();
    let length: &dyn Fn(&[f64]) -> f64 = &|m| m.iter().map(|x| x * x).sum::<f64>().sqrt();
    let fifth: &dyn Fn(&[f64]) -> f64 = &|m| m.iter().map(|x| x.powi(5)).sum::<f64>().powf(0.2);
    for seed in 0..6 {
        let small = small(seed);
        let most = |phi, by_known| {
            all()
                .map(|z| small.utility(&z, phi, by_known))
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let close = |name: &str, found: f64, best: f64| {
            assert!(
                (found - best).abs() < 1e-9 * best.abs().max(1.0),
                "{name}, seed {seed}: {found} is not {best}"
            );
        };
        let least = all()
            .map(|z| small.squares(&z))
            .fold(f64::INFINITY, f64::min);
        close("kc", small.found(&KC, &["restarts=50"]), least);
        close(
            "qmi",
            small.found(&QMI, &["restarts=50"]),
            most(square, false),
        );
        for (name, phi) in [
            ("c", square),
            ("h", entropy),
            ("cos", length),
            ("lp", fifth),
        ] {
            let utility = format!("utility={name}");
            close(
                name,
                small.found(&KCC, &[&utility, "restarts=50"]),
                most(phi, true),
            );
        }
    }
}
