//! Rust source without what is no code.

/// A source file, line by line: as it is written, and with comments and the insides of literals blanked.
pub(super) struct Source {
    /// Path from the root.
    pub(super) file: String,
    /// As it is written.
    pub(super) lines: Vec<String>,
    /// Code only; blanks stand for the rest, so that columns are the same.
    pub(super) code: Vec<String>,
    /// Whether the line is test code.
    pub(super) test: Vec<bool>,
}

impl Source {
    /// The file at `file` (a path from the root) with this text.
    pub(super) fn new(file: &str, text: &str) -> Self {
        let code = blank(text);
        let everything = ["tests", "examples", "benches"].iter().any(|folder| file.contains(&format!("/{folder}/")));
        let test = if everything { vec![true; code.lines().count()] } else { test_lines(&code) };
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        Self { file: file.into(), lines: lines(text), code: lines(&code), test }
    }

    /// The files of modules that are declared under `#[cfg(test)]`; of the two places for each, one exists.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let (folder, name) = self.file.rsplit_once('/').unwrap_or(("", &self.file));
        let inside = match name {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
            _ => self.file.trim_end_matches(".rs").to_owned(),
        };
        let declared = self.numbered().filter(|(_, _, test)| *test).filter_map(|(_, code, _)| {
            code.trim().trim_start_matches("pub(crate) ").strip_prefix("mod ")?.strip_suffix(';')
        });
        declared.flat_map(|module| [format!("{inside}/{module}.rs"), format!("{inside}/{module}/mod.rs")]).collect()
    }

    /// The same file, all of it test code.
    pub(super) fn into_test(mut self) -> Self {
        self.test.fill(true);
        self
    }

    /// Every line of code with its number, counted from 1, and whether it is test code.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &str, bool)> {
        self.code.iter().zip(&self.test).enumerate().map(|(at, (code, &test))| (at + 1, code.as_str(), test))
    }
}

/// The text with comments and the insides of literals blanked; line ends stay.
fn blank(text: &str) -> String {
    let text: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let end = skip(&text, at);
        if end == at {
            code.push(text[at]);
            at += 1;
        } else {
            code.extend(text[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself if none does.
fn skip(text: &[char], at: usize) -> usize {
    let next = |i: usize| text.get(at + i).copied();
    match text[at] {
        '/' if next(1) == Some('/') => find(text, at, |i| text[i] == '\n'),
        '/' if next(1) == Some('*') => block_comment(text, at),
        '"' => quoted(text, at + 1, '"'),
        'r' if !inside_a_word(text, at) => raw_string(text, at),
        '\'' if next(1) == Some('\\') || next(2) == Some('\'') => quoted(text, at + 1, '\''),
        _ => at,
    }
}

fn find(text: &[char], from: usize, is_end: impl Fn(usize) -> bool) -> usize {
    (from..text.len()).find(|&i| is_end(i)).unwrap_or(text.len())
}

/// Block comments nest.
fn block_comment(text: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at + 1 < text.len() {
        match (text[at], text[at + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn quoted(text: &[char], from: usize, quote: char) -> usize {
    let mut at = from;
    while at < text.len() && text[at] != quote {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

fn raw_string(text: &[char], start: usize) -> usize {
    let hashes = text[start + 1..].iter().take_while(|&&c| c == '#').count();
    let open = start + 1 + hashes;
    if text.get(open) != Some(&'"') {
        return start;
    }
    let closes =
        |i: usize| text[i] == '"' && text[i + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
    (find(text, open + 1, closes) + 1 + hashes).min(text.len())
}

/// `b` and `c` may stand before the `r` of a raw string; any other letter makes it part of a name.
fn inside_a_word(text: &[char], at: usize) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    match at.checked_sub(1).map(|i| text[i]) {
        Some('b' | 'c') => at >= 2 && word(text[at - 2]),
        Some(c) => word(c),
        None => false,
    }
}

/// For every line, whether it belongs to an item under `#[cfg(test)]`.
fn test_lines(code: &str) -> Vec<bool> {
    const MARK: &str = "#[cfg(test)]";
    let mut test = vec![false; code.lines().count()];
    let line_of = |byte: usize| code[..byte].matches('\n').count();
    let mut from = 0;
    while let Some(start) = code[from..].find(MARK).map(|at| from + at) {
        let end = item_end(code, start + MARK.len());
        let last = line_of(end).min(test.len() - 1);
        test[line_of(start)..=last].fill(true);
        from = end;
    }
    test
}

/// Where the item that starts at `from` ends: its semicolon, or the brace that closes its first one.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0usize;
    for (at, c) in code[from..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return from + at,
            '}' => depth -= 1,
            ';' if depth == 0 => return from + at,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        let text = "let a = \"x \\\" y\"; // c\n/* b /* n */ */ let r = br#\"z\"q\"#; let c = '\"'; fn f<'a>() {}\n";
        let code = blank(text);
        assert_eq!(code.chars().count(), text.chars().count());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words.join(" "), "let a = ; let r = b ; let c = ; fn f<'a>() {}");
    }

    #[test]
    fn names_that_end_in_r_start_no_string() {
        assert_eq!(blank("for r\"x\" in var\"y\""), "for      in var   ");
    }

    #[test]
    fn test_code_is_known() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { c(); }\n}\nfn d() {}\n#[cfg(test)]\nuse x;\nfn e() {}\n";
        let source = Source::new("crates/x/src/lib.rs", text);
        assert_eq!(source.test, [false, true, true, true, true, false, true, true, false]);
        assert!(Source::new("crates/x/tests/all.rs", text).test.iter().all(|&test| test));
    }

    #[test]
    fn test_modules_in_their_own_files_are_known() {
        let text = "mod a;\n#[cfg(test)]\nmod b;\n";
        let modules = |file| Source::new(file, text).test_modules();
        assert_eq!(modules("crates/x/src/lib.rs"), ["crates/x/src/b.rs", "crates/x/src/b/mod.rs"]);
        assert_eq!(modules("crates/x/src/c.rs"), ["crates/x/src/c/b.rs", "crates/x/src/c/b/mod.rs"]);
        assert!(Source::new("crates/x/src/lib.rs", text).into_test().test.iter().all(|&test| test));
    }
}
