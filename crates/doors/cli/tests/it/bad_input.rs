//! Bad input: each is one clear line on stderr that names what is wrong and the remedy, with exit code 2 and
//! nothing half-written.

use crate::common::{Workplace, three_groups};

/// Runs `partita run TABLE` on this content and expects a refusal that leaves nothing behind.
#[track_caller]
fn table_is_refused(content: impl AsRef<[u8]>, words: &[&str]) {
    let place = Workplace::new();
    place.file("t.csv", content);
    place
        .partita(&["run", "t.csv", "-k", "2", "-o", "out"])
        .refused(&[&["t.csv"], words].concat());
    assert_eq!(place.files(), ["t.csv"]);
}

/// Runs `partita consensus FILE` on this content and expects a refusal.
#[track_caller]
fn ensemble_is_refused(name: &str, content: impl AsRef<[u8]>, words: &[&str]) {
    let place = Workplace::new();
    place.file(name, content);
    place
        .partita(&["consensus", name, "-k", "2", "-o", "l.csv"])
        .refused(&[&[name], words].concat());
    assert_eq!(place.files(), [name]);
}

/// Runs `partita` with a good table and these flags, and expects a refusal.
#[track_caller]
fn flags_are_refused(flags: &[&str], words: &[&str]) {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    let ended = place.partita(&[&["run", "t.csv", "--label", "kind", "-o", "out"], flags].concat());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(2), ""),
        "{}",
        ended.stderr
    );
    for word in words {
        assert!(
            ended.stderr.contains(word),
            "'{word}' is not in: {}",
            ended.stderr
        );
    }
    assert_eq!(place.files(), ["t.csv"]);
}

#[test]
fn a_missing_file() {
    let place = Workplace::new();
    place
        .partita(&["run", "absent.csv", "-k", "2", "-o", "out"])
        .refused(&["absent.csv"]);
    place
        .partita(&["consensus", "absent.npz", "-k", "2"])
        .refused(&["absent.npz"]);
    place
        .partita(&["evaluate", "absent.csv", "--truth", "absent.csv:label"])
        .refused(&["absent.csv"]);
    place
        .partita(&["predict", "absent.json", "absent.csv"])
        .refused(&["absent.json"]);
    assert!(place.files().is_empty());
}

#[test]
fn a_folder_for_a_file() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("folder.csv")).unwrap();
    place
        .partita(&["run", "folder.csv", "-k", "2", "-o", "out"])
        .refused(&["folder.csv", "folder"]);
    place
        .partita(&["inspect", "folder.csv"])
        .refused(&["folder.csv"]);
}

#[test]
fn tables_without_content() {
    table_is_refused("", &["empty"]);
    table_is_refused("a,b\n", &["row"]);
    table_is_refused("a,b\n1,2\n", &["one"]);
}

#[test]
fn rows_and_cells_that_do_not_fit() {
    table_is_refused("a,b\n1,2\n3\n4,5\n", &["3", "2"]);
    table_is_refused("a,b\n1,2\n3,x7\n4,5\n", &["line 3", "'b'", "x7"]);
    table_is_refused("a,b\n1,2\n3,NaN\n4,5\n", &["line 3", "'b'", "NaN"]);
    table_is_refused("a,b\n1,2\n3,inf\n4,5\n", &["line 3", "'b'", "inf"]);
    table_is_refused("a,b\n1,2\n3,\n4,5\n", &["line 3", "'b'"]);
    table_is_refused("a,b\n1,2\n1,2\n1,2\n", &["constant"]);
    table_is_refused(b"a,b\n1,2\n\xff\xfe,4\n", &["line 3"]);
}

