//! What is measured stays measured: after Ctrl-C, from run to run, and where data are missing.

use anyhow::Result;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use partita_reproduce::{
    Interrupt, Lab, ReproduceError, Results, Row, Scope, Study, Unit, check, run,
};

/// Units that cost nothing, of data that are in no catalogue.
#[derive(Default)]
struct Sums {
    measured: AtomicUsize,
}

const SCOPE: Scope = Scope {
    seeds: 3,
    quick: false,
};

impl Study for Sums {
    fn name(&self) -> &'static str {
        "sums"
    }

    fn title(&self) -> &'static str {
        "Sums"
    }

    fn units(&self, scope: Scope) -> Vec<Unit> {
        (0..scope.seeds)
            .flat_map(|seed| {
                ["a", "b"].map(|data| Unit::new(data, "plain", seed, ["once", "twice"]))
            })
            .collect()
    }

    fn measure(&self, unit: &Unit, _lab: &Lab<'_>) -> Result<Vec<Row>> {
        self.measured.fetch_add(1, Ordering::Relaxed);
        let value =
            |method: &str| unit.seed as f64 + if method == "once" { 1.0 } else { 2.0 } / 3.0;
        Ok(unit
            .methods
            .iter()
            .map(|method| unit.row(method, "sum", value(method)))
            .collect())
    }

    fn page(&self, results: &Results) -> String {
        format!(
            "{} values",
            results.rows().filter(|row| row.measure == "sum").count()
        )
    }
}

fn read(root: &Path, name: &str) -> String {
    std::fs::read_to_string(root.join("docs/reproduction").join(name)).expect("written by the run")
}

/// The values on record, unpacked.
fn raw(root: &Path) -> String {
    let file = std::fs::File::open(root.join("docs/reproduction/raw/sums.csv.gz"))
        .expect("written by the run");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .expect("it is packed");
    text
}

fn write_raw(root: &Path, text: &str) {
    let file = std::fs::File::create(root.join("docs/reproduction/raw/sums.csv.gz"))
        .expect("the folder is there");
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    packed
        .write_all(text.as_bytes())
        .and_then(|()| packed.finish().map(|_| ()))
        .expect("room on the disk");
}

#[test]
fn a_run_goes_on_where_ctrl_c_cut_it_short() {
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let study = Sums::default();
    let report = run(&study, SCOPE, whole.path(), 2, &Interrupt::new(), &|_| ()).unwrap();
    assert_eq!((report.measured, report.there), (6, 0));
    assert!(read(whole.path(), "sums.md").contains("12 values"));

    let interrupt = Interrupt::new();
    let say = |text: &str| {
        if text.contains(" 2 of 6") {
            interrupt.ask();
        }
    };
    let stopped = run(&study, SCOPE, cut.path(), 1, &interrupt, &say).unwrap_err();
    let is_stopped = matches!(stopped.downcast_ref(), Some(ReproduceError::Stopped));
    assert!(is_stopped, "{stopped}");
    study.measured.store(0, Ordering::Relaxed);
    let report = run(&study, SCOPE, cut.path(), 2, &Interrupt::new(), &|_| ()).unwrap();
    assert_eq!(
        (report.measured, report.there, study.measured.into_inner()),
        (4, 2, 4)
    );
    assert_eq!(raw(whole.path()), raw(cut.path()));
    assert_eq!(read(whole.path(), "sums.md"), read(cut.path(), "sums.md"));
}

#[test]
fn a_value_that_differs_is_named() {
    let root = tempfile::tempdir().unwrap();
    let study = Sums::default();
    run(&study, SCOPE, root.path(), 1, &Interrupt::new(), &|_| ()).unwrap();
    let again = || check(&study, root.path(), 60.0, 2, &Interrupt::new()).unwrap();
    assert_eq!(again(), (12, Vec::new()));
    let altered =
        raw(root.path()).replace("b,plain,twice,1,sum,1.66667", "b,plain,twice,1,sum,1.66666");
    write_raw(root.path(), &altered);
    let (compared, differ) = again();
    assert_eq!((compared, differ.len()), (12, 1));
    for word in ["b, plain, seed 1", "twice", "1.66666", "1.66667"] {
        assert!(differ[0].contains(word), "{}", differ[0]);
    }
    write_raw(root.path(), "data,setting\nb,plain\n");
    let error = check(&study, root.path(), 60.0, 2, &Interrupt::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("sums.csv") && error.contains("line 2"),
        "{error}"
    );
}

#[test]
fn data_that_are_not_there_are_named_and_the_rest_is_measured() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("datasets")).unwrap();
    let iris = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets/iris.csv");
    std::fs::copy(iris, root.path().join("datasets/iris.csv")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_partita-reproduce"));
    command
        .env_remove("PARTITA_DATASETS")
        .args(["--quick", "--seeds", "1", "peace", "--root"])
        .arg(root.path());
    let output = command.output().unwrap();
    let (said, page) = (
        String::from_utf8(output.stdout).unwrap(),
        std::fs::read_to_string(root.path().join("target/reproduce-quick/peace.md")).unwrap(),
    );
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        said.contains("wine is not here; `cargo xtask datasets fetch wine`"),
        "{said}"
    );
    assert!(
        !said.contains("-std") && said.contains("2 units measured, 0 were on record"),
        "{said}"
    );
    assert!(
        page.contains("wine**, which was not there") && page.contains("| iris | 0."),
        "{page}"
    );
}
