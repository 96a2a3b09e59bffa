//! What holds for every page.

use crate::reports::{hostile, iris, nasty};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use partita_core::{
    Ensemble, EnsembleBuilder, Features, Partition, Seed, SoftPartition,
    ndarray::{self, Array2},
};
use partita_report::{
    AgreementCounts, ClusterCurves, Counted, CurvePoint, Described, Measure, Report, figures, html,
    render,
};
use rand::RngExt;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes that a page may have.
const MOST: usize = 3_000_000;

#[test]
fn the_page_of_iris_has_every_section_and_repeats() {
    let iris = iris().unwrap();
    let page = html(&iris.report()).unwrap();
    for id in [
        "summary", "evidence", "choice", "sure", "soft", "bases", "map",
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert!(page.contains("partita run datasets/iris.csv -k 3"));
    assert_eq!(page, html(&iris.report()).unwrap());
    let rendered = render(&iris.report()).unwrap();
    assert_eq!(
        (&rendered.html, &rendered.figures),
        (&page, &figures(&iris.report()).unwrap())
    );
}

#[test]
fn every_figure_says_what_it_shows() {
    let iris = iris().unwrap();
    let figures = figures(&iris.report()).unwrap();
    assert!(figures.len() >= 15, "{}", figures.len());
    for figure in &figures {
        let (name, svg) = (&figure.name, &figure.svg);
        let namespace = "xmlns=\"http://www.w3.org/2000/svg\"";
        for part in ["role=\"img\"", "<title id=", "<desc id=", namespace] {
            assert!(svg.contains(part), "{name}: {part}");
        }
        let cells: Vec<usize> = figure
            .csv
            .lines()
            .map(|line| {
                // A comma between quotes is part of a name.
                let unquoted = line.split('"').step_by(2).collect::<String>();
                unquoted.split(',').count()
            })
            .collect();
        assert!(figure.alt.len() > 30 && cells.len() > 1, "{name}");
        assert!(cells.iter().all(|&columns| columns == cells[0]), "{name}");
        // The letters of an embedded picture may spell anything.
        let mut plain = svg.split('"').filter(|text| !text.starts_with("data:"));
        let wrong = |text: &str| text.contains("NaN") || text.contains("inf");
        assert!(!plain.any(wrong), "{name}");
    }
}

/// Whether every element that is opened is closed, in order, and no markup but ours is there.
fn well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page
        .strip_prefix("<!doctype html>")
        .expect("it says what it is");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap_or_default();
        assert!(!["b onerror", "img", "iframe"].contains(&name), "{tag}");
        assert!(!tag.contains(" style="), "the page's policy refuses {tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closing {tag}");
        } else if !tag.ends_with('/') && !["meta", "link", "input"].contains(&name) {
            open.push(name);
        }
        if ["script", "style"].contains(&name) && !tag.starts_with('/') {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("it is closed")..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Of every eighth of 4,001 objects, with counts of all: three clusters, and a fourth of one object that is not among them.
#[test]
fn tables_of_a_sample_with_counts_of_all_objects_are_those_of_all() {
    let n = 4_001;
    let label = |i: usize| {
        if i == 4_000 {
            3
        } else {
            i * i % 3 + usize::from(i.is_multiple_of(5) && i * i % 3 == 1)
        }
    };
    let base = |u: usize, i: usize| {
        ((i + u) % 9 > u).then(|| (label(i) + usize::from(i.is_multiple_of(7 + u))) % (4 + u))
    };
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..6 {
        let labels = (0..n).map(|i| base(u, i));
        builder.push(format!("u{u}"), labels).unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let labels: Vec<u32> = (0..n).map(|i| label(i) as u32).collect();
    // Sums of eighths are exact in any order.
    let agreement: Vec<f64> = (0..n).map(|i| (i % 9) as f64 / 8.0).collect();
    let partition = Partition::new(labels.clone(), 4).unwrap();
    let mut all = Report::new("", Value::Null, &partition, &agreement);
    all.ensemble = Some(&ensemble);

    let offsets = ensemble.offsets();
    let mut counted = Counted {
        sizes: vec![0; 4],
        of_base_clusters: vec![0; 4 * offsets[6]],
        agreement: vec![AgreementCounts::default(); 4],
    };
    for i in 0..n {
        counted.sizes[label(i)] += 1;
        counted.agreement[label(i)].push(agreement[i]);
        for j in (0..6).filter_map(|u| Some(offsets[u] + ensemble.label(i, u)?)) {
            counted.of_base_clusters[label(i) * offsets[6] + j] += 1;
        }
    }

    let some: Vec<u32> = (0..n as u32 - 1).step_by(8).collect();
    let few = ensemble.select(&some, &[0, 1, 2, 3, 4, 5]);
    let of_some = Partition::new(some.iter().map(|&i| labels[i as usize]).collect(), 4).unwrap();
    let sure: Vec<f64> = some.iter().map(|&i| agreement[i as usize]).collect();
    let mut sample = Report::new("", Value::Null, &of_some, &sure);
    (sample.ensemble, sample.counted) = (Some(&few), Some(counted.clone()));

    let (of_all, of_sample) = (figures(&all).unwrap(), figures(&sample).unwrap());
    let csv = |name: &str| {
        [&of_all, &of_sample].map(|figures| &figures.iter().find(|f| f.name == name).unwrap().csv)
    };
    for name in [
        "object-agreement",
        "object-agreement-by-cluster",
        "evidence-clusters",
    ] {
        let [of_all, of_sample] = csv(name);
        assert_eq!(of_all, of_sample, "{name}");
    }
    let with_result = |csv: &String| -> Vec<Vec<String>> {
        let cells = |line: &str| line.split(',').take(4).map(str::to_owned).collect();
        let mut rows: Vec<Vec<String>> = csv.lines().map(cells).collect();
        rows.sort();
        rows
    };
    let [of_all, of_sample] = csv("base-spread").map(with_result);
    assert_eq!(of_all, of_sample);
    let page = html(&sample).unwrap();
    well_formed(&page);
    for said in [
        "4001 objects fall into 4 clusters",
        "All 500 objects, which were drawn from 4001",
        "a hash of their numbers",
    ] {
        assert!(page.contains(said), "{said}");
    }

    let wrong = Counted {
        sizes: vec![1; 3],
        ..counted
    };
    sample.counted = Some(wrong);
    let error = html(&sample).unwrap_err().to_string();
    assert_eq!(error, "3 sizes of clusters are given; the labels ask for 4");
}

#[test]
fn names_are_text() {
    let hostile = hostile().unwrap();
    let mut report = hostile.report();
    report.labels_file = Some(nasty(0));
    let rendered = render(&report).unwrap();
    let page = &rendered.html;
    well_formed(page);
    assert_eq!(page.matches("<script").count(), 2);
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;fail(0)"));
    assert!(!page.contains('\0') && !page.contains('\u{1b}'));
    let head = page
        .find("<td data-v=\"1\"><span class=\"chip\"")
        .expect("a cell of cluster 1");
    assert!(
        page[head..head + 400].contains("&quot; onload=&#39;fail()&#39;"),
        "{}",
        &page[head..head + 400]
    );
    for figure in &rendered.figures {
        let svg = &figure.svg;
        assert!(
            !svg.contains("<script") && !svg.contains("<img"),
            "{}",
            figure.name
        );
    }
}

/// The hash that a browser makes of the text of an element is the one that the page allows.
#[test]
fn nothing_runs_but_the_script_of_the_page() {
    let page = html(&hostile().unwrap().report()).unwrap();
    let between = |begin: &str, end: &str| {
        let (_, rest) = page.split_once(begin).expect("it begins");
        rest.split_once(end).expect("it ends").0.to_owned()
    };
    let hash = |text: String| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(between("<style>", "</style>")),
        hash(between("<script>", "</script>")),
    );
    assert_eq!(
        between("Content-Security-Policy\" content=\"", "\">"),
        policy
    );
}

/// Base clusterings that know the labels, mostly.
fn noisy(labels: &[u32], bases: usize, clusters: u32, name: impl Fn(usize) -> String) -> Ensemble {
    let mut rng = Seed::new(5).rng();
    let mut builder = EnsembleBuilder::new(labels.len());
    for u in 0..bases {
        let wrong = |label: &u32, rng: &mut dyn FnMut() -> f64| match rng() {
            x if x < 0.1 => None,
            x if x < 0.3 => Some((rng() * f64::from(clusters)) as u32),
            _ => Some(*label),
        };
        let column: Vec<Option<u32>> = labels
            .iter()
            .map(|label| wrong(label, &mut || rng.random()))
            .collect();
        builder
            .push_clusters(name(u), column, clusters as usize)
            .expect("labels are below");
    }
    builder.finish().expect("there are some")
}

#[test]
fn the_page_stays_small_whatever_it_is_given() {
    let (n, clusters) = (4_000, 90);
    let labels: Vec<u32> = (0..n as u32).map(|i| i % clusters).collect();
    let bad = |i: usize| format!("{}{i}", "<".repeat(10_000));
    let ensemble = noisy(&labels, 210, clusters, bad)
        .with_object_names((0..n).map(bad).collect())
        .unwrap();
    let partition = Partition::new(labels, clusters as usize).unwrap();
    let mut rng = Seed::new(1).rng();
    let mut soft = SoftPartition::of(&partition).rows().to_owned();
    soft.mapv_inplace(|p| 0.5 * p + 0.5 * rng.random::<f64>());
    soft.outer_iter_mut().for_each(|mut row| row /= row.sum());
    let soft = SoftPartition::new(soft).unwrap();
    let agreement = soft.largest();
    let values = Array2::from_shape_fn((n, 64), |_| rng.random::<f64>());
    let columns: Vec<String> = (0..64).map(bad).collect();
    let truth: Vec<Option<String>> = (0..n).map(|i| Some(bad(i))).collect();
    let mut report = Report::new(bad(0), Value::Null, &partition, &agreement);
    (report.ensemble, report.soft, report.truth) =
        (Some(&ensemble), Some(&soft), Some(truth.as_slice()));
    report.features = Some(Features::new(&columns, values.view()).unwrap());
    let page = html(&report).unwrap();
    well_formed(&page);
    assert!(page.len() <= MOST, "{} bytes", page.len());
    assert!(page.contains("The 60 largest of 90 clusters."));
}

#[test]
fn little_is_enough() {
    for (n, clusters) in [(1, 1), (2, 1), (2, 2), (3, 2), (5, 5)] {
        let labels: Vec<u32> = (0..n as u32).map(|i| i % clusters).collect();
        // One cluster more than there are: empty clusters are not shown.
        let partition = Partition::new(labels.clone(), clusters as usize + 1).unwrap();
        let soft = SoftPartition::of(&partition);
        let (agreement, columns) = (vec![1.0; n], vec!["x".to_owned()]);
        well_formed(&html(&Report::new("little", Value::Null, &partition, &agreement)).unwrap());
        for (bases, spread) in [(1, 0.0), (2, 1.0), (3, 2.0)] {
            let mut builder = EnsembleBuilder::new(n);
            for u in 0..bases {
                let label = |i: usize| (i == 0 || i % 3 != u).then_some(i % 2);
                builder.push("u", (0..n).map(label)).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let values = Array2::from_shape_fn((n, 1), |(i, _)| spread * i as f64);
            let mut report = Report::new("little", Value::Null, &partition, &agreement);
            (report.ensemble, report.soft) = (Some(&ensemble), Some(&soft));
            report.features = Some(Features::new(&columns, values.view()).unwrap());
            let rendered = render(&report).unwrap();
            well_formed(&rendered.html);
            for figure in rendered.figures {
                assert!(
                    !figure.svg.contains("NaN") && !figure.svg.contains("inf"),
                    "{n} {bases} {}",
                    figure.name
                );
            }
        }
    }
}

#[test]
fn agreement_is_what_objects_are_sorted_and_shaded_by() {
    let partition = Partition::new(vec![0, 0, 0, 1, 1, 1], 2).unwrap();
    let agreement = [0.9, 0.8, 0.7, 0.25, 0.9, 0.9];
    let mut report = Report::new("six", Value::Null, &partition, &agreement);
    report.methods = vec![
        ("one".into(), partition.clone()),
        ("two".into(), partition.clone()),
    ];
    let page = html(&report).unwrap();
    well_formed(&page);
    assert!(
        page.contains("16.7\u{202f}% of the objects have an agreement below 0.5"),
        "{}",
        &page[..9000]
    );
    let table = &page[page.find("objects-table").unwrap()..];
    assert!(table.find(">3</th>").unwrap() < table.find(">2</th>").unwrap());
    assert!(
        page.contains("Methods against each other") && page.contains("Agreement of the objects")
    );
    report.agreement = &agreement[..5];
    assert_eq!(
        html(&report).unwrap_err().to_string(),
        "the labels are those of 6 objects, but agreements are given for 5"
    );
}

/// Six objects in the clusters 0 and 2 of three.
fn six() -> (Partition, [f64; 6]) {
    let partition = Partition::new(vec![0, 0, 0, 2, 2, 2], 3).expect("labels are below 3");
    (partition, [0.9, 0.8, 0.7, 0.25, 0.9, 0.9])
}

#[test]
fn clusters_are_called_by_their_names() {
    let (partition, agreement) = six();
    let mut report = Report::new("six", Value::Null, &partition, &agreement);
    for (names, said) in [
        (&[][..], "The least agreed on is cluster 2: 0.683"),
        (
            &["young", "<old>"],
            "The least agreed on is &lt;old&gt;: 0.683",
        ),
        (&["young", " "], "The least agreed on is cluster 2: 0.683"),
    ] {
        report.cluster_names = names.iter().map(ToString::to_string).collect();
        let rendered = render(&report).unwrap();
        well_formed(&rendered.html);
        assert!(rendered.html.contains(said), "{names:?}");
        let of_clusters = rendered
            .figures
            .iter()
            .find(|f| f.name == "object-agreement-by-cluster");
        let figure = &of_clusters.unwrap().svg;
        let [first, named] = match names {
            [] => ["cluster 0", " in files)</span>"],
            [first, ..] => [*first, " in files)</span>"],
        };
        assert!(figure.contains(&format!(">{first}</text>")), "{figure}");
        assert_eq!(
            rendered.html.contains(named),
            !names.is_empty(),
            "{names:?}"
        );
    }
    report.cluster_names = vec!["one".into()];
    assert_eq!(
        html(&report).unwrap_err().to_string(),
        "1 names of clusters are given; the labels ask for 2"
    );
}

#[test]
fn columns_that_were_not_clustered_on_are_described_as_such() {
    let n = 60;
    let partition = Partition::new((0..n as u32).map(|i| i % 3).collect(), 3).unwrap();
    let agreement = vec![1.0; n];
    let columns = ["channel=web", "age", "income", "empty"].map(str::to_owned);
    let value = |i: usize, j: usize| match j {
        0 => f64::from(u8::from(i.is_multiple_of(3))),
        1 if i >= 54 => f64::NAN,
        1 => (20 + 10 * (i % 3)) as f64,
        // The same median everywhere, but not the same mean.
        2 if i % 3 == 2 && i < 27 => 900.0,
        2 => 5.0,
        _ => f64::NAN,
    };
    let values = Array2::from_shape_fn((n, 4), |(i, j)| value(i, j));
    let mut report = Report::new("sixty", Value::Null, &partition, &agreement);
    report.described = Some(Described {
        columns: &columns,
        values: values.view(),
    });
    let page = html(&report).unwrap();
    well_formed(&page);
    for said in [
        "Columns that were not clustered on",
        "channel web 100\u{202f}% <span class=\"soft\">(others 0\u{202f}%)</span>",
        "age 40 <span class=\"soft\">(others 25)</span>",
        "(mean)</td>",
        "more frequent",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("by construction") && !page.contains("<td>empty</td>"));
    let few = values.slice(ndarray::s![..9, ..]);
    report.described = Some(Described {
        columns: &columns,
        values: few,
    });
    assert_eq!(
        html(&report).unwrap_err().to_string(),
        "the labels are those of 60 objects, but rows of described columns are given for 9"
    );
}

/// Curves of 2, 3 and 4 clusters by what decided, with the stability of each.
fn decided(criterion: &str, chosen: usize, values: [f64; 3], stability: [f64; 3]) -> ClusterCurves {
    let row = |at: usize| {
        let mut row = CurvePoint::default();
        (row.clusters, row.stability) = (at + 2, Some(stability[at]));
        row
    };
    ClusterCurves {
        rows: (0..3).map(row).collect(),
        chosen: Some(chosen),
        reason: "2.38 nats an object".into(),
        criterion: criterion.into(),
        measures: vec![Measure {
            name: criterion.into(),
            values: values.map(Some).to_vec(),
        }],
        ..ClusterCurves::default()
    }
}

#[test]
fn the_number_of_clusters_is_explained_in_words() {
    let (partition, agreement) = six();
    let halves = [1.0, 0.5, 0.95];
    for (choice, said) in [
        (
            decided("score", 2, [3.0, 1.0, 2.0], halves),
            "Of 2 to 4 clusters 2 have the best score: it adds up how clearly clusters are cut apart, how far apart they lie, and how well \
             they describe the columns. Two halves of the base clusterings lead to the same clusters; with 3 they lead to clusters of which \
             only a part is the same. The next best number is 4.",
        ),
        (
            decided("rcsi", 2, [1.0, 0.5, 0.1], [0.95, 0.97, 0.9]),
            "2 clusters are 10 times as stable as clusters of data that have none. No other number from 2 to 4 clusters is more stable \
             beyond the error. Two halves of the base clusterings lead to nearly the same clusters. The next best number is 3.",
        ),
        (
            decided("bic", 2, [10.0, 30.0, 20.0], [0.2; 3]),
            "Of the divisions from 2 to 4 clusters, 2 clusters describe the labels best, more clusters counting against it. Two halves of \
             the base clusterings lead to other clusters. The next best number is 4.",
        ),
    ] {
        let mut report = Report::new("six", Value::Null, &partition, &agreement);
        report.choice = Some(choice);
        let page = html(&report).unwrap();
        well_formed(&page);
        let first = page.split("<section id=\"choice\"").next().unwrap();
        assert!(first.contains(said), "{said}");
        assert!(!first.contains("nats"), "{said}");
    }
}

#[test]
fn no_clusters_are_said_first() {
    let (one, two) = (
        Partition::new(vec![0; 4], 1).unwrap(),
        Partition::new(vec![0, 0, 1, 1], 2).unwrap(),
    );
    let agreement = [1.0; 4];
    let headline = |partition: &Partition, chosen: Option<usize>| {
        let mut report = Report::new("four", Value::Null, partition, &agreement);
        report.choice = chosen.map(|chosen| ClusterCurves {
            chosen: Some(chosen),
            ..ClusterCurves::default()
        });
        let page = html(&report).unwrap();
        let lead = page.split("<p class=\"lead\">").nth(1).unwrap();
        lead.split("</p>").next().unwrap().to_owned()
    };
    for (partition, chosen, said) in [
        (
            &one,
            None,
            "4 objects in one cluster: no groups are told apart.",
        ),
        (&one, Some(1), "No clusters: 4 objects are one group."),
        (
            &two,
            Some(1),
            "No clusters are supported by the data; 2 clusters below were asked for",
        ),
        (&two, Some(2), "4 objects fall into 2 clusters"),
    ] {
        let found = headline(partition, chosen);
        assert!(found.starts_with(said), "{found}");
    }
}
