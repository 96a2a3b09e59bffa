//! Files as people have them: what spreadsheets, editors and other programs do to a table, each understood or refused by name.

use super::{consensus, csv, group, said, three_groups};
use crate::common::{Ended, Workplace};

/// A value of the group with some spread.
fn value(object: usize) -> f64 {
    (group(object) * 500 + object * 7919 % 101) as f64 / 100.0
}

/// Runs `partita generate t.csv` with these flags; gives the ensemble that it wrote.
fn generate(place: &Workplace, flags: &[&str]) -> Ended {
    let command = [
        "generate", "t.csv", "--base", "kmeans:3", "--base-k", "3", "-o", "e.csv", "--force",
    ];
    place.partita(&[&command[..], flags].concat())
}

fn ensemble(place: &Workplace) -> Vec<u8> {
    std::fs::read(place.path("e.csv")).expect("an ensemble")
}

#[test]
fn marks_line_ends_quotes_and_blanks_change_nothing() {
    let place = Workplace::new();
    let row = |i: usize| format!("{},{}", value(i), value(i + 3));
    let plain = csv("x,y", 60, row);
    place.file("t.csv", &plain);
    generate(&place, &[]).fine();
    let expected = ensemble(&place);
    let quoted = |i: usize| format!("\"{}\",\"{}\"", value(i), value(i + 3));
    for text in [
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
        plain.replace('\n', "\r"),
        csv("\"x\",\"y\"", 60, quoted),
        csv(" x , y ", 60, |i| {
            format!(" {} , {} ", value(i), value(i + 3))
        }),
        csv("x,y,", 60, |i| row(i) + ","),
        csv("x,y", 60, |i| row(i) + ","),
        csv("x,y", 60, |i| row(i) + if i == 30 { "\n\n" } else { "" }),
    ] {
        place.file("t.csv", &text);
        generate(&place, &[]).fine();
        assert!(ensemble(&place) == expected, "{}", &text[..40]);
    }
    place.file(
        "t.tsv",
        csv("a\t b\t c ", 60, |i| format!("{0}\t {0} \t{0}  ", group(i))),
    );
    three_groups(consensus(&place, "t.tsv", &[]), 60, &[]);
}