#[test]
fn numbers_of_clusters() {
    flags_are_refused(&["-k", "0"], &["0 clusters"]);
    flags_are_refused(&["-k", "31"], &["31 clusters", "30 objects"]);
    flags_are_refused(&["-k", "-3"], &["-3"]);
    let methods = Workplace::new().partita(&["methods", "--json"]).json();
    for method in methods["methods"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|method| method["chooses_clusters"] == false)
    {
        let method = method["name"].as_str().unwrap();
        flags_are_refused(&["-k", "method", "-m", method], &[method, "cannot choose"]);
    }
    flags_are_refused(&["-k", "3", "--base-k", "9..4"], &["9..4"]);
    flags_are_refused(&["-k", "3", "--base-k", "0..4"], &["0"]);
    flags_are_refused(&["-k", "3", "--base-k", "40"], &["40"]);
    flags_are_refused(&["-k", "3", "--base", "kmeans:0"], &["kmeans:0"]);
    flags_are_refused(&["-k", "3", "--subsample", "1.5"], &["1.5"]);
    flags_are_refused(&["-k", "3", "--subsample", "0"], &["0"]);
    flags_are_refused(&["-k", "3", "--threads", "-1"], &["-1"]);
}

#[test]
fn numbers_that_can_not_be_scaled() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        "x,y\n1.7e308,1\n-1.7e308,2\n1.6e308,3\n-1.6e308,4\n",
    );
    let run = [
        "run", "t.csv", "-k", "2", "-m", "ssce", "--base", "kmeans:3", "--base-k", "2", "-o", "out",
    ];
    place
        .partita(&run)
        .refused(&["t.csv", "ssce", "column 'x'", "too large"]);
}

#[test]
fn one_cluster_is_answered() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(12));
    place
        .partita(&[
            "run", "t.csv", "--label", "kind", "-k", "1", "-m", "pcc-kl", "-o", "out",
        ])
        .fine();
    let labels = std::fs::read_to_string(place.path("out/labels.csv")).unwrap();
    assert!(
        labels.lines().skip(1).all(|line| line.ends_with(",0,1,1")),
        "{labels}"
    );
    // Settings are checked for one cluster as for any number.
    place.file("e.csv", "u,v\n1,1\n1,1\n2,2\n2,2\n");
    place
        .partita(&["consensus", "e.csv", "-k", "1", "--set", "nonsense=1"])
        .refused(&["'nonsense'"]);
    let run = [
        "run",
        "t.csv",
        "--label",
        "kind",
        "-k",
        "1",
        "-m",
        "pcc-kl",
        "--set",
        "tolerance=-1",
        "-o",
        "x",
    ];
    place.partita(&run).refused(&["'tolerance' is -1"]);
    assert!(!place.path("x").exists());
}

#[test]
fn methods_and_settings_that_do_not_exist() {
    flags_are_refused(
        &["-k", "3", "-m", "pcc-lk"],
        &["'pcc-lk'", "did you mean pcc-kl"],
    );
    flags_are_refused(&["-k", "3", "--base", "keans:10"], &["keans", "kmeans"]);
    let place = Workplace::new();
    place.file("e.csv", "u,v\n1,1\n1,1\n2,2\n2,2\n");
    let command = |set| {
        [
            "consensus",
            "e.csv",
            "-m",
            "pcc-kl",
            "-k",
            "2",
            "--set",
            set,
        ]
    };
    place
        .partita(&command("restart=3"))
        .refused(&["'restart'", "restarts"]);
    place
        .partita(&command("restarts=none"))
        .refused(&["'restarts'", "'none'"]);
    place
        .partita(&command("restarts"))
        .refused(&["'restarts'", "name=value"]);
    place
        .partita(&command("tolerance=-1"))
        .refused(&["'tolerance' is -1", "0 or more"]);
    let reference = [
        "consensus",
        "e.csv",
        "-m",
        "ssce-p",
        "-k",
        "2",
        "--set",
        "reference=w",
    ];
    place
        .partita(&reference)
        .refused(&["'reference'", "'w'", "such as 'u'"]);
    // Of the second method too, and before anything is computed.
    place.file("t.csv", three_groups(30));
    for (set, words) in [
        ("ssce.gama=1", ["'gama'", "gamma"]),
        ("ssce.gamma=much", ["'gamma'", "'much'"]),
        ("ssce.gamma=-1", ["'gamma' is -1", "above 0"]),
    ] {
        let run = [
            "run",
            "t.csv",
            "--label",
            "kind",
            "-k",
            "3",
            "-m",
            "mcla,ssce",
            "--set",
            set,
            "-o",
            "out",
        ];
        place.partita(&run).refused(&words);
        assert!(!place.path("out").exists(), "{set}");
    }
}

