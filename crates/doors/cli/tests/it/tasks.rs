//! A consensus by many tasks that share files: the bytes of one process, whoever dies.

use std::fs;
use std::time::Duration;

use partita::files::{ReadOptions, read_labels};

use crate::common::{Workplace, cells, repository};
use crate::data::{CUTS, write_parts};

/// Folds and passes until all labels are there; what all parts wrote.
fn rounds(place: &Workplace, fit: &str, asked: &str) -> Vec<u8> {
    loop {
        let job = place
            .run(&format!("distributed merge m.json -o {fit} {asked}"))
            .fine();
        if job.is_empty() {
            return labels(place, fit, "csv").concat();
        }
        place
            .run(&format!("distributed run m.json --part all --job {job}"))
            .fine();
    }
}

/// What the parts of a fit wrote.
fn labels(place: &Workplace, fit: &str, ending: &str) -> Vec<Vec<u8>> {
    label_files(place, fit, ending)
        .iter()
        .map(|name| place.read(name))
        .collect()
}

fn label_files(place: &Workplace, fit: &str, ending: &str) -> Vec<String> {
    let mut files = place.files();
    files.retain(|name| name.starts_with(&format!("{fit}/labels.")) && name.ends_with(ending));
    files
}

#[test]
fn rounds_of_tasks_write_the_bytes_of_one_process() {
    let place = Workplace::new();
    write_parts(&place, 1);
    for asked in [
        "-m lwgp --set restarts=2 -k 4",
        "-m mm --set restarts=2 --seed 3 -k 4",
        "-m nbce-vb --set restarts=2 --set iterations=3 -k 4",
        "-m nbce-cvb --set restarts=1 --set iterations=3 -k 4",
        "-m bce --set restarts=1 --set iterations=2 -k 4",
        "-m kc --base-weights agreement --set restarts=2 -k 4",
        "-m acv -k 4",
    ] {
        place
            .run(&format!("consensus m.json -o one.csv --force {asked}"))
            .fine();
        let one = place.read("one.csv");
        assert_eq!(one.split(|&byte| byte == b'\n').count(), CUTS[5] + 2);
        let _ = fs::remove_dir_all(place.path("fit"));
        assert!(rounds(&place, "fit", asked) == one, "{asked}");
        let record = place.text("fit/record.json");
        assert!(record.contains("\"n\": 9000"), "{record}");
        assert!(!asked.starts_with("-m mm") || place.path("fit/model.json").exists());
        // A fold after the end changes nothing.
        assert!(
            place
                .run("distributed merge m.json -o fit")
                .fine()
                .is_empty()
        );
    }
}

/// Workers count for the report and draw its objects: the page is that of one process.
#[test]
fn rounds_of_tasks_leave_the_report_of_one_process() {
    let place = Workplace::new();
    write_parts(&place, 4);
    place
        .run("consensus m.json -m acv -k 4 --seed 2 -o one/")
        .fine();
    rounds(&place, "fit", "-m acv -k 4 --seed 2");
    let one = place.text("one/report.html");
    let parts = place.text("fit/report.html");
    for id in ["clusters-table", "bases-table"] {
        assert_eq!(cells(&one, id), cells(&parts, id), "{id}");
    }
    // The pictures are of the same objects.
    let map = |page: &str| page[page.find("map-evidence").expect("a map")..][..20_000].to_owned();
    assert!(map(&one) == map(&parts) && parts.contains("9000 objects fall into 4 clusters"));
    fs::remove_file(place.path("fit/report.html")).expect("a page");
    place
        .run("distributed merge m.json -o fit --no-report")
        .fine();
    assert!(!place.path("fit/report.html").exists());
}

