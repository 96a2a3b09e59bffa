//! Tables: columns that outweigh others, words that are not categories, dates and amounts, names.

use super::{csv, group, said};
use crate::common::Workplace;

/// A value of the group with some spread.
fn value(object: usize) -> f64 {
    group(object) as f64 * 5.0 + (object * 7919 % 101) as f64 / 101.0
}

/// Runs `partita generate FILE` with these flags.
fn generate(place: &Workplace, flags: &[&str]) -> super::Ended {
    place.partita(
        &[
            &[
                "generate", "t.csv", "--base", "kmeans:3", "-o", "e.csv", "--force",
            ],
            flags,
        ]
        .concat(),
    )
}

#[test]
fn a_column_that_is_much_wider_than_the_others_is_warned_about() {
    let place = Workplace::new();
    let wide = |i: usize| (i * 31 % 97) as f64 * 200.0;
    place.file(
        "t.csv",
        csv("x,y,salary", 90, |i| {
            format!("{},{},{}", value(i), value(i + 3), wide(i))
        }),
    );
    let words = [
        "warning: ",
        "t.csv: column 'salary' has 99.9 % of the variance",
        "--scale zscore",
    ];
    said(&generate(&place, &[]), &words);
    let run = [
        "run", "t.csv", "-k", "3", "--base", "kmeans:3", "--json", "-o", "out",
    ];
    let found = place.partita(&run);
    said(&found, &words);
    assert!(
        found.json()["inputs"][0]["roles"]["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("'salary'"))
    );
    let scaled = generate(&place, &["--scale", "zscore"]);
    assert!(!scaled.stderr.contains("variance"), "{}", scaled.stderr);
    place.file(
        "t.csv",
        csv("x,y,z", 90, |i| {
            format!("{},{},{}", value(i), value(i + 3), 3.0 * value(i))
        }),
    );
    let equal = generate(&place, &[]);
    assert!(!equal.stderr.contains("variance"), "{}", equal.stderr);
}

#[test]
fn a_table_of_labels_is_warned_about() {
    let place = Workplace::new();
    let words = [
        "warning: ",
        "t.csv: every column holds whole numbers from 0 or 1",
        "partita consensus",
    ];
    let run = |flags: &[&str]| {
        place.partita(&[&["run", "t.csv", "-k", "3", "--force", "-o", "out"], flags].concat())
    };
    place.file(
        "t.csv",
        csv("name,a,b", 90, |i| format!("c{i},{},{}", i % 3, 1 + i % 4)),
    );
    said(&generate(&place, &[]), &words);
    said(&run(&["--base", "kmeans:3"]), &words);
    place.file(
        "t.csv",
        csv("name,a,b", 90, |i| {
            format!("c{i},{},{}", i % 3, 1 + i % 2 * 3)
        }),
    );
    let amounts = run(&["--base", "kmeans:3"]);
    assert!(
        !amounts.stderr.contains("whole numbers"),
        "{}",
        amounts.stderr
    );
}

#[test]
fn choose_k_warns_of_wide_columns_and_names_the_flag_of_a_setting() {
    let place = Workplace::new();
    let wide = |i: usize| (i * 31 % 97) as f64 * 200.0;
    place.file(
        "t.csv",
        csv("x,y,salary", 60, |i| {
            format!("{},{},{}", value(i), value(i + 3), wide(i))
        }),
    );
    let quick = [
        "choose-k", "t.csv", "-k", "2..3", "--set", "draws=2", "--base", "kmeans:4",
    ];
    said(
        &place.partita(&quick),
        &[
            "t.csv: column 'salary' has 99.9 % of the variance",
            "--scale zscore",
        ],
    );
    let scaled = place.partita(&[&quick[..], &["--scale", "zscore"]].concat());
    assert!(!scaled.stderr.contains("variance"), "{}", scaled.stderr);
    place.file(
        "e.csv",
        csv("a,b,c", 60, |i| format!("{},{},{}", i % 3, i % 3, i % 2)),
    );
    place
        .partita(&["choose-k", "e.csv", "--kind", "ensemble", "--set", "runs=5"])
        .refused(&["--set: there is no setting 'runs'", "--kind table"]);
}

#[test]
fn a_table_with_words_is_described() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("x,colour", 60, |i| {
            format!("{},{}", value(i), ["red", "blue"][i % 2])
        }),
    );
    let shown = place.partita(&["inspect", "t.csv", "--json"]);
    said(
        &shown,
        &["note: shown with --encode one-hot, since t.csv, line 2, column 'colour'"],
    );
    let found = shown.json();
    assert_eq!(
        (found["objects"].as_u64(), found["columns"].as_u64()),
        (Some(60), Some(3))
    );
    assert_eq!(found["features"][1]["name"].as_str(), Some("colour=red"));
    // Too many words for columns of their own are shown by number.
    place.file(
        "t.csv",
        csv("x,town", 160, |i| format!("{},town{}", value(i), i % 80)),
    );
    said(
        &place.partita(&["inspect", "t.csv"]),
        &["note: shown with --encode ordinal, since"],
    );
}