#[test]
fn other_encodings_are_refused_with_the_remedy() {
    let place = Workplace::new();
    let latin = csv("zelle,ort", 60, |i| {
        format!("z{i},{}", ["K\u{f6}ln", "Z\u{fc}rich", "Genf"][group(i)])
    });
    place.file(
        "t.csv",
        latin
            .chars()
            .map(|letter| letter as u8)
            .collect::<Vec<u8>>(),
    );
    consensus(&place, "t.csv", &[]).refused(&[
        "t.csv: line 2, column 'ort'",
        "is not UTF-8",
        "save the file in UTF-8",
    ]);
    place.file(
        "t.csv",
        latin
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    consensus(&place, "t.csv", &[]).refused(&["t.csv"]);
    let marked = [
        &[0xff, 0xfe][..],
        &latin
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    ]
    .concat();
    place.file("t.csv", marked);
    consensus(&place, "t.csv", &[]).refused(&["UTF-16"]);
}

#[test]
fn numbers_in_another_notation_are_refused_by_name() {
    let place = Workplace::new();
    for (text, kind) in [
        ("1,5", "a decimal comma"),
        ("1,234,567", "marks between thousands"),
        ("1 234", "marks between thousands"),
        ("1'234", "marks between thousands"),
        ("\u{2212}1.5", "a typographic minus"),
        ("EUR 12", "an amount of money"),
        ("12.50 USD", "an amount of money"),
        ("1-Jan-2024", "a date or a time"),
        ("Jan 5, 2024", "a date or a time"),
    ] {
        place.file(
            "t.csv",
            csv("x,odd", 60, |i| format!("{},\"{text}\"", value(i))),
        );
        for flags in [&[][..], &["--encode", "one-hot"]] {
            generate(&place, flags).refused(&["t.csv, line 2, column 'odd'", kind, "--skip 'odd'"]);
        }
        generate(&place, &["--skip", "odd"]).fine();
    }
    // All different they are not names either, nor labels.
    for text in [
        |i: usize| format!("\"{i},5\""),
        |i| format!("{i} 000"),
        |i| format!("{i} USD"),
    ] {
        place.file(
            "t.csv",
            csv("x,odd", 60, |i| format!("{},{}", value(i), text(i + 1))),
        );
        generate(&place, &[]).refused(&["column 'odd'", "--skip 'odd'"]);
        place.file(
            "t.csv",
            csv("a,odd", 60, |i| format!("{},{}", group(i), text(i + 1))),
        );
        consensus(&place, "t.csv", &[]).refused(&["the labels of column 'odd'", "--skip 'odd'"]);
        three_groups(consensus(&place, "t.csv", &["--skip", "odd"]), 60, &[]);
    }
    place.file(
        "t.csv",
        csv("x,mass", 60, |i| format!("{},{i} kg", value(i))),
    );
    generate(&place, &[]).refused(&["column 'mass': '0 kg' is not a number"]);
    place.file(
        "t.csv",
        csv("a,b,day", 60, |i| {
            format!("{0},{0},2024-01-{1:02}", group(i), 1 + group(i))
        }),
    );
    three_groups(
        consensus(&place, "t.csv", &[]),
        60,
        &[
            "the labels of base clustering 'day' are dates",
            "--skip 'day'",
        ],
    );
}

#[test]
fn words_that_may_mean_missing_are_said_and_settled_by_a_flag() {
    let place = Workplace::new();
    for word in [
        "na",
        "NONE",
        "Null",
        "unassigned",
        "Unknown",
        "-",
        "n.a.",
        "#REF!",
        "#DIV/0!",
    ] {
        let label = |i: usize| {
            if i % 10 == 7 {
                word.to_owned()
            } else {
                format!("t{}", group(i))
            }
        };
        place.file(
            "t.csv",
            csv("a,b,c", 60, |i| {
                format!("{},t{},t{}", label(i), group(i), group(i))
            }),
        );
        let warning = format!("warning: t.csv: '{word}' is taken for a cluster");
        let flag = format!("--missing '{word}'");
        three_groups(consensus(&place, "t.csv", &[]), 60, &[&warning, &flag]);
        let settled = consensus(&place, "t.csv", &["--missing", word]);
        assert!(!settled.stderr.contains("warning"), "{}", settled.stderr);
        three_groups(settled, 60, &[&format!("6 missing values ({word})")]);
    }
    // Whoever names the words has the last word.
    let named = consensus(&place, "t.csv", &["--missing", "zz"]);
    assert!(!named.stderr.contains("warning"), "{}", named.stderr);
    // Of numbers, #N/A is missing and other errors of spreadsheets are no numbers.
    let cell = |i: usize, word: &str| {
        if i == 4 {
            word.to_owned()
        } else {
            value(i).to_string()
        }
    };
    place.file(
        "t.csv",
        csv("x,y", 60, |i| format!("{},{}", cell(i, "#N/A"), value(i))),
    );
    generate(&place, &[]).refused(&[
        "t.csv, line 6, column 'x': '#N/A' is missing",
        "--impute mean",
    ]);
    place.file(
        "t.csv",
        csv("x,y", 60, |i| {
            format!("{},{}", cell(i, "#DIV/0!"), value(i))
        }),
    );
    generate(&place, &[]).refused(&["t.csv, line 6, column 'x': '#DIV/0!' is not a number"]);
}

#[test]
fn ids_in_the_middle_of_a_table() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("x,cell,y", 60, |i| {
            format!("{},c{i},{}", value(i), value(i + 3))
        }),
    );
    said(
        &generate(&place, &[]),
        &["names from 'cell' (all 60 values differ)"],
    );
    for (name, number, what) in [
        ("index", 0, "counts the rows"),
        ("Unnamed: 0.1", 1, "counts the rows"),
        ("patient_id", 4711, "has a number of its own for every row"),
        ("cellID", 99, "has a number of its own for every row"),
    ] {
        let step = if number > 1 { 37 } else { 1 };
        place.file(
            "t.csv",
            csv(&format!("x,{name},y"), 60, |i| {
                format!("{},{},{}", value(i), number + step * i, value(i))
            }),
        );
        let warning = format!("warning: t.csv: column '{name}' {what}");
        said(
            &generate(&place, &[]),
            &[
                &warning,
                &format!("--id '{name}'"),
                &format!("--skip '{name}'"),
            ],
        );
        for flag in ["--id", "--skip"] {
            let settled = generate(&place, &[flag, name]);
            assert!(!settled.stderr.contains("warning"), "{}", settled.stderr);
            settled.fine();
        }
        assert!(place.path("e.csv").exists());
    }
}

