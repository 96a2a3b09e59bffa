//! The methods as [`Consensus`]: settings in, function, outcome out.

use partita_core::{Clusters, ConsensusError, Problem};

pub(crate) fn clusters(problem: &Problem<'_>, method: &'static str) -> Result<usize, ConsensusError> {
    match problem.clusters {
        Clusters::Exactly(clusters) => Ok(clusters),
        Clusters::Auto => Err(ConsensusError::Auto { method }),
    }
}

/// A method with a plain function and a settings struct: the static, its type and the five lines that join them.
macro_rules! method {
    ($(#[$about:meta])* $name:ident: $type:ident = $function:path, $settings:ty, $card:expr) => {
        $(#[$about])*
        pub static $name: $type = $type;

        #[doc = concat!("The method of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $type;

        impl partita_core::Consensus for $type {
            fn card(&self) -> &'static partita_core::MethodCard {
                static CARD: partita_core::MethodCard = $card;
                &CARD
            }

            fn default_settings(&self) -> serde_json::Value {
                serde_json::to_value(<$settings>::default()).expect("settings are plain data")
            }

            fn run(
                &self,
                problem: &partita_core::Problem<'_>,
                monitor: &dyn partita_core::Monitor,
            ) -> Result<partita_core::Outcome, partita_core::ConsensusError> {
                let name = self.card().name;
                let settings: $settings = problem.settings.apply().map_err(|error| error.of(name))?;
                let clusters = crate::method::clusters(problem, name)?;
                $function(problem.ensemble, problem.weights, clusters, problem.seed, &settings, monitor)
                    .map_err(|error| error.of(name))
            }
        }
    };
}
pub(crate) use method;
