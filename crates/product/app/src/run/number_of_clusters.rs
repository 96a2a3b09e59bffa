//! The number of clusters of an experiment: as asked for, or chosen from its table or ensemble before methods run.

use std::ops::RangeInclusive;

use partita::extend::{Consensus, Problem, option};
use partita::generate::Scale;
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
        if let Some(table) = inputs
            .table
            .as_ref()
            .filter(|table| self.chooses_recipe(table))
        {
            return self.chosen_with_recipe(table, budget, observer);
        }
        if let Some(clusters) = self.fixed_clusters(methods, inputs) {
            return Ok(Number {
                clusters: Clusters::Exactly(clusters),
                choice: None,
                spent: None,
                auto: None,
            });
        }
        let ClustersAsked::Chosen { first, last } = self.clusters else {
            return Ok(Number {
                clusters: self.clusters.clusters(),
                choice: None,
                spent: None,
                auto: None,
            });
        };
        let stopwatch = Stopwatch::start();
        let range = ClustersAsked::range_of_labels(first, last);
        let choice = match (&self.input, &inputs.table, &inputs.ensemble) {
            (Input::Table { recipe, .. }, Some(table), _) => {
                let mut settings = ChooseSettings::default();
                settings.scale = recipe.scale.to_string();
                choose_of_table(
                    table,
                    range,
                    &settings,
                    Seed::new(self.seed),
                    budget,
                    self.source(),
                    observer,
                )?
            }
            (_, _, Some(ensemble)) => {
                self.choice_of_ensemble(methods[0], ensemble, inputs, range, observer)?
            }
            _ => {
                return Err(AppError::request(
                    "there is neither a table nor an ensemble",
                ));
            }
        };
        choice
            .warnings
            .iter()
            .for_each(|warning| observer.warn(&format!("number of clusters: {warning}")));
        let clusters = Clusters::Exactly(choice.clusters);
        Ok(Number {
            clusters,
            choice: Some(choice),
            spent: Some(stopwatch.read()),
            auto: None,
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

    /// Whether there is a recipe to choose: the table is in memory and has enough objects.
    fn chooses_recipe(&self, table: &InputTable<'_>) -> bool {
        const FEW: usize = 10;
        let fits = match self.clusters {
            ClustersAsked::Exactly(clusters) => {
                clusters > 1 && clusters <= table.view().dim().0 / 4
            }
            ClustersAsked::Chosen { .. } => true,
            ClustersAsked::Method => false,
        };
        self.auto
            && fits
            && matches!(table, InputTable::Dense(_) | InputTable::View(_))
            && table.view().dim().0 >= FEW
    }

    /// The recipe, and the number of clusters where it is open.
    fn chosen_with_recipe(
        &self,
        table: &InputTable<'_>,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Number, AppError> {
        let stopwatch = Stopwatch::start();
        let range = match self.clusters {
            ClustersAsked::Chosen { first, last } => (first, last),
            other => {
                let clusters = other.most(table.view().dim().0);
                let Clusters::Exactly(clusters) = clusters else {
                    return Err(AppError::request("there is no number"));
                };
                (clusters, Some(clusters))
            }
        };
        let how = if let Input::Table { recipe, .. } = &self.input {
            recipe.scale
        } else {
            Scale::Auto
        };
        let monitor = observer.begin("choice of base clusterings");
        let mut auto = choose_recipe(
            table.view(),
            range,
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
        let choice = auto.choice.take();
        choice
            .iter()
            .flat_map(|choice| &choice.warnings)
            .for_each(|warning| {
                observer.warn(&format!("number of clusters: {warning}"));
            });
        let scale = option("scale").to(auto.recipe.scale);
        observer.note(&format!("{} ({scale})", auto.reason));
        let clusters = Clusters::Exactly(auto.clusters);
        Ok(Number {
            clusters,
            choice,
            spent: Some(stopwatch.read()),
            auto: Some(auto),
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
