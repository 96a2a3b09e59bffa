//! One spelling each.

use super::Violation;
use super::source::{Source, line, name};

/// Rejected spellings and ours. A trailing `_` rejects every name that starts so.
const REJECTED: &[(&str, &str)] = &[
    ("num_", "the plain plural: objects, clusters, iterations"),
    ("nb_", "the plain plural: objects, clusters, iterations"),
    ("n_clusters", "clusters"),
    ("cluster_count", "clusters"),
    ("k_clusters", "clusters"),
    ("n_samples", "objects"),
    ("n_points", "objects"),
    ("n_objects", "objects"),
    ("n_features", "columns"),
    ("n_init", "restarts"),
    ("n_restarts", "restarts"),
    ("n_iter", "iterations"),
    ("n_iters", "iterations"),
    ("max_iter", "iterations"),
    ("max_iters", "iterations"),
    ("max_iterations", "iterations"),
    ("n_jobs", "threads"),
    ("random_state", "seed"),
    ("tol", "tolerance"),
    ("promises", "guarantees"),
    ("law", "divergence"),
    ("laws", "divergences"),
    ("calm", "active set"),
    ("walk", "follow, or run"),
    ("way_out", "remedy"),
    ("door", "entry"),
];

/// Names that other people's crates gave.
const THIRD_PARTY: &str = "num_args num_columns num_complex num_cpus num_elements num_microseconds num_row_groups num_rows \
    num_threads num_values current_num_threads num_traits set_num_rows RandomState";

/// Complaints about rejected spellings, in tests too.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    source.each_list(&mut |tokens| {
        for token in tokens {
            let Some(name) = name(token) else { continue };
            if let Some(ours) = rejected(&name) {
                let what = format!("`{name}` is not our word; say {ours}");
                violations.push(Violation::new(&source.file, line(token), what));
            }
        }
    });
    violations
}

/// Our word for a name that has a rejected one in it.
fn rejected(name: &str) -> Option<&'static str> {
    if THIRD_PARTY.split(' ').any(|theirs| theirs == name) {
        return None;
    }
    let name = format!("_{}", snake(name));
    let hit = |word: &str| match word.strip_suffix('_') {
        Some(start) => name.contains(&format!("_{start}_")),
        None => format!("{name}_").contains(&format!("_{word}_")),
    };
    REJECTED
        .iter()
        .find(|(word, _)| hit(word))
        .map(|(_, ours)| *ours)
}

/// `MaxIter` and `MAX_ITER` as `max_iter`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for c in name.chars() {
        if c.is_uppercase() && after_small {
            snake.push('_');
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_word_is_found_wherever_it_stands_in_a_name() {
        let found =
            "num_clusters max_iter with_max_iter MaxIter MAX_ITER n_clusters_max set_num_x tol";
        for name in found.split(' ') {
            assert!(rejected(name).is_some(), "{name}");
        }
        let fine = "clusters maximum total protocol num_cpus enum_like number num tolerance n_ij";
        for name in fine.split(' ') {
            assert_eq!(rejected(name), None, "{name}");
        }
    }
}
