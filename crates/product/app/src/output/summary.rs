//! The summary of a run as text: methods side by side, and their scores against the true labels.

use partita::extend::option;
use partita::metrics::Scores;

use crate::analysis::choice::choice_table;
use crate::experiment::description::Input;
use crate::output::record::{MethodRecord, RunRecord};
use crate::text_table::TextTable;
use crate::version::VERSION;

/// Reads one number of many.
type Score = fn(&Scores) -> f64;

impl RunRecord {
    /// The tables that a person reads first.
    pub fn summary(&self) -> String {
        let mut methods = TextTable::new([
            "method",
            "clusters",
            "anmi",
            "agreement",
            "iterations",
            "stopped",
            "kkt gap",
            "seconds",
        ]);
        self.methods
            .iter()
            .for_each(|method| methods.row(method.cells()));
        let mut text = format!(
            "{}\n\n{}{}{}",
            self.heading(),
            self.choice_text(),
            methods.render(),
            self.warnings()
        );
        let truth = self.methods.iter().any(|method| method.scores.is_some());
        if truth || !self.base_scores.is_empty() {
            text = format!("{text}\n{}", self.score_table().render());
        }
        let place = self.experiment.outputs.folder.as_ref();
        let place = place.map_or_else(String::new, |folder| {
            format!("; results are in {}", folder.display())
        });
        format!("{text}\npartita {VERSION}{place}\n")
    }

    /// What to know before trusting the results, line by line; empty where there is nothing.
    fn warnings(&self) -> String {
        let of = |method: &MethodRecord| {
            let line = |warning: &String| format!("warning: {}: {warning}\n", method.method);
            method.warnings.iter().map(line).collect::<String>()
        };
        let chosen = self.choice.iter().flat_map(|choice| &choice.warnings);
        let lines: String = chosen
            .map(|warning| format!("warning: number of clusters: {warning}\n"))
            .collect();
        let lines = self
            .methods
            .iter()
            .map(of)
            .fold(lines, |lines, more| lines + &more);
        if lines.is_empty() {
            lines
        } else {
            format!("\n{lines}")
        }
    }

    /// How the number of clusters was chosen, what is true of it first; empty where none was.
    pub fn choice_text(&self) -> String {
        let Some(choice) = &self.choice else {
            return self
                .auto
                .as_ref()
                .map_or_else(String::new, |auto| format!("{}\n\n", auto.reason));
        };
        let reason = match choice.reason.strip_prefix("1 cluster: ") {
            Some(why) => format!("no clusters: {why}"),
            None => choice.reason.clone(),
        };
        format!("{reason}\n\n{}\n", choice_table(choice).render())
    }

    fn heading(&self) -> String {
        let bases = self
            .methods
            .first()
            .map_or(0, |method| method.base_clusterings);
        let (source, seed) = (self.experiment.source().display(), self.experiment.seed);
        let Input::Table { recipe, .. } = &self.experiment.input else {
            return format!(
                "{source}: {bases} base clusterings ({})",
                option("seed").called("random-state").to(seed)
            );
        };
        let recipe = self.auto.as_ref().map_or(recipe, |auto| &auto.recipe);
        let base = recipe
            .base
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",");
        let clusters = if recipe.asks_for_clusters() {
            option("base-k").to(&recipe.base_k)
        } else {
            option("resolution").to(recipe.resolution)
        };
        format!(
            "{source}: {bases} base clusterings in {:.2} s ({} {clusters} {} {} {})",
            self.generate.unwrap_or_default().seconds,
            option("base").called("recipe").to(base),
            option("subsample").to(recipe.subsample),
            option("scale").to(recipe.scale),
            option("seed").called("random-state").to(seed),
        )
    }

    /// The base clusterings' scores (mean, and the best of each) above those of the methods.
    fn score_table(&self) -> TextTable {
        let columns: [(&str, Score); 6] = [
            ("h", |s| s.h),
            ("ari", |s| s.ari),
            ("ami", |s| s.ami),
            ("nmi max", |s| s.nmi.max),
            ("purity", |s| s.purity),
            ("f1 pairwise", |s| s.f1.pairwise),
        ];
        let mut table =
            TextTable::new(std::iter::once("scores").chain(columns.iter().map(|(name, _)| *name)));
        let mut row = |name: &str, value: &dyn Fn(Score) -> f64| {
            let cells = columns.iter().map(|(_, of)| format!("{:.4}", value(*of)));
            table.row(std::iter::once(name.to_owned()).chain(cells));
        };
        let base = &self.base_scores;
        if !base.is_empty() {
            row("base clusterings, mean", &|of| {
                base.iter().map(of).sum::<f64>() / base.len() as f64
            });
            row("base clusterings, best", &|of| {
                base.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
            });
        }
        for method in &self.methods {
            if let Some(scores) = &method.scores {
                row(&method.method, &|of| of(scores));
            }
        }
        table
    }
}

impl MethodRecord {
    /// Method, clusters, mean NMI with the base clusterings, mean agreement, iterations, why it stopped, KKT gap and seconds.
    fn cells(&self) -> [String; 8] {
        let agreement = self
            .agreement
            .map_or_else(|| "–".into(), |agreement| format!("{agreement:.4}"));
        let gap = self
            .kkt_gap
            .map_or_else(|| "–".into(), |gap| format!("{gap:.1e}"));
        let anmi = self
            .anmi
            .map_or_else(|| "–".into(), |anmi| format!("{anmi:.4}"));
        let (iterations, seconds) = (self.iterations.to_string(), format!("{:.2}", self.seconds));
        [
            self.method.clone(),
            self.clusters.to_string(),
            anmi,
            agreement,
            iterations,
            self.stopped.to_string(),
            gap,
            seconds,
        ]
    }
}
