//! Marks of unfinished or unsafe work.

use super::Violation;
use super::source::Source;

/// What must not stand in any code, and the remedy.
const ANYWHERE: &[(&str, &str)] = &[
    ("todo!", "write it"),
    ("unimplemented!", "write it"),
    ("dbg!", "take it out"),
    ("#[ignore", "make the test fast and sure, or take it out"),
];

/// What must not stand outside tests, and the remedy.
const OUTSIDE_TESTS: &[(&str, &str)] = &[(".unwrap()", "return the error, or state the invariant with `expect`")];

/// Where `unsafe` may stand, and what lifts the lint that forbids it elsewhere.
const UNSAFE: [&str; 3] = [
    "crates/partita-kernels/",
    "crates/partita-spectral/src/lapack.rs",
    // A global allocator that counts bytes is unsafe by its trait.
    "crates/partita/tests/conformance.rs",
];
const LIFTED: [&str; 2] = ["expect(unsafe_code", "allow(unsafe_code"];

/// What must not stand in any comment, and the remedy.
const COMMENTS: &[&str] = &["FIXME", "TODO"];

/// Complaints about marks.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line, code, test) in source.numbered() {
        let mut complain = |what: String| violations.push(Violation::new(&source.file, line, what));
        for (mark, remedy) in ANYWHERE.iter().chain(if test { &[] } else { OUTSIDE_TESTS }) {
            if code.contains(mark) {
                complain(format!("`{mark}` is left; {remedy}"));
            }
        }
        if LIFTED.iter().any(|mark| code.contains(mark)) && !UNSAFE.iter().any(|place| source.file.starts_with(place)) {
            complain("`unsafe` is lifted here; write the loop as a kernel of partita-kernels".into());
        }
        if (code.contains("#[allow(") || code.contains("#![allow(")) && !has_reason(source, line) {
            complain("a lint is allowed without a reason; write `#[expect(lint, reason = \"…\")]`".into());
        }
        let comment = source.lines[line - 1].split_once("//").map_or("", |(_, comment)| comment);
        for mark in COMMENTS.iter().filter(|mark| code.trim().is_empty() && comment.contains(**mark)) {
            complain(format!("`{mark}` is left; do it, or open an issue and say what holds today"));
        }
    }
    violations
}

/// Whether the attribute that starts on this line says `reason` before it closes.
fn has_reason(source: &Source, line: usize) -> bool {
    let lines = source.code[line - 1..].iter();
    let end = lines.clone().position(|code| code.contains(")]")).unwrap_or(0);
    lines.take(end + 1).any(|code| code.contains("reason ="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_code_and_not_in_texts() {
        let text = [
            "fn a() { b.unwrap() }",
            "let x = \"todo!\"; // .unwrap()",
            "#[allow(dead_code)]",
            "#[allow(\n    dead_code,\n    reason = \"because\",\n)]",
            "#[cfg(test)]\nmod tests {\n    #[ignore]\n    fn c() { d.unwrap() }\n}",
        ]
        .join("\n");
        let source = Source::new("crates/x/src/lib.rs", &text);
        let found: Vec<(usize, String)> = check(&source).into_iter().map(|v| (v.line, v.what)).collect();
        let starts: Vec<(usize, &str)> = found.iter().map(|(line, what)| (*line, &what[..9])).collect();
        assert_eq!(starts, [(1, "`.unwrap("), (3, "a lint is"), (10, "`#[ignore")]);
    }

    #[test]
    fn unsafe_has_its_places() {
        let text = "#[expect(unsafe_code, reason = \"speed\")]\nmod x86;";
        assert_eq!(check(&Source::new("crates/x/src/lib.rs", text)).len(), 1);
        assert_eq!(check(&Source::new("crates/partita-kernels/src/nearest.rs", text)).len(), 0);
    }

    #[test]
    fn comments_that_promise_are_found() {
        let source = Source::new("crates/x/src/lib.rs", &format!("    // {}: later\n", COMMENTS[0]));
        assert_eq!(check(&source).len(), 1);
    }
}
