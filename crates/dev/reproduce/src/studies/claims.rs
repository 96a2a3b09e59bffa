//! Claims of the papers in words, with a paired t-test: who is better, on how many sets, by how much.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{Grid, Results, Stat};

/// A method and the measure of it.
pub(super) type Measured<'a> = (&'a str, &'a str);

/// The mean of paired differences, and the two-sided chance of one so far from 0 by Student's t; none of fewer than two pairs.
pub(super) fn paired(differences: &[f64]) -> Option<(f64, f64)> {
    let stat = Stat::of(differences).filter(|stat| stat.count > 1)?;
    let error = stat.sd / (stat.count as f64).sqrt();
    if error == 0.0 {
        return Some((stat.mean, f64::from(u8::from(stat.mean == 0.0))));
    }
    let student = StudentsT::new(0.0, 1.0, stat.count as f64 - 1.0).ok()?;
    Some((stat.mean, 2.0 * student.cdf(-(stat.mean / error).abs())))
}

/// How many sets a method is significantly better (at 95 %, paired by ensemble) than each of the others, and its mean gain over each of them
/// as a share of theirs.
pub(super) fn against(
    results: &Results,
    (data, setting): (&[&str], &str),
    ours: Measured<'_>,
    others: &[Measured<'_>],
) -> String {
    let mut grid =
        Grid::new("against | sets | mean gain, % | better at 95 % | worse at 95 %".split(" | "));
    let mut best_of_all = 0;
    let mut sets = 0;
    for &set in data {
        let verdicts: Vec<i8> = others
            .iter()
            .filter_map(|&other| verdict(results, (set, setting), ours, other))
            .collect();
        sets += u32::from(!verdicts.is_empty());
        best_of_all += u32::from(!verdicts.is_empty() && verdicts.iter().all(|&better| better > 0));
    }
    for &other in others {
        let found = data.iter().filter_map(|&set| {
            let mean = |(method, measure)| results.mean(set, setting, method, measure);
            let gain = mean(ours)? / mean(other)? - 1.0;
            Some((gain, verdict(results, (set, setting), ours, other)?))
        });
        let found: Vec<(f64, i8)> = found.collect();
        let gain = found.iter().map(|(gain, _)| gain).sum::<f64>() / found.len() as f64;
        let count = |sign: i8| found.iter().filter(|(_, better)| *better == sign).count();
        grid.row([
            format!("`{}`", other.0),
            found.len().to_string(),
            format!("{:.1}", 100.0 * gain),
            count(1).to_string(),
            count(-1).to_string(),
        ]);
    }
    format!(
        "{}Better than all of them at 95 %: {best_of_all} of {sets} sets.\n\n",
        grid.finish()
    )
}

/// 1 where the first is significantly better over the ensembles that both have, −1 where it is worse, 0 else.
fn verdict(
    results: &Results,
    (data, setting): (&str, &str),
    ours: Measured<'_>,
    other: Measured<'_>,
) -> Option<i8> {
    let theirs = |seed| results.value(data, setting, other.0, seed, other.1);
    let pairs = results.cell(data, setting, ours.0, ours.1).into_iter();
    let differences: Vec<f64> = pairs
        .filter_map(|(seed, value)| Some(value - theirs(seed)?))
        .collect();
    let (mean, chance) = paired(&differences)?;
    Some(match chance < 0.05 {
        true if mean > 0.0 => 1,
        true => -1,
        false => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data: t = 4.0621 with 9 degrees of freedom, p = 0.002833 (as `t.test` of R has it).
    #[test]
    fn the_paired_test_is_that_of_student() {
        let differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let (mean, chance) = paired(&differences).unwrap();
        assert!(
            (mean - 1.58).abs() < 1e-12 && (chance - 0.002833).abs() < 1e-6,
            "{mean} {chance}"
        );
        assert_eq!(paired(&[1.0]), None);
        assert_eq!(paired(&[0.5, 0.5]), Some((0.5, 0.0)));
    }
}
