//! The truth: by name only with a word about it, by flag, or none.

use super::{consensus, csv, group, said};
use crate::common::Workplace;

#[test]
fn a_column_called_label_is_the_truth_and_that_is_said() {
    let place = Workplace::new();
    for name in ["label", "truth"] {
        place.file(
            "t.csv",
            csv(&format!("a,b,{name}"), 60, |i| {
                format!("{0},{0},{0}", group(i))
            }),
        );
        let note = format!("note: t.csv: truth '{name}' (by its name; --no-truth makes it data)");
        let found = consensus(&place, "t.csv", &["--json"]);
        said(&found, &[&note]);
        assert_eq!(found.json()["base_clusterings"], 2);
        let without = consensus(&place, "t.csv", &["--json", "--no-truth"]);
        assert!(!without.stderr.contains("truth '"), "{}", without.stderr);
        let record = without.json();
        assert_eq!(
            (&record["base_clusterings"], record.get("scores")),
            (&3.into(), None)
        );
        assert_eq!(record["experiment"]["input"]["ensemble"]["truth"], false);
    }
}

#[test]
fn the_truth_can_be_named_in_every_command() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("a,b,kind", 60, |i| format!("{0},{0},k{0}", group(i))),
    );
    for flag in ["--truth", "--label"] {
        let found = consensus(&place, "t.csv", &[flag, "kind", "--json"]);
        assert!(
            !found.stderr.contains("note: t.csv"),
            "asked for: {}",
            found.stderr
        );
        assert_eq!(found.json()["scores"]["h"], 1.0);
        let facts = place
            .partita(&[
                "inspect", "t.csv", "--as", "ensemble", flag, "kind", "--json",
            ])
            .json();
        assert_eq!(
            (&facts["base_clusterings"], &facts["truth"]["name"]),
            (&2.into(), &"kind".into())
        );
    }
    consensus(&place, "t.csv", &["--truth", "kin"]).refused(&["no column 'kin'", "'kind'"]);
}