/// Rows in memory, by blocks and by tasks leave one kind of record: it is shown and run again whichever it is.
#[test]
fn every_run_leaves_a_record_that_is_shown_and_run_again() {
    let place = Workplace::new();
    write_parts(&place, 2);
    let asked = "-m kc -k 4 --seed 3 --base-weights agreement";
    place
        .run(&format!("consensus m.json {asked} -o blocks/"))
        .fine();
    rounds(&place, "tasks", asked);
    rounds(&place, "columns", &format!("{asked} --labels parquet"));
    let labels = place.read("blocks/labels.csv");
    place.run("synth gaussians -n 60 -o t.csv").fine();
    place.run("run t.csv -k 3 --base kmeans:6 -o made/").fine();
    place
        .run("consensus made/ensemble.npz -m kc -k 3 -o held/")
        .fine();
    for (folder, own) in [
        ("held", place.read("held/labels.csv")),
        ("blocks", labels.clone()),
        ("tasks", labels.clone()),
        ("columns", labels),
    ] {
        let record = place.text(&format!("{folder}/record.json"));
        for field in ["\"record_version\": 1", "\"experiment\"", "\"sha256\": \""] {
            assert!(record.contains(field), "{folder}: {record}");
        }
        assert!(place.text(&format!("{folder}/summary.txt")).contains("kc"));
        let before = place.text(&format!("{folder}/report.html"));
        place.run(&format!("report {folder}")).fine();
        let again = place.text(&format!("{folder}/report.html"));
        // Sums of parts are added up in another order.
        for id in ["clusters-table", "bases-table"] {
            assert_eq!(cells(&again, id), cells(&before, id), "{folder}: {id}");
        }
        let in_parts = ["tasks", "columns"].contains(&folder);
        assert!(in_parts || again == before, "{folder}: the page");
        place
            .run(&format!(
                "run --from {folder}/record.json -o {folder}-again"
            ))
            .fine();
        assert!(
            place.read(&format!("{folder}-again/labels.csv")) == own,
            "{folder}: the labels"
        );
    }
}

#[test]
fn labels_of_parts_are_columns_or_arrays_too() {
    let place = Workplace::new();
    write_parts(&place, 2);
    place.run("consensus m.json -m acv -k 4 -o one.csv").fine();
    let read = |name: &str| {
        let labels = read_labels(&place.path(name), &ReadOptions::default()).expect("labels");
        labels
            .column
            .values
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let one = read("one.csv");
    for (ending, fit) in [("parquet", "columns"), ("npy", "arrays")] {
        rounds(&place, fit, &format!("-m acv -k 4 --labels {ending}"));
        let parts = label_files(&place, fit, ending);
        assert!(parts.len() > 1, "{parts:?}");
        assert!(
            parts.iter().flat_map(|name| read(name)).collect::<Vec<_>>() == one,
            "{ending}"
        );
        // A part that lost its labels is done again; another format is another fit.
        fs::remove_file(place.path(&parts[0])).expect("a file");
        place
            .run(&format!(
                "distributed run m.json --job {fit}/labels.job --part 0"
            ))
            .fine();
        assert!(place.path(&parts[0]).exists());
        place
            .run(&format!("distributed merge m.json -o {fit} --labels csv"))
            .refused(&["another format of labels"]);
    }
}

/// Starts a command and kills it after a while.
fn killed(place: &Workplace, line: &str, after: u64) {
    let mut child = place.start(line);
    std::thread::sleep(Duration::from_millis(after));
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn drivers_and_workers_may_die_at_any_time() {
    let place = Workplace::new();
    write_parts(&place, 2);
    place.run("consensus m.json -m lwgp -k 4 -o one.csv").fine();
    let fold = "distributed merge m.json -m lwgp -k 4 -o fit";
    let mut after = 0;
    loop {
        killed(&place, fold, after);
        let job = place.run(fold).fine();
        if job.is_empty() {
            break;
        }
        let pass = format!("distributed run m.json --part all --job {job}");
        killed(&place, &pass, after);
        after = (after + 7) % 40;
        place.run(&pass).fine();
        // Who was thought dead and does it again finds it done.
        assert!(place.run(&pass).fine().is_empty());
    }
    assert!(labels(&place, "fit", "csv").concat() == place.read("one.csv"));
}

/// The loop of the guide, as it stands there.
#[test]
fn the_loop_of_the_guide_runs() {
    let place = Workplace::new();
    write_parts(&place, 1);
    fs::rename(place.path("m.json"), place.path("many.json")).expect("a manifest");
    let text = fs::read_to_string(repository("docs/guide/many-machines.md")).expect("a chapter");
    let mut blocks = text
        .split("```sh\n")
        .filter_map(|rest| rest.split("```").next());
    let script = blocks
        .find(|block| block.contains("while "))
        .expect("a loop");
    place.shell(script).fine();
    place
        .run("consensus many.json -m lwgp -k 4 -o one.csv")
        .fine();
    assert!(place.read("labels.csv") == place.read("one.csv"));
}