#[test]
fn columns_that_say_nothing_or_say_it_twice() {
    let place = Workplace::new();
    place.file("t.csv", csv("a,a", 60, |i| format!("{0},{0}", group(i))));
    consensus(&place, "t.csv", &[]).refused(&["columns 1 and 2 are both called 'a'", "rename"]);
    generate(&place, &[]).refused(&["columns 1 and 2 are both called 'a'", "rename"]);
    place.file(
        "t.csv",
        csv("a,same,b", 60, |i| format!("{0},7,{0}", group(i))),
    );
    three_groups(
        consensus(&place, "t.csv", &[]),
        60,
        &["warning: t.csv: base clustering 'same' puts all objects into one"],
    );
    let without = consensus(&place, "t.csv", &["--skip", "same"]);
    assert!(!without.stderr.contains("warning"), "{}", without.stderr);
    // A constant column of a table has no part in any distance.
    let table = |same: &str| {
        csv(&format!("x{same},y"), 60, |i| {
            format!("{}{},{}", value(i), same.replace("same", "7"), value(i))
        })
    };
    place.file("t.csv", table(""));
    generate(&place, &[]).fine();
    let expected = ensemble(&place);
    place.file("t.csv", table(",same"));
    generate(&place, &[]).fine();
    assert!(ensemble(&place) == expected);
}

#[test]
fn a_truth_under_another_name_is_not_data_in_silence() {
    let place = Workplace::new();
    for name in ["Label", "class", "Celltype", "ground_truth", "target"] {
        place.file(
            "t.csv",
            csv(&format!("a,b,{name}"), 60, |i| {
                format!("{0},{0},{0}", group(i))
            }),
        );
        let warning = format!("warning: t.csv: column '{name}' is taken for data");
        three_groups(
            consensus(&place, "t.csv", &[]),
            60,
            &[&warning, &format!("--truth '{name}'"), "--no-truth"],
        );
        for flags in [&["--truth", name][..], &["--no-truth"]] {
            let settled = consensus(&place, "t.csv", flags);
            assert!(!settled.stderr.contains("warning"), "{}", settled.stderr);
        }
        said(&generate(&place, &[]), &[&warning]);
    }
}

#[test]
fn titles_comments_and_sums_of_spreadsheets() {
    let place = Workplace::new();
    let labels = csv("cell,a,b", 60, |i| format!("c{i},{0},{0}", group(i)));
    for first in ["# written by some tool", "My results"] {
        place.file("t.csv", format!("{first}\n{labels}"));
        consensus(&place, "t.csv", &[]).refused(&[
            "t.csv, line 2: 3 fields where the first line has 1",
            "a title or a comment",
        ]);
    }
    place.file("t.csv", format!("My results,,\n{labels}"));
    consensus(&place, "t.csv", &[]).refused(&["t.csv: line 2: column 2 has a value but no name"]);
    place.file("t.csv", format!("{labels}Total,60,60\n"));
    said(
        &consensus(&place, "t.csv", &[]),
        &["warning: t.csv: the last object (61) is called 'Total'"],
    );
}

#[test]
fn long_names_are_read_whole_and_shown_short() {
    let place = Workplace::new();
    let long = "n".repeat(300);
    place.file(
        "t.csv",
        csv(&format!("{long}1,{long}2,cell"), 60, |i| {
            format!("{0},{0},{1}{i}", group(i), "c".repeat(300))
        }),
    );
    let names = three_groups(consensus(&place, "t.csv", &[]), 60, &["names from 'cell'"]);
    assert_eq!(names[59].len(), 302);
    place.file(
        "t.csv",
        csv(&format!("{long}1,{long}2"), 60, |i| {
            format!("{0},{0}.5", group(i))
        }),
    );
    let refused = consensus(&place, "t.csv", &[]);
    assert!(
        refused
            .stderr
            .lines()
            .all(|line| line.chars().count() < 700),
        "{}",
        refused.stderr
    );
    refused.refused(&["line 2", "'0.5' is not a cluster number"]);
}

