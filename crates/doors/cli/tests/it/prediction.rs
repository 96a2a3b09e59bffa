//! `predict` says what it cannot use, and reads tables as the model's was read.

use std::fs;

use crate::common::{Workplace, three_groups};

/// A model of label rows of three base clusterings of two groups.
fn label_model(place: &Workplace) {
    let rows: String = (0..20)
        .map(|i| if i < 12 { "a,x,1\n" } else { "b,y,2\n" })
        .collect();
    place.file("e.csv", format!("one,two,three\n{rows}"));
    place
        .partita(&[
            "consensus",
            "e.csv",
            "-k",
            "2",
            "-m",
            "kc",
            "-o",
            "l.csv",
            "--model",
            "m.json",
        ])
        .fine();
}

#[test]
fn unknown_labels_and_empty_rows_are_said() {
    let place = Workplace::new();
    label_model(&place);
    place.file(
        "new.csv",
        "object,one,two,three\np,a,x,1\nq,zzz,y,2\nr,,,\ns,what,w,9\n",
    );
    let ended = place.partita(&["predict", "m.json", "new.csv"]);
    let unknown = "warning: new.csv: 4 values are unknown to the model, first 'zzz' in row 2 ('q'), column 'one'";
    assert!(ended.stderr.contains(unknown), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("2 rows have no value that the model knows, first row 3 ('r')"),
        "{}",
        ended.stderr
    );
    let printed = ended.fine();
    let rows: Vec<Vec<&str>> = printed
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert!(
        rows[0][1] != rows[1][1] && rows[0][2].parse::<f64>().unwrap() > 0.9,
        "{printed}"
    );
    // Rows without evidence are in the largest cluster, without certainty.
    assert!(
        rows[2..]
            .iter()
            .all(|row| row[1] == rows[0][1] && row[2] == "0"),
        "{printed}"
    );
    place
        .partita(&["predict", "m.json", "new.csv", "--unknown", "refuse"])
        .refused(&["'zzz'", "row 2", "--unknown"]);
    let counted = place
        .partita(&["predict", "m.json", "new.csv", "--json", "-o", "p.csv"])
        .json();
    assert_eq!(
        (&counted["unknown_values"], &counted["rows_without_values"]),
        (&4.into(), &2.into())
    );
    assert_eq!(
        (&counted["n"], counted["sizes"].as_array().unwrap().len()),
        (&4.into(), 2)
    );
    assert_eq!(fs::read_to_string(place.path("p.csv")).unwrap(), printed);
}

#[test]
fn columns_that_a_model_does_not_know_are_left_out() {
    let place = Workplace::new();
    label_model(&place);
    let known = place.partita(&["predict", "m.json", "e.csv"]).fine();
    let row = |i: usize| {
        format!(
            "{i}.5,{},note{}\n",
            if i < 12 { "a,x,1" } else { "b,y,2" },
            i % 4
        )
    };
    place.file(
        "more.csv",
        format!(
            "score,one,two,three,remark\n{}",
            (0..20).map(row).collect::<String>()
        ),
    );
    let more = place.partita(&["predict", "m.json", "more.csv", "--unknown", "missing"]);
    let note =
        "left out 'score' (the model does not know it), 'remark' (the model does not know it)";
    assert!(more.stderr.contains(note), "{}", more.stderr);
    assert_eq!(more.fine(), known);
    // In a file of arrays too, and what is missing is named still.
    place
        .partita(&[
            "consensus",
            "e.csv",
            "-k",
            "2",
            "-m",
            "kc",
            "-o",
            "l2.csv",
            "--skip",
            "three",
            "--model",
            "two.json",
        ])
        .fine();
    place
        .partita(&["align", "e.csv", "-o", "aligned", "--ensemble", "e.npz"])
        .fine();
    let fewer = place.partita(&["predict", "two.json", "e.npz"]);
    assert!(
        fewer
            .stderr
            .contains("1 base clusterings that the model does not know are left out"),
        "{}",
        fewer.stderr
    );
    place.file("few.csv", "one,four\na,1\nb,2\n");
    place
        .partita(&["predict", "m.json", "few.csv"])
        .refused(&["'three', 'two' is missing"]);
    // Of a table: words, dates, and names of the rows.
    place.file("t.csv", three_groups(60));
    let run = [
        "run",
        "t.csv",
        "--label",
        "kind",
        "-k",
        "3",
        "--base",
        "kmeans:9",
        "-o",
        "out",
        "--model",
        "table.json",
    ];
    place.partita(&run).fine();
    let plain: String = three_groups(60)
        .lines()
        .skip(1)
        .map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect();
    place.file("plain.csv", format!("x,y\n{plain}"));
    let expected = place
        .partita(&["predict", "table.json", "plain.csv"])
        .fine();
    let rows =
        |(i, row): (usize, &str)| format!("r{i},{row},w{},2024-01-{:02}\n", i % 3, i % 28 + 1);
    place.file(
        "rich.csv",
        format!(
            "row,x,y,word,when\n{}",
            plain.lines().enumerate().map(rows).collect::<String>()
        ),
    );
    let rich = place.partita(&["predict", "table.json", "rich.csv"]);
    assert!(
        rich.stderr.contains("names from 'row'") && rich.stderr.contains("left out 'word'"),
        "{}",
        rich.stderr
    );
    let label = |text: &str| {
        text.lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(label(&rich.fine()), label(&expected));
}

#[test]
fn a_run_leaves_a_model_of_its_table() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(60));
    for how in ["ssce", "centroid", "knn:3"] {
        let run = [
            "run",
            "t.csv",
            "--label",
            "kind",
            "-k",
            "3",
            "--base",
            "kmeans:20",
            "-o",
            "out",
            "--force",
        ];
        place
            .partita(&[&run[..], &["--model", "m.json", "--predict-with", how]].concat())
            .fine();
        // Columns in another order, and one that the model does not know.
        let turned: Vec<String> = three_groups(60)
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>())
            .enumerate()
            .map(|(at, row)| {
                format!(
                    "{},{},{}",
                    row[1],
                    if at == 0 { "more" } else { "7" },
                    row[0]
                )
            })
            .collect();
        place.file("new.csv", turned.join("\n"));
        let labels = |text: &str| {
            text.lines()
                .map(|line| line.split(',').nth(1).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let predicted = place.partita(&["predict", "m.json", "new.csv"]).fine();
        assert_eq!(
            labels(&predicted),
            labels(&fs::read_to_string(place.path("out/labels.csv")).unwrap()),
            "{how}"
        );
    }
    place.file("few.csv", "x,kind\n1,2\n");
    place
        .partita(&["predict", "m.json", "few.csv"])
        .refused(&["lacks column 'y'"]);
}

