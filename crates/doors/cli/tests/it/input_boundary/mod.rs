//! The input boundary, tried with the built binary as people use it: what a file means is understood and said, or refused with
//! the flag that settles it.
//!
//! What people did that went wrong in silence once, and where it is tested now (modules of this folder, if no other is named):
//!
//! | what a user does | test |
//! |---|---|
//! | a first or last column of names, an index of pandas or R | `names::words_that_all_differ_are_names_wherever_they_stand`, `names::an_index_that_pandas_or_r_wrote`, `odd_files::files_of_pandas` |
//! | numbers that are ids, base clusterings of n clusters | `names::numbers_that_look_like_names_are_warned_about`, `odd_files::ids_in_the_middle_of_a_table` |
//! | NA, NaN, None, … among labels; other words by `--missing` | `missing::words_for_missing_labels_are_not_clusters`, `missing::the_words_can_be_named`, `odd_files::words_that_may_mean_missing_are_said_and_settled_by_a_flag` |
//! | NA in the truth, among numbers | `missing::a_missing_truth_does_not_count`, `missing::gaps_in_tables_are_refused_or_filled` |
//! | a column `label` or `truth` in an ensemble | `truth::*`, `odd_files::a_truth_under_another_name_is_not_data_in_silence` |
//! | `evaluate`: names in any column, which column is the truth, `--common` | `evaluation::*` |
//! | no header, other delimiters, a table on its side, an open quote | `layout::*` |
//! | objects of one name | `names::objects_of_one_name_are_warned_about` |
//! | a column much wider than the others | `tables::a_column_that_is_much_wider_than_the_others_is_warned_about`, `tables::choose_k_warns_of_wide_columns_and_names_the_flag_of_a_setting` |
//! | one-hot of a date or an id | `tables::too_many_categories_are_refused`, `tables::dates_percents_and_amounts_are_refused_by_name` |
//! | `-k auto` on noise; a method's own number | `number_of_clusters::*`; 50 seeds of three kinds in `partita-app/tests/it/noise.rs` and `cargo xtask bench noise` |
//! | base clusterings without information | `commands::methods_that_stop_early_or_know_nothing_say_so`, `tables::base_clusterings_without_agreement_give_low_certainty_and_confidence` |
//! | a limit of rounds, one sweep | `commands::methods_that_stop_early_or_know_nothing_say_so` |
//! | unknown values and empty rows in `predict` | `prediction::*` |
//! | certainty that does not compare between methods | `tables::base_clusterings_without_agreement_give_low_certainty_and_confidence`, `partita-app/tests/it/confidence.rs`, docs/benchmarks/confidence.md |
//! | labels of 3,000 cells by five tools, in one command | `cells::five_tools_become_labels_report_and_evaluation_with_one_command`, `odd_files::files_of_pandas` |
//!
//! What the command line promises, and where it is tested:
//!
//! | what | test |
//! |---|---|
//! | `-` and `--format` | `streams::*` |
//! | formats by ending, `.zst` | `outputs::labels_are_written_in_the_format_of_the_name` |
//! | equal outputs, outputs that are inputs | `outputs::outputs_that_would_destroy_something_are_refused`, `outputs::outputs_that_would_destroy_a_file_of_the_folder_are_refused` |
//! | `-v`, `-q`, `PARTITA_LOG`; one line after `consensus` | `outputs::one_line_says_what_was_found_and_quiet_leaves_it_out` |
//! | `--id`, `--skip`, `--missing` in every command | `commands::every_command_reads_with_the_same_flags` |
//! | `inspect` of ensembles, models, records, runs | `outputs::inspect_and_choose_k_find_out_what_a_file_holds`, `outputs::inspect_knows_records_models_and_runs` |
//! | `run --model`, models that carry how their table was read, further columns | `prediction::*` |
//! | `choose-k --scale --base` | `number_of_clusters::what_the_choice_cannot_honour_is_refused` |
//! | `run --resume` | `durable::a_killed_run_goes_on`, `interruption::ctrl_c_keeps_the_finished_base_clusterings` |
//! | progress that moves | the conformance tests of every method (`partita-conformance/src/progress.rs`) |
//! | "to repeat it", typed as it stands | `reports::the_command_on_the_page_repeats_the_run_as_it_stands_there`, `repeat::*` |
//! | manual pages, completions | `outputs::every_command_has_a_manual_page_and_completions_know_names` |
//! | former spellings | `commands::former_spellings_work_and_help_does_not_show_them` |
//! | `--threads`, odd settings | `commands::threads_of_any_number`, `commands::settings_beyond_what_is_sensible_say_what_is` |
//! | examples of README, guide and help | `examples::*` |
//! | few rows | `odd_files::tables_of_one_and_two_rows` |
//!
//! The report: its sections in `reports::a_report_has_all_that_a_run_found`, its figures in `partita-report/tests`, its layout and pictures
//! by the browser step of the checks.

mod cells;
mod evaluation;
mod layout;
mod missing;
mod names;
mod odd_files;
mod tables;
mod truth;

use crate::common::{Ended, Workplace};

/// The group of an object.
fn group(object: usize) -> usize {
    object % 3
}

/// A CSV of so many objects under this header, three groups in turn.
fn csv(header: &str, objects: usize, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..objects).map(|object| row(object) + "\n").collect();
    format!("{header}\n{rows}")
}

/// Runs `partita consensus FILE -k 3` with these flags.
fn consensus(place: &Workplace, file: &str, flags: &[&str]) -> Ended {
    place.partita(&[&["consensus", file, "-k", "3"], flags].concat())
}

/// The names and labels that were printed.
fn printed(stdout: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        (
            fields.next().unwrap_or_default(),
            fields.next().unwrap_or_default(),
        )
    };
    stdout.lines().skip(1).map(row).collect()
}

/// It went well, every object is with its own group, and stderr has all of these words; returns the names.
#[track_caller]
fn three_groups(ended: Ended, objects: usize, words: &[&str]) -> Vec<String> {
    said(&ended, words);
    let rows = printed(&ended.fine());
    assert_eq!(rows.len(), objects);
    for (object, (name, label)) in rows.iter().enumerate() {
        assert_eq!(*label, rows[group(object)].1, "object {object}, '{name}'");
    }
    assert!(rows[0].1 != rows[1].1 && rows[1].1 != rows[2].1 && rows[0].1 != rows[2].1);
    rows.into_iter().map(|(name, _)| name).collect()
}

/// Stderr has all of these words.
#[track_caller]
fn said(ended: &Ended, words: &[&str]) {
    for word in words {
        assert!(
            ended.stderr.contains(word),
            "'{word}' is not in: {}",
            ended.stderr
        );
    }
}
