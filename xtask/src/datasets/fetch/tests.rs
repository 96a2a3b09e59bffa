//! Fetching from a folder, and from a server on loopback that behaves well or badly.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tempfile::TempDir;

use super::*;

const CONTENT: &str = "x,label\n1,a\n2,b\n";

fn set(content: &str) -> Set {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, content).unwrap();
    Set {
        name: "small".into(),
        file: "small.csv".into(),
        sha256: checksum(&path).unwrap(),
        ..Set::default()
    }
}

/// A server that answers every request with `answer`, whatever was asked for, and closes. Says its address.
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
    let mut request = String::new();
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        request += &line;
    }
    let found = request.starts_with("GET /sets/small.csv HTTP/1.1");
    stream.write_all(if found {
        answer
    } else {
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    })
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n{body}").into_bytes()
}

fn whole(body: &str) -> Vec<u8> {
    answer(
        "200 OK",
        &format!("Content-Length: {}\r\n", body.len()),
        body,
    )
}

fn fetch_from(address: &str, into: &TempDir) -> Result<Fetched, String> {
    let from = address.parse::<Source>().unwrap();
    fetch(&set(CONTENT), &from, into.path()).map_err(|error| format!("{error:#}"))
}

fn files(folder: &TempDir) -> Vec<String> {
    fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_set_comes_from_a_server_once() {
    let into = tempfile::tempdir().unwrap();
    let address = server(whole(CONTENT));
    assert_eq!(fetch_from(&address, &into), Ok(Fetched::New));
    assert_eq!(files(&into), ["small.csv"]);
    assert_eq!(
        fs::read_to_string(into.path().join("small.csv")).unwrap(),
        CONTENT
    );
    assert_eq!(fetch_from(&address, &into), Ok(Fetched::Here));
}

#[test]
fn chunks_and_redirects_are_followed() {
    let chunked = format!("{:x}\r\n{CONTENT}\r\n0\r\n\r\n", CONTENT.len());
    let there = server(answer("200 OK", "Transfer-Encoding: chunked\r\n", &chunked));
    let here = server(answer(
        "302 Found",
        &format!("Location: {there}/small.csv\r\nContent-Length: 0\r\n"),
        "",
    ));
    let into = tempfile::tempdir().unwrap();
    assert_eq!(fetch_from(&here, &into), Ok(Fetched::New));
}

#[test]
fn a_damaged_copy_is_replaced() {
    let into = tempfile::tempdir().unwrap();
    fs::write(into.path().join("small.csv"), "damaged").unwrap();
    assert_eq!(fetch_from(&server(whole(CONTENT)), &into), Ok(Fetched::New));
    assert_eq!(
        fs::read_to_string(into.path().join("small.csv")).unwrap(),
        CONTENT
    );
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_left() {
    let short = answer("200 OK", "Content-Length: 1000\r\n", CONTENT);
    for (server, said) in [
        (server(whole("x,label\n")), "has the checksum"),
        (server(short), "broke off; try again"),
        (
            server(answer("404 Not Found", "Content-Length: 0\r\n", "")),
            "gives no file; check the address: ",
        ),
        (
            server(b"nonsense\r\n\r\n".to_vec()),
            "gives no file; check the address: ",
        ),
    ] {
        let into = tempfile::tempdir().unwrap();
        let error = fetch_from(&server, &into).unwrap_err();
        assert!(
            error.starts_with(&format!("{server}/small.csv {said}")),
            "{error}"
        );
        assert_eq!(files(&into), [""; 0]);
    }
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/sets", listener.local_addr().unwrap());
    drop(listener);
    let error = fetch_from(&address, &tempfile::tempdir().unwrap()).unwrap_err();
    assert!(
        error.starts_with(&format!("{address}/small.csv gives no file")),
        "{error}"
    );
}

#[test]
fn a_set_comes_from_a_folder() {
    let (from, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = from.path().display().to_string();
    let error = fetch_from(&folder, &into).unwrap_err();
    assert!(error.contains("small.csv; try another folder"), "{error}");
    fs::write(from.path().join("small.csv"), CONTENT).unwrap();
    assert_eq!(fetch_from(&folder, &into), Ok(Fetched::New));
}

#[test]
fn sources_that_can_not_be_used_are_refused() {
    let said = |text: &str| {
        text.parse::<Source>()
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(said("https://example.org").starts_with("https:// is not spoken here; use http://"));
    assert!(said("no/such/folder").starts_with("no/such/folder is not a folder"));
}

#[test]
fn the_command_fetches_what_is_named_and_verifies() {
    let (from, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workspace = Workspace::at(from.path());
    fs::write(from.path().join("small.csv"), CONTENT).unwrap();
    let absent = Set {
        name: "absent".into(),
        file: "absent.csv".into(),
        ..Set::default()
    };
    let sets = [set(CONTENT), absent];
    let fetch = |names: &[&str]| {
        let arguments = Arguments {
            from: from.path().display().to_string(),
            into: Some(into.path().to_owned()),
            names: names.iter().map(ToString::to_string).collect(),
        };
        run(&workspace, &sets, &arguments).map_err(|error| error.to_string())
    };
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
