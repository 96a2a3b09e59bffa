//! A consensus in one line, for the terminal: sizes of clusters, how the method ended, agreement with the truth.

use partita::extend::Stopped;

use crate::output::record::MethodRecord;

/// So many sizes are spelt out.
const SIZES: usize = 8;

impl MethodRecord {
    /// Such as `lwgp: 3 clusters (59, 71, 48 objects); converged after 12 iterations; mean agreement 0.93; ARI 0.897`.
    pub fn one_line(&self) -> String {
        let mut parts = vec![
            format!("{}: {}", self.method, self.clusters_and_sizes()),
            self.ending(),
        ];
        parts.extend(
            self.agreement
                .map(|mean| format!("mean agreement {mean:.2}")),
        );
        if self.missing_labels > 0 {
            parts.push(format!(
                "{} of {} labels missing",
                self.missing_labels,
                self.n * self.base_clusterings
            ));
        }
        parts.extend(
            self.scores
                .as_ref()
                .map(|scores| format!("ARI {:.3} against the truth", scores.ari)),
        );
        parts.join("; ")
    }

    fn clusters_and_sizes(&self) -> String {
        let sizes: Vec<String> = self
            .sizes
            .iter()
            .filter(|size| **size > 0)
            .map(ToString::to_string)
            .collect();
        let more = sizes.len().saturating_sub(SIZES);
        let shown = sizes[..sizes.len() - more].join(", ");
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let plural = if self.clusters == 1 { "" } else { "s" };
        format!("{} cluster{plural} ({shown}{more} objects)", self.clusters)
    }

    fn ending(&self) -> String {
        let plural = if self.iterations == 1 { "" } else { "s" };
        let iterations = format!("{} iteration{plural}", self.iterations);
        match self.stopped {
            Stopped::Exact => "exact".to_owned(),
            Stopped::Converged => format!("converged after {iterations}"),
            Stopped::IterationLimit => {
                format!("NOT converged: stopped at the limit of {iterations}")
            }
            other => format!("{other} after {iterations}"),
        }
    }
}
