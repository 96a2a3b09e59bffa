//! Names of clusters that are optimised with the classifiers.

use partita_conformance::draw;
use partita_core::{Seed, Silent};
use partita_ssce::{Solver, SsceSettings, ssce_p};

#[test]
fn the_objective_is_never_above_that_of_the_reference_s_names() {
    let mut lower = 0;
    for seed in 0..15 {
        let ensemble = draw(Seed::new(seed), 0.2).ensemble;
        for solver in [Solver::Alternating, Solver::Joint] {
            let mut settings = SsceSettings::default();
            settings.gamma = Some(1.0);
            settings.solver = solver;
            let [fixed, joint] = [false, true].map(|joint_names| {
                settings.joint_names = joint_names;
                ssce_p(&ensemble, 3, Seed::new(1), &settings, &Silent).unwrap()
            });
            let renamed = joint.details.renamed;
            let [before, after] = [fixed, joint].map(|fit| fit.objective.unwrap().value);
            assert!(after <= before, "{seed}: {after} above {before}");
            assert_eq!(renamed > 0, after < before, "{seed}: {renamed}");
            lower += u32::from(after < before);
        }
    }
    assert!(lower >= 5, "{lower} of 30");
}
