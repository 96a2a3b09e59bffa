//! Listing, verifying, and fetching from a folder and from a server on loopback that behaves well or badly.

use std::io::{BufRead, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;

const CONTENT: &str = "x,label\n1,a\n2,b\n";

/// FIPS 180-2, appendix B.1: of `abc`.
const KNOWN: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn set(name: &str, content: &str) -> Set {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, content).unwrap();
    Set {
        name: name.into(),
        file: format!("{name}.csv"),
        rows: 3,
        sha256: checksum(&path, false).unwrap(),
        ..Set::default()
    }
}

#[test]
fn packed_and_plain_have_one_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = ["a.csv", "a.csv.gz"].map(|name| folder.path().join(name));
    fs::write(&plain, "abc").unwrap();
    let mut encoder = GzEncoder::new(File::create(&packed).unwrap(), Compression::fast());
    encoder.write_all(b"abc").unwrap();
    encoder.finish().unwrap();
    for path in [plain, packed] {
        assert_eq!(checksum(&path, is_packed(&path)).unwrap(), KNOWN);
    }
}

#[test]
fn a_file_name_that_leaves_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalogue.csv");
    let line = "a,../a.csv,1,1,1,numbers,00,no";
    fs::write(
        &path,
        format!("name,file,rows,features,classes,kind,sha256,shipped\n{line}\n"),
    )
    .unwrap();
    let error = catalogue(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("'../a.csv' is not a plain file name"),
        "{error}"
    );
}

#[test]
fn the_list_says_what_is_here() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(folder.path());
    fs::create_dir(folder.path().join("datasets")).unwrap();
    fs::write(folder.path().join("datasets/b.csv"), "x\n").unwrap();
    let sets = [set("a", ""), set("b", "")];
    let text = list(&workspace, &sets, &[workspace.path("datasets")]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[1].starts_with("a ") && lines[1].ends_with("not here"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("b ") && lines[2].ends_with("datasets/b.csv"),
        "{text}"
    );
}

#[test]
fn the_catalogue_of_this_checkout_is_read() {
    let workspace = Workspace::find().unwrap();
    let sets = catalogue(&workspace.path("crates/input/files/catalogue.csv")).unwrap();
    let digits = sets.iter().find(|set| set.name == "digits");
    assert!(digits.is_some_and(|set| set.shipped == "yes"));
    verify(&workspace, &sets, &[workspace.path("datasets")]).unwrap();
}

#[test]
fn a_changed_set_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(folder.path());
    let sets = [Set {
        sha256: KNOWN.into(),
        ..set("a", "")
    }];
    let said = || {
        verify(&workspace, &sets, &[folder.path().to_owned()]).map_err(|error| error.to_string())
    };
    assert!(
        said()
            .unwrap_err()
            .starts_with("no data set of the catalogue lies in ")
    );
    fs::write(folder.path().join("a.csv"), "abc").unwrap();
    assert_eq!(said(), Ok(()));
    fs::write(folder.path().join("a.csv"), "abd").unwrap();
    assert_eq!(
        said().unwrap_err(),
        "1 of 1 data sets are not what the catalogue says"
    );
}

/// A server that answers every request for `small.csv` with `answer` and closes. Says its address.
fn server(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/sets", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            // The client may have gone away; that is its business.
            let _ = stream.and_then(|stream| reply(stream, &answer));
        }
    });
    address
}

fn reply(mut stream: TcpStream, answer: &[u8]) -> io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?)
        .lines()
        .map_while(Result::ok);
    let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let found = request[0].starts_with("GET /sets/small.csv HTTP/1.1");
    let nothing = answer_of("404 Not Found", "Content-Length: 0\r\n", "");
    stream.write_all(if found { answer } else { &nothing })
}

fn answer_of(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n{body}").into_bytes()
}

fn whole(body: &str) -> Vec<u8> {
    answer_of(
        "200 OK",
        &format!("Content-Length: {}\r\n", body.len()),
        body,
    )
}

fn fetch_from(address: &str, into: &TempDir) -> Result<bool, String> {
    let from = address.parse::<Source>().unwrap();
    fetch(&set("small", CONTENT), &from, into.path()).map_err(|error| format!("{error:#}"))
}

#[test]
fn a_set_comes_from_a_server_once_and_in_place_of_a_damaged_copy() {
    let into = tempfile::tempdir().unwrap();
    let path = into.path().join("small.csv");
    fs::write(&path, "damaged").unwrap();
    let address = server(whole(CONTENT));
    assert_eq!(fetch_from(&address, &into), Ok(true));
    assert_eq!(fs::read_dir(into.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(path).unwrap(), CONTENT);
    assert_eq!(fetch_from(&address, &into), Ok(false));
}

#[test]
fn chunks_and_redirects_are_followed() {
    let chunked = format!("{:x}\r\n{CONTENT}\r\n0\r\n\r\n", CONTENT.len());
    let there = server(answer_of(
        "200 OK",
        "Transfer-Encoding: chunked\r\n",
        &chunked,
    ));
    let moved = format!("Location: {there}/small.csv\r\nContent-Length: 0\r\n");
    let here = server(answer_of("302 Found", &moved, ""));
    assert_eq!(fetch_from(&here, &tempfile::tempdir().unwrap()), Ok(true));
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/sets", listener.local_addr().unwrap());
    drop(listener);
    let short = answer_of("200 OK", "Content-Length: 1000\r\n", CONTENT);
    let absent = answer_of("404 Not Found", "Content-Length: 0\r\n", "");
    for (server, said) in [
        (server(whole("x,label\n")), "has the checksum"),
        (server(short), "broke off; try again"),
        (server(absent), "gives no file; check the address: "),
        (
            server(b"nonsense\r\n\r\n".to_vec()),
            "gives no file; check the address: ",
        ),
        (silent, "gives no file; check the address: "),
    ] {
        let into = tempfile::tempdir().unwrap();
        let error = fetch_from(&server, &into).unwrap_err();
        assert!(
            error.starts_with(&format!("{server}/small.csv {said}")),
            "{error}"
        );
        assert_eq!(fs::read_dir(into.path()).unwrap().count(), 0);
    }
}

#[test]
fn sources_that_can_not_be_used_are_refused() {
    let said = |text: &str| text.parse::<Source>().err().unwrap().to_string();
    assert!(said("https://example.org").starts_with("https:// is not spoken here; use http://"));
    assert!(said("no/such/folder").starts_with("no/such/folder is not a folder"));
}

#[test]
fn the_command_fetches_what_is_named_and_verifies() {
    let from = tempfile::tempdir().unwrap();
    let into = tempfile::tempdir().unwrap();
    let sets = [set("small", CONTENT), set("absent", "")];
    let fetch = |names: &[&str]| {
        let arguments = Fetch {
            from: from.path().display().to_string(),
            into: Some(into.path().to_owned()),
            names: names.iter().map(ToString::to_string).collect(),
        };
        fetch_all(&Workspace::at(from.path()), &sets, &arguments).map_err(|error| error.to_string())
    };
    let error = fetch_from(&from.path().display().to_string(), &into).unwrap_err();
    assert!(error.contains("small.csv; try another folder"), "{error}");
    fs::write(from.path().join("small.csv"), CONTENT).unwrap();
    assert_eq!(fetch(&["small"]), Ok(()));
    assert!(
        fetch(&[])
            .unwrap_err()
            .starts_with("1 data sets could not be fetched")
    );
    assert!(
        fetch(&["none"])
            .unwrap_err()
            .starts_with("there is no data set 'none'")
    );
}
