//! Measured values by cell (data set, setting, method, seed, measure) and their statistics.

use std::collections::BTreeMap;

use crate::Row;

type Key = (String, String, String, u64, String);

/// Six digits: what the pages can show, and what two machines agree on.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// All values of a study, sorted by data set, setting, method, seed and measure. Values have six digits.
#[derive(Clone, Debug, Default)]
pub struct Results {
    values: BTreeMap<Key, f64>,
    /// CPU seconds that all units took.
    pub cost: f64,
}

/// One cell over its seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stat {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; 0 of a single value.
    pub sd: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Values.
    pub count: usize,
}

impl Stat {
    /// The statistics of some values; none of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        let sd = if count > 1 {
            (squares / (count - 1) as f64).sqrt()
        } else {
            0.0
        };
        let min = f64::INFINITY;
        let max = f64::NEG_INFINITY;
        let (min, max) = values.iter().fold((min, max), |(min, max), &value| {
            (min.min(value), max.max(value))
        });
        (count > 0).then_some(Self {
            mean,
            sd,
            min,
            max,
            count,
        })
    }
}

impl Results {
    pub(crate) fn insert(&mut self, row: Row) {
        self.values.insert(
            (row.data, row.setting, row.method, row.seed, row.measure),
            rounded(row.value),
        );
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        self.values
            .iter()
            .map(|((data, setting, method, seed, measure), &value)| Row {
                data: data.clone(),
                setting: setting.clone(),
                method: method.clone(),
                seed: *seed,
                measure: measure.clone(),
                value,
            })
    }

    /// Whether there is any value of a method.
    pub(crate) fn has(&self, data: &str, setting: &str, method: &str, seed: u64) -> bool {
        let from = (
            data.to_owned(),
            setting.to_owned(),
            method.to_owned(),
            seed,
            String::new(),
        );
        self.values
            .range(from..)
            .next()
            .is_some_and(|((d, s, m, i, _), _)| {
                (d.as_str(), s.as_str(), m.as_str(), *i) == (data, setting, method, seed)
            })
    }

    /// The values of a cell, by seed.
    pub fn values(&self, data: &str, setting: &str, method: &str, measure: &str) -> Vec<f64> {
        self.cell(data, setting, method, measure)
            .map(|(_, value)| value)
            .collect()
    }

    /// Seeds and values of a cell.
    pub fn cell(
        &self,
        data: &str,
        setting: &str,
        method: &str,
        measure: &str,
    ) -> impl Iterator<Item = (u64, f64)> {
        let from = (
            data.to_owned(),
            setting.to_owned(),
            method.to_owned(),
            0,
            String::new(),
        );
        let here =
            |key: &Key| (key.0.as_str(), key.1.as_str(), key.2.as_str()) == (data, setting, method);
        let cell = self
            .values
            .range(from..)
            .take_while(move |(key, _)| here(key));
        cell.filter(move |(key, _)| key.4 == measure)
            .map(|(key, &value)| (key.3, value))
    }

    /// One value.
    pub fn value(
        &self,
        data: &str,
        setting: &str,
        method: &str,
        seed: u64,
        measure: &str,
    ) -> Option<f64> {
        let [data, setting, method, measure] =
            [data, setting, method, measure].map(ToOwned::to_owned);
        self.values
            .get(&(data, setting, method, seed, measure))
            .copied()
    }

    /// A cell over its seeds.
    pub fn stat(&self, data: &str, setting: &str, method: &str, measure: &str) -> Option<Stat> {
        Stat::of(&self.values(data, setting, method, measure))
    }

    /// The mean of a cell over its seeds.
    pub fn mean(&self, data: &str, setting: &str, method: &str, measure: &str) -> Option<f64> {
        Some(self.stat(data, setting, method, measure)?.mean)
    }

    /// The different data sets, settings and methods, sorted.
    pub fn names(&self) -> [Vec<String>; 3] {
        let names = |of: fn(&Key) -> &String| {
            let mut names: Vec<String> = self.values.keys().map(of).cloned().collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        [
            names(|key| &key.0),
            names(|key| &key.1),
            names(|key| &key.2),
        ]
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn a_cell_is_found_by_its_names() {
        let mut results = Results::default();
        for (seed, value) in [(0, 0.5), (1, 0.25), (11, 0.123_456_789)] {
            let unit = Unit::new("iris", "pcc-1", seed, ["mm"]);
            results.insert(unit.row("mm", "h", value));
        }
        assert_eq!(
            results.values("iris", "pcc-1", "mm", "h"),
            [0.5, 0.25, 0.123_457]
        );
        assert!(results.values("iris", "pcc-1", "m", "h").is_empty());
        assert!(results.has("iris", "pcc-1", "mm", 11) && !results.has("iris", "pcc-1", "mm", 2));
        let stat = Stat::of(&[1.0, 3.0]).unwrap();
        assert_eq!(
            (stat.mean, stat.sd, stat.min, stat.max),
            (2.0, 2.0_f64.sqrt(), 1.0, 3.0)
        );
        assert_eq!(Stat::of(&[]), None);
    }
}