/// What every command says of one row, and of two.
#[test]
fn tables_of_one_and_two_rows() {
    let place = Workplace::new();
    place.file("t1.csv", "x,y\n1,2\n");
    place.file("t2.csv", "x,y\n1,2\n3,5\n");
    place.file("e1.csv", "object,a,b\np,1,2\n");
    place.file("e2.csv", "object,a,b\np,1,2\nq,2,2\n");
    let few = "too few to choose from: give a number of clusters (-k)";
    for clusters in ["1", "2", "auto", "2..5", "method"] {
        place
            .partita(&["run", "t1.csv", "-k", clusters, "-o", "o"])
            .refused(&["t1.csv has one row", "at least two objects"]);
    }
    place
        .partita(&["generate", "t1.csv", "-o", "o.npz"])
        .refused(&["t1.csv has one row"]);
    place
        .partita(&["choose-k", "t1.csv"])
        .refused(&["t1.csv has one row"]);
    for command in [
        &["run", "t2.csv", "-o", "o"][..],
        &["choose-k", "t2.csv"],
        &["choose-k", "e1.csv", "--kind", "ensemble"],
    ] {
        place.partita(command).refused(&[few]);
    }
    for (file, rows) in [("e1.csv", 1), ("e2.csv", 2)] {
        place
            .partita(&["consensus", file, "-k", "auto"])
            .refused(&[file, few]);
        place
            .partita(&["consensus", file, "-k", "3"])
            .refused(&[file, &format!("3 clusters of {rows} objects")]);
        assert_eq!(
            place
                .partita(&["consensus", file, "-k", "1"])
                .fine()
                .lines()
                .count(),
            1 + rows
        );
        assert_eq!(
            place
                .partita(&["consensus", file, "-k", "method"])
                .fine()
                .lines()
                .count(),
            1 + rows
        );
        place.partita(&["modes", file]).fine();
        place
            .partita(&["align", file, "-o", "aligned", "--force"])
            .fine();
    }
    for (file, rows) in [("t1.csv", 1), ("t2.csv", 2)] {
        assert_eq!(
            place.partita(&["inspect", file, "--json"]).json()["objects"],
            rows
        );
    }
    for clusters in ["1", "2"] {
        place
            .partita(&["run", "t2.csv", "-k", clusters, "-o", "two", "--force"])
            .fine();
        place
            .partita(&[
                "consensus",
                "e2.csv",
                "-k",
                clusters,
                "-o",
                "l.csv",
                "--force",
            ])
            .fine();
        place
            .partita(&["evaluate", "l.csv", "--truth", "l.csv", "--json"])
            .fine();
    }
    place
        .partita(&[
            "generate",
            "t2.csv",
            "--base",
            "kmeans:2,ward:1",
            "--base-k",
            "2",
            "-o",
            "two.npz",
        ])
        .fine();
    place.file("none.csv", "x,y\n");
    for command in ["run", "generate", "choose-k"] {
        let output: &[&str] = if command == "choose-k" {
            &[]
        } else {
            &["-o", "no"]
        };
        place
            .partita(&[&[command, "none.csv"], output].concat())
            .refused(&["no rows"]);
    }
}

#[test]
fn a_single_column_is_a_table_and_an_ensemble() {
    let place = Workplace::new();
    place.file("t.csv", csv("x", 60, |i| value(i).to_string()));
    generate(&place, &[]).fine();
    place.file("t.csv", csv("a", 60, |i| group(i).to_string()));
    three_groups(consensus(&place, "t.csv", &[]), 60, &[]);
}

/// Files that pandas wrote: indices, categories, packings, times.
#[test]
fn files_of_pandas() {
    let place = Workplace::new();
    let data = |name: &str| {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../input/files/tests/data")
            .join(name)
    };
    for name in [
        "pandas-index.parquet",
        "pandas-levels.parquet",
        "lz4.parquet",
        "brotli.parquet",
        "times.parquet",
    ] {
        std::fs::copy(data(name), place.path(name)).expect("a copy");
    }
    let found = consensus(
        &place,
        "pandas-index.parquet",
        &["--truth", "celltype", "-o", "out/", "--json"],
    );
    said(&found, &["names from 'barcode' (an index)"]);
    let record = found.json();
    assert_eq!(
        (&record["base_clusterings"], &record["missing_labels"]),
        (&3.into(), &6.into())
    );
    assert_eq!(record["scores"]["ari"], 1.0);
    let labels = std::fs::read_to_string(place.path("out/labels.csv")).expect("labels");
    assert!(labels.contains("\nAAC59-1,"), "{labels}");
    // Of several levels of an index the one whose words all differ names the cells.
    let levels = consensus(&place, "pandas-levels.parquet", &["--truth", "celltype"]);
    let names = three_groups(levels, 60, &["names from 'barcode' (an index)"]);
    assert_eq!(names[7], "AAC7-1");
    three_groups(consensus(&place, "lz4.parquet", &[]), 60, &[]);
    consensus(&place, "brotli.parquet", &[])
        .refused(&["brotli.parquet: it is packed by BROTLI", "snappy, zstd"]);
    consensus(&place, "times.parquet", &[]).refused(&[
        "times.parquet: column 'when' holds dates or times",
        "--skip 'when'",
    ]);
    three_groups(
        consensus(&place, "times.parquet", &["--skip", "when"]),
        60,
        &[],
    );
}
