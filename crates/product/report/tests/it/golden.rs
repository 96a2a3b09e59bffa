//! The figures of iris, as they were looked at and found good. `PARTITA_GOLDEN=write cargo test -p partita-report
//! --test golden` writes them anew; look at them before you commit.

use std::io::Read as _;
use std::path::PathBuf;

use crate::common::Iris;
use flate2::read::ZlibDecoder;

/// Pixels that a place may be off.
const PLACE: f64 = 0.6;

/// Shades of 255 that a pixel may be off.
const SHADE: u8 = 3;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.svg"))
}

#[test]
fn figures_of_iris_are_as_they_were() {
    let iris = Iris::new();
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
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits = base64
        .trim_end_matches('=')
        .bytes()
        .map(|c| u32::from(digit(c)))
        .collect::<Vec<_>>();
    let bytes: Vec<u8> = bits
        .chunks(4)
        .flat_map(|four| {
            let word = four
                .iter()
                .enumerate()
                .fold(0, |word, (at, &bits)| word | bits << (18 - 6 * at));
            [16, 8, 0]
                .map(|shift| (word >> shift) as u8)
                .into_iter()
                .take(four.len() - 1)
        })
        .collect();
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