#[test]
fn labels_that_do_not_fit() {
    flags_are_refused(&["-k", "3", "--label", "sort"], &["argument '--truth"]);
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    place
        .partita(&["run", "t.csv", "--label", "kid", "-k", "2", "-o", "out"])
        .refused(&["'kid'", "kind"]);
    place.file("l.csv", "object,label\n0,1\n1,2\n2,2\n");
    place
        .partita(&["evaluate", "l.csv", "--truth", "t.csv:kind"])
        .refused(&["3 objects", "30"]);
    place
        .partita(&["evaluate", "l.csv", "--truth", "t.csv:sort"])
        .refused(&["'sort'"]);
}

#[test]
fn ensembles_that_are_none() {
    ensemble_is_refused("e.csv", "u,v\n1,\n1,\n2,\n", &["'v'"]);
    ensemble_is_refused("e.csv", "u,v\n1,1\n,\n2,2\n", &["object 1", "no label"]);
    ensemble_is_refused("e.csv", "u,v\n1,1\n1,-2\n2,2\n", &["-2"]);
    ensemble_is_refused("e.csv", "", &["empty"]);
    ensemble_is_refused("e.csv", "u,v\n", &["row"]);
    ensemble_is_refused("e.csv", "u,v\n1,1\n2\n", &["line 3"]);
    let many: String = (0..65_540).map(|i| format!("{i}\n")).collect();
    ensemble_is_refused("e.csv", format!("u\n{many}"), &["65540 clusters", "65534"]);
}

#[test]
fn damaged_binary_files() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    for name in ["e.npz", "e.parquet"] {
        place
            .partita(&[
                "generate", "t.csv", "--label", "kind", "--base", "kmeans:5", "-o", name,
            ])
            .fine();
        let whole = std::fs::read(place.path(name)).unwrap();
        for part in [0, 1, 10, whole.len() / 2, whole.len() - 1] {
            ensemble_is_refused(name, &whole[..part], &[]);
        }
    }
    ensemble_is_refused("e.npy", npy("<f8", "(2, 2, 2)", 64), &["(2, 2, 2)"]);
    ensemble_is_refused("e.npy", npy("|O", "(2, 2)", 64), &["|O"]);
    ensemble_is_refused("e.npy", npy(">i4", "(2, 2)", 16), &["big-endian"]);
    ensemble_is_refused("e.npy", npy("<i4", "(2, 2)", 7), &[]);
    ensemble_is_refused("e.npy", npy("<f8", "(250000, 500000)", 800), &[]);
    ensemble_is_refused("e.npy", npy("<f8", "(18446744073709551615, 9)", 800), &[]);
    ensemble_is_refused("e.mat", vec![0; 1000], &[]);
    ensemble_is_refused("e.mat", b"MATLAB 5.0 MAT-file", &[]);
    let mat = include_bytes!("../../../../input/files/tests/data/plain.mat");
    for part in [127, 140, mat.len() / 2, mat.len() - 1] {
        ensemble_is_refused("e.mat", &mat[..part], &[]);
    }
}

/// An NPY file with this header and so many bytes of data.
fn npy(descr: &str, shape: &str, bytes: usize) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = format!(
        "{header:<width$}\n",
        width = (header.len() + 11).next_multiple_of(64) - 11
    );
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.as_bytes());
    file.extend(vec![1; bytes]);
    file
}

