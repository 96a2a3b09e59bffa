//! What help shows: `-h` the options that most people need, a sentence each, on one screen of 80 × 40; `--help` all.

use std::sync::LazyLock;

use clap::builder::Resettable;
use clap::{Arg, Args, Command, CommandFactory, Id};

use super::table::{EnsembleReadArgs, TableReadArgs};
use super::{Cli, RecipeArgs};

/// The options that stand under a heading of their own.
static GROUPED: LazyLock<Vec<Id>> = LazyLock::new(|| {
    let groups = [
        TableReadArgs::augment_args(Command::new("")),
        EnsembleReadArgs::augment_args(Command::new("")),
        RecipeArgs::augment_args(Command::new("")),
    ];
    let options = groups.iter().flat_map(Command::get_arguments);
    options.map(|option| option.get_id().clone()).collect()
});

/// The options that `-h` shows of the commands that have more than a screen of them.
const NEEDED: &[(&str, &str)] = &[
    (
        "run",
        "truth id skip clusters method base scale seed output force",
    ),
    (
        "generate",
        "id skip base base_k subsample scale preset seed output force",
    ),
    (
        "consensus",
        "truth id missing method clusters set seed output soft force",
    ),
    ("merge", "id skip output force"),
    ("update", "add output warm_start labels id force"),
    (
        "choose-k",
        "truth id skip kind clusters scale seed output json",
    ),
    (
        "distributed plan",
        "output rows_per_part columns truth id skip force",
    ),
    (
        "distributed merge",
        "output method clusters set seed labels json",
    ),
    ("modes", "id skip output json"),
    (
        "align",
        "similarity populations id skip output ensemble force",
    ),
    ("evaluate", "truth ensemble agreement common soft json"),
    ("test", "table alpha scale id skip seed output tree json"),
    ("predict", "unknown id output soft force json"),
    ("inspect", "kind truth id co_association agreement json"),
];

/// The most examples that `-h` shows.
const EXAMPLES: usize = 3;

/// The command line with both helps.
pub(crate) fn command() -> Command {
    with_helps(Cli::command(), "")
}

/// `path` is how the command is called after `partita`.
fn with_helps(command: Command, path: &str) -> Command {
    let needed = NEEDED.iter().find(|(known, _)| *known == path);
    let needed = needed.map(|(_, options)| options.split(' ').collect::<Vec<_>>());
    let needed = needed.as_deref();
    let mut place = needed.map_or(0, <[&str]>::len);
    let command = command
        .mut_args(|argument| {
            place += 1;
            in_order(with_both(argument, needed), needed, place)
        })
        .mut_subcommands(|below| {
            let below_path = format!("{path} {}", below.get_name());
            with_helps(below, below_path.trim_start())
        });
    let Some(text) = command.get_after_help().map(ToString::to_string) else {
        return command;
    };
    command
        .after_help(first_examples(&text, path))
        .after_long_help(reflowed(&text))
}

/// The first sentence for `-h`, which does not show what few people need.
fn with_both(argument: Arg, needed: Option<&[&str]>) -> Arg {
    let Some(text) = argument.get_help().map(ToString::to_string) else {
        return argument;
    };
    let rare = needed.is_some_and(|needed| !needed.contains(&argument.get_id().as_str()));
    let hidden = rare && !argument.is_positional() && !argument.is_global_set();
    argument
        .help(first_sentence(&text).to_owned())
        .long_help(text)
        .hide_short_help(hidden)
}

/// What most people need comes first, then the command's own options, then groups under their headings.
fn in_order(argument: Arg, needed: Option<&[&str]>, place: usize) -> Arg {
    let id = argument.get_id().as_str();
    let first = needed.and_then(|needed| needed.iter().position(|one| *one == id));
    let of_a_group = argument.get_help_heading() == Some("Options of an ensemble")
        || GROUPED.contains(argument.get_id());
    let argument = if first.is_some() || !of_a_group {
        argument.help_heading(Resettable::Reset)
    } else {
        argument
    };
    if argument.is_positional() || argument.is_global_set() {
        return argument;
    }
    argument.display_order(first.unwrap_or(place))
}

fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(". ").map(|(at, _)| at);
    let of_a_sentence =
        |at: &usize| text[at + 2..].starts_with(|next: char| next.is_uppercase() || next == '[');
    match ends.into_iter().find(of_a_sentence) {
        Some(at) => &text[..at],
        None => text.trim_end_matches('.'),
    }
}

/// The first examples, and where the rest is said.
fn first_examples(text: &str, path: &str) -> String {
    let listed = text.split("\n\n").next().unwrap_or(text);
    let mut shown = String::from("Examples:\n");
    let mut count = 0;
    let mut continued = false;
    for line in listed.lines().skip(1) {
        count += usize::from(!continued);
        if count > EXAMPLES {
            break;
        }
        shown.push_str(line);
        shown.push('\n');
        continued = line.ends_with('\\');
    }
    let command = ["partita", path].join(" ");
    format!("{shown}\n`{} --help` says more.", command.trim_end())
}

/// Paragraphs without the line ends of the source, so that they fill the width of the terminal.
fn reflowed(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let goes_on =
            |last: &&mut String| !last.is_empty() && !last.starts_with(' ') && !last.ends_with(':');
        match lines.last_mut().filter(goes_on) {
            Some(last) if !line.is_empty() && !line.starts_with(' ') => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(command: Command) -> Vec<Command> {
        let below: Vec<Command> = command.get_subcommands().cloned().collect();
        std::iter::once(command)
            .chain(below.into_iter().flat_map(all))
            .collect()
    }

    #[test]
    fn short_help_fits_a_screen_and_long_help_has_every_option() {
        let mut built = command();
        built.clone().debug_assert();
        built.build();
        for command in all(built)
            .into_iter()
            .filter(|command| !command.is_hide_set())
        {
            let mut narrow = command.clone().term_width(80);
            let short = narrow.render_help().to_string();
            let long = narrow.render_long_help().to_string();
            let name = command.get_name();
            assert!(short.lines().count() <= 40, "{name}: {short}");
            let wide = |line: &&str| line.chars().count() > 80;
            assert_eq!(short.lines().find(wide), None, "{name}");
            assert_eq!(long.lines().find(wide), None, "{name}");
            for argument in command.get_arguments().filter(|one| !one.is_hide_set()) {
                let flag = argument.get_long().map(|long| format!("--{long}"));
                assert!(flag.is_none_or(|flag| long.contains(&flag)), "{name}");
            }
        }
    }

    #[test]
    fn options_of_short_help_exist() {
        let all = command();
        for (name, options) in NEEDED {
            let command = name.split(' ').fold(&all, |command, below| {
                command.find_subcommand(below).expect("a command")
            });
            let missing =
                |option: &&str| !command.get_arguments().any(|one| one.get_id() == *option);
            assert_eq!(options.split(' ').find(missing), None, "{name}");
        }
    }
}
