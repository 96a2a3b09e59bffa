//! Values that completions and manual pages list although others are taken too: names of methods and of their settings.
//! An unknown one is refused by the layer below, which knows the nearest.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use partita_app::methods;

/// A text, and the names that are suggested for it.
#[derive(Clone)]
pub(super) struct Suggested(fn() -> Vec<&'static str>);

/// Names of consensus methods.
pub(super) fn method_names() -> Suggested {
    Suggested(|| methods::all().map(methods::name_of).collect())
}

/// Names of the settings of all methods.
pub(super) fn setting_names() -> Suggested {
    Suggested(|| {
        let mut names: Vec<&str> = methods::all()
            .flat_map(partita::extend::Consensus::settings)
            .map(|setting| setting.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    })
}

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        value
            .to_str()
            .map(str::to_owned)
            .ok_or_else(|| Error::new(ErrorKind::InvalidUtf8).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
