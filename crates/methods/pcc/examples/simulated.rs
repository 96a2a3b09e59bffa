//! The simulated data of the PCC paper, section 7, with three ranges of means.
//!
//! `cargo run --release -p partita-pcc --example simulated` draws 10 data sets for each range: 4 Gaussians of unit variance
//! with 200 objects each, 1000 hard partitions drawn from the true probabilities, K = 8 at default settings. It prints the
//! mean Jensen–Shannon divergence from the truth (bits; the paper: 0.0012 for both divergences, means not given), its
//! largest value, and in how many runs exactly four clusters are the most probable one of some object.
#![expect(clippy::print_stdout, reason = "an example prints what it measures")]

#[path = "../tests/it/simulated_data/mod.rs"]
mod simulated_data;

use partita_core::ndarray::Axis;
use partita_core::{Clusters, Consensus, Problem, Seed, Silent, consense};
use partita_metrics::jensen_shannon;
use partita_pcc::{PCC_KL, PCC_L2};

fn main() {
    println!(
        "means        method  mean J    most J    four live  probability outside the four largest"
    );
    for range @ (least, most) in [(1.0, 5.0), (0.5, 3.0), (0.0, 2.0)] {
        for (name, method) in [("kl", &PCC_KL as &dyn Consensus), ("l2", &PCC_L2)] {
            let (mut all, mut four, mut outside) = (Vec::new(), 0, 0.0f64);
            for seed in (0..10).map(Seed::new) {
                let truth = simulated_data::truth(200, range, seed.child(0));
                let ensemble = simulated_data::ensemble(&truth, 1000, seed.child(1));
                let mut problem = Problem::new(&ensemble, Clusters::Exactly(8));
                problem.seed = seed.child(2);
                let outcome =
                    consense(method, &problem, &Silent).expect("a consensus of complete labels");
                let soft = outcome.soft.expect("PCC is soft");
                four += usize::from(outcome.partition.live_clusters() == 4);
                let sizes = soft.rows().sum_axis(Axis(0));
                let mut sizes = sizes.to_vec();
                sizes.sort_by(|a, b| b.total_cmp(a));
                outside = outside.max(sizes[4..].iter().sum::<f64>() / soft.objects() as f64);
                all.push(jensen_shannon(&soft, &truth).expect("the same objects"));
            }
            let mean = all.iter().sum::<f64>() / 10.0;
            let worst = all.iter().copied().fold(0.0, f64::max);
            println!(
                "U({least}, {most})  {name:6}  {mean:.6}  {worst:.6}  {four:3} of 10  at most {outside:.5}"
            );
        }
    }
}
