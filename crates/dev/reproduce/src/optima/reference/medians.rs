//! Medians of partitions: single objects move while that lowers the mean loss, from labels drawn at random.

use partita::extend::rand::RngExt;
use partita::extend::rand::rngs::StdRng;
use partita::extend::rand::seq::SliceRandom;

use super::LabelTable;

/// The mean variation of information to the base clusterings, bits.
pub(super) fn vi(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    lowest(
        table,
        clusters,
        |x| if x > 0.0 { x * x.log2() } else { 0.0 },
        |n| n,
        rng,
    )
}

/// The mean share of pairs of objects that one partition joins and the other separates.
pub(super) fn binder(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    lowest(table, clusters, |x| x * x, |n| n * n, rng)
}

/// Σ_u [Σ_j f(v_uj) + Σ_k f(b_uk) − 2 Σ_kj f(n_ukj)] / scale(n_u), over M.
fn lowest(
    table: &LabelTable,
    clusters: usize,
    f: impl Fn(f64) -> f64,
    scale: impl Fn(f64) -> f64,
    rng: &mut StdRng,
) -> f64 {
    let objects = table.rows.len();
    let mut labels: Vec<usize> = (0..objects)
        .map(|_| rng.random_range(0..clusters))
        .collect();
    let one_hot = |own: &usize| {
        (0..clusters)
            .map(|k| f64::from(u8::from(k == *own)))
            .collect::<Vec<f64>>()
    };
    let mut cells = table.counts(&labels.iter().map(one_hot).collect::<Vec<_>>(), 0.0);
    let all = table.counts(&vec![vec![1.0]; objects], 0.0).remove(0);
    let sizes: Vec<f64> = all.iter().map(|labels| labels.iter().sum()).collect();
    let mut order: Vec<usize> = (0..objects).collect();
    for _ in 0..100 {
        order.shuffle(rng);
        let mut moved = false;
        for &i in &order {
            table
                .labels(i)
                .for_each(|(u, j, _)| cells[labels[i]][u][j] -= 1.0);
            let cost = |cluster: &Vec<Vec<f64>>| {
                let term = |(u, j, _): (usize, usize, f64)| {
                    let (b, cell): (f64, f64) = (cluster[u].iter().sum(), cluster[u][j]);
                    (f(b + 1.0) - f(b) - 2.0 * (f(cell + 1.0) - f(cell))) / scale(sizes[u])
                };
                table.labels(i).map(term).sum::<f64>()
            };
            let costs: Vec<f64> = cells.iter().map(cost).collect();
            let best = (0..clusters).fold(labels[i], |best, k| {
                if costs[k] < costs[best] - 1e-12 {
                    k
                } else {
                    best
                }
            });
            moved |= best != labels[i];
            labels[i] = best;
            table
                .labels(i)
                .for_each(|(u, j, _)| cells[best][u][j] += 1.0);
        }
        if !moved {
            break;
        }
    }
    let of_base = |u: usize| {
        let own: f64 = all[u].iter().map(|count| f(*count)).sum();
        let cluster = |cells: &Vec<Vec<f64>>| {
            f(cells[u].iter().sum()) - 2.0 * cells[u].iter().map(|count| f(*count)).sum::<f64>()
        };
        (own + cells.iter().map(cluster).sum::<f64>()) / scale(sizes[u])
    };
    (0..sizes.len()).map(of_base).sum::<f64>() / sizes.len() as f64
}
