//! Every example of the README and of the help texts, typed as it stands there: it ends well, and its outputs are there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ended, Workplace, shipped};

#[test]
fn the_commands_of_the_readme_do_what_they_say() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let place = Workplace::new();
    let lines = examples(&text, |line| line.starts_with("partita "));
    assert!(lines.len() >= 5, "{lines:?}");
    prepare(&place, &lines[0]);
    lines
        .iter()
        .filter(|line| line.contains("cells.csv"))
        .for_each(|line| prepare(&place, line));
    lines.iter().for_each(|line| runs(&place, line));
}

/// Chapter by chapter, each in a folder of its own with the data sets that are shipped.
#[test]
fn the_commands_of_the_guide_do_what_they_say() {
    let guide = root().join("docs/guide");
    let listed = std::fs::read_to_string(guide.join("SUMMARY.md")).expect("the list of chapters");
    let mut tried = 0;
    for entry in guide.read_dir().expect("the guide").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().extension().is_none_or(|ending| ending != "md") || name == "SUMMARY.md" {
            continue;
        }
        assert!(
            listed.contains(&format!("({name})")),
            "{name} is not in SUMMARY.md"
        );
        let text = std::fs::read_to_string(entry.path()).expect("a chapter");
        assert!(
            text.lines().count() <= 150,
            "{name} is longer than 150 lines"
        );
        let place = Workplace::new();
        let datasets = place.path("datasets");
        std::fs::create_dir(&datasets).expect("a folder");
        for data in ["digits.csv", "iris.csv", "wdbc.csv", "wine.csv"] {
            std::fs::copy(shipped(data), datasets.join(data)).expect("a copy");
        }
        let lines = examples(&text, |line| {
            line.starts_with("partita ") || line.starts_with("printf ")
        });
        lines.iter().for_each(|line| runs(&place, line));
        tried += lines.len();
    }
    assert!(tried > 40, "{tried} commands were found");
}