#[test]
fn outputs_that_exist_or_can_not_be() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    let run = |output, more: &[&str]| {
        place.partita(
            &[
                &[
                    "run", "t.csv", "--label", "kind", "-k", "3", "--base", "kmeans:5", "-o",
                    output,
                ],
                more,
            ]
            .concat(),
        )
    };
    run("out", &[]).fine();
    run("out", &[]).refused(&["out", "--force"]);
    run("out", &["--force"]).fine();
    run("t.csv", &[]).refused(&["t.csv", "file"]);
    run("t.csv/out", &[]).refused(&["t.csv/out"]);
    let generate = |output| {
        place.partita(&[
            "generate", "t.csv", "--label", "kind", "--base", "kmeans:5", "-o", output,
        ])
    };
    generate("e.npz").fine();
    generate("e.npz").refused(&["e.npz", "--force"]);
    generate("absent/e.npz").refused(&["absent"]);
    generate("out").refused(&["folder"]);
    generate("e.xlsx").refused(&["e.xlsx"]);
}

#[test]
fn a_folder_that_can_not_be_written() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    // Nobody, not even root, writes into /proc.
    place
        .partita(&[
            "run",
            "t.csv",
            "--label",
            "kind",
            "-k",
            "3",
            "-o",
            "/proc/out",
        ])
        .refused(&["/proc/out"]);
    place
        .partita(&["generate", "t.csv", "--label", "kind", "-o", "/proc/e.npz"])
        .refused(&["/proc"]);
}

#[test]
fn too_little_memory() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(3000));
    let command = [
        "run",
        "t.csv",
        "--label",
        "kind",
        "-k",
        "3",
        "--max-memory",
        "200kB",
        "-o",
        "out",
    ];
    place
        .partita(&command)
        .refused(&["memory budget", "200.0 KiB"]);
    assert_eq!(place.files(), ["t.csv"]);
}

/// The default of so many clusters a base clustering would need 8 GB, those that are chosen for so many objects do not.
#[test]
fn memory_is_that_of_the_base_clusterings_that_are_chosen() {
    let place = Workplace::new();
    let rows: String = (0..100_001)
        .map(|i| format!("{}\n", i % 2 * 9 + i % 7))
        .collect();
    place.file("t.csv", format!("x\n{rows}"));
    place
        .partita(&[
            "run",
            "t.csv",
            "-k",
            "2",
            "--max-memory",
            "1GiB",
            "-o",
            "out",
        ])
        .fine();
}

#[test]
fn models_that_are_none() {
    let place = Workplace::new();
    place.file("e.csv", "u,v\n1,1\n1,1\n2,2\n2,2\n");
    place
        .partita(&[
            "consensus",
            "e.csv",
            "-k",
            "2",
            "-o",
            "l.csv",
            "--model",
            "m.json",
        ])
        .fine();
    let whole = std::fs::read_to_string(place.path("m.json")).unwrap();
    place.file("half.json", &whole[..whole.len() / 2]);
    place
        .partita(&["predict", "half.json", "e.csv"])
        .refused(&["half.json"]);
    place.file("other.json", "{\"format\": \"something else\"}");
    place
        .partita(&["predict", "other.json", "e.csv"])
        .refused(&["other.json", "something else"]);
    place.file("w.csv", "u,w\n1,1\n2,2\n");
    place
        .partita(&["predict", "m.json", "w.csv"])
        .refused(&["w"]);
}

/// Names out of files may hold anything; what is said stays on its line.
#[test]
fn notes_and_warnings_have_one_line_each() {
    let place = Workplace::new();
    let mut table = "\"ce\nll\",\"to\r\nol\",other\n".to_owned();
    for (object, (one, two)) in [
        ("T cell", "x"),
        ("T  Cell", "x"),
        ("B", "y"),
        ("B", "unassigned"),
    ]
    .iter()
    .enumerate()
    {
        table += &format!("\"c\n{object}\",{one},{two}\n");
    }
    place.file("t.csv", &table);
    let ended = place.partita(&["consensus", "t.csv", "-k", "2", "-o", "l.csv"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let warned = |line: &str| line.starts_with("warning: ") && line.contains(r"'to\r\nol'");
    assert!(ended.stderr.lines().any(warned), "{}", ended.stderr);
    let said = |line: &str| {
        ["warning: ", "note: ", "lwgp: "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    assert!(ended.stderr.lines().all(said), "{}", ended.stderr);
}
