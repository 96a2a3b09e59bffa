//! Layout of text: headers, delimiters, tables that lie on their side, quotes, and what spreadsheets add.

use super::{consensus, csv, group, said, three_groups};
use crate::common::Workplace;

#[test]
fn a_file_of_words_without_a_header() {
    let place = Workplace::new();
    let row = |i: usize| {
        format!(
            "{},{}",
            ["a", "b", "c"][group(i)],
            ["x", "y", "z"][group(i)]
        )
    };
    place.file("t.csv", csv(&row(0), 59, |i| row(i + 1)));
    consensus(&place, "t.csv", &[])
        .refused(&["t.csv: the first line seems to hold labels", "--no-header"]);
    three_groups(consensus(&place, "t.csv", &["--no-header"]), 60, &[]);
    place.file(
        "named.csv",
        csv(&format!("c0,{}", row(0)), 59, |i| {
            format!("c{},{}", i + 1, row(i + 1))
        }),
    );
    consensus(&place, "named.csv", &[]).refused(&["--no-header"]);
    assert_eq!(
        three_groups(
            consensus(&place, "named.csv", &["--no-header"]),
            60,
            &["names from '1'"]
        )[0],
        "c0"
    );
}

#[test]
fn delimiters_are_found_or_named() {
    let place = Workplace::new();
    for delimiter in ['|', ';', '\t'] {
        let row = |i: usize| format!("c{i},{0},{0}", group(i)).replace(',', &delimiter.to_string());
        place.file(
            "t.csv",
            csv(&"cell,a,b".replace(',', &delimiter.to_string()), 60, row),
        );
        three_groups(consensus(&place, "t.csv", &[]), 60, &["names from 'cell'"]);
    }
    for (delimiter, flag) in [(":", ":"), (" ", "space"), ("~", "~")] {
        place.file(
            "t.csv",
            csv(&["a", "b"].join(delimiter), 60, |i| {
                [group(i).to_string(), group(i).to_string()].join(delimiter)
            }),
        );
        consensus(&place, "t.csv", &[])
            .refused(&["t.csv: one column", &format!("--delimiter '{delimiter}'")]);
        three_groups(consensus(&place, "t.csv", &["--delimiter", flag]), 60, &[]);
    }
    said(
        &consensus(&place, "t.csv", &["--delimiter", "ab"]),
        &["--delimiter", "one character"],
    );
}

#[test]
fn a_table_on_its_side() {
    let place = Workplace::new();
    let columns = |name: &str| {
        (0..300)
            .map(|i| format!("{name}{i}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let labels = (0..300)
        .map(|i| group(i).to_string())
        .collect::<Vec<_>>()
        .join(",");
    place.file(
        "t.csv",
        csv(&format!("tool,{}", columns("cell")), 5, |tool| {
            format!("tool{tool},{labels}")
        }),
    );
    let turned = three_groups(
        consensus(&place, "t.csv", &["--transpose"]),
        300,
        &["names from 'tool'"],
    );
    assert_eq!(turned[299], "cell299");
    let facts = place.partita(&["inspect", "t.csv", "--as", "ensemble", "--json"]);
    said(
        &facts,
        &[
            "warning: t.csv: 300 base clusterings of 5 objects",
            "--transpose",
        ],
    );
    facts.fine();
}

#[test]
fn a_quote_that_is_not_closed() {
    let place = Workplace::new();
    let row = |i: usize| format!("{0},{1}{0}", group(i), if i == 30 { "\"" } else { "" });
    place.file("t.csv", csv("a,b", 60, row));
    consensus(&place, "t.csv", &[]).refused(&["t.csv, line 32: a quote is opened"]);
}

#[test]
fn what_spreadsheets_write() {
    let place = Workplace::new();
    let row = |i: usize| format!("c{i};{0};{0}", group(i));
    // A byte-order mark, the delimiter in a line of its own, \r\n, columns and lines that are empty.
    let text = csv("cell;a;b;;", 60, |i| format!("{};;", row(i))).replace('\n', "\r\n");
    place.file("t.csv", format!("\u{feff}sep=;\r\n{text}\r\n\r\n"));
    assert_eq!(
        three_groups(consensus(&place, "t.csv", &[]), 60, &["names from 'cell'"])[59],
        "c59"
    );
    place.file(
        "t.csv",
        csv("a;b;", 60, |i| {
            format!("{0};{0};{1}", group(i), if i == 5 { "7" } else { "" })
        }),
    );
    consensus(&place, "t.csv", &[]).refused(&["line 7: column 3 has a value but no name"]);
}

#[test]
fn labels_as_other_programs_write_them() {
    let place = Workplace::new();
    // Floats of scikit-learn, quoted numbers, booleans, −1 for noise.
    let row = |i: usize| {
        format!(
            "{0}.0,\"{0}\",{1},{2}",
            group(i),
            group(i) == 0,
            if i < 3 {
                "-1".into()
            } else {
                group(i).to_string()
            }
        )
    };
    place.file("t.csv", csv("dbscan,quoted,is_zero,noise", 60, row));
    let facts = place
        .partita(&["inspect", "t.csv", "--as", "ensemble", "--json"])
        .json();
    let clusters: Vec<u64> = facts["bases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["clusters"].as_u64().unwrap())
        .collect();
    assert_eq!(
        (clusters, &facts["missing_labels"]),
        (vec![3, 3, 2, 3], &3.into())
    );
    three_groups(consensus(&place, "t.csv", &[]), 60, &[]);
    // DataFrame(labels).to_csv(index=False): columns are called by numbers.
    place.file(
        "n.csv",
        csv("0,1,2,3,4", 60, |i| {
            format!("{0},{0},{0},{0},{0}", group(i))
        }),
    );
    three_groups(
        consensus(&place, "n.csv", &[]),
        60,
        &["the first line, 0 to 4, is taken for names"],
    );
    place.file(
        "n.csv",
        csv("0,1,2", 60, |i| format!("{0},{0},{0}", group(i))),
    );
    three_groups(consensus(&place, "n.csv", &["--header"]), 60, &[]);
}