#[test]
fn the_examples_of_help_do_what_they_say() {
    let help = |arguments: &[&str]| Workplace::new().partita(arguments).fine();
    let top = help(&["--help"]);
    let commands = top
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    let named = commands
        .into_iter()
        .filter(|name| !name.is_empty() && *name != "help");
    let texts = named
        .map(|name| help(&[name, "--help"]))
        .chain([top.clone()]);
    let mut tried = 0;
    for text in texts {
        for line in examples(&text, |line| line.starts_with("  partita ")) {
            if line.contains("ensemble.mat") && pools().is_none() {
                continue;
            }
            let place = Workplace::new();
            prepare(&place, &line);
            runs(&place, &line);
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried} examples were found");
}

/// The folder of published pools, which only machines that have it name.
fn pools() -> Option<PathBuf> {
    let folder = std::env::var_os("PARTITA_POOLS").map(PathBuf::from);
    assert!(
        folder.is_some() || std::env::var_os("CI").is_none(),
        "PARTITA_POOLS names no folder"
    );
    folder
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines that show a command, continued ones joined, without what stands after a #.
fn examples(text: &str, shows: impl Fn(&str) -> bool) -> Vec<String> {
    let long = text
        .lines()
        .find(|line| shows(line) && line.starts_with("  ") && line.chars().count() > 78);
    assert_eq!(long, None, "a terminal of 80 columns breaks this line");
    let joined = text.replace("\\\n", " ");
    let plain = |line: &str| line.split(" #").next().unwrap_or(line).trim().to_owned();
    joined
        .lines()
        .filter(|line| shows(line))
        .map(plain)
        .collect()
}

/// Runs a line in a shell; then what it names after -o is there.
#[track_caller]
fn runs(place: &Workplace, line: &str) {
    let binary = assert_cmd::cargo::cargo_bin!("partita");
    let search = std::env::var("PATH").unwrap_or_default();
    let search = format!("{}:{search}", binary.parent().expect("a folder").display());
    let done = Command::new("sh")
        .args(["-c", line])
        .current_dir(place.path(""))
        .env("PATH", search)
        .output();
    let ended = Ended::of(done.expect("a shell"));
    assert_eq!(ended.code, Some(0), "{line}\n{}", ended.stderr);
    let words: Vec<&str> = line.split_whitespace().collect();
    for pair in words
        .windows(2)
        .filter(|pair| matches!(pair[0], "-o" | "--soft" | "--model" | "--figures" | ">"))
    {
        let written = place.path(pair[1]);
        assert!(written.exists(), "{line}\nleaves no {}", pair[1]);
    }
}

/// Makes the files that a line reads.
fn prepare(place: &Workplace, line: &str) {
    let written =
        |name: &str| line.contains(&format!("-o {name}")) || line.contains(&format!("> {name}"));
    let reads = |name: &str| line.contains(name) && !place.path(name).exists() && !written(name);
    let make = |commands: &[&str]| commands.iter().for_each(|command| runs(place, command));
    for name in ["digits.csv", "iris.csv"] {
        if reads(name) {
            std::fs::create_dir_all(place.path("datasets")).expect("a folder");
            let target = if line.contains(&format!("datasets/{name}")) {
                format!("datasets/{name}")
            } else {
                name.into()
            };
            std::fs::copy(shipped(name), place.path(&target)).expect("a copy");
        }
    }
    if !place.path("table.csv").exists() {
        place.file("table.csv", table());
    }
    if line.contains("truth.csv") {
        make(&[
            "cp table.csv truth.csv",
            "partita synth gaussians -n 120 -o drawn.csv --soft soft_truth.csv",
            "partita generate drawn.csv --label label --base kmeans:9 --base-k 3..6 -o drawn.npz",
            "partita consensus drawn.npz -m pcc-kl -k 3 -o drawn_labels.csv --soft soft.csv",
        ]);
    }
    if line.contains("labels/*.parquet") || reads("m.json") {
        make(&[
            "mkdir -p labels",
            "partita generate table.csv --label label --base kmeans:9 --base-k 3..6 -o labels/0.parquet",
        ]);
    }
    if reads("m.json") {
        make(&["partita manifest labels/*.parquet -o m.json"]);
    }
    if line.contains("fit/") {
        make(&["partita fold m.json -k 3 -o fit"]);
    }
    for clusters in 2..5 {
        let row = |i: usize| {
            let share = |k: usize| {
                if i % clusters == k {
                    1.0 - 0.1 * (clusters - 1) as f64
                } else {
                    0.1
                }
            };
            (0..clusters)
                .map(|k| share(k).to_string())
                .collect::<Vec<_>>()
                .join(" ")
                + "\n"
        };
        place.file(
            &format!("run.{clusters}.Q"),
            (0..24).map(row).collect::<String>(),
        );
    }
    let sample = |i: usize| format!("s{i},{}\n", ["north", "south"][i / 12]);
    place.file(
        "samples.csv",
        format!("sample,pop\n{}", (0..24).map(sample).collect::<String>()),
    );
    if reads("ensemble.mat") {
        let pools = pools().expect("looked for before");
        std::fs::copy(pools.join("SPF.mat"), place.path("ensemble.mat")).expect("a copy");
    }
    if line.contains("kddcup99.csv.gz") {
        place.file("kddcup99.csv", connections());
        make(&["gzip kddcup99.csv"]);
    }
    let texts = [
        ("labels_of_many_tools.csv", tools(false)),
        ("cells.csv", tools(true)),
        ("survey.csv", persons(&tools(false))),
        (
            "new_cells.csv",
            tools(false)
                .lines()
                .take(31)
                .map(|line| format!("{line}\n"))
                .collect(),
        ),
        ("more_runs.csv", more_runs()),
        ("documents.csv", documents()),
        ("recipe.toml", RECIPE.into()),
    ];
    for (name, text) in texts
        .into_iter()
        .filter(|(name, _)| line.contains(name) || (*name == "documents.csv" && reads("words.npz")))
    {
        place.file(name, text);
    }
    if reads("words.npz") {
        make(&["partita text documents.csv --column text --label topic -o words.npz"]);
    }
    if line.contains("merge ensemble.npz.part") {
        make(&[
            "partita generate table.csv --label label --base kmeans:8 --part 1/2 -o ensemble.npz.part",
        ]);
    } else if line.contains("merge ensemble.1") {
        let of = line.matches("ensemble.").count() - 1;
        let part = |i: usize| {
            format!(
                "partita generate table.csv --label label --base kmeans:8 --part {i}/{of} -o ensemble.{i}"
            )
        };
        (1..=of).for_each(|i| runs(place, &part(i)));
    } else if reads("ensemble.npz") || line.contains("new_rows.csv") {
        make(&[
            "partita generate table.csv --label label --base kmeans:12 --base-k 4..12 -o ensemble.npz",
        ]);
    }
    for (at, tool) in ["seurat", "scanpy", "sc3"].into_iter().enumerate() {
        let file = format!("{tool}.csv");
        if line.contains(&file) && !place.path(&file).exists() {
            let all = tools(true);
            let fields = all.lines().map(|row| row.split(',').collect::<Vec<_>>());
            place.file(
                &file,
                fields
                    .map(|row| format!("{},{}\n", row[0], row[at + 1]))
                    .collect::<String>(),
            );
        }
    }
    if line.contains("inspect model.json") || line.contains("inspect out") {
        make(&[
            "partita run table.csv --label label -k 3 --base kmeans:8 -o out --model model.json",
        ]);
    }
    if line.contains("predict model.json") || line.contains("--held-out") {
        make(&["partita consensus ensemble.npz -m mm -k 3 -o before.csv --model model.json"]);
    }
    if reads("new_rows.csv") {
        make(&[
            "partita generate table.csv --label label --base kmeans:12 --base-k 4..12 -o new_rows.csv",
        ]);
    }
    if line.contains("out/") && !line.contains("-o out/") || line.contains("report out") {
        let made =
            "partita run table.csv --label label -k 3 -m pcc-kl,eac-average --base kmeans:8 -o out";
        make(&[if line.contains("digits.csv") {
            "partita run datasets/digits.csv --label label -k 10 --base kmeans:8 -o out"
        } else {
            made
        }]);
    }
    if reads("labels.csv") {
        make(&[
            "partita run table.csv --label label -k 3 --base kmeans:8 -o first",
            "cp first/labels.csv labels.csv",
        ]);
    }
}

/// Twelve groups in the plane, far from each other.
fn table() -> String {
    let mut text = "x,y,z,label\n".to_owned();
    for i in 0..120 {
        let (group, wobble) = (i % 12, f64::from(i * 7919 % 101) / 101.0);
        let _ = writeln!(
            text,
            "{},{},{},g{group}",
            f64::from(group % 4) * 5.0 + wobble,
            f64::from(group / 4) * 5.0 + wobble * wobble,
            1.0 - wobble
        );
    }
    text
}

/// Labels of five tools, as people join them: barcodes, gaps, a column of known types.
fn tools(barcodes: bool) -> String {
    let mut text = if barcodes {
        "barcode,seurat,scanpy,sc3,cidr,raceid,celltype\n"
    } else {
        "seurat,scanpy,sc3,cidr,raceid\n"
    }
    .to_owned();
    for i in 0..180_usize {
        let kind = i % 6;
        if barcodes {
            let _ = write!(text, "AAAC{i:04}-1,");
        }
        let label = |tool: usize| match (i * (tool + 7) + tool) % 17 {
            0 => "NA".to_owned(),
            1 => ((kind + tool) % 6).to_string(),
            _ => kind.to_string(),
        };
        text += &(0..5).map(label).collect::<Vec<_>>().join(",");
        text += if barcodes {
            [",B\n", ",T\n", ",NK\n", ",DC\n", ",Mono\n", ",pDC\n"][kind]
        } else {
            "\n"
        };
    }
    text
}

/// Two more base clusterings of the objects of `table`.
fn more_runs() -> String {
    let row = |i: usize| format!("{},{}\n", i % 12 / 4, i % 12 % 4);
    format!(
        "by_row,by_column\n{}",
        (0..120).map(row).collect::<String>()
    )
}

/// The same with a last column that says how many persons a row stands for.
fn persons(tools: &str) -> String {
    let lines = tools.lines().enumerate();
    lines
        .map(|(i, line)| {
            if i == 0 {
                format!("{line},persons\n")
            } else {
                format!("{line},{}\n", i % 4)
            }
        })
        .collect()
}

/// Documents of two topics, each with words of its own.
fn documents() -> String {
    let words = [
        ["river", "water", "bridge", "boat", "stream", "shore"],
        ["market", "price", "trade", "money", "bank", "profit"],
    ];
    let mut text = "text,topic\n".to_owned();
    for i in 0..200_usize {
        let own = &words[i % 2];
        let chosen: Vec<&str> = (0..8).map(|w| own[(i * 5 + w * w) % 6]).collect();
        let _ = writeln!(
            text,
            "{},{}",
            chosen.join(" "),
            ["nature", "economy"][i % 2]
        );
    }
    text
}

/// Connections of three kinds, with a column of words.
fn connections() -> String {
    let mut text = "duration,protocol,bytes,label\n".to_owned();
    for i in 0..150_usize {
        let (kind, wobble) = (i % 3, i * 7919 % 101);
        let _ = writeln!(
            text,
            "{},{},{},{}",
            kind * 200 + wobble,
            ["tcp", "udp"][i % 2],
            wobble + kind * 300,
            ["smurf.", "neptune.", "normal."][kind]
        );
    }
    text
}

const RECIPE: &str = "base = [\"kmeans:60\", \"ward:10\"]\nbase_k = \"4..20\"\nsubsample = 0.8\n";
