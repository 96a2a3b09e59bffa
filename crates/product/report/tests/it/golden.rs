//! The figures of iris, as they were looked at and found good. `PARTITA_GOLDEN=write cargo test -p partita-report
//! --test it golden` writes them anew; look at them before you commit.

use std::io::Read as _;
use std::path::PathBuf;

use crate::reports::{Sample, iris};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use partita_report::Measure;

/// Pixels that a place may be off.
const PLACE: f64 = 0.6;

/// Shades of 255 that a pixel may be off.
const SHADE: u8 = 3;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.svg"))
}

/// With what would choose the number of clusters, and data without clusters beside it.
fn measured(mut sample: Sample) -> Sample {
    let choice = sample.choice.as_mut().expect("it has one");
    for row in &mut choice.rows {
        let pac = 0.6 - 0.02 * row.clusters as f64;
        (row.null_pac, row.null_range) = (Some(pac), Some((pac - 0.1, pac + 0.1)));
    }
    choice.measures = vec![Measure {
        name: "stability index".into(),
        values: [0.1, 0.4, 0.3, 0.2].map(Some).to_vec(),
    }];
    sample
}

#[test]
fn figures_of_iris_are_as_they_were() {
    let iris = measured(iris().unwrap());
    let figures = partita_report::figures(&iris.report()).unwrap();
    let write = std::env::var("PARTITA_GOLDEN").is_ok_and(|value| value == "write");
    for figure in &figures {
        let path = path(&figure.name);
        if write {
            std::fs::write(&path, &figure.svg).unwrap();
        }
        let golden = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Err(difference) = alike(&golden, &figure.svg) {
            panic!("{}: {difference}", figure.name);
        }
    }
    assert_eq!(
        figures.len(),
        std::fs::read_dir(path("").parent().unwrap())
            .unwrap()
            .count(),
        "a figure is gone"
    );
}

/// Whether two drawings have the same words, numbers that are near each other, and pictures of nearly the same shades.
fn alike(golden: &str, drawn: &str) -> Result<usize, String> {
    let (golden, drawn) = (pieces(golden), pieces(drawn));
    for (at, (a, b)) in golden.iter().zip(&drawn).enumerate() {
        let fine = match (a, b) {
            (Piece::Text(a), Piece::Text(b)) => a == b,
            (Piece::Number(a), Piece::Number(b)) => (a - b).abs() <= PLACE,
            (Piece::Picture(a), Piece::Picture(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= SHADE)
            }
            _ => false,
        };
        if !fine {
            return Err(format!("piece {at}: {a:?} became {b:?}"));
        }
    }
    if golden.len() == drawn.len() {
        Ok(golden.len())
    } else {
        Err("one drawing goes on".into())
    }
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Number(f64),
    Picture(Vec<u8>),
}

fn pieces(svg: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (at, part) in svg.split("data:image/png;base64,").enumerate() {
        let (picture, rest) = if at == 0 {
            ("", part)
        } else {
            part.split_once('"').expect("the attribute ends")
        };
        if at > 0 {
            found.push(Piece::Picture(pixels(picture)));
        }
        let numeric = |c: char| c.is_ascii_digit() || c == '.';
        let mut rest = rest;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let (text, tail) = rest.split_at(start);
            let (text, minus) = text
                .strip_suffix('-')
                .map_or((text, 1.0), |text| (text, -1.0));
            let end = tail.find(|c| !numeric(c)).unwrap_or(tail.len());
            found.push(Piece::Text(text.to_owned()));
            match tail[..end].parse::<f64>() {
                Ok(number) => found.push(Piece::Number(minus * number)),
                Err(_) => found.push(Piece::Text(tail[..end].to_owned())),
            }
            rest = &tail[end..];
        }
        found.push(Piece::Text(rest.to_owned()));
    }
    found
}

/// The unpacked rows of a PNG file in base 64: size and shades.
fn pixels(base64: &str) -> Vec<u8> {
    let bytes = STANDARD.decode(base64).expect("it is base 64");
    let start = bytes
        .windows(4)
        .position(|name| name == b"IDAT")
        .expect("it has pixels");
    let mut rows = bytes[16..24].to_vec();
    ZlibDecoder::new(&bytes[start + 4..])
        .read_to_end(&mut rows)
        .expect("it unpacks");
    rows
}

#[test]
fn the_comparison_sees_what_differs() {
    let svg = "<path d=\"M1.5 -2\"/>text 3";
    assert!(alike(svg, "<path d=\"M1.6 -2.1\"/>text 3").is_ok());
    for other in [
        "<path d=\"M1.5 2\"/>text 3",
        "<path d=\"M1.5 -2\"/>word 3",
        "<path d=\"M1.5 -2\"/>text 3 4",
    ] {
        assert!(alike(svg, other).is_err(), "{other}");
    }
}
