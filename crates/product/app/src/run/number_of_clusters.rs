//! The number of clusters of an experiment: as asked for, or chosen from its table or ensemble before methods run.

use std::ops::RangeInclusive;

use partita::extend::{Consensus, Problem, option};
use partita::generate::{Scale, TableView};
use partita::ndarray::Array2;
use partita::{Clusters, Ensemble, MemoryBudget, Seed};
use partita_select::{AutoChoice, Choice, ChooseSettings, EnsembleChoiceSettings, choose_recipe};

use crate::analysis::choice::SavedChoice;
use crate::analysis::choice::{choose_of_ensemble, choose_of_table};
use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;
use crate::experiment::description::Experiment;
use crate::experiment::description::Input;
use crate::experiment::file_names::CHOICE;
use crate::input::inputs::Inputs;
use crate::input::table::InputTable;
use crate::observer::Observer;
use crate::run::significance::scale_complete_rows;
use crate::stopwatch::{Spent, Stopwatch};
use crate::text_files::write_json;
use crate::version::VERSION;
use crate::{methods, seeds};

/// The method that looks for the number of clusters of an ensemble where the first does not cut a tree.
const CHOOSER: &str = "eac-average";

/// The number of clusters that methods are asked for, and how it was chosen if it was.
pub(crate) struct Number {
    pub(crate) clusters: Clusters,
    pub(crate) choice: Option<Choice>,
    pub(crate) spent: Option<Spent>,
    /// How base clusterings are made, where that was chosen.
    pub(crate) auto: Option<AutoChoice>,
    /// The table on which clusters are tested and merged, scaled, where that is asked for.
    pub(crate) tested: Option<Array2<f64>>,
}

impl Number {
    fn of(clusters: Clusters) -> Self {
        Self {
            clusters,
            choice: None,
            spent: None,
            auto: None,
            tested: None,
        }
    }
}

