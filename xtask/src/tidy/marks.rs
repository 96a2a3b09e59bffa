//! Marks of unfinished or unsafe work, and of what hides. What a lint sees is left to it: `clippy::todo`, `dbg_macro`,
//! `unwrap_used`, `allow_attributes_without_reason`, `missing_docs`.

use proc_macro2::TokenTree;

use super::Violation;
use super::source::{Source, attribute, is, line, name};

/// Where `unsafe` may stand, and what lifts the lint that forbids it elsewhere.
const UNSAFE: [&str; 7] = [
    "crates/base/kernels/",
    "crates/blocks/spectral/src/lapack.rs",
    // Foreign functions of R: whether somebody pressed Ctrl-C.
    "crates/doors/r/src/call.rs",
    // What the script of the page calls, and calls back.
    "crates/doors/web/src/script.rs",
    // What is done where the process is aborted, as where memory ends.
    "crates/doors/cli/src/aborted.rs",
    // Global allocators that count and refuse are unsafe by their trait.
    "crates/doors/cli/tests/allocations/main.rs",
    "crates/dev/conformance/src/counting.rs",
];

/// What must not stand in any comment.
const COMMENTS: &[&str] = &["FIXME", "TODO"];

/// Complaints about marks.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut complain = |line, what: &str| violations.push(Violation::new(&source.file, line, what));
    for (at, text) in source.text.lines().enumerate() {
        let comment = text.trim_start().strip_prefix("//").unwrap_or_default();
        if let Some(mark) = COMMENTS.iter().find(|mark| comment.contains(**mark)) {
            complain(
                at + 1,
                &format!("`{mark}` is left; do it, or open an issue and say what holds today"),
            );
        }
    }
    let safe = !UNSAFE.iter().any(|place| source.file.starts_with(place));
    source.each_list(&mut |tokens| {
        for (at, token) in tokens.iter().enumerate() {
            let inside = attribute(&tokens[at..]).map(|(inside, _)| inside.to_string()).unwrap_or_default();
            if inside.split(' ').next() == Some("ignore") {
                complain(line(token), "`#[ignore]` is left; make the test fast and sure, or take it out");
            }
            if safe && inside.contains("unsafe_code") && (inside.contains("expect") || inside.contains("allow")) {
                complain(line(token), "`unsafe` is lifted here; write the loop as a kernel of partita-kernels");
            }
            if leaves_the_crate(&source.file, &tokens[at..]) {
                complain(line(token), "a file of another folder than the crate's is included; a package would lack it");
            }
            if is_public_glob(&tokens[at..]) {
                complain(line(token), "a glob hides what is public; name what is re-exported");
            }
        }
    });
    violations
}

/// Whether `include_str!("…")` starts here in the library's own code, of a path that climbs out of the crate. The page at the
/// top and those of the guide, whose examples only tests read, may be included.
fn leaves_the_crate(file: &str, tokens: &[TokenTree]) -> bool {
    let included = tokens
        .first()
        .and_then(name)
        .is_some_and(|name| name == "include_str" || name == "include_bytes");
    let (Some((_, inside)), Some(TokenTree::Group(path))) =
        (file.split_once("/src/"), tokens.get(2))
    else {
        return false;
    };
    let climbs = path.stream().to_string().matches("../").count();
    let shown = ["README.md", "docs/guide/"]
        .iter()
        .any(|page| path.stream().to_string().contains(page));
    included && climbs > inside.split('/').count() && !shown
}

/// Whether `pub use …::*;` starts here.
fn is_public_glob(tokens: &[TokenTree]) -> bool {
    let words = || tokens.iter().map(name);
    if !words()
        .take(2)
        .eq([Some("pub".to_owned()), Some("use".to_owned())])
    {
        return false;
    }
    tokens
        .iter()
        .take_while(|token| !is(Some(token), ';'))
        .any(|token| match token {
            TokenTree::Group(group) => group
                .stream()
                .into_iter()
                .any(|token| is(Some(&token), '*')),
            token => is(Some(token), '*'),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str, text: &str) -> Vec<usize> {
        check(&Source::new(file, text).expect("it is Rust"))
            .iter()
            .map(|violation| violation.line)
            .collect()
    }

    #[test]
    fn marks_are_found_in_code_and_not_in_texts() {
        let text = "let x = \"#[ignore]\"; // #[ignore]\n#[cfg(test)]\nmod tests {\n    #[ignore = \"slow\"]\n    fn c() {}\n}";
        assert_eq!(lines("crates/x/src/lib.rs", text), [4]);
        assert_eq!(
            lines(
                "crates/x/src/lib.rs",
                "pub use a::{b::*, c};\npub use a::b;\nuse super::*;"
            ),
            [1]
        );
    }

    #[test]
    fn what_a_package_would_lack_is_found() {
        let text = "const A: &str = include_str!(\"../../table.csv\");";
        assert_eq!(lines("crates/x/src/lib.rs", text), [1]);
        assert_eq!(lines("crates/x/src/a/mod.rs", text), [0; 0]);
        assert_eq!(lines("crates/x/tests/all.rs", text), [0; 0]);
    }

    #[test]
    fn unsafe_has_its_places() {
        let text = "#[expect(unsafe_code, reason = \"speed\")]\nmod x86;\n#![deny(unsafe_code)]";
        assert_eq!(lines("crates/x/src/lib.rs", text), [1]);
        assert_eq!(lines("crates/base/kernels/src/nearest.rs", text), [0; 0]);
    }

    #[test]
    fn comments_that_promise_are_found() {
        assert_eq!(
            lines(
                "crates/x/src/lib.rs",
                &format!("fn a() {{}}\n    // {}: later\n", COMMENTS[0])
            ),
            [2]
        );
    }
}
