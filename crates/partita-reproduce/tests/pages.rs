//! No number in a page was typed by hand: the pages are what the raw values give.

use std::path::Path;

use partita_reproduce::{STUDIES, Scope, pages};

#[test]
fn pages_are_what_the_raw_values_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in pages(STUDIES, &root, Scope { seeds: 5, quick: false }).unwrap() {
        let path = root.join("docs/reproduction").join(&name);
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "docs/reproduction/{name} is stale; run `cargo xtask reproduce --pages`");
    }
}