impl Experiment {
    /// The number of clusters that methods are asked for, chosen where it is open.
    pub(crate) fn number_of_clusters(
        &self,
        methods: &[&'static dyn Consensus],
        inputs: &Inputs<'_>,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Number, AppError> {
        if self.clusters == ClustersAsked::Significant {
            return self.parts(inputs, budget, observer);
        }
        if let (Some(table), ClustersAsked::Exactly(clusters)) = (&inputs.table, self.clusters)
            && self.auto
            && table.has_recipes()
            && (2..=table.view().dim().0 / 4).contains(&clusters)
        {
            return self.recipe_for(clusters, table, budget, observer);
        }
        if let Some(clusters) = self.fixed_clusters(methods, inputs) {
            return Ok(Number::of(Clusters::Exactly(clusters)));
        }
        let ClustersAsked::Chosen { first, last } = self.clusters else {
            return Ok(Number::of(self.clusters.clusters()));
        };
        let stopwatch = Stopwatch::start();
        let (choice, auto) = match (&self.input, &inputs.table, &inputs.ensemble) {
            (Input::Table { recipe, .. }, Some(table), _) => {
                let mut settings = ChooseSettings::default();
                settings.scale = recipe.scale.to_string();
                let found = choose_of_table(
                    table,
                    (first, last),
                    &settings,
                    Seed::new(self.seed),
                    budget,
                    self.source(),
                    observer,
                )?;
                (found.choice, found.auto.filter(|_| self.auto))
            }
            (_, _, Some(ensemble)) => {
                let range = ClustersAsked::range_of_labels(first, last);
                let choice =
                    self.choice_of_ensemble(methods[0], ensemble, inputs, range, observer)?;
                (choice, None)
            }
            _ => {
                return Err(AppError::request(
                    "there is neither a table nor an ensemble",
                ));
            }
        };
        if let Some(auto) = &auto {
            say_recipe(auto, observer);
        }
        choice
            .warnings
            .iter()
            .for_each(|warning| observer.warn(&format!("number of clusters: {warning}")));
        let clusters = Clusters::Exactly(choice.clusters);
        Ok(Number {
            clusters,
            choice: Some(choice),
            spent: Some(stopwatch.read()),
            auto,
            tested: None,
        })
    }

    /// The number of clusters that the first method's settings and the labels fix, where none was named.
    fn fixed_clusters(
        &self,
        methods: &[&'static dyn Consensus],
        inputs: &Inputs<'_>,
    ) -> Option<usize> {
        let (ensemble, choice) = (inputs.ensemble.as_ref()?, self.methods.first()?);
        let open = !matches!(self.clusters, ClustersAsked::Exactly(_));
        methods
            .first()?
            .fixed_clusters(&choice.settings, ensemble.bases())
            .filter(|_| open)
    }

    /// More clusters than there are, and the table on which they are tested.
    fn parts(
        &self,
        inputs: &Inputs<'_>,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Number, AppError> {
        let (Some(table), Some(features)) = (&inputs.table, inputs.features()) else {
            let reason = format!(
                "gaps between clusters are tested on a table of numbers; give one ({}), or a number of clusters",
                option("features").called("X")
            );
            return Err(AppError::request(reason));
        };
        if self.outputs.model.is_some() {
            return Err(AppError::request(
                "a model labels new objects by the clusters of a method, and these are merged afterwards; give a number of clusters",
            ));
        }
        let clusters = ClustersAsked::parts(inputs.objects());
        let mut number = if self.auto && table.has_recipes() {
            self.recipe_for(clusters, table, budget, observer)?
        } else {
            Number::of(Clusters::Exactly(clusters))
        };
        let how = match (&number.auto, &self.input) {
            (Some(auto), _) => auto.recipe.scale,
            (None, Input::Table { recipe, .. }) => recipe.scale,
            (None, Input::Ensemble { .. }) => Scale::Auto,
        };
        let mut values = features.values().to_owned();
        if let TableView::Gaps(_, gaps) = table.view() {
            for &(row, column) in gaps {
                values[[row as usize, column as usize]] = f64::NAN;
            }
        }
        scale_complete_rows(&mut values, how);
        number.tested = Some(values);
        Ok(number)
    }

    /// The recipe of a table for a number of clusters.
    fn recipe_for(
        &self,
        clusters: usize,
        table: &InputTable<'_>,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Number, AppError> {
        let stopwatch = Stopwatch::start();
        let how = match &self.input {
            Input::Table { recipe, .. } => recipe.scale,
            Input::Ensemble { .. } => Scale::Auto,
        };
        let monitor = observer.begin("choice of base clusterings");
        let auto = choose_recipe(
            table.view(),
            (clusters, Some(clusters)),
            how,
            Seed::new(self.seed),
            budget,
            &*monitor,
        )
        .map_err(|error| AppError::Select {
            input: self.source().into(),
            source: error,
        })?;
        drop(monitor);
        say_recipe(&auto, observer);
        Ok(Number {
            clusters: Clusters::Exactly(clusters),
            spent: Some(stopwatch.read()),
            auto: Some(auto),
            ..Number::of(Clusters::Exactly(clusters))
        })
    }

    /// The choice of an ensemble, by the first method where it cuts one tree for every number, else by average link.
    fn choice_of_ensemble(
        &self,
        first: &'static dyn Consensus,
        ensemble: &Ensemble,
        inputs: &Inputs<'_>,
        range: RangeInclusive<usize>,
        observer: &dyn Observer,
    ) -> Result<Choice, AppError> {
        let own = first.info().capabilities.cuts_tree;
        let method: &dyn Consensus = if own { first } else { methods::find(CHOOSER)? };
        let mut problem = Problem::new(ensemble, Clusters::Auto);
        (problem.seed, problem.budget) = (seeds::choice(Seed::new(self.seed)), self.budget());
        problem.features = inputs.features();
        if let Some(choice) = self.methods.first().filter(|_| own) {
            problem.settings = choice.settings.clone();
        }
        choose_of_ensemble(
            method,
            &problem,
            range,
            &EnsembleChoiceSettings::default(),
            self.source(),
            observer,
        )
    }

    /// The choice as `choose-k` saves it, beside the record.
    pub(crate) fn write_choice(&self, number: &Number) -> Result<(), AppError> {
        let (Some(folder), Some(choice)) = (&self.outputs.folder, &number.choice) else {
            return Ok(());
        };
        let saved = SavedChoice {
            choice: choice.clone(),
            file: self.source().to_owned(),
            seconds: number.spent.unwrap_or_default().seconds,
            version: VERSION.to_owned(),
            arguments: self.arguments.clone(),
        };
        write_json(&folder.join(CHOICE), &saved)
    }
}

fn say_recipe(auto: &AutoChoice, observer: &dyn Observer) {
    let scale = option("scale").to(auto.recipe.scale);
    observer.note(&format!("{} ({scale})", auto.reason));
}