#[test]
fn base_clusterings_without_agreement_give_low_certainty_and_confidence() {
    let place = Workplace::new();
    // Numbers without a pattern (SplitMix64).
    let label = |i: usize, u: usize| {
        let z = ((i * 8 + u + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40) % 4
    };
    let row = |i: usize| {
        (0..8)
            .map(|u| label(i, u).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    place.file("e.csv", csv("a,b,c,d,e,f,g,h", 240, row));
    for method in ["lwgp", "mm", "eac-average", "kc"] {
        let ended = super::consensus(&place, "e.csv", &["-m", method]);
        said(&ended, &["base clusterings agree no more than by chance"]);
        let printed = ended.fine();
        let mean = |column: usize| {
            let values = printed
                .lines()
                .skip(1)
                .map(|line| line.split(',').nth(column).unwrap().parse::<f64>().unwrap());
            values.sum::<f64>() / 240.0
        };
        assert!(
            mean(2) <= 1.0 / 3.0 + 1e-9 && mean(3) < 0.45,
            "{method}: {} {}",
            mean(2),
            mean(3)
        );
    }
}

#[test]
fn too_many_categories_are_refused() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("x,town", 160, |i| format!("{},town{}", value(i), i % 80)),
    );
    generate(&place, &["--encode", "one-hot"]).refused(&[
        "t.csv: column 'town' has 80 different values",
        "--max-categories 50",
        "--skip 'town'",
    ]);
    generate(&place, &["--encode", "one-hot", "--max-categories", "80"]).fine();
    // Names are not categories.
    place.file(
        "t.csv",
        csv("x,town", 160, |i| format!("{},town{i}", value(i))),
    );
    let named = generate(&place, &["--encode", "one-hot"]);
    said(&named, &["names from 'town' (all 160 values differ)"]);
    named.fine();
    assert!(
        std::fs::read_to_string(place.path("e.csv"))
            .unwrap()
            .contains("\ntown7,")
    );
}

#[test]
fn dates_percents_and_amounts_are_refused_by_name() {
    let place = Workplace::new();
    let day = |i: usize| format!("2024-{:02}-{:02}", 1 + i / 28 % 12, 1 + i % 28);
    for (column, text, word) in [
        ("when", day(3), "a date or a time"),
        ("when", "31.12.2023".into(), "a date or a time"),
        ("at", "12:30".into(), "a date or a time"),
        ("share", "12.5%".into(), "a percentage"),
        ("price", "$12.50".into(), "an amount of money"),
        ("price", "12 €".into(), "an amount of money"),
        ("size", "\"1,5\"".into(), "a decimal comma"),
        ("size", "\"1,234,567\"".into(), "marks between thousands"),
    ] {
        place.file(
            "t.csv",
            csv(&format!("x,{column}"), 60, |i| {
                format!("{},{text}", value(i))
            }),
        );
        for flags in [&[][..], &["--encode", "one-hot"]] {
            let (named, skip) = (format!("column '{column}'"), format!("--skip '{column}'"));
            generate(&place, flags).refused(&[&named, word, &skip]);
        }
        generate(&place, &["--skip", column]).fine();
    }
    // All different: still dates, not names; unless that is asked for.
    place.file(
        "t.csv",
        csv("x,when", 60, |i| format!("{},{}", value(i), day(i))),
    );
    generate(&place, &[]).refused(&["'when'", "a date or a time", "--id 'when'"]);
    generate(&place, &["--id", "when"]).fine();
    // A German file with ; between fields.
    place.file(
        "t.csv",
        csv("x;y", 60, |i| {
            format!("{};{}", value(i), value(i)).replace('.', ",")
        }),
    );
    generate(&place, &[]).refused(&["a decimal comma"]);
}

#[test]
fn observations_of_anndata() {
    let place = Workplace::new();
    let row = |i: usize| {
        format!(
            "AAC{i}-1,{},{},{}",
            value(i),
            value(i + 3),
            ["B", "T", "NK"][group(i)]
        )
    };
    place.file("obs.csv", csv(",n_genes,n_counts,celltype", 60, row));
    let run = [
        "run", "obs.csv", "-k", "3", "--truth", "celltype", "--base", "kmeans:9", "--base-k", "3",
        "--json", "-o", "out",
    ];
    let found = place.partita(&run);
    said(
        &found,
        &["note: obs.csv: names from '' (by its name); truth 'celltype' (asked for)"],
    );
    assert_eq!(found.json()["scores"]["h"], 1.0);
    assert!(
        std::fs::read_to_string(place.path("out/labels.csv"))
            .unwrap()
            .contains("\nAAC59-1,")
    );
}