#[test]
fn words_of_new_rows_are_encoded_as_those_of_the_model() {
    let place = Workplace::new();
    let row = |i: usize| {
        format!(
            "{},{}\n",
            i % 3 * 5 + i % 2,
            ["red", "green", "blue"][i % 3]
        )
    };
    place.file(
        "t.csv",
        format!("x,colour\n{}", (0..60).map(row).collect::<String>()),
    );
    let run = [
        "run",
        "t.csv",
        "-k",
        "3",
        "--base",
        "kmeans:20",
        "--base-k",
        "3",
        "-o",
        "out",
        "--model",
        "m.json",
    ];
    place
        .partita(
            &[
                &run[..],
                &["--encode", "one-hot", "--predict-with", "centroid"],
            ]
            .concat(),
        )
        .fine();
    place.file("new.csv", "x,colour\n0,red\n5,green\n5,violet\n1,red\n");
    let ended = place.partita(&["predict", "m.json", "new.csv"]);
    assert!(
        ended.stderr.contains(
            "1 values are unknown to the model, first 'violet' in row 3, column 'colour'"
        ),
        "{}",
        ended.stderr
    );
    let printed = ended.fine();
    let labels: Vec<&str> = printed
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert!(
        labels[0] != labels[1] && labels[1] == labels[2] && labels[3] == labels[0],
        "{printed}"
    );
    // Three words that all differ could be names of objects, were they not a column of the model.
    place.file("few.csv", "x,colour\n0,red\n5,green\n5,violet\n");
    assert_eq!(
        place
            .partita(&["predict", "m.json", "few.csv"])
            .fine()
            .lines()
            .count(),
        4
    );
    let ordinal = [
        "--encode",
        "ordinal",
        "--predict-with",
        "centroid",
        "--force",
    ];
    place
        .partita(&[&run[..], &ordinal[..]].concat())
        .refused(&["ordinal", "one-hot"]);
}

/// A value that is missing becomes the mean of the table that the model was learned from, in whatever format either is.
#[test]
fn missing_numbers_become_the_means_of_the_model() {
    let place = Workplace::new();
    let row = |i: usize| {
        format!(
            "{},{}\n",
            if i % 9 == 4 {
                String::new()
            } else {
                (i % 3 * 10).to_string()
            },
            i % 3
        )
    };
    place.file(
        "t.csv",
        format!("x,y\n{}", (0..60).map(row).collect::<String>()),
    );
    let run = [
        "run", "t.csv", "-k", "3", "--impute", "mean", "--base", "kmeans:9", "--base-k", "3",
    ];
    place
        .partita(
            &[
                &run[..],
                &[
                    "-o",
                    "out",
                    "--model",
                    "m.json",
                    "--predict-with",
                    "centroid",
                ],
            ]
            .concat(),
        )
        .fine();
    let model: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("m.json")).expect("a model"))
            .expect("JSON");
    let there: Vec<f64> = (0..60)
        .filter(|i| i % 9 != 4)
        .map(|i| f64::from(i % 3 * 10))
        .collect();
    let mean = there.iter().sum::<f64>() / there.len() as f64;
    let kept = model["reading"]["means"]["x"].as_f64().expect("a mean");
    assert!((kept - mean).abs() < 1e-9, "{kept} is not {mean}");
    // One row: the mean of its column does not exist.
    place.file("new.csv", "x,y\n,1\n");
    place.file("filled.csv", format!("x,y\n{kept},1\n"));
    let [new, filled] =
        ["new.csv", "filled.csv"].map(|file| place.partita(&["predict", "m.json", file]).fine());
    assert_eq!(new, filled);
    let inspected = place.partita(&["inspect", "m.json"]).fine();
    assert!(inspected.contains("written: 20"), "{inspected}");
    // A file of numbers says so with NaN.
    let npy: Vec<f64> = (0..60)
        .flat_map(|i| {
            [
                if i % 9 == 4 {
                    f64::NAN
                } else {
                    f64::from(i % 3 * 10)
                },
                0.5,
            ]
        })
        .collect();
    let shape = "{'descr': '<f8', 'fortran_order': False, 'shape': (60, 2), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{shape:<117}\n").bytes());
    bytes.extend(npy.iter().flat_map(|value| value.to_le_bytes()));
    place.file("t.npy", bytes);
    let numbers = [
        "run", "t.npy", "-k", "3", "--base", "kmeans:9", "--base-k", "3", "-o", "npy",
    ];
    place.partita(&numbers).refused(&["t.npy", "row 5"]);
    let imputed = place.partita(&[&numbers[..], &["--impute", "mean", "--force"]].concat());
    assert!(
        imputed.stderr.contains("missing values (NaN)"),
        "{}",
        imputed.stderr
    );
    imputed.fine();
}
